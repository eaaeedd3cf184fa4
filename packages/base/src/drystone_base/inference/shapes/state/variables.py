"""Shapes of variables: from the declaration, or from what a resource handle carries."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, PartialValue, Shape, ShapeCall, shape


@shape("VariableV2", "TemporaryVariable")
def declared(c: ShapeCall) -> list[Shape]:
    """The declared shape."""
    return [c.attrs["shape"]]


@shape("Variable")
def declared_v1(c: ShapeCall) -> list[Shape]:
    """The declared shape; a scalar's stands for an unknown one."""
    return [c.attrs["shape"] or None]


@shape("DestroyTemporaryVariable", "CountUpTo")
def same(c: ShapeCall) -> list[Shape]:
    """The variable's shape."""
    return [c.shape(0)]


@shape("IsVariableInitialized", "VarIsInitializedOp")
def flag(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("Assign")
def assign(c: ShapeCall) -> list[Shape]:
    """The value's shape, merged with the variable's when that is checked."""
    if c.attrs["validate_shape"]:
        return [c.merge(c.shape(0), c.shape(1))]
    return [c.shape(1)]


@shape("AssignAdd", "AssignSub")
def assign_step(c: ShapeCall) -> list[Shape]:
    """The common shape of variable and value."""
    return [c.merge(c.shape(0), c.shape(1))]


@shape("VarHandleOp")
def var_handle(c: ShapeCall) -> list[Shape]:
    """A scalar that carries the variable's dtype and shape."""
    c.output_handles = [(c.attrs["dtype"], c.attrs["shape"])]
    return [()]


@shape("_VarHandlesOp")
def var_handles(c: ShapeCall) -> list[Shape]:
    """Scalars that carry the variables' dtypes and shapes."""
    c.output_handles = list(zip(c.attrs["dtypes"], c.attrs["shapes"], strict=True))
    return [()] * c.output_count


def held_shape(c: ShapeCall, index: int) -> Shape:
    """Shape of what handle input ``index`` refers to; None when that is not known."""
    held = c.handles[index]
    return held[1] if held else None


@shape("ReadVariableOp", "ResourceCountUpTo")
def read_variable(c: ShapeCall) -> list[Shape]:
    """The variable's shape; its dtype must be the declared one."""
    held = c.handles[0]
    want = c.attrs.get("dtype")
    if held is not None and want is not None and held[0] is not want:
        c.fail("the variable must have the declared dtype", found=held[0], needed=want)
    return [held_shape(c, 0)]


@shape("_ReadVariablesOp")
def read_variables(c: ShapeCall) -> list[Shape]:
    """The variables' shapes."""
    return [held_shape(c, k) for k in range(c.output_count)]


@shape("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
def assign_variable(c: ShapeCall) -> list[Shape]:
    """Nothing; the value must fit the variable."""
    c.merge(held_shape(c, 0), c.shape(1))
    return []


@shape("VariableShape")
def variable_shape(c: ShapeCall) -> list[Shape]:
    """A vector as long as the variable's rank, its dims known as far as the variable's are."""
    held = held_shape(c, 0)
    if held is None:
        return [(UNKNOWN,)]
    c.output_values = [PartialValue.of_shape(held)]
    return [(len(held),)]


@shape("DestroyResourceOp", "DisableCopyOnRead")
def destroy_resource(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []
