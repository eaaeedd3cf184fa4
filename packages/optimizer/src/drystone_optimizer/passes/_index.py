"""Module and ops of its rules < what they read; `python -m ci.scripts.families_index` writes it."""

from typing import Final

__all__ = ["INDEX"]

INDEX: Final = """
arithmetic_optimization.broadcasts BroadcastTo < BroadcastTo
arithmetic_optimization.casts Bitcast Cast
arithmetic_optimization.common_factors Add AddN AddV2 < Mul
arithmetic_optimization.comparisons LogicalNot < Equal Greater GreaterEqual Less LessEqual
  NotEqual
arithmetic_optimization.embeddings SparseSegmentMean SparseSegmentMeanWithNumSegments
  SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSum
  SparseSegmentSumWithNumSegments
arithmetic_optimization.extremes ArgMax ArgMin < Acosh Asin Asinh Atan Atanh Erf Exp Expm1 Log
  Log1p Sigmoid Sinh Softplus Softsign Sqrt Tanh
arithmetic_optimization.extremes ArgMax ArgMin < Neg
arithmetic_optimization.extremes Max Min < Acos Acosh Asin Atanh Log Log1p Rsqrt Sqrt
arithmetic_optimization.extremes Max Min < Asinh Atan Ceil Elu Erf Erfc Exp Expm1 Floor Neg Relu
  Relu6 Rint Selu Sigmoid Sinh Softplus Softsign Tanh
arithmetic_optimization.extremes MaxPool < Asinh Atan Ceil Elu Erf Exp Expm1 Floor Relu Relu6
  Rint Selu Sigmoid Sinh Softplus Softsign Tanh
arithmetic_optimization.fold_input_scale Conv2D Conv3D DepthwiseConv2dNative MatMul < Mul Pad
arithmetic_optimization.indices SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum
  SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
  SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
  UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
arithmetic_optimization.involutions Abs Ceil Floor Relu Relu6 Rint Round Sign Snapshot < Abs
  Ceil Floor Relu Relu6 Rint Round Sign Snapshot
arithmetic_optimization.involutions Conj Invert LogicalNot Neg < Conj Invert LogicalNot Neg
arithmetic_optimization.involutions Reciprocal < Reciprocal
arithmetic_optimization.involutions_across_moves Conj Invert LogicalNot Neg < BroadcastTo
  ExpandDims Identity Reshape ReverseV2 Slice Squeeze StridedSlice Tile Transpose
arithmetic_optimization.logs Log < Add AddV2
arithmetic_optimization.logs Log < Softmax
arithmetic_optimization.logs Sub < Exp
arithmetic_optimization.narrow_first Cast < ExpandDims Reshape ReverseV2 Squeeze Transpose
arithmetic_optimization.narrow_first ExpandDims Reshape ReverseV2 Slice Squeeze StridedSlice
  Transpose < Cast
arithmetic_optimization.negations Add AddV2 Sub < Mul
arithmetic_optimization.negations Add AddV2 Sub < Neg
arithmetic_optimization.packs Slice StridedSlice < Pack
arithmetic_optimization.powers Pow < Const
arithmetic_optimization.reassociate_small_first Add AddV2 Mul < Add AddV2 Mul
arithmetic_optimization.rectified_parts Sub < Relu
arithmetic_optimization.reshapes Reshape < ExpandDims Reshape Squeeze
arithmetic_optimization.roots RealDiv < Sqrt
arithmetic_optimization.squares Mul
arithmetic_optimization.squares Square < Sub
arithmetic_optimization.sums Add AddN AddV2 < Add AddN AddV2
arithmetic_optimization.sums AddN
arithmetic_optimization.tiles Pack
arithmetic_optimization.tiles Reshape < Tile
arithmetic_optimization.transpose_into_product BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul <
  ConjugateTranspose Transpose
arithmetic_optimization.transposes Conj Transpose < Conj Transpose
arithmetic_optimization.transposes Transpose < Transpose
arithmetic_optimization.unary_hoisting ConcatV2 < Abs Acos Acosh Asin Asinh Atan Atanh Ceil Conj
  Cos Cosh Elu Erf Erfc Exp Expm1 Floor Inv Invert LeakyRelu Log Log1p Neg Reciprocal Relu Relu6
  Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square Tan Tanh
arithmetic_optimization.unary_hoisting Split SplitV
constant_folding.absorbing_zeros Div DivNoNan Mul MulNoNan RealDiv < Const
constant_folding.all_axes All Any EuclideanNorm Max Mean Min Prod Sum
constant_folding.concatenation ConcatV2
constant_folding.constant_branch Case If StatelessCase StatelessIf
constant_folding.constant_choice Select SelectV2
constant_folding.constant_into_loop Enter
constant_folding.constant_terms AccumulateNV2 AddN < Const
constant_folding.division_by_constant RealDiv < Const
constant_folding.fold * < Const
constant_folding.fold_output_scale Mul < Conv2D Conv3D DepthwiseConv2dNative MatMul
constant_folding.gradient_of_same_shapes BroadcastGradientArgs
constant_folding.identities_of_constants IdentityN < Const
constant_folding.identity_elements Add AddV2 BiasAdd BiasAddV1 Div DivNoNan FloorDiv LogicalAnd
  LogicalOr Mul RealDiv Sub TruncateDiv < Const
constant_folding.identity_moves BroadcastTo MirrorPad Pad PadV2 RandomShuffle Reverse ReverseV2
  Slice Split SplitV Squeeze StridedSlice Tile Transpose
constant_folding.identity_reshape Reshape
constant_folding.identity_updates AssignAddVariableOp AssignSubVariableOp ResourceScatterAdd
  ResourceScatterDiv ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdSub
  ResourceScatterSub
constant_folding.identity_with_broadcast Add AddV2 Mul RealDiv Sub < Const
constant_folding.materialize_shapes Add AddV2 BroadcastArgs BroadcastGradientArgs Cast ConcatV2
  ExpandDims FloorDiv FloorMod Gather GatherV2 Maximum Minimum Mul Pack Prod Range Rank RealDiv
  Reshape Shape ShapeN Size Slice Squeeze StridedSlice Sub Unpack
constant_folding.merge_biases Add AddV2 BiasAdd BiasAddV1 < Add AddV2 BiasAdd BiasAddV1
constant_folding.merge_of_constant Merge
constant_folding.pack_of_one Pack
constant_folding.range_of_product QuantizedMatMul
constant_folding.reassociate_constants Add AddV2 Mul Sub < Add AddV2 Mul Sub
constant_folding.reduction_of_one All Any Max Mean Min Prod Sum
constant_folding.reshape_inferred_size Reshape
constant_folding.size_of_array TensorArraySizeV3
constant_folding.switch_by_itself Switch
constant_folding.zeros_like OnesLike ZerosLike
layer_fusion.attention Softmax < Add AddV2 BatchMatMul BatchMatMulV2 Div Einsum Mul RealDiv
  SelectV2
layer_fusion.gelu Erf Erfc Tanh
layer_fusion.hard_swish Mul < Mul Relu6
layer_fusion.layer_norm Rsqrt Sqrt
layer_fusion.layer_norm_of_rows FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3
layer_fusion.padding DepthwiseConv2dNative Drystone>FusedConvolution _FusedDepthwiseConv2dNative
  < Pad
layer_fusion.residual Add AddV2 < Conv2D DepthwiseConv2dNative Drystone>FusedConvolution
  _FusedConv2D _FusedDepthwiseConv2dNative
layer_fusion.slopes Add AddV2 < Relu
layer_fusion.swish Mul < Sigmoid
remapping.activation LeakyRelu Relu Relu6 < _FusedConv2D _FusedConv3D
  _FusedDepthwiseConv2dNative _FusedMatMul
remapping.batch_norm FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 < Conv2D
  DepthwiseConv2dNative
remapping.batch_norm_ex Relu < Add AddV2 FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3
remapping.bias Add AddV2 BiasAdd BiasAddV1 < Conv2D Conv3D DepthwiseConv2dNative MatMul
remapping.bias_before_reshape Add AddV2 BiasAdd BiasAddV1 < Reshape
remapping.hash_of_numbers StringToHashBucketFast
remapping.leaky Maximum < Mul
remapping.padding Conv2D _FusedConv2D < Pad
remapping.residual Add AddV2 < _FusedConv2D _FusedConv3D _FusedDepthwiseConv2dNative
  _FusedMatMul
remapping.squeeze BiasAdd BiasAddV1 < Squeeze
remapping.strides Conv2D _FusedConv2D < Conv2D _FusedConv2D
"""
