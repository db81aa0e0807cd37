"""Runs Python programs in children of one process that has imported their modules, which takes a second each time.

python -m tests.documents.prepared serve SOCKET
python prepared.py run SOCKET ARGUMENTS…    runs `python ARGUMENTS…` there, with the files of this process
"""

from __future__ import annotations

import json
import os
import runpy
import socket
import sys
from pathlib import Path


def serve(path: str) -> list[str]:
    """Return in a child, with the arguments of a program. This process serves until it is killed."""
    import community_messaging.cli  # noqa: F401
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{path}.new")
        listener.listen()
        Path(f"{path}.new").rename(path)
        while True:
            connection, _address = listener.accept()
            text, files, _flags, _address = socket.recv_fds(connection, 1 << 16, 3)
            child = os.fork()
            if not child:
                for number, file in enumerate(files):
                    os.dup2(file, number)
                # The earlier objects have the states of other files.
                sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
                return list(json.loads(text))
            for file in files:
                os.close(file)
            _pid, status = os.waitpid(child, 0)
            connection.send(bytes([os.waitstatus_to_exitcode(status) % 256]))
            connection.close()


def execute(program: str, *arguments: str) -> None:
    if program == "-m":
        sys.argv = list(arguments)
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    elif program == "-c":
        exec(arguments[0], {"__name__": "__main__"})
    else:
        sys.argv = [program, *arguments]
        runpy.run_path(program, run_name="__main__")


def main(action: str, path: str, *arguments: str) -> None:
    if action == "serve":
        execute(*serve(path))
        return
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [json.dumps(arguments).encode()], [0, 1, 2])
        sys.exit(connection.recv(1)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
