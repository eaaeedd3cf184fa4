"""``numeric="exact"`` means the bits of the graph as it is, whatever it is fed with."""

import numpy as np
import pytest
from exact_bits import KINDS, first_difference
from pass_checks import Maker

from drystone_base.core.dtypes import FLOAT32
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.passes.constant_folding import fold


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("executor", ["native", "reference"])
def test_no_bit_changes(kind: str, executor: str) -> None:
    with np.errstate(all="ignore"):
        found = [first_difference(kind, seed, executor) for seed in (*range(12), 26, 45, 81)]
    assert not any(found), "\n".join(filter(None, found))


def test_what_a_plugin_computes_is_not_folded_by_another_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sums and transcendental functions round otherwise in each kernel; a product does not."""
    m = Maker()
    numbers = m.const("c", np.linspace(0, 1, 8, dtype=np.float32))
    m.op("Tanh", "tanh", numbers, T=FLOAT32)
    m.op("Mul", "product", numbers, numbers, T=FLOAT32)
    monkeypatch.setattr(fold, "of_plugins", lambda: {"Tanh": (), "Mul": ()})
    for numeric, ops in (("exact", ("Tanh", "Const")), ("reassociates", ("Const", "Const"))):
        after, _ = optimize_with_report(
            m.graph,
            ["tanh:0", "product:0"],
            [],
            OptimizerConfig(numeric=numeric, min_graph_nodes=-1),
        )
        assert (after["tanh"].op, after["product"].op) == ops
