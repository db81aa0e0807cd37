"""Where `cm` stores tokens: the keyring if there is one, else files that only their owner can read."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import keyring
import pytest
from community_messaging import Credential
from community_messaging.cli.locks import locked
from community_messaging.cli.store import AGENT, LOCK, PERSON, SERVICE, Store
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import PasswordDeleteError

from tests.client.commands import DONE, REFUSED, Command
from tests.client.scripted import Answer, Received, refusal, scripted

URL = "https://service.example/path"
TOKEN = Credential("cag_" + "x" * 46)
SIGN_IN = Credential("token", "u1", "access", "refresh")
RENEWED = Credential("token 2", "u1", "access 2", "refresh")
OTHER = Credential("token 3", "u2", "access 3", "refresh 3")
DAMAGED = ["", "{", "[]", "null", '{"other": 1}', '{"token": ""}', "\x00", "[" * 100_000]
DAMAGED += ['{"token": 5}', '{"token": null}', '{"token": ["x"]}', '{"token": "x", "user_id": null}']


class MemoryKeyring(KeyringBackend):
    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.passwords: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.passwords[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.passwords.pop((service, username), None) is None:
            raise PasswordDeleteError


@pytest.fixture(params=[NoKeyring, MemoryKeyring], ids=["files", "keyring"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    keyring.set_keyring(request.param())
    return Store(tmp_path / "a" / "b")


def test_credentials_are_stored_by_service_and_kind(store: Store) -> None:
    store.put(URL, AGENT, TOKEN)
    store.put(URL, PERSON, SIGN_IN)
    assert (store.get(URL, AGENT), store.get(URL, PERSON)) == (TOKEN, SIGN_IN)
    assert store.get("https://other.example", AGENT) is None
    store.put(URL, AGENT, SIGN_IN)
    assert store.get(URL, AGENT) == SIGN_IN
    store.remove(URL, AGENT)
    store.remove(URL, AGENT)
    assert (store.get(URL, AGENT), store.get(URL, PERSON)) == (None, SIGN_IN)


def test_a_renewed_credential_replaces_the_one_that_was_read(store: Store) -> None:
    store.put(URL, PERSON, SIGN_IN)
    store.replace(URL, PERSON, SIGN_IN, RENEWED)
    assert store.get(URL, PERSON) == RENEWED


def test_a_renewed_credential_replaces_no_later_sign_in(store: Store) -> None:
    store.put(URL, PERSON, OTHER)
    store.replace(URL, PERSON, SIGN_IN, RENEWED)
    assert store.get(URL, PERSON) == OTHER


def test_a_renewed_credential_is_not_stored_after_a_sign_out(store: Store) -> None:
    store.put(URL, PERSON, SIGN_IN)
    store.remove(URL, PERSON)
    store.replace(URL, PERSON, SIGN_IN, RENEWED)
    assert store.get(URL, PERSON) is None


@pytest.mark.parametrize("change", ["put", "remove"])
def test_no_other_change_is_lost_between_the_comparison_and_the_replacement(
    store: Store, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    store.put(URL, PERSON, SIGN_IN)
    changes = {"put": lambda: store.put(URL, PERSON, OTHER), "remove": lambda: store.remove(URL, PERSON)}
    concurrent = threading.Thread(target=changes[change])
    get = store.get

    def get_and_change(url: str, kind: str) -> Credential | None:
        found = get(url, kind)
        concurrent.start()
        # It waits for the end of the replacement; without a lock it ends here.
        concurrent.join(0.2)
        return found

    monkeypatch.setattr(store, "get", get_and_change)
    store.replace(URL, PERSON, SIGN_IN, RENEWED)
    concurrent.join()
    assert get(URL, PERSON) == (OTHER if change == "put" else None)


@pytest.mark.parametrize("store", [NoKeyring], indirect=True)
@pytest.mark.parametrize("other", [OTHER, None], ids=["sign-in", "sign-out"])
@pytest.mark.usefixtures("store")
def test_a_command_that_renews_its_token_changes_no_later_sign_in(tmp_path: Path, other: Credential | None) -> None:
    own = Store(tmp_path / SERVICE)

    def service(request: Received) -> Answer:
        if request.path == "/api/auth/refresh":
            if other:
                own.put(server.base_url, PERSON, other)
            else:
                own.remove(server.base_url, PERSON)
        return renewing(request)

    with scripted(service) as server:
        own.put(server.base_url, PERSON, SIGN_IN)
        assert Command(tmp_path, server.base_url)("status").code == DONE
        assert own.get(server.base_url, PERSON) == other


@pytest.mark.parametrize("is_json", [False, True])
def test_a_renewed_token_that_cannot_be_stored_is_used_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_json: bool
) -> None:
    own = Store(tmp_path / SERVICE)
    with scripted(renewing) as server:
        own.put(server.base_url, PERSON, SIGN_IN)
        monkeypatch.setattr(Path, "replace", refuse)
        finished = Command(tmp_path, server.base_url)("status", *(["--json"] if is_json else []))
    assert finished.code == DONE
    (line,) = finished.err.splitlines()
    assert (json.loads(line)["warning"] if is_json else line).startswith("The renewed token is not stored: ")
    assert own.get(server.base_url, PERSON) == SIGN_IN


def renewing(request: Received) -> Answer:
    """A service at which only the token of RENEWED is valid."""
    match request.path:
        case "/api/auth/refresh":
            return Answer(200, {"accessToken": RENEWED.access_token})
        case "/api/auth/embed-token":
            return Answer(200, {"token": RENEWED.token, "userId": RENEWED.user_id})
    is_renewed = request.headers["authorization"] == f"Bearer {RENEWED.token}"
    return Answer(200, {"requests": [], "hasMore": False}) if is_renewed else refusal(401, "token_expired")


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_created_token_that_cannot_be_stored_is_printed(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / SERVICE).write_text("a file in the place of the folder")
    created = {"tokenId": "t1", "token": TOKEN.token, "prefix": "cag_x", "expiresAt": "2026-01-01T00:00:00Z"}
    with scripted(Answer(201, created)) as server:
        cm = Command(tmp_path, server.base_url, {"CM_TOKEN": "e30.e30.x"})
        finished = cm("token", "create", "r1", "--save", *options)
    assert finished.code == DONE
    assert (finished.json["token"] if options else finished.out.strip()) == TOKEN.token
    assert "The token is not stored: " in finished.err


@pytest.mark.parametrize("store", [NoKeyring], indirect=True)
def test_a_folder_that_does_not_exist_and_cannot_be_created_has_nothing_to_remove(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file in the place of the folder")
    store.remove(URL, PERSON)
    assert store.get(URL, PERSON) is None


def test_the_last_address_is_stored(store: Store) -> None:
    assert store.address is None
    store.address = URL
    assert store.address == URL


@pytest.mark.parametrize("store", [NoKeyring], indirect=True)
def test_only_the_owner_can_read_a_file(store: Store, tmp_path: Path) -> None:
    store.put(URL, AGENT, TOKEN)
    folder = tmp_path / "a" / "b"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("store", [MemoryKeyring], indirect=True)
def test_with_a_keyring_no_file_has_a_token(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "https%3A%2F%2Fservice.example%2Fpath.agent").write_text("an earlier file")
    store.put(URL, AGENT, TOKEN)
    assert {file.read_text() for file in folder.iterdir()} <= {""}


class SmallKeyring(MemoryKeyring):
    """Like the backend of Windows: refuses long records with an exception of its own."""

    def set_password(self, service: str, username: str, password: str) -> None:
        if len(password) > 2560:
            raise RefusedByWindows
        super().set_password(service, username, password)


class RefusedByWindows(Exception):
    pass


class LockedKeyring(SmallKeyring):
    """Deletes nothing either."""

    def delete_password(self, service: str, username: str) -> None:
        raise RefusedByWindows


class BrokenKeyring(LockedKeyring):
    """Each of its functions fails."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RefusedByWindows


@pytest.mark.parametrize("store", [SmallKeyring, LockedKeyring, BrokenKeyring], indirect=True)
def test_a_credential_that_the_keyring_refuses_is_stored_in_a_file(store: Store) -> None:
    long = Credential("x" * 2560, "u1", "access", "refresh")
    store.put(URL, AGENT, TOKEN)
    store.put(URL, AGENT, long)
    assert store.get(URL, AGENT) == long
    store.put(URL, AGENT, TOKEN)
    assert store.get(URL, AGENT) == TOKEN


@pytest.mark.parametrize("store", [SmallKeyring], indirect=True)
def test_a_file_leaves_no_earlier_credential_in_the_keyring(store: Store) -> None:
    store.put(URL, AGENT, Credential("x"))
    store.put(URL, AGENT, Credential("x" * 2560))
    assert keyring.get_keyring().passwords == {}
    store.remove(URL, AGENT)
    assert store.get(URL, AGENT) is None


@pytest.mark.parametrize("store", [SmallKeyring], indirect=True)
def test_a_file_that_cannot_be_deleted_gets_the_credential_that_the_keyring_took(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(URL, AGENT, Credential("x" * 2560))
    monkeypatch.setattr(Path, "unlink", refuse)
    store.put(URL, AGENT, TOKEN)
    assert store.get(URL, AGENT) == TOKEN


@pytest.mark.parametrize("store", [MemoryKeyring], indirect=True)
@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_does_not_hide_the_keyring(store: Store, tmp_path: Path, text: str) -> None:
    store.put(URL, AGENT, TOKEN)
    (tmp_path / "a" / "b" / "https%3A%2F%2Fservice.example%2Fpath.agent").write_text(text)
    assert store.get(URL, AGENT) == TOKEN


@pytest.mark.parametrize("store", [LockedKeyring], indirect=True)
@pytest.mark.usefixtures("store")
def test_a_logout_that_the_keyring_refuses_is_an_error_after_the_sign_in_has_ended(tmp_path: Path) -> None:
    own = Store(tmp_path / SERVICE)
    with scripted(Answer(200, {"success": True})) as server:
        own.put(server.base_url, AGENT, TOKEN)
        own.put(server.base_url, PERSON, SIGN_IN)
        finished = Command(tmp_path, server.base_url)("logout")
        assert (finished.code, finished.out, len(finished.err.splitlines())) == (REFUSED, "", 1)
        assert [request.path for request in server.received] == ["/api/auth/logout"]
        error = Command(tmp_path, server.base_url)("--as", "agent", "logout", "--json").error
    assert error["error"] == "sign_in_not_deleted"


@pytest.mark.parametrize("store", [NoKeyring], indirect=True)
def test_a_file_that_cannot_be_deleted_is_not_removed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(URL, AGENT, TOKEN)
    assert store.remove(URL, PERSON)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert not store.remove(URL, AGENT)


def refuse(_path: Path, *_arguments: Any, **_options: Any) -> None:
    """Like Windows, while another program reads the file."""
    raise PermissionError


def test_a_credential_is_stored_without_the_lock_if_another_process_keeps_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("community_messaging.cli.locks.WAIT_SECONDS", 0.1)
    store.put(URL, AGENT, TOKEN)
    with locked(tmp_path / "a" / "b" / LOCK):
        store.put(URL, AGENT, OTHER)
    assert store.get(URL, AGENT) == OTHER


def test_a_keyring_that_cannot_be_loaded_is_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RefusedByWindows

    monkeypatch.setattr(keyring, "get_keyring", fail)
    monkeypatch.setattr("keyring.core.get_keyring", fail)
    store.put(URL, AGENT, TOKEN)
    assert store.get(URL, AGENT) == TOKEN


@pytest.mark.parametrize("store", [NoKeyring], indirect=True)
@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_as_if_nobody_had_signed_in(store: Store, tmp_path: Path, text: str) -> None:
    store.put(URL, AGENT, TOKEN)
    for file in (tmp_path / "a" / "b").iterdir():
        file.write_text(text)
    assert store.get(URL, AGENT) is None


@pytest.mark.parametrize("store", [NoKeyring], indirect=True)
def test_a_reader_never_finds_half_a_file(store: Store) -> None:
    store.put(URL, AGENT, TOKEN)

    def write(credential: Credential) -> None:
        for _ in range(50):
            store.put(URL, AGENT, credential)

    writers = [threading.Thread(target=write, args=[credential]) for credential in (TOKEN, SIGN_IN)]
    for writer in writers:
        writer.start()
    found = [store.get(URL, AGENT) for _ in range(200)]
    for writer in writers:
        writer.join()
    assert set(map(str, found)) <= {str(TOKEN), str(SIGN_IN)}
