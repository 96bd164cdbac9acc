#!/usr/bin/env python3
"""Compares the size of answers of `kubeshape mcp` with the field indexes that flux-schema writes for agents.

    python index.py FOLDER --kubeshape ../../target/debug/kubeshape --flux-schema flux-schema [--count 50]

FOLDER has CustomResourceDefinitions. Those with the smallest hashes are used. An agent without a server reads a field
index as a whole, or searches it. Prints a table in Markdown: the sizes of all field indexes, of all answers of
`explain` without a limit, and of all answers with the default limit; and for how many kinds an answer is the larger
one.
"""

import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import tempfile

WHOLE = 100_000_000


def explained(program, schemas, kinds, bytes_of_answer):
    """Returns the size of each answer."""
    lines = []
    for number, (version, kind) in enumerate(kinds):
        arguments = {"kind": kind, "apiVersion": version}
        if bytes_of_answer:
            arguments["bytes"] = bytes_of_answer
        params = {"name": "explain", "arguments": arguments}
        lines.append(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}))
    command = [program, "mcp", "--schemas", str(schemas)]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    out = []
    for line in done.stdout.splitlines():
        result = json.loads(line)["result"]
        assert not result["isError"], line
        out.append(len(result["content"][0]["text"].encode()))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kubeshape", default="kubeshape")
    parser.add_argument("--flux-schema", default="flux-schema")
    parser.add_argument("--count", type=int, default=50)
    arguments = parser.parse_args()
    files = [
        path
        for path in sorted(arguments.folder.rglob("*.yaml"))
        if b"apiextensions.k8s.io/v1\n" in path.read_bytes()
    ]
    files.sort(key=lambda path: hashlib.sha256(path.read_bytes()).hexdigest())
    with tempfile.TemporaryDirectory() as temporary:
        schemas, out = pathlib.Path(temporary) / "in", pathlib.Path(temporary) / "out"
        schemas.mkdir()
        for number, file in enumerate(files[: arguments.count]):
            shutil.copy(file, schemas / f"{number}.yaml")
        command = [
            arguments.flux_schema,
            "extract",
            "crd",
            *map(str, sorted(schemas.iterdir())),
            "-d",
            str(out),
        ]
        subprocess.run([*command, "--with-field-index"], check=True, capture_output=True)
        kinds, indexes = [], []
        for index in sorted(out.rglob("*.fields.txt")):
            head = index.read_text().splitlines()
            version = next(
                line.split("enum=")[1].split()[0] for line in head if line.startswith("apiVersion ")
            )
            kind = next(line.split("enum=")[1].split()[0] for line in head if line.startswith("kind "))
            kinds.append((version, kind))
            indexes.append(index.stat().st_size)
        whole = explained(arguments.kubeshape, schemas, kinds, WHOLE)
        short = explained(arguments.kubeshape, schemas, kinds, None)
    print("| answer | bytes, all | bytes, median | larger than the field index |")
    print("|---|---|---|---|")
    for name, sizes in (
        ("field index of flux-schema", indexes),
        ("`explain`, all fields", whole),
        ("`explain`", short),
    ):
        larger = sum(1 for own, other in zip(sizes, indexes) if own > other)
        print(f"| {name} | {sum(sizes)} | {sorted(sizes)[len(sizes) // 2]} | {larger} of {len(kinds)} |")


if __name__ == "__main__":
    main()
