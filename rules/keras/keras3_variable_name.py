"""TF322: variables of a Keras 3 model that are told apart by their names, which many of them share."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import File, Reference, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .variable_names import asked_in, ends_of, is_of_keras, knows_paths


class Keras3VariableName(Rule):
    """Variables of a Keras 3 model are chosen, or kept in a dict, by names that say nothing of their layers.

    ## Why
    The `name` of a TF1 or Keras 2 variable is a path, `d_conv1/kernel:0`; of a Keras 3 variable it is the last part,
    `kernel`, and the path is its `path`, without `:0` [run].
    `[v for v in model.trainable_variables if "d_" in v.name]` is empty then, or all, without an error: a GAN trains
    nothing, or decay also takes the gammas of layers that it was to leave out.
    A dict by `v.name` keeps one kernel of all.

    What the layers of Keras call their variables, and what the file itself gives to `add_weight`, is found by `name`
    as before, and nothing is said: `"bias" not in v.name`.
    The model has to be seen in the file: its class, or the call that makes it.

    ## Example
    ```python
    import tensorflow as tf

    class Gan(tf.keras.Model):
        def parts(self):
            return [v for v in self.trainable_variables if "d_" in v.name]
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Gan(tf.keras.Model):
        def parts(self):
            return [v for v in self.trainable_variables if "d_" in v.path]
    ```
    The variables of one part are those of its layer or model, too: `self.discriminator.trainable_variables`.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/api/layers/base_layer/
    """

    code = "TF322"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """Judge what is asked of names."""
        for site, variable, effect in asked_in(file):
            yield from self._of_name(site, variable, effect)

    def _of_name(self, site: Reference, variable: ast.Name, effect: str) -> Iterator[Diagnostic]:
        if site.version_checked or knows_paths(site, variable):
            return
        if any(isinstance(end, ast.Attribute) and is_of_keras(at, end.value) for at, end in ends_of(site, variable)):
            yield self.report(
                site,
                f"`{variable.id}.name` of a Keras 3 variable is its last name alone, `kernel`, where Keras 2 and TF1 "
                f"have `dense/kernel:0`: {effect} Use `{variable.id}.path`, which is `dense/kernel`, or the variables "
                "of the layer that is meant.",
            )
