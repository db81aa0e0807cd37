"""Every call, declared once for both clients. A call is named after what it does; its docstring names the operation."""
