"""Groups of variables that changed their layout together: what a TF1 cell has in one kernel lies in two on Keras.

A conversion says which TF1 variables became which TF2 variables, and how their elements move: each element of TF2 is
one of TF1, or a constant, and what TF1 adds outside of its variables, such as ``forget_bias``, may be added to it.
So values, gradients and optimizer slots are converted alike, the latter two without what is added.
"""

from __future__ import annotations

import itertools
import os
from typing import Any, Callable, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from ..pairs.mapping import Described, Renames, ignored, match, plain, renamed
from ..pairs.pair import LAYOUTS, Converter, Gates
from ..tensors import Array, DType, Function, Json
from .layout import Layouts

__all__ = [
    "FUNCTION", "NOT_TRIED", "PROVEN", "REFUTED", "UNCLEAR", "Conversion", "ConversionError", "Derived", "cells",
    "declared", "derived", "described", "found", "from_said", "refilled", "regrouped", "variants"
]

FUNCTION = "function"
"""The layout of a conversion that the user's own function makes."""
PROVEN = "proven"
"""Outputs with filled variables agree with a layout, and do not where the same values stand in another order."""
REFUTED = "refuted"
"""Outputs differ with it."""
UNCLEAR = "unclear"
"""Outputs agree in whatever order the values are."""
NOT_TRIED = "not tried"
_MOST_HEADS = 32
Shape = Tuple[int, ...]
Move = Tuple[Array, Array]
"""Of a TF2 variable: for each element the position in the TF1 group, -1 for none; and what is added."""


class ConversionError(ValueError):
    """A converter of the pair does not fit; the text says why."""


class Conversion(NamedTuple):
    """A group of TF1 variables and the group of TF2 variables that it became; names without ``:0``.

    `old` and `new` are the shapes. `settings` are those of the layout; `moves` those of a function.
    """

    layout: str
    tf1: tuple[str, ...]
    tf2: tuple[str, ...]
    old: tuple[Shape, ...]
    new: tuple[Shape, ...]
    settings: Mapping[str, Any] = {}
    moves: tuple[Move, ...] = ()

    def values(self, arrays: Sequence[Array], change: bool = False) -> list[Array]:
        """The TF1 values of the group as the TF2 variables have them.

        Args:
            arrays: in the order and the shapes of the TF1 group.
            change: whether they are gradients or slots, to which nothing is added.
        """
        if self.layout == FUNCTION:
            return [_moved(arrays, move, shape, change) for move, shape in zip(self.moves, self.new)]
        found = _MAKERS[self.layout](list(arrays), self)
        shift = 0.0 if change else float(self.settings.get("forget_bias", 0.0))
        if shift:
            gates = str(self.settings["gates"])
            bias = np.array(found[-1])
            units = bias.shape[-1] // len(gates)
            at = gates.index("f")
            bias[..., at * units : (at + 1) * units] += bias.dtype.type(shift)
            found[-1] = bias
        return [np.ascontiguousarray(value).reshape(shape) for value, shape in zip(found, self.new)]

    def sources(self) -> list[tuple[tuple[int, ...], bool]]:
        """For each TF2 variable: which of the TF1 group it is made of, and whether nothing is added to that."""
        marks: list[Array] = [np.full(shape, 1.0 + number, np.float32) for number, shape in enumerate(self.old)]
        both = zip(self.values(marks), self.values(marks, change=True))
        found = []
        for value, moved in both:
            numbers = [int(number) for number in np.unique(moved)]
            alone = 0 not in numbers and not np.any(value - moved)
            found.append((tuple(number - 1 for number in numbers if number), alone))
        return found


class Derived(NamedTuple):
    """What a TF2 variable of a group is on TF1, under a name that no variable there needs to have.

    `sources` are the positions in the TF1 group of what it is made of; `alone` says that nothing is added to that.
    """

    name: str
    conversion: Conversion
    at: int
    sources: tuple[int, ...]
    alone: bool

    @property
    def target(self) -> str:
        """The name of the TF2 variable."""
        return self.conversion.tf2[self.at]

    @property
    def source(self) -> str:
        """The name of the first TF1 variable that it is made of."""
        return self.conversion.tf1[self.sources[0] if self.sources else 0]


def _columns(value: Array, own: str, wanted: str) -> Array:
    """Blocks of the last axis in another order."""
    parts = np.split(value, len(own), axis=-1)
    return np.concatenate([parts[own.index(gate)] for gate in wanted], axis=-1)


def _lstm(arrays: list[Array], group: Conversion) -> list[Array]:
    kernel, bias = (_columns(value, Gates.LSTM_TF1, str(group.settings["gates"])) for value in arrays)
    rows = group.new[0][0]
    return [kernel[:rows], kernel[rows:], bias]


def _gru(arrays: list[Array], group: Conversion) -> list[Array]:
    gates, gates_bias, candidate, candidate_bias = arrays
    wanted = str(group.settings["gates"])
    kernel = _columns(np.concatenate([gates, candidate], axis=-1), Gates.GRU_TF1, wanted)
    bias = _columns(np.concatenate([gates_bias, candidate_bias]), Gates.GRU_TF1, wanted)
    rows = group.new[0][0]
    if len(group.new[2]) == 2:
        bias = np.stack([bias, np.zeros_like(bias)])
    return [kernel[:rows], kernel[rows:], bias]


def _cudnn_gru(arrays: list[Array], group: Conversion) -> list[Array]:
    gates, gates_bias, inputs, states, inputs_bias, states_bias = arrays
    rows, wanted = group.new[0][0], str(group.settings["gates"])
    pairs = [(gates[:rows], inputs), (gates[rows:], states)]
    biases = [(gates_bias, inputs_bias), (np.zeros_like(gates_bias), states_bias)]
    kernel, recurrent, first, second = (
        _columns(np.concatenate(pair, axis=-1), Gates.GRU_TF1, wanted) for pair in pairs + biases
    )
    return [kernel, recurrent, np.stack([first, second])]


def _rnn(arrays: list[Array], group: Conversion) -> list[Array]:
    kernel, bias = arrays
    rows = group.new[0][0]
    return [kernel[:rows], kernel[rows:], bias]


def _gates(arrays: list[Array], group: Conversion) -> list[Array]:
    wanted = str(group.settings["gates"])
    own = "".join(sorted(wanted, key=(Gates.LSTM_TF1 if len(wanted) == 4 else Gates.GRU_TF1).index))
    return [_columns(value, own, wanted) for value in arrays]


def _fused(arrays: list[Array], group: Conversion) -> list[Array]:
    """Three dense layers become one; the biases, if there are any, stand behind each kernel on TF1."""
    order, heads = str(group.settings["order"]), int(group.settings["heads"])
    count = len(group.new)
    found = []
    for part in range(count):
        three = [arrays["qkv".index(name) * count + part] for name in order]
        if heads:
            split = [value.reshape((*value.shape[:-1], heads, -1)) for value in three]
            found.append(np.concatenate(split, axis=-1).reshape(group.new[part]))
        else:
            found.append(np.concatenate(three, axis=-1))
    return found


def _separate(arrays: list[Array], group: Conversion) -> list[Array]:
    """One dense layer becomes three."""
    order, heads = str(group.settings["order"]), int(group.settings["heads"])
    parts = []
    for value in arrays:
        apart = value.reshape((*value.shape[:-1], heads, -1)) if heads else value
        three = np.split(apart, 3, axis=-1)
        parts.append([three[order.index(name)] for name in "qkv"])
    return [part[at] for at in range(3) for part in parts]


def _same(arrays: list[Array], group: Conversion) -> list[Array]:
    return arrays


_MAKERS: dict[str, Callable[[list[Array], Conversion], list[Array]]] = {
    "lstm": _lstm,
    "gru": _gru,
    "cudnn_gru": _cudnn_gru,
    "rnn": _rnn,
    "gates": _gates,
    "fused_qkv": _fused,
    "separate_qkv": _separate,
    "heads": _same,
}


def _moved(arrays: Sequence[Array], move: Move, shape: Shape, change: bool) -> Array:
    index, added = move
    flat = np.concatenate([np.ravel(value) for value in arrays])
    value = np.where(index < 0, flat.dtype.type(0), flat[np.maximum(index, 0)])
    return (value if change else value + added.astype(flat.dtype)).reshape(shape)


def _probed(function: Function, old: Sequence[Shape], new: Sequence[Shape]) -> tuple[Move, ...]:
    """How a user's function moves elements.

    Raises:
        ConversionError: if it does anything else, such as to scale them.
    """
    sizes = [int(np.prod(shape, dtype=np.int64)) for shape in old]
    ends = np.cumsum(sizes)
    total = int(ends[-1])

    def asked(flat: Array) -> list[Array]:
        parts = [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), old)]
        given = function(parts)
        found = [np.asarray(value, np.float64) for value in (given if isinstance(given, (list, tuple)) else [given])]
        if [value.shape for value in found] != [tuple(shape) for shape in new]:
            told = [list(value.shape) for value in found], [list(shape) for shape in new]
            raise ConversionError(f"it gives the shapes {told[0]} for TF2 variables of the shapes {told[1]}")
        return [value.reshape(-1) for value in found]

    added = asked(np.zeros(total))
    numbers = [value - base for value, base in zip(asked(np.arange(1.0, total + 1)), added)]
    moves = []
    other = np.random.RandomState(0).rand(total)
    for value, base, checked in zip(numbers, added, asked(other)):
        index = np.rint(value).astype(np.int64) - 1
        right = np.all((index >= -1) & (index < total)) and np.allclose(index + 1, value)
        if not right or not np.allclose(np.where(index < 0, 0.0, other[np.maximum(index, 0)]) + base, checked):
            raise ConversionError("it does more than to move elements and to add constants, so that nothing is known "
                                  "of gradients and slots")
        moves.append((index, base))
    taken = np.concatenate([index[index >= 0] for index, _ in moves])
    if np.unique(taken).size != taken.size:
        raise ConversionError("it uses an element twice: the gradients of both copies belong to one of TF1")
    return tuple(moves)


# Finding groups


def declared(
    converters: Sequence[Converter], tf1: Sequence[Described], tf2: Sequence[Described]
) -> tuple[list[Conversion], list[str]]:
    """The conversions that a pair declares, for the variables of both sides; and why some of them cannot be made."""
    made: list[Conversion] = []
    problems = []
    for one in converters:
        try:
            made += _declared(one, tf1, tf2)
        except ConversionError as error:
            problems.append(f"converters: {one}: {error}")
    return made, problems


def _declared(one: Converter, tf1: Sequence[Described], tf2: Sequence[Described]) -> list[Conversion]:
    left, right = _resolved(one.tf1, tf1, "TF1"), _resolved(one.tf2, tf2, "TF2")
    old, new = [_shape(row) for row in left], [_shape(row) for row in right]
    names = tuple(_name(row) for row in left), tuple(_name(row) for row in right)
    if callable(one.layout):
        try:
            moves = _probed(one.layout, old, new)
        except ConversionError:
            raise
        except Exception as error:
            raise ConversionError(f"it raised {type(error).__name__}: {error}") from error
        return [Conversion(FUNCTION, names[0], names[1], tuple(old), tuple(new), {}, moves)]
    settings = {**LAYOUTS[one.layout], **one.settings}
    if one.layout == "heads" and len(old) == len(new):  # each for itself
        alike = zip(*names, old, new)
        single = [Conversion("heads", (a,), (b,), (c,), (d,), settings) for a, b, c, d in alike]
        if all(("heads", 1, [*part.old]) in _recipes(part.new) for part in single):
            return single
    for layout, count, wanted in _recipes(new):
        if layout == one.layout and count == len(new) and wanted == old:
            return [Conversion(layout, names[0], names[1], tuple(old), tuple(new), settings)]
    raise ConversionError(
        f"TF1 has the shapes {[list(shape) for shape in old]} and TF2 {[list(shape) for shape in new]}, which are not "
        "those of this layout"
    )


def _resolved(said: Sequence[str], rows: Sequence[Described], side: str) -> list[Described]:
    found: list[Described] = []
    for name in said:
        for ending in (False, True):
            here = [row for row in rows if _is_called(_name(row), plain(name), ending)]
            if here:
                break
        if not here:
            raise ConversionError(f"the {side} side has no variable {name}")
        found += [row for row in here if row not in found]
    return found


def _is_called(name: str, said: str, ending: bool) -> bool:
    """Whether a variable is named, or stands below a name that ends with a slash; what a model is called may lack."""
    if said.endswith("/"):
        return name.startswith(said) or (ending and "/" + said in name)
    return name == said or (ending and name.endswith("/" + said))


def found(
    tf1: Sequence[Described],
    tf2: Sequence[Described],
    renames: Renames,
    ignore: Sequence[str],
    layouts: Layouts,
    taken: Sequence[Conversion] = (),
) -> list[Conversion]:
    """Groups of variables without counterpart whose shapes are those of a built-in layout, in the order of TF2.

    Args:
        tf1: the variables of the TF1 side, in the order of creation.
        tf2: the variables of the TF2 side.
        renames: as in `Pair`.
        ignore: as in `Pair`.
        layouts: of single variables, as the pair says.
        taken: groups that are known already.
    """
    known = {name for one in taken for name in one.tf1}, {name for one in taken for name in one.tf2}
    left = [row for row in tf1 if not ignored(_name(row), ignore) and _name(row) not in known[0]]
    right = [row for row in tf2 if not ignored(_name(row), ignore) and _name(row) not in known[1]]
    if any(row.get("shape") is None or None in row["shape"] for row in left + right):
        return []
    matched = match(left, right, renames)
    settled = {
        _name(pair.tf2): _name(pair.tf1)
        for pair in matched.pairs
        if layouts.fits(_name(pair.tf1), pair.tf1["shape"], pair.tf2["shape"])
    }
    if not matched.pairs and len(matched.suggestions) == len(left) == len(right):
        return []  # other names, and the same shapes in the same order
    by_name = {_name(pair.tf2): _name(pair.tf1) for pair in matched.pairs}
    made: list[Conversion] = []
    at = 0
    used: set[str] = set()
    folders: dict[str, str] = {}
    plain_ones = _alike(left, right, settled)
    while at < len(right):
        group = _at(left, right[at:], settled, by_name, used, renames, folders, plain_ones)
        if group is None:
            at += 1
            continue
        made.append(group)
        used |= set(group.tf1)
        folders[_inside(group.tf2[0])] = _inside(group.tf1[0])
        at += len(group.tf2)
    return made


def _alike(left: Sequence[Described], right: Sequence[Described], settled: Mapping[str, str]) -> set[Shape]:
    """The shapes of which TF1 has as many variables without counterpart as TF2: these lie alike on both sides."""
    olds = [_shape(row) for row in left if _name(row) not in settled.values()]
    news = [_shape(row) for row in right if _name(row) not in settled]
    return {shape for shape in news if news.count(shape) <= olds.count(shape)}


def _at(
    left: Sequence[Described],
    right: Sequence[Described],
    settled: Mapping[str, str],
    by_name: Mapping[str, str],
    used: set[str],
    renames: Renames,
    folders: Mapping[str, str],
    alike: set[Shape],
) -> Conversion | None:
    """A group that begins with the first of the TF2 variables.

    Where several TF1 variables have the shapes, those count that have to do with it by name, stand where the rest of
    its folder came from, are called alike, and come first.
    """
    shapes = [_shape(row) for row in right[:8]]
    for layout, count, wanted in _recipes(shapes):
        new = right[:count]
        names = [_name(row) for row in new]
        if all(name in settled for name in names) or (layout != "separate_qkv" and not _together(names)):
            continue
        if layout == "heads" and shapes[0] in alike:
            continue
        windows = [left[at : at + len(wanted)] for at in range(len(left) - len(wanted) + 1)]
        fitting = []
        for window in windows:
            olds = [_name(row) for row in window]
            if [_shape(row) for row in window] != wanted or used & set(olds):
                continue
            partners = {settled[name] for name in names if name in settled}
            foreign = [name for name, old in settled.items() if old in olds and name not in names]
            if not foreign and partners <= set(olds):
                fitting.append(olds)
        if fitting:
            near = _Nearness(names, by_name, renames, folders)
            nearest = min(fitting, key=near.rank)
            return Conversion(
                layout, tuple(nearest), tuple(names), tuple(wanted), tuple(shapes[:count]), LAYOUTS[layout]
            )
    return None


def _together(names: Sequence[str]) -> bool:
    return len({name.rpartition("/")[0] for name in names}) == 1


def _inside(name: str) -> str:
    """The folder of a name."""
    return name.rpartition("/")[0]


class _Nearness(NamedTuple):
    """How far TF1 variables are, by their names, from those of TF2."""

    names: Sequence[str]
    by_name: Mapping[str, str]
    renames: Renames
    folders: Mapping[str, str]

    def rank(self, olds: Sequence[str]) -> tuple[bool, bool, bool]:
        """The smallest is the nearest."""
        folder = self.folders.get(_inside(self.names[0]))
        last = [one.rpartition("/")[2] for one in (olds[0], self.names[0])]
        return self._apart(olds), folder is not None and _inside(olds[0]) != folder, last[0] != last[1]

    def _apart(self, olds: Sequence[str]) -> bool:
        """Whether names have nothing to do with each other."""
        if any(self.by_name.get(name) in olds for name in self.names):
            return False
        scope = _inside(renamed(olds[0], self.renames))
        return not (scope and _inside(self.names[0]).endswith(scope))


Recipe = Tuple[str, int, List[Shape]]


def _recipes(shapes: Sequence[Shape]) -> Iterator[Recipe]:
    """The layouts that TF2 variables of such shapes may begin: how many belong to it, and the shapes on TF1."""
    yield from _recurrent(shapes)
    yield from _attention(shapes)


def _recurrent(shapes: Sequence[Shape]) -> Iterator[Recipe]:
    if len(shapes) < 2 or len(shapes[0]) != 2:
        return
    rows, columns = shapes[0]
    if len(shapes) > 2 and len(shapes[1]) == 2 and shapes[1][1] == columns:
        units, bias = shapes[1][0], shapes[2]
        both = rows + units
        if columns == 4 * units and bias == (columns,):
            yield "lstm", 3, [(both, columns), (columns,)]
        if columns == 3 * units and bias in ((columns,), (2, columns)):
            yield "gru", 3, [(both, 2 * units), (2 * units,), (both, units), (units,)]
        if columns == 3 * units and bias == (2, columns):
            candidate = [(rows, units), (units, units), (units,), (units,)]
            yield "cudnn_gru", 3, [(both, 2 * units), (2 * units,), *candidate]
        if columns == units and bias == (columns,):
            yield "rnn", 3, [(both, columns), (columns,)]


def _attention(shapes: Sequence[Shape]) -> Iterator[Recipe]:
    first = shapes[0]
    if len(first) == 2 and first[1] % 3 == 0:
        one = (first[0], first[1] // 3)
        if shapes[1:2] == [(first[1],)]:
            yield "fused_qkv", 2, [one, one[1:]] * 3
        yield "fused_qkv", 1, [one] * 3
    if len(first) == 2:
        for count, three in ((6, [first, first[1:]] * 3), (3, [first] * 3)):
            if list(shapes[:count]) == three:
                yield "separate_qkv", count, [(first[0], 3 * first[1]), (3 * first[1],)][: count // 3]
    if len(first) == 3:
        yield "heads", 1, [(first[0], first[1] * first[2])]
        yield "heads", 1, [(first[0] * first[1], first[2])]
    if len(first) == 2:
        yield "heads", 1, [(first[0] * first[1],)]


def cells(
    tf1: Sequence[Described], tf2: Sequence[Described], names: Mapping[str, str], widths: Sequence[int]
) -> list[Conversion]:
    """Variables that lie alike on both sides and have the shapes of a cell of TF1: their gates may be mixed up.

    Args:
        tf1: the variables of the TF1 side.
        tf2: the variables of the TF2 side.
        names: names of TF1 by those of their TF2 counterparts.
        widths: of what may be the input of a cell.
    """
    own = {_name(row): _shape(row) for row in tf2}
    back = {old: new for new, old in names.items()}
    known = set(widths) | {size for row in tf1 for size in _shape(row)}
    made = []
    for kernel, bias in zip(tf1, tf1[1:]):
        shapes = _shape(kernel), _shape(bias)
        olds = _name(kernel), _name(bias)
        news = tuple(back.get(old, "") for old in olds)
        if len(shapes[0]) != 2 or shapes[1] != shapes[0][1:] or tuple(own.get(new) for new in news) != shapes:
            continue
        for gates in (Gates.LSTM_TF1, Gates.GRU_TF1[:2]):
            units, rest = divmod(shapes[0][1], len(gates))
            if not rest and shapes[0][0] - units in known:
                made.append(Conversion("gates", olds, news, shapes, shapes, {"gates": gates}))
                break
    return made


def variants(one: Conversion) -> Iterator[Conversion]:
    """The same group under the other settings that its layout may have, the likeliest first."""
    for settings in _settings(one):
        if settings != dict(one.settings):
            yield one._replace(settings=settings)


def _settings(one: Conversion) -> Iterator[dict[str, Any]]:
    usual = LAYOUTS.get(one.layout, {})
    if one.layout == "lstm":
        for shift in dict.fromkeys((float(one.settings["forget_bias"]), 1.0, 0.0)):
            yield {"gates": Gates.LSTM_KERAS, "forget_bias": shift}
            yield {"gates": Gates.LSTM_TF1, "forget_bias": shift}
        for shift in (1.0, 0.0):
            for order in itertools.permutations(Gates.LSTM_TF1):
                yield {"gates": "".join(order), "forget_bias": shift}
    elif one.layout == "gates":
        own = str(one.settings["gates"])
        for shift in (1.0, -1.0) if "f" in own else ():
            yield {"gates": own, "forget_bias": shift}
        for order in itertools.permutations(own):
            yield {"gates": "".join(order)}
    elif "gates" in usual:
        for order in itertools.permutations(str(usual["gates"])):
            yield {"gates": "".join(order)}
    elif "heads" in usual:
        width = min(shape[-1] for shape in one.old + one.new)
        counts = [heads for heads in range(2, _MOST_HEADS + 1) if width % heads == 0]
        for heads in [0, *counts]:
            for order in itertools.permutations("qkv"):
                yield {"order": "".join(order), "heads": heads}


# Groups as rows and as data


def derived(conversions: Sequence[Conversion]) -> list[Derived]:
    """What each TF2 variable of the groups is on TF1, with names that are unique where those of the groups are."""
    made: list[Derived] = []
    for one in conversions:
        sources = one.sources()
        groups = [own for own, _ in sources]
        for at, (own, alone) in enumerate(sources):
            name = _joined([one.tf1[number] for number in own]) or f"nothing of {one.tf1[0]}"
            if groups.count(own) > 1:
                name += f"[{one.tf2[at][len(_folder(one.tf2)) :]}]"
            made.append(Derived(name, one, at, own, alone))
    return made


def _joined(names: Sequence[str]) -> str:
    """Names that have a folder in common, in one."""
    folder = _folder(names)
    return folder + "+".join(name[len(folder) :] for name in names)


def _folder(names: Sequence[str]) -> str:
    """What paths have in common, with its slash."""
    common = os.path.commonprefix([name.split("/")[:-1] for name in names])  # noqa: RUF071 -- of lists
    return "/".join([*common, ""])


def regrouped(rows: Sequence[Described], parts: Sequence[Derived]) -> list[dict[str, Json]]:
    """The variables of the TF1 side with each group replaced by what its TF2 variables are; of the rest copies."""
    at_first = {part.conversion.tf1[0]: part.conversion for part in parts}
    members = {name for part in parts for name in part.conversion.tf1}
    made: list[dict[str, Json]] = []
    by_name = {_name(row): row for row in rows}
    for row in rows:
        group = at_first.get(_name(row))
        if group is not None:
            for part in parts:
                if part.conversion is group:
                    olds = [by_name[group.tf1[at]] for at in part.sources]
                    shape, trained = list(group.new[part.at]), any(old.get("trainable", True) for old in olds)
                    first = by_name[part.source]
                    made.append({**first, "name": part.name, "shape": shape, "trainable": trained})
        elif _name(row) not in members:
            made.append(dict(row))
    return made


def refilled(part: Derived, fill: Function, dtype: DType) -> Array:
    """What a TF2 variable of a group gets where its TF1 variables are filled; None where they are not.

    Args:
        part: of the group.
        fill: from name, shape and dtype to a value, or None.
        dtype: of the variable.
    """
    group = part.conversion
    arrays = [fill(name, shape, dtype) for name, shape in zip(group.tf1, group.old)]
    return None if any(array is None for array in arrays) else group.values(arrays)[part.at]


def described(one: Conversion) -> dict[str, Json]:
    """A conversion as JSON data, without the moves of a function."""
    return {
        "layout": one.layout,
        "tf1": list(one.tf1),
        "tf2": list(one.tf2),
        "old": [list(shape) for shape in one.old],
        "new": [list(shape) for shape in one.new],
        "settings": dict(one.settings),
    }


def from_said(said: Mapping[str, Json], moves: Sequence[Move] = ()) -> Conversion:
    """What `described` told of a conversion.

    Raises:
        ValueError: if there is no such layout, or its values cannot be made.
    """
    if said["layout"] not in (*_MAKERS, FUNCTION):
        raise ValueError(f"there is no layout {said['layout']}")
    old, new = ([tuple(shape) for shape in said[key]] for key in ("old", "new"))
    return Conversion(
        str(said["layout"]), tuple(said["tf1"]), tuple(said["tf2"]), tuple(old), tuple(new), dict(said["settings"]),
        tuple(moves),
    )  # fmt: skip


def _name(row: Described) -> str:
    return plain(str(row["name"]))


def _shape(row: Described) -> Shape:
    return tuple(row["shape"])
