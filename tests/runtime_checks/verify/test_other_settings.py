"""The TF2 side is really run in the settings that are asked for, on both Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, VerifyUsageError, compare, run

from ...interpreters import Children
from .workers import in_children

pytestmark = pytest.mark.tensorflow
PAIRS = Path(__file__).parent / "other_settings.py"
TARGETS = (Target.KERAS2, Target.KERAS3)
CPU = ("CPU:0", "CPU:1")


def split() -> None:
    """In a child that has done nothing yet: make two devices of the CPU."""
    import tensorflow as tf

    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], two)


@pytest.fixture(scope="module")
def two_devices() -> Iterator[Children]:
    children = Children()
    for target in TARGETS:
        children.call(target.value, split)
    yield children
    children.close()


def verified(children: Children, folder: Path, pair: str, target: Target, **asked: object) -> Report:
    request = Request(f"{PAIRS}:{pair}", until="step", target=target, output=str(folder / "run"), **asked)  # type: ignore[arg-type]
    with in_children(children):
        return run(request)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("pair", "status", "words"),
    [
        ("plain", Status.PASS, "values agree, all identical"),
        ("scaled", Status.FAIL, "values differ: output"),
        ("refused", Status.FAIL, "fingerprint fill raised: NotImplementedError: only on the first CPU"),
        ("pinned", Status.NOT_RUN, "outputs were computed on CPU:0, since the program says where"),
    ],
)
def test_what_another_device_computes(
    pair: str, status: Status, words: str, target: Target, two_devices: Children, tmp_path: Path
) -> None:
    """The pair itself is equal; what was recorded says the same again."""
    report = verified(two_devices, tmp_path, pair, target, devices=CPU)
    rung = report.rung("9a")

    assert status is rung.status and words in rung.detail, rung
    assert (Status.PASS, int(status is Status.FAIL)) == (report.rung("step").status, report.status)
    assert rung == compare(tmp_path / "run", until="step").rung("9a")


@pytest.mark.parametrize("target", TARGETS)
def test_both_sides_run_on_the_first_device(target: Target, two_devices: Children, tmp_path: Path) -> None:
    """What is done elsewhere alone is done on that device."""
    report = verified(two_devices, tmp_path, "scaled", target, devices=("/device:cpu:1", "CPU:0"))

    assert [Status.FAIL] * 2 == [report.rung(number).status for number in ("3f", "9a")]
    assert report.rung("9a").detail.startswith("TF2 CPU:0 against CPU:1: ")


@pytest.mark.parametrize("devices", [("CPU:0", "CPU:7"), ("GPU:0",)])
def test_an_absent_device_is_refused_before_anything_is_recorded(
    devices: tuple[str, ...], two_devices: Children, tmp_path: Path
) -> None:
    """With the list of those that are there."""
    message = f"--device {devices[-1]}: there is no such device, only /device:CPU:0, /device:CPU:1"
    with pytest.raises(VerifyUsageError, match=message):
        verified(two_devices, tmp_path, "plain", Target.KERAS3, devices=devices)

    assert [] == [path.name for path in (tmp_path / "run").rglob("*.npz")]
