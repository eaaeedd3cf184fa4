"""Properties of ops that more than one part of drystone goes by: each is stated once, here.

A rule's list of the ops that it can rewrite is the rule's own and stays with it. Every name is an
op of TensorFlow or of ours. What is said of element-wise ops is tested against the kernels.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "CALLS",
    "CHANNELS",
    "COMMUTATIVE",
    "CONTROL_FLOW",
    "CONVOLUTIONS",
    "CORRECTLY_ROUNDED",
    "ELEMENTWISE_BINARY",
    "ELEMENTWISE_GRADIENTS",
    "ELEMENTWISE_UNARY",
    "FALLING",
    "FUNCTION_ENDS",
    "IDEMPOTENT",
    "IDENTITIES",
    "INVOLUTIONS",
    "MERGES",
    "NEXT_ITERATIONS",
    "OF_VARIABLES",
    "ONE_TO_ONE",
    "PARTLY_FALLING",
    "PARTLY_RISING",
    "PLACEHOLDERS",
    "PRODUCTS",
    "READERS",
    "REDUCTIONS",
    "RESHAPES",
    "RISING",
    "SHAPE_ONLY",
    "SWITCHES",
    "VARIABLES",
    "VARIABLE_WRITES",
]


def _ops(names: str) -> frozenset[str]:
    return frozenset(names.split())


# ---- element by element ------------------------------------------------------------------------

CORRECTLY_ROUNDED: Final = _ops(
    "Abs Ceil Conj Floor Invert LeakyRelu Neg Relu Relu6 Rint Round Sign Sqrt Square"
)
"""Of one input: every kernel gives the same bits, wherever in a tensor an element is."""
ELEMENTWISE_UNARY: Final = CORRECTLY_ROUNDED | _ops(
    "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Elu Erf Erfc Exp Expm1 Inv Log Log1p Reciprocal "
    "Rsqrt Selu Sigmoid Sin Sinh Softplus Softsign Tan Tanh"
)
"""Functions of one input, with an output of its dtype: each element depends on its own alone."""
ELEMENTWISE_GRADIENTS: Final = _ops(
    "EluGrad InvGrad LeakyReluGrad ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad "
    "SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad"
)
"""Of two inputs of one shape: gradients of functions of one input."""
ELEMENTWISE_BINARY: Final = _ops(
    "Add AddV2 ApproximateEqual Atan2 Complex Div DivNoNan Equal FloorDiv FloorMod Greater "
    "GreaterEqual Igamma Igammac Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul "
    "MulNoNan NotEqual Polygamma Pow RealDiv SquaredDifference Sub TruncateDiv TruncateMod Xdivy "
    "Xlogy Zeta"
)
"""Of two inputs, which are broadcast against each other."""
COMMUTATIVE: Final = _ops(
    "Add AddV2 Mul LogicalAnd LogicalOr Equal NotEqual BitwiseAnd BitwiseOr BitwiseXor "
    "SquaredDifference"
)
"""To exchange the inputs leaves every bit: not so Maximum, whose order says which zero it is."""
INVOLUTIONS: Final = _ops("Neg Invert Conj LogicalNot")
"""They undo themselves."""
IDEMPOTENT: Final = _ops("Relu Relu6 Abs Floor Ceil Rint Round Sign Snapshot")
"""A second time they change nothing."""
RISING: Final = _ops(
    "Asinh Atan Ceil Elu Erf Exp Expm1 Floor Relu Relu6 Rint Selu Sigmoid Sinh Softplus Softsign "
    "Tanh"
)
"""They rise or stay for all numbers; NaN stays NaN. Which of two equal zeros it is may differ."""
PARTLY_RISING: Final = _ops("Acosh Asin Atanh Log Log1p Sqrt")
"""They rise where they are defined; of other numbers they make NaN."""
FALLING: Final = _ops("Neg Erfc")
PARTLY_FALLING: Final = _ops("Acos Rsqrt")
ONE_TO_ONE: Final = PARTLY_RISING | _ops(
    "Asinh Atan Erf Exp Expm1 Sigmoid Sinh Softplus Softsign Tanh"
)
"""Rising ones that are never equal for numbers that are not; what is rounded may be."""

# ---- what moves elements, or only looks at shapes ------------------------------------------------

IDENTITIES: Final = _ops("Identity IdentityN Snapshot StopGradient PreventGradient GuaranteeConst")
"""Outputs are the inputs."""
RESHAPES: Final = _ops("Reshape ExpandDims Squeeze")
"""The output has the elements of the first input in their order."""
SHAPE_ONLY: Final = _ops("Shape ShapeN Size Rank")
"""They look at shapes of inputs, not at values."""

# ---- sums and products -------------------------------------------------------------------------

REDUCTIONS: Final = _ops("All Any EuclideanNorm Max Mean Min Prod Sum")
"""The second input says over which axes."""
CONVOLUTIONS: Final = _ops("Conv2D Conv3D DepthwiseConv2dNative")
PRODUCTS: Final = CONVOLUTIONS | {"MatMul"}
"""Linear in each of their two inputs, of which the second is a layer's weights."""

# ---- control flow and functions ----------------------------------------------------------------

SWITCHES: Final = _ops("Switch RefSwitch _SwitchN")
MERGES: Final = _ops("Merge RefMerge _XlaMerge")
NEXT_ITERATIONS: Final = _ops("NextIteration RefNextIteration")
CONTROL_FLOW: Final = (
    SWITCHES
    | MERGES
    | NEXT_ITERATIONS
    | _ops("Enter RefEnter Exit RefExit LoopCond ControlTrigger")
)
"""Branches and loops of frames: their nodes may be dead, or run more than once."""
CALLS: Final = _ops(
    "PartitionedCall StatefulPartitionedCall If StatelessIf _If While _While StatelessWhile Case "
    "StatelessCase"
)
"""They do what the functions do that their attributes name."""
FUNCTION_ENDS: Final = _ops("_Arg _Retval _DeviceArg _DeviceRetval")
"""Arguments and results of a function's body."""
PLACEHOLDERS: Final = _ops("Placeholder PlaceholderV2 PlaceholderWithDefault")
CHANNELS: Final = _ops("_Send _Recv _HostSend _HostRecv")
"""Between the graphs of devices."""

# ---- state -------------------------------------------------------------------------------------

VARIABLES: Final = _ops("VarHandleOp VariableV2 Variable")
"""They make a variable, or a handle of one, which lives as long as the session."""
READERS: Final = frozenset({"ReadVariableOp"})
"""They give the value of the variable whose handle is their input."""
OF_VARIABLES: Final = (
    VARIABLES
    | READERS
    | _ops(
        "VarIsInitializedOp IsVariableInitialized VariableShape DestroyResourceOp DisableCopyOnRead"
    )
)
"""They make, read, look at or forget a variable, wherever its value lies."""
VARIABLE_WRITES: Final = _ops(
    "AssignVariableOp AssignAddVariableOp AssignSubVariableOp ResourceScatterUpdate "
    "ResourceScatterAdd ResourceScatterSub"
)
"""They write into the variable of the handle that is their first input, and give nothing."""
