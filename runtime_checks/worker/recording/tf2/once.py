"""Whether a model makes its variables once: what the second and later calls create."""

from __future__ import annotations

from typing import Callable

from ...errors import essence, one_line
from ...frames import UserCode
from ...scopes import creations
from ..format.rows import CallRow, CreationRow
from ..format.store import Chapter
from ..tensors import Function, Tensor, Variable
from .model import Forward, Model, in_function
from .session import Made, Session
from .variables import Creation, Variables, made_by, shape_of

__all__ = ["record"]

_CALLS = (
    ("first call, inference", False, False),
    ("first call, training", True, False),
    ("second call, inference", False, False),
    ("second call, training", True, False),
    ("first call, inference, in tf.function", False, True),
    ("second call, inference, in tf.function", False, True),
    ("first call, training, in tf.function", True, True),
    ("second call, training, in tf.function", True, True),
)
_MAY_CREATE = ("first call, inference", "first call, training")
"""The first eager call of a mode makes what the mode needs."""


def record(session: Session, made: Made, chapter: Chapter, built: Callable[[], None]) -> None:
    """Call a fresh model eight times, and say what each call but the first of a mode created, and how it ended.

    `built` is called once the first calls of both modes have ended well.
    """
    created: list[CreationRow] = []
    calls: list[CallRow] = []
    functions = {training: in_function(_call(made.model, training)) for training in (False, True)}
    batch = session.batch_tensors(0)
    for name, training, traced in _CALLS:
        found: list[Creation] = []
        ended = "ok"
        try:
            with creations(_noting(found, session.code)):
                if traced:
                    functions[training](batch.inputs, batch.labels)
                else:
                    session.run(made, training)
        except Exception as error:
            ended = one_line(essence(error))
        calls.append({"name": name, "ended": ended})
        if name == _MAY_CREATE[-1] and all(call["ended"] == "ok" for call in calls):
            built()
        if name not in _MAY_CREATE:
            created += [_described(name, one, made.variables) for one in found]
    chapter.say(created=created, calls=calls)


def _noting(found: list[Creation], code: UserCode) -> Callable[[Variable], None]:
    return lambda variable: found.append(made_by(variable, code))


def _call(model: Model, training: bool) -> Function:
    return lambda inputs, labels: _leaves(model.forward(inputs, training, labels))


def _leaves(found: Forward) -> list[Tensor]:
    import tensorflow as tf

    return [tf.convert_to_tensor(leaf) for leaf in found.outputs.values()]


def _described(call: str, one: Creation, variables: Variables) -> CreationRow:
    return {
        "call": call,
        "name": variables.name(one.variable),
        "shape": list(shape_of(one.variable)),
        "place": None if one.place is None else list(one.place),
    }
