"""The installation of packages by `make run`: with a supported Python, complete, and once."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from runtime import install as runtime_install
from tests.service import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.processes]

PYTHONS = ("python3", "python3.13", "python3.12", "python3.11", "python")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with an empty lock."""
    (tmp_path / "runtime").mkdir(parents=True)
    shutil.copy(ROOT / "runtime/install.py", tmp_path / "runtime")
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "empty.lock").touch()
    return tmp_path


@pytest.fixture(autouse=True)
def python(tree: Path) -> None:
    """The Python that the script starts. The venv that it creates has the pip of this one: a copy takes seconds."""
    site = Path(sysconfig.get_path("purelib"))
    create = f'{sys.executable} -m venv --without-pip "$3" "$4" && cp -rs {site}/pip "$4"/lib/python3*/site-packages/'
    program(tree / "python", f'test "$2" = venv && {{ {create}; exit; }}; exec {sys.executable} "$@"')


def install(tree: Path) -> subprocess.CompletedProcess[str]:
    code = f"""
import sys
sys.executable = {str(tree / "python")!r}
sys.path.insert(0, "runtime")
import install
install.main(["empty.lock"])
"""
    return subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False)


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_packages_are_installed_once_and_an_incomplete_venv_is_replaced(tree: Path) -> None:
    first = install(tree)
    assert first.returncode == 0, first.stderr
    assert "Installing the packages of empty.lock" in first.stdout

    leftover = tree / ".venv/leftover"
    leftover.touch()
    assert install(tree).stdout == ""
    assert leftover.exists()

    (tree / ".venv/installed").unlink()
    assert "Installing the packages of empty.lock" in install(tree).stdout
    assert not leftover.exists()


def test_progress_is_one_line_of_a_terminal_and_pip_is_shown_only_if_it_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lock = tmp_path / "some.lock"
    lock.write_text("# one==1\none==1 \\\n    --hash=sha256:0\ntwo==2 ; x == '1'\n    # via one==1\n")
    assert runtime_install.count_packages(lock) == 2
    pip = tmp_path / "pip"
    monkeypatch.setattr(runtime_install, "PYTHON", pip)
    said = "echo Collecting one==1; echo WARNING: root; echo Collecting two==2; echo Collecting three"
    program(pip, f"{said}; echo Installing collected packages")
    assert runtime_install.run_pip([], packages=2) == ""
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert runtime_install.run_pip([], packages=2) == ""
    shown = capsys.readouterr().out
    assert "1 of 2" in shown
    assert "2 of 2" in shown
    assert "\n" not in shown
    assert "WARNING" not in shown
    program(pip, "echo ERROR: no such package; exit 1")
    assert runtime_install.run_pip([], packages=2) == "ERROR: no such package\npip ended with status 1.\n"
    program(pip, "exit 2")
    assert runtime_install.run_pip([], packages=2) == "pip ended with status 2.\n", "also if it says nothing"


def test_a_missing_python_is_detected(tree: Path) -> None:
    (tree / ".venv/bin").mkdir(parents=True)
    (tree / ".venv/bin/python").symlink_to("/nowhere/python3")
    (tree / ".venv/installed").write_text("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    assert "Installing" in install(tree).stdout
    assert (tree / ".venv/bin/python").exists()


def test_a_venv_elsewhere_that_a_link_leads_to_is_never_cleared(tree: Path) -> None:
    elsewhere = tree / "elsewhere"
    install(tree)
    (tree / ".venv").rename(elsewhere)
    (tree / ".venv").symlink_to(elsewhere)
    assert install(tree).returncode == 0, "one that has the packages is used"

    (elsewhere / "installed").unlink()
    refused = install(tree)
    assert refused.returncode == 1
    assert f".venv is a link to {elsewhere}, which is not cleared" in refused.stderr
    assert (elsewhere / "bin/python").exists()


def test_a_failed_install_leaves_no_stamp(tree: Path) -> None:
    (tree / "empty.lock").write_text("no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n--no-index\n")
    failed = install(tree)
    assert failed.returncode == 1
    assert "The packages could not be installed" in failed.stderr
    assert not (tree / ".venv/installed").exists()


def test_without_the_venv_module_the_error_names_the_package(tree: Path) -> None:
    program(tree / "python", 'echo "No module named ensurepip"; exit 1')
    result = install(tree)
    assert result.returncode == 1
    assert "No module named ensurepip" in result.stderr
    assert "apt install python3-venv" in result.stderr


def test_a_read_only_folder_is_reported(tree: Path) -> None:
    (tree / ".venv.lock").mkdir()
    result = install(tree)
    assert result.returncode == 1
    assert "cannot be written" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_old_python_is_refused_with_the_required_version(tree: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name in PYTHONS:
        program(old / name, 'test "$1" = --version && echo "Python 3.9.2" && exit 0; exit 1')
    result = subprocess.run(
        ["make", "run"],
        cwd=tree,
        env=os.environ | {"PATH": f"{old}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "Python 3.11 or newer is needed" in result.stderr
    assert "Python 3.9.2" in result.stderr
