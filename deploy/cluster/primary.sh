#!/bin/bash
# Runs once, when the database is created: the standby may copy it, and the pooler passes on no options of a session.
set -eu
echo 'host replication community samenet scram-sha-256' >> "$PGDATA/pg_hba.conf"
psql --set ON_ERROR_STOP=1 --username community --dbname community <<'SQL'
ALTER ROLE community SET default_transaction_isolation = 'read committed';
ALTER ROLE community SET plan_cache_mode = 'force_generic_plan';
ALTER ROLE community SET statement_timeout = '5000';
ALTER ROLE community SET lock_timeout = '2000';
ALTER ROLE community SET idle_in_transaction_session_timeout = '10000';
ALTER ROLE community SET client_connection_check_interval = '2000';
ALTER ROLE community SET timezone = 'UTC';
SQL
# Last, and not as an option of the server: the one that creates the database is never reached by a standby.
echo "synchronous_standby_names = 'standby'" >> "$PGDATA/postgresql.conf"
