#!/bin/sh
# The container's start: checks what Nakama only warns about, migrates the database, and becomes Nakama.
#
#   entrypoint.sh [FLAG...]   starts the server; the flags are Nakama's, and override what the files say
#   entrypoint.sh check       only checks, and says what is wrong
#
# The environment has the secrets (names and meanings: .env.example) and the plugin's settings: every SET3D_ variable
# becomes one of Nakama's runtime.env. Secrets reach Nakama in a configuration file that is a pipe: a command line is
# shown to everybody by ps, and a file would stay.
set -eu

nakama=${NAKAMA:-/nakama/nakama}
config=${NAKAMA_CONFIG:-/nakama/data/local.yml}

insecure=0 # what development may do without
unusable=0 # what nobody can start with
insecure() { echo "set3d: $1" >&2; insecure=$((insecure + 1)); }
unusable() { echo "set3d: $1" >&2; unusable=$((unusable + 1)); }

# own VARIABLE KNOWN LEAST: it is set, it is not the value that everybody knows, it can stand in YAML and in an address, and
# it has that many characters.
own() {
  value=$(printenv "$1") || value=
  case $value in
    '') unusable "$1 is not set" ;;
    "$2") insecure "$1 is \"$2\", which everybody knows" ;;
    *[!A-Za-z0-9._~-]*) unusable "$1 has other characters than letters, digits and . _ ~ -" ;;
    *) [ "${#value}" -ge "$3" ] || insecure "$1 has ${#value} characters, it must have $3 or more" ;;
  esac
}

secret() { own "$1" "$2" 8; }

# keys: what Nakama itself ends with.
keys() {
  key=${NAKAMA_CONSOLE_MFA_KEY:-}
  [ -z "$key" ] || [ "${#key}" = 32 ] || unusable "NAKAMA_CONSOLE_MFA_KEY has ${#key} characters, it must have 32 exactly"
  key=${NAKAMA_ENCRYPTION_KEY:-}
  [ -z "$key" ] || [ "$key" != "${NAKAMA_REFRESH_ENCRYPTION_KEY:-}" ] ||
    unusable "NAKAMA_ENCRYPTION_KEY and NAKAMA_REFRESH_ENCRYPTION_KEY are the same, they must differ"
}

# leaves prints "section.key value" for every scalar in the mappings of a YAML file: block and flow style (so JSON too),
# quotes, comments, any indentation, CRLF. It skips the items of block sequences and the text of block scalars. It knows no
# anchors, aliases or tags.
leaves() {
  awk '
    # strip removes the comment and the blanks around, outside of quotes.
    function strip(s,  i, c, quote) {
      for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (quote != "") { if (c == "\\" && quote == "\"") i++; else if (c == quote) quote = "" }
        else if ((c == "\"" || c == q) && substr(s, 1, i - 1) ~ /(^|[ \t:,{[-])$/) quote = c
        else if (c == "#" && substr(s, 1, i - 1) ~ /(^|[ \t])$/) { s = substr(s, 1, i - 1); break }
      }
      gsub(/^[ \t]+|[ \t]+$/, "", s)
      return s
    }
    function bare(s) {
      s = strip(s)
      return s ~ ("^(\".*\"|" q ".*" q ")$") ? substr(s, 2, length(s) - 2) : s
    }
    # depth is by how many brackets more a text opens than it closes.
    function depth(s,  t) { gsub("\"[^\"]*\"|" q "[^" q "]*" q, "", s); t = s; return gsub(/[{[]/, "", s) - gsub(/[]}]/, "", t) }
    # flow prints the scalars of a text in flow style.
    function flow(s, path,  i, c, level, paths, key, text, quote) {
      level = 0; paths[0] = path
      for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (quote != "" || c == "\"" || c == q) {
          text = text c
          if (quote == "") quote = c; else if (c == quote) quote = ""
        } else if (c == ":" && (text ~ ("[\"" q "]$") || substr(s, i + 1, 1) ~ /^[ {[]?$/)) {
          key = paths[level] "." bare(text); text = ""
        } else if (c ~ /[{[]/) {
          paths[level + 1] = key == "" ? paths[level] : key; level++; key = text = ""
        } else if (c ~ /[],}]/) {
          if (key != "" && bare(text) != "") print substr(key, 2), bare(text)
          key = text = ""
          if (c != ",") level--
        } else text = text c
      }
    }
    BEGIN {
      q = sprintf("%c", 39); skip = -1; top = 0
      keyed = "^(\"[^\"]*\"|" q "[^" q "]*" q "|[^][{}\"" q ",#&*!|>%@:-][^:]*)[ \t]*:([ \t]|$)"
    }
    { sub(/\r$/, ""); if (NR == 1) sub(/^\357\273\277/, ""); line = strip($0) }
    begun != "" { begun = begun " " line; if (depth(begun) <= 0) { flow(begun, path); begun = "" }; next }
    line == "" || line ~ /^%/ { next }
    /^(---|\.\.\.)/ { if (seen) exit; next }
    { match($0, /^ */); indent = RLENGTH; seen = 1 }
    skip >= 0 && indent > skip { next }
    { skip = (line ~ /^-([ \t]|$)/) ? indent : -1 }
    skip >= 0 { next }
    {
      while (top > 0 && indents[top] >= indent) top--
      path = paths[top]; value = line; key = ""
      if (match(line, keyed)) {
        key = substr(line, 1, RLENGTH); value = strip(substr(line, RLENGTH + 1))
        sub(/[ \t]*:[ \t]?$/, "", key)
        path = path "." bare(key); indents[++top] = indent; paths[top] = path
      }
      if (value ~ /^[|>]/) skip = indent
      else if (value ~ /^[{[]/) { if (depth(value) > 0) begun = value; else flow(value, path) }
      else if (key != "" && value != "") print substr(path, 2), bare(value)
    }' "$1"
}

# queue NAME LEAST: the plugin was measured with queues of this size; the defaults of Nakama are smaller, and what overflows
# is lost or ends a match.
queue() {
  size=$(printf '%s\n' "$settings" | sed -n "s/^$1 //p")
  case $size in
    '') insecure "$config does not set $1: it must be $2 or more" ;;
    *[!0-9]*) unusable "$config: $1 is not a number of decimal digits" ;;
    *) [ "$size" -ge "$2" ] || insecure "$config: $1 is $size, it must be $2 or more" ;;
  esac
}

check() {
  secret POSTGRES_PASSWORD localdb
  secret NAKAMA_SERVER_KEY defaultkey
  secret NAKAMA_HTTP_KEY defaulthttpkey
  secret NAKAMA_ENCRYPTION_KEY defaultencryptionkey
  secret NAKAMA_REFRESH_ENCRYPTION_KEY defaultrefreshencryptionkey
  own NAKAMA_CONSOLE_USERNAME admin 1
  secret NAKAMA_CONSOLE_PASSWORD password
  secret NAKAMA_CONSOLE_SIGNING_KEY defaultsigningkey
  secret NAKAMA_CONSOLE_MFA_KEY 'the-key-has-to-be-32-bytes-long!'
  keys
  if [ -r "$config" ]; then
    settings=$(leaves "$config")
    queue match.signal_queue_size 64
    queue match.call_queue_size 512
    queue match.input_queue_size 128
    queue match.join_attempt_queue_size 128
    queue socket.outgoing_queue_size 256
  else
    unusable "cannot read $config"
  fi
  if [ "$unusable" = 0 ] && [ "$insecure" = 0 ]; then return 0; fi
  if [ "$unusable" = 0 ] && [ "${SET3D_DEVELOPMENT:-off}" = on ]; then
    echo "set3d: SET3D_DEVELOPMENT is on, so it may stay like this. Never in production" >&2
    return 0
  fi
  echo "set3d: not in order" >&2
  exit 1
}

database() {
  echo "database: {address: ['postgres:$POSTGRES_PASSWORD@${NAKAMA_DATABASE:-postgres:5432/nakama}']}"
}

secrets() {
  database
  cat <<END
socket: {server_key: '$NAKAMA_SERVER_KEY'}
session: {encryption_key: '$NAKAMA_ENCRYPTION_KEY', refresh_encryption_key: '$NAKAMA_REFRESH_ENCRYPTION_KEY'}
console:
  username: '$NAKAMA_CONSOLE_USERNAME'
  password: '$NAKAMA_CONSOLE_PASSWORD'
  signing_key: '$NAKAMA_CONSOLE_SIGNING_KEY'
  mfa: {storage_encryption_key: '$NAKAMA_CONSOLE_MFA_KEY'}
runtime:
  http_key: '$NAKAMA_HTTP_KEY'
END
  # In YAML's quotes a quote is doubled.
  awk 'BEGIN {
    for (name in ENVIRON) if (name ~ /^SET3D_/) {
      value = ENVIRON[name]
      gsub(/\047/, "\047\047", value)
      list = list "    - \047" name "=" value "\047\n"
    }
    if (list != "") printf "  env:\n%s", list
  }'
}

check
if [ "${1:-}" = check ]; then
  [ "$insecure" -gt 0 ] || echo "set3d: the secrets and the queue sizes are in order"
  exit 0
fi

"$nakama" migrate up --config /dev/fd/3 3<<END
$(database)
END

# A failure in an assignment ends the script, one in a here-document does not.
secrets=$(secrets)
# `exec`, so that the signal to stop reaches Nakama.
exec "$nakama" --config "$config" --config /dev/fd/3 "$@" 3<<END
$secrets
END
