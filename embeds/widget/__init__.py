"""The pages that people see: the loader script, the panel and its sign-in window, the demo and the start page."""
