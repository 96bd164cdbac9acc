#!/usr/bin/env python3
"""Runs kubeshape and other tools on the cases of admission policies in cases/, and prints a table in Markdown.

    conformance/peers/run.py --kubeshape target/debug/kubeshape --kyverno kyverno --gator gator

No tool but the named ones is run.

The last document of a case is the object of the request. The ones before it are policies, bindings, parameters,
namespaces and definitions. Comments say what a server decides (`expect`), which phase decides it, and who sends the request.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).parent / "cases"


class Case:
    """A case, with its parts as files of a folder."""

    def __init__(self, path, folder):
        text = path.read_text()
        self.name = path.stem
        self.said = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
        self.expected, _, self.message = self.said["expect"].partition(": ")
        documents = re.split(r"^---$", text, flags=re.MULTILINE)
        self.folder = folder / self.name
        self.folder.mkdir()
        self.object = self.file("object.yaml", documents[-1])
        self.setup = self.file("setup.yaml", "---".join(documents[:-1]))
        is_definition = lambda document: "kind: CustomResourceDefinition" in document
        is_policy = lambda document: "AdmissionPolicy" in document
        self.definitions = self.file("definitions.yaml", "---".join(filter(is_definition, documents[:-1])))
        self.policies = self.file("policies.yaml", "---".join(filter(is_policy, documents[:-1])))
        others = [text for text in documents[:-1] if not is_definition(text) and not is_policy(text)]
        self.params = self.file("params.yaml", "---".join(others))

    def file(self, name, text):
        """Writes a part; None if it is empty."""
        if not re.search(r"^\w", text, re.MULTILINE):
            return None
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def is_met_by(self, decision, output):
        """Whether a tool decides as a server does, with its message."""
        squeezed = " ".join(output.split())
        return decision == self.expected and (not self.message or self.message in squeezed)


def run(*command):
    """Returns the exit code and the output of a program."""
    done = subprocess.run([part for part in command if part], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def kubeshape(program, case):
    options = [f"--{key}={case.said[key]}" for key in ("user", "can", "operation") if key in case.said]
    if case.definitions:
        options.append(f"--schemas={case.definitions}")
    code, output = run(program, "validate", f"--policies={case.setup}", *options, "--output-format=short", case.object)
    if code == 0 and "KS8112" in output:
        return "warned", output
    return {0: "allowed", 1: "denied"}.get(code, "error"), output


def kyverno(program, case):
    options = []
    if "user" in case.said:
        info = case.folder / "user.yaml"
        info.write_text(
            "apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nmetadata: {name: user}\n"
            f"userInfo: {{username: {case.said['user']}}}\n"
        )
        options = ["--userinfo", str(info)]
    if "operation" in case.said:
        return "unsupported", ""
    if case.params:
        options += ["--parameter-resources", case.params]
    code, output = run(program, "apply", case.policies, "--resource", case.object, *options, "--detailed-results")
    counts = {name: int(count) for name, count in re.findall(r"(pass|fail|warn|error|skip): (\d+)", output)}
    if not counts:
        return "error", output
    if counts.get("fail") or counts.get("error"):
        return "denied", output
    return ("warned" if counts.get("warn") else "allowed"), output


def gator(program, case):
    code, output = run(program, "test", "-f", case.setup, "-f", case.object)
    return ("allowed" if code == 0 else "denied"), output


def kubectl_validate(program, case):
    options = ["--local-crds", str(case.folder)] if case.definitions else []
    code, output = run(program, case.object, *options)
    return ("allowed" if code == 0 else "denied"), output


TOOLS = {"kubeshape": kubeshape, "kyverno": kyverno, "gator": gator, "kubectl-validate": kubectl_validate}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for tool in TOOLS:
        arguments.add_argument(f"--{tool}", metavar="PROGRAM")
    arguments.add_argument("--details", action="store_true", help="print what each tool says of cases that it misses")
    arguments = vars(arguments.parse_args())
    tools = [tool for tool in TOOLS if arguments[tool.replace("-", "_")]]
    with tempfile.TemporaryDirectory() as folder:
        cases = [Case(path, pathlib.Path(folder)) for path in sorted(CASES.glob("*.yaml"))]
        print("| phase | cases | " + " | ".join(tools) + " |")
        print("|---" * (len(tools) + 2) + "|")
        totals = {tool: 0 for tool in tools}
        missed = []
        for phase in sorted({case.said["phase"] for case in cases}):
            of_phase = [case for case in cases if case.said["phase"] == phase]
            row = []
            for tool in tools:
                met = 0
                for case in of_phase:
                    decision, output = TOOLS[tool](arguments[tool.replace("-", "_")], case)
                    if case.is_met_by(decision, output):
                        met += 1
                    else:
                        missed.append((tool, case, decision, output))
                totals[tool] += met
                row.append(str(met))
            print(f"| {phase} | {len(of_phase)} | " + " | ".join(row) + " |")
        print(f"| all | {len(cases)} | " + " | ".join(str(totals[tool]) for tool in tools) + " |")
        for tool, case, decision, output in missed if arguments["details"] else []:
            print(f"\n{tool}: {case.name}: {decision}, expected {case.said['expect']}\n{output.strip()[:600]}")
    return 0 if totals.get("kubeshape", len(cases)) == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
