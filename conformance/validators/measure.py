#!/usr/bin/env python3
"""Measures validators of manifests on recorded requests: which of them refuse what kube-apiserver refuses.

usage: measure.py RECORDS FOLDER [--count N]

RECORDS is the folder of recorded answers of kube-apiserver 1.36 ($KUBESHAPE_GOLDEN/builtins/1.36). FOLDER gets the
objects and the schemas; a second run uses them again. The programs are found in PATH: kubeshape, and if they exist
kubeconform and kubectl-validate.

All programs get the same documents of Kubernetes 1.36: those that `kubeshape serve --kubernetes 1.36` publishes.
Prints a table in Markdown: accepted objects that a program refuses (false refusals), refused objects that it accepts
(missed refusals), and the seconds of processor time for all objects.
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import urllib.request

RELEASE = "1.36"


def drawn(records, count):
    """Returns `count` accepted and `count` refused objects of creates: those with the smallest hashes of their ids."""
    accepted, refused = [], []
    for file in sorted(records.glob("*.ndjson.gz")):
        for line in gzip.open(file, "rt"):
            record = json.loads(line)
            if "old" in record or "object" not in record or record["answer"]["code"] == 0:
                continue
            # A server knows the kind of a request from its URL; a file has to say it.
            version = f"{record['group']}/{record['version']}" if record["group"] else record["version"]
            named = [record["object"].get(name) if isinstance(record["object"], dict) else None
                     for name in ("apiVersion", "kind")]
            if named != [version, record["kind"]]:
                continue
            answer = record["answer"]
            # Unknown and duplicate fields are refused by clients that ask for it, as kubectl does.
            good = answer["code"] == 201 and not answer.get("strict")
            key = hashlib.sha256(record["id"].encode()).hexdigest()
            (accepted if good else refused).append((key, record["object"]))
    return [[thing for _, thing in sorted(part, key=lambda pair: pair[0])[:count]] for part in (accepted, refused)]


def write_objects(folder, sets):
    for name, objects in zip(("accepted", "refused"), sets):
        target = folder / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for number, thing in enumerate(objects):
            (target / f"{number:04}.yaml").write_text(json.dumps(thing))


def write_schemas(folder):
    """Writes the documents of the release, and JSON Schemas made from them, unless they exist."""
    documents, schemas = folder / "openapi", folder / "schemas"
    if schemas.is_dir():
        return
    server = subprocess.Popen(
        ["kubeshape", "serve", "--kubernetes", RELEASE, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = None
        for line in server.stdout:
            if found := re.search(r"http://[\d.]+:\d+", line):
                url = found.group()
                break
        if url is None:
            sys.exit("kubeshape serve named no address")
        for path in json.load(urllib.request.urlopen(f"{url}/openapi/v3"))["paths"]:
            if path.startswith(("api/", "apis/")) and path.count("/") == (1 if path.startswith("api/") else 2):
                target = documents / f"{path}.json"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(urllib.request.urlopen(f"{url}/openapi/v3/{path}").read())
    finally:
        server.terminate()
        server.wait()
    convert = ["kubeshape", "convert", "--to", "jsonschema", "--strict", "--layout", "kubeconform"]
    subprocess.run([*convert, "-o", f"{folder / 'constrained'}/", "--kubernetes", RELEASE, "--validations"],
                   check=True, capture_output=True)
    made = subprocess.run([*convert, "-o", f"{schemas}/", str(documents)], capture_output=True, text=True)
    if not schemas.is_dir():
        sys.exit(made.stderr)


def run(command):
    """Runs a program. Returns its output and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def kubeshape(folder):
    command = ["kubeshape", "validate", "--kubernetes", RELEASE, "--output-format", "json", str(folder)]
    output, seconds = run(command)
    findings = [json.loads(line) for line in output.splitlines()]
    return {pathlib.Path(found["input"]).name for found in findings if found["kind"] == "error"}, seconds


def kubeconform(schemas):
    def judge(folder):
        template = f"{schemas}/master-standalone-strict/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
        output, seconds = run(["kubeconform", "-strict", "-output", "json", "-schema-location", template, str(folder)])
        bad = [found for found in json.loads(output)["resources"] if found["status"] != "statusValid"]
        return {pathlib.Path(found["filename"]).name for found in bad}, seconds
    return judge


def kubectl_validate(documents):
    def judge(folder):
        # It has no documents of the release; the local ones take precedence over those that it has.
        output, seconds = run(["kubectl-validate", "--local-schemas", str(documents), "--version", "1.30",
                               "-o", "json", str(folder)])
        answers = json.loads(output)
        return {pathlib.Path(file).name for file, errors in answers.items()
                if any(error.get("status") != "Success" for error in errors or [])}, seconds
    return judge


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=500)
    arguments = parser.parse_args()
    folder = arguments.folder
    sets = drawn(arguments.records, arguments.count)
    write_objects(folder, sets)
    write_schemas(folder)
    judges = [
        ("kubeshape validate", "kubeshape", kubeshape),
        ("kubeconform -strict", "kubeconform", kubeconform(folder / "schemas")),
        ("kubeconform -strict, schemas with constraints", "kubeconform", kubeconform(folder / "constrained")),
        ("kubectl-validate", "kubectl-validate", kubectl_validate(folder / "openapi")),
    ]
    print(f"| program | false refusals of {len(sets[0])} | missed refusals of {len(sets[1])} | processor time |")
    print("|---|---|---|---|")
    for name, program, judge in judges:
        if shutil.which(program) is None:
            print(f"{program} is not in PATH", file=sys.stderr)
            continue
        wrong, first = judge(folder / "accepted")
        right, second = judge(folder / "refused")
        print(f"| {name} | {len(wrong)} | {len(sets[1]) - len(right)} | {first + second:.1f} s |")
        if os.environ.get("VERBOSE"):
            print(name, "refuses", sorted(wrong), file=sys.stderr)


if __name__ == "__main__":
    main()
