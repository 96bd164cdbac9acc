#!/bin/sh
# Runs the conformance suite of the Model Context Protocol on `kubeshape mcp`. The suite speaks HTTP, and supergateway
# passes its messages on to standard input and output.
#
# usage: mcp.sh KUBESHAPE [PORT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kubeshape=$1
port=${2:-8765}
bin=${MODULES:-$here/node_modules}/.bin
results=$(mktemp -d)
"$bin/supergateway" --stdio "$kubeshape mcp" --outputTransport streamableHttp --stateful --port "$port" \
  --healthEndpoint /ready --logLevel none &
gateway=$!
trap 'kill $gateway; rm -r "$results"' EXIT
tries=0
until curl --silent --fail "http://127.0.0.1:$port/ready" > /dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 50 ] || exit 1
  sleep 0.2
done
"$bin/conformance" server --url "http://127.0.0.1:$port/mcp" --expected-failures "$here/mcp-expected.yaml" \
  --output-dir "$results"
