"""TF309: names, methods and attributes of Keras that the target's Keras does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Assignment, File, Import, Name, Reference, Target, missing_part, split_api
from ...linter.rule_api.rewriting import expression, has_comment, keyworded, with_argument, with_imports, with_keywords
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..tf1_api.api_status import Standing, asks_for, has_all, is_of_keras, missing, missing_import, standing
from .members import Member, lacks, member_of

if TYPE_CHECKING:
    import libcst

SUCCESSORS = {
    "backend.function": "Model",
    "backend.image_dim_ordering": "backend.image_data_format",
    "backend.set_image_dim_ordering": "backend.set_image_data_format",
    "backend.tensorflow_backend": "backend",
    "layers.AbstractRNNCell": "layers.Layer",
    "layers.CuDNNGRU": "layers.GRU",
    "layers.CuDNNLSTM": "layers.LSTM",
    "layers.DenseFeatures": "utils.FeatureSpace",
    "layers.experimental": "layers",
    "layers.experimental.preprocessing": "layers",
    "layers.experimental.SyncBatchNormalization": "layers.BatchNormalization",
    "layers.merge": "layers.concatenate",
    "layers.ThresholdedReLU": "layers.ReLU",
    "losses.kullback_leibler_divergence": "losses.kl_divergence",
    "losses.logcosh": "losses.log_cosh",
    "metrics.kullback_leibler_divergence": "metrics.kl_divergence",
    "mixed_precision.experimental.set_policy": "mixed_precision.set_global_policy",
    "models.model_from_yaml": "models.model_from_json",
    "objectives": "losses",
    "optimizers.adadelta": "optimizers.Adadelta",
    "optimizers.adagrad": "optimizers.Adagrad",
    "optimizers.adam": "optimizers.Adam",
    "optimizers.adamax": "optimizers.Adamax",
    "optimizers.nadam": "optimizers.Nadam",
    "optimizers.rmsprop": "optimizers.RMSprop",
    "optimizers.sgd": "optimizers.SGD",
    "preprocessing.text.Tokenizer": "layers.TextVectorization",
    "utils.GeneratorEnqueuer": "utils.PyDataset",
    "utils.OrderedEnqueuer": "utils.PyDataset",
    "utils.SequenceEnqueuer": "utils.PyDataset",
    **{
        f"{module}.{short}": f"{module}.{long}"
        for module in ("losses", "metrics")
        for long, shorts in {
            "kl_divergence": ("KLD", "kld"),
            "mean_absolute_error": ("MAE", "mae"),
            "mean_absolute_percentage_error": ("MAPE", "mape"),
            "mean_squared_error": ("MSE", "mse"),
            "mean_squared_logarithmic_error": ("MSLE", "msle"),
        }.items()
        for short in shorts
    },
}
"""What does the same under another name, both below ``keras``."""
_LOADING = ("max_queue_size", "workers", "use_multiprocessing")
_HOMES = ("layers", "models", "utils", "optimizers.schedules", "callbacks", "losses", "metrics", "")
"""Where a name is looked for that has left its module, after the module itself."""
_FOLDERS = frozenset(
    (
        "advanced_activations", "conv_utils", "convolutional", "core", "data_utils", "embeddings", "generic_utils",
        "io_utils", "layer_utils", "local", "noise", "normalization", "np_utils", "pooling", "recurrent",
        "training_utils", "vis_utils", "wrappers",
    )
)  # fmt: skip
"""Modules whose names the module above has."""
_MEMBERS = {
    ("DType", "as_numpy_dtype"): "It is a text; `tf.as_dtype(...)` makes a dtype of it",
    ("DType", "base_dtype"): "It is a text; `tf.as_dtype(...)` makes a dtype of it",
    ("DType", "name"): "It is a text itself",
    ("Layer", "apply"): "Call the layer",
    ("Layer", "input_shape"): "Use `.input.shape`, once the layer was called",
    ("Layer", "output_shape"): "Use `.output.shape`, once the layer was called",
    ("Layer", "get_input_at"): "Use `.input`",
    ("Layer", "get_input_shape_at"): "Use `.input.shape`",
    ("Layer", "get_output_at"): "Use `.output`",
    ("Layer", "get_output_shape_at"): "Use `.output.shape`",
    ("Metric", "reset_states"): "It is `reset_state` now",
    ("Metric", "weights"): "Use `.variables`",
    ("Model", "evaluate_generator"): "`evaluate` takes generators",
    ("Model", "fit_generator"): "`fit` takes generators",
    ("Model", "predict_classes"): "Use `predict(...).argmax(axis=-1)`, or compare with 0.5",
    ("Model", "predict_generator"): "`predict` takes generators",
    ("Model", "predict_proba"): "`predict` gives the same",
    ("Model", "reset_states"): "Call `reset_state` of each recurrent layer",
    ("Model", "to_yaml"): "`to_json` does the same",
    ("Variable", "get_shape"): "Use `.shape`",
    ("Variable", "read_value"): "Use `.value`, without a call",
    ("Variable", "ref"): "Use `id(...)`, or `.path`",
    ("Optimizer", "compute_gradients"): "Use `tf.GradientTape`",
    ("Optimizer", "get_gradients"): "Use `tf.GradientTape`",
    ("Optimizer", "get_updates"): "Use `apply_gradients`",
    ("Optimizer", "get_weights"): "Use `.variables`",
    ("Optimizer", "lr"): "It is `learning_rate` now",
    ("Optimizer", "minimize"): "Use `tf.GradientTape` and `apply_gradients`",
    ("Optimizer", "weights"): "Use `.variables`",
}


SAME = {
    "layers.experimental.EinsumDense": "layers.EinsumDense",
    "layers.experimental.preprocessing": "layers",
    **{
        name: new
        for name, new in SUCCESSORS.items()
        if name.startswith(("losses.", "metrics.")) and name.count(".") == new.count(".") == 1
    },
}
"""Names of the very object that a shorter or longer one has as well; `test_rewritten_calls.py` compares them."""
_GENERATORS = {
    "evaluate_generator": ("evaluate", ("x", "steps", "callbacks", *_LOADING, "verbose")),
    "fit_generator": (
        "fit",
        (
            "x", "steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data", "validation_steps",
            "validation_freq", "class_weight", *_LOADING, "shuffle", "initial_epoch",
        ),
    ),
    "predict_generator": ("predict", ("x", "steps", "callbacks", *_LOADING, "verbose")),
}  # fmt: skip
"""Methods that call another one, and what they call it with, in the order of their own parameters."""
_RENAMED = {("Metric", "reset_states"): "reset_state", ("Optimizer", "lr"): "learning_rate"}
"""Attributes that are the same under another name."""
_SETTINGS = {"Optimizer": "lr"}
"""What Keras 3 lets a program give, and does not look at."""


class KerasRemovedSymbol(Rule):
    """A name, a method or an attribute of Keras is gone on the target.

    ## Why
    Keras 3, which `tf.keras` is from TensorFlow 2.16 on, has no `CuDNNLSTM`, no `K.function`, no `np_utils`; the
    package `keras` itself has no `keras.backend.mean` either, which `tf.keras` keeps.
    Reading such a name raises AttributeError, importing it ImportError.
    So do methods and attributes of what Keras makes: `model.fit_generator`, `model.predict_classes`,
    `optimizer.lr`, `metric.reset_states`, `layer.output_shape`.
    A variable of Keras 3 is none of TensorFlow: it has no `read_value`, no `ref`, and its dtype is a text.
    Some are gone from tf_keras too (`predict_classes`, `optimizer.get_weights`).
    `optimizer.lr = 0.01` raises nothing with Keras 3, and the learning rate stays what it was.

    What the target has was read from the installed packages, attributes from instances of them.
    A method or attribute is judged where the code tells what it is of: a model that it makes or loads, `self.model` of
    a callback, the `optimizer` of a model.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.CuDNNLSTM(8), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit_generator(batches, steps_per_epoch=10)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.LSTM(8), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(batches, steps_per_epoch=10)
    ```

    ## Fix safety
    Safe: the same object is read or imported by a name that the target has, `keras.layers.core.Dense` as
    `keras.layers.Dense`; `fit_generator` and its like, `optimizer.lr` and `metric.reset_states` are what they called.
    What only does something like it, as `LSTM` for `CuDNNLSTM`, has no fix.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    """

    code = "TF309"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "keras3"
    assigns = ("attribute",)
    of_keras = True

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """See `Rule.on_file`."""
        for statement in file.imports:
            if statement.names and not statement.version_checked:
                yield from self._name(statement, missing_import(statement.names, file.target), "ImportError")
        for reference in file.references_to(partial(_may_be_gone, file.target)):
            if not reference.version_checked:
                yield from self._name(reference, missing(reference), "AttributeError")
        for reference in file.references_to(partial(_may_lack, file.target)):
            if not reference.version_checked:
                yield from self._member(reference)

    def _name(self, site: Import | Reference, found: Standing | None, error: str) -> Iterator[Diagnostic]:
        if found is None or not is_of_keras(found):
            return
        doing = "Importing" if isinstance(site, Import) else "Reading"
        where = f"with {found.only_with or 'tf_keras and with Keras 3'}"
        advice = _advice(found, site.target)
        yield self.report(site, f"{doing} `{found.written}` raises {error} {where}.{advice and f' {advice}.'}")

    def _member(self, reference: Reference) -> Iterator[Diagnostic]:
        member = _member_of(reference.names)
        if member is None or any(entity.kind != "external" for entity in reference.found):
            return
        if _may_have(reference.file, member):
            return
        only = reference.target is Target.KERAS3 and not all(
            lacks(name, member, Target.KERAS2) for name in reference.names
        )
        advice = _MEMBERS.get((member.kind, member.name), _MEMBERS.get(("Layer", member.name), ""))
        yield self.report(
            reference,
            f"{_article(member)} has no `{member.name}` {'in Keras 3' if only else 'any more'}: reading it raises "
            f"AttributeError.{advice and f' {advice}.'}",
            subject=f"{member.kind}.{member.name}",
        )

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge a rate that is given to an attribute which is none any more."""
        if (assignment.path or "").rpartition(".")[2] not in _SETTINGS.values():
            return
        names = assignment.file.names(assignment.scope, assignment.path)
        member = _member_of(names)
        if member is None or (member.kind, member.name) not in _SETTINGS.items() or assignment.version_checked:
            return
        if all(lacks(name, member, assignment.target) for name in names) and not asks_for(assignment.file, member.name):
            yield self.report(
                assignment,
                f"{_article(member)} has no `{member.name}` in Keras 3: giving it one silently changes nothing. "
                f"{_MEMBERS[member.kind, member.name]}.",
                consequence=Consequence.CHANGES,
                subject=f"{member.kind}.{member.name} =",
            )

    def fixed_part(self, site: Import | Reference | Assignment) -> ast.expr | ast.stmt | None:
        """The import, the name, the call of a method, or the assignment."""
        if isinstance(site, Import | Assignment):
            return site.statement
        call = site.file.parent_of(site.syntax)
        member = _member_of(site.names)
        if member is not None and member.name in _GENERATORS:
            return call if isinstance(call, ast.Call) and call.func is site.syntax else None
        return super().fixed_part(site)

    def fix(self, node: libcst.CSTNode, site: Import | Reference | Assignment) -> Replacement | None:
        """Use the name that the target has for the same."""
        import libcst

        if isinstance(site, Import):
            new = with_imports(node, _moved(site))
            return Replacement(new) if new is not None else None
        if isinstance(site, Assignment):
            return _set(node, site)
        member = _member_of(site.names)
        if member is not None and isinstance(node, libcst.Call):
            return _without_generator(node, member)
        if member is not None:
            name = _RENAMED.get((member.kind, member.name))
            if name is None or not isinstance(node, libcst.Attribute):
                return None
            return Replacement(node.with_changes(attr=libcst.Name(name)))
        same = _same(site.spelled, site.target) if len(site.names) == 1 else ""
        written = site.importable(same) if same else None
        return Replacement(expression(written[0]), imports=written[1]) if written is not None else None


def _moved(site: Import) -> dict[str, str]:
    """The names of the import around a site that are to be imported from somewhere else, with where they are."""
    moved = {}
    for one in site.file.imports:
        if one.statement is site.statement and len(one.names) == 1:
            found = missing_import(one.names, one.target)
            same = _same(one.spelled, one.target) if found is not None and is_of_keras(found) else ""
            if same and has_all(one, same):
                moved[one.spelled] = same
    return moved


def _same(spelled: str, target: Target) -> str:
    """Another absolute name of the same object, which a target has; an empty text where none is known."""
    api, whole = split_api(spelled)
    rest = whole.removeprefix("keras.")
    parts = rest.split(".")
    new = ""
    for size in range(len(parts), 0, -1):
        head = ".".join(parts[:size])
        if head in SAME:
            new = SAME[head] + rest[len(head) :]
            break
    if not new and len(parts) in (2, 3) and parts[0] in ("layers", "utils"):
        if parts[1] in _FOLDERS or (parts[1] == "merge" and len(parts) == 3):
            new = ".".join((parts[0], *parts[2:]))
    if not new or "(" in spelled or missing_part(api, whole[: len(whole) - len(rest)] + new, target) is not None:
        return ""
    return spelled[: len(spelled) - len(rest)] + new


def _set(node: libcst.CSTNode, site: Assignment) -> Replacement | None:
    """An assignment to the attribute that is looked at."""
    import libcst

    old = node.body[0] if isinstance(node, libcst.SimpleStatementLine) else None
    name = libcst.Name(_RENAMED["Optimizer", "lr"])
    if isinstance(old, libcst.AugAssign) and isinstance(old.target, libcst.Attribute):
        return Replacement(node.with_changes(body=[old.with_changes(target=old.target.with_changes(attr=name))]))
    if not isinstance(old, libcst.Assign) or not isinstance(site.statement, ast.Assign):
        return None
    targets = [
        one.with_changes(target=one.target.with_changes(attr=name))
        if target is site.node and isinstance(one.target, libcst.Attribute)
        else one
        for one, target in zip(old.targets, site.statement.targets, strict=True)
    ]
    return Replacement(node.with_changes(body=[old.with_changes(targets=targets)]))


def _without_generator(node: libcst.Call, member: Member) -> Replacement | None:
    """A call of the method that took over from one for generators."""
    import libcst

    method, parameters = _GENERATORS[member.name]
    new = keyworded(with_keywords(node, {"generator": "x"}), parameters, 1)
    if new is None or not isinstance(new.func, libcst.Attribute):
        return None
    given = [one.keyword.value for one in new.args if one.keyword is not None]
    if not set(given) <= set(parameters) or len(given) != len(set(given)) or not new.args:
        return None
    if method != "fit" and "verbose" not in given:
        if has_comment(new.args[-1]):
            return None  # a comment would come to stand beside it
        new = with_argument(new, "verbose", "0")
    return Replacement(new.with_changes(func=new.func.with_changes(attr=libcst.Name(method))))


def _may_be_gone(target: Target, names: tuple[Name, ...]) -> bool:
    return any(
        "(" not in name.spelled and (found := standing(name.spelled, target)).status != "ok" and is_of_keras(found)
        for name in names
    )


def _may_lack(target: Target, names: tuple[Name, ...]) -> bool:
    """Whether all that a name may mean is an attribute that the target's Keras lacks."""
    if not names or "()" not in names[0].canonical:
        return False
    found = [(name, member_of(name)) for name in names]
    return all(member is not None and lacks(name, member, target) for name, member in found)


def _member_of(names: tuple[Name, ...]) -> Member | None:
    found = {member_of(name) for name in names}
    return found.pop() if len(found) == 1 else None


def _may_have(file: File, member: Member) -> bool:
    """Whether the program gives an attribute of that name itself, or asks whether it is there."""
    if asks_for(file, member.name) or (member.direct and file.project.keras_sets(member.name)):
        return True
    return (member.kind, member.name) in file.once("attributes that it gives", lambda: frozenset(_given(file)))


def _given(file: File) -> Iterator[tuple[str, str]]:
    for assignment in file.assignments:
        if assignment.kind == "attribute":
            for name in file.names(assignment.scope, assignment.path):
                member = member_of(name)
                if member is not None and (member.kind, member.name) not in _SETTINGS.items():
                    yield member.kind, member.name


def _article(member: Member) -> str:
    if member.kind == "DType":
        return "The dtype of a variable"
    return f"{'An' if member.kind == 'Optimizer' else 'A'} {member.kind.lower()}"


def _advice(found: Standing, target: Target) -> str:
    """What is there instead, as far as the list of the target's names has it."""
    whole = found.whole.removeprefix("keras.")
    own = found.package if found.package != "tf" else "tf.keras"
    places = [f"{own}.{place}" if place else own for place in _places(whole, own, target)]
    if found.package == "keras" and missing_part("tensorflow", f"keras.{whole}", target) is None:
        places.append(f"tf.keras.{whole}")
    if not places:
        return ""
    return f"Use `{places[0]}`" + (f" or `{places[1]}`" if len(places) > 1 else "")


def _places(whole: str, own: str, target: Target) -> Iterator[str]:
    """A name below ``keras`` that the target has."""
    module, _, last = whole.rpartition(".")
    parts = whole.split(".")
    heads = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
    candidates = [SUCCESSORS[head] + whole[len(head) :] for head in heads if head in SUCCESSORS]
    if last in _FOLDERS:
        candidates.append(module)
    elif module == "backend":
        candidates.append(f"ops.{last}")
    elif "legacy_rnn" not in whole:  # its cells are called otherwise than those of `keras.layers`
        candidates += [f"{home}.{last}".strip(".") for home in (parts[0], *_HOMES)]
    for candidate in candidates:
        if candidate != whole and missing_part(*_below(own, candidate), target) is None:
            yield candidate
            return


def _below(own: str, name: str) -> tuple[str, str]:
    return ("tensorflow", f"keras.{name}") if own == "tf.keras" else (own, name)
