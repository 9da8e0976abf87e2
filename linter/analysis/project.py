"""The project as a whole: what names and classes mean across files, and what the code of each file leads to.

Everything is resolved lazily from the summaries of the files.
In which contexts each function runs starts at roots (the forward pass of a layer, a `tf.function`, module-level code,
an Estimator's `model_fn`) and travels along calls.
The conditions of a call change it: a create-once guard ends FORWARD, a named `variable_scope` adds SCOPED,
`tf.Graph().as_default()` turns everything into GRAPH.
A function has as many contexts as there are different ways to reach it.
"""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Mapping
from hashlib import blake2b
from itertools import pairwise
from typing import cast

from .call_graph import GRAPH_NAMES, CallGraph
from .effects import own_effects
from .entities import Key
from .execution_context import Effects
from .lazy import cached_property
from .linking import links_of
from .links import Asked, Links, named
from .modules import imported_file, modules_of
from .names import below
from .resolution import Resolver, split_id
from .summary import CallEdge, Conditions, Summary, structure


class Project(Resolver):
    """All summaries of a project, and the questions that they answer."""

    def __init__(self, summaries: Mapping[str, Summary]) -> None:
        super().__init__(summaries)
        self._call_graph: CallGraph | None = None
        self._call_targets: dict[str, dict[tuple[int, int], list[str]]] = {}

    @property
    def call_graph(self) -> CallGraph:
        """What the code of all files leads to."""
        if self._call_graph is None:
            self.join({})
        assert self._call_graph is not None
        return self._call_graph

    def join(self, kept: Mapping[str, Links]) -> dict[str, Links]:
        """Join the links of all files; return those that were not `kept` and had to be made.

        Kept links hold as long as their file and the `structure` of all files is the same.
        """
        made = {file: links_of(self, file) for file in sorted(self.summaries) if file not in kept}
        self._call_graph = CallGraph({**kept, **made})
        return made

    def with_code(self, file: str, summary: Summary) -> Project:
        """The project with another text of one of its files.

        Of the other files those are linked anew whose names may lead to something else: what imports this one, where
        others see something else of it; and if that is of its classes, what imports their bases, whose methods theirs
        may override.
        """
        project = Project(ChainMap({file: summary}, cast("dict[str, Summary]", self.summaries)))
        before, after = map(structure, (self.summaries[file], summary))
        of_classes, of_others = (json.dumps(one) != json.dumps(other) for one, other in zip(before, after, strict=True))
        if not of_classes:
            project.load_descent(self.descent())
        changed = {file} if of_others else set[str]()
        if of_classes:
            both = ((names, int(number)) for names in (self, project) for number in names.summaries[file]["classes"])
            changed |= {file, *(base[0] for names, number in both for base in names.mro((file, number))[0])}
        stale = {file, *changed}
        queue = [*changed]
        while queue:
            new = {one for one in self._importers.get(queue.pop(), ()) if one not in stale}
            stale |= new
            queue += new
        links = {one: links_of(project, one) for one in sorted(stale)}
        project._call_graph = self.call_graph.with_links(links)
        return project

    @cached_property
    def _importers(self) -> dict[str, set[str]]:
        """By file, what imports it; who imports a package may read anything below it."""
        modules = modules_of(self.summaries)
        found: dict[str, set[str]] = {}
        for file, summary in self.summaries.items():
            for name in summary["imports"]:
                imported = imported_file(file, name, modules, self.summaries)
                if imported is not None:
                    found.setdefault(imported, set()).add(file)
        for package in [one for one in found if one.endswith("/__init__.py")]:
            for file in self.summaries:
                if file.startswith(package.removesuffix("__init__.py")) and file != package:
                    found.setdefault(file, set()).update(found[package] - {file})
        return found

    def prepare(self) -> None:
        """Work out what every file needs, before other processes get a copy."""
        self.call_graph.contexts(("", 0))

    # -- calls -------------------------------------------------------------------------------------------------------

    def asking_effects(self, key: Key, parameter: str, how: str, literal: str, default: str) -> int:
        """The `Effects` of a test that asks something of a parameter; see `summary.conditions`."""
        asked = Asked(key[1], self.position(key, parameter), parameter, how, literal, default)
        return int(self.call_graph.effects_of(key[0], asked))

    def callers_omitting_under(self, key: Key, parameter: str, flags: int, without: int) -> tuple[int, int, int]:
        """How many calls in a context with all `flags` and none of `without` leave it out, give it, and are there."""
        return self.call_graph.callers_omitting_under(key, self.position(key, parameter), parameter, flags, without)

    def arguments_under(
        self, key: Key, parameters: tuple[str, ...], flags: int, without: int
    ) -> list[list[list[str]]] | None:
        """What each call in a context with all `flags` and none of `without` may give some parameters.

        The JSON texts of literals, or `links.OMITTED` and its like; None where the function also runs in other ways.
        """
        places = [(self.position(key, parameter), parameter) for parameter in parameters]
        return self.call_graph.arguments_under(key, places, flags, without)

    def arguments(self, key: Key, parameter: str) -> list[str]:
        """What the calls in the project may give a parameter of a function, as in `arguments_under`."""
        return self.call_graph.arguments(key, self.position(key, parameter), parameter)

    def calls_result(self, key: Key, flags: int) -> bool:
        """Whether code in a context with all `flags` calls what a function returns."""
        return self.call_graph.calls_result(key, flags)

    def makers(self, key: Key) -> list[Key]:
        """The functions and modules of the project in whose own code a class is constructed."""
        return self.call_graph.makers(key)

    def callers(self, key: Key) -> list[Key]:
        """The functions and modules of the project whose own code calls a function."""
        return self.call_graph.callers(key)

    def v1_calls(self, key: Key) -> tuple[str, ...]:
        """The functions that make variables by name which a function of the project calls, itself or through others.

        Canonical names, sorted; see `summary.makes_by_name`.
        """
        return self.call_graph.v1_calls(key)

    # -- execution contexts ----------------------------------------------------------------------------------------

    def contexts(self, key: Key) -> tuple[int, ...]:
        """The contexts in which a function's body runs, as bits of `Context`; empty where none is known."""
        return self.call_graph.contexts(key)

    def trail(self, key: Key, flag: int) -> list[tuple[str, str, int]]:
        """How `key` comes to run under `flag`: ``(name, file, line)`` from the root down to it."""
        return [
            (f"{self.display(step)}{reason}", step[0], line) for step, line, reason in self.call_graph.steps(key, flag)
        ]

    def begins(self, key: Key, flag: int) -> bool:
        """Whether `key` is the first on its trail that runs under `flag`."""
        return not any(s & flag for step, _, _ in self.call_graph.steps(key, flag)[:-1] for s in self.contexts(step))

    def is_consistent(self, key: Key, flag: int) -> bool:
        """Whether one run of the program can go the way that `trail` tells.

        Calls are followed without regard to who called before: a method that a base class calls on ``self`` may be any
        override.
        A way is consistent if its methods of one ``self`` have a class in common.
        """
        steps = self.call_graph.steps(key, flag)
        own: set[Key] = set()
        for position, (step, line, _) in enumerate(steps[:-1]):
            callee = steps[position + 1][0]
            summary, called = self.function(step), self.function(callee)
            if summary is None or called is None:
                return True
            texts = self._called_in(step[0]).get((step[1], line), [])
            on_self = [text for text in texts if text.startswith("self@") and text.endswith(f".{called['name']}")]
            if called["cls"] >= 0 and on_self and on_self[0].count(".") == 1:
                owner, other = (step[0], split_id(on_self[0][5:])[0]), (callee[0], called["cls"])
                own = own or {owner, *self.subclasses(owner)}
                own = own & {other, *self.subclasses(other)}
                if not own:
                    return False
            else:
                own = set()
        return True

    def begins_with_caller(self, key: Key, flag: int) -> bool:
        """Whether the ``self`` of a method is an object that the code which calls it makes, itself under `flag`."""
        steps = self.call_graph.steps(key, flag)
        for position in range(len(steps) - 2, -1, -1):
            (step, line, _), called = steps[position], self.function(steps[position + 1][0])
            name = f".{called['name']}" if called is not None and called["cls"] >= 0 else None
            texts = self._called_in(step[0]).get((step[1], line), [])
            receivers = [text.removesuffix(name) for text in texts if name and text.endswith(name)]
            if not receivers:
                return False
            if any("." in text or not text.startswith("self@") for text in receivers):
                made = [e for text in receivers for e in (self.resolve(step[0], text) if text.endswith("()") else ())]
                return (
                    len(made) >= len(receivers)
                    and all(e.kind == "instance" and step in self.makers(e.key) for e in made)
                    and any(s & flag for s in self.contexts(step))
                )
        return False

    def is_possible(self, key: Key, flag: int) -> bool:
        """Whether the overrides on the way that `trail` tells may be those of the objects whose methods are called.

        They are not where a base class calls on ``self`` what a class overrides that none of the objects descends from.
        """
        steps = self.call_graph.steps(key, flag)
        for (step, _, _), (callee, _, _) in pairwise(steps):
            caller, called = self.function(step), self.function(callee)
            if caller is None or called is None or caller["cls"] < 0 or called["cls"] < 0:
                continue
            cls, override = (step[0], caller["cls"]), (callee[0], called["cls"])
            if cls != override and cls in self.mro(override)[0]:
                overriding = self.call_graph.calls_under(callee, flag)
                calls = self.call_graph.calls_under(step, flag)
                if overriding is not None and calls and all(call[0] == step for call in overriding):
                    if not any(self._may_be(*call, caller["name"], override) for call in calls):
                        return False
        return True

    def _may_be(self, caller: Key, line: int, method: str, cls: Key) -> bool:
        """Whether the object whose method is called in a line may be of a class."""
        texts = self._called_in(caller[0]).get((caller[1], line), [])
        receivers = [text.removesuffix(f".{method}") for text in texts if text.endswith(f".{method}")]
        for receiver in receivers:
            if receiver.startswith("self@") and "." not in receiver:
                owners = [(caller[0], split_id(receiver[5:])[0])]
            else:
                found = self.resolve(caller[0], receiver)
                if not found or any(entity.kind != "instance" for entity in found):
                    return True
                owners = [entity.key for entity in found]
            if any({owner, *self.subclasses(owner)} & {cls, *self.subclasses(cls)} for owner in owners):
                return True
        return not receivers

    def _called_in(self, file: str) -> dict[tuple[int, int], list[str]]:
        """What a file calls, by caller and line."""
        known = self._call_targets.get(file)
        if known is None:
            known = self._call_targets[file] = {}
            for edge in named(CallEdge, self.summaries[file]["edges"]):
                known.setdefault((edge.caller, edge.line), []).extend(edge.targets)
        return known

    # -- uses --------------------------------------------------------------------------------------------------------

    def uses(self, *names: str) -> bool:
        """Whether any file of the project reads one of these canonical names (``a.b.*`` matches everything below)."""
        return self.first_file_using(*names) is not None

    def files_using(self, *names: str) -> list[str]:
        """The files that read one of these canonical names."""
        return self.call_graph.files_using(*names)

    def first_file_using(self, *names: str) -> str | None:
        """The first file, by path, that reads one of these canonical names."""
        return self.call_graph.first_file_using(*names)

    def era(self, file: str) -> tuple[str, str]:
        """For which TensorFlow a file was written (see `Era`), and the file that tells."""
        return self.call_graph.era(file)

    def names_digest(self) -> str:
        """A digest of what all files import and read, by their names: who knows these depends on every file."""
        return self._names_digest

    @cached_property
    def _names_digest(self) -> str:
        digest = blake2b(digest_size=16)
        for file, summary in self.summaries.items():
            digest.update(json.dumps([file, *map(sorted, (summary["imports"], summary["uses"]))]).encode())
        return digest.hexdigest()

    def keras_sets(self, attribute: str) -> bool:
        """Whether a class of the project that is Keras's by a base sets the attribute, in its body or by ``self``."""
        return attribute in self._set_by_keras_classes

    @cached_property
    def _set_by_keras_classes(self) -> frozenset[str]:
        found: set[str] = set()
        for file, summary in self.summaries.items():
            for number, cls in summary["classes"].items():
                if cls["attributes"] and self.kinds((file, int(number))):
                    found.update(cls["attributes"])
        return frozenset(found)

    def enters_graph(self, file: str, text: str) -> bool:
        """Whether a ``with`` on `text` may enter a graph: a context manager of ours, in a file that handles graphs."""
        return any(self.call_graph.uses(manager, GRAPH_NAMES) for manager in self.context_managers(file, text))

    def first_file_spelling(self, *names: str) -> str | None:
        """The first file, by path, that reads one of these absolute names or what is below it, written just so."""
        return self.call_graph.first_file_spelling(*names)

    def is_read_elsewhere(self, file: str, name: str) -> bool:
        """Whether another file reads a module-level name of `file`, as a name of that module or of its package."""
        parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
        modules = [parts[start:end] for end in (len(parts), len(parts) - 1) for start in range(end)]
        texts = {".".join([*module, name]) for module in modules}
        for other in self.summaries:
            for text in self.summaries[other]["uses"] if other != file else ():
                if f".{name}" in text and any(below(text.lstrip("."), wanted) for wanted in texts):
                    return True
        return False


def effects_of(project: Project, file: str, condition: Conditions) -> Effects:
    """Resolve conditions, but for those around them; see `summary.conditions`."""
    effects = own_effects(project, file, condition)
    if Effects.GRAPH not in effects and any(project.enters_graph(file, text) for text, _ in condition["withs"]):
        effects |= Effects.GRAPH
    for scope, *asked in condition["asked"]:
        effects |= project.asking_effects((file, scope), *asked)
    return effects
