"""What is kept of a project's files, and what an edit makes necessary again."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest
from migrate_lint.linter.analysis import linking, project, resolution
from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.analysis.links import Links
from migrate_lint.linter.analysis.resolution import Resolver
from migrate_lint.linter.analysis.summary import Summary, summarize
from migrate_lint.linter.finding import Target
from migrate_lint.linter.run import engine, facts
from migrate_lint.linter.run.cache import Cache
from migrate_lint.linter.run.engine import FileResult, analyze
from migrate_lint.linter.run.facts import Summaries

TEXTS = {
    "net.py": """
import tensorflow as tf
from helpers import helper
class Net(tf.keras.layers.Layer):
    def call(self, x):
        return helper(x)
""",
    "helpers.py": """
import tensorflow as tf
def helper(x):
    return x * tf.Variable(1.0)
def other(x):
    return [i for i in range(3)]
""",
    "user.py": """
import tensorflow as tf
from net import Net
model = Net()
""",
    "plain.py": "x = 1  # noqa: TF101\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose links are made."""
    files: list[str] = []

    def links_of(names: Resolver, file: str) -> Links:
        files.append(file)
        return linking.links_of(names, file)

    monkeypatch.setattr(project, "links_of", links_of)
    return files


def check(
    root: Path, cache: Path | None = None, overrides: Mapping[Path, bytes] | None = None
) -> dict[str, FileResult]:
    files = [(root / name, name) for name in sorted(path.name for path in root.glob("*.py"))]
    return analyze(files, root=root, target=Target.KERAS3, cache=cache, overrides=overrides)


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return x *", "    [helper(i) for i in x]\n    return x *"),
        ("    return x *", "    if x:\n        other(x)\n    return x *"),
        ("def helper", "\n\n\ndef helper"),
    ],
)
def test_an_edit_of_code_resolves_one_file(root: Path, tmp_path: Path, linked: list[str], old: str, new: str) -> None:
    """What no other file can see changes nothing for the others: calls, comprehensions, lines."""
    check(root, tmp_path / "cache")
    linked.clear()
    edit(root, "helpers.py", old, new)

    kept = check(root, tmp_path / "cache")

    assert ["helpers.py"] == linked
    assert check(root) == kept


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def helper", "class Other:\n    pass\ndef helper"),
        ("def helper(x)", "def helper(y, x=None)"),
        ("def helper", "@tf.function\ndef helper"),
        ("return x * tf.Variable(1.0)", "return lambda: x * tf.Variable(1.0)"),
        ("helper", "renamed"),
    ],
)
def test_an_edit_of_the_structure_resolves_all(
    root: Path, tmp_path: Path, linked: list[str], old: str, new: str
) -> None:
    """A name, a parameter, a decorator, a class more: every file may mean something else by it."""
    check(root, tmp_path / "cache")
    linked.clear()
    edit(root, "helpers.py", old, new)

    kept = check(root, tmp_path / "cache")

    assert ["helpers.py", "net.py", "user.py"] == linked
    assert check(root) == kept


def test_the_last_structures_are_kept(root: Path, tmp_path: Path, linked: list[str]) -> None:
    """An editor's buffer and the file on disk, asked in turn, cost no more than one of them."""
    buffer = {root / "helpers.py": TEXTS["helpers.py"].replace("other", "another").encode()}
    saved, unsaved = check(root, tmp_path / "cache"), check(root, tmp_path / "cache", buffer)
    linked.clear()

    edit(root, "user.py", "Net()", "Net(1)")

    assert saved.keys() == check(root, tmp_path / "cache").keys()
    assert unsaved.keys() == check(root, tmp_path / "cache", buffer).keys()
    assert ["user.py", "user.py"] == linked


def test_only_so_many_structures_are_kept(root: Path, tmp_path: Path) -> None:
    """The store does not grow with every name that is typed."""
    for number in range(facts._STRUCTURES_KEPT + 3):
        (root / "helpers.py").write_text(f"{TEXTS['helpers.py']}\ndef f{number}(): pass\n")
        check(root, tmp_path / "cache")

    with Cache(tmp_path / "cache", engine.version()) as store:
        slots = store.get("structures", [str(root)])[str(root)]

    assert list(range(facts._STRUCTURES_KEPT)) == sorted(number for _, number in slots)


def test_a_file_with_comments_may_come_to_reach_tensorflow(root: Path, tmp_path: Path) -> None:
    """What was kept of a file that no rule looked at is not mistaken for findings."""
    check(root, tmp_path / "cache")
    check(root, tmp_path / "cache")
    edit(root, "net.py", "from helpers", "import plain\nfrom helpers")

    assert check(root) == check(root, tmp_path / "cache")


def test_a_lost_summary_is_made_again(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may forget any entry at any time."""
    check(root, tmp_path / "cache")
    edit(root, "user.py", "Net()", "Net(1)")
    real = Cache.get
    monkeypatch.setattr(Cache, "get", lambda self, kind, keys: {} if kind == "summary" else real(self, kind, keys))

    assert check(root) == check(root, tmp_path / "cache")


@pytest.mark.parametrize(
    ("limit", "value"), [("_HELD_CHARACTERS", 0), ("_HELD_OF_FILES", 0), ("_DECODED_SUMMARIES", 1)]
)
def test_little_memory_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    """Trees that are not held are parsed again, and summaries that do not fit are decoded again."""
    plenty = check(root)
    monkeypatch.setattr(facts, limit, value)

    assert plenty == check(root)


def test_a_short_memory_for_names_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that were forgotten are resolved again."""
    plenty = check(root)
    monkeypatch.setattr(resolution, "_REMEMBERED", 0)

    assert plenty == check(root)


def test_summaries_can_go_to_another_process(root: Path, tmp_path: Path) -> None:
    """Detached, they need no store; a summary that is not there is a KeyError."""
    loaded: list[str] = []

    def load(key: str) -> Summary:
        loaded.append(key)
        return summary_of(TEXTS[key])

    summaries = Summaries(load)
    summaries.limit(["helpers.py", "net.py"])
    assert ["helper", "other"] == [f["name"] for f in summaries["helpers.py"]["functions"].values()]
    summaries.detach()
    copy = pickle.loads(pickle.dumps(summaries))

    assert ["helpers.py", "net.py"] == loaded == list(copy)
    assert dict(copy) == dict(summaries)
    assert "user.py" not in copy
    with pytest.raises(KeyError):
        copy["user.py"]


def summary_of(text: str) -> Summary:
    return summarize(FileIndex(ast.parse(text)))
