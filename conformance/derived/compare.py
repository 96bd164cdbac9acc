#!/usr/bin/env python3
"""Compares what kubeshape derives from definitions with what Crossplane's and kro's own code makes (main.go).

    python3 compare.py --kubeshape ../../target/debug/kubeshape expected.ndjson

Both are published as OpenAPI v3, so that names, scopes, subresources and schemas are compared after the same normal
form. The status that kro infers from a cluster is left out. Prints each difference and a total. The exit code is 1 if
something differs.
"""

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml


def published(kubeshape, definitions, folder):
    """Returns the documents that a server publishes for definitions, by their names."""
    source, out = folder.with_suffix(".yaml"), folder
    source.write_text(yaml.safe_dump_all(definitions))
    command = [kubeshape, "convert", source, "--to", "v3", "-q", "-o", out]
    subprocess.run(command, capture_output=True, text=True, check=False)
    paths = [path for path in out.rglob("*.json") if path.name != ".kubeshape.json"]
    return {str(path.relative_to(out)): json.loads(path.read_text()) for path in paths}


def without_status(value):
    """Removes each property with the name `status`."""
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict):
            value["properties"].pop("status", None)
        for member in value.values():
            without_status(member)
    elif isinstance(value, list):
        for item in value:
            without_status(item)


def as_sent(definition):
    """Returns a definition of the Go program as a manifest."""
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": definition["metadata"]["name"]}, "spec": definition["spec"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeshape", type=Path, required=True)
    parser.add_argument("expected", type=Path)
    args = parser.parse_args()
    kubeshape = args.kubeshape.resolve()
    counts = collections.Counter()
    for line in args.expected.read_text().splitlines():
        expected = json.loads(line)
        documents = yaml.safe_load_all(Path(expected["file"]).read_text())
        named = [one for one in documents if one and one.get("metadata", {}).get("name") == expected["name"]]
        document = next(one for one in named if one["kind"].endswith("Definition"))
        system = "kro" if document["kind"] == "ResourceGraphDefinition" else "Crossplane"
        with tempfile.TemporaryDirectory() as folder:
            ours = published(kubeshape, [document], Path(folder) / "ours")
            theirs = {}
            if "error" not in expected:
                theirs = published(kubeshape, map(as_sent, expected["definitions"]), Path(folder) / "theirs")
        if system == "kro":
            without_status(ours)
            without_status(theirs)
        if not ours and not theirs:
            verdict = "refused by both"
        elif not ours or not theirs:
            verdict = "refused by one"
        else:
            verdict = "equal" if ours == theirs else "differing"
        counts[system, verdict] += 1
        if verdict in ("refused by one", "differing"):
            print(f"{verdict}: {expected['file']}: {expected['name']} {expected.get('error', '')}")
    for (system, verdict), count in sorted(counts.items()):
        print(f"{system}: {count} {verdict}")
    sys.exit(any(verdict in ("refused by one", "differing") for _, verdict in counts))


main()
