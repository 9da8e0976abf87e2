"""The command line of ``verify``: what it takes, and what it makes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks import record, verifying
from migrate_lint.runtime_checks.comparison.rungs import RUNGS
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from .projects import PAIR, Place, rungs

pytestmark = pytest.mark.slow

EQUAL = PAIR.replace("TROUBLE", "pass")
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's folder with recordings of both sides, of which only the metrics differ."""
    monkeypatch.chdir(tmp_path)
    for number, side in enumerate(("tf1", "tf2")):
        with record(tmp_path / "run" / side, side=side) as run:
            run.variables({"w": [1.0, 2.0]})
            for step in range(2):
                run.step()
                run.loss(2.0 - step)
                run.metric("accuracy", 0.5 + number * step)
                run.variables({"w": [1.5, 2.5 + step]})
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "verify takes one pair, such as pair.py, and got no pair"),
        (["a.py", "b.py"], "and got 2 of them"),
        (["gone.py"], "there is no file gone.py"),
        (["folder/"], "folder/ is a folder; name a file in it"),
        (["mine.py:"], "no name follows the colon"),
        (["mine.py", "--until", "9"], "--until: there is no rung '9'; there are data (0), once (1), variables (2)"),
        (["mine.py", "--policy", "lax"], "--policy: lax"),
        (["mine.py", "--policy", "bad.toml"], "bad.toml"),
        (["mine.py", "--steps", "0"], "--steps"),
        (["mine.py", "--target", "both"], "--target"),
        (["mine.py", "--device", "CPU:0", "--device", "second"], "--device second: a device is written CPU:0, GPU:0"),
        (["mine.py", "--device", "CPU:0", "--device", "CPU:1", "--find-cause"], "run the TF2 side on one device"),
        (["mine.py", "--precision", "mixed_float16", "--seed-bugs"], "run the TF2 side on one device"),
        (["mine.py", "--precision", "float8"], "--precision"),
        (["mine.py", "--python", "no-such-python"], "no-such-python"),
        (["mine.py", "--python-tf1", "no-such-python"], "no-such-python"),
        (["mine.py", "--output-format", "sarif"], "sarif"),
        (
            ["mine.py", "--output-format", "json", "--output-format", "html"],
            "only one report can go to standard output",
        ),
        (["--compare"], "--compare takes the folder of a run, or those of both sides"),
        (["--compare", "folder"], "record.json cannot be read"),
        (["--compare", "folder", "--until", "9"], "--until: there is no rung '9'; there are data (0), once (1)"),
        (["--compare", "folder", "--steps", "3"], "--steps: nothing is run with --compare"),
        (["--compare", "folder", "--precision", "mixed_float16"], "--precision: nothing is run with --compare"),
        (["--init", "mine.py"], "--init mine.py: there is such a file, which is left as it is"),
        (["--init", "."], "--init .: it is a folder: give the name of the file that the pair is to be in"),
        (["--init", "gone/pair.py"], "--init gone/pair.py: it cannot be written"),
        (["--init", "new.py", "mine.py"], "--init takes no mine.py"),
        (["--init", "new.py", "--compare"], "not allowed with"),
        (["--gen-test", "folder"], "--gen-test folder: this is no folder of a run, which holds a run.json"),
        (["--gen-test", "folder", "--policy", "guide"], "--policy: nothing is run with --gen-test"),
        (["mine.py", "--runtime", "x.py"], "unrecognized arguments"),
    ],
)
def test_what_cannot_be_followed_is_one_message_and_2(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Nothing is run, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\n")
    (tmp_path / "bad.toml").write_text("rtol = 3\n")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))

    assert 2 == main(["verify", *words])
    out, err = capsys.readouterr()
    assert "" == out
    assert message in err
    assert before == sorted(tmp_path.rglob("*"))


def test_help_names_every_status(capsys: Captured) -> None:
    """And the forms of the command."""
    assert 0 == main(["verify", "--help"])
    text = " ".join(capsys.readouterr().out.split())

    assert "0 equal, 1 different, 2 a usage error, 3 vacuous or not comparable, 4 a side crashed" in text
    assert "--compare RUN | TF1 TF2" in text
    assert ", ".join(rung.name for rung in RUNGS) in text


@pytest.mark.parametrize("words", [["run"], ["run/tf1", "run/tf2"]])
def test_recordings_are_compared_without_running_anything(words: list[str], recorded: Path, capsys: Captured) -> None:
    """Of a run, or of both sides wherever they are."""
    assert 1 == main(["verify", "--compare", *words, "--output-format", "json"])
    report = json.loads(capsys.readouterr().out)

    assert ("pass", "fail") == (rungs(report)["6"], rungs(report)["7"])


def test_the_last_rung_is_the_one_that_was_asked_for(recorded: Path, capsys: Captured) -> None:
    """By number or by name; what lies above is not run."""
    assert 0 == main(["verify", "--compare", "run", "--until", "6", "--output-format", "json"])
    assert "7" not in rungs(json.loads(capsys.readouterr().out))
    assert 0 == main(["verify", "--compare", "run", "--until", "step", "-q"])


def test_sides_are_not_taken_for_each_other(recorded: Path, capsys: Captured) -> None:
    """The TF1 side comes first."""
    assert 2 == main(["verify", "--compare", "run/tf2", "run/tf1"])
    assert "hold the sides tf2 and tf1, not tf1 and tf2" in capsys.readouterr().err


def test_reports_go_where_they_are_sent(recorded: Path, capsys: Captured) -> None:
    """Several at once, of which one may go to standard output."""
    words = ["--output-format", "json", "--output-file", "a.json", "--output-format", "html", "--output-file", "b.html"]
    words += ["--output-format", "junit", "--output-file", "c.xml", "--output-format", "text", "--color", "always"]

    assert 1 == main(["verify", "--compare", "run", *words])
    assert 1 == json.loads(Path("a.json").read_text())["status"]
    assert Path("b.html").read_text().lower().startswith("<!doctype html>")
    assert Path("c.xml").read_text().startswith("<?xml")
    assert "\x1b[" in capsys.readouterr().out


def test_a_damaged_recording_is_a_usage_error(recorded: Path, capsys: Captured) -> None:
    """The message names the file."""
    (recorded / "tf2" / "record.json").write_text("{")

    assert 2 == main(["verify", "--compare", "run"])
    assert "record.json is damaged: it is no JSON" in capsys.readouterr().err


def test_without_numpy_the_command_says_what_to_install(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The linter alone does not need it."""
    monkeypatch.setitem(sys.modules, "numpy", None)

    assert 2 == main(["verify", "--compare", "run"])
    assert "pip install numpy" in capsys.readouterr().err


def test_a_run_leaves_what_was_asked_for(place: Place) -> None:
    """Recordings of both sides, and what they were made of; otherwise nothing."""
    words = ("--output", "run", "--steps", "2", "--seed", "5", "--policy", "guide", "--until", "7")
    ran = place.verify("pair.py:pair", *words, pair=EQUAL)
    said = json.loads((place.project / "run" / "run.json").read_text())

    assert (0, "guide", []) == (ran.status, ran.report["policy"], ran.left)
    assert {
        "format": 1,
        "pair": str((place.project / "pair.py").resolve()),
        "attribute": "pair",
        "until": "7",
        "policy": "guide",
        "steps": 2,
        "seed": 5,
    } == said
    assert ["run.json", "tf1", "tf2"] == sorted(os.listdir(place.project / "run"))
    assert ["pair.py", "run"] == sorted(name for name in os.listdir(place.project) if name != "__pycache__")
    assert 0 == place.verify("--compare", "run").status


def test_the_pair_may_be_a_module_of_the_project(place: Place) -> None:
    """As ``python -m`` would find it."""
    (place.project / "inner").mkdir()
    (place.project / "inner" / "__init__.py").touch()
    (place.project / "inner" / "pairs.py").write_text(EQUAL)

    assert 0 == place.verify("inner.pairs:pair").status


def test_the_seed_reaches_a_program_that_runs_itself(place: Place) -> None:
    """So do the steps, and both have defaults."""
    pair = EQUAL.replace("run.loss(", "run.metric('seed', run.seed); run.loss(")
    ran = place.verify("pair.py", pair=pair)
    (series,) = [found for found in ran.report["series"] if found["name"] == "seed"]

    assert ([0, 1, 2], [42.0, 42.0, 42.0]) == (series["steps"], series["tf1"])


def test_findings_of_the_linter_are_handed_on(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Those of the pair's file, of what it imports and of what it ran, and no others; what is gone since has none."""
    given: list[Any] = []
    monkeypatch.chdir(place.project)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.scratch))

    def run(*arguments: Any) -> None:
        given.append(arguments)
        raise verifying.VerifyUsageError("this is all")

    monkeypatch.setattr(verifying, "run", run)
    (place.project / "pair.py").write_text("import tensorflow as tf\nimport beside\ntf.Session()\n")
    (place.project / "beside.py").write_text("import tensorflow as tf\ntf.placeholder(tf.float32)\n")
    (place.project / "apart.py").write_text("import tensorflow as tf\ntf.Session()\n")
    (place.project / "requirements.txt").write_text("tensorflow==2.12\n")

    main(["verify", "pair.py", "-q"])
    ((request, lint, *_),) = given
    assert {"pair.py", "beside.py"} == {finding.path for finding in lint([])}
    ran = [str(place.project / name) for name in ("apart.py", "gone.py")]
    assert {"pair.py", "beside.py", "apart.py"} == {finding.path for finding in lint(ran)}
    assert (None, "keras2", str(place.project)) == (request.target, request.likely, request.roots[0])
    assert "requirements.txt" in request.because


def test_why_a_keras_was_taken_is_told() -> None:
    """Where nobody asked for it: a file far from the pair may have said it."""
    read_off = verifying.Request("pair.py", likely=Target.KERAS2, because="TF_USE_LEGACY_KERAS is set in old.py:3")

    assert verifying._chosen(read_off, Target.KERAS2) == [
        "the TF2 side ran with keras2: TF_USE_LEGACY_KERAS is set in old.py:3"
    ]
    for request in (replace(read_off, target=Target.KERAS2), replace(read_off, likely=None)):
        assert verifying._chosen(request, Target.KERAS2) == []
    assert verifying._chosen(read_off, Target.KERAS3) == []


def test_a_test_is_written_for_a_run(place: Place) -> None:
    """Where it is asked for; what is there is not written over."""
    place.verify("pair.py", "--output", "run", pair=EQUAL)
    shown, _ = place.begun("--gen-test", "run").communicate(timeout=900)
    written = place.begun("--gen-test", "run", "--output", "test_pair.py")
    written.communicate(timeout=900)
    again = place.begun("--gen-test", "run", "--output", "test_pair.py")
    _, errors = again.communicate(timeout=900)

    assert (0, 2) == (written.returncode, again.returncode)
    assert shown == (place.project / "test_pair.py").read_text()
    assert "import unittest" in shown
    assert "there is such a file, which is left as it is" in errors


@pytest.mark.tensorflow
def test_the_first_pair_runs_as_it_is_and_is_equal(tmp_path: Path) -> None:
    """On both targets, under both policies."""
    subprocess.run([sys.executable, "-m", "migrate_lint", "verify", "--init", "pair.py"], cwd=tmp_path, check=True)
    for target, policy in (("keras2", "noise"), ("keras3", "guide")):
        words = ["pair.py", "--target", target, "--policy", policy, "--output-format", "json", "--tensorboard", target]
        done = subprocess.run(
            [sys.executable, "-m", "migrate_lint", "verify", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

        assert (0, "") == (done.returncode, done.stderr)
        passed = {number for number, status in rungs(json.loads(done.stdout)).items() if status == "pass"}
        assert {"1", "2", "3", "3f", "4", "6", "7", "8"} <= passed
        assert ["tf1", "tf2"] == sorted(os.listdir(tmp_path / target))
        for side in json.loads(done.stdout)["sides"]:
            run = tmp_path / target / side["side"]
            (trace,) = run.glob("plugins/profile/*/*.xplane.pb")
            assert ("training step", 10, 3, "") == tuple(
                len(side["timing"][name]) if name == "seconds" else side["timing"][name]
                for name in ("what", "seconds", "traced", "problem")
            )
            assert trace.stat().st_size
            assert ["events.out.tfevents.0.migrate-lint", "plugins"] == sorted(os.listdir(run))


DYING = """
import os
from pair import *

def step(model, inputs, labels):
    os._exit(7)

pair.train_step = step
"""


@pytest.mark.tensorflow
def test_a_side_that_dies_while_it_is_traced_is_told(tmp_path: Path) -> None:
    """The comparison is the one without a trace, and the recordings keep what is known."""
    subprocess.run([sys.executable, "-m", "migrate_lint", "verify", "--init", "pair.py"], cwd=tmp_path, check=True)
    (tmp_path / "dying.py").write_text(DYING, "utf-8")
    words = ["dying.py", "--until", "constant", "--output-format", "json", "--quiet"]
    run = [sys.executable, "-m", "migrate_lint", "verify"]
    done = subprocess.run(
        [*run, *words, "--tensorboard", "logs", "--output", "run"], cwd=tmp_path, capture_output=True, check=False
    )
    first, second = (side["timing"] for side in json.loads(done.stdout)["sides"])
    again = subprocess.run(
        [*run, "--compare", "run", "--until", "constant"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert 0 == done.returncode == again.returncode
    assert ("", 10) == (first["problem"], len(first["seconds"]))
    assert ("training step", []) == (second["what"], second["seconds"])
    assert "no trace of the TF2 side: exited with status 7" in again.stdout
    assert ["events.out.tfevents.0.migrate-lint"] == os.listdir(tmp_path / "logs" / "tf2")


def test_a_folder_for_tensorboard_that_cannot_be_made_is_refused(place: Place) -> None:
    """Before anything is run."""
    (place.project / "pair.py").write_text(EQUAL)
    (place.project / "logs").write_text("a file")
    ran = place.begun("pair.py", "--tensorboard", "logs")
    _, errors = ran.communicate(timeout=900)

    assert 2 == ran.returncode
    assert "--tensorboard logs: it cannot be written: " in errors


@pytest.mark.tensorflow
def test_what_only_explains_is_recorded_where_something_differs(tmp_path: Path) -> None:
    """By workers of their own, into the recordings of the first ones."""
    subprocess.run([sys.executable, "-m", "migrate_lint", "verify", "--init", "pair.py"], cwd=tmp_path, check=True)
    pair = tmp_path / "pair.py"
    pair.write_text(pair.read_text("utf-8").replace("optimizers.SGD(0.1)", "optimizers.SGD(0.2)"), "utf-8")
    words = ["pair.py", "--target", "keras3", "--until", "step", "--output", "run", "--quiet"]
    done = subprocess.run([sys.executable, "-m", "migrate_lint", "verify", *words], cwd=tmp_path, check=False)
    sides = [read(tmp_path / "run" / side) for side in ("tf1", "tf2")]

    assert 1 == done.returncode
    for side in sides:
        records = [record for one in side.scenarios.values() for record in one.records]
        assert "operation" in {record.kind for record in records}
        assert "steps-again" in side.scenarios
        assert all(record.value is not None for record in records)
