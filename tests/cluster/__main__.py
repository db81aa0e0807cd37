"""`make cluster`: a whole cluster as processes of this machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys

from tests.cluster.stack import HOSTS, Host, Stack


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--hosts", type=int, default=HOSTS, help="how many hosts of the service")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    # Without network namespaces, so that every address is one of this machine.
    stack = Stack(cuts=False, hosts=options.hosts, STREAMS="1", DEMO=os.environ.get("DEMO", "1"))
    try:
        sys.stdout.write(text(stack))
        sys.stdout.flush()
        signal.pause()
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    finally:
        # A second one would leave what is not closed yet.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stack.close()


def text(stack: Stack) -> str:
    postgres = stack.postgres
    lines = [
        f"The cluster runs at http://127.0.0.1:{stack.proxy.port}  (Ctrl-C stops it and deletes its data)",
        "",
        f"  primary    {postgres.primary.url}",
        *(f"  standby    {standby.url}" for standby in postgres.standbys),
        f"  PgBouncer  {stack.pooler.url}",
        *(f"  Redis      redis://{each.place.address}:{each.port}" for each in stack.redis),
        *(f"  host       {host.address}, streams {host.stream_port}, {_killed_by(host)}" for host in stack.hosts),
        f"  logs       {stack.home}, {postgres.home}",
        "",
    ]
    return "\n".join([*lines, *_post(stack)])


def _killed_by(host: Host) -> str:
    """A host is the process group of its main process."""
    assert host.process
    return f"killed by: kill -9 -- -{host.process.pid}"


def _post(stack: Stack) -> list[str]:
    """A command that posts through the proxy, of the host that has filled the demo."""
    for host in stack.hosts:
        file = host.data / "demo.json"
        if file.exists():
            command = json.loads(file.read_text())["curl"]
            return ["Post as the demo agent (a repeat with the same key returns the same response):", "", command, ""]
    return []


if __name__ == "__main__":
    main()
