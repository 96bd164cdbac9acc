"""`validate`, `check`, `convert`, `diff`."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubeshape
import pytest

GOOD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
BAD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}"


def test_definitions_are_schemas(widgets: kubeshape.Api, demo: Path) -> None:
    assert widgets.validate(demo / "widget.yaml")
    result = widgets.validate(
        "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: a, note: 7}}"
    )
    assert not result
    assert result.verdict == "refused"
    assert [finding.path for finding in result.errors] == ["/spec/note"]
    with pytest.raises(kubeshape.KubeshapeError) as raised:
        result.raise_for_errors()
    assert raised.value.findings == result.findings
    assert "KS8101" in str(raised.value)


def test_schemas_may_be_several(demo: Path) -> None:
    gadgets = (demo / "widgets.yaml").read_text().replace("widget", "gadget").replace("Widget", "Gadget")
    api = kubeshape.Api([demo / "widgets.yaml", gadgets])
    assert {("example.com/v1", "Widget"), ("example.com/v1", "Gadget"), ("apps/v1", "Deployment")} <= set(
        api.kinds()
    )
    assert kubeshape.Api(demo, missing_schemas="skip").validate(GOOD)


def test_options_are_those_of_the_command() -> None:
    removed = "{apiVersion: policy/v1beta1, kind: PodSecurityPolicy, metadata: {name: a}}"
    assert kubeshape.validate(removed).verdict == "refused"
    assert kubeshape.validate(removed, missing_schemas="skip").verdict == "not judged"
    assert kubeshape.validate(BAD, field_validation="ignore").verdict == "accepted"
    [warning] = kubeshape.validate(BAD, field_validation="warn").findings
    assert warning.severity == "warning"
    with pytest.raises(ValueError, match="1.99"):
        kubeshape.Api(kubernetes="1.99")
    with pytest.raises(ValueError, match='strict, warn or ignore, found "loose"'):
        kubeshape.Api(field_validation="loose")  # type: ignore[arg-type]


def test_a_schema_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(kubeshape.KubeshapeError) as raised:
        kubeshape.Api("kind: [")
    assert raised.value.findings[0].line == 1
    with pytest.raises(kubeshape.KubeshapeError, match="neither a CustomResourceDefinition"):
        kubeshape.Api(tmp_path)


def test_many_answers_come_in_order() -> None:
    api = kubeshape.Api()

    def sources() -> Iterator[str | tuple[str, str]]:
        for number in range(5_000):
            if number % 7 == 0:
                yield f"{number}.yaml", BAD
            else:
                yield GOOD

    results = list(api.validate_many(sources(), threads=3))
    assert len(results) == 5_000
    for number, result in enumerate(results):
        assert bool(result) == (number % 7 != 0)
        if not result:
            assert result.findings[0].file == f"{number}.yaml"


def test_a_bad_row_ends_nothing(tmp_path: Path) -> None:
    rows: list[str | bytes | Path] = [
        GOOD,
        "",
        "a: [",
        "deployment.yaml",
        b"\xff\xfe",
        tmp_path / "none.yaml",
        "\x00",
        GOOD,
    ]
    verdicts = [result.verdict for result in kubeshape.Api().validate_many(rows)]
    assert verdicts == ["accepted", *["refused"] * 6, "accepted"]


def test_inputs_are_read_as_they_are_needed() -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield GOOD

    results = kubeshape.Api().validate_many(endless())
    for _ in range(2_000):
        assert next(results)
    assert read <= 4_096


def test_an_error_of_the_caller_is_raised() -> None:
    def broken() -> Iterator[str]:
        yield GOOD
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(kubeshape.Api().validate_many(broken()))
    with pytest.raises(TypeError):
        list(kubeshape.Api().validate_many([7]))  # type: ignore[list-item]


def test_one_input_is_not_several() -> None:
    one: list[tuple[Any, str]] = [(GOOD, "str"), (GOOD.encode(), "bytes"), ({"kind": "ConfigMap"}, "dict")]
    for source, found in one:
        with pytest.raises(TypeError, match=f"expected several inputs, such as a list, found one: {found}"):
            kubeshape.Api().validate_many(source)
    with pytest.raises(TypeError, match="not iterable"):
        kubeshape.Api().validate_many(Path("a.yaml"))  # type: ignore[arg-type]


def test_threads_share_an_api(widgets: kubeshape.Api, demo: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: widgets.validate(demo / "widget.yaml"), range(200)))


def in_child(api: kubeshape.Api) -> None:
    good = bool(api.validate(GOOD)) and all(api.validate_many([GOOD] * 100))
    os._exit(0 if good else 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_api_works_after_a_fork() -> None:
    api = kubeshape.Api()
    assert all(api.validate_many([GOOD] * 100))
    child = multiprocessing.get_context("fork").Process(target=in_child, args=(api,))
    child.start()
    child.join(60)
    assert child.exitcode == 0


def test_results_can_be_sent_to_other_processes() -> None:
    result = kubeshape.validate(BAD)
    assert pickle.loads(pickle.dumps(result)) == result
    error = pickle.loads(pickle.dumps(kubeshape.RequestError("m", result.findings, 409, "Conflict", ())))
    assert (str(error), error.status, error.findings) == ("m", 409, result.findings)


def test_an_api_can_be_sent_to_other_processes(demo: Path, tmp_path: Path) -> None:
    definition, more = (demo / "widgets.yaml").read_text(), tmp_path / "more.yaml"
    more.write_text(definition.replace("widget", "gadget").replace("Widget", "Gadget"))
    api = kubeshape.Api(
        [definition, more], kubernetes="1.30", field_validation="warn", missing_schemas="skip"
    )
    sent = pickle.dumps(api)
    # The other process may have no such file.
    more.unlink()
    received = pickle.loads(sent)
    assert received.kinds() == pickle.loads(pickle.dumps(received)).kinds()
    assert {("example.com/v1", "Widget"), ("example.com/v1", "Gadget")} <= set(received.kinds())
    for source in [
        BAD,
        "{apiVersion: a/v1, kind: A, metadata: {name: a}}",
        GOOD.replace("v1", "flowcontrol/v1"),
    ]:
        assert received.validate(source) == api.validate(source)
    # A file that is gone cannot be sent.
    with pytest.raises(kubeshape.KubeshapeError):
        pickle.dumps(api)


def test_check_names_the_releases(demo: Path) -> None:
    assert kubeshape.check(demo / "widgets.yaml", kubernetes="1.28..1.37").verdict == "accepted"
    broken = (demo / "widgets.yaml").read_text().replace("scope: Namespaced", "scope: Everywhere")
    result = kubeshape.check(broken, name="widgets.yaml")
    assert result.verdict == "refused"
    assert (result.errors[0].file, result.errors[0].line) == ("widgets.yaml", 7)
    assert kubeshape.check(GOOD).verdict == "nothing"
    with pytest.raises(ValueError, match="kubernetes|release|1.2"):
        kubeshape.check(GOOD, kubernetes="1.2")


def test_convert_makes_all_shapes(demo: Path) -> None:
    result = kubeshape.convert(demo / "widgets.yaml", ["v3", "smd"])
    assert [(output.resource, output.version, output.shape) for output in result.outputs] == [
        ("widgets.example.com", "v1", "v3"),
        ("widgets.example.com", "", "smd"),
    ]
    assert str(result.outputs[0]).startswith('{"openapi":"3.0.0"')
    with pytest.raises(ValueError, match="expected one of v3, v2, smd"):
        kubeshape.convert(demo / "widgets.yaml", "v4")  # type: ignore[arg-type]


def test_diff_gives_the_worst_class(demo: Path) -> None:
    old, new = demo / "widgets.yaml", demo / "widgets-next.yaml"
    result = kubeshape.diff(old, new)
    assert result.verdict == "breaking"
    assert result.outputs[0].resource == "widgets.example.com"
    assert kubeshape.diff(old, old).verdict == "same"
