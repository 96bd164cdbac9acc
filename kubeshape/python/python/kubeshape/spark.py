"""DataFrames of Spark in and out (PySpark 4 or newer).

The functions are those of `kubeshape.arrow`, on partitions. Schemas are read on the driver and compiled once per worker.

    df = spark.read.parquet("manifests.parquet")
    answers = kubeshape.spark.validate(df, schemas=Path("crds/"), column="yaml", name="path", keep=["path"])
    answers.select("path", "kubeshape.verdict").write.parquet("answers.parquet")

`keep` names the columns that stay beside the answers; without it, all do. Texts that nobody needs afterwards are then not
sent back to Spark.
"""

# pyarrow has no types.
# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from . import Api, Schemas, Shape, arrow
from ._native import read_files

__all__ = ["check", "convert", "diff", "validate"]

Work = Callable[[pyarrow.Table], pyarrow.Table]


def validate(
    df: DataFrame,
    *,
    schemas: Schemas = None,
    column: str = "yaml",
    name: str | None = None,
    result: str = "kubeshape",
    keep: Iterable[str] | None = None,
    **options: Any,
) -> DataFrame:
    """Says of each row what an API server would refuse. `options` are those of `Api`."""
    given = tuple(read_files(schemas))
    chosen = tuple(sorted(options.items()))

    def work() -> Work:
        api = _api(given, chosen)
        return functools.partial(
            arrow.validate, schemas=api, column=column, name=name, result=result, threads=1
        )

    return _map(df, work, [column, name], result, keep)


def check(
    df: DataFrame,
    *,
    kubernetes: str | None = None,
    advice: bool = False,
    column: str = "yaml",
    name: str | None = None,
    result: str = "kubeshape",
    keep: Iterable[str] | None = None,
) -> DataFrame:
    """Says of each row on which releases its CustomResourceDefinitions install."""

    def work() -> Work:
        return functools.partial(
            arrow.check,
            kubernetes=kubernetes,
            advice=advice,
            column=column,
            name=name,
            result=result,
            threads=1,
        )

    return _map(df, work, [column, name], result, keep)


def convert(
    df: DataFrame,
    to: Shape | Iterable[Shape] = "v3",
    *,
    column: str = "yaml",
    name: str | None = None,
    result: str = "kubeshape",
    keep: Iterable[str] | None = None,
) -> DataFrame:
    """Converts the CustomResourceDefinitions and OpenAPI documents of each row."""
    shapes: Any = to if isinstance(to, str) else list(to)

    def work() -> Work:
        return functools.partial(arrow.convert, to=shapes, column=column, name=name, result=result, threads=1)

    return _map(df, work, [column, name], result, keep)


def diff(
    df: DataFrame,
    *,
    old: str = "old",
    column: str = "new",
    name: str | None = None,
    result: str = "kubeshape",
    keep: Iterable[str] | None = None,
) -> DataFrame:
    """Compares the definitions in the column `old` with those in `column`."""

    def work() -> Work:
        return functools.partial(arrow.diff, old=old, column=column, name=name, result=result, threads=1)

    return _map(df, work, [old, column, name], result, keep)


@functools.lru_cache(maxsize=4)
def _api(schemas: tuple[tuple[str, bytes], ...], options: tuple[tuple[str, Any], ...]) -> Api:
    """The schemas of a task, which the next task of this worker finds here."""
    return Api(list(schemas), **dict(options))


def _map(
    df: DataFrame, work: Callable[[], Work], read: list[str | None], result: str, keep: Iterable[str] | None
) -> DataFrame:
    kept = df.columns if keep is None else [keep] if isinstance(keep, str) else list(dict.fromkeys(keep))
    if result.casefold() in map(str.casefold, kept):
        raise ValueError(f"there is a column {result!r} already")
    if keep is not None:
        needed = dict.fromkeys([*kept, *(column for column in read if column is not None)])
        for column in needed:
            if column not in df.columns:
                raise KeyError(f"there is no column {column!r}, but {', '.join(df.columns)}")
        df = df.select(*map(_quoted, needed))
    # Wrong columns, schemas and options are errors here, not ones of each task.
    work()(df.limit(0).toArrow())

    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        answer = work()
        for batch in batches:
            # Answers that are too large for a batch become several.
            answers = answer(pyarrow.Table.from_batches([batch]))
            yield from (answers if keep is None else answers.select([*kept, result])).to_batches()

    added = cast(StructType, StructType.fromDDL(f"{_quoted(result)} {_sql(arrow.RESULT)}"))
    columns = [df.schema[column] for column in kept] if keep is not None else df.schema.fields
    return df.mapInArrow(run, StructType([*columns, *added.fields]))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _sql(kind: pyarrow.DataType) -> str:
    """The type in the words of Spark."""
    if pyarrow.types.is_struct(kind):
        fields = (kind.field(at) for at in range(kind.num_fields))
        return f"struct<{', '.join(f'{_quoted(field.name)}: {_sql(field.type)}' for field in fields)}>"
    if pyarrow.types.is_list(kind):
        return f"array<{_sql(kind.value_type)}>"
    return {"string": "string", "int32": "int"}[str(kind)]
