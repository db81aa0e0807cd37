"""The settings of metrics and of log lines (settings of the same names)."""

from config import env

# A port of their own, or /metrics for these addresses and networks; without both, nothing is counted.
METRICS_PORT = env.integer("METRICS_PORT", 0, maximum=65535)
METRICS_ALLOWED = env.networks("METRICS_ALLOWED")
METRICS = bool(METRICS_PORT or METRICS_ALLOWED)
# A line for each request.
ACCESS_LOG = env.flag("ACCESS_LOG", default=False)
# A line for each statement that takes so many milliseconds; 0: for none.
SLOW_STATEMENT_MS = env.integer("SLOW_STATEMENT_MS", 1000)
