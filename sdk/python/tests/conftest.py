"""What the tests share: where things are, and a process that is a plugin."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]


@pytest.fixture
def mcphost_binary() -> Path:
    """The host. Tests that need it fail without it: `make build` makes it."""
    path = Path(os.environ.get("MCPHOST", REPOSITORY / "bin" / "mcphost"))
    assert path.exists(), f"there is no {path}: run make build"
    return path


@pytest.fixture(scope="session")
def interpreter() -> str:
    return sys.executable
