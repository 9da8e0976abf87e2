"""The two scopes of TensorFlow's guide on validating a migration, and the recorder of variables below them.

TensorFlow is imported when a scope is entered, never before.

A variable counts when it comes into being, in whichever thread or graph and under whichever Keras: what
``tf.Variable`` returns, an instance of ``ResourceVariable`` or ``RefVariable``, a Keras 3 variable whose value waits
for the end of a symbolic call. What only stands for a variable that exists does not count: the result of an
assignment, a handle wrapped again by ``tf.function``, a copy made for a SavedModel or for an asynchronous checkpoint,
a variable read back from a ``VariableDef``, the container around the components of a distributed variable.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

REFUSAL = "Attempted to create a new variable instead of reusing an existing one."
CONTAINERS = frozenset(
    ["AggregatingVariable", "CachingVariable", "DistributedVariable", "PackedDistributedVariable", "PerWorkerVariable"]
)
KERAS_VARIABLES = "keras.src.backend.tensorflow.core"


class _Listener(NamedTuple):
    """`before` gets the arguments of a constructor and may raise, `after` gets the variable."""

    before: Callable[[Mapping[str, Any]], object] | None
    after: Callable[[Any], object] | None


class _Patch(NamedTuple):
    owner: Any
    name: str
    own: Any
    replacement: Any


_lock = threading.Lock()
_listeners: list[_Listener] = []
_patches: list[_Patch] = []
_thread = threading.local()


@contextmanager
def assert_no_variable_creations() -> Iterator[None]:
    """Raise ValueError where a variable is made inside this scope, which also serves as a decorator.

    The message is that of TensorFlow's guide: what was attempted, and the arguments of the creation. An error that
    the body swallowed, or that was raised in another thread, is raised again at the end of the scope; where the body
    then raises something else, from that exception.
    The scope watches the whole process while it is open, and a thread only as long as that.
    """
    import tensorflow as tf

    attempts: list[ValueError] = []

    def refuse(arguments: Mapping[str, Any]) -> None:
        attempts.append(ValueError(f"{REFUSAL} Args: {dict(arguments)}"))
        raise attempts[-1]

    def creator(next_creator: Callable[..., Any], **arguments: Any) -> Any:
        if _announced():
            return next_creator(**arguments)
        return refuse(arguments)

    try:
        with _listening(_Listener(refuse, None)), tf.variable_creator_scope(creator):
            yield
    except Exception as error:
        if attempts and not _carries(error, attempts):
            raise attempts[0] from error
        raise
    if attempts:
        raise attempts[0]


@contextmanager
def catch_and_raise_created_variables() -> Iterator[None]:
    """Raise ValueError("Created vars:", [variables]) at the end if any were made; also serves as a decorator.

    Where the body raises too, that exception is the cause of the ValueError, or passes unchanged if nothing was made.
    Under a distribution strategy the components are listed, one for each replica, as the guide's creator sees them.
    The scope watches the whole process while it is open, and a thread only as long as that.
    """
    created: list[Any] = []
    try:
        with creations(created.append):
            yield
    except Exception as error:
        if created:
            raise _created(created) from error
        raise
    if created:
        raise _created(created)


@contextmanager
def creations(callback: Callable[[Any], object]) -> Iterator[None]:
    """Call `callback` once with every variable made in this process: any thread, any graph, nested scopes too.

    It is called on the constructing thread, right after the constructor and outside the ``init_scope`` in which that
    works, so the stack leads to the code that wanted the variable. What it raises reaches that code.

    The variable is a ``tf.Variable``, or a Keras 3 variable where that was made in a symbolic call and gets its
    value later; its ``tf.Variable`` is then not announced again. Under a distribution strategy it is a component, one
    for each replica, and with mixed precision it is what Keras 2 wraps in its ``AutoCastVariable``.
    """
    with _listening(_Listener(None, callback)):
        yield


def _created(variables: list[Any]) -> ValueError:
    return ValueError("Created vars:", [_filled(variable) for variable in variables])


def _filled(variable: Any) -> Any:
    """The ``tf.Variable`` in a Keras 3 variable that has got its value; any other variable itself."""
    found = keras_class()
    if found is None or not isinstance(variable, found) or variable._value is None:
        return variable
    return variable._value


def _carries(error: BaseException | None, attempts: list[ValueError]) -> bool:
    """Whether an error is one of the attempts, came from one, or quotes one as Keras and TensorFlow do."""
    met: set[int] = set()
    while error is not None and id(error) not in met:
        if REFUSAL in str(error) or any(error is attempt for attempt in attempts):
            return True
        met.add(id(error))
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def _listening(listener: _Listener) -> Iterator[None]:
    """Tell the listener of every creation; the first one in patches the constructors, the last one out restores."""
    with _lock:
        _patch()
        _listeners.append(listener)
    try:
        yield
    finally:
        with _lock:
            _listeners[:] = [other for other in _listeners if other is not listener]
            if not _listeners:
                _restore()


def _patch() -> None:
    """Patch what is loaded and not patched yet: Keras may be imported after the first scope was entered."""
    from tensorflow.python.ops import variables

    # Only here is a constructor over: `BaseResourceVariable.__init__` runs in the middle of one, in an `init_scope`.
    _replace(variables.VariableMetaclass, "__call__", _announcing_call)
    found = keras_class()
    if found is not None:
        _replace(found, "__init__", _announcing_init)
        _replace(found, "_deferred_initialize", _announced_before)


def _replace(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    if any(patch.owner is owner and patch.name == name for patch in _patches):
        return
    patch = _Patch(owner, name, vars(owner).get(name), wrap(getattr(owner, name)))
    setattr(owner, name, patch.replacement)
    _patches.append(patch)


def _restore() -> None:
    """Undo the patches, save those that somebody else has patched over: they stay, and tell nobody."""
    for patch in _patches[:]:
        if vars(patch.owner).get(patch.name) is not patch.replacement:
            continue
        if patch.own is None:
            delattr(patch.owner, patch.name)
        else:
            setattr(patch.owner, patch.name, patch.own)
        _patches.remove(patch)


def _announcing_call(original: Any) -> Any:
    """``VariableMetaclass.__call__`` that tells the listeners."""

    @functools.wraps(original)
    def construct(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not _listeners or _announced() or not _creates(cls, kwargs, sys._getframe(1)):
            return original(cls, *args, **kwargs)
        return _announce(cls.__init__, args, kwargs, lambda: original(cls, *args, **kwargs))

    return construct


def _announcing_init(original: Any) -> Any:
    """``keras.Variable.__init__`` that tells the listeners of a variable without a value."""

    @functools.wraps(original)
    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        def construct() -> Any:
            original(self, *args, **kwargs)
            return self

        initializer = args[0] if args else kwargs.get("initializer")
        if _listeners and _in_stateless_scope() and (callable(initializer) or isinstance(initializer, str)):
            _announce(original, args, kwargs, construct)
        else:
            construct()

    return initialize


def _announced_before(original: Any) -> Any:
    """``keras.Variable._deferred_initialize``, whose ``tf.Variable`` is no news."""

    @functools.wraps(original)
    def initialize(self: Any) -> Any:
        _thread.announced = True
        try:
            return original(self)
        finally:
            _thread.announced = False

    return initialize


def _announced() -> bool:
    return getattr(_thread, "announced", False)


def _announce(constructor: Any, args: Any, kwargs: Any, construct: Callable[[], Any]) -> Any:
    """What `construct` returns, with every present listener told before and after."""
    listeners = tuple(_listeners)
    for listener in listeners:
        if listener.before is not None:
            listener.before(_bound(constructor, args, kwargs))
    variable = construct()
    for listener in listeners:
        if listener.after is not None:
            listener.after(variable)
    return variable


def _bound(constructor: Any, args: Any, kwargs: Any) -> Mapping[str, Any]:
    """The arguments of a constructor by name, without `self`."""
    parameters = [name for name in inspect.signature(constructor).parameters if name != "self"]
    return {**dict(zip(parameters, args)), **kwargs}


def _creates(cls: Any, kwargs: Mapping[str, Any], caller: FrameType) -> bool:
    """Whether calling this class makes a variable, rather than a stand-in for one or a choice of another class."""
    from tensorflow.python.ops import resource_variable_ops

    if not issubclass(cls, (resource_variable_ops.BaseResourceVariable, _ref_variable())):
        return False
    if not CONTAINERS.isdisjoint(base.__name__ for base in cls.__mro__):
        return False
    # With a handle: `_UnreadVariable`, the result of an assignment, and what `tf.function` unpacks.
    if kwargs.get("handle") is not None or kwargs.get("variable_def") is not None:
        return False
    # Savers copy into a bare `UninitializedVariable`; of all its makers only the loader makes a variable of it.
    bare = cls is resource_variable_ops.UninitializedVariable
    return not bare or caller.f_code.co_name == "uninitialized_variable_creator"


def _ref_variable() -> Any:
    try:
        from tensorflow.python.ops.ref_variable import RefVariable
    except ImportError:  # TF < 2.10
        from tensorflow.python.ops.variables import RefVariable
    return RefVariable


def keras_class() -> Any:
    """The variable of Keras 3 on TensorFlow, or None where that is not loaded."""
    return getattr(sys.modules.get(KERAS_VARIABLES), "Variable", None)


def _in_stateless_scope() -> bool:
    from keras.src.backend.common import stateless_scope

    return bool(stateless_scope.in_stateless_scope())
