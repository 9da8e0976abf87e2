"""What hoisting makes of generated classes: they compute what they did in their first call, in every call."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Applicability, Via
from migrate_lint.linter.run.fixing import Wanted, fix
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

from ..interpreters import Children

CODES = frozenset({"TF101", "TF102", "TF108", "TF114"})
PROGRAMS = 40
_UNITS = ("2", "self.units", "UNITS", "max(UNITS, 2)", "UNITS + 1", "len([1, 2])", "int(inputs.shape[-1])")
_STEPS = (
    "x = tf.keras.layers.Dense({units}, kernel_initializer='ones')(x)",
    "x = (tf.keras.layers.Dense(\n            {units},  # wide\n            kernel_initializer='ones',\n        ))(x)",
    "inner = tf.keras.layers.Dense({units}, kernel_initializer='ones'); x = inner(x)",
    "self.kept{number} = tf.keras.layers.Dense({units}, kernel_initializer='ones')\n        x = self.kept{number}(x)",
    "x = x + self.add_weight(name='w{number}', shape=[], initializer='ones')",
    "x = tf.keras.layers.Dense(2, None, True, 'ones')(x) + tf.keras.layers.Dense(2, None, True, 'ones')(x)",
    "for _ in range(2):\n            x = tf.keras.layers.Dense({units}, kernel_initializer='ones')(x)",
    "if self.deep:\n            x = tf.keras.layers.Dense({units}, kernel_initializer='ones')(x)",
    "dense = 0.5\n        x = x * dense",
)


def program(seed: int) -> str:
    """A class that makes layers and weights in its forward pass, and what surrounds that."""
    numbers = random.Random(seed)
    steps = [
        numbers.choice(_STEPS).format(units=numbers.choice(_UNITS), number=number)
        for number in range(numbers.randrange(1, 5))
    ]
    constructor = [
        "    def __init__(self, units=3):",
        *(['        """Make it."""'] if numbers.random() < 0.3 else []),
        numbers.choice(("        super().__init__()", "        super(Net, self).__init__()")),
        "        self.units = units",
        "        self.dense_1 = None",
        "",
    ]
    forward = ["    # Forward.", "    def call(self, inputs):", "        x = inputs"]
    forward += [*(f"        {one}" for one in steps), "        return x", ""]
    other = ["    @property", "    def wide(self):", "        return UNITS", ""]
    has_constructor = numbers.random() < 0.7 or any("self.units" in one for one in steps)
    members = [forward, other, *([constructor] if has_constructor else [])]
    numbers.shuffle(members)
    head = ["import tensorflow as tf", "", "UNITS = 2", "", "", f"class Net(tf.keras.{numbers.choice(_BASES)}):"]
    head += ['    """A net."""', ""] if numbers.random() < 0.5 else []
    return "\n".join([*head, "    deep = True", "", *(line for one in members for line in one)])


_BASES = ("layers.Layer", "Model")


def outputs(texts: list[str], calls: int) -> list[list[list[float]]]:
    """What the class of each program gives for the same input in some calls."""
    import tensorflow as tf

    found = []
    for text in texts:
        names: dict[str, type] = {}
        exec(text, names)
        net = names["Net"]()
        found.append([tf.reshape(net(tf.ones([1, 2])), [-1]).numpy().tolist() for _ in range(calls)])
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_what_is_hoisted_computes_the_same_in_every_call(target: str, tmp_path: Path, children: Children) -> None:
    """Of generated classes, those that are mended whole; before, the first call alone is as it was meant."""
    pairs = []
    for seed in range(PROGRAMS):
        path = tmp_path / str(seed) / "net.py"
        path.parent.mkdir()
        path.write_text(program(seed))
        config = Config(base=str(path.parent), target=target)
        wanted = Wanted(CODES, frozenset(Applicability))
        done = fix(lambda unsaved, at=path, by=config: lint([str(at)], by, unsaved=unsaved, fixes=Via.NATIVE), wanted)
        assert not done.left, program(seed)
        if done.files and not [one for one in done.result.findings if one.code in CODES]:
            pairs.append((program(seed), done.files[0].now.decode()))
    assert len(pairs) > PROGRAMS / 4

    before = children.call("keras2", outputs, [one for one, _ in pairs], 1)
    after = children.call(target, outputs, [other for _, other in pairs], 3)

    for (old, new), first, calls in zip(pairs, before, after, strict=True):
        assert calls == [first[0]] * 3, f"{old}\n{new}"
