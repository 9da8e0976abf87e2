"""Hears what happens in TensorFlow and Keras: calls of layers, new variables, updates, loads of checkpoints."""
