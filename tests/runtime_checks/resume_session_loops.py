"""Loops of TensorFlow 1 that save with a Saver or a monitored session; and updates in a graph. In a child interpreter.

As in `resume_loops`, whose `audits` runs them, the name of a loop is that of the folder around the one it saves into.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .resume_loops import STEPS, _batch, _data, audits, changed_audits

SOUND = ("whole_graph", "by_hand", "accumulated")
LOST = {
    "weights_alone": ["slots"],
    "step_forgotten": ["iterations", "learning rate"],
    "batches_again": ["data"],
    "from_a_pipeline": ["data"],
    "fed_rate_again": ["learning rate"],
    "velocity_forgotten": ["variable"],
}
BESIDE: dict[str, tuple[str, list[str], str, str]] = {
    "two_sessions": ("two-writers", ["writer"], "second", "second process wrote over files of the first one: check"),
    "two_monitored": ("two-writers", ["writer"], "second", "second process wrote over files of the first one"),
    "restarted_session": ("restarted", [], "either", "second process wrote over files of the first one: check"),
    "restarted_without_slots": ("restarted", ["writer"], "second", "second process wrote over files of the first one"),
    "restarted_monitored": ("restarted", ["writer"], "second", "second process wrote over files of the first one"),
}
"""As `resume_loops.BESIDE`."""
CHANGED: dict[str, tuple[str, str, list[str]]] = {
    "as_it_was": ("whole_graph", "restored", []),
    "a_part_of_it": ("whole_graph", "lost", ["model", "slots"]),
    "another_width": ("whole_graph", "restored", []),  # a resource variable takes the shape of what is restored
    "other_names": ("whole_graph", "restored", []),
    "without_its_step": ("whole_graph", "lost", ["iterations"]),
    "monitored": ("from_a_pipeline", "lost", ["data"]),
}
"""As `resume_loops.CHANGED`."""
_AS_IF_WHOLE = {
    "weights_alone": "whole_graph",
    "step_forgotten": "whole_graph",
    "batches_again": "whole_graph",
    "two_sessions": "whole_graph",
    "restarted_session": "whole_graph",
    "restarted_without_slots": "whole_graph",
    "two_monitored": "from_a_pipeline",
    "restarted_monitored": "from_a_pipeline",
}
"""Loops that do the same as another one as long as they are not interrupted."""


def loop(folder: str) -> None:
    """The loop of a name."""
    globals()[os.path.basename(os.path.dirname(folder))](folder)


def session_audits(names: list[str], hows: dict[str, str], folder: str) -> dict[str, Any]:
    """As `resume_loops.audits`, of the loops in this file."""
    return audits(names, hows, folder, __file__, _AS_IF_WHOLE)


def changed_session_audits(cases: dict[str, str], folder: str) -> dict[str, Any]:
    """As `resume_loops.changed_audits`, of the loops in this file."""
    return changed_audits(cases, folder, __file__)


def _trained(
    folder: str,
    *,
    kept: Callable[[list[Any]], Any] = lambda variables: variables,
    first: Callable[[int], int] = lambda saved: saved,
    rate: Callable[[int], float] | None = None,
    update: Callable[[Any, Any, Any], Any] | None = None,
    noise: float = 0.3,
    width: int = 6,
    name: str = "hidden",
) -> None:
    """A network in a graph; `kept` are the variables that are saved, `first` is the first batch behind a number."""
    import tensorflow.compat.v1 as tf1

    with tf1.Graph().as_default():
        features, labels = tf1.placeholder(tf1.float32, (None, 3)), tf1.placeholder(tf1.float32, (None, 1))
        hidden, out = tf1.get_variable(name, (3, width)), tf1.get_variable("out", (width, 1))
        active = tf1.nn.dropout(tf1.tanh(features @ hidden), rate=noise) if noise else tf1.tanh(features @ hidden)
        loss = tf1.reduce_mean((active @ out - labels) ** 2)
        step = tf1.train.get_or_create_global_step()
        given = tf1.placeholder(tf1.float32, (), "rate")
        decayed = tf1.train.exponential_decay(0.05, step, 3, 0.5)
        if update is None:
            made = tf1.train.AdamOptimizer(decayed if rate is None else given).minimize(loss, step)
        else:
            made = update(loss, [hidden, out], step)
        saver = tf1.train.Saver(kept(tf1.global_variables()), max_to_keep=2)
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            last = tf1.train.latest_checkpoint(folder)
            done = 0
            if last:
                saver.restore(session, last)
                done = int(last.rpartition("-")[2])
            for number in range(done, STEPS):
                batch = _batch(number - done + first(done))
                feeds = dict(zip((features, labels), batch, strict=True))
                if rate is not None:
                    feeds[given] = rate(number - done)
                session.run([made, loss], feeds)
                if number % 2:
                    saver.save(session, os.path.join(folder, "model"), number + 1)


def whole_graph(folder: str) -> None:
    _trained(folder)


def weights_alone(folder: str) -> None:
    kept = ("hidden", "out", "global_step")
    _trained(folder, kept=lambda variables: [one for one in variables if one.op.name in kept])


def step_forgotten(folder: str) -> None:
    _trained(folder, kept=lambda variables: [one for one in variables if "step" not in one.name])


def batches_again(folder: str) -> None:
    _trained(folder, first=lambda saved: 0)


def fed_rate_again(folder: str) -> None:
    """The rate is counted from where the process begins."""
    _trained(folder, rate=lambda number: 0.05 / (1 + number))


def _momentum(loss: Any, weights: list[Any], step: Any) -> Any:
    import tensorflow.compat.v1 as tf1

    done = [step.assign_add(1)]
    for weight, slope in zip(weights, tf1.gradients(loss, weights), strict=True):
        velocity = tf1.get_variable(f"speed_{weight.op.name}", initializer=tf1.zeros(weight.shape), trainable=False)
        moved = velocity.assign(0.5 * velocity + slope)
        done.append(weight.assign(weight - 0.05 * moved))
    return tf1.group(*done)


def by_hand(folder: str) -> None:
    _trained(folder, update=_momentum)


def velocity_forgotten(folder: str) -> None:
    _trained(
        folder, kept=lambda variables: [one for one in variables if "speed" not in one.name], update=_momentum, noise=0
    )


def accumulated(folder: str) -> None:
    """Gradients of two batches make one update, in a branch."""

    def update(loss: Any, weights: list[Any], step: Any) -> Any:
        import tensorflow.compat.v1 as tf1

        slopes = tf1.gradients(loss, weights)
        sums = [
            tf1.get_variable(f"sum_{one.op.name}", initializer=tf1.zeros(one.shape), trainable=False) for one in weights
        ]
        added = [total.assign_add(slope) for total, slope in zip(sums, slopes, strict=True)]
        optimizer = tf1.train.MomentumOptimizer(0.05, 0.9)
        with tf1.control_dependencies([*added, step.assign_add(1)]):
            due = tf1.equal(step.read_value() % 2, 0)

        def apply() -> Any:
            with tf1.control_dependencies([optimizer.apply_gradients(list(zip(sums, weights, strict=True)))]):
                return tf1.group(*[total.assign(tf1.zeros_like(total)) for total in sums])

        return tf1.cond(due, apply, tf1.no_op)

    _trained(folder, update=update)


def from_a_pipeline(folder: str) -> None:
    """A monitored session restores by itself, and the pipeline begins anew."""
    import tensorflow.compat.v1 as tf1

    with tf1.Graph().as_default():
        pipeline = tf1.data.Dataset.from_tensor_slices(_data()).shuffle(48).batch(8).repeat()
        features, labels = tf1.data.make_one_shot_iterator(pipeline).get_next()
        weight = tf1.get_variable("weight", (3, 1))
        loss = tf1.reduce_mean((features @ weight - labels) ** 2)
        step = tf1.train.get_or_create_global_step()
        made = tf1.train.AdagradOptimizer(0.05).minimize(loss, step)
        hooks = [tf1.train.StopAtStepHook(last_step=STEPS)]
        with tf1.train.MonitoredTrainingSession(
            checkpoint_dir=folder, save_checkpoint_steps=2, save_summaries_steps=None, hooks=hooks
        ) as session:
            while not session.should_stop():
                session.run([made, loss])


def two_sessions(folder: str) -> None:
    whole_graph(folder)


def restarted_session(folder: str) -> None:
    whole_graph(folder)


def restarted_without_slots(folder: str) -> None:
    weights_alone(folder)


def two_monitored(folder: str) -> None:
    from_a_pipeline(folder)


def restarted_monitored(folder: str) -> None:
    from_a_pipeline(folder)


# -- loops that go on from what another one saved ----------------------------------------------------------------------


def as_it_was(folder: str) -> None:
    whole_graph(folder)


def a_part_of_it(folder: str) -> None:
    _trained(folder, kept=lambda variables: [one for one in variables if not one.op.name.startswith("out")])


def another_width(folder: str) -> None:
    _trained(folder, width=7)


def other_names(folder: str) -> None:
    _trained(
        folder, kept=lambda variables: {one.op.name.replace("wide", "hidden"): one for one in variables}, name="wide"
    )


def without_its_step(folder: str) -> None:
    step_forgotten(folder)


def monitored(folder: str) -> None:
    from_a_pipeline(folder)


# -- what a run of a session executes ----------------------------------------------------------------------------------


def runs() -> dict[str, list[int]]:
    """For several runs of one graph, with both kinds of variables: how many steps were seen in it.

    One for resource variables, and one for reference variables, with the control flow of their time.
    """
    return {name: [_steps(name, resource) for resource in (True, False)] for name in RUNS}


RUNS = {
    "initial values": 0,
    "restored": 0,
    "forward": 0,
    "from another": 0,
    "fed in the place of the update": 0,
    "optimizer": 1,
    "optimizer in a group": 1,
    "behind a control dependency": 1,
    "subtracted": 1,
    "assigned from itself": 1,
    "rows": 1,
    "branch that is taken": 1,
    "branch that is not taken": 0,
    "loop": 1,
    "only what is not trained": 0,
}
"""And how many there are."""


def _steps(name: str, resource: bool) -> int:
    import tempfile

    import tensorflow.compat.v1 as tf1
    from migrate_lint.runtime_checks.worker.resume.objects import Objects
    from migrate_lint.runtime_checks.worker.resume.sessions import Sessions

    (tf1.enable_control_flow_v2 if resource else tf1.disable_control_flow_v2)()  # functions, or Switch and Merge
    seen: list[Any] = []
    sessions = Sessions(
        Objects(lambda: None), lambda begin: None, seen.append, lambda: None, lambda look: look(), lambda text: None,
        lambda: 1
    )
    with tf1.Graph().as_default(), tempfile.TemporaryDirectory() as folder, sessions.watching():
        weight = tf1.get_variable("weight", (3, 1), use_resource=resource)
        other = tf1.get_variable("other", (3, 1), use_resource=resource)
        count = tf1.get_variable("count", (), trainable=False, use_resource=resource)
        loss = tf1.reduce_sum((tf1.ones((2, 3)) @ weight - 1) ** 2)
        (slope,) = tf1.gradients(loss, [weight])
        optimizer = tf1.train.AdamOptimizer(0.1)
        made = optimizer.minimize(loss, var_list=[weight])
        saver = tf1.train.Saver([weight, other])
        with tf1.control_dependencies([made]):
            behind = tf1.identity(loss)
        less = tf1.identity(tf1.assign_sub(weight, 0.1 * slope))
        taken = tf1.placeholder_with_default(True, ())

        def branch() -> Any:
            return tf1.cond(taken, lambda: tf1.identity(tf1.assign_sub(weight, slope)), lambda: tf1.zeros((3, 1)))

        def body(number: Any) -> Any:
            with tf1.control_dependencies([tf1.assign_sub(weight, 0.1 * tf1.ones((3, 1)))]):
                return number + 1

        with tf1.Session() as session:
            fetched, feeds = {
                "initial values": lambda: ((), {}),
                "restored": lambda: ((), {}),
                "forward": lambda: (loss, {}),
                "from another": lambda: (tf1.assign(weight, other), {}),
                "fed in the place of the update": lambda: (less * 1.0, {less: [[0.0]] * 3}),
                "optimizer": lambda: ([made, loss], {}),
                "optimizer in a group": lambda: (tf1.group(made, tf1.assign_add(count, 1.0)), {}),
                "behind a control dependency": lambda: (behind, {}),
                "subtracted": lambda: (less, {}),
                "assigned from itself": lambda: (tf1.assign(weight, weight - 0.1 * slope), {}),
                "rows": lambda: (tf1.scatter_sub(weight, [0], [[0.5]]), {}),
                "branch that is taken": lambda: (branch(), {}),
                "branch that is not taken": lambda: (branch(), {taken: False}),
                "loop": lambda: (tf1.while_loop(lambda number: number < 3, body, [0]), {}),
                "only what is not trained": lambda: (tf1.assign_add(count, 1.0), {}),
            }[name]()
            session.run(tf1.global_variables_initializer())
            if name == "restored":
                saver.restore(session, saver.save(session, os.path.join(folder, "model")))
            elif name != "initial values":
                session.run(fetched, feeds)
    return len(seen)
