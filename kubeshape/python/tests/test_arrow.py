"""`kubeshape.arrow`, and engines that have Arrow."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import kubeshape
import pytest

pyarrow = pytest.importorskip("pyarrow")

from kubeshape import arrow  # noqa: E402
from kubeshape._native import Batches  # noqa: E402

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


def test_dictionaries_are_read() -> None:
    texts = pyarrow.array(TEXTS).dictionary_encode()
    assert verdicts(arrow.validate(pyarrow.record_batch({"yaml": texts}).slice(1))) == VERDICTS[1:]
    # A text of a dictionary may be null, and a dictionary may have no text.
    of_null = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, None]), pyarrow.array([GOOD, None]))
    assert verdicts(arrow.validate(pyarrow.record_batch({"yaml": of_null}))) == ["accepted", None, None]
    empty = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([None], "int8"), pyarrow.array([], "large_binary")
    )
    assert verdicts(arrow.validate(pyarrow.record_batch({"yaml": empty}))) == [None]


def test_nulls_and_empty_batches_have_no_answers() -> None:
    nulls = pyarrow.record_batch({"yaml": pyarrow.nulls(2), "path": pyarrow.nulls(2)})
    assert verdicts(arrow.validate(nulls, name="path")) == [None, None]
    assert verdicts(arrow.diff(pyarrow.record_batch({"old": pyarrow.nulls(1), "new": [GOOD]}))) == ["same"]
    for rows in (nulls.slice(2), pyarrow.table({"yaml": pyarrow.array([], "string")})):
        answered = arrow.validate(rows)
        assert (answered.num_rows, answered.schema.field("kubeshape").type) == (0, arrow.RESULT)
    # Batches of a table may be empty, too.
    batches = [pyarrow.record_batch({"yaml": pyarrow.array(texts, "string")}) for texts in ([], [BAD], [])]
    assert verdicts(arrow.validate(pyarrow.Table.from_batches(batches))) == ["refused"]


def test_bytes_that_are_no_utf8_are_refused() -> None:
    bytes_ = pyarrow.array([b"\xff\xfe\xfd", GOOD.encode()])
    # An engine may call them a string.
    strings = pyarrow.Array.from_buffers(pyarrow.string(), 2, bytes_.buffers())
    for texts in (bytes_, strings):
        answered = arrow.validate(pyarrow.record_batch({"yaml": texts, "path": texts}), name="path")
        [bad, good] = answered["kubeshape"].to_pylist()
        assert (bad["verdict"], good["verdict"]) == ("refused", "accepted")
        assert "UTF-8" in bad["findings"][0]["message"]
        assert bad["findings"][0]["file"] == "\ufffd\ufffd\ufffd"


def test_answers_that_are_too_large_become_several_batches(demo: Path) -> None:
    text = (demo / "widgets.yaml").read_text()
    batch = pyarrow.record_batch({"row": list(range(5)), "yaml": [text] * 5})
    batches = Batches("yaml", convert="v3")
    most = len(batches.answer(batch, "kubeshape")["kubeshape"][0].as_py()["outputs"][0]["text"])
    with pytest.raises(OverflowError, match="give fewer rows at once"):
        batches.answer(batch, "kubeshape", 2 * most)
    parts = list(arrow._parts(batch, batches, "kubeshape", 2 * most))
    assert [part.num_rows for part in parts] == [2, 1, 2]
    whole = pyarrow.Table.from_batches(parts)
    assert whole.equals(arrow.convert(pyarrow.Table.from_batches([batch])).combine_chunks())
    with pytest.raises(OverflowError):
        list(arrow._parts(batch, batches, "kubeshape", most - 1))


def test_wrong_columns_are_errors() -> None:
    batch = pyarrow.record_batch(
        {
            "text": [GOOD],
            "size": [1],
            "list": [[GOOD]],
            "fixed": pyarrow.array([b"a"], pyarrow.binary(1)),
            "runs": pyarrow.RunEndEncodedArray.from_arrays([1], [GOOD]),
            "sizes": pyarrow.array([7]).dictionary_encode(),
        }
    )
    for rows in (batch, pyarrow.Table.from_batches([batch]), batch.schema.empty_table()):
        with pytest.raises(KeyError, match="there is no column .*yaml.*, but text, size"):
            arrow.validate(rows)
        with pytest.raises(TypeError, match='column "size": expected strings or bytes, found Int64'):
            arrow.validate(rows, column="size")
        with pytest.raises(ValueError, match='there is a column "text" already'):
            arrow.validate(rows, column="text", result="text")
        for column in ("list", "fixed", "runs", "sizes"):
            with pytest.raises(TypeError, match="expected strings or bytes"):
                arrow.validate(rows, column=column)
        with pytest.raises(TypeError, match="expected strings or bytes"):
            arrow.validate(rows, column="text", name="size")
    for rows in (GOOD, [GOOD], {"yaml": [GOOD]}, batch.to_struct_array(), None):
        with pytest.raises(TypeError, match="expected a pyarrow.RecordBatch or a pyarrow.Table, found"):
            arrow.validate(rows)
    with pytest.raises(KeyError, match="the batch has none"):
        arrow.validate(pyarrow.table({}))


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
