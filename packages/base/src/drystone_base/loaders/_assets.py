"""How a graph is told where its files lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from drystone_base.tensor import string_array
from drystone_base.uris import as_path

__all__ = ["path_tensor"]


def path_tensor(path: Path | str) -> np.ndarray[Any, Any]:
    """The string scalar of an absolute path."""
    return string_array([os.fsencode(as_path(path).absolute())], ())
