"""Axes and vectors between data formats."""

import numpy as np
from oracle import case

CASES = []
for _t in (np.int32, np.int64):
    for _from, _to in [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NDHWC", "NCDHW"), ("NHWC", "HWNC")]:
        _rank = len(_from)
        _formats = {"src_format": _from, "dst_format": _to, "tol": 0}
        CASES += [
            case("DataFormatDimMap", np.array(axes, _t), **_formats)
            for axes in (1, [0, -1, 2], [[3], [-_rank]], [])
        ]
        for _dims in [(_rank,), (_rank, 2), (_rank - 2,), (_rank - 2, 2), (_rank - 1,), (_rank, 3)]:
            _x = np.arange(np.prod(_dims), dtype=_t).reshape(_dims)
            CASES.append(case("DataFormatVecPermute", _x, **_formats))
