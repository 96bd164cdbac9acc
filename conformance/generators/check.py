#!/usr/bin/env python3
"""Gives what `kubeshape convert` writes to generators and validators that people use, and checks their output.

    pip install -r requirements.txt
    npm install
    python check.py --kubeshape ../../target/debug/kubeshape [--corpus FOLDER]... [--golden FOLDER]

A tool that is missing is named and not checked. The exit code is 1 if a check fails.
"""

import argparse
import gzip
import json
import py_compile
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDGETS = HERE / "../../docs/demo/widgets.yaml"
OPENAPI_GENERATOR = "org.openapitools:openapi-generator-cli:7.17.0"
# This input has an example with `value` and `externalValue`. OpenAPI 3.0 forbids that in its text, 3.1 in its schema.
NOT_AS_LATER = {"reprint-v3-components.json"}

failures = []
missing = set()


def run(*command, cwd=None):
    """Runs a command. Returns its output, or None after a failure, which is reported."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    if done.returncode == 0:
        return done.stdout
    failures.append(f"{' '.join(command)[:300]}\n{(done.stdout + done.stderr)[-2000:]}")
    return None


def tool(name):
    """Returns the path of a program, of the packages in this folder or of the system."""
    for place in (HERE / "node_modules/.bin" / name, Path(sys.executable).parent / name):
        if place.exists():
            return place
    found = shutil.which(name)
    if not found:
        missing.add(name)
    return found


def is_v3(path):
    """Returns whether a file is an OpenAPI 3.0 document with the members that the specification requires."""
    try:
        document = json.loads(path.read_text())
    except (ValueError, UnicodeDecodeError):
        return False
    has_all = isinstance(document, dict) and {"openapi", "info", "paths"} <= document.keys()
    return has_all and str(document["openapi"]).startswith("3.0.") and document["info"].get("title")


def spec_errors(path):
    """Returns the first error of openapi-spec-validator, or None."""
    from openapi_spec_validator import validate

    try:
        validate(json.loads(path.read_text()))
    except Exception as error:  # Each kind of error of the validator is a failure.
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def later(kubeshape, corpora, work, most):
    """Documents of OpenAPI 3.0 that validators accept are accepted as OpenAPI 3.1, and come back."""
    try:
        import openapi_spec_validator as _
    except ImportError:
        missing.add("openapi-spec-validator")
        return
    files = [path for corpus in corpora for path in sorted(corpus.rglob("*.json")) if is_v3(path)]
    files = files[:: max(1, len(files) // most)]
    kubernetes = work / "group-versions"
    run(kubeshape, "convert", "--kubernetes", "1.36", "--validations", "--to", "v3", "--per", "group-version", "-q",
        "-o", kubernetes)
    own = sorted(kubernetes.glob("api*.json"))[::6]
    files += own
    accepted, as_later = [], 0
    for number, path in enumerate(files):
        first, raised, back = (work / f"{number}.{name}.json" for name in ("v3", "v31", "back"))
        if run(kubeshape, "convert", path, "--to", "v3", "-q", "-o", first) is None:
            continue
        if run(kubeshape, "convert", first, "--to", "v3.1", "-q", "-o", raised) is None:
            continue
        if run(kubeshape, "convert", raised, "--to", "v3", "-q", "-o", back) is None:
            continue
        if first.read_bytes() != back.read_bytes():
            failures.append(f"{path}: it does not come back")
        error = spec_errors(raised)
        as_later += error is None
        # As 3.0, the validator refuses the default `{}` of a structure with required fields.
        if path.name not in NOT_AS_LATER and (path in own or spec_errors(first) is None):
            accepted.append((path, first, raised))
            if error:
                failures.append(f"{path}: openapi-spec-validator refuses OpenAPI 3.1: {error}")
    print(
        f"OpenAPI 3.1: {len(files)} documents come back; "
        f"openapi-spec-validator accepts {as_later} as 3.1, and must accept {len(accepted)} of them"
    )
    node = tool("node")
    if node and (HERE / "node_modules/@seriousme").exists():
        for path, first, raised in accepted:
            script = HERE / "openapi.mjs"
            # The validator takes a property with the name `$ref` for a reference.
            if '"$ref":{' in raised.read_text().replace(" ", ""):
                continue
            if path in own or subprocess.run([node, script, first], capture_output=True, check=False).returncode == 0:
                run(node, script, raised)
    else:
        missing.add("@seriousme/openapi-schema-validator")


def python_models(kubeshape, work):
    """datamodel-code-generator makes modules that compile, from JSON Schemas and from OpenAPI documents."""
    codegen = tool("datamodel-codegen")
    if not codegen:
        return
    options = ["--output-model-type", "pydantic_v2.BaseModel", "--disable-timestamp", "--formatters", "builtin"]
    schemas, document = work / "schemas", work / "short.json"
    run(kubeshape, "convert", WIDGETS, "--to", "jsonschema", "-q", "-o", schemas)
    run(kubeshape, "convert", WIDGETS, "--to", "v3", "--per", "single", "--rename", "short", "-q", "-o", document)
    later_document = work / "short31.json"
    run(kubeshape, "convert", document, "--to", "v3.1", "-q", "-o", later_document)
    deployment = work / "deployment.json"
    run(kubeshape, "convert", "--kubernetes", "1.36", "--kind", "Deployment", "--to", "jsonschema", "-q", "-o", deployment)
    for name, source, kind in [
        ("widget", schemas / "widgets.example.com/v1.schema.json", "jsonschema"),
        ("widgets", document, "openapi"),
        ("widgets31", later_document, "openapi"),
        ("deployment", deployment, "jsonschema"),
    ]:
        # Names with dots become modules, so the output is a folder.
        made = work / name
        if run(codegen, "--input", source, "--input-file-type", kind, *options, "--output", made) is None:
            continue
        modules = [made] if made.is_file() else sorted(made.rglob("*.py"))
        for module in modules:
            py_compile.compile(str(module), doraise=True)
        if not made.is_file():
            run(sys.executable, "-c", f"import {name}", cwd=work)
        print(f"datamodel-code-generator: {name}, {len(modules)} modules")


def typescript(kubeshape, work):
    """openapi-typescript makes declarations that compile."""
    generator, tsc = tool("openapi-typescript"), tool("tsc")
    if not generator or not tsc:
        return
    kubernetes = work / "kubernetes.json"
    run(kubeshape, "convert", "--kubernetes", "1.36", "--validations", "--to", "v3", "-q", "-o", kubernetes)
    for source in [work / "short.json", work / "short31.json", kubernetes]:
        made = work / f"{source.stem}.d.ts"
        if run(generator, source, "-o", made) is not None:
            run(tsc, "--noEmit", "--strict", "--skipLibCheck", "--target", "es2020", made)
            print(f"openapi-typescript: {source.name}")


def fabric8(kubeshape, work):
    """fabric8's java-generator makes types that compile."""
    maven = tool("mvn")
    if not maven or not tool("javac"):
        return
    definitions = work / "definitions"
    run(kubeshape, "convert", "--kubernetes", "1.36", "--kind", "Deployment", "--kind", "CronJob", "--kind", "Ingress",
        "--to", "crd", "-q", "-o", definitions)
    shutil.copy(WIDGETS, definitions)
    made = work / "fabric8"
    if run(maven, "-B", "-f", HERE / "fabric8/pom.xml", "compile", f"-Dcrds={definitions}", f"-Doutput={made}"):
        print(f"java-generator: {len(list(made.rglob('*.class')))} classes")


def openapi_generator(kubeshape, work):
    """openapi-generator makes Python clients that compile, and whose types read objects of a custom resource."""
    maven, java = tool("mvn"), tool("java")
    try:
        import dateutil as _
        import urllib3 as _
    except ImportError:
        missing.add("dateutil, urllib3")
        return
    if not maven or not java:
        return
    jar = work / "openapi-generator"
    if run(maven, "-B", "-q", "dependency:copy", f"-Dartifact={OPENAPI_GENERATOR}", f"-DoutputDirectory={jar}") is None:
        return
    release, merged, single = work / "release-v2.json", work / "merged-v2.json", work / "single-v3.json"
    run(kubeshape, "convert", "--kubernetes", "1.36", "--validations", "--to", "v2", "-q", "-o", release)
    run(kubeshape, "convert", WIDGETS, "--to", "v2", "--onto", release, "-q", "-o", merged)
    run(kubeshape, "convert", WIDGETS, "--to", "v3", "--per", "single", "-q", "-o", single)
    reading = (
        "from client_v3.models.com_example_v1_widget import ComExampleV1Widget as Widget; "
        "o = {'apiVersion': 'example.com/v1', 'kind': 'Widget', 'spec': {'size': 3, 'note': 'a'}}; "
        "assert Widget.from_dict(o).to_dict()['spec'] == o['spec']"
    )
    importing = "import client_v2.api, client_v2.models as m; [getattr(m, name) for name in dir(m)]"
    for package, source, program in [("client_v2", merged, importing), ("client_v3", single, reading)]:
        made = work / package
        command = [java, "-jar", next(jar.glob("*.jar")), "generate", "-g", "python", "-i", source, "-o", made]
        if run(*command, f"--package-name={package}") is None:
            continue
        modules = sorted((made / package).rglob("*.py"))
        for module in modules:
            py_compile.compile(str(module), doraise=True)
        run(sys.executable, "-c", program, cwd=made)
        print(f"openapi-generator: {source.name}, {len(modules)} modules")


def kopium(kubeshape, corpora, work, documents, most):
    """kopium makes Rust types that compile, and that read an object of a custom resource."""
    program = tool("kopium")
    try:
        import rust
    except ImportError:
        missing.add("yaml")
        return
    if not program or not tool("cargo"):
        return
    files = [path for corpus in corpora for path in sorted(corpus.rglob("*")) if path.suffix in (".json", ".yaml")]
    files = files[:: max(1, len(files) // documents)]
    failures.extend(rust.check(program, kubeshape, rust.folders(), files, work, most))


def kubeconform(kubeshape, golden, work, most):
    """kubeconform accepts, with our schemas of built-in kinds, what a server accepts."""
    program = tool("kubeconform")
    if not program or not golden:
        return
    schemas, objects = work / "kubeconform", work / "objects"
    # A server writes null for some empty lists.
    run(kubeshape, "convert", "--kubernetes", "1.36", "--all-kinds", "--to", "jsonschema", "--layout", "kubeconform",
        "--nulls", "server", "-q", "-o", schemas)
    objects.mkdir()
    rows = (json.loads(line) for path in sorted(golden.glob("1.36/*.ndjson.gz")) for line in gzip.open(path, "rt"))
    accepted = [accepted for accepted in map(accepted_object, rows) if accepted]
    accepted = accepted[:: max(1, len(accepted) // most)]
    count = len(accepted)
    for number, value in enumerate(accepted):
        (objects / f"{number}.json").write_text(json.dumps(value))
    done = subprocess.run(
        [program, "-schema-location", schemas, "-output", "json", "-n", "4", objects],
        capture_output=True, text=True, check=False,
    )
    refused = [resource for resource in json.loads(done.stdout)["resources"] if resource["status"] != "statusSkipped"]
    for resource in refused:
        failures.append(f"kubeconform refuses an accepted object: {json.dumps(resource)[:600]}")
    print(f"kubeconform: {count} accepted objects, {len(refused)} refused")


def accepted_object(row):
    """Returns the stored object of a line of recorded answers, if the server accepts it on creation.

    The constraints are about objects with defaults.
    """
    answer = row.get("answer") or {}
    is_creation = "old" not in row and "subresource" not in row
    return answer.get("result") if is_creation and answer.get("code") in (200, 201) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeshape", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--documents", type=int, default=60, help="documents of the corpus")
    parser.add_argument("--definitions", type=int, default=300, help="definitions of each kind for kopium")
    parser.add_argument("--objects", type=int, default=2000, help="objects for kubeconform")
    args = parser.parse_args()
    kubeshape = args.kubeshape.resolve()
    corpora = args.corpus or [HERE / "../../corpus/openapi"]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        later(kubeshape, corpora, work, args.documents)
        python_models(kubeshape, work)
        typescript(kubeshape, work)
        fabric8(kubeshape, work)
        openapi_generator(kubeshape, work)
        kopium(kubeshape, corpora, work, args.documents, args.definitions)
        kubeconform(kubeshape, args.golden, work, args.objects)
    for name in sorted(missing):
        print(f"not checked: {name} is missing")
    for failure in failures:
        print(f"FAILED {failure}")
    sys.exit(1 if failures else 0)


main()
