"""From what a user names to a pair; TensorFlow is not needed for it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from migrate_lint.runtime_checks import Pair
from migrate_lint.runtime_checks.worker.recording.loading import Loaded, load, prepared, side_of
from migrate_lint.runtime_checks.worker.recording.pairs.batches import PairError

HEADER = "from migrate_lint.runtime_checks import Pair\n"
PAIR = "Pair(len, abs, [1.0])"
WORKER = Path(sys.modules["migrate_lint.runtime_checks"].__file__ or "").parent / "worker"
WITHOUT_US = """
import importlib.abc, importlib.util, sys
class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "migrate_lint":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Refuse())
spec = importlib.util.spec_from_file_location(
    "_migrate_lint_worker", sys.argv[1] + "/__init__.py", submodule_search_locations=[sys.argv[1]])
sys.modules["_migrate_lint_worker"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["_migrate_lint_worker"])
from _migrate_lint_worker.recording import loading
loaded = loading.load({"file": sys.argv[2], "module": None, "attribute": None, "search_path": []})
print(loaded.pair.name, loaded.pair.tf1, type(loaded.pair).__module__)
"""

Load = Callable[..., Loaded]


class Both:
    def compute(self) -> int:
        return 1


BOTH = Both()


@pytest.fixture
def load_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Loads the text of a pair's file, and leaves the process as it was."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    def load_text(text: str, attribute: str | None = None, header: str = HEADER) -> Loaded:
        file = tmp_path / "mine.py"
        file.write_text(header + textwrap.dedent(text), "utf-8")
        described = {"file": str(file), "module": None, "attribute": attribute, "search_path": [str(tmp_path)]}
        return load(described)

    return load_text


def test_the_attribute_pair_is_the_pair(load_text: Load) -> None:
    """Also beside others; it is called by its place."""
    loaded = load_text(f"other = {PAIR}\npair = {PAIR}")

    assert ("mine.py:pair", len, abs) == (loaded.pair.name, loaded.pair.tf1, loaded.pair.tf2)


def test_the_only_pair_is_the_pair(load_text: Load) -> None:
    """Whatever it is called, and by however many names."""
    assert "mine.py:this" == load_text(f"this = {PAIR}\nthat = this").pair.name


def test_a_name_chooses_one_of_several(load_text: Load) -> None:
    """A name of its own is kept."""
    text = f"class Kinds:\n    small = {PAIR}\n    big = Pair(len, abs, [1.0], name='the big one')"

    assert "mine.py:Kinds.small" == load_text(text, "Kinds.small").pair.name
    assert "the big one" == load_text(text, "Kinds.big").pair.name


@pytest.mark.parametrize("attribute", [None, "pair"])
def test_a_function_makes_a_pair(attribute: str | None, load_text: Load) -> None:
    """If it needs nothing."""
    assert "mine.py:pair" == load_text(f"def pair(size=3):\n    return {PAIR}", attribute).pair.name


def test_another_class_with_the_fields_of_a_pair_is_one(load_text: Load) -> None:
    """Such as that of another version; what it lacks is as by default."""
    loaded = load_text(
        """
        class Couple:
            def __init__(self):
                self.tf1, self.tf2, self.inputs = len, abs, [1.0]
        couple = Couple()
        """,
        header="",
    )

    assert (len, None, {}, ()) == (
        loaded.pair.tf1,
        loaded.pair.labels,
        loaded.pair.transposes,
        loaded.pair.ignore,
    )


@pytest.mark.parametrize(
    ("text", "attribute", "message"),
    [
        ("x = 1", None, "mine.py has no Pair; write pair = Pair("),
        (f"a = {PAIR}\nb = {PAIR}", None, "mine.py has 2 pairs; name one: mine.py:a or mine.py:b"),
        (f"left = {PAIR}", "lift", "did you mean left?"),
        ("x = 1", "x", "mine.py:x is an object of type int, not a Pair nor a function that returns one"),
        ("def pair(size): pass", "pair", "mine.py:pair needs size"),
        ("def pair(): pass", None, "mine.py:pair() returned None, not a Pair"),
    ],
)
def test_what_is_no_pair_is_said(text: str, attribute: str | None, message: str, load_text: Load) -> None:
    """With what to write instead."""
    with pytest.raises(PairError) as caught:
        load_text(text, attribute)

    assert message in str(caught.value)


def test_what_the_file_raises_passes_through(load_text: Load) -> None:
    """It is the user's, and not about the pair."""
    with pytest.raises(ZeroDivisionError):
        load_text("1 / 0")


def test_the_program_sees_no_arguments_of_ours(load_text: Load, tmp_path: Path) -> None:
    """As if it were run by itself."""
    load_text(f"import sys\nassert len(sys.argv) == 1 and sys.argv[0].endswith('mine.py')\npair = {PAIR}")

    assert [str(tmp_path / "mine.py")] == sys.argv


def test_a_side_in_another_file_is_imported_for_that_side_alone(load_text: Load, tmp_path: Path) -> None:
    """A TF2 program need not be readable for TF1, nor the other way round."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "model.py").write_text("import beside\nclass Net:\n    @staticmethod\n    def f(x): return 1")
    (tmp_path / "old" / "beside.py").write_text("")
    (tmp_path / "new.py").write_text("raise RuntimeError('the other side')")
    loaded = load_text("pair = Pair('old/model.py:Net.f', 'new.py:make', [1.0])")

    assert 1 == side_of(loaded, "tf1").tf1(0)
    with pytest.raises(RuntimeError, match="the other side"):
        side_of(loaded, "tf2")


def test_a_side_in_a_module_is_imported(load_text: Load, tmp_path: Path) -> None:
    """Also the training step, which belongs to TF2."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text("")
    (tmp_path / "inner" / "steps.py").write_text("def step(model, x, y): return 7")
    loaded = load_text("pair = Pair(len, abs, [1.0], train_step='inner.steps:step')")

    assert "inner.steps:step" == side_of(loaded, "tf1").train_step
    assert 7 == side_of(loaded, "tf2").train_step(None, None, None)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("tf1", "gone.py:f", "there is no file"),
        ("tf1", "no_such_module:f", "there is no module 'no_such_module'"),
        ("tf1", "mine.py", "it is written file.py:name or package.module:name"),
        ("tf1", "mine.py:nothing", "has no 'nothing'"),
        ("tf1", 3, "tf1 of mine.py:pair is an object of type int"),
        ("tf1", None, "tf1 of mine.py:pair is None"),
        ("train_step", "mine.py:pair", "train_step of mine.py:pair is an object of type Pair"),
    ],
)
def test_a_side_that_is_not_there_is_said(field: str, value: object, message: str, load_text: Load) -> None:
    """Before anything is run."""
    loaded = load_text(f"pair = {PAIR}\npair.{field} = {value!r}")

    with pytest.raises(PairError) as caught:
        side_of(loaded, "tf1" if field == "tf1" else "tf2")

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("tf1", "tf2", "same"),
    [
        (len, len, True),
        (len, abs, False),
        ("a.py:f", "a.py:f", True),
        (SimpleNamespace.__repr__, SimpleNamespace.__str__, False),
        (BOTH.compute, BOTH.compute, True),
    ],
)
def test_one_object_on_both_sides_is_noticed(tf1: Any, tf2: Any, same: bool) -> None:
    """A comparison with itself says nothing; a method is made anew whenever it is named."""
    assert same == prepared(Pair(tf1, tf2, [1.0]), "", "x").same


def test_a_checkpoint_is_looked_for_beside_the_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is in the working folder."""
    (tmp_path / "pairs").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs" / "model.ckpt-1.index").touch()
    pair = Pair(len, abs, [1.0], checkpoint="model.ckpt-1")

    assert str(tmp_path / "pairs" / "model.ckpt-1") == prepared(pair, str(tmp_path / "pairs"), "x").pair.checkpoint
    (tmp_path / "model.ckpt-1.index").touch()
    assert str(tmp_path / "model.ckpt-1") == prepared(pair, str(tmp_path / "pairs"), "x").pair.checkpoint


def test_a_pair_is_found_where_migrate_lint_is_not_installed(tmp_path: Path) -> None:
    """Its names stand for ours there; what cannot be done there says so when it is called."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from migrate_lint.runtime_checks import Pair, Spec, compare, record, verify\n"
        "from migrate_lint.runtime_checks import assert_no_variable_creations, catch_and_raise_created_variables\n"
        "try:\n    verify(None)\nexcept RuntimeError as error:\n    said = str(error)\n"
        "pair = Pair(said, abs, [1.0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_US, str(WORKER), str(file)], capture_output=True, text=True, check=False
    )

    said = "migrate-lint is not installed in this interpreter, where only sides are recorded"
    assert ("", f"mine.py:pair {said} _migrate_lint_worker.recording.pairs.pair\n") == (done.stderr, done.stdout)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("trainstep", "did you mean train_step"),
        ("test_step", "a method of the TF2 model"),
        ("zzz", "there are tf1, tf2, inputs, labels"),
    ],
)
def test_a_keyword_that_a_pair_does_not_have_is_named_with_the_right_one(
    load_text: Load, given: str, words: str
) -> None:
    """Also where it is something that belongs to the model."""
    with pytest.raises(TypeError, match=f"Pair has no {given}: .*{words}"):
        load_text(f"pair = Pair(len, abs, [1.0], {given}=None)")
