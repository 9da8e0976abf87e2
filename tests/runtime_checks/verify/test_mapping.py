"""The mapping of variables by name, and what is only suggested."""

from __future__ import annotations

import time
from typing import Any

import pytest
from migrate_lint.runtime_checks.worker.recording.pairs.mapping import ignored, match, renamed


def variables(*named: Any, **shapes: Any) -> list[dict[str, Any]]:
    """Descriptions of variables: a name alone has the shape (2, 3)."""
    return [
        {"name": name, "shape": [2, 3], "trainable": True}
        if isinstance(name, str)
        else {"name": name[0], "shape": list(name[1]), "trainable": "moving" not in name[0]}
        for name in named
    ]


def by_name(matching: Any) -> list[tuple[str, str, str]]:
    return [(pair.tf1["name"], pair.tf2["name"], pair.how) for pair in matching.pairs]


def names(descriptions: Any) -> list[str]:
    return [description["name"] for description in descriptions]


def suggested(matching: Any) -> list[tuple[str, str]]:
    return [(one["name"], other["name"]) for one, other in matching.suggestions]


def test_equal_names_match_whatever_their_order_and_output_number():
    """``:0`` does not count, nor does the order of creation."""
    matching = match(variables("a/w:0", "b/w"), variables("b/w:0", "a/w:0"))

    assert [("a/w:0", "a/w:0", "name"), ("b/w", "b/w:0", "name")] == by_name(matching)
    assert ((), (), ()) == (matching.only_tf1, matching.only_tf2, matching.suggestions)


def test_variables_of_equal_name_and_other_shape_match():
    """The difference of their shapes is for the comparison to tell."""
    matching = match(variables(("w", (2, 3))), variables(("w", (3, 2))))

    assert [("w", "w", "name")] == by_name(matching)


def test_the_prefix_of_a_model_is_left_out():
    """A Keras model puts its own name in front of all of its variables."""
    matching = match(
        variables("dense/kernel", "dense/bias"), variables("my_model/dense/kernel:0", "my_model/dense/bias:0")
    )

    assert "my_model/" == matching.prefix
    assert [
        ("dense/kernel", "my_model/dense/kernel:0", "name"),
        ("dense/bias", "my_model/dense/bias:0", "name"),
    ] == by_name(matching)


def test_the_prefix_of_a_nested_model_is_left_out_as_a_whole():
    """``outer/inner/`` counts as one prefix, and a variable without counterpart may stand beside it."""
    matching = match(variables("d/kernel"), variables("outer/inner/d/kernel", "outer/extra"))

    assert ("outer/inner/", ["outer/extra"]) == (matching.prefix, names(matching.only_tf2))


def test_two_possible_prefixes_are_none():
    """With an encoder and a decoder that both end alike, neither is the model itself."""
    matching = match(variables(("dense/kernel", (4, 4))), variables("encoder/dense/kernel", "decoder/dense/kernel"))

    assert ("", []) == (matching.prefix, by_name(matching))
    assert ["encoder/dense/kernel", "decoder/dense/kernel"] == names(matching.only_tf2)


def test_a_prefix_of_one_variable_among_many_is_no_prefix_of_the_model():
    """What matched without it shows that the model has no name in front."""
    matching = match(
        variables("dense/kernel", "encoder/a", "encoder/b"), variables("decoder/dense/kernel", "encoder/a", "encoder/b")
    )

    assert ("", ["dense/kernel"]) == (matching.prefix, names(matching.only_tf1))
    assert [("dense/kernel", "decoder/dense/kernel")] == suggested(matching)


def test_a_name_that_occurs_twice_matches_nothing():
    """Keras 3 does not make names unique."""
    matching = match(variables("kernel", "b"), variables("kernel", "kernel", "b"))

    assert [("b", "b", "name")] == by_name(matching)
    assert ["kernel", "kernel"] == names(matching.only_tf2)
    assert () == matching.suggestions


def test_renames_come_first_and_say_so():
    """A renamed variable is not looked for under its old name."""
    matching = match(variables("a", "b"), variables("a", "b"), renames={"a": "b", "b": "a"})

    assert [("a", "b", "rename"), ("b", "a", "rename")] == by_name(matching)


def test_a_rename_that_leads_nowhere_leaves_the_variable_over():
    """Even where the TF2 side has the old name."""
    matching = match(variables("a"), variables("a"), renames={"a": "c"})

    assert ([], ["a"], ["a"]) == (by_name(matching), names(matching.only_tf1), names(matching.only_tf2))


def test_a_rename_works_behind_the_prefix_of_the_model():
    """The user need not write the name that Keras puts in front."""
    matching = match(variables("w", "d/kernel"), variables("m/fc/kernel", "m/d/kernel"), renames={"w": "fc/kernel"})

    assert [("w", "m/fc/kernel", "rename"), ("d/kernel", "m/d/kernel", "name")] == by_name(matching)


@pytest.mark.parametrize(
    ("expected", "name"),
    [("x/a", "net/a:0"), ("y/b", "net/sub/b"), ("own", "net/sub/c"), ("other", "other"), ("bare", "gone/bare")],
)
def test_renames_by_beginning(expected: str, name: str):
    """The exact name wins, then the longest beginning; an empty target takes the beginning away."""
    renames = {"net/": "x/", "net/sub/": "y", "net/sub/c": "own", "gone/": ""}

    assert expected == renamed(name, renames)


def test_renames_may_be_a_function():
    """From the TF1 name without ``:0``."""
    matching = match(variables("tower/w:0"), variables("w"), renames=lambda name: name.split("/")[-1])

    assert [("tower/w:0", "w", "rename")] == by_name(matching)


def test_ignored_names_are_left_out_on_both_sides():
    """A star stands for any ending."""
    matching = match(variables("w", "global_step"), variables("w", "ema/w", "ema/b"), ignore=["global_step", "ema/*"])

    assert ((), ()) == (matching.only_tf1, matching.only_tf2)
    assert (True, False) == (ignored("a/b:0", ["a/b"]), ignored("a/bc", ["a/b"]))


def test_other_names_of_equal_shapes_and_order_are_suggested_only():
    """They are no pairs."""
    tf1 = variables(("Variable", (3, 4)), ("Variable_1", (4,)))
    tf2 = variables(("net/kernel", (3, 4)), ("net/bias", (4,)))
    matching = match(tf1, tf2)

    assert [] == by_name(matching)
    assert [("Variable", "net/kernel"), ("Variable_1", "net/bias")] == suggested(matching)


def test_other_shapes_are_not_suggested():
    """Not even those of one kind."""
    matching = match(variables(("a/kernel", (3, 4))), variables(("b/kernel", (4, 3))))

    assert () == matching.suggestions


def test_trainable_variables_are_suggested_apart_from_the_others():
    """Some models create their moving averages after everything else."""
    tf1 = variables(("a/g", (4,)), ("a/moving_x", (4,)), ("b/g", (5,)), ("b/moving_x", (5,)))
    tf2 = variables(("l/g2", (4,)), ("m/g2", (5,)), ("l/moving_y", (4,)), ("m/moving_y", (5,)))

    assert [
        ("a/g", "l/g2"),
        ("a/moving_x", "l/moving_y"),
        ("b/g", "m/g2"),
        ("b/moving_x", "m/moving_y"),
    ] == suggested(match(tf1, tf2))


def test_a_missing_bias_leaves_the_kernels_suggested():
    """Groups of the same last name agree by themselves."""
    tf1 = variables(("a/kernel", (3, 4)), ("a/bias", (4,)), ("b/kernel", (4, 4)), ("b/bias", (4,)))
    tf2 = variables(("x/kernel", (3, 4)), ("y/kernel", (4, 4)), ("y/bias", (4,)))

    assert [("a/kernel", "x/kernel"), ("b/kernel", "y/kernel")] == suggested(match(tf1, tf2))


def test_shifted_automatic_numbers_are_no_matches():
    """A second model in the same process gets ``dense_1`` where the first has ``dense``."""
    tf1 = variables("dense/kernel", "dense_1/kernel", "dense_2/kernel")
    tf2 = variables("m/dense_1/kernel", "m/dense_2/kernel", "m/dense_3/kernel")
    matching = match(tf1, tf2)

    assert [] == by_name(matching)
    assert [
        ("dense/kernel", "m/dense_1/kernel"),
        ("dense_1/kernel", "m/dense_2/kernel"),
        ("dense_2/kernel", "m/dense_3/kernel"),
    ] == suggested(matching)


def test_a_missing_variable_moves_no_other():
    """Names count more than the order in which the rest was made."""
    tf1 = variables("dense/kernel", "dense_1/kernel", "dense_2/kernel")
    tf2 = variables("dense_1/kernel", "dense_2/kernel")

    assert ["dense_1/kernel", "dense_2/kernel"] == [pair[0] for pair in by_name(match(tf1, tf2))]
    assert ["dense/kernel"] == names(match(tf1, tf2).only_tf1)


@pytest.mark.parametrize("form", ["{}", "model/{}", "other_{}"])
def test_a_large_model_is_mapped_at_once(form: str):
    """1114 variables, as Inception-ResNet-v2 has them, take no long time: with equal, longer and other names."""
    tf1 = [f"InceptionResnetV2/Block_{at // 4}/Conv_{at}/{at % 3}" for at in range(1114)]
    left, right = variables(*tf1), variables(*(form.format(name) for name in tf1))
    seconds = []
    for _ in range(3):
        began = time.process_time()
        matching = match(left, right)
        seconds.append(time.process_time() - began)

    assert 1114 == len(matching.pairs) + len(matching.suggestions)
    assert min(seconds) < 2
