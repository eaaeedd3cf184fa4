"""What the table of op properties says is true of the kernels, and is said once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.executor.testing import run_op
from drystone_base.ops import properties as table
from drystone_base.ops.defs import find

Arrays = np.ndarray[Any, Any]
POINTS = np.array([-2.5, -1.0, -0.75, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 3.0, 20.0], np.float32)


def values(op: str) -> Arrays:
    """Numbers of a dtype that the op takes."""
    if op == "LogicalNot":
        return np.array([True, False, True])
    if op == "Invert":
        return np.array([0, 1, -7, 100], np.int32)
    return POINTS


def once(op: str, x: Arrays) -> Arrays:
    with np.errstate(all="ignore"):
        found: Arrays = run_op(op, x)[0]
    return found


@pytest.mark.parametrize("name", table.__all__)
def test_every_name_is_an_op(name: str) -> None:
    assert [op for op in getattr(table, name) if find(op) is None] == []


@pytest.mark.parametrize("op", sorted(table.ELEMENTWISE_UNARY))
def test_each_element_of_a_unary_op_depends_on_its_own_alone(op: str) -> None:
    x = values(op) if op != "Conj" else POINTS.astype(np.complex64)
    whole = once(op, x)
    assert (whole.shape, whole.dtype) == (x.shape, x.dtype)
    single = np.stack([once(op, x[k : k + 1])[0] for k in range(len(x))])
    if op in table.CORRECTLY_ROUNDED:
        assert whole.tobytes() == single.tobytes()
        assert once(op, x[::-1].copy())[::-1].tobytes() == whole.tobytes()
    np.testing.assert_allclose(whole, single, rtol=1e-5)


@pytest.mark.parametrize("op", sorted(table.INVOLUTIONS))
def test_involutions_undo_themselves(op: str) -> None:
    x = values(op) if op != "Conj" else np.array([1 + 2j, -3j], np.complex64)
    assert np.array_equal(once(op, once(op, x)), x)


@pytest.mark.parametrize("op", sorted(table.IDEMPOTENT))
def test_idempotent_ops_change_nothing_a_second_time(op: str) -> None:
    found = once(op, POINTS)
    assert once(op, found).tobytes() == found.tobytes()


RISES: tuple[tuple[frozenset[str], Callable[[Arrays], Arrays]], ...] = (
    (table.RISING | table.PARTLY_RISING, np.sort),
    (table.FALLING | table.PARTLY_FALLING, lambda a: np.sort(a)[::-1]),
)


@pytest.mark.parametrize(
    ("op", "ordered"), [(op, order) for ops, order in RISES for op in sorted(ops)]
)
def test_monotone_ops_keep_or_turn_the_order(op: str, ordered: Callable[[Arrays], Arrays]) -> None:
    found = once(op, POINTS)
    real = found[~np.isnan(found)]
    assert len(real) == len(found) or op in table.PARTLY_RISING | table.PARTLY_FALLING
    assert real.tolist() == ordered(real).tolist()
    if op in table.ONE_TO_ONE:
        near = once(op, np.array([0.25, 0.5, 0.75], np.float32))
        near = near[~np.isnan(near)]
        assert len(set(near.tolist())) == len(near)


@pytest.mark.parametrize("op", sorted(table.COMMUTATIVE))
def test_inputs_of_commutative_ops_may_be_exchanged(op: str) -> None:
    kinds = {"L": np.array([True, True, False, False]), "B": np.array([1, 6, 3, 12], np.int32)}
    x = kinds["L"] if op.startswith("Logical") else kinds.get(op[0], POINTS[:4])
    y = np.roll(x, 1)
    assert run_op(op, x, y)[0].tobytes() == run_op(op, y, x)[0].tobytes()


def test_no_other_file_states_a_set_of_the_table_again() -> None:
    """A set of four or more names that is in the table is taken from there."""
    sets = {getattr(table, name): name for name in table.__all__ if len(getattr(table, name)) > 3}
    again = []
    packages = Path(__file__).parents[5]
    for package in ("base", "optimizer", "subgraph"):
        for file in sorted((packages / package / "src").rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Set | ast.Tuple | ast.List):
                    held = [e.value for e in node.elts if isinstance(e, ast.Constant)]
                    names = frozenset(v for v in held if isinstance(v, str))
                    if len(names) == len(node.elts) and names in sets:
                        again.append(f"{file}:{node.lineno} states {sets[names]}")
    assert again == []
