#!/bin/sh
# What the image edoburu/pgbouncer does with the settings of deploy/cluster/compose.yaml.
set -eu
echo "\"$DB_USER\" \"$DB_PASSWORD\"" > /etc/pgbouncer/userlist.txt
cat > /etc/pgbouncer/pgbouncer.ini <<INI
[databases]
$DB_NAME = host=$DB_HOST port=5432 auth_user=$DB_USER
[pgbouncer]
listen_addr = 0.0.0.0
listen_port = $LISTEN_PORT
unix_socket_dir =
auth_file = /etc/pgbouncer/userlist.txt
auth_type = $AUTH_TYPE
pool_mode = $POOL_MODE
default_pool_size = $DEFAULT_POOL_SIZE
max_client_conn = $MAX_CLIENT_CONN
server_connect_timeout = $SERVER_CONNECT_TIMEOUT
server_login_retry = $SERVER_LOGIN_RETRY
query_wait_timeout = $QUERY_WAIT_TIMEOUT
ignore_startup_parameters = extra_float_digits
INI
exec "$@"
