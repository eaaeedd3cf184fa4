"""Random cases of every op against the installed TensorFlow, other ones each time.

The seed is printed; ``DRYSTONE_PARITY_SEED`` sets it. To repeat one case:
``ci/scripts/parity.py --ops OP --seed SEED --cases 1``.
"""

import os
import time

import pytest
from parity.eligible import eligible_ops
from parity.live import answers

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")

CASES = 3


def test_random_cases() -> None:
    seed = int(os.environ.get("DRYSTONE_PARITY_SEED", time.time()))
    print(f"DRYSTONE_PARITY_SEED={seed}")
    tasks = [(op, seed + k) for op in eligible_ops() for k in range(CASES)]
    wrong = [
        f"{op} seed {case}: {verdict.text}"
        for (op, case), _, verdict in answers(tasks)
        if verdict.kind in ("differs", "broken")
    ]
    assert not wrong, f"seed {seed}: {len(wrong)} of {len(tasks)} differ:\n" + "\n".join(wrong)
