"""The warning that says that something runs without a backend."""

__all__ = ["SubgraphWarning"]


class SubgraphWarning(UserWarning):
    """A backend failed; the graph, or a region of it, went on without it."""
