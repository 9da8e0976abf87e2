"""Child interpreters begin as new ones; what becomes of a call in one is told, and the next call has a child."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import Any

import pytest
from migrate_lint.runtime_checks.interpreter import default_target, describe

from .interpreters import Children, parent_of

pytestmark = pytest.mark.tensorflow


def noisy(number: int) -> list[int]:
    """What is printed is no answer, and nothing can be read."""
    print("not an answer")
    os.write(1, b"nor this\n")
    return [number, os.getpid(), len(sys.stdin.read())]


def failing() -> None:
    raise LookupError("no such number")


def leaving() -> None:
    os.write(2, b"I go\n")
    os._exit(7)


def hanging() -> None:
    time.sleep(3000)


def beginning() -> list[Any]:
    """What this process is the fork of, whether TensorFlow has begun there, and what an earlier call has left."""
    import tensorflow as tf
    from tensorflow.python.eager import context

    found = [os.getppid(), context.context_safe() is not None, hasattr(tf, "left"), sys.argv[1:], os.listdir()]
    tf.left = float(tf.constant(1.0))
    open("left", "w").close()
    return found


def test_every_child_begins_with_the_import_alone() -> None:
    """Nothing is computed in the process that is forked, nor left there; where it has died there is another one."""
    target = default_target(describe())
    with contextlib.closing(Children()) as children:
        parent, *first = children.call(target, beginning)
        _, *again = children.call(target, beginning)
        same, *alone = children.call(target, beginning, alone=True)
        os.kill(parent, signal.SIGKILL)
        while parent_of(target).number == parent:
            time.sleep(0.01)
        other, *after = children.call(target, beginning)

    assert [False, False, [], []] == first == alone == after
    assert [True, True, [], ["left"]] == again
    assert parent == same != other


def test_a_call_that_goes_wrong_costs_no_other() -> None:
    """An exception is told with its traceback, an end with its status and last words, a hang with its limit."""
    target = default_target(describe())
    with contextlib.closing(Children()) as children:
        _, first, left = children.call(target, noisy, 1)
        with pytest.raises(pytest.fail.Exception, match=r"(?s)in failing.*LookupError: no such number"):
            children.call(target, failing)
        again = children.call(target, noisy, 2)
        with pytest.raises(pytest.fail.Exception, match=r"(?s)leaving\(\) ended the child \(7\).*I go"):
            children.call(target, leaving)
        number, second, _ = children.call(target, noisy, 3)
        with pytest.raises(pytest.fail.Exception, match=r"hanging\(\) took longer than 1 s"):
            children.call(target, hanging, seconds=1)
        _, third, _ = children.call(target, noisy, 4)

    assert ([2, first, 0], 0, 3) == (again, left, number)
    assert 3 == len({first, second, third})
