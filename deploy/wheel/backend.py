"""Builds the wheel of the service (PEP 517). It needs no other package.

The packages, templates, static files and translations go into one folder, `community_messaging_service`: packages named
`config` or `agents` at the top of an environment would be in the way of others. The same source gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HOME = "community_messaging_service"
PACKAGES = (
    "config",
    "kernel",
    "runtime",
    "messaging",
    "agents",
    "reactions",
    "embeds",
    "mails",
    "moving",
    "oauth",
    "mcp_server",
    "account_area",
    "desk",
)
# The service serves the client for Python as a wheel.
CONTENTS = (*PACKAGES, "templates", "static", "locale", "clients/python", "manage.py")
# Compiled translations are used; the sources of them are not.
LEFT_OUT = {".pyc", ".po"}
SOURCES = (*CONTENTS, "deploy", "pyproject.toml", "README.md", "CHANGELOG.md", "requirements.lock")
# The oldest date of a zip file.
DATE = (1980, 1, 1, 0, 0, 0)


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    project = _project()
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    info = f"{name}.dist-info"
    files = dict(_packaged()) | {
        f"{info}/METADATA": _metadata(project).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: deploy/wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{project['name']} = {HOME}.__main__:main\n".encode(),
    }
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    project = _project()
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    with tarfile.open(Path(sdist_directory) / f"{name}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in (path for source in SOURCES for path in _files(ROOT / source)):
            archive.add(path, f"{name}/{path.relative_to(ROOT)}")
        metadata = _metadata(project).encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(metadata)
        archive.addfile(entry, io.BytesIO(metadata))
    return f"{name}.tar.gz"


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project


def _packaged() -> Iterator[tuple[str, bytes]]:
    """Names in the wheel, and contents."""
    own = Path(__file__).parent / HOME
    for path in sorted(own.glob("*.py")):
        yield f"{HOME}/{path.name}", path.read_bytes()
    for name in CONTENTS:
        for path in _files(ROOT / name):
            if path.suffix not in LEFT_OUT:
                yield f"{HOME}/{path.relative_to(ROOT)}", path.read_bytes()


def _files(source: Path) -> Iterator[Path]:
    if source.is_file():
        yield source
    else:
        yield from sorted(path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _metadata(project: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {dependency}" for dependency in project["dependencies"]),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (ROOT / "README.md").read_text()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
