"""What a user says about the two sides that are to be compared."""

from __future__ import annotations

import difflib
import inspect
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence, Union

from ..tensors import Nest, Operation, Tensor

__all__ = ["LAYOUTS", "Converter", "Gates", "Pair", "Spec"]

Side = Any
"""A function, what else can be called, or where it is; None for a side that is not needed."""
Renames = Union[Mapping[str, str], Callable[[str], str]]


class Gates:
    """In which order the gates stand in a kernel: input, candidate, forget, output; reset, update, candidate."""

    LSTM_TF1 = "icfo"
    LSTM_KERAS = "ifco"
    GRU_TF1 = "rzh"
    GRU_KERAS = "zrh"


LAYOUTS: Mapping[str, Mapping[str, str | float]] = {
    "lstm": {"gates": Gates.LSTM_KERAS, "forget_bias": 1.0},
    "gru": {"gates": Gates.GRU_KERAS},
    "cudnn_gru": {"gates": Gates.GRU_KERAS},
    "rnn": {},
    "fused_qkv": {"order": "qkv", "heads": 0},
    "separate_qkv": {"order": "qkv", "heads": 0},
    "heads": {},
}
"""The layouts that a `Converter` knows, with their settings."""


class Converter:
    """Variables of TF1 that became other ones on TF2 together, such as the kernel of an LSTM.

    ``Converter("rnn/basic_lstm_cell/", "lstm/lstm_cell/", "lstm")`` says that a cell of TF1 became one of Keras.

    Args:
        tf1: the names of the TF1 variables, without ``:0``; a name that ends with ``/`` stands for all below it, in the
            order of creation.
        tf2: those of the TF2 variables, which may leave out what the model's own name puts in front.
        layout: ``"lstm"``, ``"gru"``, ``"cudnn_gru"``, ``"rnn"``, ``"fused_qkv"``, ``"separate_qkv"`` or ``"heads"``;
            or a function from the list of the TF1 arrays to that of the TF2 arrays, which may move elements, each to
            one place, and add constants.
        settings: of the layout. ``gates`` is their order on TF2: of an LSTM i, c, f and o (``"ifco"``), of a GRU r, z
            and h (``"zrh"``). ``forget_bias`` is what TF1 adds outside of its bias, and TF2 has within. ``order`` is
            that of ``"qkv"`` in the fused kernel, and ``heads`` in how many parts they take turns (0: in one).

    Raises:
        ValueError: if there is no such layout or setting.
    """

    def __init__(
        self, tf1: str | Sequence[str], tf2: str | Sequence[str], layout: Any, **settings: Any
    ) -> None:
        if not callable(layout) and layout not in LAYOUTS:
            raise ValueError(f"layout={layout!r}: there are {', '.join(LAYOUTS)}, and functions")
        usual = {} if callable(layout) else LAYOUTS[layout]
        for name, value in settings.items():
            wanted = usual.get(name)
            if wanted is None:
                raise ValueError(f"{name}={value!r}: the layout has no such setting")
            if isinstance(wanted, str) and sorted(wanted) != sorted(str(value)):
                raise ValueError(f"{name}={value!r}: it is made of the letters of {wanted!r}")
        self.tf1 = (tf1,) if isinstance(tf1, str) else tuple(tf1)
        self.tf2 = (tf2,) if isinstance(tf2, str) else tuple(tf2)
        self.layout = layout
        self.settings = settings

    def __repr__(self) -> str:
        """As it is written in a pair."""
        sides = [repr(names[0] if len(names) == 1 else list(names)) for names in (self.tf1, self.tf2)]
        layout = getattr(self.layout, "__name__", repr(self.layout)) if callable(self.layout) else f'"{self.layout}"'
        told = [f"{name}={value!r}" for name, value in self.settings.items()]
        return f"Converter({', '.join([*sides, layout, *told])})".replace("'", '"')


@dataclass(eq=False)
class Spec:
    """What a function that builds a TF1 graph may return, or a TF2 step, beyond its outputs.

    Where a field is None it is left out of the comparison or, for ``learning_rate`` and ``gradients``, taken from the
    optimizer that was seen at work.
    ``tf.estimator.EstimatorSpec`` and everything with fields of these names will do as well.

    Args:
        predictions: a tensor or a structure of tensors: the outputs.
        loss: the scalar that training makes smaller.
        train_op: the operation of one training step (TF1 only).
        eval_metric_ops: dict of ``(value, update)`` pairs of tensors (TF1), or of scalars.
        learning_rate: a scalar.
        gradients: dict of gradients by variable name.
        taps: dict of tensors by name, to be compared with the tap of that name on the other side.
        feeds: dict of what the program's own placeholders are fed in each ``session.run`` (TF1 only): one of the
            tensors that the function was given as inputs or labels, which stands for its part of the batch, or a
            number or array, which is cast to the placeholder's dtype as a session does it. A sparse placeholder gets
            a ``SparseTensorValue`` or a tuple of its ``indices``, ``values`` and ``dense_shape``, which may be such
            tensors. One with None is not fed.
    """

    predictions: Nest = None
    loss: Tensor = None
    train_op: Operation = None
    eval_metric_ops: Nest = None
    learning_rate: Tensor = None
    gradients: Nest = None
    taps: Nest = None
    feeds: Mapping[Tensor, Nest] | None = None


def _unknown(given: str) -> str:
    """What is wrong with a keyword that a pair does not have, and which one may be meant."""
    if given == "test_step":
        return (
            "Pair has no test_step: it is a method of the TF2 model, test_step(self, data), that gives the loss and "
            "metrics of a batch"
        )
    names = [name for name in inspect.signature(Pair).parameters if name not in ("self", "others")]
    near = difflib.get_close_matches(given, names, n=1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return f"Pair has no {given}: {meant}"


class Pair:
    """Two programs that should compute the same.

    Args:
        tf1: a function that builds a TF1 graph, or where it is (``"old/model.py:network"``). Its first parameter gets
            the inputs; parameters named ``labels``, ``mode`` (``"train"``, ``"eval"`` or ``"infer"``), ``params``,
            ``training`` or ``is_training`` get what they say. It returns the outputs, the outputs and a dict of
            endpoints, or an ``EstimatorSpec`` (see `Spec`). A function with a parameter named ``run`` runs itself and
            records through it.
        tf2: a function without required parameters (or with ``params``) that makes the TF2 side, or where it is: a
            Keras layer or model, compiled or not, a ``tf.Module``, anything that can be called; or a function with a
            parameter named ``run``, which runs itself.
        inputs: one batch: an array, a tuple or list of positional inputs, a dict; or a function of the step (from 0)
            that gives such a batch; or a function without parameters. numpy arrays.
        labels: the targets of that batch, of the same forms; None where there are none.
        train_step: ``train_step(model, inputs, labels)`` does one training step of the TF2 side and returns the loss,
            a dict with ``"loss"`` and metrics, or a `Spec`. By default the ``train_step`` of the model, or what
            ``compile`` set up.
        data: the input pipelines of both sides, functions or where they are, which may take ``params``: of TF1 one that
            gives a dataset, tensors of a graph (as an ``input_fn`` or a queue does) or an iterable of what is fed; of
            TF2 one that gives a dataset, a sequence of Keras or an iterable of batches. Where these alone are compared,
            with ``--until data``, ``tf1``, ``tf2`` and ``inputs`` may be None.
        params: given to a parameter named ``params``.
        renames: TF2 names by TF1 names, both without ``:0``; a key that ends with ``/`` stands for all names below
            it. Or a function from a TF1 name to the TF2 name.
        transposes: by TF1 name, the permutation that turns the TF1 value into the TF2 one, as in ``np.transpose``.
        reshapes: names of TF1 variables whose TF2 counterpart holds the same elements in another shape, in their order
            (after what ``transposes`` says), such as a bias of shape ``[1, 8, 1, 1]`` that became one of ``[8]``; a
            trailing ``*`` stands for any ending.
        converters: groups of variables that changed their layout together, see `Converter`. Those of the recurrent
            cells of TF1 that became layers of Keras, and of attention, are found by their shapes.
        ignore: names of variables, on either side, that have no counterpart; a trailing ``*`` stands for any ending.
            They keep their values where all others are filled.
        taps: by a name of your own, what belongs together: ``(TF1 tensor name or endpoint, TF2 layer path or
            endpoint)``. Endpoints and layers of the same name need no entry.
        checkpoint: the prefix of a TF1 checkpoint that both sides should be able to load.
        name: for the report; by default where the pair is defined.

    Raises:
        TypeError: for a keyword that there is not; the text names the nearest one.
    """

    def __init__(
        self,
        tf1: Side,
        tf2: Side,
        inputs: Nest = None,
        labels: Nest = None,
        *,
        train_step: Side = None,
        data: Sequence[Side] | None = None,
        params: object = None,
        renames: Renames | None = None,
        transposes: Mapping[str, Sequence[int]] | None = None,
        reshapes: Sequence[str] = (),
        converters: Sequence[Converter] = (),
        ignore: Sequence[str] = (),
        taps: Mapping[str, Sequence[str]] | None = None,
        checkpoint: str | None = None,
        name: str | None = None,
        **others: object,
    ) -> None:
        for given in others:
            raise TypeError(_unknown(given))
        self.tf1 = tf1
        self.tf2 = tf2
        self.inputs = inputs
        self.labels = labels
        self.train_step = train_step
        self.data = None if data is None else tuple(data)
        self.params = params
        self.renames = renames
        self.transposes = dict(transposes or {})
        self.reshapes = tuple(reshapes or ())
        self.converters = tuple(converters or ())
        self.ignore = tuple(ignore)
        self.taps = {key: tuple(value) for key, value in (taps or {}).items()}
        self.checkpoint = checkpoint
        self.name = name
