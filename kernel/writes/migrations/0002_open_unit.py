from django.db import migrations

CREATE = """
CREATE FUNCTION api_open_unit(
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
        -- Whoever finds the key held is told so at once, and waits for no other lock.
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
    LEFT JOIN api_storedresponse kept
        ON kept.key_mac IN (kept_key, kept_previous_key) AND kept.created_at > now - interval '7 days'
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
    dependencies = [("api", "0001_initial")]

    operations = [migrations.RunSQL(CREATE, "DROP FUNCTION api_open_unit")]
