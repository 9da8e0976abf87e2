"""From files to findings: order, isolation, cache and cross-file dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.analysis.summary import Summary
from migrate_lint.linter.finding import Consequence, Effort, Location, Severity, Span, Statement, Target
from migrate_lint.linter.rule_api.model import Call
from migrate_lint.linter.rule_api.rule import Diagnostic, Rule
from migrate_lint.linter.run import engine
from migrate_lint.linter.run.engine import FileResult, analyze

LAYER = """
import tensorflow as tf
from helpers import helper
class Net(tf.keras.layers.Layer):
    def call(self, x):
        return helper(x)
"""
HELPER = """
import tensorflow as tf
def helper(x):
    return x * tf.Variable(1.0)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "project", {"net.py": LAYER, "helpers.py": HELPER, "plain.py": "x = 1\n"})
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def write(root: Path, texts: Mapping[str, str]) -> None:
    root.mkdir(exist_ok=True)
    for name, text in texts.items():
        (root / name).write_text(text)


def check(root: Path, *names: str, cache: Path | None = None, jobs: int = 1) -> dict[str, FileResult]:
    chosen = names or tuple(sorted(path.name for path in root.glob("*.py")))
    return analyze([(root / name, name) for name in chosen], root=root, target=Target.KERAS3, cache=cache, jobs=jobs)


def codes(results: Mapping[str, FileResult], name: str) -> set[str]:
    return {finding.code for finding in results[name].findings}


def test_a_finding_may_come_from_another_file(project: Path) -> None:
    """The helper's variable is a hazard because a layer of another file calls it."""
    assert "TF101" in codes(check(project), "helpers.py")

    (project / "net.py").unlink()

    assert "TF101" not in codes(check(project), "helpers.py")


def test_a_file_alone_has_the_findings_it_has_in_the_whole(project: Path) -> None:
    """Which paths are given changes nothing in what is said of a file."""
    whole = check(project)

    for name in ("net.py", "helpers.py", "plain.py"):
        assert whole[name] == check(project, name)[name]


def test_jobs_and_cache_change_nothing(project: Path, tmp_path: Path) -> None:
    """One process or two, cold or warm: the same results in the same order."""
    write(project, {f"m{number}.py": HELPER for number in range(8)})
    plain = check(project)

    assert list(plain.items()) == list(check(project, jobs=2).items())
    assert list(plain.items()) == list(check(project, cache=tmp_path / "cache").items())
    assert list(plain.items()) == list(check(project, cache=tmp_path / "cache").items())


def test_a_warm_run_analyzes_nothing(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unchanged files are read and hashed, no more."""
    cold = check(project, cache=tmp_path / "cache")
    monkeypatch.setattr(engine, "parse_source", None)

    assert cold == check(project, cache=tmp_path / "cache")


def test_a_finding_knows_the_name_that_it_is_about(project: Path, tmp_path: Path) -> None:
    """As Python would look it up, also when it was kept; one about a class or a function has none."""
    text = (
        "from tensorflow.compat.v1 import layers as l\nfrom tensorflow.contrib import slim\nl.dense(1, 2)\nl.flatten\n"
    )
    write(project, {"names.py": text + "class A(slim.Layer):\n    pass\n"})

    for _ in range(2):
        found = check(project, "names.py", cache=tmp_path / "cache")["names.py"].findings
        symbols = {(finding.line, finding.subject) for finding in found}
        assert {
            (2, "tensorflow.contrib.slim"),
            (3, "tensorflow.compat.v1.layers.dense"),
            (4, "tensorflow.compat.v1.layers.flatten"),
        } <= symbols
    layer = HELPER.replace("def helper(x):", "class L(tf.keras.layers.Layer):\n  def __init__(self, units):")
    write(project, {"layer.py": layer.replace("    return x * ", "    super().__init__()\n    self.v = ")})
    assert {("TF304", None)} == {
        (one.code, one.subject)
        for one in check(project, "layer.py", cache=tmp_path / "cache")["layer.py"].findings
        if one.code == "TF304"
    }


LAYERS = """
import tensorflow as tf
class Net(tf.keras.layers.Layer):
    @tf.function(
        autograph=False)
    def call(self, x,
             y=tf.Variable(1.0)):
        self.steps.append(
            tf.nn.relu(x)
        )
        return helper(x)
    def __init__(self):
        self.steps = []
def helper(x): return x * tf.Variable(1.0)
"""


def test_a_finding_keeps_what_its_rule_knew(project: Path, tmp_path: Path) -> None:
    """The statement and the function around it, what it is about, where else to look and what it takes; also kept."""
    write(project, {"net.py": LAYERS, "old.py": "import tensorflow as tf\n\nx = tf.to_int32([1.0])\n"})

    for _ in range(2):
        found = {one.code: one for one in check(project, "net.py", cache=tmp_path / "cache")["net.py"].findings}
        assert ("self.steps", Statement(8, 10, 10), Span(4, 11)) == (
            *(found["TF209"].subject, found["TF209"].statement, found["TF209"].function),
        )
        assert ("tensorflow.Variable", Statement(14, 14, 14), Span(14, 14)) == (
            *(found["TF101"].subject, found["TF101"].statement, found["TF101"].function),
        )
        assert (Location("net.py", 11, "called by `Net.call`"),) == found["TF101"].related
        assert () == found["TF209"].related
        assert (Effort.LOCAL, Effort.LOCAL) == (found["TF101"].effort, found["TF209"].effort)
        (renamed,) = check(project, "old.py", cache=tmp_path / "cache")["old.py"].findings
        assert ("TF406", Effort.MECHANICAL) == (renamed.code, renamed.effort)


def test_a_guard_is_related_to_what_it_guards(project: Path) -> None:
    """A layer that is made once, in `call`, names the test that says so."""
    made = "        if self.dense is None:\n            self.dense = tf.keras.layers.Dense(1)\n        return x\n"
    init = "    def __init__(self):\n        super().__init__()\n        self.dense = None\n"
    write(project, {"net.py": LAYER.replace("        return helper(x)\n", made + init)})

    found = {one.code: one for one in check(project, "net.py")["net.py"].findings}["TF114"]

    assert "self.dense" == found.subject
    assert (Location("net.py", 6, "tested here"),) == found.related


def test_related_places_in_other_files_are_shown_as_findings_are(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative to the working folder, wherever it is when the finding is read, and whether the file is linted."""
    caller = "called by `Net.call`"
    kept = tmp_path / "cache"
    (found,) = check(project, "helpers.py", cache=kept)["helpers.py"].findings
    assert (Location("net.py", 6, caller),) == found.related

    monkeypatch.chdir(tmp_path)
    (found,) = check(project, "helpers.py", cache=kept)["helpers.py"].findings
    assert (Location("project/net.py", 6, caller),) == found.related


@pytest.mark.parametrize("name", ["net.py", "helpers.py", "plain.py"])
def test_kept_findings_follow_edits_of_other_files(project: Path, tmp_path: Path, name: str) -> None:
    """After an edit anywhere, kept findings are those of a fresh run."""
    check(project, cache=tmp_path / "cache")
    text = (project / name).read_text()
    (project / name).write_text(f"import tensorflow as tf\n\n\n{text}".replace("helper(x)", "x"))

    assert check(project) == check(project, cache=tmp_path / "cache")


def test_unsaved_text_counts_for_the_whole_project(project: Path) -> None:
    """An editor's buffer replaces its file, for the others too."""
    results = analyze(
        [(project / "helpers.py", "helpers.py")],
        root=project,
        target=Target.KERAS3,
        overrides={project / "net.py": b"import tensorflow as tf\n"},
    )

    assert "TF101" not in codes(results, "helpers.py")


class Crashing(Rule):
    """Crashes at every print."""

    code = "TF999"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    calls = ("print",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Diagnostic, then crash."""
        yield self.report(call, "before the crash")
        raise IndexError("tuple index out of range")


class Broad(Crashing):
    """Speaks where nobody else does."""

    code = "TF998"

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Report everything."""
        yield self.report(call, "broad")


class Specific(Broad):
    """Speaks about prints of one argument."""

    code = "TF999"
    supersedes = ("TF998",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Report calls of one argument."""
        if len(call.arguments) == 1:
            yield self.report(call, "specific", Severity.INFO)


def with_rules(monkeypatch: pytest.MonkeyPatch, *rules: Rule) -> None:
    monkeypatch.setattr(engine, "_dispatch", lambda: engine._Dispatch(rules))


def test_a_crash_in_a_rule_is_a_finding(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TF909 names the rule, the file and the line; other files and sites are still checked."""
    with_rules(monkeypatch, Crashing())
    (project / "net.py").write_text("import tensorflow\nprint(1)\n\nprint(2)\n")

    found = check(project)["net.py"].findings

    assert [("TF909", 2), ("TF909", 4)] == [(f.code, f.line) for f in found if f.code == "TF909"]
    assert "TF999" in found[-1].message and "IndexError: tuple index out of range" in found[-1].message


def test_one_site_one_finding(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule is silent where a more specific one that supersedes it speaks."""
    with_rules(monkeypatch, Broad(), Specific())
    (project / "net.py").write_text("import tensorflow\nprint(1)\nprint(1, 2)\n")

    found = check(project)["net.py"].findings

    assert [("TF999", 2, Severity.INFO), ("TF998", 3, Severity.ERROR)] == [(f.code, f.line, f.severity) for f in found]


def test_columns_count_characters(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column is a character, not a byte; ends are exclusive, over several lines too."""
    with_rules(monkeypatch, Specific())
    (project / "net.py").write_text("import tensorflow\nx = 'ä€𝄞'; print(\n  'é')\n", encoding="utf-8")

    (found,) = check(project)["net.py"].findings

    assert (2, 12, 3, 7) == (found.line, found.column, found.end_line, found.end_column)


def test_a_changed_rule_set_forgets_what_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version covers every module and table of the engine and of the rules."""
    engine.installation.cache_clear()
    before = engine.version()
    engine.installation.cache_clear()
    monkeypatch.setattr(engine.sys, "version", "another Python")

    assert before != engine.version()

    engine.installation.cache_clear()


def test_a_file_that_knows_no_tensorflow_is_checked_where_a_graph_runs_it(project: Path) -> None:
    """What a TensorFlow file imports belongs to the program, whatever it imports itself."""
    write(
        project,
        {
            "net.py": "import tensorflow as tf\nimport augment\nds = tf.data.Dataset.range(3).map(augment.jitter)\n",
            "augment.py": "import random\ndef jitter(x):\n    return x + random.random()\n",
        },
    )

    assert "TF204" in codes(check(project), "augment.py")


def test_a_crash_in_the_analysis_of_a_file_is_a_finding(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that the analysis dies of is reported and the others are linted, cold and warm."""
    from migrate_lint.linter.analysis import summary

    whole = summary.summarize

    def crashing(index: FileIndex) -> Summary:
        if "net" in index.module.binds:
            raise ZeroDivisionError("no such luck")
        return whole(index)

    monkeypatch.setattr(summary, "summarize", crashing)
    (project / "plain.py").write_text("import tensorflow as tf\nnet = 1\n")
    for _ in range(2):
        results = check(project, cache=tmp_path / "cache")
        (found,) = results["plain.py"].findings
        assert "TF909" == found.code
        assert "ZeroDivisionError: no such luck" in found.message
        assert "TF101" in codes(results, "helpers.py")
