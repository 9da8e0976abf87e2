"""What marked files record, and that they are otherwise the files that they were."""

from __future__ import annotations

import ast
import importlib.util
import marshal
import py_compile
import sys
import textwrap
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
from migrate_lint.runtime_checks.worker import lines
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.marks import NAME

BUSY = '''
"""A module that does a bit of everything."""
from __future__ import annotations

import contextlib
from typing import NamedTuple


def same(function):
    return function


@same
@contextlib.contextmanager
def opened():
    """A docstring."""
    try:
        yield 1
    finally:
        closed = True


class Pair(NamedTuple):
    """Two numbers."""

    left: int
    right: int = 2

    @property
    def total(self):
        return self.left + self.right


def branches(value):
    if value > 5:
        return "large"
    elif value > 1:
        return "middle"
    else:
        value += 1
    while value < 3:
        value += 1
        if value == 2:
            continue
    else:
        value = 7
    for item in range(2):
        pass
    match item:
        case 5:
            value = 0
        case _:
            value = 1
    return value


def fails():
    try:
        raise KeyError(
            "x"
        )
    except ValueError:
        never = 1
    except (
        KeyError
    ) as error:
        caught = error
    else:
        never = 2
    return [
        (lambda number: number + 1)(1),
        (lambda number: number)
    ]


async def later():
    async with nothing:
        pass


def generate():
    total = 0
    for number in (item for item in range(3)):
        total += number
        yield total
    nested = [[one for one in range(2)] for two in range(2)]
    return nested


with opened() as one:
    results = [branches(value) for value in (0, 3, 9)]
fails(), list(generate()), Pair(1).total
unused = lambda: (
    1
)
'''


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[lines.Lines]:
    """Records the files below the test's folder; there is no TensorFlow to ask for the context."""
    monkeypatch.setattr(lines, "context_now", lambda: lines.EAGER)
    yield lines.Lines(UserCode([str(tmp_path)]))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder: Path, text: str) -> Path:
    path = folder / "model.py"
    path.write_text(textwrap.dedent(text), "utf-8")
    return path


def ran(recorder: lines.Lines) -> list[int]:
    return sorted({line for _, line, _ in recorder.take()})


def traced(path: Path) -> set[int]:
    """The lines that ``sys.settrace`` sees when the file is imported."""
    seen: set[int] = set()

    def on_event(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename == str(path) and event == "line":
            seen.add(frame.f_lineno)
        return on_event

    before = sys.gettrace()
    sys.settrace(on_event)
    try:
        load(path)
    finally:
        sys.settrace(before)
    return seen


def test_lines_are_those_of_settrace(recorder: lines.Lines, tmp_path: Path) -> None:
    """But for docstrings, future imports, the patterns of a match and lines inside of a statement."""
    path = write(tmp_path, BUSY)
    text = path.read_text("utf-8").splitlines()
    with recorder.recording():
        load(path)
    recorded, seen = set(ran(recorder)), traced(path)

    assert set() == recorded - seen
    assert [
        '"""A module that does a bit of everything."""',
        "from __future__ import annotations",
        '"""Two numbers."""',
        "case 5:",
        "case _:",
        '"x"',
        "(lambda number: number)",
    ] == [text[line - 1].strip() for line in sorted(seen - recorded)]


def test_code_is_what_it_was(recorder: lines.Lines, tmp_path: Path) -> None:
    """Docstrings, results, names and line numbers do not change."""
    path = write(tmp_path, BUSY)
    plain = load(path)
    with recorder.recording():
        marked = load(path)

    assert plain.results == marked.results
    assert (plain.__doc__, plain.opened.__doc__) == (marked.__doc__, marked.opened.__doc__)
    assert plain.Pair.__doc__ == marked.Pair.__doc__
    assert set(vars(plain)) == set(vars(marked))
    assert plain.fails.__code__.co_firstlineno == marked.fails.__code__.co_firstlineno
    assert plain.fails.__code__.co_varnames == marked.fails.__code__.co_varnames


def test_a_traceback_shows_the_same_lines(recorder: lines.Lines, tmp_path: Path) -> None:
    """The call of a mark is gone when the statement raises."""
    path = write(tmp_path, "def inner():\n    x = 1\n    return x / 0\n\n\ninner()\n")
    with pytest.raises(ZeroDivisionError) as raised, recorder.recording():
        load(path)

    places = [(one.lineno, one.name) for one in traceback.extract_tb(raised.tb) if one.filename == str(path)]

    assert [(6, "<module>"), (3, "inner")] == places


def test_lambdas_and_generators_are_marked_where_they_run(recorder: lines.Lines, tmp_path: Path) -> None:
    """Their definition runs at one time, their body at another."""
    path = write(tmp_path, "double = lambda x: (\n    x * 2)\nmany = (\n    x + 1\n    for x in range(3))\n")
    with recorder.recording():
        module = load(path)
    defined = ran(recorder)
    with recorder.recording():
        answers = module.double(2), list(module.many)

    assert (4, [1, 2, 3]) == answers
    assert [1, 3] == defined
    assert [2, 4] == ran(recorder)


def test_cached_bytecode_is_neither_used_nor_written(recorder: lines.Lines, tmp_path: Path) -> None:
    """It would record nothing, or keep the marks for the user's next program."""
    path = write(tmp_path, "x = 1\ny = 2\n")
    cached = Path(py_compile.compile(str(path), doraise=True) or "")
    before = cached.read_bytes()
    with recorder.recording():
        load(path)

    assert [1, 2] == ran(recorder)
    assert before == cached.read_bytes()
    assert NAME.encode() not in before


@pytest.mark.parametrize("more", ["", ", dont_inherit=True", ", 0, True, -1"])
def test_a_file_that_the_program_compiles_itself_is_marked(recorder: lines.Lines, tmp_path: Path, more: str) -> None:
    """``exec(compile(...))`` is what became of Python 2's ``execfile``; trees and other texts stay as they are."""
    helper = write(tmp_path, "def f():\n    return 1\n").rename(tmp_path / "helper.py")
    text = f"""
        import ast
        import pathlib

        name = {str(helper)!r}
        text = pathlib.Path(name).read_text()
        exec(compile(text, name, "exec"{more}))
        value = f()
        tree = compile(text, name, "exec", ast.PyCF_ONLY_AST)
        other = compile("x = 1", "<text>", "exec"{more})
    """
    path = write(tmp_path, textwrap.dedent(text))
    with recorder.recording():
        module = load(path)
    places = [(Path(place).name, line) for place, line, _ in recorder.take()]

    assert [("helper.py", 1), ("helper.py", 2)] == sorted(place for place in places if place[0] == "helper.py")
    assert [ast.FunctionDef] == [type(node) for node in module.tree.body]
    assert ("x",) == module.other.co_names


def test_compile_takes_over_what_the_caller_imports_from_the_future(recorder: lines.Lines, tmp_path: Path) -> None:
    """A text has the flags of the module that compiles it, and not those of our own."""
    text = "{}namespace = {{}}\nexec(compile('def f(a: unknown): pass', '<text>', 'exec'), namespace)\n"
    with recorder.recording():
        load(write(tmp_path, text.format("from __future__ import annotations\n\n")))
        with pytest.raises(NameError):
            load(write(tmp_path, text.format("")))


def test_only_files_of_the_user_are_marked(recorder: lines.Lines, tmp_path: Path) -> None:
    """What lies elsewhere is compiled as ever."""
    elsewhere = tmp_path / "site-packages"
    elsewhere.mkdir()
    path = write(elsewhere, "def f():\n    return 1\n")
    with recorder.recording():
        module = load(path)
        module.f()

    assert [] == ran(recorder)
    assert () == module.f.__code__.co_names


def test_no_mark_leaves_the_process(recorder: lines.Lines, tmp_path: Path) -> None:
    """Keras writes the code of a lambda into the model's file, from where another program reads it."""
    path = write(tmp_path, "def outer():\n    return lambda x: x + 1\n\n\nscale = outer()\n")
    with recorder.recording():
        scale = load(path).scale
        dumped = marshal.dumps(scale.__code__)

    assert NAME in scale.__code__.co_names
    assert load(path).scale.__code__ == marshal.loads(dumped)


def test_a_file_with_an_error_raises_what_it_raises_without_us(recorder: lines.Lines, tmp_path: Path) -> None:
    """File, line and text of the error are Python's own."""
    path = write(tmp_path, "x = 1\ny = (1,\n")
    with pytest.raises(SyntaxError) as plain:
        load(path)
    with pytest.raises(SyntaxError) as marked, recorder.recording():
        load(path)

    assert plain.value.args == marked.value.args


def test_threads_are_recorded(recorder: lines.Lines, tmp_path: Path) -> None:
    """However a thread was started, and whatever tracer it has."""
    path = write(tmp_path, "def work():\n    return 1\n")
    with recorder.recording():
        module = load(path)
        recorder.take()
        thread = threading.Thread(target=module.work)
        thread.start()
        thread.join()

    assert [2] == ran(recorder)


def test_outside_of_a_phase_nothing_is_recorded(recorder: lines.Lines, tmp_path: Path) -> None:
    """The marks stay, and say nothing to nobody."""
    path = write(tmp_path, "def work():\n    return 1\n")
    with recorder.recording():
        module = load(path)
    recorder.take()

    assert 1 == module.work()
    assert [] == ran(recorder)


def test_the_users_own_tracer_stays(recorder: lines.Lines, tmp_path: Path) -> None:
    """Lines are recorded without ``sys.settrace``, so that the model, a debugger or coverage may have it."""
    path = write(tmp_path, "import sys\n\nsys.settrace(None)\nx = 1\n")
    before = sys.gettrace()
    with recorder.recording(), suppress(Exception):
        load(path)
    sys.settrace(before)

    assert [1, 3, 4] == ran(recorder)
