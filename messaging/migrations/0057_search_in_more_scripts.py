"""Search finds words in scripts without spaces and Hangul, without optional marks, with ss for ß, and don’t as dont.

The functions are replaced, then the index of unpublished posts is built again, which waits for the writes that run with
the earlier functions, and then the entries of earlier posts are written, those that differ, in batches of a short
transaction each. An interrupted run is repeated. The earlier release runs the functions too. Backwards, the functions
of before write the entries again.
"""

from importlib import import_module
from typing import Any
from uuid import UUID

from django.contrib.postgres.operations import NotInTransactionMixin
from django.db import migrations

BEFORE = import_module("messaging.migrations.0010_derived_from_posts")
# The letters of scripts without spaces, and the marks that follow them. Python has the same ranges
# (`messaging.word_lists.characters`), and a test compares both.
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u3005-\u3007\u3021-\u312f\u3131-\u318f"
    r"\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff"
    r"\uff66-\uffdc\U000116d0-\U000116ff\U00011700-\U0001174f\U00016fe2-\U00016ff6\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
)
MARKS = (
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    r"\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u1a55-\u1a5e\u1a60-\u1a7c\u1a7f"
    r"\ua9e5\uaa7b-\uaa7d\uaab0\uaab2-\uaab4\uaab7\uaab8\uaabe\uaabf\uaac1\U0001171d-\U0001172b\U00016fe4\U00016ff0\U00016ff1"
)
OPTIONAL_MARKS = (
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8"
    r"\u06ea-\u06ed\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff"
)
# As before it, and: optional marks go, ß is ss, a final sigma is a sigma, each apostrophe is that of ASCII, syllables of
# Hangul are composed again, and each letter of a script without spaces is a word with its marks.
PLAIN_TEXT = rf"""
CREATE OR REPLACE FUNCTION messaging_plain_text(original text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(original) = char_length(original) THEN lower(original) ELSE
        regexp_replace(regexp_replace(normalize(translate(replace(regexp_replace(
            lower(normalize(original, NFKD)),
            '[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2069\u3099\u309a\ufe00-\ufe0f\ufeff{OPTIONAL_MARKS}]',
            '', 'g'), U&'\00df', 'ss'), U&'\03c2\2018\2019\201b\02bb\02bc\2032', U&'\03c3' || repeat('''', 6)), NFC),
            '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u055a-\u055f\u0589\u05be\u05c0\u05c3\u05f3\u05f4'
            || '\u060c\u061b\u061e\u061f\u066a-\u066d\u06d4\u0964\u0965\u2000-\u206f\u20a0-\u20cf\u2190-\u25ff\u27c0-\u2bff'
            || '\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\u30a0\u30fb\ufd3e\ufd3f\ufffc\ufffd]', ' ', 'g'),
            '([\u2600-\u27bf\u2e80-\u2fdf\U0001f000-\U0001faff{UNSPACED}][{MARKS}]*)', ' \1 ', 'g')
    END
$$
"""
# Also each word with an apostrophe as one, without a place among the others: `dont` beside `don` and `t`.
SEARCH_WORDS = r"""
CREATE OR REPLACE FUNCTION messaging_search_words(content text, payload jsonb) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
    words tsvector;
BEGIN
    IF payload IS NOT NULL THEN
        content := concat_ws(' ', content, (
            SELECT string_agg(member #>> '{}', ' ')
            FROM jsonb_path_query(payload, 'strict $.** ? (@.type() == "string")') member
        ));
    END IF;
    content := left(messaging_plain_text(content), 100000);
    words := to_tsvector('simple', regexp_replace(
        content, '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g'
    ));
    IF content LIKE '%''%' THEN
        words := words || strip(to_tsvector('simple', coalesce((
            SELECT string_agg(replace(word[1], '''', ''), ' ') FROM regexp_matches(content,
                '([^\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+'
                || '(?:''[^\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+)+)', 'g') word
        ), '')));
    END IF;
    RETURN words;
END
$$
"""
SEARCH_WORDS_BEFORE = BEFORE.SEARCH_WORDS.replace("PARALLEL SAFE AS", "PARALLEL SAFE SET search_path FROM CURRENT AS")
# The words of a text of ASCII without an apostrophe are the same. An entry that a write has changed since it was read
# has its new words.
BATCH = """
WITH batch AS MATERIALIZED (
    SELECT message_id, words FROM messaging_searchentry WHERE message_id > %s ORDER BY message_id LIMIT 1000
), derived AS MATERIALIZED (
    SELECT batch.message_id, batch.words AS before, messaging_search_words(m.content, m.payload) AS words
    FROM batch JOIN messaging_message m ON m.id = batch.message_id
    WHERE octet_length(m.content) <> char_length(m.content) OR m.content LIKE '%%''%%' OR m.payload IS NOT NULL
), changed AS (
    UPDATE messaging_searchentry entry SET words = derived.words FROM derived
    WHERE entry.message_id = derived.message_id AND entry.words = derived.before AND entry.words <> derived.words
)
SELECT message_id FROM batch ORDER BY message_id DESC LIMIT 1
"""


def rewrite(_apps: Any, schema_editor: Any) -> None:
    last: tuple[UUID] | None = (UUID(int=0),)
    with schema_editor.connection.cursor() as cursor:
        while last:
            cursor.execute(BATCH, last)
            last = cursor.fetchone()


def or_replace(statement: str) -> str:
    return statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


class Reindex(NotInTransactionMixin, migrations.RunSQL):
    """It blocks no request, so it may wait for a lock (see the command `migrate`)."""


REINDEX = "REINDEX INDEX CONCURRENTLY words_of_unpublished"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("messaging", "0056_names_of_one_character")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, rewrite),
        Reindex(migrations.RunSQL.noop, REINDEX),
        migrations.RunSQL([PLAIN_TEXT], [or_replace(BEFORE.PLAIN_TEXT)]),
        migrations.RunSQL([SEARCH_WORDS], [or_replace(SEARCH_WORDS_BEFORE)]),
        Reindex(REINDEX, migrations.RunSQL.noop),
        migrations.RunPython(rewrite, migrations.RunPython.noop),
    ]
