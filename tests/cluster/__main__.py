"""`make cluster`: a whole cluster as processes of this machine, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys

from tests.cluster.stack import Stack


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    # Without network namespaces, so that every address is one of this machine.
    stack = Stack(cuts=False, STREAMS="1", DEMO=os.environ.get("DEMO", "1"))
    try:
        sys.stdout.write(text(stack))
        sys.stdout.flush()
        signal.pause()
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    finally:
        stack.close()


def text(stack: Stack) -> str:
    postgres = stack.postgres
    lines = [
        f"The cluster runs at http://127.0.0.1:{stack.port}  (Ctrl-C stops it and deletes its data)",
        "",
        f"  primary    {postgres.primary.url}",
        *(f"  standby    {standby.url}" for standby in postgres.standbys),
        f"  PgBouncer  {stack.pooler.url}",
        *(f"  Redis      redis://{each.place.address}:{each.port}" for each in stack.redis),
        *(f"  host       {host.base_url}, streams {host.stream_port}" for host in stack.hosts),
        f"  logs       {stack.home}, {postgres.home}",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
