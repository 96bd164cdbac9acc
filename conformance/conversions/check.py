#!/usr/bin/env python3
"""Proves the conversion webhooks of Cluster API and kueue, and compares the findings with those in `expected/`.

    python3 check.py --kubeshape ../../target/debug/kubeshape [--update]

Each project has a file with its findings, in groups with a reason. A finding that is not in the file, and one of the
file that is not found, fail. Notes (KS8507, KS8508, KS8510) are counted only. `--update` removes lines that are not
found, and adds new ones without a reason at the end, which still fail. Needs Go and its module proxy.
"""

import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The folders of a module with definitions, by the name of its file.
PROJECTS = {
    "cluster-api": (
        "sigs.k8s.io/cluster-api",
        ["config/crd", "bootstrap/kubeadm/config/crd", "controlplane/kubeadm/config/crd"],
    ),
    "kueue": ("sigs.k8s.io/kueue", ["config/components/crd"]),
}
NOTES = {"KS8507", "KS8508", "KS8510"}
# These are about the object in the other version, unless the message says that it is the way back.
ONE_WAY = {"KS8501", "KS8502", "KS8503", "KS8509"}
BACK = "on the way back: "
NO_REASON = "# These have no reason."


def run(*command):
    """Returns the output of a command, or ends with its messages."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=HERE, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def line_of(fault):
    """Returns a finding as a line: code, definition, versions, and the path without numbers of items and keys."""
    way = [fault["from"], fault["to"]]
    if fault["what"] not in ONE_WAY or BACK in fault["detail"]:
        way.append(fault["from"])
    path = re.sub(r"\[[^\]]*\]", "[*]", fault["path"]) or "-"
    return f"{fault['code']} {fault['definition']} {' -> '.join(way)}: {path}"


def found(kubeshape, definitions, url):
    """Returns the findings of a project, the number of its notes, and what was not tried."""
    command = [kubeshape, "conversions", definitions, "--webhook", url, "--time", "60m", "--output-format", "json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    faults = [row for row in rows if "definition" in row and row["code"] not in NOTES]
    notes = sum("definition" in row and row["code"] in NOTES for row in rows)
    # What --objects leaves out is no failure: the seed chooses the same each time.
    stopped = [row["message"] for row in rows if row["code"] == "KS8512" and "more are possible" not in row["message"]]
    others = [row["message"] for row in rows if "definition" not in row and row["code"] < "KS85" and row["kind"] == "error"]
    return {line_of(fault): fault for fault in faults}, notes, stopped + others


def expected(path):
    """Returns the lines of a file, those of its last group that have no reason left out."""
    text = path.read_text().split(NO_REASON)[0]
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def update(path, lines):
    """Removes what is not found, and groups without lines, and adds the rest."""
    known = set(expected(path))
    groups = []
    for group in path.read_text().split(NO_REASON)[0].strip().split("\n\n"):
        kept = [line for line in group.splitlines() if line.startswith("#") or line in lines]
        if not groups or any(not line.startswith("#") for line in kept):
            groups.append("\n".join(kept))
    new = sorted(set(lines) - known)
    if new:
        groups.append("\n".join([NO_REASON, *new]))
    path.write_text("\n\n".join(groups) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeshape", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "webhooks"
        run("go", "build", "-o", program, ".")
        server = subprocess.Popen([program, "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().strip()
            for name, (module, folders) in PROJECTS.items():
                definitions = Path(folder) / name
                definitions.mkdir()
                source = Path(run("go", "list", "-m", "-f", "{{.Dir}}", module).strip())
                for part in folders:
                    run(program, "definitions", source / part, definitions)
                faults, notes, problems = found(args.kubeshape.resolve(), definitions, url)
                path = HERE / "expected" / f"{name}.txt"
                if args.update:
                    update(path, faults)
                known = set(expected(path))
                new, missing = sorted(set(faults) - known), sorted(known - set(faults))
                codes = collections.Counter(line.split()[0] for line in faults)
                counts = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
                print(f"{name}: {len(known & set(faults))} equal, {len(new)} new, {len(missing)} missing; "
                      f"{counts}; {notes} notes")
                for line in new:
                    print(f"  new: {line}: {faults[line]['detail'][:200]}")
                for line in missing:
                    print(f"  missing: {line}")
                for problem in problems:
                    print(f"  {problem}")
                failed |= bool(new or missing or problems or not known)
        finally:
            server.kill()
    sys.exit(1 if failed else 0)


main()
