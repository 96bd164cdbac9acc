"""The examples of the package."""

from __future__ import annotations

import doctest
import importlib

import kubeshape
import pytest


@pytest.mark.parametrize("name", ["kubeshape", "kubeshape._types", "kubeshape.arrow", "kubeshape.testing"])
def test_examples_are_right(name: str) -> None:
    if name == "kubeshape.arrow":
        pytest.importorskip("pyarrow")
    failed, run = doctest.testmod(importlib.import_module(name), extraglobs={"kubeshape": kubeshape})
    assert run > 0
    assert failed == 0
