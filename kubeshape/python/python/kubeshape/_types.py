"""What functions return and raise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """An error, a warning, a note or a loss, with its place.

    >>> import kubeshape
    >>> print(kubeshape.validate("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}").findings[0])
    <string>:1:56: KS8102 The object has a field that the API server refuses: unknown field "dat"
    """

    code: str
    """`KS` and four digits. `kubeshape explain-code` has a page for each."""
    severity: str
    """`error`, `warning`, `note`, or the kind of a loss: `dropped`, `widened`, `narrowed`, `renamed`, `approximated`."""
    message: str
    """What was found and what was expected."""
    file: str | None = None
    """The name of the input; None for a dict."""
    line: int | None = None
    """The line, from 1."""
    column: int | None = None
    """The column in characters, from 1."""
    path: str | None = None
    """The JSON pointer within the document: `/spec/replicas`."""
    resource: str | None = None
    """The name of the CustomResourceDefinition or the object."""
    version: str | None = None
    """The version of the CustomResourceDefinition."""
    releases: tuple[str, ...] = ()
    """The releases of Kubernetes that say it, if not all requested ones do."""
    notes: tuple[str, ...] = ()
    """What else there is to know."""
    help: str = ""
    """What to do."""

    @property
    def is_error(self) -> bool:
        """Whether it is an error."""
        return self.severity == "error"

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        return f"{':'.join(place)}: {self.code} {self.message}" if place else f"{self.code} {self.message}"


@dataclass(frozen=True, slots=True)
class Output:
    """One result of a conversion, or the class of a definition in a comparison."""

    resource: str
    """The name of the definition or kind; empty for a document."""
    version: str
    """Its version; empty if the result is for all versions."""
    shape: str
    """`v3`, `v2`, `smd`, `jsonschema`, `structural`; in a comparison `class`."""
    text: str
    """The result."""
    findings: tuple[Finding, ...] = ()
    """What the result does not say, or says in another way."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Result:
    """What came of an input. It is true if nothing is wrong with it."""

    verdict: str
    """One word: `accepted`, `refused`, `not judged`, `nothing`, `converted`; for a comparison the worst class."""
    findings: tuple[Finding, ...] = ()
    """What was found, in order."""
    outputs: tuple[Output, ...] = ()
    """What was made of the input."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.is_error)

    def __bool__(self) -> bool:
        return self.verdict != "refused" and not self.errors

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def raise_for_errors(self) -> Result:
        """Raises `KubeshapeError` if something is wrong with the input. Returns the result otherwise."""
        if not self:
            raise KubeshapeError("\n".join(map(str, self.errors)) or self.verdict, self.findings)
        return self


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that an apply would change and another manager owns."""

    manager: str
    """The other manager."""
    path: str
    """The field: `.spec.ports[number=80].name`."""
    message: str
    """`conflict with "manager"`, in the words of the server."""
    live: Any = None
    """The value of the other manager."""
    new: Any = None
    """The value that it would get."""
    file: str | None = None
    """The name of the configuration."""
    line: int | None = None
    """The line of the value in it."""
    column: int | None = None
    """The column."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns which fields of an object."""

    manager: str
    """The field manager."""
    operation: str
    """`Apply` or `Update`."""
    subresource: str
    """The subresource; empty for the object itself."""
    paths: tuple[str, ...]
    """The fields: `.spec.size`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a cluster gets from one definition to another."""

    is_safe: bool
    """Whether there is a way on which nothing is lost."""
    text: str
    """The plan for people."""
    data: dict[str, Any] = field(repr=False)
    """The plan as `kubeshape upgrade --output-format json` has it."""

    @property
    def refused(self) -> list[str]:
        """The errors of a server if the new definition is applied directly."""
        return list(self.data["refused"])

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps, in order."""
        return list(self.data["steps"])

    def __str__(self) -> str:
        return self.text


class KubeshapeError(Exception):
    """Something cannot be read, or is refused. The findings say what and where."""

    findings: tuple[Finding, ...]

    def __init__(self, message: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(message, findings)
        self.findings = findings

    def __str__(self) -> str:
        return str(self.args[0])


class RequestError(KubeshapeError):
    """A server would refuse a request. The message is the server's."""

    status: int
    """The status code of HTTP."""
    reason: str
    """The reason of the status, such as `Conflict`."""
    conflicts: tuple[Conflict, ...]
    """The fields that other managers own."""

    def __init__(
        self,
        message: str,
        findings: tuple[Finding, ...] = (),
        status: int = 500,
        reason: str = "",
        conflicts: tuple[Conflict, ...] = (),
    ) -> None:
        super().__init__(message, findings)
        self.args = (message, findings, status, reason, conflicts)
        self.status, self.reason, self.conflicts = status, reason, conflicts
