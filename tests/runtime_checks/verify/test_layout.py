"""How TF1 values lie in the TF2 variables that they became."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.recording.values.layout import Layouts, is_reshaped, laid_out, laid_out_shape

from .programs import Program, compared

VALUE = np.arange(6).reshape(1, 2, 3)


@pytest.mark.parametrize(
    ("order", "shape", "reshaped", "expected"),
    [
        (None, (1, 2, 3), False, VALUE),
        ((1, 2, 0), (2, 3, 1), False, VALUE.transpose(1, 2, 0)),
        (None, (6,), True, np.arange(6)),
        ((0, 2, 1), (6,), True, np.array([0, 3, 1, 4, 2, 5])),
        (None, (6,), False, VALUE),
        (None, (7,), True, VALUE),
        ((0, 1), (1, 2, 3), False, VALUE),
    ],
)
def test_values_are_transposed_and_then_laid_out_anew(order: Any, shape: Any, reshaped: bool, expected: np.ndarray):
    """Only where the pair says so and the sizes allow it."""
    found = laid_out(VALUE, order, shape, reshaped)

    np.testing.assert_array_equal(expected, found)
    assert found.shape == laid_out_shape(VALUE.shape, order, shape, reshaped)


def test_layouts_are_looked_up_by_the_tf1_name():
    """What the pair does not name stays as it is."""
    layouts = Layouts({"w": (1, 2, 0)}, ["b*"])

    np.testing.assert_array_equal(VALUE.transpose(1, 2, 0), layouts.value("w", VALUE, (2, 3, 1)))
    np.testing.assert_array_equal(np.arange(6), layouts.value("bias", VALUE, (6,)))
    assert layouts.value("other", VALUE, (6,)) is VALUE
    fitting = [layouts.fits(name, (1, 2, 3), shape) for name, shape in (("w", (2, 3, 1)), ("bias", (6,)), ("w", (6,)))]
    assert [True, True, False] == fitting


@pytest.mark.parametrize(
    ("name", "reshapes", "expected"),
    [
        ("policy/c1/b:0", ["policy/c1/b"], True),
        ("policy/c1/b", ["policy/*"], True),
        ("policy/c1/b", ["policy/c1"], False),
        ("policy/c1/b", [], False),
    ],
)
def test_reshapes_are_names_or_beginnings_of_names(name: str, reshapes: list[str], expected: bool):
    """A trailing star stands for any ending; the number of the output does not count."""
    assert expected is is_reshaped(name, reshapes)


def test_a_variable_of_another_shape_is_the_same_where_the_pair_says_so(tmp_path: Path):
    """Rung 2 tells of ``reshapes`` where it would help, and updates are compared element by element with it."""
    flat = {"top/bias"}

    def reshape(scenario: str, record: dict[str, Any]) -> Any:
        own = record.get("variable", record["name"])
        if record["kind"] in ("variable", "gradient", "slot") and own in flat:
            return {**record, "value": np.asarray(record["value"]).reshape(1, 3)}
        return record

    shapes = {"top/bias": [1, 3]}
    old = Program(change=reshape, shapes=shapes)
    without = compared(tmp_path / "without", old)
    told = compared(tmp_path / "told", Program(change=reshape, shapes=shapes, pair={"reshapes": ["top/*", "no/such"]}))

    assert "if the elements are the same in the same order, say so in reshapes" in without.rung("2").detail
    assert {"1", "2", "3", "3f", "4", "6", "7", "8"} <= {rung.number for rung in told.rungs if rung.status == "pass"}
    assert ("reshapes: the TF1 side has no variable no/such",) == told.rung("2").notes
