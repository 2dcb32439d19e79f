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

wrong=0
wrong() { echo ".env: $1" >&2; wrong=$((wrong + 1)); }

# Exports what .env says. A line may have a secret, so only its number is told.
load() {
  number=0
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    name=${line%%=*}
    case $line in
      '' | '#'*) ;;
      *"$(printf '\r')"*) wrong "line $number has a carriage return: end lines as Unix does" ;;
      export[[:blank:]]*) wrong "line $number begins with \"export\": write NAME=value alone" ;;
      *=*)
        case $name in
          '' | [0-9]* | *[!A-Za-z0-9_]*) wrong "line $number: before the = a name has letters, digits and _ only" ;;
          *) export "${line?}" ;;
        esac
        ;;
      *) wrong "line $number has no =: write NAME=value, and # before a comment" ;;
    esac
  done <.env
}

# Which of the compositions `docker compose` takes, and what that does to SET3D_DEVELOPMENT.
composition() {
  case ${COMPOSE_FILE:-} in
    *docker-compose.prod.yml*)
      if [ "${SET3D_DEVELOPMENT:-off}" = on ]; then
        echo ".env: SET3D_DEVELOPMENT=on has no effect, docker-compose.prod.yml says off" >&2
      fi
      export SET3D_DEVELOPMENT=off
      ;;
    *)
      if [ "${SET3D_DEVELOPMENT:-}" != on ]; then
        wrong "COMPOSE_FILE does not name docker-compose.prod.yml, so \`docker compose\` would start development: take \
the line from .env.example, or say SET3D_DEVELOPMENT=on if that is wanted"
      fi
      ;;
  esac
}

# What is wrong with the file, and the entrypoint's own check with what it says.
check() (
  unset COMPOSE_FILE SET3D_DEVELOPMENT
  load
  composition
  if [ "$wrong" -gt 0 ]; then exec >/dev/null; fi # what else is wrong, but not that all is in order
  NAKAMA_CONFIG=local.yml sh deploy/entrypoint.sh check || wrong=1
  [ "$wrong" = 0 ] || { echo "Correct .env. \`sh deploy/env.sh secret\` prints a new secret" >&2; exit 1; }
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
