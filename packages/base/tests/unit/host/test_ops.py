"""Ops of plugins: registration, specs, shape functions, and how Python learns of them."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import host_programs
import pytest
from fresh_process import run_program
from op_specs import FLAGS, define, refusal, specs_of

from drystone_abi.protos import DataType, KernelList, OpDef, OpList
from drystone_base.core.dtypes import INT64
from drystone_base.core.errors import HostError, UnsupportedOp
from drystone_base.host import _lib, op_services
from drystone_base.host._lib import declare
from drystone_base.host.buffer import BufferStruct, bytes_of, filled
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.host.status import Status
from drystone_base.inference import plugin_ops as ops
from drystone_base.ops import defs

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

DT = DataType.Value
Compile = Callable[..., Path]


@pytest.fixture(scope="module")
def library(compile_library: Compile) -> HostLibrary:
    """The library of ops_all.c, registered and known to Python."""
    opened = open_library(compile_library("ops_all.c"))
    opened.initialise("TF_InitKernel")
    ops.sync()
    return opened


def refusals(library: HostLibrary) -> list[str]:
    function = ctypes.CFUNCTYPE(ctypes.c_char_p)(library.symbol("ops_refusals"))
    return bytes(function()).decode().splitlines()


# ---- definitions ----


def plain(op: OpDef) -> OpDef:
    """The definition without what the C interface cannot state."""
    kept = OpDef()
    kept.CopyFrom(op)
    for arg in (*kept.input_arg, *kept.output_arg):
        arg.ClearField("experimental_full_type")
        arg.ClearField("handle_data")
    kept.ClearField("control_output")
    kept.ClearField("is_distributed_communication")
    return kept


def test_every_op_of_tensorflow_is_what_its_specs_say() -> None:
    """Byte for byte; a definition that the program has already is accepted only if it is equal."""
    known = OpList.FromString(defs.own_ops()).op
    assert len(known) > 1900
    for op in known:
        if plain(op) == op:  # the host compares with our definition
            assert define(op.name, **specs_of(op)) == op
        renamed = plain(op)
        renamed.name = f"Again>{op.name.lstrip('_').title().replace('>', '')}" + "_" * (
            len(op.name) - len(op.name.lstrip("_"))
        )
        made = define(renamed.name, **specs_of(renamed))
        assert made.SerializeToString() == renamed.SerializeToString()


def test_an_op_with_attributes_of_every_type(library: HostLibrary) -> None:
    op = defs.op_def("Test>EveryAttr")
    defaults = {name: attr.default for name, attr in op.attrs.items()}
    assert defaults.pop("c").array.tolist() == [7, 8]
    assert defaults.pop("g").name == "body"
    assert defaults.pop("f") == pytest.approx(0.1)
    assert defaults == {
        "s": "b",
        "i": -1,
        "b": True,
        "t": INT64,
        "h": (2, -1),
        "li": [1, -2],
        "ls": ["x", "\n"],
        "lh": [None, ()],
    }
    assert op.attrs["s"].allowed == ("a", "b")
    assert (op.attrs["i"].minimum, op.attrs["li"].minimum) == (-2, 1)
    assert op.is_stateful  # it takes a resource
    assert defs.origin("Test>EveryAttr") == library.path


def test_flags_are_set_whatever_the_argument_is() -> None:
    made = define("Test>Flags", flags=list(FLAGS), deprecated=(7, "use something else"))
    assert all(getattr(made, flag) for flag in FLAGS)
    assert made.deprecation.version == 7
    assert made.deprecation.explanation == "use something else"


def test_lengths_get_a_minimum() -> None:
    made = define("Test>Min", ["N: int", "M: int >= 0", "L: list(type)"], ["a: N * int32", "b: L"])
    assert [(a.has_minimum, a.minimum) for a in made.attr] == [(True, 1), (True, 0), (True, 1)]


def test_sets_of_types_may_stand_in_braces() -> None:
    made = define("Test>Sets", ["T: {bfloat16, float, quantizedtype} = DT_FLOAT"])
    assert list(made.attr[0].allowed_values.list.type) == [14, 1, 11, 12, 13, 15, 16]


def test_names_are_used_once() -> None:
    assert refusal("Test>Wrong", ["a: int", "a: int"]).endswith("the name 'a' is used twice")
    assert refusal("Test>Wrong", ["a: int"], ["a: float"]).endswith("the name 'a' is used twice")
    assert refusal("Test>Wrong", [], ["x: float"], ["x: float"]).endswith("'x' is used twice")


def test_all_errors_are_listed(library: HostLibrary) -> None:
    bad_name, bad_attr, bad_input, changed, standard = refusals(library)
    where = f"of {library.path}"
    assert bad_name.startswith(f"3 TF_RegisterOpDefinition: op test {where}: 'test' is no name")
    assert bad_attr == (
        f"3 TF_RegisterOpDefinition: op Test>BadAttr {where}: "
        "attribute \"T: {floot}\", position 4: 'floot' is no data type; "
        "attribute \"i: int = x\", position 9: 'x' is no integer"
    )
    assert "input \"x: S\", position 3: 'S' is neither" in bad_input
    assert changed == (
        f"6 TF_RegisterOpDefinition: op Test>Triple is registered by {library.path}, but has "
        f"another definition already, of {library.path}; an op must have one definition"
    )
    assert standard == (
        f"6 TF_RegisterOpDefinition: op MatMul is registered by {library.path}, but has another "
        "definition already, of the host program; an op must have one definition"
    )
    assert len(library.describe()["errors"]) == 5


# ---- what is known ----

_stateful = declare("TF_OpIsStateful", ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_all_ops = declare("TF_GetAllOpList", ctypes.POINTER(BufferStruct))
_delete = declare("TF_DeleteBuffer", None, ctypes.c_void_p)
_kernels = declare(
    "TF_GetRegisteredKernelsForOp",
    ctypes.POINTER(BufferStruct),
    ctypes.c_char_p,
    ctypes.c_void_p,
)
_all_kernels = declare("TF_GetAllRegisteredKernels", ctypes.POINTER(BufferStruct), ctypes.c_void_p)


def test_registered_ops_are_listed(library: HostLibrary) -> None:
    listed = {op.name: op for op in ops.plugin_ops() if op.library == library.path}
    assert len(listed) == 9
    assert listed["Test>Triple"] == ops.PluginOp("Test>Triple", library.path, True, False, 0)
    assert not listed["Test>NoShape"].has_shape_function
    assert listed["Test>EveryAttr"].stateful


def test_plugins_see_all_ops(library: HostLibrary) -> None:
    buffer = _all_ops()
    known = {op.name: op for op in OpList.FromString(bytes_of(buffer)).op}
    _delete(buffer)
    assert {"Test>Triple", "MatMul", "Conv2D", "_FusedMatMul"} <= set(known)
    own = {name for name in defs.names() if not defs.origin(name)}  # others may be isolated
    assert own <= set(known)
    strides = {a.name: a for a in known["Conv2D"].attr}
    assert strides["padding"].allowed_values.list.s[0] == b"SAME"
    assert strides["dilations"].default_value.list.i == [1, 1, 1, 1]  # defaults are there


def test_the_version_is_that_of_the_interface() -> None:
    version = declare("TF_Version", ctypes.c_char_p)()
    assert [int(part) for part in version.split(b".")] >= [2, 9, 0]  # plugins compare it


def test_stateful_ops(library: HostLibrary) -> None:
    for name, expected in (("MatMul", 0), ("VarHandleOp", 1), ("Test>EveryAttr", 1)):
        with Status("asking") as status:
            assert _stateful(name.encode(), status.pointer) == expected
    with pytest.raises(HostError, match="op 'Nobody' is unknown") as caught, Status("a") as status:
        _stateful(b"Nobody", status.pointer)
    assert caught.value.status == "NOT_FOUND"


def test_reference_kernels_are_listed_below_those_of_plugins() -> None:
    op_services.attach()
    with Status("asking") as status:
        one, every = _kernels(b"MatMul", status.pointer), _all_kernels(status.pointer)
    kernels = KernelList.FromString(bytes_of(one)).kernel
    names = {k.op for k in KernelList.FromString(bytes_of(every)).kernel}
    _delete(one)
    _delete(every)
    assert [(k.op, k.device_type, k.priority) for k in kernels if k.priority < 0] == [
        ("MatMul", "CPU", -1)
    ]
    assert {"MatMul", "Conv2D", "AddV2"} <= names


def test_ops_registered_in_python_reach_the_host() -> None:
    defs.register(OpDef(name="Test>InPython", attr=[{"name": "k", "type": "int"}]))
    defs.register(defs.OpDef("Test>AsData", attrs={"f": defs.AttrDef("f", "float", 1, True)}))
    assert [a.name for a in OpDef.FromString(ops.find("Test>InPython")).attr] == ["k"]
    assert OpDef.FromString(ops.find("Test>AsData")).attr[0].default_value.f == 1.0
    with pytest.raises(HostError, match="of the host program; an op must have one") as caught:
        define("Test>InPython", ["k: float"])
    assert caught.value.status == "ALREADY_EXISTS"


def test_near_matches_name_the_library(library: HostLibrary) -> None:
    with pytest.raises(UnsupportedOp) as caught:
        defs.op_def("Test>Tripel")
    assert f"did you mean Test>Triple (of {library.path})" in caught.value.remedy


TWICE = """
import ctypes
from drystone_base.core.errors import GraphError
from drystone_base.host import op_services
from drystone_base.host._lib import declare
from drystone_base.host.status import Status
from drystone_base.inference import plugin_ops as ops
from drystone_base.ops import defs

POINTER = ctypes.c_void_p
op_services.detach()  # so that the host cannot know
defs.register(defs.OpDef("Test>Twice"))
builder = declare("TF_NewOpDefinitionBuilder", POINTER, ctypes.c_char_p)(b"Test>Twice")
declare("TF_OpDefinitionBuilderAddInput", None, POINTER, ctypes.c_char_p)(builder, b"x: float")
with Status("registering") as status:
    declare("TF_RegisterOpDefinition", None, POINTER, POINTER)(builder, status.pointer)
try:
    ops.sync()
except GraphError as error:
    print(error.what, f"[{error.code}]")
ops.sync()  # reported once
print(defs.op_def("Test>Twice").inputs, repr(defs.origin("Test>Twice")))
"""


def test_a_definition_that_python_has_otherwise_is_reported() -> None:
    """In a process of its own: there is no way back from two definitions."""
    op, found = run_program(TWICE).splitlines()
    assert op == "op 'Test>Twice' cannot be registered [duplicate-op]"
    assert found == "() ''"


def test_a_failing_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[BaseException] = [ValueError("stop"), KeyboardInterrupt()]

    def fail() -> bytes:
        raise raised[0]

    op_services.detach()
    monkeypatch.setattr(defs, "own_ops", fail)
    with pytest.raises(HostError) as caught:
        ops.find("Nobody")
    assert caught.value.found == "the program's op list: ValueError: stop"
    del raised[0]
    with pytest.raises(KeyboardInterrupt):
        ops.find("Nobody")
    monkeypatch.undo()
    assert OpDef.FromString(ops.find("MatMul")).name == "MatMul"  # asked again


def test_the_host_never_reaches_an_interpreter_that_has_ended(library: HostLibrary) -> None:
    code = f"""
import atexit
from drystone_base.inference import plugin_ops as ops
from drystone_base.host.library import open_library
def late():
    library = open_library({library.path!r})
    try:
        ops._find(b"MatMul", None, None)
    finally:
        print("ended well")
atexit.register(late)
ops.find("MatMul")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "ended well\n"), done.stderr


def test_a_program_may_give_its_ops_as_bytes() -> None:
    """Also under sanitizers: builders, shape functions and every kind of misuse."""
    assert host_programs.run("ops_test.cc") == "0 failures\n"


def test_attaching_in_vain_is_refused() -> None:
    set_list = declare("DS_SetOpList", None, ctypes.c_void_p, ctypes.c_void_p)
    refused = pytest.raises(HostError, match="the program's op list holds a malformed OpDef")
    with filled(b"\x0a\x05abcde") as garbage, refused, Status("attaching") as status:
        set_list(garbage, status.pointer)
    assert OpDef.FromString(ops.find("MatMul")).name == "MatMul"
