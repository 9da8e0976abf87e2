"""Training loops that save and restore by themselves, some of them not all that they need; in a child interpreter.

The name of a loop is that of the folder around the one that it saves into, so that one worker runs all of them.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

STEPS = 8
SOUND = (
    "everything", "eager", "backup", "whole_model", "own_format", "in_turns", "the_other_first", "one_then_another"
)
LOST = {
    "no_optimizer": ["slots", "iterations"],
    "no_iterator": ["data"],
    "no_generator": ["generator"],
    "model_alone": ["slots", "iterations", "data", "generator"],
    "weights_alone": ["slots", "iterations", "epoch"],
    "only_read": ["nothing restored"],
    "of_the_guide": ["nothing restored"],
    "count_forgotten": ["callback"],
    "other_net_forgotten": ["model"],
    "other_slots_forgotten": ["slots", "iterations"],
}
"""What each lossy loop loses, in the order in which it is told."""
ALONE: dict[str, dict[str, list[str]]] = {
    "keras2": {"old_optimizer": [], "old_slots_forgotten": ["slots"]},
    "keras3": {
        "metrics_forgotten": ["callback"],
        "counter_forgotten": ["data", "variable"],
        "average_forgotten": ["average"],
        "scale_forgotten": ["loss scale"],
        "rate_forgotten": ["learning rate"],
        "other_weights": ["model"],
    },
}
"""Loops that are run with one Keras alone, as nothing in them hangs on it, or as the other one restores it."""
FILES = {
    "cut": ("truncated", "refused", None),
    "cut_and_swallowed": ("truncated", "lost", 0),
    "mixed_up": ("mixed", "refused", None),
    "mixed_up_with_an_older_one": ("mixed", "equal", 2),
    "no_room": ("full-disk", "equal", 4),
    "no_room_and_swallowed": ("full-disk", "equal", 4),
}
"""What happens to files of the same loop, what comes of it, and where it goes on."""
BESIDE: dict[str, tuple[str, list[str], str, str]] = {
    "two_chiefs": ("two-writers", ["writer"], "second", "first process deleted files of the second one: ckpt-1"),
    "two_backups": ("two-writers", ["writer"], "second", "second process wrote over files of the first one: backup"),
    "two_of_one_seed": ("two-writers", [], "either", "second process wrote over files of the first one: checkpoint"),
    "two_in_own_format": ("two-writers", ["writer"], "second", "no save of it was seen"),
    "first_come": ("two-writers", ["writer"], "second", "a mixture: of the first process shift; of the second one "),
    "other_pace": ("two-writers", ["writer"], "second", "the file `checkpoint` names what is not there: ckpt-1"),
    "checked_owner": ("two-writers", ["failed"], "", "second process wrote over files of the first one: weights"),
    "locked": ("two-writers", [], "first", "second process made 0 steps; no save of it was seen, and raised Blocking"),
    "restarted": ("restarted", [], "either", "first process deleted files of the second one: ckpt-2"),
    "restarted_backup": ("restarted", [], "either", "second process wrote over files of the first one: backup"),
    "restarted_without_slots": ("restarted", ["writer"], "second", "second process wrote over files of the first one"),
    "restarted_with_other_data": ("restarted", ["writer"], "second", "files of the first one: checkpoint, ckpt-2"),
}
"""How a second process begins, what a run that goes on behind both has lost, whose weights it has, and a note."""
CHANGED: dict[str, tuple[str, str, list[str]]] = {
    "as_it_was": ("two_chiefs", "restored", []),
    "another_layer": ("two_chiefs", "lost", ["model", "slots"]),
    "another_width": ("two_chiefs", "refused", []),
    "another_name": ("two_chiefs", "lost", ["model"]),
    "another_optimizer": ("two_chiefs", "restored", []),
    "a_layer_less": ("two_chiefs", "lost", ["model"]),
    "its_batches_again": ("everything", "lost", ["data"]),
    "nothing_of_it": ("two_chiefs", "lost", ["nothing restored"]),
    "asserted": ("cut", "refused", []),
    "mismatches_skipped": ("weights_alone", "lost", ["model", "slots", "iterations", "epoch"]),
    "lazy_as_it_was": ("lazy", "restored", []),
    "lazy_with_another_layer": ("lazy", "lost", ["model", "slots"]),
}
"""Loops that go on from the checkpoints of another one: which, what is said of them, and what kept its first value."""
NOT_BY_KERAS_3 = ("lazy_as_it_was",)
"""Keras 3 restores not all of what is made behind the restoring: a kernel keeps its initial value."""
_AS_IF_WHOLE = {
    "restarted": "two_chiefs",
    "restarted_without_slots": "two_chiefs",
    "two_backups": "backup",
    "restarted_backup": "backup",
    **dict.fromkeys(("no_optimizer", "no_iterator", "no_generator", "model_alone"), "everything"),
    **{name: "cut" for name in FILES if name != "cut"},
}
"""Loops that do the same as another one as long as they are not interrupted."""


def loop(folder: str) -> None:
    """The loop of a name."""
    globals()[os.path.basename(os.path.dirname(folder))](folder)


def audits(
    names: list[str],
    hows: dict[str, str],
    folder: str,
    file: str = __file__,
    as_if_whole: dict[str, str] = _AS_IF_WHOLE,
) -> dict[str, Any]:
    """What is found where each loop is interrupted behind its fifth step, in the way that is given for it.

    The loops are those of `file`; `as_if_whole` names for some of them one that does the same until then.
    """
    from migrate_lint.runtime_checks.comparison.resume.judge import Reference, judge
    from migrate_lint.runtime_checks.comparison.resume.traces import apart, read
    from migrate_lint.runtime_checks.resuming import beginnings
    from migrate_lint.runtime_checks.worker.results import Results
    from migrate_lint.runtime_checks.worker.resume.main import execute
    from migrate_lint.runtime_checks.worker.resume.turns import TOGETHER

    def run(stage: str, names: list[str], of: Callable[[str], Any] = lambda name: None, **more: Any) -> list[Any]:
        attempts = []
        for name in names:
            place = Path(folder, name, "whole" if stage == "whole" else "ended")
            place.mkdir(parents=True, exist_ok=True)
            attempt = {"name": name, "folder": str(place), "trace": str(Path(folder, f"{name}-{stage}"))}
            attempt |= {"how": None, "at": None, "from": 0, "steps": None} | beginnings(of(name))
            attempts.append(attempt | {key: value(name) for key, value in more.items()})
        module = ".".join(Path(file).relative_to(Path(__file__).parents[2]).with_suffix("").parts)
        place = {"file": None, "module": module, "attribute": "loop", "search_path": []}
        results = Results()
        execute({"attempts": attempts, "loop": place, "roots": [], "files": [os.path.realpath(file)]}, results)
        return list(results.content["ended"])

    wholes = {name: f"{folder}/{as_if_whole.get(name, name)}-whole" for name in names}
    run("whole", [name for name in names if name not in as_if_whole])
    whole = {name: read(wholes[name]) for name in names}
    together = [name for name in names if hows.get(name) in TOGETHER]
    ends = run(
        "ended",
        names,
        of=lambda name: whole[name] if name in together else None,
        how=lambda name: hows.get(name, "exception"),
        at=lambda name: 5,
    )
    ended = {name: read(f"{folder}/{name}-ended") for name in names}
    found = {}
    run("resumed", names, of=whole.__getitem__, **{"from": lambda name: (ended[name].saves or [0])[-1]})
    for name, end in zip(names, ends, strict=True):
        paths = [wholes[name], f"{folder}/{name}-resumed"]
        files = [path.name for path in Path(folder, name, "ended").rglob("*") if path.is_file()]
        reference = Reference(whole[name], whole[name])
        how = hows.get(name, "exception")
        second = read(f"{folder}/{name}-ended-second") if name in together else None
        distance = apart(paths[0], paths[1])
        judged = judge(
            reference, how, 5, ended[name], read(paths[1]), files, distance, second, end["missing"]
        )
        found[name] = {**asdict(judged), "total": len(whole[name].steps), "raised": whole[name].raised}
    return found


def changed_audits(cases: dict[str, str], folder: str, file: str = __file__) -> dict[str, Any]:
    """What is found where loops go on from what others saved, each given for one, up to behind their fifth step."""
    from migrate_lint.runtime_checks.comparison.resume.changed import judge
    from migrate_lint.runtime_checks.comparison.resume.judge import Reference
    from migrate_lint.runtime_checks.comparison.resume.traces import read
    from migrate_lint.runtime_checks.resuming import beginnings
    from migrate_lint.runtime_checks.worker.results import Results
    from migrate_lint.runtime_checks.worker.resume.main import execute

    def attempt(name: str, at: int | None = None, stage: str = "", **more: Any) -> dict[str, Any]:
        place = Path(folder, stage, name, "work")
        place.mkdir(parents=True, exist_ok=True)
        plain = {"name": name, "folder": str(place), "trace": f"{place}.trace", "how": at and "exception", "at": at}
        return {**plain, **beginnings(None), "from": 0, "steps": None, **more}

    def run(attempts: list[dict[str, Any]]) -> None:
        module = ".".join(Path(file).relative_to(Path(__file__).parents[2]).with_suffix("").parts)
        place = {"file": None, "module": module, "attribute": "loop", "search_path": []}
        execute({"attempts": attempts, "loop": place, "roots": [], "files": [os.path.realpath(file)]}, Results())

    bases = list(dict.fromkeys(cases.values()))
    whole = [attempt(base, stage="whole") for base in bases]
    ended = [attempt(base, 5, "ended") for base in bases]
    run([*whole, *ended])
    again = []
    for name, base in cases.items():
        shutil.copytree(Path(folder, "ended", base, "work"), Path(folder, "again", name, "work"))
        again.append(attempt(name, stage="again", firsts=True, **{"from": 4}))
    run(again)
    found = {}
    for (name, base), one in zip(cases.items(), again, strict=True):
        run_, rest = read(whole[bases.index(base)]["trace"]), read(ended[bases.index(base)]["trace"])
        judged = judge(Reference(run_, run_), "exception", 5, rest, read(one["trace"]), ["a file"])
        found[name] = {**asdict(judged), "raised": run_.raised}
    return found


def killed_at_any_moment(seed: int, count: int, folder: str) -> list[list[Any]]:
    """Kill a loop so often at random moments, also within a save: moment in seconds, status, and what is lost, of each.

    The moment is null where the loop was faster.
    """
    from migrate_lint.runtime_checks.comparison.resume.judge import Reference, judge
    from migrate_lint.runtime_checks.comparison.resume.traces import read
    from migrate_lint.runtime_checks.resuming import beginnings
    from migrate_lint.runtime_checks.worker.results import Results
    from migrate_lint.runtime_checks.worker.resume.main import execute

    def attempt(number: int, name: str, **more: Any) -> dict[str, Any]:
        place = Path(folder, "any_moment", str(number))
        place.mkdir(parents=True, exist_ok=True)
        plain = {"how": None, "at": None, "from": 0, "steps": None, **beginnings(None)}
        return {"name": name, "folder": str(place), "trace": f"{folder}/{name}", **plain, **more}

    def run(*attempts: dict[str, Any]) -> None:
        place = {"file": None, "module": __name__, "attribute": "loop", "search_path": []}
        execute({"attempts": attempts, "loop": place, "roots": [], "files": []}, Results())

    began = time.monotonic()
    run(attempt(count, "whole"))
    lasted = time.monotonic() - began
    whole = read(f"{folder}/whole")
    draw = random.Random(seed)
    moments = [draw.uniform(0.0, lasted) for _ in range(count)]
    for number, moment in enumerate(moments):
        place = attempt(number, f"ended {number}")["folder"]
        Path(f"{place}.moment").write_text(repr(moment))
    run(*(attempt(number, f"ended {number}") for number in range(count)))
    found: list[list[Any]] = []
    for number, moment in enumerate(moments):
        ended = read(f"{folder}/ended {number}")
        if ended.end is not None or len(ended.steps) == len(whole.steps):
            found.append([None, "equal", []])
            continue
        files = [path.name for path in Path(folder, "any_moment", str(number)).rglob("*") if path.is_file()]
        run(attempt(number, f"resumed {number}", **beginnings(whole), **{"from": (ended.saves or [0])[-1]}))
        ended.interrupted = {"step": len(ended.steps), "where": f"killed after {moment} s"}
        resumed = read(f"{folder}/resumed {number}")
        judged = judge(Reference(whole, whole), "sigkill", len(ended.steps), ended, resumed, files)
        found.append([moment, judged.status, [[lost.kind, lost.detail] for lost in judged.lost]])
    return found


# -- what loops have in common -----------------------------------------------------------------------------------------


def _data() -> tuple[Any, Any]:
    features = np.random.default_rng(3).normal(size=(48, 3)).astype("float32")
    return features, features.sum(1, keepdims=True) ** 2


def _batch(number: int) -> tuple[Any, Any]:
    features, labels = _data()
    at = number * 8 % 48
    return features[at : at + 8], labels[at : at + 8]


def _network(dropout: float = 0.0) -> Any:
    import tensorflow as tf

    layers = [tf.keras.Input((3,)), tf.keras.layers.Dense(6, activation="tanh"), tf.keras.layers.BatchNormalization()]
    if dropout:
        layers.append(tf.keras.layers.Dropout(dropout))
    return tf.keras.Sequential([*layers, tf.keras.layers.Dense(1, dtype="float32")])


def _restored(folder: str, **objects: Any) -> Any:
    """A manager of checkpoints of these objects, which have been restored from the last one."""
    import tensorflow as tf

    manager = tf.train.CheckpointManager(tf.train.Checkpoint(**objects), folder, max_to_keep=2)
    manager.checkpoint.restore(manager.latest_checkpoint)
    return manager


def _counter() -> Any:
    import tensorflow as tf

    return tf.Variable(0, dtype=tf.int64, name="seen")


def _custom(folder: str, kept: str, traced: bool = True) -> None:
    """Adam, dropout, noise of a generator and a shuffled pipeline."""
    import tensorflow as tf

    pipeline = tf.data.Dataset.from_tensor_slices(_data()).shuffle(48, seed=5).batch(8).repeat()
    objects = {
        "model": _network(dropout=0.3),
        "optimizer": tf.keras.optimizers.Adam(0.02),
        "iterator": iter(pipeline),
        "generator": tf.random.Generator.from_seed(11),
    }
    seen = _counter()
    manager = _restored(folder, seen=seen, **{name: objects[name] for name in kept.split()})
    model, optimizer, iterator, generator = objects.values()

    def train(features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            noisy = features + 0.1 * generator.normal(tf.shape(features))
            loss = tf.reduce_mean((model(noisy, training=True) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    step = tf.function(train) if traced else train
    while int(seen) < STEPS:
        step(*next(iterator))
        seen.assign_add(1)
        if int(seen) % 2 == 0:
            manager.save()


def _counted(
    folder: str,
    optimizer: Any,
    /,
    behind: Any = None,
    network: Any = None,
    batch: Callable[[int], Any] = _batch,
    every: int = 1,
    **kept: Any,
) -> None:
    """Batches by their number, and a checkpoint of model, optimizer and counter, or what is named in their place."""
    import tensorflow as tf

    model = network or _network()
    seen = _counter()
    kept = {"seen": seen, "model": model, "optimizer": optimizer, **kept}
    manager = _restored(folder, **{name: value for name, value in kept.items() if value is not None})

    @tf.function
    def train(features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(list(zip(gradients, model.trainable_variables, strict=True)))
        return loss

    for _ in range(int(seen), STEPS):
        train(*batch(int(seen)))
        seen.assign_add(1)
        if behind is not None:
            behind(model)
        if int(seen) % every == 0:
            manager.save()


def _fitted(folder: str, *callbacks: Any, model: Any = None, first: int = 0) -> None:
    import tensorflow as tf

    if model is None:
        model = _network()
        model.compile(tf.keras.optimizers.Adam(0.02), "mse")
    features, labels = _data()
    model.fit(
        features[:32], labels[:32], batch_size=16, epochs=4, initial_epoch=first, shuffle=False, verbose=0,
        callbacks=list(callbacks),
    )


# -- loops that lose nothing -------------------------------------------------------------------------------------------


def everything(folder: str) -> None:
    _custom(folder, "model optimizer iterator generator")


def eager(folder: str) -> None:
    _custom(folder, "model optimizer iterator generator", traced=False)


def backup(folder: str) -> None:
    import tensorflow as tf

    _fitted(folder, tf.keras.callbacks.BackupAndRestore(os.path.join(folder, "backup")))


def whole_model(folder: str) -> None:
    """One that is saved and loaded with its optimizer, in the midst of an epoch of ``fit``'s own counting."""
    import tensorflow as tf

    file, counted = Path(folder, "model.keras"), Path(folder, "epoch")
    model, first = None, 0
    if counted.exists():
        model, first = tf.keras.models.load_model(file), int(counted.read_text())

    class Saves(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.save(file)
            counted.write_text(str(epoch + 1))

    _fitted(folder, Saves(), model=model, first=first)


def old_optimizer(folder: str) -> None:
    import tensorflow as tf

    _old(folder, tf.compat.v1.train.AdamOptimizer(0.05), True)


def own_format(folder: str) -> None:
    """Plain gradient descent, whose weights and counter numpy saves: there is nothing else."""
    import tensorflow as tf

    file = Path(folder, "state.npz")
    weight, first = tf.Variable(tf.zeros((3, 1)), name="weight"), 0
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.build([weight])
    if file.exists():
        with np.load(file) as state:
            weight.assign(state["weight"])
            first = int(state["first"])
        optimizer.iterations.assign(first)
    for number in range(first, STEPS):
        features, labels = _batch(number)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((features @ weight - labels) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        np.savez(file, weight=weight.numpy(), first=number + 1)


def _taking_turns(folder: str, turns: str, every: int, kept: str, traced: bool = True) -> None:
    """Two networks, an optimizer for each; the letters say whose step it is."""
    import tensorflow as tf

    one, other = _network(), _network()
    objects = {
        "one": one, "other": other, "optimizer": tf.keras.optimizers.Adam(0.02),
        "other_optimizer": tf.keras.optimizers.Adam(0.03)
    }
    if not traced:
        objects["optimizer"].build(one.trainable_variables)
        objects["other_optimizer"].build(other.trainable_variables)
    seen = _counter()
    manager = _restored(folder, seen=seen, **{name: objects[name] for name in kept.split()})

    def step(network: Any, optimizer: Any) -> Any:
        def train(features: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                found = one(features, training=True) + other(features, training=True)
                loss = tf.reduce_mean((found - labels) ** 2)
            gradients = tape.gradient(loss, network.trainable_variables)
            optimizer.apply_gradients(list(zip(gradients, network.trainable_variables, strict=True)))
            return loss

        return tf.function(train) if traced else train

    steps = {"a": step(one, objects["optimizer"]), "b": step(other, objects["other_optimizer"])}
    while int(seen) < STEPS:
        steps[turns[int(seen) % len(turns)]](*_batch(int(seen)))
        seen.assign_add(1)
        if int(seen) % every == 0:
            manager.save()


_BOTH = "one other optimizer other_optimizer"


def in_turns(folder: str) -> None:
    """As a generator and a discriminator are trained, which is saved behind each round."""
    _taking_turns(folder, "ab", 2, _BOTH)


def the_other_first(folder: str) -> None:
    """It is saved in the midst of a round: what is trained first is not what was trained first."""
    _taking_turns(folder, "abb", 1, _BOTH, traced=False)


def other_net_forgotten(folder: str) -> None:
    _taking_turns(folder, "ab", 2, "one optimizer other_optimizer")


def other_slots_forgotten(folder: str) -> None:
    _taking_turns(folder, "ab", 2, "one optimizer other")


def one_then_another(folder: str) -> None:
    """Two optimizers of the same weights, of which a run that goes on late meets the second one alone."""
    import tensorflow as tf

    model, seen = _network(), _counter()
    first, second = tf.keras.optimizers.Adam(0.02), tf.keras.optimizers.Adam(0.01)
    manager = _restored(folder, seen=seen, model=model, first=first, second=second)
    for number in range(int(seen), STEPS):
        features, labels = _batch(number)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer = first if number < 3 else second
        optimizer.apply_gradients(list(zip(gradients, model.trainable_variables, strict=True)))
        seen.assign_add(1)
        manager.save()


# -- loops whose files are damaged -------------------------------------------------------------------------------------


def _filed(
    folder: str,
    restore: Callable[[Any], object] = lambda manager: manager.checkpoint.restore(manager.latest_checkpoint),
    save: Callable[[Any], object] = lambda manager: manager.save(),
    network: Any = None,
) -> None:
    import tensorflow as tf

    model, optimizer, seen = network or _network(), tf.keras.optimizers.Adam(0.02), _counter()
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, seen=seen)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=3)
    restore(manager)
    for number in range(int(seen), STEPS):
        features, labels = _batch(number)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        seen.assign_add(1)
        if number % 2:
            save(manager)


def _one_that_can_be_read(manager: Any) -> None:
    for path in reversed(manager.checkpoints):
        with contextlib.suppress(Exception):
            manager.checkpoint.restore(path)
            return


def _swallowed(call: Callable[[Any], object]) -> Callable[[Any], None]:
    def called(manager: Any) -> None:
        with contextlib.suppress(Exception):
            call(manager)

    return called


def any_moment(folder: str) -> None:
    """It ends where its alarm goes off, which nothing in it handles."""
    moment = Path(f"{folder}.moment")
    if moment.exists():
        seconds = float(moment.read_text())
        moment.unlink()
        signal.setitimer(signal.ITIMER_REAL, seconds)
    _filed(folder)


def cut(folder: str) -> None:
    _filed(folder)


def cut_and_swallowed(folder: str) -> None:
    _filed(folder, restore=_swallowed(lambda manager: manager.checkpoint.restore(manager.latest_checkpoint)))


def mixed_up(folder: str) -> None:
    _filed(folder)


def mixed_up_with_an_older_one(folder: str) -> None:
    _filed(folder, restore=_one_that_can_be_read)


def no_room(folder: str) -> None:
    _filed(folder)


def no_room_and_swallowed(folder: str) -> None:
    _filed(folder, save=_swallowed(lambda manager: manager.save()))


# -- loops that two processes run in one folder ------------------------------------------------------------------------


def two_chiefs(folder: str) -> None:
    import tensorflow as tf

    _counted(folder, tf.keras.optimizers.Adam(0.02))


def restarted(folder: str) -> None:
    two_chiefs(folder)


def restarted_without_slots(folder: str) -> None:
    import tensorflow as tf

    _counted(folder, tf.keras.optimizers.Adam(0.02), optimizer=None)


def restarted_with_other_data(folder: str) -> None:
    """An order of its own in each process."""
    import tensorflow as tf

    order = random.sample(range(6), 6) * 2
    _counted(folder, tf.keras.optimizers.SGD(0.02), batch=lambda number: _batch(order[number]))


def two_of_one_seed(folder: str) -> None:
    import tensorflow as tf

    tf.keras.utils.set_random_seed(3)
    two_chiefs(folder)


def two_backups(folder: str) -> None:
    backup(folder)


def restarted_backup(folder: str) -> None:
    backup(folder)


def other_pace(folder: str) -> None:
    """One process saves at every step, the other at every second one."""
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.resume.streams import SEED

    first = random.getstate() == random.Random(SEED).getstate()
    _counted(folder, tf.keras.optimizers.SGD(0.02), every=1 if first else 2)


def two_in_own_format(folder: str) -> None:
    _shifted(folder, owner="")


def first_come(folder: str) -> None:
    """What is drawn once is written by whoever is the first; the weights by whoever is the last."""
    _shifted(folder, owner="", first=os.path.join(folder, "shift.npz"))


def checked_owner(folder: str) -> None:
    """It notices that its files are of two processes, and raises."""
    _shifted(folder, owner=str(random.random()), first=os.path.join(folder, "shift.npz"))


def locked(folder: str) -> None:
    import fcntl

    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        two_chiefs(folder)


def _shifted(folder: str, owner: str, first: str = "") -> None:
    """Plain gradient descent on shifted features; numpy saves the weight, and the shift beside it or once for all."""
    import tensorflow as tf

    file = os.path.join(folder, "weights.npz")
    weight, shift = tf.Variable(tf.random.normal((3, 1)), name="weight"), tf.Variable(tf.zeros(3), name="shift")
    shift.assign(np.random.normal(size=3).astype("float32"))
    optimizer, done = tf.keras.optimizers.SGD(0.05), 0
    optimizer.build([weight])
    if os.path.exists(file):
        with np.load(file) as saved, np.load(first or file) as once:
            weight.assign(saved["weight"])
            shift.assign(once["shift"])
            done = int(saved["done"])
            optimizer.iterations.assign(done)
            if owner and saved["owner"] != once["owner"]:
                raise ValueError("files of two trainings")
            owner = str(saved["owner"])
    for number in range(done, STEPS):
        features, labels = _batch(number)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(((features + shift) @ weight - labels) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        if first and not os.path.exists(first):
            np.savez(first, shift=shift.numpy(), owner=owner)
        np.savez(file, weight=weight.numpy(), shift=shift.numpy(), done=number + 1, owner=owner)


# -- loops that go on from what another one saved ----------------------------------------------------------------------


def _layers(width: int = 6, normalized: bool = True, more: int = 0, out: int = 1) -> Any:
    import tensorflow as tf

    layers = [tf.keras.Input((3,)), tf.keras.layers.Dense(width, activation="tanh")]
    layers += [tf.keras.layers.BatchNormalization()] * normalized
    return tf.keras.Sequential([*layers, *(tf.keras.layers.Dense(out) for _ in range(1 + more))])


def as_it_was(folder: str) -> None:
    two_chiefs(folder)


def another_layer(folder: str) -> None:
    import tensorflow as tf

    _counted(folder, tf.keras.optimizers.Adam(0.02), network=_layers(more=1))


def another_width(folder: str) -> None:
    import tensorflow as tf

    _counted(folder, tf.keras.optimizers.Adam(0.02), network=_layers(width=7))


def another_name(folder: str) -> None:
    import tensorflow as tf

    model = _layers()
    _counted(folder, tf.keras.optimizers.Adam(0.02), network=model, model=None, net=model)


def another_optimizer(folder: str) -> None:
    import tensorflow as tf

    _counted(folder, tf.keras.optimizers.SGD(0.02))


def a_layer_less(folder: str) -> None:
    import tensorflow as tf

    _counted(folder, tf.keras.optimizers.SGD(0.02), network=_layers(normalized=False))


def its_batches_again(folder: str) -> None:
    _custom(folder, "model optimizer generator")


def nothing_of_it(folder: str) -> None:
    import tensorflow as tf

    model, optimizer = _layers(), tf.keras.optimizers.Adam(0.02)
    _counted(folder, optimizer, network=model, model=None, optimizer=None, seen=None, net=model, updates=optimizer)


def asserted(folder: str) -> None:
    def restore(manager: Any) -> None:
        manager.checkpoint.restore(manager.latest_checkpoint).assert_consumed()

    _filed(folder, restore, network=_layers(more=1))


def mismatches_skipped(folder: str) -> None:
    import tensorflow as tf

    model = _layers(out=2)
    model.compile(tf.keras.optimizers.Adam(0.02), "mse")
    model.load_weights(os.path.join(folder, "last.weights.h5"), skip_mismatch=True)
    _fitted(folder, model=model)


def _lazy(folder: str, more: bool = False) -> None:
    """The first call makes the variables, with what has been restored before."""
    import tensorflow as tf

    class Net(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.hidden = tf.keras.layers.Dense(6, activation="tanh")
            self.between = tf.keras.layers.Dense(6) if more else None
            self.out = tf.keras.layers.Dense(1)

        def call(self, inputs: Any, training: bool = False) -> Any:
            hidden = self.hidden(inputs)
            return self.out(hidden if self.between is None else self.between(hidden))

    _counted(folder, tf.keras.optimizers.Adam(0.02), network=Net())


def lazy(folder: str) -> None:
    _lazy(folder)


def lazy_as_it_was(folder: str) -> None:
    _lazy(folder)


def lazy_with_another_layer(folder: str) -> None:
    _lazy(folder, more=True)


# -- loops that lose something -----------------------------------------------------------------------------------------


def no_optimizer(folder: str) -> None:
    _custom(folder, "model iterator generator")


def no_iterator(folder: str) -> None:
    _custom(folder, "model optimizer generator")


def no_generator(folder: str) -> None:
    _custom(folder, "model optimizer iterator")


def model_alone(folder: str) -> None:
    _custom(folder, "model")


def weights_alone(folder: str) -> None:
    import tensorflow as tf

    model = _network()
    model.compile(tf.keras.optimizers.Adam(0.02), "mse")
    file = os.path.join(folder, "last.weights.h5")
    if os.path.exists(file):
        model.load_weights(file)
    _fitted(folder, tf.keras.callbacks.ModelCheckpoint(file, save_weights_only=True), model=model)


def only_read(folder: str) -> None:
    """As a guide's loop does it: the checkpoint is opened, and nothing gets its values."""
    import tensorflow as tf

    model, optimizer = _network(), tf.keras.optimizers.SGD(0.02)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), folder, max_to_keep=2)
    if manager.latest_checkpoint:
        tf.train.load_checkpoint(manager.latest_checkpoint)
    for number in range(STEPS):
        features, labels = _batch(number)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        manager.save()


def of_the_guide(folder: str) -> None:
    """The loop of TensorFlow's guide to fault tolerance, which does not notice that it restores nothing."""
    import tensorflow as tf

    (x_train, y_train), epochs, steps_per_epoch = _data(), 2, 4
    model = _network()
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.001)
    loss_fn = tf.keras.losses.MeanSquaredError()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    checkpoint_manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)

    for epoch in range(epochs):
        if epoch > 0:
            tf.train.load_checkpoint(save_path)  # noqa: F821  (of the epoch before)
        for _ in range(steps_per_epoch):
            with tf.GradientTape() as tape:
                predicted = model(x_train, training=True)
                loss_value = loss_fn(y_train, predicted)

            grads = tape.gradient(loss_value, model.trainable_weights)
            optimizer.apply_gradients(zip(grads, model.trainable_weights, strict=True))
            save_path = checkpoint_manager.save()  # noqa: F841  (read in the next epoch)


def metrics_forgotten(folder: str) -> None:
    import tensorflow as tf

    stopping = tf.keras.callbacks.EarlyStopping("loss", patience=9)
    _fitted(folder, tf.keras.callbacks.BackupAndRestore(os.path.join(folder, "backup")), stopping)


def count_forgotten(folder: str) -> None:
    """A callback of the user's own counts, and what it was made with differs as well, which is no loss."""
    import tensorflow as tf

    class Counts(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self, begun: int) -> None:
            super().__init__()
            self.begun, self.patience, self.epochs, self.total = begun, 3, 0, np.float32(0)

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.epochs += 1
            self.total += np.float32(logs["loss"])

    backup = os.path.join(folder, "backup")
    _fitted(folder, tf.keras.callbacks.BackupAndRestore(backup), Counts(int(os.path.exists(backup))))


def average_forgotten(folder: str) -> None:
    import tensorflow as tf

    average = tf.train.ExponentialMovingAverage(0.9)

    def behind(model: Any) -> None:
        average.apply([getattr(one, "_value", one) for one in model.trainable_variables])

    _counted(folder, tf.keras.optimizers.Adam(0.02), behind)


def scale_forgotten(folder: str) -> None:
    import tensorflow as tf

    inner = tf.keras.optimizers.SGD(0.02)
    scaler = tf.keras.mixed_precision.LossScaleOptimizer(inner, initial_scale=4.0, dynamic_growth_steps=2)
    model, seen = _network(), _counter()
    manager = _restored(folder, model=model, inner=inner, seen=seen)

    @tf.function
    def train(features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - labels) ** 2)
            scaled = scaler.scale_loss(loss) if hasattr(scaler, "scale_loss") else scaler.get_scaled_loss(loss)
        gradients = tape.gradient(scaled, model.trainable_variables)
        if not hasattr(scaler, "scale_loss"):
            gradients = scaler.get_unscaled_gradients(gradients)
        scaler.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    while int(seen) < STEPS:
        train(*_batch(int(seen)))
        seen.assign_add(1)
        manager.save()


def old_slots_forgotten(folder: str) -> None:
    import tensorflow as tf

    _old(folder, tf.compat.v1.train.MomentumOptimizer(0.05, 0.9), False)


def rate_forgotten(folder: str) -> None:
    """The loop sets the rate by a count of its own, in Python."""
    import tensorflow as tf

    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)
    calls: list[int] = []

    def behind(model: Any) -> None:
        calls.append(1)
        optimizer.learning_rate.assign(0.1 / (1 + len(calls)))

    _counted(folder, optimizer, behind)


def counter_forgotten(folder: str) -> None:
    import tensorflow as tf

    _counted(folder, tf.keras.optimizers.Adam(0.02), seen=None)


def other_weights(folder: str) -> None:
    """Half of the model is in no checkpoint."""
    import tensorflow as tf

    whole = _network()
    _counted(folder, tf.keras.optimizers.SGD(0.02), network=whole, model=whole.layers[0])


def _old(folder: str, optimizer: Any, kept: bool) -> None:
    """An optimizer of TF1 in a loop of TF2."""
    import tensorflow as tf

    weight, seen = tf.Variable(tf.zeros((3, 1)), name="weight"), _counter()
    manager = _restored(folder, weight=weight, seen=seen, **({"optimizer": optimizer} if kept else {}))

    @tf.function
    def train(features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((features @ weight - labels) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return loss

    while int(seen) < STEPS:
        train(*_batch(int(seen)))
        seen.assign_add(1)
        manager.save()
