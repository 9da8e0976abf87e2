"""The report for programs: one JSON object, which can be read back and rendered again.

Numbers that JSON has no word for are the strings ``"nan"``, ``"inf"`` and ``"-inf"``. Names are those of the
classes in `results`; fields that are not known are passed over when a report is read.

| field | what it is |
|---|---|
| ``format`` | 1; another number is refused |
| ``name``, ``policy`` | of the pair and of the tolerances |
| ``status`` | the exit status: 0 equal, 1 differs, 3 vacuous or not comparable, 4 a side crashed |
| ``verdict`` | the whole comparison in one sentence |
| ``problems`` | why the sides cannot be compared at all |
| ``not_compared`` | what a side has, or would do, and no rung compared |
| ``versions`` | what the versions of TensorFlow differ by, where the TF1 side was run in both; empty otherwise |
| ``sides`` | of TF1 and of TF2: ``side``, ``versions``, ``adaptations``, ``notes``, ``cause`` (why it ended early, or null), ``optimizers``, ``seconds``, ``peak_memory`` (bytes), ``timing`` |
| ``sides[].timing`` | where a trace was asked for, else null: ``what`` (``training step`` or ``call``), ``seconds`` of each that was timed, ``memory`` (bytes of the process behind each), ``traced`` (steps in the trace), ``problem`` (why there is no trace) |
| ``rungs`` | the ladder: ``number``, ``name`` (for ``--until``), ``title``, ``status`` (``pass``, ``fail``, ``not run``, ``vacuous``), ``detail``, ``needed`` (the tolerance that would have passed), ``notes``, ``checks``, ``names`` (all that rung 5 found in checkpoints, by what became of them: ``TF1 matched`` and the like; else empty) |
| ``rungs[].checks`` | each value that was compared: ``scenario``, ``kind``, ``tf1_name``, ``tf2_name``, ``step``, ``order`` (of execution), ``dtype``, ``shape``, ``passed``, ``counts`` (false: it only helps to find the place) |
| ... its numbers | ``error`` (largest absolute difference), ``relative``, ``at`` (index of the worst element) with ``tf1_value`` and ``tf2_value``, ``rtol``, ``atol``, ``excess`` (multiple of the tolerance; above 1 fails), ``floor`` (measured noise or null), ``needed_rtol``, ``rounding`` (of a value that was computed in float64: ``tf1`` and ``tf2``, how far each side is from it, ``apart``, how far from each other, ``size``, the largest number, ``constants``; else null) |
| ... its places | ``tf1_place`` and ``tf2_place``: ``[file, line]`` or null; ``problem``: why the values cannot be compared; ``sure``: false for two layers that may have been tapped at different places; ``inputs``: of a layer that differs, whether its inputs ``agree`` or ``differ`` already, else empty |
| ``variables`` | rows of the two-column list: ``tf1`` and ``tf2`` as recorded or null, ``how`` (``name``, ``rename``, ``suggestion`` or empty), ``problem`` |
| ``random_ops`` | by scenario, the random operations of both sides: ``op``, ``seed``, ``shape``, ``purpose``, ``place``, ``repeats`` (drawn in each turn of a loop), ``idle`` (nothing depends on it), ``wanted`` (the seed that the program gives it) |
| ``series`` | scalars of both sides over the steps: ``kind``, ``name``, ``steps``, ``tf1``, ``tf2`` |
| ``first_divergence`` | ``rung``, ``deviation`` (as in checks), ``before`` (the last value that agreed), ``text``, ``noise`` (nothing differs by more than the noise), ``operation``; or null |
| ``first_divergence.operation`` | the operations with which the passes part, or null: ``scenario``, ``step``, ``tf1`` and ``tf2`` (``op``, ``place``, ``shape``, ``inputs`` in words, ``number`` in the recording; or null for a side that has none), ``agree`` (inputs that are the same), ``differences``, ``error`` (of a sample) |
| ``causes`` | ranked: ``kind``, ``weight`` (0 to 1), ``evidence``, ``findings`` (as in the linter's JSON report), ``tried`` (``found``, ``refuted`` or empty), ``tf1_place`` and ``tf2_place`` (the lines to look at, or null) |
| ``excerpts`` | lines of the users' files as they were run: ``side``, ``path``, ``line`` (the one that is meant), ``first`` (the number of the first), ``lines`` (empty where the text was not kept) |
| ``trial`` | the cause found by trying, or null: ``outcome``, ``changes`` (``kind``, ``text``, ``place``, ``places``), ``runs``, ``seconds``, ``tried`` (``change``, ``effect``), ``left`` |
| ``self_test`` | planted bugs, or null: ``planted`` (``change``, ``rung``, ``step``, ``steps``, ``note``), ``steps``, ``runs``, ``seconds``, ``not_planted`` |
"""  # noqa: E501 - a table's rows are lines

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ..results import Results
from ..wording import verdict

__all__ = ["FORMAT", "read", "render", "to_json"]

FORMAT = 1

_Made = TypeVar("_Made")


def render(report: Results, color: bool = False) -> str:
    """The report as JSON text, whatever the colour."""
    return json.dumps(to_json(report), indent=2) + "\n"


def to_json(report: Results) -> dict[str, Any]:
    """The report as JSON data; the module's text says what each field is."""
    head = {"format": FORMAT, "status": report.status, "verdict": verdict(report)}
    return head | cast("dict[str, Any]", _plain(report))


def read(kind: type[_Made], document: Mapping[str, Any]) -> _Made:
    """The report of a class that `to_json` made a document of.

    Raises:
        ValueError: if it is no such document, or one of another format.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, Mapping) else type(document).__name__
        raise ValueError(f"this is no report of format {FORMAT}, but {found}")
    try:
        return _made(kind, document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"the report is damaged: {error!r}") from error


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)


def _made(kind: type[_Made], document: Mapping[str, Any]) -> _Made:
    hints = get_type_hints(kind)
    known = {field.name for field in dataclasses.fields(cast("Any", kind)) if field.init}
    return kind(**{name: _read(hints[name], document[name]) for name in sorted(known) if name in document})


def _read(kind: Any, value: Any) -> Any:
    """A value of JSON as the type that an annotation names."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _read(next(one for one in arguments if one is not types.NoneType), value)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple(_read(one, part) for one, part in zip(arguments, value, strict=True))
    if origin is tuple or (origin is not None and issubclass(origin, Sequence)):
        return tuple(_read(arguments[0], part) for part in value)
    if origin is not None and issubclass(origin, Mapping):
        return {key: _read(arguments[1], part) for key, part in value.items()}
    if dataclasses.is_dataclass(kind):
        return _made(cast("type[Any]", kind), value)
    if kind is Any:
        return value
    if kind in (float, int, str, bool) or issubclass(kind, Enum):
        return kind(value)
    return value
