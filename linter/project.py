"""The project as a whole: names across files, kinds of class, and in which situations each function runs.

A *situation* is a set of the flags below.
It starts at a root (the forward pass of a layer, a `tf.function`, module-level code, an Estimator's `model_fn`) and
travels along calls; the conditions of a call change it: a create-once guard ends FORWARD, a named `variable_scope` adds
SCOPED, `tf.Graph().as_default()` turns everything into GRAPH.
A function has as many situations as there are different ways to reach it.
"""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, NamedTuple

from .kinds import kinds_of_base
from .names import below, canonical
from .paths import split_head
from .summary import ClassSummary, Conditions, FunctionSummary, Summary


class Situation(IntFlag):
    """Under what circumstances a function's Python body runs."""

    FORWARD = 1
    """At every call of a layer, model or module."""
    TRACED = 2
    """While a graph is traced: once per trace, not once per call."""
    SHIM = 4
    """Below a method decorated with `track_tf1_style_variables`."""
    SCOPED = 8
    """Inside a `variable_scope` with a non-empty name (which an auto-incremented one has too, if never twice the same),
    or inside a context manager that may open one."""
    GRAPH = 16
    """While a TF1 graph is built on purpose: `tf.Graph().as_default()`, `model_fn`, v2 behaviour disabled."""
    LIFTED = 32
    """Inside `tf.init_scope`."""
    EAGER = 64
    """From a program's module-level code, with eager execution on."""
    FIT = 128
    """Traced by Keras (`fit` and its like), not by a `tf.function` of the user's; eager outside of it."""
    DATASET = 256
    """Traced by a `tf.data` transformation."""
    ONCE = 512
    """Under a create-once guard, or while a layer, model, module or metric of the project is made or built."""
    LEGACY = 1024
    """Below the forward pass of a TF1 layer, RNN cell or Sonnet 1 module, which most programs run only in a graph."""


_SHIMS = frozenset(
    {"keras.utils.track_tf1_style_variables", "keras.utils.track_tf1_layers_and_variables"}
)
_MAKES_ONCE = "keras.utils.get_or_create_layer"
_ONCE = frozenset(
    {
        "functools.lru_cache", "functools.cache", "functools.cached_property", "werkzeug.utils.cached_property",
        "sonnet.once", "sonnet.src.once.once",
    }
)
_ONCE_NAMES = frozenset({"cache", "cached", "cached_property", "lazy_property", "memoize", "memoized", "once", "run_once"})
_TRACERS = frozenset({"tensorflow.function", "tensorflow.contrib.eager.defun", "tensorflow.contrib.eager.function"})
_GRAPH_TRACERS = frozenset({"tensorflow.wrap_function", "tensorflow.Graph().as_default()"})
_ESCAPES = frozenset({"tensorflow.py_function", "tensorflow.numpy_function", "tensorflow.py_func", "tensorflow.contrib.eager.py_func"})
VARIABLE_SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.variable_op_scope", "tensorflow.VariableScope"})
_NO_SCOPES = ("tensorflow.", "keras.", "slim.", "contextlib.", "open", "threading.")
_V2_OFF = frozenset({"tensorflow.disable_v2_behavior", "tensorflow.disable_eager_execution"})
_GRAPH_NAMES = ("tensorflow.Graph", "tensorflow.Session", "tensorflow.get_default_session", "tensorflow.get_default_graph")
_SESSIONS = frozenset({"tensorflow.Session()"})
"""Entering one makes its graph the default and ends eager execution; an `InteractiveSession` does not [run]."""
DATASET_METHODS = frozenset(
    {
        "map", "filter", "flat_map", "interleave", "reduce", "take_while", "scan", "map_with_legacy_function",
        "filter_with_legacy_function", "group_by_window", "map_and_batch", "parallel_interleave", "make_batched",
    }
)  # fmt: skip
_DATASET_ONLY = frozenset({"flat_map", "interleave", "map_with_legacy_function", "take_while"})
_DATASET_ARGUMENTS = frozenset({"num_parallel_calls", "deterministic", "cycle_length", "block_length"})
_FORWARD_METHODS = ("call", "__call__")
_FIT_METHODS = ("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics")
_ESTIMATOR_FUNCTIONS = frozenset({"model_fn", "input_fn", "serving_input_receiver_fn", "serving_input_fn", "train_input_fn", "eval_input_fn"})
_COMPILE_ARGUMENTS = frozenset({"loss", "metrics", "weighted_metrics"})
_LIBRARIES = frozenset({"tensorflow", "keras", "tf_keras", "tf_slim", "numpy", "sonnet", "torch", "functools", "logging"})
_MAKERS = frozenset({"__init__", "__new__", "build"})
_MADE = frozenset({"layer", "model", "module", "sonnet", "metric", "loss", "optimizer"})
_UNROOTED = Situation.SHIM | Situation.SCOPED | Situation.LIFTED | Situation.ONCE | Situation.LEGACY
_MAX_SITUATIONS = 24
_MAX_DEPTH = 24
_MAX_ENTITIES = 12


class Entity(NamedTuple):
    """What a name turned out to be.

    ``kind``: ``external`` (``text`` is an absolute name), ``function``, ``class`` or ``instance`` of the project
    (``file`` and ``scope``), ``parameter`` (``text`` is its name and what follows), ``module``.
    """

    kind: str
    text: str = ""
    file: str = ""
    scope: int = -1

    @property
    def key(self) -> tuple[str, int]:
        """File and scope id of a project entity."""
        return self.file, self.scope


Key = tuple[str, int]


class Project:
    """All summaries of a project, resolved lazily.

    Args:
        summaries: summary of each file, by its path relative to the project's root, with ``/``.
    """

    def __init__(self, summaries: Mapping[str, Summary]) -> None:
        self.summaries = summaries
        self._modules = _modules(summaries)
        self._tops = {name.partition(".")[0] for name in self._modules}
        self._siblings = _siblings(summaries)
        self._resolved: dict[tuple[str, str], tuple[Entity, ...]] = {}
        self._open: dict[tuple[str, str], int] = {}
        self._provisional: dict[tuple[str, str], tuple[tuple[Entity, ...], int]] = {}
        """Answers that a cycle cut short, each with the depth of the open question that it waits for: packages whose
        modules import each other with ``*`` are asked in linear time while that question is open."""
        self._cut_at: dict[int, list[tuple[str, str]]] = {}
        self._cut = 0
        self._overrides: dict[tuple[str, int, str], list[Key]] = {}
        self._kinds: dict[Key, frozenset[str]] = {}
        self._mro: dict[Key, tuple[list[Key], list[str]]] = {}
        self._subclasses: dict[Key, list[Key]] | None = None
        self._makers: dict[Key, list[Key]] | None = None
        self._calls_of: dict[Key, list[tuple[str, list[Any]]]] | None = None
        self._callees: dict[Key, set[Key]] | None = None
        self._used: dict[str, set[str]] = {}
        self._situations: dict[Key, dict[int, tuple[Key | None, int, str]]] | None = None

    # -- names -------------------------------------------------------------------------------------------------------

    def resolve(self, file: str, text: str) -> tuple[Entity, ...]:
        """Say what a name of `file`, as `FileIndex.resolve` gives it, is in the whole project.

        Re-exports and attributes may form cycles; an answer that was cut short by one is only kept where it does not
        depend on the question that led there, so that the order of questions never matters.
        """
        key = (file, text)
        known = self._resolved.get(key)
        if known is not None:
            return known
        if key in self._provisional:
            answer, cut = self._provisional[key]
            self._cut = min(self._cut, cut)
            return answer
        depth = len(self._open)
        if key in self._open or depth > _MAX_DEPTH:
            self._cut = min(self._cut, self._open.get(key, 0))
            return ()
        self._open[key] = depth
        outer, self._cut = self._cut, depth
        answer = tuple(dict.fromkeys(self._resolve(file, text)))[:_MAX_ENTITIES]
        del self._open[key]
        for other in self._cut_at.pop(depth, ()):
            del self._provisional[other]
        if self._cut >= depth:
            self._resolved[key] = answer
            self._cut = outer
        else:
            self._provisional[key] = (answer, self._cut)
            self._cut_at.setdefault(self._cut, []).append(key)
            self._cut = min(outer, self._cut)
        return answer

    def _resolve(self, file: str, text: str) -> Iterator[Entity]:
        if text.startswith("[]"):
            text = text[2:]
        if text.startswith("@"):
            number, rest = _split_id(text[1:])
            kind = "class" if str(number) in self.summaries[file]["classes"] else "function"
            yield from self._reduce(Entity(kind, "", file, number), rest)
        elif text.startswith("self@"):
            number, rest = _split_id(text[5:])
            yield from self._reduce(Entity("instance", "self", file, number), rest)
        elif text.startswith("super@"):
            number, rest = _split_id(text[6:])
            yield from self._super((file, number), rest)
        elif text.startswith("$"):
            yield Entity("parameter", text, file)
        else:
            yield from self._absolute(file, text)

    def _absolute(self, file: str, text: str) -> Iterator[Entity]:
        dotted, rest = text, ""
        for position, character in enumerate(text):
            if character in "([":
                dotted, rest = text[:position], text[position:]
                break
        level = len(dotted) - len(dotted.lstrip("."))
        if level:
            parts = [part for part in dotted[level:].split(".") if part]
            base = file
            for _ in range(level):
                base = posixpath.dirname(base)
            for size in range(len(parts), -1, -1):
                found = self._module_at(posixpath.join(base, *parts[:size]))
                if found is not None:
                    yield from self._in_module(found, parts[size:], rest)
                    return
            return
        parts = dotted.split(".")
        for size in range(len(parts), 0, -1):
            found = self._find_module(file, parts[:size])
            if found is not None and found != file:  # `import tensorflow` in a file tensorflow.py means the real one
                yield from self._in_module(found, parts[size:], rest)
                return
        yield Entity("external", text)

    def _find_module(self, file: str, parts: list[str]) -> str | None:
        folder = posixpath.dirname(file)
        if parts[0] in _LIBRARIES and not self._is_library(parts[0]):
            return None
        if parts[0] not in self._tops and (folder, parts[0]) not in self._siblings:
            return None
        found = self._modules.get(".".join(parts))
        if found is not None:
            return found
        return self._module_at(posixpath.join(folder, *parts)) if len(parts) < 4 else None

    def _is_library(self, name: str) -> bool:
        """Whether the project is that library itself; a stray ``tensorflow.py`` or ``backends/keras/`` is not."""
        return f"{name}/__init__.py" in self.summaries or f"src/{name}/__init__.py" in self.summaries

    def _module_at(self, path: str) -> str | None:
        for candidate in (f"{path}.py", f"{path}/__init__.py" if path else "__init__.py"):
            if candidate in self.summaries:
                return candidate
        return None

    def _in_module(self, module: str, parts: list[str], rest: str) -> Iterator[Entity]:
        if not parts:
            yield Entity("module", module, module)
            return
        tail = "".join(f".{part}" for part in parts[1:]) + rest
        exported = self.summaries[module]["exports"].get(parts[0])
        if exported:
            for text in exported:
                yield from self.resolve(module, text + tail)
            return
        if posixpath.basename(module) == "__init__.py":
            inner = self._module_at(posixpath.join(posixpath.dirname(module), parts[0]))
            if inner is not None and inner != module:
                yield from self._in_module(inner, parts[1:], rest)
                return
        for star in self.summaries[module]["stars"]:
            if not self._leads_out(module, star):
                continue
            joiner = "" if star.endswith(".") else "."
            found = self.resolve(module, f"{star}{joiner}{parts[0]}{tail}")
            if found:
                yield from found
                return

    def _leads_out(self, file: str, star: str) -> bool:
        """Whether ``from star import *`` names a file of the project that is known, or another package.

        A file that does not reach TensorFlow has no summary: to look in the package around it for what it exports would
        lead back to the same import, for ever.
        """
        level = len(star) - len(star.lstrip("."))
        parts = [part for part in star[level:].split(".") if part]
        if not level:
            return self._find_module(file, parts[:1]) is None or self._find_module(file, parts) is not None
        base = file
        for _ in range(level):
            base = posixpath.dirname(base)
        return self._module_at(posixpath.join(base, *parts)) is not None

    def _reduce(self, entity: Entity, rest: str) -> Iterator[Entity]:
        """Follow attributes, calls and items from a class, instance or function."""
        while rest:
            if rest.startswith("()"):
                if entity.kind == "class":
                    entity, rest = Entity("instance", "", *entity.key), rest[2:]
                    continue
                yield from self._called(entity, rest[2:])
                return
            if rest.startswith("[]"):
                if entity.kind != "instance":
                    return
                rest = rest[2:]
                continue
            name, rest = split_head(rest[1:])
            if entity.kind not in ("class", "instance"):
                return
            methods = self._methods(entity, name)
            if len(methods) == 1:
                entity = Entity("function", "", *methods[0])
                continue
            if methods:
                for method in methods:
                    yield from self._reduce(Entity("function", "", *method), rest)
            else:
                yield from self._attribute(entity, name, rest)
            return
        yield entity

    def _called(self, entity: Entity, rest: str) -> Iterator[Entity]:
        """What calling a function or an instance gives, and what follows from it."""
        if entity.kind == "function":
            summary = self.function(entity.key)
            for text in summary["returns"] if summary else ():
                if not text.startswith("$"):
                    yield from self.resolve(entity.file, text + rest)
        elif entity.kind == "instance" and not rest:
            for name in _FORWARD_METHODS:
                found = self.method(entity.key, name)
                if found is not None:
                    yield Entity("function", "call of an instance", *found)

    def _attribute(self, entity: Entity, name: str, rest: str) -> Iterator[Entity]:
        """An attribute that is no method: what is assigned to it, or what a public base says."""
        for key in self.mro(entity.key)[0]:
            summary = self.cls(key)
            values = summary["attributes"].get(name) if summary else None
            if values:
                for text in values:
                    plain = rest.removeprefix("[]") if text.startswith("[]") else rest
                    yield from self.resolve(key[0], text + plain)
                return
        for base in self.mro(entity.key)[1]:
            yield Entity("external", f"{base}{'()' if entity.kind == 'instance' else ''}.{name}{rest}")
            return

    def _methods(self, entity: Entity, name: str) -> list[Key]:
        """The methods that a name on `entity` may mean: on ``self``, those of subclasses too."""
        own = self.method(entity.key, name)
        found = [own] if own is not None else []
        if entity.kind == "instance" and entity.text == "self":
            known = self._overrides.get((*entity.key, name))
            if known is None:
                known = list(dict.fromkeys(m for sub in self.subclasses(entity.key) if (m := self.method(sub, name))))
                self._overrides[(*entity.key, name)] = known
            found.extend(key for key in known if key != own)
        return found

    def _super(self, key: Key, rest: str) -> Iterator[Entity]:
        if not rest.startswith("."):
            return
        name, rest = split_head(rest[1:])
        for base in self.mro(key)[0][1:]:
            summary = self.cls(base)
            if summary and name in summary["methods"]:
                yield from self._reduce(Entity("function", "", base[0], summary["methods"][name]), rest)
                return
        for external in self.mro(key)[1]:
            yield Entity("external", f"{external}().{name}{rest}")
            return

    # -- classes -----------------------------------------------------------------------------------------------------

    def function(self, key: Key) -> FunctionSummary | None:
        """The summary of a function of the project."""
        return self.summaries[key[0]]["functions"].get(str(key[1])) if key[0] in self.summaries else None

    def cls(self, key: Key) -> ClassSummary | None:
        """The summary of a class of the project."""
        return self.summaries[key[0]]["classes"].get(str(key[1])) if key[0] in self.summaries else None

    def mro(self, key: Key) -> tuple[list[Key], list[str]]:
        """The class and its bases in the project, nearest first, and the public bases it ends in."""
        known = self._mro.get(key)
        if known is None:
            self._mro[key] = ([key], [])
            before = self._cut
            inner: list[Key] = [key]
            outer: list[str] = []
            summary = self.cls(key)
            for alternatives in summary["bases"] if summary else ():
                for text in alternatives:
                    for base in self.resolve(key[0], text):
                        if base.kind == "class" and base.key != key:
                            bases, externals = self.mro(base.key)
                            inner += [b for b in bases if b not in inner]
                            outer += [e for e in externals if e not in outer]
                        elif base.kind == "external" and base.text not in outer:
                            outer.append(base.text)
            known = self._mro[key] = (inner, outer)
            if self._cut < before:
                del self._mro[key]  # a base was cut short by a question still open
        return known

    def makers(self, key: Key) -> list[Key]:
        """The functions and modules of the project in whose own code a class is constructed."""
        if self._makers is None:
            self._makers = {}
            for file in sorted(self.summaries):
                classes = self.summaries[file]["classes"]
                for caller, _, targets, _, shape in self.summaries[file]["edges"]:
                    while str(caller) in classes:
                        caller = classes[str(caller)]["outer"]
                    for text in targets if shape is not None else ():
                        for entity in self.resolve(file, text):
                            if entity.kind == "class":
                                self._makers.setdefault(entity.key, []).append((file, caller))
        return sorted(set(self._makers.get(key, ())))

    def knows_bases(self, key: Key) -> bool:
        """Whether every base of a class, and of its bases in the project, is certainly a class that is known."""
        for base in self.mro(key)[0]:
            summary = self.cls(base)
            for alternatives in summary["bases"] if summary else ():
                found = [entity for text in alternatives for entity in self.resolve(base[0], text)]
                if not found or any(entity.kind not in ("class", "external") for entity in found):
                    return False
        return True

    def subclasses(self, key: Key) -> list[Key]:
        """All classes of the project that descend from `key`, in file order."""
        if self._subclasses is None:
            found: dict[Key, list[Key]] = {}
            for file in sorted(self.summaries):
                for number in self.summaries[file]["classes"]:
                    child = (file, int(number))
                    for base in self.mro(child)[0][1:]:
                        found.setdefault(base, []).append(child)
            self._subclasses = found
        return self._subclasses.get(key, [])

    def kinds(self, key: Key) -> frozenset[str]:
        """The kinds of a class (see `linter.kinds`), through all its bases."""
        known = self._kinds.get(key)
        if known is None:
            known = frozenset(kind for base in self.mro(key)[1] for kind in kinds_of_base(base))
            self._kinds[key] = known
        return known

    def sorted_kinds(self, key: Key) -> list[str]:
        """`kinds` in a fixed order."""
        return sorted(self.kinds(key))

    def method(self, key: Key, name: str) -> Key | None:
        """The method `name` of a class, its own or an inherited one of the project."""
        for base in self.mro(key)[0]:
            summary = self.cls(base)
            if summary and name in summary["methods"]:
                return base[0], summary["methods"][name]
        return None

    def callers_omitting(self, key: Key, parameter: str) -> tuple[int, int]:
        """How many calls in the project leave a parameter of a function to its default, and how many calls there are."""
        calls = self._calls_to(key)
        return sum(self._omits(key, parameter, edge[4]) for _, edge in calls), len(calls)

    def callers_omitting_under(self, key: Key, parameter: str, flags: int, without: int) -> tuple[int, int]:
        """The same for the calls that run in a situation with all `flags` and none of `without`."""
        found = [
            self._omits(key, parameter, edge[4])
            for file, edge in self._calls_to(key)
            if any(
                (s & flags) == flags and not s & without
                for s in map(
                    effects_of(self, file, self.summaries[file]["conditions"][edge[3]]).apply,
                    self.situations((file, edge[0])),
                )
            )
        ]
        return sum(found), len(found)

    def _calls_to(self, key: Key) -> list[tuple[str, list[Any]]]:
        """The calls of a function in the project: the file, and the edge of its summary."""
        if self._calls_of is None:
            self._calls_of = {}
            for file in sorted(self.summaries):
                for edge in self.summaries[file]["edges"]:
                    for text in edge[2] if edge[4] is not None else ():
                        for entity in self.resolve(file, text):
                            if entity.kind == "function":
                                self._calls_of.setdefault(entity.key, []).append((file, edge))
        return self._calls_of.get(key, [])

    def _omits(self, key: Key, parameter: str, shape: list[Any]) -> bool:
        summary = self.function(key)
        if summary is None or parameter not in summary["parameters"]:
            return False
        position = summary["parameters"].index(parameter) - (1 if summary["cls"] >= 0 else 0)
        return bool(shape[0] <= position and parameter not in shape[1] and "*" not in shape[1])

    def v1_calls(self, key: Key) -> tuple[str, ...]:
        """The functions that make variables by name (see `summary.makes_by_name`) which a function of the project calls,
        itself or through others: canonical names, sorted.
        """
        if self._callees is None:
            self._callees = {}
            for file in sorted(self.summaries):
                for edge in self.summaries[file]["edges"]:
                    if edge[4] is not None:
                        reached = self._callees.setdefault((file, edge[0]), set())
                        for text in edge[2]:
                            reached.update(e.key for e in self.resolve(file, text) if e.kind == "function")
        seen: set[Key] = {key}
        queue = [key]
        found: set[str] = set()
        while queue:
            current = queue.pop()
            summary = self.function(current)
            found.update(summary["v1_calls"] if summary else ())
            fresh = self._callees.get(current, set()) - seen
            seen |= fresh
            queue.extend(fresh)
        return tuple(sorted(found))

    # -- situations --------------------------------------------------------------------------------------------------

    def situations(self, key: Key) -> tuple[int, ...]:
        """The situations in which a function's body runs, as bits of `Situation`; empty where none is known."""
        return tuple(sorted(self._all_situations().get(key, ())))

    def trail(self, key: Key, flag: int) -> list[tuple[str, str, int]]:
        """How `key` comes to run under `flag`: ``(name, file, line)`` from the root down to it."""
        return [(f"{self.display(step)}{reason}", step[0], line) for step, line, reason in self._steps(key, flag)]

    def _steps(self, key: Key, flag: int) -> list[tuple[Key, int, str]]:
        """The functions from a root down to `key`, each with the line in which it calls the next."""
        table = self._all_situations()
        steps: list[tuple[Key, int, str]] = []
        seen: set[Key] = set()
        current: Key | None = key
        line = 0
        while current is not None and current not in seen:
            seen.add(current)
            options = [(s, v) for s, v in sorted(table.get(current, {}).items()) if s & flag]
            parent, next_line, reason = options[0][1] if options else (None, 0, "")
            steps.append((current, line, reason if parent is None else ""))
            current, line = parent, next_line
        steps.reverse()
        return steps

    def is_consistent(self, key: Key, flag: int) -> bool:
        """Whether one run of the program can go the way that `trail` tells.

        Calls are followed without regard to who called before: a method that a base class calls on ``self`` may be any
        override, and a wrapper may run any function that it is ever given.
        A way is consistent if its methods of one ``self`` have a class in common, and if a wrapper runs what the
        function before it in the trail gives it.
        """
        steps = self._steps(key, flag)
        own: set[Key] = set()
        for position, (step, line, _) in enumerate(steps[:-1]):
            callee = steps[position + 1][0]
            summary, called = self.function(step), self.function(callee)
            if summary is None or called is None:
                return True
            edges = [edge for edge in self.summaries[step[0]]["edges"] if edge[0] == step[1] and edge[1] == line]
            texts = [text for edge in edges for text in edge[2]]
            on_self = [text for text in texts if text.startswith("self@") and text.endswith(f".{called['name']}")]
            if called["cls"] >= 0 and on_self and on_self[0].count(".") == 1:
                owner, other = (step[0], _split_id(on_self[0][5:])[0]), (callee[0], called["cls"])
                own = own or {owner, *self.subclasses(owner)}
                own = own & {other, *self.subclasses(other)}
                if not own:
                    return False
            else:
                own = set()
            if any(text.startswith("$") for text in texts) and not self._runs_by_name(step[0], texts, callee):
                if position and not self._gives(steps[position - 1][0], step, callee):
                    return False
        return True

    def _runs_by_name(self, file: str, texts: list[str], callee: Key) -> bool:
        return any(
            entity.kind in ("function", "class") and (entity.key == callee or entity.kind == "class")
            for text in texts
            if not text.startswith("$")
            for entity in self.resolve(file, text)
        )

    def _gives(self, giver: Key, wrapper: Key, function: Key) -> bool:
        """Whether `giver` hands `function` to a call of `wrapper`."""
        for caller, _, targets, _, functions, _ in self.summaries[giver[0]]["passes"]:
            if caller != giver[1]:
                continue
            if any(e.key == wrapper for text in targets if text[:1] != "?" for e in self.resolve(giver[0], text)):
                if any(e.key == function for text in functions for e in self.resolve(giver[0], text)):
                    return True
        return False

    def display(self, key: Key) -> str:
        """A function's or class's name as a person writes it: ``Net.call``."""
        function = self.function(key)
        if function is None:
            cls = self.cls(key)
            return cls["name"] if cls else "the module"
        owner = self.cls((key[0], function["cls"])) if function["cls"] >= 0 else None
        return f"{owner['name']}.{function['name']}" if owner else function["name"]

    def _all_situations(self) -> dict[Key, dict[int, tuple[Key | None, int, str]]]:
        if self._situations is None:
            self._situations = _Flow(self).run()
        return self._situations

    def is_property(self, key: Key) -> bool:
        """Whether a method is read like an attribute."""
        summary = self.function(key)
        return summary is not None and any(
            text in ("builtins.property", "functools.cached_property", "abc.abstractproperty") or text.endswith("property")
            for text in summary["decorators"]
        )

    def uses(self, *names: str) -> bool:
        """Whether any file of the project reads one of these canonical names (``a.b.*`` matches everything below)."""
        return self.first_file_using(*names) is not None

    def files_using(self, *names: str) -> list[str]:
        """The files that read one of these canonical names."""
        return [file for file in sorted(self.summaries) if any(self._file_uses(file, name) for name in names)]

    def first_file_using(self, *names: str) -> str | None:
        """The first file, by path, that reads one of these canonical names."""
        return next((f for f in sorted(self.summaries) if any(self._file_uses(f, name) for name in names)), None)

    def enters_graph(self, file: str, text: str) -> bool:
        """Whether a ``with`` on `text` may enter a graph: a context manager of the project, in a file that handles any."""
        managers = [e.key for e in self.resolve(file, text) if e.kind == "instance" and self.method(e.key, "__enter__")]
        for entity in self.resolve(file, text.removesuffix("()")) if text.endswith("()") else ():
            function = self.function(entity.key) if entity.kind == "function" else None
            if function is not None and any(d.endswith("contextmanager") for d in function["decorators"]):
                managers.append(entity.key)
        return any(self._file_uses(manager[0], name) for manager in managers for name in _GRAPH_NAMES)

    def first_file_spelling(self, *names: str) -> str | None:
        """The first file, by path, that reads one of these absolute names or what is below it, written just so."""
        for file in sorted(self.summaries):
            for text in self.summaries[file]["uses"]:
                if any(e.kind == "external" and below(e.text, name) for e in self.resolve(file, text) for name in names):
                    return file
        return None

    def _file_uses(self, file: str, name: str) -> bool:
        used = self._used.get(file)
        if used is None:
            used = self._used[file] = {
                n for text in self.summaries[file]["uses"] for n in self.canonical_names(file, text)
            }
        if name.endswith(".*"):
            return any(n.startswith(name[:-1]) for n in used)
        return name in used

    def canonical_names(self, file: str, text: str) -> list[str]:
        """The canonical public names that a name of `file` may mean."""
        return [canonical(entity.text) for entity in self.resolve(file, text) if entity.kind == "external"]


class _Flow:
    """The fixed point: roots, then situations along calls."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.table: dict[Key, dict[int, tuple[Key | None, int, str]]] = {}
        self.queue: deque[tuple[Key, int]] = deque()
        self.made_once: set[Key] = set()
        """Functions that are given to `get_or_create_layer`."""
        self.edges: dict[Key, list[tuple[Key, int, Callable[[int], int]]]] = {}
        self.entry: dict[Key, Callable[[int], int]] = {}
        """What the project's own decorators make of a situation."""
        self._transfers: dict[tuple[str, int], Callable[[int], int]] = {}

    def run(self) -> dict[Key, dict[int, tuple[Key | None, int, str]]]:
        self._collect_edges()
        for key, situation, reason in self._roots():
            self._add(key, int(situation), None, 0, reason)
        while self.queue:
            key, situation = self.queue.popleft()
            for callee, line, transfer in self.edges.get(key, ()):
                self._add(callee, transfer(situation), key, line, "")
        return self.table

    def _add(self, key: Key, situation: int, parent: Key | None, line: int, reason: str) -> None:
        situation = self._on_entry(key, situation)
        if not situation & ~int(_UNROOTED):
            return
        known = self.table.setdefault(key, {})
        if situation in known or len(known) >= _MAX_SITUATIONS:
            return
        known[situation] = (parent, line, reason)
        self.queue.append((key, situation))

    def _on_entry(self, key: Key, situation: int) -> int:
        """What a function's own decorators make of a situation."""
        summary = self.project.function(key)
        if summary is None or not situation:
            return situation
        if key in self.entry:
            situation = self.entry[key](situation)
        for text in summary["decorators"]:
            if self._is_once(key[0], text.removesuffix("()")):
                situation = _once(situation)
            for name in self.project.canonical_names(key[0], text):
                plain = name.removesuffix("()")
                if plain in _TRACERS and not situation & Situation.GRAPH:
                    situation = (situation | Situation.TRACED) & ~Situation.FIT
                elif plain in _SHIMS:
                    if not situation & Situation.SHIM:
                        situation &= ~int(Situation.SCOPED)  # the outermost shim starts at the root of the names (tried)
                    situation |= Situation.SHIM
                elif plain in _ONCE:
                    situation = _once(situation)
        if summary["name"] in _MAKERS and summary["cls"] >= 0 and _MADE & self.project.kinds((key[0], summary["cls"])):
            situation = _once(situation)
        return situation

    def _is_once(self, file: str, decorator: str) -> bool:
        """Whether a decorator of the project says by its name that what it decorates runs once, or is kept."""
        found = [self.project.function(e.key) for e in self.project.resolve(file, decorator) if e.kind == "function"]
        return any(summary is not None and summary["name"] in _ONCE_NAMES for summary in found)

    # -- roots -------------------------------------------------------------------------------------------------------

    def _roots(self) -> Iterator[tuple[Key, Situation, str]]:
        project = self.project
        for file in sorted(project.summaries):
            summary = project.summaries[file]
            graph = any(
                name in _V2_OFF for text in summary["uses"] for name in project.canonical_names(file, text)
            )
            yield (file, 0), Situation.GRAPH if graph else Situation.EAGER, ""
            for number, function in summary["functions"].items():
                yield from self._function_roots((file, int(number)), function)
            for number in summary["classes"]:
                yield from self._class_roots((file, int(number)))

    def _function_roots(self, key: Key, function: FunctionSummary) -> Iterator[tuple[Key, Situation, str]]:
        names = [n.removesuffix("()") for text in function["decorators"] for n in self.project.canonical_names(key[0], text)]
        if any(name in _TRACERS for name in names):
            yield key, Situation.TRACED, " (a tf.function)"
        forward = function["name"] not in _FORWARD_METHODS and key not in self.made_once
        if forward and any(name in _SHIMS for name in names):
            yield key, Situation.FORWARD | Situation.SHIM, ""
        if {"features", "labels", "mode"} <= set(function["parameters"]):
            yield key, Situation.GRAPH, " (an Estimator's model_fn)"

    def _class_roots(self, key: Key) -> Iterator[tuple[Key, Situation, str]]:
        project = self.project
        kinds = project.kinds(key)
        methods = (project.cls(key) or {"methods": {}})["methods"]
        forward: Situation | None = None
        if "v1layer" in kinds:
            forward = Situation.FORWARD | Situation.LEGACY
        elif "layer" in kinds:
            forward = Situation.FORWARD | Situation.TRACED | Situation.FIT
        elif kinds & {"module", "sonnet"}:
            forward = Situation.FORWARD
        if forward is not None:
            names = (*_FORWARD_METHODS, "_build") if "sonnet" in kinds else _FORWARD_METHODS
            for name in names:
                if name in methods:
                    legacy = Situation.LEGACY if name == "_build" else Situation(0)
                    yield (key[0], methods[name]), forward | legacy, ""
        fit: tuple[str, ...] = ()
        if "model" in kinds:
            fit = _FIT_METHODS
        elif "loss" in kinds:
            fit = ("call", "__call__")
        elif "metric" in kinds:
            fit = ("update_state", "result")
        for name in fit:
            if name in methods:
                yield (key[0], methods[name]), Situation.TRACED | Situation.FIT, ""

    # -- edges -------------------------------------------------------------------------------------------------------

    def _collect_edges(self) -> None:
        parameter_calls: dict[tuple[str, int, str], list[tuple[Key, int, Callable[[int], int]]]] = {}
        files = sorted(self.project.summaries)
        for file in files:
            summary = self.project.summaries[file]
            for edge in summary["edges"]:
                caller: Key = (file, self._owner(file, edge[0]))
                transfer = self._transfer(file, edge[3])
                for text in edge[2]:
                    for entity in self.project.resolve(file, text):
                        if entity.kind == "parameter" and edge[4] is not None:
                            number, _, name = entity.text[1:].partition(":")
                            slot = (file, int(number), name)
                            parameter_calls.setdefault(slot, []).append((caller, edge[1], transfer))
                        elif entity.kind == "function" and (edge[4] is not None or self.project.is_property(entity.key)):
                            self._edge(caller, entity.key, edge[1], transfer)
                        elif entity.kind == "instance" and edge[4] is not None:
                            for name in ("__call__", "call"):
                                called = self.project.method(entity.key, name)
                                if called is not None:
                                    self._edge(caller, called, edge[1], transfer)
                        elif entity.kind == "class" and edge[4] is not None:
                            for name in ("__init__", "__new__"):
                                constructor = self.project.method(entity.key, name)
                                if constructor is not None:
                                    self._edge(caller, constructor, edge[1], transfer)
        for file in files:
            for caller_id, line, targets, argument, functions, condition in self.project.summaries[file]["passes"]:
                caller = (file, self._owner(file, caller_id))
                transfer = self._transfer(file, condition)
                for text in functions:
                    for entity in self.project.resolve(file, text):
                        if entity.kind == "function":
                            self._pass(caller, line, file, targets, argument, entity.key, transfer, parameter_calls)
        for file in files:
            for number, function in self.project.summaries[file]["functions"].items():
                for text in function["decorators"]:
                    for entity in self.project.resolve(file, text.removesuffix("()")):
                        if entity.kind == "function":
                            self._decorated((file, int(number)), entity.key, parameter_calls)

    def _owner(self, file: str, scope: int) -> int:
        """Code in a class body runs when the code around the class does."""
        classes = self.project.summaries[file]["classes"]
        while str(scope) in classes:
            scope = classes[str(scope)]["outer"]
        return scope

    def _edge(self, caller: Key, callee: Key, line: int, transfer: Callable[[int], int]) -> None:
        self.edges.setdefault(caller, []).append((callee, line, transfer))

    def _pass(
        self,
        caller: Key,
        line: int,
        file: str,
        targets: list[str],
        argument: str,
        function: Key,
        transfer: Callable[[int], int],
        parameter_calls: Mapping[tuple[str, int, str], list[tuple[Key, int, Callable[[int], int]]]],
    ) -> None:
        """A function is given to a call: what the callee does with it decides."""
        for target in targets:
            for entity in self.project.resolve(file, target) if not target.startswith("?") else [Entity("external", target)]:
                if entity.kind == "function":
                    callee = self.project.function(entity.key)
                    name = _parameter_name(callee, argument) if callee else None
                    for inner, inner_line, inner_transfer in parameter_calls.get((*entity.key, name or ""), ()):
                        self._edge(inner, function, inner_line, inner_transfer)
                    continue
                name = canonical(entity.text) if entity.kind == "external" else ""
                if name == _MAKES_ONCE:
                    self.made_once.add(function)
                change = _given_to(name.removeprefix("?"), argument, entity.kind)
                if change is not None:
                    self._edge(caller, function, line, lambda s, t=transfer, c=change: c(t(s)))  # type: ignore[misc]

    def _decorated(
        self,
        function: Key,
        decorator: Key,
        parameter_calls: Mapping[tuple[str, int, str], list[tuple[Key, int, Callable[[int], int]]]],
    ) -> None:
        """A wrapper that calls what it decorates: the function runs as the wrapper runs it."""
        summary = self.project.function(decorator)
        if summary is None or not summary["parameters"]:
            return
        for inner, line, transfer in parameter_calls.get((*decorator, summary["parameters"][0]), ()):
            self.entry.setdefault(function, transfer)
            self._edge(function, inner, line, lambda s: s)

    def _transfer(self, file: str, condition: int) -> Callable[[int], int]:
        key = (file, condition)
        known = self._transfers.get(key)
        if known is None:
            effects = effects_of(self.project, file, self.project.summaries[file]["conditions"][condition])
            known = self._transfers[key] = effects.apply
        return known


@dataclass(frozen=True, slots=True)
class Effects:
    """What the conditions of a site do to the situation of the function around it."""

    guarded: bool = False
    scoped: bool = False
    graph: bool = False
    lifted: bool = False
    eager: bool = False
    unreachable: bool = False

    def apply(self, situation: int) -> int:
        """The situation at the site."""
        if self.unreachable:
            return 0
        if self.graph or situation & Situation.GRAPH:
            return int(Situation.GRAPH)
        if self.guarded:
            situation = _once(situation)
        if self.scoped:
            situation |= Situation.SCOPED
        if self.lifted:
            situation |= Situation.LIFTED
        if self.eager:
            situation &= ~(Situation.TRACED | Situation.FIT | Situation.DATASET)
        return int(situation)


def effects_of(project: Project, file: str, condition: Conditions) -> Effects:
    """Resolve the conditions of a site; see `summary.conditions`."""
    scoped = graph = lifted = eager = False
    for text, how in condition["withs"]:
        names = [text] if text.startswith("?") else [
            canonical(e.text) if e.kind == "external" else e.text for e in project.resolve(file, text)
        ]
        for name in names or ("?",):
            plain = name.removesuffix("()")
            if plain in VARIABLE_SCOPES:
                scoped = scoped or how != "empty"
            elif name in ("?as_default()", "?as_default") or name.endswith(".as_default()"):
                graph = graph or not name.startswith("tensorflow.summary")
            elif name in _SESSIONS:
                graph = True
            elif plain == "tensorflow.init_scope":
                lifted = True
            elif not plain.startswith(_NO_SCOPES) or "(" in plain:
                scoped = True  # a context manager of the program's own may well open a variable scope
        graph = graph or project.enters_graph(file, text)
    for text, outcome in condition["tests"]:
        for name in project.canonical_names(file, text):
            if name in ("tensorflow.executing_eagerly", "tensorflow.compat.v1.executing_eagerly"):
                eager = eager or outcome == "true"
                graph = graph or outcome == "false"
            elif name in ("tensorflow.inside_function", "tensorflow.is_tensor"):
                eager = eager or outcome == "false"  # what is no tensor is a Python value, given in eager code
    unreachable = any(_always_given(project, (file, scope), name) for scope, name in condition["absent"])
    return Effects(condition["guarded"], scoped, graph, lifted, eager, unreachable)


def _always_given(project: Project, function: Key, parameter: str) -> bool:
    """Whether every call in the project gives a parameter, so that code for its absence does not run."""
    omitting, calls = project.callers_omitting(function, parameter)
    return calls > 0 and omitting == 0


def _once(situation: int) -> int:
    """The situation of code that runs at the first call only."""
    repeated = situation & int(Situation.FORWARD | Situation.TRACED)
    return int(situation & ~Situation.FORWARD | Situation.ONCE) if repeated else situation


def _given_to(name: str, argument: str, kind: str) -> Callable[[int], int] | None:
    """How a function runs that is given to the public callable `name`; None if it does not run there."""
    method = name.rpartition(".")[2]
    if name in _TRACERS:
        return lambda s: s if s & Situation.GRAPH else int((s | Situation.TRACED) & ~(Situation.FIT | Situation.FORWARD))
    if name in ("tensorflow.wrap_function",):
        return lambda s: int(Situation.GRAPH)
    if name == _MAKES_ONCE:
        return _once
    if name in _ESCAPES:
        return lambda s: 0
    if argument in _ESTIMATOR_FUNCTIONS or (name.startswith("tensorflow.estimator") and argument == "0"):
        return lambda s: int(Situation.GRAPH)
    if method == "compile" and argument in _COMPILE_ARGUMENTS:
        return lambda s: int(Situation.TRACED | Situation.FIT)
    if name == "keras.layers.Lambda":
        return lambda s: int(Situation.FORWARD | Situation.TRACED | Situation.FIT)
    if name in ("tensorflow.vectorized_map", "tensorflow.autograph.to_graph"):
        return lambda s: s | int(Situation.TRACED)
    if "tensorflow.data." in name and method in DATASET_METHODS:
        return lambda s: s if s & Situation.GRAPH else int(Situation.TRACED | Situation.DATASET)
    if method in _DATASET_ONLY and argument in ("0", "map_func", "predicate"):
        return lambda s: s if s & Situation.GRAPH else int(Situation.TRACED | Situation.DATASET)
    if kind == "class" or name.endswith("Callback"):
        return None
    return lambda s: s


def _parameter_name(callee: FunctionSummary, argument: str) -> str | None:
    if not argument.isdigit():
        return argument
    position = int(argument) + (1 if callee["cls"] >= 0 else 0)
    return callee["parameters"][position] if position < len(callee["parameters"]) else None


def _split_id(text: str) -> tuple[int, str]:
    end = 0
    while end < len(text) and text[end].isdigit():
        end += 1
    return int(text[:end]), text[end:]


def _siblings(summaries: Iterable[str]) -> set[tuple[str, str]]:
    """Folder and name of every module and every folder of modules: what a script imports from beside itself."""
    found: set[tuple[str, str]] = set()
    for path in summaries:
        inner = path.removesuffix(".py")
        while inner:
            inner, _, name = inner.rpartition("/")
            found.add((inner, name))
    return found


def _modules(summaries: Iterable[str]) -> dict[str, str]:
    """Dotted names of all files: from the root, from ``src/``, and from the top of each package."""
    found: dict[str, str] = {}
    paths = sorted(summaries)
    known = set(paths)
    for path in paths:
        plain = path.removesuffix("/__init__.py") if path.endswith("/__init__.py") else path.removesuffix(".py")
        names = {plain.replace("/", ".")}
        if plain.startswith("src/"):
            names.add(plain[4:].replace("/", "."))
        top = posixpath.dirname(path)
        while top and f"{top}/__init__.py" in known:
            top = posixpath.dirname(top)
        names.add((plain[len(top) + 1 :] if top else plain).replace("/", "."))
        for name in sorted(names):
            found.setdefault(name, path)
    return found


__all__ = ["DATASET_METHODS", "Effects", "Entity", "Key", "Project", "Situation", "VARIABLE_SCOPES", "effects_of"]
