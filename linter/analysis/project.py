"""The project as a whole: names across files, kinds of class, and what the code of each file leads to.

Everything is resolved lazily from the summaries of the files.
In which contexts each function runs starts at roots (the forward pass of a layer, a `tf.function`, module-level code,
an Estimator's `model_fn`) and travels along calls.
The conditions of a call change it: a create-once guard ends FORWARD, a named `variable_scope` adds SCOPED,
`tf.Graph().as_default()` turns everything into GRAPH.
A function has as many contexts as there are different ways to reach it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from .call_graph import CALL, ENTER, GRAPH_NAMES, MAKE, NO_PARAMETER, READ, CallGraph, Key, Links
from .execution_context import Context, Effects, given
from .kinds import kinds_of_base
from .names import below, canonical
from .paths import split_head
from .summary import ClassSummary, Conditions, FunctionSummary, Summary

_SHIMS = frozenset({"keras.utils.track_tf1_style_variables", "keras.utils.track_tf1_layers_and_variables"})
_MAKES_ONCE = "keras.utils.get_or_create_layer"
_ONCE = frozenset(
    {
        "functools.lru_cache",
        "functools.cache",
        "functools.cached_property",
        "werkzeug.utils.cached_property",
        "sonnet.once",
        "sonnet.src.once.once",
    }
)
_ONCE_NAMES = frozenset(
    {"cache", "cached", "cached_property", "lazy_property", "memoize", "memoized", "once", "run_once"}
)
_TRACERS = frozenset({"tensorflow.function", "tensorflow.contrib.eager.defun", "tensorflow.contrib.eager.function"})
_GRAPH_TRACERS = frozenset({"tensorflow.wrap_function", "tensorflow.Graph().as_default()"})
_ESCAPES = frozenset(
    {"tensorflow.py_function", "tensorflow.numpy_function", "tensorflow.py_func", "tensorflow.contrib.eager.py_func"}
)
VARIABLE_SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.variable_op_scope", "tensorflow.VariableScope"})
_NO_SCOPES = ("tensorflow.", "keras.", "slim.", "contextlib.", "open", "threading.")
_V2_OFF = frozenset({"tensorflow.disable_v2_behavior", "tensorflow.disable_eager_execution"})
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
_ESTIMATOR_FUNCTIONS = frozenset(
    {"model_fn", "input_fn", "serving_input_receiver_fn", "serving_input_fn", "train_input_fn", "eval_input_fn"}
)
_COMPILE_ARGUMENTS = frozenset({"loss", "metrics", "weighted_metrics"})
_LIBRARIES = frozenset(
    {"tensorflow", "keras", "tf_keras", "tf_slim", "numpy", "sonnet", "torch", "functools", "logging"}
)
_MAKERS = frozenset({"__init__", "__new__", "build"})
_MADE = frozenset({"layer", "model", "module", "sonnet", "metric", "loss", "optimizer"})
_MAX_DEPTH = 24
_MAX_ENTITIES = 12
_REMEMBERED = 50_000
"""Resolved names; they are few in most projects, and in a large one each is soon done with."""


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


class Project:
    """All summaries of a project, resolved lazily.

    Args:
        summaries: summary of each file, by its path relative to the project's root, with ``/``.
    """

    def __init__(self, summaries: Mapping[str, Summary]) -> None:
        self.summaries = summaries
        self._modules = modules_of(summaries)
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
        self._call_graph: CallGraph | None = None

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
        call_graph = CallGraph(self.summaries)
        made: dict[str, Links] = {}
        for file in sorted(self.summaries):
            links = kept.get(file)
            if links is None:
                links = made[file] = _Linker(self, file).links
            call_graph.add(file, links)
        self._call_graph = call_graph
        return made

    def prepare(self) -> None:
        """Work out what every file needs, before other processes get a copy."""
        self.call_graph.contexts(("", 0))

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
        if not depth and len(self._resolved) > _REMEMBERED:
            self._resolved.clear()
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
        return self.call_graph.makers(key)

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
                if file.endswith(".ipynb"):  # a leaf, see `CallGraph`
                    continue
                for number in self.summaries[file]["classes"]:
                    child = (file, int(number))
                    for base in self.mro(child)[0][1:]:
                        found.setdefault(base, []).append(child)
            self._subclasses = found
        return self._subclasses.get(key, [])

    def descent(self) -> list[list[Any]]:
        """All pairs of a class and one that it descends from, in a form that can be kept with the structure."""
        files = {file: number for number, file in enumerate(self.summaries)}
        self.subclasses(("", 0))
        return [[files[k[0]], k[1], files[c[0]], c[1]] for k, found in (self._subclasses or {}).items() for c in found]

    def load_descent(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        """Take over what `descent` gave for the same structure."""
        files = list(self.summaries)
        self._subclasses = {}
        for base_file, base, file, scope in rows:
            self._subclasses.setdefault((files[base_file], base), []).append((files[file], scope))

    def kinds(self, key: Key) -> frozenset[str]:
        """The kinds of a class (see `linter.analysis.kinds`), through all its bases."""
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
        """How many calls in the project leave a parameter of a function to its default, and how many there are."""
        return self.call_graph.callers_omitting(key, self.position(key, parameter), parameter)

    def callers_omitting_under(self, key: Key, parameter: str, flags: int, without: int) -> tuple[int, int]:
        """The same for the calls that run in a context with all `flags` and none of `without`."""
        return self.call_graph.callers_omitting_under(key, self.position(key, parameter), parameter, flags, without)

    def position(self, key: Key, parameter: str) -> int:
        """Where a call gives a parameter of a function, counted without ``self``; `NO_PARAMETER` if it has none."""
        summary = self.function(key)
        if summary is None or parameter not in summary["parameters"]:
            return NO_PARAMETER
        return summary["parameters"].index(parameter) - (1 if summary["cls"] >= 0 else 0)

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

    def is_consistent(self, key: Key, flag: int) -> bool:
        """Whether one run of the program can go the way that `trail` tells.

        Calls are followed without regard to who called before: a method that a base class calls on ``self`` may be any
        override, and a wrapper may run any function that it is ever given.
        A way is consistent if its methods of one ``self`` have a class in common, and if a wrapper runs what the
        function before it in the trail gives it.
        """
        steps = self.call_graph.steps(key, flag)
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

    def is_property(self, key: Key) -> bool:
        """Whether a method is read like an attribute."""
        summary = self.function(key)
        return summary is not None and any(
            text in ("builtins.property", "functools.cached_property", "abc.abstractproperty")
            or text.endswith("property")
            for text in summary["decorators"]
        )

    def uses(self, *names: str) -> bool:
        """Whether any file of the project reads one of these canonical names (``a.b.*`` matches everything below)."""
        return self.first_file_using(*names) is not None

    def files_using(self, *names: str) -> list[str]:
        """The files that read one of these canonical names."""
        return self.call_graph.files_using(*names)

    def first_file_using(self, *names: str) -> str | None:
        """The first file, by path, that reads one of these canonical names."""
        return self.call_graph.first_file_using(*names)

    def enters_graph(self, file: str, text: str) -> bool:
        """Whether a ``with`` on `text` may enter a graph: a context manager of ours, in a file that handles graphs."""
        return any(self.call_graph.uses(manager, GRAPH_NAMES) for manager in self.context_managers(file, text))

    def context_managers(self, file: str, text: str) -> list[str]:
        """The files of the project's own context managers that a ``with`` on `text` enters."""
        managers = [
            e.file for e in self.resolve(file, text) if e.kind == "instance" and self.method(e.key, "__enter__")
        ]
        for entity in self.resolve(file, text.removesuffix("()")) if text.endswith("()") else ():
            function = self.function(entity.key) if entity.kind == "function" else None
            if function is not None and any(d.endswith("contextmanager") for d in function["decorators"]):
                managers.append(entity.file)
        return managers

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

    def canonical_names(self, file: str, text: str) -> list[str]:
        """The canonical public names that a name of `file` may mean."""
        return [canonical(entity.text) for entity in self.resolve(file, text) if entity.kind == "external"]


class _Linker:
    """Makes the links of one file: all names in it resolved, nothing asked about the code of other files."""

    def __init__(self, project: Project, file: str) -> None:
        self.project = project
        self.file = file
        self.summary = project.summaries[file]
        self._files = {file: 0}
        self._names: dict[str, int] = {}
        self._shapes: dict[str, int] = {}
        self._reasons: dict[str, int] = {}
        self._properties: dict[Key, bool] = {}
        self.links: Links = {
            "files": [],
            "names": [],
            "shapes": [],
            "effects": [self._effect(condition) for condition in self.summary["conditions"]],
            "owners": {},
            "calls": [],
            "slots": [],
            "passes": [],
            "once": [],
            "wraps": [],
            "roots": [],
            "reasons": [],
            "entries": {},
            "v1_calls": {},
            "uses": list(dict.fromkeys(self._uses())),
        }
        for edge in self.summary["edges"]:
            self._call(*edge)
        for row in self.summary["passes"]:
            self._given(*row)
        for number, function in self.summary["functions"].items():
            if function["decorators"]:
                self._decorated(int(number), function)
            if marks := self._marks(function):
                self.links["entries"][number] = marks
            if function["v1_calls"]:
                self.links["v1_calls"][number] = function["v1_calls"]
        for scope, context, reason, unless_once in self._roots():
            reason_number = self._reasons.setdefault(reason, len(self._reasons))
            self.links["roots"] += [scope, int(context), reason_number, int(unless_once)]
        self.links["files"] = list(self._files)
        self.links["names"] = list(self._names)
        self.links["reasons"] = list(self._reasons)

    def _file(self, file: str) -> int:
        return self._files.setdefault(file, len(self._files))

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _resolve(self, text: str) -> tuple[Entity, ...]:
        return self.project.resolve(self.file, text)

    def _uses(self) -> Iterator[str]:
        return (e.text for text in self.summary["uses"] for e in self._resolve(text) if e.kind == "external")

    def _effect(self, condition: Conditions) -> Any:
        bits = _own_effects(self.project, self.file, condition).bits
        managers = [m for text, _ in condition["withs"] for m in self.project.context_managers(self.file, text)]
        absent = [[scope, self.project.position((self.file, scope), name), name] for scope, name in condition["absent"]]
        return [bits, [self._file(manager) for manager in managers], absent] if managers or absent else bits

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, caller: int, line: int, texts: list[str], condition: int, shape: list[Any] | None) -> None:
        rows = self.links["calls"]
        number = -1
        if shape is not None:
            number = self._shapes.setdefault(repr(shape), len(self._shapes))
            if number == len(self.links["shapes"]):
                self.links["shapes"].append(shape)
        before = len(rows)
        for text in texts:
            for entity in self._resolve(text):
                reached: list[tuple[int, Key]] = []
                if entity.kind == "function":
                    if shape is not None or self._is_property(entity.key):
                        reached.append((CALL if shape is not None else READ, entity.key))
                elif shape is None:
                    continue
                elif entity.kind == "parameter":
                    function, _, name = entity.text[1:].partition(":")
                    self.links["slots"] += [caller, line, condition, int(function), self._name(name)]
                    self._own(caller)
                elif entity.kind in ("instance", "class"):
                    if entity.kind == "class":
                        reached.append((MAKE, entity.key))
                    for name in ("__call__", "call") if entity.kind == "instance" else ("__init__", "__new__"):
                        if (method := self.project.method(entity.key, name)) is not None:
                            reached.append((ENTER, method))
                for kind, (file, scope) in reached:
                    rows += [caller, line, condition, number, kind, self._file(file), scope]
        if len(rows) > before:
            self._own(caller)

    def _is_property(self, key: Key) -> bool:
        known = self._properties.get(key)
        if known is None:
            known = self._properties[key] = self.project.is_property(key)
        return known

    def _own(self, caller: int) -> None:
        """Code in a class body runs when the code around the class does."""
        classes = self.summary["classes"]
        if str(caller) in classes:
            owner = caller
            while str(owner) in classes:
                owner = classes[str(owner)]["outer"]
            self.links["owners"][str(caller)] = owner

    def _given(
        self, caller: int, line: int, targets: list[str], argument: str, functions: list[str], condition: int
    ) -> None:
        """A function is given to a call: what the callee does with it decides."""
        keys = [entity.key for text in functions for entity in self._resolve(text) if entity.kind == "function"]
        if not keys:
            return
        self._own(caller)
        takers: list[tuple[int, int, int]] = []
        for target in targets:
            for entity in self._resolve(target) if not target.startswith("?") else [Entity("external", target)]:
                if entity.kind == "function":
                    callee = self.project.function(entity.key)
                    name = _parameter_name(callee, argument) if callee else None
                    if name:
                        takers.append((self._file(entity.file), entity.scope, self._name(name)))
                    continue
                name = canonical(entity.text) if entity.kind == "external" else ""
                if name == _MAKES_ONCE:
                    self.links["once"] += [cell for file, scope in keys for cell in (self._file(file), scope)]
                change = _given_to(name.removeprefix("?"), argument, entity.kind)
                if change is not None:
                    takers.append((-1, given(change, 0), -1))
        for file, scope in keys:
            for taker in takers:
                self.links["passes"] += [caller, line, condition, self._file(file), scope, *taker]

    # -- what a function is by itself --------------------------------------------------------------------------------

    def _decorated(self, scope: int, function: FunctionSummary) -> None:
        """A wrapper that calls what it decorates: the function runs as the wrapper runs it."""
        for text in function["decorators"]:
            for entity in self._resolve(text.removesuffix("()")):
                summary = self.project.function(entity.key) if entity.kind == "function" else None
                if summary is not None and summary["parameters"]:
                    name = self._name(summary["parameters"][0])
                    self.links["wraps"] += [scope, self._file(entity.file), entity.scope, name]

    def _marks(self, function: FunctionSummary) -> str:
        """What a function's own decorators make of a context; see `execution_context.entered`."""
        marks = ""
        for text in function["decorators"]:
            if self._is_once(text.removesuffix("()")):
                marks += "o"
            for name in self.project.canonical_names(self.file, text):
                plain = name.removesuffix("()")
                marks += "t" if plain in _TRACERS else "s" if plain in _SHIMS else "o" if plain in _ONCE else ""
        if function["name"] in _MAKERS and function["cls"] >= 0:
            if _MADE & self.project.kinds((self.file, function["cls"])):
                marks += "o"
        return marks

    def _is_once(self, decorator: str) -> bool:
        """Whether a decorator of the project says by its name that what it decorates runs once, or is kept."""
        found = [self.project.function(e.key) for e in self._resolve(decorator) if e.kind == "function"]
        return any(summary is not None and summary["name"] in _ONCE_NAMES for summary in found)

    def _roots(self) -> Iterator[tuple[int, Context, str, bool]]:
        """Functions that run by themselves: scope, context, why; and whether that needs them not to be made once."""
        graph = any(canonical(name) in _V2_OFF for name in self.links["uses"])
        yield 0, Context.GRAPH if graph else Context.EAGER, "", False
        for number, function in self.summary["functions"].items():
            yield from self._function_roots(int(number), function)
        for number, cls in self.summary["classes"].items():
            for scope, context in self._class_roots(int(number), cls["methods"]):
                yield scope, context, "", False

    def _function_roots(self, scope: int, function: FunctionSummary) -> Iterator[tuple[int, Context, str, bool]]:
        names = [
            n.removesuffix("()") for t in function["decorators"] for n in self.project.canonical_names(self.file, t)
        ]
        if any(name in _TRACERS for name in names):
            yield scope, Context.TRACED, " (a tf.function)", False
        if function["name"] not in _FORWARD_METHODS and any(name in _SHIMS for name in names):
            yield scope, Context.FORWARD | Context.SHIM, "", True
        if {"features", "labels", "mode"} <= set(function["parameters"]):
            yield scope, Context.GRAPH, " (an Estimator's model_fn)", False

    def _class_roots(self, scope: int, methods: Mapping[str, int]) -> Iterator[tuple[int, Context]]:
        kinds = self.project.kinds((self.file, scope))
        forward: Context | None = None
        if "v1layer" in kinds:
            forward = Context.FORWARD | Context.LEGACY
        elif "layer" in kinds:
            forward = Context.FORWARD | Context.TRACED | Context.FIT
        elif kinds & {"module", "sonnet"}:
            forward = Context.FORWARD
        if forward is not None:
            for name in (*_FORWARD_METHODS, "_build") if "sonnet" in kinds else _FORWARD_METHODS:
                if name in methods:
                    yield methods[name], forward | (Context.LEGACY if name == "_build" else Context(0))
        fit: tuple[str, ...] = ()
        if "model" in kinds:
            fit = _FIT_METHODS
        elif "loss" in kinds:
            fit = ("call", "__call__")
        elif "metric" in kinds:
            fit = ("update_state", "result")
        for name in fit:
            if name in methods:
                yield methods[name], Context.TRACED | Context.FIT


def effects_of(project: Project, file: str, condition: Conditions) -> Effects:
    """Resolve the conditions of a site; see `summary.conditions`."""
    own = _own_effects(project, file, condition)
    graph = own.graph or any(project.enters_graph(file, text) for text, _ in condition["withs"])
    unreachable = any(_always_given(project, (file, scope), name) for scope, name in condition["absent"])
    return replace(own, graph=graph, unreachable=unreachable)


def _own_effects(project: Project, file: str, condition: Conditions) -> Effects:
    """What conditions do, but for what depends on the code of other files."""
    scoped = graph = lifted = eager = False
    for text, how in condition["withs"]:
        names = (
            [text]
            if text.startswith("?")
            else [canonical(e.text) if e.kind == "external" else e.text for e in project.resolve(file, text)]
        )
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
    for text, outcome in condition["tests"]:
        for name in project.canonical_names(file, text):
            if name in ("tensorflow.executing_eagerly", "tensorflow.compat.v1.executing_eagerly"):
                eager = eager or outcome == "true"
                graph = graph or outcome == "false"
            elif name in ("tensorflow.inside_function", "tensorflow.is_tensor"):
                eager = eager or outcome == "false"  # what is no tensor is a Python value, given in eager code
    return Effects(condition["guarded"], scoped, graph, lifted, eager)


def _always_given(project: Project, function: Key, parameter: str) -> bool:
    """Whether every call in the project gives a parameter, so that code for its absence does not run."""
    omitting, calls = project.callers_omitting(function, parameter)
    return calls > 0 and omitting == 0


def _given_to(name: str, argument: str, kind: str) -> str | None:
    """How a function runs that is given to the public callable `name`, see `given`; None if it does not."""
    method = name.rpartition(".")[2]
    if name in _TRACERS:
        return "traced"
    if name in ("tensorflow.wrap_function",):
        return "graph"
    if name == _MAKES_ONCE:
        return "once"
    if name in _ESCAPES:
        return "never"
    if argument in _ESTIMATOR_FUNCTIONS or (name.startswith("tensorflow.estimator") and argument == "0"):
        return "graph"
    if method == "compile" and argument in _COMPILE_ARGUMENTS:
        return "compiled"
    if name == "keras.layers.Lambda":
        return "layer"
    if name in ("tensorflow.vectorized_map", "tensorflow.autograph.to_graph"):
        return "also traced"
    if "tensorflow.data." in name and method in DATASET_METHODS:
        return "dataset"
    if method in _DATASET_ONLY and argument in ("0", "map_func", "predicate"):
        return "dataset"
    if kind == "class" or name.endswith("Callback"):
        return None
    return "same"


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


def modules_of(summaries: Iterable[str]) -> dict[str, str]:
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


__all__ = ["DATASET_METHODS", "VARIABLE_SCOPES", "Context", "Effects", "Entity", "Key", "Project", "effects_of"]
