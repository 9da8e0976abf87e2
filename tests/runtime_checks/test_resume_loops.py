"""Training loops that are interrupted and resumed for real: which state each of them loses, on both Keras."""

from __future__ import annotations

import inspect
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main

from ..interpreters import Children
from . import resume_loops, resume_session_loops
from .resume_loops import ALONE, BESIDE, CHANGED, FILES, LOST, SOUND

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

TARGETS = ("keras2", "keras3")
HOWS = {"everything": "sigkill", "eager": "sigterm", "old_optimizer": "saving"}
HOWS |= {name: how for name, (how, *_) in (*FILES.items(), *BESIDE.items())}
LOOPS = [(target, name) for target in TARGETS for name in (*LOST, *ALONE[target])]
SESSIONS = {**{name: [] for name in resume_session_loops.SOUND}, **resume_session_loops.LOST}
_found: dict[str, dict[str, Any]] = {}


@pytest.fixture
def target(request: pytest.FixtureRequest) -> str:
    """The Keras; where a test takes no loop of its own, both of them, one after the other."""
    return str(request.param)


@pytest.fixture
def found(target: str, children: Children) -> dict[str, Any]:
    """What was found of all loops on a target: one interpreter runs them all."""
    if target not in _found:
        with tempfile.TemporaryDirectory() as folder:
            names = [*SOUND, *LOST, *ALONE[target], *FILES, *BESIDE]
            _found[target] = children.call(target, resume_loops.audits, names, HOWS, folder, alone=True)
    return _found[target]


both = pytest.mark.parametrize("target", TARGETS, indirect=True)


@both
@pytest.mark.parametrize("name", SOUND)
def test_a_loop_that_restores_everything_loses_nothing(name: str, found: dict[str, Any]) -> None:
    """However it was interrupted: weights, slots, data, random numbers and dropout go on to the last bit."""
    one = found[name]

    assert ("equal", "", []) == (one["status"], one["raised"], one["lost"])
    assert 0 < one["resumed"] < one["total"] == one["resumed"] + one["steps"]
    assert 0.0 == one["weights_apart"]


@pytest.mark.parametrize(("target", "name"), LOOPS, indirect=["target"])
def test_what_a_loop_leaves_out_is_named_first(target: str, name: str, found: dict[str, Any]) -> None:
    """In the order of proof; nothing that follows from it is told."""
    expected = {**LOST, **ALONE[target]}[name]
    one = found[name]

    assert ("lost" if expected else "equal", "") == (one["status"], one["raised"])
    assert expected == list(dict.fromkeys(lost["kind"] for lost in one["lost"]))


@both
def test_the_first_loss_says_what_it_can(found: dict[str, Any]) -> None:
    """It is the same without the optimizer, and another one with another batch or other noise."""
    assert 0.0 == found["no_optimizer"]["loss_apart"] < found["no_optimizer"]["weights_apart"]
    assert min(found[name]["loss_apart"] for name in ("no_iterator", "no_generator", "model_alone")) > 0.001


@both
def test_the_batch_that_came_again_is_told(found: dict[str, Any]) -> None:
    """By its number in the uninterrupted run."""
    assert "batch 0 again, in place of batch 4" == found["no_iterator"]["lost"][0]["detail"]


@both
def test_a_checkpoint_that_is_only_opened_is_told(found: dict[str, Any]) -> None:
    """With the rule that finds it."""
    assert "restores nothing (TF502)" in found["only_read"]["lost"][0]["detail"]


@both
def test_the_loop_of_the_guide_is_caught_by_the_linter_and_by_the_audit(
    target: str, found: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It loads its checkpoints in every epoch, and no value of them gets anywhere."""
    (tmp_path / "guide.py").write_text(f"import tensorflow as tf\n\n\n{inspect.getsource(resume_loops.of_the_guide)}")

    assert 1 == main(["check", "--target", target, "--isolated", str(tmp_path / "guide.py")])
    assert "TF502" in capsys.readouterr().out
    (lost,) = found["of_the_guide"]["lost"]
    assert "nothing restored" == lost["kind"]
    assert "though the state behind step 4 was saved; tf.train.load_checkpoint only opens" in lost["detail"]


@both
@pytest.mark.parametrize("name", FILES)
def test_what_comes_of_damaged_files_is_told(name: str, found: dict[str, Any]) -> None:
    """It is raised, an older checkpoint is taken, or training begins anew in silence: that alone is a loss."""
    one = found[name]

    assert FILES[name] == (one["how"], one["status"], one["resumed"])


@both
@pytest.mark.parametrize("name", BESIDE)
def test_whose_state_two_processes_leave_is_told(name: str, found: dict[str, Any]) -> None:
    """And what each did to the files of the other; where both train the same, nothing is lost."""
    assert BESIDE[name][1:3] == _beside(found[name], BESIDE[name][3])


def _beside(one: dict[str, Any], note: str) -> tuple[list[str], str]:
    assert "" == one["raised"]
    assert [] != [text for text in one["notes"] if note in text], one["notes"]
    assert ("lost" if one["lost"] else "equal") == one["status"]
    return list(dict.fromkeys(lost["kind"] for lost in one["lost"])), one["writer"]


@pytest.fixture
def changed(target: str, children: Children) -> dict[str, Any]:
    """What was found of all changed loops on a target, those in sessions with that before their names."""
    key = f"{target} changed"
    if key not in _found:
        _found[key] = {}
        for before, cases, run in (
            ("", CHANGED, resume_loops.changed_audits),
            ("session ", resume_session_loops.CHANGED, resume_session_loops.changed_session_audits),
        ):
            with tempfile.TemporaryDirectory() as folder:
                given = {name: base for name, (base, *_) in cases.items()}
                found = children.call(target, run, given, folder, alone=True)
                _found[key].update({before + name: one for name, one in found.items()})
    return _found[key]


_CHANGED = {**CHANGED, **{f"session {name}": one for name, one in resume_session_loops.CHANGED.items()}}


@both
@pytest.mark.parametrize("name", _CHANGED)
def test_what_a_changed_loop_has_of_a_checkpoint_is_told(target: str, name: str, changed: dict[str, Any]) -> None:
    """A variable that kept its first value is no pass, whatever the loop does not say."""
    _, status, kinds = _CHANGED[name]
    if target == "keras3" and name in resume_loops.NOT_BY_KERAS_3:
        status, kinds = "lost", ["model", "slots"]
    one = changed[name]

    assert ("", status) == (one["raised"], one["status"])
    assert kinds == list(dict.fromkeys(lost["kind"] for lost in one["lost"]))


@both
def test_the_variables_that_kept_their_values_are_named(changed: dict[str, Any]) -> None:
    """And what was saved that none has."""
    kept = {lost["name"].rpartition("/")[0] for lost in changed["another_layer"]["lost"] if lost["kind"] == "model"}

    assert 1 == len(kept)
    assert [] != [note for note in changed["another_name"]["notes"] if note.startswith("nothing has the saved value")]
    assert "hidden was made with the shape (3, 7), and got (3, 6)" in str(changed["session another_width"]["notes"])


@both
def test_a_loop_goes_on_from_wherever_it_was_killed(target: str, children: Children, tmp_path: Path) -> None:
    """At random moments, which lie between steps, in them and in saves."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    found = children.call(target, resume_loops.killed_at_any_moment, seed, 4, str(tmp_path), alone=True)

    assert 4 == len(found)
    assert [] == [one for one in found if one[1] not in ("equal", "begun anew")]


# -- sessions ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def in_sessions(target: str, children: Children) -> dict[str, Any]:
    """What was found of all loops of TensorFlow 1, and of what runs of a session execute."""
    key = f"{target} sessions"
    if key not in _found:
        with tempfile.TemporaryDirectory() as folder:
            hows = {"whole_graph": "saving", "by_hand": "sigkill", "from_a_pipeline": "sigterm"}
            hows |= {name: how for name, (how, *_) in resume_session_loops.BESIDE.items()}
            names = [*SESSIONS, *resume_session_loops.BESIDE]
            _found[key] = children.call(target, resume_session_loops.session_audits, names, hows, folder, alone=True)
    return _found[key]


@both
@pytest.mark.parametrize("name", SESSIONS)
def test_a_loop_in_a_session_is_seen_step_by_step(name: str, in_sessions: dict[str, Any]) -> None:
    """Its updates are known by what they write, with dropout, schedules, feeds and pipelines."""
    one = in_sessions[name]

    assert ("", resume_session_loops.STEPS) == (one["raised"], one["total"])
    assert SESSIONS[name] == list(dict.fromkeys(lost["kind"] for lost in one["lost"]))
    assert ("lost" if SESSIONS[name] else "equal") == one["status"]
    assert 4 == one["resumed"]
    assert (one["weights_apart"] == 0.0) == (not SESSIONS[name])


@both
@pytest.mark.parametrize("name", resume_session_loops.BESIDE)
def test_whose_state_two_sessions_leave_is_told(name: str, in_sessions: dict[str, Any]) -> None:
    """As of two processes without a graph."""
    expected = resume_session_loops.BESIDE[name]

    assert expected[1:3] == _beside(in_sessions[name], expected[3])


def test_the_runs_that_train_are_told_from_those_that_do_not(children: Children) -> None:
    """Whatever the update is written with, with resource and with reference variables."""
    seen = children.call("keras3", resume_session_loops.runs, alone=True)

    assert {name: [count, count] for name, count in resume_session_loops.RUNS.items()} == seen
