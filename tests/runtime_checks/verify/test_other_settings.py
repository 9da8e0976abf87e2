"""The TF2 side is really run in the settings that are asked for, on both Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, VerifyUsageError, compare, run

from ...interpreters import Children
from .workers import in_children, work

pytestmark = pytest.mark.tensorflow
PAIRS = Path(__file__).parent / "other_settings.py"
TARGETS = (Target.KERAS2, Target.KERAS3)
CPU = ("CPU:0", "CPU:1")


def split() -> None:
    """In a child: make two devices of the CPU, or find them made."""
    import tensorflow as tf

    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], two)


def on_two_devices(job: dict[str, Any]) -> dict[str, Any]:
    """In a child: what a worker does with a job; another one may have come into its place."""
    split()
    return work(job)


@pytest.fixture(scope="module")
def two_devices() -> Iterator[Children]:
    children = Children()
    yield children
    children.close()


def verified(children: Children, folder: Path, pair: str, target: Target, until: str, **asked: Any) -> Report:
    request = Request(f"{PAIRS}:{pair}", until=until, target=target, output=str(folder / "run"), **asked)
    with in_children(children, do=on_two_devices):
        return run(request)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("pair", "until", "status", "words"),
    [
        ("plain", "step", Status.PASS, "values agree, all identical"),
        ("scaled", "fingerprint", Status.FAIL, "values differ: output"),
        ("refused", "fingerprint", Status.FAIL, "fingerprint fill raised: NotImplementedError: only on the first CPU"),
        ("pinned", "fingerprint", Status.NOT_RUN, "outputs were computed on CPU:0, since the program says where"),
    ],
)
def test_what_another_device_computes(
    pair: str, until: str, status: Status, words: str, target: Target, two_devices: Children, tmp_path: Path
) -> None:
    """The pair itself is equal; what was recorded says the same again."""
    report = verified(two_devices, tmp_path, pair, target, until, devices=CPU)
    rung = report.rung("9a")

    assert status is rung.status and words in rung.detail, rung
    assert (Status.PASS, int(status is Status.FAIL)) == (report.rung(until).status, report.status)
    assert rung == compare(tmp_path / "run", until=until).rung("9a")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("pair", "precision", "until", "status", "words"),
    [
        ("random", "mixed_bfloat16", "step", Status.PASS, "output, evaluation output: float32 against bfloat16"),
        ("plain", "mixed_float16", "step", Status.PASS, "output, evaluation output: float32 against float16"),
        ("scaling", "mixed_float16", "step", Status.PASS, "values agree"),
        ("joining", "mixed_float16", "fingerprint", Status.FAIL, "fingerprint fill raised: "),
        ("wide", "mixed_bfloat16", "fingerprint", Status.NOT_RUN, "computed in float32 all the same: no output"),
        ("large", "mixed_float16", "fingerprint", Status.FAIL, "on mixed_float16"),
        ("small", "mixed_float16", "step", Status.FAIL, "no optimizer was seen to scale the loss"),
    ],
)
def test_what_mixed_precision_computes(
    pair: str,
    precision: str,
    until: str,
    status: Status,
    words: str,
    target: Target,
    children: Children,
    tmp_path: Path,
) -> None:
    """Losses and gradients are those that an optimizer has not scaled, and random numbers those of float32."""
    report = verified(children, tmp_path, pair, target, until, precisions=(precision,), steps=1)
    rung = report.rung("9c")
    told = " ".join((rung.detail, *rung.notes)).replace("output, loss, evaluation", "output, evaluation")

    assert status is rung.status and words in told, rung
    assert (pair == "small") == ("scale the loss" in told)
    assert (pair == "small") == (report.rung(until).status is Status.FAIL)


@pytest.mark.parametrize("target", TARGETS)
def test_the_policy_of_a_program_outlives_a_model(target: Target, children: Children) -> None:
    """Keras 3 forgets it with the names of the model before."""
    assert ["mixed_float16", "float32"] == children.call(target.value, policies)


def policies() -> list[str]:
    """In a child: the policy of Keras after the names were forgotten, for two of them."""
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.recording.tf2.model import clear_names

    found = []
    for policy in ("mixed_float16", "float32"):
        tf.keras.mixed_precision.set_global_policy(policy)
        clear_names()
        found.append(tf.keras.mixed_precision.global_policy().name)
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_both_sides_run_on_the_first_device(target: Target, two_devices: Children, tmp_path: Path) -> None:
    """What is done elsewhere alone is done on that device."""
    report = verified(two_devices, tmp_path, "scaled", target, "fingerprint", devices=("/device:cpu:1", "CPU:0"))

    assert [Status.FAIL] * 2 == [report.rung(number).status for number in ("3f", "9a")]
    assert report.rung("9a").detail.startswith("TF2 CPU:0 against CPU:1: ")


@pytest.mark.parametrize("devices", [("CPU:0", "CPU:7"), ("GPU:0",)])
def test_an_absent_device_is_refused_before_anything_is_recorded(
    devices: tuple[str, ...], two_devices: Children, tmp_path: Path
) -> None:
    """With the list of those that are there."""
    message = f"--device {devices[-1]}: there is no such device, only /device:CPU:0, /device:CPU:1"
    with pytest.raises(VerifyUsageError, match=message):
        verified(two_devices, tmp_path, "plain", Target.KERAS3, "fingerprint", devices=devices)

    assert [] == [path.name for path in (tmp_path / "run").rglob("*.npz")]
