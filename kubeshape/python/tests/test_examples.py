"""The examples of the package."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import kubeshape
import pytest


@pytest.mark.parametrize("name", ["kubeshape", "kubeshape._types", "kubeshape.arrow", "kubeshape.testing"])
def test_examples_are_right(name: str) -> None:
    if name == "kubeshape.arrow":
        pytest.importorskip("pyarrow")
    failed, run = doctest.testmod(importlib.import_module(name), extraglobs={"kubeshape": kubeshape})
    assert run > 0
    assert failed == 0


def test_the_guide_of_the_api_server(tmp_path: Path, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kubernetes")
    guide = (demo.parent / "envtest.md").read_text(encoding="utf-8")
    example, definition = (
        re.findall(rf"^```{language}\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)[0]
        for language in ("python", "yaml")
    )
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "widgets.yaml").write_text(definition, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "envtest.md", "exec"), {})
