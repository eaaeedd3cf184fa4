"""What jax2tf and Keras on JAX have exported, as they write it: with a batch of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_pjrt.api.client import Client
from drystone_pjrt.portable.static import static_program

EXPORTS = Path(__file__).parents[1] / "exports"
CASES = sorted(path.relative_to(EXPORTS) for path in EXPORTS.glob("*/case*.npz"))
OPERATIONS: dict[str, Any] = dict(np.load(EXPORTS / "operations.npz"))
NAMES = sorted({key.partition("/")[0] for key in OPERATIONS})


def opened(name: str, subgraphs: Any = "pjrt") -> Any:
    return ds.load(EXPORTS / name, config=ds.SessionConfig(subgraphs=subgraphs))


def run(model: Any, x: Any) -> dict[str, Any]:
    signature = model.signatures["serving_default"]
    (given,) = signature.inputs.values()
    outputs = {name: spec.tensor for name, spec in signature.outputs.items()}
    found = model.run(list(outputs.values()), {given.tensor: x})
    return dict(zip(outputs, found, strict=True))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_export_computes_what_jax_does(case: Path) -> None:
    data = np.load(EXPORTS / case)
    found = run(opened(case.parts[0]), data["x"])
    assert sorted(found) == sorted(set(data.files) - {"x"})
    for name, value in found.items():
        np.testing.assert_allclose(value, data[name], rtol=1e-5, atol=1e-6)


def test_one_model_takes_batches_of_any_size() -> None:
    model = opened("keras-sequence")
    rows = np.concatenate(
        [np.load(EXPORTS / "keras-sequence" / f"case{k}.npz")["x"] for k in (0, 1)]
    )
    whole = run(model, rows)["output_0"]
    for count in (1, 3, 7, 1):
        np.testing.assert_allclose(
            run(model, rows[:count])["output_0"], whole[:count], rtol=1e-5, atol=1e-6
        )


def test_a_batch_that_the_program_is_not_for_is_refused_with_its_words() -> None:
    text = "(?s)inputs have the shapes.*found: \\[0, 8\\].*Expected value >= 1 for dimension"
    with pytest.raises(ds.KernelError, match=text):
        run(opened("jax2tf-batch"), np.zeros((0, 8), np.float32))


def test_a_graph_of_xla_ops_needs_no_plugin() -> None:
    data = np.load(EXPORTS / "jax2tf-graph" / "case0.npz")
    found = run(opened("jax2tf-graph", "off"), data["x"])
    np.testing.assert_allclose(found["scores"], data["scores"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_with_symbolic_dimensions(device: Client, name: str) -> None:
    given, expected = (
        [OPERATIONS[key] for key in sorted(OPERATIONS) if key.startswith(f"{name}/{kind}")]
        for kind in "xy"
    )
    program = static_program(OPERATIONS[f"{name}/program"].tobytes(), [x.shape for x in given])
    found = [np.empty(kind.shape, kind.dtype) for kind in program.results]
    loaded = device.compile(program.text.encode())
    loaded.run([device.array(x) for x in given], found)
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
