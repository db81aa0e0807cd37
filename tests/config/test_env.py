import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env, secrets

GOOD = "a" * secrets.SECRET_MIN


@pytest.fixture
def variable(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda value: monkeypatch.setenv("A_SETTING", value)


def test_flag(variable: Callable[[str], None]) -> None:
    for written, read in (("1", True), ("Yes", True), ("off", False), ("", True), (" 0 ", False)):
        variable(written)
        assert env.flag("A_SETTING", default=True) is read
    variable("maybe")
    with pytest.raises(ImproperlyConfigured, match="A_SETTING is 'maybe'"):
        env.flag("A_SETTING", default=True)


def test_integer(variable: Callable[[str], None]) -> None:
    for written, read in (("1", 1), ("90", 90), ("", 7), (" 5 ", 5)):
        variable(written)
        assert env.integer("A_SETTING", 7, minimum=1, maximum=90) == read
    for written in ("0", "91", "-1", "1_0", "1.0", "٣", "five"):
        variable(written)
        with pytest.raises(ImproperlyConfigured, match=r"A_SETTING is .* write a whole number from 1 to 90"):
            env.integer("A_SETTING", 7, minimum=1, maximum=90)


def test_words(variable: Callable[[str], None]) -> None:
    variable("a, b,,c ")
    assert env.words("A_SETTING") == ["a", "b", "c"]
    variable("")
    assert env.words("A_SETTING", ["d"]) == ["d"]


def test_choice(variable: Callable[[str], None]) -> None:
    variable("reject")
    assert env.choice("A_SETTING", "replay", ("replay", "reject")) == "reject"
    variable("rejct")
    with pytest.raises(ImproperlyConfigured, match="A_SETTING is 'rejct': write one of replay, reject"):
        env.choice("A_SETTING", "replay", ("replay", "reject"))


def test_an_origin_is_the_one_that_browsers_send(variable: Callable[[str], None]) -> None:
    for written, sent in (
        ("https://api.example.com", "https://api.example.com"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("https://Community.Example", "https://community.example"),
        ("https://service.example:443/", "https://service.example"),
        ("http://service.example:80", "http://service.example"),
        ("http://service.example:443", "http://service.example:443"),
        ("http://[FE80::1]:08000", "http://[fe80::1]:8000"),
    ):
        variable(written)
        assert env.origin("A_SETTING", "") == sent
    for written in (
        *("api.example.com", "ftp://a.example", "https://", "https://a.example/path?x=1", "a://b", "https://[::1"),
        *("https://user:pw@a.example", "https://a.example?x=1", "https://a.example#y", "https://a example"),
        *("https://a.example:", "https://a.example:65536", "https://m\u00fcnchen.example"),
    ):
        variable(written)
        with pytest.raises(ImproperlyConfigured, match=r"A_SETTING is .* write an origin"):
            env.origin("A_SETTING", "")
    for written in ("https://a.example/community", "http://127.0.0.1:8000/a/b/", "https://[::1]//x"):
        variable(written)
        with pytest.raises(ImproperlyConfigured, match=r"\AA_SETTING is .* a host or a port of its own.*\Z"):
            env.origin("A_SETTING", "")


@pytest.fixture
def embedded_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without DATABASE_URL, as when `make run` starts PostgreSQL."""
    monkeypatch.delenv("DATABASE_URL")


@pytest.mark.usefixtures("embedded_database")
def test_secrets_are_created_once_and_readable_by_the_owner_only(tmp_path: Path) -> None:
    secrets.make_once(tmp_path)
    file = tmp_path / "secrets.json"
    first = json.loads(file.read_text())
    secrets.make_once(tmp_path)
    assert json.loads(file.read_text()) == first
    assert set(first) == set(secrets.NAMES)
    assert len(set(first.values())) == len(first)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_secrets_are_not_created_for_a_database_of_several_hosts_or_an_existing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.example/community")
    secrets.make_once(tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.delenv("DATABASE_URL")
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18\n")
    secrets.make_once(tmp_path)
    assert not (tmp_path / "secrets.json").exists()


@pytest.mark.usefixtures("embedded_database")
def test_the_environment_overrides_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets.make_once(tmp_path)
    monkeypatch.setenv("ROOT_KEY", GOOD)
    assert secrets.read("ROOT_KEY", data=tmp_path, debug=False) == GOOD
    monkeypatch.delenv("ROOT_KEY")
    assert (
        secrets.read("ROOT_KEY", data=tmp_path, debug=False)
        == json.loads((tmp_path / "secrets.json").read_text())["ROOT_KEY"]
    )


def test_production_refuses_a_missing_short_or_well_known_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROOT_KEY")
    well_known = secrets.read("ROOT_KEY", data=tmp_path, debug=True)
    for written in ("", "short", GOOD[:-1], well_known):
        monkeypatch.setenv("ROOT_KEY", written)
        said = "ROOT_KEY is too short or well known" if written == well_known else "ROOT_KEY"
        with pytest.raises(ImproperlyConfigured, match=said):
            secrets.read("ROOT_KEY", data=tmp_path, debug=False)


def test_the_error_names_an_unreadable_file_of_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROOT_KEY")
    for written in ("", "{", "[1]", "1", "null", '"text"'):
        (tmp_path / "secrets.json").write_text(written)
        with pytest.raises(ImproperlyConfigured, match=r"secrets\.json cannot be read"):
            secrets.read("ROOT_KEY", data=tmp_path, debug=False)
