from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from migrate_lint.linter.run import pool
from migrate_lint.linter.run.pool import ItemFailed, map_ordered

forking = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these functions cannot be spawned")
pytestmark = forking


def square(number: int) -> int:
    return number * number


def square_slowly_at_first(number: int) -> int:
    time.sleep(0.05 if number < 3 else 0)
    return number * number


def raise_at_seven(number: int) -> int:
    if number == 7:
        raise ValueError("seven")
    return number


def die_at_seven(number: int) -> int:
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_often(number: int) -> int:
    if number % 20 == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def exit_at_seven(number: int) -> int:
    if number == 7:
        os._exit(3)
    return number


def process_of(number: int) -> int:
    return os.getpid()


def result(value: object) -> object:
    return (value.item, value.reason) if isinstance(value, ItemFailed) else value


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_are_in_the_order_of_the_items(jobs: int) -> None:
    """However many workers there are, and however long one takes."""
    items = range(100)

    assert [number * number for number in items] == list(map_ordered(square_slowly_at_first, items, jobs))


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_items_give_no_results(jobs: int) -> None:
    """Nothing is started for nothing."""
    assert [] == list(map_ordered(square, [], jobs))


@pytest.mark.parametrize(("count", "jobs", "here"), [(3, 8, True), (100, 1, True), (100, 2, False)])
def test_few_items_or_one_job_need_no_workers(count: int, jobs: int, here: bool) -> None:
    """Starting a worker costs more than a few items."""
    processes = set(map_ordered(process_of, range(count), jobs))

    assert (processes == {os.getpid()}) is here


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_is_raised_to_the_caller(jobs: int) -> None:
    """Only the death of a worker is a result; an exception stays one."""
    with pytest.raises(ValueError, match="seven"):
        list(map_ordered(raise_at_seven, range(20), jobs))

    assert [] == multiprocessing.active_children()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (die_at_seven, "the worker process was killed by SIGKILL"),
        (exit_at_seven, "the worker process ended with status 3"),
    ],
)
def test_a_killer_loses_only_itself(function: Callable[[int], int], reason: str) -> None:
    """The item that ends its worker twice is reported, and all others have their results."""
    results = [result(value) for value in map_ordered(function, range(200), 2)]

    assert [(7, reason) if number == 7 else number for number in range(200)] == results


@pytest.mark.slow
def test_several_killers_lose_only_themselves() -> None:
    """Each of them costs a new pool, and no other item."""
    results = list(map_ordered(die_often, range(100), 2))

    assert [7, 27, 47, 67, 87] == [value.item for value in results if isinstance(value, ItemFailed)]
    assert [number for number in range(100) if number % 20 != 7] == [
        value for value in results if not isinstance(value, ItemFailed)
    ]


def test_an_item_that_dies_once_has_its_result(tmp_path: Path) -> None:
    """A worker killed for memory may not be the guilty one: its item is tried again alone."""
    mark = tmp_path / "died"

    results = list(map_ordered(die_once, [(number, str(mark)) for number in range(50)], 2))

    assert list(range(50)) == results
    assert mark.exists()


def die_once(item: tuple[int, str]) -> int:
    number, mark = item
    if number == 20 and not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


_state = 0


def set_state(value: int) -> None:
    global _state  # noqa: PLW0603
    _state = value


def add_state(number: int) -> int:
    return number + _state


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_process_is_initialized(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The initializer runs before the first item, wherever it is worked on."""
    monkeypatch.setattr(sys.modules[__name__], "_state", 0)
    values = map_ordered(add_state, range(10), jobs, set_state, (100,))

    assert list(range(100, 110)) == list(values)


def die_in_workers(parent: int) -> None:
    if os.getpid() != parent:
        os._exit(9)


def test_workers_that_cannot_begin_are_done_without() -> None:
    """Where no worker lives to its first item, the work is done here."""
    assert list(range(30)) == list(map_ordered(raise_at_nothing, range(30), 2, die_in_workers, (os.getpid(),)))


def raise_at_nothing(number: int) -> int:
    return number


def test_a_machine_without_semaphores_has_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some sandboxes have no /dev/shm."""

    class Bare:
        def Lock(self) -> None:  # noqa: N802
            raise OSError("[Errno 38] Function not implemented")

    monkeypatch.setattr(pool, "_context", Bare)

    assert {os.getpid()} == set(map_ordered(process_of, range(30), 2))


def test_heavy_items_have_chunks_of_their_own() -> None:
    """The shares are equal by weight, not by number."""
    weights = [1] * 50 + [1000] + [1] * 50
    run = pool._Run(square, range(101), 2, None, (), weights.__getitem__)
    chunks = run._chunks(range(101))

    assert list(range(101)) == [number for chunk in chunks for number in chunk]
    assert [50] in [chunk[-1:] for chunk in chunks]
    assert [number * number for number in range(101)] == list(
        map_ordered(square, range(101), 2, weight=weights.__getitem__)
    )


def test_ending_early_ends_the_workers() -> None:
    """A consumer that has seen enough leaves nothing running."""
    values = map_ordered(square, range(1000), 2)
    next(iter(values))
    del values

    assert [] == multiprocessing.active_children()


def test_a_process_with_threads_is_not_forked() -> None:
    """A fork would copy locks that another thread holds."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    method = pool._context().get_start_method()
    done.set()
    thread.join()

    assert method == "spawn"


SCRIPT = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
from migrate_lint.linter.run.pool import ItemFailed, map_ordered

def work(item):
    number, seconds = item
    open(f"pid-{os.getpid()}", "w").close()
    if number == 5 and not seconds:
        os._exit(3)
    time.sleep(seconds)
    return number

if __name__ == "__main__":
    method, seconds = sys.argv[1], float(sys.argv[2])
    if method == "spawn":
        threading.Thread(target=time.sleep, args=(6000,), daemon=True).start()
    results = map_ordered(work, [(number, seconds) for number in range(40)], 2)
    try:
        print(*(f"failed:{value.item[0]}" if isinstance(value, ItemFailed) else value for value in results))
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(130)
"""


def start(folder: Path, method: str, seconds: float) -> subprocess.Popen[str]:
    (folder / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-W", "error", "script.py", method, str(seconds)]
    return subprocess.Popen(
        command,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def workers(folder: Path) -> list[int]:
    return [int(path.name.partition("-")[2]) for path in folder.glob("pid-*")]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_spawned_workers_do_the_same(tmp_path: Path) -> None:
    """The results do not depend on how workers start."""
    process = start(tmp_path, "spawn", 0)
    output, errors = process.communicate(timeout=600)

    assert ["failed:5" if number == 5 else str(number) for number in range(40)] == output.split()
    assert "" == errors


def test_workers_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    """What is linted may have a pickle.py; a spawned worker has not read its settings when it imports its own."""
    script, folder, mark = tmp_path / "script.py", tmp_path / "linted", tmp_path / "mark"
    script.write_text(SCRIPT)
    folder.mkdir()
    for name in ("pickle", "json", "multiprocessing", "runpy", "struct", "tensorflow"):
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, str(script), "spawn", "0"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    assert (40, "") == (len(done.stdout.split()), done.stderr)
    assert not mark.exists()


def test_the_environment_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it was, and also where the results are not all taken."""
    for value in ("", "1", None):
        if value is None:
            monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        else:
            monkeypatch.setenv("PYTHONSAFEPATH", value)
        results = map_ordered(square, range(20), 2)
        next(results)
        del results
        assert value == os.environ.get("PYTHONSAFEPATH")


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_ends_all_workers(tmp_path: Path, method: str, whole_group: bool) -> None:
    """A terminal signals the whole group, `kill -INT` only the parent; neither leaves an orphan or a traceback."""
    process = start(tmp_path, method, 3000)
    wait_until(lambda: len(workers(tmp_path)) == 2)
    if whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=600)

    assert ("interrupted\n", "", 130) == (output, errors, process.returncode)
    assert not any(is_running(pid) for pid in workers(tmp_path))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path, method: str) -> None:
    """SIGKILL leaves the parent no time to end them."""
    process = start(tmp_path, method, 3000)
    wait_until(lambda: len(workers(tmp_path)) == 2)
    process.kill()
    process.communicate(timeout=600)

    wait_until(lambda: not any(is_running(pid) for pid in workers(tmp_path)))
