"""The MCP server at `/mcp`: tools for language models, each of which sends requests to operations of the API.

It is the top layer and has no rules, tables or permissions of its own (`kernel.api.subrequests`).
"""
