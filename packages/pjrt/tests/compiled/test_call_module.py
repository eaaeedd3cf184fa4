"""Programs that JAX has exported, in nodes ``XlaCallModule``.

The two programs are portable artifacts of StableHLO 1.0.0, by ``jax.export.export`` of JAX 0.10.2,
of ``lambda x, w: (jnp.tanh(x @ w), jnp.sum(x, axis=1))`` for float32 of 2x3 and 3x4, without
locations: one for the processor, one for CUDA and the processor.
"""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.kernels._registry import KERNELS
from drystone_base.loaders import write_graph
from drystone_pjrt.backend.call_module import OP

ONE = (
    "TUzvUg1TdGFibGVITE9fdjEuMC4wAAEhBQEFEQEDCwMPDxMXGx8jJwNvQxkBIwsTDyMLDwsLCxMTExMTExMTAyEL"
    "Dy8LCwsTEwsTCwsLHxMvAQULDwMVBw8XFxcTBxMfEwKiAgUVFwENNREDBQMHCQsNBQ8FBRcRAQAFGQUbBR0XAQMD"
    "FwEFBxcBBTUXAQVlFwEHGRcBCRUXAQsVFwEPCx0fHxcBHxMRAQAAAAAAAAAXAQMBIxUDBTE1DQMjMx0hDQMjNx0j"
    "HSUdJx8HCQAAAAADBSkpHxMRAAAAAAAAAAABCQECAgkpAQUpBQkRBSkFCQ0FKQUNEQUpAwkFHSkDBRERBQsNBQkP"
    "KQMBEQS/BQFREwcBBwStAwEFBVAVAwcEmQMNFwUXFxsZIAMBCQMBB0IbBQMHCUYdBwMJBQEDCwYfAwkDBw1WAwkD"
    "DwUBBQcELQMHCwUPAw8DAA8GAwMHBQEDAwQDAwUDBCEFCQsGAwEFAQCmAykPCxUVIQ0lKTkFDxURHxkRFQ8LEWJ1"
    "aWx0aW4AdmhsbwBtb2R1bGUAcmV0dXJuX3YxAGZ1bmNfdjEAY29uc3RhbnRfdjEAZG90X2dlbmVyYWxfdjEAdGFu"
    "aF92MQByZWR1Y2VfdjEAYWRkX3YxAC0AamF4LnVzZXNfc2hhcGVfcG9seW1vcnBoaXNtAG1obG8ubnVtX3BhcnRp"
    "dGlvbnMAbWhsby5udW1fcmVwbGljYXMAaml0X2YAamF4LnJlc3VsdF9pbmZvAHJlc3VsdFswXQByZXN1bHRbMV0A"
    "bWFpbgBwdWJsaWMACCkLBSMBCystLzk7Az0LJSc/JUEDJw=="
)
TWO = (
    "TUzvUg1TdGFibGVITE9fdjEuMC4wAAEjBQEFEwEDCwMRDxMXGx8jJysDk2MdATcLEw8jCw8LCwsTExMTExMTExMT"
    "ExMTExMTExMDLQ8vCwsTCy8XEwsLCxMTCxMLCwsfHx8BBQsPAxkPBxcPFxcTEwcjBxMCwgMFFxcBJzURAwUDBwkL"
    "DQUPBQUZEQEBBRsFHQUfFwEDAxcBBQcXAQU1FwEFsRcBBeEXAQcZFwEJFRcBCxkXAQ0VFwEXFRcBJRUXASkLFwEf"
    "GRcBIQ8XARkZFwEbDxcBEw8XAQ8PHxsBHxMRAQAAAAAAAAANAR0hAwVBQRcBHxMRAAAAAAAAAAADB0c7Ow0DSUsd"
    "Ix0lIxcDBVFVDQM9Ux0nDQM9Vx0pHSsdLR8LCQAAAAAfBQkAAAAAHwUJAQAAAAEJAQICKQEZCSkFCREHKQEHKQUJ"
    "DQcpBQ0RBykDCQcpAwUVHREHBQ0PBQkRGykDARUEpgIFAVETBwEHBH4CAwEFC1AVAwcEUgIDFSMHCxcbGR8bIAMD"
    "DQUBAwVCHQUDCwVCHwcDBQVCIQkDBQcWIwMFAwEJAwEFAwQ1AwsDAQUDBDMDCQcWJQMJAw0JAwMJCUYvCwMJBQMF"
    "AwQxAxUDAwkJRisLAwkFAwUDBC0DFQ0GJwMJAw8PVgMNAxEFAwcHBC0DBwsFFwMXAwARBgMDCwUBAwMEAwMFAwQp"
    "BRETBgMBBQEAYgQvDwsVFSEpIQ0lKTkFDxURER8RGRUPCxFidWlsdGluAHZobG8AbW9kdWxlAHJldHVybl92MQBj"
    "b25zdGFudF92MQBjYXNlX3YxAGRvdF9nZW5lcmFsX3YxAGZ1bmNfdjEAdGFuaF92MQByZWR1Y2VfdjEAYWRkX3Yx"
    "AC0AamF4LnVzZXNfc2hhcGVfcG9seW1vcnBoaXNtAG1obG8ubnVtX3BhcnRpdGlvbnMAbWhsby5udW1fcmVwbGlj"
    "YXMAaml0X2YAamF4LnJlc3VsdF9pbmZvAGpheC5nbG9iYWxfY29uc3RhbnQAX3BsYXRmb3JtX2luZGV4AHJlc3Vs"
    "dFswXQByZXN1bHRbMV0AbWFpbgBwdWJsaWMACDEPBSMBC0VNT1lbA10DXwNhCzc5PzdDAzk="
)

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
W = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
FETCHES = ["y:0", "y:1"]
FEEDS = {"x:0": X, "w:0": W}


@pytest.fixture(autouse=True)
def no_kernel() -> Iterator[None]:
    """Of the op, before a session asks for the backend, and after the test."""
    forget()
    yield
    forget()


def forget() -> None:
    """Take the kernel away, as in a process that has not asked for the backend."""
    for table in (KERNELS.modules, KERNELS._functions, KERNELS._ready):
        table.pop(OP, None)


def exported(program: str = ONE, **attrs: Any) -> Graph:
    """What jax2tf writes of the function, in short."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": X.shape})
    w = graph.add("Placeholder", "w", attrs={"dtype": FLOAT32, "shape": W.shape})
    stated = {
        "Tin": [FLOAT32, FLOAT32], "Tout": [FLOAT32, FLOAT32], "Sout": [(2, 4), (2,)],
        "module": b64decode(program).decode("utf-8", "surrogateescape"), "platforms": ["CPU"],
        "version": 10,
    }  # fmt: skip
    graph.add(OP, "y", [x, w], attrs=stated | attrs)
    return graph


def run(graph: Graph) -> list[Any]:
    found: list[Any] = ds.Session(graph, ds.SessionConfig(subgraphs="pjrt")).run(FETCHES, FEEDS)
    return found


def check(found: list[Any]) -> None:
    np.testing.assert_allclose(found[0], np.tanh(X @ W), rtol=1e-5)
    np.testing.assert_allclose(found[1], X.sum(axis=1), rtol=1e-5, atol=1e-6)


def test_a_program_for_one_platform() -> None:
    check(run(exported()))


def test_a_program_for_several_is_given_the_number_of_ours() -> None:
    check(run(exported(TWO, platforms=["CUDA", "CPU"])))


def test_without_the_package_the_text_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drystone_base.executor.plan.kernel_of_package", lambda _op: None)
    with pytest.raises(ds.UnsupportedOp, match="pip install drystone-pjrt") as caught:
        ds.Session(exported(), ds.SessionConfig(subgraphs="off")).run(FETCHES, FEEDS)
    assert 'SessionConfig(subgraphs="pjrt")' in caught.value.remedy


def test_without_the_backend_numpy_computes() -> None:
    """Where nobody asks for a compiler: decision 0108."""
    check(ds.Session(exported(), ds.SessionConfig(subgraphs="off")).run(FETCHES, FEEDS))


@pytest.mark.parametrize(
    ("attrs", "text"),
    [
        ({"platforms": ["TPU"]}, "a program is for the plugin's platform"),
        ({"dim_args_spec": ["0.0"]}, "without symbols"),
        ({"has_token_input_output": True}, "tokens"),
        ({"Sout": [(-1, 4), (2,)]}, "gives outputs of static shapes"),
        ({"module": "no program"}, "PJRT_Client_Compile"),
        ({"Sout": [(2, 5), (2,)]}, "gives other outputs"),
    ],
)
def test_what_cannot_be_called_names_the_node(attrs: dict[str, Any], text: str) -> None:
    with pytest.raises(ds.KernelError, match=f"(?s)node 'y'.*{text}"):
        run(exported(**attrs))


def test_a_check_that_the_export_turned_off() -> None:
    check(run(exported(platforms=["TPU"], disabled_checks=["platform"])))


def test_another_process_runs_it_too(tmp_path: Path) -> None:
    write_graph(exported(), tmp_path / "exported.pb")
    program = (
        "import sys, numpy as np, drystone_base as ds\n"
        "model = ds.load(sys.argv[1], config=ds.SessionConfig(subgraphs='pjrt'))\n"
        "found = model.run(['y:1'], {'x:0': np.ones((2, 3), 'f'), 'w:0': np.ones((3, 4), 'f')})\n"
        "print(found[0].tolist())"
    )
    for _ in range(2):  # the second one finds what the first one has kept
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "exported.pb")],
            env=os.environ | {"DRYSTONE_PLAN_CACHE": str(tmp_path / "plans")},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.stdout.strip() == "[3.0, 3.0]", done.stderr[-2000:]
