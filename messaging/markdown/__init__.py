"""The small Markdown of posts, as on the server's pages and in feeds. static/embed/markdown has the same for the panel."""
