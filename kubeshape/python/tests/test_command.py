"""The command in the wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import kubeshape


def run(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubeshape", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True)


def test_the_command_has_its_exit_codes(demo: Path) -> None:
    assert run("version").stdout.startswith("kubeshape ")
    assert run("check", demo / "widgets.yaml").returncode == 0
    refused = run("validate", "-", stdin="{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}")
    assert (refused.returncode, "KS8102" in refused.stderr + refused.stdout) == (1, True)
    assert run("frobnicate").returncode == 2


def test_scripts_are_installed() -> None:
    scripts = sysconfig.get_path("scripts")
    for name in ["kubeshape", "kubectl-shape"]:
        script = shutil.which(name, path=scripts)
        assert script is not None, name
        ran = subprocess.run([script, "--help"], capture_output=True, text=True)
        assert f"Usage: {name.replace('kubectl-shape', 'kubectl shape')}" in ran.stdout


def test_library_and_command_agree(demo: Path) -> None:
    import json

    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}"
    row = json.dumps({"id": "a.yaml", "text": text})
    answer = json.loads(run("stream", "validate", "--quiet", stdin=row).stdout)
    result = kubeshape.validate(text, name="a.yaml")
    assert answer["verdict"] == result.verdict
    [theirs], [ours] = answer["findings"], result.findings
    assert (theirs["code"], theirs["input"], theirs["line"], theirs["column"], theirs["pointer"]) == (
        ours.code,
        ours.file,
        ours.line,
        ours.column,
        ours.path,
    )
