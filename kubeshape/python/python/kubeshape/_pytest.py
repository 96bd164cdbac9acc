"""The fixtures of kubeshape. pytest finds them by the entry point of the package."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import pytest

from .testing import ApiServer


@pytest.fixture
def api_server_schemas() -> Iterable[str | os.PathLike[str]]:
    """Files and folders with CustomResourceDefinitions for `api_server`. Override it in a test file or `conftest.py`."""
    return ()


@pytest.fixture
def api_server(api_server_schemas: Iterable[str | os.PathLike[str]]) -> Iterator[ApiServer]:
    """An API server of its own for each test."""
    with ApiServer(api_server_schemas) as server:
        yield server
