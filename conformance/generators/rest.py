#!/usr/bin/env python3
"""Makes definitions of every schema of documents of REST APIs, and checks them.

    python3 rest.py --kubeshape ../../target/debug/kubeshape DOCUMENT…

For each document, prints the schemas of objects, the definitions that every release installs, those that a release
refuses, and the losses by code.
"""

import argparse
import collections
import json
import subprocess
import tempfile
from pathlib import Path

import yaml


def read(path):
    """Returns a document and its schemas by name."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = json.loads(path.read_text()) if path.suffix == ".json" else yaml.load(path.read_text(), Loader=loader)
    return document, document.get("definitions") or document.get("components", {}).get("schemas", {})


def is_object(schema):
    """Returns whether a schema may describe an object."""
    words = ("properties", "allOf", "oneOf", "anyOf")
    return isinstance(schema, dict) and (schema.get("type") == "object" or any(word in schema for word in words))


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeshape", type=Path, required=True)
    parser.add_argument("documents", type=Path, nargs="+")
    args = parser.parse_args()
    kubeshape = args.kubeshape.resolve()
    for path in args.documents:
        document, schemas = read(path)
        names = [name for name, schema in schemas.items() if is_object(schema)]
        with tempfile.TemporaryDirectory() as folder:
            out, losses = Path(folder) / "out", Path(folder) / "losses.ndjson"
            kinds = [part for name in names for part in ("--kind", name)]
            run(kubeshape, "convert", path, "--to", "crd", "--group", "rest.example.com", "-o", out,
                "--report", losses, *kinds)
            made = len(list(out.rglob("crd.yaml")))
            lines = run(kubeshape, "check", out, "--kubernetes", "all", "--output-format", "json").stdout.splitlines()
            refused = {line["resource"] for line in map(json.loads, lines) if line.get("kind") == "error"}
            codes = collections.Counter(json.loads(line).get("code") for line in losses.read_text().splitlines())
        version = document.get("openapi") or document.get("swagger")
        print(f"{path.name} ({version}): {len(schemas)} schemas, {len(names)} of objects, {made} definitions, "
              f"{len(refused)} refused by a release; losses: "
              + ", ".join(f"{code} {count}" for code, count in codes.most_common()))


if __name__ == "__main__":
    main()
