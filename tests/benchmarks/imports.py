"""`make bench-import`: the duration and the memory of an import, and of undoing it, on a PostgreSQL of its own."""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from runtime.postgres import Cluster
from tests.moving.imports.generating import disqus, one_thread
from tests.moving.large_files import MEGABYTE, TEXTS, write
from tests.service import ROOT

SECRETS = ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")
# isso stores paths without a host.
MAP = ("--map", "/=https://site.example/")
PRODUCTION = {"BASE_URL": "https://service.example"} | {name: secrets.token_urlsafe(48) for name in SECRETS}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-import", description=__doc__)
    parser.add_argument("--posts", type=int, default=100_000, help="how many (default 100,000)")
    parser.add_argument("--words", type=int, default=40, help="of a post (default 40)")
    parser.add_argument("--levels", action="store_true", help="each post answers another one: one thread")
    parser.add_argument("--gigabytes", type=float, help="a file of this size, in place of a number of posts")
    parser.add_argument("--from", dest="format", default="disqus", choices=[*TEXTS, "isso"], help="of that file")
    parser.add_argument("--length", type=int, default=10_000, help="of a text of that file (default 10,000)")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="cm-bench-") as folder:
        _measure(Path(folder), options)


def _measure(folder: Path, options: argparse.Namespace) -> None:
    file = _written(folder / "big", options)
    say(f"{options.format}, {file.stat().st_size / 1e6:,.0f} MB")
    cluster = Cluster(folder / "postgres")
    cluster.start()
    try:
        os.environ |= {"DATABASE_URL": cluster.url, "DATA_DIR": str(folder), "DEBUG": "0"} | PRODUCTION
        _manage("migrate", "--verbosity=0")
        made = _manage("create_community", "Benchmark", "--slug", "benchmark")
        community = next(word for word in made.replace('"', " ").split() if len(word) == 36)
        dry = ["--dry-run"] if options.dry_run else []
        out = _timed(
            "import_posts", "--from", options.format, str(file), "--community", community, "--any-host", *MAP, *dry
        )
        say("\n".join(line for line in out.splitlines() if line.startswith(("new:", "skipped:", "changed:"))))
        if not options.dry_run:
            _timed("undo_import", out.split("undo_import ")[1].rstrip(")\n"))
    finally:
        cluster.stop()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _written(file: Path, options: argparse.Namespace) -> Path:
    if options.gigabytes:
        write(options.format, file, megabytes=options.gigabytes * 1e9 / MEGABYTE, length=options.length)
        return file
    if options.levels:
        return one_thread(file, levels=options.posts)
    return disqus(file, posts=options.posts, words=options.words)


def _timed(*arguments: str) -> str:
    began = time.monotonic()
    out, peak = _run(*arguments)
    say(f"{arguments[0]}: {time.monotonic() - began:,.1f} s, at most {peak:,.0f} MB in the process")
    return out


def _manage(*arguments: str) -> str:
    return _run(*arguments)[0]


def _run(*arguments: str) -> tuple[str, float]:
    """The output of a command, and the largest resident size of its process in MB."""
    with subprocess.Popen(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments[0]} has failed.")
    return out, usage.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    main()
