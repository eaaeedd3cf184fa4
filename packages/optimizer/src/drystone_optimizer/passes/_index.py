"""Module and ops that its rules are for; `python -m ci.scripts.families_index` writes it."""

from typing import Final

__all__ = ["INDEX"]

INDEX: Final = """
arithmetic_optimization.broadcasts BroadcastTo
arithmetic_optimization.casts Bitcast Cast
arithmetic_optimization.common_factors Add AddN AddV2
arithmetic_optimization.comparisons LogicalNot
arithmetic_optimization.embeddings SparseSegmentMean SparseSegmentMeanWithNumSegments
  SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSum
  SparseSegmentSumWithNumSegments
arithmetic_optimization.extremes ArgMax ArgMin Max MaxPool Min
arithmetic_optimization.factor_before_layer Conv2D Conv3D DepthwiseConv2dNative MatMul
arithmetic_optimization.indices SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum
  SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
  SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
  UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
arithmetic_optimization.inverses Abs Ceil Conj Floor Invert LogicalNot Neg Reciprocal Relu Relu6
  Rint Round Sign Snapshot
arithmetic_optimization.inverses_apart Conj Invert LogicalNot Neg
arithmetic_optimization.logs Log Sub
arithmetic_optimization.narrow_first Cast ExpandDims Reshape ReverseV2 Slice Squeeze
  StridedSlice Transpose
arithmetic_optimization.negations Add AddV2 Sub
arithmetic_optimization.packs Slice StridedSlice
arithmetic_optimization.powers Pow
arithmetic_optimization.rectified_parts Sub
arithmetic_optimization.reshapes Reshape
arithmetic_optimization.roots RealDiv
arithmetic_optimization.small_first Add AddV2 Mul
arithmetic_optimization.squares Mul Square
arithmetic_optimization.sums Add AddN AddV2
arithmetic_optimization.tiles Pack Reshape
arithmetic_optimization.transpose_into_product BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul
arithmetic_optimization.transposes Conj Transpose
arithmetic_optimization.unary_hoisting ConcatV2 Split SplitV
constant_folding.absorbing_zeros Div DivNoNan Mul MulNoNan RealDiv
constant_folding.all_axes All Any EuclideanNorm Max Mean Min Prod Sum
constant_folding.biases_together Add AddV2 BiasAdd BiasAddV1
constant_folding.concatenation ConcatV2
constant_folding.constant_branch Case If StatelessCase StatelessIf
constant_folding.constant_choice Select SelectV2
constant_folding.constant_into_loop Enter
constant_folding.constant_terms AccumulateNV2 AddN
constant_folding.constants_together Add AddV2 Mul Sub
constant_folding.division_by_constant RealDiv
constant_folding.factor_into_weights Mul
constant_folding.fold *
constant_folding.gradient_of_same_shapes BroadcastGradientArgs
constant_folding.identities_of_constants IdentityN
constant_folding.known_values Add AddV2 BroadcastArgs BroadcastGradientArgs Cast ConcatV2
  ExpandDims FloorDiv FloorMod Gather GatherV2 Maximum Minimum Mul Pack Prod Range Rank RealDiv
  Reshape Shape ShapeN Size Slice Squeeze StridedSlice Sub Unpack
constant_folding.merge_of_constant Merge
constant_folding.neutral_and_larger Add AddV2 Mul RealDiv Sub
constant_folding.neutral_elements Add AddV2 BiasAdd BiasAddV1 Div DivNoNan FloorDiv LogicalAnd
  LogicalOr Mul RealDiv Sub TruncateDiv
constant_folding.pack_of_one Pack
constant_folding.range_of_product QuantizedMatMul
constant_folding.reduction_of_one All Any Max Mean Min Prod Sum
constant_folding.reshape_to_the_rest Reshape
constant_folding.same_reshape Reshape
constant_folding.size_of_array TensorArraySizeV3
constant_folding.still_moves BroadcastTo MirrorPad Pad PadV2 RandomShuffle Reverse ReverseV2
  Slice Split SplitV Squeeze StridedSlice Tile Transpose
constant_folding.switch_by_itself Switch
constant_folding.updates_of_nothing AssignAddVariableOp AssignSubVariableOp ResourceScatterAdd
  ResourceScatterDiv ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdSub
  ResourceScatterSub
constant_folding.zeros_like OnesLike ZerosLike
layer_fusion.attention Softmax
layer_fusion.gelu Erf Erfc Tanh
layer_fusion.hard_swish Mul
layer_fusion.layer_norm Rsqrt Sqrt
layer_fusion.layer_norm_of_rows FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3
layer_fusion.padding DepthwiseConv2dNative Drystone>FusedConvolution _FusedDepthwiseConv2dNative
layer_fusion.residual Add AddV2
layer_fusion.slopes Add AddV2
layer_fusion.swish Mul
remapping.activation LeakyRelu Relu Relu6
remapping.batch_norm FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3
remapping.batch_norm_ex Relu
remapping.bias Add AddV2 BiasAdd BiasAddV1
remapping.hash_of_numbers StringToHashBucketFast
remapping.leaky Maximum
remapping.padding Conv2D _FusedConv2D
remapping.residual Add AddV2
remapping.squeeze BiasAdd BiasAddV1
remapping.strides Conv2D _FusedConv2D
"""
