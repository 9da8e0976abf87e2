"""What an exception says in a report."""

from __future__ import annotations

import pytest
from migrate_lint.runtime_checks.worker.errors import essence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2])>", "<tf.Tensor: shape=(2,), dtype=int32>"),
        ("<tf.Variable 'w:0' shape=() dtype=float32, numpy=\n1.0>", "<tf.Variable 'w:0' shape=() dtype=float32>"),
    ],
)
def test_values_of_tensors_are_left_out(text: str, said: str) -> None:
    """They fill a screen, and shape and dtype tell what is wrong."""
    assert f"ValueError: got {said}, twice {said}" == essence(ValueError(f"got {text}, twice {text}"))
