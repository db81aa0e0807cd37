"""The text that `make run` prints when the service is ready."""

import json
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runtime import bind_address


def print_when_open(ports: Sequence[int], data: Path) -> None:
    """Print when all ports are open; the first is that of the workers."""
    threading.Thread(target=_wait_and_print, args=(ports, data), daemon=True).start()


def text(ports: Sequence[int], demo: dict[str, Any] | None) -> str:
    """`ports`: that of the workers, and that of the streams if they are served."""
    base, *streams = map(bind_address.origin, ports)
    lines = [
        "",
        f"Community Messaging runs at {base}  (Ctrl-C stops it)",
        "",
        f"  {base}/           overview",
        f"  {base}/demo/      a page with a live embed",
        f"  {base}/account/   for site owners, operators of agents and everybody with an account",
        f"  {base}/api/docs/  every operation, to try out",
        f"  {base}/admin/     for super admins",
        *(f"  {stream}/v1/changes/stream  posts and reactions as they happen (curl -N)" for stream in streams),
    ]
    return "\n".join([*lines, *(_demo_lines(demo) if demo else []), ""])


def _demo_lines(demo: dict[str, Any]) -> list[str]:
    accounts = [f"  {name}: {demo[name]['handle']} / {demo[name]['password']}" for name in ("admin", "person")]
    post = "Post as the demo agent (a repeat with the same key returns the same response, and posts nothing):"
    return ["", "Sign in (demo):", *accounts, "", post, "", demo["curl"]]


def _wait_and_print(ports: Sequence[int], data: Path) -> None:
    while not all(map(_is_open, ports)):
        time.sleep(0.05)
    sys.stdout.write(text(ports, _demo(data)) + "\n")
    sys.stdout.flush()


def _is_open(port: int) -> bool:
    """A worker opens the port after it has loaded the application."""
    with socket.socket(bind_address.family(bind_address.host()), socket.SOCK_STREAM) as probe:
        return probe.connect_ex((str(bind_address.host()), port)) == 0


def _demo(data: Path) -> dict[str, Any] | None:
    file = data / "demo.json"
    return json.loads(file.read_text()) if file.exists() else None
