"""Groups of variables that changed their layout together: what of TF1 stands where on TF2, and how groups are found."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks import Converter
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.judging.converted import converted
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import RecordingError, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording
from migrate_lint.runtime_checks.worker.recording.tf2 import converting
from migrate_lint.runtime_checks.worker.recording.values import conversions
from migrate_lint.runtime_checks.worker.recording.values.conversions import Conversion
from migrate_lint.runtime_checks.worker.recording.values.layout import Layouts

U, N = 2, 3
Rows = list[dict[str, Any]]

CELLS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "lstm": (
        {"cell/kernel": (N + U, 4 * U), "cell/bias": (4 * U,)},
        {"k/kernel": (N, 4 * U), "k/recurrent_kernel": (U, 4 * U), "k/bias": (4 * U,)},
        {"gates": "ifco", "forget_bias": 1.0},
    ),
    "gru": (
        {"c/gates/kernel": (N + U, 2 * U), "c/gates/bias": (2 * U,), "c/new/kernel": (N + U, U), "c/new/bias": (U,)},
        {"k/kernel": (N, 3 * U), "k/recurrent_kernel": (U, 3 * U), "k/bias": (3 * U,)},
        {"gates": "zrh"},
    ),
    "rnn": (
        {"cell/kernel": (N + U, U), "cell/bias": (U,)},
        {"k/kernel": (N, U), "k/recurrent_kernel": (U, U), "k/bias": (U,)},
        {},
    ),
    "fused_qkv": (
        {f"{one}/{part}": shape for one in "qkv" for part, shape in (("kernel", (N, 4)), ("bias", (4,)))},
        {"k/kernel": (N, 12), "k/bias": (12,)},
        {"order": "qkv", "heads": 0},
    ),
    "separate_qkv": (
        {"qkv/kernel": (N, 12), "qkv/bias": (12,)},
        {f"{one}/{part}": shape for one in "abc" for part, shape in (("kernel", (N, 4)), ("bias", (4,)))},
        {"order": "qkv", "heads": 0},
    ),
    "heads": ({"q/kernel": (N, 4)}, {"k/kernel": (N, 2, 2)}, {}),
}


def rows(shapes: dict[str, Any]) -> Rows:
    known = {"dtype": "float32", "trainable": True}
    return [{"name": name, "shape": list(shape), **known} for name, shape in shapes.items()]


def found(tf1: dict[str, Any], tf2: dict[str, Any], **more: Any) -> list[Conversion]:
    options = {"renames": None, "ignore": (), "layouts": Layouts(), **more}
    return conversions.found(rows(tf1), rows(tf2), **options)


def numbered(one: Conversion) -> list[Any]:
    """Arrays of a group in which no number stands twice."""
    sizes = [int(np.prod(shape)) for shape in one.old]
    everything = np.arange(1.0, sum(sizes) + 1, dtype=np.float32)
    parts = np.split(everything, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, one.old, strict=True)]


@pytest.mark.parametrize("layout", CELLS)
def test_a_group_is_found_by_its_shapes_and_each_element_has_one_place(layout: str) -> None:
    """Whatever stands around it; gradients are the values without what is added."""
    old, new, settings = CELLS[layout]
    around = {"before/kernel": (7, 5), "before/bias": (5,)}
    (one,) = found({**around, **old, "top": (9,)}, {**around, **new, "top": (9,)})
    values, changes = one.values(numbered(one)), one.values(numbered(one), change=True)
    told = np.sort(np.concatenate([value.reshape(-1) for value in changes]))

    assert (layout, tuple(old), tuple(new), settings) == (one.layout, one.tf1, one.tf2, dict(one.settings))
    assert list(new.values()) == [value.shape for value in values]
    np.testing.assert_array_equal(np.arange(1, told.size + 1), told)
    added = [value - change for value, change in zip(values, changes, strict=True)]
    assert settings.get("forget_bias", 0.0) * U == sum(np.sum(one) for one in added)


@pytest.mark.parametrize("order", ["ifco", "icfo", "oifc"])
def test_gates_of_an_lstm_stand_in_the_order_of_the_setting(order: str) -> None:
    """With the rows of the inputs apart from those of the states, and the forget bias at its gate."""
    old, new, settings = CELLS["lstm"]
    (one,) = found(old, new)
    one = one._replace(settings={**settings, "gates": order, "forget_bias": 0.5})
    kernel, bias = numbered(one)
    first, second, third = one.values([kernel, bias])
    blocks = [np.split(value, 4, axis=-1) for value in (first, second, third)]
    for gate, block, rest, short in zip(order, *blocks, strict=True):
        at = slice("icfo".index(gate) * U, "icfo".index(gate) * U + U)
        np.testing.assert_array_equal(kernel[:, at], np.concatenate([block, rest]))
        np.testing.assert_array_equal(bias[at] + (0.5 if gate == "f" else 0.0), short)


def test_what_has_a_counterpart_belongs_to_no_group() -> None:
    """Neither by its name, nor where the other side has the same shapes in the same order under other names."""
    old = CELLS["lstm"][0]
    apart = {"k/kernel": (N, 4 * U), "k/recurrent_kernel": (U, 4 * U), "k/bias": (4 * U,)}

    assert [] == found(apart, apart)
    assert [] == found(apart, {name.replace("k/", "other/"): shape for name, shape in apart.items()})
    assert [] == found(old, apart, ignore=["cell/*"])
    assert ["lstm"] == [one.layout for one in found({**old, "k/bias": (9,)}, apart)]


def test_cells_of_the_same_shapes_are_taken_by_their_names_or_in_order() -> None:
    """A rename that leads to a scope counts more than the order of creation."""
    old = {f"{scope}/{name[5:]}": shape for scope in ("one", "two") for name, shape in CELLS["lstm"][0].items()}
    new = {f"{scope}/{name[2:]}": shape for scope in ("x", "y") for name, shape in CELLS["lstm"][1].items()}

    def firsts(**more: Any) -> list[str]:
        return [one.tf1[0] for one in found(old, new, **more)]

    assert ["one/kernel", "two/kernel"] == firsts()
    assert ["two/kernel", "one/kernel"] == firsts(renames={"one/": "y/", "two/": "x/"})


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda arrays: [2.0 * arrays[0]], "does more than to move elements"),
        (lambda arrays: [arrays[0] ** 2], "does more than to move elements"),
        (lambda arrays: [np.concatenate([arrays[0][:2], arrays[0][:2]])], "uses an element twice"),
        (lambda arrays: [arrays[0][:3]], "it gives the shapes [[3]] for TF2 variables of the shapes [[4]]"),
        (lambda arrays: [arrays[0] + missing], "it raised NameError"),  # type: ignore[name-defined] # noqa: F821
    ],
)
def test_a_function_may_only_move_elements_and_add_constants(function: Any, problem: str) -> None:
    """For nothing else would be known what becomes of gradients and slots."""
    made, problems = conversions.declared([Converter("w", "v", function)], rows({"w": (4,)}), rows({"v": (4,)}))

    assert [] == made
    assert problem in problems[0]


def test_a_function_is_kept_as_what_it_moves() -> None:
    """Where each element comes from, and what is added; from the names that a model may put in front of."""

    def turned(arrays: list[Any]) -> Any:
        return arrays[0][::-1] + 0.5, np.concatenate([arrays[1], [7.0]])

    one = Converter(["w", "b"], ["v", "c"], turned)
    (made,), problems = conversions.declared([one], rows({"w": (2,), "b": (1,)}), rows({"net/v": (2,), "net/c": (2,)}))
    arrays = [np.array([1.0, 2.0], np.float32), np.array([3.0], np.float32)]

    assert ([], ("net/v", "net/c")) == (problems, made.tf2)
    for expected, value in zip(([2.5, 1.5], [3.0, 7.0]), made.values(arrays), strict=True):
        np.testing.assert_array_equal(np.array(expected, np.float32), value)
    for expected, value in zip(([2.0, 1.0], [3.0, 0.0]), made.values(arrays, change=True), strict=True):
        np.testing.assert_array_equal(np.array(expected, np.float32), value)


@pytest.mark.parametrize(
    ("layout", "settings", "problem"),
    [
        ("lstms", {}, "there are lstm, gru"),
        ("lstm", {"order": "ifco"}, "has no such setting"),
        ("lstm", {"gates": "ifcc"}, "it is made of the letters of 'ifco'"),
        ("rnn", {"gates": "h"}, "has no such setting"),
    ],
)
def test_a_converter_refuses_what_it_does_not_know(layout: str, settings: Any, problem: str) -> None:
    """When it is made, where the user's line is in the error."""
    with pytest.raises(ValueError, match=problem):
        Converter("a/", "b/", layout, **settings)


def test_a_converter_that_does_not_fit_says_the_shapes() -> None:
    """And one whose variables are not there, their name."""
    old, new, _ = CELLS["lstm"]
    several = [Converter("cell/", "k/", "gru"), Converter("cells/", "k/", "lstm"), Converter("cell/", "k/", "lstm")]
    made, problems = conversions.declared(several, rows(old), rows(new))

    assert ["lstm"] == [one.layout for one in made]
    assert "TF1 has the shapes [[5, 8], [8]] and TF2 [[3, 8], [2, 8], [8]]" in problems[0]
    assert problems[1].endswith("the TF1 side has no variable cells/")


def recorded(folder: Path, group: dict[str, Any]) -> tuple[Path, Path]:
    """Both sides of a cell, with a value, a gradient and a slot of each TF1 variable."""
    old, new, _ = CELLS["lstm"]
    for side, shapes in (("tf1", old), ("tf2", new)):
        recording = Recording(str(folder / side), side)
        recording.content["variables"] = rows(shapes)  # type: ignore[typeddict-item]
        with recording.scenario(scenarios.STEPS) as chapter:
            for name, shape in shapes.items():
                value = np.ones(shape, np.float32)
                chapter.add("variable", name, value)
                if side == "tf2" or name != "cell/bias":
                    chapter.add("gradient", name, value)
                chapter.add("slot", f"{name}/adam.m", value, variable=name, slot="adam.m")
        if side == "tf2":
            with recording.scenario(scenarios.CONVERTERS) as chapter:
                chapter.say(groups=[group])
        recording.save()
    return folder / "tf1", folder / "tf2"


def group(**more: Any) -> dict[str, Any]:
    (one,) = found(*CELLS["lstm"][:2])
    return {**conversions.described(one), "how": "shapes", "proof": "proven", **more}


def test_a_recording_is_laid_out_as_tf2_has_it(tmp_path: Path) -> None:
    """Values get the forget bias, gradients and slots do not; what TF1 lacks a part of is not made up."""
    one, other = recorded(tmp_path, group())
    found_in = converted(read(one), read(other)).recorded
    records = {(record.kind, record.name): record for record in found_in.scenario(scenarios.STEPS).records}

    assert ["cell/kernel[kernel]", "cell/kernel[recurrent_kernel]", "cell/bias"] == [
        row["name"] for row in found_in.content["variables"]
    ]
    np.testing.assert_array_equal([1, 1, 2, 2, 1, 1, 1, 1], records["variable", "cell/bias"].value)
    np.testing.assert_array_equal(np.ones(8), records["slot", "cell/bias/adam.m"].value)
    assert (N, 4 * U) == records["gradient", "cell/kernel[kernel]"].value.shape
    assert ("gradient", "cell/bias") not in records


@pytest.mark.parametrize(
    "damage",
    [
        {"layout": "of nobody"},
        {"tf1": ["cell/kernel"]},
        {"old": [[5, 7], [7]]},
        {"new": [[3, 8], [2, 9], [8]]},
        {"settings": {"gates": "xyzw"}},
        {"settings": {}},
        {"how": "guessed"},
        {"tf2": "k/kernel"},
    ],
)
def test_a_damaged_group_is_refused(tmp_path: Path, damage: dict[str, Any]) -> None:
    """With the folder or the file that it stands in."""
    one, other = recorded(tmp_path, group(**damage))

    with pytest.raises(RecordingError, match=r"tf2"):
        compare(read(one), read(other))


def test_what_outputs_do_not_speak_for_fails_rung_two(tmp_path: Path) -> None:
    """Unless the pair declares it; one that is proven passes, and the line to paste makes the same group."""
    details = {}
    for proof in ("proven", "unclear", "not tried"):
        for how in ("shapes", "declared"):
            one, other = recorded(tmp_path / proof / how, group(proof=proof, how=how))
            for place in (one / "record.json", other / "record.json"):
                content = json.loads(place.read_text("utf-8"))
                content["scenarios"][scenarios.STRUCTURE] = {"outcome": "ok", "parts": []}
                place.write_text(json.dumps(content), "utf-8")
            details[proof, how] = compare(read(one), read(other), until="variables").rung("variables")

    failed = {key for key, rung in details.items() if rung.status == "fail"}
    line = details["proven", "shapes"].notes[-1].partition("converters=")[2]
    (made,), _ = conversions.declared(eval(line, {"Converter": Converter}), *map(rows, CELLS["lstm"][:2]))

    assert {("unclear", "shapes"), ("not tried", "shapes")} == failed
    assert made == found(*CELLS["lstm"][:2])[0]


ATTENTION = {
    "a norm before it": (
        {"norm/gamma": (4,), "q/kernel": (4, 4), "q/bias": (4,)},
        {"n/gamma": (4,), "a/query/kernel": (4, 2, 2), "a/query/bias": (2, 2)},
        {"a/query/kernel": "q/kernel", "a/query/bias": "q/bias"},
    ),
    "a bias before it": (
        {"in/kernel": (3, 4), "in/bias": (4,), "q/kernel": (4, 4), "q/bias": (4,)},
        {"d/kernel": (3, 4), "d/bias": (4,), "a/query/kernel": (4, 2, 2), "a/query/bias": (2, 2)},
        {"a/query/kernel": "q/kernel", "a/query/bias": "q/bias"},
    ),
    "two layers with biases between": (
        {"0/q/kernel": (4, 4), "0/q/bias": (4,), "0/d/bias": (4,), "1/q/kernel": (4, 4), "1/q/bias": (4,)},
        {"x/q/kernel": (4, 2, 2), "x/q/bias": (2, 2), "x/d/bias": (4,), "y/q/kernel": (4, 2, 2), "y/q/bias": (2, 2)},
        {"x/q/kernel": "0/q/kernel", "x/q/bias": "0/q/bias", "y/q/kernel": "1/q/kernel", "y/q/bias": "1/q/bias"},
    ),
    "a table of its shape": (
        {"ffn/bias": (8,), "types": (2, 4), "q/kernel": (4, 4)},
        {"segments/table": (2, 4), "a/query/kernel": (4, 2, 2), "ffn2/bias": (8,)},
        {"a/query/kernel": "q/kernel"},
    ),
    "an output": (
        {"q/kernel": (4, 4), "out/kernel": (4, 4), "out/bias": (4,)},
        {"a/query/kernel": (4, 2, 2), "a/out/kernel": (2, 2, 4), "a/out/bias": (4,)},
        {"a/query/kernel": "q/kernel", "a/out/kernel": "out/kernel"},
    ),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_heads_are_taken_for_what_has_to_do_with_them(name: str) -> None:
    """Any vector of the size could be a bias; what lies alike on both sides is none of it."""
    old, new, expected = ATTENTION[name]

    assert expected == {one.tf2[0]: one.tf1[0] for one in found(old, new)}


@pytest.mark.parametrize(
    ("dtype", "names", "size", "why"),
    [
        ("int64", ["output"], 3, "no output is a floating number, which would tell"),
        ("float32", ["output 0", "output 1"], 3, "the sides give no outputs of the same names and shapes"),
        ("float32", ["output"], 4, "the sides give no outputs of the same names and shapes"),
        ("float32", ["output"], 3, ""),
    ],
)
def test_outputs_that_are_not_compared_refute_no_layout(dtype: str, names: list[str], size: int, why: str) -> None:
    """Captions that agree say nothing of a layout, nor do outputs of other names; floating numbers refute it."""
    output = SimpleNamespace(name="output", value=np.arange(3).astype(dtype))
    tf1 = SimpleNamespace(
        scenario=lambda name: SimpleNamespace(of_kind=lambda kind: [output]), content={"variables": []}
    )
    session = SimpleNamespace(
        batches=SimpleNamespace(at=lambda step: SimpleNamespace(inputs=np.zeros((2, 3), np.float32))),
        recording=SimpleNamespace(content={"variables": []}),
    )
    group = converting.Group(Conversion("function", ("kernel",), ("kernel",), ((3, 4),), ((3, 4),)), "declared")
    given = {name: np.ones(size, np.float32) for name in names}
    (found,) = converting.tried(session, tf1, [group], {}, lambda groups, spoiled: given)

    assert why == found.detail
    assert (group.proof == found.proof) == bool(why)
