"""Finds the APIs that a release of Kubernetes removed and that manifests still use, with Spark.

    pip install "kubeshape[spark]" matplotlib
    python removed_apis.py --out removed REPOSITORY...

Each REPOSITORY is a folder, such as a clone or an unpacked Go module. The steps are functions, in this order:

1. `collect` writes the manifests of the folders to `removed/manifests.parquet`. With `--rows`, it repeats them until
   there are so many rows.
2. `validate` judges every row, and writes `removed/answers.parquet`.
3. `report` writes `removed/removed-apis.csv`: file, line, and what to use instead.
4. `plot` draws `removed/findings.png`: findings by code and kind.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import kubeshape.spark

REMOVED = "KS8326"
"""The code of a warning about an API that the release does not serve any more."""
ROWS_PER_FILE = 5_000
"""Rows of a Parquet file, so also of a partition: repeated manifests are so small in Parquet that Spark would put all of
them into one."""
SCHEMA = pyarrow.schema(
    [("manifest", pyarrow.string()), ("copy", pyarrow.int32()), ("yaml", pyarrow.string())]
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", type=Path, nargs="+", metavar="REPOSITORY")
    parser.add_argument(
        "--out", type=Path, default=Path("removed"), help="folder of the results (%(default)s)"
    )
    parser.add_argument(
        "--rows", type=int, default=0, help="repeat the manifests until there are so many rows"
    )
    parser.add_argument("--kubernetes", default="1.37", help="release (%(default)s)")
    parser.add_argument(
        "--schemas", type=Path, action="append", help="CustomResourceDefinitions; may be repeated"
    )
    parser.add_argument("--master", default="local[*]", help="where Spark runs (%(default)s)")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    begin = time.perf_counter()
    count = collect(arguments.repositories, arguments.out / "manifests.parquet", arguments.rows)
    print(f"{count} manifests collected in {time.perf_counter() - begin:.1f} s")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(arguments.master).config("spark.ui.enabled", "false")
    # A partition for each file.
    builder = builder.config("spark.sql.files.openCostInBytes", 128 << 20)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    begin = time.perf_counter()
    validate(spark, arguments.out, arguments.kubernetes, arguments.schemas)
    seconds = time.perf_counter() - begin
    print(f"judged in {seconds:.1f} s, {count / seconds:.0f} rows per second")
    report(spark, arguments.out)
    plot(spark, arguments.out)
    spark.stop()


def manifests(repositories: list[Path]) -> Iterator[tuple[str, str]]:
    """The files that have objects of Kubernetes, with their names."""
    for repository in repositories:
        for file in sorted(repository.rglob("*")):
            if file.suffix not in (".yaml", ".yml", ".json") or not file.is_file():
                continue
            text = file.read_bytes().decode(errors="replace")
            # Templates of Helm are no YAML before they are rendered.
            if "apiVersion" in text and "kind" in text and "{{" not in text:
                yield str(Path(repository.name) / file.relative_to(repository)), text


def collect(repositories: list[Path], to: Path, rows: int) -> int:
    """Writes the manifests to a folder of Parquet files. Returns how many rows there are."""
    found = list(manifests(repositories))
    if not found:
        sys.exit("no manifest in " + ", ".join(map(str, repositories)))
    to.mkdir(exist_ok=True)
    for old in to.glob("*.parquet"):
        old.unlink()
    count = max(rows, len(found))
    repeated = ((path, copy, text) for copy in itertools.count() for path, text in found)
    for at, start in enumerate(range(0, count, ROWS_PER_FILE)):
        portion = itertools.islice(repeated, min(ROWS_PER_FILE, count - start))
        columns = [list(column) for column in zip(*portion)]
        pyarrow.parquet.write_table(pyarrow.table(columns, schema=SCHEMA), to / f"{at:05}.parquet")
    return count


def validate(spark: SparkSession, out: Path, kubernetes: str, schemas: list[Path] | None = None) -> None:
    """Judges the manifests. Kinds without a schema are skipped: a removed API is found all the same."""
    rows = spark.read.parquet(str(out / "manifests.parquet"))
    answers = kubeshape.spark.validate(
        rows,
        schemas=schemas,
        name="manifest",
        keep=["manifest", "copy"],
        kubernetes=kubernetes,
        missing_schemas="skip",
    )
    answers.select("manifest", "copy", "kubeshape.verdict", "kubeshape.findings").write.mode(
        "overwrite"
    ).parquet(str(out / "answers.parquet"))


def findings(spark: SparkSession, out: Path) -> Any:
    """One row for each finding."""
    answers = spark.read.parquet(str(out / "answers.parquet"))
    return answers.select("manifest", "copy", f.explode("findings").alias("finding")).select(
        "manifest", "copy", "finding.*"
    )


def report(spark: SparkSession, out: Path) -> None:
    """Which removed APIs are in use, by file and line."""
    removed = findings(spark, out).where((f.col("code") == REMOVED) & (f.col("copy") == 0))
    found = removed.select("manifest", "line", "message").distinct().orderBy("manifest", "line").collect()
    with (out / "removed-apis.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "line", "what"])
        for row in found:
            table.writerow([row["manifest"], row["line"], row["message"].partition(": ")[2]])
            print(f"{row['manifest']}:{row['line']}: {row['message'].partition(': ')[2]}")
    print(f"{len(found)} uses of removed APIs: {out / 'removed-apis.csv'}")


def plot(spark: SparkSession, out: Path) -> None:
    """Findings by code and kind. Rare kinds are one colour."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # The name of an object begins with its kind.
    kind = f.coalesce(f.split("resource", " ")[0], f.lit("none"))
    counts = {
        (row["code"], row["kind"]): row["count"]
        for row in findings(spark, out).groupBy("code", kind.alias("kind")).count().collect()
    }
    codes = sorted({code for code, _ in counts}, key=lambda code: -_total(counts, 0, code))[:15]
    kinds = sorted({kind for _, kind in counts}, key=lambda kind: -_total(counts, 1, kind))
    shown, rare = kinds[:9], kinds[9:]
    figure, axes = pyplot.subplots(figsize=(10, 6), layout="constrained")
    left = [0] * len(codes)
    for name, group in [*((kind, [kind]) for kind in shown), *([("other kinds", rare)] if rare else [])]:
        widths = [sum(counts.get((code, kind), 0) for kind in group) for code in codes]
        axes.barh(codes, widths, left=left, label=name)
        left = [a + b for a, b in zip(left, widths)]
    axes.invert_yaxis()
    axes.set_xlabel("findings")
    axes.legend(title="kind", loc="lower right")
    figure.savefig(out / "findings.png", dpi=150)
    print(f"findings by code and kind: {out / 'findings.png'}")


def _total(counts: dict[tuple[str, str], int], at: int, name: str) -> int:
    return sum(count for key, count in counts.items() if key[at] == name)


if __name__ == "__main__":
    main()
