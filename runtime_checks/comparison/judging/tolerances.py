"""How much two values may differ: the policies.

``guide``
    What the migration guides write in their tests. Forward passes, and the first ten training steps: rtol 1e-6, atol
    1e-5. The learning rate, and in the first three steps the layer outputs that the user named: rtol 1e-7, atol 0,
    numpy's default. The training loss: rtol 1e-7 and atol 1e-5 in the first ten steps, then rtol 5 %. The guides say
    nothing of the other values of training: outputs, metrics, gradients, trainable variables and slots are held to
    the same two phases; what 5 % would hide, evaluation outputs and non-trainable variables, to rtol 1e-3 and atol
    1e-4 after ten steps.
``noise``
    Three times the measured noise of the value itself, and never less than the table of ``torch.testing`` for its
    dtype. For kinds whose size is known, learning rate, regularization, gradients and slots, the absolute part of the
    table is scaled by the largest magnitude of that kind in the step, where that is below 1: 1e-5 would hide any
    change of a learning rate of 1e-5. What changes in a step, ``update``, is held to eight times the table's rtol.
    Slots and updates are also allowed what an optimizer makes of the rounding of its constants: 1 - 0.999 in float32
    is off by 1.3e-5. In 16 bits a gradient adds up what was rounded, so it may differ by three times the table's rtol
    of the largest one of the step, and a slot, which may hold squares, by nine times its noise.
a file
    TOML, see `load`.

The tolerance of a value is ``atol + rtol * |TF1 value|``. NaN is never equal to anything.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from ...worker.atomic import read_regular
from ...worker.recording.format import scenarios

__all__ = [
    "GUIDE", "NOISE", "Policy", "PolicyError", "Rule", "Subject", "Tolerance", "coarser", "epsilon", "is_short", "load",
    "named", "table"
]

_TABLE = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
_EPSILON = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "complex64": 2.0**-23,
    "float64": 2.0**-52,
    "complex128": 2.0**-52,
}
_COARSEST_FIRST = ("float8", "bfloat16", "float16", "float32", "complex64", "float64", "complex128")
_SCALED = frozenset({"learning_rate", "regularization", "gradient", "slot"})
_KINDS = _SCALED | {"data", "output", "tap", "loss", "metric", "variable", "evaluation", "update"}
_STEPS = frozenset(getattr(scenarios, name) for name in scenarios.__all__ if name.startswith("STEPS"))
_SCENARIOS = frozenset(getattr(scenarios, name) for name in scenarios.__all__) - {
    scenarios.ONCE, scenarios.STRUCTURE, scenarios.CONVERTERS
}  # fmt: skip
_FIRST_PHASE = 10
_LARGEST = 1 << 20
"""Bytes of a policy file."""


class PolicyError(ValueError):
    """A policy that is none; the text names the file and the key."""


class Tolerance(NamedTuple):
    """What may differ: ``atol + rtol * |TF1 value|``; `judged` is false where a difference does not matter."""

    rtol: float
    atol: float
    judged: bool = True


class Subject(NamedTuple):
    """What a tolerance is asked for.

    Args:
        scenario: where it was recorded.
        kind: of the record; ``update`` for the change of a variable in a step.
        names: on both sides.
        dtype: the coarser one.
        step: of training.
        scale: the largest magnitude that values of this kind have.
        floor: the measured noise, absolute; None where it was not measured.
        always: an evaluation output or a non-trainable variable.
        declared: not an automatic tap.
        gain: how much the optimizer multiplies the rounding of its constants: 1 / (1 - beta_2) of Adam.
        held: the dtype of the value itself, where it was computed in a coarser one.
    """

    scenario: str
    kind: str
    names: tuple[str, ...]
    dtype: str
    step: int = 0
    scale: float = 1.0
    floor: float | None = None
    always: bool = False
    declared: bool = True
    gain: float = 1.0
    held: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One table of a policy file: what it holds for, and what it says; None is anything, or not said."""

    kinds: frozenset[str] | None = None
    names: tuple[str, ...] | None = None
    dtypes: frozenset[str] | None = None
    scenarios: frozenset[str] | None = None
    first: int | None = None
    last: int | None = None
    rtol: float | None = None
    atol: float | None = None
    skip: bool = False

    def fits(self, subject: Subject) -> bool:
        """Whether it is the rule of a value."""
        return (
            (self.kinds is None or subject.kind in self.kinds)
            and (self.names is None or any(fnmatchcase(name, key) for name in subject.names for key in self.names))
            and (self.dtypes is None or subject.dtype in self.dtypes)
            and (self.scenarios is None or subject.scenario in self.scenarios)
            and (self.first is None or subject.step >= self.first)
            and (self.last is None or subject.step <= self.last)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to tell what may differ; `name` is for the report, `base` is ``guide`` or ``noise``."""

    name: str
    base: str
    factor: float = 3.0
    rules: tuple[Rule, ...] = ()

    def tolerance(self, subject: Subject) -> Tolerance:
        """What may differ in a value."""
        usual = _guide(subject) if self.base == "guide" else _noise(subject, self.factor)
        for rule in self.rules:
            if rule.fits(subject):
                return Tolerance(
                    usual.rtol if rule.rtol is None else rule.rtol,
                    usual.atol if rule.atol is None else rule.atol,
                    subject.always or not rule.skip,
                )
        return usual


GUIDE = Policy("guide", "guide")
NOISE = Policy("noise", "noise")


def named(policy: str | Path | Policy) -> Policy:
    """``guide``, ``noise``, or the policy of a TOML file.

    Raises:
        PolicyError: if the file cannot be read or says something unknown.
    """
    if isinstance(policy, Policy):
        return policy
    return {"guide": GUIDE, "noise": NOISE}.get(str(policy)) or load(Path(policy))


def table(dtype: str) -> tuple[float, float]:
    """The rtol and atol of ``torch.testing`` for a dtype; 0 and 0 for whatever is no floating point."""
    if dtype.startswith("float8"):
        return 0.125, 1e-5
    return _TABLE.get(dtype, (0.0, 0.0))


def epsilon(dtype: str) -> float:
    """The distance from 1 to the next number of a floating dtype; 0 for any other."""
    return 0.125 if dtype.startswith("float8") else _EPSILON.get(dtype, 0.0)


def is_short(dtype: str) -> bool:
    """Whether a floating dtype has 16 bits or fewer."""
    return dtype.startswith(("float16", "bfloat16", "float8"))


def coarser(one: str, other: str) -> str:
    """Of two dtypes the floating one with fewer digits."""
    for dtype in _COARSEST_FIRST:
        for candidate in (one, other):
            if candidate.startswith(dtype):
                return candidate
    return one


def _guide(subject: Subject) -> Tolerance:
    if table(subject.dtype) == (0.0, 0.0):
        return Tolerance(0.0, 0.0, subject.kind != "update")
    if subject.kind == "learning_rate":
        return Tolerance(1e-7, 0.0)
    if subject.kind == "update":
        return Tolerance(*table(subject.dtype), judged=False)
    if subject.scenario not in _STEPS:
        return Tolerance(1e-6, 1e-5)
    if subject.step >= _FIRST_PHASE:
        return Tolerance(1e-3, 1e-4) if subject.always else Tolerance(0.05, 0.0 if subject.kind == "loss" else 1e-5)
    if subject.kind == "loss":
        return Tolerance(1e-7, 1e-5)
    if subject.kind == "tap" and subject.declared and subject.step < 3:
        return Tolerance(1e-7, 0.0)
    return Tolerance(1e-6, 1e-5)


def _noise(subject: Subject, factor: float) -> Tolerance:
    rtol, atol = table(subject.dtype)
    constants = 0.5 * epsilon(subject.held or subject.dtype) * subject.gain
    if subject.kind == "update":  # its absolute rounding is that of the variable: see `training`
        return Tolerance(8 * rtol + constants, factor * (subject.floor or 0.0))
    short = is_short(subject.dtype)
    if subject.kind in _SCALED:
        atol *= min(1.0, subject.scale)
    if subject.kind in ("gradient", "slot") and short:  # rounded alike in every run, so noise does not show it
        atol = max(atol, factor * rtol * subject.scale)
    if subject.kind == "slot":
        rtol += constants
        factor *= factor if short else 1.0  # squares of gradients that are noise themselves
    return Tolerance(rtol, max(atol, factor * (subject.floor or 0.0)))


def load(path: Path) -> Policy:
    """Read a policy file.

    ``base`` is ``"guide"`` or ``"noise"`` (the default), ``factor`` how often the noise is tolerated (3). Of the
    tables ``[[rule]]`` the first that fits a value counts: ``kind``, ``name`` (with ``*``, of either side), ``dtype``
    and ``scenario``, each a text or a list of texts, and ``steps``, ``[first]`` or ``[first, last]``, say what it fits;
    ``rtol`` and ``atol`` what is tolerated, and ``skip = true`` that a difference does not count. What a rule does not
    say comes from the base. Evaluation outputs and non-trainable variables are compared all the same.

    Raises:
        PolicyError: if it cannot be read, or says something unknown; the text names the file and the key.
    """
    try:
        content = tomllib.loads(read_regular(path, _LARGEST).decode("utf-8"))
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise PolicyError(f"{path}: {error}") from error
    except RecursionError as error:
        raise PolicyError(f"{path}: it is nested too deeply") from error
    _known(content, {"base", "factor", "rule"}, str(path))
    base = content.get("base", "noise")
    if base not in ("guide", "noise"):
        raise PolicyError(f'{path}: base: "guide" or "noise" is expected, not {base!r}')
    rules = content.get("rule", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise PolicyError(f"{path}: rule: tables [[rule]] are expected")
    factor = _number(content, "factor", str(path))
    read = tuple(_rule(rule, f"{path}: rule {number}") for number, rule in enumerate(rules, 1))
    return Policy(str(path), base, 3.0 if factor is None else factor, read)


def _rule(content: Mapping[str, Any], where: str) -> Rule:
    _known(content, {"kind", "name", "dtype", "scenario", "steps", "rtol", "atol", "skip"}, where)
    kinds = _texts(content, "kind", where)
    if kinds is not None and set(kinds) - _KINDS:
        raise PolicyError(f"{where}: kind: {sorted(set(kinds) - _KINDS)[0]!r} is none of {', '.join(sorted(_KINDS))}")
    dtypes, places = _texts(content, "dtype", where), _texts(content, "scenario", where)
    if unknown := sorted(set(places or ()) - _SCENARIOS):
        raise PolicyError(f"{where}: scenario: {unknown[0]!r} is none of {', '.join(sorted(_SCENARIOS))}")
    skip = content.get("skip", False)
    if not isinstance(skip, bool):
        raise PolicyError(f"{where}: skip: true or false is expected, not {skip!r}")
    rtol, atol = _number(content, "rtol", where), _number(content, "atol", where)
    if rtol is None and atol is None and not skip:
        raise PolicyError(f"{where}: it says neither rtol nor atol nor skip")
    first, last = _steps(content.get("steps"), where)
    return Rule(
        kinds=None if kinds is None else frozenset(kinds),
        names=_texts(content, "name", where),
        dtypes=None if dtypes is None else frozenset(dtypes),
        scenarios=None if places is None else frozenset(places),
        first=first,
        last=last,
        rtol=rtol,
        atol=atol,
        skip=skip,
    )


def _known(content: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(content) - known)
    if unknown:
        raise PolicyError(f"{where}: {unknown[0]}: there is no such key; known are {', '.join(sorted(known))}")


def _texts(content: Mapping[str, Any], key: str, where: str) -> tuple[str, ...] | None:
    value = content.get(key)
    if value is None:
        return None
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise PolicyError(f"{where}: {key}: a text or a list of texts is expected, not {value!r}")
    return tuple(texts)


def _number(content: Mapping[str, Any], key: str, where: str) -> float | None:
    value = content.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise PolicyError(f"{where}: {key}: a number from 0 on is expected, not {str(value)[:80]}")
    return float(value)


def _steps(value: Any, where: str) -> tuple[int | None, int | None]:
    if value is None:
        return None, None
    right = isinstance(value, Sequence) and len(value) in (1, 2)
    if not right or not all(isinstance(step, int) and not isinstance(step, bool) for step in value):
        raise PolicyError(f"{where}: steps: [first] or [first, last] is expected, not {value!r}")
    if len(value) == 2 and value[0] > value[1]:
        raise PolicyError(f"{where}: steps: the first, {value[0]}, comes after the last, {value[1]}")
    return value[0], value[1] if len(value) == 2 else None
