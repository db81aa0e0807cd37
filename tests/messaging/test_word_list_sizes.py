"""The size limits of word lists, their memory, and how often they are compiled."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from threading import Barrier, Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from messaging import word_lists
from messaging.communities.content_rules import Draft, refuse_blocked
from messaging.models import Community
from messaging.word_lists import COMPILED_BYTES_MAX, InvalidWord, check_words, compile_words
from messaging.word_lists.cache import BoundedCache
from messaging.word_lists.entries import LIST_BYTES_MAX, LIST_WORDS_MAX
from tests.admin.pages import page
from tests.api import Api
from tests.embeds.making import INSTANCES, an_embed
from tests.factories import CommunityFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.waiting import PATIENCE_SECONDS

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CHOICE = random.Random(12)


def phrases(words: int, *, entries: int = 500) -> list[str]:
    """Phrases of `words` words of one letter."""
    return [" ".join(CHOICE.choices(LETTERS, k=words)) for _ in range(entries)]


def sentences() -> list[str]:
    """500 entries of 100 characters, with words as long as in English."""
    words = ["".join(CHOICE.choices(LETTERS, k=CHOICE.randint(2, 7))) for _ in range(2_000)]
    return [" ".join(CHOICE.choices(words, k=24))[:100] for _ in range(500)]


SHAPES = {
    "one-letter words": lambda: phrases(25),
    "one-letter words over the limit": lambda: phrases(50),
    "sentences": sentences,
    "rare ideographs": lambda: [
        f"{''.join(chr(CHOICE.randrange(0x20000, 0x2A000)) for _ in range(99))}" for _ in range(500)
    ],
    "one rare ideograph": lambda: [f"{'x' * 96}{n:03}\U00020000" for n in range(500)],
    "signs": lambda: [f"$$$${CHOICE.choice(LETTERS)}${n} b{n}$$$$" for n in range(500)],
    "prefixes": lambda: [f"{' '.join(CHOICE.choices(LETTERS, k=20))} {'b' * (n % 50)}{n}*" for n in range(500)],
}


@pytest.fixture
def emptied() -> Iterator[BoundedCache[Any, Any]]:
    """The cache of compiled lists of this process, emptied."""
    lists = word_lists._compiled
    lists.clear()
    yield lists
    lists.clear()


@pytest.fixture
def compilations(emptied: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Records every list that is compiled."""
    compiled: list[tuple[str, ...]] = []
    parse_entries = word_lists.parse_entries
    monkeypatch.setattr(word_lists, "parse_entries", lambda words: compiled.append(words) or parse_entries(words))
    return compiled


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_largest_lists_take_at_most_620_kb_of_memory(emptied: BoundedCache[Any, Any], shape: Any) -> None:
    lists = [shape() for _ in range(2)]
    tracemalloc.start()
    try:
        for words in lists:
            # Separate strings, as read from the database.
            compile_words(["".join(list(word)) for word in words])
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 2 * 620_000
    assert taken < emptied.bytes * 1.2, "the estimate of the cache is not too low"


def test_the_memory_of_all_compiled_lists_is_bounded(emptied: BoundedCache[Any, Any]) -> None:
    few = BoundedCache(make=word_lists._compile, size=word_lists._size, bytes_max=COMPILED_BYTES_MAX // 16)
    for n in range(10):
        few.get(tuple(f"{'x' * 90}{n:04}{k:04}\U00020000" for k in range(500)))
        assert few.bytes <= COMPILED_BYTES_MAX // 16
    assert emptied._bytes_max == COMPILED_BYTES_MAX


def test_a_hundred_lists_are_compiled_once_each(compilations: list[Any]) -> None:
    lists = [phrases(5, entries=50) for _ in range(100)]
    for _ in range(3):
        for words in lists:
            refuse_blocked(Draft({"content": "Nothing of it."}, author_kind="human"), list(words))
    assert len(compilations) == 100


def test_concurrent_threads_compile_a_list_once(compilations: list[Any]) -> None:
    words, barrier = sentences(), Barrier(4)
    threads = [Thread(target=lambda: (barrier.wait(), compile_words(words)), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert len(compilations) == 1


def test_the_cache_evicts_the_least_recently_used_entry() -> None:
    created: list[str] = []
    cache = BoundedCache(make=lambda key: created.append(key) or key, size=len, bytes_max=6)
    for key in ("aa", "bb", "cc", "aa", "dd", "aa", "bb"):
        assert cache.get(key) == key
    assert created == ["aa", "bb", "cc", "dd", "bb"]
    assert cache.get("longer than all") == "longer than all"
    assert cache.bytes == len("longer than all"), "an oversized entry evicts all others"


def test_a_list_of_500_long_sentences_may_be_saved() -> None:
    check_words(sentences())
    check_words(phrases(LIST_WORDS_MAX // 500))
    check_words(["ह" * 100] * 500)


TOO_LARGE = {f"at most {LIST_WORDS_MAX} words": phrases(26), f"at most {LIST_BYTES_MAX} bytes": ["㌀" * 100] * 500}


@pytest.mark.slow
@pytest.mark.parametrize(("message", "words"), TOO_LARGE.items(), ids=["words", "bytes"])
@pytest.mark.django_db
def test_a_list_that_is_too_large_is_refused_by_commands_admin_and_api(
    message: str, words: list[str], client: Client
) -> None:
    with pytest.raises(InvalidWord, match=message):
        check_words(words)
    with pytest.raises(CommandError, match=message):
        call_command("create_community", "Harbour", *(part for word in words for part in ("--block", word)))
    client.force_login(SuperAdminFactory())
    sent = {"name": "Harbour", "slug": "harbour", "pre_moderation": "off", "blocked_words": "\n".join(words)}
    assert message in client.post(page(Community, "add"), sent).content.decode()
    assert not Community.objects.exists()
    owner, community = PersonFactory(), CommunityFactory()
    new = {"name": "Widget", "communityId": str(community.pk), "blockedWords": words}
    embed = an_embed(owner=owner)
    for response in (
        Api.as_signed_in(owner).post(INSTANCES, new),
        Api.as_signed_in(owner).put(f"{INSTANCES}/{embed.pk}", {"blockedWords": words}),
    ):
        assert (response.status, response.error, response.json["field"]) == (400, "invalid_input", "blockedWords")
        assert message in str(response.json["details"])


@pytest.mark.django_db
def test_a_saved_list_over_the_limits_stays_in_effect() -> None:
    words = [*phrases(50, entries=498), "_", "needle in this"]
    community, page_row = CommunityFactory(name="Harbour", slug="harbour", blocked_words=words), PageFactory()
    person = Api.as_person(PersonFactory())
    for content, status in (("Nothing of it.", 201), ("A needle, in this?", 422), (words[7].upper(), 422)):
        sent = {"pageId": page_row.pk, "content": content, "communityId": str(community.pk)}
        assert person.post("/api/messages", sent).status == status
    call_command("create_community", "Harbour", "--rule", "readOnly=true")
    community.refresh_from_db()
    assert (community.read_only, community.blocked_words) == (True, words)
