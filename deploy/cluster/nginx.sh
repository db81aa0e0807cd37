#!/bin/sh
# deploy/nginx.conf with both hosts.
set -eu
sed -e 's/\(# \)\?server 127.0.0.1:8000 \(.*\);/server one:8000 \2; server two:8000 \2;/' \
    -e 's/\(# \)\?server 127.0.0.1:8001 \(.*\);/server one:8001 \2; server two:8001 \2;/' /service.conf > /tmp/nginx.conf
