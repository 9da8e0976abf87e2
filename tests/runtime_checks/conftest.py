"""The command's runs on the ``CASES`` of a module of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .command_runs import Ran, Runs, running


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """The run of each case that a selected test of the module has as its ``name``."""
    with running(request.module.CASES, request, tmp_path_factory) as begun:
        yield begun


@pytest.fixture
def ran(name: str, runs: Runs) -> Ran:
    """The run of the test's own case."""
    return runs(name)
