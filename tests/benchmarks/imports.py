"""`make bench-import`: the duration and the memory of an import, and of undoing it, on a PostgreSQL of its own."""

from __future__ import annotations

import argparse
import os
import resource
import secrets
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from config.runtime.postgres import Cluster
from tests.moving.imports.generating import disqus
from tests.service import ROOT

SECRETS = ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")
PRODUCTION = {"BASE_URL": "https://service.example"} | {name: secrets.token_urlsafe(48) for name in SECRETS}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-import", description=__doc__)
    parser.add_argument("--posts", type=int, default=100_000, help="how many (default 100,000)")
    parser.add_argument("--words", type=int, default=40, help="of a post (default 40)")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="cm-bench-") as folder:
        _measure(Path(folder), options)


def _measure(folder: Path, options: argparse.Namespace) -> None:
    file = disqus(folder / "big.xml", posts=options.posts, words=options.words)
    say(f"{options.posts:,} posts, {file.stat().st_size / 1e6:,.0f} MB")
    cluster = Cluster(folder / "postgres")
    cluster.start()
    try:
        os.environ |= {"DATABASE_URL": cluster.url, "DATA_DIR": str(folder), "DEBUG": "0"} | PRODUCTION
        _manage("migrate", "--verbosity=0")
        made = _manage("create_community", "Benchmark", "--slug", "benchmark")
        community = next(word for word in made.replace('"', " ").split() if len(word) == 36)
        dry = ["--dry-run"] if options.dry_run else []
        out = _timed("import_posts", "--from", "disqus", str(file), "--community", community, *dry)
        if not options.dry_run:
            _timed("undo_import", out.split("undo_import ")[1].rstrip(")\n"))
    finally:
        cluster.stop()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _timed(*arguments: str) -> str:
    began = time.monotonic()
    out = _manage(*arguments)
    seconds, peak = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    say(f"{arguments[0]}: {seconds:,.1f} s, at most {peak:,.0f} MB of any process so far")
    return out


def _manage(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
