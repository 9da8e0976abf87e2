"""The text of a pair, of what was found in a TF1 program."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from .found import ROWS_FED, Found, Given, Missing
from .keras_models import Tf2

__all__ = ["written"]

ROWS = 8
"""Examples in a batch, where the program takes any number."""
_ANY = 6
"""Another size that may be any."""
_WIDTH = 118


def written(found: Found, tf2: Tf2 | None, tf2_file: str, pair: str) -> str:
    """The text of a pair.

    Args:
        found: the TF1 program.
        tf2: what was found of the TF2 side; None where none was named.
        tf2_file: its absolute path.
        pair: the absolute path of the file that is written.
    """
    return _Writer(found, tf2, tf2_file, os.path.dirname(pair)).text()


def to_fill(what: str) -> str:
    """A call that stands for what is to be filled in."""
    word = what.replace("\\", "/").replace('"', "'")
    return f'to_fill("{word}")'


def _said(part: str | Missing) -> str:
    return to_fill(part.what) if isinstance(part, Missing) else part


class _Writer:
    def __init__(self, found: Found, tf2: Tf2 | None, tf2_file: str, folder: str) -> None:
        self._found = found
        self._tf2 = tf2
        self._tf2_file = tf2_file
        self._folder = folder
        self._inputs = [one for one in found.given if one.role == "input"]
        self._labels = [one for one in found.given if one.role == "label"]
        first = [one.shape[0] for one in [*self._inputs, *self._labels] if one.shape]
        self._rows = next((size for size in first if isinstance(size, int)), ROWS)
        self._settings = [one for one in found.given if one.role == "setting"]
        seconds = [one.shape[1] for one in self._inputs if one.shape is not None and len(one.shape) > 1 != one.shape[1]]
        counts = [_ANY if size is None else 0 if isinstance(size, Missing) else size for size in seconds]
        self._steps = min(counts, default=0)

    def text(self) -> str:
        body = "\n\n\n".join(part for part in (self._tf1(), self._batches(), self._step(), self._pair()) if part)
        code = re.sub(r'"[^"\n]*"|#.*', "", body)
        used = [name for name in ("Pair", "Spec", "keras_spec", "to_fill", "until_session") if f"{name}(" in body]
        lines = [
            f'"""Is the TF2 program the same as {self._relative(self._found.file)}? migrate-lint verify tells.',
            "",
            "Written by migrate-lint from what it read there; every to_fill(...) is to be replaced.",
            '"""',
            "",
            *(["import importlib"] if "importlib." in body else []),
            *(["import sys", "from pathlib import Path"] if "sys.path" in body else []),
            *([""] if "importlib." in body or "sys.path" in body else []),
            *(["import numpy as np"] if "np." in body else []),
            *(["import tensorflow as tf"] if re.search(r"\btf\.", code) else []),
            "",
            f"from migrate_lint.runtime_checks import {', '.join(used)}",
            "",
            "",
        ]
        return "\n".join(lines) + "\n" + body + "\n"

    def _relative(self, file: str) -> str:
        return os.path.relpath(file, self._folder).replace(os.sep, "/")

    # -- the TF1 side --------------------------------------------------------------------------------------------------

    def _tf1(self) -> str:
        if self._found.kind == "estimator":
            return ""
        head = self._head()
        body = self._keras() if self._found.kind == "keras" else self._session()
        return "\n".join([head, *(f"    {line}" if line else "" for line in body)])

    def _head(self) -> str:
        names = [_word(one.name) for one in self._inputs] or ["features"]
        return f"def network({', '.join([*names, *(['labels'] if self._labels else []), 'mode'])}):"

    def _import(self) -> Iterator[str]:
        """Lines that import what is called; here, since only the TF1 side can."""
        plain = self._relative(self._found.file).removesuffix(".py")
        folder, _, stem = plain.rpartition("/")
        if (
            folder
            and ".." not in folder
            and all(part.isidentifier() for part in folder.split("/"))
            and os.path.isfile(os.path.join(self._folder, folder, "__init__.py"))
        ):
            stem = f"{folder.replace('/', '.')}.{stem}"
        elif folder:
            yield f'sys.path.insert(0, str(Path(__file__).parent / "{folder}"))'
        name = self._found.call.partition(".")[0]
        if stem.replace(".", "").isidentifier():
            yield f"from {stem} import {name}"
        else:
            yield f'{name} = importlib.import_module("{stem}").{name}'

    def _session(self) -> Iterator[str]:
        found = self._found
        given = [to_fill(f"the argument `{name}` of {found.call}") for name in found.missing_arguments]
        file = self._relative(found.file)
        prefix, suffix = 'program["', '"]'
        if found.root:
            yield f'sys.path.insert(0, str(Path(__file__).parent / "{self._relative(found.root)}"))'
        kept = ", ".join(f'"{one}"' for one in self._returned())
        more = f", returned=[{kept}]" if kept else ""
        if not found.call:
            given = [word for option, what in found.options for word in (option and f'"{option}"', _said(what)) if word]
            words = "".join(f", {word}" for word in given)
            home = self._relative(found.root or os.path.dirname(found.file))
            folder = f', folder="{home}"' if home != "." else ""
            yield f'program = until_session("{file}"{words}{folder}{more})  # its command line may follow the file'
        else:
            yield from self._import()
            if found.runs:
                yield f"program = until_session({', '.join([found.call, *given])}{more})"
            else:
                yield f"{'model' if found.is_class else 'built'} = {found.call}({', '.join(given)})"
                for method, parameters in found.builders:
                    given = [to_fill(f"the argument `{one}` of {found.call}.{method}") for one in parameters]
                    yield f"model.{method}({', '.join(given)})"
                prefix = suffix = ""

        def reach(what: str | Missing) -> str:
            if isinstance(what, Missing) or not prefix:
                return _said(what)
            return f"{prefix}{what}{suffix}" if '"' not in what else f"program[{what!r}]"

        yield "feeds = {"
        for one in self._inputs:
            yield f"    {reach(one.reach)}: {_word(one.name)},"
        for one in self._labels:
            value = "labels" if len(self._labels) == 1 else f'labels and labels["{_word(one.name)}"]'
            yield f"    {reach(one.reach)}: {value},"
        for one in self._settings:
            if one.filled:
                filled = f"np.{one.filled}({_shape(one, self._rows)}, np.{one.dtype or 'float32'})"
                yield f"    {reach(one.reach)}: {filled},"
                continue
            train, evaluate = (self._setting(value) for value in (one.train, one.evaluate))
            same, chosen = train == evaluate, '{} if mode == "train" else {}'
            yield f"    {reach(one.reach)}: {train if same else chosen.format(train, evaluate)},"
        yield from (f"    # {one}" for one in found.fed)
        yield "}"
        outputs = reach(found.outputs)
        if found.train_op is None:
            yield f"return Spec({outputs}, feeds=feeds)"
            return
        yield f"outputs = {outputs}"
        yield 'if mode == "infer":'
        yield "    return Spec(outputs, feeds=feeds)"
        shown = 'None if mode == "train" else outputs' if found.apart else "outputs"
        step = ", ".join(map(reach, [found.train_op, *found.beside]))
        step = f"tf.group({step})" if found.beside else step
        yield f"return Spec({shown}, {reach(found.loss or 'None')}, {step}, feeds=feeds)"

    def _setting(self, value: str | Missing | None) -> str:
        return str(self._rows) if value == ROWS_FED else _said(value or "None")

    def _returned(self) -> list[str]:
        """The functions whose names are asked for when they have returned."""
        found = self._found
        asked = [found.outputs, found.loss, found.train_op, *found.beside, *(one.reach for one in found.given)]
        names = [name for one in asked if isinstance(one, str) for name in re.findall(r'\breturned\["(\w+)"\]', one)]
        return list(dict.fromkeys(names))

    def _keras(self) -> Iterator[str]:
        found = self._found
        given = [to_fill(f"the argument `{name}` of {found.call}") for name in found.missing_arguments]
        names = [_word(one.name) for one in self._inputs]
        maker = f"lambda: {found.call}({', '.join(given)})" if given else found.call
        yield from self._import()
        inputs = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
        if found.loss is None:
            yield f"return keras_spec({maker}, {inputs}, labels, mode)"
            return
        yield ""
        yield "def compiled():"
        yield f"    model = {found.call}({', '.join(given)})"
        yield f"    model.compile({found.compiled or _said(found.loss)})"
        yield "    return model"
        yield ""
        yield f"return keras_spec(compiled, {inputs}, labels, mode)"

    # -- what both sides get -------------------------------------------------------------------------------------------

    def _batches(self) -> str:
        return "\n\n\n".join(
            _batch(name, given, seed, self._rows, self._steps)
            for name, given, seed in (("inputs", self._inputs, 0), ("labels", self._labels, 1000))
            if given
        )

    # -- the TF2 side --------------------------------------------------------------------------------------------------

    def _step(self) -> str:
        found, tf2 = self._found, self._tf2
        if found.kind != "estimator" and found.train_op is None and found.loss is None and found.kind != "keras":
            return ""
        if tf2 is None or tf2.trains or not tf2.name:
            return ""
        several = len(self._inputs) > 1 and not tf2.takes_one and not any(one.key for one in self._inputs)
        called = f"model({'*' if several else ''}inputs, training=True)"
        optimizer = to_fill("an optimizer that does as " + (found.optimizer_text or "that of TF1"))
        loss = to_fill("the loss of outputs and labels, as " + (found.loss_text or "TF1 has it"))
        return "\n".join(
            [
                f"optimizer = {optimizer}",
                "",
                "",
                "def train_step(model, inputs, labels):",
                "    with tf.GradientTape() as tape:",
                f"        outputs = {called}",
                f"        loss = {loss}",
                "    weights = model.trainable_variables",
                "    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))",
                "    return loss",
            ]
        )

    def _pair(self) -> str:
        found, tf2 = self._found, self._tf2
        tf1 = f'"{self._relative(found.file)}:{found.call}"' if found.kind == "estimator" else "network"
        if tf2 is not None and tf2.name:
            side = f'"{self._relative(self._tf2_file)}:{tf2.name}"'
            if tf2.missing_arguments:
                needs = " and ".join(f"`{one}`" for one in tf2.missing_arguments)
                side = to_fill(f"a function that makes {side}, which needs {needs}")
        else:
            side = to_fill("the TF2 side: a function that makes the model, or 'new.py:model', compiled as TF1 trains")
        told = [f"    # TF1 trains by {one}" for one in (found.loss_text, found.optimizer_text) if one]
        lines = ["pair = Pair(", f"    tf1={tf1},", *(told if self._tf2 is None else []), f"    tf2={side},"]
        lines.append("    inputs=inputs," if self._inputs else f"    inputs={to_fill('a batch of inputs')},")
        lines += ["    labels=labels,"] if self._labels else []
        lines += ["    train_step=train_step,"] if self._step() else []
        lines += [f"    params={_said(found.params)},"] if found.params is not None else []
        return "\n".join([*lines, "    # renames, taps, ignore and others: see docs/verify.md", ")"])


def _word(name: str) -> str:
    """A name for a parameter, which is none that means something else to a pair."""
    return f"{name}_" if name in ("labels", "mode", "params", "config", "training", "is_training", "run") else name


def _batch(function: str, given: Sequence[Given], seed: int, rows: int, steps: int) -> str:
    values = [_lengths(one, rows, steps) or _values(one, rows) for one in given]
    if function == "labels" and len(given) > 1:
        what = "{" + ", ".join(f'"{_word(one.name)}": {value}' for one, value in zip(given, values, strict=True)) + "}"
    elif any(one.key for one in given):
        what = "{" + ", ".join(f'"{one.key}": {value}' for one, value in zip(given, values, strict=True)) + "}"
    else:
        what = values[0] if len(values) == 1 else "(" + ", ".join(values) + ")"
    told = "; ".join(f"`{one.name}` of {one.where}" for one in given)
    lines = [
        f"def {function}(step):  # {told}",
        f"    random = np.random.RandomState({'step' if not seed else f'{seed} + step'})",
        f"    return {what}",
    ]
    return "\n".join(lines)


def _lengths(given: Given, rows: int, steps: int) -> str:
    """Of the rows of a batch, the first of which has all steps; empty for what is something else."""
    if not given.is_length or given.shape is None or len(given.shape) != 1:
        return ""
    if steps < 1:
        most = to_fill(f"one more than the steps that `{given.name}` counts, {given.where}")
        return f"random.randint(1, {most}, size={rows}).astype(np.{given.dtype or 'int32'})"
    return f"np.r_[{steps}, random.randint(1, {steps + 1}, size={rows - 1})].astype(np.{given.dtype or 'int32'})"


def _sizes(given: Given, rows: int) -> list[str] | None:
    """The sizes of a batch, as Python; None where nothing is known of them."""
    if given.shape is None:
        return None
    return [
        to_fill(size.what) if isinstance(size, Missing) else str(size if size is not None else _ANY if place else rows)
        for place, size in enumerate(given.shape)
    ]


def _shape(given: Given, rows: int) -> str:
    sizes = _sizes(given, rows)
    if sizes is None:
        return f"({rows}, {to_fill(f'the shape of `{given.name}`, {given.where}, behind the rows')})"
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _values(given: Given, rows: int) -> str:
    if given.sparse:
        return to_fill(f"a tuple of the indices, values and shape of the sparse `{given.name}`, {given.where}")
    sizes, shape = _sizes(given, rows) or [], _shape(given, rows)
    dtype = given.dtype or "float32"
    if given.one_hot and sizes:
        size, outer = sizes[-1], f"({''.join(f'{one}, ' for one in sizes[:-1]).strip()})"
        if size.isdigit() or dtype.startswith(("int", "uint")):
            return f"np.eye({size}, dtype=np.{dtype})[random.randint({size}, size={outer})]"
        return f"random.dirichlet(np.ones({size}), size={outer}).astype(np.{dtype})"
    if dtype == "str":
        return to_fill(f"texts for `{given.name}`, {given.where}, of shape {shape}".replace("to_fill", ""))
    if dtype == "bool":
        return f"random.randint(2, size={shape}).astype(bool)"
    if dtype.startswith(("int", "uint")) or given.bound is not None:
        bound = to_fill(given.bound.what) if isinstance(given.bound, Missing) else given.bound or 2
        return f"random.randint({bound}, size={shape}).astype(np.{dtype})"
    return f"random.normal(size={shape}).astype(np.{dtype})"
