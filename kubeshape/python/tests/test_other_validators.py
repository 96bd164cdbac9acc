"""docs/other-validators.md: its calls of kubeshape, as they are written there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import kubeshape
import pytest

PAGE = Path(__file__).parents[3] / "docs" / "other-validators.md"
GOOD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}"
UNKNOWN = GOOD.replace(" data:", " dat:")
WRONG = GOOD.replace("b}", "[b]}")
CUSTOM = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 1}}"


def section(title: str) -> str:
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    assert text, title
    return text.partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """Of each row, what is code in the column of kubeshape."""
    cells = [re.split(r"(?<!\\)\|", line) for line in section(title).splitlines() if line.startswith("| ")]
    assert [cell.strip() for cell in cells[0][1:3]][1] == "kubeshape"
    return [re.findall("`([^`]+)`", cell[2].replace(r"\|", "|")) for cell in cells[1:]]


@pytest.fixture
def folder(tmp_path: Path, demo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "b.yaml").write_text(GOOD.replace("name: a", "name: b"))
    (tmp_path / "dir" / "c.yaml").write_text(GOOD.replace("name: a", "name: c"))
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "widgets.yaml").write_bytes((demo / "widgets.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(command: str, text: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of the page, with the text in `a.yaml`. A chart renders to the same text."""
    Path("a.yaml").write_text(text)
    helm = Path("helm")
    helm.write_text("#!/bin/sh\ncat a.yaml\n")
    helm.chmod(0o755)
    path = os.pathsep.join([sysconfig.get_path("scripts"), ".", os.environ["PATH"]])
    return subprocess.run(
        command, shell=True, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )


def as_command(code: str) -> str | None:
    """A command, or options of `kubeshape validate`."""
    if code.startswith("--"):
        return f"kubeshape validate {code.replace('GLOB', 'b*')} a.yaml dir/"
    return code if "kubeshape validate" in code else None


needs_a_shell = pytest.mark.skipif(sys.platform == "win32", reason="the page has commands of a POSIX shell")


@needs_a_shell
@pytest.mark.parametrize("title", ["kubeconform", "kubernetes-validate (Python)"])
def test_each_command_tells_good_from_bad(title: str, folder: Path) -> None:
    commands = [command for row in rows(title) for code in row if (command := as_command(code))]
    assert len(commands) >= (10 if title == "kubeconform" else 1)
    for command in commands:
        good, bad = shell(command, GOOD), shell(command, WRONG)
        assert (good.returncode, bad.returncode) == (0, 1), f"{command}\n{good.stderr}\n{bad.stderr}"


@needs_a_shell
def test_each_option_does_what_the_row_says(folder: Path) -> None:
    codes = [code for row in rows("kubeconform") for code in row]

    def run(start: str, text: str) -> subprocess.CompletedProcess[str]:
        [command] = [as_command(code) for code in codes if code.startswith(start)]
        assert command is not None
        return shell(command, text)

    plain, summary = run("kubeshape validate a.yaml", GOOD), "3 objects"
    assert summary in plain.stdout
    assert summary not in run("--quiet", GOOD).stdout
    assert run("kubeshape validate a.yaml", UNKNOWN).returncode == 1
    assert run("kubeshape validate --field-validation ignore", UNKNOWN).returncode == 0
    assert run("kubeshape validate a.yaml", CUSTOM).returncode == 1
    assert run("--schemas crds/", CUSTOM).returncode == 0
    assert run("--schemas crds/", CUSTOM.replace("1}", "1, note: 7}")).returncode == 1
    assert run("--missing-schemas skip", CUSTOM).returncode == 0
    (folder / "dir" / "b.yaml").write_text(WRONG)
    assert run("kubeshape validate a.yaml", GOOD).returncode == 1
    assert run("--exclude GLOB", GOOD).returncode == 0
    assert json.loads(run("--output-format json", GOOD).stdout)
    assert ElementTree.fromstring(run("--output-format junit", GOOD).stdout).tag == "testsuites"
    for word in ("github", "sarif", "gitlab"):
        assert word in codes
        found = shell(f"kubeshape validate --output-format {word} dir/", GOOD).stdout
        assert "dir/b.yaml" in found
    # What cannot be read.
    assert shell("kubeshape validate none.yaml", GOOD).returncode == 2
    assert shell("kubeshape validate a.yaml", "a: [").returncode == 1


def is_accepted(value: Any) -> bool:
    # `raise_for_errors()` returns nothing, and `validate_many` an iterator.
    return value is None or all([value] if isinstance(value, kubeshape.Result) else list(value))


def test_each_call_tells_good_from_bad(folder: Path) -> None:
    calls = [
        code for row in rows("kubernetes-validate (Python)") for code in row if code.startswith("kubeshape.")
    ]
    assert len(calls) == 5
    # A folder of definitions is not one of manifests.
    shutil.rmtree("crds")
    for call in calls:
        for text, expected in ((GOOD, True), (WRONG, False), (UNKNOWN, "ignore" in call)):
            Path("a.yaml").write_text(text)
            data = kubeshape.Object.read(text).to_dict()
            given = {"kubeshape": kubeshape, "Path": Path, "text": text, "data": data}
            try:
                accepted = is_accepted(eval(call, given))
            except kubeshape.KubeshapeError:
                accepted = False
            assert accepted == expected, (call, text)


def test_each_exception_is_the_one_of_the_row() -> None:
    codes = rows("kubernetes-validate (Python)")
    [findings] = [row for row in codes if row[0].startswith("except kubeshape")]
    program = f"try: kubeshape.validate(text).raise_for_errors()\n{findings[0]} found = {findings[1]}"
    given: dict[str, Any] = {"kubeshape": kubeshape, "text": WRONG}
    exec(program, given)
    for finding in given["found"]:
        assert all(getattr(finding, name) for name in findings[2:])
    [missing] = [row for row in codes if row[0].startswith("missing_schemas")]
    assert eval(f"kubeshape.validate(text, {missing[0]})", {**given, "text": CUSTOM}).verdict == missing[1]
    [release] = [row for row in codes if row[0] == "except ValueError"]
    program = f"try: kubeshape.validate(text, kubernetes='1.5')\n{release[0]}: refused = True"
    exec(program, given)
    assert given["refused"]


def test_the_program_of_the_page_runs(folder: Path) -> None:
    [program] = re.findall("```python\n(.*?)```", section("kubeconform"), re.DOTALL)
    (folder / "unknown.yaml").write_text(UNKNOWN)
    (folder / "custom.yaml").write_text(CUSTOM)
    files = [folder / "dir" / "b.yaml", folder / "unknown.yaml", folder / "custom.yaml"]
    given: dict[str, Any] = {"kubeshape": kubeshape, "Path": Path, "files": files}
    exec(program, given)
    assert given["bad"] == [folder / "unknown.yaml"]


def test_every_row_is_tried() -> None:
    for title in ("kubeconform", "kubernetes-validate (Python)"):
        for row in rows(title):
            known = [code for code in row if as_command(code) or code.startswith("kubeshape.")]
            words = ("pip install kubeshape", "except ", "missing_schemas=")
            assert known or not row or row[0].startswith(words), row
