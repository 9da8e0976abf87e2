"""The programs of a project: what each file imports, who imports it, and for which TensorFlow all that is written."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator

from ..analysis.eras import Era, era_of_name
from ..analysis.modules import Modules, split_relative
from ..analysis.names import below, canonical
from ..analysis.project import Project
from ..analysis.summary import Summary

_EAGER = ("tensorflow.enable_eager_execution", "tensorflow.contrib.eager", "tensorflow.enable_v2_behavior")
_KERAS = (
    "keras",
    "slim",
    "tensorflow.layers",
    "tensorflow.nn.rnn_cell",
    "tensorflow.contrib.keras",
    "tensorflow.contrib.rnn",
    "tensorflow.contrib.seq2seq",
)
_LIBRARIES = ("tensorflow", "keras", "tf_keras", "tf_slim")


class Programs:
    """Which files of a project run together, by what they import, anywhere in their code."""

    def __init__(self, summaries: dict[str, Summary]) -> None:
        self._summaries = summaries
        self._modules = Modules(summaries)
        self._imports = {
            file: {found for name in row["imports"] for found in self.imported_by(file, name)}
            for file, row in summaries.items()
        }
        self._reached: dict[str, set[str]] = {}
        self._having: dict[Callable[[str], bool], set[str]] = {}
        """The files that have a name of a kind themselves, by what tells that."""
        self._importers: dict[str, set[str]] = {file: set() for file in summaries}
        for file, others in self._imports.items():
            for other in others:
                self._importers[other].add(file)

    def imported_by(self, file: str, absolute: str) -> Iterator[str]:
        """The files of the project that run where a file imports a name: its module, and the packages around it."""
        text = absolute.removesuffix(".*")
        if text.startswith("."):
            folder, parts = split_relative(file, text)
            ends = range(len(parts), -1, -1)
            paths = (self._modules.at(posixpath.join(folder, *parts[:end])) for end in ends)
            found = next(filter(None, paths), None)
        else:
            found, _ = self._modules.find(file, text.split("."))
        if found is not None and found != file:
            yield found
            folder = posixpath.dirname(found)
            while folder and (package := f"{folder}/__init__.py") in self._summaries and package != file:
                yield package
                folder = posixpath.dirname(folder)

    def importers(self, file: str) -> set[str]:
        """The files that import a file themselves."""
        return self._importers.get(file, set())

    def reached(self, file: str) -> set[str]:
        """A file and all that it imports, themselves or through each other."""
        if file not in self._reached:
            self._reached[file] = _closure(file, self._imports)
        return self._reached[file]

    def reaching(self, file: str) -> set[str]:
        """A file and all that import it, themselves or through each other."""
        return _closure(file, self._importers)

    def names(self, file: str) -> Iterator[str]:
        """The absolute names that a file reads or imports."""
        yield from self._summaries[file]["uses"]
        yield from self._summaries[file]["imports"]

    def reaches_tensorflow(self, file: str) -> bool:
        """Whether a file, or one that it imports, imports TensorFlow or what is built on it."""
        return self._any(file, _is_of_tensorflow)

    def is_eager(self, file: str) -> bool:
        """Whether a file, or one that it imports, switches eager execution on."""
        return self._any(file, _is_eager)

    def runs_eagerly(self, file: str) -> bool:
        """Whether a file is part of eager programs alone."""
        tops = [one for one in self.reaching(file) if not self.importers(one)]
        return self.is_eager(file) or (bool(tops) and all(map(self.is_eager, tops)))

    def needs_keras2(self, file: str) -> bool:
        """Whether a file, or one that it imports, uses what is only in the Keras that TF1 had."""
        return self._any(file, _is_of_keras2)

    def era_around(self, project: Project, file: str) -> Era:
        """For which TensorFlow the files are written that run together with a file, but for those that do not tell."""
        around = (self.reached(file) | self.reaching(file)) - {file}
        told = {Era(era) for other in around for era, by in [project.era(other)] if by == other}
        told.discard(Era.UNKNOWN)
        return told.pop() if len(told) == 1 else Era.MIXED if told else Era(project.era(file)[0])

    def _any(self, file: str, wanted: Callable[[str], bool]) -> bool:
        """Whether a file, or one that it imports, has a name of some kind."""
        if wanted not in self._having:
            self._having[wanted] = {one for one in self._summaries if any(map(wanted, self.names(one)))}
        return not self._having[wanted].isdisjoint(self.reached(file))


def _is_of_tensorflow(name: str) -> bool:
    return name.partition(".")[0] in _LIBRARIES


def _is_eager(name: str) -> bool:
    return any(below(name.replace(".compat.v1", ""), one) for one in _EAGER)


def _is_of_keras2(name: str) -> bool:
    return any(below(canonical(name), one) for one in _KERAS)


def is_of_both(names: Iterable[str]) -> bool:
    """Whether names that speak for TF2 are written with ``compat.v1`` all of them, and others speak for TF1."""
    eras = {name: era_of_name(name) for name in names}
    later = [name for name, era in eras.items() if era is Era.TF2]
    return Era.TF1 in eras.values() and all(below(name, "tensorflow.compat.v1") for name in later)


_last: dict[str, Programs] = {}
"""Those of the project that was asked about last, by its names."""


def programs_of(project: Project) -> Programs:
    """The programs of a project, kept for as long as its files import and read the same."""
    digest = project.names_digest()
    if digest not in _last:
        _last.clear()
        _last[digest] = Programs(dict(project.summaries))
    return _last[digest]


def _closure(file: str, links: dict[str, set[str]]) -> set[str]:
    found, queue = {file}, [file]
    while queue:
        new = links.get(queue.pop(), set()) - found
        found |= new
        queue += new
    return found
