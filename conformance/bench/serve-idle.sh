#!/usr/bin/env bash
# Processor time of `kubeshape serve --watch` while nothing happens:
#
#   bench/serve-idle.sh target/release/kubeshape [CRDS [SECONDS]]
#
# Makes CRDS CustomResourceDefinitions (10,000) in groups of ten, serves them, reads a few documents, keeps a hundred idle
# connections open and counts what the process uses in SECONDS (60). More than 0.1 % of a core is a failure.
set -euo pipefail
command=$1 crds=${2:-10000} seconds=${3:-60}
folder=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT

mkdir "$folder/crds"
for ((n = 0; n < crds; n++)); do
    group=g$((n / 10)).example.com
    cat >"$folder/crds/$n.yaml" <<CRD
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: r$n.$group}
spec:
  group: $group
  scope: Namespaced
  names: {plural: r$n, singular: r$n, kind: R$n, listKind: R${n}List}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}, names: {type: array, items: {type: string}}}}}
CRD
done

"$command" serve "$folder/crds" --watch --listen 127.0.0.1:0 >"$folder/ready" 2>"$folder/log" &
pid=$!
until grep -q '^serving on' "$folder/ready"; do
    kill -0 "$pid" || { cat "$folder/log"; exit 1; }
    sleep 0.2
done
address=$(sed -n 's|^serving on http://||p' "$folder/ready")
host=${address%:*} port=${address##*:}
for path in /openapi/v3 /openapi/v3/apis/g0.example.com/v1 /apis /readyz; do
    exec 3<>"/dev/tcp/$host/$port"
    printf 'GET %s HTTP/1.0\r\nHost: x\r\n\r\n' "$path" >&3
    wc -c <&3 >/dev/null
    exec 3>&-
done
connections=()
for ((n = 0; n < 100; n++)); do
    exec {connection}<>"/dev/tcp/$host/$port"
    printf 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n' >&"$connection"
    connections+=("$connection")
done
sleep 2

# User and system time in ticks.
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
before=$(ticks)
sleep "$seconds"
after=$(ticks)
awk -v used=$((after - before)) -v hz="$(getconf CLK_TCK)" -v seconds="$seconds" -v crds="$crds" 'BEGIN {
    share = 100 * used / hz / seconds
    printf "%d CRDs, 100 idle connections, %d s: %.3f s of processor time, %.3f %% of a core\n", crds, seconds, used / hz, share
    exit share >= 0.1
}'
