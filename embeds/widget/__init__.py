"""The loader script and the HTML pages: the panel, its sign-in window, the demo and the start page."""
