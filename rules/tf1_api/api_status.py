"""Where the public names of TensorFlow and Keras stand: the questions that the rules of this family ask of them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...linter.rule_api.model import (
    Call,
    File,
    Import,
    Name,
    Reference,
    Target,
    literal_string,
    missing_part,
    path_of,
    split_api,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a target makes of one written name."""

    status: str
    """``ok``; ``v1``: only `tf.compat.v1` has it; ``gone``: neither has."""
    symbol: str = ""
    """The part that is missing, without ``tf.``: ``layers``, ``train.AdamOptimizer``."""
    whole: str = ""
    """The whole name below ``tf.``, as far as it is a dotted name: ``layers.dense``."""
    native: str = ""
    """The native name of the very same object, without ``tf.``."""
    through_v1: bool = False
    """Whether it is written with ``compat.v1``."""
    only_with: str = ""
    """The Keras of the target, in words, where the other one has it."""
    package: str = "tf"
    """``tf``, ``keras`` or ``tf_keras``."""

    @property
    def written(self) -> str:
        """The whole name, as a person writes it."""
        return f"{self.package}.{'compat.v1.' if self.through_v1 else ''}{self.whole}"

    @property
    def of_keras(self) -> bool:
        """Whether the name is Keras's, from whichever package."""
        return self.package != "tf" or self.whole.startswith("keras.")

    @property
    def works(self) -> bool:
        """Whether the name can be read as it is written."""
        return self.status == "ok" or (self.through_v1 and self.status == "v1")


_OK = Standing("ok")
_V1 = "tensorflow.compat.v1"
EAGER = frozenset(
    {
        "Print", "arg_max", "arg_min", "assert_greater_equal", "assert_integer", "assert_less_equal", "assert_near",
        "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal", "assert_positive",
        "assert_rank_at_least", "assert_rank_in", "assert_scalar", "assert_type", "batch_gather", "batch_to_space_nd",
        "bincount", "clip_by_average_norm", "confusion_matrix", "count_nonzero", "decode_csv", "decode_raw",
        "depth_to_space", "div", "extract_image_patches", "floor_div", "image.resize_area", "image.resize_bicubic",
        "image.resize_bilinear", "image.resize_image_with_pad", "image.resize_images",
        "image.resize_nearest_neighbor", "linalg.transpose", "manip.batch_to_space_nd", "manip.gather_nd",
        "manip.reshape", "nn.conv2d_backprop_input", "nn.depthwise_conv2d_native", "nn.relu_layer",
        "nn.softmax_cross_entropy_with_logits_v2", "nn.xw_plus_b", "parse_single_example", "py_func", "reduce_join",
        "setdiff1d", "space_to_depth", "sparse_add", "sparse_concat", "sparse_matmul", "sparse_reduce_max",
        "sparse_reduce_sum", "sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum", "sparse_to_dense",
        "string_split", "string_to_hash_bucket", "string_to_number", "substr", "to_bfloat16", "to_complex128",
        "to_complex64", "to_double", "to_float", "to_int32", "to_int64", "verify_tensor_all_finite",
    }
)  # fmt: skip
"""Functions of compat.v1 that compute eagerly what they compute in a graph; `test_rewritten_calls.py` calls each."""

_FINE = ("unknown", "works")


@cache
def natives() -> dict[str, str]:
    """The native name of the very object that an old name is, both without ``tf.``."""
    told: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))["natives"]
    return told


@cache
def _refusals() -> dict[str, str]:
    text = Path(__file__).with_name("eager_status.json").read_text(encoding="utf-8")
    return {name: told for told, row in json.loads(text).items() for name in row.split() if told not in _FINE}


def in_eager(name: str) -> str:
    """What is wrong with a name of `tf.compat.v1` in eager execution, in words; an empty text where nothing is known.

    Of each it was executed; see `tests/rules/eager_status.py`.
    """
    told = _refusals().get(name, "")
    return "does nothing in eager execution" if told == "nothing" else "needs a graph" if told else ""


@cache
def standing(spelled: str, target: Target) -> Standing:
    """Say where the absolute name `spelled` stands on `target`; a name that is not TensorFlow's is ok."""
    api, whole = split_api(spelled.partition("(")[0].partition("[")[0])
    if not api or not whole:
        return _OK
    through_v1 = api == _V1
    of_tensorflow = api.startswith("tensorflow")
    native = next((natives()[n] for n in _prefixes(whole) if n in natives()), "") if of_tensorflow else ""
    symbol = missing_part(api, whole, target)
    in_v1 = of_tensorflow and missing_part(_V1, whole, target) is None
    status = "ok" if symbol is None else "v1" if in_v1 else "gone"
    if through_v1 and status == "ok":
        lost = missing_part("tensorflow", whole, target)
        symbol, status = lost, "ok" if lost is None else "v1"
    if status == "ok":
        return Standing("ok", "", whole, "", through_v1, package=_package(api))
    other, keras = (Target.KERAS2, "Keras 3") if target is Target.KERAS3 else (Target.KERAS3, "tf_keras")
    only_with = keras if missing_part(api, whole, other) is None else ""
    return Standing(status, symbol or whole, whole, native, through_v1, only_with, _package(api))


def _package(api: str) -> str:
    return "tf" if api.startswith("tensorflow") else api


def _prefixes(whole: str) -> list[str]:
    parts = whole.split(".")
    return [".".join(parts[:size]) for size in range(1, len(parts) + 1)]


def missing(reference: Reference) -> Standing | None:
    """What a read name cannot reach on its target; None where a meaning works, or where an import says it already."""
    if any(entity.kind != "external" for entity in reference.found):
        return None
    broken = _broken(reference.names, reference.target)
    if broken is None or not reference.is_settled or _broken(reference.origin, reference.target) is not None:
        return None
    added = reference.file.once("names that it gives to TensorFlow", lambda: frozenset(_added(reference.file)))
    return None if any(name.spelled in added for name in reference.names) else broken


def v1_or_native(site: Import | Reference) -> str:
    """An absolute name by which TF2 has the object that a read or imported name meant in TF1; empty where it has none.

    Its native name, or else that of compat.v1; none for what can be read as it is written.
    """
    found = missing(site) if isinstance(site, Reference) else missing_import(site.names, site.target)
    return moved(site.spelled, site.target) if found is not None and len(site.names) == 1 else ""


def moved(spelled: str, target: Target) -> str:
    """The same for an absolute name of TensorFlow."""
    found = standing(spelled, target)
    if found.status == "ok" or not spelled.startswith("tensorflow.") or "(" in spelled or "[" in spelled:
        return ""
    if found.native:
        old = next(prefix for prefix in _prefixes(found.whole) if prefix in natives())
        return f"tensorflow.{found.native}{found.whole[len(old) :]}"
    return f"{_V1}.{found.whole}" if found.status == "v1" and not found.through_v1 else ""


def is_eager(name: str) -> bool:
    """Whether an absolute name is one of TF2, or computes eagerly what it did."""
    whole = name.removeprefix(f"{_V1}.")
    return whole == name or whole in EAGER


def has_all(site: Import, new: str) -> bool:
    """Whether another name has all that the file reads below an imported one."""
    old = f"{site.spelled}."
    reads = site.file.references_to(lambda names: any(name.spelled.startswith(old) for name in names))
    spelled = {name.spelled for read in reads for name in read.names if name.spelled.startswith(old)}
    return all(missing_part(*split_api(f"{new}.{one[len(old) :]}"), site.target) is None for one in spelled)


def asks_for(file: File, attribute: str) -> bool:
    """Whether a file asks anything whether it has an attribute, or takes it only where it is there."""
    return attribute in file.once("attributes that it asks for", lambda: frozenset(_asked_for(file)))


def _asked_for(file: File) -> Iterator[str]:
    for call in file.calls:
        if call.name in ("hasattr", "getattr") and len(call.call.args) > 1:
            yield literal_string(call.call.args[1]) or ""


def _added(file: File) -> Iterator[str]:
    """The public names that a file sets itself, as in ``tf.log = tf.math.log``."""
    for assignment in file.assignments:
        node = assignment.node
        if isinstance(node, ast.Attribute) and not assignment.augmented:
            owners = file.names(assignment.scope, path_of(node.value))  # not what `self.log` may already be
            yield from (f"{name.spelled}.{node.attr}" for name in owners)
    for call in file.calls:
        if call.name == "setattr" and len(call.call.args) == 3 and (attribute := literal_string(call.call.args[1])):
            yield from (f"{name.spelled}.{attribute}" for name in call.names_of(call.call.args[0]))


def missing_import(names: Sequence[Name], target: Target) -> Standing | None:
    """The same for an imported name."""
    return _broken(names, target)


def _broken(names: Sequence[Name], target: Target) -> Standing | None:
    standings = [standing(name.spelled, target) for name in names]
    if not standings or any(found.works for found in standings):
        return None
    return standings[0]


def is_of_keras(found: Standing) -> bool:
    """Whether a name is Keras's and written without ``compat.v1``: what became of it TF309 says."""
    return found.of_keras and not found.through_v1


def is_plain(site: Call | Import | Reference) -> bool:
    """Whether every meaning is a name that left `tf` and is written without ``compat.v1``."""
    return bool(site.names) and not any(
        found.works or found.through_v1 for found in (standing(name.spelled, site.target) for name in site.names)
    )


def written(name: Name) -> str:
    """A name as a person writes it: ``tf.compat.v1.Session``; calls and what follows them are left out."""
    dotted = name.spelled.partition("(")[0].partition("[")[0]
    return f"tf{dotted[10:]}" if dotted.startswith("tensorflow.") else dotted
