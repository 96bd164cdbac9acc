#!/usr/bin/env python3
"""Compares the marks of language servers with what a server of Kubernetes refuses: `kubeshape lsp` and
yaml-language-server get the same files and the same keystrokes.

    npm install
    python marks.py FOLDER --kubeshape ../../target/debug/kubeshape --testdata TESTDATA --golden GOLDEN --corpus CORPUS

FOLDER gets the files and the schemas. TESTDATA is `testdata/HEAD` of the Go module k8s.io/api: objects with a value in
each field. GOLDEN has recorded answers of Kubernetes about custom resources, CORPUS their definitions. Without one of
them, its half of the table is missing.

yaml-language-server gets the JSON Schemas that `kubeshape convert` makes of the same definitions, each file with the
schema of its kind. The table counts lines: wrong marks are on lines without an error, missing marks are errors without
a mark on their line.
"""

import argparse
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

RELEASE = "1.36"
HERE = pathlib.Path(__file__).resolve().parent


class Server:
    """A language server on standard input and output."""

    def __init__(self, command, folder, settings, stderr=None):
        self.child = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        )
        self.folder = folder
        self.settings = settings
        self.count = 0
        self.shown = {}
        folders = [{"uri": folder.as_uri(), "name": "files"}]
        capabilities = {
            "textDocument": {"publishDiagnostics": {"versionSupport": True}},
            "workspace": {"configuration": True},
        }
        params = {
            "processId": None,
            "rootUri": folder.as_uri(),
            "workspaceFolders": folders,
            "capabilities": capabilities,
        }
        self.request("initialize", params)
        self.notify("initialized", {})
        self.notify("workspace/didChangeConfiguration", {"settings": settings})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.child.stdin.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self):
        length = 0
        while (line := self.child.stdout.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if length == 0:
            sys.exit("the server is gone")
        message = json.loads(self.child.stdout.read(length))
        method = message.get("method")
        if method == "textDocument/publishDiagnostics":
            self.shown.setdefault(message["params"]["uri"], []).append(message["params"]["diagnostics"])
        elif method == "workspace/configuration":
            items = message["params"]["items"]
            self.send(
                {"id": message["id"], "result": [self.settings.get(item.get("section")) for item in items]}
            )
        elif method and "id" in message:
            self.send({"id": message["id"], "result": None})
        return message

    def answer(self, method, params):
        """Sends a request, and returns the response."""
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.count and "method" not in message:
                return message

    def request(self, method, params):
        return self.answer(method, params).get("result")

    def marks(self, name, text):
        """Types the last line of a text, and returns the diagnostics afterwards."""
        uri = (self.folder / name).as_uri()
        lines = text.splitlines(keepends=True)
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": "".join(lines[:-1])}
        self.notify("textDocument/didOpen", {"textDocument": document})
        self.next(uri)
        end = {"line": len(lines) - 1, "character": 0}
        change = {"range": {"start": end, "end": end}, "text": lines[-1]}
        self.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
        )
        found = self.next(uri)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        # Closing a file clears its diagnostics.
        self.next(uri)
        return found

    def next(self, uri):
        while not self.shown.get(uri):
            self.receive()
        return self.shown.pop(uri)[-1]

    def end(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.child.wait()


class Sample:
    """A file: its name, its text, the schema of its kind, the lines of each error, and lines where marks are right."""

    def __init__(self, name, text, schema, errors, also=frozenset()):
        self.name, self.text, self.schema, self.errors, self.also = name, text, schema, errors, also


def block(value, indent, path, lines, places):
    """Writes a value of JSON as YAML with one value per line. Notes the line of each path."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            at = (*path, key)
            places[at] = {len(lines)}
            lines.append(f"{pad}{json.dumps(key, ensure_ascii=False)}:")
            member(inner, indent, at, lines, places)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            at = (*path, number)
            places[at] = {len(lines)}
            lines.append(f"{pad}-")
            member(inner, indent, at, lines, places)
    else:
        lines[-1] += " " + json.dumps(value, ensure_ascii=False)


def member(value, indent, path, lines, places):
    before = len(lines)
    block(value, indent + 1, path, lines, places)
    if len(lines) > before:
        # A mark on the first line of a value is one on the value.
        places[path].add(before)


def rendered(path):
    """Returns a path as a server prints it, without the brackets of keys."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def lines_of(path, places):
    """Returns the lines of a path, or of the deepest value above it that exists."""
    found = re.sub(r"\[([^\]]*[^\]\d][^\]]*)\]", r".\1", path)
    above = [own for own in places if found == own or found.startswith((f"{own}.", f"{own}["))]
    return places[max(above, key=len)] if above else {0}


def chosen(key):
    return hashlib.sha256(str(key).encode()).hexdigest()


def custom_resources(golden, corpus, schemas, convert, count):
    """Returns changed custom resources with the errors that a server reports: as many accepted as refused."""
    answers = {}
    for line in gzip.open(golden / f"objects-versions/{RELEASE}.ndjson.gz", "rt"):
        answer = json.loads(line)
        answers[answer.get("id")] = answer
    accepted, refused = [], []
    for line in gzip.open(golden / "structural/cr-cases.ndjson.gz", "rt"):
        case = json.loads(line)
        answer = answers.get(case["id"], {})
        # Creates whose metadata can be read, so that all errors are reported. Definitions of one file are enough.
        if (
            "update" in case
            or "decodeError" in case
            or answer.get("code") not in (201, 422)
            or case["crd"].get("index")
        ):
            continue
        errors = answer.get("errors", [])
        # In a list in place of an object, each member is unknown. That is one error; marks on them are right.
        wrong = tuple(error["field"] for error in errors if error["type"] == "FieldValueTypeInvalid")
        inside = tuple(f"{path}{step}" for path in wrong for step in ".[")
        unknown = case.get("unknown", [])
        paths = [
            *(path for path in unknown if not path.startswith(inside)),
            *(error["field"] for error in errors),
        ]
        also = [path for path in unknown if path.startswith(inside)]
        (refused if paths else accepted).append((chosen(case["id"]), case, (paths, also)))
    # Definitions that servers refuse have no schema, so that some of the candidates are not used.
    candidates = [sorted(group, key=lambda entry: entry[0])[:count] for group in (accepted, refused)]
    crds = schemas.parent / "crds"
    crds.mkdir()
    for file in sorted({case["crd"]["file"] for group in candidates for _, case, _ in group}):
        shutil.copy(corpus / file, crds / file.replace("/", "-"))
    subprocess.run([*convert, str(crds)], check=False, capture_output=True)
    out = []
    for group in candidates:
        samples = [sample_of(case, paths) for _, case, paths in group]
        out += [sample for sample in samples if (schemas / sample.schema).exists()][: count // 2]
    return out, crds


def sample_of(case, paths):
    """Returns a recorded request as a file. `paths` are those of errors, and those of which marks are right, too."""
    lines, places = [], {}
    block(case["object"], 0, (), lines, places)
    places = {rendered(path): own for path, own in places.items()}
    group, version = case["object"]["apiVersion"].split("/")
    schema = f"{group}/{case['object']['kind'].lower()}_{version}.json"
    # Errors without a path are consequences of others.
    paths, more = paths
    errors = [lines_of(path, places) for path in paths if path not in ("", "<nil>")]
    also = {0} if len(errors) < len(paths) else set()
    also = also.union(*(lines_of(path, places) for path in more))
    return Sample(f"cr-{case['id']}.yaml", "\n".join(lines) + "\n", schema, errors, also)


# Kinds of subresources: nobody writes them into files.
NO_FILES = ("Scale", "TokenRequest", "Eviction", "Binding")
SCALAR = re.compile(r"^( *(?:- )?)([A-Za-z][A-Za-z0-9]*): (.+)$")


def built_in(testdata, served):
    """Returns objects of served kinds as they are, and each with one change: a misspelt field, and a number or boolean
    in place of which there is a list. What the text of Kubernetes itself has is right in names and types."""
    plain, changed = [], []
    for file in sorted(testdata.glob("*.yaml")):
        text = file.read_text()
        head = dict(re.findall(r"^(apiVersion|kind): (.*)$", text, re.MULTILINE))
        version, kind = head.get("apiVersion", ""), head.get("kind", "")
        if (version, kind) not in served or kind in NO_FILES:
            continue
        group, _, name = version.rpartition("/")
        schema = f"{group or name}/{kind.lower()}_{name}.json"
        plain.append(Sample(f"plain-{file.name}", text, schema, []))
        lines = text.splitlines()
        fields = [
            number for number, line in enumerate(lines) if SCALAR.match(line) and is_typed(lines, number)
        ]
        # Keys of maps are no fields, and objects of unknown kinds have any.
        fields = [number for number in fields if "Key:" not in lines[number] and not is_raw(lines, number)]
        if not fields:
            continue
        at = min(fields, key=lambda number: chosen(f"{file.name} {number}"))
        pad, key, value = SCALAR.match(lines[at]).groups()
        for what, line in (("name", f"{pad}{key}Zz: {value}"), ("type", f"{pad}{key}: [1]")):
            new = [*lines[:at], line, *lines[at + 1 :]]
            changed.append(Sample(f"{what}-{file.name}", "\n".join(new) + "\n", schema, [{at}]))
    return plain, changed


def is_typed(lines, number):
    """Returns whether a line is a number or boolean below spec, and not the last one, which is typed."""
    above = [line for line in lines[:number] if re.match(r"[a-zA-Z]", line)]
    value = SCALAR.match(lines[number]).group(3)
    return (
        bool(above)
        and above[-1] == "spec:"
        and re.fullmatch(r"-?\d+|true|false", value)
        and number + 1 < len(lines)
    )


def is_raw(lines, number):
    """Returns whether a line is in an object of any kind inside the object."""
    indent = len(lines[number]) - len(lines[number].lstrip())
    for line in reversed(lines[:number]):
        own = len(line) - len(line.lstrip())
        if own < indent:
            if line.strip().lstrip("- ") in ("parameters:", "object:"):
                return True
            indent = own
    return False


def is_of_decoding(mark):
    """Returns whether a mark is about the name or type of a field. Values of the test data are not those of servers."""
    if mark.get("source") == "kubeshape":
        return mark["code"] in ("KS8102", "KS8104")
    return bool(re.search(r"Incorrect type|is not allowed|Unexpected property", mark["message"]))


def measure(server, samples, only=lambda mark: True):
    """Returns the numbers of wrong and of missing marks, and of files with one of them."""
    wrong = missing = files = 0
    for sample in samples:
        # Warnings and hints refuse nothing.
        marks = [
            mark
            for mark in server.marks(sample.name, sample.text)
            if only(mark) and mark.get("severity", 1) == 1
        ]
        at = {mark["range"]["start"]["line"] for mark in marks}
        good = set(sample.also).union(*sample.errors)
        own = len(at - good)
        lost = sum(1 for lines in sample.errors if not lines & at)
        if own or lost:
            files += 1
            if VERBOSE:
                lost_at = [sorted(lines) for lines in sample.errors if not lines & at]
                said = [
                    mark["message"][:150] for mark in marks if mark["range"]["start"]["line"] not in good
                ][:3]
                print(sample.name, "wrong", sorted(at - good), "missing", lost_at, said, file=sys.stderr)
        wrong, missing = wrong + own, missing + lost
    return wrong, missing, files


VERBOSE = False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kubeshape", default="kubeshape")
    parser.add_argument("--node", default="node")
    parser.add_argument("--testdata", type=pathlib.Path)
    parser.add_argument("--golden", type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--modules", type=pathlib.Path, default=HERE / "node_modules")
    parser.add_argument("--verbose", action="store_true", help="print each difference")
    arguments = parser.parse_args()
    global VERBOSE
    VERBOSE = arguments.verbose
    program = shutil.which(arguments.kubeshape)
    if program is None:
        sys.exit(f"{arguments.kubeshape} is not in PATH")
    program = str(pathlib.Path(program).resolve())
    folder = arguments.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    files, schemas = folder / "files", folder / "schemas"
    files.mkdir(parents=True)
    sets = {}
    crds = None
    convert = [
        program,
        "convert",
        "--to",
        "jsonschema",
        "--layout",
        "datree",
        "--strict",
        "--nulls",
        "server",
        "-o",
        f"{schemas}/",
    ]
    if arguments.testdata:
        subprocess.run([*convert, "--kubernetes", RELEASE, "--all-kinds"], check=True, capture_output=True)
        served = set()
        for file in schemas.rglob("*.json"):
            for name in json.loads(file.read_text()).get("x-kubernetes-group-version-kind", []):
                version = f"{name['group']}/{name['version']}" if name["group"] else name["version"]
                served.add((version, name["kind"]))
        plain, changed = built_in(arguments.testdata, served)
        sets["k8s.io/api, as it is"] = (plain, is_of_decoding)
        sets["k8s.io/api, one field changed"] = (changed, is_of_decoding)
    if arguments.golden and arguments.corpus:
        resources, crds = custom_resources(
            arguments.golden, arguments.corpus, schemas, convert, arguments.count
        )
        sets["custom resources"] = (resources, lambda mark: True)
    by_schema = {}
    for samples, _ in sets.values():
        for sample in samples:
            if not (schemas / sample.schema).exists():
                sys.exit(f"there is no schema {sample.schema}")
            by_schema.setdefault((schemas / sample.schema).as_uri(), []).append(f"/{sample.name}")
            (files / sample.name).write_text(sample.text)
    own = [program, "lsp", "--kubernetes", RELEASE]
    if crds:
        own += ["--schemas", str(crds)]
    yaml_settings = {
        "schemas": by_schema,
        "validate": True,
        "schemaStore": {"enable": False},
        "kubernetesCRDStore": {"enable": False},
        "maxItemsComputed": 100_000,
    }
    other = [
        arguments.node,
        str(arguments.modules / "yaml-language-server/bin/yaml-language-server"),
        "--stdio",
    ]
    version = json.loads((arguments.modules / "yaml-language-server/package.json").read_text())["version"]
    servers = [
        ("kubeshape lsp", own, {}),
        (f"yaml-language-server {version}", other, {"yaml": yaml_settings}),
    ]
    is_good = True
    print("| files | errors | server | wrong marks | missing marks | files with one |")
    print("|---|---|---|---|---|---|")
    for title, (samples, only) in sets.items():
        errors = sum(len(sample.errors) for sample in samples)
        for name, command, settings in servers:
            server = Server(command, files, settings)
            wrong, missing, bad = measure(server, samples, only)
            server.end()
            print(f"| {len(samples)} {title} | {errors} | {name} | {wrong} | {missing} | {bad} |", flush=True)
            is_good = is_good and (command is not own or bad == 0)
    # Only the marks of kubeshape are a matter of this project.
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
