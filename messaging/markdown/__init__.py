"""The small Markdown of posts, on pages and in feeds. static/embed/markdown has the same for the panel."""
