"""How the parameters of functions that kept their names changed; `tests/rules/signatures.py` writes the table."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...linter.rule_api.model import Call, Site, catches
from ...linter.rule_api.rewriting import keyworded, with_function, with_keywords
from ...linter.rule_api.rule import Replacement
from .api_status import standing

if TYPE_CHECKING:
    import libcst

_OF_OTHERS = ("nn.dropout", "summary.")
"""Names with rules of their own."""
SWALLOWING = ("Variable",)
"""What takes any keyword, and does nothing with those that it does not know."""
EQUIVALENT = frozenset(
    f"tensorflow.{name}"
    for name in (
        "argmax", "argmin", "boolean_mask", "convert_to_tensor", "expand_dims", "gather", "gather_nd",
        "image.adjust_jpeg_quality", "image.crop_and_resize", "image.draw_bounding_boxes", "io.decode_csv",
        "linalg.matmul", "linalg.norm", "math.argmax", "math.argmin", "math.confusion_matrix",
        "math.count_nonzero", "math.in_top_k", "math.log_softmax", "math.reduce_all", "math.reduce_any",
        "math.reduce_logsumexp", "math.reduce_max", "math.reduce_mean", "math.reduce_min", "math.reduce_prod",
        "math.reduce_sum", "math.softmax", "math.top_k", "matmul", "nn.avg_pool", "nn.avg_pool2d", "nn.conv1d",
        "nn.conv2d", "nn.conv2d_transpose", "nn.conv3d", "nn.conv3d_transpose", "nn.convolution", "nn.crelu",
        "nn.depth_to_space", "nn.depthwise_conv2d", "nn.in_top_k", "nn.log_softmax", "nn.max_pool",
        "nn.moments", "nn.separable_conv2d", "nn.softmax", "nn.space_to_depth", "nn.sufficient_statistics",
        "nn.top_k", "nn.weighted_cross_entropy_with_logits", "nn.weighted_moments", "norm", "numpy_function",
        "ones_like", "pad", "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean",
        "reduce_min", "reduce_prod", "reduce_sum", "reverse_sequence", "scatter_nd", "shape", "size",
        "sparse.reduce_max", "sparse.reduce_sum", "squeeze", "strings.length", "strings.reduce_join",
        "strings.substr", "strings.to_hash_bucket", "strings.to_number", "tensor_scatter_nd_add",
        "tensor_scatter_nd_sub", "transpose", "zeros_like",
    )
)  # fmt: skip
"""Functions that compute what they did in TF1, once each argument is given to the parameter that is its own now.

`tests/rules/test_rewritten_calls.py` calls each of them.
"""
CHANGED_IN_V1 = (
    "OptionalSpec", "RaggedTensor", "autograph.experimental.set_loop_options",
    "config.experimental.set_virtual_device_configuration", "function", "image.adjust_jpeg_quality", "linalg.matmul",
    "math.top_k", "matmul", "nn.sigmoid_cross_entropy_with_logits", "nn.softmax_cross_entropy_with_logits",
    "nn.sparse_softmax_cross_entropy_with_logits", "nn.top_k", "numpy_function",
    "random.experimental.create_rng_state", "raw_ops.", "scatter_nd", "tensor_scatter_nd_add", "tensor_scatter_nd_sub",
)  # fmt: skip
"""Of which compat.v1 has not kept the parameters of TF1, or their order."""
_LOSS = "tensorflow.nn.softmax_cross_entropy_with_logits"
"""The one of these whose keywords compat.v1 has kept; it takes them alone."""
_WRONG_ARGUMENTS = frozenset({"TypeError", "Exception", "BaseException"})


class Signature(NamedTuple):
    """The parameters of one function."""

    old: tuple[str, ...]
    """Of TF 1.15, in their order."""
    new: tuple[str, ...]
    """Of TF2."""
    gone: Mapping[str, str]
    """Those of TF1 that TF2 has no more, each with what it is called now, or an empty text."""


@cache
def signatures() -> dict[str, Signature]:
    """The functions whose parameters changed, by canonical name."""
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))["functions"]
    return {
        f"tensorflow.{name}": Signature(
            tuple(row["old"].split()), tuple(row["new"].split()), {} if name in SWALLOWING else row["gone"]
        )
        for name, row in table.items()
        if not name.startswith(_OF_OTHERS)
    }


def as_in_tf1(node: libcst.Call, call: Call) -> Replacement | None:
    """A call with arguments of TF1 such that TF2 computes the same: by keyword, or else of compat.v1's function."""
    signature = signatures()[call.name]
    if call.has_stars:
        return None
    if call.name in EQUIVALENT and (new := _by_keyword(node, signature)) is not None:
        return Replacement(new)
    if call.name.removeprefix("tensorflow.").startswith(CHANGED_IN_V1) and (call.name != _LOSS or call.call.args):
        return None
    old = call.name.replace("tensorflow.", "tensorflow.compat.v1.", 1)
    written = call.importable(old) if standing(old, call.target).works else None
    return Replacement(with_function(node, written[0]), imports=written[1]) if written is not None else None


def _by_keyword(node: libcst.Call, signature: Signature) -> libcst.Call | None:
    """A call whose arguments have TF2's keywords, from the first on whose place is another's, or None."""
    parameters = [signature.gone.get(name) or name for name in signature.old]
    positional = [arg for arg in node.args if arg.keyword is None]
    start = next((at for at in range(len(positional)) if is_other(signature, at)), len(positional))
    new = keyworded(with_keywords(node, {old: new for old, new in signature.gone.items() if new}), parameters, start)
    if new is None:
        return None
    given = [*parameters[:start], *(arg.keyword.value for arg in new.args if arg.keyword is not None)]
    return new if len(set(given)) == len(given) and set(given) <= set(signature.new) else None


def is_other(signature: Signature, at: int) -> bool:
    """Whether the argument at a place is another parameter in TF2 than it was in TF1."""
    if at >= len(signature.new):
        return True
    was, now = signature.old[at], signature.new[at]
    return was != now and signature.gone.get(was) != now


def is_tried(site: Site, errors: frozenset[str]) -> bool:
    """Whether the program does something else where a place raises one of `errors`."""
    tried = (level.node for level in site.block.chain() if level.kind == "try" and isinstance(level.node, ast.Try))
    return any(catches(handler, errors) for node in tried for handler in node.handlers)


def is_of_tf2(call: Call) -> bool:
    """Whether a call is surely of the function in ``tf``: compat.v1 keeps the parameters of TF1.

    Nothing is sure where the program tries it, and does something else where it raises TypeError.
    """
    return (
        not is_tried(call, _WRONG_ARGUMENTS)
        and not call.version_checked
        and bool(call.names)
        and not call.is_compat_v1
        and all(entity.kind == "external" for entity in call.found)
        and all(not name.spelled.startswith("tensorflow.python") for name in call.names)
        and len({name.canonical for name in call.names}) == 1
    )
