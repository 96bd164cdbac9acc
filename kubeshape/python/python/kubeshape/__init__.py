"""kubeshape: what a Kubernetes API server makes of definitions and objects, without a cluster.

A source is YAML or JSON as `str` or `bytes`, a file as a `pathlib.Path`, a `dict`, or an `Object`. A `str` is never the
name of a file.

>>> import kubeshape
>>> result = kubeshape.validate("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 0}]}}")
>>> result.verdict, bool(result), result.findings[0].code, result.findings[0].path
('refused', False, 'KS8101', '/spec/ports/0/port')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Union

from . import _native
from ._native import Api, Crd, Document, Object, check, diff
from ._types import Conflict, Finding, KubeshapeError, Output, Owner, Plan, RequestError, Result

__all__ = [
    "Api",
    "Conflict",
    "Crd",
    "Document",
    "Finding",
    "KubeshapeError",
    "Object",
    "Output",
    "Owner",
    "Plan",
    "RequestError",
    "Result",
    "Schemas",
    "Shape",
    "Source",
    "apply",
    "check",
    "convert",
    "diff",
    "explain",
    "sample",
    "upgrade",
    "validate",
]

Source = Union[str, bytes, bytearray, "PathLike[str]", Mapping[str, Any], Object]
"""YAML or JSON, a file, a dict, or an object."""
Schemas = Union[Source, Sequence[Union[Source, tuple[str, Source]]], None]
"""CustomResourceDefinitions and OpenAPI documents, also with names; a path may be a folder."""
Shape = Literal["v3", "v2", "smd", "jsonschema", "structural"]


def validate(
    source: Source,
    *,
    schemas: Schemas = None,
    kubernetes: str | None = None,
    field_validation: Literal["strict", "warn", "ignore"] = "strict",
    missing_schemas: Literal["error", "warn", "skip"] = "error",
    name: str | None = None,
) -> Result:
    """Says what an API server would refuse: `kubeshape validate`. For several inputs, keep an `Api`.

    >>> kubeshape.validate({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}).verdict
    'accepted'
    """
    api = Api(
        schemas, kubernetes=kubernetes, field_validation=field_validation, missing_schemas=missing_schemas
    )
    return api.validate(source, name=name)


def convert(source: Source, to: Shape | Iterable[Shape] = "v3", *, name: str | None = None) -> Result:
    """Converts CustomResourceDefinitions and OpenAPI documents: `kubeshape convert`. The results are `outputs`."""
    return _native.convert(source, to if isinstance(to, str) else ",".join(to), name=name)


def apply(
    live: Source | None,
    config: Source,
    *,
    manager: str,
    schemas: Schemas = None,
    force: bool = False,
    subresource: str = "",
    now: float | None = None,
) -> Object:
    """Applies a configuration to the live object, as server-side apply does: `kubeshape apply`.

    >>> config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"size": "1"}}
    >>> live = kubeshape.apply(None, config, manager="alice")
    >>> try:
    ...     kubeshape.apply(live, {**config, "data": {"size": "2"}}, manager="bob")
    ... except kubeshape.RequestError as error:
    ...     error.status, error.conflicts[0].manager, error.conflicts[0].path
    (409, 'alice', '.data.size')
    """
    return Api(schemas).apply(live, config, manager=manager, force=force, subresource=subresource, now=now)


def sample(
    kind: str, *, schemas: Schemas = None, api_version: str | None = None, maximal: bool = False
) -> Object:
    """Returns an object of a kind that a server accepts: `kubeshape sample`.

    >>> kubeshape.sample("configmap").kind
    'ConfigMap'
    """
    return Api(schemas).sample(kind, api_version=api_version, maximal=maximal)


def explain(
    field: str, *, schemas: Schemas = None, api_version: str | None = None, recursive: bool = False
) -> str:
    """Returns what `kubectl explain` prints of a kind or a field.

    >>> "FIELD: replicas <integer>" in kubeshape.explain("deployment.spec.replicas")
    True
    """
    return Api(schemas).explain(field, api_version=api_version, recursive=recursive)


def upgrade(
    old: Source | Crd,
    new: Source | Crd,
    *,
    stored: Sequence[str] = (),
    objects: Sequence[Source] = (),
    kubernetes: str | None = None,
) -> Plan:
    """Plans the way of a cluster from one definition to another: `kubeshape upgrade`."""
    text, is_safe, data = _native.upgrade(
        old, new, stored=list(stored), objects=list(objects), kubernetes=kubernetes
    )
    return Plan(is_safe, text, data)
