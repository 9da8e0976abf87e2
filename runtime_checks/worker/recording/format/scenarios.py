"""The scenarios that a side is run through: each fills one chapter of its recording."""

from __future__ import annotations

__all__ = [
    "ALIGNED", "CHECKPOINT", "CONSTANT", "FINGERPRINT", "FINGERPRINT_AGAIN", "FINGERPRINT_NUDGED", "INFERENCE",
    "INFERENCE_COPIED", "ONCE", "STEPS", "STEPS_AGAIN", "STEPS_NUDGED", "STEPS_OTHER", "STRUCTURE", "TRAINING",
    "TRAINING_CONSTANT", "WITH_OPERATIONS"
]

ONCE = "once"
"""TF2 only: what later calls of a model create."""
STRUCTURE = "structure"
"""The variables of the model, without values."""
CONSTANT = "constant"
"""Inference with every variable at 0.001."""
FINGERPRINT = "fingerprint"
"""Inference with every variable filled from a hash of its TF1 name."""
FINGERPRINT_AGAIN = "fingerprint-other"
"""The same in the other mode: a session without grappler, a ``tf.function``."""
FINGERPRINT_NUDGED = "fingerprint-nudged"
"""TF1 only: the same with every value moved by about one unit in the last place."""
INFERENCE = "inference"
"""Inference with the side's own initial values; random operations numbered (``num_random_ops``)."""
INFERENCE_COPIED = "inference-copied"
"""TF2 only: inference with the initial values that TF1 recorded in `INFERENCE`."""
TRAINING = "training"
"""A forward pass in training mode with the side's own initial values; random operations numbered."""
TRAINING_CONSTANT = "training-constant"
"""The same with one seed for all random operations."""
ALIGNED = "aligned"
"""A forward pass in training mode with TF1's initial values; random operations numbered within the pass."""
CHECKPOINT = "checkpoint"
"""Inference with the values of a TF1 checkpoint."""
STEPS = "steps"
"""Training steps from TF1's initial values: a session on one side, eager on the other; random operations numbered."""
STEPS_OTHER = "steps-other"
"""The same in the other mode: a session without grappler, a ``tf.function``."""
STEPS_AGAIN = "steps-again"
"""The same once more, as in `STEPS`."""
STEPS_NUDGED = "steps-nudged"
"""TF1 only: the same from initial values that are moved by about one unit in the last place."""

WITH_OPERATIONS = (FINGERPRINT, ALIGNED)
"""Forward passes of which every operation is recorded in brief; of `STEPS` it is the first step."""
