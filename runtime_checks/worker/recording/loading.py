"""From the file that a user names to the pair in it, and from the names in a pair to what they stand for."""

from __future__ import annotations

import glob
import importlib
import inspect
import os
import sys
from types import ModuleType
from typing import Mapping, NamedTuple

from .. import modules, signature
from ..target import TargetError, attribute
from . import public_names
from .pairs.batches import PairError
from .pairs.pair import Pair, Side
from .tensors import Json, Nest

__all__ = ["Loaded", "is_pair", "load", "prepared", "side_of"]

_DEFAULT = "pair"
_FIELDS = tuple(name for name in inspect.signature(Pair).parameters if name != "others")
_SIDES = {"tf1": ("tf1",), "tf2": ("tf2", "train_step")}


class Loaded(NamedTuple):
    """A pair as the recorder wants it.

    ``same`` is true where both sides are one object; ``folder`` is where relative files are looked for.
    """

    pair: Pair
    same: bool
    folder: str


def load(described: Mapping[str, Json]) -> Loaded:
    """Import a pair's file, or module, and find the pair in it.

    To the program it looks as if it were run without arguments; ``from migrate_lint.runtime_checks import Pair`` works
    also where migrate-lint is not installed.

    Args:
        described: ``file`` (a path or None), ``module`` (a dotted name or None), ``attribute`` (a dotted name, or None
            for ``pair`` or the only pair that there is) and ``search_path`` (folders).

    Raises:
        PairError: if there is no pair, or more than one to choose from.
        Exception: whatever the imported code raises.
    """
    public_names.provide()
    modules.prefer(described["search_path"])
    file, name = described["file"], described["module"]
    sys.argv = [str(file or name)]
    module = modules.import_file(file, name) if file else _imported(str(name))
    place = os.path.basename(file) if file else str(name)
    dotted = described["attribute"]
    found_as, value = (dotted, _reached(module, dotted)) if dotted else _only(module, place)
    folder = os.path.dirname(file or getattr(module, "__file__", None) or os.path.join(os.getcwd(), ""))
    return prepared(_made(value, f"{place}:{found_as}"), folder, f"{place}:{found_as}")


def prepared(pair: object, folder: str, name: str) -> Loaded:
    """Take over a pair, of this class or of another version's.

    Args:
        pair: anything with a pair's fields.
        folder: where relative files are looked for.
        name: of a pair that has none.
    """
    fields: dict[str, Nest] = {field: getattr(pair, field, None) for field in _FIELDS}
    fields["ignore"] = fields["ignore"] or ()
    fields["name"] = fields["name"] or name
    if fields["checkpoint"]:
        fields["checkpoint"] = _checkpoint(os.fspath(fields["checkpoint"]), folder)
    return Loaded(Pair(**fields), _are_same(fields["tf1"], fields["tf2"]), folder)


def side_of(loaded: Loaded, side: str, data_alone: bool = False) -> Pair:
    """The pair with what one side needs imported where it is given by name; the other side's stays a name.

    Args:
        loaded: the pair.
        side: ``"tf1"`` or ``"tf2"``.
        data_alone: whether nothing but its input pipeline is wanted of that side.

    Raises:
        PairError: if what is named is not there, or cannot be called.
        Exception: whatever the imported code raises.
    """
    pair = loaded.pair
    for field in _SIDES[side]:
        value = getattr(pair, field)
        if isinstance(value, str):
            value = _named(value, field, loaded.folder)
            setattr(pair, field, value)
        if value is not None and not callable(value):
            raise PairError(f"{field} of {pair.name} is {_kind(value)}: wanted is a function, or file.py:name")
    if pair.data is not None:
        pair.data = _pipelines(pair, side, loaded.folder)
    if getattr(pair, side) is None and not (data_alone and pair.data is not None):
        alone = "" if pair.data is None else "; --until data compares its pipelines alone"
        raise PairError(f"{side} of {pair.name} is None: wanted is a function, or file.py:name{alone}")
    return pair


def _pipelines(pair: Pair, side: str, folder: str) -> tuple[Side, ...]:
    """The input pipelines, that of one side imported where it is given by name."""
    both = list(pair.data or ())
    if len(both) != len(_SIDES):
        raise PairError(f"data of {pair.name}: wanted are two functions, that of TF1 and that of TF2")
    own = list(_SIDES).index(side)
    if isinstance(both[own], str):
        both[own] = _named(both[own], "data", folder)
    if not callable(both[own]):
        raise PairError(f"data of {pair.name}: {_kind(both[own])}: wanted is a function, or file.py:name")
    return tuple(both)


def _are_same(tf1: Side, tf2: Side) -> bool:
    if tf1 is tf2 and tf1 is not None:
        return True
    comparable = isinstance(tf1, str) or inspect.ismethod(tf1)
    return comparable and type(tf1) is type(tf2) and bool(tf1 == tf2)


def _checkpoint(prefix: str, folder: str) -> str:
    """A relative prefix counts from the working folder, or from the pair's where it exists only there."""
    beside = os.path.join(folder, prefix)
    if not glob.glob(glob.escape(prefix) + "*") and glob.glob(glob.escape(beside) + "*"):
        return os.path.abspath(beside)
    return os.path.abspath(prefix)


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise
        raise PairError(f"there is no module {name!r}") from None


def _reached(holder: object, dotted: str) -> Nest:
    try:
        for part in dotted.split("."):
            holder = attribute(holder, part)
    except TargetError as error:
        raise PairError(str(error)) from None
    return holder


def _only(module: ModuleType, place: str) -> tuple[str, object]:
    names = vars(module)
    if is_pair(names.get(_DEFAULT)) or signature.is_function(names.get(_DEFAULT)):
        return _DEFAULT, names[_DEFAULT]
    found: dict[int, str] = {}
    for name, value in names.items():
        if is_pair(value):
            found.setdefault(id(value), name)
    if len(found) == 1:
        (name,) = found.values()
        return name, names[name]
    if found:
        choices = " or ".join(f"{place}:{name}" for name in found.values())
        raise PairError(f"{place} has {len(found)} pairs; name one: {choices}")
    raise PairError(f"{place} has no Pair; write pair = Pair(tf1=..., tf2=..., inputs=...) in it, or name a function")


def _made(value: Nest, place: str) -> Nest:
    """The pair itself, or what a function returns."""
    if is_pair(value):
        return value
    if not signature.is_function(value):
        raise PairError(f"{place} is {_kind(value)}, not a Pair nor a function that returns one")
    missing = signature.required(value)
    if missing:
        raise PairError(f"{place} needs {', '.join(missing)}; wanted is a function without required parameters")
    made = value()
    if not is_pair(made):
        raise PairError(f"{place}() returned {_kind(made)}, not a Pair")
    return made


def is_pair(value: object) -> bool:
    """Whether it is a pair, of this class or of another version's."""
    return not inspect.isclass(value) and all(
        field in getattr(value, "__dict__", ()) for field in ("tf1", "tf2", "inputs")
    )


def _named(text: str, field: str, folder: str) -> Side:
    place, colon, dotted = text.rpartition(":")
    if not colon or not place or not all(part.isidentifier() for part in dotted.split(".")):
        raise PairError(f"{field}={text!r}: it is written file.py:name or package.module:name")
    if not place.endswith(".py"):
        return _reached(_imported(place), dotted)
    file = os.path.join(folder, place)
    if not os.path.isfile(file):
        raise PairError(f"{field}={text!r}: there is no file {file}")
    file = os.path.realpath(file)
    outside = os.path.dirname(file)
    while os.path.isfile(os.path.join(outside, "__init__.py")):
        outside = os.path.dirname(outside)
    if outside not in sys.path:
        sys.path.insert(0, outside)
    return _reached(modules.import_file(file), dotted)


def _kind(value: object) -> str:
    return "None" if value is None else f"an object of type {type(value).__qualname__}"
