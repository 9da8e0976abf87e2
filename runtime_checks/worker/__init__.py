"""What runs inside the model's own interpreter: standard library, numpy and TensorFlow only, in Python 3.7 syntax."""
