"""Both executors give the same values for random programs, and both refuse the same."""

import pytest
from random_programs import disagreement, draw
from random_programs.agree import outcomes

from drystone_base.host import available

pytestmark = pytest.mark.cases_in_gate(3)

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

SEEDS = 150  # thousands are drawn by `nox -s random_plans`


@pytest.mark.parametrize("start", range(0, SEEDS, 15))
def test_random_programs_agree(start: int) -> None:
    for seed in range(start, start + 15):
        assert disagreement(draw(seed)) is None


def test_a_seed_is_one_program() -> None:
    assert [draw(5).graph.to_bytes() for _ in range(2)] == [draw(5).graph.to_bytes()] * 2


def test_programs_do_what_they_are_to_cover() -> None:
    ops = {node.op for seed in range(SEEDS) for node in draw(seed).graph}
    assert {
        "Switch", "Merge", "Enter", "While", "If", "Case", "StatefulPartitionedCall", "VariableV2",
        "VarHandleOp", "QueueDequeueV2", "StackPopV2", "TensorListStack", "TensorArrayGatherV3",
        "MutableHashTableV2", "RandomUniform", "StringJoin",
    } <= ops  # fmt: skip
    codes = {found for seed in range(40) for found in outcomes(draw(seed))}
    assert {"ok", "kernel-failed"} <= codes
