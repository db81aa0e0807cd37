"""Creates `.venv` and installs lock files into it. Runs before any package is installed: standard library only.

Usage: python install.py LOCK…   (the stamp is written last, so that an incomplete .venv is detected and replaced)
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"
OLDEST = (3, 11)
# How many lines of pip are shown if it fails.
SAID_MAX = 20


def main(locks: list[str]) -> None:
    if sys.version_info < OLDEST:
        sys.exit(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}: make PYTHON=python3.12 …")
    try:
        with (ROOT / ".venv.lock").open("w") as lock_file:
            fcntl.flock(lock_file, fcntl.LOCK_EX)
            install(locks)
    except OSError as error:
        sys.exit(f"{error.filename or ROOT} cannot be written ({error.strerror}): work in a folder that you own.")


def install(locks: list[str]) -> None:
    required = [hashlib.sha256((ROOT / lock).read_bytes()).hexdigest() for lock in locks]
    installed = STAMP.read_text().split() if STAMP.exists() else []
    usable = installed and runs()
    if usable and set(required) <= set(installed):
        return
    sys.stdout.write(f"Installing the packages of {' and '.join(locks)} into .venv (a minute, once) …\n")
    sys.stdout.flush()
    if usable:
        STAMP.unlink()
    elif VENV.is_symlink():
        sys.exit(
            f".venv is a link to {VENV.resolve()}, which is not cleared: remove the link, and run the command again."
        )
    else:
        create_venv()
    requirements = [part for lock in locks for part in ("-r", str(ROOT / lock))]
    if failure := run_pip(requirements, packages=max(count_packages(ROOT / lock) for lock in locks)):
        sys.stderr.write(failure)
        sys.exit("The packages could not be installed; pip says why above. Run the same command again afterwards.")
    STAMP.write_text("\n".join(required))


def run_pip(requirements: list[str], *, packages: int) -> str:
    """Install, and show `n of packages` in one line of a terminal. Returns what pip says if it fails, else nothing."""
    # The locks name every package. pip would not find the extras of one among them, such as `pydantic[email]`.
    options = ["--disable-pip-version-check", "--no-input", "--progress-bar=off", "--require-hashes", "--no-deps"]
    command = [str(PYTHON), "-m", "pip", "install", *options, *requirements]
    environment = os.environ | {"PIP_ROOT_USER_ACTION": "ignore", "PYTHONUNBUFFERED": "1"}
    said = []
    number = 0
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        for line in pip.stdout or ():
            said.append(line)
            if line.startswith("Collecting ") and number < packages:
                number += 1
                show(f"  {number} of {packages} downloaded")
            elif line.startswith("Installing "):
                show(f"  {packages} packages are being installed")
    show("")
    return "".join([*said[-SAID_MAX:], f"pip ended with status {pip.returncode}.\n"]) if pip.returncode else ""


def count_packages(lock: Path) -> int:
    return sum("==" in line and not line.startswith((" ", "#")) for line in lock.read_text().splitlines())


def show(text: str) -> None:
    """Replace the last line of a terminal. A log gets nothing: it would store every one of the lines."""
    if sys.stdout.isatty():
        sys.stdout.write(f"\r\033[K{text}")
        sys.stdout.flush()


def runs() -> bool:
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", ""], check=False).returncode == 0


def create_venv() -> None:
    created = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], check=False, text=True, capture_output=True, env=without_venv()
    )
    if created.returncode:
        sys.exit(
            f"{(created.stdout + created.stderr).strip()}\n"
            "Python could not create .venv. On Debian and Ubuntu: apt install python3-venv"
        )


def without_venv() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")}


if __name__ == "__main__":
    main(sys.argv[1:])
