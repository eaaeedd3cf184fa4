"""The counting loop for TorchScript, which reads its source."""

import torch

__all__ = ["count"]


def count(limit: torch.Tensor) -> torch.Tensor:
    """Count to ``limit``, one step at a time."""
    k = torch.zeros((), dtype=torch.int32)
    while bool(k < limit):
        k = k + 1
    return k
