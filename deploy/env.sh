#!/bin/sh
# Makes .env from .env.example, with a random secret wherever that has none. It needs nothing but a shell, since a server
# that runs containers may have neither Go nor make.
#
#   deploy/env.sh          makes .env, readable by its owner alone; one that is there already is only checked
#   deploy/env.sh secret   prints one more secret, to change one by hand
set -eu
umask 077
cd "$(dirname "$0")/.."

# 32 letters and digits, 190 bits: no quoting in YAML, in an address, or in a shell.
secret() {
  letters=$(head -c 1024 /dev/urandom | LC_ALL=C tr -dc 'A-Za-z0-9' | cut -c 1-32)
  [ "${#letters}" = 32 ] || { echo "/dev/urandom gave no secret" >&2; exit 1; }
  echo "$letters"
}

filled() {
  while IFS= read -r line; do
    case $line in
      '#'*) ;;
      *=) value=$(secret) && line=$line$value ;;
    esac
    printf '%s\n' "$line"
  done <.env.example
}

# The entrypoint's own check, with what .env says.
check() (
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      *=*) export "${line?}" ;;
    esac
  done <.env
  NAKAMA_CONFIG=local.yml sh deploy/entrypoint.sh check
)

case ${1:-} in
  '') ;;
  secret) secret; exit 0 ;;
  *) echo "usage: deploy/env.sh [secret]" >&2; exit 2 ;;
esac

if [ -e .env ]; then
  echo ".env is there already and stays as it is. Its check:"
  if [ -n "$(find .env \( -perm -040 -o -perm -004 \))" ]; then
    echo "others can read it: chmod 600 .env" >&2
    exit 1
  fi
  check
  exit 0
fi
text=$(filled)
# noclobber: should somebody else have made it meanwhile, theirs stays.
set -C
printf '%s\n' "$text" >.env
set +C
check
cat <<'END'
Made .env, readable by you alone. It is the only copy of these secrets: keep another one where your passwords are.
Next:
  docker compose up --build --detach --wait    PostgreSQL and Nakama, as production (COMPOSE_FILE in .env)
  grep NAKAMA_SERVER_KEY .env                  what clients need
If PostgreSQL has run here before, it kept its old password: see "Secrets" in docs/operations.md.
END
