"""Op definitions and shape functions in C mean here what they mean in TensorFlow."""

from __future__ import annotations

import ctypes
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from op_specs import define

from drystone_abi.protos import DataType, NodeDef
from drystone_base.core.errors import HostError
from drystone_base.host import _lib
from drystone_base.host.library import open_library
from drystone_base.inference import plugin_ops as ops

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")
if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

SCRIPT = Path(__file__).with_name("tensorflow_ops.py")
GIVEN = ["T: type", "N: int", "L: list(type)"]
TYPES = (
    "int float bool string type shape tensor func list(int) list(type) list(string) {float,half} "
    "{'a','b'} numbertype realnumbertype quantizedtype {bfloat16,float,quantizedtype} "
    "{numbertype,bool,variant,} list({'a'}) {float32,float64,resource} list(float) list(bool) any"
)
VALUES = (
    "1 -2 0 3.5 010 +7 'a' \"b\" '\\x41\\101' true false True DT_FLOAT DT_HALF DT_INT32 3 [] [1] "
    "[1,2] ['a'] [DT_FLOAT,3] {} {unknown_rank:true} {dim{size:1}} {dim:[{size:1},{size:-1}]} inf "
    "-inf nan .5 5. 1e400 [true,false] [1,2.5] {name:'f'} <unknown_rank:true> {dtype:DT_FLOAT}"
)
TOKENS = (
    "T : int float bool string type list ( ) { } , = >= 1 -2 'a' DT_FLOAT [ ] numbertype half Ref "
    "N * x L resource float_ref"
)
# TensorFlow overlooks fields that a message does not have.
OVERLOOKED = "has no field"


def attr_specs(chance: random.Random) -> str:
    spec = f"A: {chance.choice(TYPES.split())}"
    if chance.random() < 0.2:
        spec += f" >= {chance.choice(['1', '0', '-1', '2', 'x'])}"
    return spec + (f" = {chance.choice(VALUES.split())}" if chance.random() < 0.7 else "")


def cases() -> Iterator[dict[str, Any]]:
    """Definitions, half of them likely to be right."""
    chance = random.Random(20)
    for k in range(500):
        kind = "attrs" if k % 2 else chance.choice(["attrs", "inputs", "outputs"])
        few = (chance.choice(TOKENS.split()) for _ in range(chance.randrange(1, 7)))
        garbage = f"{chance.choice('xA')}: " + "".join(chance.choice(["", " "]) + t for t in few)
        spec = attr_specs(chance) if k % 2 else garbage
        case: dict[str, Any] = {"name": f"Live{k}", "attrs": GIVEN, "inputs": [], "outputs": []}
        yield {**case, kind: [*case[kind], spec], "spec": spec}


def ours(case: dict[str, Any]) -> str | None:
    try:
        made = define(case["name"], case["attrs"], case["inputs"], case["outputs"])
    except HostError as error:
        return OVERLOOKED if OVERLOOKED in error.found else None
    return made.SerializeToString(deterministic=True).hex()


def test_the_same_specs_give_the_same_definitions() -> None:
    tried = list(cases())
    lines = "".join(json.dumps(case) + "\n" for case in tried)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "define"], input=lines, capture_output=True, text=True
    )
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(theirs) == len(tried), done.stderr
    assert sum(found is not None for found in theirs) > 50
    differences = {
        case["spec"]: (found, mine)
        for case, found in zip(tried, theirs, strict=True)
        if (mine := ours(case)) not in (found, OVERLOOKED)
    }
    assert differences == {}


def test_shape_functions_see_the_same(compile_library: Callable[..., Path]) -> None:
    theirs = subprocess.run(
        [sys.executable, str(SCRIPT), "shapes", str(compile_library("ops_shape_log.c"))],
        capture_output=True,
        text=True,
    )
    library = open_library(compile_library("ops_shape_log.c", flags=["-DOURS"]))
    library.initialise("TF_InitKernel")
    node = NodeDef(name="n", op="ShapeLog")
    node.attr["T"].type = DataType.DT_FLOAT
    node.attr["N"].i = 4
    ops.infer_shapes("ShapeLog", node.SerializeToString(), [(3, -1, 5), None, (), (2,)])
    log = ctypes.CFUNCTYPE(ctypes.c_char_p)(library.symbol("shape_log"))
    mine = bytes(log()).decode()
    assert len(mine.splitlines()) > 400
    assert mine == theirs.stdout, theirs.stderr
