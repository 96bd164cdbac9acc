from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, final

from ._types import Finding, Output, Owner, Result

_Source = str | bytes | bytearray | PathLike[str] | Mapping[str, Any] | Object
_Schemas = _Source | Sequence[_Source | tuple[str, _Source]] | None

@final
class Api:
    """The kinds of Kubernetes, and those of CustomResourceDefinitions and OpenAPI documents."""

    def __new__(
        cls,
        schemas: _Schemas = None,
        *,
        kubernetes: str | None = None,
        field_validation: Literal["strict", "warn", "ignore"] = "strict",
        missing_schemas: Literal["error", "warn", "skip"] = "error",
    ) -> Api: ...
    def validate(self, source: _Source, *, name: str | None = None) -> Result:
        """What a server says of the objects of an input."""
    def validate_many(
        self, sources: Iterable[_Source | tuple[str, _Source]], *, threads: int | None = None
    ) -> Iterator[Result]:
        """The same of many inputs, with several threads. The answers come in the order of the inputs."""
    def kinds(self) -> list[tuple[str, str]]:
        """The kinds as tuples of `apiVersion` and `kind`."""
    def apply(
        self,
        live: _Source | None,
        config: _Source,
        *,
        manager: str,
        force: bool = False,
        subresource: str = "",
        now: float | None = None,
    ) -> Object:
        """Server-side apply: the object afterwards. `now` is in seconds since 1970."""
    def create(self, new: _Source, *, manager: str, now: float | None = None) -> Object:
        """Create: the object as it is stored."""
    def update(
        self, live: _Source, new: _Source, *, manager: str, subresource: str = "", now: float | None = None
    ) -> Object:
        """Update: the object afterwards."""
    def merge(self, live: _Source, config: _Source) -> Object:
        """One object merged into another, without owners."""
    def extract(self, object: _Source, manager: str, *, subresource: str = "") -> Object | None:
        """What a manager applied, as far as the object still has it."""
    def sample(self, kind: str, *, api_version: str | None = None, maximal: bool = False) -> Object:
        """A sample of a kind."""
    def explain(self, field: str, *, api_version: str | None = None, recursive: bool = False) -> str:
        """What `kubectl explain` says of a kind or a field."""

@final
class Object:
    """An object of Kubernetes. It cannot be changed."""

    @staticmethod
    def read(source: _Source, *, name: str | None = None) -> Object:
        """Reads the only object of an input."""
    @staticmethod
    def read_all(source: _Source, *, name: str | None = None) -> list[Object]:
        """Reads all objects of an input, those of lists included."""
    @property
    def api_version(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_yaml(self) -> str: ...
    def owners(self) -> tuple[Owner, ...]:
        """Who owns which fields."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Crd:
    """A CustomResourceDefinition. It cannot be changed."""

    @staticmethod
    def read(source: _Source, *, name: str | None = None) -> Crd:
        """Reads the only CustomResourceDefinition of an input."""
    @staticmethod
    def read_all(source: _Source, *, name: str | None = None) -> list[Crd]:
        """Reads all CustomResourceDefinitions of an input."""
    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def versions(self) -> tuple[str, ...]:
        """The names of the versions, served or not."""
    @property
    def findings(self) -> tuple[Finding, ...]:
        """Warnings about the text."""
    def v3(self, version: str) -> Output:
        """The OpenAPI v3 document of a version."""
    def v2(self, version: str) -> Output:
        """The OpenAPI v2 document of a version."""
    def json_schema(self, version: str) -> Output:
        """The JSON Schema of the objects of a version."""
    def structural(self, version: str) -> Output:
        """The structural schema of a version."""
    def smd(self) -> Output:
        """The structured-merge-diff schema of all versions."""

@final
class Document:
    """An OpenAPI document of either dialect. It cannot be changed."""

    @staticmethod
    def read(source: _Source, *, name: str | None = None) -> Document:
        """Reads the only OpenAPI document of an input."""
    @property
    def dialect(self) -> Literal["v2", "v3"]: ...
    def v3(self) -> Output:
        """The document in OpenAPI v3."""
    def v2(self) -> Output:
        """The document in OpenAPI v2."""
    def smd(self) -> Output:
        """The structured-merge-diff schema of its kinds."""
    def json_schemas(self) -> tuple[Output, ...]:
        """A JSON Schema per kind."""

@final
class Batches:
    """What is done with the rows of record batches."""

    def __new__(
        cls,
        column: str,
        *,
        name: str | None = None,
        api: Api | None = None,
        check: tuple[str | None, bool] | None = None,
        convert: str | None = None,
        old: str | None = None,
        threads: int = 0,
    ) -> Batches: ...
    @staticmethod
    def schema() -> Any: ...
    def answer(self, batch: Any, result: str, most: int = ...) -> Any: ...

def read_files(schemas: _Schemas) -> list[tuple[str, bytes]]: ...
def check(
    source: _Source, *, kubernetes: str | None = None, advice: bool = False, name: str | None = None
) -> Result:
    """Says on which releases CustomResourceDefinitions install: `kubeshape check`."""

def diff(old: _Source, new: _Source, *, name: str | None = None) -> Result:
    """Compares CustomResourceDefinitions: `kubeshape diff`. The verdict is the worst class of all changes."""

def convert(source: _Source, to: str, *, name: str | None = None) -> Result: ...
def upgrade(
    old: _Source | Crd,
    new: _Source | Crd,
    *,
    stored: list[str] = ...,
    objects: list[_Source] = ...,
    kubernetes: str | None = None,
) -> tuple[str, bool, dict[str, Any]]: ...
def main(arguments: list[str]) -> int: ...
