"""Gives definitions to kopium, and compiles the Rust types that it makes.

The definitions are those of folders, as they are, and those that `kubeshape convert --to crd` makes of documents.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import yaml

import rest

HERE = Path(__file__).resolve().parent
CRATE = HERE / "kopium"
# The schemas of a document that become definitions.
MOST_SCHEMAS = 20
# What kopium cannot do: a part of its message or of the compiler's, and the reason.
KNOWN = [
    (r"invalid field name '.*' could not be escaped", "a field whose name has no letter or digit"),
    (r"not handling non-string/int enum|cannot have signed/floating", "an enum of other values than strings"),
    (r"the name `\w+Spec` is defined multiple times", "a field `spec` in `spec`"),
    (
        r"JSON number out of range|expected f64|expected JSONSchemaProps|more than one document|invalid value: string",
        "what serde_yaml reads otherwise",
    ),
    (r"no schema found for crd", "no schema"),
]


def definitions(folders):
    """Yields the name and the text of each definition in files of folders."""
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".yaml", ".yml", ".json")):
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            parts = [part for part in re.split(r"^---.*$", text, flags=re.MULTILINE) if is_definition(part)]
            yield from ((f"{path.relative_to(folder)}:{number}", part) for number, part in enumerate(parts))


def is_definition(text):
    """Returns whether a document is a definition of the version that kopium reads."""
    return re.search(r"^kind: CustomResourceDefinition\s*$", text, re.MULTILINE) and "apiextensions.k8s.io/v1\n" in text


def made(kubeshape, documents, work):
    """Yields the name and the text of each definition that is made of a schema of documents, and of built-in kinds."""
    out = work / "built-in"
    command = [kubeshape, "convert", "--kubernetes", "1.36", "--all-kinds", "--to", "crd", "-q", "-o", out]
    subprocess.run(command, check=True)
    yield from ((f"1.36 {path.parent.name}", path.read_text()) for path in sorted(out.rglob("crd.yaml")))
    for number, path in enumerate(documents):
        try:
            _, schemas = rest.read(path)
        except (ValueError, UnicodeDecodeError, AttributeError, yaml.YAMLError):
            continue
        names = [name for name, schema in schemas.items() if isinstance(name, str) and rest.is_object(schema)]
        kinds = [part for name in names[:MOST_SCHEMAS] for part in ("--kind", name)]
        out = work / f"made-{number}"
        if kinds:
            # A schema that is refused is reported, and the others are converted.
            command = [kubeshape, "convert", path, "--to", "crd", "--group", "rest.example.com", "-q", "-o", out]
            subprocess.run([*command, *kinds], capture_output=True, check=False)
        yield from ((f"{path.name} {made.parent.name}", made.read_text()) for made in sorted(out.rglob("crd.yaml")))


def has_resource(text):
    """Returns whether kopium makes a type of the resource: if `spec` is an object and no map. None: it is unknown."""
    try:
        version = yaml.safe_load(text)["spec"]["versions"][0]
    except yaml.YAMLError:
        return None
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    spec = (schema.get("properties") or {}).get("spec") or {}
    values = spec.get("additionalProperties")
    if isinstance(values, dict) and values.get("properties"):
        return True  # This type is wrong: it is that of a value of the map.
    is_map = values or spec.get("x-kubernetes-preserve-unknown-fields")
    return spec.get("type") == "object" and bool(spec.get("properties") or not is_map)


def known(message, text=""):
    """Returns why kopium cannot do something with a definition, if the reason is known."""
    if re.search(r"<<\s*:", text):
        return "merge keys"
    return next((reason for pattern, reason in KNOWN if re.search(pattern, message)), None)


def compile_errors(crate, modules):
    """Compiles modules. Returns the first error of each module that has one."""
    lines = [f'#[path = "../../modules/{module}.rs"]\npub mod {module};\n' for module in modules]
    (crate / "src/bin/all.rs").write_text("#![allow(warnings)]\n" + "".join(lines) + "fn main() {}\n")
    command = ["cargo", "check", "--quiet", "--bin", "all", "--message-format", "json"]
    done = subprocess.run(command, cwd=crate, capture_output=True, text=True, check=False)
    errors = {}
    for line in done.stdout.splitlines():
        message = json.loads(line).get("message") or {}
        if message.get("level") == "error":
            places = [Path(span["file_name"]).stem for span in message["spans"] if "modules" in span["file_name"]]
            # The count of errors has no place.
            for place in places[:1]:
                errors.setdefault(place, message["message"])
    if done.returncode and not errors:
        errors[""] = done.stderr[-2000:]
    return errors


def check(program, kubeshape, folders, documents, work, most):
    """Returns the failures. Prints what was checked."""
    failures = []
    wanted = tomllib.loads((CRATE / "Cargo.toml").read_text())["package"]["metadata"]["kopium"]
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    if version != wanted:
        failures.append(f"kopium {version} is installed, expected {wanted}")
    crate = work / "kopium"
    (crate / "src/bin").mkdir(parents=True)
    (crate / "modules").mkdir()
    shutil.copy(CRATE / "Cargo.toml", crate)

    def generate(name, text):
        """Returns kopium's module, or None after a failure."""
        done = subprocess.run([program, "-A", "-f", "-"], input=text, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
        reason = known(done.stderr, text)
        if reason:
            reasons[reason] += 1
        else:
            failures.append(f"kopium, {name}: {done.stderr[:600]}")
        return None

    reasons, names = collections.Counter(), {}
    counts = collections.Counter()
    as_they_are = list(definitions(folders))
    # A server refuses some definitions of the corpus, on purpose.
    as_they_are = [(name, text) for name, text in as_they_are[:: max(1, len(as_they_are) // most)]
                   if accepts(kubeshape, text)]
    from_documents = list(made(kubeshape, documents, work))
    from_documents = from_documents[:: max(1, len(from_documents) // most)]
    for kind, all_of_kind in (("as they are", as_they_are), ("of documents", from_documents)):
        for name, text in all_of_kind:
            module = generate(name, text)
            if module is None:
                continue
            counts[kind] += 1
            is_resource = "#[kube(group" in module
            counts["resources"] += is_resource
            if has_resource(text) not in (None, is_resource):
                failures.append(f"kopium, {name}: a type of the resource is made only of an object")
            file = f"m{len(names)}"
            names[file] = name
            (crate / f"modules/{file}.rs").write_text(module)
    # Errors of names hide those of types, so what remains is compiled again.
    modules = list(names)
    while errors := compile_errors(crate, modules):
        for module, message in errors.items():
            reason = known(message)
            if reason:
                reasons[reason] += 1
            else:
                failures.append(f"kopium, {names.get(module, 'the crate')}: {message}")
        modules = [module for module in modules if module not in errors]
        if "" in errors:
            break
    shutil.copy(CRATE / "reads.rs", crate / "src/bin/reads.rs")
    widget = generate("widgets.yaml", (HERE / "../../docs/demo/widgets.yaml").read_text())
    (crate / "modules/widget.rs").write_text(widget or "")
    command = ["cargo", "run", "--quiet", "--bin", "reads"]
    done = subprocess.run(command, cwd=crate, capture_output=True, text=True, check=False)
    if done.returncode:
        failures.append(f"a type of kopium does not read its resource: {done.stderr[-2000:]}")
    print(
        f"kopium: {counts['as they are']} definitions as they are and {counts['of documents']} of documents; "
        f"{len(modules)} modules compile, {counts['resources']} have a type of the resource"
    )
    for reason, count in reasons.most_common():
        print(f"kopium cannot do {count}: {reason}")
    return failures


def accepts(kubeshape, text):
    """Returns whether a server accepts a definition."""
    done = subprocess.run([kubeshape, "check", "-"], input=text, capture_output=True, text=True, check=False)
    return done.returncode == 0


def folders():
    """Returns the folders of definitions: the project's own, and those of KUBESHAPE_CORPUS."""
    more = os.environ.get("KUBESHAPE_CORPUS")
    return [HERE / "../../corpus/crds", *([Path(more) / "crds"] if more else [])]
