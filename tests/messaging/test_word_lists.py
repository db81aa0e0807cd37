"""Word lists: the texts that a blocked word matches and does not match."""

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from messaging.word_lists import MATCHES_MAX, WORD_MAX, InvalidWord, Match, check_words, compile_words
from messaging.word_lists.folding import fold, origins
from tests.messaging.growth import is_linear

MATCHING = [
    ("cialis", "buy CIALIS today", "CIALIS"),
    ("cialis", "cialis", "cialis"),
    ("cialis", "(cialis)", "cialis"),
    ("cialis", "ｃｉａｌｉｓ!", "ｃｉａｌｉｓ"),
    ("cialis", "ci\u200bal\u00adis", "ci\u200bal\u00adis"),
    ("cialis", "𝓬𝓲𝓪𝓵𝓲𝓼", "𝓬𝓲𝓪𝓵𝓲𝓼"),
    ("cialis", "c\u0336i\u0336a\u0336l\u0336i\u0336s\u0336", "c\u0336i\u0336a\u0336l\u0336i\u0336s\u0336"),
    ("ci\u200balis", "cialis", "cialis"),
    ("  cialis  ", "cialis", "cialis"),
    ('"cialis".', "cialis", "cialis"),
    ("buy now", "Buy -- NOW!", "Buy -- NOW"),
    ("buy now", "buy\n\nnow", "buy\n\nnow"),
    ("buy now", "buy,now", "buy,now"),
    ("buy now", "buy 🍆 $ now", "buy 🍆 $ now"),
    ("buy   now", "buy now", "buy now"),
    ("buy-now", "buy now", "buy now"),
    ("e-mail", "an e\u2011mail", "e\u2011mail"),
    ("e-mail", "E Mail", "E Mail"),
    ("don't", "Don\u2019t", "Don\u2019t"),
    ("spam*", "spammer", "spam"),
    ("spam*", "spam", "spam"),
    ("spam＊", "spammer", "spam"),
    ("spam**", "spammer", "spam"),
    ("buy no*", "buy nothing", "buy no"),
    ("straße", "STRASSE", "STRASSE"),
    ("strasse", "Straße", "Straße"),
    ("résumé", "RE\u0301SUME\u0301", "RE\u0301SUME\u0301"),
    ("istanbul", "İSTANBUL", "İSTANBUL"),
    ("kız", "KIZ", "KIZ"),
    ("kiz", "kız", "kız"),
    ("office", "oﬃce", "oﬃce"),
    ("ガス", "ｶﾞｽ", "ｶﾞｽ"),
    ("각", "\u1100\u1161\u11a8", "\u1100\u1161\u11a8"),
    ("हिन्दी", "वह हिन्दी है", "हिन्दी"),
    ("赌博", "去,赌博。", "赌博"),
    ("赌*", "赌博网站", "赌"),
    ("a$$", "what an a$$.", "a$$"),
    ("a$$hole", "A$$HOLE", "A$$HOLE"),
    ("C++", "learn c++ now", "c++"),
    ("@bob", "hi @Bob!", "@Bob"),
    ("sh!t", "Sh!t", "Sh!t"),
    ("yahoo!", "yahoo", "yahoo"),
    ("a b c", "x a b a b c", "a b c"),
    ("bad_word", "bad_word", "bad_word"),
    ("bad_word", "__bad_word_", "bad_word"),
    ("badword", "_badword_", "badword"),
    ("badword", "say ___badword__ now", "badword"),
    ("badword", "*badword*", "badword"),
    ("badword", "**_badword_**", "badword"),
    ("badword", "_\u200bbadword\u0336_", "badword\u0336"),
    ("_badword_", "badword", "badword"),
    ("bad word", "_bad_ _word_", "bad_ _word"),
    ("spam*", "_spammer_", "spam"),
    ("bad_*", "bad_word", "bad_"),
    ("a$b_*", "a$b_c", "a$b_"),
    ("हिन्दी", "_हिन्दी_", "हिन्दी"),
    ("赌博", "我喜欢赌博网站", "赌博"),
    ("ギャンブル", "オンラインｷﾞｬﾝﾌﾞﾙだ", "ｷﾞｬﾝﾌﾞﾙ"),
    ("도박", "온라인\u1103\u1169\u1107\u1161\u11a8사이트", "\u1103\u1169\u1107\u1161\u11a8"),
    ("casino", "CASINOです", "CASINO"),
    ("bad_word", "这是bad_word吗", "bad_word"),
    ("bad", "_bad_賭", "bad"),
    ("buy 賭博", "去buy, 賭博です", "buy, 賭博"),
    ("พนัน", "เล่นพนันออนไลน์", "พนัน"),
    ("น้ำ", "ดื่มน้ำเย็น", "น้ำ"),
    ("ພະນັນ", "ຫຼິ້ນພະນັນ", "ພະນັນ"),
    ("ល្បែង", "លេងល្បែងស៊ីសង", "ល្បែង"),
    ("လောင်း", "အွန်လိုင်းလောင်းကစား", "လောင်း"),
    ("時々", "私は時々行く", "時々"),
    ("スー*", "スーパー", "スー"),
    ("كازينو", "كَازِينُو", "كَازِينُو"),
    ("محمد", "مُحَمَّـــد،", "مُحَمَّـــد"),
    ("שָׁלוֹם", "שלום", "שלום"),
]

APART = [
    ("cialis", "specialist cialist especialis cialis2"),
    ("cialis", "ciali s"),
    ("buy now", "buynow buy  snow rebuy now"),
    ("e-mail", "email"),
    ("spam*", "antispam"),
    ("buy no*", "buy yes no"),
    ("a$$", "a hole, a $$ and $$"),
    ("a$$hole", "a hole"),
    ("C++", "vitamin C"),
    ("f*ck", "f ck"),
    ("@bob", "bob @bobby"),
    ("resume", "résumé"),
    ("हि", "हिन्दी"),
    *(("도박", "시도 박수"), ("賭博", "賭 博、賭、博"), ("buy賭博", "buy 賭博"), ("ก", "กินกี่")),
    *(("賭博", "賭場博士"), ("спам", "антиспам спамер"), ("हि", "हिन्दी"), ("كازينو", "الكازينو كازينوهات")),
    ("ｒ", "р"),
    ("bad", "bad_word word_bad a_bad_word"),
    ("word", "bad_word"),
    ("bad word", "bad_word"),
    ("bad_word", "bad word bad__word badword"),
    ("bad_*", "badge bad"),
]


def found(word: str, text: str) -> list[tuple[str, str, str]]:
    """Each match as a row of MATCHING."""
    compiled = compile_words([word])
    matches = compiled.matches(text)
    assert compiled.first_match(text) == (matches[0] if matches else None)
    return [(match.word, text, text[match.start : match.end]) for match in matches]


def test_words_match_in_any_spelling_and_not_as_part_of_another_word() -> None:
    assert [found(word, text) for word, text, _matched in MATCHING] == [[row] for row in MATCHING]
    assert [match for word, text in APART for match in found(word, text)] == []


def test_matches_may_overlap() -> None:
    text = "Ünder: buy now, buy"
    assert compile_words(["buy", "buy now", "now", "n*", "unheard"]).matches(text) == [
        Match("buy", 7, 10),
        Match("buy now", 7, 14),
        Match("n*", 11, 12),
        Match("now", 11, 14),
        Match("buy", 16, 19),
    ]


def test_matches_are_bounded() -> None:
    assert len(compile_words(["a"]).matches("a " * 5_000)) == MATCHES_MAX


def test_a_list_is_compiled_once_and_compared_by_its_words() -> None:
    one = compile_words(["a", "b"])
    assert compile_words(iter(["a", "b"])) is one
    assert {one: 1}[compile_words(("a", "b"))] == 1
    assert one != compile_words(["b", "a"])
    assert compile_words([]).matches("anything") == []


def test_of_two_spellings_of_one_word_the_first_matches() -> None:
    assert compile_words(["Spam", "spam"]).matches("SPAM") == [Match("Spam", 0, 4)]


NO_WORDS = ["", " ", "\u200b", "*", "* *", "...", "!!!", "$$$", "🍆", "-*", "_", "__*", "x" * (WORD_MAX + 1), "$$$$$a"]


@pytest.mark.parametrize("word", NO_WORDS)
def test_an_entry_that_could_not_match_is_refused(word: str) -> None:
    with pytest.raises(InvalidWord):
        check_words(["fine", word])
    check_words(["fine"])


def test_entries_that_could_not_match_are_ignored_in_a_saved_list() -> None:
    """An earlier release may have saved them."""
    assert compile_words(["***", "fine", "_"]).matches("_ *** fine") == [Match("fine", 6, 10)]


def naive(word: str, text: str) -> set[tuple[int, int]]:
    """The positions of matches of a plain entry in a folded ASCII text, word by word."""
    entry = [part for run in re.findall(r"\w+", word.lower()) if (part := run.strip("_"))]
    if underscores := re.search(r"_+(?=\*$)", word):
        entry[-1] += underscores.group()
    runs = [(run.end() - len(run[0].lstrip("_")), run[0].strip("_")) for run in re.finditer(r"\w+", text.lower())]
    words = [(start, run) for start, run in runs if run]
    matches = set()
    for row in (words[at : at + len(entry)] for at in range(len(words) - len(entry) + 1)):
        *whole, (last_start, last) = row
        same = [text for _, text in whole] == entry[:-1]
        if same and (last.startswith(entry[-1]) if word.endswith("*") else last == entry[-1]):
            matches.add((row[0][0], last_start + len(entry[-1])))
    return matches


PLAIN_WORDS = st.from_regex(r"_{0,2}[ab]{1,2}(_{1,2}[ab])?_{0,2}([ ,.-]{1,2}[ab1]{1,2}_?){0,2}\*?", fullmatch=True)
TEXTS = st.lists(
    st.sampled_from(["a", "b", "ab", "A", "_", "__", "1", " ", ", ", ". ", "-", "$", "a b", "ba"]), max_size=25
)


@settings(max_examples=40, deadline=None)
@given(st.lists(PLAIN_WORDS, max_size=6), TEXTS.map("".join))
@example(["a b", "b a"], "a b a b")
def test_matches_equal_those_of_a_naive_search_per_word(words: list[str], text: str) -> None:
    positions = {(match.start, match.end) for match in compile_words(words).matches(text)}
    assert positions == set().union(*(naive(word, text) for word in words))


STRANGE = st.text(
    st.sampled_from("abİıßéﬁ\u0301\u0323\u0345\u0336\u200b\u200d\ufeff\u1100\u1161\u11a8가ｶﾞ\ufdfaส\u0e33ा𝓬 ,$*")
    | st.characters()
)


@settings(max_examples=100, deadline=None)
@given(STRANGE)
def test_positions_cover_the_folded_text(text: str) -> None:
    starts, ends = origins(text)
    assert len(starts) == len(ends) == len(fold(text))
    assert starts == sorted(starts)
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))
    pieces = sorted(set(zip(starts, ends, strict=True)))
    assert "".join(fold(text[start:end]) for start, end in pieces) == fold(text)


@settings(max_examples=100, deadline=None)
@given(STRANGE, STRANGE, STRANGE)
def test_a_word_between_spaces_always_matches(before: str, word: str, after: str) -> None:
    try:
        check_words([word])
    except InvalidWord:
        return
    text = f"{before} {word.rstrip('*＊')} {after}"
    assert compile_words([word]).first_match(text)


WORDS = [f"{'abcdefghij' * 9}{n:010d}" for n in range(500)]
# Texts of any length.
HOSTILE: dict[str, Callable[[int], str]] = {
    "prose": lambda size: "hello world and so on " * (size // 22),
    "one letter": lambda size: "a " * (size // 2),
    "one word": lambda size: "a" * size,
    "near misses": lambda size: WORDS[7][:-1] * (size // 99),
    "unordered marks": lambda size: "a" + "\u0301\u0316" * (size // 2),
    "marks in blocks": lambda size: "a" + "\u0301" * (size // 2) + "\u0316" * (size // 2),
    "zero-width": lambda size: "\u200b" * size,
    "expanding": lambda size: "\ufdfa" * size,
    "jamo": lambda size: "\u1100\u1161" * (size // 2),
    "gaps": lambda size: ("a" + " " * 99) * (size // 100),
    "cyrillic": lambda size: "привет мир " * (size // 11),
    "without spaces": lambda size: "賭博" * (size // 2),
}
LISTS = {
    "500 words": WORDS,
    "500 prefixes": [word[:-1] + "*" for word in WORDS[::10]],
    "phrases": ["a " * count + "b" for count in range(1, 50)],
    "prefixed phrases": ["a " * count + "b*" for count in range(49)],
    "without spaces": ["賭博" * count + "賭" for count in range(1, 49)],
    "signs": ["$" * before + "a" + "+" * after for before in range(5) for after in range(1, 5)],
}


def test_hostile_texts_are_searched_in_a_time_that_grows_with_the_text_alone() -> None:
    compiled = {name: compile_words(words) for name, words in LISTS.items()}
    slow = [
        (name, kind)
        for name, words in compiled.items()
        for kind, text in HOSTILE.items()
        if not is_linear(lambda size, words=words, text=text: words.first_match(text(size)), size=2_000)
    ]
    assert slow == []
