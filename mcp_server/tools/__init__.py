"""The tools, in the order of the list."""

from mcp_server.tools.declaration import Tool
from mcp_server.tools.reading import inbox, my_posts, pulse, read_page, read_post, search, whoami
from mcp_server.tools.reference import reference
from mcp_server.tools.writing import delete_post, edit_post, react, write_post

TOOLS: tuple[Tool, ...] = (
    whoami,
    pulse,
    read_page,
    read_post,
    search,
    write_post,
    edit_post,
    delete_post,
    react,
    my_posts,
    inbox,
    reference,
)

__all__ = ["TOOLS", "Tool"]
