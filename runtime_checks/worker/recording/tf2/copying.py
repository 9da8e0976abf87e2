"""Gives the variables of a TF2 model their values: those of the TF1 side, or filled ones."""

from __future__ import annotations

import contextlib
import itertools
from typing import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..float64.running import held
from ..format.draws import of_a_step
from ..format.reading import Record, Recorded
from ..format.rows import DrawRow, Standing, Turns
from ..format.scenarios import EVALUATED, INFERENCE, STEPS, TRAINING
from ..pairs import mapping
from ..pairs.pair import Pair
from ..randomness.function_seeds import number_of
from ..tensors import Array, Variable
from ..values import fills, sampling
from ..values.conversions import Conversion, Derived, derived, refilled, regrouped
from ..values.layout import Layouts
from ..values.sampling import Places
from .variables import Variables, assign, dtype_of, shape_of, value_of

__all__ = ["Copying", "values_of"]


class Copying:
    """The mapping between the variables of the TF1 side, as it recorded them, and those of a model.

    Attributes:
        layouts: of single variables, as the pair says.
        conversions: the groups of variables that changed their layout together.
        parts: what the TF2 variables of these are on TF1, by name.
    """

    def __init__(self, pair: Pair, tf1: Recorded | None, note: Callable[[str], None]) -> None:
        self._pair = pair
        self.layouts = Layouts(pair.transposes, pair.reshapes)
        self.conversions: tuple[Conversion, ...] = ()
        self.parts: dict[str, Derived] = {}
        self._tf1 = tf1
        self._note = note

    @property
    def possible(self) -> bool:
        """Whether the TF1 side recorded initial values."""
        return bool(self._initial(INFERENCE) or self._initial(STEPS))

    def told(self, purpose: str = "") -> list[str]:
        """The names of the variables of TF1's model; with a `purpose` such as ``counter``, of others that have it."""
        content = {} if self._tf1 is None else self._tf1.content
        rows = content.get("other_variables" if purpose else "variables") or ()
        return [str(row["name"]) for row in rows if not purpose or row.get("purpose") == purpose]

    def convert(self, conversions: Sequence[Conversion]) -> None:
        """Take groups of variables together from now on."""
        if tuple(conversions) != self.conversions:
            self.conversions = tuple(conversions)
            self.parts = {part.name: part for part in derived(conversions)}

    def tf1_names(self, variables: Variables) -> dict[str, str]:
        """The names of TF1 variables by those of their TF2 counterparts; suggestions count, and are told of.

        What is made of a group of variables goes by the name that `derived` gives it.
        """
        return {} if self._tf1 is None else self.names_among(variables.rows())

    def names_among(self, rows: Sequence[mapping.Described]) -> dict[str, str]:
        """The same for variables of TF2 as they are described; there must be a recording of the TF1 side."""
        assert self._tf1 is not None
        known = {name: part.target for name, part in self.parts.items()}
        ones = regrouped(self._tf1.content["variables"], list(self.parts.values()))
        found = mapping.match(ones, rows, self._pair.renames, self._pair.ignore, known)
        names = {str(pair.tf2["name"]): str(pair.tf1["name"]) for pair in found.pairs}
        for one, other in found.suggestions:
            names.setdefault(str(other["name"]), str(one["name"]))
        given = [(one, other) for one, other in found.suggestions if other.get("tracked", True)]
        kept = [str(other["name"]) for _, other in found.suggestions if not other.get("tracked", True)]
        if given:
            one, other = given[0]
            self._note(
                f"names differ: {len(given)} of TF2's variables got the values of those with their place and shape on "
                f"TF1: {other['name']} those of {one['name']}{', ...' if len(given) > 1 else ''}"
            )
        if kept:
            more = ", ..." if len(kept) > 1 else ""
            self._note(f"the TF2 model does not track {kept[0]}{more}: it kept the values that it begins with")
        return names

    def copy(self, variables: Variables, scenarios: Sequence[str]) -> int:
        """Assign the values that the TF1 side recorded at the beginning of the first of these scenarios that has any.

        What has no value there keeps its own. Gives back how many got one.
        """
        return self._copy(variables, next((found for found in map(self._initial, scenarios) if found), {}))

    def copy_step(self, variables: Variables, step: int) -> int:
        """Assign the weights that the TF1 side had after a training step; gives back how many got one."""
        assert self._tf1 is not None
        records = self._tf1.scenario(STEPS).of_kind("variable", step)
        return self._copy(variables, {record.name: record for record in records if not record.sampled})

    def evaluated(self) -> list[int]:
        """After which steps the TF1 side evaluated; -1 for its initial values, which it always has."""
        records = () if self._tf1 is None else self._tf1.scenario(EVALUATED).records
        return sorted({record.step for record in records} | {-1})

    def places(self, rows: Sequence[mapping.Described]) -> tuple[dict[str, Places], dict[str, Array]]:
        """The elements that are kept of large variables of TF2: those that TF1 kept of theirs.

        Args:
            rows: the variables of TF2 as they are described.

        Returns:
            The places by name, and of variables of groups the `sources` that `sampling.of_group` gives.
        """
        kept = {} if self._tf1 is None else sampling.of(self._tf1)
        found: dict[str, Places] = {}
        sources: dict[str, Array] = {}
        names = self.names_among(rows) if kept else {}
        new = {str(row["name"]): row["shape"] for row in rows}
        old = {} if self._tf1 is None else {str(row["name"]): row["shape"] for row in self._tf1.content["variables"]}
        for name, tf1_name in names.items():
            part = self.parts.get(tf1_name)
            if part is not None and any(one in kept for one in part.conversion.tf1):
                found[name], sources[name] = sampling.of_group(part, kept)
            elif tf1_name in kept:
                order = np.arange(kept[tf1_name].size).reshape(old[tf1_name])
                order = self.layouts.value(tf1_name, order, new[name])
                if list(order.shape) == list(new[name]):
                    found[name] = sampling.following(order, kept[tf1_name])
        return found, sources

    def _copy(self, variables: Variables, known: Mapping[str, Record]) -> int:
        names = self.tf1_names(variables)
        own = dict(variables.weights())
        problems: dict[str, str] = {}
        wanted = []
        for name in own:
            if name not in names:
                problems[name] = "it has no counterpart in the TF1 graph"
            elif self._records(names[name], known) is None:
                problems[name] = "no recorded value"
            else:
                wanted.append(name)
        for name, value in zip(wanted, self._values([names[name] for name in wanted], known)):
            problem = self._put(own[name], value, names[name])
            if problem:
                problems[name] = problem
        if problems:
            first, reason = next(iter(problems.items()))
            more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            self._note(f"not copied from the TF1 side: {first} ({reason}){more}")
        return len(own) - len(problems)

    def exact(self, variables: Variables, scenarios: Sequence[str]) -> Iterator[tuple[Variable, Array]]:
        """The variables of groups, with what `copy` gives them before it is rounded to the dtype of the variable."""
        known = next((found for found in map(self._initial, scenarios) if found), {})
        names = self.tf1_names(variables)
        for name, variable in variables.weights():
            part = self.parts.get(names.get(name, ""))
            records = None if part is None else self._records(names[name], known)
            if part is not None and records is not None:
                arrays = [held(value) for value in values_of(records)]
                value = part.conversion.values(arrays)[part.at]
                yield variable, self.layouts.value(names[name], value, shape_of(variable))

    def _records(self, tf1_name: str, known: Mapping[str, Record]) -> list[Record] | None:
        """Of what a value is made; None where the TF1 side recorded not all of it."""
        part = self.parts.get(tf1_name)
        found = [known.get(name) for name in ((tf1_name,) if part is None else part.conversion.tf1)]
        return None if None in found else [record for record in found if record is not None]

    def _values(self, tf1_names: Sequence[str], known: Mapping[str, Record]) -> Iterator[Array]:
        """TF1 values of which all records are known, those of groups converted."""
        records = [self._records(name, known) or [] for name in tf1_names]
        read = values_of(list(itertools.chain(*records)))
        for name, own in zip(tf1_names, records):
            arrays, part = list(itertools.islice(read, len(own))), self.parts.get(name)
            yield arrays[0] if part is None else part.conversion.values(arrays)[part.at]

    def draws(self, scenario: str) -> list[DrawRow]:
        """What the TF1 side drew in a scenario that is no initial value."""
        return of_a_step([] if self._tf1 is None else self._tf1.scenario(scenario).said.get("random_ops") or [])

    def seeds(self, scenario: str, positions: Sequence[Standing] | None = None) -> list[Standing]:
        """The seeds of what the TF1 side drew in a scenario: of all, or of those at the positions of `counterparts`."""
        seeds = [int(row.get("seed") or 0) for row in self.draws(scenario)]
        if positions is None:
            return list(seeds)
        seeds = [*map(number_of, seeds)]
        behind = max(seeds, default=-1) + 1 - len(seeds)

        def seed(at: int) -> int:
            return seeds[at] if at < len(seeds) else at + behind

        def standing(at: Standing) -> Standing:
            return at._replace(numbers=[*map(seed, at.numbers)]) if isinstance(at, Turns) else seed(at)

        return [*map(standing, positions)]

    def steps_of_rates(self) -> dict[str, list[int]]:
        """At which steps the TF1 side looked at each of its learning rates, by name."""
        rows = [] if self._tf1 is None else self._tf1.content.get("rates") or []
        return {str(row["name"]): list(row["steps"]) for row in rows}

    def _initial(self, scenario: str) -> dict[str, Record]:
        """The values that the TF1 side had at the beginning of a scenario, by name."""
        if self._tf1 is None:
            return {}
        step = -1 if scenario == STEPS else 0
        return {record.name: record for record in self._tf1.scenario(scenario).of_kind("variable", step)}

    def agrees(self, variables: Variables) -> bool:
        """Whether the model begins inference with the very values that the TF1 side recorded."""
        known = self._initial(INFERENCE)
        names = self.tf1_names(variables)
        wanted = [(variable, names.get(name, "")) for name, variable in variables.weights()]
        if not known or any(self._records(name, known) is None for _, name in wanted):
            return False
        values = self._values([name for _, name in wanted], known)
        return all(
            np.array_equal(value_of(one), self.layouts.value(name, value, shape_of(one)))
            for (one, name), value in zip(wanted, values)
        )

    def fill_constant(self, variables: Variables) -> None:
        """Set every floating variable to 0.001, and add to it what a group's layout does; not what the pair ignores."""
        names = self.tf1_names(variables) if self.parts else {}
        for name, variable in self._compared(variables):
            dtype, part = dtype_of(variable), self.parts.get(names.get(name, ""))
            value = fills.constant(shape_of(variable), dtype)
            if value is not None and part is not None:
                value = refilled(part, lambda _, shape, kind: fills.constant(shape, kind), dtype)
            if value is not None:
                assign(variable, value)

    def fill_fingerprint(self, variables: Variables) -> None:
        """Fill every floating variable from the name and shape of its TF1 counterpart, laid out as the pair says.

        What the pair ignores keeps its values: it may stand for what is no variable on the other side.
        """
        names = self.tf1_names(variables)
        for name, variable in self._compared(variables):
            tf1_name, dtype = names.get(name, name), dtype_of(variable)
            part = self.parts.get(tf1_name)
            if part is None:
                value = fills.fingerprint(tf1_name, self._tf1_shape(variable, tf1_name), dtype)
            else:
                value = refilled(part, fills.fingerprint, dtype)
            if value is not None:
                self._put(variable, value, tf1_name)

    def _compared(self, variables: Variables) -> list[tuple[str, Variable]]:
        return [one for one in variables.weights() if not mapping.ignored(one[0], self._pair.ignore)]

    def _tf1_shape(self, variable: Variable, tf1_name: str) -> tuple[int, ...]:
        """The shape of the TF1 counterpart, where it can be laid out as this one."""
        own = shape_of(variable)
        for said in [] if self._tf1 is None else self._tf1.content["variables"]:
            if str(said["name"]) == tf1_name and self.layouts.fits(tf1_name, said["shape"], own):
                return tuple(said["shape"])
        return own

    def _put(self, variable: Variable, value: Array, tf1_name: str) -> str:
        """Assign a TF1 value; in words, why that cannot be done."""
        order = self.layouts.transposes.get(tf1_name)
        if order is not None and len(order) != value.ndim:
            return f"transposes has {len(order)} axes, the value {value.ndim}"
        value = self.layouts.value(tf1_name, value, shape_of(variable))
        if tuple(value.shape) != shape_of(variable):
            return f"its shape is {list(shape_of(variable))}, that of the TF1 value {list(value.shape)}"
        assign(variable, value)
        return ""


def values_of(records: Sequence[Record]) -> Iterator[Array]:
    """The arrays of records, each archive opened once as long as its records stand together."""
    for path, group in itertools.groupby(records, lambda record: record.archive and record.archive[0]):
        with contextlib.nullcontext({}) if path is None else np.load(str(path), allow_pickle=False) as arrays:
            for record in group:
                yield arrays[record.archive[1]] if record.archive else record.value


BEGINNINGS: Mapping[str, Sequence[str]] = {"forward": (INFERENCE, STEPS), "steps": (STEPS, INFERENCE, TRAINING)}
"""Where to look for the TF1 side's initial values."""
