"""Metrics for Prometheus, by its library `prometheus_client`.

Every process of a host writes its values to files of its own (`files`), and each of them can return the sum of all
(`exposition`). What happens often, requests and statements, is counted in memory (`durations`) and added to the files
once a second (`publishing`). `definitions` has all metrics.
"""
