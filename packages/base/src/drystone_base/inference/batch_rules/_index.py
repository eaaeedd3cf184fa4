"""Module and ops that it registers; `python -m ci.scripts.families_index` writes it."""

from typing import Final

__all__ = ["INDEX"]

INDEX: Final = """
elementwise Abs Acos Acosh Add AddN AddV2 Asin Asinh Atan Atan2 Atanh BitwiseAnd BitwiseOr
  BitwiseXor Cast Ceil ClipByValue Cos Cosh Div DivNoNan Drystone>FromGrid
  Drystone>FusedElementwise Drystone>GeluApproximate Drystone>GeluExact Drystone>ToGrid Elu
  Equal Erf Erfc Exp Expm1 FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars Floor FloorDiv
  FloorMod Greater GreaterEqual Identity IdentityN Inv Invert IsFinite IsInf IsNan LeakyRelu
  Less LessEqual Lgamma Log Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul
  MulNoNan Neg NotEqual OnesLike Pow PreventGradient RealDiv Reciprocal Relu Relu6 Rint Round
  Rsqrt Select SelectV2 Selu Sigmoid Sign Sin Sinh Snapshot Softplus Softsign Sqrt Square
  SquaredDifference StopGradient Sub Tan Tanh TruncateDiv Xdivy Xlogy ZerosLike
layers AvgPool AvgPool3D BiasAdd BiasAddV1 Conv2D Conv3D DepthToSpace DepthwiseConv2dNative
  Dilation2D Drystone>FusedConvolution Drystone>LayerNorm Drystone>QuantizedLayer FusedBatchNorm
  FusedBatchNormV2 FusedBatchNormV3 LRN LogSoftmax MaxPool MaxPool3D ResizeArea ResizeBicubic
  ResizeBilinear ResizeNearestNeighbor Softmax SpaceToDepth _FusedBatchNormEx _FusedConv2D
  _FusedDepthwiseConv2dNative
moving ConcatV2 ExpandDims Gather GatherV2 MirrorPad OneHot Pack Pad PadV2 Reshape Slice Split
  SplitV Squeeze StridedSlice Tile Transpose Unpack
products BatchMatMul BatchMatMulV2 BatchMatMulV3 Drystone>Attention Einsum MatMul _FusedMatMul
reductions All Any ArgMax ArgMin Cumprod Cumsum EuclideanNorm Max Mean Min Prod ReverseV2 Sum
  TopKV2
"""
