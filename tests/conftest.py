"""Which tests are quick, and the interpreters that tests share."""

from __future__ import annotations

import importlib.util
import signal
from collections.abc import Iterator

import pytest

from .interpreters import Children, close_parents


def pytest_configure() -> None:
    """Tests that are started in the background, or by nohup, ignore what would end them, and so would every child."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_unconfigure() -> None:
    close_parents()


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs neither TensorFlow nor a browser and is not slow is quick.

    Where several processes share the work, they begin with what takes longest.
    """
    for item in items:
        if not any(item.get_closest_marker(name) for name in ("tensorflow", "browser", "slow")):
            item.add_marker("quick")
    if hasattr(config, "workerinput"):
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    return 0 if item.get_closest_marker("longest") else 2 if item.get_closest_marker("quick") else 1


def pytest_runtest_setup(item: pytest.Item) -> None:
    """TensorFlow is looked for and not imported."""
    if item.get_closest_marker("tensorflow") is not None and importlib.util.find_spec("tensorflow") is None:
        pytest.skip("tensorflow is not installed")


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    """The child interpreters of a module: what its programs leave behind in TensorFlow is no other module's."""
    started = Children()
    yield started
    started.close()
