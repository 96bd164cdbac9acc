"""`Crd`, `Document`, `upgrade`."""

from __future__ import annotations

import json
from pathlib import Path

import kubeshape
import pytest


def test_a_definition_has_all_shapes(demo: Path) -> None:
    crd = kubeshape.Crd.read(demo / "widgets.yaml")
    assert (crd.name, crd.group, crd.kind, crd.versions) == (
        "widgets.example.com",
        "example.com",
        "Widget",
        ("v1",),
    )
    assert repr(crd) == "<kubeshape.Crd widgets.example.com>"
    for output in [crd.v3("v1"), crd.v2("v1"), crd.json_schema("v1"), crd.structural("v1")]:
        assert isinstance(json.loads(output.text), dict)
    losses = [finding.code for finding in crd.v2("v1").findings]
    assert "KS2204" in losses
    assert crd.smd().text.startswith("types:")
    with pytest.raises(kubeshape.KubeshapeError, match='found no version "v2", expected one of v1') as raised:
        crd.v3("v2")
    assert raised.value.findings[0].line == 1


def test_a_text_without_a_definition_is_an_error(demo: Path) -> None:
    with pytest.raises(
        kubeshape.KubeshapeError, match="expected exactly one CustomResourceDefinition, found 0"
    ):
        kubeshape.Crd.read(demo / "widget.yaml")
    assert [crd.kind for crd in kubeshape.Crd.read_all(demo / "widgets.yaml")] == ["Widget"]
    with pytest.raises(kubeshape.KubeshapeError):
        kubeshape.Crd.read_all("kind: [")


def test_a_document_is_converted(demo: Path) -> None:
    document = kubeshape.Document.read(demo / "frobber_openapi.yaml")
    assert repr(document) == f"<kubeshape.Document of OpenAPI {document.dialect}>"
    v2 = document.v2()
    assert json.loads(v2.text)["swagger"] == "2.0"
    assert kubeshape.Document.read(v2.text).dialect == "v2"
    assert [output.shape for output in document.json_schemas()][:1] == ["jsonschema"]


def test_an_upgrade_has_steps(demo: Path) -> None:
    old = (demo / "widgets.yaml").read_text()
    plan = kubeshape.upgrade(old, old.replace("name: v1", "name: v2"))
    assert plan.is_safe
    assert "missing from spec.versions" in plan.refused[0]
    assert len(plan.steps) == 4
    assert str(plan) == plan.text
    unsafe = kubeshape.upgrade(kubeshape.Crd.read(old), kubeshape.Crd.read(demo / "widgets-next.yaml"))
    assert unsafe.data["resource"] == "widgets.example.com"
