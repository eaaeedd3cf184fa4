"""Exports of JAX and of Keras on JAX, computed by NumPy where nobody has asked for a compiler."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_pjrt.backend import call_module
from drystone_pjrt.portable.bytecode import Unreadable
from drystone_pjrt.portable.evaluated import Evaluator
from drystone_pjrt.portable.static import ShapeMismatch, whole_program

EXPORTS = Path(__file__).parents[2] / "exports"
CASES = sorted(path.relative_to(EXPORTS) for path in EXPORTS.glob("*/case*.npz"))
OPERATIONS: dict[str, Any] = dict(np.load(EXPORTS / "operations.npz"))
NAMES = sorted({key.partition("/")[0] for key in OPERATIONS})


@pytest.fixture(autouse=True)
def nobody_has_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests have asked for does not count here."""
    monkeypatch.setattr(call_module, "_COMPILES", threading.Event())


def run(name: str, x: Any) -> dict[str, Any]:
    model: Any = ds.load(EXPORTS / name)
    signature = model.signatures["serving_default"]
    (given,) = signature.inputs.values()
    outputs = {name: spec.tensor for name, spec in signature.outputs.items()}
    found = model.run(list(outputs.values()), {given.tensor: x})
    return dict(zip(outputs, found, strict=True))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_export_computes_what_jax_does(case: Path) -> None:
    data = np.load(EXPORTS / case)
    found = run(case.parts[0], data["x"])
    assert sorted(found) == sorted(set(data.files) - {"x"})
    for name, value in found.items():
        assert value.dtype == data[name].dtype
        np.testing.assert_allclose(value, data[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_computes_what_jax_does(name: str) -> None:
    given, expected = (
        [OPERATIONS[key] for key in sorted(OPERATIONS) if key.startswith(f"{name}/{kind}")]
        for kind in "xy"
    )
    found = Evaluator(OPERATIONS[f"{name}/program"].tobytes()).run(given)
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_batch_that_the_program_is_not_for_is_refused_with_its_words() -> None:
    text = "(?s)inputs have the shapes.*found: \\[0, 8\\].*Expected value >= 1 for dimension"
    with pytest.raises(ds.KernelError, match=text):
        run("jax2tf-batch", np.zeros((0, 8), np.float32))


def test_what_is_not_known_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_pjrt.portable import evaluated

    monkeypatch.delitem(evaluated._OPS, "tanh")
    data = np.load(EXPORTS / "keras-sequence" / "case0.npz")
    with pytest.raises(
        ds.KernelError, match=r"(?s)found: tanh is not known.*xla-cpu-pjrt"
    ) as error:
        run("keras-sequence", data["x"])
    assert error.value.status == "UNIMPLEMENTED"


def test_programs_that_are_damaged_are_refused() -> None:
    code = OPERATIONS["loop/program"].tobytes()
    x = OPERATIONS["loop/x0"]
    refused = 0
    for at in range(0, len(code), 7):
        spoiled = code[:at] + bytes([code[at] ^ 0x15]) + code[at + 1 :]
        try:
            with whole_program():
                evaluator = Evaluator(spoiled)
            limited(evaluator).run([x])
        except (Unreadable, ShapeMismatch):
            refused += 1
    assert refused > 10


def limited(evaluator: Evaluator) -> Evaluator:
    """One that gives up."""
    whole, left = evaluator.operation, [300]

    def operation(*args: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise Unreadable("it does not end")
        return whole(*args)

    evaluator.operation = operation  # type: ignore[method-assign, assignment]
    return evaluator
