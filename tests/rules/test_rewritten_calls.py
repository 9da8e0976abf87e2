"""What the fixes of TF406, TF407 and TF408 make of calls of TF1: TF2 computes what compat.v1 did.

For each function whose parameters changed and that is called the same way otherwise, calls are made up: with more and
more arguments by position, in TF1's order, and with the rest by keyword, under each name that TF1 had for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from migrate_lint.linter.finding import Applicability, Via
from migrate_lint.linter.run.fixing import Wanted, fix
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config
from migrate_lint.rules.keras.keras_removed_symbol import SAME
from migrate_lint.rules.tf1_api.api_status import EAGER
from migrate_lint.rules.tf1_api.signatures import EQUIVALENT, Signature, signatures

from ..interpreters import Children

HEAD = """import numpy as np
import tensorflow as tf


def feed():
    return tf.placeholder(tf.float32)


M = np.arange(6.0, dtype=np.float32).reshape(2, 3) - 2.5
V = np.arange(1.0, 4.0, dtype=np.float32)
I = np.arange(1.0, 65.0, dtype=np.float32).reshape(1, 4, 4, 4) / 64
C = np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 1, 2, 4)
S = tf.SparseTensor([[0, 1], [1, 2]], [3.0, 4.0], [2, 3])
T = np.array(["abcd", "efgh"])
"""
"""Written for TF1, by one of its names."""
_REDUCED = {
    "input_tensor": "M", "axis": "1", "keepdims": "True", "name": "'n'", "reduction_indices": "1", "keep_dims": "True",
}  # fmt: skip
_BOOLEANS = {**_REDUCED, "input_tensor": "M > 0"}
_BEST = {"input": "M", "axis": "0", "dimension": "0", "name": "'n'", "output_type": "tf.int32"}
_SOFTMAX = {"logits": "M", "axis": "0", "name": "'n'", "dim": "0"}
_POOLED = {
    "value": "I", "input": "I", "ksize": "2", "strides": "2", "padding": "'SAME'", "data_format": "'NHWC'",
    "name": "'n'",
}  # fmt: skip
_KERNEL = "np.ones((2, 2, 4, 3), np.float32)"
_CONVOLVED = {
    "input": "I", "filter": _KERNEL, "filters": _KERNEL, "strides": "[1, 2, 2, 1]", "padding": "'SAME'",
    "data_format": "'NHWC'", "dilations": "[1, 1, 1, 1]", "name": "'n'",
}  # fmt: skip
_TRANSPOSED = {
    **_CONVOLVED, "value": "I", "filter": "np.ones((2, 2, 3, 4), np.float32)",
    "filters": "np.ones((2, 2, 3, 4), np.float32)", "output_shape": "[1, 8, 8, 3]",
}  # fmt: skip
_CUBE = "np.ones((1, 3, 3, 3, 2), np.float32)"
_CUBES = {
    **_CONVOLVED, "input": _CUBE, "value": _CUBE, "filter": "np.ones((2, 2, 2, 2, 2), np.float32)",
    "filters": "np.ones((2, 2, 2, 2, 2), np.float32)", "strides": "[1, 1, 1, 1, 1]", "dilations": "[1, 1, 1, 1, 1]",
    "data_format": "'NDHWC'", "output_shape": "[1, 3, 3, 3, 2]",
}  # fmt: skip
_DEEP = {
    **_CONVOLVED, "filter": _KERNEL, "strides": "[1, 1, 1, 1]", "rate": "[2, 2]", "dilations": "[2, 2]",
    "depthwise_filter": _KERNEL, "pointwise_filter": "np.ones((1, 1, 12, 2), np.float32)",
}  # fmt: skip
_MOMENTS = {
    "x": "M", "axes": "[0]", "shift": "None", "name": "'n'", "keep_dims": "True", "keepdims": "True",
    "frequency_weights": "np.array([[1.0], [3.0]], np.float32)",
}  # fmt: skip
_TEXTS = {
    "input": "T", "string_tensor": "T", "name": "'n'", "unit": "'UTF8_CHAR'", "pos": "1", "len": "2",
    "num_buckets": "7", "inputs": "T", "axis": "0", "reduction_indices": "0", "keep_dims": "True", "keepdims": "True",
    "separator": "'-'",
}  # fmt: skip
_PRODUCT = {
    "a": "M", "b": "M", "transpose_a": "False", "transpose_b": "True", "adjoint_a": "False", "adjoint_b": "False",
    "a_is_sparse": "False", "b_is_sparse": "False", "name": "'n'",
}  # fmt: skip
_RANKED = {"predictions": "M", "targets": "np.array([2, 0])", "k": "1", "name": "'n'"}
_TOP = {"input": "M", "k": "2", "sorted": "True", "name": "'n'"}
_NORM = {"tensor": "M", "ord": "1", "axis": "0", "keepdims": "True", "name": "'n'", "keep_dims": "True"}
_LIKE = {"tensor": "M", "dtype": "tf.int32", "name": "'n'", "optimize": "True"}
_SPARSE = {"sp_input": "S", "axis": "0", "keepdims": "True", "reduction_axes": "0", "keep_dims": "True"}
_SCATTERED = {"tensor": "V", "indices": "[[1], [0]]", "updates": "[2.0, 3.0]", "name": "'n'"}
_MEASURED = {"input": "M", "name": "'n'", "out_type": "tf.int64"}
_BOXES = {
    "image": "I", "boxes": "[[0.1, 0.1, 0.8, 0.8]]", "box_ind": "[0]", "box_indices": "[0]", "crop_size": "[2, 2]",
    "method": "'nearest'", "extrapolation_value": "1.0", "name": "'n'", "images": "I[..., :3]",
}  # fmt: skip
SAMPLES: dict[str, dict[str, str]] = {
    "argmax": _BEST,
    "argmin": _BEST,
    "boolean_mask": {"tensor": "M", "mask": "[True, False, True]", "name": "'n'", "axis": "1"},
    "constant": {"value": "M", "dtype": "tf.float64", "shape": "[2, 3]", "name": "'n'", "verify_shape": "True"},
    "convert_to_tensor": {
        "value": "[1, 2]", "dtype": "tf.float32", "name": "'n'", "preferred_dtype": "tf.float64",
        "dtype_hint": "tf.float64",
    },
    "expand_dims": {"input": "M", "axis": "1", "name": "'n'", "dim": "1"},
    "gather": {
        "params": "M", "indices": "[1, 0]", "validate_indices": "None", "name": "'n'", "axis": "1", "batch_dims": "0",
    },
    "gather_nd": {"params": "M", "indices": "[[1, 0]]", "name": "'n'", "batch_dims": "0"},
    "image.crop_and_resize": _BOXES,
    "image.draw_bounding_boxes": {**_BOXES, "boxes": "[[[0.1, 0.1, 0.8, 0.8]]]", "colors": "None"},
    "image.adjust_jpeg_quality": {"image": "I[0, ..., :3]", "jpeg_quality": "50", "name": "'n'"},
    "image.resize": {
        "images": "I", "size": "[6, 6]", "method": "tf.image.ResizeMethod.BILINEAR", "align_corners": "True",
        "preserve_aspect_ratio": "True", "name": "'n'",
    },
    "io.decode_csv": {
        "records": "['a,1']", "record_defaults": "[[''], [0]]", "field_delim": "','", "use_quote_delim": "True",
        "name": "'n'", "na_value": "''", "select_cols": "[0, 1]",
    },
    "linalg.matmul": _PRODUCT,
    "linalg.norm": _NORM,
    "math.confusion_matrix": {
        "labels": "[0, 1]", "predictions": "[1, 1]", "num_classes": "3", "dtype": "tf.float32", "name": "'n'",
        "weights": "[2.0, 3.0]",
    },
    "math.count_nonzero": {**_REDUCED, "dtype": "tf.int32", "input": "M"},
    "math.in_top_k": _RANKED,
    "math.log_softmax": _SOFTMAX,
    "math.top_k": _TOP,
    "nn.avg_pool": _POOLED,
    "nn.avg_pool2d": _POOLED,
    "nn.conv1d": {
        "value": "I[0]", "input": "I[0]", "filters": _KERNEL + "[0]", "stride": "2", "padding": "'SAME'",
        "use_cudnn_on_gpu": "True", "data_format": "'NWC'", "name": "'n'", "dilations": "1",
    },
    "nn.conv2d": _CONVOLVED,
    "nn.conv2d_transpose": {**_TRANSPOSED, "input": "I"},
    "nn.conv3d": _CUBES,
    "nn.conv3d_transpose": _CUBES,
    "nn.convolution": {**_CONVOLVED, "strides": "[1, 1]", "dilation_rate": "[2, 2]", "dilations": "[2, 2]"},
    "nn.crelu": {"features": "M", "name": "'n'", "axis": "0"},
    "nn.depth_to_space": {"input": "I", "block_size": "2", "name": "'n'", "data_format": "'NHWC'"},
    "nn.depthwise_conv2d": _DEEP,
    "nn.embedding_lookup": {
        "params": "[M, 2 * M]", "ids": "[0, 1, 2]", "partition_strategy": "'mod'", "name": "'n'",
        "validate_indices": "True", "max_norm": "2.0",
    },
    "nn.max_pool": _POOLED,
    "nn.moments": _MOMENTS,
    "nn.separable_conv2d": _DEEP,
    "nn.softmax_cross_entropy_with_logits": {
        "labels": "np.eye(2, 3, dtype=np.float32)", "logits": "M", "dim": "0", "name": "'n'", "axis": "0",
    },
    "nn.space_to_depth": {"input": "I", "block_size": "2", "name": "'n'", "data_format": "'NHWC'"},
    "nn.sufficient_statistics": _MOMENTS,
    "nn.weighted_cross_entropy_with_logits": {
        "labels": "np.ones((2, 3), np.float32)", "logits": "M", "pos_weight": "2.0", "name": "'n'",
        "targets": "np.ones((2, 3), np.float32)",
    },
    "nn.weighted_moments": _MOMENTS,
    "norm": _NORM,
    "numpy_function": {"func": "np.sum", "inp": "[M]", "Tout": "tf.float32", "name": "'n'"},
    "ones_like": _LIKE,
    "pad": {
        "tensor": "M", "paddings": "[[1, 0], [0, 1]]", "mode": "'CONSTANT'", "name": "'n'", "constant_values": "7",
    },
    "reduce_all": _BOOLEANS,
    "reduce_any": _BOOLEANS,
    "reverse_sequence": {
        "input": "M", "seq_lengths": "[2, 3]", "seq_axis": "1", "batch_axis": "0", "name": "'n'", "seq_dim": "1",
        "batch_dim": "0",
    },
    "scatter_nd": {"indices": "[[1], [0]]", "updates": "[2.0, 3.0]", "shape": "[4]", "name": "'n'"},
    "shape": _MEASURED,
    "size": _MEASURED,
    "sparse.reduce_max": _SPARSE,
    "sparse.reduce_sum": _SPARSE,
    "squeeze": {"input": "M[:, None]", "axis": "[1]", "name": "'n'", "squeeze_dims": "[1]"},
    "strings.length": _TEXTS,
    "strings.reduce_join": _TEXTS,
    "strings.split": {"input": "T", "source": "T", "sep": "'b'", "maxsplit": "-1", "result_type": "'RaggedTensor'"},
    "strings.substr": _TEXTS,
    "strings.to_hash_bucket": _TEXTS,
    "strings.to_number": {**_TEXTS, "string_tensor": "['1', '2']", "input": "['1', '2']", "out_type": "tf.int32"},
    "tensor_scatter_nd_add": _SCATTERED,
    "tensor_scatter_nd_sub": _SCATTERED,
    "transpose": {"a": "M", "perm": "[1, 0]", "name": "'n'", "conjugate": "False"},
    "zeros_like": _LIKE,
}  # fmt: skip
"""Arguments of TF1 by the names of its parameters, as source text; what is not here shares one's by its last name."""
_ALIASES = {"matmul": "linalg.matmul", "nn.in_top_k": "math.in_top_k", "nn.top_k": "math.top_k"}
_MOST = 40
"""Calls of one function."""


def sample_of(name: str) -> dict[str, str]:
    last = name.rpartition(".")[2]
    if name in SAMPLES or name in _ALIASES or last in SAMPLES:
        return SAMPLES.get(name) or SAMPLES[_ALIASES.get(name, last)]
    return _SOFTMAX if last.endswith("softmax") else _REDUCED


def calls_of(name: str, signature: Signature) -> Iterator[tuple[str, str]]:
    """Calls that TF1 takes, and others that it may refuse: with some arguments by position and the others by keyword.

    With each its arguments, all by the keywords of TF1.
    """
    sample = sample_of(name)
    names: dict[str, list[str]] = {}
    for parameter in signature.old:
        if parameter in sample:
            names.setdefault(signature.gone.get(parameter) or parameter, []).append(parameter)
    for count in range(len(signature.old) + 1):
        first = signature.old[:count]
        if not all(parameter in sample for parameter in first):
            return
        given = [sample[parameter] for parameter in first]
        rest = [(*kept, *_left_out(signature, kept)) for kept in names.values() if not set(kept) & set(first)]
        for chosen in product(*rest):
            named = [f"{one}={sample[one]}" for one in chosen if one]
            all_named = [f"{one}={text}" for one, text in zip(first, given, strict=True)] + named
            yield f"tf.{name}({', '.join([*given, *named])})", f"tf.{name}({', '.join(all_named)})"


def _left_out(signature: Signature, kept: list[str]) -> list[str]:
    """An empty text for a parameter that TF2 has no more: a call without it is another case."""
    return [""] if not signature.gone.get(kept[0], kept[0]) else []


def numbers(before: list[str], after: list[str]) -> tuple[int, list[list[str]]]:
    """In a child: how many calls compat.v1 takes, and those to which TF2 gives another answer."""
    import numpy as np
    import tensorflow as tf

    def answer(module: Any, text: str) -> Any:
        names: dict[str, Any] = {}
        exec(HEAD.replace("import tensorflow as tf", "", 1), {"tf": module, "np": np}, names)
        return [np.asarray(part) for part in tf.nest.flatten(eval(text, {"tf": module, "np": np, **names}), True)]

    taken, other = 0, []
    for old, new in zip(before, after, strict=True):
        try:
            wanted = answer(tf.compat.v1, old)
        except Exception:
            continue
        taken += 1
        try:
            found = answer(tf, new)
            for one, two in zip(wanted, found, strict=True):
                np.testing.assert_equal(one.dtype, two.dtype)
                np.testing.assert_array_equal(one, two)
        except Exception as error:
            other.append([old, new, f"{type(error).__name__}: {error}"[:300]])
    return taken, other


def rewritten(calls: list[str], folder: Path, target: str) -> list[str]:
    """The calls after the fixes of both rules."""
    path = folder / "example.py"
    path.write_text(HEAD + "".join(f"{call}\n" for call in calls), "utf-8")
    wanted = Wanted(frozenset({"TF407", "TF408"}), frozenset({Applicability.SAFE}))
    config = Config(base=str(folder), target=target)
    done = fix(lambda unsaved: lint([str(path)], config, unsaved=unsaved, fixes=Via.NATIVE), wanted)
    assert not done.left
    assert not [(one.message, one.fix) for one in done.result.findings if one.code in wanted.codes]
    return done.files[0].now.decode().splitlines()[-len(calls) :]


NAMES = sorted({*(f"tensorflow.{name}" for name in SAMPLES), *EQUIVALENT})


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_a_rewritten_call_computes_what_tf1_did(target: str, children: Children, tmp_path: Path) -> None:
    """Every function that TF407 and TF408 call by TF2's parameters, and some for which they call compat.v1's."""
    calls, by_name, owners = [], [], []
    for name in NAMES:
        made = [*calls_of(name.removeprefix("tensorflow."), signatures()[name])][:_MOST]
        assert made, name
        calls += [one for one, _ in made]
        by_name += [one for _, one in made]
        owners += [name] * len(made)
    new = rewritten(calls, tmp_path, target)

    changed = [(name, text) for name, text, old in zip(owners, new, calls, strict=True) if text != old]
    by_keyword = {name for name, text in changed if not text.startswith("tf.compat.v1.")}
    assert by_keyword >= EQUIVALENT
    untaken = []
    for name in NAMES:
        mine = [at for at, owner in enumerate(owners) if owner == name and new[at] != calls[at]]
        taken, other = children.call(target, numbers, [by_name[at] for at in mine], [new[at] for at in mine])
        assert not other, other
        untaken += [name] if not taken else []
    assert not untaken


ONLY_IN_V1 = [
    "Print(M, [V])", "arg_max(M, 1)", "arg_min(M, 1)", "assert_greater_equal(M, -9.0)", "assert_integer([1])",
    "assert_less_equal(M, 9.0)", "assert_near(M, M)", "assert_negative(-V)", "assert_non_negative(V)",
    "assert_non_positive(-V)", "assert_none_equal(V, M + 20)", "assert_positive(V)", "assert_rank_at_least(M, 1)",
    "assert_rank_in(M, [1, 2])", "assert_scalar(1.0)", "assert_type(M, tf.float32)",
    "batch_gather(M, [[1], [0]])", "batch_to_space_nd(np.ones((4, 1, 1, 1)), [2, 2], [[0, 0], [0, 0]])",
    "bincount([1, 2, 2])", "clip_by_average_norm(M, 0.5)", "confusion_matrix([0, 1], [1, 1])",
    "count_nonzero(M, 1)", "decode_csv(['a,1'], [[''], [0]])", "decode_raw(['abcd'], tf.uint8)",
    "depth_to_space(I, 2)", "div([7, -7], 2)", "extract_image_patches(I, [1, 2, 2, 1], [1] * 4, [1] * 4, 'SAME')",
    "floor_div([7, -7], 2)", "image.resize_area(I, [6, 6])", "image.resize_bicubic(I, [6, 6])",
    "image.resize_bilinear(I, [6, 6], align_corners=True)", "image.resize_image_with_pad(I, 6, 5)",
    "image.resize_images(I, [6, 6])", "image.resize_nearest_neighbor(I, [6, 6])", "linalg.transpose(M)",
    "manip.batch_to_space_nd(np.ones((4, 1, 1, 1)), [2, 2], [[0, 0], [0, 0]])", "manip.gather_nd(M, [[1, 0]])",
    "manip.reshape(M, [3, 2])",
    "nn.conv2d_backprop_input([1, 4, 4, 4], np.ones((2, 2, 4, 4), np.float32), I, [1] * 4, 'SAME')",
    "nn.depthwise_conv2d_native(I, np.ones((2, 2, 4, 1), np.float32), [1] * 4, 'SAME')",
    "nn.relu_layer(M, M.T, V[:2])", "nn.softmax_cross_entropy_with_logits_v2(labels=M > 0, logits=M)",
    "nn.xw_plus_b(M, M.T, V[:2])",
    "parse_single_example(b'', {'a': tf.io.FixedLenFeature([], tf.int64, 3)})", "py_func(np.sum, [M], tf.float32)",
    "reduce_join(T)", "setdiff1d([1, 2, 3], [2])", "space_to_depth(I, 2)", "sparse_add(S, S)",
    "sparse_concat(0, [S, S])", "sparse_matmul(M, M.T)", "sparse_reduce_max(S, 1)", "sparse_reduce_sum(S, 1)",
    "sparse_segment_mean(M, [0, 1], [0, 0])", "sparse_segment_sqrt_n(M, [0, 1], [0, 0])",
    "sparse_segment_sum(M, [0, 1], [0, 0])", "sparse_to_dense([1], [3], 2.0)", "string_split(T, 'b')",
    "string_to_hash_bucket(T, 7)", "string_to_number(['1', '2'])", "substr(T, 1, 2)", "to_bfloat16(M)",
    "to_complex128(M)", "to_complex64(M)", "to_double(M)", "to_float([1])", "to_int32(M)", "to_int64(M)",
    "verify_tensor_all_finite(M, 'finite')",
]  # fmt: skip
"""A call of each function that TF406 leads to compat.v1 as safe."""


def differing(calls: list[str]) -> list[str]:
    """In a child: the calls that give another answer eagerly than in a graph."""
    import numpy as np
    import tensorflow.compat.v1 as tf

    def parts(text: str) -> Any:
        names: dict[str, Any] = {"tf": tf, "np": np}
        exec(HEAD.replace("import tensorflow as tf", "", 1), names)
        return [part for part in tf.nest.flatten(eval(f"tf.{text}", names), True) if part is not None]

    found = []
    for text in calls:
        try:
            with tf.Graph().as_default(), tf.Session() as session:
                wanted = [one for one in session.run(parts(text)) if one is not None]
            for one, two in zip(wanted, parts(text), strict=True):
                np.testing.assert_array_equal(one, two.numpy())
        except Exception as error:
            found.append(f"{text}: {type(error).__name__}: {error}"[:300])
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_what_compat_v1_alone_has_computes_the_same_eagerly(target: str, children: Children) -> None:
    """Every function that TF406 takes for safe there."""
    assert {call.partition("(")[0] for call in ONLY_IN_V1} == EAGER

    assert not children.call(target, differing, ONLY_IN_V1)


def named_otherwise(pairs: dict[str, str]) -> list[str]:
    """The names below ``tf.keras`` of which another one is not the same object; of a module, what it has publicly."""
    import tensorflow as tf

    def read(name: str) -> Any:
        found = tf.keras
        for part in name.split("."):
            found = getattr(found, part)
        return found

    found = []
    for old, new in pairs.items():
        if isinstance(read(old), ModuleType):
            inside = [one for one in dir(read(old)) if not one.startswith("_") and hasattr(read(new), one)]
            found += [f"{old}.{one}" for one in inside if getattr(read(old), one) is not getattr(read(new), one)]
        elif read(old) is not read(new):
            found.append(old)
    return found


@pytest.mark.tensorflow
def test_another_name_of_keras_is_that_of_the_same_object(children: Children) -> None:
    """In Keras 2, which has both."""
    assert children.call("keras2", named_otherwise, SAME) == []


def _is_of_keras(module: ModuleType) -> bool:
    """Whether it is one that is loaded from Keras when it is first read, or never."""
    return type(module) is not ModuleType and "Keras" in type(module).__name__


def wrongly_imported(target: str) -> tuple[int, list[str]]:
    """How many names of compat.v1 are imported from elsewhere on TF2, and those that cannot be, or are others then."""
    import tensorflow as tf
    from migrate_lint.linter.finding import Target
    from migrate_lint.linter.rule_api.rewriting import NO_PACKAGES
    from migrate_lint.rules.tf1_api.api_status import moved

    count, wrong = 0, []
    waiting = [("", tf.compat.v1)]
    for below, module in waiting:
        for name in (one for one in dir(module) if not one.startswith("_")):
            found = getattr(module, name)
            if name in ("compat", "keras", "v1", "v2") or (isinstance(found, ModuleType) and _is_of_keras(found)):
                continue
            if isinstance(found, ModuleType) and "_api" in found.__name__ and below.count(".") < 3:
                waiting.append((f"{below}{name}.", found))
            new = moved(f"tensorflow.{below}{name}", Target(target))
            parent, _, last = new.rpartition(".")
            if not new or parent in NO_PACKAGES:
                continue
            names: dict[str, Any] = {}
            count += 1
            try:
                exec(f"from {parent} import {last}", names)
            except ImportError:
                wrong.append(new)
            is_it = names.get(last) is found or isinstance(found, ModuleType) or "compat.v1" in parent
            if last in names and not is_it:  # compat.v1 has some under one more wrapper that warns
                wrong.append(f"{below}{name}")
    return count, wrong


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_what_an_import_is_moved_to_can_be_imported_and_is_the_same(target: str, children: Children) -> None:
    """Every name that TF406 may find in an import."""
    count, wrong = children.call(target, wrongly_imported, target)

    assert wrong == []
    assert count > 700


STAIRS = ("", ", True", ", staircase=False, name='n'")
_LISTED = "import tensorflow as tf\nrates = []\n"
DECAYS = (
    *(f"{name}(0.5, step, 7, 0.9{more})" for name in ("exponential_decay", "inverse_time_decay") for more in STAIRS),
    "cosine_decay(0.5, step, 20)",
    "cosine_decay(decay_steps=20, global_step=step, learning_rate=0.5, alpha=0.1)",
    "cosine_decay_restarts(0.5, step, 5)",
    "cosine_decay_restarts(0.5, step, 5, 1.5, 0.8, 0.1, 'restarts')",
    "polynomial_decay(0.5, step, 20)",
    "polynomial_decay(0.5, step, 7, 0.1, 2.0, True)",
    "piecewise_constant(step, [5, 12], [0.5, 0.1, 0.01])",
    "piecewise_constant_decay(values=[0.5, 0.1], boundaries=[9], x=step)",
)


def rates(before: str, after: str) -> tuple[list[list[float]], list[list[float]]]:
    """What TF1's functions and Keras's schedules give for the first thirty steps."""
    import tensorflow as tf

    old: dict[str, Any] = {}
    new: dict[str, Any] = {}
    exec(before, old)
    exec(after, new)
    found: tuple[list[list[float]], list[list[float]]] = [], []
    for number in range(30):
        old["step"].assign(number)
        found[0].append([float(rate()) for rate in old["rates"]])
        found[1].append([float(rate(tf.constant(number, tf.int64))) for rate in new["rates"]])
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_a_schedule_has_the_rates_of_the_function_that_it_stands_for(
    target: str, tmp_path: Path, children: Children
) -> None:
    """TF606, at each step, however the function was called."""
    optimizers = "".join(f"tf.keras.optimizers.SGD(tf.compat.v1.train.{call})\n" for call in DECAYS)
    text = f"import tensorflow as tf\nstep = tf.Variable(0, dtype=tf.int64)\n{optimizers}"
    path = tmp_path / "example.py"
    path.write_text(text)
    wanted = Wanted(frozenset({"TF606"}), frozenset(Applicability))
    config = Config(base=str(tmp_path), target=target)
    done = fix(lambda unsaved: lint([str(path)], config, unsaved=unsaved, fixes=Via.NATIVE), wanted)
    assert done.files[0].fixed["TF606"] == len(DECAYS)

    listed = (
        code.replace("tf.keras.optimizers.SGD(", "rates.append(").replace("import tensorflow as tf\n", _LISTED)
        for code in (text, done.files[0].now.decode())
    )
    old, new = children.call(target, rates, *listed)

    assert pytest.approx([x for row in old for x in row], rel=1e-6) == [x for row in new for x in row]
    assert len({tuple(row) for row in old}) > 10
