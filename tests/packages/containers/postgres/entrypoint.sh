#!/bin/bash
# What the image postgres:18 does with the settings of deploy/cluster/compose.yaml.
set -eu
if [ "$1" = postgres ] && [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA"
    chown -R postgres:postgres /var/lib/postgresql
    chmod 700 "$PGDATA"
    exec gosu postgres "$0" "$@"
fi
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
    pg_ctl --wait start --options "$(printf '%q ' "${@:2}") -c listen_addresses=''"
    psql --username "$POSTGRES_USER" --dbname postgres --command "CREATE DATABASE \"$POSTGRES_DB\""
    for script in /docker-entrypoint-initdb.d/*; do
        if [ -x "$script" ]; then "$script"; else . "$script"; fi
    done
    pg_ctl --wait --mode fast stop
fi
exec "$@"
