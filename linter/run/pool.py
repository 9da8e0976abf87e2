"""Work on many items in several processes, in the order of the items.

A worker that dies takes only the item down that killed it.
Items and results are pickled: they are paths and findings, never trees.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:  # a tenth of the time of an editor's run goes into these, and it starts no worker
    from concurrent.futures import Future, ProcessPoolExecutor
    from ctypes import Array, c_byte
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")

_FEW_ITEMS = 4
_CHUNKS_A_WORKER = 12
_STARTED = 1
_DONE = 2


@dataclass(frozen=True, slots=True)
class ItemFailed(Generic[T]):
    """Stands for the result of an item whose worker died twice."""

    item: T
    reason: str


def map_ordered(
    function: Callable[[T], R],
    items: Sequence[T],
    jobs: int,
    initializer: Callable[..., object] | None = None,
    initargs: tuple[Any, ...] = (),
    *,
    weight: Callable[[T], int] | None = None,
) -> Iterator[R | ItemFailed[T]]:
    """Yield the result of every item, in the order of `items`.

    In this process for one job or few items, where there is no protection from an item that kills it;
    else in up to `jobs` workers, each of which calls `initializer` once.
    `weight` says what an item costs, its bytes for example, so that each worker gets equal shares.
    An exception of `function` is raised here.
    Ending the iteration early, also by Ctrl-C, ends the workers.
    """
    if jobs <= 1 or len(items) <= _FEW_ITEMS:
        return _in_this_process(function, items, initializer, initargs)
    return _Run(function, items, jobs, initializer, initargs, weight).results()


def _in_this_process(
    function: Callable[[T], R], items: Sequence[T], initializer: Callable[..., object] | None, initargs: tuple[Any, ...]
) -> Iterator[R]:
    if items and initializer is not None:
        initializer(*initargs)
    for item in items:
        yield function(item)


@dataclass
class _Run(Generic[T, R]):
    function: Callable[[T], R]
    items: Sequence[T]
    jobs: int
    initializer: Callable[..., object] | None
    initargs: tuple[Any, ...]
    weight: Callable[[T], int] | None
    ready: dict[int, R | ItemFailed[T]] = field(default_factory=dict)

    def results(self) -> Iterator[R | ItemFailed[T]]:
        with _safe_path():
            yield from self._results()

    def _results(self) -> Iterator[R | ItemFailed[T]]:
        position = 0
        waiting: Sequence[int] = range(len(self.items))
        while waiting:
            try:
                context = _context()
                context.Lock()
                marks = context.RawArray("b", len(self.items))
            except (ImportError, OSError, NotImplementedError):  # no semaphores or shared memory here
                yield from self._rest(waiting)
                return
            with closing(self._round(context, marks, waiting)) as round:
                for _ in round:
                    while position in self.ready:
                        yield self.ready.pop(position)
                        position += 1
            before = len(waiting)
            waiting = [index for index in waiting if index >= position and index not in self.ready]
            suspects = [index for index in waiting if marks[index] == _STARTED]
            if not suspects and len(waiting) == before:
                # Workers die before they begin: nothing is gained by starting more of them.
                yield from self._rest(range(position, len(self.items)))
                return
            for index in suspects:
                self.ready[index] = self._alone(context, index)
            while position in self.ready:
                yield self.ready.pop(position)
                position += 1
            waiting = [index for index in waiting if index not in self.ready and index >= position]

    def _rest(self, indexes: Sequence[int]) -> Iterator[R | ItemFailed[T]]:
        """Work in this process on what has no result yet."""
        if self.initializer is not None:
            self.initializer(*self.initargs)
        for index in indexes:
            yield self.ready.pop(index) if index in self.ready else self.function(self.items[index])

    def _round(self, context: BaseContext, marks: Array[c_byte], waiting: Sequence[int]) -> Generator[None, None, None]:
        """Give all that waits to fresh workers, and collect results until one of them dies."""
        from concurrent.futures.process import BrokenProcessPool

        chunks = self._chunks(waiting)
        with _workers(context, min(self.jobs, len(chunks)), marks, self.initializer, self.initargs) as (pool, _):
            futures: list[tuple[list[int], Future[list[R]]]] = []
            try:
                for chunk in chunks:
                    work = [(index, self.items[index]) for index in chunk]
                    futures.append((chunk, pool.submit(_work, self.function, work)))
            except (BrokenProcessPool, OSError):  # a worker is dead already, or none can be started
                pass
            for chunk, future in futures:
                try:
                    results = future.result()
                except BrokenProcessPool:
                    continue
                self.ready.update(zip(chunk, results, strict=True))
                yield

    def _alone(self, context: BaseContext, index: int) -> R | ItemFailed[T]:
        """Try an item again whose worker died, with nothing beside it."""
        from concurrent.futures.process import BrokenProcessPool

        item = self.items[index]
        with _workers(context, 1, context.RawArray("b", 1), self.initializer, self.initargs) as (pool, started):
            try:
                future = pool.submit(_work, self.function, [(0, item)])
            except OSError as error:
                return ItemFailed(item, f"the worker process died, and no other could be started: {error}")
            processes = started()
            try:
                return future.result()[0]
            except BrokenProcessPool:
                pool.shutdown(wait=True)
                return ItemFailed(item, _reason(processes))

    def _chunks(self, waiting: Sequence[int]) -> list[list[int]]:
        weights = [1 if self.weight is None else max(1, self.weight(self.items[index])) for index in waiting]
        share = sum(weights) / (self.jobs * _CHUNKS_A_WORKER)
        chunks: list[list[int]] = []
        filled = share
        for index, weight in zip(waiting, weights, strict=True):
            if filled >= share:
                chunks.append([])
                filled = 0
            chunks[-1].append(index)
            filled += weight
        return chunks


def _context() -> BaseContext:
    """Choose how workers start: a fork inherits what is imported, but is safe from a single thread only."""
    import multiprocessing

    if sys.platform.startswith("linux") and threading.active_count() == 1:
        try:
            single = len(os.listdir("/proc/self/task")) == 1
        except OSError:
            single = False
        if single:
            return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


@contextmanager
def _safe_path() -> Iterator[None]:
    """Keep the working folder off the path of processes to come: a spawned one would import a linted pickle.py."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


@contextmanager
def _workers(
    context: BaseContext,
    count: int,
    marks: Array[c_byte],
    initializer: Callable[..., object] | None,
    initargs: tuple[Any, ...],
) -> Iterator[tuple[ProcessPoolExecutor, Callable[[], list[BaseProcess]]]]:
    """Provide a pool, and a function that returns its processes; end them with the block, finished or not."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    others = {process.pid for process in multiprocessing.active_children()}

    def started() -> list[BaseProcess]:
        return [process for process in multiprocessing.active_children() if process.pid not in others]

    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(marks, initializer, initargs))
    try:
        yield pool, started
    except BaseException:
        for process in started():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for process in started():  # left where a later one could not be started
            process.terminate()
            process.join()


def _reason(processes: Sequence[BaseProcess]) -> str:
    status = next((process.exitcode for process in processes if process.exitcode), None)
    if status is None:
        return "the worker process died"
    if status > 0:
        return f"the worker process ended with status {status}"
    try:
        return f"the worker process was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"the worker process was killed by signal {-status}"


_marks: Array[c_byte] | None = None


def _begin(marks: Array[c_byte], initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    """Make this worker end when it is told to or its parent is gone, and at no other time."""
    global _marks  # noqa: PLW0603
    _marks = marks
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _end_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(function: Callable[[T], R], work: Sequence[tuple[int, T]]) -> list[R]:
    assert _marks is not None
    results = []
    for index, item in work:
        _marks[index] = _STARTED
        results.append(function(item))
        _marks[index] = _DONE
    return results
