"""`api_open_unit` answers one row a counter, also where two hosts that know different root keys each stored a response.

Arguments and columns are those of 0002, so a release that was made for it goes on calling the function.
"""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("kernel.writes.migrations.0002_open_unit").CREATE
REPLACE = """
CREATE OR REPLACE FUNCTION api_open_unit(
    key_lock bigint, kept_key bytea, kept_previous_key bytea, account uuid, counters text[], places int[], locks boolean
)
RETURNS TABLE (
    key_mac bytea, body_mac bytea, status smallint, location text, sealed bytea,
    counter text, spent bigint, next_place double precision
)
LANGUAGE plpgsql VOLATILE AS $$
-- Volatile: each of its statements sees what was committed by then, so the look sees what the locks were waited for.
BEGIN
    IF locks THEN
        -- A call that finds the key held is told so at once, and waits for no other lock.
        IF key_lock IS NOT NULL AND NOT pg_try_advisory_xact_lock(key_lock) THEN
            RETURN;
        END IF;
        PERFORM pg_advisory_xact_lock(hashtext(account::text), hashtext(name)) FROM unnest(counters) name;
    END IF;
    RETURN QUERY
    WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
    SELECT kept.key_mac, kept.body_mac, kept.status, kept.location, kept.sealed, asked.name, used.spent,
        extract(epoch FROM coalesce(used.oldest, now) + interval '3600 seconds' - now)::double precision
    FROM clock
    LEFT JOIN LATERAL (
        SELECT * FROM api_storedresponse stored
        WHERE stored.key_mac IN (kept_key, kept_previous_key) AND stored.created_at > now - interval '7 days'
        -- Two, where hosts that do not all know both root keys yet have each stored one.
        ORDER BY stored.created_at LIMIT 1
    ) kept ON true
    LEFT JOIN unnest(counters, places) asked (name, places) ON true
    LEFT JOIN LATERAL (
        SELECT count(*) AS spent, min(at) AS oldest FROM (
            SELECT entry.at FROM api_ledgerentry entry
            WHERE entry.account_id = account AND entry.counter = asked.name AND entry.at > now - interval '3600 seconds'
            ORDER BY entry.at DESC LIMIT asked.places
        ) newest
    ) used ON true;
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("api", "0002_open_unit")]

    operations = [migrations.RunSQL(REPLACE, BEFORE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"))]
