"""The mapping of variables by name, and what is only suggested."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from migrate_lint.runtime_checks.comparison.judging.renaming import renames_for
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


def test_names_within_a_layer_count_more_than_the_order_there():
    """The batch normalization of contrib makes beta first, that of Keras gamma; both layers may be of one size."""
    tf1 = variables(*((f"{layer}/BatchNorm/{name}", (4,)) for layer in "ab" for name in ("beta", "gamma", "moving_x")))
    tf2 = variables(*((f"m/{layer}/{name}", (4,)) for layer in "cd" for name in ("gamma", "beta", "moving_y")))

    assert [
        ("a/BatchNorm/beta", "m/c/beta"),
        ("a/BatchNorm/gamma", "m/c/gamma"),
        ("a/BatchNorm/moving_x", "m/c/moving_y"),
        ("b/BatchNorm/beta", "m/d/beta"),
        ("b/BatchNorm/gamma", "m/d/gamma"),
        ("b/BatchNorm/moving_x", "m/d/moving_y"),
    ] == suggested(match(tf1, tf2))


@pytest.mark.parametrize(
    ("tf1", "tf2", "expected"),
    [
        (  # another order, of layers of one size
            ["net/highway/lin_0/Matrix", "net/highway/gate_0/Matrix"],
            ["net/gate_0/kernel", "net/lin_0/kernel"],
            [1, 0],
        ),
        (["D/conv1/w", "D/conv1/b", "G/up/w"], ["g/up/kernel", "d/conv1/kernel", "d/conv1/bias"], [1, 2, 0]),
        (["d/fc/w", "g/fc/w"], ["m/g/fc/kernel", "m/d/fc/kernel"], [1, 0]),
        # inner layers of other names, behind the name of the model
        (["a/BatchNorm/beta", "b/BatchNorm/beta"], ["m/b/bn/beta", "m/a/bn/beta"], [1, 0]),
        (["n/conv-1/W", "n/conv-2/W"], ["n/conv_2/kernel", "n/conv_1/kernel"], [1, 0]),
        # numbers that a library gives
        (["n/dense/w", "n/dense_1/w", "n/out/w"], ["n/out/kernel", "n/dense_3/kernel", "n/dense_4/kernel"], [1, 2, 0]),
    ],
)
def test_names_of_layers_count_more_than_the_order(tf1: list[str], tf2: list[str], expected: list[int]) -> None:
    """Where two layers have one shape, the order would take one for the other, and values would be copied so."""
    assert [(one, tf2[at]) for one, at in zip(tf1, expected, strict=True)] == suggested(
        match(variables(*tf1), variables(*tf2))
    )


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


def test_variables_of_tf1_alone_leave_those_of_the_same_last_names():
    """A moving mean that TF1 corrects for its first zero has a sum and a counter of its own."""
    last = ("gamma", "moving_mean", "moving_variance", "moving_mean/biased")
    tf1 = variables(*((f"{layer}/{name}", (4,)) for layer in "ab" for name in last))
    tf2 = variables(*((f"m/{layer}/{name}", (4,)) for layer in "cd" for name in last[:3]))

    assert [
        *((f"a/{name}", f"m/c/{name}") for name in last[:3]),
        *((f"b/{name}", f"m/d/{name}") for name in last[:3]),
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


def renames_of(matching: Any, tf1: Any, tf2: Any) -> dict[str, str]:
    couples = [(pair.tf1, pair.tf2) for pair in matching.pairs] + list(matching.suggestions)
    return renames_for(tf1, tf2, {one["name"]: other["name"] for one, other in couples}, matching.prefix)


LAYER = ("kernel", "bias")


@pytest.mark.parametrize(
    ("tf1", "tf2", "expected"),
    [
        pytest.param(["dense/kernel", "dense/bias"], ["hidden/kernel", "hidden/bias"], {"dense/": "hidden/"}, id="one"),
        pytest.param(
            ["net/a/kernel", "net/a/bias", "net/b/kernel", "net/b/bias"],
            ["tower/a/kernel", "tower/a/bias", "tower/b/kernel", "tower/b/bias"],
            {"net/": "tower/"},
            id="the highest folder",
        ),
        pytest.param(
            ["net/a/kernel", "net/a/bias", "net/b/kernel", "net/b/bias"],
            ["x/kernel", "x/bias", "y/kernel", "y/bias"],
            {"net/a/": "x/", "net/b/": "y/"},
            id="folders that became others",
        ),
        pytest.param(
            ["net/w", "net/b", "net/c/kernel"],
            ["m/proj", "m/shift", "m/c/kernel"],
            {"net/w": "m/proj", "net/b": "m/shift", "net/c/": "m/c/"},
            id="names of their own",
        ),
        pytest.param(
            ["dense/kernel", "dense/bias", "out/kernel", "out/bias"],
            ["m/hidden/kernel", "m/hidden/bias", "m/out/kernel", "m/out/bias"],
            {"dense/": "hidden/"},
            id="the prefix of the model",
        ),
        pytest.param(["v/w", "v/x"], ["w", "x"], {"v/": ""}, id="a folder that is gone"),
        pytest.param(["w", "x"], ["v/w", "v/x"], {}, id="a folder that is new, which is left out"),
        pytest.param(["a/w", "b/w"], ["c/w", "c/w"], {}, id="a name twice"),
    ],
)
def test_renames_are_rules_and_say_what_was_suggested(tf1: list[str], tf2: list[str], expected: dict[str, str]) -> None:
    """What is printed can be pasted: with it, all is matched, and nothing is suggested any more."""
    ones, others = (variables(*((name, (at, 2)) for at, name in enumerate(names))) for names in (tf1, tf2))
    renames = renames_of(match(ones, others), ones, others)

    assert expected == renames
    if renames:
        matching = match(ones, others, renames)
        assert list(zip(tf1, tf2, strict=True)) == [(one, other) for one, other, _ in by_name(matching)]


def test_renames_of_a_large_network_are_complete() -> None:
    """A few rules for hundreds of variables."""
    blocks = [f"block_{number}/{layer}/{name}" for number in range(60) for layer in ("a", "b") for name in LAYER]
    tf1 = variables(*(f"resnet/{name}" for name in blocks), "logits/kernel", "logits/bias")
    tf2 = variables(*(f"net/stages/{name}" for name in blocks), "net/head/kernel", "net/head/bias")

    assert {"resnet/": "net/stages/", "logits/": "net/head/"} == renames_of(match(tf1, tf2), tf1, tf2)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=8, unique=True), st.randoms())
def test_any_renames_that_are_given_do_what_they_say(paths: list[tuple[str, ...]], random: Any) -> None:
    """The rules for a permutation of names, applied, are that permutation."""
    tf1 = ["/".join(path) for path in paths]
    tf2 = tf1[:]
    random.shuffle(tf2)
    ones, others = variables(*tf1), variables(*tf2)
    wanted = dict(zip(tf1, tf2, strict=True))
    matching = match(ones, others, renames_for(ones, others, wanted))

    assert wanted == {one: other for one, other, _ in by_name(matching)}


H, Z = 6, 2
ALL_WEIGHTS_FIRST = {
    "an encoder": (
        {"w_h": (9, H), "w_z": (H, Z), "w_s": (H, Z), "b_h": (H,), "b_z": (Z,), "b_s": (Z,)},
        ["h/kernel", "h/bias", "z/kernel", "z/bias", "s/kernel", "s/bias"],
    ),
    "biases first": ({"b1": (H,), "b2": (Z,), "w1": (9, H), "w2": (H, Z)}, ["a/w", "a/b", "c/w", "c/b"]),
    "gates": (
        {"filter": (2, H, H), "gate": (2, H, H), "filter_bias": (H,), "gate_bias": (H,), "skip": (1, H, Z)},
        ["f/kernel", "f/bias", "g/kernel", "g/bias", "s/kernel"],
    ),
    "tables at the end": ({"users": (20, Z), "items": (30, Z), "w": (Z, H)}, ["d/kernel", "u/table", "i/table"]),
    "what one side has too many": ({"w1": (9, H), "w2": (H, Z), "b1": (H,), "x": (7,)}, ["a/w", "a/b", "c/w", "y"]),
}
MADE = {
    "an encoder": [(9, H), (H,), (H, Z), (Z,), (H, Z), (Z,)],
    "biases first": [(9, H), (H,), (H, Z), (Z,)],
    "gates": [(2, H, H), (H,), (2, H, H), (H,), (1, H, Z)],
    "tables at the end": [(Z, H), (20, Z), (30, Z)],
    "what one side has too many": [(9, H), (H,), (H, Z), (5,)],
}
PARTNERS = {
    "an encoder": ["h/kernel", "z/kernel", "s/kernel", "h/bias", "z/bias", "s/bias"],
    "biases first": ["a/b", "c/b", "a/w", "c/w"],
    "gates": ["f/kernel", "g/kernel", "f/bias", "g/bias", "s/kernel"],
    "tables at the end": ["u/table", "i/table", "d/kernel"],
    "what one side has too many": ["a/w", "c/w", "a/b"],
}


@pytest.mark.parametrize("name", ALL_WEIGHTS_FIRST)
def test_weights_that_one_side_makes_in_another_order_are_suggested_by_shape(name: str) -> None:
    """Programs of TF1 often make all weights, and then all biases; of one shape the order counts."""
    old, new = ALL_WEIGHTS_FIRST[name]
    matching = match(variables(*old.items()), variables(*zip(new, MADE[name], strict=True)))

    assert () == matching.pairs
    assert list(zip(old, PARTNERS[name], strict=False)) == suggested(matching)


@pytest.mark.parametrize(
    "renames",
    [
        {"a/": "m/x/", "b": "y", "c": "z"},
        {"a/": "x/", "b": "m/y", "c": "m/z"},
        {"a/": "m/x/", "b": "m/y", "c": "m/z"},
        {"a/": "x/", "b": "y", "c": "z"},
        {"a/w": "m/x/w", "a/v": "x/v", "b": "m/y", "c": "z"},
    ],
)
def test_renames_may_have_the_name_of_the_model_or_not(renames: dict[str, str]) -> None:
    """What is pasted has it, and what is written by hand has not."""
    matching = match(variables("a/w", "a/v", "b", "c"), variables("m/x/w", "m/x/v", "m/y", "m/z"), renames)

    assert ["m/x/w", "m/x/v", "m/y", "m/z"] == [other for _, other, _ in by_name(matching)]
