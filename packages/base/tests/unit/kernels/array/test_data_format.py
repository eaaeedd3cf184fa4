"""Axes and vectors follow the letters of the data formats."""

import itertools

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op


@pytest.mark.parametrize("target", ["".join(p) for p in itertools.permutations("NHWC")])
def test_letters_stay_with_their_numbers(target: str) -> None:
    formats = {"src_format": "NHWC", "dst_format": target}
    (sizes,) = run_op("DataFormatVecPermute", np.array([8, 10, 20, 3]), **formats)
    assert dict(zip(target, sizes.tolist(), strict=True)) == {"N": 8, "H": 10, "W": 20, "C": 3}
    (axes,) = run_op("DataFormatDimMap", np.array([0, 1, 2, 3, -1]), **formats)
    assert "".join(target[a] for a in axes) == "NHWCC"


def test_refusals() -> None:
    with pytest.raises(KernelError, match="found: NHWC and NCHX"):
        run_op("DataFormatDimMap", np.array(0), src_format="NHWC", dst_format="NCHX")
    with pytest.raises(KernelError, match=r"found: \[3\]\n  needed: \[4\] or \[2\], perhaps by 2"):
        run_op("DataFormatVecPermute", np.zeros(3, np.int32))
