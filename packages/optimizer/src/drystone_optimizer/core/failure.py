"""The warning that says that a graph is left unchanged."""

__all__ = ["OptimizerWarning"]


class OptimizerWarning(UserWarning):
    """An optimizer failed or gave a bad graph; the graph runs without it."""
