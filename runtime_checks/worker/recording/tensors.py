"""Names for what belongs to TensorFlow, Keras and numpy, whose types differ from version to version."""

from __future__ import annotations

from typing import Any, Callable

__all__ = [
    "Array", "DType", "Function", "Graph", "Json", "Layer", "Module", "Nest", "Operation", "Optimizer",
    "Protobuf", "Strategy", "Tensor", "V1Session", "Variable"
]

Array = Any
"""What numpy computes with."""
Tensor = Any
"""Symbolic or eager, or a number or array in its place."""
Variable = Any
"""Of TF1, by reference or as a resource, of TF2, or of Keras 3."""
Operation = Any
Graph = Any
V1Session = Any
"""A ``tf.compat.v1.Session``."""
Layer = Any
Module = Any
"""Something to import from, such as ``tensorflow``."""
Optimizer = Any
"""Of ``tf.compat.v1.train`` or of any Keras."""
Strategy = Any
"""Of ``tf.distribute``."""
DType = Any
"""Of numpy or of TensorFlow, or the name of one."""
Protobuf = Any
"""A message of TensorFlow's."""
Nest = Any
"""Tensors or arrays, alone or in tuples, lists and mappings."""
Json = Any
"""What a JSON file may hold."""
Function = Callable[..., Any]
"""A function of the user's or of a library."""
