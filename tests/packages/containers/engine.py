"""Buildah and podman with a storage and a configuration of their own, in a temporary folder."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from runtime.postgres_binaries import VERSION_FOLDER, binaries
from tests.service import ROOT

HERE = Path(__file__).parent
BASE, IMAGE = "localhost/debian", "localhost/community-messaging"
# The images that deploy/cluster/compose.yaml names, and the folders of those that take their places.
STAND_INS = {
    "docker.io/library/postgres:18": "postgres",
    "docker.io/edoburu/pgbouncer:latest": "pgbouncer",
    "docker.io/library/redis:7": "redis",
    "docker.io/library/nginx:1": "nginx",
}
PROGRAMS = ("mmdebstrap", "buildah", "podman", "runc", "podman-compose")
CONFIGURATION = """
[containers]
default_ulimits = []
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""
STORAGE = """
[storage]
driver = "vfs"
graphroot = "{home}/storage"
runroot = "{home}/run"
"""


class Engine:
    """`options` are those of `buildah build`, such as `--volume` of a configuration of pip."""

    def __init__(self, options: str = "") -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cm-containers-"))
        # Containers are named after this folder.
        self.cluster = self.home / "source/deploy/cluster"
        self.options = shlex.split(options)
        (self.home / "containers.conf").write_text(CONFIGURATION)
        (self.home / "storage.conf").write_text(STORAGE.format(home=self.home))
        self.environment = os.environ | {
            "CONTAINERS_CONF": str(self.home / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.home / "storage.conf"),
            "BUILDAH_ISOLATION": "chroot",
        }

    def run(self, *command: str | Path, check: bool = True, folder: Path = ROOT) -> str:
        """What the program printed. Raises RuntimeError with it if the program fails."""
        result = subprocess.run(
            command,
            check=False,
            env=self.environment,
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if check and result.returncode:
            raise RuntimeError(f"{shlex.join(map(str, command))} failed:\n{result.stdout[-4000:]}")
        return result.stdout.strip()

    def build_base(self) -> None:
        archive = self.home / "base.tar"
        self.run("mmdebstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", archive)
        container = self.run("buildah", "from", "scratch").splitlines()[-1]
        self.run("buildah", "add", "--quiet", container, archive, "/")
        self.run("buildah", "commit", "--quiet", "--rm", container, BASE)
        archive.unlink()

    def build(self, folder: Path, tag: str, *options: str) -> None:
        # The health check is part of Docker's format only.
        self.run("buildah", "build", "--format", "docker", "--network", "host", *options, "--tag", tag, folder)

    def build_image(self) -> None:
        """From the files that are committed."""
        source = self.home / "source"
        source.mkdir()
        archive = self.home / "source.tar"
        self.run("git", "archive", "--output", archive, "HEAD")
        self.run("tar", "--extract", "--file", archive, "--directory", source)
        self.build(source, IMAGE, "--build-arg", f"BASE={BASE}", *self.options)

    def build_stand_ins(self) -> None:
        programs = HERE / "postgres/programs"
        package = binaries().parent.parent
        try:
            shutil.copytree(binaries().parent, programs / package.name / VERSION_FOLDER, symlinks=True)
            shutil.copytree(package.with_suffix(".libs"), programs / f"{package.name}.libs")
            for tag, folder in STAND_INS.items():
                self.build(HERE / folder, tag)
        finally:
            shutil.rmtree(programs, ignore_errors=True)

    def size(self, image: str) -> str:
        return self.run("buildah", "images", "--format", "{{.Size}}", image)

    def compose(self, *arguments: str, check: bool = True) -> str:
        # A container does not ask for more than the limits of this process.
        command = ("podman-compose", "--podman-run-args=--ulimit host", *arguments)
        return self.run(*command, check=check, folder=self.cluster)

    def inside(self, service: str, *command: str, check: bool = True) -> str:
        return self.run("podman", "exec", f"cluster_{service}_1", *command, check=check)

    def close(self) -> None:
        if self.cluster.exists():
            self.compose("down", "--volumes", check=False)
        self.run("buildah", "rmi", "--all", "--force", check=False)
        shutil.rmtree(self.home, ignore_errors=True)
