#!/usr/bin/env python3
"""Compares the definitions that kubeshape derives with those of Crossplane's and kro's own code (main.go).

    python3 compare.py --kubeshape ../../target/debug/kubeshape expected.ndjson

Prints the differing ones and a total: equal, differing, refused by both, refused by one. The exit code is 1 if any
differ. Owners, labels and the status that kro infers from a cluster are not compared.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml


def normal(value):
    """Returns a value without empty members, which Go leaves out."""
    if isinstance(value, dict):
        members = {key: normal(member) for key, member in value.items()}
        return {key: member for key, member in members.items() if member not in (None, {}, [], "", False)}
    if isinstance(value, list):
        return [normal(item) for item in value]
    return value


def compared(definition, is_kro):
    """Returns the parts of a definition that are compared."""
    spec = normal(definition["spec"])
    if is_kro:
        for version in spec["versions"]:
            version["schema"]["openAPIV3Schema"].get("properties", {}).pop("status", None)
    return definition["metadata"]["name"], spec


def derived(kubeshape, document):
    """Returns the definitions that kubeshape makes of a document, or None."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "definition.yaml"
        source.write_text(yaml.safe_dump(document))
        command = [kubeshape, "convert", source, "--to", "crd", "-q", "-o", Path(folder) / "out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        made = [yaml.safe_load(path.read_text()) for path in sorted((Path(folder) / "out").rglob("*.yaml"))]
        return made if done.returncode == 0 and made else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeshape", type=Path, required=True)
    parser.add_argument("expected", type=Path)
    args = parser.parse_args()
    counts = {"equal": 0, "differing": 0, "refused by both": 0, "refused by one": 0}
    for line in args.expected.read_text().splitlines():
        expected = json.loads(line)
        documents = yaml.safe_load_all(Path(expected["file"]).read_text())
        named = [one for one in documents if one and one.get("metadata", {}).get("name") == expected["name"]]
        for document in [one for one in named if one["kind"].endswith("Definition")][:1]:
            made = derived(args.kubeshape.resolve(), document)
            is_kro = document["kind"] == "ResourceGraphDefinition"
            if made is None or "error" in expected:
                verdict = "refused by both" if made is None and "error" in expected else "refused by one"
            else:
                ours = sorted((compared(one, is_kro) for one in made), key=lambda pair: pair[0])
                theirs = sorted((compared(one, is_kro) for one in expected["definitions"]), key=lambda pair: pair[0])
                verdict = "equal" if ours == theirs else "differing"
            counts[verdict] += 1
            if verdict in ("differing", "refused by one"):
                print(f"{verdict}: {expected['file']}: {expected['name']} {expected.get('error', '')}")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    sys.exit(1 if counts["differing"] or counts["refused by one"] else 0)


main()
