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


@pytest.mark.parametrize(("written", "read"), [("1", True), ("Yes", True), ("off", False), ("", True), (" 0 ", False)])
def test_flag(variable: Callable[[str], None], written: str, read: bool) -> None:
    variable(written)
    assert env.flag("A_SETTING", default=True) is read


@pytest.mark.parametrize(("written", "read"), [("1", 1), ("90", 90), ("", 7), (" 5 ", 5)])
def test_integer(variable: Callable[[str], None], written: str, read: int) -> None:
    variable(written)
    assert env.integer("A_SETTING", 7, minimum=1, maximum=90) == read


@pytest.mark.parametrize("written", ["0", "91", "-1", "1_0", "1.0", "٣", "five"])
def test_an_invalid_integer_is_refused_with_the_name(variable: Callable[[str], None], written: str) -> None:
    variable(written)
    with pytest.raises(ImproperlyConfigured, match=r"A_SETTING is .* write a whole number from 1 to 90"):
        env.integer("A_SETTING", 7, minimum=1, maximum=90)


def test_an_invalid_flag_is_refused_with_the_name(variable: Callable[[str], None]) -> None:
    variable("maybe")
    with pytest.raises(ImproperlyConfigured, match="A_SETTING is 'maybe'"):
        env.flag("A_SETTING", default=True)


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


@pytest.mark.parametrize("written", ["https://api.example.com", "http://127.0.0.1:8000/", "http://[::1]:8000"])
def test_origin(variable: Callable[[str], None], written: str) -> None:
    variable(written)
    assert env.origin("A_SETTING", "") == written.rstrip("/")


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://Community.Example", "https://community.example"),
        ("https://service.example:443/", "https://service.example"),
        ("http://service.example:80", "http://service.example"),
        ("http://service.example:443", "http://service.example:443"),
        ("http://[FE80::1]:08000", "http://[fe80::1]:8000"),
    ],
)
def test_an_origin_is_the_one_that_browsers_send(variable: Callable[[str], None], written: str, sent: str) -> None:
    variable(written)
    assert env.origin("A_SETTING", "") == sent


@pytest.mark.parametrize(
    "written",
    [
        *("api.example.com", "ftp://a.example", "https://", "https://a.example/path", "a://b", "https://[::1"),
        *("https://user:pw@a.example", "https://a.example?x=1", "https://a.example#y", "https://a example"),
        *("https://a.example:", "https://a.example:65536", "https://m\u00fcnchen.example"),
    ],
)
def test_an_invalid_origin_is_refused(variable: Callable[[str], None], written: str) -> None:
    variable(written)
    with pytest.raises(ImproperlyConfigured, match=r"A_SETTING is .* write an origin"):
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


def test_secrets_are_not_created_for_a_database_of_several_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.example/community")
    secrets.make_once(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("embedded_database")
def test_secrets_are_not_created_for_an_existing_database(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("written", ["", "short", GOOD[:-1]])
def test_production_refuses_a_missing_or_short_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("ROOT_KEY", written)
    with pytest.raises(ImproperlyConfigured, match="ROOT_KEY"):
        secrets.read("ROOT_KEY", data=tmp_path, debug=False)


def test_production_refuses_a_development_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROOT_KEY")
    well_known = secrets.read("ROOT_KEY", data=tmp_path, debug=True)
    monkeypatch.setenv("ROOT_KEY", well_known)
    with pytest.raises(ImproperlyConfigured, match="ROOT_KEY is too short or well known"):
        secrets.read("ROOT_KEY", data=tmp_path, debug=False)


@pytest.mark.parametrize("written", ["", "{", "[1]", "1", "null", '"text"'])
def test_the_error_names_an_unreadable_file_of_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.delenv("ROOT_KEY")
    (tmp_path / "secrets.json").write_text(written)
    with pytest.raises(ImproperlyConfigured, match=r"secrets\.json cannot be read"):
        secrets.read("ROOT_KEY", data=tmp_path, debug=False)
