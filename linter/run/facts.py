"""What is known of every file of a project before any rule runs, kept by content.

Of each file its `Head` is known: what it imports, and which comments in it hide findings.
The files that reach TensorFlow have a summary besides, which is large, and only looked at where a name leads there.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ..finding import Finding
from ..source.parsing import SourceFile, parse_in_pieces, parse_source
from ..source.python2 import readable
from ..source.suppressions import find_suppressions
from .cache import Cache, digest_of

if TYPE_CHECKING:
    from ..analysis.index import FileIndex
    from ..analysis.links import Links
    from ..analysis.project import Project
    from ..analysis.summary import Summary

_MARKERS = ("tensorflow", "keras", "tf_slim", "sonnet")
_HELD_CHARACTERS = 4_700_000  # their trees take 40 times as much memory
_HELD_OF_FILES = 4_000  # in larger projects there are other things to hold
_DECODED_SUMMARIES = 500
_BATCH = 500
_STRUCTURES_KEPT = 4

Read = Callable[[str], SourceFile | Finding]


class Head(TypedDict, total=False):
    """The little that is known of every file; empty for one that cannot be parsed."""

    imports: list[str]
    structure: str
    """A digest of what other files may see of it, for a file that has a summary; see `structure_of`."""
    suppressions: list[Any]
    cells: list[Any]
    """Of a notebook with suppressions: where they stand."""
    problems: bool
    """Whether cells of a notebook could not be parsed."""


_PARSED: Head = {"imports": []}
"""What is left of most heads once all imports were followed."""


class Facts:
    """The facts of a project's files.

    Args:
        store: what is kept of earlier runs.
        digests: digest of each file's content, by its key.
        read: gives a file's text.
        wanted: the files that will be checked, whose trees are worth holding.
    """

    def __init__(self, store: Cache, digests: Mapping[str, str], read: Read, wanted: Iterable[str]) -> None:
        self._store = store
        self._digests = digests
        self._read = read
        self._wanted = frozenset(wanted)
        self._changed: set[str] = set()
        """Files whose text is not the one that their digest is of: what is known of them is not kept."""
        self._room = _HELD_CHARACTERS if len(digests) < _HELD_OF_FILES else 0
        self.held: dict[str, tuple[SourceFile, FileIndex]] = {}
        """Files that were parsed and will be checked, as far as memory allows."""
        self.summaries = Summaries(self._summary)
        self.heads = self._heads(sorted(digests), "head", always=False)
        reaching = _reaching(self.heads)
        self.heads |= self._heads(
            [key for key in reaching if "structure" not in self.heads[key]], "full head", always=True
        )
        self.summaries.limit(reaching)
        for key, head in self.heads.items():
            if head == {"imports": head.get("imports")}:
                self.heads[key] = _PARSED
            elif "imports" in head:
                head["imports"] = []

    def _heads(self, keys: Sequence[str], kind: str, always: bool) -> dict[str, Head]:
        heads: dict[str, Head] = {}
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            kept = self._store.get(kind, [self._digests[key] for key in part])
            new: dict[str, Any] = {}
            summaries: dict[str, Any] = {}
            for key in part:
                head = kept.get(self._digests[key])
                if head is None:
                    head, summary = self._make(key, always)
                    if key not in self._changed:
                        new[self._digests[key]] = head
                    if summary is not None:
                        if key not in self._changed:
                            summaries[self._digests[key]] = summary
                        self.summaries.add(key, summary)
                if "imports" in head:
                    head["imports"] = [sys.intern(name) for name in head["imports"]]
                heads[key] = head
            self._store.put("summary", summaries)
            self._store.put(kind, new)
        return heads

    def _make(self, key: str, always: bool) -> tuple[Head, Summary | None]:
        from ..analysis.summary import imported

        source = self._read(key)
        if isinstance(source, Finding):
            return {}, None
        tree: ast.Module | Finding | None
        imports: set[str] = set()
        if always or mentions_tensorflow(source.text):
            tree = parse_source(source)
        else:
            tree = parse_in_pieces(source, lambda piece: imports.update(imported(piece)))
        if isinstance(tree, Finding):
            source, tree = readable(source, tree)
        if isinstance(tree, Finding):
            return {}, None
        if source.digest != self._digests[key]:
            self._changed.add(key)
        comments = find_suppressions(source).to_json()
        kept: Head = {"suppressions": comments} if comments else {}
        if source.notebook is not None and comments:
            kept["cells"] = source.notebook.places.to_json()
        if source.notebook is not None and source.notebook.problems:
            kept["problems"] = True
        if tree is None:
            return {"imports": sorted(imports), **kept}, None
        try:
            summary = self._summarized(key, source, tree)
        except Exception:  # `check_file` meets it again, and reports it
            return kept, None
        structure = structure_of(summary) if self._store.enabled else ""
        return {"imports": summary["imports"], "structure": structure, **kept}, summary

    def _summarized(self, key: str, source: SourceFile, tree: ast.Module) -> Summary:
        from ..analysis.index import FileIndex
        from ..analysis.summary import summarize

        index = FileIndex(tree)
        summary = summarize(index)
        if key in self._wanted and len(source.text) <= self._room:
            self._room -= len(source.text)
            self.held[key] = source, index
        else:
            index.release()
        return summary

    def _summary(self, key: str) -> Summary:
        """The summary of a file, from the store or, if it was lost there, anew."""
        kept: Summary | None = self._store.get("summary", [self._digests[key]]).get(self._digests[key])
        if kept is None:
            kept = self._make(key, always=True)[1]
        if kept is None:
            raise LookupError(f"{key} has changed while it was analyzed")
        return kept

    # -- links -------------------------------------------------------------------------------------------------------

    def join(self, project: Project, root: str) -> None:
        """Resolve the code of all files; what is kept of that holds as long as the structure of the project does."""
        if not self._store.enabled:
            project.join({})
            return
        structure = digest_of(*(f"{key} {self.heads[key]['structure']}" for key in self.summaries))
        place = f"{root} {self._slot(root, structure)}"
        names = {key: f"{place} {key}" for key in self.summaries}
        marks = {key: digest_of(structure, self._digests[key]) for key in self.summaries}
        rows = self._store.get("links", [place, *names.values()])
        kept: dict[str, Links] = {}
        for key, name in names.items():
            if name in rows and rows[name][0] == marks[key]:
                kept[key] = rows[name][1]
        is_known = place in rows and rows[place][0] == structure
        if is_known:
            project.load_descent(rows[place][1])
        made = project.join(kept)
        new: dict[str, Any] = {names[key]: (marks[key], links) for key, links in made.items()}
        if not is_known:
            new[place] = structure, project.descent()
        self._store.put("links", new)

    def _slot(self, root: str, structure: str) -> int:
        """Where links are kept: a place for each of the structures that a project had last."""
        slots: list[list[Any]] = self._store.get("structures", [root]).get(root, [])
        known = next((slot for slot in slots if slot[0] == structure), None)
        if known is not None and known is slots[0]:
            return int(known[1])
        if known is None:
            free = sorted({*range(_STRUCTURES_KEPT)} - {number for _, number in slots})
            known = [structure, free[0] if free else slots[-1][1]]
        slots = [known, *(slot for slot in slots if slot[1] != known[1])]
        self._store.put("structures", {root: slots})
        return int(known[1])


class Summaries(Mapping[str, "Summary"]):
    """The summaries of a project's files, decoded only where they are looked at, and no more at a time than fit.

    Args:
        load: finds a summary that was never added.
    """

    def __init__(self, load: Callable[[str], Summary] | None = None) -> None:
        self._load = load
        self._keys: dict[str, None] = {}
        self._decoded: dict[str, Summary] = {}
        self._texts: dict[str, str] = {}

    def add(self, key: str, summary: Summary) -> None:
        """Keep a summary."""
        self._keys[key] = None
        self._make_room()
        self._decoded[key] = summary

    def limit(self, keys: Iterable[str]) -> None:
        """State which files have a summary, in order."""
        self._keys = dict.fromkeys(keys)

    def detach(self) -> None:
        """Get all that is not here yet, so that another process can have it."""
        for key in self._keys:
            if key not in self._decoded and key not in self._texts:
                self._texts[key] = _encoded(self._loaded(key))
        self._load = None

    def release(self) -> None:
        """Let go of what finds a summary, which refers to this in circles."""
        self._load = None

    def _make_room(self) -> None:
        while len(self._decoded) >= _DECODED_SUMMARIES:
            oldest = next(iter(self._decoded))
            summary = self._decoded.pop(oldest)
            if oldest not in self._texts:
                self._texts[oldest] = _encoded(summary)

    def _loaded(self, key: str) -> Summary:
        if self._load is None:
            raise KeyError(key)
        return self._load(key)

    def __getitem__(self, key: str) -> Summary:
        known = self._decoded.get(key)
        if known is None:
            if key not in self._keys:
                raise KeyError(key)
            text = self._texts.get(key)
            known = self._loaded(key) if text is None else json.loads(text)
            self._make_room()
            self._decoded[key] = known
        return known

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def structure_of(summary: Summary) -> str:
    """A digest of what other files may see of a file: all but its code and where it stands."""
    from ..analysis.summary import structure

    return digest_of(_encoded(structure(summary)))


def mentions_tensorflow(text: str) -> bool:
    """Whether a file's text names TensorFlow, Keras or what is built on them."""
    return any(marker in text for marker in _MARKERS)


def _reaching(heads: Mapping[str, Head]) -> list[str]:
    """The files that mention TensorFlow, those that import from such a file, and those that any of them imports from.

    A file of the last sort knows nothing of TensorFlow and may still hold what a graph runs: a print, a random number.
    """
    by_tail: dict[str, list[str]] = {}
    for key in heads:
        plain = key.removesuffix("/__init__.py").removesuffix(".py")
        by_tail.setdefault(plain.rpartition("/")[2], []).append(key)
    kept = {key for key, head in heads.items() if "structure" in head}
    importers: dict[str, set[str]] = {}
    for key, head in heads.items():
        if key in kept:
            continue
        for absolute in head.get("imports", ()):
            for part in absolute.split("."):
                for other in by_tail.get(part, ()):
                    importers.setdefault(other, set()).add(key)
    queue = sorted(kept)
    while queue:
        for importer in sorted(importers.get(queue.pop(), ())):
            if importer not in kept:
                kept.add(importer)
                queue.append(importer)
    from ..analysis.modules import imported_file, modules_of

    modules = modules_of(heads)
    queue = sorted(kept)
    while queue:
        importer = queue.pop()
        for absolute in heads[importer].get("imports", ()):
            imported = imported_file(importer, absolute, modules, heads)
            if imported is not None and imported not in kept and "imports" in heads[imported]:
                kept.add(imported)
                queue.append(imported)
    return sorted(kept)


def _encoded(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
