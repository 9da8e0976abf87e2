"""The scenarios that a side is run through: each fills one chapter of its recording."""

from __future__ import annotations

__all__ = [
    "ALIGNED", "ALIGNED_NUDGED", "ALONE", "CHECKPOINT", "CONSTANT", "CONVERTERS", "DATA", "EVALUATED",
    "EVALUATED_NUDGED", "FINGERPRINT", "FINGERPRINT_AGAIN", "FINGERPRINT_NUDGED", "FLOAT64_INFERENCE",
    "FLOAT64_STEP", "FLOAT64_TRAINING", "INFERENCE", "INFERENCE_COPIED", "ONCE", "PLACES", "STEPS", "STEPS_AGAIN",
    "STEPS_FORCED", "STEPS_NUDGED", "STEPS_OTHER", "STRUCTURE", "TRAINING", "TRAINING_CONSTANT"
]

DATA = "data"
"""The batches of the side's own input pipeline."""
ONCE = "once"
"""TF2 only: what later calls of a model create."""
STRUCTURE = "structure"
"""The variables of the model, without values."""
CONVERTERS = "converters"
"""TF2 only: the groups of variables that changed their layout together, and what outputs say of it."""
PLACES = "places"
"""TF2 only: which elements of large variables are kept."""
CONSTANT = "constant"
"""Inference with every variable at 0.001."""
FINGERPRINT = "fingerprint"
"""Inference with every variable filled from a hash of its TF1 name."""
FINGERPRINT_AGAIN = "fingerprint-other"
"""The same in the other mode: a session without grappler, a ``tf.function``."""
FINGERPRINT_NUDGED = "fingerprint-nudged"
"""TF1, and TF2 in another setting: the same with every value moved by about one unit in the last place."""
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
ALIGNED_NUDGED = "aligned-nudged"
"""TF2 in another setting only: the same with every value moved by about one unit in the last place."""
CHECKPOINT = "checkpoint"
"""Inference with the values of a TF1 checkpoint."""
STEPS = "steps"
"""Training steps from TF1's initial values: a session on one side, eager on the other; random operations numbered."""
STEPS_OTHER = "steps-other"
"""The same in the other mode: a session without grappler, a ``tf.function``."""
STEPS_AGAIN = "steps-again"
"""The same once more, as in `STEPS`."""
STEPS_FORCED = "steps-forced"
"""TF2 only: the same with TF1's weights put in before each step, which then amplifies nothing of those before.

In another setting these are the weights that the ordinary TF2 side had."""
STEPS_NUDGED = "steps-nudged"
"""TF1, and TF2 in another setting: the same from initial values that are moved by about one unit in the last place."""
EVALUATED = "evaluated"
"""Loss and metrics of evaluation over the batches of training: with TF1's initial values, and with its last weights."""
EVALUATED_NUDGED = "evaluated-nudged"
"""TF1 only: the same with values that are moved by about one unit in the last place."""
FLOAT64_INFERENCE = "float64-inference"
"""What inference gives with TF1's initial values if it is computed in float64."""
FLOAT64_TRAINING = "float64-training"
"""The same of the forward pass of `ALIGNED`."""
FLOAT64_STEP = "float64-step"
"""The same of the first step of `STEPS`: outputs, loss and gradients."""
FLOAT64 = (FLOAT64_INFERENCE, FLOAT64_TRAINING, FLOAT64_STEP)
"""Recorded only where they are asked for."""
NUDGED = (FINGERPRINT_NUDGED, ALIGNED_NUDGED, STEPS_NUDGED, EVALUATED_NUDGED)
"""From values that were moved."""

WITH_OPERATIONS = (FINGERPRINT, ALIGNED)
"""Forward passes of which every operation is recorded in brief; of `STEPS` it is the first step."""

ALONE = "one:CPU:0"
"""The strategy that is none: with it runs what replicas that normalize together are held against."""
OF_VARIANT = {
    FINGERPRINT: (FINGERPRINT_NUDGED,),
    ALIGNED: (ALIGNED_NUDGED,),
    STEPS: (STEPS_NUDGED, STEPS_AGAIN, STEPS_FORCED),
}
"""What is compared of the TF2 side in another setting, and the other runs there, which tell its noise."""
