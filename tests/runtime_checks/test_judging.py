"""Judging changes nothing: a hazard is told once, whoever wrote its probe, and the same whenever it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.registry import registry
from migrate_lint.runtime_checks.locate import locate
from migrate_lint.runtime_checks.protocol import job
from migrate_lint.runtime_checks.worker import judge as judging
from migrate_lint.runtime_checks.worker import main, steps
from migrate_lint.runtime_checks.worker.frames import Frame, UserCode
from migrate_lint.runtime_checks.worker.judge import report, take_snapshots
from migrate_lint.runtime_checks.worker.patching import replaced
from migrate_lint.runtime_checks.worker.phases import Phase
from migrate_lint.runtime_checks.worker.recorder import Event, Recorder
from migrate_lint.runtime_checks.worker.run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

from ..interpreters import Children
from . import probe_pages

PATH = "/models/net.py"
FOUND = {
    "id": 0,
    "code": "TF001",
    "slug": "toy",
    "path": PATH,
    "line": 7,
    "end_line": 7,
    "subject": None,
    "statement": [7, 7, 7],
    "function": [6, 8],
}
VARIABLE = {"name": "w:0", "shape": "()", "dtype": "float32", "trainable": True, "owners": [], "by": []}


def a_run(*findings: dict[str, Any]) -> Run:
    """A run whose second call made a variable again, at line 7."""
    code = UserCode([], [PATH])
    run = Run({"target": "keras3", "device": None, "findings": findings}, code, Recorder(code))
    run.phases = [Phase("import"), Phase("build"), *(phase for phase, _ in steps.after_build(run))]
    first, second = run.calls()[:2]
    second.follow_up = True
    for phase in (first, second):
        phase.outcome = "ok"
        frames = (Frame(PATH, 7, "call"),)
        run.recorder.events.append(Event("variable", phase, "eager", frames, MappingProxyType(VARIABLE), lambda: None))
    return run


def at_its_statement(finding: StaticFinding, run: Run) -> Judgement:
    made = run.events_at(finding, "variable")
    return Judgement(CONFIRMED, made[-1].phase, "it was made again")


def anywhere(finding: StaticFinding, run: Run) -> Judgement:
    again = [event for event in run.events("variable") if event.phase.follow_up]
    return Judgement(CONFIRMED, again[0].phase, "it was made again")


def another_hazard(finding: StaticFinding, run: Run) -> Judgement:
    made = run.events_at(finding, "variable")
    return Judgement(CONFIRMED, made[-1].phase, "it is of the wrong dtype", explains=())


def no_hazard(finding: StaticFinding, run: Run) -> Judgement:
    return Judgement(REFUTED, run.events_at(finding, "variable")[-1].phase, "it is as it should be")


@pytest.mark.parametrize(
    ("judge", "verdict", "observed"),
    [
        (at_its_statement, CONFIRMED, 0),
        (anywhere, CONFIRMED, 0),
        (another_hazard, CONFIRMED, 1),
        (no_hazard, REFUTED, 1),
    ],
)
def test_a_confirmed_hazard_is_told_once(
    judge: Callable[..., Judgement], verdict: str, observed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe knows of no duty; one that means another hazard than the run's own finding says so."""
    monkeypatch.setitem(judging._PROBES, "toy", SimpleNamespace(judge=judge))
    judgements, observations = report(a_run(FOUND))

    assert verdict == judgements["0"].verdict
    assert observed == len(observations)


def test_without_a_finding_the_run_tells_of_it_itself() -> None:
    """What the test above leaves out is there."""
    (observed,) = report(a_run())[1]

    assert ("created again", PATH, 7, "second call") == tuple(
        observed[key] for key in ("kind", "path", "line", "phase")
    )


def test_a_finding_elsewhere_accounts_for_nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a probe asked for counts only at the statement of its finding."""
    monkeypatch.setitem(judging._PROBES, "toy", SimpleNamespace(judge=anywhere))
    judgements, observations = report(a_run({**FOUND, "statement": [9, 9, 9]}))

    assert (CONFIRMED, 1) == (judgements["0"].verdict, len(observations))


def test_a_probe_cannot_change_an_event() -> None:
    """Neither what it is nor what it says."""
    event = a_run().events("variable")[0]
    with pytest.raises(FrozenInstanceError):
        event.kind = "read"  # type: ignore[misc]
    with pytest.raises(TypeError):
        event.detail["name"] = "other"  # type: ignore[index]


def test_what_a_probe_saw_on_the_way_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, nothing for nothing; a look that fails is a verdict, until one does not."""
    answers = iter([None, 1, ZeroDivisionError("no"), 2])

    def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def judge(finding: StaticFinding, run: Run) -> Judgement:
        return Judgement(REFUTED, None, str([value for _, value in run.snapshots[finding.id]]))

    monkeypatch.setitem(judging._PROBES, "toy", SimpleNamespace(judge=judge, snapshot=snapshot))
    run = a_run(FOUND)
    said = []
    for phase in [*run.phases[:3], None]:
        take_snapshots(run, phase)
        said.append(report(run)[0]["0"][:3])

    assert [
        (REFUTED, None, "[]"),
        (REFUTED, None, "[1]"),
        (FAILED, None, "the probe itself failed: ZeroDivisionError: no"),
        (REFUTED, None, "[1, 2]"),
    ] == said


def test_a_program_that_exits_when_a_probe_calls_it_costs_that_verdict_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe may call the program once more, which may then count that it is done."""

    def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Any:
        raise SystemExit(3)

    monkeypatch.setitem(judging._PROBES, "toy", SimpleNamespace(judge=no_hazard, snapshot=snapshot))
    run = a_run(FOUND)
    take_snapshots(run, None)

    assert (FAILED, None, "the probe itself failed: RuntimeError: the program exits: 3") == report(run)[0]["0"][:3]


def test_phases_are_named_for_people() -> None:
    """In the order in which they run."""
    assert [
        "import",
        "build",
        "first call",
        "second call",
        "call inside assert_no_variable_creations",
        "call inside catch_and_raise_created_variables",
        "call with another batch size",
        "first training call",
        "second training call",
        "first inference call",
        "second inference call",
        "first call in tf.function",
        "second call in tf.function",
        "call with another batch size in tf.function",
        "first training call in tf.function",
        "second training call in tf.function",
        "fit",
        "evaluate",
        "predict",
        "save and load",
    ] == list(map(str, a_run().phases))


def test_which_phases_are_the_same_call() -> None:
    """Made again, or inside ``tf.function``."""
    phases = a_run().phases
    pairs = [(one, other) for one in phases for other in phases]

    assert [
        ("second call", "first call"),
        ("second training call", "first training call"),
        ("second inference call", "first inference call"),
        ("second call in tf.function", "first call in tf.function"),
        ("second training call in tf.function", "first training call in tf.function"),
    ] == [(str(one), str(other)) for one, other in pairs if one.repeats(other)]
    assert [
        ("first call in tf.function", "first call"),
        ("second call in tf.function", "second call"),
        ("call with another batch size in tf.function", "call with another batch size"),
        ("first training call in tf.function", "first training call"),
        ("second training call in tf.function", "second training call"),
    ] == [(str(one), str(other)) for one, other in pairs if one.traces(other)]


@pytest.mark.parametrize(
    ("failed", "ok", "fatal"),
    [
        (["build"], [], "build"),
        (["first call"], [], "first call"),
        (["first call"], ["second call"], None),
        (["fit"], ["first call"], None),
    ],
)
def test_without_what_nothing_can_be_judged(failed: list[str], ok: list[str], fatal: str | None) -> None:
    """A phase that fails beside others that do not is only listed."""
    run = a_run()
    for phase in run.phases:
        phase.outcome = "failed" if str(phase) in failed else "ok" if str(phase) in ok else "not run"
    found = run.fatal()

    assert fatal == (None if found is None else str(found))


@pytest.mark.tensorflow
@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in sorted(probe_pages.PAGES.glob("*.md"))])
def test_judging_again_and_in_another_order_says_the_same(page: Path, children: Children, tmp_path: Path) -> None:
    """After every phase of the first model of each page, with the same observations."""
    model = next(probe_pages.models(page))
    target = Target.KERAS3 if Target.KERAS3 in model.targets else Target.KERAS2
    path = tmp_path / f"{model.name}.py"
    path.write_text(model.text, "utf-8")
    found = probe_pages.findings(model, [], str(path), registry.codes())
    work = job(
        target=target,
        device=None,
        located=locate(f"{path}:build", str(tmp_path)),
        inputs=None,
        shapes=(),
        dtypes=(),
        roots=[str(tmp_path)],
        memory_limit=None,
        findings=[(number, str(path), one) for number, one in enumerate(found)],
    )
    result = children.call(target, judged_thrice, work, alone=model.alone)

    assert ("", len(found)) == (result.get("crash", ""), len(result["judgements"]))


def judged_thrice(work: dict[str, Any]) -> dict[str, Any]:
    """In a child: what the worker says of a model, where it says the same each time."""

    def thrice(run: Run) -> Any:
        first = report(run)
        run.findings.reverse()
        backwards = report(run)
        run.findings.reverse()
        assert first == backwards == report(run)
        return first

    with replaced(main, "report", thrice):
        return probe_pages.run(work)
