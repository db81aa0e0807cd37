#!/bin/bash
# Copies the primary on the first start, then follows it.
set -eu
data=/var/lib/postgresql/data
if [ ! -e "$data/PG_VERSION" ]; then
    rm -rf "$data"
    until pg_isready --quiet --host=primary; do sleep 1; done
    pg_basebackup --dbname='host=primary user=community application_name=standby' --pgdata="$data" \
        --checkpoint=fast --write-recovery-conf
fi
chown -R postgres:postgres /var/lib/postgresql
chmod 0700 "$data"
exec gosu postgres postgres -D "$data" -c listen_addresses='*' -c hot_standby_feedback=on
