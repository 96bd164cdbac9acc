"""`kubeshape.spark`, with Spark on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubeshape
import pytest

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

from kubeshape import spark as ks  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

GOOD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
BAD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield session
    session.stop()


def test_answers_are_columns_that_parquet_keeps(spark: Any, demo: Path, tmp_path: Path) -> None:
    widget = (demo / "widget.yaml").read_text()
    rows = [("a", widget), ("b", BAD), ("c", "a: ["), ("d", None), ("e", GOOD)]
    df = spark.createDataFrame(rows, "path string, yaml string").repartition(3)
    answers = ks.validate(df, schemas=[demo / "widgets.yaml"], name="path")
    answers.write.parquet(str(tmp_path / "answers"))
    read = spark.read.parquet(str(tmp_path / "answers"))
    made = {row["path"]: row["kubeshape"] for row in read.collect()}
    assert {path: answer["verdict"] for path, answer in made.items()} == {
        "a": "accepted",
        "b": "refused",
        "c": "refused",
        "d": None,
        "e": "accepted",
    }
    [finding] = made["b"]["findings"]
    expected = kubeshape.validate(BAD, name="b").findings[0]
    assert finding.asDict() == {key: getattr(expected, key) for key in finding.asDict()}


def test_definitions(spark: Any, demo: Path) -> None:
    old, new = (demo / "widgets.yaml").read_text(), (demo / "widgets-next.yaml").read_text()
    df = spark.createDataFrame([(old, new)], "old string, new string")
    assert ks.diff(df).collect()[0]["kubeshape"]["verdict"] == "breaking"
    assert ks.check(df, column="old").collect()[0]["kubeshape"]["verdict"] == "accepted"
    [row] = ks.convert(df, ["v3", "v2"], column="old").collect()
    assert [output["shape"] for output in row["kubeshape"]["outputs"]] == ["v3", "v2"]


def test_schemas_that_cannot_be_read_are_an_error_of_the_driver(spark: Any, tmp_path: Path) -> None:
    df = spark.createDataFrame([(GOOD,)], "yaml string")
    with pytest.raises(kubeshape.KubeshapeError):
        ks.validate(df, schemas=tmp_path / "none")
