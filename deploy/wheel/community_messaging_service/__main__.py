"""The command `community-messaging` of the wheel."""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).resolve().parent
USAGE = """community-messaging serve           start the service, as `make run` does
community-messaging streams         the stream process alone
community-messaging manage COMMAND  a management command; `manage help` lists them
community-messaging setup           writes the settings of a service on this machine, and prepares its database
community-messaging doctor          checks the service, its proxy, mail and more; says what to do
community-messaging ready           exits with 0 if the service on this machine is ready (PORT)
community-messaging --version

Settings are environment variables (docs/operations.md). `community-messaging --env-file FILE COMMAND` reads them from
a file, such as /etc/community-messaging.env, which `setup` writes.
The data is in DATA_DIR, by default .data in this folder.
"""
READY_SECONDS = 5


def main() -> None:
    # Programs that the service starts run in this folder, and find the packages there.
    sys.path.insert(0, str(ROOT))
    command, *arguments = _without_env_file(sys.argv[1:]) or ["--help"]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DATA_DIR", str(Path.cwd() / ".data"))
    if command == "manage":
        import manage

        sys.argv = ["manage.py", *arguments]
        manage.main()
    elif command == "ready" and not arguments:
        _ready()
    elif command in ("serve", "streams"):
        sys.argv = [command, *arguments]
        _start(command, arguments)
    elif command == "setup":
        from runtime.setup import main as set_up

        set_up(arguments)
    elif command == "doctor":
        from runtime.doctor import main as examine

        examine(arguments)
    elif command == "--version":
        from config.version import VERSION

        sys.stdout.write(f"{VERSION}\n")
    elif command in ("--help", "-h", "help"):
        sys.stdout.write(USAGE)
    else:
        sys.exit(f"community-messaging: there is no command {command!r}.\n\n{USAGE}")


def _without_env_file(arguments: list[str]) -> list[str]:
    """The arguments after `--env-file FILE`, whose settings are in the environment then."""
    if arguments[:1] != ["--env-file"] or len(arguments) < 2:
        return arguments
    from runtime import environment_file
    from runtime.data_folder import CannotRun

    try:
        environment_file.apply(Path(arguments[1]))
    except CannotRun as error:
        sys.exit(f"community-messaging: {error}.")
    return arguments[2:]


def _start(command: str, arguments: list[str]) -> None:
    if command == "streams":
        from runtime.streams import main as serve_streams

        serve_streams()
    elif arguments:
        sys.exit("community-messaging serve: it takes no arguments; settings are environment variables.")
    else:
        from runtime.run import main as serve

        serve("community-messaging serve")


def _ready() -> None:
    from runtime import bind_address

    port = int(os.environ.get("PORT") or 8000)
    client = HTTPConnection(bind_address.local_host(), port, timeout=READY_SECONDS)
    try:
        client.request("GET", "/readyz")
        sys.exit(0 if client.getresponse().status == 200 else 1)
    except (OSError, HTTPException) as error:
        sys.exit(f"community-messaging ready: {error}")


if __name__ == "__main__":
    main()
