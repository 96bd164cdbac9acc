"""What functions accept as an input."""

from __future__ import annotations

import datetime
import enum
import json
import os
import sys
from collections import OrderedDict, UserDict, defaultdict
from pathlib import Path
from typing import Any

import kubeshape
import pytest

CONFIG: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "dat": {}}
TEXT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndat: {}\n"


@pytest.mark.parametrize("source", [TEXT, TEXT.encode(), bytearray(TEXT, "utf-8")])
def test_a_finding_of_a_text_has_its_place(source: str | bytes | bytearray) -> None:
    [finding] = kubeshape.validate(source).findings
    assert (finding.code, finding.severity, finding.path) == ("KS8102", "error", "/dat")
    assert (finding.file, finding.line, finding.column) == ("<string>", 4, 1)
    assert kubeshape.validate(source, name="a.yaml").findings[0].file == "a.yaml"


def test_a_finding_of_a_file_has_its_name(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(TEXT)
    [finding] = kubeshape.validate(file).findings
    assert (finding.file, finding.line) == (str(file), 4)


@pytest.mark.parametrize("source", [CONFIG, UserDict(CONFIG)])
def test_a_finding_of_a_dict_has_a_path_and_no_place(source: Any) -> None:
    [finding] = kubeshape.validate(source).findings
    assert (finding.path, finding.file, finding.line, finding.column) == ("/dat", None, None, None)
    assert str(finding) == 'KS8102 The object has a field that the API server refuses: unknown field "dat"'
    assert kubeshape.validate(source, name="a").findings[0].file == "a"


def test_an_object_is_a_source() -> None:
    assert kubeshape.validate(kubeshape.Object.read(CONFIG)).verdict == "refused"


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(kubeshape.KubeshapeError, match="none.yaml"):
        kubeshape.validate(tmp_path / "none.yaml")
    with pytest.raises(kubeshape.KubeshapeError, match="it is not a file"):
        kubeshape.validate(tmp_path)


def test_the_name_of_a_file_is_no_text() -> None:
    with pytest.raises(ValueError, match=r"a file is pathlib.Path"):
        kubeshape.validate("deployment.yaml")
    with pytest.raises(ValueError, match=r"a file is pathlib.Path"):
        kubeshape.Api("crds/")


class Kind(str, enum.Enum):
    SERVICE = "Service"


def test_values_of_python_are_those_of_json() -> None:
    value = {
        "apiVersion": "v1",
        "kind": Kind.SERVICE,
        "metadata": {
            "name": 'ü"\\\n\x00😀',
            "creationTimestamp": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc),
        },
        "spec": {"a": (1, 2**70, -1, True, False, None, 1.0, 1e300), "b": [], "c": {}},
    }
    expected = {
        **value,
        "kind": "Service",
        "metadata": {"name": 'ü"\\\n\x00😀', "creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": {"a": [1, float(2**70), -1, True, False, None, 1.0, 1e300], "b": [], "c": {}},
    }
    made = kubeshape.Object.read(value)
    assert made.to_dict() == expected
    assert json.loads(made.to_json()) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1: 2}, "keys must be strings, found int: 1"),
        ({"a": float("nan")}, "not finite"),
        ({"a": float("-inf")}, "not finite"),
        ({"a": {1, 2}}, "JSON has no value of type set"),
        ({"a": b"b"}, "JSON has no value of type bytes"),
        ({"a": object()}, "JSON has no value of type object"),
        ({"a": 10**400}, "the integer is too large"),
        ({"a": -(10**5_000)}, "the integer is too large"),
        ({b"a": 1}, "keys must be strings, found bytes"),
        ({None: 1}, "keys must be strings, found NoneType"),
        ({"a": "\ud800"}, "surrogates not allowed"),
        (7, "expected str, bytes, a path, a dict or a kubeshape.Object, found int"),
        (None, "found NoneType"),
        ([{}], "found list"),
        (memoryview(b"a: b"), "found memoryview"),
        ("a: \ud800", "surrogates not allowed"),
    ],
)
def test_values_that_json_does_not_have_are_refused(value: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        kubeshape.validate(value)


def test_depth_is_bounded() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(ValueError, match="nested more than"):
        kubeshape.validate(deep)
    assert kubeshape.validate("a: " + "[" * 100_000).findings[0].code == "KS1002"
    cycle: dict[str, Any] = {}
    cycle["a"] = cycle
    with pytest.raises(ValueError, match="nested more than"):
        kubeshape.validate(cycle)
    within: Any = {}
    for _ in range(400):
        within = [within]
    assert kubeshape.validate({**CONFIG, "dat": within}).verdict == "refused"


def test_a_large_integer_is_a_number() -> None:
    good = {key: value for key, value in CONFIG.items() if key != "dat"}
    for number in (2**63 - 1, 2**63, -(2**200), 10**300):
        [finding] = kubeshape.validate({**good, "data": {"a": number}}).findings
        assert finding.path == "/data/a"
        assert "cannot unmarshal number" in finding.message


class Own(dict[str, Any]):
    """A class of its own may show its members in another way. Those that the dict has are read."""

    def __iter__(self) -> Any:
        raise RuntimeError("not asked")

    keys = values = items = __iter__


def test_a_class_of_its_own_is_a_dict() -> None:
    for value in (Own(CONFIG), OrderedDict(CONFIG), defaultdict(dict, CONFIG)):
        assert [finding.path for finding in kubeshape.validate(value).findings] == ["/dat"]


class Changing:
    """It changes the dict that it is in."""

    def __init__(self, within: dict[str, Any]) -> None:
        self.within = within

    def isoformat(self) -> str:
        self.within.update((str(at), at) for at in range(100))
        return "2026-01-02"


def test_a_dict_that_changes_is_read_as_it_was() -> None:
    data: dict[str, Any] = {}
    data.update(a=Changing(data), b="c")
    assert kubeshape.Object.read({**CONFIG, "data": data}).to_dict()["data"] == {"a": "2026-01-02", "b": "c"}
    items: list[Any] = ["a"]
    items.insert(0, [items])
    with pytest.raises(ValueError, match="nested more than"):
        kubeshape.validate({**CONFIG, "data": items})


class Broken(UserDict[str, Any]):
    def items(self) -> Any:
        raise LookupError("mine")


def test_an_error_of_a_value_is_raised() -> None:
    with pytest.raises(LookupError, match="mine"):
        kubeshape.validate({"a": Broken()})


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode on this system")
def test_a_path_may_be_no_utf8(tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/\xff.yaml"
    with open(file, "wb") as to:
        to.write(TEXT.encode())
    path = Path(os.fsdecode(file))
    [finding] = kubeshape.validate(path).findings
    assert finding.file == f"{tmp_path}/\ufffd.yaml"
    path.unlink()
    with pytest.raises(kubeshape.KubeshapeError, match=r"\ufffd.yaml"):
        kubeshape.validate(path)


def test_bytes_that_are_no_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: \xff\xfe\xfd")
    for source in (b"a: \xff\xfe\xfd", bytearray(b"a: \xff\xfe\xfd"), tmp_path / "a.yaml"):
        [finding] = kubeshape.validate(source).findings
        assert "UTF-8" in finding.message
        assert finding.line == 1
