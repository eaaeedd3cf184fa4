"""Load, inspect and run TensorFlow graphs without TensorFlow."""

__version__ = "0.1.0"

__all__ = ["__version__"]
