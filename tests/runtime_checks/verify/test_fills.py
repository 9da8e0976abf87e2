"""Values that depend on a variable's name, shape and dtype alone."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.recording.values.fills import constant, fingerprint, nudged


def chain(widths: list[int], relu: bool) -> np.ndarray:
    """The output of a chain of layers, kernel and bias filled by fingerprint, for a batch of ones and halves."""
    value = np.stack([np.ones(widths[0]), np.full(widths[0], 0.5)])
    for at, (first, second) in enumerate(itertools.pairwise(widths)):
        kernel = fingerprint(f"layer_{at}/kernel", (first, second), "float32")
        value = value @ kernel + fingerprint(f"layer_{at}/bias", (second,), "float32")
        value = np.maximum(value, 0) if relu else value
    return value


def test_two_names_give_two_fills():
    """Same-shape weights that are swapped show."""
    assert not np.allclose(fingerprint("a/kernel", (8, 8), "float32"), fingerprint("b/kernel", (8, 8), "float32"))


def test_a_name_gives_the_same_fill_every_time():
    """Its ``:0`` does not count; the values are those of every version of numpy."""
    values = fingerprint("dense/kernel:0", (2, 2), np.float32)

    np.testing.assert_array_equal(fingerprint("dense/kernel", (2, 2), "float32"), values)
    assert "1e29da9a" == hashlib.sha256(values.tobytes()).hexdigest()[:8]


def test_a_square_kernel_is_not_its_transpose():
    """So a transposed one shows."""
    kernel = fingerprint("kernel", (16, 16), "float32")

    assert np.abs(kernel - kernel.T).max() > 0.1


@pytest.mark.parametrize("relu", [False, True])
def test_sixteen_layers_of_512_neither_explode_nor_vanish(relu: bool):
    """Linear or with ReLU; and more than a quarter of the units of the last layer are alive."""
    value = chain([512] * 17, relu)

    assert 0.01 < np.abs(value).mean() < 1e4
    assert np.count_nonzero(value[0]) > 128


@pytest.mark.parametrize(
    "name", ["bn/moving_variance", "bn/gamma", "norm/scale", "ln_1/gamma_2", "x/moving_variance:0"]
)
def test_variances_and_scales_are_positive(name: str):
    """Between 0.5 and 1.5."""
    values = fingerprint(name, (1000,), "float32")

    assert 0.5 <= values.min() < values.max() <= 1.5


@pytest.mark.parametrize("name", ["d/bias", "slim/biases", "bn/beta", "bn/moving_mean"])
def test_biases_and_means_are_small_and_of_both_signs(name: str):
    """Not beyond 0.1."""
    values = fingerprint(name, (1000,), "float32")

    assert -0.1 <= values.min() < -0.05 < 0.05 < values.max() <= 0.1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "float32_ref"])
def test_the_dtype_is_kept(dtype: str):
    """A reference dtype of TF1 counts as its own."""
    values = fingerprint("v", (3,), dtype)

    assert (dtype.replace("_ref", ""), (3,)) == (values.dtype.name, values.shape)
    assert np.isfinite(values).all()


@pytest.mark.parametrize("dtype", ["int32", "bool", "int64", "resource", "string"])
def test_what_is_not_floating_is_left_alone(dtype: str):
    """By all three."""
    array = np.zeros(2, dtype if dtype not in ("resource", "string") else "S1")

    assert (None, None, None) == (constant((2,), dtype), fingerprint("v", (2,), dtype), nudged("v", array))


def test_a_dtype_that_numpy_does_not_know_is_float32():
    """As the recording keeps it; bfloat16 is such a one unless TensorFlow was imported."""
    assert "float32" == fingerprint("v", (3,), "bfloat19").dtype.name


def test_the_constant_fills_everything():
    """0.001 unless told otherwise."""
    np.testing.assert_array_equal(np.full((2, 3), np.float32(0.001)), constant((2, 3), "float32"))


def test_a_large_variable_is_a_longer_piece_of_the_same_stream():
    """It is filled in blocks, which the values do not show."""
    values = fingerprint("x/embeddings", (700_000,), "float64")

    np.testing.assert_array_equal(values[:1000], fingerprint("x/embeddings", (1000,), "float64"))
    assert len(np.unique(values)) > 699_000


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_nudged_moves_every_value_by_about_one_unit(dtype: str):
    """At least half and at most two units in the last place, in both directions."""
    value = fingerprint("x/gamma", (1000,), dtype)
    moved = nudged("x/gamma", value)
    units = (moved - value).real / np.spacing(value.real)

    assert moved.dtype == value.dtype
    assert 0.5 <= np.abs(units).min() <= np.abs(units).max() <= 2
    assert units.min() < 0 < units.max()


def test_nudged_leaves_what_has_no_neighbour():
    """Zeros, infinities and NaN."""
    value = np.array([0.0, np.inf, np.nan], np.float32)

    np.testing.assert_array_equal(value, nudged("v", value))
