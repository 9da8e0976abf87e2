"""Names across files: through imports, re-exports, attributes, calls and bases, to what they are in the project."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .classes import Classes
from .entities import Entity, Key
from .modules import Modules, split_relative
from .names import canonical
from .paths import joined, split_head, without_keys
from .public_names import lacks, split_api
from .summary import Summary

FORWARD_METHODS = ("call", "__call__")
_DOTTED_END = re.compile(r"[(\[]")
_PART = re.compile(r"\(\)\[\d")
_DOTTED = re.compile(r"[\w.]+")
_MAX_DEPTH = 24
_MAX_REEXPORTS = 8
_MOST_FOLLOWED = 2
"""Times that an attribute is followed inside itself: ``self.at = self.at.next`` walks on for ever."""
_LOCAL = ("@", "self@", "super@", "$", "*.")
"""How names begin that are no absolute ones."""
_NESTED = ("tensorflow.compat.v1.compat.v", "tensorflow.compat.v2.compat.v")
"""`tf.compat` of either is the same package again."""
_MAX_ENTITIES = 12
_REMEMBERED = 50_000
"""Resolved names; they are few in most projects, and in a large one each is soon done with."""


class Resolver(Classes):
    """Resolves names lazily, from the summaries of the files."""

    def __init__(self, summaries: Mapping[str, Summary]) -> None:
        super().__init__(summaries)
        self._modules = Modules(summaries)
        self._resolved: defaultdict[str, dict[str, tuple[Entity, ...]]] = defaultdict(dict)
        """Of each file its names: pairs as keys would take as much again."""
        self._remembered = 0
        self._open: dict[tuple[str, str], int] = {}
        self._provisional: dict[tuple[str, str], tuple[tuple[Entity, ...], int]] = {}
        """Answers that a cycle cut short, each with the depth of the open question that it waits for: packages whose
        modules import each other with ``*`` are asked in linear time while that question is open."""
        self._cut_at: dict[int, list[tuple[str, str]]] = {}
        self._star_misses: set[tuple[str | None, str]] = set()
        """Modules with a name that none of their star imports gives."""
        self._public_stars: dict[str, dict[str, tuple[str, str]]] = {}
        self._stars: dict[tuple[str, str], tuple[bool, str | None]] = {}
        self._stars_by_file: dict[str, Mapping[str, str | None]] = {}
        self._no_apis: set[tuple[str, str]] = set()
        self._not_held: set[tuple[str, str]] = set()
        self._overrides: dict[tuple[str, int, str], list[Key]] = {}
        self._followed: dict[tuple[Key, str], list[int]] = {}
        """The attributes that are being followed, each with the depths of the questions that led to it."""

    def resolve(self, file: str, text: str) -> tuple[Entity, ...]:
        """Say what a name of `file`, as `FileIndex.resolve` gives it, is in the whole project.

        Re-exports and attributes may form cycles; an answer that was cut short by one is only kept where it does not
        depend on the question that led there, so that the order of questions never matters.
        """
        resolved = self._resolved[file]
        known = resolved.get(text)
        if known is not None:
            return known
        key = (file, text)
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
        if not depth and self._remembered > _REMEMBERED:
            self._remembered = 0
            self._resolved.clear()
            resolved = self._resolved[file]
        answer = tuple(dict.fromkeys(self._resolve(file, text)))[:_MAX_ENTITIES]
        del self._open[key]
        for other in self._cut_at.pop(depth, ()):
            del self._provisional[other]
        if self._cut >= depth:
            resolved[text] = answer
            self._remembered += 1
            self._cut = outer
        else:
            self._provisional[key] = (answer, self._cut)
            self._cut_at.setdefault(self._cut, []).append(key)
            self._cut = min(outer, self._cut)
        return answer

    def _resolve(self, file: str, text: str) -> Iterator[Entity]:
        if text.startswith("{"):
            return  # a container is none of what it holds
        if text.startswith("["):
            text = text[text.index("]") + 1 :]
        if not text.startswith(_LOCAL):
            yield from self._absolute(file, text)
        elif text.startswith("@"):
            number, rest = split_id(text[1:])
            kind = "class" if str(number) in self.summaries[file]["classes"] else "function"
            yield from self._reduce(Entity(kind, "", file, number), rest)
        elif text.startswith("self@"):
            number, rest = split_id(text[5:])
            yield from self._reduce(Entity("instance", "self", file, number), rest)
        elif text.startswith("super@"):
            number, rest = split_id(text[6:])
            yield from self._super((file, number), rest)
        elif text.startswith("$"):
            yield Entity("parameter", text, file)
        else:
            name, rest = split_head(text[2:])
            yield from self._through_stars(file, name, rest)

    def _absolute(self, file: str, text: str) -> Iterator[Entity]:
        end = _DOTTED_END.search(text)
        dotted, rest = (text[: end.start()], text[end.start() :]) if end else (text, "")
        if self._is_of_another_star(file, dotted):
            return
        module, parts = self._module(file, dotted)
        if module is not None:
            yield from self._in_module(module, parts, rest)
        elif _PART.search(rest):
            return  # a part of what a library's function gives
        elif not dotted.startswith(".") and not self._is_foreign_to_stars(file, dotted):
            text = without_keys(text)
            yield Entity("external", f"tensorflow{text[20:]}" if text.startswith(_NESTED) else text)

    def flag(self, file: str, text: str) -> list[Any] | None:
        """What `versions.Flags` of the project say of a name of `file`, or of a call of it without arguments."""
        call = "()" if text.endswith("()") else ""
        dotted = text.removesuffix("()")
        for _ in range(_MAX_REEXPORTS):
            module, parts = self._module(file, dotted)
            if module is None or len(parts) != 1:
                return None
            summary = self.summaries[module]
            if (values := summary["flags"].get(f"{parts[0]}{call}")) is not None:
                return values
            exported = summary["exports"].get(parts[0], ())
            if len(exported) != 1 or not _DOTTED.fullmatch(exported[0]):
                return None
            file, dotted = module, exported[0]
        return None

    def _module(self, file: str, dotted: str) -> tuple[str | None, list[str]]:
        """The module of the project that a dotted name begins with, and what follows."""
        if dotted.startswith("."):
            folder, parts = split_relative(file, dotted)
            for size in range(len(parts), -1, -1):
                found = self._modules.at(posixpath.join(folder, *parts[:size]))
                if found is not None:
                    return found, parts[size:]
            return None, parts
        parts = dotted.split(".")
        found, size = self._modules.find(file, parts)
        return found, parts[size:]

    def _is_foreign_to_stars(self, file: str, dotted: str) -> bool:
        """Whether a name begins with a module of Keras or TensorFlow that `file` imports with ``*``, and is not in it.

        It was put together from the two: where it really comes from is not known then.
        """
        stars = self._public_stars.get(file)
        if stars is None:
            named = self.summaries[file]["stars"]
            stars = self._public_stars[file] = {star: found for star in named if (found := split_api(star))[0]}
        if not stars:
            return False
        head, *rest = dotted.split(".")
        for name in rest:
            if head in stars and lacks(*stars[head], name):
                return True
            head = f"{head}.{name}"
        return False

    def is_of_another_star(self, file: str, text: str) -> bool:
        """Whether a name of `file` was put together with a module imported with ``*`` that is not where it comes from.

        Several such imports may give a name. One gives TensorFlow or Keras itself, for which nothing else has its name:
        only a module that is seen to hold the name could take its place, and no package of others, no file that does
        not reach TensorFlow.
        """
        return not text.startswith(_LOCAL) and self._is_of_another_star(file, _DOTTED_END.split(text, maxsplit=1)[0])

    def _is_of_another_star(self, file: str, dotted: str) -> bool:
        stars = self._stars_of(file)
        if len(stars) < 2:
            return False
        end = len(dotted)
        while (end := dotted.rfind(".", 0, end)) >= 0:
            star = dotted[: end + 1] if dotted[end - 1 : end] in ("", ".") else dotted[:end]
            if star in stars:
                name = dotted[end + 1 :].partition(".")[0]
                return self._is_given_as_api(file, name) and not self._is_held(file, star, name)
        return False

    def _stars_of(self, file: str) -> Mapping[str, str | None]:
        """What a file imports with ``*``, and to which modules of the project it leads; nothing where none does."""
        known = self._stars_by_file.get(file)
        if known is None:
            found = {star: self._star(file, star)[1] for star in self.summaries[file]["stars"]}
            known = self._stars_by_file[file] = found if any(found.values()) else {}
        return known

    def _is_given_as_api(self, file: str, name: str) -> bool:
        """Whether a module of the project that `file` imports with ``*`` has TensorFlow or Keras itself as a name."""

        def is_api(module: str) -> bool:
            exported = self.summaries[module]["exports"].get(name, ())
            return any(split_api(text) == (text, "") for text in exported)

        return self._is_behind(self._stars_of(file).values(), name, is_api, self._no_apis)

    def _is_held(self, file: str, star: str, name: str) -> bool:
        """Whether a module of the project that `file` imports with ``*`` binds a name, or one that it imports so."""

        def holds(module: str) -> bool:
            return name in self.summaries[module]["exports"] or self._holds(module, name)

        return self._is_behind([self._stars_of(file)[star]], name, holds, self._not_held)

    def _is_behind(
        self,
        modules: Iterable[str | None],
        name: str,
        is_so: Callable[[str], bool],
        known: set[tuple[str, str]],
    ) -> bool:
        """Whether something holds of a name for a module, or for one that it imports with ``*``, and so on.

        Args:
            modules: where to begin.
            name: what is asked of each.
            is_so: asks.
            known: of which it is known that it does not hold, with what they import; is added to.
        """
        asked: set[str] = set()
        stack = [module for module in modules if module is not None]
        while stack:
            module = stack.pop()
            if module in asked or (module, name) in known:
                continue
            asked.add(module)
            if is_so(module):
                return True
            stack += [inner for inner in self._stars_of(module).values() if inner is not None]
        if len(known) > _REMEMBERED:
            known.clear()
        known.update((module, name) for module in asked)
        return False

    def _in_module(self, module: str, parts: list[str], rest: str) -> Iterator[Entity]:
        if not parts:
            yield Entity("module", module, module)
            return
        tail = "".join(f".{part}" for part in parts[1:]) + rest
        exported = self.summaries[module]["exports"].get(parts[0])
        if exported:
            for text in exported:
                if item := joined(text, tail):
                    yield from self.resolve(module, item)
            return
        if posixpath.basename(module) == "__init__.py":
            inner = self._modules.at(posixpath.join(posixpath.dirname(module), parts[0]))
            if inner is not None and inner != module:
                yield from self._in_module(inner, parts[1:], rest)
                return
        yield from self._through_stars(module, parts[0], tail)

    def _through_stars(self, module: str, name: str, tail: str) -> Iterator[Entity]:
        """What a name is that a module imports with ``*``, itself or through the modules that it imports so.

        Modules that have nothing of the name are asked once, however many of them import from each other.
        """
        before = self._cut
        asked = {module}
        without = [module]
        stack = [(module, iter(self.summaries[module]["stars"]))]
        while stack:
            file, stars = stack[-1]
            if (star := next(stars, None)) is None:
                stack.pop()
                continue
            leads_out, target = self._star(file, star)
            if not leads_out or target in asked or (target, name) in self._star_misses:
                continue
            if target is not None:
                asked.add(target)
                summary = self.summaries[target]
                if name not in summary["exports"] and not self._holds(target, name):
                    without.append(target)
                    stack.append((target, iter(summary["stars"])))
                    continue
            joiner = "" if star.endswith(".") else "."
            found = self.resolve(file, f"{star}{joiner}{name}{tail}")
            if found:
                yield from found
                return
        if self._cut >= before:
            if len(self._star_misses) > _REMEMBERED:
                self._star_misses.clear()
            self._star_misses.update((nowhere, name) for nowhere in without)

    def _star(self, file: str, star: str) -> tuple[bool, str | None]:
        """Whether ``from star import *`` is to be followed, and to which module of the project it leads."""
        known = self._stars.get((file, star))
        if known is None:
            known = self._stars[file, star] = self._modules.leads_out(file, star), self._modules.of_star(file, star)
        return known

    def _holds(self, module: str, name: str) -> bool:
        """Whether a module is a package with a module of this name."""
        if not module.endswith("__init__.py"):
            return False
        return self._modules.at(posixpath.join(posixpath.dirname(module), name)) is not None

    def _reduce(self, entity: Entity, rest: str) -> Iterator[Entity]:
        """Follow attributes, calls and items from a class, instance or function."""
        while rest:
            if rest.startswith("()"):
                if entity.kind == "class":
                    entity, rest = Entity("instance", "", *entity.key), rest[2:]
                    continue
                yield from self._called(entity, rest[2:])
                return
            if rest.startswith("["):
                if entity.kind != "instance" or rest[1].isdigit():
                    return
                rest = rest[rest.index("]") + 1 :]
                continue
            name, rest = split_head(rest[1:])
            if entity.kind not in ("class", "instance"):
                return
            if name == "__class__" and entity.kind == "instance":
                entity = Entity("class", entity.text, *entity.key)
                continue
            methods = self._methods(entity, name)
            if rest.startswith("()") and methods and self.is_property(methods[0]):
                for method in methods:
                    yield from self._called(Entity("function", "", *method), rest)
                return
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
                if not text.startswith("$") and (item := joined(text, rest)):
                    yield from self.resolve(entity.file, item)
        elif entity.kind == "instance" and not rest:
            for name in FORWARD_METHODS:
                found = self.method(entity.key, name)
                if found is not None:
                    yield Entity("function", "call of an instance", *found)

    def property_values(self, key: Key) -> tuple[Entity, ...]:
        """What reading a property gives."""
        return tuple(self._called(Entity("function", "", *key), ""))

    def _attribute(self, entity: Entity, name: str, rest: str) -> Iterator[Entity]:
        """An attribute that is no method: what is assigned to it, or what a public base says."""
        classes, externals = self.mro(entity.key)
        for key in classes:
            summary = self.cls(key)
            values = summary["attributes"].get(name) if summary else None
            if values:
                depths = self._followed.setdefault((key, name), [])
                if len(depths) >= _MOST_FOLLOWED:
                    self._cut = min(self._cut, depths[0])
                    return
                depths.append(len(self._open) - 1)
                try:
                    for text in values:
                        item = joined(_container(text) if rest else text, rest)
                        if item:
                            yield from self.resolve(key[0], item)
                finally:
                    depths.pop()
                return
        if externals:
            made = "()" if entity.kind == "instance" else ""
            yield Entity("external", without_keys(f"{externals[0]}{made}.{name}{rest}"))

    def _methods(self, entity: Entity, name: str) -> list[Key]:
        """The methods that a name on `entity` may mean: on ``self``, those of subclasses too."""
        own = self.method(entity.key, name)
        found = [own] if own is not None else []
        if entity.text == "self":
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
        (_, *bases), externals = self.mro(key)
        method = self._method_of(bases, name)
        if method is None:  # a mixin's next class is that of the class which it is mixed into
            lines = (self.mro(sub)[0] for sub in self.subclasses(key))
            after = (line[line.index(key) + 1 :] for line in lines if key in line)
            method = next(filter(None, (self._method_of(line, name) for line in after)), None)
        if method is not None:
            yield from self._reduce(Entity("function", "", *method), rest)
        elif externals:
            yield Entity("external", without_keys(f"{externals[0]}().{name}{rest}"))

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

    def canonical_names(self, file: str, text: str) -> list[str]:
        """The canonical public names that a name of `file` may mean."""
        return [canonical(entity.text) for entity in self.resolve(file, text) if entity.kind == "external"]


def _container(text: str) -> str:
    """What an attribute holds: ``[key]`` before it says that it is an item."""
    return f"{{{text[1:].replace(']', '}', 1)}" if text.startswith("[") else text


def split_id(text: str) -> tuple[int, str]:
    """Split ``12.name`` into the number that it starts with and the rest."""
    end = 0
    while end < len(text) and text[end].isdigit():
        end += 1
    return int(text[:end]), text[end:]
