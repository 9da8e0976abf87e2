"""The strategy of ``tf.distribute`` that a program is run under, over what this machine has.

A strategy is described by the host: a dictionary with ``kind`` (``one``, ``mirrored``, ``multiworker``, ``ps`` or
``tpu``), ``replicas``, ``servers``, ``device`` and ``text``, the words of the command line.
It is used in this order: `join` before TensorFlow is imported, `prepare` before anything asks for a device, `make`
before anything is computed, `call` as often as needed, and `leave` at the very end of the process.

Where the machine has as many GPUs as there are replicas, they are taken, else as many logical CPUs; what is not taken
is hidden.
``multiworker:N`` are N processes: `join` starts all but the first, each with the same job, whose ``strategy`` has the
``task``, and each does what this one does, so that their collective operations meet.
``ps:W+P`` are servers in this process, on CPUs.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import pickle
import socket
import subprocess
import sys
import threading
import traceback
from typing import Any, Callable, Iterator

import numpy as np

from .errors import essence
from .patching import replaced

__all__ = [
    "StrategyError", "call", "distributed", "eager", "has_servers", "is_chief", "is_distributed", "join", "leave",
    "make", "of_all", "prepare", "split", "standing_in", "step", "task", "together", "traced", "two_in_one", "under",
]  # fmt: skip

_KEPT: list[Any] = []
"""What lives as long as the process: sockets that hold the ports, servers, processes."""
_SCHEDULED: dict[Any, Any] = {}
"""What the workers of parameter servers run, by what was asked for: each is traced once."""
_TRIED: dict[int, tuple[Any, Any]] = {}
"""Training steps by identity, and what is called in each replica for them; None where they do that themselves."""
_START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
_OUTPUT = "output.txt"
_LOST = 3
"""Exit status where another process of the cluster has ended."""
_WORDS_SHOWN = 300


class StrategyError(ValueError):
    """The strategy cannot be had on this machine; the text says why."""


def is_chief(strategy: dict[str, Any] | None) -> bool:
    """Whether this process is the one that reports; each is but the further ones of ``multiworker``."""
    return strategy is None or not strategy.get("task")


def join(job: dict[str, Any], folder: str) -> None:
    """Make this process the first of its cluster, and start the others, or tie it to the first one.

    `folder` is for what the others need, and is removed by whoever made it.
    Where another process ends before `leave`, this one does too, and says so in its last line.
    A process whose first one is gone ends at once.
    """
    strategy = job.get("strategy")
    if not strategy or strategy["kind"] != "multiworker":
        return
    if "task" not in strategy:
        strategy.update(task=0, cluster=_addresses(strategy["replicas"]))
        for number in range(1, strategy["replicas"]):
            _start(dict(job, strategy=dict(strategy, task=number)), os.path.join(folder, f"task{number}"))
    else:
        threading.Thread(target=_end_with_first, name="migrate-lint-task", daemon=True).start()
    cluster = {"worker": strategy["cluster"]}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": strategy["task"]}})


def prepare(tf: Any, strategy: dict[str, Any] | None) -> None:
    """Set up the devices that the strategy needs, before anything asks for one.

    Raises:
        StrategyError: if the machine has none of that kind.
    """
    if strategy is None:
        return
    os.environ.pop("TF_NUM_INTEROP_THREADS", None)  # a replica that waits for the others takes a thread
    kind, count, task = strategy["kind"], strategy["replicas"], strategy.get("task")
    if kind == "tpu":
        _tpu_address(tf)
        return
    if kind == "one":
        device, _, number = strategy["device"].partition(":")
        if device != "CPU":
            found = [one.name for one in tf.config.list_physical_devices() if one.name]
            if len(tf.config.list_physical_devices(device)) <= int(number or 0):
                raise StrategyError("there is no {}, only {}".format(strategy["device"], ", ".join(found)))
            return
        count = int(number or 0) + 1
    gpus = tf.config.list_physical_devices("GPU")
    if kind not in ("mirrored", "multiworker") or len(gpus) < count:
        tf.config.set_visible_devices([], "GPU")
    elif kind == "mirrored":
        tf.config.set_visible_devices(gpus[:count], "GPU")
        return
    else:
        tf.config.set_visible_devices(gpus[task], "GPU")
    if kind in ("one", "mirrored") and count > 1:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)


def make(tf: Any, strategy: dict[str, Any]) -> Any:
    """The ``tf.distribute.Strategy``; once in a process, before anything is computed in it.

    Raises:
        StrategyError: if the devices are not there, as where the program has set up others.
    """
    kind, count = strategy["kind"], strategy["replicas"]
    if kind == "multiworker":
        return tf.distribute.MultiWorkerMirroredStrategy()
    if kind == "ps":
        return _parameter_server(tf, count, strategy["servers"])
    if kind == "tpu":
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(_tpu_address(tf))
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return tf.distribute.TPUStrategy(resolver)
    there = [one.name.rpartition("device:")[2] for one in tf.config.list_logical_devices()]
    if kind == "one":
        wanted = [strategy["device"]]
    else:
        device = "GPU" if sum(one.startswith("GPU") for one in there) >= count else "CPU"
        wanted = [f"{device}:{number}" for number in range(count)]
    missing = [one for one in wanted if one not in there]
    if missing:
        raise StrategyError("there is no {}, only {}".format(missing[0], ", ".join(there)))
    return tf.distribute.OneDeviceStrategy(wanted[0]) if kind == "one" else tf.distribute.MirroredStrategy(wanted)


@contextlib.contextmanager
def under(tf: Any, strategy: Any, tell: Callable[[str, str], object]) -> Iterator[None]:
    """Run the body in the scope of the strategy, which stands in for those that the program makes."""
    with standing_in(tf, strategy, tell), strategy.scope():
        yield


@contextlib.contextmanager
def standing_in(tf: Any, strategy: Any, tell: Callable[[str, str], object]) -> Iterator[None]:
    """Let the strategy stand in, in the body, for those that the program makes: there is one in a process.

    Its own logical devices are not made either, as those of the strategy are there. `tell` hears the names of what
    gives way, and of a strategy what it is: see `two_in_one`.
    """
    with contextlib.ExitStack() as stack:
        for name in _CLASSES:
            cls = getattr(tf.distribute, name, None) or getattr(tf.distribute.experimental, name, None)
            if cls is not None:
                _, first, *_ = [*inspect.signature(cls.__init__).parameters, "", ""]
                describe = functools.partial(_described, name, first)
                for patch in _giving(cls, strategy, lambda *given, n=name, d=describe: tell(n, d(*given))):
                    stack.enter_context(patch)
        for module, name in (
            (tf.config, "set_logical_device_configuration"),
            (tf.config.experimental, "set_virtual_device_configuration"),
        ):
            stack.enter_context(replaced(module, name, lambda *_, name=name, **__: tell(name, "")))
        yield


def two_in_one(made: list[str], what: str, text: str) -> str:
    """That two different strategies of a program are one in this run; empty for the first one and for one like it.

    Args:
        made: what those are that the program has made so far; this one is added.
        what: what it makes now.
        text: the strategy that stands in for them, in words.
    """
    if not what or what in made:
        return ""
    made.append(what)
    if len(made) == 1:
        return ""
    return (
        f"the program makes two strategies, {made[0]} and {what}: both are {text} here, and what they do to each other "
        "in one process is not seen"
    )


def _described(name: str, first: str, args: Any, kwargs: Any) -> str:
    """A strategy by its class and the devices that it is given, as its first parameter."""
    devices = args[0] if args else kwargs.get(first)
    devices = [devices] if isinstance(devices, str) else devices
    known = isinstance(devices, (list, tuple)) and all(isinstance(one, str) for one in devices)
    return "`{}` over {}".format(name, ", ".join(devices)) if known else f"`{name}`"


def _giving(cls: Any, strategy: Any, tell: Callable[[Any, Any], object]) -> Iterator[Any]:
    original = cls.__init__

    def new(_: Any, *args: Any, **kwargs: Any) -> Any:
        tell(args, kwargs)
        return strategy

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if self is not strategy:
            original(self, *args, **kwargs)

    yield _made_by(cls, new)
    yield replaced(cls, "__init__", init)


@contextlib.contextmanager
def _made_by(cls: Any, new: Callable[..., Any]) -> Iterator[None]:
    """Another ``__new__`` of a class in the body; a class whose own one is deleted takes no arguments any more."""
    cls.__new__ = new
    try:
        yield
    finally:
        cls.__new__ = lambda made, *_, **__: object.__new__(made)


_CLASSES = (
    "OneDeviceStrategy", "MirroredStrategy", "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy",
)  # fmt: skip


def call(tf: Any, strategy: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What ``strategy.run`` gives: for each of several replicas of this process, and of parameter servers, one value.

    Under parameter servers it is traced in a ``tf.function``, and one of the workers runs it.
    """
    if not has_servers(tf, strategy):
        return strategy.run(function, args, kwargs)
    if function not in _SCHEDULED:

        def replicated(args: Any, kwargs: Any) -> Any:
            return strategy.run(function, args, kwargs)

        _SCHEDULED[function] = tf.function(replicated)
    return _scheduled(tf, strategy, _SCHEDULED[function], args, kwargs)


def _scheduled(tf: Any, strategy: Any, function: Any, *args: Any) -> Any:
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)  # one for each strategy, whoever asks
    value = coordinator.schedule(function, args)
    coordinator.join()
    return value.fetch()


def eager(tf: Any, strategy: Any, function: Callable[[], Any]) -> Any:
    """What a function gives in the first replica of this process, where each of them calls it, eagerly.

    Without a strategy it is just called, and so it is with parameter servers, whose workers run nothing eagerly.
    """
    if strategy is None or has_servers(tf, strategy):
        return function()
    given = strategy.run(function)
    return tf.nest.map_structure(lambda value: strategy.experimental_local_results(value)[0], given)


def traced(tf: Any, strategy: Any, function: Callable[..., Any]) -> Any:
    """A ``tf.function`` in which each replica calls `function`."""
    if strategy is None:
        return tf.function(function)
    if has_servers(tf, strategy):
        return lambda *args, **kwargs: call(tf, strategy, function, *args, **kwargs)

    def replicated(*args: Any, **kwargs: Any) -> Any:
        return strategy.run(function, args, kwargs)

    return tf.function(replicated)


def step(tf: Any, strategy: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Let each replica call a training step; one that itself runs something in each replica is called once.

    A ``tf.function`` is given to the strategy as it is, so that it becomes the outermost one; a copy of it is tried
    first, since one whose first trace has raised makes no variables later.
    """
    if strategy is None:
        function(*args)
        return
    _, tried = _TRIED.setdefault(id(function), (function, _copy(function)))
    if tried is None:
        function(*args)
        return
    own, nested = strategy.run, []

    def run(*_: Any, **__: Any) -> None:
        nested.append(True)
        raise RuntimeError("Strategy.run is called in a replica")

    try:
        with replaced(strategy, "run", run):
            if has_servers(tf, strategy):
                plain = getattr(tried, "python_function", tried)

                def replicated() -> Any:
                    return own(plain, args)

                _scheduled(tf, strategy, tf.function(replicated))
            else:
                own(tried, args)
    except Exception:
        if not nested:
            raise
        _TRIED[id(function)] = function, None
        function(*args)


def _copy(function: Any) -> Any:
    """A ``tf.function`` that was not traced yet; what is none as it is."""
    clone = getattr(function, "_clone", None)
    if clone is None:
        return function
    copied = clone(None)
    for name, value in vars(function).items():  # also that it is no function that AutoGraph has to convert
        vars(copied).setdefault(name, value)
    return copied


def has_servers(tf: Any, strategy: Any) -> bool:
    """Whether it is one of parameter servers."""
    kind = getattr(tf.distribute, "ParameterServerStrategy", ())
    return isinstance(strategy, kind)


def task(tf: Any, strategy: Any) -> int | None:
    """The number of this process among those of ``multiworker``, each of which has one replica; else None."""
    cluster = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
    return int(strategy.cluster_resolver.task_id) if cluster else None


def of_all(tf: Any, strategy: Any, value: Any) -> list[Any]:
    """What each process of a cluster gives here, in their order; of another strategy a list of the one value.

    All processes have to come here together. What can be pickled is sent as numbers of one length.
    """
    number = task(tf, strategy)
    if number is None:
        return [value]
    text = np.frombuffer(pickle.dumps(value), np.uint8)
    sizes = _rows_of_all(tf, strategy, number, np.array([text.size], np.int32))[:, 0]
    sent = np.zeros(-(-max(sizes) // 4) * 4, np.uint8)
    sent[: text.size] = text
    rows = _rows_of_all(tf, strategy, number, sent.view(np.int32))
    return [pickle.loads(row.tobytes()[:size]) for row, size in zip(rows, sizes)]


def _rows_of_all(tf: Any, strategy: Any, number: int, row: Any) -> Any:
    """A table with a row of each process, all of one length: the sum of tables that have but their own."""
    table = np.zeros([strategy.num_replicas_in_sync, row.size], row.dtype)
    table[number] = row

    def add() -> Any:
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(table))

    add.autograph_info__ = {}  # type: ignore[attr-defined]
    return strategy.experimental_local_results(strategy.run(add))[0].numpy()


def together(tf: Any, strategy: Any, function: Callable[[], Any]) -> list[Any]:
    """What `function` gives in each process, as `of_all` does; where it raises in one of them, all raise.

    Raises:
        StrategyError: if it raised in another process; the text says which, and what.
        Exception: whatever it raises in this one.
    """
    given, error = None, None
    try:
        given = function()
    except Exception as raised:
        error = raised
    found = of_all(tf, strategy, (given, None if error is None else essence(error)))
    if error is not None:
        raise error
    for number, (_, text) in enumerate(found):
        if text is not None:
            raise StrategyError(f"process {number} of the cluster raised: {text}")
    return [one for one, _ in found]


def is_distributed(tf: Any, value: Any) -> bool:
    """Whether a dataset, or an iterator of one, gives each replica a part of its own."""
    return isinstance(value, (tf.distribute.DistributedDataset, tf.distribute.DistributedIterator))


def distributed(tf: Any, strategy: Any, dataset: Any) -> Any:
    """A dataset of which each replica gets a part; one that the program has distributed is given back as it is."""
    return dataset if is_distributed(tf, dataset) else strategy.experimental_distribute_dataset(dataset)


def split(tf: Any, strategy: Any, batch: Any) -> list[Any]:
    """What each replica of this process gets of a batch of a distributed dataset."""
    values = [strategy.experimental_local_results(leaf) for leaf in tf.nest.flatten(batch)]
    return [tf.nest.pack_sequence_as(batch, leaves) for leaves in zip(*values)]


def leave(job: dict[str, Any], status: int = 0) -> None:
    """End this process with a status if it is one of a cluster, whose servers would keep it from ending by itself.

    Where the status is none of success, an exception is handled, and is printed.
    All but the first process wait for the first, which may still have something to ask them.
    """
    strategy = job.get("strategy")
    if not strategy or strategy["kind"] not in ("multiworker", "ps"):
        return
    if status:
        traceback.print_exc()
    if not is_chief(strategy):
        threading.Event().wait()  # until the first one is gone
    _LEAVING.set()
    for process in [one for one in _KEPT if isinstance(one, subprocess.Popen)]:
        process.kill()
        process.wait()
    os._exit(status)


_LEAVING = threading.Event()


def _addresses(count: int) -> list[str]:
    """Free ports of this machine; sockets that TensorFlow may share hold them until the process ends."""
    os.environ["TF_GRPC_REUSE_PORT"] = "1"
    found = []
    for _ in range(count):
        one = socket.socket()
        if hasattr(socket, "SO_REUSEPORT"):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            _KEPT.append(one)
        one.bind(("127.0.0.1", 0))
        found.append(one)
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in found]
    if not hasattr(socket, "SO_REUSEPORT"):
        for one in found:
            one.close()
    return addresses


def _start(job: dict[str, Any], folder: str) -> None:
    os.mkdir(folder)
    if "folder" in job:  # of a recording
        job = dict(job, folder=os.path.join(folder, "recording"))
    path = os.path.join(folder, "job.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(dict(job, key=os.urandom(32).hex()), file)
    output = os.path.join(folder, _OUTPUT)
    with open(output, "wb") as file:
        process = subprocess.Popen(
            [sys.executable, _START, path], stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT
        )
    _KEPT.append(process)
    arguments = (process, job["strategy"]["task"], output)
    threading.Thread(target=_watch, args=arguments, name="migrate-lint-task", daemon=True).start()


def _watch(process: Any, number: int, output: str) -> None:
    status = process.wait()
    if _LEAVING.is_set():
        return
    with open(output, encoding="utf-8", errors="replace") as file:
        words = [line.strip() for line in file.read()[-10000:].splitlines() if line.strip()]
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    said = "" if not words else ": " + words[-1][:_WORDS_SHOWN]
    os.write(2, f"\nworker {number} of the cluster {how}{said}\n".encode("utf-8", "replace"))
    os._exit(_LOST)


def _end_with_first() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def _parameter_server(tf: Any, workers: int, servers: int) -> Any:
    addresses = _addresses(workers + servers)
    cluster = tf.train.ClusterSpec({"worker": addresses[:workers], "ps": addresses[workers:]})
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=max(4, workers + 1))
    config.device_count["GPU"] = 0
    for job, count in (("worker", workers), ("ps", servers)):
        for number in range(count):
            _KEPT.append(tf.distribute.Server(cluster, job_name=job, task_index=number, config=config, protocol="grpc"))
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
    return tf.distribute.ParameterServerStrategy(resolver)


def _tpu_address(tf: Any) -> str | None:
    """Of the TPU: this machine's own, or None where the environment names another one.

    Raises:
        StrategyError: if there is none.
    """
    if os.environ.get("TPU_NAME") or os.environ.get("COLAB_TPU_ADDR"):
        return None
    if tf.config.list_physical_devices("TPU"):
        return "local"
    found = ", ".join(one.name for one in tf.config.list_physical_devices())
    raise StrategyError(f"there is no TPU, only {found}, and TPU_NAME names none")
