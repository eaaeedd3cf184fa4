"""Which ops are held against TensorFlow by random cases, and why others are not."""

from __future__ import annotations

from drystone_base.kernels import all_ops
from drystone_base.ops.defs import op_def

__all__ = ["eligible_ops", "not_eligible"]

LISTS = "hand-made cases only: several lists, whose lengths inputs alone do not tell"
MESSAGES = "hand-made cases only: keys, types and messages must fit one another"

REASONS = {
    "DeserializeManySparse": "scenarios only: indices, values and shape must fit one another",
    "DeserializeSparse": "scenarios only: indices, values and shape must fit one another",
    "SerializeManySparse": "scenarios only: indices, values and shape must fit one another",
    "SerializeSparse": "scenarios only: indices, values and shape must fit one another",
    "Const": "its value is an attribute: nothing is computed",
    "HostConst": "its value is an attribute: nothing is computed",
    "ControlTrigger": "computes nothing",
    "NoOp": "computes nothing",
    "FakeParam": "computes nothing",
    "Placeholder": "is fed, never run",
    "PlaceholderV2": "is fed, never run",
    "ImmutableConst": "reads files",
    "MatchingFiles": "reads files",
    "ReadFile": "reads files",
    "ParseExample": MESSAGES,
    "ParseExampleV2": MESSAGES,
    "ParseSingleExample": MESSAGES,
    "SparseCross": LISTS,
    "SparseCrossV2": LISTS,
    "SparseCrossHashed": LISTS,
    "RaggedCross": LISTS,
    "ParseSequenceExample": MESSAGES,
    "ParseSequenceExampleV2": MESSAGES,
    "ParseSingleSequenceExample": MESSAGES,
    "DecodeProtoV2": MESSAGES,
    "EncodeProto": MESSAGES,
    "MatrixExponential": "TensorFlow has removed it",
    "QuantizeAndDequantize": "TensorFlow has removed it",
    "QuantizedReluX": "has no kernel in TensorFlow",
    "AdjustContrast": "TensorFlow has removed it",
    "BatchNormWithGlobalNormalizationGrad": "TensorFlow has removed it",
    "EncodeJpeg": "another encoder's bytes: what they decode to is tested",
    "EncodeJpegVariableQuality": "another encoder's bytes: what they decode to is tested",
    "EncodePng": "another encoder's bytes: what they decode to is tested",
    "DecodeAndCropJpeg": "hand-made cases only: colours at a window's edges differ",
    "PyFuncStateless": "calls Python",
    "Drystone>Attention": "is our own: held by the formula in the optimizer's tests",
    "Drystone>FusedConvolution": "is our own: held by the kernels of the ops in it",
    "Drystone>FusedElementwise": "is our own: held by the kernels of the ops in it",
    "Drystone>GeluApproximate": "is our own: held by the formula in the optimizer's tests",
    "Drystone>GeluExact": "is our own: held by the formula in the optimizer's tests",
    "Drystone>FromGrid": "is our own: held by its formula in the tests of drystone-cpu",
    "Drystone>LayerNorm": "is our own: held by the formula in the optimizer's tests",
    "Drystone>QuantizedLayer": "is our own: held by the kernels of the ops in it",
    "Drystone>ToGrid": "is our own: held by its formula in the tests of drystone-cpu",
    "Abort": "ends TensorFlow's process",
    "StochasticCastToInt": "is not among TensorFlow's raw ops: held by scenarios",
    "AudioMicrofrontend": "is not among TensorFlow's raw ops: held by scenarios",
    "AudioSummary": "TensorFlow has removed it",
    "ImageSummary": "gives PNG files, which may be written in many ways: held by their pixels",
    "TensorSummary": "gives the name of its node",
    "Batch": "gives a key of its own, other ones each time",
    "Unbatch": "waits for other calls",
    "UnbatchGrad": "waits for other calls",
    "GenerateVocabRemapping": "reads files",
    "SdcaOptimizer": "takes examples in an order that is never the same",
    "SdcaOptimizerV2": "takes examples in an order that is never the same",
    "XlaReplicaId": "ends TensorFlow's process outside of a compiled function",
    "XlaSpmdFullToShardShape": "divides work among devices",
    "XlaSpmdShardToFullShape": "divides work among devices",
    "LoopCond": "runs only inside a loop",
    "Copy": "debugger",
    "CopyHost": "debugger",
}


def _by_onednn(op: str) -> bool:
    """Whether TensorFlow runs an op only by oneDNN, which these tests turn off."""
    fused = ("WithBias", "AndRelu", "AndRequantize", "PerChannel")
    convolution = op.startswith("QuantizedConv2D") and any(part in op for part in fused)
    others = ("QuantizedDepthwise", "QuantizedMatMulWithBias", "QuantizedConcatV2")
    return convolution or op.startswith(others)


def not_eligible(op: str) -> str:
    """Why an op with a kernel has no random cases; empty where it has."""
    definition = op_def(op)
    arguments = [*definition.inputs, *definition.outputs]
    kinds = {a.type.label for a in arguments if a.type is not None}
    if op in REASONS:
        return REASONS[op]
    if _by_onednn(op):
        return "TensorFlow runs it only by oneDNN: hand-made cases only"
    if op.startswith("_"):
        return "internal to TensorFlow: cannot be called by name"
    if any(a.is_ref for a in arguments):
        return "takes or gives references, which eager TensorFlow has not"
    for kind in ("resource", "variant"):
        if kind in kinds:
            return f"takes or gives a {kind}"
    if any(a.type in ("func", "list(func)") for a in definition.attrs.values()):
        return "calls functions"
    if definition.is_stateful or op.startswith("TensorArray"):
        return "keeps state"
    return ""


def eligible_ops() -> list[str]:
    """Ops with a kernel that have random cases, by name."""
    return [op for op in all_ops() if not not_eligible(op)]
