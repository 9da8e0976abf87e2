"""A recording that is damaged is told to be, whatever the damage; what still can be compared can be reported."""

from __future__ import annotations

import ast
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from migrate_lint.runtime_checks import interpreter, process, verifying
from migrate_lint.runtime_checks.comparison import compare as compare_module
from migrate_lint.runtime_checks.comparison import gen_test
from migrate_lint.runtime_checks.comparison.reporters import FORMATS, render
from migrate_lint.runtime_checks.verifying import VerifyUsageError
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from .damages import damage
from .programs import CLEAN, Program, record

_TRIES = 150


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    for side, program in (("tf1", Program(steps=2)), ("tf2", CLEAN)):
        record(program, folder / side)
    asked = {"pair": str(folder.parent / "pair.py"), "attribute": None, "until": None, "policy": "noise"}
    (folder / "run.json").write_text(json.dumps({"format": 1, **asked, "steps": 2, "seed": 42}))
    return folder


def use(run: Path) -> list[str]:
    """Do everything that is done with a run that was kept; the usage errors, which name a file of it.

    Raises:
        Exception: what the command would call an internal error.
    """
    said = []
    try:
        report = verifying.compare(run)
        for format in FORMATS:
            well_formed(format, render(format, report, False).encode("utf-8", "backslashreplace").decode())
    except VerifyUsageError as error:
        said.append(str(error))
    try:
        holds_nothing_else(verifying.generated_test(str(run), str(run.parent)))
    except VerifyUsageError as error:
        said.append(str(error))
    return said


def well_formed(format: str, text: str) -> None:
    """What a program reads is what it reads; nothing in it is a script of a stranger's, or moves a cursor."""
    match format:
        case "json":
            json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        case "junit":
            ElementTree.fromstring(text)
        case "html":
            assert "<script>alert" not in text
        case "text":
            assert all(line.isprintable() for line in text.splitlines()), text


def holds_nothing_else(text: str) -> None:
    """A generated test is the template: what a file of a run says is in it as literals."""
    tree = ast.parse(text)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    constants = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    own = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Expr | ast.If | ast.Import)]

    assert names <= {"atexit", "functools", "importlib.util", "os", "shutil", "tempfile", "unittest", "numpy"}
    assert len(own) <= 11, own
    for value in constants:
        called = {ast.unparse(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)}
        assert called <= {"os.path.join", "os.path.dirname", "os.path.abspath", "float", "complex"}


def test_a_whole_run_can_be_used(whole: Path) -> None:
    """Or the other tests would show nothing."""
    assert [] == use(whole)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_damage_is_an_internal_error(whole: Path, tmp_path: Path, seed: int) -> None:
    """Bytes, JSON data, arrays, pickles, bombs, FIFOs: what cannot be read is a usage error that names the file."""
    chance = random.Random(seed)
    for attempt in range(_TRIES // 5):
        copy = tmp_path / str(attempt)
        shutil.copytree(whole, copy)
        done = damage(copy, chance)
        try:
            for said in use(copy):
                assert str(copy) in said or "this run" in said or "a run" in said, said
        except Exception as error:
            raise AssertionError(f"{done}: {error!r}") from error
        shutil.rmtree(copy)


def rewritten(path: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


INJECTED = '42\nimport os; os.system("true")'


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("seed", INJECTED, "seed is '42\\nimport os"),
        ("steps", INJECTED, "steps is '42\\nimport os"),
        ("steps", True, "steps is True"),
        ("steps", 0, "steps is 0"),
        ("seed", 1.5, "seed is 1.5"),
        ("seed", 1 << 80, "seed is 1208925819614629174706176"),
        ("seed", None, "seed is None"),
        ("attribute", INJECTED, "attribute is '42"),
        ("attribute", "a b", "attribute is 'a b'"),
        ("policy", 3, "policy is 3"),
        ("policy", "/dev/zero", "it is no regular file"),
        ("policy", "absent.toml", "absent.toml: No such file or directory"),
        ("pair", ["x"], "pair is a list"),
        ("pair", "", "this run was not made by the command"),
        ("until", "'", 'there is no rung "\'"'),
        ("until", ["step"], "until is a list"),
    ],
)
def test_what_was_asked_is_no_code(whole: Path, tmp_path: Path, field: str, value: object, why: str) -> None:
    """A generated test is refused where what it repeats is no number, name or text."""
    shutil.copytree(whole, tmp_path / "run")
    rewritten(tmp_path / "run" / "run.json", lambda asked: asked.update({field: value}))
    with pytest.raises(VerifyUsageError) as raised:
        verifying.generated_test(str(tmp_path / "run"))

    assert why in str(raised.value)


HOSTILE = "a\"'\\\n\"\"\"\nimport os; os.system('x')\n#{}$${verify} é \U0001f600 \u202e \x00\x1b[31m </script> ]]>"


@pytest.mark.parametrize("pair", [f"/there/{HOSTILE}.py".replace("\x00", ""), HOSTILE])
def test_hostile_text_is_a_literal(whole: Path, tmp_path: Path, pair: str) -> None:
    """Names of files, of variables and of outputs come out as they went in."""
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    rewritten(run / "run.json", lambda asked: asked.update(pair=pair))
    for part in run.glob("tf1/*.part.json"):
        rewritten(
            part,
            lambda rows: [
                row.update(name=HOSTILE) for row in rows if row["kind"] in ("input", "output", "evaluation", "tap")
            ],
        )
    text = verifying.generated_test(str(run), "/there")
    holds_nothing_else(text)
    literals = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]

    assert HOSTILE in literals
    assert [] == use(run)[1:]


@pytest.mark.parametrize(
    ("values", "literals"),
    [
        (np.array(["a b " * 40, "c\n", "é"]), ["a b " * 40, "c\n", "é"]),
        (np.array([b"a b " * 40, b"\xff"]), [b"a b " * 40, b"\xff"]),
        (np.array([1 + 2j, complex("nan+infj")], np.complex64), [1 + 2j, complex(float("nan"), float("inf"))]),
        (np.float32([0.1, np.nan, -np.inf]), [0.1, float("nan"), -float("inf")]),
        (np.array([], np.float32), []),
    ],
)
def test_predictions_of_any_kind_are_literals(tmp_path: Path, values: Any, literals: list[Any]) -> None:
    """Lines break between two of them."""
    for side in ("tf1", "tf2"):
        recording = Recording(str(tmp_path / side), side)
        with recording.scenario("fingerprint") as chapter:
            chapter.add("output", "output", values)
    text = gen_test.generate(tmp_path, {"pair": "a.b", "policy": "noise", "steps": 1, "seed": 1})
    (line,) = [node for node in ast.parse(text).body if ast.unparse(node).startswith("PREDICTIONS = ")]
    assert isinstance(line, ast.Assign)
    found = eval(ast.unparse(line.value))["output"][2]

    assert repr(literals) == repr(found)


@pytest.mark.parametrize(
    ("file", "change", "why"),
    [
        ("record.json", lambda it: it.update(side="tf3"), "side is 'tf3', which is no tf1 or tf2"),
        ("record.json", lambda it: it.update(format=2), "is no recording of format 1, but 2"),
        ("record.json", lambda it: it.pop("scenarios"), "scenarios is missing"),
        ("record.json", lambda it: it["scenarios"]["constant"].update(parts=["../../x"]), "which is no name of a part"),
        (
            "record.json",
            lambda it: it["scenarios"]["constant"].update(parts=it["scenarios"]["constant"]["parts"] * 2),
            "names a part twice",
        ),
        ("record.json", lambda it: it["scenarios"]["constant"].update(seconds=float("nan")), "seconds is nan"),
        ("record.json", lambda it: it["scenarios"]["constant"].update(place=["a", "b"]), "place.1 is 'b'"),
        ("record.json", lambda it: it["variables"][0].update(shape=[-1]), "variables.0.shape.0 is -1"),
        ("record.json", lambda it: it["variables"][0].pop("name"), "variables.0.name is missing"),
        ("record.json", lambda it: it["pair"].update(transposes={"a": ["b"]}), "pair.transposes.a.0 is 'b'"),
        ("record.json", lambda it: it.update(crash="x"), "crash is 'x'"),
        ("record.json", lambda it: it.update(peak_memory=1 << 70), "peak_memory is 1180591620717411303424"),
        ("0000-constant.part.json", lambda it: it[0].update(step="0"), "0.step is '0'"),
        ("0000-constant.part.json", lambda it: it[0].update(shape=[1 << 80]), "0.shape.0 is 1208925819614629174706176"),
        ("0000-constant.part.json", lambda it: it.append({}), "kind is missing"),
    ],
)
def test_what_is_wrong_with_a_recording_is_told(
    whole: Path, tmp_path: Path, file: str, change: Callable[[Any], None], why: str
) -> None:
    """With the file and the place in it."""
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    rewritten(run / "tf2" / file, change)
    with pytest.raises(VerifyUsageError) as raised:
        verifying.compare(run)

    assert str(raised.value).startswith(str(run / "tf2" / file))
    assert why in str(raised.value)


def test_records_that_do_not_fit_together_are_damaged(whole: Path, tmp_path: Path) -> None:
    """Each of them may be one: here a vector is a matrix in one of the runs that measure its noise."""

    def shuffle(rows: list[dict[str, Any]]) -> None:
        (at,) = [at for at, row in enumerate(rows) if (row["kind"], row["name"]) == ("variable", "right/kernel")]
        rows.insert(at, {**rows[at], "name": "top/bias"})

    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (*_, last) = sorted(run.glob("tf1/*-steps-again.part.json"))
    rewritten(last, shuffle)
    with pytest.raises(VerifyUsageError, match=r"tf1 or .*tf2 is damaged: ValueError: operands could not be broadcast"):
        verifying.compare(run)


def test_what_was_compared_stands_without_causes(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking for causes is evidence beside the comparison: where it raises, that is said, and nothing is damaged."""

    def raises(*_: Any) -> None:
        raise ZeroDivisionError("float division by zero")

    run = tmp_path / "run"
    shutil.copytree(whole, run)
    report = verifying.compare(run)
    monkeypatch.setattr(compare_module, "rank", raises)
    without = verifying.compare(run)

    assert report.rungs == without.rungs
    assert (report.status, ()) == (without.status, without.causes)
    said = "causes (looking for them ended with ZeroDivisionError: float division by zero)"
    assert [said] == [one for one in without.not_compared if one not in report.not_compared]


def test_a_recording_that_a_side_has_damaged_is_begun_anew(tmp_path: Path) -> None:
    """A side may write over it before it crashes; the report says why the side ended."""
    side = tmp_path / "tf1"
    Recording(str(side), "tf1")
    (side / "record.json").write_text('{"format": 1, "scenarios": 3}')
    crashed = process.Outcome("signal", 11, "steps", 1.0, 0, {"versions": [1]}, "", "killed by SIGSEGV")
    python = interpreter.Interpreter("/py", (3, 11, 0), "3.11.0", None, None, None)
    verifying._Side(verifying.Request("pair.py"), "tf1", python, None, str(tmp_path))._crashed(crashed)

    assert "killed by SIGSEGV" == read(side).content["crash"]["cause"]
