"""What the JSON files of a recording may hold: who compares or reports takes types, ranges and names for granted."""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping

from ..tensors import Json

__all__ = ["CONTENT", "RECORDS", "RUN", "SchemaError"]

Check = Callable[[Json, str], None]
"""Raises `SchemaError` for a value that is not allowed; the text is where it stands."""

_LONGEST = 1 << 20
"""Characters of a text."""
_NAME = re.compile(r"[\w-]{1,100}")
_PART = re.compile(r"\d{4,12}-[\w-]{1,100}")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_DEEPEST = 50


class SchemaError(ValueError):
    """A value is not what a recording holds; the text says which, and where it stands."""


def _no(value: Json, where: str, what: str) -> SchemaError:
    words = ascii(value) if isinstance(value, (str, int, float, type(None))) else "a " + type(value).__name__
    return SchemaError("{} is {}, which is no {}".format(where or "the file", words[:60], what))


def _text(value: Json, where: str) -> None:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise _no(value, where, "text")


def _matching(pattern: Any, what: str) -> Check:
    def check(value: Json, where: str) -> None:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise _no(value, where, what)

    return check


def _one_of(*allowed: str) -> Check:
    def check(value: Json, where: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise _no(value, where, " or ".join(allowed))

    return check


def _whole(least: int, most: int) -> Check:
    def check(value: Json, where: str) -> None:
        if type(value) is not int or not least <= value <= most:
            raise _no(value, where, "whole number that can be")

    return check


def _seconds(value: Json, where: str) -> None:
    if type(value) not in (int, float) or not abs(value) < 1e9:
        raise _no(value, where, "number of seconds")


def _number(value: Json, where: str) -> None:
    if type(value) not in (int, float) or not abs(value) < 1e300:
        raise _no(value, where, "finite number")


def _flag(value: Json, where: str) -> None:
    if not isinstance(value, bool):
        raise _no(value, where, "boolean")


def _scalar(value: Json, where: str) -> None:
    if isinstance(value, int):
        _whole(-(1 << 64), 1 << 64)(int(value), where)
    elif not isinstance(value, (float, type(None))):
        _text(value, where)


def _anything(value: Json, where: str, depth: int = 0) -> None:
    """Data of a bearable depth and numbers of a bearable size."""
    if depth > _DEEPEST:
        raise SchemaError(f"{where[:200]} is nested too deeply")
    if isinstance(value, dict):
        for key, one in value.items():
            _anything(one, f"{where}.{key[:60]}", depth + 1)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            _anything(one, f"{where}.{at}", depth + 1)
    else:
        _scalar(value, where)


def _maybe(check: Check) -> Check:
    """Of what may be null."""
    return lambda value, where: None if value is None else check(value, where)


def _either(check: Check, other: Check) -> Check:
    """Of what is a list or object by the first, else by the other."""
    return lambda value, where: (check if isinstance(value, (list, dict)) else other)(value, where)


def _list(check: Check, count: int | None = None) -> Check:
    def listed(value: Json, where: str) -> None:
        if not isinstance(value, list) or count not in (None, len(value)):
            raise _no(value, where, "list" if count is None else f"list of {count}")
        for at, one in enumerate(value):
            check(one, f"{where}.{at}" if where else str(at))

    return listed


def _dict(check: Check, name: Check = _text) -> Check:
    """Of objects whose keys are names."""

    def named(value: Json, where: str) -> None:
        if not isinstance(value, dict):
            raise _no(value, where, "object")
        for key, one in value.items():
            name(key, where)
            check(one, f"{where}.{key[:60]}")

    return named


def _fields(required: Mapping[str, Check], optional: Mapping[str, Check], others: Check = _anything) -> Check:
    """Of objects with fields; `others` are those that are not listed."""
    known = {**required, **optional}

    def described(value: Json, where: str) -> None:
        if not isinstance(value, dict):
            raise _no(value, where, "object")
        before = where + "." if where else ""
        for key in required:
            if key not in value:
                raise SchemaError(f"{before}{key} is missing")
        for key, one in value.items():
            known.get(key, others)(one, before + key[:60])

    return described


def _place(value: Json, where: str) -> None:
    _list(_anything, 2)(value, where)
    _text(value[0], where + ".0")
    _whole(0, 1 << 31)(value[1], where + ".1")


def _once(value: Json, where: str) -> None:
    """Names of parts, each of them once."""
    _list(_matching(_PART, "name of a part"))(value, where)
    if len(set(value)) < len(value):
        raise SchemaError(f"{where} names a part twice")


def _axes(value: Json, where: str) -> None:
    _list(_whole(-64, 64))(value, where)


_LENGTH = _whole(0, 1 << 62)
_OPEN_SHAPE = _list(_maybe(_LENGTH))
_VARIABLE = _fields(
    {"name": _text, "shape": _maybe(_OPEN_SHAPE)},
    {
        "dtype": _text,
        "trainable": _flag,
        "tracked": _flag,
        "place": _maybe(_place),
        "initializer": _maybe(_text),
        "layer": _maybe(_text),
        "purpose": _text,
        "only": _text,
        "constraint": _list(_number),
        "regularizer": _place,
    },
)
_LAYER = _fields({"name": _text, "class": _text}, {"config": _dict(_anything), "place": _maybe(_place)})
_DRAW = _fields(
    {"op": _text},
    {
        "seed": _anything,
        "wanted": _anything,
        "shape": _maybe(_OPEN_SHAPE),
        "purpose": _text,
        "place": _maybe(_place),
        "repeats": _flag,
        "sometimes": _flag,
        "idle": _flag,
        "turns": _list(_LENGTH),
        "name": _text,
    },
)


def _standing(value: Json, where: str) -> None:
    """The number of a draw, or, of one that stands for turns, axis, numbers and counts."""
    if not isinstance(value, list):
        _LENGTH(value, where)
    elif len(value) != 3 or not value[1]:
        raise _no(value, where, "number of a draw, or axis, numbers and counts of turns")
    else:
        for part, check in zip(value, (_LENGTH, _list(_LENGTH), _list(_LENGTH))):
            check(part, where)


def _input(value: Json, where: str) -> None:
    """What an operation gets: another one, a variable, a constant, or something that is not known."""
    if not isinstance(value, list) or not value:
        raise _no(value, where, "input of an operation")
    _one_of("row", "variable", "constant", "unknown")(value[0], where + ".0")
    _list(_anything, 1 if value[0] == "unknown" else 2)(value, where)
    if value[0] != "unknown":
        {"row": _LENGTH, "variable": _text, "constant": _list(_scalar)}[value[0]](value[1], where + ".1")


def _result(value: Json, where: str) -> None:
    _list(_anything, 3)(value, where)
    for at, check in enumerate((_text, _text, _LENGTH)):
        check(value[at], f"{where}.{at}")


_OPERATION = _fields(
    {
        "id": _LENGTH,
        "op": _text,
        "place": _maybe(_place),
        "shape": _list(_LENGTH),
        "inputs": _list(_input),
        "attributes": _dict(_anything),
        "at": _LENGTH,
    },
    {"made": _maybe(_place)},
)
_NAMES = _list(_either(_fields({"name": _text}, {}), _text))
_LOAD = _fields(
    {"call": _text},
    {
        "path": _text,
        "place": _maybe(_place),
        "problem": _maybe(_text),
        "loaded": _list(_text),
        "not_loaded": _list(_text),
        "silent": _flag,
    },
)
_CREATION = _fields({"call": _text, "name": _text, "shape": _OPEN_SHAPE}, {"place": _maybe(_place)})
_SETTINGS = _dict(_scalar)
_GROUP = _fields(
    {
        "layout": _text,
        "tf1": _list(_text),
        "tf2": _list(_text),
        "old": _list(_list(_LENGTH)),
        "new": _list(_list(_LENGTH)),
        "settings": _SETTINGS,
        "how": _one_of("declared", "shapes", "names"),
        "proof": _text,
    },
    {"detail": _text, "better": _SETTINGS},
)
_SCENARIO = _fields(
    {"outcome": _one_of("ok", "failed", "not run"), "parts": _once},
    {
        "detail": _text,
        "place": _maybe(_place),
        "seconds": _seconds,
        "mode": _text,
        "random_ops": _maybe(_list(_DRAW)),
        "created": _list(_CREATION),
        "calls": _list(_fields({"name": _text, "ended": _text}, {})),
        "loads": _list(_LOAD),
        "matched": _NAMES,
        "missing": _NAMES,
        "mismatched": _NAMES,
        "unused": _NAMES,
        "ended": _flag,
        "random": _flag,
        "races": _flag,
        "shuffles": _list(_fields({"size": _LENGTH}, {"place": _maybe(_place)})),
        "datasets": _list(_fields({"what": _text, "place": _place}, {})),
        "groups": _list(_GROUP),
        "problems": _list(_text),
    },
)
_PAIR = _fields(
    {},
    {
        "name": _maybe(_text),
        "renames": _maybe(_dict(_text)),
        "transposes": _maybe(_dict(_axes)),
        "reshapes": _maybe(_list(_text)),
        "ignore": _maybe(_list(_text)),
        "taps": _maybe(_dict(_list(_text, 2))),
        "same": _flag,
    },
)
_OPTIMIZER = _fields(
    {},
    {
        "class": _text,
        "name": _maybe(_text),
        "made": _place,
        "rate_made": _place,
        "anew": _LENGTH,
        "weights": _list(_text),
        "rows": _list(_text),
    },
    _scalar,
)
_AVERAGE = _fields(
    {"name": _text, "average": _text, "decay": _maybe(_number), "weight": _flag, "updated": _flag}, {}
)
_ALIKE = _fields({"op": _text, "place": _maybe(_place), "value": _anything}, {})
_RATE = _fields(
    {"name": _text, "steps": _list(_whole(0, 1 << 31)), "values": _list(_number), "unknown": _text},
    {"still": _list(_text)},
)
_VARIANT = _fields(
    {"kind": _one_of("device", "precision", "strategy"), "value": _text, "ordinary": _text},
    {"notes": _list(_text), "control": _flag},
)
_TIMING = _fields(
    {
        "what": _text,
        "seconds": _list(_seconds),
        "memory": _list(_LENGTH),
        "traced": _LENGTH,
        "problem": _text,
    },
    {},
)


def _lines(value: Json, where: str) -> None:
    """A file, the lines on which its statements begin, and those that ran."""
    _list(_anything, 3)(value, where)
    _text(value[0], where + ".0")
    for at in (1, 2):
        _list(_whole(0, 1 << 31))(value[at], f"{where}.{at}")


_SITE = _fields(
    {
        "what": _text,
        "callee": _text,
        "bases": _list(_text),
        "place": _place,
        "names": _list(_text),
        "arguments": _dict(_anything),
    },
    {"own": _flag, "scalar": _flag, "losses": _flag},
)

CONTENT = _fields(
    {"side": _one_of("tf1", "tf2"), "scenarios": _dict(_SCENARIO, _matching(_NAME, "name of a scenario"))},
    {
        "versions": _dict(_maybe(_text)),
        "adaptations": _list(_text),
        "notes": _list(_text),
        "sources": _dict(_maybe(_text)),
        "variables": _list(_VARIABLE),
        "other_variables": _list(_VARIABLE),
        "layers": _list(_LAYER),
        "optimizers": _list(_OPTIMIZER),
        "other_steps": _list(_maybe(_place)),
        "first_sessions": _list(_text),
        "open_order": _list(_text),
        "averages": _list(_AVERAGE),
        "alike": _list(_ALIKE),
        "moved": _list(_text),
        "rates": _list(_RATE),
        "left_out": _fields({"records": _LENGTH, "bytes": _LENGTH, "limit": _LENGTH}, {}),
        "pair": _PAIR,
        "crash": _maybe(_fields({"cause": _text}, {"place": _maybe(_place)})),
        "seconds": _seconds,
        "peak_memory": _LENGTH,
        "sites": _list(_SITE),
        "applied": _list(_LENGTH),
        "brief": _flag,
        "variant": _VARIANT,
        "elsewhere": _text,
        "scales_loss": _flag,
        "distributes": _flag,
        "step_numbers": _list(_standing),
        "unbuilt": _text,
        "normalized": _list(_text),
        "timing": _TIMING,
        "lines": _list(_lines),
    },
)
"""Of ``record.json``."""
RECORDS = _list(
    _fields(
        {
            "kind": _text,
            "name": _text,
            "step": _whole(-1, 1 << 31),
            "order": _LENGTH,
            "dtype": _text,
            "shape": _list(_LENGTH),
            "place": _maybe(_place),
        },
        {
            "key": _text,
            "archive": _matching(_PART, "name of a part"),
            "variable": _text,
            "slot": _text,
            "optimizer": _LENGTH,
            "owned": _maybe(_list(_text)),
            "auto": _flag,
            "part": _text,
            "sampled": _flag,
            "count": _LENGTH,
            "made": _place,
            "call": _LENGTH,
            "every": _list(_number),
            "moved": _number,
            "inputs": _list(_LENGTH),
            "operations": _list(_OPERATION),
            "results": _list(_result),
        },
    )
)
"""Of a ``.part.json``."""
RUN = _fields(
    {"pair": _text, "policy": _text, "steps": _whole(1, 1 << 31), "seed": _whole(-(1 << 64), 1 << 64)},
    {"attribute": _maybe(_matching(_DOTTED, "name in a module")), "until": _maybe(_text), "tried": _flag},
)
"""Of ``run.json``, where a run of the command wrote it."""
