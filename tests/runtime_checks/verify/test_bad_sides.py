"""A side that ends badly, and a pair or a folder that cannot be used: what the command says, and what is kept.

What happens around TensorFlow is the same whatever TensorFlow computes, so a stand-in of a few lines takes its place,
and both sides run themselves.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from migrate_lint.runtime_checks import verifying

from .projects import MARK, PAIR, Place, living, rungs

pytestmark = pytest.mark.slow

AGREEING = PAIR.replace("TROUBLE", "pass")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def line_of(mark: str) -> int:
    return next(number for number, line in enumerate(PAIR.splitlines(), 1) if line.strip() == mark)


def test_two_sides_that_run_themselves_and_agree_are_equal(place: Place) -> None:
    """What the cases below plant is what they are about."""
    ran = place.verify("pair.py", pair=AGREEING)

    assert (0, "", []) == (ran.status, ran.errors, ran.left)
    assert ("pass", "pass") == (rungs(ran.report)["6"], rungs(ran.report)["7"])


def test_a_difference_is_status_1(place: Place) -> None:
    """It is seen at its step."""
    other = "0.2 if side == 'tf1' or step < 1 else 0.3]})"
    different = PAIR.replace(" trouble()\n ", " pass\n ").replace("0.2]})", other)
    ran = place.verify("pair.py", pair=different)

    assert (1, "pass", "fail") == (ran.status, rungs(ran.report)["6"], rungs(ran.report)["7"])
    assert 1 == ran.report["first_divergence"]["deviation"]["step"]


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV in phase steps"),
        ("os._exit(7)", "exited with status 7 in phase steps"),
        ("os._exit(0)", "the process ended with status 0 in phase steps, before its result"),
        ("raise RuntimeError('no more')", "RuntimeError: no more (pair.py:"),
        ("sys.exit('no more')", "SystemExit: no more (pair.py:"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (pair.py:"),
        ("time.sleep(900)", "phase steps took longer than 15 s and was stopped"),
        ("hoard = [np.ones(1 << 22) for _ in range(999)]", ""),
    ],
    ids=["segfault", "exit", "exit-0", "error", "sys-exit", "interrupt", "hang", "memory"],
)
def test_what_was_recorded_before_a_side_ended_is_compared(trouble: str, cause: str, place: Place) -> None:
    """The status says that it crashed, the report how and where, and the first two steps still agree."""
    words = ("pair.py", "--timeout", "15", "--memory-limit", "0.5", "--output", "run")
    ran = place.verify(*words, pair=PAIR.replace("TROUBLE", trouble))

    assert (4, "", []) == (ran.status, ran.errors, ran.left)
    assert ran.side(0)["cause"] is None
    assert cause in ran.side(1)["cause"]
    if not cause:
        assert "emory" in ran.side(1)["cause"]
    losses = next(series for series in ran.report["series"] if series["kind"] == "loss")
    assert ([0, 1], losses["tf1"][:2]) == (losses["steps"][:2], losses["tf2"][:2])
    assert 4 == place.verify("--compare", "run").status


def test_a_crash_is_shown_where_it_was(place: Place) -> None:
    """In the text report too."""
    (place.project / "pair.py").write_text(PAIR.replace("TROUBLE", "os.kill(os.getpid(), signal.SIGABRT)"))
    output, _ = place.begun("pair.py").communicate(timeout=900)

    assert f"(pair.py:{line_of('TROUBLE')})" in output


def test_taps_beyond_the_limit_are_left_out_and_counted(place: Place) -> None:
    """Nothing else is lost: of three of 2 MiB, 5 MiB hold two."""
    tapping = AGREEING.replace("run.loss(", "run.tap('big', np.full(1 << 18, step + 0.5)); run.loss(")
    (place.project / "pair.py").write_text(tapping)
    process = place.begun("pair.py", "--tap-limit", "0.005", "--output", "run")
    output, _ = process.communicate(timeout=900)

    assert 0 == process.returncode
    assert 2 == output.count("1 layer outputs of 2097152 bytes were left out: the limit is 5368709 bytes")
    size = sum(file.stat().st_size for file in (place.project / "run" / "tf1").iterdir())
    assert 4 << 20 < size < 5 << 20


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("np.array([step], 'float32' if side == 'tf1' else 'float64')", "TF1 got float32, TF2 got float64"),
        ("[1.0] * (2 + (side == 'tf2'))", "input of step 0"),
        ("[float(step if side == 'tf1' else (step + 1) % 3)]", "input of step 0"),
    ],
    ids=["dtype", "shape", "order"],
)
def test_sides_that_got_other_data_are_not_compared(given: str, problem: str, place: Place) -> None:
    """Whatever they made of it would say nothing."""
    ran = place.verify("pair.py", pair=AGREEING.replace("run.input([float(step)])", f"run.input({given})"))

    assert (3, "") == (ran.status, ran.errors)
    assert problem in " ".join(ran.report["problems"])


def test_sides_in_agreement_on_nothing_but_nan_are_not_equal(place: Place) -> None:
    """From the step on where it begins, which is what the report names."""
    ran = place.verify("pair.py", pair=AGREEING.replace("3.0 / (step + 1)", "3.0 / (step + 1) if step < 2 else np.nan"))

    assert 1 == ran.status
    assert 2 == ran.report["first_divergence"]["deviation"]["step"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("1 / 0", "pair.py:2: ZeroDivisionError: division by zero"),
        ("import no_such_module", "pair.py:2: ModuleNotFoundError: No module named 'no_such_module'"),
        ("sys.exit(3)", "pair.py:2: SystemExit: 3"),
        ("raise KeyError('data')", "pair.py:2: KeyError: 'data'"),
        ("def pair(:", "pair.py:2: "),
    ],
)
def test_a_pair_that_cannot_be_imported_is_none(statement: str, message: str, place: Place) -> None:
    """The message names the line."""
    ran = place.verify("pair.py", pair=f"import os, sys\n{statement}\n")

    assert (2, "", []) == (ran.status, ran.output, ran.left)
    assert message in ran.errors


def test_a_pair_that_ends_its_process_ended_badly(place: Place) -> None:
    """On both sides, with nothing to compare."""
    ran = place.verify("pair.py", pair="import os, sys\nos._exit(5)\n")

    assert 4 == ran.status
    assert all(side["cause"] for side in ran.report["sides"])
    assert {"pass"}.isdisjoint(rungs(ran.report).values())


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("pair = Pair(\n", "pair.py:1: "),
        ("x = 1\n", "pair.py has no Pair"),
        (
            PAIR + "a, b = Pair(old, new, [1]), pair\ndel pair\n",
            "pair.py has 2 pairs; name one: pair.py:a or pair.py:b",
        ),
        (PAIR.replace("Pair(old, new, [1.0])", "Pair('gone.py:f', new, [1.0])"), "there is no file"),
        (
            AGREEING.replace("new, [1.0]", "new, None").replace("(run)", "(run, inputs)"),
            "inputs",
        ),
    ],
    ids=["syntax", "none", "two", "gone", "no-inputs"],
)
def test_a_pair_that_cannot_be_used_is_a_usage_error(pair: str, message: str, place: Place) -> None:
    """Nothing is reported but what to change."""
    ran = place.verify("pair.py", pair=pair)

    assert (2, "", []) == (ran.status, ran.output, ran.left)
    assert message in ran.errors


def test_a_folder_of_others_is_left_alone(place: Place) -> None:
    """Even with what looks like a recording in it."""
    (place.project / "run" / "tf1").mkdir(parents=True)
    mine = place.project / "run" / "tf1" / "record.json"
    mine.write_text("mine")

    ran = place.verify("pair.py", "--output", "run", pair=AGREEING)

    assert (2, "mine") == (ran.status, mine.read_text())
    assert "--output run: this folder is not empty, and holds no earlier run" in ran.errors


def test_an_earlier_run_is_replaced_and_what_is_not_its_own_stays(place: Place) -> None:
    """A note beside the recordings, and one among them."""
    assert 0 == place.verify("pair.py", "--output", "run", pair=AGREEING).status
    notes = [place.project / "run" / "notes.txt", place.project / "run" / "tf1" / "mine.npz"]
    for note in notes:
        note.write_text("mine")
    before = sorted((place.project / "run" / "tf2").iterdir())

    ran = place.verify("pair.py", "--output", "run", pair=PAIR.replace("TROUBLE", "os._exit(1)"))

    assert (4, ["mine", "mine"]) == (ran.status, [note.read_text() for note in notes])
    assert sorted((place.project / "run" / "tf2").iterdir()) != before


def test_an_output_that_cannot_be_written_is_a_usage_error(place: Place) -> None:
    """Before anything is run."""
    (place.project / "file").touch()
    ran = place.verify("pair.py", "--output", "file", pair="raise SystemExit('it ran')")

    assert 2 == ran.status
    assert "--output file: it cannot be written" in ran.errors


def test_an_interrupt_ends_both_and_keeps_what_was_recorded(place: Place) -> None:
    """One line, status 2, no process left."""
    (place.project / "pair.py").write_text(PAIR.replace("TROUBLE", "time.sleep(900)"))
    process = place.begun("pair.py", "--output", "run")
    record = place.project / "run" / "tf2" / "record.json"
    for _ in range(6000):
        if record.exists() and '"0002-steps"' in record.read_text():
            break
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=900)

    assert (2, "migrate-lint: interrupted\n") == (process.returncode, errors)
    assert [] == [*os.listdir(place.scratch), *living(place.environment[MARK])]
    assert "0002-steps" in record.read_text()


@pytest.mark.parametrize(
    ("trouble", "note"),
    [
        ("breakpoint()", "a breakpoint was passed over (pair.py:"),
        ("import pdb; pdb.set_trace()", "a breakpoint was passed over (pair.py:"),
        ("from pdb import set_trace; set_trace()", "a breakpoint was passed over (pair.py:"),
        ("print('{', flush=True)", ""),
        ("sys.stderr.write('}'); os.write(1, b'{}')", ""),
        ("os.system('echo [1')", ""),
    ],
)
def test_what_a_side_prints_is_kept_and_nobody_waits_for_a_debugger(trouble: str, note: str, place: Place) -> None:
    """The report on standard output is whole; what was written lies beside the recording."""
    ran = place.verify("pair.py", "--output", "run", pair=PAIR.replace("TROUBLE", trouble))

    assert (0, "", []) == (ran.status, ran.errors, ran.left)
    if note:
        assert any(note in one for one in ran.side(1)["notes"])
    else:
        written = (place.project / "run" / "tf2" / "output.txt").read_text("utf-8")
        assert any(mark in written for mark in "{}[")


def test_a_second_run_into_the_same_folder_is_refused_while_the_first_one_writes(tmp_path: Path) -> None:
    """And nothing of the first one is lost; afterwards the folder is free."""
    with verifying.run_folder(str(tmp_path / "run")) as folder:
        Path(folder, "tf1", "record.json").write_text("{}")
        second = verifying.run_folder(folder)
        with pytest.raises(verifying.VerifyUsageError, match="another run is writing there"):
            second.__enter__()
        assert Path(folder, "tf1", "record.json").is_file()
    with verifying.run_folder(str(tmp_path / "run")) as folder:
        assert not Path(folder, "tf1", "record.json").exists()
