"""Ways to make something once, and ways that only look like it: generated, and executed to know which is which.

A form keeps what it makes in a *cell* (an attribute, an item, a global ...), asks for it by a *test*, in some *shape*
of code, and may *undo* it, here or there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from textwrap import indent
from types import SimpleNamespace
from typing import Any

CREATE = "create()"


@dataclass(frozen=True)
class Cell:
    """Where something is kept: texts in which ``@`` is what is made."""

    tests: tuple[str, ...]
    """Hold while it is not there."""
    stores: tuple[str, ...]
    undos: tuple[str, ...]
    init: str = "pass"
    before: str = ""
    inside: str = ""
    """Stands in the class."""
    head: str = ""
    """Stands first in every method."""
    raises: tuple[str, str] | None = None
    """What raises while it is not there, and the exception."""
    value: str = ""
    """What is None while it is not there."""


CELLS = {
    "attribute": Cell(
        ("self.v is None", "None is self.v", "not self.v", "self.v == None", "getattr(self, 'v', None) is None",
         "not bool(self.v)", "isinstance(self.v, type(None))", "self.v in (None,)", "not (self.v is not None)"),
        ("self.v = @", "setattr(self, 'v', @)", "self.v, self.w = @, 1", "self.__dict__['v'] = @"),
        ("self.v = None", "setattr(self, 'v', None)", "self.v, self.w = None, 2", "self.v = self.nothing"),
        init="self.v = self.nothing = None",
        value="self.v",
    ),
    "new attribute": Cell(
        ("not hasattr(self, 'q')", "'q' not in self.__dict__", "'q' not in vars(self)",
         "getattr(self, 'q', None) is None"),
        ("self.q = @", "setattr(self, 'q', @)", "self.__dict__['q'] = @", "object.__setattr__(self, 'q', @)"),
        ("del self.q", "delattr(self, 'q')", "self.__dict__.pop('q', None)", "vars(self).clear()"),
        raises=("self.q", "AttributeError"),
        value="getattr(self, 'q', None)",
    ),
    "item": Cell(
        ("name not in self.d", "name not in self.d.keys()", "self.d.get(name) is None", "not self.d",
         "len(self.d) == 0", "not self.d.__contains__(name)"),
        ("self.d[name] = @", "self.d.update({name: @})", "kept = self.d; kept[name] = @", "self.d |= {name: @}"),
        ("self.d.pop(name, None)", "self.d.clear()", "self.d = {}", "kept = self.d; kept.pop(name, None)"),
        init="self.d = {}",
        raises=("self.d[name]", "KeyError"),
        value="self.d.get(name)",
    ),
    "list": Cell(
        ("not self.ws", "len(self.ws) == 0", "len(self.ws) < 1", "self.ws == []", "1 > len(self.ws)"),
        ("self.ws.append(@)", "self.ws += [@]", "self.ws = self.ws + [@]", "self.ws.extend([@])",
         "self.ws.insert(0, @)", "self.ws = [@ for _ in range(2)]"),
        ("self.ws.clear()", "self.ws = []", "del self.ws[:]", "self.ws = self.ws[:0]"),
        init="self.ws = []",
        raises=("self.ws[0]", "IndexError"),
        value="next(iter(self.ws), None)",
    ),
    "names": Cell(
        ("name not in self.seen", "not self.seen"),
        ("self.seen.add(name); self.w = @", "self.w = @; self.seen |= {name}"),
        ("self.seen.discard(name)", "self.seen.clear()", "self.seen = set()", "self.seen -= {name}"),
        init="self.seen = set()",
    ),
    "flag": Cell(
        ("not self.ready", "self.ready is False", "self.ready == 0", "self.ready != True"),
        ("self.w = @; self.ready = True", "self.ready = 1 == 1; self.w = @"),
        ("self.ready = False", "self.ready = not self.ready", "self.ready = 1 == 2"),
        init="self.ready = False",
    ),
    "counter": Cell(
        ("self.n == 0", "self.n < 1", "not self.n", "0 == self.n"),
        ("self.w = @; self.n += 1", "self.w = @; self.n = self.n + 1", "self.n = 7; self.w = @"),
        ("self.n = 0", "self.n = self.n * 0", "self.n -= self.n"),
        init="self.n = 0",
    ),
    "global": Cell(
        ("KEPT is None", "not KEPT"),
        ("KEPT = @",),
        ("KEPT = None",),
        before="KEPT = None",
        head="global KEPT",
    ),
    "global item": Cell(
        ("name not in KEPT", "KEPT.get(name) is None", "not KEPT"),
        ("KEPT[name] = @", "KEPT.update({name: @})"),
        ("KEPT.clear()", "KEPT.pop(name, None)", "del KEPT[name]"),
        before="KEPT = {}",
        raises=("KEPT[name]", "KeyError"),
        value="KEPT.get(name, None)",
    ),
    "class attribute": Cell(
        ("self.c is None", "type(self).c is None", "self.__class__.c is None"),
        ("type(self).c = @", "self.__class__.c = @"),
        ("type(self).c = None",),
        inside="c = None",
    ),
    "attribute of a kept object": Cell(
        ("self.box.v is None", "getattr(self.box, 'v', None) is None"),
        ("self.box.v = @", "box = self.box; box.v = @"),
        ("self.box.v = None", "self.box = Box()"),
        init="self.box = Box()",
        value="self.box.v",
        before="class Box:\n    v = None",
    ),
    "nothing": Cell(
        ("training", "not self.frozen", "self.depth > 1", "x is not None", "'a' in self.options"),
        ("self.w = @", "self.ws.append(@)", "w = @"),
        ("self.w = None",),
        init="self.frozen = False; self.depth = 3; self.ws = []; self.options = {'a': 1}",
    ),
}  # fmt: skip

SHAPES = {
    "if": "if {test}:\n    {store}",
    "else": "if not ({test}):\n    pass\nelse:\n    {store}",
    "leaves": "if not ({test}):\n    return x\n{store}",
    "a name first": "absent = {test}\nif absent:\n    {store}",
    "negated name": "there = not ({test})\nif not there:\n    {store}",
    "and": "if {test} and x is not None:\n    {store}",
    "or each time": "if {test} or training:\n    {store}",
    "nested": "if x is not None:\n    if {test}:\n        {store}",
    "loop": "for _ in range(2):\n    if {test}:\n        {store}",
    "try": "try:\n    if {test}:\n        {store}\nfinally:\n    self.done = True",
    "with": "with Lock():\n    if {test}:\n        {store}",
    "predicate": "if self._need(x, name, training):\n    {store}",
    "helper": "if {test}:\n    self._make(x, name, training)",
    "ensure": "self._ensure(x, name, training)",
    "property": "if self._is_missing:\n    {store}",
    "except": "try:\n    {read}\nexcept {error}:\n    {store}",
    "except, left": "try:\n    return {read}\nexcept (TypeError, {error}):\n    pass\n{store}",
    "else of try": "try:\n    kept = {read}\nexcept {error}:\n    kept = None\nif kept is None:\n    {store}",
    "suppress": "with suppress({error}):\n    return {read}\n{store}",
    "match": "match {value}:\n    case None:\n        {store}",
    "match any": "match {value}:\n    case None | False:\n        {store}\n    case _:\n        pass",
    "walrus": "if (kept := {value}) is None:\n    {store}",
    "value first": "kept = {value}\nif kept is not None:\n    return kept\n{store}",
    "value of a method": "if self._value(x, name, training) is None:\n    {store}",
    "while": "while {test}:\n    {store}",
    "lambda": "need = lambda: {test}\nif need():\n    {store}",
    "function": "def make():\n    {store}\nif {test}:\n    make()",
}
UNDONE = {
    "never": "{body}",
    "before": "{undo}\n{body}",
    "after": "{body}\n{undo}",
    "by a method": "{body}\nself._reset(x, name, training)",
    "finally": "try:\n{indented}\nfinally:\n    {undo}",
    "in training": "{body}\nif training:\n    {undo}",
}
_METHODS = {
    "_need": "return {test}",
    "_make": "{store}",
    "_ensure": "if {test}:\n    {store}",
    "_reset": "{undo}",
    "_value": "return {value}",
}
_PARAMETERS = "self, x, name='a', training=True"


@dataclass(frozen=True)
class Form:
    """A class that makes something in its method `call`."""

    name: str
    text: str

    def linted(self) -> str:
        """The same class as a layer that makes variables."""
        text = self.text.replace("class Net:", "class Net(tf.keras.layers.Layer):")
        text = text.replace("class Base:", "class Base(tf.keras.layers.Layer):")
        text = text.replace("def __init__(self):\n", "def __init__(self):\n        super().__init__()\n", 1)
        text = text.replace(CREATE, "tf.Variable(1.0)").replace("Var()", "tf.Variable(1.0)")
        return "import tensorflow as tf\nfrom contextlib import suppress\n" + text.replace(" Var)", " tf.Variable)")

    def created(self) -> tuple[int, int]:
        """How many times the first call of an instance creates, and the second; -1 where it raises."""
        made: list[object] = []

        class Lock:
            def __enter__(self) -> None: ...
            def __exit__(self, *_: object) -> None: ...

        def create() -> object:
            if len(made) > 9:
                raise RecursionError  # a loop without end
            made.append(SimpleNamespace())
            return made[-1]

        class Var:
            def __init__(self) -> None:
                create()

        names: dict[str, Any] = {"create": create, "Var": Var, "Lock": Lock, "suppress": suppress}
        exec(compile(self.text, self.name, "exec"), names)
        net = names["Net"]()
        x = SimpleNamespace(shape=(2, 3), kernel=None)
        counts = []
        for _ in range(2):
            before = len(made)
            try:
                net.call(x)
            except Exception:
                return -1, -1
            counts.append(len(made) - before)
        return counts[0], counts[1]


def forms() -> Iterator[Form]:
    """All that make sense."""
    for (cell_name, cell), (shape_name, shape), (place, undone) in product(
        CELLS.items(), SHAPES.items(), UNDONE.items()
    ):
        if ("{read}" in shape and cell.raises is None) or ("{value}" in shape + shape_name and not cell.value):
            continue
        read, error = cell.raises or ("", "")
        tests = cell.tests if "{read}" not in shape and "value" not in shape else cell.tests[:1]
        for test, store, undo in product(tests, cell.stores, cell.undos if place != "never" else ("pass",)):
            if cell_name == "list" and shape_name == "match any":
                continue  # a list that begins with False never comes to its end
            if shape_name == "property" and ("name" in test or "training" in test or "x " in test):
                continue
            words = {"test": test, "store": store.replace("@", CREATE).replace("; ", "\n"), "undo": undo}
            words |= {"read": read, "error": error, "value": cell.value}
            name = f"{cell_name}, {test}, {store}, {shape_name}, {place}: {undo}"
            yield Form(name, _class(cell, shape, undone, words))


def _filled(template: str, words: dict[str, str]) -> str:
    """A template, whose lines keep their indentation where several are filled in."""
    lines = []
    for line in template.split("\n"):
        margin = line[: len(line) - len(line.lstrip())]
        lines.append(indent(line.lstrip().format(**words), margin))
    return "\n".join(lines)


def _class(cell: Cell, shape: str, undone: str, words: dict[str, str]) -> str:
    body = _filled(shape, words)
    whole = _filled(undone, {**words, "body": body, "indented": indent(body, "    ")})
    head = f"{cell.head}\n" if cell.head else ""
    text = f"{cell.before}\nclass Net:\n"
    text += indent(f"{cell.inside}\n" if cell.inside else "", "    ")
    text += f"    def __init__(self):\n        {cell.init}\n"
    for name, template in _METHODS.items():
        if name in whole:
            text += f"    def {name}({_PARAMETERS}):\n{indent(head + _filled(template, words), '        ')}\n"
    if "_is_missing" in whole:
        text += f"    @property\n    def _is_missing(self):\n{indent(head + 'return ' + words['test'], '        ')}\n"
    return f"{text}    def call({_PARAMETERS}):\n{indent(head + whole, '        ')}\n        return x\n"
