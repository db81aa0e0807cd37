"""`make containers`: builds the image from a Debian base, and runs it alone and as deploy/cluster does.

Needs root, mmdebstrap, buildah, podman, runc and podman-compose. The images of others that it names have
stand-ins, which read the same settings: the folders here.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable

from tests.packages.containers import conversation
from tests.packages.containers.engine import IMAGE, PROGRAMS, Engine

READ_ONLY = "for folder in / /etc /usr /opt/service; do if touch $folder/x 2>/dev/null; then exit 1; fi; done"
WITHOUT_RIGHTS = "grep -q '^CapEff:.*0000000000000000$' /proc/self/status && test $(id -u) = 10001"


def main() -> None:
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        sys.exit(f"Not on PATH: {', '.join(missing)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    engine = Engine(os.environ.get("BUILD_OPTIONS", ""))
    try:
        _timed("Debian base", engine.build_base)
        _timed("image of the service", engine.build_image)
        _timed("stand-ins", engine.build_stand_ins)
        _say(f"  the image has {engine.size(IMAGE)}, its base {engine.size('localhost/debian')}")
        _timed("image alone: user, rights, read-only root", lambda: run_alone(engine))
        _timed("deploy/cluster: started until it is ready", lambda: start_all(engine))
        _timed("health checks", lambda: check_health(engine))
        _timed("post, replay, host stopped, all started again", lambda: conversation.hold(engine))
    finally:
        engine.close()


def run_alone(engine: Engine) -> None:
    script = f"{WITHOUT_RIGHTS} && touch /data/x /tmp/x && {{ {READ_ONLY}; }} && community-messaging manage --version"
    engine.run(
        *("podman", "run", "--rm", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--tmpfs", "/tmp", "--ulimit", "host", "--no-healthcheck", "--entrypoint", "sh", IMAGE, "-c", script),
    )


def start_all(engine: Engine) -> None:
    """With the file that an operator writes: the example, and secrets."""
    lines = (engine.cluster / "example.env").read_text().splitlines()
    filled = [line + secrets.token_hex(32) if line.endswith("=") else line for line in lines]
    (engine.cluster / ".env").write_text("\n".join(filled))
    engine.compose("up", "--detach")
    conversation.wait_until_ready()


def check_health(engine: Engine) -> None:
    for service in ("one", "two", "primary", "standby", "redis"):
        engine.run("podman", "healthcheck", "run", f"cluster_{service}_1")
    replicas = engine.inside("primary", "psql", "-U", "community", "-Atc", "SELECT sync_state FROM pg_stat_replication")
    assert replicas == "sync", replicas


def _timed(name: str, step: Callable[[], None]) -> None:
    _say(f"{name} …")
    started = time.monotonic()
    step()
    _say(f"  done in {time.monotonic() - started:.0f} s")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
