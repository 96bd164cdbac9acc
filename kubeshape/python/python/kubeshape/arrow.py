"""Columns of Arrow in and out: the functions for batches, on any engine that has Arrow.

Each function returns the batch with a column behind its own: a struct of `verdict`, `findings` and `outputs`, whose members are
those of `Result`. Strings are read where they are. A row without a text has no verdict, and a bad row is one that is refused.

>>> import pyarrow, kubeshape.arrow
>>> batch = pyarrow.record_batch({"yaml": ["{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}", "", None]})
>>> [(answer["verdict"], len(answer["findings"])) for answer in kubeshape.arrow.validate(batch)["kubeshape"].to_pylist()]
[('refused', 1), ('refused', 1), (None, 0)]
"""

# pyarrow has no types.
# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import pyarrow

from . import Api, Schemas, Shape
from ._native import Batches

__all__ = ["RESULT", "check", "convert", "diff", "validate"]

Rows = TypeVar("Rows", pyarrow.RecordBatch, pyarrow.Table)

RESULT: pyarrow.DataType = pyarrow.struct(Batches.schema())
"""The type of the column of answers."""
MOST = 2**31 - 1
"""Bytes that the strings of a column may have: Arrow counts them with 31 bits."""


def validate(
    rows: Rows,
    *,
    schemas: Schemas | Api = None,
    column: str = "yaml",
    name: str | None = None,
    result: str = "kubeshape",
    threads: int = 0,
    **options: Any,
) -> Rows:
    """Says of each row what an API server would refuse. `name` is the column with the names in findings.

    `schemas` may be an `Api`, which several calls can share; `options` are those of `Api`.
    """
    api = schemas if isinstance(schemas, Api) else Api(schemas, **options)
    return _answer(rows, Batches(column, name=name, api=api, threads=threads), result)


def check(
    rows: Rows,
    *,
    kubernetes: str | None = None,
    advice: bool = False,
    column: str = "yaml",
    name: str | None = None,
    result: str = "kubeshape",
    threads: int = 0,
) -> Rows:
    """Says of each row on which releases its CustomResourceDefinitions install."""
    return _answer(rows, Batches(column, name=name, check=(kubernetes, advice), threads=threads), result)


def convert(
    rows: Rows,
    to: Shape | Iterable[Shape] = "v3",
    *,
    column: str = "yaml",
    name: str | None = None,
    result: str = "kubeshape",
    threads: int = 0,
) -> Rows:
    """Converts the CustomResourceDefinitions and OpenAPI documents of each row."""
    shapes = to if isinstance(to, str) else ",".join(to)
    return _answer(rows, Batches(column, name=name, convert=shapes, threads=threads), result)


def diff(
    rows: Rows,
    *,
    old: str = "old",
    column: str = "new",
    name: str | None = None,
    result: str = "kubeshape",
    threads: int = 0,
) -> Rows:
    """Compares the definitions in the column `old` with those in `column`."""
    return _answer(rows, Batches(column, name=name, old=old, threads=threads), result)


def _answer(rows: Rows, batches: Batches, result: str) -> Rows:
    if isinstance(rows, pyarrow.RecordBatch):
        answered: pyarrow.RecordBatch = batches.answer(rows, result)
        return answered
    if isinstance(rows, pyarrow.Table):
        # A table without rows may have no batch, but its columns can be wrong.
        given = rows.to_batches() or [pyarrow.RecordBatch.from_pylist([], schema=rows.schema)]
        made = [part for batch in given for part in _parts(batch, batches, result)]
        return pyarrow.Table.from_batches(made, made[0].schema)
    found = type(rows).__name__
    raise TypeError(f"expected a pyarrow.RecordBatch or a pyarrow.Table, found {found}")


def _parts(
    batch: pyarrow.RecordBatch, batches: Batches, result: str, most: int = MOST
) -> Iterator[pyarrow.RecordBatch]:
    """The batch with its answers: several batches, if the answers are too large for one."""
    try:
        yield batches.answer(batch, result, most)
    except OverflowError:
        if batch.num_rows < 2:
            raise
        half = batch.num_rows // 2
        yield from _parts(batch.slice(0, half), batches, result, most)
        yield from _parts(batch.slice(half), batches, result, most)
