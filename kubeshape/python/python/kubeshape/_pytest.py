"""The fixtures of kubeshape. pytest finds them by the entry point of the package."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import pytest

from .testing import ApiServer, World


@pytest.fixture
def api_server_schemas() -> Iterable[str | os.PathLike[str]]:
    """Files and folders with CustomResourceDefinitions for `api_server`. Override it in a test file or `conftest.py`."""
    return ()


@pytest.fixture
def api_server(api_server_schemas: Iterable[str | os.PathLike[str]]) -> Iterator[ApiServer]:
    """An API server of its own for each test."""
    with ApiServer(api_server_schemas) as server:
        yield server


@pytest.fixture(scope="session")
def api_world_server() -> Iterator[ApiServer]:
    """The server of `api_world`. Override it to start one with definitions, or to prepare objects."""
    with ApiServer() as server:
        yield server


@pytest.fixture(scope="session")
def api_world_snapshot(api_world_server: ApiServer) -> int:
    """The state with which each `api_world` begins: what `api_world_server` has prepared."""
    return api_world_server.snapshot()


@pytest.fixture
def api_world(api_world_server: ApiServer, api_world_snapshot: int) -> Iterator[World]:
    """A world of its own for each test. All of them are in the process of one server."""
    with api_world_server.world(api_world_snapshot) as world:
        yield world
