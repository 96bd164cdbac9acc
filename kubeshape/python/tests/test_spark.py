"""`kubeshape.spark`, with Spark on this machine."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
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
    # A task that fails is tried again, as on a cluster.
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
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


def test_a_lost_worker_changes_no_answer(spark: Any, demo: Path, tmp_path: Path) -> None:
    rows = [(at, BAD if at % 3 else GOOD) for at in range(40)]
    df = spark.createDataFrame(rows, "row int, yaml string").repartition(4)
    once = tmp_path / "once"

    def lose(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if 21 in batch["row"].to_pylist() and not once.exists():
                once.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    expected = sorted(map(str, ks.validate(df).collect()))
    assert sorted(map(str, ks.validate(df.mapInArrow(lose, df.schema)).collect())) == expected
    assert once.exists()


def test_the_example_finds_removed_apis(demo: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    repository = tmp_path / "repository"
    shutil.copytree(demo, repository / "demo")
    (repository / "old.yaml").write_text(
        GOOD + "\n---\napiVersion: policy/v1beta1\nkind: PodDisruptionBudget\n"
    )
    example = Path(__file__).parents[1] / "examples" / "removed_apis.py"
    options = ["--out", "out", "--rows", "100", "--master", "local[2]"]
    command = [sys.executable, str(example), *options, "repository"]
    made = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "100 manifests collected" in made
    with (tmp_path / "out" / "removed-apis.csv").open(newline="") as file:
        [head, [manifest, line, what]] = csv.reader(file)
    assert head == ["file", "line", "what"]
    assert (manifest, line) == ("repository/old.yaml", "3")
    assert what.startswith(
        "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+"
    )
    assert (tmp_path / "out" / "findings.png").stat().st_size > 10_000


def test_mistakes_are_errors_of_the_driver(spark: Any, tmp_path: Path) -> None:
    df = spark.createDataFrame([("a", GOOD, 1)], "path string, yaml string, size int")
    with pytest.raises(kubeshape.KubeshapeError):
        ks.validate(df, schemas=tmp_path / "none")
    with pytest.raises(ValueError, match="1.99"):
        ks.validate(df, kubernetes="1.99")
    with pytest.raises(TypeError, match="kubernets"):
        ks.validate(df, kubernets="1.37")
    with pytest.raises(ValueError, match="expected one of v3, v2, smd"):
        ks.convert(df, "v4")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="there is no column .*text.*, but path, yaml, size"):
        ks.validate(df, column="text")
    with pytest.raises(TypeError, match='column "size": expected strings or bytes, found Int32'):
        ks.check(df, name="size")
    with pytest.raises(KeyError, match="old"):
        ks.diff(df, column="yaml")
    with pytest.raises(KeyError, match="there is no column 'text', but path, yaml, size"):
        ks.validate(df, keep=["path", "text"])
    with pytest.raises(KeyError, match="there is no column 'text', but path, yaml, size"):
        ks.validate(df, column="text", keep=["path"])
    # Names that differ in upper case only are one name for Spark.
    with pytest.raises(ValueError, match="there is a column 'YAML' already"):
        ks.validate(df, result="YAML")
    with pytest.raises(AttributeError):
        ks.validate("manifests.parquet")  # type: ignore[arg-type]


def test_the_text_need_not_be_kept(spark: Any) -> None:
    df = spark.createDataFrame([(1, "a.yaml", BAD, GOOD)], "`a b` int, name string, yaml string, old string")
    answers = ks.validate(df, name="name", keep=["name", "a b"])
    assert answers.columns == ["name", "a b", "kubeshape"]
    [row] = answers.collect()
    assert (row["a b"], row["name"], row["kubeshape"]["findings"][0]["file"]) == (1, "a.yaml", "a.yaml")
    assert ks.validate(df, keep=[]).columns == ["kubeshape"]
    # A column that is not kept may have the name of the answers.
    assert ks.validate(df, keep="name", result="old").columns == ["name", "old"]


def test_columns_of_any_engine(spark: Any) -> None:
    df = spark.createDataFrame([(GOOD,), (BAD,), (None,)], "yaml string").coalesce(1)
    made = {
        "bytes": df.selectExpr("cast(yaml as binary) as yaml"),
        "nulls": df.selectExpr("null as yaml"),
        "no UTF-8": df.selectExpr("concat(yaml, cast(unhex('fffefd') as string)) as yaml"),
        "no rows": df.where("false"),
        "many partitions": df.repartition(16),
    }
    found = {
        name: sorted(str(row["kubeshape"]["verdict"]) for row in ks.validate(rows).collect())
        for name, rows in made.items()
    }
    assert found == {
        "bytes": ["None", "accepted", "refused"],
        "nulls": ["None"] * 3,
        "no UTF-8": ["None", "refused", "refused"],
        "no rows": [],
        "many partitions": ["None", "accepted", "refused"],
    }


def test_a_worker_compiles_schemas_once(demo: Path) -> None:
    # Each task has its own copy of the texts.
    api = [ks._api((("a", (demo / "widgets.yaml").read_bytes()),), (("kubernetes", "1.37"),)) for _ in "ab"]
    assert api[0] is api[1]
    assert api[0] is not ks._api((("a", (demo / "widgets.yaml").read_bytes()),), ())
