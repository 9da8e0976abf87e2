"""What is made of the traces of a loop, and what the command makes of its words; nothing is run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks import process, resuming
from migrate_lint.runtime_checks.comparison.resume.changed import judge as judge_changed
from migrate_lint.runtime_checks.comparison.resume.judge import ORDER, Reference, differences, judge, kinds
from migrate_lint.runtime_checks.comparison.resume.rendering import render
from migrate_lint.runtime_checks.comparison.resume.results import Interruption, Lost, Report
from migrate_lint.runtime_checks.comparison.resume.traces import Run, TraceError, read
from migrate_lint.runtime_checks.process import Outcome

Captured = pytest.CaptureFixture[str]
Change = Callable[[int, dict[str, Any]], None]
TOTAL, SAVED = 8, 4


def _begin(step: int) -> dict[str, Any]:
    """The state of a loop with one weight, before a step."""
    return {
        "weight 0/0": ["model", "w", f"w{step}", float(step)],
        "layers/1": ["model", "moving_mean", f"mean{step}", None],
        "optimizer 0/0/adam.m": ["slots", "adam.m of w", f"m{step}", None],
        "optimizer 0/iterations": ["iterations", "iterations of Adam", f"i{step}", step],
        "optimizer 0/learning rate": ["learning rate", "learning rate of Adam", f"r{step}", 1 / (1 + step)],
        "generator 0": ["generator", "tf.random.Generator 0", f"g{step}", None],
        "epoch": ["epoch", "epoch of fit", f"e{step // 4}", step // 4],
        "callback 0/best": ["callback", "EarlyStopping.best", f"b{step}", 0.5],
        "average 0/0": ["average", "w/average", f"a{step}", None],
        "loss scale/0": ["loss scale", "loss scale, s", f"s{step}", 8.0],
        "variable seen 1": ["variable", "seen", f"n{step}", step],
        "process numpy": ["process", "numpy's random", f"p{step}", None],
    }


def _rows(first: int = 0, change: Change | None = None, until: int = TOTAL) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"row": "begin"}]
    for step in range(first, until):
        row = {"row": "step", "begin": _begin(step), "weights": {"0": f"w{step}"}, "data": [f"d{step}"]}
        row |= {"given": f"d{step}", "applied": [0], "updates": 1, "loss": 1.0 + step}
        if change is not None:
            change(step, row)
        rows.append(row)
    if until == TOTAL:
        rows.append({"row": "end", "state": _begin(TOTAL), "aligned": False})
    return rows


def _run(folder: Path, rows: list[dict[str, Any]]) -> Run:
    path = folder / "trace"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read(str(path))


def _judged(
    folder: Path, resumed: list[dict[str, Any]], again: list[dict[str, Any]] | None = None, **saved: Any
) -> Interruption:
    whole = _run(folder, _rows())
    reference = Reference(whole, whole if again is None else _run(folder, again))
    ended = [*_rows(until=5), *([{"row": "saved", "step": SAVED, "what": "Checkpoint"}] if saved.get("at", 1) else [])]
    ended.append({"row": "interrupted", "how": "exception", "step": 5})
    return judge(reference, "exception", 5, _run(folder, ended), _run(folder, resumed), saved.get("files", ["x"]))


def _with(key: str, value: str, kind: str = "digest") -> Change:
    """A change of one part of the state in the first resumed step."""

    def change(step: int, row: dict[str, Any]) -> None:
        if step == SAVED and kind == "digest":
            row["begin"][key][2] = value
        elif step == SAVED:
            row.update({key: [value], "given": value})

    return change


def test_a_run_that_goes_on_lost_nothing(tmp_path: Path) -> None:
    """It is held against the step that it begins with, to its end."""
    found = _judged(tmp_path, _rows(SAVED))

    assert ("equal", SAVED, SAVED, 4, 0.0) == (
        found.status, found.saved, found.resumed, found.steps, found.loss_apart
    )


@pytest.mark.parametrize(
    "key", [key for key in _begin(0) if key not in ("weight 0/0", "process numpy")]
)
def test_each_kind_of_state_is_named(key: str, tmp_path: Path) -> None:
    """With its own name and the step."""
    kind, name = _begin(SAVED)[key][:2]
    found = _judged(tmp_path, _rows(SAVED, _with(key, "other")))

    assert [(kind, name, SAVED)] == [(lost.kind, lost.name, lost.step) for lost in found.lost]
    assert kind in ORDER


def test_a_batch_is_told_by_its_number(tmp_path: Path) -> None:
    """And another one than any as such."""
    again = _judged(tmp_path, _rows(SAVED, _with("data", "d0", "batch"))).lost
    other = _judged(tmp_path, _rows(SAVED, _with("data", "d99", "batch"))).lost

    assert ["batch 0 again, in place of batch 4"] == [lost.detail for lost in again]
    assert ["another batch than that of step 4"] == [lost.detail for lost in other]


def test_data_that_one_run_alone_looks_at_before_a_step_is_no_loss(tmp_path: Path) -> None:
    """As where a model is built on a first batch, or evaluated: what comes last in the step is its own."""

    def change(step: int, row: dict[str, Any]) -> None:
        if step == SAVED:
            row["data"] = ["d0", *row["data"]]

    longer, whole = _run(tmp_path, _rows(SAVED, change)), _run(tmp_path, _rows())
    evaluated = _run(tmp_path, _rows(0, change))
    ended = Run(saves=[SAVED], interrupted={"step": 5, "where": ""})
    for one, resumed in ((whole, longer), (evaluated, _run(tmp_path, _rows(SAVED)))):
        assert "equal" == judge(Reference(one, one), "exception", 5, ended, resumed, ["x"]).status


def test_what_differs_is_told_in_the_order_of_proof(tmp_path: Path) -> None:
    """Whatever the order in the state."""

    def change(step: int, row: dict[str, Any]) -> None:
        if step == SAVED:
            row["data"] = ["d0"]
            for key in ("loss scale/0", "generator 0", "optimizer 0/0/adam.m", "optimizer 0/iterations"):
                row["begin"][key][2] = "other"

    found = _judged(tmp_path, _rows(SAVED, change))

    assert ["slots", "iterations", "data", "generator", "loss scale"] == kinds(found.lost)


def test_what_follows_from_a_loss_is_not_told(tmp_path: Path) -> None:
    """Only the first step that differs is."""

    def change(step: int, row: dict[str, Any]) -> None:
        row["begin"]["callback 0/best"][2] = "other"
        if step > SAVED:
            row["begin"]["weight 0/0"][2] = row["weights"]["0"] = f"other{step}"

    assert ["callback"] == kinds(_judged(tmp_path, _rows(SAVED, change)).lost)


def test_a_difference_without_a_cause_is_no_pass(tmp_path: Path) -> None:
    """The generators of the process are hints."""

    def change(step: int, row: dict[str, Any]) -> None:
        row["begin"]["process numpy"][2] = "other"
        if step > SAVED:
            row["begin"]["weight 0/0"][2] = row["weights"]["0"] = f"other{step}"

    found = _judged(tmp_path, _rows(SAVED, change))

    assert ("lost", ["unknown"]) == (found.status, kinds(found.lost))
    assert any("numpy's random draws from another place" in note for note in found.notes)


def test_other_numpy_draws_alone_lose_nothing(tmp_path: Path) -> None:
    """Nothing that is compared hangs on them."""

    def change(step: int, row: dict[str, Any]) -> None:
        row["begin"]["process numpy"][2] = "other"

    assert "equal" == _judged(tmp_path, _rows(SAVED, change)).status


def test_a_batch_of_random_numbers_is_no_position(tmp_path: Path) -> None:
    """Where the generator differs, what the function is called with may differ for it."""

    def blind(step: int, row: dict[str, Any]) -> None:
        row["data"] = []
        if step == SAVED:
            row["given"] = "noise"
            row["begin"]["generator 0"][2] = "other"

    assert ["generator"] == kinds(_judged(tmp_path, _rows(SAVED, blind), [*_rows(0, lambda _, row: None)]).lost)


def test_weights_without_a_value_are_not_compared(tmp_path: Path) -> None:
    """As those that the first step makes."""

    def change(step: int, row: dict[str, Any]) -> None:
        if step == SAVED:
            row["weights"], row["begin"]["weight 0/0"][2] = None, ""

    def slot(step: int, row: dict[str, Any]) -> None:
        if step == SAVED:
            row["begin"]["optimizer 0/0/adam.m"][2] = ""

    assert "not compared" == _judged(tmp_path, _rows(SAVED, change)).status
    assert ("equal", ()) == (_judged(tmp_path, _rows(SAVED, slot)).status, _judged(tmp_path, _rows(SAVED, slot)).notes)


def test_what_was_compared_in_no_step_is_no_pass(tmp_path: Path) -> None:
    """A value that the uninterrupted run alone has, or that none can read; what is new in the resumed one is told."""

    def without(step: int, row: dict[str, Any]) -> None:
        del row["begin"]["generator 0"]

    def unread(step: int, row: dict[str, Any]) -> None:
        row["begin"]["optimizer 0/learning rate"][2] = ""

    def more(step: int, row: dict[str, Any]) -> None:
        row["begin"]["variable new 1"] = ["variable", "new", f"n{step}", None]

    def judged(change: Change, whole: Change | None = None) -> Interruption:
        rows, resumed = _rows(0, whole), _rows(SAVED, change)
        for each, changed in ((rows, whole), (resumed, change)):
            if changed is not None:
                changed(TOTAL, {"begin": each[-1]["state"]})
        run = _run(tmp_path, rows)
        ended = Run(saves=[SAVED], interrupted={"step": 5, "where": ""})
        return judge(Reference(run, run), "exception", 5, ended, _run(tmp_path, resumed), ["x"])

    alone, blind, new = judged(without), judged(unread, unread), judged(more)
    assert ["not compared", "not compared", "equal"] == [one.status for one in (alone, blind, new)]
    assert "nothing was lost but perhaps tf.random.Generator 0, which the uninterrupted run alone has" == alone.reason
    assert "nothing was lost but perhaps learning rate of Adam, which cannot be read" == blind.reason
    assert ("not compared: new, which the resumed run alone has",) == new.notes


def _in_turns(first: int, later: int = 0, lost: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Steps of two optimizers in turn, each known from its first step on; `later` is the first one of the run."""

    def state(step: int, known: Sequence[int]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for at in known:
            done = (step + 1 - at) // 2
            found[f"weight {at}/0"] = ["model", f"w{at}", f"w{at} {done}", None]
            found[f"optimizer {at}/iterations"] = ["iterations", f"iterations of {at}", f"i{at} {done}", done]
        found[f"layers/{len(known)}"] = ["model", "mean of 0", f"mean of 0 {step}", None]
        if 0 not in known:
            found["layers/1"] = ["model", "mean of 1", f"mean of 1 {step}", None]
        for key in lost:
            if key in found:
                found[key][2] = "other"
        return found

    rows: list[dict[str, Any]] = [{"row": "begin"}]
    for step in range(first, TOTAL):
        known = sorted({one % 2 for one in range(later, step + 1)})
        begin = state(step, known)
        weights = {str(at): begin[f"weight {at}/0"][2] for at in known}
        row = {"row": "step", "begin": begin, "weights": weights, "data": [f"d{step}"], "given": f"d{step}"}
        rows.append({**row, "applied": [step % 2], "updates": 1, "loss": 1.0})
    return [*rows, {"row": "end", "state": state(TOTAL, known), "aligned": False}]


@pytest.mark.parametrize(
    ("at", "lost", "found"),
    [
        (4, (), ("equal", [], 0)),
        (5, (), ("equal", [], 0)),
        (5, ("weight 0/0",), ("lost", ["w0"], 0)),
        (4, ("optimizer 1/iterations",), ("lost", ["iterations of 1"], 0)),
        (7, (), ("not compared", [], 1)),
    ],
)
def test_optimizers_that_take_turns_are_compared_from_where_both_runs_know_them(
    at: int, lost: Sequence[str], found: tuple[str, list[str], int], tmp_path: Path
) -> None:
    """A run that goes on meets one of them later, or never: then what was never compared is no pass."""
    whole = _run(tmp_path, _in_turns(0))
    ended = Run(saves=[at], interrupted={"step": at, "where": ""})
    one = judge(Reference(whole, whole), "exception", at, ended, _run(tmp_path, _in_turns(at, at, lost)), ["x"])

    told = sum("of an optimizer that makes no update from step" in note for note in one.notes)
    assert (at, found) == (one.resumed, (one.status, [lost.name for lost in one.lost], told))


def _one_after_another(first: int, names: Sequence[str]) -> list[dict[str, Any]]:
    """Steps of two networks with an optimizer each, the second from step 4 on; a run knows what it has come to."""
    rows: list[dict[str, Any]] = [{"row": "begin"}]
    state: dict[str, Any] = {}
    for step in [*range(first, TOTAL), TOTAL]:
        known = [at for at, begun in ((0, first < 4), (1, step >= 4)) if begun]
        digests = [f"first {min(step, 4)}", f"second {max(step - 4, 0)}"]
        state = {f"weight {at}/0": ["model", names[at], digests[at], None] for at in known}
        for at in known:
            state[f"optimizer {at}/iterations"] = ["iterations", f"iterations of {at}", digests[at], None]
        row = {"row": "step", "begin": state, "weights": {str(at): digests[at] for at in known}, "data": [f"d{step}"]}
        rows.append({**row, "given": f"d{step}", "applied": [int(step >= 4)], "updates": 1, "loss": 1.0})
    return [*rows[:-1], {"row": "end", "state": state, "aligned": False}]


@pytest.mark.parametrize("names", [("w0", "w1"), ("Variable", "Variable")], ids=["named", "of one name"])
def test_weights_that_are_trained_no_more_are_no_pass_where_nothing_shows_them(
    names: Sequence[str], tmp_path: Path
) -> None:
    """What their optimizer keeps may be forgotten, and they may not: the program can use them at its end."""
    whole = _run(tmp_path, _one_after_another(0, names))
    ended = Run(saves=[4], interrupted={"step": 4, "where": ""})
    one = judge(Reference(whole, whole), "exception", 4, ended, _run(tmp_path, _one_after_another(4, names)), ["x"])

    assert ("not compared", ()) == (one.status, one.lost)
    assert f"perhaps {names[0]}, which the uninterrupted run alone has" in one.reason
    assert any(note.startswith("not compared: iterations of 0, of an optimizer that") for note in one.notes)


def test_what_a_callback_was_made_with_is_no_memory(tmp_path: Path) -> None:
    """A number that never changes in the uninterrupted run may be another one."""

    def rows(first: int, patience: int) -> list[dict[str, Any]]:
        found = _rows(first)
        for row in found[1:]:
            state = row["begin"] if "begin" in row else row["state"]
            state["callback 0/patience"] = ["callback", "Counts.patience", f"p{patience}", patience]
        return found

    whole = _run(tmp_path, rows(0, 3))
    ended = Run(saves=[SAVED], interrupted={"step": 5, "where": ""})
    found = judge(Reference(whole, whole), "exception", 5, ended, _run(tmp_path, rows(SAVED, 9)), ["x"])

    assert "equal" == found.status


def test_what_an_optimizer_does_not_tell_is_marked_as_unread() -> None:
    """Its rate and its variables stand in the state without a value, and what it gives is read."""
    from migrate_lint.runtime_checks.worker.resume.objects import Objects
    from migrate_lint.runtime_checks.worker.resume.state import States

    class Silent:
        @property
        def _lr(self) -> float:
            raise RuntimeError("of another session")

        variables = _lr

    class Rates:
        _lr = (0.5, 0.25)

    states = States(Objects(lambda: None))
    states.optimizers.update({0: (Silent(), []), 1: (Rates(), [])})
    read = states.read()

    assert ["learning rate", "learning rate of Silent", "", None] == read["optimizer 0/learning rate"]
    assert ["slots", "variables of Silent", "", None] == read["optimizer 0/own"]
    assert read["optimizer 1/learning rate"][2]


def test_weights_of_no_step_were_not_restored(tmp_path: Path) -> None:
    """What is not as it was saved is named."""

    def change(step: int, row: dict[str, Any]) -> None:
        row["begin"]["weight 0/0"][2] = row["weights"]["0"] = f"other{step}"

    (lost,) = _judged(tmp_path, _rows(SAVED, change)).lost

    assert ("model", True) == (lost.kind, lost.detail.endswith("not as behind step 4: w"))


@pytest.mark.parametrize(
    ("at", "files", "status", "lost"),
    [
        (1, ["x"], "lost", ["nothing restored"]),
        (0, ["x"], "lost", ["nothing restored"]),
        (0, [], "begun anew", []),
    ],
)
def test_a_run_that_begins_anew_restored_nothing(
    at: int, files: list[str], status: str, lost: list[str], tmp_path: Path
) -> None:
    """Unless nothing had been saved."""
    found = _judged(tmp_path, _rows(), at=at, files=files)

    assert (status, lost) == (found.status, kinds(found.lost))


def test_what_a_first_save_left_half_done_is_nothing_to_restore(tmp_path: Path) -> None:
    """Files lie there, and no save was ever complete."""
    whole = _run(tmp_path, _rows())
    ended = Run(interrupted={"step": 5, "where": "before TensorFlow put its parts together"})
    found = judge(Reference(whole, whole), "saving", 5, ended, _run(tmp_path, _rows()), ["x.part"])

    assert ("begun anew", ("the save was ended before TensorFlow put its parts together",)) == (
        found.status, found.notes
    )


def test_steps_too_many_are_a_lost_epoch(tmp_path: Path) -> None:
    """As are steps that are left out, and none at all."""
    rows = _rows(SAVED)
    rows[-1:-1] = [{**row, "weights": {"0": "later"}} for row in rows[1:3]]
    many = _judged(tmp_path, rows).lost
    few = _judged(tmp_path, [row for row in _rows(SAVED) if row.get("weights") != {"0": "w7"}]).lost
    none = _judged(tmp_path, [_rows()[0], _rows()[-1]]).lost

    assert [["epoch"], ["epoch"], ["epoch"]] == [kinds(many), kinds(few), kinds(none)]
    assert "makes 6 steps, where 4 of 8 remain" in many[0].detail


def test_a_run_that_was_done_has_nothing_left(tmp_path: Path) -> None:
    """It was killed behind its last step: that it makes no further one is no loss, and no pass."""
    whole = _run(tmp_path, _rows())
    ended = replace(whole, end=None, saves=[TOTAL], interrupted={"step": TOTAL, "where": ""})
    found = judge(Reference(whole, whole), "sigkill", TOTAL, ended, _run(tmp_path, [_rows()[0], _rows()[-1]]), ["x"])

    assert ("not compared", ()) == (found.status, found.lost)


def test_a_loop_that_raises_again_cannot_go_on(tmp_path: Path) -> None:
    """As at a file that was written in half."""
    raised = {"row": "raised", "text": "OSError: truncated", "place": ["train.py", 7], "interruption": False}
    (lost,) = _judged(tmp_path, [_rows()[0], raised]).lost

    assert ("failed", "OSError: truncated (train.py:7)") == (lost.kind, lost.detail)


@pytest.mark.parametrize(("how", "status"), [("truncated", "refused"), ("mixed", "refused"), ("full-disk", "lost")])
def test_a_loop_that_refuses_a_damaged_checkpoint_lost_nothing(how: str, status: str, tmp_path: Path) -> None:
    """It cannot go on from there; from a save that failed before it has to."""
    whole = _run(tmp_path, _rows())
    ended = Run(saves=[SAVED], interrupted={"step": 5, "where": "x lost its second half"})
    resumed = Run(raised="DataLossError: checksum", place=("train.py", 7))
    found = judge(Reference(whole, whole), how, 5, ended, resumed, ["x"])

    assert (status, ("x lost its second half",)) == (found.status, found.notes)
    assert "DataLossError: checksum (train.py:7)" in (found.reason or found.lost[0].detail)


# -- two processes in one folder ---------------------------------------------------------------------------------------


def _other(step: int, row: dict[str, Any]) -> None:
    """The same step of a process with other seeds."""
    for value in row["begin"].values():
        value[2] = f"second {value[2]}"
    row["weights"] = {at: f"second {one}" for at, one in row["weights"].items()}


def _beside(folder: Path, change: Change, first: int = SAVED, second: Change = _other) -> Interruption:
    whole = _run(folder, _rows())
    saved = [{"row": "saved", "step": SAVED, "what": "Checkpoint"}]
    deleted = ["ckpt-1.index", "ckpt-1.data-00000-of-00001"]
    taken = {"row": "taken", "overwritten": ["checkpoint", "a/ckpt-4.index"], "deleted": deleted}
    one = _run(folder, [*_rows(until=5), *saved, taken])
    other = _run(folder, [*_rows(0, second, until=5), *saved])
    resumed = _run(folder, _rows(first, change))
    return judge(Reference(whole, whole), "two-writers", 5, one, resumed, ["x"], None, other, ["ckpt-9"])


def test_the_weights_of_the_second_process_are_a_loss(tmp_path: Path) -> None:
    """What it did to files of the first one is told, and what the folder names and does not hold."""
    found = _beside(tmp_path, _other)

    assert ("lost", ["writer"], "second", None) == (found.status, kinds(found.lost), found.writer, found.resumed)
    assert (
        "the first process made 5 steps; last saved behind step 4 of its own",
        "the second process made 5 steps; last saved behind step 4 of its own",
        "the second process wrote over files of the first one: checkpoint, a/ckpt-4",
        "the second process deleted files of the first one: ckpt-1",
        "the file `checkpoint` names what is not there: ckpt-9",
    ) == found.notes
    report = render("text", Report("train.py:loop", 1, "Lost", 8, {}, (), (found,)))
    assert "x two-writers behind step 5, with the weights of the second process: lost: what one of two" in report


def test_two_processes_that_train_the_same_lose_nothing(tmp_path: Path) -> None:
    """Nor does one whose state was not touched."""
    either, first = _beside(tmp_path, _untouched, second=_untouched), _beside(tmp_path, _untouched)

    assert [("equal", "either", SAVED), ("equal", "first", SAVED)] == [
        (one.status, one.writer, one.resumed) for one in (either, first)
    ]


def test_a_mixture_of_two_processes_is_told(tmp_path: Path) -> None:
    """With the weights of the one, or with some of each."""

    def slots(step: int, row: dict[str, Any]) -> None:
        row["begin"]["optimizer 0/0/adam.m"][2] = f"second m{step}"

    def neither(step: int, row: dict[str, Any]) -> None:
        slots(step, row)
        row["weights"] = {"0": "mixed"}

    found = [_beside(tmp_path, change) for change in (slots, neither)]
    assert [("lost", ["slots"], "first"), ("lost", ["model"], "")] == [
        (one.status, kinds(one.lost), one.writer) for one in found
    ]
    for one in found:
        assert "it begins with a mixture: of the first process w, moving_mean" in one.notes[-1]
        assert one.notes[-1].endswith("of the second one adam.m of w")


def _untouched(step: int, row: dict[str, Any]) -> None:
    """No change."""


# -- a changed model ---------------------------------------------------------------------------------------------------


def _changed(folder: Path, change: Change, firsts: dict[str, Any], saves: Sequence[int] = (2, SAVED)) -> Interruption:
    whole = _run(folder, _rows())
    ended = replace(_run(folder, _rows(until=5)), saves=list(saves))
    rows = _rows(SAVED, change)
    rows.insert(2, {"row": "firsts", "values": firsts})
    return judge_changed(Reference(whole, whole), "sigkill", 5, ended, _run(folder, rows), ["x"] if saves else [])


_NEW = "weight 0/9"


def _with_new(found: str) -> Change:
    def change(step: int, row: dict[str, Any]) -> None:
        row["begin"][_NEW] = ["model", "new", found, 0.5]

    return change


@pytest.mark.parametrize(
    ("value", "first", "status", "kept"),
    [
        ("n", ["n", False], "lost", ["new"]),
        ("m4", ["m4", True], "lost", ["new"]),  # zeros, as another variable's
        ("m4", ["m4", False], "restored", []),  # made from a saved value
        ("m4", ["n", True], "restored", []),
        ("other", ["n", False], "not compared", []),
        ("", ["n", False], "not compared", []),
    ],
)
def test_a_variable_has_a_saved_value_or_its_first_one(
    value: str, first: list[Any], status: str, kept: list[str], tmp_path: Path
) -> None:
    """Or neither; zeros that some variable had when it was saved show nothing."""
    found = _changed(tmp_path, _with_new(value), {_NEW: first})

    assert (status, kept, SAVED) == (found.status, [lost.name for lost in found.lost], found.resumed)


def test_what_no_variable_has_of_a_checkpoint_is_told(tmp_path: Path) -> None:
    """And an older checkpoint, another rate and another batch; a batch again is a loss."""

    def fewer(step: int, row: dict[str, Any]) -> None:
        row["begin"] = {**_begin(2), "optimizer 0/learning rate": ["learning rate", "rate", "r", 0.25]}
        del row["begin"]["average 0/0"]
        row["data"], row["given"] = ["new"], "new"

    older = _changed(tmp_path, fewer, {})
    again = _changed(tmp_path, _with("data", "d0", "batch"), {})
    assert ("restored", 2) == (older.status, older.resumed)
    assert (
        "rate: 0.25 in place of 0.3333333333333333", "data position: another batch than that of step 2",
        "it goes on from step 2, and the last save was behind step 4",
    ) == tuple(note.replace("learning rate of Adam", "rate") for note in older.notes[:3])
    assert "nothing has the saved value of w/average" == older.notes[-1]
    assert ("lost", ["data"]) == (again.status, kinds(again.lost))


def test_a_changed_loop_may_restore_nothing_or_raise(tmp_path: Path) -> None:
    """Where nothing was saved it begins anew."""

    def fresh(step: int, row: dict[str, Any]) -> None:
        row["begin"] = {"weight 0/0": ["model", "w", "fresh", None]}

    anew, nothing = (_changed(tmp_path, fresh, {}, saves) for saves in ((), (SAVED,)))
    assert [("begun anew", []), ("lost", ["nothing restored"])] == [
        (one.status, kinds(one.lost)) for one in (anew, nothing)
    ]
    whole = _run(tmp_path, _rows())
    raised = judge_changed(Reference(whole, whole), "sigkill", 5, whole, Run(raised="ValueError: shape"), ["x"])
    idle = judge_changed(Reference(whole, whole), "sigkill", 5, whole, Run(), ["x"])
    assert ("refused", "it does not go on: ValueError: shape") == (raised.status, raised.reason)
    assert "not compared" == idle.status


def test_an_audit_of_refusals_says_so(request_: resuming.Request, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no pass in the words of one."""

    def rows(attempt: Mapping[str, Any]) -> Any:
        if attempt["how"] or attempt["name"].startswith("uninterrupted"):
            return _sound(attempt)
        return [{"row": "raised", "text": "DataLossError: x", "place": None, "interruption": False}]

    Worker(monkeypatch, rows)
    report = resuming.run(replace(request_, hows=("truncated",)))

    told = "Nothing lost in silence: after 3 of 3 interruptions the loop raised and did not go on"
    assert (0, told) == (report.status, report.verdict)
    assert "! truncated behind step 2: refused: it does not go on: DataLossError: x\n" in render("text", report)


@pytest.mark.parametrize(
    ("given", "kind", "detail"),
    [
        (["x4", "y4", "state4"], None, ""),
        (["x4", "y4", "state0"], "given", "of 3 arrays not those of step 4: number 3"),
        (["x4", "y0", "state0"], "given", "of 3 arrays not those of step 4: number 2, 3"),
        (["x0", "y0", "state0"], "data", "batch 0 again, in place of batch 4"),
        (["x9", "y9", "state9"], "data", "another batch than that of step 4"),
        (["x4", "y4"], "data", "another batch than that of step 4"),
    ],
)
def test_what_a_loop_carries_beside_its_batch(tmp_path: Path, given: list[str], kind: str | None, detail: str) -> None:
    """A state that goes from step to step is no position in the data."""

    def called(step: int, row: dict[str, Any]) -> None:
        row["data"], row["given"] = [], [f"x{step}", f"y{step}", f"state{step}"]

    def resumed(step: int, row: dict[str, Any]) -> None:
        called(step, row)
        row["given"] = given if step == SAVED else row["given"]

    whole = _run(tmp_path, _rows(0, called))
    run = _run(tmp_path, _rows(SAVED, resumed))
    found = list(differences(whole.steps[SAVED], run.steps[0], SAVED, Reference(whole, whole), []))

    assert ([] if kind is None else [(kind, detail)]) == [(one.kind, one.detail) for one in found]


def test_what_two_runs_differ_in_is_not_compared(tmp_path: Path) -> None:
    """It is said, and called lost nowhere; weights that differ end the comparison."""

    def noisy(step: int, row: dict[str, Any]) -> None:
        row["begin"]["generator 0"][2] = row["given"] = f"noise{step}"
        row["data"] = [row["given"]]

    def apart(step: int, row: dict[str, Any]) -> None:
        if step > 5:
            row["begin"]["weight 0/0"][2] = row["weights"]["0"] = f"other{step}"

    def both(step: int, row: dict[str, Any]) -> None:
        noisy(step, row)
        row["given"] = f"again{step}"
        row["data"] = [row["given"]]

    whole = _run(tmp_path, _rows())
    reference = Reference(whole, _run(tmp_path, _rows(0, noisy)))
    assert ["tf.random.Generator 0", "the batches", "what the step's function is called with"] == reference.names
    assert "equal" == _judged(tmp_path, _rows(SAVED, both), _rows(0, noisy)).status
    later = _judged(tmp_path, _rows(SAVED), _rows(0, apart))
    assert ("not compared", "two uninterrupted runs differ from step 6 on") == (later.status, later.reason)


def test_a_killed_run_leaves_what_it_wrote(tmp_path: Path) -> None:
    """Half a line at the end is left out; anything else that is wrong is told."""
    path = tmp_path / "trace"
    text = "".join(json.dumps(row) + "\n" for row in _rows(until=3))
    path.write_text(text + text[: len(text) // 3].rstrip("\n").rpartition("\n")[2])
    assert 3 == len(read(str(path)).steps)

    for wrong in ('{"row": "step"}\n', "[]\n", "{\n", '{"row": "saved", "step": null}\n', "[" * 10000 + "\n"):
        path.write_text(text + wrong)
        with pytest.raises(TraceError, match="damaged in line 5"):
            read(str(path))
    with pytest.raises(TraceError, match="cannot be read"):
        read(str(tmp_path / "gone"))


def test_a_report_tells_every_interruption() -> None:
    """As text, whatever stands in names, and as JSON."""
    lost = (Lost("slots", "m of \x1b[31mw", 4), Lost("slots", "v of w", 4), Lost("data", "data position", 4, "batch 0"))
    found = (
        Interruption("sigkill", 5, "lost", "", 4, 4, 4, lost, ("a note",), 0.0, 0.25),
        Interruption("saving", 5, "not compared", "why", loss_apart=float("nan")),
    )
    report = Report("train.py:loop", 1, "Lost", 8, {}, ("the batches",), found, ("seeded",))
    text = render("text", report)

    assert "x sigkill behind step 5, resumed at step 4: lost: optimizer slots, data position\n" in text
    assert "another value, and 1 more" in text
    assert "first loss 0 apart, weights 0.25 apart at the end" in text
    assert "? saving behind step 5: not compared: why\n" in text
    assert "\x1b" not in text
    assert "\x1b[31;1mx" in render("text", report, color=True)
    told = json.loads(render("json", report))
    assert (1, 1, "slots") == (told["format"], told["status"], told["interruptions"][0]["lost"][0]["kind"])


# -- the host ----------------------------------------------------------------------------------------------------------


class Worker:
    """Stands for the worker: writes the traces that the attempts of a job are to leave."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rows: Callable[[Mapping[str, Any]], Any]) -> None:
        self.rows = rows
        self.jobs: list[list[str]] = []
        monkeypatch.setattr(process, "start", self.start)

    def start(self, python: str, script: str, job: dict[str, Any], **_: Any) -> Outcome:
        """Until an attempt has no rows: the worker is ended in it."""
        self.jobs.append([attempt["name"] for attempt in job["attempts"]])
        ended = []
        for attempt in job["attempts"]:
            rows = self.rows(attempt)
            if rows is None:
                results = {"ended": ended}
                cause = "took longer than 1 s and was stopped"
                return Outcome("timeout", None, attempt["name"], 1.0, 0, results, "", cause)
            Path(attempt["trace"]).write_text("".join(json.dumps(row) + "\n" for row in rows))
            ended.append({"signal": None, "status": 0, "files": ["ckpt"]})
        return Outcome("done", 0, None, 1.0, 0, {"ended": ended, "versions": {"tensorflow": "2"}}, "", "")


@pytest.fixture
def request_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> resuming.Request:
    (tmp_path / "train.py").write_text("def loop(folder): pass\n")
    monkeypatch.chdir(tmp_path)
    python = resuming.interpreter.Interpreter("python", (3, 11, 0), "3.11", "2.21.0", "3.15.1", "2.21.0")
    monkeypatch.setattr(resuming.interpreter, "describe", lambda _: python)
    return resuming.Request("train.py:loop", target=Target.KERAS3)


def _sound(attempt: Mapping[str, Any]) -> list[dict[str, Any]]:
    if attempt["how"]:
        saved = {"row": "saved", "step": attempt["at"] - 1, "what": "Checkpoint"}
        stop = {"row": "interrupted", "how": attempt["how"], "step": attempt["at"]}
        return [*_rows(until=attempt["at"]), saved, stop]
    return _rows(attempt["from"])


def test_a_loop_is_interrupted_at_each_place(request_: resuming.Request, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker for the uninterrupted runs, one for the interrupted and one for the resumed ones."""
    worker = Worker(monkeypatch, _sound)
    report = resuming.run(replace(request_, every=3, hows=("exception", "sigkill")))

    assert (0, "Nothing lost: after 4 interruptions the loop went on as without them") == (
        report.status, report.verdict
    )
    assert [2, 4, 4] == [len(job) for job in worker.jobs]
    assert [3, 3, 6, 6] == [one.behind for one in report.interruptions]


def test_a_run_that_hangs_takes_no_other_with_it(
    request_: resuming.Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker is started anew for the runs behind it, and what hung is told."""

    def rows(attempt: Mapping[str, Any]) -> Any:
        return None if attempt["name"] == "resumed after exception behind step 4" else _sound(attempt)

    worker = Worker(monkeypatch, rows)
    report = resuming.run(request_)

    assert ["equal", "failed", "equal"] == [one.status for one in report.interruptions]
    assert "took longer than 1 s" in report.interruptions[1].reason
    assert [["resumed after exception behind step 6"]] == worker.jobs[3:]
    assert 4 == report.status


def test_another_loop_goes_on_from_the_checkpoints(
    request_: resuming.Request, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It alone is run behind the interruptions, and tells the first values of its variables."""
    (tmp_path / "other.py").write_text("def loop(folder): pass\n")
    ran: list[tuple[str, bool]] = []
    worker = Worker(monkeypatch, _sound)

    def start(python: str, script: str, job: dict[str, Any], **more: Any) -> Outcome:
        ran.extend((Path(job["loop"]["file"]).name, attempt["firsts"]) for attempt in job["attempts"])
        return worker.start(python, script, job, **more)

    monkeypatch.setattr(process, "start", start)
    report = resuming.run(replace(request_, every=3, resume_with="other.py:loop"))

    assert [("train.py", False)] * 4 + [("other.py", True)] * 2 == ran
    assert (0, "Restored: after 2 interruptions every variable of the changed loop had a saved value") == (
        report.status, report.verdict
    )
    assert "resumed with other.py:loop" in report.notes
    with pytest.raises(resuming.ResumeUsageError, match="two processes of one loop, without --resume-with"):
        resuming.run(replace(request_, hows=("restarted",), resume_with="other.py:loop"))


def test_a_second_process_is_read_beside_the_first(
    request_: resuming.Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trace lies beside; where both ended before they had saved, there was no interruption."""

    def rows(attempt: Mapping[str, Any]) -> Any:
        if attempt["how"]:
            Path(attempt["trace"] + "-second").write_text("".join(json.dumps(row) + "\n" for row in second))
            assert attempt["beginnings"]
        return _sound(attempt) if not attempt["how"] or second is not ended else _rows()

    ended = [{"row": "begin"}]
    second: list[dict[str, Any]] = [*_rows(0, _other, until=3), {"row": "interrupted", "how": "", "step": 3}]
    Worker(monkeypatch, rows)
    asked = replace(request_, every=5, hows=("two-writers",))
    (found,) = resuming.run(asked).interruptions
    assert ("equal", "first") == (found.status, found.writer)
    second = ended
    report = resuming.run(asked)
    assert ((), 3) == (report.interruptions, report.status)
    assert any("1 interruptions were not made" in note for note in report.notes)


@pytest.mark.parametrize(
    ("rows", "status", "verdict"),
    [
        (lambda _: None, 4, "could not be run to its end: took longer than 1 s"),
        (
            lambda _: [{"row": "raised", "text": "ValueError: x", "place": None, "interruption": False}],
            4,
            "could not be run to its end: ValueError: x",
        ),
        (lambda _: [_rows()[0], _rows()[-1]], 3, "no update of what is trained was seen"),
        (lambda attempt: _rows(), 3, "were not compared: the loop ended before it was interrupted"),
    ],
)
def test_what_was_not_compared_is_no_pass(
    rows: Any, status: int, verdict: str, request_: resuming.Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status says so, and the verdict why."""
    Worker(monkeypatch, rows)
    report = resuming.run(request_)

    assert status == report.status
    assert verdict in report.verdict


def test_nothing_that_was_ever_saved_is_not_compared(
    request_: resuming.Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop that always begins anew shows nothing."""

    def rows(attempt: Mapping[str, Any]) -> Any:
        stop = {"row": "interrupted", "how": attempt["how"], "step": attempt["at"]}
        return [*_rows(until=attempt["at"]), stop] if attempt["how"] else _rows()

    Worker(monkeypatch, rows)
    monkeypatch.setattr(resuming, "_ends", lambda told: [{"signal": None, "files": []} for _ in told or ()])

    assert 3 == resuming.run(request_).status


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "resume takes one loop, such as train.py:loop, and got no loop"),
        (["a.py:loop", "b.py:loop"], "and got 2 of them"),
        (["gone.py:loop"], "there is no file gone.py"),
        (["train.py"], "train.py names no function; write for example train.py:loop"),
        (["train.py:"], "no name follows the colon"),
        (["train.py:loop", "--every", "0"], "--every"),
        (["train.py:loop", "--how", "gently"], "--how"),
        (["train.py:loop", "--python", "no-such-python"], "no-such-python"),
        (["train.py:loop", "--output-format", "html"], "html"),
    ],
)
def test_what_cannot_be_followed_is_one_message_and_2(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Nothing is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("raise SystemExit('it ran')\n")

    assert 2 == main(["resume", *words])
    out, err = capsys.readouterr()
    assert "" == out
    assert message in err


def test_help_names_every_status(capsys: Captured) -> None:
    """And every way to interrupt."""
    assert 0 == main(["resume", "--help"])
    text = " ".join(capsys.readouterr().out.split())

    assert "0 equal, 1 something was lost, 2 a usage error, 3 not compared, 4 the loop could not be run" in text
    assert "{exception,sigterm,sigkill,saving,truncated,mixed,full-disk,two-writers,restarted}" in text
