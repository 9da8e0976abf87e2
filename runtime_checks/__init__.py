"""Run a model, and see which hazards are real.

Importing this package imports neither TensorFlow nor the rest of the linter: the two scopes can be used in any test
of a model, and import TensorFlow when they are entered.
"""

from .worker.scopes import assert_no_variable_creations, catch_and_raise_created_variables

__all__ = ["assert_no_variable_creations", "catch_and_raise_created_variables"]
