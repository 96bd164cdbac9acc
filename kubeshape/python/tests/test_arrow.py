"""`kubeshape.arrow`, and engines that have Arrow."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import kubeshape
import pytest

pyarrow = pytest.importorskip("pyarrow")

from kubeshape import arrow  # noqa: E402

GOOD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
BAD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}"
TEXTS = [GOOD, BAD, "", "a: [", None, "\x00"]
VERDICTS = ["accepted", "refused", "refused", "refused", None, "refused"]


def verdicts(rows: Any) -> list[str | None]:
    return [answer["verdict"] for answer in rows["kubeshape"].to_pylist()]


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]
)
def test_all_columns_of_texts_are_read(kind: str) -> None:
    texts = pyarrow.array(TEXTS).cast(kind.replace("_view", "")).cast(getattr(pyarrow, kind)())
    batch = pyarrow.record_batch({"yaml": texts})
    answered = arrow.validate(batch)
    assert verdicts(answered) == VERDICTS
    # A slice begins within the buffers.
    assert verdicts(arrow.validate(batch.slice(1, 3))) == VERDICTS[1:4]
    assert answered.column("yaml").equals(texts)
    answered.validate(full=True)


def test_a_finding_has_its_place() -> None:
    batch = pyarrow.record_batch({"path": ["a.yaml", None], "yaml": [BAD, BAD]})
    named, unnamed = arrow.validate(batch, name="path")["kubeshape"].to_pylist()
    finding = named["findings"][0]
    expected = kubeshape.validate(BAD, name="a.yaml").findings[0]
    assert finding == {key: getattr(expected, key) for key in finding}
    assert unnamed["findings"][0]["file"] is None
    assert arrow.RESULT == arrow.validate(batch).schema.field("kubeshape").type


def test_an_api_is_shared(widgets: kubeshape.Api, demo: Path) -> None:
    table = pyarrow.table({"yaml": [(demo / "widget.yaml").read_text(), GOOD] * 500})
    answered = arrow.validate(table, schemas=widgets, threads=2)
    assert verdicts(answered) == ["accepted"] * 1_000
    assert answered.schema.names == ["yaml", "kubeshape"]
    assert arrow.validate(table.slice(0, 0)).num_rows == 0


def test_definitions_are_checked_converted_and_compared(demo: Path) -> None:
    old, new = (demo / "widgets.yaml").read_text(), (demo / "widgets-next.yaml").read_text()
    batch = pyarrow.record_batch({"yaml": [old, GOOD]})
    assert verdicts(arrow.check(batch, kubernetes="1.30..1.37")) == ["accepted", "nothing"]
    converted = arrow.convert(batch, ["v3", "smd"])
    assert verdicts(converted) == ["converted", "nothing"]
    assert [output["shape"] for output in converted["kubeshape"][0].as_py()["outputs"]] == ["v3", "smd"]
    changes = pyarrow.record_batch({"old": [old, old], "new": [new, old]})
    assert verdicts(arrow.diff(changes)) == ["breaking", "same"]


def test_wrong_columns_are_errors() -> None:
    batch = pyarrow.record_batch({"text": [GOOD], "size": [1]})
    with pytest.raises(KeyError, match="there is no column"):
        arrow.validate(batch)
    with pytest.raises(TypeError, match="expected strings or bytes, found Int64"):
        arrow.validate(batch, column="size")
    with pytest.raises(ValueError, match='there is a column "text" already'):
        arrow.validate(batch, column="text", result="text")


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"yaml": TEXTS})
    answered = polars.from_arrow(arrow.validate(frame.to_arrow()))
    assert answered["kubeshape"].struct.field("verdict").to_list() == VERDICTS


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = pyarrow.table({"yaml": TEXTS})
    database = duckdb.connect()
    database.register("answers", arrow.validate(rows))
    query = "select kubeshape.verdict, count(*) from answers group by all order by all"
    assert database.execute(query).fetchall() == [("accepted", 1), ("refused", 4), (None, 1)]


def test_ray_data(widgets: kubeshape.Api, demo: Path) -> None:
    ray = pytest.importorskip("ray", reason="not checked: Ray Data (ray is not installed)")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        texts = [text for text in TEXTS if text is not None] + [(demo / "widget.yaml").read_text()]
        rows = ray.data.from_arrow(
            pyarrow.table({"row": list(range(len(texts))), "yaml": texts})
        ).repartition(2)
        judge = functools.partial(arrow.validate, schemas=widgets, threads=1)
        answers = rows.map_batches(judge, batch_format="pyarrow").take_all()
    finally:
        ray.shutdown()
    found = [answer["kubeshape"]["verdict"] for answer in sorted(answers, key=lambda answer: answer["row"])]
    assert found == ["accepted", "refused", "refused", "refused", "refused", "accepted"]
