"""What is tried for a difference: nothing that cannot be felt where it shows, and what is nearest first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.trying.plants import plants
from migrate_lint.runtime_checks.comparison.trying.proposals import Proposal, proposals
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from .programs import SHAPES, Program, changing, record

LAYER = ("Layer", "Operation")
PASSES = {"variables", "forward"}
DRAWS = {"randomness", "dropout rate", "training mode", "loss", "moving statistics"}
ALL = PASSES | DRAWS | {"regularization", "learning rate", "momentum", "update rule", "repeated rows"}


def site(line: int, callee: str, bases: tuple[str, ...] = LAYER, what: str = "argument", **arguments: Any) -> Any:
    """A row of what a program was seen to call; ``names`` are those of layers."""
    names = arguments.pop("names", [])
    told = {"what": what, "callee": callee, "bases": [callee, *bases], "place": ["new.py", line]}
    return {**told, "names": names, "arguments": arguments}


SITES = [
    site(1, "Dense", activation="relu", kernel_initializer="glorot_uniform", use_bias=True, names=["hidden"]),
    site(2, "Dense", activation=None, kernel_regularizer={"class": "L2", "config": {"l2": 1e-3}}, names=["top"]),
    site(3, "BatchNormalization", momentum=0.9, epsilon=1e-3, names=["stats"]),
    site(4, "Dropout", rate=0.3),
    site(5, "L2", ("Regularizer",), l2=1e-3),
    site(6, "Adam", ("Optimizer",), epsilon=1e-7, learning_rate=0.01),
    site(7, "SGD", ("Optimizer",), momentum=0.9, learning_rate={"class": "Late", "config": {}}),
    site(8, "Late", (), "schedule"),
    site(9, "Classifier", (), "flag"),
    site(10, "Mean", ("Loss",), reduction="sum"),
    site(11, "slim.batch_norm", (), "function", decay=0.9997, epsilon=1e-3),
    site(12, "slim.dropout", (), "function", keep_prob=0.8),
    site(13, "slim.l2_regularizer", (), "function", scale=4e-5),
]


def tried(folder: Path, fault: Program, sites: Any = SITES) -> list[Proposal]:
    """What is proposed for a pair whose TF2 side has a fault and calls these."""
    old = read(record(Program(), folder / "tf1"))
    new = record(replace(fault, side="tf2"), folder / "tf2")
    content = json.loads((new / "record.json").read_text())
    (new / "record.json").write_text(json.dumps({**content, "sites": sites}))
    second = read(new)
    return proposals(compare(old, second), old, second)


FAULTS: Mapping[str, tuple[Program, set[str]]] = {
    "a layer computes something else": (Program(scale=1.5), PASSES | {"regularization"}),
    "two kernels are exchanged": (Program(swapped=True), PASSES | {"regularization"}),
    "another factor of regularization": (Program(l2=2e-3), PASSES | {"regularization"}),
    "a training pass that draws otherwise": (
        Program(change=changing("output", lambda value: value * 1.5, "aligned")),
        PASSES | DRAWS | {"regularization"},
    ),
    "another epsilon": (Program(epsilon=1e-3), ALL),
    "another rate": (Program(rate=lambda step: 0.02), ALL),
    "other moving statistics": (Program(decay=0.99), ALL),
}
"""What is wrong, and the classes of changes that can be felt where that shows first."""


@pytest.mark.parametrize("name", FAULTS)
def test_only_what_can_be_felt_is_tried(tmp_path: Path, name: str) -> None:
    """A rate of learning changes nothing of a forward pass, nor does dropout where nothing is drawn."""
    fault, kinds = FAULTS[name]

    assert kinds == {one.kind for one in tried(tmp_path, fault)} | (kinds & {"variables", "momentum"})


def test_a_layer_behind_the_first_divergence_is_tried_last(tmp_path: Path) -> None:
    """What comes out of it is made of what differs already."""
    found = [one.change.place for one in tried(tmp_path, Program(scale=1.5)) if one.kind == "forward"]
    lines = [place[1] for place in found if place is not None]

    assert max(at for at, line in enumerate(lines) if line == 1) < min(at for at, line in enumerate(lines) if line == 2)


@pytest.mark.parametrize(
    ("line", "argument", "value"),
    [(11, "decay", 0.99), (11, "epsilon", 1e-5), (12, "keep_prob", 0.2), (13, "scale", 2e-5), (13, "scale", 8e-5)],
)
def test_functions_of_slim_are_changed_too(tmp_path: Path, line: int, argument: str, value: float) -> None:
    """Decay, epsilon, the share that dropout keeps and the factor of a regularizer."""
    found = [
        one.mutation["value"]
        for one in tried(tmp_path, Program(epsilon=1e-3))
        if one.mutation["argument"] == argument and one.mutation["places"] == [["new.py", line]]
    ]

    assert value in found


def test_a_kind_without_a_place_is_named(tmp_path: Path) -> None:
    """Each kind of bug is planted or told, whatever a program calls; a regularizer may be a function."""
    record(Program(), tmp_path / "tf1")
    record(Program(side="tf2"), tmp_path / "tf2")
    old, new = read(tmp_path / "tf1"), read(tmp_path / "tf2")
    report = compare(old, new)

    def planted(*sites: Any) -> tuple[set[str], set[str]]:
        found, without = plants(report, replace(new, content={**new.content, "sites": list(sites)}))
        return {one.mutation["argument"] or one.mutation["what"] for one in found}, set(without)

    none, every = planted()
    some, fewer = planted(*SITES, site(14, "Dense", kernel_regularizer="half"))

    assert {"transposed", "swapped"} == none
    assert {"epsilon", "activation", "rate", "keep_prob", "decay", "scale", "kernel_regularizer", "schedule"} <= some
    assert fewer < every
    assert {"padding", "the reset of a GRU"} <= fewer


NAMES = {
    "folders": ({name: name.replace("/", "/inner/") for name in SHAPES}, 4),
    "two scopes": ({"left/kernel": "one/kernel", "right/kernel": "two/kernel", "top/bias": "last/bias"}, 3),
    "each name": ({name: f"v{at}" for at, name in enumerate(SHAPES)}, 4),
    "last parts": ({name: name.replace("kernel", "w") for name in SHAPES if "kernel" in name}, 4),
    "some": ({"hidden/kernel": "inner/kernel"}, 1),
}
"""Other names on TF2, and how many rules are told of those that say so."""


@pytest.mark.parametrize("name", NAMES)
def test_few_renames_are_told(tmp_path: Path, name: str) -> None:
    """Rules for folders where there are some, and no more than four; that more are needed is said, and where."""
    names, most = NAMES[name]
    (proposal,) = (one for one in tried(tmp_path, Program(names=names)) if one.kind == "names")
    told = proposal.change.text.partition("renames=")[2]

    assert 1 <= told.count(": ") <= min(most, 4)
    assert ("more rules, which rung 2 says" in told) == (name in ("folders", "each name"))
    assert names.items() <= proposal.mutation["value"].items()
