#!/bin/sh
# As the image nginx:1 does, ignores scripts that are not executable.
set -eu
for script in /docker-entrypoint.d/*.sh; do
    if [ -x "$script" ]; then "$script"; else echo "Ignoring $script, not executable"; fi
done
exec "$@"
