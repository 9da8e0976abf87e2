"""Inception-ResNet-v2 behind the shim: the figures that TensorFlow's guide prints, found by the recorder."""

from __future__ import annotations

import importlib.util
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run
from migrate_lint.runtime_checks.worker.recording.format.reading import Recorded, read

pytestmark = pytest.mark.tensorflow

PAIR = Path(__file__).parents[3] / "examples" / "verify" / "inception_resnet_v2.py"


@pytest.fixture(scope="module")
def verified() -> Iterator[tuple[Report, Recorded, Recorded]]:
    """Rungs 1 to 4 under the guide's policy, and what both sides recorded: two gigabytes, which are not kept."""
    if importlib.util.find_spec("tf_slim") is None:
        pytest.skip("tf_slim is not installed")
    with tempfile.TemporaryDirectory(prefix="inception-") as folder:
        request = Request(f"{PAIR}:pair", until="random", policy="guide", target=Target.KERAS2, output=folder)
        report = run(request)
        yield report, read(Path(folder, "tf1")), read(Path(folder, "tf2"))


def found(recorded: Recorded, scenario: str) -> float:
    record = recorded.scenario(scenario).find("regularization", "total")
    assert record is not None
    return float(record.value)


def test_the_four_rungs_pass(verified: tuple[Report, Recorded, Recorded]):
    """With nothing declared but both functions and the inputs."""
    report, _, _ = verified

    assert {"1", "2", "3", "3f", "4"} == {rung.number for rung in report.rungs if rung.status is Status.PASS}
    assert report.status == 0


def test_the_variables_are_those_of_the_published_network(verified: tuple[Report, Recorded, Recorded]):
    """1114 of them, 702 trainable, with 59,273,456 parameters, on both sides and under the same names."""
    for recorded in verified[1:]:
        variables: list[dict[str, Any]] = recorded.content["variables"]

        assert (1114, 702, 59_273_456) == (
            len(variables),
            sum(variable["trainable"] for variable in variables),
            sum(math.prod(variable["shape"]) for variable in variables),
        )
    assert {variable["name"] for variable in verified[1].content["variables"]} == {
        variable["name"].replace(":0", "") for variable in verified[2].content["variables"]
    }


def test_with_all_variables_at_a_thousandth(verified: tuple[Report, Recorded, Recorded]):
    """Outputs of 0.00299837; the guide prints the loss as 0.001182976, current releases have it 3e-9 smaller."""
    for recorded in verified[1:]:
        output = recorded.scenario("constant").find("output", "output")
        assert output is not None

        assert pytest.approx(0.00299837, abs=5e-9) == output.value.ravel()[0]
        assert pytest.approx(0.001182973, abs=1e-9) == found(recorded, "constant")


@pytest.mark.parametrize(
    ("scenario", "tf1", "tf2"),
    [
        ("inference", "1.2254326", "1.2254325"),
        ("training", "1.22548", "1.2254798"),
        ("training-constant", "1.2239965", "1.2239964"),
    ],
)
def test_aligned_random_numbers_give_the_losses_of_the_guide(
    verified: tuple[Report, Recorded, Recorded], scenario: str, tf1: str, tf2: str
):
    """As it prints them, to about the last place of a float32: processors add up in other orders."""
    assert (pytest.approx(float(tf1), abs=3e-7), pytest.approx(float(tf2), abs=3e-7)) == (
        found(verified[1], scenario),
        found(verified[2], scenario),
    )
