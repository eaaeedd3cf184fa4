"""The warning that says that a graph goes on as it was."""

__all__ = ["OptimizerWarning"]


class OptimizerWarning(UserWarning):
    """An optimizer failed or gave a bad graph; the graph went on without it."""
