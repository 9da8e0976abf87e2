"""Fixes that are proven by running a pair, or a model: what is kept, what is left, and what is said."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import Target
from migrate_lint.linter.registry.registry import all_rules
from migrate_lint.linter.rule_api.rewriting import expression, text_of
from migrate_lint.linter.runtime_report import Attempt, PhaseOutcome, RuntimeReport, Try, WorkerRun
from migrate_lint.runtime_checks import session
from migrate_lint.runtime_checks.proving import Copy, copied, model

PAIR = """\
import numpy as np

from migrate_lint.runtime_checks import Pair

pair = Pair(
    tf1="old.py:network",
    tf2="net.py:Net",
    inputs=np.random.RandomState(0).normal(size=[8, 4]).astype(np.float32),
    renames={"logits/": "net/logits/"},
)
"""
OLD = """\
import tensorflow.compat.v1 as tf


def network(features):
    h = features
    {lines}
    return tf.layers.dense(h, 3, name="logits")
"""
NET = """\
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.logits = tf.keras.layers.Dense(3, name="logits")

    def call(self, features):
        h = features
        {lines}
        return self.logits(h)
"""
FIRST = 11
"""The line of the first of the lines in the file of `NET`."""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in a folder of its own; gives the status, and what was written to both streams."""
    monkeypatch.chdir(tmp_path)

    def running(*words: str) -> tuple[int, str, str]:
        fixed = ["--output-format", "concise", "--no-cache", "--isolated", "--jobs", "1"]
        status = main(["--fix", "--prove", *words, *fixed])
        return status, *capsys.readouterr()

    return running


def written(old: str, new: str | None = None) -> None:
    """The files of a pair; without other lines both sides have the same."""
    for name, form, lines, indent in (("old.py", OLD, old, 4), ("net.py", NET, old if new is None else new, 8)):
        text = textwrap.indent(textwrap.dedent(lines).strip("\n"), " " * indent).lstrip()
        Path(name).write_text(form.format(lines=text), "utf-8")
    Path("pair.py").write_text(PAIR, "utf-8")


def made_wrong(monkeypatch: pytest.MonkeyPatch, code: str, right: str, wrong: str) -> None:
    """Let the fix of a rule write something else."""
    (rule,) = (one for one in all_rules() if one.code == code)
    original = type(rule).fix

    def fix(self: object, node: object, site: object) -> object:
        made = original(self, node, site)  # type: ignore[arg-type]
        if made is None or made.node is None:
            return made
        return replace(made, node=expression(text_of(made.node).replace(right, wrong)))

    monkeypatch.setattr(type(rule), "fix", fix)


PRINTING = """
    @tf.function
    def doubled(self, h):
        print("one", h)
        print("two", h)
        return 2.0 * h
"""


def printing() -> str:
    """A pair that is equal as it is, and whose TF2 side prints as it is traced; gives the text of that."""
    written("h = 2.0 * h", "h = self.doubled(h)")
    net = Path("net.py")
    net.write_text(net.read_text("utf-8") + PRINTING, "utf-8")
    return net.read_text("utf-8")


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("target", ["pair.py", "net.py:Net"])
def test_the_wrong_fix_is_left_and_the_others_are_written(
    target: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program stays what it is, and the finding stands at its line."""
    made_wrong(monkeypatch, "TF201", 'tf.print("one"', 'tf.no_such("one"')
    before = printing()
    given = [] if target == "pair.py" else ["--input-shape", "8,4"]
    status, out, err = run(target, "net.py", "--target", "keras3", *given)
    line = 1 + before.split("\n").index('        print("one", h)')

    assert 1 == status, err
    assert f"net.py:{line}:9: TF910[harmful-fix] error the fix of TF201 here is not applied; with it: " in out
    assert "no attribute 'no_such'" in out
    assert before.replace('print("two"', 'tf.print("two"') == Path("net.py").read_text("utf-8")
    assert "with 1 fix it " in err
    assert ("no numbers were compared" in err, "not compared: input pipelines, a TF1" in err) == (
        (False, True) if target == "pair.py" else (True, False)
    )


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_fix_without_which_nothing_runs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is wrong by its numbers, so nothing is written, and the file is what it was to the byte."""
    made_wrong(monkeypatch, "TF408", "keepdims=True)", "keepdims=True) + 1.0")
    written("h = h * tf.log(3.0)\nh = h / tf.reduce_sum(tf.abs(h), 1, keep_dims=True)")
    before = Path("net.py").read_bytes()
    status, out, err = run("pair.py", "net.py", "--target", "keras2")

    assert (1, before) == (status, Path("net.py").read_bytes())
    assert f"net.py:{FIRST + 1}:17: TF910[harmful-fix] error the fix of TF408 here is not applied; with it: " in out
    assert re.search(rf"with it: .* differs by .* TF2 .* net.py:{FIRST + 1}; without it: ", out), out
    assert "unexpected keyword argument 'keep_dims'" in out.partition("without it: ")[2]
    assert "pair.py: before any fix: TF2: " in err
    assert "nothing is proven, so nothing is fixed: the finding of TF408" in err


def _ran(*phases: tuple[str, str]) -> RuntimeReport:
    outcomes = tuple(PhaseOutcome(name, outcome, 0.0, "no such name") for name, outcome in phases)
    run = WorkerRun(Target.KERAS3, "CPU:0", "2.21.0", "3", "3.11", outcomes, (), (), (), None, 0.0, 0)
    return RuntimeReport((), (), (run,))


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (_ran(("import", "ok"), ("build", "ok")), ""),
        (_ran(("import", "ok"), ("build", "failed")), "keras3: build fails: no such name"),
        (_ran(("import", "ok")), "keras3: build fails: it was not run"),
        (session.RuntimeUsageError("it has no build"), "it has no build"),
    ],
    ids=["well", "failed", "not run", "refused"],
)
def test_a_model_holds_that_does_what_it_did(
    after: RuntimeReport | Exception, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A phase that is not reported is lost, and what is refused with fixes is said of the fixes."""
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text("def build(): ...\n", "utf-8")
    answers = [_ran(("import", "ok"), ("build", "ok")), after]

    def answer(*_: object) -> RuntimeReport:
        given = answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    monkeypatch.setattr(session, "run", answer)
    found: list[Attempt] = []

    def body(base: Attempt, attempt: Try) -> None:
        found.extend((base, attempt({os.path.realpath("net.py"): b"def build(): pass\n"})))

    model(session.Request("net.py:build", roots=(str(tmp_path),)), None, body)

    assert [(True, ""), (not told, told)] == [(one.holds, one.told) for one in found]


def test_a_copy_has_what_is_changed_and_leads_nowhere_else(tmp_path: Path) -> None:
    """Code is copied, also where a link leads to it; data and what is no code of the project are links."""
    root = tmp_path / "project"
    for name in ("a.py", "package/b.py", "package/deeper/c.ipynb", ".hidden/d.py", "data/big.bin", "env/lib/e.py"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, "utf-8")
    (root / "env" / "pyvenv.cfg").touch()
    (root / "package" / "__pycache__").mkdir()
    (root / "linked.py").symlink_to("a.py")
    (root / "outside.py").symlink_to(tmp_path / "far.py")
    changed = os.path.realpath(root / "a.py")

    with copied([str(root), str(root / "package")], {changed: b"changed"}) as copy:
        there = Path(copy.of(str(root)))
        found = {
            str(path.relative_to(there)): os.path.realpath(path).startswith(os.path.join(there, ""))
            for path in sorted(there.rglob("*"))
            if not path.is_dir() or path.is_symlink()
        }

        assert {
            "a.py": True, "package/b.py": True, "package/deeper/c.ipynb": True, "linked.py": True,
            "outside.py": False, ".hidden": False, "data": False, "env": False,
        } == found  # fmt: skip
        assert ("changed", "changed") == tuple((there / name).read_text() for name in ("a.py", "linked.py"))
        assert changed == copy.back(copy.of(changed))
        assert f"{changed}:3: no" == copy.told(f"{copy.of(changed)}:3: no")
        assert [(changed, 3)] == list(copy.mentioned(f"at {copy.of(changed)}:3: no"))
    assert not there.exists()
    assert "a.py" == (root / "a.py").read_text("utf-8")


def test_what_was_not_copied_stays_where_it_is() -> None:
    copy = Copy({"/project": "/copy"})

    assert ("/copy/a.py", "/other/a.py", "/projects/a.py") == tuple(
        copy.of(path) for path in ("/project/a.py", "/other/a.py", "/projects/a.py")
    )
    assert ("/project", "/copying") == (copy.back("/copy"), copy.back("/copying"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--prove", "pair.py"], "--prove says which fixes --fix, --fix-only, --diff and --interactive apply or show"),
        (["--fix", "--python-tf1", "python"], "--python-tf1 is about the pair that --prove runs"),
        (["--fix", "--prove", "pear.py"], "--prove: there is no file pear.py; did you mean pair.py?"),
        (["--fix", "--prove", "os.path"], "this is an installed module, of which nothing can be fixed"),
        (["--fix", "--prove", "pair.py", "-"], "--prove tries the fixes of files again and again"),
        (["--fix", "--prove", "pair.py", "--call", "f"], "--call: a pair says itself what it is called with"),
        (["--fix", "--prove", "net.py:Net", "--python-tf1", "python"], "a model has no TF1 side; name a pair"),
        (["--fix", "--prove", "pair.py", "--device", "CPU:0"], "--device: this is about a run of the model"),
        (["--fix", "--prove", "bad.py"], "bad.py:1: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value)[-30:],
)
def test_words_that_make_no_sense(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written("h = tf.abs(h)")
    Path("bad.py").write_text("x =", "utf-8")

    assert 2 == main([*words, "--isolated"])
    assert said in capsys.readouterr().err
