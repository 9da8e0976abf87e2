"""Create-once guards: whether code runs at every call, or only while something is still missing.

``if self.v is None: self.v = make()`` is a guard; ``if training:`` and ``if x is None:`` on a local are not.
What is one is not read off its spelling: the function is called twice by `calls_again`, and code that ran in the first
call and cannot run in the second is under a guard.
"""

from __future__ import annotations

import ast
from collections.abc import Container

from .calls_again import CallsAgain, Place, Recurrence
from .index import Block, FileIndex
from .lasting import read_by
from .lazy import cached_property
from .paths import path_of

_FORWARD = ("call", "__call__", "forward", "train_step", "test_step", "predict_step")


class Guards:
    """Answers for all blocks of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._again = CallsAgain(index)
        self._memo: dict[int, Block | None] = {}
        self._known: dict[int, Recurrence] = {}

    def guard(self, block: Block) -> Block | None:
        """The innermost create-once guard of its own function that code in `block` is under, if any."""
        return block.inherited(self._memo, None, self._judge)

    def may_be_one(self, block: Block) -> bool:
        """Whether a block itself may be a guard, and may be none: that hangs on code that is not known."""
        return self._recurrence(block) is Recurrence.UNKNOWN

    def read_by(self, block: Block) -> frozenset[str]:
        """The names that what decides about a block reads, by way of locals, functions and properties of the file."""
        return self._again.writes.read_by(block.scope.function(), read_by(block))

    def _judge(self, level: Block, around: Block | None) -> Block | None:
        return level if self._recurrence(level) is Recurrence.ONCE else around

    def _recurrence(self, block: Block) -> Recurrence:
        known = self._known.get(block.id)
        if known is None:
            place = _place(block)
            known = Recurrence.AGAIN if place is None else self._of_place(block, place)
            if _is_unbuilt(block) and not self._sets_built:
                known = Recurrence.ONCE
            self._known[block.id] = known
        return known

    @cached_property
    def _sets_built(self) -> bool:
        """Whether the file has a flag `built` of its own; Keras sets its own before `call`, and when `build` is run."""
        return any(
            isinstance(fact.target, ast.Attribute)
            and fact.target.attr == "built"
            and not (isinstance(fact.value, ast.Constant) and fact.value.value is True)
            for fact in self._index.assignments
        )

    def _of_place(self, block: Block, place: Place) -> Recurrence:
        found = self._again.recurrence(block, place)
        function = block.scope.function()
        owner = function.owner()
        if found is Recurrence.ONCE and owner is not None:
            # What calls the function may undo it.
            for name in _FORWARD:
                for bind in owner.binds.get(name, ()):
                    if bind.scope is not None and bind.scope is not function and bind.scope.kind == "function":
                        if self._again.recurrence(block, place, bind.scope) is Recurrence.AGAIN:
                            return Recurrence.AGAIN
        return found


def _place(block: Block) -> Place | None:
    """What stands for a block where it hangs on a test, an exception or a pattern."""
    if block.kind in ("if", "else"):
        return id(block.node), block.kind == "if"
    return (id(block.node), True) if block.kind in ("except", "case", "after") else None


def _is_unbuilt(block: Block) -> bool:
    """Whether a block runs where ``self.built`` is false."""
    test, is_false = block.node, block.kind == "else"
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, is_false = test.operand, not is_false
    return is_false and isinstance(test, ast.Attribute) and path_of(test) == "self.built"


def catches(handler: ast.ExceptHandler, errors: Container[str]) -> bool:
    """Whether a handler is for everything, or for an exception of one of these names."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (path_of(kind) or "").rpartition(".")[2] in errors for kind in types)
