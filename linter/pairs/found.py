"""What was found in a TF1 program, as plain data: what a pair is written of, and what is told beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ROWS_FED", "Found", "Given", "Missing"]

ROWS_FED = "the number of rows"
"""What a setting is fed that is the length of a batch."""


@dataclass(frozen=True)
class Missing:
    """Something that the text does not tell, for a person to fill in."""

    what: str


@dataclass
class Given:
    """What a program is fed: a placeholder, a feature of an Estimator, the input of a Keras model.

    Attributes:
        name: a word for it.
        where: ``train.py:12``.
        dtype: as numpy calls it.
        shape: its sizes; None for any size, `Missing` for one that is not told; None where nothing is told.
        role: ``input``, ``label`` or ``setting``.
        reach: how the program calls it when its session begins, as Python.
        train: Python text of what it is fed in training, for a setting.
        evaluate: of what it is fed otherwise.
        bound: how many whole numbers it may hold, from 0 on; `Missing` where only what decides that is told; None where
            nothing tells.
        one_hot: whether a row says which of its columns is meant.
        sparse: whether it is fed its indices, values and shape.
        is_length: whether it says how many steps each row has.
        key: in a dict of features.
        filled: ``zeros`` or ``ones``, where nothing else is fed.
    """

    name: str
    where: str
    dtype: str | None = None
    shape: tuple[int | Missing | None, ...] | None = None
    role: str = "input"
    reach: str | Missing = ""
    train: str | Missing | None = None
    evaluate: str | Missing | None = None
    bound: int | Missing | None = None
    one_hot: bool = False
    sparse: bool = False
    is_length: bool = False
    key: str | None = None
    filled: str = ""


@dataclass
class Found:
    """A TF1 program.

    Attributes:
        kind: ``session``, ``estimator``, ``keras`` or ``function``.
        built: where its graph is built, in words.
        file: the absolute path of its file.
        root: the folder from which it imports what does not lie beside the file; empty where there is none.
        call: the function or class in it that is called; empty for a script that is run.
        missing_arguments: parameters of that which have no default.
        options: what a script has to be given on its command line: the option, empty for a word of its own, and what
            it stands for.
        is_class: whether it is a class.
        builders: the methods that build what its constructor does not, each with its parameters without a default.
        models: the classes of a script that comes to no session of its own, each with a training step of its own, as
            ``model.py:Model``.
        runs: whether it goes on to run a session.
        given: what it is fed.
        fed: what it is fed besides, which the pair leaves out, as sentences.
        outputs, loss, train_op: how the program calls them when its session begins, as Python.
        beside: what else the training step's run does that assigns variables, as Python.
        apart: whether the training step does not compute these outputs.
        loss_text, optimizer_text: how they are made, for the person who writes the TF2 side.
        compiled: the arguments of a ``compile`` elsewhere, as Python that means the same in the pair.
        params: Python text of what an Estimator is given.
        told: what was found, as sentences.
        not_understood: what was not.
    """

    kind: str
    file: str
    built: str = ""
    root: str = ""
    call: str = ""
    missing_arguments: list[str] = field(default_factory=list)
    options: list[tuple[str, Missing]] = field(default_factory=list)
    is_class: bool = False
    builders: list[tuple[str, list[str]]] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    runs: bool = True
    given: list[Given] = field(default_factory=list)
    fed: list[str] = field(default_factory=list)
    outputs: str | Missing = ""
    loss: str | Missing | None = None
    train_op: str | Missing | None = None
    beside: list[str | Missing] = field(default_factory=list)
    apart: bool = False
    loss_text: str = ""
    optimizer_text: str = ""
    compiled: str = ""
    params: str | Missing | None = None
    told: list[str] = field(default_factory=list)
    not_understood: list[str] = field(default_factory=list)
