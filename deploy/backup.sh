#!/bin/sh
# Writes a dump of the database, readable by its owner alone:
#
#   deploy/backup.sh [FOLDER]    FOLDER/nakama-TIME.dump, TIME in UTC; FOLDER is backups/ beside .env unless it is given
#
# A dump has its name only when it is complete. It exits with another code than 0 and leaves no dump otherwise.
set -eu
umask 077

mkdir -p "${1:-$(dirname "$0")/../backups}"
folder=$(cd "${1:-$(dirname "$0")/../backups}" && pwd)
cd "$(dirname "$0")/.."

dump=$folder/nakama-$(date -u +%Y-%m-%dT%H%M%SZ).dump
part=$(mktemp "$dump.XXXXXX")
trap 'rm -f "$part"' EXIT
trap 'exit 1' HUP INT TERM
docker compose exec -T postgres pg_dump -U postgres -Fc nakama >"$part"
# pg_restore reads the table of contents: a file that is not a dump fails here.
docker compose exec -T postgres pg_restore --list <"$part" >/dev/null
mv "$part" "$dump"
echo "$dump"
