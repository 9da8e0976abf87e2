"""TF506: checkpoints without the optimizer that trains what they hold, without averages, or the layers in a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from ...linter.rule_api.model import Assignment, Call, File, Site, Target, path_of
from ...linter.rule_api.rewriting import with_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..keras.strategies import Way, callee_of, calls_by_callee, stations, ways_to
from ..numerics.optimizers import kind_of
from ..variables.constructors import is_layer
from ..variables.keeping import kept
from .assigned import assignments_to, given_to
from .unbuilt import is_of_keras2

if TYPE_CHECKING:
    import libcst

_CHECKPOINT, _MANAGER = "tensorflow.train.Checkpoint", "tensorflow.train.CheckpointManager"
_STEPS = frozenset({"apply_gradients", "minimize", "apply"})
_LATEST = frozenset({f"{_MANAGER}().latest_checkpoint", "tensorflow.train.latest_checkpoint()"})
_AVERAGE = "tensorflow.train.ExponentialMovingAverage"
_REASON = "checkpoints that were saved before hold no optimizer"
_WITHOUT_WEIGHTS = (
    "Activation", "*Dropout*", "*Noise", "*Pooling*", "ReLU", "LeakyReLU", "ELU", "Softmax", "Flatten", "Reshape",
    "Permute", "RepeatVector", "Masking", "Cropping*", "UpSampling*", "ZeroPadding*", "Add", "Average", "Concatenate",
    "Dot", "Maximum", "Minimum", "Multiply", "Subtract", "InputLayer",
)  # fmt: skip
"""Layers of Keras of which a checkpoint keeps nothing."""
_KEPT_BY_HAND = frozenset({"variables", "weights", "get_weights", "set_weights", "save_own_variables"})


class _Lost(NamedTuple):
    """An optimizer that a checkpoint lacks."""

    path: str
    """What it is called where the checkpoint is made."""
    made: Site
    """The call that makes it."""
    line: int
    """From which on it is called so; 0 for a parameter."""


class CheckpointMissingState(Rule):
    """A training goes on from a checkpoint that does not hold its optimizer, its averages, or layers of the model.

    ## Why
    The moments and the step of an optimizer are variables too, and only what a `tf.train.Checkpoint` is given is saved.
    After the restart they are zero: Adam begins with its large first steps, and a learning rate schedule at its
    beginning.
    Measured on a linear model that is resumed after 20 of 40 steps: with the optimizer the losses go on to the digit,
    1.537, 1.351, 1.195; without it they are 1.537, 1.202, 0.936.
    Plain `SGD` has no moments, and goes on as it was.
    The averages of a `tf.train.ExponentialMovingAverage` are lost in the same way: after 40 steps that were resumed
    after 20 of them, the average of a variable is 30.66 where it would be 32.13 [run].
    It is said only where the file itself resumes from the newest checkpoint and saves again: weights alone are right
    for an export and for a warm start.
    The step may be a function that another one makes of the model and the optimizer: what is given is followed through
    the parameters and results of the file's functions.
    No run decides this: what is lost shows only when the program is started a second time.

    With Keras 3 a checkpoint does not hold all of a model either: `tf.train.Checkpoint` finds the layers in attributes
    and in tuples, and not those in a list or dict of a model or layer, nested or not.
    Nothing of them is saved and nothing restored, without a word, while `weights`, training and `save_weights` know
    them; with tf_keras the checkpoint does, too [run].

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adam()
    checkpoint = tf.train.Checkpoint(model=model)
    manager = tf.train.CheckpointManager(checkpoint, "runs", max_to_keep=3)
    manager.restore_or_initialize()
    for batch in dataset:
        optimizer.apply_gradients(zip(gradients(batch), model.trainable_variables))
        manager.save()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adam()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, "runs", max_to_keep=3)
    manager.restore_or_initialize()
    for batch in dataset:
        optimizer.apply_gradients(zip(gradients(batch), model.trainable_variables))
        manager.save()
    ```

    ## Fix safety
    Unsafe: checkpoints of before hold no optimizer, and what asserts that all of one was found raises for them once.

    ## Source
    - https://www.tensorflow.org/guide/checkpoint#create_the_checkpoint_objects
    - https://www.tensorflow.org/guide/migrate/migrating_checkpoints
    """

    code = "TF506"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = (_CHECKPOINT, "keras.layers.*", "keras.Sequential")
    creates = ("layer",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what a checkpoint is given by the optimizers that take steps beside it, and layers by their place."""
        if not any(name.canonical == _CHECKPOINT for name in call.names):
            yield from self._collected(call)
            return
        if not _is_resumed(call):
            return
        made = self._missing(call)
        if made is not None:
            yield self.report(
                call,
                f"the training is resumed from this checkpoint, which does not hold `{made.path}`: its moments and its "
                "step begin at zero again, and the training silently goes on differently. Give the checkpoint "
                f"`optimizer={made.path}`.",
                subject=made.path,
                related=[made.made.location("the optimizer")],
            )
        average = _average(call)
        if average is not None:
            yield self.report(
                call,
                f"the training is resumed from this checkpoint, which does not hold the averages of `{average.path}`: "
                "they begin again at the restored weights, and evaluation with them silently gives other numbers. Give "
                f"the checkpoint a list of what `{average.path}.average` gives for each variable, once it was applied.",
                subject=average.path,
                related=[average.location("the averages")],
            )

    def _collected(self, call: Call) -> Iterator[Diagnostic]:
        """A layer that an attribute of a Keras 3 layer holds in a list or dict alone, also by way of a function."""
        if call.target is not Target.KERAS3 or not is_layer(call) or is_of_keras2(call):
            return
        if any(fnmatchcase(call.name, f"keras.layers.{pattern}") for pattern in _WITHOUT_WEIGHTS):
            return
        told: set[str] = set()
        for place in _places(call):
            name = _held_by(place)
            if name is not None and name not in told and _is_first_in(place, name):
                told.add(name)
                yield self.report(
                    place,
                    f"`tf.train.Checkpoint` silently saves and restores nothing of what `self.{name}` holds: with "
                    "Keras 3 it does not look into a list or dict of a layer. Keep each layer in an attribute of its "
                    "own or in a tuple, or all in a `tf.keras.Sequential`; or use `save_weights`.",
                    subject=f"self.{name}",
                )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give it the optimizer, too."""
        if not any(name.canonical == _CHECKPOINT for name in site.names) or not _is_resumed(site):
            return None
        made = self._missing(site)
        if made is None or "optimizer" in site.keywords or made.line > site.line:
            return None
        return Replacement(with_argument(node, "optimizer", made.path), Applicability.UNSAFE, _REASON)

    @staticmethod
    def _missing(call: Call) -> _Lost | None:
        """The optimizer that a checkpoint lacks."""
        steps = (step for step in call.file.calls if step.method in _STEPS and step.receiver is not None)
        return next((found for step in steps if (found := _lost(call, step)) is not None), None)


def _places(call: Call) -> Iterator[Call]:
    """Where what a call makes is kept: there, or where the file calls the function that returns it."""
    yield call
    function = call.scope.function()
    returns = call.file.index.returns_in(function) if function.is_function else []
    if [one.value for one in returns][:1] == [call.call]:
        yield from calls_by_callee(call.file).get(function.id, [])


def _held_by(call: Call) -> str | None:
    """The attribute that alone holds what a call gives, in a list or dict; None where a checkpoint has that."""
    cls = call.cls
    if cls is None or not cls.is_keras:
        return None
    if any(text.startswith("tf_keras.") for text in call.file.project.mro(cls.key)[1]):
        return None
    if call.file.is_test or call.in_graph or not _is_made_for_checkpoint(call):
        return None
    holders = [one for one in kept(call) if call.class_of_self(one.path.partition(".")[0]) is not None]
    if not holders or any(one.inside or not one.collected or one.path.count(".") != 1 for one in holders):
        return None
    name = holders[0].path.partition(".")[2]
    stores = (one.value for one in call.file.assignments_to(cls.body, name))
    if not all(isinstance(value, ast.List | ast.Dict | ast.ListComp | ast.DictComp | ast.Name) for value in stores):
        return None
    return None if _is_kept_otherwise(call, name) else name


def _is_made_for_checkpoint(call: Call) -> bool:
    """Whether a file that makes a checkpoint makes the layer around a call, or one of its file that makes that."""
    file, cls = call.file, call.cls
    files = set(file.project.files_using(_CHECKPOINT))
    queue, met = [cls.key] if cls is not None and files else [], set()
    while queue:
        key = queue.pop()
        met.add(key)
        for maker in file.project.makers(key):
            scope = file.index.scopes[maker[1]] if maker[0] == file.key else None
            around = file.function_of(scope).cls if scope is not None and scope.is_function else None
            if around is None and maker[0] in files:
                return True
            if around is not None and around.key not in met:
                queue.append(around.key)
    return False


def _is_kept_otherwise(call: Call, name: str) -> bool:
    """Whether what an attribute holds is given to something else, or set as attributes one by one."""
    for reference in call.file.references:
        parts = (reference.path or "").split(".")
        if parts[0] == "setattr":
            return True
        if parts[-1] == name and len(parts) > 1:
            around = call.file.parent_of(reference.syntax)
            if isinstance(around, ast.Assign | ast.Starred | ast.keyword) or (
                isinstance(around, ast.Call) and not _only_walks(around)
            ):
                return True
    return False


def _only_walks(call: ast.Call) -> bool:
    return path_of(call.func) in ("enumerate", "len", "reversed", "zip")


def _is_first_in(call: Call, name: str) -> bool:
    """Whether no layer before it is kept in the attribute, so that one finding speaks of all."""
    home = call.file.calls_by_function.get(call.scope.function().id, [])
    before = (one for one in home if (one.line, one.column) < (call.line, call.column) and is_layer(one))
    return not any(holder.path.endswith(f".{name}") for one in before for holder in kept(one))


def _is_resumed(call: Call) -> bool:
    """Whether it is surely known what a checkpoint holds, and training goes on from it."""
    if call.version_checked or call.in_graph or call.file.is_test or call.has_stars or not call.arguments:
        return False
    if any(entity.kind != "external" for entity in call.found) or not _resumes(call):
        return False
    return all(call.class_of_self(path_of(node) or "") is None for node in call.arguments)


def _average(call: Call) -> Assignment | None:
    """Where moving averages are made that nothing keeps: what reads single ones may give them to the checkpoint."""
    for step in call.file.calls:
        if step.method != "apply" or not any(name.canonical == f"{_AVERAGE}().apply" for name in step.names):
            continue
        node = step.receiver
        made = assignments_to(step, node)
        if not isinstance(node, ast.Name | ast.Attribute) or not _is_known_at(call, step, node):
            continue
        if len(made) != 1 or made[0].value_call is None:
            continue
        if not _averages_may_be_kept(call, (made[0].path or "").rpartition(".")[2]):
            return made[0]
    return None


def _averages_may_be_kept(call: Call, last: str) -> bool:
    """Whether an object of averages is given away, or what it gives is more than assigned to a variable."""
    file = call.file
    for reference in file.references:
        parts = (reference.path or "").split(".")
        if parts[-1] == last:
            return True
        if last in parts[:-1] and parts[parts.index(last) + 1] not in ("apply", "average"):
            return True
        if parts[-2:] == [last, "average"]:
            asked = file.parent_of(reference.syntax)
            around = file.parent_of(asked) if isinstance(asked, ast.Call) else None
            used = file.call_at(around) if isinstance(around, ast.Call) else None
            if used is None or used.method != "assign":
                return True
    return False


def _resumes(call: Call) -> bool:
    """Whether the file restores the newest of such checkpoints, and saves one while it trains."""
    names = [*call.assigned_to]
    for manager in call.file.calls:
        if manager.name == _MANAGER:
            kept = manager.value("checkpoint", 0)
            if kept is call.syntax or path_of(kept) in call.assigned_to:
                names += manager.assigned_to
    asked = [one for one in call.file.calls if one.receiver is not None and path_of(one.receiver) in names]
    saves = [one for one in asked if one.method in ("save", "write")]
    return any(one.loops or one.cls is not None for one in saves) and any(map(_is_resuming, asked))


def _is_resuming(call: Call) -> bool:
    if call.method == "restore_or_initialize":
        return True
    given = call.names_of(call.value("save_path", 0)) if call.method in ("restore", "read") else ()
    return any(name.canonical in _LATEST for name in given)


def _lost(call: Call, step: Call) -> _Lost | None:
    """The optimizer that takes a step, if it surely has moments and nothing keeps them.

    It may come to the step through parameters and results; the checkpoint has to know one of the names on that way.
    """
    ways = ways_to(step, step.receiver)
    for way in ways:
        held = list(_held(step, way))
        known = next((one for one in held if _is_known_at(call, *one)), None)
        if known is None or not all(_is_plain(site, node) for site, node in held if node is not known[1]):
            continue
        made = assignments_to(*known)
        beside = [other[-1:] for other in ways if any(node is known[1] for _, node in _held(step, other))]
        if len(made) > 1 or any(one.augmented for one in made) or not all(map(_have_moments, beside)):
            continue
        path, last = path_of(known[1]), way[-1]
        if path is not None and not _may_be_kept(call.file, held):
            return _Lost(path, last, max((one.line for one in made), default=0))
    return None


def _held(step: Call, way: Way) -> Iterator[tuple[Site, ast.Name | ast.Attribute]]:
    """The names and attributes that an optimizer has on its way, from the step on, and where each stands."""
    for site, node in stations(step, step.receiver, way):
        if isinstance(node, ast.Name | ast.Attribute):
            yield site, node


def _is_plain(site: Site, node: ast.expr) -> bool:
    """Whether a name is no attribute: what has the optimizer there may be in the checkpoint."""
    return isinstance(node, ast.Name) and site.class_of_self(node.id) is None


def _have_moments(ends: Way) -> bool:
    return all(isinstance(end, Call) and _has_moments(end) for end in ends) and bool(ends)


def _has_moments(optimizer: Call) -> bool:
    kind = kind_of(optimizer)
    return bool(kind) and (kind != "SGD" or optimizer.literal("momentum", 1, 0.0) not in (0, 0.0))


def _is_known_at(call: Call, site: Site, node: ast.Name | ast.Attribute) -> bool:
    """Whether the optimizer's name means the same where the checkpoint is made."""
    if isinstance(node, ast.Attribute):
        owner = site.class_of_self(path_of(node.value) or "")
        return owner is not None and call.cls is not None and call.cls.key == owner.key
    index = call.file.index
    found = index.lookup(site.scope, node.id)
    return found is not None and index.lookup(call.scope, node.id) == found


def _may_be_kept(file: File, held: Sequence[tuple[Site, ast.expr]]) -> bool:
    """Whether the optimizer is given to anything but functions of the project, or its variables are asked for."""
    names = [(path_of(node) or "").rpartition(".")[2] for _, node in held]
    on_the_way = [node for _, node in held]
    elsewhere = set(file.project.files_using(_CHECKPOINT)) - {file.key}
    for last in names:  # grows by the parameters that it is given to
        for reference in file.references:
            parts = (reference.path or "").split(".")
            if last in parts[:-1] and parts[parts.index(last) + 1] in _KEPT_BY_HAND:
                return True
            if parts[-1] != last:
                continue
            to = given_to(reference)
            if to is None and not any(node is reference.syntax for node in on_the_way):
                return True
            if to is None:
                continue
            if not to.found or any(entity.kind != "function" for entity in to.found):
                return True
            if any(entity.file in elsewhere for entity in to.found):
                return True
            given = list(_parameters_given(to, reference.syntax))
            if not given and any(entity.file == file.key for entity in to.found):
                return True
            names += [one for one in given if one not in names]
    return False


def _parameters_given(call: Call, node: ast.AST) -> Iterator[str]:
    """The parameters of functions of the file that a call gives a value."""
    function = callee_of(call)
    if function is not None:
        yield from (name for name in function.parameters if call.given_to(function, name) is node)
