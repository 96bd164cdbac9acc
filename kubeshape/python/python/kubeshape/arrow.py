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

from collections.abc import Iterable
from typing import Any, TypeVar

import pyarrow

from . import Api, Schemas, Shape
from ._native import Batches

__all__ = ["RESULT", "check", "convert", "diff", "validate"]

Rows = TypeVar("Rows", pyarrow.RecordBatch, pyarrow.Table)

RESULT: pyarrow.DataType = pyarrow.struct(Batches.schema())
"""The type of the column of answers."""


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
    if isinstance(rows, pyarrow.Table):
        made = [_batch(batch, batches, result) for batch in rows.to_batches()]
        schema = rows.schema.append(pyarrow.field(result, RESULT))
        return pyarrow.Table.from_batches(made, schema)
    return _batch(rows, batches, result)


def _batch(batch: pyarrow.RecordBatch, batches: Batches, result: str) -> pyarrow.RecordBatch:
    answered: pyarrow.RecordBatch = batches.answer(batch, result)
    return answered
