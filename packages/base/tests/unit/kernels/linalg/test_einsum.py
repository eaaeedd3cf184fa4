"""Einsum against NumPy's own, equations drawn at random."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

SIZES = {"a": 2, "b": 3, "c": 1, "d": 4}
TERM = st.lists(st.sampled_from("abcd"), max_size=4, unique=True).map("".join)


@settings(max_examples=50, deadline=None)
@given(TERM, TERM, st.data())
def test_two_operands(first: str, second: str, data: st.DataObject) -> None:
    letters = sorted(set(first + second))
    output = "".join(data.draw(st.lists(st.sampled_from(letters), unique=True))) if letters else ""
    rng = np.random.default_rng(0)
    x = np.asarray(rng.normal(size=[SIZES[c] for c in first]))
    y = np.asarray(rng.normal(size=[SIZES[c] for c in second]))
    equation = f"{first},{second}->{output}"
    (out,) = run_op("Einsum", x, y, equation=equation)
    want = np.einsum(equation, x, y)
    np.testing.assert_allclose(out, want, rtol=1e-12, atol=1e-12)
    assert infer_shapes("Einsum", [x.shape, y.shape], equation=equation) == [want.shape]


def test_repeated_output_labels_make_a_diagonal() -> None:
    (out,) = run_op("Einsum", np.arange(3.0), equation="i->ii")
    np.testing.assert_array_equal(out, np.diag(np.arange(3.0)))


@pytest.mark.parametrize(
    ("equation", "shapes", "want"),
    [
        ("...ij,...jk->...ik", [(-1, 2, 3), (5, 3, 4)], (5, 2, 4)),
        ("...ij,...jk->...ik", [None, (5, 3, 4)], None),
        ("ij,jk->ik", [None, (-2, 7)], (-1, 7)),
        ("ij,jk->ik", [(-2, 3), (-1, -3)], (-2, -3)),
        ("i...->...", [(2, -2, 4)], (-2, 4)),
    ],
)
def test_partly_known_shapes(equation: str, shapes: list[object], want: object) -> None:
    assert infer_shapes("Einsum", shapes, equation=equation) == [want]  # type: ignore[arg-type]


def test_unequal_sizes_of_a_label_are_refused() -> None:
    with pytest.raises(KernelError, match="label 'j': 3 and 4"):
        run_op("Einsum", np.ones((2, 3)), np.ones((4, 2)), equation="ij,jk->ik")
