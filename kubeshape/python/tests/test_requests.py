"""`Api` and `Object`: apply, create, update, merge, extract, sample, explain."""

from __future__ import annotations

import kubeshape
import pytest


def widget(size: int, **more: object) -> dict[str, object]:
    metadata = {"name": "hello", "namespace": "default"}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": metadata,
        "spec": {"size": size, **more},
    }


def test_apply_gives_owners_and_conflicts(widgets: kubeshape.Api) -> None:
    live = widgets.apply(None, widget(1, note="a"), manager="alice", now=0)
    assert live.to_dict()["metadata"]["managedFields"][0]["time"] == "1970-01-01T00:00:00Z"
    [owner] = live.owners()
    assert (owner.manager, owner.operation, owner.subresource) == ("alice", "Apply", "")
    assert ".spec.size" in owner.paths
    config = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: hello, namespace: default}\nspec: {size: 2}\n"
    with pytest.raises(kubeshape.RequestError) as raised:
        widgets.apply(live, kubeshape.Object.read(config, name="b.yaml"), manager="bob")
    error = raised.value
    assert (error.status, error.reason) == (409, "Conflict")
    [conflict] = error.conflicts
    assert (conflict.manager, conflict.path, conflict.live, conflict.new) == ("alice", ".spec.size", 1, 2)
    assert (conflict.file, conflict.line, conflict.column) == ("b.yaml", 4, 14)
    after = widgets.apply(live, config, manager="bob", force=True)
    assert after.to_dict()["spec"] == {"note": "a", "size": 2}
    mine = widgets.extract(after, "bob")
    assert mine is not None
    assert mine.to_dict()["spec"] == {"size": 2}
    assert widgets.extract(after, "carol") is None


def test_requests_that_a_server_refuses_raise_its_message(widgets: kubeshape.Api) -> None:
    with pytest.raises(
        kubeshape.RequestError, match=r"\.spec\.seize: field not declared in schema"
    ) as raised:
        widgets.apply(None, {**widget(1), "spec": {"seize": 1}}, manager="alice")
    assert [finding.code for finding in raised.value.findings] == ["KS8002"]
    with pytest.raises(kubeshape.RequestError, match='found "Gadget"') as raised:
        widgets.apply(None, {"apiVersion": "example.com/v1", "kind": "Gadget"}, manager="alice")
    assert raised.value.status == 404
    with pytest.raises(kubeshape.RequestError, match="field manager"):
        widgets.apply(None, widget(1), manager="")
    with pytest.raises(kubeshape.KubeshapeError, match="expected one"):
        widgets.apply(None, "a: 1\n---\nb: 2\n", manager="alice")


def test_create_update_and_merge(widgets: kubeshape.Api) -> None:
    live = widgets.create(widget(1), manager="kubectl")
    after = widgets.update(live, {**live.to_dict(), "spec": {"size": 2}}, manager="other")
    assert [owner.manager for owner in after.owners()] == ["kubectl", "other"]
    assert widgets.merge(widget(1, note="a"), widget(2)).to_dict()["spec"] == {"note": "a", "size": 2}


def test_objects_are_read_and_printed() -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n"
    one = kubeshape.Object.read(text)
    assert (one.api_version, one.kind, one.name, one.namespace) == ("v1", "Namespace", "a", "")
    assert one.to_yaml() == text
    assert repr(one) == '<kubeshape.Object v1 Namespace "a">'
    assert one == kubeshape.Object.read(one.to_dict())
    assert hash(one) == hash(kubeshape.Object.read(one.to_json()))
    assert one != text
    both = kubeshape.Object.read_all(f"{text}---\n{text.replace('name: a', 'name: b')}")
    assert [each.name for each in both] == ["a", "b"]
    with pytest.raises(kubeshape.KubeshapeError, match="found 2 objects, expected one"):
        kubeshape.Object.read(f"{text}---\n{text}")


def test_samples_are_accepted(widgets: kubeshape.Api) -> None:
    for kind, maximal in [
        ("widget", False),
        ("widget", True),
        ("configmap", False),
        ("cronjob.batch", False),
    ]:
        assert widgets.validate(widgets.sample(kind, maximal=maximal)), kind
    with pytest.raises(
        kubeshape.KubeshapeError, match='no schema has the kind "widgte"; did you mean `widget`?'
    ):
        widgets.sample("widgte")


def test_explain_is_that_of_kubectl(widgets: kubeshape.Api) -> None:
    page = widgets.explain("wd.spec.note")
    assert page.startswith(
        "GROUP:      example.com\nKIND:       Widget\nVERSION:    v1\n\nFIELD: note <string>"
    )
    assert "limits" in widgets.explain("deployment.spec.template.spec.containers", recursive=True)
    with pytest.raises(kubeshape.KubeshapeError, match='field "nott" does not exist'):
        widgets.explain("wd.spec.nott")
