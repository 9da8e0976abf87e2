"""What a session makes of a worker's words; the worker itself is stood in for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Consequence, Finding, Severity, Target, Verdict
from migrate_lint.runtime_checks import interpreter, process, session
from migrate_lint.runtime_checks.interpreter import Interpreter
from migrate_lint.runtime_checks.process import Outcome
from migrate_lint.runtime_checks.session import Request, RuntimeUsageError, run
from migrate_lint.runtime_checks.strategies import parse

PYTHON = Interpreter("/opt/python", (3, 11, 7), "3.11.7", "2.21.0", "3.15.1", "2.21.0")
FINDING = Finding("model.py", 2, 1, 2, 9, "TF101", "variable-in-call", Severity.ERROR, Consequence.CHANGES, "made")
DONE = Outcome("done", 0, None, 3.0, 1 << 29, {}, "usage: x\n", "")

Worker = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """Sets what every worker ends with, and gives the jobs that they get."""
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text("def build():\n    made = 1\n", "utf-8")
    monkeypatch.setattr(interpreter, "describe", lambda python: PYTHON)
    jobs: list[dict[str, Any]] = []

    def stand_in(outcome: Outcome = DONE, **results: Any) -> list[dict[str, Any]]:
        def start(python: str, script: str, work: dict[str, Any], **how: Any) -> Outcome:
            jobs.append({**work, **how})
            if how["on_phase"] is not None:
                how["on_phase"]("build")
            return replace(outcome, results=results)

        monkeypatch.setattr(process, "start", start)
        return jobs

    return stand_in


def request(**more: Any) -> Request:
    return Request(**{"target": "model.py:build", "targets": (Target.KERAS3,), **more})


def test_a_verdict_of_the_worker_is_that_of_the_finding(worker: Worker) -> None:
    """With the phase and the reason as evidence."""
    worker(judgements={"0": ["confirmed", "second call", "made again"]})
    (found,) = run(request(), [FINDING]).findings

    assert Verdict.CONFIRMED == found.verdict
    assert ("second call", "made again", "CPU:0") == (
        found.evidence[0].phase,
        found.evidence[0].detail,
        found.evidence[0].device,
    )


def test_a_finding_without_a_verdict_is_failed(worker: Worker) -> None:
    """Silence refutes nothing."""
    worker()

    assert Verdict.FAILED == run(request(), [FINDING]).findings[0].verdict


def test_hidden_findings_are_judged_and_not_returned(worker: Worker) -> None:
    """So that what the user has answered is not observed again."""
    jobs = worker(judgements={"0": ["refuted", "", "x"], "1": ["confirmed", "", "y"]})
    report = run(request(), [FINDING], [replace(FINDING, line=1)])

    assert [Verdict.REFUTED] == [found.verdict for found in report.findings]
    assert 2 == len(jobs[0]["findings"])


def test_a_finding_is_judged_only_on_the_targets_that_it_was_made_for(worker: Worker) -> None:
    """TF109 is no hazard on Keras 2."""
    jobs = worker(judgements={"0": ["confirmed", "", "x"]})
    place = (FINDING.path, FINDING.line, FINDING.column, FINDING.code)
    both = request(targets=tuple(Target), found_for={place: frozenset({Target.KERAS2})})
    (found,) = run(both, [FINDING]).findings

    assert [1, 0] == [len(work["findings"]) for work in jobs]
    assert [Target.KERAS2] == [one.target for one in found.evidence]


def test_a_worker_that_ended_early_decides_only_what_it_confirmed(worker: Worker) -> None:
    """What had not shown could still have come."""
    crashed = Outcome(
        "signal", 11, "fit", 3.0, 0, {}, "Aborted\ncheck failed: x > 0\n", "killed by SIGSEGV in phase fit"
    )
    worker(
        replace(crashed, crash_frame=(str(Path("model.py").resolve()), 2)),
        judgements={"0": ["refuted", "", "x"], "1": ["confirmed", "second call", "y"]},
        phases=[["second call", "ok", 0.1, ""], ["fit", "running", 0.0, ""]],
    )
    report = run(request(), [FINDING, replace(FINDING, line=1)])
    (failed,) = report.added

    assert [Verdict.FAILED, Verdict.CONFIRMED] == [found.verdict for found in report.findings]
    assert ("TF908", "model.py", 2) == (failed.code, failed.path, failed.line)
    assert failed.message.endswith("killed by SIGSEGV in phase fit; it last wrote: check failed: x > 0")
    assert ["ok", "failed"] == [phase.outcome for phase in report.runs[0].phases]


def test_an_observation_is_a_finding_of_its_line(worker: Worker) -> None:
    """The file is shown from the working directory, or whole where it lies outside."""
    seen = {
        "kind": "created again",
        "line": 2,
        "severity": "error",
        "phase": "second call",
        "message": "m",
        "frames": [],
    }
    outside = str(Path("/", "elsewhere", "a.py"))
    worker(observations=[{**seen, "path": None}, {**seen, "path": outside}])

    assert [("model.py", 2, 5), (outside, 2, 1)] == [
        (found.path, found.line, found.column) for found in run(request(), []).added
    ]


@pytest.mark.parametrize(
    ("fatal", "said"),
    [
        (["build", "failed", "ValueError: no", None, 0], ["build failed: ValueError: no"]),
        (["first call", "not run", "no `call`", None, 0], ["first call not run: no `call`"]),
        (["import", "exited", "it ends", None, 0], ["import failed: it ends; it last wrote: usage: x"]),
        (None, []),
    ],
)
def test_what_cannot_be_built_or_called_at_all_is_a_finding(worker: Worker, fatal: Any, said: list[str]) -> None:
    """The worker says which phase that was."""
    worker(fatal=fatal, phases=[["first call", "failed", 0, "no"]])
    messages = [found.message.partition("keras3: ")[2] for found in run(request(), []).added]

    assert said == messages


def test_a_target_that_the_interpreter_cannot_be_is_failed_with_the_reason(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is started."""
    jobs = worker()
    monkeypatch.setattr(interpreter, "describe", lambda python: replace(PYTHON, tf_keras=None))
    report = run(request(targets=(Target.KERAS2,)), [FINDING])

    assert ([], Verdict.FAILED) == (jobs, report.findings[0].verdict)
    assert "tf-keras" in (report.runs[0].cause or "")


def test_without_a_target_the_interpreters_own_is_run(worker: Worker) -> None:
    """Keras 3 with TensorFlow 2.21."""
    worker()

    assert [Target.KERAS3] == [one.target for one in run(request(targets=()), []).runs]


def test_every_device_has_a_worker(worker: Worker) -> None:
    """An accelerator is not hidden from it."""
    jobs = worker()
    told: list[str] = []
    run(request(devices=("cpu", "/device:GPU:1")), [], progress=told.append)

    assert ["CPU:0", "GPU:1"] == [work["device"] for work in jobs]
    assert [False, True] == ["CUDA_VISIBLE_DEVICES" in work["environment"] for work in jobs]
    assert ["keras3 on CPU:0: build", "keras3 on GPU:1: build"] == told


def test_shapes_may_have_unknown_dimensions(worker: Worker) -> None:
    """In any of the usual spellings."""
    jobs = worker()
    run(request(shapes=("2,28,28,1", "(?, None, 3)", "")), [])

    assert [[2, 28, 28, 1], [None, None, 3], []] == jobs[0]["shapes"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"devices": ("disk",)}, "--device disk: a device is written"),
        ({"shapes": ("2,x",)}, "--input-shape 2,x: a shape is written"),
        ({"inputs": "model.py"}, "--inputs model.py: it is written file.py:name"),
        ({"inputs": "gone.py:x"}, "with a file that exists"),
        ({"target": "gone.py:build"}, "gone.py"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(worker: Worker, more: dict[str, Any], said: str) -> None:
    """The text says how it is written."""
    jobs = worker()
    with pytest.raises(RuntimeUsageError, match=said):
        run(request(**more), [])

    assert [] == jobs


def test_inputs_are_given_by_their_whole_path(worker: Worker) -> None:
    """The model may change the working directory."""
    jobs = worker()
    run(request(inputs="model.py:made"), [])

    assert {"file": str(Path("model.py").resolve()), "name": "made"} == jobs[0]["inputs"]


def test_a_device_that_is_not_there_is_an_error_with_those_that_are(worker: Worker) -> None:
    """Nothing was run on another one."""
    worker(refused="there is no such device, only /device:CPU:0")

    with pytest.raises(RuntimeUsageError, match="--device GPU:0: there is no such device, only /device:CPU:0"):
        run(request(devices=("GPU:0",)), [])


@pytest.mark.parametrize(
    ("text", "spelled", "replicas", "servers"),
    [
        ("one:cpu:0", "one:CPU:0", 1, 0),
        ("one:/device:gpu:1", "one:GPU:1", 1, 0),
        ("Mirrored:4", "mirrored:4", 4, 0),
        ("multiworker:2", "multiworker:2", 2, 0),
        ("ps:2+1", "ps:2+1", 2, 1),
        (" tpu ", "tpu", 0, 0),
    ],
)
def test_a_strategy_is_a_word(text: str, spelled: str, replicas: int, servers: int) -> None:
    """Each has one spelling in reports."""
    found = parse(text)

    assert (spelled, replicas, servers) == (found["text"], found["replicas"], found["servers"])


@pytest.mark.parametrize("text", ["", "one", "one:abc", "mirrored", "mirrored:-1", "mirrored:0", "ps:2", "ps:0+1"])
def test_any_other_strategy_is_refused_before_anything_runs(worker: Worker, text: str) -> None:
    """With what is possible."""
    jobs = worker()
    with pytest.raises(RuntimeUsageError, match=r"a strategy is written one:CPU:0, mirr|a number is from 1 to 64"):
        run(request(strategies=(text,)), [])

    assert [] == jobs


def test_an_interpreter_that_is_none_is_an_error(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the interpreter's own words."""

    def refuse(python: str | None) -> Interpreter:
        raise interpreter.InterpreterError("no such file")

    monkeypatch.setattr(interpreter, "describe", refuse)
    with pytest.raises(RuntimeUsageError, match="no such file"):
        run(request(), [])


def test_the_targets_file_is_known_before_the_run(worker: Worker) -> None:
    """The linter lints it where no path is given."""
    assert str(Path("model.py").resolve()) == session.locate_target("model.py:build")


OBSERVED = {
    "kind": "retraced",
    "path": None,
    "line": 2,
    "severity": "error",
    "phase": "second call",
    "message": "m",
    "frames": [["a.py", 1, "f"]],
}


@pytest.mark.parametrize(
    ("results", "why"),
    [
        ({"judgements": {"0": 5}}, "judgements.0: 5 is no list of 3"),
        ({"judgements": {"0": ["refuted", "x"]}}, "judgements.0: a list is no list of 3"),
        ({"judgements": {"0": ["disproved", "", ""]}}, "judgements.0: 'disproved' is no verdict"),
        ({"judgements": {"0": [["refuted"], "", ""]}}, "judgements.0: a list is no verdict"),
        ({"judgements": {"0": ["refuted", None, ""]}}, "judgements.0: None is no text"),
        ({"judgements": {"0": ["refuted", "", "x" * 100_000]}}, "judgements.0: a text has 100000 characters"),
        ({"judgements": {"7": ["refuted", "", ""]}}, "judgements: there is no finding '7'"),
        ({"judgements": {"-1": ["refuted", "", ""]}}, "judgements: there is no finding '-1'"),
        ({"judgements": {"00": ["refuted", "", ""]}}, "judgements: there is no finding '00'"),
        ({"judgements": []}, "judgements: a list is no object"),
        ({"versions": ["2.21"]}, "versions: a list is no object"),
        ({"versions": {"tensorflow": 2}}, "versions: 2 is no text"),
        ({"phases": 3}, "phases: 3 is no list"),
        ({"phases": [["build", "ok", 1.0]]}, "phases.0: a list is no list of 4"),
        ({"phases": [["build", "fine", 1.0, ""]]}, "phases.0: 'fine' is no outcome"),
        ({"phases": [["build", "ok", float("nan"), ""]]}, "phases.0: nan is no number of seconds"),
        ({"phases": [["build", "ok", float("inf"), ""]]}, "phases.0: inf is no number of seconds"),
        ({"phases": [["build", "ok", True, ""]]}, "phases.0: True is no number of seconds"),
        ({"phases": [["build", "ok", 1.0, ""]] * 100_001}, "phases: a list has 100001 entries"),
        ({"scopes": [["a"]]}, "scopes.0: a list is no list of 2"),
        ({"notes": "abc"}, "notes: 'abc' is no list"),
        ({"notes": [1]}, "notes.0: 1 is no text"),
        ({"refused": 1}, "refused: 1 is no text"),
        ({"observations": [1]}, "observations.0: 1 is no object"),
        ({"observations": [{}]}, "observations.0.kind: None is no text"),
        ({"observations": [{**OBSERVED, "path": "a\0b"}]}, "observations.0.path: 'a\\x00b' is no path"),
        ({"observations": [{**OBSERVED, "path": 3}]}, "observations.0.path: 3 is no text"),
        ({"observations": [{**OBSERVED, "line": 1.5}]}, "observations.0.line: 1.5 is no line"),
        ({"observations": [{**OBSERVED, "line": -1}]}, "observations.0.line: -1 is no line"),
        ({"observations": [{**OBSERVED, "line": 1 << 40}]}, "observations.0.line: 1099511627776 is no line"),
        ({"observations": [{**OBSERVED, "severity": "fatal"}]}, "observations.0.severity: 'fatal' is no severity"),
        ({"observations": [{**OBSERVED, "frames": [["a.py"]]}]}, "observations.0.frames.0: a list is no list of 3"),
        ({"fatal": "build"}, "fatal: 'build' is no list of 5"),
        ({"fatal": ["build", "failed", "x", None, "1"]}, "fatal: '1' is no line"),
    ],
)
def test_results_that_no_worker_writes_lose_nothing(worker: Worker, results: dict[str, Any], why: str) -> None:
    """The static findings are there, none of them is refuted, and what is wrong is told."""
    good: dict[str, Any] = {"judgements": {"0": ["refuted", "", "forged"]}}
    worker(**{**good, **results})
    report = run(request(), [FINDING])
    (told,) = report.added

    assert [(FINDING.path, FINDING.line, FINDING.code, Verdict.FAILED)] == [
        (found.path, found.line, found.code, found.verdict) for found in report.findings
    ]
    assert "TF908" == told.code
    assert told.message.endswith(f"could not be judged on keras3: the results of the worker are damaged: {why}")


@pytest.mark.parametrize("path", ["/dev/zero", "fifo", ".", "absent.py"])
def test_an_observation_in_what_is_no_file_has_no_line(worker: Worker, path: str) -> None:
    """A model may call anything its file."""
    if hasattr(os, "mkfifo"):
        os.mkfifo("fifo")
    worker(observations=[{**OBSERVED, "path": os.path.abspath(path)}])
    (found,) = run(request(), []).added

    assert ("TF907", 1, 2) == (found.code, found.column, found.end_column)


def test_text_that_is_no_unicode_can_be_reported(worker: Worker) -> None:
    """Half a surrogate pair comes out as an escape."""
    worker(judgements={"0": ["confirmed", "a\ud800", "b\udc80"]})
    (found,) = run(request(), [FINDING]).findings

    assert ("a\\ud800", "b\\udc80") == (found.evidence[0].phase, found.evidence[0].detail)
