"""Module and ops that it registers; `python -m ci.scripts.families_index` writes it."""

from typing import Final

__all__ = ["INDEX"]

INDEX: Final = """
array.gather Gather GatherNd GatherV2 ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd
  TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate TopK TopKV2
array.identity Cast CheckNumerics CheckNumericsV2 DebugIdentityV2 DeepCopy EnsureShape Identity
  IdentityN PlaceholderWithDefault PreventGradient Print RefIdentity Snapshot
array.joining Concat ConcatV2 DynamicPartition DynamicStitch Pack ParallelDynamicStitch Split
  SplitV Unpack
array.matrix_diag Diag DiagPart MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2
  MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3
array.quantized FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars
  FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize QuantizeAndDequantizeV2
  QuantizeAndDequantizeV3 QuantizeAndDequantizeV4
array.shape_ops BroadcastTo ExpandDims Fill Reshape Reverse ReverseSequence ReverseV2 Roll
  Squeeze Tile Transpose
array.slicing BatchToSpace BatchToSpaceND DepthToSpace MirrorPad MirrorPadGrad Pad PadV2 Slice
  SpaceToBatch SpaceToBatchND SpaceToDepth StridedSlice StridedSliceGrad
  TensorStridedSliceUpdate
audio.signal FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D RFFT RFFT2D
control_flow.custom DrystoneCustomGradient
control_flow.functional Case If PartitionedCall StatefulPartitionedCall StatelessCase
  StatelessIf
control_flow.loops StatelessWhile While
data_flow.tensor_list TensorListConcat TensorListConcatV2 TensorListFromTensor TensorListGather
  TensorListGetItem TensorListPopBack TensorListPushBack TensorListResize TensorListScatter
  TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit
  TensorListStack
image.image CropAndResize RGBToHSV ResizeBicubic ResizeBilinear ResizeBilinearGrad
  ResizeNearestNeighbor ResizeNearestNeighborGrad ScaleAndTranslate
image.patches ExtractImagePatches ExtractVolumePatches
linalg.banded BandedTriangularSolve TridiagonalMatMul TridiagonalSolve
linalg.decompositions Eig Lu MatrixSquareRoot Qr SelfAdjointEig SelfAdjointEigV2 Svd
linalg.einsum Einsum XlaEinsum
linalg.linalg Cholesky LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve
  MatrixSolveLs MatrixTriangularSolve
linalg.matmul BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul SparseMatMul
math.complex Angle Complex ComplexAbs Conj ConjugateTranspose Imag Real
math.elementwise_binary AccumulateNV2 Add AddN AddV2 Atan2 ClipByValue Cross Div DivNoNan
  FloorMod Maximum Minimum Mod Mul MulNoNan Pow RealDiv Select SelectV2 SquaredDifference Sub
  TruncateMod Xdivy Xlog1py Xlogy
math.elementwise_unary Abs Acos Acosh Asin Asinh Atan Atanh BesselI0e Cos Cosh Digamma Erf Erfc
  Erfinv Exp Expm1 Inv InvGrad Lgamma Log Log1p Ndtri Neg Reciprocal ReciprocalGrad Rsqrt
  RsqrtGrad Sigmoid SigmoidGrad Sin Sinh Sqrt SqrtGrad Square Tan Tanh TanhGrad
math.reduction Cumprod Cumsum EuclideanNorm Max Mean Min NthElement Prod Sum
math.segment IsotonicRegression SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum
  SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
  SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
  UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
math.special BesselI0 BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e
  BesselY0 BesselY1 Betainc CumulativeLogsumexp Dawsn Expint FresnelCos FresnelSin Igamma
  Igammac Polygamma Spence Zeta
nn.activation Elu EluGrad LeakyRelu LeakyReluGrad LogSoftmax Relu Relu6 Relu6Grad ReluGrad Selu
  SeluGrad Softmax Softplus SoftplusGrad Softsign SoftsignGrad
nn.convolution BiasAdd BiasAddGrad BiasAddV1 Conv2D Conv2DBackpropFilter Conv2DBackpropInput
  Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2 DepthwiseConv2dNative
  DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput Dilation2D
nn.loss CTCLoss L2Loss SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
nn.normalization BatchNormWithGlobalNormalization FusedBatchNorm FusedBatchNormGrad
  FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 LRN
nn.pooling AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad FractionalAvgPool FractionalMaxPool
  MaxPool MaxPool3D MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradV2
  MaxPoolV2 MaxPoolWithArgmax
nn.recurrent BlockLSTM BlockLSTMV2 GRUBlockCell LSTMBlockCell
random.gamma RandomGamma StatelessRandomGammaV2 StatelessRandomGammaV3
sparse.ragged RaggedFillEmptyRows RaggedGather RaggedTensorToSparse RaggedTensorToTensor
sparse.sparse SparseAdd SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul
  SparseFillEmptyRows SparseReduceSum SparseReorder SparseSlice SparseSoftmax
  SparseSparseMaximum SparseSparseMinimum SparseTensorDenseAdd SparseTensorDenseMatMul
  SparseToDense
state.variables ReadVariableOp ResourceGather ResourceGatherNd
"""
