"""Variables that live in the host library."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from drystone_base.core.dtypes import INT64
from drystone_base.host import available
from drystone_base.state.variables import Variable

PROGRAM = """
import numpy
from drystone_base.core.dtypes import INT64
from drystone_base.state.variables import Variable
numpy.kept = Variable("v", INT64, ())
numpy.kept.in_host()
"""


def test_a_scalar_of_numpy_is_an_array_there() -> None:
    variable = Variable("v", INT64, ())
    variable.write(np.int64(6))  # type: ignore[arg-type]
    assert isinstance(variable.read(), np.ndarray)
    if available():
        variable.in_host()
        variable.write(np.int64(7))  # type: ignore[arg-type]
        assert isinstance(variable.read(), np.ndarray)
        assert variable.read().tolist() == 7


def test_one_that_lives_to_the_end_is_deleted_without_a_word() -> None:
    """Then modules are empty already."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
