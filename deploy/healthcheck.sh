#!/bin/bash
# Is the server well, and has it the plugin? Nakama answers its own healthcheck without a single module, so an RPC of ours
# is asked too. The image has neither curl nor wget, hence bash's /dev/tcp.
set -euo pipefail

nakama=${NAKAMA:-/nakama/nakama}
port=${NAKAMA_PORT:-7350}

"$nakama" healthcheck "$port"

exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /v2/rpc/hello?http_key=%s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$NAKAMA_HTTP_KEY" >&3
IFS= read -r -t 3 status <&3 || status="no answer"
case $status in
  'HTTP/1.'?' 200 '*) echo "the plugin answers" ;;
  *)
    echo "Nakama runs, but the plugin's hello answers: ${status%$'\r'}" >&2
    exit 1
    ;;
esac
