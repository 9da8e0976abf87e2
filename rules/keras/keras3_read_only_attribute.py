"""TF317: attributes that a class of Keras 3 does not let its subclasses set."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, ClassSite, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .members import read_only


class Keras3ReadOnlyAttribute(Rule):
    """A class derived from one of Keras sets an attribute that is a property without a setter in Keras 3.

    ## Why
    `self.model = model` in a `Callback`, `self.kernel = ...` in a subclass of `Dense` or `Conv2D`, `self.dtype = ...`
    in a `Loss`, `self.num_heads = ...` in a `MultiHeadAttention`: Keras 3 has properties of these names and raises
    AttributeError, where Keras 2 took what it was given.
    The attributes were found by setting those of instances of each class, with both.

    A callback is given its model by `fit`; of other attributes another name does, or `add_weight`.

    ## Example
    ```python
    import tensorflow as tf

    class Watch(tf.keras.callbacks.Callback):
        def __init__(self, model):
            super().__init__()
            self.model = model
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Watch(tf.keras.callbacks.Callback):
        def __init__(self, model):
            super().__init__()
            self.watched = model
    ```

    ## Source
    - https://keras.io/api/callbacks/base_callback/
    - https://keras.io/guides/migrating_to_keras_3/
    """

    code = "TF317"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})
    supersedes = ("TF107", "TF109", "TF209")
    assigns = ("attribute",)
    of_keras = True

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge what is given to an attribute of ``self``."""
        name, owner = assignment.self_attribute, assignment.owner
        if name is None or owner is None or assignment.version_checked or not owner.public_bases:
            return
        base = next((base for base in owner.public_bases if name in read_only(base)), "")
        if base and not _has_own(owner, name):
            yield self.report(
                assignment,
                f"`{assignment.path}` raises AttributeError with Keras 3, where `{name}` of a "
                f"`{base.rpartition('.')[2]}` is a property without a setter. Take another name.",
                subject=assignment.path,
            )


def _has_own(owner: ClassSite, name: str) -> bool:
    """Whether it, or a base of the project, has an attribute or a method of that name, or sets attributes itself."""
    if owner.defines(name) or owner.defines("__setattr__"):
        return True
    for file, number in owner.project_bases:
        if file != owner.file.key:
            continue
        body = owner.file.index.scopes[number]
        if name in body.binds:
            return True
    return False
