"""The rule by which a node gets its kernel, and its explanation."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor import selection
from drystone_base.executor.plan import can_run
from drystone_base.executor.selection import Candidate, candidates, explain, select

FLOAT, HALF, INT = as_dtype("float32"), as_dtype("float16"), as_dtype("int32")


def plugin(name: str, priority: int = 0, *, op: str = "Relu", **facts: Any) -> Candidate:
    given = {"device": "CPU", "label": "", "constraints": (), **facts}
    return Candidate(
        op=op, name=name, priority=priority, host_memory=(), is_async=False,
        library=f"/plugins/{name}.so", id=len(name), **given,
    )  # fmt: skip


def types(*dtypes: Any, attr: str = "T") -> tuple[tuple[str, tuple[Any, ...]], ...]:
    return ((attr, dtypes),)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Stands in for plugins: these kernels are registered, in this order."""

    def given(*kernels: Candidate) -> None:
        by_op: dict[str, tuple[Candidate, ...]] = {}
        for kernel in kernels:
            by_op[kernel.op] = (*by_op.get(kernel.op, ()), kernel)
        monkeypatch.setattr(selection, "registered", lambda: by_op)

    return given


def chosen(attrs: dict[str, Any] | None = None, label: str = "", op: str = "Relu") -> str:
    found = select(op, "CPU", {"T": FLOAT} if attrs is None else attrs, label)
    assert found is not None
    return "reference" if found.is_reference else found.name


def reasons(op: str = "Relu", **question: Any) -> dict[str, str]:
    return {
        "reference" if v.candidate.is_reference else v.candidate.name: v.reason
        for v in explain(op, **question)
    }


# ---- the rule ----------------------------------------------------------------------------------


def test_without_plugins_the_reference_kernel_runs(register: Callable[..., None]) -> None:
    register()
    assert chosen() == "reference"
    assert reasons() == {"reference": "used: priority -1 is the highest"}


@pytest.mark.parametrize(
    ("priority", "winner"), [(0, "one"), (5, "one"), (-1, "one"), (-2, "reference")]
)
def test_the_reference_kernel_counts_as_minus_one(
    register: Callable[..., None], priority: int, winner: str
) -> None:
    register(plugin("one", priority))
    assert chosen() == winner


def test_the_highest_priority_wins_whatever_the_order(register: Callable[..., None]) -> None:
    register(plugin("low", 1), plugin("high", 7), plugin("middle", 3))
    assert chosen() == "high"
    ranked = [k.name for k in candidates("Relu", "CPU", {"T": FLOAT})]
    assert ranked == ["high", "middle", "low", "Relu"]


def test_of_equals_the_first_registered_wins(register: Callable[..., None]) -> None:
    register(plugin("first", 2), plugin("second", 2))
    assert chosen() == "first"


def test_every_constraint_must_hold(register: Callable[..., None]) -> None:
    register(plugin("one", constraints=(*types(FLOAT, HALF), *types(INT, attr="Tidx"))))
    assert chosen({"T": HALF, "Tidx": INT}) == "one"
    assert chosen({"T": INT, "Tidx": INT}) == "reference"
    assert chosen({"T": HALF, "Tidx": FLOAT}) == "reference"
    assert chosen({"T": HALF}) == "reference"


def test_a_list_of_types_must_hold_only_allowed_ones(register: Callable[..., None]) -> None:
    register(plugin("one", op="IdentityN", constraints=types(FLOAT, HALF)))
    assert chosen({"T": [FLOAT, HALF]}, op="IdentityN") == "one"
    assert chosen({"T": [FLOAT, INT]}, op="IdentityN") == "reference"
    assert chosen({"T": []}, op="IdentityN") == "reference"


def test_a_constraint_without_a_known_dtype_fits_nothing(register: Callable[..., None]) -> None:
    register(plugin("one", constraints=types()))
    assert chosen() == "reference"
    assert reasons(attrs={"T": FLOAT})["one"] == "not used: T is float32, it needs none"


def test_labels_must_be_equal(register: Callable[..., None]) -> None:
    register(plugin("special", 9, label="mine"), plugin("plain"))
    assert chosen() == "plain"
    assert chosen(label="mine") == "special"
    assert select("Relu", "CPU", {"T": FLOAT}, "nobody's") is None


def test_kernels_of_other_devices_do_not_run(register: Callable[..., None]) -> None:
    register(plugin("far", 9, device="XPU"))
    assert chosen() == "reference"
    found = select("Relu", "XPU", {"T": FLOAT})
    assert found is not None
    assert found.name == "far"


def test_an_op_without_any_kernel(register: Callable[..., None]) -> None:
    register()
    assert select("NoSuchOpAnywhere", "CPU", {}) is None
    assert explain("NoSuchOpAnywhere") == []


# ---- explaining --------------------------------------------------------------------------------


def test_reasons_for_one_node(register: Callable[..., None]) -> None:
    register(
        plugin("low", 1),
        plugin("high", 7),
        plugin("twin", 7),
        plugin("other", 9, constraints=types(INT)),
        plugin("far", device="XPU"),
        plugin("special", label="mine"),
    )
    assert reasons(attrs={"T": FLOAT}) == {
        "high": "used: priority 7 is the highest",
        "twin": "not used: kernel high of /plugins/high.so has the same priority and was registered"
        " first",
        "low": "not used: its priority 1 is below the 7 of kernel high of /plugins/high.so",
        "reference": "not used: its priority -1 is below the 7 of kernel high of /plugins/high.so",
        "other": "not used: T is float32, it needs int32",
        "far": "not used: it is for device XPU, the node runs on CPU",
        "special": "not used: its label is 'mine', the node's _kernel is ''",
    }
    assert [v.candidate.name for v in explain("Relu", attrs={"T": FLOAT}) if v.chosen] == ["high"]


def test_without_attributes_each_dtype_has_its_kernel(register: Callable[..., None]) -> None:
    register(
        plugin("floats", constraints=types(FLOAT, HALF)),
        plugin("halves", 3, constraints=types(HALF)),
        plugin("ints", constraints=types(INT)),
        plugin("late", constraints=types(HALF)),
    )
    found = reasons()
    assert found["halves"] == "used where T = float16: priority 3 is the highest"
    assert found["floats"] == (
        "used where T = float32 or float16, but not where T = float16: its priority 0 is below the"
        " 3 of kernel halves of /plugins/halves.so"
    )
    assert found["ints"] == "used where T = int32: priority 0 is the highest"
    assert found["late"].startswith("not used: its priority 0 is below the 3 of kernel halves")
    assert found["reference"].startswith(
        "used, but not where T = float16: its priority -1 is below"
    )
    assert (
        "; not where T = int32: its priority -1 is below the 0 of kernel ints" in found["reference"]
    )


@pytest.mark.parametrize("op", ["Switch", "Merge", "Enter", "NextIteration", "ControlTrigger"])
def test_control_flow_stays_with_the_executor(register: Callable[..., None], op: str) -> None:
    register(plugin("control", 9, op=op))
    (verdict,) = (v for v in explain(op) if not v.candidate.is_reference)
    assert not verdict.chosen
    assert verdict.reason == "not used: the executor runs this op itself"


# ---- no cost without plugins -------------------------------------------------------------------


def test_nothing_is_imported_before_a_library_is_opened() -> None:
    code = (
        "import sys, numpy as np\n"
        "from drystone_base.graph import Graph\n"
        "from drystone_base.core.dtypes import FLOAT32\n"
        "from drystone_base.api.session import Session, SessionConfig\n"
        "config = SessionConfig(executor='reference')\n"
        "g = Graph()\n"
        "x = g.add('Placeholder', 'x', attrs={'dtype': FLOAT32, 'shape': ()})\n"
        "g.add('Relu', 'y', [x], attrs={'T': FLOAT32})\n"
        "assert Session(g, config).run('y:0', {'x:0': np.float32(3)}) == 3\n"
        "ours = 'library', 'kernels', 'tensors', 'memory'\n"
        "bad = [m for m in sys.modules if m.endswith('selection')\n"
        "       or m in [f'drystone_base.host.{name}' for name in ours]]\n"
        "assert bad == [], bad\n"
    )
    without = os.environ | {"DRYSTONE_PLUGINS_DISABLE": "*"}  # also where drystone-cpu is installed
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=without
    )
    assert done.returncode == 0, done.stderr
    assert can_run("Relu")
