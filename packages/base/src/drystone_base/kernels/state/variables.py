"""Variables, by reference and by resource: create, read, assign, count, destroy."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state.variables import (
    VARIABLE_KIND,
    ResourceHandle,
    Variable,
    handle_array,
    resource_of,
)

if TYPE_CHECKING:
    from drystone_base.ops.attrs import Shape

_ANONYMOUS: Final = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"  # TensorFlow's mark for "no shared name"
_serial: Final = itertools.count()


def _lookup(call: Call, name: str, container: str, dtype: DType, shape: Shape) -> Variable:
    """The session's variable of that name, created without a value when there is none."""
    return call.runtime.resources.get_or_create(
        container, VARIABLE_KIND, name, lambda: Variable(name, dtype, shape)
    )


@kernel("Variable", "VariableV2")
def variable(call: Call) -> Variable:
    """The variable named by ``shared_name``, else by the node."""
    a = call.attrs
    shape = None if call.op == "Variable" and a["shape"] == () else a["shape"]
    made = _lookup(call, a["shared_name"] or call.node, a["container"], a["dtype"], shape)
    if made.value is None and shape is not None and 0 in shape and -1 not in shape:
        made.write(np.empty(shape, a["dtype"].np))  # without elements it is initialised
    return made


@kernel("TemporaryVariable")
def temporary_variable(call: Call) -> Variable:
    """A variable that dies with the step; ``var_name`` (else the node's name) must be new."""
    name = call.attrs["var_name"] or call.node
    key = ("temporary_variable", name)
    call.require(
        key not in call.runtime.step.resources,
        "a temporary variable must be created once in a step",
        found=name,
        needed="another var_name",
        status="ALREADY_EXISTS",
    )
    shape = check_size(call, call.attrs["shape"], call.attrs["dtype"].np)
    made = Variable(name, call.attrs["dtype"], shape)
    made.write(np.zeros(shape, call.attrs["dtype"].np))
    call.runtime.step.resources[key] = made
    return made


@kernel("DestroyTemporaryVariable")
def destroy_temporary_variable(call: Call, ref: Variable) -> Array:
    """The last value of a temporary variable, which is then forgotten."""
    gone = call.runtime.step.resources.pop(("temporary_variable", call.attrs["var_name"]), None)
    call.require(
        gone is ref,
        "a temporary variable must exist under its var_name",
        found=call.attrs["var_name"],
        needed=ref.name,
        status="NOT_FOUND",
    )
    return ref.read()


@kernel("IsVariableInitialized")
def is_variable_initialized(_: Call, ref: Variable) -> Array:
    """Whether the variable has a value."""
    return np.array(ref.value is not None)


@kernel("Assign")
def assign(call: Call, ref: Variable, value: Array) -> Variable:
    """Give the variable a value; ``validate_shape`` holds the shape it has or was declared with."""
    if call.attrs["validate_shape"]:
        want = ref.value.shape if ref.value is not None else ref.shape
        _check_shape(call, ref, want, value.shape)
    ref.write(value)
    return ref


def _check_shape(call: Call, ref: Variable, want: Shape, got: tuple[int, ...]) -> None:
    fits = want is None or (
        len(want) == len(got) and all(w in (-1, g) for w, g in zip(want, got, strict=True))
    )
    call.require(
        fits,
        f"the shape of a value must match variable {ref.name!r}",
        found=list(got),
        needed=list(want or ()),
        remedy="assign a value of the variable's shape",
    )


def _step(call: Call, target: Variable, value: Array, sign: int) -> None:
    """Add ``sign`` times the value in place of the variable's; shapes must be equal."""
    with target.lock, np.errstate(all="ignore"):
        old = target.read()
        _check_shape(call, target, old.shape, value.shape)
        target.write(np.asarray(np.add(old, value) if sign > 0 else np.subtract(old, value)))


@kernel("AssignAdd", "AssignSub")
def assign_step(call: Call, ref: Variable, value: Array) -> Variable:
    """Add to or subtract from the variable."""
    _step(call, ref, value, 1 if call.op == "AssignAdd" else -1)
    return ref


@kernel("AssignAddVariableOp", "AssignSubVariableOp")
def assign_step_resource(call: Call, resource: Array, value: Array) -> tuple[()]:
    """Add to or subtract from the variable; NOT_FOUND while it has no value."""
    target = _target(call, resource)
    call.require(
        target.value is not None,
        f"variable {target.name!r} must have a value to be changed",
        found="no value",
        needed=f"a {target.dtype} value",
        remedy="run the graph's initializer or restore a checkpoint first",
        status="NOT_FOUND",
    )
    _step(call, target, value, 1 if call.op == "AssignAddVariableOp" else -1)
    return ()


@kernel("CountUpTo")
def count_up_to(call: Call, ref: Variable) -> Array:
    """The variable's value before it grows by one; OUT_OF_RANGE once it is at ``limit``."""
    with ref.lock:
        old = ref.read()
        limit = call.attrs["limit"]
        call.require(
            int(old.item()) < limit,
            "a counter must be below its limit",
            found=old.item(),
            needed=f"less than {limit}",
            status="OUT_OF_RANGE",
        )
        ref.write(np.asarray(old + 1, old.dtype))
    return old


@kernel("ResourceCountUpTo")
def resource_count_up_to(call: Call, resource: Array) -> Array:
    """The variable's value before it grows by one; OUT_OF_RANGE once it is at ``limit``."""
    old: Array = count_up_to(call, _target(call, resource))
    return old


def _handle(call: Call, name: str, container: str, dtype: DType, shape: Shape) -> Array:
    if name == _ANONYMOUS:
        unique = f"{call.node}_{next(_serial)}"
        return handle_array(
            ResourceHandle(VARIABLE_KIND, unique, "", Variable(unique, dtype, shape))
        )
    name = name or call.node
    target = _lookup(call, name, container, dtype, shape)
    return handle_array(ResourceHandle(VARIABLE_KIND, name, container, target))


@kernel("VarHandleOp")
def var_handle(call: Call) -> Array:
    """A handle to the variable named by ``shared_name``, else by the node."""
    a = call.attrs
    return _handle(call, a["shared_name"], a["container"], a["dtype"], a["shape"])


@kernel("_VarHandlesOp")
def var_handles(call: Call) -> list[Array]:
    """Handles to several variables."""
    a = call.attrs
    rows = zip(a["shared_names"], a["containers"], a["dtypes"], a["shapes"], strict=True)
    return [_handle(call, *row) for row in rows]


def _target(call: Call, resource: Array) -> Variable:
    """The variable behind a handle; its dtype must be the one that the node declares."""
    found = resource_of(resource, Variable)
    dtype = call.attrs.get("dtype")
    call.require(
        dtype is None or found.dtype is dtype,
        f"the dtype of variable {found.name!r} must be the node's",
        found=found.dtype,
        needed=dtype,
    )
    return found


@kernel("ReadVariableOp")
def read_variable(call: Call, resource: Array) -> Array:
    """The variable's value; FAILED_PRECONDITION while it has none."""
    return _target(call, resource).read()


@kernel("_ReadVariablesOp")
def read_variables(_: Call, *resources: Array) -> list[Array]:
    """The values of several variables."""
    return [resource_of(r, Variable).read() for r in resources]


@kernel("AssignVariableOp")
def assign_variable(call: Call, resource: Array, value: Array) -> tuple[()]:
    """Give the variable a value; ``validate_shape`` holds the shape it has."""
    target = _target(call, resource)
    if call.attrs.get("validate_shape") and target.value is not None:
        _check_shape(call, target, target.value.shape, value.shape)
    target.write(value)
    return ()


@kernel("VarIsInitializedOp")
def var_is_initialized(_: Call, resource: Array) -> Array:
    """Whether the handle refers to a variable that has a value."""
    held = resource.item()
    target = held.resource if isinstance(held, ResourceHandle) else held
    return np.array(isinstance(target, Variable) and target.value is not None)


@kernel("VariableShape")
def variable_shape(call: Call, resource: Array) -> Array:
    """Shape of the variable's value, ``out_type[rank]``."""
    return np.array(resource_of(resource, Variable).read().shape, call.attrs["out_type"].np)


@kernel("DestroyResourceOp")
def destroy_resource(call: Call, resource: Array) -> tuple[()]:
    """Forget what the handle refers to; it must exist unless ``ignore_lookup_error``."""
    handle: Any = resource.item()
    known = isinstance(handle, ResourceHandle) and call.runtime.resources.delete(
        handle.container, handle.kind, handle.name
    )
    target = handle.resource if isinstance(handle, ResourceHandle) else None
    if isinstance(target, Variable):
        known = target.value is not None
        target.value = None  # other copies of the handle must see it gone
    call.require(
        known or call.attrs["ignore_lookup_error"],
        "a resource must exist to be destroyed",
        found=repr(handle),
        needed="a resource of this session",
        status="NOT_FOUND",
    )
    return ()


@kernel("DisableCopyOnRead")
def disable_copy_on_read(call: Call, resource: Array) -> tuple[()]:
    """Nothing: a read never copies here. Writers of checkpoints put it before their reads."""
    _target(call, resource)
    return ()
