from __future__ import annotations

from pathlib import Path

import kubeshape
import pytest

DEMO = Path(__file__).parents[3] / "docs" / "demo"


@pytest.fixture(scope="session")
def demo() -> Path:
    return DEMO


@pytest.fixture(scope="session")
def widgets() -> kubeshape.Api:
    return kubeshape.Api(DEMO / "widgets.yaml")


@pytest.fixture
def api_server_schemas() -> list[Path]:
    return [DEMO / "widgets.yaml"]
