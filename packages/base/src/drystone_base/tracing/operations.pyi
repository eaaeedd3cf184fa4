"""`python -m ci.scripts.ops_stub` writes it."""
from collections.abc import Sequence as S
from typing import Any
from numpy import generic, ndarray
from drystone_base.ops.defs import OpDef
from drystone_base.tracing.tensor import Tensor
from drystone_base.tracing.variable import Variable
X = Tensor | Variable | ndarray[Any, Any] | generic | S[Any] | float | str | bytes
def described(definition: OpDef) -> str: ...
def function_name(op: str) -> str: ...
def functions() -> dict[str, str]: ...
def a(*, name: str = ...) -> Tensor:
    """A:  -> out: float32."""
def abort(*, error_msg: str = ..., exit_without_error: bool = ..., name: str = ...) -> None:
    """Abort:  -> nothing."""
def abs(x: X, *, name: str = ...) -> Tensor:
    """Abs: x: T -> y: T."""
def accumulate_n_v2(inputs: S[X], *, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """AccumulateNV2: inputs: T -> sum: T."""
def accumulator_apply_gradient(handle: X, local_step: X, gradient: X, *, name: str = ...) -> None:
    """AccumulatorApplyGradient: handle: string, local_step: int64, gradient: dtype -> nothing."""
def accumulator_num_accumulated(handle: X, *, name: str = ...) -> Tensor:
    """AccumulatorNumAccumulated: handle: string -> num_accumulated: int32."""
def accumulator_set_global_step(handle: X, new_global_step: X, *, name: str = ...) -> None:
    """AccumulatorSetGlobalStep: handle: string, new_global_step: int64 -> nothing."""
def accumulator_take_gradient(handle: X, num_required: X, *, dtype: Any, name: str = ...) -> Tensor:
    """AccumulatorTakeGradient: handle: string, num_required: int32 -> average: dtype."""
def acos(x: X, *, name: str = ...) -> Tensor:
    """Acos: x: T -> y: T."""
def acosh(x: X, *, name: str = ...) -> Tensor:
    """Acosh: x: T -> y: T."""
def add(x: X, y: X, *, name: str = ...) -> Tensor:
    """Add: x: T, y: T -> z: T."""
def add_many_sparse_to_tensors_map(sparse_indices: X, sparse_values: X, sparse_shape: X, *, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """AddManySparseToTensorsMap: sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> sparse_handles: int64."""
def add_n(inputs: S[X], *, name: str = ...) -> Tensor:
    """AddN: inputs: T -> sum: T."""
def add_sparse_to_tensors_map(sparse_indices: X, sparse_values: X, sparse_shape: X, *, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """AddSparseToTensorsMap: sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> sparse_handle: int64."""
def add_v2(x: X, y: X, *, name: str = ...) -> Tensor:
    """AddV2: x: T, y: T -> z: T."""
def adjust_contrast(images: X, contrast_factor: X, min_value: X, max_value: X, *, name: str = ...) -> Tensor:
    """AdjustContrast: images: T, contrast_factor: float32, min_value: float32, max_value: float32 -> output: float32."""
def adjust_contrastv2(images: X, contrast_factor: X, *, name: str = ...) -> Tensor:
    """AdjustContrastv2: images: T, contrast_factor: float32 -> output: T."""
def adjust_hue(images: X, delta: X, *, name: str = ...) -> Tensor:
    """AdjustHue: images: T, delta: float32 -> output: T."""
def adjust_saturation(images: X, scale: X, *, name: str = ...) -> Tensor:
    """AdjustSaturation: images: T, scale: float32 -> output: T."""
def all(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """All: input: bool, reduction_indices: Tidx -> output: bool."""
def all_candidate_sampler(true_classes: X, *, num_true: int, num_sampled: int, unique: bool, seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """AllCandidateSampler: true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32."""
def all_to_all(input: X, group_assignment: X, *, concat_dimension: int, split_dimension: int, split_count: int, name: str = ...) -> Tensor:
    """AllToAll: input: T, group_assignment: int32 -> output: T."""
def angle(input: X, *, Tout: Any = ..., name: str = ...) -> Tensor:
    """Angle: input: T -> output: Tout."""
def anonymous_hash_table(*, key_dtype: Any, value_dtype: Any, name: str = ...) -> Tensor:
    """AnonymousHashTable:  -> table_handle: resource."""
def anonymous_iterator(*, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """AnonymousIterator:  -> handle: resource."""
def anonymous_iterator_v2(*, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> tuple[Tensor, Tensor]:
    """AnonymousIteratorV2:  -> handle: resource, deleter: variant."""
def anonymous_iterator_v3(*, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """AnonymousIteratorV3:  -> handle: resource."""
def anonymous_memory_cache(*, name: str = ...) -> tuple[Tensor, Tensor]:
    """AnonymousMemoryCache:  -> handle: resource, deleter: variant."""
def anonymous_multi_device_iterator(*, devices: S[str], output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> tuple[Tensor, Tensor]:
    """AnonymousMultiDeviceIterator:  -> handle: resource, deleter: variant."""
def anonymous_multi_device_iterator_v3(*, devices: S[str], output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """AnonymousMultiDeviceIteratorV3:  -> handle: resource."""
def anonymous_mutable_dense_hash_table(empty_key: X, deleted_key: X, *, value_dtype: Any, value_shape: S[int | None] | None = ..., initial_num_buckets: int = ..., max_load_factor: float = ..., name: str = ...) -> Tensor:
    """AnonymousMutableDenseHashTable: empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource."""
def anonymous_mutable_hash_table(*, key_dtype: Any, value_dtype: Any, name: str = ...) -> Tensor:
    """AnonymousMutableHashTable:  -> table_handle: resource."""
def anonymous_mutable_hash_table_of_tensors(*, key_dtype: Any, value_dtype: Any, value_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """AnonymousMutableHashTableOfTensors:  -> table_handle: resource."""
def anonymous_random_seed_generator(seed: X, seed2: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """AnonymousRandomSeedGenerator: seed: int64, seed2: int64 -> handle: resource, deleter: variant."""
def anonymous_seed_generator(seed: X, seed2: X, reshuffle: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """AnonymousSeedGenerator: seed: int64, seed2: int64, reshuffle: bool -> handle: resource, deleter: variant."""
def any(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """Any: input: bool, reduction_indices: Tidx -> output: bool."""
def apply_ada_max(var: X, m: X, v: X, beta1_power: X, lr: X, beta1: X, beta2: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyAdaMax: var: T, m: T, v: T, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T -> out: T."""
def apply_adadelta(var: X, accum: X, accum_update: X, lr: X, rho: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyAdadelta: var: T, accum: T, accum_update: T, lr: T, rho: T, epsilon: T, grad: T -> out: T."""
def apply_adagrad(var: X, accum: X, lr: X, grad: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> Tensor:
    """ApplyAdagrad: var: T, accum: T, lr: T, grad: T -> out: T."""
def apply_adagrad_da(var: X, gradient_accumulator: X, gradient_squared_accumulator: X, grad: X, lr: X, l1: X, l2: X, global_step: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyAdagradDA: var: T, gradient_accumulator: T, gradient_squared_accumulator: T, grad: T, lr: T, l1: T, l2: T, global_step: int64 -> out: T."""
def apply_adagrad_v2(var: X, accum: X, lr: X, epsilon: X, grad: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> Tensor:
    """ApplyAdagradV2: var: T, accum: T, lr: T, epsilon: T, grad: T -> out: T."""
def apply_adam(var: X, m: X, v: X, beta1_power: X, beta2_power: X, lr: X, beta1: X, beta2: X, epsilon: X, grad: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> Tensor:
    """ApplyAdam: var: T, m: T, v: T, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T -> out: T."""
def apply_add_sign(var: X, m: X, lr: X, alpha: X, sign_decay: X, beta: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyAddSign: var: T, m: T, lr: T, alpha: T, sign_decay: T, beta: T, grad: T -> out: T."""
def apply_centered_rms_prop(var: X, mg: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyCenteredRMSProp: var: T, mg: T, ms: T, mom: T, lr: T, rho: T, momentum: T, epsilon: T, grad: T -> out: T."""
def apply_ftrl(var: X, accum: X, linear: X, grad: X, lr: X, l1: X, l2: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> Tensor:
    """ApplyFtrl: var: T, accum: T, linear: T, grad: T, lr: T, l1: T, l2: T, lr_power: T -> out: T."""
def apply_ftrl_v2(var: X, accum: X, linear: X, grad: X, lr: X, l1: X, l2: X, l2_shrinkage: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> Tensor:
    """ApplyFtrlV2: var: T, accum: T, linear: T, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T -> out: T."""
def apply_gradient_descent(var: X, alpha: X, delta: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyGradientDescent: var: T, alpha: T, delta: T -> out: T."""
def apply_momentum(var: X, accum: X, lr: X, grad: X, momentum: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> Tensor:
    """ApplyMomentum: var: T, accum: T, lr: T, grad: T, momentum: T -> out: T."""
def apply_power_sign(var: X, m: X, lr: X, logbase: X, sign_decay: X, beta: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyPowerSign: var: T, m: T, lr: T, logbase: T, sign_decay: T, beta: T, grad: T -> out: T."""
def apply_proximal_adagrad(var: X, accum: X, lr: X, l1: X, l2: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyProximalAdagrad: var: T, accum: T, lr: T, l1: T, l2: T, grad: T -> out: T."""
def apply_proximal_gradient_descent(var: X, alpha: X, l1: X, l2: X, delta: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyProximalGradientDescent: var: T, alpha: T, l1: T, l2: T, delta: T -> out: T."""
def apply_rms_prop(var: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ApplyRMSProp: var: T, ms: T, mom: T, lr: T, rho: T, momentum: T, epsilon: T, grad: T -> out: T."""
def approx_top_k(input: X, *, k: int, reduction_dimension: int = ..., recall_target: float = ..., is_max_k: bool = ..., reduction_input_size_override: int = ..., aggregate_to_topk: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """ApproxTopK: input: T -> values: T, indices: int32."""
def approximate_equal(x: X, y: X, *, tolerance: float = ..., name: str = ...) -> Tensor:
    """ApproximateEqual: x: T, y: T -> z: bool."""
def arg_max(input: X, dimension: X, *, output_type: Any = ..., name: str = ...) -> Tensor:
    """ArgMax: input: T, dimension: Tidx -> output: output_type."""
def arg_min(input: X, dimension: X, *, output_type: Any = ..., name: str = ...) -> Tensor:
    """ArgMin: input: T, dimension: Tidx -> output: output_type."""
def as_string(input: X, *, precision: int = ..., scientific: bool = ..., shortest: bool = ..., width: int = ..., fill: str = ..., name: str = ...) -> Tensor:
    """AsString: input: T -> output: string."""
def asin(x: X, *, name: str = ...) -> Tensor:
    """Asin: x: T -> y: T."""
def asinh(x: X, *, name: str = ...) -> Tensor:
    """Asinh: x: T -> y: T."""
def assert_(condition: X, data: S[X], *, summarize: int = ..., name: str = ...) -> None:
    """Assert: condition: bool, data: T -> nothing."""
def assert_cardinality_dataset(input_dataset: X, cardinality: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """AssertCardinalityDataset: input_dataset: variant, cardinality: int64 -> handle: variant."""
def assert_next_dataset(input_dataset: X, transformations: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """AssertNextDataset: input_dataset: variant, transformations: string -> handle: variant."""
def assert_prev_dataset(input_dataset: X, transformations: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """AssertPrevDataset: input_dataset: variant, transformations: string -> handle: variant."""
def assign(ref: X, value: X, *, validate_shape: bool = ..., use_locking: bool = ..., name: str = ...) -> Tensor:
    """Assign: ref: T, value: T -> output_ref: T."""
def assign_add(ref: X, value: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """AssignAdd: ref: T, value: T -> output_ref: T."""
def assign_add_variable_op(resource: X, value: X, *, name: str = ...) -> None:
    """AssignAddVariableOp: resource: resource, value: dtype -> nothing."""
def assign_sub(ref: X, value: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """AssignSub: ref: T, value: T -> output_ref: T."""
def assign_sub_variable_op(resource: X, value: X, *, name: str = ...) -> None:
    """AssignSubVariableOp: resource: resource, value: dtype -> nothing."""
def assign_variable_op(resource: X, value: X, *, validate_shape: bool = ..., name: str = ...) -> None:
    """AssignVariableOp: resource: resource, value: dtype -> nothing."""
def assign_variable_xla_concat_nd(resource: X, inputs: S[X], *, num_concats: S[int], paddings: S[int] = ..., name: str = ...) -> None:
    """AssignVariableXlaConcatND: resource: resource, inputs: T -> nothing."""
def atan(x: X, *, name: str = ...) -> Tensor:
    """Atan: x: T -> y: T."""
def atan2(y: X, x: X, *, name: str = ...) -> Tensor:
    """Atan2: y: T, x: T -> z: T."""
def atanh(x: X, *, name: str = ...) -> Tensor:
    """Atanh: x: T -> y: T."""
def attr(*, a: int, name: str = ...) -> None:
    """Attr:  -> nothing."""
def attr_bool(*, a: bool, name: str = ...) -> None:
    """AttrBool:  -> nothing."""
def attr_bool_list(*, a: S[bool], name: str = ...) -> None:
    """AttrBoolList:  -> nothing."""
def attr_default(*, a: str = ..., name: str = ...) -> None:
    """AttrDefault:  -> nothing."""
def attr_empty_list_default(*, a: S[float] = ..., name: str = ...) -> None:
    """AttrEmptyListDefault:  -> nothing."""
def attr_enum(*, a: str, name: str = ...) -> None:
    """AttrEnum:  -> nothing."""
def attr_enum_list(*, a: S[str], name: str = ...) -> None:
    """AttrEnumList:  -> nothing."""
def attr_float(*, a: float, name: str = ...) -> None:
    """AttrFloat:  -> nothing."""
def attr_list_default(*, a: S[int] = ..., name: str = ...) -> None:
    """AttrListDefault:  -> nothing."""
def attr_list_min(*, a: S[int], name: str = ...) -> None:
    """AttrListMin:  -> nothing."""
def attr_list_type_default(a: S[X], b: S[X], *, name: str = ...) -> None:
    """AttrListTypeDefault: a: T, b: T -> nothing."""
def attr_min(*, a: int, name: str = ...) -> None:
    """AttrMin:  -> nothing."""
def attr_partial_shape(*, a: S[int | None] | None, name: str = ...) -> None:
    """AttrPartialShape:  -> nothing."""
def attr_partial_shape_list(*, a: S[S[int | None] | None], name: str = ...) -> None:
    """AttrPartialShapeList:  -> nothing."""
def attr_shape(*, a: S[int | None] | None, name: str = ...) -> None:
    """AttrShape:  -> nothing."""
def attr_shape_list(*, a: S[S[int | None] | None], name: str = ...) -> None:
    """AttrShapeList:  -> nothing."""
def attr_type_default(a: X, *, name: str = ...) -> None:
    """AttrTypeDefault: a: T -> nothing."""
def audio_microfrontend(audio: X, *, sample_rate: int = ..., window_size: int = ..., window_step: int = ..., num_channels: int = ..., upper_band_limit: float = ..., lower_band_limit: float = ..., smoothing_bits: int = ..., even_smoothing: float = ..., odd_smoothing: float = ..., min_signal_remaining: float = ..., enable_pcan: bool = ..., pcan_strength: float = ..., pcan_offset: float = ..., gain_bits: int = ..., enable_log: bool = ..., scale_shift: int = ..., left_context: int = ..., right_context: int = ..., frame_stride: int = ..., zero_padding: bool = ..., out_scale: int = ..., out_type: Any = ..., name: str = ...) -> Tensor:
    """AudioMicrofrontend: audio: int16 -> filterbanks: out_type."""
def audio_spectrogram(input: X, *, window_size: int, stride: int, magnitude_squared: bool = ..., name: str = ...) -> Tensor:
    """AudioSpectrogram: input: float32 -> spectrogram: float32."""
def audio_summary(tag: X, tensor: X, *, sample_rate: float, max_outputs: int = ..., name: str = ...) -> Tensor:
    """AudioSummary: tag: string, tensor: float32 -> summary: string."""
def audio_summary_v2(tag: X, tensor: X, sample_rate: X, *, max_outputs: int = ..., name: str = ...) -> Tensor:
    """AudioSummaryV2: tag: string, tensor: float32, sample_rate: float32 -> summary: string."""
def auto_shard_dataset(input_dataset: X, num_workers: X, index: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], auto_shard_policy: int = ..., num_replicas: int = ..., name: str = ...) -> Tensor:
    """AutoShardDataset: input_dataset: variant, num_workers: int64, index: int64 -> handle: variant."""
def avg_pool(value: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """AvgPool: value: T -> output: T."""
def avg_pool3d(input: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """AvgPool3D: input: T -> output: T."""
def avg_pool3d_grad(orig_input_shape: X, grad: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """AvgPool3DGrad: orig_input_shape: int32, grad: T -> output: T."""
def avg_pool_grad(orig_input_shape: X, grad: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """AvgPoolGrad: orig_input_shape: int32, grad: T -> output: T."""
def b(*, name: str = ...) -> Tensor:
    """B:  -> out: float32."""
def banded_triangular_solve(matrix: X, rhs: X, *, lower: bool = ..., adjoint: bool = ..., name: str = ...) -> Tensor:
    """BandedTriangularSolve: matrix: T, rhs: T -> output: T."""
def barrier(*, component_types: S[Any], shapes: S[S[int | None] | None] = ..., capacity: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """Barrier:  -> handle: string."""
def barrier_close(handle: X, *, cancel_pending_enqueues: bool = ..., name: str = ...) -> None:
    """BarrierClose: handle: string -> nothing."""
def barrier_incomplete_size(handle: X, *, name: str = ...) -> Tensor:
    """BarrierIncompleteSize: handle: string -> size: int32."""
def barrier_insert_many(handle: X, keys: X, values: X, *, component_index: int, name: str = ...) -> None:
    """BarrierInsertMany: handle: string, keys: string, values: T -> nothing."""
def barrier_ready_size(handle: X, *, name: str = ...) -> Tensor:
    """BarrierReadySize: handle: string -> size: int32."""
def barrier_take_many(handle: X, num_elements: X, *, component_types: S[Any], allow_small_batch: bool = ..., wait_for_incomplete: bool = ..., timeout_ms: int = ..., name: str = ...) -> tuple[Tensor, Tensor, S[Tensor]]:
    """BarrierTakeMany: handle: string, num_elements: int32 -> indices: int64, keys: string, values: component_types."""
def batch(in_tensors: S[X], *, num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, grad_timeout_micros: int, max_enqueued_batches: int = ..., allowed_batch_sizes: S[int] = ..., container: str = ..., shared_name: str = ..., batching_queue: str = ..., name: str = ...) -> tuple[S[Tensor], Tensor, Tensor]:
    """Batch: in_tensors: T -> batched_tensors: T, batch_index: int64, id: int64."""
def batch_cholesky(input: X, *, name: str = ...) -> Tensor:
    """BatchCholesky: input: T -> output: T."""
def batch_cholesky_grad(l: X, grad: X, *, name: str = ...) -> Tensor:
    """BatchCholeskyGrad: l: T, grad: T -> output: T."""
def batch_dataset(input_dataset: X, batch_size: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """BatchDataset: input_dataset: variant, batch_size: int64 -> handle: variant."""
def batch_dataset_v2(input_dataset: X, batch_size: X, drop_remainder: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], parallel_copy: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """BatchDatasetV2: input_dataset: variant, batch_size: int64, drop_remainder: bool -> handle: variant."""
def batch_fft(input: X, *, name: str = ...) -> Tensor:
    """BatchFFT: input: complex64 -> output: complex64."""
def batch_fft2d(input: X, *, name: str = ...) -> Tensor:
    """BatchFFT2D: input: complex64 -> output: complex64."""
def batch_fft3d(input: X, *, name: str = ...) -> Tensor:
    """BatchFFT3D: input: complex64 -> output: complex64."""
def batch_function(in_tensors: S[X], captured_tensors: S[X], *, f: Any, num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, Tout: S[Any], max_enqueued_batches: int = ..., allowed_batch_sizes: S[int] = ..., container: str = ..., shared_name: str = ..., batching_queue: str = ..., low_priority_max_batch_size: int = ..., low_priority_batch_timeout_micros: int = ..., low_priority_allowed_batch_sizes: S[int] = ..., low_priority_max_enqueued_batches: int = ..., mixed_priority_policy: str = ..., batch_padding_policy: str = ..., enable_large_batch_splitting: bool = ..., name: str = ...) -> S[Tensor]:
    """BatchFunction: in_tensors: Tin, captured_tensors: Tcaptured -> out_tensors: Tout."""
def batch_ifft(input: X, *, name: str = ...) -> Tensor:
    """BatchIFFT: input: complex64 -> output: complex64."""
def batch_ifft2d(input: X, *, name: str = ...) -> Tensor:
    """BatchIFFT2D: input: complex64 -> output: complex64."""
def batch_ifft3d(input: X, *, name: str = ...) -> Tensor:
    """BatchIFFT3D: input: complex64 -> output: complex64."""
def batch_matmul(x: X, y: X, *, adj_x: bool = ..., adj_y: bool = ..., grad_x: bool = ..., grad_y: bool = ..., name: str = ...) -> Tensor:
    """BatchMatMul: x: T, y: T -> output: T."""
def batch_matmul_v2(x: X, y: X, *, adj_x: bool = ..., adj_y: bool = ..., grad_x: bool = ..., grad_y: bool = ..., name: str = ...) -> Tensor:
    """BatchMatMulV2: x: T, y: T -> output: T."""
def batch_matmul_v3(x: X, y: X, *, Tout: Any, adj_x: bool = ..., adj_y: bool = ..., grad_x: bool = ..., grad_y: bool = ..., name: str = ...) -> Tensor:
    """BatchMatMulV3: x: Ta, y: Tb -> output: Tout."""
def batch_matrix_band_part(input: X, num_lower: X, num_upper: X, *, name: str = ...) -> Tensor:
    """BatchMatrixBandPart: input: T, num_lower: int64, num_upper: int64 -> band: T."""
def batch_matrix_determinant(input: X, *, name: str = ...) -> Tensor:
    """BatchMatrixDeterminant: input: T -> output: T."""
def batch_matrix_diag(diagonal: X, *, name: str = ...) -> Tensor:
    """BatchMatrixDiag: diagonal: T -> output: T."""
def batch_matrix_diag_part(input: X, *, name: str = ...) -> Tensor:
    """BatchMatrixDiagPart: input: T -> diagonal: T."""
def batch_matrix_inverse(input: X, *, adjoint: bool = ..., name: str = ...) -> Tensor:
    """BatchMatrixInverse: input: T -> output: T."""
def batch_matrix_set_diag(input: X, diagonal: X, *, name: str = ...) -> Tensor:
    """BatchMatrixSetDiag: input: T, diagonal: T -> output: T."""
def batch_matrix_solve(matrix: X, rhs: X, *, adjoint: bool = ..., name: str = ...) -> Tensor:
    """BatchMatrixSolve: matrix: T, rhs: T -> output: T."""
def batch_matrix_solve_ls(matrix: X, rhs: X, l2_regularizer: X, *, fast: bool = ..., name: str = ...) -> Tensor:
    """BatchMatrixSolveLs: matrix: T, rhs: T, l2_regularizer: float64 -> output: T."""
def batch_matrix_triangular_solve(matrix: X, rhs: X, *, lower: bool = ..., adjoint: bool = ..., name: str = ...) -> Tensor:
    """BatchMatrixTriangularSolve: matrix: T, rhs: T -> output: T."""
def batch_norm_with_global_normalization(t: X, m: X, v: X, beta: X, gamma: X, *, variance_epsilon: float, scale_after_normalization: bool, name: str = ...) -> Tensor:
    """BatchNormWithGlobalNormalization: t: T, m: T, v: T, beta: T, gamma: T -> result: T."""
def batch_norm_with_global_normalization_grad(t: X, m: X, v: X, gamma: X, backprop: X, *, variance_epsilon: float, scale_after_normalization: bool, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BatchNormWithGlobalNormalizationGrad: t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T."""
def batch_self_adjoint_eig(input: X, *, name: str = ...) -> Tensor:
    """BatchSelfAdjointEig: input: T -> output: T."""
def batch_self_adjoint_eig_v2(input: X, *, compute_v: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """BatchSelfAdjointEigV2: input: T -> e: T, v: T."""
def batch_svd(input: X, *, compute_uv: bool = ..., full_matrices: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """BatchSvd: input: T -> s: T, u: T, v: T."""
def batch_to_space(input: X, crops: X, *, block_size: int, name: str = ...) -> Tensor:
    """BatchToSpace: input: T, crops: Tidx -> output: T."""
def batch_to_space_nd(input: X, block_shape: X, crops: X, *, name: str = ...) -> Tensor:
    """BatchToSpaceND: input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T."""
def bessel_i0(x: X, *, name: str = ...) -> Tensor:
    """BesselI0: x: T -> y: T."""
def bessel_i0e(x: X, *, name: str = ...) -> Tensor:
    """BesselI0e: x: T -> y: T."""
def bessel_i1(x: X, *, name: str = ...) -> Tensor:
    """BesselI1: x: T -> y: T."""
def bessel_i1e(x: X, *, name: str = ...) -> Tensor:
    """BesselI1e: x: T -> y: T."""
def bessel_j0(x: X, *, name: str = ...) -> Tensor:
    """BesselJ0: x: T -> y: T."""
def bessel_j1(x: X, *, name: str = ...) -> Tensor:
    """BesselJ1: x: T -> y: T."""
def bessel_k0(x: X, *, name: str = ...) -> Tensor:
    """BesselK0: x: T -> y: T."""
def bessel_k0e(x: X, *, name: str = ...) -> Tensor:
    """BesselK0e: x: T -> y: T."""
def bessel_k1(x: X, *, name: str = ...) -> Tensor:
    """BesselK1: x: T -> y: T."""
def bessel_k1e(x: X, *, name: str = ...) -> Tensor:
    """BesselK1e: x: T -> y: T."""
def bessel_y0(x: X, *, name: str = ...) -> Tensor:
    """BesselY0: x: T -> y: T."""
def bessel_y1(x: X, *, name: str = ...) -> Tensor:
    """BesselY1: x: T -> y: T."""
def betainc(a: X, b: X, x: X, *, name: str = ...) -> Tensor:
    """Betainc: a: T, b: T, x: T -> z: T."""
def bias_add(value: X, bias: X, *, data_format: str = ..., name: str = ...) -> Tensor:
    """BiasAdd: value: T, bias: T -> output: T."""
def bias_add_grad(out_backprop: X, *, data_format: str = ..., name: str = ...) -> Tensor:
    """BiasAddGrad: out_backprop: T -> output: T."""
def bias_add_v1(value: X, bias: X, *, name: str = ...) -> Tensor:
    """BiasAddV1: value: T, bias: T -> output: T."""
def binary(a: X, b: X, *, name: str = ...) -> Tensor:
    """Binary: a: T, b: T -> out: T."""
def bincount(arr: X, size: X, weights: X, *, name: str = ...) -> Tensor:
    """Bincount: arr: int32, size: int32, weights: T -> bins: T."""
def bitcast(input: X, *, type: Any, name: str = ...) -> Tensor:
    """Bitcast: input: T -> output: type."""
def bitwise_and(x: X, y: X, *, name: str = ...) -> Tensor:
    """BitwiseAnd: x: T, y: T -> z: T."""
def bitwise_or(x: X, y: X, *, name: str = ...) -> Tensor:
    """BitwiseOr: x: T, y: T -> z: T."""
def bitwise_xor(x: X, y: X, *, name: str = ...) -> Tensor:
    """BitwiseXor: x: T, y: T -> z: T."""
def block_lstm(seq_len_max: X, x: X, cs_prev: X, h_prev: X, w: X, wci: X, wcf: X, wco: X, b: X, *, forget_bias: float = ..., cell_clip: float = ..., use_peephole: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BlockLSTM: seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T."""
def block_lstm_grad(seq_len_max: X, x: X, cs_prev: X, h_prev: X, w: X, wci: X, wcf: X, wco: X, b: X, i: X, cs: X, f: X, o: X, ci: X, co: X, h: X, cs_grad: X, h_grad: X, *, use_peephole: bool, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BlockLSTMGrad: seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T."""
def block_lstm_grad_v2(seq_len_max: X, x: X, cs_prev: X, h_prev: X, w: X, wci: X, wcf: X, wco: X, b: X, i: X, cs: X, f: X, o: X, ci: X, co: X, h: X, cs_grad: X, h_grad: X, *, use_peephole: bool, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BlockLSTMGradV2: seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T."""
def block_lstm_v2(seq_len_max: X, x: X, cs_prev: X, h_prev: X, w: X, wci: X, wcf: X, wco: X, b: X, *, cell_clip: float = ..., use_peephole: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BlockLSTMV2: seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T."""
def boosted_trees_aggregate_stats(node_ids: X, gradients: X, hessians: X, feature: X, *, max_splits: int, num_buckets: int, name: str = ...) -> Tensor:
    """BoostedTreesAggregateStats: node_ids: int32, gradients: float32, hessians: float32, feature: int32 -> stats_summary: float32."""
def boosted_trees_bucketize(float_values: S[X], bucket_boundaries: S[X], *, name: str = ...) -> S[Tensor]:
    """BoostedTreesBucketize: float_values: float32, bucket_boundaries: float32 -> buckets: int32."""
def boosted_trees_calculate_best_feature_split(node_id_range: X, stats_summary: X, l1: X, l2: X, tree_complexity: X, min_node_weight: X, *, logits_dimension: int, split_type: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BoostedTreesCalculateBestFeatureSplit: node_id_range: int32, stats_summary: float32, l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32 -> node_ids: int32, gains: float32, feature_dimensions: int32, thresholds: int32, left_node_contribs: float32, right_node_contribs: float32, split_with_default_directions: string."""
def boosted_trees_calculate_best_feature_split_v2(node_id_range: X, stats_summaries_list: S[X], split_types: X, candidate_feature_ids: X, l1: X, l2: X, tree_complexity: X, min_node_weight: X, *, logits_dimension: int, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BoostedTreesCalculateBestFeatureSplitV2: node_id_range: int32, stats_summaries_list: float32, split_types: string, candidate_feature_ids: int32, l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32 -> node_ids: int32, gains: float32, feature_ids: int32, feature_dimensions: int32, thresholds: int32, left_node_contribs: float32, right_node_contribs: float32, split_with_default_directions: string."""
def boosted_trees_calculate_best_gains_per_feature(node_id_range: X, stats_summary_list: S[X], l1: X, l2: X, tree_complexity: X, min_node_weight: X, *, max_splits: int, name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """BoostedTreesCalculateBestGainsPerFeature: node_id_range: int32, stats_summary_list: float32, l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32 -> node_ids_list: int32, gains_list: float32, thresholds_list: int32, left_node_contribs_list: float32, right_node_contribs_list: float32."""
def boosted_trees_center_bias(tree_ensemble_handle: X, mean_gradients: X, mean_hessians: X, l1: X, l2: X, *, name: str = ...) -> Tensor:
    """BoostedTreesCenterBias: tree_ensemble_handle: resource, mean_gradients: float32, mean_hessians: float32, l1: float32, l2: float32 -> continue_centering: bool."""
def boosted_trees_create_ensemble(tree_ensemble_handle: X, stamp_token: X, tree_ensemble_serialized: X, *, name: str = ...) -> None:
    """BoostedTreesCreateEnsemble: tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string -> nothing."""
def boosted_trees_create_quantile_stream_resource(quantile_stream_resource_handle: X, epsilon: X, num_streams: X, *, max_elements: int = ..., name: str = ...) -> None:
    """BoostedTreesCreateQuantileStreamResource: quantile_stream_resource_handle: resource, epsilon: float32, num_streams: int64 -> nothing."""
def boosted_trees_deserialize_ensemble(tree_ensemble_handle: X, stamp_token: X, tree_ensemble_serialized: X, *, name: str = ...) -> None:
    """BoostedTreesDeserializeEnsemble: tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string -> nothing."""
def boosted_trees_ensemble_resource_handle_op(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """BoostedTreesEnsembleResourceHandleOp:  -> resource: resource."""
def boosted_trees_example_debug_outputs(tree_ensemble_handle: X, bucketized_features: S[X], *, logits_dimension: int, name: str = ...) -> Tensor:
    """BoostedTreesExampleDebugOutputs: tree_ensemble_handle: resource, bucketized_features: int32 -> examples_debug_outputs_serialized: string."""
def boosted_trees_flush_quantile_summaries(quantile_stream_resource_handle: X, *, num_features: int, name: str = ...) -> S[Tensor]:
    """BoostedTreesFlushQuantileSummaries: quantile_stream_resource_handle: resource -> summaries: float32."""
def boosted_trees_get_ensemble_states(tree_ensemble_handle: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BoostedTreesGetEnsembleStates: tree_ensemble_handle: resource -> stamp_token: int64, num_trees: int32, num_finalized_trees: int32, num_attempted_layers: int32, last_layer_nodes_range: int32."""
def boosted_trees_make_quantile_summaries(float_values: S[X], example_weights: X, epsilon: X, *, name: str = ...) -> S[Tensor]:
    """BoostedTreesMakeQuantileSummaries: float_values: float32, example_weights: float32, epsilon: float32 -> summaries: float32."""
def boosted_trees_make_stats_summary(node_ids: X, gradients: X, hessians: X, bucketized_features_list: S[X], *, max_splits: int, num_buckets: int, name: str = ...) -> Tensor:
    """BoostedTreesMakeStatsSummary: node_ids: int32, gradients: float32, hessians: float32, bucketized_features_list: int32 -> stats_summary: float32."""
def boosted_trees_predict(tree_ensemble_handle: X, bucketized_features: S[X], *, logits_dimension: int, name: str = ...) -> Tensor:
    """BoostedTreesPredict: tree_ensemble_handle: resource, bucketized_features: int32 -> logits: float32."""
def boosted_trees_quantile_stream_resource_add_summaries(quantile_stream_resource_handle: X, summaries: S[X], *, name: str = ...) -> None:
    """BoostedTreesQuantileStreamResourceAddSummaries: quantile_stream_resource_handle: resource, summaries: float32 -> nothing."""
def boosted_trees_quantile_stream_resource_deserialize(quantile_stream_resource_handle: X, bucket_boundaries: S[X], *, name: str = ...) -> None:
    """BoostedTreesQuantileStreamResourceDeserialize: quantile_stream_resource_handle: resource, bucket_boundaries: float32 -> nothing."""
def boosted_trees_quantile_stream_resource_flush(quantile_stream_resource_handle: X, num_buckets: X, *, generate_quantiles: bool = ..., name: str = ...) -> None:
    """BoostedTreesQuantileStreamResourceFlush: quantile_stream_resource_handle: resource, num_buckets: int64 -> nothing."""
def boosted_trees_quantile_stream_resource_get_bucket_boundaries(quantile_stream_resource_handle: X, *, num_features: int, name: str = ...) -> S[Tensor]:
    """BoostedTreesQuantileStreamResourceGetBucketBoundaries: quantile_stream_resource_handle: resource -> bucket_boundaries: float32."""
def boosted_trees_quantile_stream_resource_handle_op(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """BoostedTreesQuantileStreamResourceHandleOp:  -> resource: resource."""
def boosted_trees_serialize_ensemble(tree_ensemble_handle: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """BoostedTreesSerializeEnsemble: tree_ensemble_handle: resource -> stamp_token: int64, tree_ensemble_serialized: string."""
def boosted_trees_sparse_aggregate_stats(node_ids: X, gradients: X, hessians: X, feature_indices: X, feature_values: X, feature_shape: X, *, max_splits: int, num_buckets: int, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """BoostedTreesSparseAggregateStats: node_ids: int32, gradients: float32, hessians: float32, feature_indices: int32, feature_values: int32, feature_shape: int32 -> stats_summary_indices: int32, stats_summary_values: float32, stats_summary_shape: int32."""
def boosted_trees_sparse_calculate_best_feature_split(node_id_range: X, stats_summary_indices: X, stats_summary_values: X, stats_summary_shape: X, l1: X, l2: X, tree_complexity: X, min_node_weight: X, *, logits_dimension: int, split_type: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """BoostedTreesSparseCalculateBestFeatureSplit: node_id_range: int32, stats_summary_indices: int32, stats_summary_values: float32, stats_summary_shape: int32, l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32 -> node_ids: int32, gains: float32, feature_dimensions: int32, thresholds: int32, left_node_contribs: float32, right_node_contribs: float32, split_with_default_directions: string."""
def boosted_trees_training_predict(tree_ensemble_handle: X, cached_tree_ids: X, cached_node_ids: X, bucketized_features: S[X], *, logits_dimension: int, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """BoostedTreesTrainingPredict: tree_ensemble_handle: resource, cached_tree_ids: int32, cached_node_ids: int32, bucketized_features: int32 -> partial_logits: float32, tree_ids: int32, node_ids: int32."""
def boosted_trees_update_ensemble(tree_ensemble_handle: X, feature_ids: X, node_ids: S[X], gains: S[X], thresholds: S[X], left_node_contribs: S[X], right_node_contribs: S[X], max_depth: X, learning_rate: X, *, pruning_mode: int, name: str = ...) -> None:
    """BoostedTreesUpdateEnsemble: tree_ensemble_handle: resource, feature_ids: int32, node_ids: int32, gains: float32, thresholds: int32, left_node_contribs: float32, right_node_contribs: float32, max_depth: int32, learning_rate: float32 -> nothing."""
def boosted_trees_update_ensemble_v2(tree_ensemble_handle: X, feature_ids: S[X], dimension_ids: S[X], node_ids: S[X], gains: S[X], thresholds: S[X], left_node_contribs: S[X], right_node_contribs: S[X], split_types: S[X], max_depth: X, learning_rate: X, pruning_mode: X, *, logits_dimension: int = ..., name: str = ...) -> None:
    """BoostedTreesUpdateEnsembleV2: tree_ensemble_handle: resource, feature_ids: int32, dimension_ids: int32, node_ids: int32, gains: float32, thresholds: int32, left_node_contribs: float32, right_node_contribs: float32, split_types: string, max_depth: int32, learning_rate: float32, pruning_mode: int32 -> nothing."""
def broadcast_args(s0: X, s1: X, *, name: str = ...) -> Tensor:
    """BroadcastArgs: s0: T, s1: T -> r0: T."""
def broadcast_gradient_args(s0: X, s1: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """BroadcastGradientArgs: s0: T, s1: T -> r0: T, r1: T."""
def broadcast_to(input: X, shape: X, *, name: str = ...) -> Tensor:
    """BroadcastTo: input: T, shape: Tidx -> output: T."""
def bucketize(input: X, *, boundaries: S[float], name: str = ...) -> Tensor:
    """Bucketize: input: T -> output: int32."""
def bytes_produced_stats_dataset(input_dataset: X, tag: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """BytesProducedStatsDataset: input_dataset: variant, tag: string -> handle: variant."""
def cache_dataset(input_dataset: X, filename: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """CacheDataset: input_dataset: variant, filename: string -> handle: variant."""
def cache_dataset_v2(input_dataset: X, filename: X, cache: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """CacheDatasetV2: input_dataset: variant, filename: string, cache: resource -> handle: variant."""
def calibration_statistics_saver(args: S[X], *, ids: S[str], calibration_methods: S[int], output_file_path: str, name: str = ...) -> None:
    """CalibrationStatisticsSaver: args: Tin -> nothing."""
def case(branch_index: X, input: S[X], *, Tout: S[Any], branches: S[Any], output_shapes: S[S[int | None] | None] = ..., name: str = ...) -> S[Tensor]:
    """Case: branch_index: int32, input: Tin -> output: Tout."""
def cast(x: X, *, DstT: Any, Truncate: bool = ..., name: str = ...) -> Tensor:
    """Cast: x: SrcT -> y: DstT."""
def ceil(x: X, *, name: str = ...) -> Tensor:
    """Ceil: x: T -> y: T."""
def check_numerics(tensor: X, *, message: str, name: str = ...) -> Tensor:
    """CheckNumerics: tensor: T -> output: T."""
def check_numerics_v2(tensor: X, *, message: str, name: str = ...) -> Tensor:
    """CheckNumericsV2: tensor: T -> output: T."""
def check_pinned(tensor: X, *, name: str = ...) -> Tensor:
    """CheckPinned: tensor: T -> output: T."""
def cholesky(input: X, *, name: str = ...) -> Tensor:
    """Cholesky: input: T -> output: T."""
def cholesky_grad(l: X, grad: X, *, name: str = ...) -> Tensor:
    """CholeskyGrad: l: T, grad: T -> output: T."""
def choose_fastest_branch_dataset(input_dataset: X, ratio_numerator: X, ratio_denominator: X, other_arguments: S[X], *, num_elements_per_branch: int, branches: S[Any], other_arguments_lengths: S[int], output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ChooseFastestBranchDataset: input_dataset: variant, ratio_numerator: int64, ratio_denominator: int64, other_arguments: Targuments -> handle: variant."""
def choose_fastest_dataset(input_datasets: S[X], *, num_experiments: int, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ChooseFastestDataset: input_datasets: variant -> handle: variant."""
def clip_by_value(t: X, clip_value_min: X, clip_value_max: X, *, name: str = ...) -> Tensor:
    """ClipByValue: t: T, clip_value_min: T, clip_value_max: T -> output: T."""
def close_summary_writer(writer: X, *, name: str = ...) -> None:
    """CloseSummaryWriter: writer: resource -> nothing."""
def collate_tpu_embedding_memory(memory_configs: S[X], *, name: str = ...) -> Tensor:
    """CollateTPUEmbeddingMemory: memory_configs: string -> merged_memory_config: string."""
def collective_all_to_all_v2(input: X, group_size: X, group_key: X, instance_key: X, ordering_token: S[X], *, communication_hint: str = ..., timeout_seconds: float = ..., is_stateless: bool = ..., name: str = ...) -> Tensor:
    """CollectiveAllToAllV2: input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: resource -> data: T."""
def collective_all_to_all_v3(input: X, communicator: X, group_assignment: X, *, timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveAllToAllV3: input: T, communicator: resource, group_assignment: int32 -> data: T."""
def collective_assign_group_v2(group_assignment: X, device_index: X, base_key: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """CollectiveAssignGroupV2: group_assignment: int32, device_index: int32, base_key: int32 -> group_size: int32, group_key: int32."""
def collective_bcast_recv(*, T: Any, group_size: int, group_key: int, instance_key: int, shape: S[int | None] | None, communication_hint: str = ..., timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveBcastRecv:  -> data: T."""
def collective_bcast_recv_v2(group_size: X, group_key: X, instance_key: X, shape: X, *, T: Any, communication_hint: str = ..., timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveBcastRecvV2: group_size: int32, group_key: int32, instance_key: int32, shape: Tshape -> data: T."""
def collective_bcast_send(input: X, *, group_size: int, group_key: int, instance_key: int, shape: S[int | None] | None, communication_hint: str = ..., timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveBcastSend: input: T -> data: T."""
def collective_bcast_send_v2(input: X, group_size: X, group_key: X, instance_key: X, *, communication_hint: str = ..., timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveBcastSendV2: input: T, group_size: int32, group_key: int32, instance_key: int32 -> data: T."""
def collective_gather(input: X, *, group_size: int, group_key: int, instance_key: int, shape: S[int | None] | None, communication_hint: str = ..., timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveGather: input: T -> data: T."""
def collective_gather_v2(input: X, group_size: X, group_key: X, instance_key: X, ordering_token: S[X], *, communication_hint: str = ..., timeout_seconds: float = ..., is_stateless: bool = ..., name: str = ...) -> Tensor:
    """CollectiveGatherV2: input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: resource -> data: T."""
def collective_initialize_communicator(group_key: X, rank: X, group_size: X, *, communication_hint: str = ..., timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveInitializeCommunicator: group_key: int32, rank: int32, group_size: int32 -> communicator: resource."""
def collective_permute(input: X, source_target_pairs: X, *, name: str = ...) -> Tensor:
    """CollectivePermute: input: T, source_target_pairs: int32 -> output: T."""
def collective_reduce(input: X, *, group_size: int, group_key: int, instance_key: int, merge_op: str, final_op: str, subdiv_offsets: S[int], wait_for: S[int] = ..., communication_hint: str = ..., timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveReduce: input: T -> data: T."""
def collective_reduce_scatter_v2(input: X, group_size: X, group_key: X, instance_key: X, ordering_token: S[X], *, merge_op: str, final_op: str, communication_hint: str = ..., timeout_seconds: float = ..., is_stateless: bool = ..., max_subdivs_per_device: int = ..., name: str = ...) -> Tensor:
    """CollectiveReduceScatterV2: input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: resource -> data: T."""
def collective_reduce_v2(input: X, group_size: X, group_key: X, instance_key: X, ordering_token: S[X], *, merge_op: str, final_op: str, communication_hint: str = ..., timeout_seconds: float = ..., is_stateless: bool = ..., max_subdivs_per_device: int = ..., name: str = ...) -> Tensor:
    """CollectiveReduceV2: input: T, group_size: int32, group_key: int32, instance_key: int32, ordering_token: resource -> data: T."""
def collective_reduce_v3(input: X, communicator: X, group_assignment: X, *, reduction: str, timeout_seconds: float = ..., name: str = ...) -> Tensor:
    """CollectiveReduceV3: input: T, communicator: resource, group_assignment: int32 -> data: T."""
def combined_non_max_suppression(boxes: X, scores: X, max_output_size_per_class: X, max_total_size: X, iou_threshold: X, score_threshold: X, *, pad_per_class: bool = ..., clip_boxes: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CombinedNonMaxSuppression: boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, iou_threshold: float32, score_threshold: float32 -> nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32."""
def complex(real: X, imag: X, *, Tout: Any = ..., name: str = ...) -> Tensor:
    """Complex: real: T, imag: T -> out: Tout."""
def complex_abs(x: X, *, Tout: Any = ..., name: str = ...) -> Tensor:
    """ComplexAbs: x: T -> y: Tout."""
def complex_struct(*, n_a: int, n_b: int, t_c: S[Any], name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor]]:
    """ComplexStruct:  -> a: int32, b: int64, c: t_c."""
def composite_tensor_variant_from_components(components: S[X], *, metadata: str, name: str = ...) -> Tensor:
    """CompositeTensorVariantFromComponents: components: Tcomponents -> encoded: variant."""
def composite_tensor_variant_to_components(encoded: X, *, metadata: str, Tcomponents: S[Any], name: str = ...) -> S[Tensor]:
    """CompositeTensorVariantToComponents: encoded: variant -> components: Tcomponents."""
def compress_element(components: S[X], *, name: str = ...) -> Tensor:
    """CompressElement: components: input_types -> compressed: variant."""
def compute_accidental_hits(true_classes: X, sampled_candidates: X, *, num_true: int, seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """ComputeAccidentalHits: true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float32."""
def compute_batch_size(input_dataset: X, *, name: str = ...) -> Tensor:
    """ComputeBatchSize: input_dataset: variant -> batch_size: int64."""
def compute_dedup_data_size(*, config: str, name: str = ...) -> Tensor:
    """ComputeDedupDataSize:  -> num_elements: int32."""
def compute_dedup_data_size_v2(*, config: str, embedding_partitions: str, hbm_buffers_config: str, tpu_topology: str, name: str = ...) -> Tensor:
    """ComputeDedupDataSizeV2:  -> num_elements: int32."""
def compute_dedup_data_tuple_mask(*, config: str, name: str = ...) -> Tensor:
    """ComputeDedupDataTupleMask:  -> output_shape: int32."""
def compute_dedup_data_tuple_mask_v2(*, config: str, embedding_partitions: str, hbm_buffers_config: str, tpu_topology: str, name: str = ...) -> Tensor:
    """ComputeDedupDataTupleMaskV2:  -> output_shape: int32."""
def concat(concat_dim: X, values: S[X], *, name: str = ...) -> Tensor:
    """Concat: concat_dim: int32, values: T -> output: T."""
def concat_offset(concat_dim: X, shape: S[X], *, name: str = ...) -> S[Tensor]:
    """ConcatOffset: concat_dim: int32, shape: shape_type -> offset: shape_type."""
def concat_v2(values: S[X], axis: X, *, name: str = ...) -> Tensor:
    """ConcatV2: values: T, axis: Tidx -> output: T."""
def concatenate_dataset(input_dataset: X, another_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """ConcatenateDataset: input_dataset: variant, another_dataset: variant -> handle: variant."""
def conditional_accumulator(*, dtype: Any, shape: S[int | None] | None, container: str = ..., shared_name: str = ..., reduction_type: str = ..., name: str = ...) -> Tensor:
    """ConditionalAccumulator:  -> handle: string."""
def configure_and_initialize_global_tpu(*, use_tfrt_host_runtime: bool = ..., name: str = ...) -> Tensor:
    """ConfigureAndInitializeGlobalTPU:  -> output: int32."""
def configure_distributed_tpu(*, embedding_config: str = ..., tpu_embedding_config: str = ..., is_global_init: bool = ..., enable_whole_mesh_compilations: bool = ..., compilation_failure_closes_chips: bool = ..., tpu_cancellation_closes_chips: int = ..., name: str = ...) -> Tensor:
    """ConfigureDistributedTPU:  -> topology: string."""
def configure_tpu_embedding(*, config: str, name: str = ...) -> None:
    """ConfigureTPUEmbedding:  -> nothing."""
def configure_tpu_embedding_host(common_config: X, memory_config: X, *, config: str, name: str = ...) -> Tensor:
    """ConfigureTPUEmbeddingHost: common_config: string, memory_config: string -> network_config: string."""
def configure_tpu_embedding_memory(common_config: X, *, name: str = ...) -> Tensor:
    """ConfigureTPUEmbeddingMemory: common_config: string -> memory_config: string."""
def conj(input: X, *, name: str = ...) -> Tensor:
    """Conj: input: T -> output: T."""
def conjugate_transpose(x: X, perm: X, *, name: str = ...) -> Tensor:
    """ConjugateTranspose: x: T, perm: Tperm -> y: T."""
def connect_tpu_embedding_hosts(network_configs: S[X], *, name: str = ...) -> None:
    """ConnectTPUEmbeddingHosts: network_configs: string -> nothing."""
def const(*, value: Any, dtype: Any, name: str = ...) -> Tensor:
    """Const:  -> output: dtype."""
def construction_fails(*, name: str = ...) -> None:
    """ConstructionFails:  -> nothing."""
def consume_mutex_lock(mutex_lock: X, *, name: str = ...) -> None:
    """ConsumeMutexLock: mutex_lock: variant -> nothing."""
def control_trigger(*, name: str = ...) -> None:
    """ControlTrigger:  -> nothing."""
def conv(input: X, filter: X, *, strides: S[int], padding: str, explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., batch_dims: int = ..., groups: int = ..., name: str = ...) -> Tensor:
    """Conv: input: T, filter: T -> output: T."""
def conv2d(input: X, filter: X, *, strides: S[int], padding: str, use_cudnn_on_gpu: bool = ..., explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv2D: input: T, filter: T -> output: T."""
def conv2d_backprop_filter(input: X, filter_sizes: X, out_backprop: X, *, strides: S[int], padding: str, use_cudnn_on_gpu: bool = ..., explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv2DBackpropFilter: input: T, filter_sizes: int32, out_backprop: T -> output: T."""
def conv2d_backprop_filter_v2(input: X, filter: X, out_backprop: X, *, strides: S[int], padding: str, use_cudnn_on_gpu: bool = ..., explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv2DBackpropFilterV2: input: T, filter: T, out_backprop: T -> output: T."""
def conv2d_backprop_input(input_sizes: X, filter: X, out_backprop: X, *, strides: S[int], padding: str, use_cudnn_on_gpu: bool = ..., explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv2DBackpropInput: input_sizes: int32, filter: T, out_backprop: T -> output: T."""
def conv2d_backprop_input_v2(input: X, filter: X, out_backprop: X, *, strides: S[int], padding: str, use_cudnn_on_gpu: bool = ..., explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv2DBackpropInputV2: input: T, filter: T, out_backprop: T -> output: T."""
def conv3d(input: X, filter: X, *, strides: S[int], padding: str, data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv3D: input: T, filter: T -> output: T."""
def conv3d_backprop_filter(input: X, filter: X, out_backprop: X, *, strides: S[int], padding: str, dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv3DBackpropFilter: input: T, filter: T, out_backprop: T -> output: T."""
def conv3d_backprop_filter_v2(input: X, filter_sizes: X, out_backprop: X, *, strides: S[int], padding: str, data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv3DBackpropFilterV2: input: T, filter_sizes: int32, out_backprop: T -> output: T."""
def conv3d_backprop_input(input: X, filter: X, out_backprop: X, *, strides: S[int], padding: str, dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv3DBackpropInput: input: T, filter: T, out_backprop: T -> output: T."""
def conv3d_backprop_input_v2(input_sizes: X, filter: X, out_backprop: X, *, strides: S[int], padding: str, data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """Conv3DBackpropInputV2: input_sizes: Tshape, filter: T, out_backprop: T -> output: T."""
def convert_to_coo_tensor(indices_or_row_splits: X, values: X, weights: X, *, sample_count: int, combiner: str, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """ConvertToCooTensor: indices_or_row_splits: int32, values: int32, weights: float32 -> row_ids: int32, col_ids: int32, gains: float32."""
def convert_to_list_of_sparse_core_coo_tensors(indices_or_row_splits: X, values: X, weights: X, *, sample_count: int, num_sc_per_chip: int, row_offset: int, col_offset: int, col_shift: int, num_sc_shards: int, stacked_table_sample_count: int, combiner: str, name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor]]:
    """ConvertToListOfSparseCoreCooTensors: indices_or_row_splits: int32, values: int32, weights: float32 -> row_ids_list: int32, col_ids_list: int32, gains_list: float32."""
def convert_to_sparse_core_csr_wrapped_coo_tensor(sorted_row_ids_list: S[X], sorted_col_ids_list: S[X], sorted_gains_list: S[X], id_counts_list: S[X], splits: X, *, sample_count_per_sc: int, num_replica: int, max_minibatches_per_sc: int, max_ids_per_chip_per_sample: int, table_vocab_size: int, feature_width: int, table_name: str, allow_id_dropping: bool, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """ConvertToSparseCoreCsrWrappedCooTensor: sorted_row_ids_list: int32, sorted_col_ids_list: int32, sorted_gains_list: float32, id_counts_list: int32, splits: int64 -> row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, row_pointers_unpadded_size: int32, ids_unpadded_size: int32, num_minibatches_per_sc: int32."""
def copy(input: X, *, tensor_name: str = ..., debug_ops_spec: S[str] = ..., name: str = ...) -> Tensor:
    """Copy: input: T -> output: T."""
def copy_host(input: X, *, tensor_name: str = ..., debug_ops_spec: S[str] = ..., name: str = ...) -> Tensor:
    """CopyHost: input: T -> output: T."""
def copy_op(a: X, *, name: str = ...) -> Tensor:
    """CopyOp: a: T -> b: T."""
def copy_to_mesh(input: X, *, mesh: str, name: str = ...) -> Tensor:
    """CopyToMesh: input: T -> output: T."""
def copy_to_mesh_grad(input: X, forward_input: X, *, name: str = ...) -> Tensor:
    """CopyToMeshGrad: input: T, forward_input: T -> output: T."""
def cos(x: X, *, name: str = ...) -> Tensor:
    """Cos: x: T -> y: T."""
def cosh(x: X, *, name: str = ...) -> Tensor:
    """Cosh: x: T -> y: T."""
def count_up_to(ref: X, *, limit: int, name: str = ...) -> Tensor:
    """CountUpTo: ref: T -> output: T."""
def create_summary_db_writer(writer: X, db_uri: X, experiment_name: X, run_name: X, user_name: X, *, name: str = ...) -> None:
    """CreateSummaryDbWriter: writer: resource, db_uri: string, experiment_name: string, run_name: string, user_name: string -> nothing."""
def create_summary_file_writer(writer: X, logdir: X, max_queue: X, flush_millis: X, filename_suffix: X, *, name: str = ...) -> None:
    """CreateSummaryFileWriter: writer: resource, logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string -> nothing."""
def crop_and_resize(image: X, boxes: X, box_ind: X, crop_size: X, *, method: str = ..., extrapolation_value: float = ..., name: str = ...) -> Tensor:
    """CropAndResize: image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32."""
def crop_and_resize_grad_boxes(grads: X, image: X, boxes: X, box_ind: X, *, method: str = ..., name: str = ...) -> Tensor:
    """CropAndResizeGradBoxes: grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32."""
def crop_and_resize_grad_image(grads: X, boxes: X, box_ind: X, image_size: X, *, T: Any, method: str = ..., name: str = ...) -> Tensor:
    """CropAndResizeGradImage: grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T."""
def cross(a: X, b: X, *, name: str = ...) -> Tensor:
    """Cross: a: T, b: T -> product: T."""
def cross_replica_sum(input: X, group_assignment: X, *, name: str = ...) -> Tensor:
    """CrossReplicaSum: input: T, group_assignment: int32 -> output: T."""
def csr_sparse_matrix_components(csr_sparse_matrix: X, index: X, *, type: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """CSRSparseMatrixComponents: csr_sparse_matrix: variant, index: int32 -> row_ptrs: int32, col_inds: int32, values: type."""
def csr_sparse_matrix_to_dense(sparse_input: X, *, type: Any, name: str = ...) -> Tensor:
    """CSRSparseMatrixToDense: sparse_input: variant -> dense_output: type."""
def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: X, *, type: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """CSRSparseMatrixToSparseTensor: sparse_matrix: variant -> indices: int64, values: type, dense_shape: int64."""
def csv_dataset(filenames: X, compression_type: X, buffer_size: X, header: X, field_delim: X, use_quote_delim: X, na_value: X, select_cols: X, record_defaults: S[X], *, output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """CSVDataset: filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types -> handle: variant."""
def csv_dataset_v2(filenames: X, compression_type: X, buffer_size: X, header: X, field_delim: X, use_quote_delim: X, na_value: X, select_cols: X, record_defaults: S[X], exclude_cols: X, *, output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """CSVDatasetV2: filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types, exclude_cols: int64 -> handle: variant."""
def ctc_beam_search_decoder(inputs: X, sequence_length: X, *, beam_width: int, top_paths: int, merge_repeated: bool = ..., name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], Tensor]:
    """CTCBeamSearchDecoder: inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T."""
def ctc_greedy_decoder(inputs: X, sequence_length: X, *, merge_repeated: bool = ..., blank_index: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CTCGreedyDecoder: inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T."""
def ctc_loss(inputs: X, labels_indices: X, labels_values: X, sequence_length: X, *, preprocess_collapse_repeated: bool = ..., ctc_merge_repeated: bool = ..., ignore_longer_outputs_than_inputs: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """CTCLoss: inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T."""
def ctc_loss_v2(inputs: X, labels_indices: X, labels_values: X, sequence_length: X, *, preprocess_collapse_repeated: bool = ..., ctc_merge_repeated: bool = ..., ignore_longer_outputs_than_inputs: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """CTCLossV2: inputs: float32, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: float32, gradient: float32."""
def cudnn_rnn(input: X, input_h: X, input_c: X, params: X, *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CudnnRNN: input: T, input_h: T, input_c: T, params: T -> output: T, output_h: T, output_c: T, reserve_space: T."""
def cudnn_rnn_backprop(input: X, input_h: X, input_c: X, params: X, output: X, output_h: X, output_c: X, output_backprop: X, output_h_backprop: X, output_c_backprop: X, reserve_space: X, *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CudnnRNNBackprop: input: T, input_h: T, input_c: T, params: T, output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T, reserve_space: T -> input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T."""
def cudnn_rnn_backprop_v2(input: X, input_h: X, input_c: X, params: X, output: X, output_h: X, output_c: X, output_backprop: X, output_h_backprop: X, output_c_backprop: X, reserve_space: X, host_reserved: X, *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CudnnRNNBackpropV2: input: T, input_h: T, input_c: T, params: T, output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T, reserve_space: T, host_reserved: int8 -> input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T."""
def cudnn_rnn_backprop_v3(input: X, input_h: X, input_c: X, params: X, sequence_lengths: X, output: X, output_h: X, output_c: X, output_backprop: X, output_h_backprop: X, output_c_backprop: X, reserve_space: X, host_reserved: X, *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., num_proj: int = ..., time_major: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CudnnRNNBackpropV3: input: T, input_h: T, input_c: T, params: T, sequence_lengths: int32, output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T, reserve_space: T, host_reserved: int8 -> input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T."""
def cudnn_rnn_canonical_to_params(num_layers: X, num_units: X, input_size: X, weights: S[X], biases: S[X], *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """CudnnRNNCanonicalToParams: num_layers: int32, num_units: int32, input_size: int32, weights: T, biases: T -> params: T."""
def cudnn_rnn_canonical_to_params_v2(num_layers: X, num_units: X, input_size: X, weights: S[X], biases: S[X], *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., num_proj: int = ..., name: str = ...) -> Tensor:
    """CudnnRNNCanonicalToParamsV2: num_layers: int32, num_units: int32, input_size: int32, weights: T, biases: T -> params: T."""
def cudnn_rnn_params_size(num_layers: X, num_units: X, input_size: X, *, T: Any, S: Any, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., num_proj: int = ..., name: str = ...) -> Tensor:
    """CudnnRNNParamsSize: num_layers: int32, num_units: int32, input_size: int32 -> params_size: S."""
def cudnn_rnn_params_to_canonical(num_layers: X, num_units: X, input_size: X, params: X, *, num_params: int, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[S[Tensor], S[Tensor]]:
    """CudnnRNNParamsToCanonical: num_layers: int32, num_units: int32, input_size: int32, params: T -> weights: T, biases: T."""
def cudnn_rnn_params_to_canonical_v2(num_layers: X, num_units: X, input_size: X, params: X, *, num_params_weights: int, num_params_biases: int, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., num_proj: int = ..., name: str = ...) -> tuple[S[Tensor], S[Tensor]]:
    """CudnnRNNParamsToCanonicalV2: num_layers: int32, num_units: int32, input_size: int32, params: T -> weights: T, biases: T."""
def cudnn_rnn_v2(input: X, input_h: X, input_c: X, params: X, *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """CudnnRNNV2: input: T, input_h: T, input_c: T, params: T -> output: T, output_h: T, output_c: T, reserve_space: T, host_reserved: int8."""
def cudnn_rnn_v3(input: X, input_h: X, input_c: X, params: X, sequence_lengths: X, *, rnn_mode: str = ..., input_mode: str = ..., direction: str = ..., dropout: float = ..., seed: int = ..., seed2: int = ..., num_proj: int = ..., is_training: bool = ..., time_major: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """CudnnRNNV3: input: T, input_h: T, input_c: T, params: T, sequence_lengths: int32 -> output: T, output_h: T, output_c: T, reserve_space: T, host_reserved: int8."""
def cumprod(x: X, axis: X, *, exclusive: bool = ..., reverse: bool = ..., name: str = ...) -> Tensor:
    """Cumprod: x: T, axis: Tidx -> out: T."""
def cumsum(x: X, axis: X, *, exclusive: bool = ..., reverse: bool = ..., name: str = ...) -> Tensor:
    """Cumsum: x: T, axis: Tidx -> out: T."""
def cumulative_logsumexp(x: X, axis: X, *, exclusive: bool = ..., reverse: bool = ..., name: str = ...) -> Tensor:
    """CumulativeLogsumexp: x: T, axis: Tidx -> out: T."""
def custom_aggregator(input: X, *, id: str, calibration_method: int = ..., num_bins: int = ..., min_percentile: float = ..., max_percentile: float = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CustomAggregator: input: float32 -> output: float32, min: float32, max: float32, histogram: int64."""
def d_tensor_all_gather(input: X, *, input_layout: str, output_layout: str, name: str = ...) -> Tensor:
    """DTensorAllGather: input: T -> output: T."""
def d_tensor_all_reduce(input: X, group_assignment: X, *, reduce_op: str, device_type: str, name: str = ...) -> Tensor:
    """DTensorAllReduce: input: T, group_assignment: int32 -> output: T."""
def d_tensor_all_scatter(input: X, *, input_layout: str, output_layout: str, name: str = ...) -> Tensor:
    """DTensorAllScatter: input: T -> output: T."""
def d_tensor_all_to_all(input: X, *, input_layout: str, output_layout: str, name: str = ...) -> Tensor:
    """DTensorAllToAll: input: T -> output: T."""
def d_tensor_reduce_scatter(input: X, group_assignment: X, scatter_dimension: X, *, reduce_op: str, device_type: str, name: str = ...) -> Tensor:
    """DTensorReduceScatter: input: T, group_assignment: int32, scatter_dimension: int32 -> output: T."""
def d_tensor_restore_v2(prefix: X, tensor_names: X, shape_and_slices: X, *, input_shapes: S[S[int | None] | None], input_layouts: S[str], dtypes: S[Any], name: str = ...) -> S[Tensor]:
    """DTensorRestoreV2: prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes."""
def d_tensor_set_global_tpu_array(topology: X, *, name: str = ...) -> None:
    """DTensorSetGlobalTPUArray: topology: string -> nothing."""
def data_format_dim_map(x: X, *, src_format: str = ..., dst_format: str = ..., name: str = ...) -> Tensor:
    """DataFormatDimMap: x: T -> y: T."""
def data_format_vec_permute(x: X, *, src_format: str = ..., dst_format: str = ..., name: str = ...) -> Tensor:
    """DataFormatVecPermute: x: T -> y: T."""
def data_service_dataset(dataset_id: X, processing_mode: X, address: X, protocol: X, job_name: X, max_outstanding_requests: X, iteration_counter: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], task_refresh_interval_hint_ms: int = ..., data_transfer_protocol: str = ..., target_workers: str = ..., cross_trainer_cache_options: str = ..., name: str = ...) -> Tensor:
    """DataServiceDataset: dataset_id: int64, processing_mode: string, address: string, protocol: string, job_name: string, max_outstanding_requests: int64, iteration_counter: resource -> handle: variant."""
def data_service_dataset_v2(dataset_id: X, processing_mode: X, address: X, protocol: X, job_name: X, consumer_index: X, num_consumers: X, max_outstanding_requests: X, iteration_counter: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], task_refresh_interval_hint_ms: int = ..., data_transfer_protocol: str = ..., target_workers: str = ..., cross_trainer_cache_options: str = ..., name: str = ...) -> Tensor:
    """DataServiceDatasetV2: dataset_id: int64, processing_mode: string, address: string, protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, max_outstanding_requests: int64, iteration_counter: resource -> handle: variant."""
def data_service_dataset_v3(dataset_id: X, processing_mode: X, address: X, protocol: X, job_name: X, consumer_index: X, num_consumers: X, max_outstanding_requests: X, iteration_counter: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], uncompress_fn: Any, task_refresh_interval_hint_ms: int = ..., data_transfer_protocol: str = ..., target_workers: str = ..., uncompress: bool = ..., cross_trainer_cache_options: str = ..., name: str = ...) -> Tensor:
    """DataServiceDatasetV3: dataset_id: int64, processing_mode: string, address: string, protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, max_outstanding_requests: int64, iteration_counter: resource -> handle: variant."""
def data_service_dataset_v4(dataset_id: X, processing_mode: X, address: X, protocol: X, job_name: X, consumer_index: X, num_consumers: X, max_outstanding_requests: X, iteration_counter: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], uncompress_fn: Any, task_refresh_interval_hint_ms: int = ..., data_transfer_protocol: str = ..., target_workers: str = ..., uncompress: bool = ..., cross_trainer_cache_options: str = ..., name: str = ...) -> Tensor:
    """DataServiceDatasetV4: dataset_id: string, processing_mode: string, address: string, protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, max_outstanding_requests: int64, iteration_counter: resource -> handle: variant."""
def dataset_cardinality(input_dataset: X, *, cardinality_options: str = ..., name: str = ...) -> Tensor:
    """DatasetCardinality: input_dataset: variant -> cardinality: int64."""
def dataset_fingerprint(input_dataset: X, *, name: str = ...) -> Tensor:
    """DatasetFingerprint: input_dataset: variant -> fingerprint: uint64."""
def dataset_from_graph(graph_def: X, *, name: str = ...) -> Tensor:
    """DatasetFromGraph: graph_def: string -> handle: variant."""
def dataset_to_graph(input_dataset: X, *, stateful_whitelist: S[str] = ..., allow_stateful: bool = ..., strip_device_assignment: bool = ..., name: str = ...) -> Tensor:
    """DatasetToGraph: input_dataset: variant -> graph: string."""
def dataset_to_graph_v2(input_dataset: X, *, external_state_policy: int = ..., strip_device_assignment: bool = ..., name: str = ...) -> Tensor:
    """DatasetToGraphV2: input_dataset: variant -> graph: string."""
def dataset_to_single_element(dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> S[Tensor]:
    """DatasetToSingleElement: dataset: variant -> components: output_types."""
def dataset_to_tf_record(input_dataset: X, filename: X, compression_type: X, *, name: str = ...) -> None:
    """DatasetToTFRecord: input_dataset: variant, filename: string, compression_type: string -> nothing."""
def dawsn(x: X, *, name: str = ...) -> Tensor:
    """Dawsn: x: T -> y: T."""
def debug_gradient_identity(input: X, *, name: str = ...) -> Tensor:
    """DebugGradientIdentity: input: T -> output: T."""
def debug_gradient_ref_identity(input: X, *, name: str = ...) -> Tensor:
    """DebugGradientRefIdentity: input: T -> output: T."""
def debug_identity(input: X, *, device_name: str = ..., tensor_name: str = ..., debug_urls: S[str] = ..., gated_grpc: bool = ..., name: str = ...) -> Tensor:
    """DebugIdentity: input: T -> output: T."""
def debug_identity_v2(input: X, *, tfdbg_context_id: str = ..., op_name: str = ..., output_slot: int = ..., tensor_debug_mode: int = ..., debug_urls: S[str] = ..., circular_buffer_size: int = ..., tfdbg_run_id: str = ..., name: str = ...) -> Tensor:
    """DebugIdentityV2: input: T -> output: T."""
def debug_identity_v3(input: X, *, device_name: str = ..., tensor_name: str = ..., io_of_node: str = ..., is_input: bool = ..., io_index: int = ..., debug_urls: S[str] = ..., gated_grpc: bool = ..., name: str = ...) -> Tensor:
    """DebugIdentityV3: input: T -> output: T."""
def debug_nan_count(input: X, *, device_name: str = ..., tensor_name: str = ..., debug_urls: S[str] = ..., gated_grpc: bool = ..., name: str = ...) -> Tensor:
    """DebugNanCount: input: T -> output: int64."""
def debug_numeric_summary(input: X, *, device_name: str = ..., tensor_name: str = ..., debug_urls: S[str] = ..., lower_bound: float = ..., upper_bound: float = ..., mute_if_healthy: bool = ..., gated_grpc: bool = ..., name: str = ...) -> Tensor:
    """DebugNumericSummary: input: T -> output: float64."""
def debug_numeric_summary_v2(input: X, *, output_dtype: Any = ..., tensor_debug_mode: int = ..., tensor_id: int = ..., name: str = ...) -> Tensor:
    """DebugNumericSummaryV2: input: T -> output: output_dtype."""
def decode_and_crop_jpeg(contents: X, crop_window: X, *, channels: int = ..., ratio: int = ..., fancy_upscaling: bool = ..., try_recover_truncated: bool = ..., acceptable_fraction: float = ..., dct_method: str = ..., name: str = ...) -> Tensor:
    """DecodeAndCropJpeg: contents: string, crop_window: int32 -> image: uint8."""
def decode_base64(input: X, *, name: str = ...) -> Tensor:
    """DecodeBase64: input: string -> output: string."""
def decode_bmp(contents: X, *, channels: int = ..., name: str = ...) -> Tensor:
    """DecodeBmp: contents: string -> image: uint8."""
def decode_compressed(bytes: X, *, compression_type: str = ..., name: str = ...) -> Tensor:
    """DecodeCompressed: bytes: string -> output: string."""
def decode_csv(records: X, record_defaults: S[X], *, field_delim: str = ..., use_quote_delim: bool = ..., na_value: str = ..., select_cols: S[int] = ..., name: str = ...) -> S[Tensor]:
    """DecodeCSV: records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE."""
def decode_gif(contents: X, *, name: str = ...) -> Tensor:
    """DecodeGif: contents: string -> image: uint8."""
def decode_image(contents: X, *, channels: int = ..., dtype: Any = ..., expand_animations: bool = ..., name: str = ...) -> Tensor:
    """DecodeImage: contents: string -> image: dtype."""
def decode_jpeg(contents: X, *, channels: int = ..., ratio: int = ..., fancy_upscaling: bool = ..., try_recover_truncated: bool = ..., acceptable_fraction: float = ..., dct_method: str = ..., name: str = ...) -> Tensor:
    """DecodeJpeg: contents: string -> image: uint8."""
def decode_json_example(json_examples: X, *, name: str = ...) -> Tensor:
    """DecodeJSONExample: json_examples: string -> binary_examples: string."""
def decode_jxl(contents: X, *, channels: int = ..., dtype: Any = ..., name: str = ...) -> Tensor:
    """DecodeJxl: contents: string -> image: dtype."""
def decode_padded_raw(input_bytes: X, fixed_length: X, *, out_type: Any, little_endian: bool = ..., name: str = ...) -> Tensor:
    """DecodePaddedRaw: input_bytes: string, fixed_length: int32 -> output: out_type."""
def decode_png(contents: X, *, channels: int = ..., dtype: Any = ..., name: str = ...) -> Tensor:
    """DecodePng: contents: string -> image: dtype."""
def decode_proto_v2(bytes: X, *, message_type: str, field_names: S[str], output_types: S[Any], descriptor_source: str = ..., message_format: str = ..., sanitize: bool = ..., name: str = ...) -> tuple[Tensor, S[Tensor]]:
    """DecodeProtoV2: bytes: string -> sizes: int32, values: output_types."""
def decode_raw(bytes: X, *, out_type: Any, little_endian: bool = ..., name: str = ...) -> Tensor:
    """DecodeRaw: bytes: string -> output: out_type."""
def decode_wav(contents: X, *, desired_channels: int = ..., desired_samples: int = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """DecodeWav: contents: string -> audio: float32, sample_rate: int32."""
def decode_web_p(contents: X, *, channels: int = ..., dtype: Any = ..., name: str = ...) -> Tensor:
    """DecodeWebP: contents: string -> image: dtype."""
def deep_copy(x: X, *, name: str = ...) -> Tensor:
    """DeepCopy: x: T -> y: T."""
def default_attrs(*, string_val: str = ..., string_list_val: S[str] = ..., int_val: int = ..., int_list_val: S[int] = ..., float_val: float = ..., float_list_val: S[float] = ..., bool_val: bool = ..., bool_list_val: S[bool] = ..., type_val: Any = ..., type_list_val: S[Any] = ..., shape_val: S[int | None] | None = ..., shape_list_val: S[S[int | None] | None] = ..., tensor_val: Any = ..., tensor_list_val: S[Any] = ..., name: str = ...) -> None:
    """DefaultAttrs:  -> nothing."""
def delete_iterator(handle: X, deleter: X, *, name: str = ...) -> None:
    """DeleteIterator: handle: resource, deleter: variant -> nothing."""
def delete_memory_cache(handle: X, deleter: X, *, name: str = ...) -> None:
    """DeleteMemoryCache: handle: resource, deleter: variant -> nothing."""
def delete_multi_device_iterator(multi_device_iterator: X, iterators: S[X], deleter: X, *, name: str = ...) -> None:
    """DeleteMultiDeviceIterator: multi_device_iterator: resource, iterators: resource, deleter: variant -> nothing."""
def delete_random_seed_generator(handle: X, deleter: X, *, name: str = ...) -> None:
    """DeleteRandomSeedGenerator: handle: resource, deleter: variant -> nothing."""
def delete_rpc_future_resource(handle: X, deleter: X, *, name: str = ...) -> None:
    """DeleteRpcFutureResource: handle: resource, deleter: variant -> nothing."""
def delete_seed_generator(handle: X, deleter: X, *, name: str = ...) -> None:
    """DeleteSeedGenerator: handle: resource, deleter: variant -> nothing."""
def delete_session_tensor(handle: X, *, name: str = ...) -> None:
    """DeleteSessionTensor: handle: string -> nothing."""
def dense_bincount(input: X, size: X, weights: X, *, binary_output: bool = ..., name: str = ...) -> Tensor:
    """DenseBincount: input: Tidx, size: Tidx, weights: T -> output: T."""
def dense_count_sparse_output(values: X, weights: X, *, binary_output: bool, minlength: int = ..., maxlength: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """DenseCountSparseOutput: values: T, weights: output_type -> output_indices: int64, output_values: output_type, output_dense_shape: int64."""
def dense_to_csr_sparse_matrix(dense_input: X, indices: X, *, name: str = ...) -> Tensor:
    """DenseToCSRSparseMatrix: dense_input: T, indices: int64 -> sparse_output: variant."""
def dense_to_dense_set_operation(set1: X, set2: X, *, set_operation: str, validate_indices: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """DenseToDenseSetOperation: set1: T, set2: T -> result_indices: int64, result_values: T, result_shape: int64."""
def dense_to_sparse_batch_dataset(input_dataset: X, batch_size: X, row_shape: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """DenseToSparseBatchDataset: input_dataset: variant, batch_size: int64, row_shape: int64 -> handle: variant."""
def dense_to_sparse_set_operation(set1: X, set2_indices: X, set2_values: X, set2_shape: X, *, set_operation: str, validate_indices: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """DenseToSparseSetOperation: set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> result_indices: int64, result_values: T, result_shape: int64."""
def depth_to_space(input: X, *, block_size: int, data_format: str = ..., name: str = ...) -> Tensor:
    """DepthToSpace: input: T -> output: T."""
def depthwise_conv2d_native(input: X, filter: X, *, strides: S[int], padding: str, explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """DepthwiseConv2dNative: input: T, filter: T -> output: T."""
def depthwise_conv2d_native_backprop_filter(input: X, filter_sizes: X, out_backprop: X, *, strides: S[int], padding: str, explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """DepthwiseConv2dNativeBackpropFilter: input: T, filter_sizes: int32, out_backprop: T -> output: T."""
def depthwise_conv2d_native_backprop_input(input_sizes: X, filter: X, out_backprop: X, *, strides: S[int], padding: str, explicit_paddings: S[int] = ..., data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """DepthwiseConv2dNativeBackpropInput: input_sizes: int32, filter: T, out_backprop: T -> output: T."""
def dequantize(input: X, min_range: X, max_range: X, *, mode: str = ..., narrow_range: bool = ..., axis: int = ..., dtype: Any = ..., name: str = ...) -> Tensor:
    """Dequantize: input: T, min_range: float32, max_range: float32 -> output: dtype."""
def deserialize_iterator(resource_handle: X, serialized: X, *, name: str = ...) -> None:
    """DeserializeIterator: resource_handle: resource, serialized: variant -> nothing."""
def deserialize_many_sparse(serialized_sparse: X, *, dtype: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """DeserializeManySparse: serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64."""
def deserialize_sparse(serialized_sparse: X, *, dtype: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """DeserializeSparse: serialized_sparse: Tserialized -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64."""
def destroy_resource_op(resource: X, *, ignore_lookup_error: bool = ..., name: str = ...) -> None:
    """DestroyResourceOp: resource: resource -> nothing."""
def destroy_temporary_variable(ref: X, *, var_name: str, name: str = ...) -> Tensor:
    """DestroyTemporaryVariable: ref: T -> value: T."""
def device_index(*, device_names: S[str], name: str = ...) -> Tensor:
    """DeviceIndex:  -> index: int32."""
def device_placement_op(*, name: str = ...) -> Tensor:
    """DevicePlacementOp:  -> device: string."""
def diag(diagonal: X, *, name: str = ...) -> Tensor:
    """Diag: diagonal: T -> output: T."""
def diag_part(input: X, *, name: str = ...) -> Tensor:
    """DiagPart: input: T -> diagonal: T."""
def digamma(x: X, *, name: str = ...) -> Tensor:
    """Digamma: x: T -> y: T."""
def dilation2d(input: X, filter: X, *, strides: S[int], rates: S[int], padding: str, name: str = ...) -> Tensor:
    """Dilation2D: input: T, filter: T -> output: T."""
def dilation2d_backprop_filter(input: X, filter: X, out_backprop: X, *, strides: S[int], rates: S[int], padding: str, name: str = ...) -> Tensor:
    """Dilation2DBackpropFilter: input: T, filter: T, out_backprop: T -> filter_backprop: T."""
def dilation2d_backprop_input(input: X, filter: X, out_backprop: X, *, strides: S[int], rates: S[int], padding: str, name: str = ...) -> Tensor:
    """Dilation2DBackpropInput: input: T, filter: T, out_backprop: T -> in_backprop: T."""
def directed_interleave_dataset(selector_input_dataset: X, data_input_datasets: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], stop_on_empty_dataset: bool = ..., name: str = ...) -> Tensor:
    """DirectedInterleaveDataset: selector_input_dataset: variant, data_input_datasets: variant -> handle: variant."""
def disable_copy_on_read(resource: X, *, name: str = ...) -> None:
    """DisableCopyOnRead: resource: resource -> nothing."""
def distributed_save(dataset: X, directory: X, address: X, *, metadata: str = ..., name: str = ...) -> None:
    """DistributedSave: dataset: variant, directory: string, address: string -> nothing."""
def div(x: X, y: X, *, name: str = ...) -> Tensor:
    """Div: x: T, y: T -> z: T."""
def div_no_nan(x: X, y: X, *, name: str = ...) -> Tensor:
    """DivNoNan: x: T, y: T -> z: T."""
def draw_bounding_boxes(images: X, boxes: X, *, name: str = ...) -> Tensor:
    """DrawBoundingBoxes: images: T, boxes: float32 -> output: T."""
def draw_bounding_boxes_v2(images: X, boxes: X, colors: X, *, name: str = ...) -> Tensor:
    """DrawBoundingBoxesV2: images: T, boxes: float32, colors: float32 -> output: T."""
def dtype_with_default_op(in_: X, *, name: str = ...) -> Tensor:
    """DtypeWithDefaultOp: in: T -> dtype: string."""
def dummy_iteration_counter(*, name: str = ...) -> Tensor:
    """DummyIterationCounter:  -> handle: resource."""
def dummy_memory_cache(*, name: str = ...) -> Tensor:
    """DummyMemoryCache:  -> handle: resource."""
def dummy_seed_generator(*, name: str = ...) -> Tensor:
    """DummySeedGenerator:  -> handle: resource."""
def dump_tensor(tensor_data: X, *, log_dir_path: str, file_name: str, enabled: bool, func_name: str, node_name: str, name: str = ...) -> None:
    """DumpTensor: tensor_data: T -> nothing."""
def dynamic_enqueue_tpu_embedding_arbitrary_tensor_batch(sample_indices_or_row_splits: S[X], embedding_indices: S[X], aggregation_weights: S[X], mode_override: X, device_ordinal: X, *, combiners: S[str] = ..., name: str = ...) -> None:
    """DynamicEnqueueTPUEmbeddingArbitraryTensorBatch: sample_indices_or_row_splits: T1, embedding_indices: T2, aggregation_weights: T3, mode_override: string, device_ordinal: int32 -> nothing."""
def dynamic_enqueue_tpu_embedding_ragged_tensor_batch(sample_splits: S[X], embedding_indices: S[X], aggregation_weights: S[X], mode_override: X, device_ordinal: X, *, table_ids: S[int], combiners: S[str] = ..., max_sequence_lengths: S[int] = ..., num_features: S[int] = ..., name: str = ...) -> None:
    """DynamicEnqueueTPUEmbeddingRaggedTensorBatch: sample_splits: T1, embedding_indices: T2, aggregation_weights: T3, mode_override: string, device_ordinal: int32 -> nothing."""
def dynamic_partition(data: X, partitions: X, *, num_partitions: int, name: str = ...) -> S[Tensor]:
    """DynamicPartition: data: T, partitions: int32 -> outputs: T."""
def dynamic_stitch(indices: S[X], data: S[X], *, name: str = ...) -> Tensor:
    """DynamicStitch: indices: int32, data: T -> merged: T."""
def eager_py_func(input: S[X], *, token: str, Tout: S[Any], is_async: bool = ..., name: str = ...) -> S[Tensor]:
    """EagerPyFunc: input: Tin -> output: Tout."""
def edit_distance(hypothesis_indices: X, hypothesis_values: X, hypothesis_shape: X, truth_indices: X, truth_values: X, truth_shape: X, *, normalize: bool = ..., name: str = ...) -> Tensor:
    """EditDistance: hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float32."""
def eig(input: X, *, Tout: Any, compute_v: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """Eig: input: T -> e: Tout, v: Tout."""
def einsum(inputs: S[X], *, equation: str, name: str = ...) -> Tensor:
    """Einsum: inputs: T -> output: T."""
def elu(features: X, *, name: str = ...) -> Tensor:
    """Elu: features: T -> activations: T."""
def elu_grad(gradients: X, outputs: X, *, name: str = ...) -> Tensor:
    """EluGrad: gradients: T, outputs: T -> backprops: T."""
def empty(shape: X, *, dtype: Any, init: bool = ..., name: str = ...) -> Tensor:
    """Empty: shape: int32 -> output: dtype."""
def empty_tensor_list(element_shape: X, max_num_elements: X, *, element_dtype: Any, name: str = ...) -> Tensor:
    """EmptyTensorList: element_shape: shape_type, max_num_elements: int32 -> handle: variant."""
def empty_tensor_map(*, name: str = ...) -> Tensor:
    """EmptyTensorMap:  -> handle: variant."""
def encode_base64(input: X, *, pad: bool = ..., name: str = ...) -> Tensor:
    """EncodeBase64: input: string -> output: string."""
def encode_jpeg(image: X, *, format: str = ..., quality: int = ..., progressive: bool = ..., optimize_size: bool = ..., chroma_downsampling: bool = ..., density_unit: str = ..., x_density: int = ..., y_density: int = ..., xmp_metadata: str = ..., name: str = ...) -> Tensor:
    """EncodeJpeg: image: uint8 -> contents: string."""
def encode_jpeg_variable_quality(images: X, quality: X, *, name: str = ...) -> Tensor:
    """EncodeJpegVariableQuality: images: uint8, quality: int32 -> contents: string."""
def encode_png(image: X, *, compression: int = ..., name: str = ...) -> Tensor:
    """EncodePng: image: T -> contents: string."""
def encode_proto(sizes: X, values: S[X], *, field_names: S[str], message_type: str, descriptor_source: str = ..., name: str = ...) -> Tensor:
    """EncodeProto: sizes: int32, values: Tinput_types -> bytes: string."""
def encode_wav(audio: X, sample_rate: X, *, name: str = ...) -> Tensor:
    """EncodeWav: audio: float32, sample_rate: int32 -> contents: string."""
def enqueue_tpu_embedding_arbitrary_tensor_batch(sample_indices_or_row_splits: S[X], embedding_indices: S[X], aggregation_weights: S[X], mode_override: X, *, device_ordinal: int = ..., combiners: S[str] = ..., name: str = ...) -> None:
    """EnqueueTPUEmbeddingArbitraryTensorBatch: sample_indices_or_row_splits: T1, embedding_indices: T2, aggregation_weights: T3, mode_override: string -> nothing."""
def enqueue_tpu_embedding_batch(batch: S[X], mode_override: X, *, device_ordinal: int = ..., combiners: S[str] = ..., name: str = ...) -> None:
    """EnqueueTPUEmbeddingBatch: batch: string, mode_override: string -> nothing."""
def enqueue_tpu_embedding_integer_batch(batch: S[X], mode_override: X, *, device_ordinal: int = ..., name: str = ...) -> None:
    """EnqueueTPUEmbeddingIntegerBatch: batch: int32, mode_override: string -> nothing."""
def enqueue_tpu_embedding_ragged_tensor_batch(sample_splits: S[X], embedding_indices: S[X], aggregation_weights: S[X], mode_override: X, *, table_ids: S[int], device_ordinal: int = ..., combiners: S[str] = ..., max_sequence_lengths: S[int] = ..., num_features: S[int] = ..., name: str = ...) -> None:
    """EnqueueTPUEmbeddingRaggedTensorBatch: sample_splits: T1, embedding_indices: T2, aggregation_weights: T3, mode_override: string -> nothing."""
def enqueue_tpu_embedding_sparse_batch(sample_indices: S[X], embedding_indices: S[X], aggregation_weights: S[X], mode_override: X, *, device_ordinal: int = ..., combiners: S[str] = ..., name: str = ...) -> None:
    """EnqueueTPUEmbeddingSparseBatch: sample_indices: T1, embedding_indices: T2, aggregation_weights: T3, mode_override: string -> nothing."""
def enqueue_tpu_embedding_sparse_tensor_batch(sample_indices: S[X], embedding_indices: S[X], aggregation_weights: S[X], mode_override: X, *, table_ids: S[int], device_ordinal: int = ..., combiners: S[str] = ..., max_sequence_lengths: S[int] = ..., num_features: S[int] = ..., name: str = ...) -> None:
    """EnqueueTPUEmbeddingSparseTensorBatch: sample_indices: T1, embedding_indices: T2, aggregation_weights: T3, mode_override: string -> nothing."""
def ensure_shape(input: X, *, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """EnsureShape: input: T -> output: T."""
def enter(data: X, *, frame_name: str, is_constant: bool = ..., parallel_iterations: int = ..., name: str = ...) -> Tensor:
    """Enter: data: T -> output: T."""
def equal(x: X, y: X, *, incompatible_shape_error: bool = ..., name: str = ...) -> Tensor:
    """Equal: x: T, y: T -> z: bool."""
def erf(x: X, *, name: str = ...) -> Tensor:
    """Erf: x: T -> y: T."""
def erfc(x: X, *, name: str = ...) -> Tensor:
    """Erfc: x: T -> y: T."""
def erfinv(x: X, *, name: str = ...) -> Tensor:
    """Erfinv: x: T -> y: T."""
def euclidean_norm(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """EuclideanNorm: input: T, reduction_indices: Tidx -> output: T."""
def execute_tpu_embedding_partitioner(*, config: str, name: str = ...) -> Tensor:
    """ExecuteTPUEmbeddingPartitioner:  -> common_config: string."""
def exit(data: X, *, name: str = ...) -> Tensor:
    """Exit: data: T -> output: T."""
def exp(x: X, *, name: str = ...) -> Tensor:
    """Exp: x: T -> y: T."""
def expand_dims(input: X, dim: X, *, name: str = ...) -> Tensor:
    """ExpandDims: input: T, dim: Tdim -> output: T."""
def experimental_assert_next_dataset(input_dataset: X, transformations: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalAssertNextDataset: input_dataset: variant, transformations: string -> handle: variant."""
def experimental_auto_shard_dataset(input_dataset: X, num_workers: X, index: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], auto_shard_policy: int = ..., name: str = ...) -> Tensor:
    """ExperimentalAutoShardDataset: input_dataset: variant, num_workers: int64, index: int64 -> handle: variant."""
def experimental_bytes_produced_stats_dataset(input_dataset: X, tag: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalBytesProducedStatsDataset: input_dataset: variant, tag: string -> handle: variant."""
def experimental_choose_fastest_dataset(input_datasets: S[X], *, num_experiments: int, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalChooseFastestDataset: input_datasets: variant -> handle: variant."""
def experimental_csv_dataset(filenames: X, compression_type: X, buffer_size: X, header: X, field_delim: X, use_quote_delim: X, na_value: X, select_cols: X, record_defaults: S[X], *, output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalCSVDataset: filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types -> handle: variant."""
def experimental_dataset_cardinality(input_dataset: X, *, name: str = ...) -> Tensor:
    """ExperimentalDatasetCardinality: input_dataset: variant -> cardinality: int64."""
def experimental_dataset_to_tf_record(input_dataset: X, filename: X, compression_type: X, *, name: str = ...) -> None:
    """ExperimentalDatasetToTFRecord: input_dataset: variant, filename: string, compression_type: string -> nothing."""
def experimental_dense_to_sparse_batch_dataset(input_dataset: X, batch_size: X, row_shape: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalDenseToSparseBatchDataset: input_dataset: variant, batch_size: int64, row_shape: int64 -> handle: variant."""
def experimental_directed_interleave_dataset(selector_input_dataset: X, data_input_datasets: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalDirectedInterleaveDataset: selector_input_dataset: variant, data_input_datasets: variant -> handle: variant."""
def experimental_group_by_reducer_dataset(input_dataset: X, key_func_other_arguments: S[X], init_func_other_arguments: S[X], reduce_func_other_arguments: S[X], finalize_func_other_arguments: S[X], *, key_func: Any, init_func: Any, reduce_func: Any, finalize_func: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalGroupByReducerDataset: input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, init_func_other_arguments: Tinit_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, finalize_func_other_arguments: Tfinalize_func_other_arguments -> handle: variant."""
def experimental_group_by_window_dataset(input_dataset: X, key_func_other_arguments: S[X], reduce_func_other_arguments: S[X], window_size_func_other_arguments: S[X], *, key_func: Any, reduce_func: Any, window_size_func: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalGroupByWindowDataset: input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, window_size_func_other_arguments: Twindow_size_func_other_arguments -> handle: variant."""
def experimental_ignore_errors_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], log_warning: bool = ..., name: str = ...) -> Tensor:
    """ExperimentalIgnoreErrorsDataset: input_dataset: variant -> handle: variant."""
def experimental_iterator_get_device(resource: X, *, name: str = ...) -> Tensor:
    """ExperimentalIteratorGetDevice: resource: resource -> device: string."""
def experimental_latency_stats_dataset(input_dataset: X, tag: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalLatencyStatsDataset: input_dataset: variant, tag: string -> handle: variant."""
def experimental_lmdb_dataset(filenames: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalLMDBDataset: filenames: string -> handle: variant."""
def experimental_map_and_batch_dataset(input_dataset: X, other_arguments: S[X], batch_size: X, num_parallel_calls: X, drop_remainder: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], preserve_cardinality: bool = ..., name: str = ...) -> Tensor:
    """ExperimentalMapAndBatchDataset: input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> handle: variant."""
def experimental_map_dataset(input_dataset: X, other_arguments: S[X], *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], use_inter_op_parallelism: bool = ..., preserve_cardinality: bool = ..., force_synchronous: bool = ..., name: str = ...) -> Tensor:
    """ExperimentalMapDataset: input_dataset: variant, other_arguments: Targuments -> handle: variant."""
def experimental_matching_files_dataset(patterns: X, *, name: str = ...) -> Tensor:
    """ExperimentalMatchingFilesDataset: patterns: string -> handle: variant."""
def experimental_max_intra_op_parallelism_dataset(input_dataset: X, max_intra_op_parallelism: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalMaxIntraOpParallelismDataset: input_dataset: variant, max_intra_op_parallelism: int64 -> handle: variant."""
def experimental_non_serializable_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalNonSerializableDataset: input_dataset: variant -> handle: variant."""
def experimental_parallel_interleave_dataset(input_dataset: X, other_arguments: S[X], cycle_length: X, block_length: X, sloppy: X, buffer_output_elements: X, prefetch_input_elements: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalParallelInterleaveDataset: input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant."""
def experimental_parse_example_dataset(input_dataset: X, num_parallel_calls: X, dense_defaults: S[X], *, sparse_keys: S[str], dense_keys: S[str], sparse_types: S[Any], dense_shapes: S[S[int | None] | None], output_types: S[Any], output_shapes: S[S[int | None] | None], sloppy: bool = ..., name: str = ...) -> Tensor:
    """ExperimentalParseExampleDataset: input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense -> handle: variant."""
def experimental_private_thread_pool_dataset(input_dataset: X, num_threads: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalPrivateThreadPoolDataset: input_dataset: variant, num_threads: int64 -> handle: variant."""
def experimental_random_dataset(seed: X, seed2: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalRandomDataset: seed: int64, seed2: int64 -> handle: variant."""
def experimental_rebatch_dataset(input_dataset: X, num_replicas: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], use_fallback: bool = ..., name: str = ...) -> Tensor:
    """ExperimentalRebatchDataset: input_dataset: variant, num_replicas: int64 -> handle: variant."""
def experimental_scan_dataset(input_dataset: X, initial_state: S[X], other_arguments: S[X], *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], preserve_cardinality: bool = ..., name: str = ...) -> Tensor:
    """ExperimentalScanDataset: input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> handle: variant."""
def experimental_set_stats_aggregator_dataset(input_dataset: X, stats_aggregator: X, tag: X, counter_prefix: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalSetStatsAggregatorDataset: input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string -> handle: variant."""
def experimental_sleep_dataset(input_dataset: X, sleep_microseconds: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalSleepDataset: input_dataset: variant, sleep_microseconds: int64 -> handle: variant."""
def experimental_sliding_window_dataset(input_dataset: X, window_size: X, window_shift: X, window_stride: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalSlidingWindowDataset: input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64 -> handle: variant."""
def experimental_sql_dataset(driver_name: X, data_source_name: X, query: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalSqlDataset: driver_name: string, data_source_name: string, query: string -> handle: variant."""
def experimental_stats_aggregator_handle(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """ExperimentalStatsAggregatorHandle:  -> handle: resource."""
def experimental_stats_aggregator_summary(iterator: X, *, name: str = ...) -> Tensor:
    """ExperimentalStatsAggregatorSummary: iterator: resource -> summary: string."""
def experimental_take_while_dataset(input_dataset: X, other_arguments: S[X], *, predicate: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalTakeWhileDataset: input_dataset: variant, other_arguments: Targuments -> handle: variant."""
def experimental_thread_pool_dataset(input_dataset: X, thread_pool: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalThreadPoolDataset: input_dataset: variant, thread_pool: resource -> handle: variant."""
def experimental_thread_pool_handle(*, num_threads: int, display_name: str, max_intra_op_parallelism: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """ExperimentalThreadPoolHandle:  -> handle: resource."""
def experimental_unbatch_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalUnbatchDataset: input_dataset: variant -> handle: variant."""
def experimental_unique_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ExperimentalUniqueDataset: input_dataset: variant -> handle: variant."""
def expint(x: X, *, name: str = ...) -> Tensor:
    """Expint: x: T -> y: T."""
def expm1(x: X, *, name: str = ...) -> Tensor:
    """Expm1: x: T -> y: T."""
def extract_glimpse(input: X, size: X, offsets: X, *, centered: bool = ..., normalized: bool = ..., uniform_noise: bool = ..., noise: str = ..., name: str = ...) -> Tensor:
    """ExtractGlimpse: input: float32, size: int32, offsets: float32 -> glimpse: float32."""
def extract_glimpse_v2(input: X, size: X, offsets: X, *, centered: bool = ..., normalized: bool = ..., uniform_noise: bool = ..., noise: str = ..., name: str = ...) -> Tensor:
    """ExtractGlimpseV2: input: float32, size: int32, offsets: float32 -> glimpse: float32."""
def extract_image_patches(images: X, *, ksizes: S[int], strides: S[int], rates: S[int], padding: str, name: str = ...) -> Tensor:
    """ExtractImagePatches: images: T -> patches: T."""
def extract_jpeg_shape(contents: X, *, output_type: Any = ..., name: str = ...) -> Tensor:
    """ExtractJpegShape: contents: string -> image_shape: output_type."""
def extract_volume_patches(input: X, *, ksizes: S[int], strides: S[int], padding: str, name: str = ...) -> Tensor:
    """ExtractVolumePatches: input: T -> patches: T."""
def fact(*, name: str = ...) -> Tensor:
    """Fact:  -> fact: string."""
def fake_param(*, dtype: Any, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """FakeParam:  -> output: dtype."""
def fake_quant_with_min_max_args(inputs: X, *, min: float = ..., max: float = ..., num_bits: int = ..., narrow_range: bool = ..., name: str = ...) -> Tensor:
    """FakeQuantWithMinMaxArgs: inputs: float32 -> outputs: float32."""
def fake_quant_with_min_max_args_gradient(gradients: X, inputs: X, *, min: float = ..., max: float = ..., num_bits: int = ..., narrow_range: bool = ..., name: str = ...) -> Tensor:
    """FakeQuantWithMinMaxArgsGradient: gradients: float32, inputs: float32 -> backprops: float32."""
def fake_quant_with_min_max_vars(inputs: X, min: X, max: X, *, num_bits: int = ..., narrow_range: bool = ..., name: str = ...) -> Tensor:
    """FakeQuantWithMinMaxVars: inputs: float32, min: float32, max: float32 -> outputs: float32."""
def fake_quant_with_min_max_vars_gradient(gradients: X, inputs: X, min: X, max: X, *, num_bits: int = ..., narrow_range: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """FakeQuantWithMinMaxVarsGradient: gradients: float32, inputs: float32, min: float32, max: float32 -> backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32."""
def fake_quant_with_min_max_vars_per_channel(inputs: X, min: X, max: X, *, num_bits: int = ..., narrow_range: bool = ..., name: str = ...) -> Tensor:
    """FakeQuantWithMinMaxVarsPerChannel: inputs: float32, min: float32, max: float32 -> outputs: float32."""
def fake_quant_with_min_max_vars_per_channel_gradient(gradients: X, inputs: X, min: X, max: X, *, num_bits: int = ..., narrow_range: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """FakeQuantWithMinMaxVarsPerChannelGradient: gradients: float32, inputs: float32, min: float32, max: float32 -> backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32."""
def fake_queue(resource: X, *, name: str = ...) -> Tensor:
    """FakeQueue: resource: resource -> handle: string."""
def fft(input: X, *, name: str = ...) -> Tensor:
    """FFT: input: Tcomplex -> output: Tcomplex."""
def fft2d(input: X, *, name: str = ...) -> Tensor:
    """FFT2D: input: Tcomplex -> output: Tcomplex."""
def fft3d(input: X, *, name: str = ...) -> Tensor:
    """FFT3D: input: Tcomplex -> output: Tcomplex."""
def fftnd(input: X, fft_length: X, axes: X, *, name: str = ...) -> Tensor:
    """FFTND: input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex."""
def fifo_queue(*, component_types: S[Any], shapes: S[S[int | None] | None] = ..., capacity: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """FIFOQueue:  -> handle: string."""
def fifo_queue_v2(*, component_types: S[Any], shapes: S[S[int | None] | None] = ..., capacity: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """FIFOQueueV2:  -> handle: resource."""
def file_system_set_configuration(scheme: X, key: X, value: X, *, name: str = ...) -> None:
    """FileSystemSetConfiguration: scheme: string, key: string, value: string -> nothing."""
def fill(dims: X, value: X, *, name: str = ...) -> Tensor:
    """Fill: dims: index_type, value: T -> output: T."""
def filter_by_last_component_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """FilterByLastComponentDataset: input_dataset: variant -> output: variant."""
def filter_dataset(input_dataset: X, other_arguments: S[X], *, predicate: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """FilterDataset: input_dataset: variant, other_arguments: Targuments -> handle: variant."""
def finalize_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], has_captured_ref: bool = ..., name: str = ...) -> Tensor:
    """FinalizeDataset: input_dataset: variant -> handle: variant."""
def finalize_tpu_embedding(common_config: X, memory_config: X, *, name: str = ...) -> None:
    """FinalizeTPUEmbedding: common_config: string, memory_config: string -> nothing."""
def finalize_tpu_embedding_v2(common_config: X, memory_config: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """FinalizeTPUEmbeddingV2: common_config: string, memory_config: string -> embedding_partitions: string, hbm_buffers_config: string."""
def fingerprint(data: X, method: X, *, name: str = ...) -> Tensor:
    """Fingerprint: data: T, method: string -> fingerprint: uint8."""
def five_float_outputs(*, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """FiveFloatOutputs:  -> a: float32, b: float32, c: float32, d: float32, e: float32."""
def fixed_length_record_dataset(filenames: X, header_bytes: X, record_bytes: X, footer_bytes: X, buffer_size: X, *, metadata: str = ..., name: str = ...) -> Tensor:
    """FixedLengthRecordDataset: filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64 -> handle: variant."""
def fixed_length_record_dataset_v2(filenames: X, header_bytes: X, record_bytes: X, footer_bytes: X, buffer_size: X, compression_type: X, *, metadata: str = ..., name: str = ...) -> Tensor:
    """FixedLengthRecordDatasetV2: filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64, compression_type: string -> handle: variant."""
def fixed_length_record_reader(*, record_bytes: int, header_bytes: int = ..., footer_bytes: int = ..., hop_bytes: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """FixedLengthRecordReader:  -> reader_handle: string."""
def fixed_length_record_reader_v2(*, record_bytes: int, header_bytes: int = ..., footer_bytes: int = ..., hop_bytes: int = ..., container: str = ..., shared_name: str = ..., encoding: str = ..., name: str = ...) -> Tensor:
    """FixedLengthRecordReaderV2:  -> reader_handle: resource."""
def fixed_unigram_candidate_sampler(true_classes: X, *, num_true: int, num_sampled: int, unique: bool, range_max: int, vocab_file: str = ..., distortion: float = ..., num_reserved_ids: int = ..., num_shards: int = ..., shard: int = ..., unigrams: S[float] = ..., seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """FixedUnigramCandidateSampler: true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32."""
def flat_map_dataset(input_dataset: X, other_arguments: S[X], *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """FlatMapDataset: input_dataset: variant, other_arguments: Targuments -> handle: variant."""
def float_input(a: X, *, name: str = ...) -> None:
    """FloatInput: a: float32 -> nothing."""
def float_output(*, name: str = ...) -> Tensor:
    """FloatOutput:  -> a: float32."""
def float_output_string_output(*, name: str = ...) -> tuple[Tensor, Tensor]:
    """FloatOutputStringOutput:  -> a: float32, b: string."""
def floor(x: X, *, name: str = ...) -> Tensor:
    """Floor: x: T -> y: T."""
def floor_div(x: X, y: X, *, name: str = ...) -> Tensor:
    """FloorDiv: x: T, y: T -> z: T."""
def floor_mod(x: X, y: X, *, name: str = ...) -> Tensor:
    """FloorMod: x: T, y: T -> z: T."""
def flush_summary_writer(writer: X, *, name: str = ...) -> None:
    """FlushSummaryWriter: writer: resource -> nothing."""
def foo1(a: X, b: X, c: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """Foo1: a: float32, b: int32, c: int32 -> d: float32, e: int32."""
def foo2(a: X, b: X, c: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """Foo2: a: float32, b: string, c: string -> d: float32, e: int32."""
def foo3(a: X, b: X, c: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """Foo3: a: float32, b: string, c: float32 -> d: float32, e: int32."""
def for_(start: X, limit: X, delta: X, input: S[X], *, body: Any, name: str = ...) -> S[Tensor]:
    """For: start: int32, limit: int32, delta: int32, input: T -> output: T."""
def fractional_avg_pool(value: X, *, pooling_ratio: S[float], pseudo_random: bool = ..., overlapping: bool = ..., deterministic: bool = ..., seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """FractionalAvgPool: value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64."""
def fractional_avg_pool_grad(orig_input_tensor_shape: X, out_backprop: X, row_pooling_sequence: X, col_pooling_sequence: X, *, overlapping: bool = ..., name: str = ...) -> Tensor:
    """FractionalAvgPoolGrad: orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64 -> output: T."""
def fractional_max_pool(value: X, *, pooling_ratio: S[float], pseudo_random: bool = ..., overlapping: bool = ..., deterministic: bool = ..., seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """FractionalMaxPool: value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64."""
def fractional_max_pool_grad(orig_input: X, orig_output: X, out_backprop: X, row_pooling_sequence: X, col_pooling_sequence: X, *, overlapping: bool = ..., name: str = ...) -> Tensor:
    """FractionalMaxPoolGrad: orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64 -> output: T."""
def fresnel_cos(x: X, *, name: str = ...) -> Tensor:
    """FresnelCos: x: T -> y: T."""
def fresnel_sin(x: X, *, name: str = ...) -> Tensor:
    """FresnelSin: x: T -> y: T."""
def func_attr(*, f: Any, name: str = ...) -> None:
    """FuncAttr:  -> nothing."""
def func_list_attr(*, f: S[Any], name: str = ...) -> None:
    """FuncListAttr:  -> nothing."""
def fused_batch_norm(x: X, scale: X, offset: X, mean: X, variance: X, *, epsilon: float = ..., exponential_avg_factor: float = ..., data_format: str = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """FusedBatchNorm: x: T, scale: T, offset: T, mean: T, variance: T -> y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T."""
def fused_batch_norm_grad(y_backprop: X, x: X, scale: X, reserve_space_1: X, reserve_space_2: X, *, epsilon: float = ..., data_format: str = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """FusedBatchNormGrad: y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T."""
def fused_batch_norm_grad_v2(y_backprop: X, x: X, scale: X, reserve_space_1: X, reserve_space_2: X, *, epsilon: float = ..., data_format: str = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """FusedBatchNormGradV2: y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U."""
def fused_batch_norm_grad_v3(y_backprop: X, x: X, scale: X, reserve_space_1: X, reserve_space_2: X, reserve_space_3: X, *, epsilon: float = ..., data_format: str = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """FusedBatchNormGradV3: y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U."""
def fused_batch_norm_v2(x: X, scale: X, offset: X, mean: X, variance: X, *, epsilon: float = ..., exponential_avg_factor: float = ..., data_format: str = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """FusedBatchNormV2: x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U."""
def fused_batch_norm_v3(x: X, scale: X, offset: X, mean: X, variance: X, *, epsilon: float = ..., exponential_avg_factor: float = ..., data_format: str = ..., is_training: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """FusedBatchNormV3: x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U."""
def fused_pad_conv2d(input: X, paddings: X, filter: X, *, mode: str, strides: S[int], padding: str, name: str = ...) -> Tensor:
    """FusedPadConv2D: input: T, paddings: int32, filter: T -> output: T."""
def fused_resize_and_pad_conv2d(input: X, size: X, paddings: X, filter: X, *, mode: str, strides: S[int], padding: str, resize_align_corners: bool = ..., name: str = ...) -> Tensor:
    """FusedResizeAndPadConv2D: input: T, size: int32, paddings: int32, filter: T -> output: T."""
def gather(params: X, indices: X, *, validate_indices: bool = ..., name: str = ...) -> Tensor:
    """Gather: params: Tparams, indices: Tindices -> output: Tparams."""
def gather_nd(params: X, indices: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """GatherNd: params: Tparams, indices: Tindices -> output: Tparams."""
def gather_v2(params: X, indices: X, axis: X, *, batch_dims: int = ..., name: str = ...) -> Tensor:
    """GatherV2: params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams."""
def generate_bounding_box_proposals(scores: X, bbox_deltas: X, image_info: X, anchors: X, nms_threshold: X, pre_nms_topn: X, min_size: X, *, post_nms_topn: int = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """GenerateBoundingBoxProposals: scores: float32, bbox_deltas: float32, image_info: float32, anchors: float32, nms_threshold: float32, pre_nms_topn: int32, min_size: float32 -> rois: float32, roi_probabilities: float32."""
def generate_vocab_remapping(new_vocab_file: X, old_vocab_file: X, *, new_vocab_offset: int, num_new_vocab: int, old_vocab_size: int = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """GenerateVocabRemapping: new_vocab_file: string, old_vocab_file: string -> remapping: int64, num_present: int32."""
def generator_dataset(init_func_other_args: S[X], next_func_other_args: S[X], finalize_func_other_args: S[X], *, init_func: Any, next_func: Any, finalize_func: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """GeneratorDataset: init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, finalize_func_other_args: Tfinalize_func_args -> handle: variant."""
def get_deadline(*, name: str = ...) -> Tensor:
    """GetDeadline:  -> deadline_from_epoch_micros: int64."""
def get_element_at_index(dataset: X, index: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """GetElementAtIndex: dataset: variant, index: int64 -> components: output_types."""
def get_minibatch_splits_with_physical_replica(program_key: X, row_ids: X, col_ids: X, gains: X, *, sample_count: int, num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str, mini_batch_splits: str, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """GetMinibatchSplitsWithPhysicalReplica: program_key: string, row_ids: int32, col_ids: int32, gains: float32 -> sorted_row_ids: int32, sorted_col_ids: int32, sorted_gains: float32, splits: int64, id_counts: int32, max_ids: int32, max_uniques: int32."""
def get_minibatches_in_csr_with_physical_replica(program_key: X, row_ids: X, col_ids: X, gains: X, splits: X, id_counts: X, *, sample_count: int, num_replica: int, max_minibatches_per_sc: int, max_ids_per_chip_per_sample: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str, mini_batch_in_csr: str, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """GetMinibatchesInCsrWithPhysicalReplica: program_key: string, row_ids: int32, col_ids: int32, gains: float32, splits: int64, id_counts: int32 -> row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, row_pointers_unpadded_size: int32, ids_unpadded_size: int32, num_minibatches_per_physical_sparse_core: int32."""
def get_options(input_dataset: X, *, name: str = ...) -> Tensor:
    """GetOptions: input_dataset: variant -> serialized_options: string."""
def get_session_handle(value: X, *, name: str = ...) -> Tensor:
    """GetSessionHandle: value: T -> handle: string."""
def get_session_handle_v2(value: X, *, name: str = ...) -> Tensor:
    """GetSessionHandleV2: value: T -> handle: resource."""
def get_session_tensor(handle: X, *, dtype: Any, name: str = ...) -> Tensor:
    """GetSessionTensor: handle: string -> value: dtype."""
def get_stats_from_list_of_sparse_core_coo_tensors(row_ids_list: S[X], col_ids_list: S[X], gains_list: S[X], *, sample_count_list: S[int], col_offset_list: S[int], num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str, name: str = ...) -> tuple[Tensor, Tensor]:
    """GetStatsFromListOfSparseCoreCooTensors: row_ids_list: int32, col_ids_list: int32, gains_list: float32 -> max_ids_per_sparse_core: int32, max_unique_ids_per_sparse_core: int32."""
def get_tpu_task_id(*, name: str = ...) -> Tensor:
    """GetTpuTaskId:  -> tpu_task_id: int32."""
def global_iter_id(*, name: str = ...) -> Tensor:
    """GlobalIterId:  -> iter_id: int64."""
def global_shuffle_dataset(input_dataset: X, seed: X, seed2: X, seed_generator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], reshuffle_each_iteration: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """GlobalShuffleDataset: input_dataset: variant, seed: int64, seed2: int64, seed_generator: resource -> handle: variant."""
def graph_def_version(*, name: str = ...) -> Tensor:
    """GraphDefVersion:  -> version: int32."""
def greater(x: X, y: X, *, name: str = ...) -> Tensor:
    """Greater: x: T, y: T -> z: bool."""
def greater_equal(x: X, y: X, *, name: str = ...) -> Tensor:
    """GreaterEqual: x: T, y: T -> z: bool."""
def group_by_reducer_dataset(input_dataset: X, key_func_other_arguments: S[X], init_func_other_arguments: S[X], reduce_func_other_arguments: S[X], finalize_func_other_arguments: S[X], *, key_func: Any, init_func: Any, reduce_func: Any, finalize_func: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """GroupByReducerDataset: input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, init_func_other_arguments: Tinit_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, finalize_func_other_arguments: Tfinalize_func_other_arguments -> handle: variant."""
def group_by_window_dataset(input_dataset: X, key_func_other_arguments: S[X], reduce_func_other_arguments: S[X], window_size_func_other_arguments: S[X], *, key_func: Any, reduce_func: Any, window_size_func: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """GroupByWindowDataset: input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, window_size_func_other_arguments: Twindow_size_func_other_arguments -> handle: variant."""
def gru_block_cell(x: X, h_prev: X, w_ru: X, w_c: X, b_ru: X, b_c: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """GRUBlockCell: x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T."""
def gru_block_cell_grad(x: X, h_prev: X, w_ru: X, w_c: X, b_ru: X, b_c: X, r: X, u: X, c: X, d_h: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """GRUBlockCellGrad: x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T."""
def guarantee_const(input: X, *, name: str = ...) -> Tensor:
    """GuaranteeConst: input: T -> output: T."""
def hash_table(*, key_dtype: Any, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., name: str = ...) -> Tensor:
    """HashTable:  -> table_handle: string."""
def hash_table_v2(*, key_dtype: Any, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., name: str = ...) -> Tensor:
    """HashTableV2:  -> table_handle: resource."""
def histogram_fixed_width(values: X, value_range: X, nbins: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """HistogramFixedWidth: values: T, value_range: T, nbins: int32 -> out: dtype."""
def histogram_summary(tag: X, values: X, *, name: str = ...) -> Tensor:
    """HistogramSummary: tag: string, values: T -> summary: string."""
def host_const(*, value: Any, dtype: Any, name: str = ...) -> Tensor:
    """HostConst:  -> output: dtype."""
def hsv_to_rgb(images: X, *, name: str = ...) -> Tensor:
    """HSVToRGB: images: T -> output: T."""
def identity(input: X, *, name: str = ...) -> Tensor:
    """Identity: input: T -> output: T."""
def identity_n(input: S[X], *, name: str = ...) -> S[Tensor]:
    """IdentityN: input: T -> output: T."""
def identity_reader(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """IdentityReader:  -> reader_handle: string."""
def identity_reader_v2(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """IdentityReaderV2:  -> reader_handle: resource."""
def if_(cond: X, input: S[X], *, Tout: S[Any], then_branch: Any, else_branch: Any, output_shapes: S[S[int | None] | None] = ..., name: str = ...) -> S[Tensor]:
    """If: cond: Tcond, input: Tin -> output: Tout."""
def ifft(input: X, *, name: str = ...) -> Tensor:
    """IFFT: input: Tcomplex -> output: Tcomplex."""
def ifft2d(input: X, *, name: str = ...) -> Tensor:
    """IFFT2D: input: Tcomplex -> output: Tcomplex."""
def ifft3d(input: X, *, name: str = ...) -> Tensor:
    """IFFT3D: input: Tcomplex -> output: Tcomplex."""
def ifftnd(input: X, fft_length: X, axes: X, *, name: str = ...) -> Tensor:
    """IFFTND: input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex."""
def igamma(a: X, x: X, *, name: str = ...) -> Tensor:
    """Igamma: a: T, x: T -> z: T."""
def igamma_grad_a(a: X, x: X, *, name: str = ...) -> Tensor:
    """IgammaGradA: a: T, x: T -> z: T."""
def igammac(a: X, x: X, *, name: str = ...) -> Tensor:
    """Igammac: a: T, x: T -> z: T."""
def ignore_errors_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], log_warning: bool = ..., name: str = ...) -> Tensor:
    """IgnoreErrorsDataset: input_dataset: variant -> handle: variant."""
def imag(input: X, *, Tout: Any = ..., name: str = ...) -> Tensor:
    """Imag: input: T -> output: Tout."""
def image_projective_transform_v2(images: X, transforms: X, output_shape: X, *, interpolation: str, fill_mode: str = ..., name: str = ...) -> Tensor:
    """ImageProjectiveTransformV2: images: dtype, transforms: float32, output_shape: int32 -> transformed_images: dtype."""
def image_projective_transform_v3(images: X, transforms: X, output_shape: X, fill_value: X, *, interpolation: str, fill_mode: str = ..., name: str = ...) -> Tensor:
    """ImageProjectiveTransformV3: images: dtype, transforms: float32, output_shape: int32, fill_value: float32 -> transformed_images: dtype."""
def image_summary(tag: X, tensor: X, *, max_images: int = ..., bad_color: Any = ..., name: str = ...) -> Tensor:
    """ImageSummary: tag: string, tensor: T -> summary: string."""
def immutable_const(*, dtype: Any, shape: S[int | None] | None, memory_region_name: str, name: str = ...) -> Tensor:
    """ImmutableConst:  -> tensor: dtype."""
def import_event(writer: X, event: X, *, name: str = ...) -> None:
    """ImportEvent: writer: resource, event: string -> nothing."""
def in_polymorphic_twice(a: S[X], b: S[X], *, name: str = ...) -> None:
    """InPolymorphicTwice: a: T, b: T -> nothing."""
def in_top_k(predictions: X, targets: X, *, k: int, name: str = ...) -> Tensor:
    """InTopK: predictions: float32, targets: T -> precision: bool."""
def in_top_k_v2(predictions: X, targets: X, k: X, *, name: str = ...) -> Tensor:
    """InTopKV2: predictions: float32, targets: T, k: T -> precision: bool."""
def index_flat_map_dataset(input_dataset: X, map_func_other_args: S[X], index_map_func_other_args: S[X], output_cardinality: X, *, map_func: Any, index_map_func: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """IndexFlatMapDataset: input_dataset: variant, map_func_other_args: Tmap_func_args, index_map_func_other_args: Tindex_map_func_args, output_cardinality: int64 -> handle: variant."""
def infeed_dequeue(*, dtype: Any, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """InfeedDequeue:  -> output: dtype."""
def infeed_dequeue_tuple(*, dtypes: S[Any], shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """InfeedDequeueTuple:  -> outputs: dtypes."""
def infeed_enqueue(input: X, *, shape: S[int | None] | None = ..., layout: S[int] = ..., device_ordinal: int = ..., name: str = ...) -> None:
    """InfeedEnqueue: input: dtype -> nothing."""
def infeed_enqueue_prelinearized_buffer(input: X, *, device_ordinal: int = ..., name: str = ...) -> None:
    """InfeedEnqueuePrelinearizedBuffer: input: variant -> nothing."""
def infeed_enqueue_tuple(inputs: S[X], *, shapes: S[S[int | None] | None], layouts: S[int] = ..., device_ordinal: int = ..., name: str = ...) -> None:
    """InfeedEnqueueTuple: inputs: dtypes -> nothing."""
def initialize_table(table_handle: X, keys: X, values: X, *, name: str = ...) -> None:
    """InitializeTable: table_handle: string, keys: Tkey, values: Tval -> nothing."""
def initialize_table_from_dataset(table_handle: X, dataset: X, *, name: str = ...) -> None:
    """InitializeTableFromDataset: table_handle: resource, dataset: variant -> nothing."""
def initialize_table_from_text_file(table_handle: X, filename: X, *, key_index: int, value_index: int, vocab_size: int = ..., delimiter: str = ..., offset: int = ..., name: str = ...) -> None:
    """InitializeTableFromTextFile: table_handle: string, filename: string -> nothing."""
def initialize_table_from_text_file_v2(table_handle: X, filename: X, *, key_index: int, value_index: int, vocab_size: int = ..., delimiter: str = ..., offset: int = ..., name: str = ...) -> None:
    """InitializeTableFromTextFileV2: table_handle: resource, filename: string -> nothing."""
def initialize_table_v2(table_handle: X, keys: X, values: X, *, name: str = ...) -> None:
    """InitializeTableV2: table_handle: resource, keys: Tkey, values: Tval -> nothing."""
def inplace_add(x: X, i: X, v: X, *, name: str = ...) -> Tensor:
    """InplaceAdd: x: T, i: int32, v: T -> y: T."""
def inplace_sub(x: X, i: X, v: X, *, name: str = ...) -> Tensor:
    """InplaceSub: x: T, i: int32, v: T -> y: T."""
def inplace_update(x: X, i: X, v: X, *, name: str = ...) -> Tensor:
    """InplaceUpdate: x: T, i: int32, v: T -> y: T."""
def int64_output(*, name: str = ...) -> Tensor:
    """Int64Output:  -> out: int64."""
def int_attr(*, foo: int = ..., name: str = ...) -> Tensor:
    """IntAttr:  -> out: int64."""
def int_input(a: X, *, name: str = ...) -> None:
    """IntInput: a: int32 -> nothing."""
def int_input_float_input(a: X, b: X, *, name: str = ...) -> None:
    """IntInputFloatInput: a: int32, b: float32 -> nothing."""
def int_input_int_output(a: X, *, name: str = ...) -> Tensor:
    """IntInputIntOutput: a: int32 -> b: int32."""
def int_output(*, name: str = ...) -> Tensor:
    """IntOutput:  -> a: int32."""
def int_output_float_output(*, name: str = ...) -> tuple[Tensor, Tensor]:
    """IntOutputFloatOutput:  -> a: int32, b: float32."""
def interleave_dataset(input_dataset: X, other_arguments: S[X], cycle_length: X, block_length: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """InterleaveDataset: input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64 -> handle: variant."""
def inv(x: X, *, name: str = ...) -> Tensor:
    """Inv: x: T -> y: T."""
def inv_grad(y: X, dy: X, *, name: str = ...) -> Tensor:
    """InvGrad: y: T, dy: T -> z: T."""
def invert(x: X, *, name: str = ...) -> Tensor:
    """Invert: x: T -> y: T."""
def invert_permutation(x: X, *, name: str = ...) -> Tensor:
    """InvertPermutation: x: T -> y: T."""
def irfft(input: X, fft_length: X, *, Treal: Any = ..., name: str = ...) -> Tensor:
    """IRFFT: input: Tcomplex, fft_length: int32 -> output: Treal."""
def irfft2d(input: X, fft_length: X, *, Treal: Any = ..., name: str = ...) -> Tensor:
    """IRFFT2D: input: Tcomplex, fft_length: int32 -> output: Treal."""
def irfft3d(input: X, fft_length: X, *, Treal: Any = ..., name: str = ...) -> Tensor:
    """IRFFT3D: input: Tcomplex, fft_length: int32 -> output: Treal."""
def irfftnd(input: X, fft_length: X, axes: X, *, Treal: Any = ..., name: str = ...) -> Tensor:
    """IRFFTND: input: Tcomplex, fft_length: int32, axes: int32 -> output: Treal."""
def is_boosted_trees_ensemble_initialized(tree_ensemble_handle: X, *, name: str = ...) -> Tensor:
    """IsBoostedTreesEnsembleInitialized: tree_ensemble_handle: resource -> is_initialized: bool."""
def is_boosted_trees_quantile_stream_resource_initialized(quantile_stream_resource_handle: X, *, name: str = ...) -> Tensor:
    """IsBoostedTreesQuantileStreamResourceInitialized: quantile_stream_resource_handle: resource -> is_initialized: bool."""
def is_finite(x: X, *, name: str = ...) -> Tensor:
    """IsFinite: x: T -> y: bool."""
def is_inf(x: X, *, name: str = ...) -> Tensor:
    """IsInf: x: T -> y: bool."""
def is_nan(x: X, *, name: str = ...) -> Tensor:
    """IsNan: x: T -> y: bool."""
def is_resource_handle_ref_counting(handle: X, *, name: str = ...) -> Tensor:
    """IsResourceHandleRefCounting: handle: resource -> result: bool."""
def is_tensor_float32_enabled(*, name: str = ...) -> Tensor:
    """IsTensorFloat32Enabled:  -> enabled: bool."""
def is_tpu_embedding_initialized(*, config: str = ..., name: str = ...) -> Tensor:
    """IsTPUEmbeddingInitialized:  -> is_tpu_embedding_initialized: bool."""
def is_variable_initialized(ref: X, *, name: str = ...) -> Tensor:
    """IsVariableInitialized: ref: dtype -> is_initialized: bool."""
def isotonic_regression(input: X, *, output_dtype: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """IsotonicRegression: input: T -> output: output_dtype, segments: int32."""
def iterator(*, shared_name: str, container: str, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """Iterator:  -> handle: resource."""
def iterator_from_string_handle(string_handle: X, *, output_types: S[Any] = ..., output_shapes: S[S[int | None] | None] = ..., name: str = ...) -> Tensor:
    """IteratorFromStringHandle: string_handle: string -> resource_handle: resource."""
def iterator_from_string_handle_v2(string_handle: X, *, output_types: S[Any] = ..., output_shapes: S[S[int | None] | None] = ..., name: str = ...) -> Tensor:
    """IteratorFromStringHandleV2: string_handle: string -> resource_handle: resource."""
def iterator_get_device(resource: X, *, name: str = ...) -> Tensor:
    """IteratorGetDevice: resource: resource -> device: string."""
def iterator_get_model_proto(iterator: X, *, name: str = ...) -> Tensor:
    """IteratorGetModelProto: iterator: resource -> model_proto: string."""
def iterator_get_next(iterator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """IteratorGetNext: iterator: resource -> components: output_types."""
def iterator_get_next_as_optional(iterator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """IteratorGetNextAsOptional: iterator: resource -> optional: variant."""
def iterator_get_next_sync(iterator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """IteratorGetNextSync: iterator: resource -> components: output_types."""
def iterator_to_string_handle(resource_handle: X, *, name: str = ...) -> Tensor:
    """IteratorToStringHandle: resource_handle: resource -> string_handle: string."""
def iterator_v2(*, shared_name: str, container: str, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """IteratorV2:  -> handle: resource."""
def kernel_label(*, name: str = ...) -> Tensor:
    """KernelLabel:  -> result: string."""
def kernel_label_required(input: X, *, name: str = ...) -> Tensor:
    """KernelLabelRequired: input: int32 -> result: string."""
def kmc2_chain_initialization(distances: X, seed: X, *, name: str = ...) -> Tensor:
    """KMC2ChainInitialization: distances: float32, seed: int64 -> index: int64."""
def kmeans_plus_plus_initialization(points: X, num_to_sample: X, seed: X, num_retries_per_sample: X, *, name: str = ...) -> Tensor:
    """KmeansPlusPlusInitialization: points: float32, num_to_sample: int64, seed: int64, num_retries_per_sample: int64 -> samples: float32."""
def kth_order_statistic(input: X, *, k: int, name: str = ...) -> Tensor:
    """KthOrderStatistic: input: float32 -> output: float32."""
def l2_loss(t: X, *, name: str = ...) -> Tensor:
    """L2Loss: t: T -> output: T."""
def latency_stats_dataset(input_dataset: X, tag: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """LatencyStatsDataset: input_dataset: variant, tag: string -> handle: variant."""
def leaky_relu(features: X, *, alpha: float = ..., name: str = ...) -> Tensor:
    """LeakyRelu: features: T -> activations: T."""
def leaky_relu_grad(gradients: X, features: X, *, alpha: float = ..., name: str = ...) -> Tensor:
    """LeakyReluGrad: gradients: T, features: T -> backprops: T."""
def learned_unigram_candidate_sampler(true_classes: X, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """LearnedUnigramCandidateSampler: true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32."""
def left_shift(x: X, y: X, *, name: str = ...) -> Tensor:
    """LeftShift: x: T, y: T -> z: T."""
def legacy_parallel_interleave_dataset_v2(input_dataset: X, other_arguments: S[X], cycle_length: X, block_length: X, buffer_output_elements: X, prefetch_input_elements: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], deterministic: str = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """LegacyParallelInterleaveDatasetV2: input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant."""
def less(x: X, y: X, *, name: str = ...) -> Tensor:
    """Less: x: T, y: T -> z: bool."""
def less_equal(x: X, y: X, *, name: str = ...) -> Tensor:
    """LessEqual: x: T, y: T -> z: bool."""
def lgamma(x: X, *, name: str = ...) -> Tensor:
    """Lgamma: x: T -> y: T."""
def lin_space(start: X, stop: X, num: X, *, name: str = ...) -> Tensor:
    """LinSpace: start: T, stop: T, num: Tidx -> output: T."""
def list_dataset(tensors: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """ListDataset: tensors: Tinput_types -> handle: variant."""
def list_diff(x: X, y: X, *, out_idx: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """ListDiff: x: T, y: T -> out: T, idx: out_idx."""
def list_input(a: S[X], *, name: str = ...) -> None:
    """ListInput: a: T -> nothing."""
def list_output(*, T: S[Any], name: str = ...) -> S[Tensor]:
    """ListOutput:  -> a: T."""
def list_snapshot_chunks_dataset(snapshot_path: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ListSnapshotChunksDataset: snapshot_path: string -> handle: variant."""
def lmdb_dataset(filenames: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """LMDBDataset: filenames: string -> handle: variant."""
def lmdb_reader(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """LMDBReader:  -> reader_handle: string."""
def load_all_tpu_embedding_parameters(parameters: S[X], auxiliary1: S[X], auxiliary2: S[X], auxiliary3: S[X], auxiliary4: S[X], auxiliary5: S[X], auxiliary6: S[X], auxiliary7: S[X], *, config: str, num_shards: int, shard_id: int, name: str = ...) -> None:
    """LoadAllTPUEmbeddingParameters: parameters: float32, auxiliary1: float32, auxiliary2: float32, auxiliary3: float32, auxiliary4: float32, auxiliary5: float32, auxiliary6: float32, auxiliary7: float32 -> nothing."""
def load_and_remap_matrix(ckpt_path: X, old_tensor_name: X, row_remapping: X, col_remapping: X, initializing_values: X, *, num_rows: int, num_cols: int, max_rows_in_memory: int = ..., name: str = ...) -> Tensor:
    """LoadAndRemapMatrix: ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, initializing_values: float32 -> output_matrix: float32."""
def load_dataset(path: X, reader_func_other_args: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], reader_func: Any, compression: str = ..., name: str = ...) -> Tensor:
    """LoadDataset: path: string, reader_func_other_args: Treader_func_args -> handle: variant."""
def load_tpu_embedding_adadelta_parameters(parameters: X, accumulators: X, updates: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingAdadeltaParameters: parameters: float32, accumulators: float32, updates: float32 -> nothing."""
def load_tpu_embedding_adagrad_momentum_parameters(parameters: X, accumulators: X, momenta: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingAdagradMomentumParameters: parameters: float32, accumulators: float32, momenta: float32 -> nothing."""
def load_tpu_embedding_adagrad_parameters(parameters: X, accumulators: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingAdagradParameters: parameters: float32, accumulators: float32 -> nothing."""
def load_tpu_embedding_adam_parameters(parameters: X, momenta: X, velocities: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingADAMParameters: parameters: float32, momenta: float32, velocities: float32 -> nothing."""
def load_tpu_embedding_centered_rms_prop_parameters(parameters: X, ms: X, mom: X, mg: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingCenteredRMSPropParameters: parameters: float32, ms: float32, mom: float32, mg: float32 -> nothing."""
def load_tpu_embedding_frequency_estimator_parameters(parameters: X, last_hit_step: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingFrequencyEstimatorParameters: parameters: float32, last_hit_step: float32 -> nothing."""
def load_tpu_embedding_ftrl_parameters(parameters: X, accumulators: X, linears: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingFTRLParameters: parameters: float32, accumulators: float32, linears: float32 -> nothing."""
def load_tpu_embedding_mdl_adagrad_light_parameters(parameters: X, accumulators: X, weights: X, benefits: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingMDLAdagradLightParameters: parameters: float32, accumulators: float32, weights: float32, benefits: float32 -> nothing."""
def load_tpu_embedding_momentum_parameters(parameters: X, momenta: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingMomentumParameters: parameters: float32, momenta: float32 -> nothing."""
def load_tpu_embedding_proximal_adagrad_parameters(parameters: X, accumulators: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingProximalAdagradParameters: parameters: float32, accumulators: float32 -> nothing."""
def load_tpu_embedding_proximal_yogi_parameters(parameters: X, v: X, m: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingProximalYogiParameters: parameters: float32, v: float32, m: float32 -> nothing."""
def load_tpu_embedding_rms_prop_parameters(parameters: X, ms: X, mom: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingRMSPropParameters: parameters: float32, ms: float32, mom: float32 -> nothing."""
def load_tpu_embedding_stochastic_gradient_descent_parameters(parameters: X, *, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> None:
    """LoadTPUEmbeddingStochasticGradientDescentParameters: parameters: float32 -> nothing."""
def log(x: X, *, name: str = ...) -> Tensor:
    """Log: x: T -> y: T."""
def log1p(x: X, *, name: str = ...) -> Tensor:
    """Log1p: x: T -> y: T."""
def log_matrix_determinant(input: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """LogMatrixDeterminant: input: T -> sign: T, log_abs_determinant: T."""
def log_softmax(logits: X, *, name: str = ...) -> Tensor:
    """LogSoftmax: logits: T -> logsoftmax: T."""
def log_uniform_candidate_sampler(true_classes: X, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """LogUniformCandidateSampler: true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32."""
def logical_and(x: X, y: X, *, name: str = ...) -> Tensor:
    """LogicalAnd: x: bool, y: bool -> z: bool."""
def logical_not(x: X, *, name: str = ...) -> Tensor:
    """LogicalNot: x: bool -> y: bool."""
def logical_or(x: X, y: X, *, name: str = ...) -> Tensor:
    """LogicalOr: x: bool, y: bool -> z: bool."""
def lookup_table_export(table_handle: X, *, Tkeys: Any, Tvalues: Any, name: str = ...) -> tuple[Tensor, Tensor]:
    """LookupTableExport: table_handle: string -> keys: Tkeys, values: Tvalues."""
def lookup_table_export_v2(table_handle: X, *, Tkeys: Any, Tvalues: Any, name: str = ...) -> tuple[Tensor, Tensor]:
    """LookupTableExportV2: table_handle: resource -> keys: Tkeys, values: Tvalues."""
def lookup_table_find(table_handle: X, keys: X, default_value: X, *, name: str = ...) -> Tensor:
    """LookupTableFind: table_handle: string, keys: Tin, default_value: Tout -> values: Tout."""
def lookup_table_find_v2(table_handle: X, keys: X, default_value: X, *, name: str = ...) -> Tensor:
    """LookupTableFindV2: table_handle: resource, keys: Tin, default_value: Tout -> values: Tout."""
def lookup_table_import(table_handle: X, keys: X, values: X, *, name: str = ...) -> None:
    """LookupTableImport: table_handle: string, keys: Tin, values: Tout -> nothing."""
def lookup_table_import_v2(table_handle: X, keys: X, values: X, *, name: str = ...) -> None:
    """LookupTableImportV2: table_handle: resource, keys: Tin, values: Tout -> nothing."""
def lookup_table_insert(table_handle: X, keys: X, values: X, *, name: str = ...) -> None:
    """LookupTableInsert: table_handle: string, keys: Tin, values: Tout -> nothing."""
def lookup_table_insert_v2(table_handle: X, keys: X, values: X, *, name: str = ...) -> None:
    """LookupTableInsertV2: table_handle: resource, keys: Tin, values: Tout -> nothing."""
def lookup_table_remove_v2(table_handle: X, keys: X, *, name: str = ...) -> None:
    """LookupTableRemoveV2: table_handle: resource, keys: Tin -> nothing."""
def lookup_table_size(table_handle: X, *, name: str = ...) -> Tensor:
    """LookupTableSize: table_handle: string -> size: int64."""
def lookup_table_size_v2(table_handle: X, *, name: str = ...) -> Tensor:
    """LookupTableSizeV2: table_handle: resource -> size: int64."""
def loop_cond(input: X, *, name: str = ...) -> Tensor:
    """LoopCond: input: bool -> output: bool."""
def lower_bound(sorted_inputs: X, values: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """LowerBound: sorted_inputs: T, values: T -> output: out_type."""
def lrn(input: X, *, depth_radius: int = ..., bias: float = ..., alpha: float = ..., beta: float = ..., name: str = ...) -> Tensor:
    """LRN: input: T -> output: T."""
def lrn_grad(input_grads: X, input_image: X, output_image: X, *, depth_radius: int = ..., bias: float = ..., alpha: float = ..., beta: float = ..., name: str = ...) -> Tensor:
    """LRNGrad: input_grads: T, input_image: T, output_image: T -> output: T."""
def lstm_block_cell(x: X, cs_prev: X, h_prev: X, w: X, wci: X, wcf: X, wco: X, b: X, *, forget_bias: float = ..., cell_clip: float = ..., use_peephole: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """LSTMBlockCell: x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T."""
def lstm_block_cell_grad(x: X, cs_prev: X, h_prev: X, w: X, wci: X, wcf: X, wco: X, b: X, i: X, cs: X, f: X, o: X, ci: X, co: X, cs_grad: X, h_grad: X, *, use_peephole: bool, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """LSTMBlockCellGrad: x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T -> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T."""
def lu(input: X, *, output_idx_type: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """Lu: input: T -> lu: T, p: output_idx_type."""
def make_iterator(dataset: X, iterator: X, *, name: str = ...) -> None:
    """MakeIterator: dataset: variant, iterator: resource -> nothing."""
def make_unique(input: X, *, name: str = ...) -> Tensor:
    """MakeUnique: input: float32 -> output: float32."""
def make_weak_resource_handle(handle: X, *, name: str = ...) -> Tensor:
    """MakeWeakResourceHandle: handle: resource -> dup: resource."""
def map_and_batch_dataset(input_dataset: X, other_arguments: S[X], batch_size: X, num_parallel_calls: X, drop_remainder: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], preserve_cardinality: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """MapAndBatchDataset: input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> handle: variant."""
def map_clear(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> None:
    """MapClear:  -> nothing."""
def map_dataset(input_dataset: X, other_arguments: S[X], *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], use_inter_op_parallelism: bool = ..., preserve_cardinality: bool = ..., force_synchronous: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """MapDataset: input_dataset: variant, other_arguments: Targuments -> handle: variant."""
def map_defun(arguments: S[X], captured_inputs: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], f: Any, max_intra_op_parallelism: int = ..., name: str = ...) -> S[Tensor]:
    """MapDefun: arguments: Targuments, captured_inputs: Tcaptured -> output: output_types."""
def map_incomplete_size(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """MapIncompleteSize:  -> size: int32."""
def map_peek(key: X, indices: X, *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> S[Tensor]:
    """MapPeek: key: int64, indices: int32 -> values: dtypes."""
def map_size(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """MapSize:  -> size: int32."""
def map_stage(key: X, indices: X, values: S[X], *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> None:
    """MapStage: key: int64, indices: int32, values: fake_dtypes -> nothing."""
def map_unstage(key: X, indices: X, *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> S[Tensor]:
    """MapUnstage: key: int64, indices: int32 -> values: dtypes."""
def map_unstage_no_key(indices: X, *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> tuple[Tensor, S[Tensor]]:
    """MapUnstageNoKey: indices: int32 -> key: int64, values: dtypes."""
def matching_files(pattern: X, *, name: str = ...) -> Tensor:
    """MatchingFiles: pattern: string -> filenames: string."""
def matching_files_dataset(patterns: X, *, name: str = ...) -> Tensor:
    """MatchingFilesDataset: patterns: string -> handle: variant."""
def matmul(a: X, b: X, *, transpose_a: bool = ..., transpose_b: bool = ..., grad_a: bool = ..., grad_b: bool = ..., name: str = ...) -> Tensor:
    """MatMul: a: T, b: T -> product: T."""
def matrix_band_part(input: X, num_lower: X, num_upper: X, *, name: str = ...) -> Tensor:
    """MatrixBandPart: input: T, num_lower: Tindex, num_upper: Tindex -> band: T."""
def matrix_determinant(input: X, *, name: str = ...) -> Tensor:
    """MatrixDeterminant: input: T -> output: T."""
def matrix_diag(diagonal: X, *, name: str = ...) -> Tensor:
    """MatrixDiag: diagonal: T -> output: T."""
def matrix_diag_part(input: X, *, name: str = ...) -> Tensor:
    """MatrixDiagPart: input: T -> diagonal: T."""
def matrix_diag_part_v2(input: X, k: X, padding_value: X, *, name: str = ...) -> Tensor:
    """MatrixDiagPartV2: input: T, k: int32, padding_value: T -> diagonal: T."""
def matrix_diag_part_v3(input: X, k: X, padding_value: X, *, align: str = ..., name: str = ...) -> Tensor:
    """MatrixDiagPartV3: input: T, k: int32, padding_value: T -> diagonal: T."""
def matrix_diag_v2(diagonal: X, k: X, num_rows: X, num_cols: X, padding_value: X, *, name: str = ...) -> Tensor:
    """MatrixDiagV2: diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T."""
def matrix_diag_v3(diagonal: X, k: X, num_rows: X, num_cols: X, padding_value: X, *, align: str = ..., name: str = ...) -> Tensor:
    """MatrixDiagV3: diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T."""
def matrix_exponential(input: X, *, name: str = ...) -> Tensor:
    """MatrixExponential: input: T -> output: T."""
def matrix_inverse(input: X, *, adjoint: bool = ..., name: str = ...) -> Tensor:
    """MatrixInverse: input: T -> output: T."""
def matrix_logarithm(input: X, *, name: str = ...) -> Tensor:
    """MatrixLogarithm: input: T -> output: T."""
def matrix_set_diag(input: X, diagonal: X, *, name: str = ...) -> Tensor:
    """MatrixSetDiag: input: T, diagonal: T -> output: T."""
def matrix_set_diag_v2(input: X, diagonal: X, k: X, *, name: str = ...) -> Tensor:
    """MatrixSetDiagV2: input: T, diagonal: T, k: int32 -> output: T."""
def matrix_set_diag_v3(input: X, diagonal: X, k: X, *, align: str = ..., name: str = ...) -> Tensor:
    """MatrixSetDiagV3: input: T, diagonal: T, k: int32 -> output: T."""
def matrix_solve(matrix: X, rhs: X, *, adjoint: bool = ..., name: str = ...) -> Tensor:
    """MatrixSolve: matrix: T, rhs: T -> output: T."""
def matrix_solve_ls(matrix: X, rhs: X, l2_regularizer: X, *, fast: bool = ..., name: str = ...) -> Tensor:
    """MatrixSolveLs: matrix: T, rhs: T, l2_regularizer: float64 -> output: T."""
def matrix_square_root(input: X, *, name: str = ...) -> Tensor:
    """MatrixSquareRoot: input: T -> output: T."""
def matrix_triangular_solve(matrix: X, rhs: X, *, lower: bool = ..., adjoint: bool = ..., name: str = ...) -> Tensor:
    """MatrixTriangularSolve: matrix: T, rhs: T -> output: T."""
def max(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """Max: input: T, reduction_indices: Tidx -> output: T."""
def max_intra_op_parallelism_dataset(input_dataset: X, max_intra_op_parallelism: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """MaxIntraOpParallelismDataset: input_dataset: variant, max_intra_op_parallelism: int64 -> handle: variant."""
def max_pool(input: X, *, ksize: S[int], strides: S[int], padding: str, explicit_paddings: S[int] = ..., data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPool: input: T -> output: T."""
def max_pool3d(input: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPool3D: input: T -> output: T."""
def max_pool3d_grad(orig_input: X, orig_output: X, grad: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPool3DGrad: orig_input: TInput, orig_output: TInput, grad: T -> output: T."""
def max_pool3d_grad_grad(orig_input: X, orig_output: X, grad: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPool3DGradGrad: orig_input: T, orig_output: T, grad: T -> output: T."""
def max_pool_grad(orig_input: X, orig_output: X, grad: X, *, ksize: S[int], strides: S[int], padding: str, explicit_paddings: S[int] = ..., data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPoolGrad: orig_input: T, orig_output: T, grad: T -> output: T."""
def max_pool_grad_grad(orig_input: X, orig_output: X, grad: X, *, ksize: S[int], strides: S[int], padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPoolGradGrad: orig_input: T, orig_output: T, grad: T -> output: T."""
def max_pool_grad_grad_v2(orig_input: X, orig_output: X, grad: X, ksize: X, strides: X, *, padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPoolGradGradV2: orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T."""
def max_pool_grad_grad_with_argmax(input: X, grad: X, argmax: X, *, ksize: S[int], strides: S[int], padding: str, include_batch_in_index: bool = ..., name: str = ...) -> Tensor:
    """MaxPoolGradGradWithArgmax: input: T, grad: T, argmax: Targmax -> output: T."""
def max_pool_grad_v2(orig_input: X, orig_output: X, grad: X, ksize: X, strides: X, *, padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPoolGradV2: orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T."""
def max_pool_grad_with_argmax(input: X, grad: X, argmax: X, *, ksize: S[int], strides: S[int], padding: str, include_batch_in_index: bool = ..., name: str = ...) -> Tensor:
    """MaxPoolGradWithArgmax: input: T, grad: T, argmax: Targmax -> output: T."""
def max_pool_v2(input: X, ksize: X, strides: X, *, padding: str, data_format: str = ..., name: str = ...) -> Tensor:
    """MaxPoolV2: input: T, ksize: int32, strides: int32 -> output: T."""
def max_pool_with_argmax(input: X, *, ksize: S[int], strides: S[int], padding: str, Targmax: Any = ..., include_batch_in_index: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """MaxPoolWithArgmax: input: T -> output: T, argmax: Targmax."""
def maximum(x: X, y: X, *, name: str = ...) -> Tensor:
    """Maximum: x: T, y: T -> z: T."""
def mean(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """Mean: input: T, reduction_indices: Tidx -> output: T."""
def merge(inputs: S[X], *, name: str = ...) -> tuple[Tensor, Tensor]:
    """Merge: inputs: T -> output: T, value_index: int32."""
def merge_dedup_data(integer_tensor: X, float_tensor: X, *, tuple_mask: str, config: str = ..., name: str = ...) -> Tensor:
    """MergeDedupData: integer_tensor: integer_type, float_tensor: float_type -> output: variant."""
def merge_summary(inputs: S[X], *, name: str = ...) -> Tensor:
    """MergeSummary: inputs: string -> summary: string."""
def merge_v2_checkpoints(checkpoint_prefixes: X, destination_prefix: X, *, delete_old_dirs: bool = ..., allow_missing_files: bool = ..., name: str = ...) -> None:
    """MergeV2Checkpoints: checkpoint_prefixes: string, destination_prefix: string -> nothing."""
def mfcc(spectrogram: X, sample_rate: X, *, upper_frequency_limit: float = ..., lower_frequency_limit: float = ..., filterbank_channel_count: int = ..., dct_coefficient_count: int = ..., name: str = ...) -> Tensor:
    """Mfcc: spectrogram: float32, sample_rate: int32 -> output: float32."""
def min(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """Min: input: T, reduction_indices: Tidx -> output: T."""
def minimum(x: X, y: X, *, name: str = ...) -> Tensor:
    """Minimum: x: T, y: T -> z: T."""
def mirror_pad(input: X, paddings: X, *, mode: str, name: str = ...) -> Tensor:
    """MirrorPad: input: T, paddings: Tpaddings -> output: T."""
def mirror_pad_grad(input: X, paddings: X, *, mode: str, name: str = ...) -> Tensor:
    """MirrorPadGrad: input: T, paddings: Tpaddings -> output: T."""
def mixed_struct(*, n_a: int, name: str = ...) -> tuple[S[Tensor], Tensor]:
    """MixedStruct:  -> a: int32, b: float32."""
def mlir_passthrough_op(inputs: S[X], *, mlir_module: str, Toutputs: S[Any], name: str = ...) -> S[Tensor]:
    """MlirPassthroughOp: inputs: Tinputs -> outputs: Toutputs."""
def mod(x: X, y: X, *, name: str = ...) -> Tensor:
    """Mod: x: T, y: T -> z: T."""
def model_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], algorithm: int = ..., cpu_budget: int = ..., ram_budget: int = ..., name: str = ...) -> Tensor:
    """ModelDataset: input_dataset: variant -> handle: variant."""
def mul(x: X, y: X, *, name: str = ...) -> Tensor:
    """Mul: x: T, y: T -> z: T."""
def mul_no_nan(x: X, y: X, *, name: str = ...) -> Tensor:
    """MulNoNan: x: T, y: T -> z: T."""
def multi_device_iterator(*, devices: S[str], shared_name: str, container: str, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """MultiDeviceIterator:  -> handle: resource."""
def multi_device_iterator_from_string_handle(string_handle: X, *, output_types: S[Any] = ..., output_shapes: S[S[int | None] | None] = ..., name: str = ...) -> Tensor:
    """MultiDeviceIteratorFromStringHandle: string_handle: string -> multi_device_iterator: resource."""
def multi_device_iterator_get_next_from_shard(multi_device_iterator: X, shard_num: X, incarnation_id: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """MultiDeviceIteratorGetNextFromShard: multi_device_iterator: resource, shard_num: int32, incarnation_id: int64 -> components: output_types."""
def multi_device_iterator_init(dataset: X, multi_device_iterator: X, max_buffer_size: X, *, name: str = ...) -> Tensor:
    """MultiDeviceIteratorInit: dataset: variant, multi_device_iterator: resource, max_buffer_size: int64 -> incarnation_id: int64."""
def multi_device_iterator_to_string_handle(multi_device_iterator: X, *, name: str = ...) -> Tensor:
    """MultiDeviceIteratorToStringHandle: multi_device_iterator: resource -> string_handle: string."""
def multinomial(logits: X, num_samples: X, *, seed: int = ..., seed2: int = ..., output_dtype: Any = ..., name: str = ...) -> Tensor:
    """Multinomial: logits: T, num_samples: int32 -> output: output_dtype."""
def mutable_dense_hash_table(empty_key: X, *, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., value_shape: S[int | None] | None = ..., initial_num_buckets: int = ..., max_load_factor: float = ..., name: str = ...) -> Tensor:
    """MutableDenseHashTable: empty_key: key_dtype -> table_handle: string."""
def mutable_dense_hash_table_v2(empty_key: X, deleted_key: X, *, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., value_shape: S[int | None] | None = ..., initial_num_buckets: int = ..., max_load_factor: float = ..., name: str = ...) -> Tensor:
    """MutableDenseHashTableV2: empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource."""
def mutable_hash_table(*, key_dtype: Any, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., name: str = ...) -> Tensor:
    """MutableHashTable:  -> table_handle: string."""
def mutable_hash_table_of_tensors(*, key_dtype: Any, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., value_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """MutableHashTableOfTensors:  -> table_handle: string."""
def mutable_hash_table_of_tensors_v2(*, key_dtype: Any, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., value_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """MutableHashTableOfTensorsV2:  -> table_handle: resource."""
def mutable_hash_table_v2(*, key_dtype: Any, value_dtype: Any, container: str = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., name: str = ...) -> Tensor:
    """MutableHashTableV2:  -> table_handle: resource."""
def mutex_lock(mutex: X, *, name: str = ...) -> Tensor:
    """MutexLock: mutex: resource -> mutex_lock: variant."""
def mutex_v2(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """MutexV2:  -> resource: resource."""
def n_in_polymorphic_twice(a: S[X], b: S[X], *, name: str = ...) -> None:
    """NInPolymorphicTwice: a: T, b: T -> nothing."""
def n_in_twice(a: S[X], b: S[X], *, name: str = ...) -> None:
    """NInTwice: a: int32, b: string -> nothing."""
def n_in_two_type_variables(a: S[X], b: S[X], *, name: str = ...) -> None:
    """NInTwoTypeVariables: a: S, b: T -> nothing."""
def n_ints_in(a: S[X], *, name: str = ...) -> None:
    """NIntsIn: a: int32 -> nothing."""
def n_ints_out(*, N: int, name: str = ...) -> S[Tensor]:
    """NIntsOut:  -> a: int32."""
def n_ints_out_default(*, N: int = ..., name: str = ...) -> S[Tensor]:
    """NIntsOutDefault:  -> a: int32."""
def n_polymorphic_in(a: S[X], *, name: str = ...) -> None:
    """NPolymorphicIn: a: T -> nothing."""
def n_polymorphic_out(*, T: Any, N: int, name: str = ...) -> S[Tensor]:
    """NPolymorphicOut:  -> a: T."""
def n_polymorphic_out_default(*, T: Any = ..., N: int = ..., name: str = ...) -> S[Tensor]:
    """NPolymorphicOutDefault:  -> a: T."""
def n_polymorphic_restrict_in(a: S[X], *, name: str = ...) -> None:
    """NPolymorphicRestrictIn: a: T -> nothing."""
def n_polymorphic_restrict_out(*, T: Any, N: int, name: str = ...) -> S[Tensor]:
    """NPolymorphicRestrictOut:  -> a: T."""
def nccl_all_reduce(input: X, *, reduction: str, num_devices: int, shared_name: str, name: str = ...) -> Tensor:
    """NcclAllReduce: input: T -> data: T."""
def nccl_broadcast(input: X, *, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """NcclBroadcast: input: T -> output: T."""
def nccl_reduce(input: S[X], *, reduction: str, name: str = ...) -> Tensor:
    """NcclReduce: input: T -> data: T."""
def ndtri(x: X, *, name: str = ...) -> Tensor:
    """Ndtri: x: T -> y: T."""
def nearest_neighbors(points: X, centers: X, k: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """NearestNeighbors: points: float32, centers: float32, k: int64 -> nearest_center_indices: int64, nearest_center_distances: float32."""
def neg(x: X, *, name: str = ...) -> Tensor:
    """Neg: x: T -> y: T."""
def neg_train(w_in: X, w_out: X, examples: X, labels: X, lr: X, *, vocab_count: S[int], num_negative_samples: int, name: str = ...) -> None:
    """NegTrain: w_in: float32, w_out: float32, examples: int32, labels: int32, lr: float32 -> nothing."""
def next_after(x1: X, x2: X, *, name: str = ...) -> Tensor:
    """NextAfter: x1: T, x2: T -> output: T."""
def next_iteration(data: X, *, name: str = ...) -> Tensor:
    """NextIteration: data: T -> output: T."""
def no_op(*, name: str = ...) -> None:
    """NoOp:  -> nothing."""
def non_deterministic_ints(shape: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """NonDeterministicInts: shape: shape_dtype -> output: dtype."""
def non_max_suppression(boxes: X, scores: X, max_output_size: X, *, iou_threshold: float = ..., name: str = ...) -> Tensor:
    """NonMaxSuppression: boxes: float32, scores: float32, max_output_size: int32 -> selected_indices: int32."""
def non_max_suppression_v2(boxes: X, scores: X, max_output_size: X, iou_threshold: X, *, name: str = ...) -> Tensor:
    """NonMaxSuppressionV2: boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> selected_indices: int32."""
def non_max_suppression_v3(boxes: X, scores: X, max_output_size: X, iou_threshold: X, score_threshold: X, *, name: str = ...) -> Tensor:
    """NonMaxSuppressionV3: boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold -> selected_indices: int32."""
def non_max_suppression_v4(boxes: X, scores: X, max_output_size: X, iou_threshold: X, score_threshold: X, *, pad_to_max_output_size: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """NonMaxSuppressionV4: boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold -> selected_indices: int32, valid_outputs: int32."""
def non_max_suppression_v5(boxes: X, scores: X, max_output_size: X, iou_threshold: X, score_threshold: X, soft_nms_sigma: X, *, pad_to_max_output_size: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """NonMaxSuppressionV5: boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: T -> selected_indices: int32, selected_scores: T, valid_outputs: int32."""
def non_max_suppression_with_overlaps(overlaps: X, scores: X, max_output_size: X, overlap_threshold: X, score_threshold: X, *, name: str = ...) -> Tensor:
    """NonMaxSuppressionWithOverlaps: overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, score_threshold: float32 -> selected_indices: int32."""
def non_serializable_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """NonSerializableDataset: input_dataset: variant -> handle: variant."""
def none(*, name: str = ...) -> None:
    """None:  -> nothing."""
def not_equal(x: X, y: X, *, incompatible_shape_error: bool = ..., name: str = ...) -> Tensor:
    """NotEqual: x: T, y: T -> z: bool."""
def nth_element(input: X, n: X, *, reverse: bool = ..., name: str = ...) -> Tensor:
    """NthElement: input: T, n: int32 -> values: T."""
def old(*, name: str = ...) -> None:
    """Old:  -> nothing."""
def one_hot(indices: X, depth: X, on_value: X, off_value: X, *, axis: int = ..., name: str = ...) -> Tensor:
    """OneHot: indices: TI, depth: int32, on_value: T, off_value: T -> output: T."""
def one_shot_iterator(*, dataset_factory: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """OneShotIterator:  -> handle: resource."""
def ones_like(x: X, *, name: str = ...) -> Tensor:
    """OnesLike: x: T -> y: T."""
def op_with_default_attr(*, default_float: float = ..., name: str = ...) -> Tensor:
    """OpWithDefaultAttr:  -> a: int32."""
def op_with_future_default_attr(*, name: str = ...) -> None:
    """OpWithFutureDefaultAttr:  -> nothing."""
def optimize_dataset(input_dataset: X, optimizations: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], optimization_configs: S[str] = ..., name: str = ...) -> Tensor:
    """OptimizeDataset: input_dataset: variant, optimizations: string -> handle: variant."""
def optimize_dataset_v2(input_dataset: X, optimizations_enabled: X, optimizations_disabled: X, optimizations_default: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], optimization_configs: S[str] = ..., name: str = ...) -> Tensor:
    """OptimizeDatasetV2: input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, optimizations_default: string -> handle: variant."""
def optional_from_value(components: S[X], *, name: str = ...) -> Tensor:
    """OptionalFromValue: components: Toutput_types -> optional: variant."""
def optional_get_value(optional: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """OptionalGetValue: optional: variant -> components: output_types."""
def optional_has_value(optional: X, *, name: str = ...) -> Tensor:
    """OptionalHasValue: optional: variant -> has_value: bool."""
def optional_none(*, name: str = ...) -> Tensor:
    """OptionalNone:  -> optional: variant."""
def options_dataset(input_dataset: X, *, serialized_options: str, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """OptionsDataset: input_dataset: variant -> handle: variant."""
def ordered_map_clear(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> None:
    """OrderedMapClear:  -> nothing."""
def ordered_map_incomplete_size(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """OrderedMapIncompleteSize:  -> size: int32."""
def ordered_map_peek(key: X, indices: X, *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> S[Tensor]:
    """OrderedMapPeek: key: int64, indices: int32 -> values: dtypes."""
def ordered_map_size(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """OrderedMapSize:  -> size: int32."""
def ordered_map_stage(key: X, indices: X, values: S[X], *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> None:
    """OrderedMapStage: key: int64, indices: int32, values: fake_dtypes -> nothing."""
def ordered_map_unstage(key: X, indices: X, *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> S[Tensor]:
    """OrderedMapUnstage: key: int64, indices: int32 -> values: dtypes."""
def ordered_map_unstage_no_key(indices: X, *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> tuple[Tensor, S[Tensor]]:
    """OrderedMapUnstageNoKey: indices: int32 -> key: int64, values: dtypes."""
def out_t(*, T: Any, name: str = ...) -> Tensor:
    """OutT:  -> a: T."""
def out_type_list(*, T: S[Any], name: str = ...) -> S[Tensor]:
    """OutTypeList:  -> out: T."""
def out_type_list_restrict(*, t: S[Any], name: str = ...) -> S[Tensor]:
    """OutTypeListRestrict:  -> out: t."""
def outfeed_dequeue(*, dtype: Any, shape: S[int | None] | None, device_ordinal: int = ..., name: str = ...) -> Tensor:
    """OutfeedDequeue:  -> output: dtype."""
def outfeed_dequeue_tuple(*, dtypes: S[Any], shapes: S[S[int | None] | None], device_ordinal: int = ..., name: str = ...) -> S[Tensor]:
    """OutfeedDequeueTuple:  -> outputs: dtypes."""
def outfeed_dequeue_tuple_v2(device_ordinal: X, *, dtypes: S[Any], shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """OutfeedDequeueTupleV2: device_ordinal: int32 -> outputs: dtypes."""
def outfeed_dequeue_v2(device_ordinal: X, *, dtype: Any, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """OutfeedDequeueV2: device_ordinal: int32 -> output: dtype."""
def outfeed_enqueue(input: X, *, name: str = ...) -> None:
    """OutfeedEnqueue: input: dtype -> nothing."""
def outfeed_enqueue_tuple(inputs: S[X], *, name: str = ...) -> None:
    """OutfeedEnqueueTuple: inputs: dtypes -> nothing."""
def pack(values: S[X], *, axis: int = ..., name: str = ...) -> Tensor:
    """Pack: values: T -> output: T."""
def pad(input: X, paddings: X, *, name: str = ...) -> Tensor:
    """Pad: input: T, paddings: Tpaddings -> output: T."""
def pad_v2(input: X, paddings: X, constant_values: X, *, name: str = ...) -> Tensor:
    """PadV2: input: T, paddings: Tpaddings, constant_values: T -> output: T."""
def padded_batch_dataset(input_dataset: X, batch_size: X, padded_shapes: S[X], padding_values: S[X], *, output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """PaddedBatchDataset: input_dataset: variant, batch_size: int64, padded_shapes: int64, padding_values: Toutput_types -> handle: variant."""
def padded_batch_dataset_v2(input_dataset: X, batch_size: X, padded_shapes: S[X], padding_values: S[X], drop_remainder: X, *, output_shapes: S[S[int | None] | None], parallel_copy: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """PaddedBatchDatasetV2: input_dataset: variant, batch_size: int64, padded_shapes: int64, padding_values: Toutput_types, drop_remainder: bool -> handle: variant."""
def padding_fifo_queue(*, component_types: S[Any], shapes: S[S[int | None] | None] = ..., capacity: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """PaddingFIFOQueue:  -> handle: string."""
def padding_fifo_queue_v2(*, component_types: S[Any], shapes: S[S[int | None] | None] = ..., capacity: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """PaddingFIFOQueueV2:  -> handle: resource."""
def parallel_batch_dataset(input_dataset: X, batch_size: X, num_parallel_calls: X, drop_remainder: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], parallel_copy: bool = ..., deterministic: str = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelBatchDataset: input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> handle: variant."""
def parallel_concat(values: S[X], *, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """ParallelConcat: values: T -> output: T."""
def parallel_dynamic_stitch(indices: S[X], data: S[X], *, name: str = ...) -> Tensor:
    """ParallelDynamicStitch: indices: int32, data: T -> merged: T."""
def parallel_filter_dataset(input_dataset: X, other_arguments: S[X], num_parallel_calls: X, *, predicate: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], deterministic: str = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelFilterDataset: input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64 -> handle: variant."""
def parallel_interleave_dataset(input_dataset: X, other_arguments: S[X], cycle_length: X, block_length: X, sloppy: X, buffer_output_elements: X, prefetch_input_elements: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelInterleaveDataset: input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant."""
def parallel_interleave_dataset_v2(input_dataset: X, other_arguments: S[X], cycle_length: X, block_length: X, num_parallel_calls: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], sloppy: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelInterleaveDatasetV2: input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64 -> handle: variant."""
def parallel_interleave_dataset_v3(input_dataset: X, other_arguments: S[X], cycle_length: X, block_length: X, num_parallel_calls: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], deterministic: str = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelInterleaveDatasetV3: input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64 -> handle: variant."""
def parallel_interleave_dataset_v4(input_dataset: X, other_arguments: S[X], cycle_length: X, block_length: X, buffer_output_elements: X, prefetch_input_elements: X, num_parallel_calls: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], deterministic: str = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelInterleaveDatasetV4: input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64 -> handle: variant."""
def parallel_map_dataset(input_dataset: X, other_arguments: S[X], num_parallel_calls: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], use_inter_op_parallelism: bool = ..., sloppy: bool = ..., preserve_cardinality: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelMapDataset: input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32 -> handle: variant."""
def parallel_map_dataset_v2(input_dataset: X, other_arguments: S[X], num_parallel_calls: X, *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], use_inter_op_parallelism: bool = ..., deterministic: str = ..., preserve_cardinality: bool = ..., use_unbounded_threadpool: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ParallelMapDatasetV2: input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64 -> handle: variant."""
def parameterized_truncated_normal(shape: X, means: X, stdevs: X, minvals: X, maxvals: X, *, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """ParameterizedTruncatedNormal: shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype."""
def parse_example(serialized: X, names: X, sparse_keys: S[X], dense_keys: S[X], dense_defaults: S[X], *, sparse_types: S[Any], dense_shapes: S[S[int | None] | None], name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """ParseExample: serialized: string, names: string, sparse_keys: string, dense_keys: string, dense_defaults: Tdense -> sparse_indices: int64, sparse_values: sparse_types, sparse_shapes: int64, dense_values: Tdense."""
def parse_example_dataset(input_dataset: X, num_parallel_calls: X, dense_defaults: S[X], *, sparse_keys: S[str], dense_keys: S[str], sparse_types: S[Any], dense_shapes: S[S[int | None] | None], output_types: S[Any], output_shapes: S[S[int | None] | None], sloppy: bool = ..., ragged_keys: S[str] = ..., ragged_value_types: S[Any] = ..., ragged_split_types: S[Any] = ..., name: str = ...) -> Tensor:
    """ParseExampleDataset: input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense -> handle: variant."""
def parse_example_dataset_v2(input_dataset: X, num_parallel_calls: X, dense_defaults: S[X], *, sparse_keys: S[str], dense_keys: S[str], sparse_types: S[Any], dense_shapes: S[S[int | None] | None], output_types: S[Any], output_shapes: S[S[int | None] | None], deterministic: str = ..., ragged_keys: S[str] = ..., ragged_value_types: S[Any] = ..., ragged_split_types: S[Any] = ..., name: str = ...) -> Tensor:
    """ParseExampleDatasetV2: input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense -> handle: variant."""
def parse_example_v2(serialized: X, names: X, sparse_keys: X, dense_keys: X, ragged_keys: X, dense_defaults: S[X], *, num_sparse: int, sparse_types: S[Any], ragged_value_types: S[Any], ragged_split_types: S[Any], dense_shapes: S[S[int | None] | None], name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """ParseExampleV2: serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, dense_defaults: Tdense -> sparse_indices: int64, sparse_values: sparse_types, sparse_shapes: int64, dense_values: Tdense, ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types."""
def parse_sequence_example(serialized: X, debug_name: X, context_dense_defaults: S[X], *, feature_list_dense_missing_assumed_empty: S[str], context_sparse_keys: S[str], context_dense_keys: S[str], feature_list_sparse_keys: S[str], feature_list_dense_keys: S[str], Ncontext_sparse: int = ..., Ncontext_dense: int = ..., Nfeature_list_sparse: int = ..., Nfeature_list_dense: int = ..., context_sparse_types: S[Any] = ..., feature_list_dense_types: S[Any] = ..., context_dense_shapes: S[S[int | None] | None] = ..., feature_list_sparse_types: S[Any] = ..., feature_list_dense_shapes: S[S[int | None] | None] = ..., name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """ParseSequenceExample: serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> context_sparse_indices: int64, context_sparse_values: context_sparse_types, context_sparse_shapes: int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: int64."""
def parse_sequence_example_v2(serialized: X, debug_name: X, context_sparse_keys: X, context_dense_keys: X, context_ragged_keys: X, feature_list_sparse_keys: X, feature_list_dense_keys: X, feature_list_ragged_keys: X, feature_list_dense_missing_assumed_empty: X, context_dense_defaults: S[X], *, Ncontext_sparse: int = ..., context_sparse_types: S[Any] = ..., context_ragged_value_types: S[Any] = ..., context_ragged_split_types: S[Any] = ..., context_dense_shapes: S[S[int | None] | None] = ..., Nfeature_list_sparse: int = ..., Nfeature_list_dense: int = ..., feature_list_dense_types: S[Any] = ..., feature_list_sparse_types: S[Any] = ..., feature_list_ragged_value_types: S[Any] = ..., feature_list_ragged_split_types: S[Any] = ..., feature_list_dense_shapes: S[S[int | None] | None] = ..., name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """ParseSequenceExampleV2: serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: Tcontext_dense -> context_sparse_indices: int64, context_sparse_values: context_sparse_types, context_sparse_shapes: int64, context_dense_values: Tcontext_dense, context_ragged_values: context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, feature_list_sparse_indices: int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: int64, feature_list_ragged_values: feature_list_ragged_value_types, feature_list_ragged_outer_splits: feature_list_ragged_split_types, feature_list_ragged_inner_splits: feature_list_ragged_split_types."""
def parse_single_example(serialized: X, dense_defaults: S[X], *, num_sparse: int, sparse_keys: S[str], dense_keys: S[str], sparse_types: S[Any], dense_shapes: S[S[int | None] | None], name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """ParseSingleExample: serialized: string, dense_defaults: Tdense -> sparse_indices: int64, sparse_values: sparse_types, sparse_shapes: int64, dense_values: Tdense."""
def parse_single_sequence_example(serialized: X, feature_list_dense_missing_assumed_empty: X, context_sparse_keys: S[X], context_dense_keys: S[X], feature_list_sparse_keys: S[X], feature_list_dense_keys: S[X], context_dense_defaults: S[X], debug_name: X, *, context_sparse_types: S[Any] = ..., feature_list_dense_types: S[Any] = ..., context_dense_shapes: S[S[int | None] | None] = ..., feature_list_sparse_types: S[Any] = ..., feature_list_dense_shapes: S[S[int | None] | None] = ..., name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """ParseSingleSequenceExample: serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: string, context_dense_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, context_dense_defaults: Tcontext_dense, debug_name: string -> context_sparse_indices: int64, context_sparse_values: context_sparse_types, context_sparse_shapes: int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: int64, feature_list_dense_values: feature_list_dense_types."""
def parse_tensor(serialized: X, *, out_type: Any, name: str = ...) -> Tensor:
    """ParseTensor: serialized: string -> output: out_type."""
def partitioned_call(args: S[X], *, Tout: S[Any], f: Any, config: str = ..., config_proto: str = ..., executor_type: str = ..., name: str = ...) -> S[Tensor]:
    """PartitionedCall: args: Tin -> output: Tout."""
def placeholder(*, dtype: Any, shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """Placeholder:  -> output: dtype."""
def placeholder_v2(*, dtype: Any, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """PlaceholderV2:  -> output: dtype."""
def placeholder_with_default(input: X, *, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """PlaceholderWithDefault: input: dtype -> output: dtype."""
def polygamma(a: X, x: X, *, name: str = ...) -> Tensor:
    """Polygamma: a: T, x: T -> z: T."""
def polymorphic(a: X, *, name: str = ...) -> Tensor:
    """Polymorphic: a: T -> out: T."""
def polymorphic_default_out(*, T: Any = ..., name: str = ...) -> Tensor:
    """PolymorphicDefaultOut:  -> out: T."""
def polymorphic_out(*, T: Any, name: str = ...) -> Tensor:
    """PolymorphicOut:  -> out: T."""
def population_count(x: X, *, name: str = ...) -> Tensor:
    """PopulationCount: x: T -> y: uint8."""
def pow(x: X, y: X, *, name: str = ...) -> Tensor:
    """Pow: x: T, y: T -> z: T."""
def prefetch_dataset(input_dataset: X, buffer_size: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], slack_period: int = ..., legacy_autotune: bool = ..., buffer_size_min: int = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """PrefetchDataset: input_dataset: variant, buffer_size: int64 -> handle: variant."""
def prelinearize(input: X, *, shape: S[int | None] | None = ..., layout: S[int] = ..., name: str = ...) -> Tensor:
    """Prelinearize: input: dtype -> output: variant."""
def prelinearize_tuple(inputs: S[X], *, shapes: S[S[int | None] | None], layouts: S[int] = ..., name: str = ...) -> Tensor:
    """PrelinearizeTuple: inputs: dtypes -> output: variant."""
def prevent_gradient(input: X, *, message: str = ..., name: str = ...) -> Tensor:
    """PreventGradient: input: T -> output: T."""
def print(input: X, data: S[X], *, message: str = ..., first_n: int = ..., summarize: int = ..., name: str = ...) -> Tensor:
    """Print: input: T, data: U -> output: T."""
def print_v2(input: X, *, output_stream: str = ..., end: str = ..., name: str = ...) -> None:
    """PrintV2: input: string -> nothing."""
def priority_queue(*, shapes: S[S[int | None] | None], component_types: S[Any] = ..., capacity: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """PriorityQueue:  -> handle: string."""
def priority_queue_v2(*, shapes: S[S[int | None] | None], component_types: S[Any] = ..., capacity: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """PriorityQueueV2:  -> handle: resource."""
def private_thread_pool_dataset(input_dataset: X, num_threads: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """PrivateThreadPoolDataset: input_dataset: variant, num_threads: int64 -> handle: variant."""
def prod(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """Prod: input: T, reduction_indices: Tidx -> output: T."""
def py_func(input: S[X], *, token: str, Tout: S[Any], name: str = ...) -> S[Tensor]:
    """PyFunc: input: Tin -> output: Tout."""
def py_func_stateless(input: S[X], *, token: str, Tout: S[Any], name: str = ...) -> S[Tensor]:
    """PyFuncStateless: input: Tin -> output: Tout."""
def qr(input: X, *, full_matrices: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """Qr: input: T -> q: T, r: T."""
def quantize_and_dequantize(input: X, *, signed_input: bool = ..., num_bits: int = ..., range_given: bool = ..., input_min: float = ..., input_max: float = ..., name: str = ...) -> Tensor:
    """QuantizeAndDequantize: input: T -> output: T."""
def quantize_and_dequantize_v2(input: X, input_min: X, input_max: X, *, signed_input: bool = ..., num_bits: int = ..., range_given: bool = ..., round_mode: str = ..., narrow_range: bool = ..., axis: int = ..., name: str = ...) -> Tensor:
    """QuantizeAndDequantizeV2: input: T, input_min: T, input_max: T -> output: T."""
def quantize_and_dequantize_v3(input: X, input_min: X, input_max: X, num_bits: X, *, signed_input: bool = ..., range_given: bool = ..., narrow_range: bool = ..., axis: int = ..., name: str = ...) -> Tensor:
    """QuantizeAndDequantizeV3: input: T, input_min: T, input_max: T, num_bits: int32 -> output: T."""
def quantize_and_dequantize_v4(input: X, input_min: X, input_max: X, *, signed_input: bool = ..., num_bits: int = ..., range_given: bool = ..., round_mode: str = ..., narrow_range: bool = ..., axis: int = ..., name: str = ...) -> Tensor:
    """QuantizeAndDequantizeV4: input: T, input_min: T, input_max: T -> output: T."""
def quantize_and_dequantize_v4_grad(gradients: X, input: X, input_min: X, input_max: X, *, axis: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizeAndDequantizeV4Grad: gradients: T, input: T, input_min: T, input_max: T -> input_backprop: T, input_min_backprop: T, input_max_backprop: T."""
def quantize_down_and_shrink_range(input: X, input_min: X, input_max: X, *, out_type: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizeDownAndShrinkRange: input: Tinput, input_min: float32, input_max: float32 -> output: out_type, output_min: float32, output_max: float32."""
def quantize_v2(input: X, min_range: X, max_range: X, *, T: Any, mode: str = ..., round_mode: str = ..., narrow_range: bool = ..., axis: int = ..., ensure_minimum_range: float = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizeV2: input: float32, min_range: float32, max_range: float32 -> output: T, output_min: float32, output_max: float32."""
def quantized_add(x: X, y: X, min_x: X, max_x: X, min_y: X, max_y: X, *, Toutput: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedAdd: x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 -> z: Toutput, min_z: float32, max_z: float32."""
def quantized_avg_pool(input: X, min_input: X, max_input: X, *, ksize: S[int], strides: S[int], padding: str, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedAvgPool: input: T, min_input: float32, max_input: float32 -> output: T, min_output: float32, max_output: float32."""
def quantized_batch_norm_with_global_normalization(t: X, t_min: X, t_max: X, m: X, m_min: X, m_max: X, v: X, v_min: X, v_max: X, beta: X, beta_min: X, beta_max: X, gamma: X, gamma_min: X, gamma_max: X, *, out_type: Any, variance_epsilon: float, scale_after_normalization: bool, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedBatchNormWithGlobalNormalization: t: Tinput, t_min: float32, t_max: float32, m: Tinput, m_min: float32, m_max: float32, v: Tinput, v_min: float32, v_max: float32, beta: Tinput, beta_min: float32, beta_max: float32, gamma: Tinput, gamma_min: float32, gamma_max: float32 -> result: out_type, result_min: float32, result_max: float32."""
def quantized_bias_add(input: X, bias: X, min_input: X, max_input: X, min_bias: X, max_bias: X, *, out_type: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedBiasAdd: input: T1, bias: T2, min_input: float32, max_input: float32, min_bias: float32, max_bias: float32 -> output: out_type, min_out: float32, max_out: float32."""
def quantized_concat(concat_dim: X, values: S[X], input_mins: S[X], input_maxes: S[X], *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConcat: concat_dim: int32, values: T, input_mins: float32, input_maxes: float32 -> output: T, output_min: float32, output_max: float32."""
def quantized_concat_v2(values: S[X], axis: X, input_mins: S[X], input_maxes: S[X], *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConcatV2: values: T, axis: Tidx, input_mins: float32, input_maxes: float32 -> output: T, output_min: float32, output_max: float32."""
def quantized_conv2d(input: X, filter: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2D: input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_and_relu(input: X, filter: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DAndRelu: input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_and_relu_and_requantize(input: X, filter: X, min_input: X, max_input: X, min_filter: X, max_filter: X, min_freezed_output: X, max_freezed_output: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DAndReluAndRequantize: input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_and_requantize(input: X, filter: X, min_input: X, max_input: X, min_filter: X, max_filter: X, min_freezed_output: X, max_freezed_output: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DAndRequantize: input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_per_channel(input: X, filter: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DPerChannel: input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_with_bias(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DWithBias: input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_with_bias_and_relu(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DWithBiasAndRelu: input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_with_bias_and_relu_and_requantize(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, min_freezed_output: X, max_freezed_output: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DWithBiasAndReluAndRequantize: input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_with_bias_and_requantize(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, min_freezed_output: X, max_freezed_output: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DWithBiasAndRequantize: input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_with_bias_signed_sum_and_relu_and_requantize(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, min_freezed_output: X, max_freezed_output: X, summand: X, min_summand: X, max_summand: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DWithBiasSignedSumAndReluAndRequantize: input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, min_freezed_output: float32, max_freezed_output: float32, summand: Tsummand, min_summand: float32, max_summand: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_with_bias_sum_and_relu(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, summand: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DWithBiasSumAndRelu: input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, summand: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_conv2d_with_bias_sum_and_relu_and_requantize(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, min_freezed_output: X, max_freezed_output: X, summand: X, min_summand: X, max_summand: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedConv2DWithBiasSumAndReluAndRequantize: input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, min_freezed_output: float32, max_freezed_output: float32, summand: Tsummand, min_summand: float32, max_summand: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_depthwise_conv2d(input: X, filter: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedDepthwiseConv2D: input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_depthwise_conv2d_with_bias(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedDepthwiseConv2DWithBias: input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_depthwise_conv2d_with_bias_and_relu(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedDepthwiseConv2DWithBiasAndRelu: input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_depthwise_conv2d_with_bias_and_relu_and_requantize(input: X, filter: X, bias: X, min_input: X, max_input: X, min_filter: X, max_filter: X, min_freezed_output: X, max_freezed_output: X, *, strides: S[int], padding: str, out_type: Any = ..., dilations: S[int] = ..., padding_list: S[int] = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize: input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output: float32, max_output: float32."""
def quantized_instance_norm(x: X, x_min: X, x_max: X, *, output_range_given: bool = ..., given_y_min: float = ..., given_y_max: float = ..., variance_epsilon: float = ..., min_separation: float = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedInstanceNorm: x: T, x_min: float32, x_max: float32 -> y: T, y_min: float32, y_max: float32."""
def quantized_matmul(a: X, b: X, min_a: X, max_a: X, min_b: X, max_b: X, *, Toutput: Any = ..., transpose_a: bool = ..., transpose_b: bool = ..., Tactivation: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedMatMul: a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> out: Toutput, min_out: float32, max_out: float32."""
def quantized_matmul_with_bias(a: X, b: X, bias: X, min_a: X, max_a: X, min_b: X, max_b: X, *, Toutput: Any = ..., transpose_a: bool = ..., transpose_b: bool = ..., input_quant_mode: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedMatMulWithBias: a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> out: Toutput, min_out: float32, max_out: float32."""
def quantized_matmul_with_bias_and_dequantize(a: X, b: X, bias: X, min_a: X, max_a: X, min_b: X, max_b: X, min_freezed_output: X, max_freezed_output: X, *, Toutput: Any, transpose_a: bool = ..., transpose_b: bool = ..., input_quant_mode: str = ..., name: str = ...) -> Tensor:
    """QuantizedMatMulWithBiasAndDequantize: a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32, min_freezed_output: float32, max_freezed_output: float32 -> out: Toutput."""
def quantized_matmul_with_bias_and_relu(a: X, b: X, bias: X, min_a: X, max_a: X, min_b: X, max_b: X, *, Toutput: Any = ..., transpose_a: bool = ..., transpose_b: bool = ..., input_quant_mode: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedMatMulWithBiasAndRelu: a: T1, b: T2, bias: float32, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> out: Toutput, min_out: float32, max_out: float32."""
def quantized_matmul_with_bias_and_relu_and_requantize(a: X, b: X, bias: X, min_a: X, max_a: X, min_b: X, max_b: X, min_freezed_output: X, max_freezed_output: X, *, Toutput: Any = ..., transpose_a: bool = ..., transpose_b: bool = ..., input_quant_mode: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedMatMulWithBiasAndReluAndRequantize: a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32, min_freezed_output: float32, max_freezed_output: float32 -> out: Toutput, min_out: float32, max_out: float32."""
def quantized_matmul_with_bias_and_requantize(a: X, b: X, bias: X, min_a: X, max_a: X, min_b: X, max_b: X, min_freezed_output: X, max_freezed_output: X, *, Toutput: Any = ..., transpose_a: bool = ..., transpose_b: bool = ..., input_quant_mode: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedMatMulWithBiasAndRequantize: a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32, min_freezed_output: float32, max_freezed_output: float32 -> out: Toutput, min_out: float32, max_out: float32."""
def quantized_max_pool(input: X, min_input: X, max_input: X, *, ksize: S[int], strides: S[int], padding: str, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedMaxPool: input: T, min_input: float32, max_input: float32 -> output: T, min_output: float32, max_output: float32."""
def quantized_mul(x: X, y: X, min_x: X, max_x: X, min_y: X, max_y: X, *, Toutput: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedMul: x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 -> z: Toutput, min_z: float32, max_z: float32."""
def quantized_relu(features: X, min_features: X, max_features: X, *, out_type: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedRelu: features: Tinput, min_features: float32, max_features: float32 -> activations: out_type, min_activations: float32, max_activations: float32."""
def quantized_relu6(features: X, min_features: X, max_features: X, *, out_type: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedRelu6: features: Tinput, min_features: float32, max_features: float32 -> activations: out_type, min_activations: float32, max_activations: float32."""
def quantized_relu_x(features: X, max_value: X, min_features: X, max_features: X, *, out_type: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedReluX: features: Tinput, max_value: float32, min_features: float32, max_features: float32 -> activations: out_type, min_activations: float32, max_activations: float32."""
def quantized_reshape(tensor: X, shape: X, input_min: X, input_max: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedReshape: tensor: T, shape: Tshape, input_min: float32, input_max: float32 -> output: T, output_min: float32, output_max: float32."""
def quantized_resize_bilinear(images: X, size: X, min: X, max: X, *, align_corners: bool = ..., half_pixel_centers: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """QuantizedResizeBilinear: images: T, size: int32, min: float32, max: float32 -> resized_images: T, out_min: float32, out_max: float32."""
def queue_close(handle: X, *, cancel_pending_enqueues: bool = ..., name: str = ...) -> None:
    """QueueClose: handle: string -> nothing."""
def queue_close_v2(handle: X, *, cancel_pending_enqueues: bool = ..., name: str = ...) -> None:
    """QueueCloseV2: handle: resource -> nothing."""
def queue_dequeue(handle: X, *, component_types: S[Any], timeout_ms: int = ..., name: str = ...) -> S[Tensor]:
    """QueueDequeue: handle: string -> components: component_types."""
def queue_dequeue_many(handle: X, n: X, *, component_types: S[Any], timeout_ms: int = ..., name: str = ...) -> S[Tensor]:
    """QueueDequeueMany: handle: string, n: int32 -> components: component_types."""
def queue_dequeue_many_v2(handle: X, n: X, *, component_types: S[Any], timeout_ms: int = ..., name: str = ...) -> S[Tensor]:
    """QueueDequeueManyV2: handle: resource, n: int32 -> components: component_types."""
def queue_dequeue_up_to(handle: X, n: X, *, component_types: S[Any], timeout_ms: int = ..., name: str = ...) -> S[Tensor]:
    """QueueDequeueUpTo: handle: string, n: int32 -> components: component_types."""
def queue_dequeue_up_to_v2(handle: X, n: X, *, component_types: S[Any], timeout_ms: int = ..., name: str = ...) -> S[Tensor]:
    """QueueDequeueUpToV2: handle: resource, n: int32 -> components: component_types."""
def queue_dequeue_v2(handle: X, *, component_types: S[Any], timeout_ms: int = ..., name: str = ...) -> S[Tensor]:
    """QueueDequeueV2: handle: resource -> components: component_types."""
def queue_enqueue(handle: X, components: S[X], *, timeout_ms: int = ..., name: str = ...) -> None:
    """QueueEnqueue: handle: string, components: Tcomponents -> nothing."""
def queue_enqueue_many(handle: X, components: S[X], *, timeout_ms: int = ..., name: str = ...) -> None:
    """QueueEnqueueMany: handle: string, components: Tcomponents -> nothing."""
def queue_enqueue_many_v2(handle: X, components: S[X], *, timeout_ms: int = ..., name: str = ...) -> None:
    """QueueEnqueueManyV2: handle: resource, components: Tcomponents -> nothing."""
def queue_enqueue_v2(handle: X, components: S[X], *, timeout_ms: int = ..., name: str = ...) -> None:
    """QueueEnqueueV2: handle: resource, components: Tcomponents -> nothing."""
def queue_is_closed(handle: X, *, name: str = ...) -> Tensor:
    """QueueIsClosed: handle: string -> is_closed: bool."""
def queue_is_closed_v2(handle: X, *, name: str = ...) -> Tensor:
    """QueueIsClosedV2: handle: resource -> is_closed: bool."""
def queue_size(handle: X, *, name: str = ...) -> Tensor:
    """QueueSize: handle: string -> size: int32."""
def queue_size_v2(handle: X, *, name: str = ...) -> Tensor:
    """QueueSizeV2: handle: resource -> size: int32."""
def ragged_bincount(splits: X, values: X, size: X, weights: X, *, binary_output: bool = ..., name: str = ...) -> Tensor:
    """RaggedBincount: splits: int64, values: Tidx, size: Tidx, weights: T -> output: T."""
def ragged_count_sparse_output(splits: X, values: X, weights: X, *, binary_output: bool, minlength: int = ..., maxlength: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RaggedCountSparseOutput: splits: int64, values: T, weights: output_type -> output_indices: int64, output_values: output_type, output_dense_shape: int64."""
def ragged_cross(ragged_values: S[X], ragged_row_splits: S[X], sparse_indices: S[X], sparse_values: S[X], sparse_shape: S[X], dense_inputs: S[X], *, input_order: str, hashed_output: bool, num_buckets: int, hash_key: int, out_values_type: Any, out_row_splits_type: Any, name: str = ...) -> tuple[Tensor, Tensor]:
    """RaggedCross: ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, sparse_indices: int64, sparse_values: sparse_values_types, sparse_shape: int64, dense_inputs: dense_types -> output_values: out_values_type, output_row_splits: out_row_splits_type."""
def ragged_fill_empty_rows(value_rowids: X, values: X, nrows: X, default_value: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """RaggedFillEmptyRows: value_rowids: int64, values: T, nrows: int64, default_value: T -> output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64."""
def ragged_fill_empty_rows_grad(reverse_index_map: X, grad_values: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """RaggedFillEmptyRowsGrad: reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T."""
def ragged_gather(params_nested_splits: S[X], params_dense_values: X, indices: X, *, OUTPUT_RAGGED_RANK: int, name: str = ...) -> tuple[S[Tensor], Tensor]:
    """RaggedGather: params_nested_splits: Tsplits, params_dense_values: Tvalues, indices: Tindices -> output_nested_splits: Tsplits, output_dense_values: Tvalues."""
def ragged_range(starts: X, limits: X, deltas: X, *, Tsplits: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """RaggedRange: starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T."""
def ragged_tensor_from_variant(encoded_ragged: X, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: Any, Tsplits: Any = ..., name: str = ...) -> tuple[S[Tensor], Tensor]:
    """RaggedTensorFromVariant: encoded_ragged: variant -> output_nested_splits: Tsplits, output_dense_values: Tvalues."""
def ragged_tensor_to_sparse(rt_nested_splits: S[X], rt_dense_values: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RaggedTensorToSparse: rt_nested_splits: Tsplits, rt_dense_values: T -> sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64."""
def ragged_tensor_to_tensor(shape: X, values: X, default_value: X, row_partition_tensors: S[X], *, row_partition_types: S[str], name: str = ...) -> Tensor:
    """RaggedTensorToTensor: shape: Tshape, values: T, default_value: T, row_partition_tensors: Tindex -> result: T."""
def ragged_tensor_to_variant(rt_nested_splits: S[X], rt_dense_values: X, *, batched_input: bool, name: str = ...) -> Tensor:
    """RaggedTensorToVariant: rt_nested_splits: Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant."""
def ragged_tensor_to_variant_gradient(encoded_ragged_grad: X, row_splits: X, dense_values_shape: X, *, Tvalues: Any, name: str = ...) -> Tensor:
    """RaggedTensorToVariantGradient: encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32 -> dense_values_grad: Tvalues."""
def random_crop(image: X, size: X, *, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """RandomCrop: image: T, size: int64 -> output: T."""
def random_dataset(seed: X, seed2: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """RandomDataset: seed: int64, seed2: int64 -> handle: variant."""
def random_dataset_v2(seed: X, seed2: X, seed_generator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], rerandomize_each_iteration: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """RandomDatasetV2: seed: int64, seed2: int64, seed_generator: resource -> handle: variant."""
def random_gamma(shape: X, alpha: X, *, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """RandomGamma: shape: S, alpha: T -> output: T."""
def random_gamma_grad(alpha: X, sample: X, *, name: str = ...) -> Tensor:
    """RandomGammaGrad: alpha: T, sample: T -> output: T."""
def random_index_shuffle(index: X, seed: X, max_index: X, *, rounds: int = ..., name: str = ...) -> Tensor:
    """RandomIndexShuffle: index: dtype, seed: Tseed, max_index: dtype -> output: dtype."""
def random_poisson(shape: X, rate: X, *, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """RandomPoisson: shape: S, rate: dtype -> output: dtype."""
def random_poisson_v2(shape: X, rate: X, *, seed: int = ..., seed2: int = ..., dtype: Any = ..., name: str = ...) -> Tensor:
    """RandomPoissonV2: shape: S, rate: R -> output: dtype."""
def random_shuffle(value: X, *, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """RandomShuffle: value: T -> output: T."""
def random_shuffle_queue(*, component_types: S[Any], shapes: S[S[int | None] | None] = ..., capacity: int = ..., min_after_dequeue: int = ..., seed: int = ..., seed2: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """RandomShuffleQueue:  -> handle: string."""
def random_shuffle_queue_v2(*, component_types: S[Any], shapes: S[S[int | None] | None] = ..., capacity: int = ..., min_after_dequeue: int = ..., seed: int = ..., seed2: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """RandomShuffleQueueV2:  -> handle: resource."""
def random_standard_normal(shape: X, *, dtype: Any, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """RandomStandardNormal: shape: T -> output: dtype."""
def random_uniform(shape: X, *, dtype: Any, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """RandomUniform: shape: T -> output: dtype."""
def random_uniform_int(shape: X, minval: X, maxval: X, *, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """RandomUniformInt: shape: T, minval: Tout, maxval: Tout -> output: Tout."""
def range(start: X, limit: X, delta: X, *, name: str = ...) -> Tensor:
    """Range: start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx."""
def range_dataset(start: X, stop: X, step: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., replicate_on_split: bool = ..., name: str = ...) -> Tensor:
    """RangeDataset: start: int64, stop: int64, step: int64 -> handle: variant."""
def rank(input: X, *, name: str = ...) -> Tensor:
    """Rank: input: T -> output: int32."""
def read_file(filename: X, *, name: str = ...) -> Tensor:
    """ReadFile: filename: string -> contents: string."""
def read_variable_op(resource: X, *, dtype: Any, name: str = ...) -> Tensor:
    """ReadVariableOp: resource: resource -> value: dtype."""
def read_variable_xla_split_nd(resource: X, *, T: Any, N: int, num_splits: S[int], paddings: S[int] = ..., name: str = ...) -> S[Tensor]:
    """ReadVariableXlaSplitND: resource: resource -> outputs: T."""
def reader_num_records_produced(reader_handle: X, *, name: str = ...) -> Tensor:
    """ReaderNumRecordsProduced: reader_handle: string -> records_produced: int64."""
def reader_num_records_produced_v2(reader_handle: X, *, name: str = ...) -> Tensor:
    """ReaderNumRecordsProducedV2: reader_handle: resource -> records_produced: int64."""
def reader_num_work_units_completed(reader_handle: X, *, name: str = ...) -> Tensor:
    """ReaderNumWorkUnitsCompleted: reader_handle: string -> units_completed: int64."""
def reader_num_work_units_completed_v2(reader_handle: X, *, name: str = ...) -> Tensor:
    """ReaderNumWorkUnitsCompletedV2: reader_handle: resource -> units_completed: int64."""
def reader_read(reader_handle: X, queue_handle: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """ReaderRead: reader_handle: string, queue_handle: string -> key: string, value: string."""
def reader_read_up_to(reader_handle: X, queue_handle: X, num_records: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """ReaderReadUpTo: reader_handle: string, queue_handle: string, num_records: int64 -> keys: string, values: string."""
def reader_read_up_to_v2(reader_handle: X, queue_handle: X, num_records: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """ReaderReadUpToV2: reader_handle: resource, queue_handle: resource, num_records: int64 -> keys: string, values: string."""
def reader_read_v2(reader_handle: X, queue_handle: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """ReaderReadV2: reader_handle: resource, queue_handle: resource -> key: string, value: string."""
def reader_reset(reader_handle: X, *, name: str = ...) -> None:
    """ReaderReset: reader_handle: string -> nothing."""
def reader_reset_v2(reader_handle: X, *, name: str = ...) -> None:
    """ReaderResetV2: reader_handle: resource -> nothing."""
def reader_restore_state(reader_handle: X, state: X, *, name: str = ...) -> None:
    """ReaderRestoreState: reader_handle: string, state: string -> nothing."""
def reader_restore_state_v2(reader_handle: X, state: X, *, name: str = ...) -> None:
    """ReaderRestoreStateV2: reader_handle: resource, state: string -> nothing."""
def reader_serialize_state(reader_handle: X, *, name: str = ...) -> Tensor:
    """ReaderSerializeState: reader_handle: string -> state: string."""
def reader_serialize_state_v2(reader_handle: X, *, name: str = ...) -> Tensor:
    """ReaderSerializeStateV2: reader_handle: resource -> state: string."""
def real(input: X, *, Tout: Any = ..., name: str = ...) -> Tensor:
    """Real: input: T -> output: Tout."""
def real_div(x: X, y: X, *, name: str = ...) -> Tensor:
    """RealDiv: x: T, y: T -> z: T."""
def rebatch_dataset(input_dataset: X, num_replicas: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], use_fallback: bool = ..., name: str = ...) -> Tensor:
    """RebatchDataset: input_dataset: variant, num_replicas: int64 -> handle: variant."""
def rebatch_dataset_v2(input_dataset: X, batch_sizes: X, drop_remainder: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """RebatchDatasetV2: input_dataset: variant, batch_sizes: int64, drop_remainder: bool -> handle: variant."""
def reciprocal(x: X, *, name: str = ...) -> Tensor:
    """Reciprocal: x: T -> y: T."""
def reciprocal_grad(y: X, dy: X, *, name: str = ...) -> Tensor:
    """ReciprocalGrad: y: T, dy: T -> z: T."""
def record_input(*, file_pattern: str, file_random_seed: int = ..., file_shuffle_shift_ratio: float = ..., file_buffer_size: int = ..., file_parallelism: int = ..., batch_size: int = ..., compression_type: str = ..., name: str = ...) -> Tensor:
    """RecordInput:  -> records: string."""
def recv(*, tensor_type: Any, tensor_name: str, send_device: str, send_device_incarnation: int, recv_device: str, client_terminated: bool = ..., name: str = ...) -> Tensor:
    """Recv:  -> tensor: tensor_type."""
def recv_tpu_embedding_activations(*, num_outputs: int, config: str, name: str = ...) -> S[Tensor]:
    """RecvTPUEmbeddingActivations:  -> outputs: float32."""
def reduce_dataset(input_dataset: X, initial_state: S[X], other_arguments: S[X], *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], use_inter_op_parallelism: bool = ..., metadata: str = ..., name: str = ...) -> S[Tensor]:
    """ReduceDataset: input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> components: output_types."""
def reduce_join(inputs: X, reduction_indices: X, *, keep_dims: bool = ..., separator: str = ..., name: str = ...) -> Tensor:
    """ReduceJoin: inputs: string, reduction_indices: int32 -> output: string."""
def ref_enter(data: X, *, frame_name: str, is_constant: bool = ..., parallel_iterations: int = ..., name: str = ...) -> Tensor:
    """RefEnter: data: T -> output: T."""
def ref_exit(data: X, *, name: str = ...) -> Tensor:
    """RefExit: data: T -> output: T."""
def ref_identity(input: X, *, name: str = ...) -> Tensor:
    """RefIdentity: input: T -> output: T."""
def ref_in(a: X, *, name: str = ...) -> None:
    """RefIn: a: T -> nothing."""
def ref_input_float_input(a: X, b: X, *, name: str = ...) -> None:
    """RefInputFloatInput: a: float32, b: float32 -> nothing."""
def ref_input_float_input_int_output(a: X, b: X, *, name: str = ...) -> Tensor:
    """RefInputFloatInputIntOutput: a: float32, b: float32 -> c: int32."""
def ref_input_int_input(a: X, b: X, *, name: str = ...) -> None:
    """RefInputIntInput: a: int32, b: int32 -> nothing."""
def ref_merge(inputs: S[X], *, name: str = ...) -> tuple[Tensor, Tensor]:
    """RefMerge: inputs: T -> output: T, value_index: int32."""
def ref_next_iteration(data: X, *, name: str = ...) -> Tensor:
    """RefNextIteration: data: T -> output: T."""
def ref_out(*, T: Any, name: str = ...) -> Tensor:
    """RefOut:  -> a: T."""
def ref_output(*, name: str = ...) -> Tensor:
    """RefOutput:  -> a: int32."""
def ref_output_float_output(*, name: str = ...) -> tuple[Tensor, Tensor]:
    """RefOutputFloatOutput:  -> a: float32, b: float32."""
def ref_select(index: X, inputs: S[X], *, name: str = ...) -> Tensor:
    """RefSelect: index: int32, inputs: T -> output: T."""
def ref_switch(data: X, pred: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """RefSwitch: data: T, pred: bool -> output_false: T, output_true: T."""
def regex_full_match(input: X, pattern: X, *, name: str = ...) -> Tensor:
    """RegexFullMatch: input: string, pattern: string -> output: bool."""
def regex_replace(input: X, pattern: X, rewrite: X, *, replace_global: bool = ..., name: str = ...) -> Tensor:
    """RegexReplace: input: string, pattern: string, rewrite: string -> output: string."""
def register_dataset(dataset: X, address: X, protocol: X, *, external_state_policy: int, element_spec: str = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """RegisterDataset: dataset: variant, address: string, protocol: string -> dataset_id: int64."""
def register_dataset_v2(dataset: X, address: X, protocol: X, *, external_state_policy: int, element_spec: str = ..., requested_dataset_id: str = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """RegisterDatasetV2: dataset: variant, address: string, protocol: string -> dataset_id: string."""
def relayout(input: X, *, layout: str, name: str = ...) -> Tensor:
    """Relayout: input: T -> output: T."""
def relayout_like(input: X, layout_input: X, *, name: str = ...) -> Tensor:
    """RelayoutLike: input: T, layout_input: U -> output: T."""
def relu(features: X, *, name: str = ...) -> Tensor:
    """Relu: features: T -> activations: T."""
def relu6(features: X, *, name: str = ...) -> Tensor:
    """Relu6: features: T -> activations: T."""
def relu6_grad(gradients: X, features: X, *, name: str = ...) -> Tensor:
    """Relu6Grad: gradients: T, features: T -> backprops: T."""
def relu_grad(gradients: X, features: X, *, name: str = ...) -> Tensor:
    """ReluGrad: gradients: T, features: T -> backprops: T."""
def remote_call(target: X, args: S[X], *, Tout: S[Any], f: Any, name: str = ...) -> S[Tensor]:
    """RemoteCall: target: string, args: Tin -> output: Tout."""
def repeat_dataset(input_dataset: X, count: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """RepeatDataset: input_dataset: variant, count: int64 -> handle: variant."""
def requantization_range(input: X, input_min: X, input_max: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """RequantizationRange: input: Tinput, input_min: float32, input_max: float32 -> output_min: float32, output_max: float32."""
def requantization_range_per_channel(input: X, input_min: X, input_max: X, *, clip_value_max: float, name: str = ...) -> tuple[Tensor, Tensor]:
    """RequantizationRangePerChannel: input: T, input_min: float32, input_max: float32 -> output_min: float32, output_max: float32."""
def requantize(input: X, input_min: X, input_max: X, requested_output_min: X, requested_output_max: X, *, out_type: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """Requantize: input: Tinput, input_min: float32, input_max: float32, requested_output_min: float32, requested_output_max: float32 -> output: out_type, output_min: float32, output_max: float32."""
def requantize_per_channel(input: X, input_min: X, input_max: X, requested_output_min: X, requested_output_max: X, *, out_type: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RequantizePerChannel: input: T, input_min: float32, input_max: float32, requested_output_min: float32, requested_output_max: float32 -> output: out_type, output_min: float32, output_max: float32."""
def requires_older_graph_version(*, name: str = ...) -> Tensor:
    """RequiresOlderGraphVersion:  -> version: int32."""
def reserved_attr(*, range: int, name: str = ...) -> None:
    """ReservedAttr:  -> nothing."""
def reserved_input(input: X, *, name: str = ...) -> None:
    """ReservedInput: input: int32 -> nothing."""
def reshape(tensor: X, shape: X, *, name: str = ...) -> Tensor:
    """Reshape: tensor: T, shape: Tshape -> output: T."""
def resize_area(images: X, size: X, *, align_corners: bool = ..., name: str = ...) -> Tensor:
    """ResizeArea: images: T, size: int32 -> resized_images: float32."""
def resize_bicubic(images: X, size: X, *, align_corners: bool = ..., half_pixel_centers: bool = ..., name: str = ...) -> Tensor:
    """ResizeBicubic: images: T, size: int32 -> resized_images: float32."""
def resize_bicubic_grad(grads: X, original_image: X, *, align_corners: bool = ..., half_pixel_centers: bool = ..., name: str = ...) -> Tensor:
    """ResizeBicubicGrad: grads: float32, original_image: T -> output: T."""
def resize_bilinear(images: X, size: X, *, align_corners: bool = ..., half_pixel_centers: bool = ..., name: str = ...) -> Tensor:
    """ResizeBilinear: images: T, size: int32 -> resized_images: float32."""
def resize_bilinear_grad(grads: X, original_image: X, *, align_corners: bool = ..., half_pixel_centers: bool = ..., name: str = ...) -> Tensor:
    """ResizeBilinearGrad: grads: float32, original_image: T -> output: T."""
def resize_nearest_neighbor(images: X, size: X, *, align_corners: bool = ..., half_pixel_centers: bool = ..., name: str = ...) -> Tensor:
    """ResizeNearestNeighbor: images: T, size: int32 -> resized_images: T."""
def resize_nearest_neighbor_grad(grads: X, size: X, *, align_corners: bool = ..., half_pixel_centers: bool = ..., name: str = ...) -> Tensor:
    """ResizeNearestNeighborGrad: grads: T, size: int32 -> output: T."""
def resource_accumulator_apply_gradient(handle: X, local_step: X, gradient: X, *, name: str = ...) -> None:
    """ResourceAccumulatorApplyGradient: handle: resource, local_step: int64, gradient: dtype -> nothing."""
def resource_accumulator_num_accumulated(handle: X, *, name: str = ...) -> Tensor:
    """ResourceAccumulatorNumAccumulated: handle: resource -> num_accumulated: int32."""
def resource_accumulator_set_global_step(handle: X, new_global_step: X, *, name: str = ...) -> None:
    """ResourceAccumulatorSetGlobalStep: handle: resource, new_global_step: int64 -> nothing."""
def resource_accumulator_take_gradient(handle: X, num_required: X, *, dtype: Any, name: str = ...) -> Tensor:
    """ResourceAccumulatorTakeGradient: handle: resource, num_required: int32 -> average: dtype."""
def resource_apply_ada_max(var: X, m: X, v: X, beta1_power: X, lr: X, beta1: X, beta2: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyAdaMax: var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T -> nothing."""
def resource_apply_adadelta(var: X, accum: X, accum_update: X, lr: X, rho: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyAdadelta: var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T -> nothing."""
def resource_apply_adagrad(var: X, accum: X, lr: X, grad: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> None:
    """ResourceApplyAdagrad: var: resource, accum: resource, lr: T, grad: T -> nothing."""
def resource_apply_adagrad_da(var: X, gradient_accumulator: X, gradient_squared_accumulator: X, grad: X, lr: X, l1: X, l2: X, global_step: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyAdagradDA: var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, lr: T, l1: T, l2: T, global_step: int64 -> nothing."""
def resource_apply_adagrad_v2(var: X, accum: X, lr: X, epsilon: X, grad: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> None:
    """ResourceApplyAdagradV2: var: resource, accum: resource, lr: T, epsilon: T, grad: T -> nothing."""
def resource_apply_adam(var: X, m: X, v: X, beta1_power: X, beta2_power: X, lr: X, beta1: X, beta2: X, epsilon: X, grad: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> None:
    """ResourceApplyAdam: var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T -> nothing."""
def resource_apply_adam_with_amsgrad(var: X, m: X, v: X, vhat: X, beta1_power: X, beta2_power: X, lr: X, beta1: X, beta2: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyAdamWithAmsgrad: var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T -> nothing."""
def resource_apply_add_sign(var: X, m: X, lr: X, alpha: X, sign_decay: X, beta: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyAddSign: var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, grad: T -> nothing."""
def resource_apply_centered_rms_prop(var: X, mg: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyCenteredRMSProp: var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T -> nothing."""
def resource_apply_ftrl(var: X, accum: X, linear: X, grad: X, lr: X, l1: X, l2: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> None:
    """ResourceApplyFtrl: var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, lr_power: T -> nothing."""
def resource_apply_ftrl_v2(var: X, accum: X, linear: X, grad: X, lr: X, l1: X, l2: X, l2_shrinkage: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> None:
    """ResourceApplyFtrlV2: var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T -> nothing."""
def resource_apply_gradient_descent(var: X, alpha: X, delta: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyGradientDescent: var: resource, alpha: T, delta: T -> nothing."""
def resource_apply_keras_momentum(var: X, accum: X, lr: X, grad: X, momentum: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> None:
    """ResourceApplyKerasMomentum: var: resource, accum: resource, lr: T, grad: T, momentum: T -> nothing."""
def resource_apply_momentum(var: X, accum: X, lr: X, grad: X, momentum: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> None:
    """ResourceApplyMomentum: var: resource, accum: resource, lr: T, grad: T, momentum: T -> nothing."""
def resource_apply_power_sign(var: X, m: X, lr: X, logbase: X, sign_decay: X, beta: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyPowerSign: var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: T, grad: T -> nothing."""
def resource_apply_proximal_adagrad(var: X, accum: X, lr: X, l1: X, l2: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyProximalAdagrad: var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T -> nothing."""
def resource_apply_proximal_gradient_descent(var: X, alpha: X, l1: X, l2: X, delta: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyProximalGradientDescent: var: resource, alpha: T, l1: T, l2: T, delta: T -> nothing."""
def resource_apply_rms_prop(var: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceApplyRMSProp: var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T -> nothing."""
def resource_conditional_accumulator(*, dtype: Any, shape: S[int | None] | None, container: str = ..., shared_name: str = ..., reduction_type: str = ..., name: str = ...) -> Tensor:
    """ResourceConditionalAccumulator:  -> handle: resource."""
def resource_count_up_to(resource: X, *, limit: int, T: Any, name: str = ...) -> Tensor:
    """ResourceCountUpTo: resource: resource -> output: T."""
def resource_create_op(resource: X, *, name: str = ...) -> None:
    """ResourceCreateOp: resource: resource -> nothing."""
def resource_gather(resource: X, indices: X, *, dtype: Any, batch_dims: int = ..., validate_indices: bool = ..., name: str = ...) -> Tensor:
    """ResourceGather: resource: resource, indices: Tindices -> output: dtype."""
def resource_gather_nd(resource: X, indices: X, *, dtype: Any, name: str = ...) -> Tensor:
    """ResourceGatherNd: resource: resource, indices: Tindices -> output: dtype."""
def resource_initialized_op(resource: X, *, name: str = ...) -> Tensor:
    """ResourceInitializedOp: resource: resource -> initialized: bool."""
def resource_scatter_add(resource: X, indices: X, updates: X, *, name: str = ...) -> None:
    """ResourceScatterAdd: resource: resource, indices: Tindices, updates: dtype -> nothing."""
def resource_scatter_div(resource: X, indices: X, updates: X, *, name: str = ...) -> None:
    """ResourceScatterDiv: resource: resource, indices: Tindices, updates: dtype -> nothing."""
def resource_scatter_max(resource: X, indices: X, updates: X, *, name: str = ...) -> None:
    """ResourceScatterMax: resource: resource, indices: Tindices, updates: dtype -> nothing."""
def resource_scatter_min(resource: X, indices: X, updates: X, *, name: str = ...) -> None:
    """ResourceScatterMin: resource: resource, indices: Tindices, updates: dtype -> nothing."""
def resource_scatter_mul(resource: X, indices: X, updates: X, *, name: str = ...) -> None:
    """ResourceScatterMul: resource: resource, indices: Tindices, updates: dtype -> nothing."""
def resource_scatter_nd_add(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> None:
    """ResourceScatterNdAdd: ref: resource, indices: Tindices, updates: T -> nothing."""
def resource_scatter_nd_max(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> None:
    """ResourceScatterNdMax: ref: resource, indices: Tindices, updates: T -> nothing."""
def resource_scatter_nd_min(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> None:
    """ResourceScatterNdMin: ref: resource, indices: Tindices, updates: T -> nothing."""
def resource_scatter_nd_sub(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> None:
    """ResourceScatterNdSub: ref: resource, indices: Tindices, updates: T -> nothing."""
def resource_scatter_nd_update(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> None:
    """ResourceScatterNdUpdate: ref: resource, indices: Tindices, updates: T -> nothing."""
def resource_scatter_sub(resource: X, indices: X, updates: X, *, name: str = ...) -> None:
    """ResourceScatterSub: resource: resource, indices: Tindices, updates: dtype -> nothing."""
def resource_scatter_update(resource: X, indices: X, updates: X, *, name: str = ...) -> None:
    """ResourceScatterUpdate: resource: resource, indices: Tindices, updates: dtype -> nothing."""
def resource_sparse_apply_adadelta(var: X, accum: X, accum_update: X, lr: X, rho: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyAdadelta: var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T, indices: Tindices -> nothing."""
def resource_sparse_apply_adagrad(var: X, accum: X, lr: X, grad: X, indices: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyAdagrad: var: resource, accum: resource, lr: T, grad: T, indices: Tindices -> nothing."""
def resource_sparse_apply_adagrad_da(var: X, gradient_accumulator: X, gradient_squared_accumulator: X, grad: X, indices: X, lr: X, l1: X, l2: X, global_step: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyAdagradDA: var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64 -> nothing."""
def resource_sparse_apply_adagrad_v2(var: X, accum: X, lr: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyAdagradV2: var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices -> nothing."""
def resource_sparse_apply_centered_rms_prop(var: X, mg: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyCenteredRMSProp: var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices -> nothing."""
def resource_sparse_apply_ftrl(var: X, accum: X, linear: X, grad: X, indices: X, lr: X, l1: X, l2: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyFtrl: var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T -> nothing."""
def resource_sparse_apply_ftrl_v2(var: X, accum: X, linear: X, grad: X, indices: X, lr: X, l1: X, l2: X, l2_shrinkage: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyFtrlV2: var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T -> nothing."""
def resource_sparse_apply_keras_momentum(var: X, accum: X, lr: X, grad: X, indices: X, momentum: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyKerasMomentum: var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T -> nothing."""
def resource_sparse_apply_momentum(var: X, accum: X, lr: X, grad: X, indices: X, momentum: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyMomentum: var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T -> nothing."""
def resource_sparse_apply_proximal_adagrad(var: X, accum: X, lr: X, l1: X, l2: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyProximalAdagrad: var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T, indices: Tindices -> nothing."""
def resource_sparse_apply_proximal_gradient_descent(var: X, alpha: X, l1: X, l2: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyProximalGradientDescent: var: resource, alpha: T, l1: T, l2: T, grad: T, indices: Tindices -> nothing."""
def resource_sparse_apply_rms_prop(var: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> None:
    """ResourceSparseApplyRMSProp: var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices -> nothing."""
def resource_strided_slice_assign(ref: X, begin: X, end: X, strides: X, value: X, *, begin_mask: int = ..., end_mask: int = ..., ellipsis_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ..., name: str = ...) -> None:
    """ResourceStridedSliceAssign: ref: resource, begin: Index, end: Index, strides: Index, value: T -> nothing."""
def resource_using_op(resource: X, *, name: str = ...) -> None:
    """ResourceUsingOp: resource: resource -> nothing."""
def restore(file_pattern: X, tensor_name: X, *, dt: Any, preferred_shard: int = ..., name: str = ...) -> Tensor:
    """Restore: file_pattern: string, tensor_name: string -> tensor: dt."""
def restore_slice(file_pattern: X, tensor_name: X, shape_and_slice: X, *, dt: Any, preferred_shard: int = ..., name: str = ...) -> Tensor:
    """RestoreSlice: file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt."""
def restore_v2(prefix: X, tensor_names: X, shape_and_slices: X, *, dtypes: S[Any], name: str = ...) -> S[Tensor]:
    """RestoreV2: prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes."""
def restrict(a: X, *, name: str = ...) -> Tensor:
    """Restrict: a: T -> out: T."""
def retrieve_all_tpu_embedding_parameters(*, NumTables: int, config: str, num_shards: int, shard_id: int, name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor], S[Tensor]]:
    """RetrieveAllTPUEmbeddingParameters:  -> parameters: float32, auxiliary1: float32, auxiliary2: float32, auxiliary3: float32, auxiliary4: float32, auxiliary5: float32, auxiliary6: float32, auxiliary7: float32."""
def retrieve_tpu_embedding_adadelta_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingAdadeltaParameters:  -> parameters: float32, accumulators: float32, updates: float32."""
def retrieve_tpu_embedding_adagrad_momentum_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingAdagradMomentumParameters:  -> parameters: float32, accumulators: float32, momenta: float32."""
def retrieve_tpu_embedding_adagrad_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """RetrieveTPUEmbeddingAdagradParameters:  -> parameters: float32, accumulators: float32."""
def retrieve_tpu_embedding_adam_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingADAMParameters:  -> parameters: float32, momenta: float32, velocities: float32."""
def retrieve_tpu_embedding_centered_rms_prop_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingCenteredRMSPropParameters:  -> parameters: float32, ms: float32, mom: float32, mg: float32."""
def retrieve_tpu_embedding_frequency_estimator_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """RetrieveTPUEmbeddingFrequencyEstimatorParameters:  -> parameters: float32, last_hit_step: float32."""
def retrieve_tpu_embedding_ftrl_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingFTRLParameters:  -> parameters: float32, accumulators: float32, linears: float32."""
def retrieve_tpu_embedding_mdl_adagrad_light_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingMDLAdagradLightParameters:  -> parameters: float32, accumulators: float32, weights: float32, benefits: float32."""
def retrieve_tpu_embedding_momentum_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """RetrieveTPUEmbeddingMomentumParameters:  -> parameters: float32, momenta: float32."""
def retrieve_tpu_embedding_proximal_adagrad_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """RetrieveTPUEmbeddingProximalAdagradParameters:  -> parameters: float32, accumulators: float32."""
def retrieve_tpu_embedding_proximal_yogi_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingProximalYogiParameters:  -> parameters: float32, v: float32, m: float32."""
def retrieve_tpu_embedding_rms_prop_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """RetrieveTPUEmbeddingRMSPropParameters:  -> parameters: float32, ms: float32, mom: float32."""
def retrieve_tpu_embedding_stochastic_gradient_descent_parameters(*, num_shards: int, shard_id: int, table_id: int = ..., table_name: str = ..., config: str = ..., name: str = ...) -> Tensor:
    """RetrieveTPUEmbeddingStochasticGradientDescentParameters:  -> parameters: float32."""
def reverse(tensor: X, dims: X, *, name: str = ...) -> Tensor:
    """Reverse: tensor: T, dims: bool -> output: T."""
def reverse_sequence(input: X, seq_lengths: X, *, seq_dim: int, batch_dim: int = ..., name: str = ...) -> Tensor:
    """ReverseSequence: input: T, seq_lengths: Tlen -> output: T."""
def reverse_v2(tensor: X, axis: X, *, name: str = ...) -> Tensor:
    """ReverseV2: tensor: T, axis: Tidx -> output: T."""
def rewrite_dataset(input_dataset: X, rewrite_name: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """RewriteDataset: input_dataset: variant, rewrite_name: string -> handle: variant."""
def rfft(input: X, fft_length: X, *, Tcomplex: Any = ..., name: str = ...) -> Tensor:
    """RFFT: input: Treal, fft_length: int32 -> output: Tcomplex."""
def rfft2d(input: X, fft_length: X, *, Tcomplex: Any = ..., name: str = ...) -> Tensor:
    """RFFT2D: input: Treal, fft_length: int32 -> output: Tcomplex."""
def rfft3d(input: X, fft_length: X, *, Tcomplex: Any = ..., name: str = ...) -> Tensor:
    """RFFT3D: input: Treal, fft_length: int32 -> output: Tcomplex."""
def rfftnd(input: X, fft_length: X, axes: X, *, Tcomplex: Any = ..., name: str = ...) -> Tensor:
    """RFFTND: input: Treal, fft_length: int32, axes: int32 -> output: Tcomplex."""
def rgb_to_hsv(images: X, *, name: str = ...) -> Tensor:
    """RGBToHSV: images: T -> output: T."""
def right_shift(x: X, y: X, *, name: str = ...) -> Tensor:
    """RightShift: x: T, y: T -> z: T."""
def rint(x: X, *, name: str = ...) -> Tensor:
    """Rint: x: T -> y: T."""
def risc_abs(x: X, *, name: str = ...) -> Tensor:
    """RiscAbs: x: T -> y: T."""
def risc_add(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscAdd: x: T, y: T -> z: T."""
def risc_binary_arithmetic(x: X, y: X, *, op_type: str, name: str = ...) -> Tensor:
    """RiscBinaryArithmetic: x: T, y: T -> z: T."""
def risc_binary_comparison(x: X, y: X, *, op_type: str, name: str = ...) -> Tensor:
    """RiscBinaryComparison: x: T, y: T -> z: bool."""
def risc_bitcast(x: X, *, DstT: Any, name: str = ...) -> Tensor:
    """RiscBitcast: x: SrcT -> y: DstT."""
def risc_broadcast(input: X, shape: X, *, name: str = ...) -> Tensor:
    """RiscBroadcast: input: T, shape: Tidx -> output: T."""
def risc_cast(x: X, *, DstT: Any, name: str = ...) -> Tensor:
    """RiscCast: x: SrcT -> y: DstT."""
def risc_ceil(x: X, *, name: str = ...) -> Tensor:
    """RiscCeil: x: T -> y: T."""
def risc_cholesky(input: X, *, name: str = ...) -> Tensor:
    """RiscCholesky: input: T -> output: T."""
def risc_concat(values: S[X], axis: X, *, name: str = ...) -> Tensor:
    """RiscConcat: values: T, axis: Tidx -> output: T."""
def risc_condition(pred: X, input_true: X, input_false: X, *, func_true: Any, func_false: Any, DstT: Any, name: str = ...) -> Tensor:
    """RiscCondition: pred: bool, input_true: SrcT, input_false: SrcT -> output: DstT."""
def risc_conv(input: X, filter: X, *, strides: S[int], data_format: str = ..., dilations: S[int] = ..., name: str = ...) -> Tensor:
    """RiscConv: input: T, filter: T -> output: T."""
def risc_cos(x: X, *, name: str = ...) -> Tensor:
    """RiscCos: x: T -> y: T."""
def risc_div(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscDiv: x: T, y: T -> z: T."""
def risc_dot(a: X, b: X, *, transpose_a: bool = ..., transpose_b: bool = ..., name: str = ...) -> Tensor:
    """RiscDot: a: T, b: T -> product: T."""
def risc_exp(x: X, *, name: str = ...) -> Tensor:
    """RiscExp: x: T -> y: T."""
def risc_fft(input: X, *, name: str = ...) -> Tensor:
    """RiscFft: input: Tcomplex -> output: Tcomplex."""
def risc_floor(x: X, *, name: str = ...) -> Tensor:
    """RiscFloor: x: T -> y: T."""
def risc_gather(params: X, indices: X, axis: X, *, batch_dims: int = ..., name: str = ...) -> Tensor:
    """RiscGather: params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams."""
def risc_imag(input: X, *, Tout: Any = ..., name: str = ...) -> Tensor:
    """RiscImag: input: T -> output: Tout."""
def risc_is_finite(x: X, *, name: str = ...) -> Tensor:
    """RiscIsFinite: x: T -> y: bool."""
def risc_log(x: X, *, name: str = ...) -> Tensor:
    """RiscLog: x: T -> y: T."""
def risc_logical_and(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscLogicalAnd: x: bool, y: bool -> z: bool."""
def risc_logical_not(x: X, *, name: str = ...) -> Tensor:
    """RiscLogicalNot: x: bool -> z: bool."""
def risc_logical_or(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscLogicalOr: x: bool, y: bool -> z: bool."""
def risc_max(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscMax: x: T, y: T -> max: T."""
def risc_min(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscMin: x: T, y: T -> z: T."""
def risc_mul(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscMul: x: T, y: T -> z: T."""
def risc_neg(x: X, *, name: str = ...) -> Tensor:
    """RiscNeg: x: T -> y: T."""
def risc_pad(input: X, paddings: X, constant_values: X, *, name: str = ...) -> Tensor:
    """RiscPad: input: T, paddings: Tpaddings, constant_values: T -> output: T."""
def risc_pool(value: X, *, ksize: S[int], strides: S[int], pooling_type: str, data_format: str = ..., name: str = ...) -> Tensor:
    """RiscPool: value: T -> output: T."""
def risc_pow(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscPow: x: T, y: T -> z: T."""
def risc_random_uniform(shape: X, *, seed: int = ..., name: str = ...) -> Tensor:
    """RiscRandomUniform: shape: T -> output: float32."""
def risc_real(input: X, *, Tout: Any = ..., name: str = ...) -> Tensor:
    """RiscReal: input: T -> output: Tout."""
def risc_reduce(tensor: X, axis: X, *, reduce_type: str, name: str = ...) -> Tensor:
    """RiscReduce: tensor: T, axis: Index -> output: T."""
def risc_rem(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscRem: x: T, y: T -> z: T."""
def risc_reshape(tensor: X, shape: X, *, name: str = ...) -> Tensor:
    """RiscReshape: tensor: T, shape: Tshape -> output: T."""
def risc_reverse(tensor: X, axis: X, *, name: str = ...) -> Tensor:
    """RiscReverse: tensor: T, axis: Tidx -> output: T."""
def risc_scatter(indices: X, updates: X, shape: X, *, name: str = ...) -> Tensor:
    """RiscScatter: indices: Tindices, updates: T, shape: Tindices -> output: T."""
def risc_shape(input: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """RiscShape: input: T -> output: out_type."""
def risc_sign(x: X, *, name: str = ...) -> Tensor:
    """RiscSign: x: T -> y: T."""
def risc_slice(input: X, begin: X, size: X, *, name: str = ...) -> Tensor:
    """RiscSlice: input: T, begin: Index, size: Index -> output: T."""
def risc_sort(input: X, axis: X, *, direction: str, name: str = ...) -> Tensor:
    """RiscSort: input: T, axis: Index -> output: T."""
def risc_squeeze(input: X, *, squeeze_dims: S[int] = ..., name: str = ...) -> Tensor:
    """RiscSqueeze: input: T -> output: T."""
def risc_sub(x: X, y: X, *, name: str = ...) -> Tensor:
    """RiscSub: x: T, y: T -> z: T."""
def risc_transpose(x: X, perm: X, *, name: str = ...) -> Tensor:
    """RiscTranspose: x: T, perm: Tperm -> y: T."""
def risc_triangular_solve(matrix: X, rhs: X, *, lower: bool = ..., adjoint: bool = ..., name: str = ...) -> Tensor:
    """RiscTriangularSolve: matrix: T, rhs: T -> output: T."""
def risc_unary(x: X, *, op_type: str, name: str = ...) -> Tensor:
    """RiscUnary: x: T -> y: T."""
def risc_while(input: S[X], *, cond: Any, body: Any, output_shapes: S[S[int | None] | None] = ..., parallel_iterations: int = ..., name: str = ...) -> S[Tensor]:
    """RiscWhile: input: T -> output: T."""
def rng_read_and_skip(resource: X, alg: X, delta: X, *, name: str = ...) -> Tensor:
    """RngReadAndSkip: resource: resource, alg: int32, delta: uint64 -> value: int64."""
def rng_skip(resource: X, algorithm: X, delta: X, *, name: str = ...) -> None:
    """RngSkip: resource: resource, algorithm: int64, delta: int64 -> nothing."""
def roll(input: X, shift: X, axis: X, *, name: str = ...) -> Tensor:
    """Roll: input: T, shift: Tshift, axis: Taxis -> output: T."""
def round(x: X, *, name: str = ...) -> Tensor:
    """Round: x: T -> y: T."""
def rpc_call(client: X, method_name: X, args: S[X], timeout_in_ms: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """RpcCall: client: resource, method_name: string, args: Tin, timeout_in_ms: int64 -> future: resource, deleter: variant."""
def rpc_check_status(status_or: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """RpcCheckStatus: status_or: resource -> error_code: int64, error: string."""
def rpc_client(server_address: X, timeout_in_ms: X, *, shared_name: str = ..., list_registered_methods: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """RpcClient: server_address: string, timeout_in_ms: int64 -> client: resource, method_specs: string."""
def rpc_get_value(status_or: X, *, Tout: S[Any], name: str = ...) -> S[Tensor]:
    """RpcGetValue: status_or: resource -> output: Tout."""
def rpc_server(server_address: X, *, name: str = ...) -> Tensor:
    """RpcServer: server_address: string -> server: resource."""
def rpc_server_register(server: X, method_name: X, captured_inputs: S[X], *, f: Any, output_specs: str, input_specs: str = ..., name: str = ...) -> None:
    """RpcServerRegister: server: resource, method_name: string, captured_inputs: Tin -> nothing."""
def rpc_server_start(server: X, *, name: str = ...) -> None:
    """RpcServerStart: server: resource -> nothing."""
def rsqrt(x: X, *, name: str = ...) -> Tensor:
    """Rsqrt: x: T -> y: T."""
def rsqrt_grad(y: X, dy: X, *, name: str = ...) -> Tensor:
    """RsqrtGrad: y: T, dy: T -> z: T."""
def sample_distorted_bounding_box(image_size: X, bounding_boxes: X, *, seed: int = ..., seed2: int = ..., min_object_covered: float = ..., aspect_ratio_range: S[float] = ..., area_range: S[float] = ..., max_attempts: int = ..., use_image_if_no_bounding_boxes: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SampleDistortedBoundingBox: image_size: T, bounding_boxes: float32 -> begin: T, size: T, bboxes: float32."""
def sample_distorted_bounding_box_v2(image_size: X, bounding_boxes: X, min_object_covered: X, *, seed: int = ..., seed2: int = ..., aspect_ratio_range: S[float] = ..., area_range: S[float] = ..., max_attempts: int = ..., use_image_if_no_bounding_boxes: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SampleDistortedBoundingBoxV2: image_size: T, bounding_boxes: float32, min_object_covered: float32 -> begin: T, size: T, bboxes: float32."""
def sampling_dataset(input_dataset: X, rate: X, seed: X, seed2: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """SamplingDataset: input_dataset: variant, rate: float32, seed: int64, seed2: int64 -> handle: variant."""
def save(filename: X, tensor_names: X, data: S[X], *, name: str = ...) -> None:
    """Save: filename: string, tensor_names: string, data: T -> nothing."""
def save_dataset(input_dataset: X, path: X, shard_func_other_args: S[X], *, shard_func: Any, compression: str = ..., use_shard_func: bool = ..., name: str = ...) -> None:
    """SaveDataset: input_dataset: variant, path: string, shard_func_other_args: Tshard_func_args -> nothing."""
def save_dataset_v2(input_dataset: X, path: X, shard_func_other_args: S[X], *, shard_func: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], compression: str = ..., use_shard_func: bool = ..., name: str = ...) -> Tensor:
    """SaveDatasetV2: input_dataset: variant, path: string, shard_func_other_args: Tshard_func_args -> handle: variant."""
def save_slices(filename: X, tensor_names: X, shapes_and_slices: X, data: S[X], *, name: str = ...) -> None:
    """SaveSlices: filename: string, tensor_names: string, shapes_and_slices: string, data: T -> nothing."""
def save_v2(prefix: X, tensor_names: X, shape_and_slices: X, tensors: S[X], *, name: str = ...) -> None:
    """SaveV2: prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes -> nothing."""
def scalar_summary(tags: X, values: X, *, name: str = ...) -> Tensor:
    """ScalarSummary: tags: string, values: T -> summary: string."""
def scale_and_translate(images: X, size: X, scale: X, translation: X, *, kernel_type: str = ..., antialias: bool = ..., name: str = ...) -> Tensor:
    """ScaleAndTranslate: images: T, size: int32, scale: float32, translation: float32 -> resized_images: float32."""
def scale_and_translate_grad(grads: X, original_image: X, scale: X, translation: X, *, kernel_type: str = ..., antialias: bool = ..., name: str = ...) -> Tensor:
    """ScaleAndTranslateGrad: grads: T, original_image: T, scale: float32, translation: float32 -> output: T."""
def scan_dataset(input_dataset: X, initial_state: S[X], other_arguments: S[X], *, f: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], preserve_cardinality: bool = ..., use_default_device: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ScanDataset: input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> handle: variant."""
def scatter_add(ref: X, indices: X, updates: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ScatterAdd: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_div(ref: X, indices: X, updates: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ScatterDiv: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_max(ref: X, indices: X, updates: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ScatterMax: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_min(ref: X, indices: X, updates: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ScatterMin: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_mul(ref: X, indices: X, updates: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ScatterMul: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_nd(indices: X, updates: X, shape: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """ScatterNd: indices: Tindices, updates: T, shape: Tindices -> output: T."""
def scatter_nd_add(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """ScatterNdAdd: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_nd_max(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """ScatterNdMax: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_nd_min(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """ScatterNdMin: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_nd_non_aliasing_add(input: X, indices: X, updates: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """ScatterNdNonAliasingAdd: input: T, indices: Tindices, updates: T -> output: T."""
def scatter_nd_sub(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """ScatterNdSub: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_nd_update(ref: X, indices: X, updates: X, *, use_locking: bool = ..., bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """ScatterNdUpdate: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_sub(ref: X, indices: X, updates: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ScatterSub: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def scatter_update(ref: X, indices: X, updates: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """ScatterUpdate: ref: T, indices: Tindices, updates: T -> output_ref: T."""
def sdca_fprint(input: X, *, name: str = ...) -> Tensor:
    """SdcaFprint: input: string -> output: int64."""
def sdca_optimizer(sparse_example_indices: S[X], sparse_feature_indices: S[X], sparse_feature_values: S[X], dense_features: S[X], example_weights: X, example_labels: X, sparse_indices: S[X], sparse_weights: S[X], dense_weights: S[X], example_state_data: X, *, loss_type: str, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptative: bool = ..., name: str = ...) -> tuple[Tensor, S[Tensor], S[Tensor]]:
    """SdcaOptimizer: sparse_example_indices: int64, sparse_feature_indices: int64, sparse_feature_values: float32, dense_features: float32, example_weights: float32, example_labels: float32, sparse_indices: int64, sparse_weights: float32, dense_weights: float32, example_state_data: float32 -> out_example_state_data: float32, out_delta_sparse_weights: float32, out_delta_dense_weights: float32."""
def sdca_optimizer_v2(sparse_example_indices: S[X], sparse_feature_indices: S[X], sparse_feature_values: S[X], dense_features: S[X], example_weights: X, example_labels: X, sparse_indices: S[X], sparse_weights: S[X], dense_weights: S[X], example_state_data: X, *, loss_type: str, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptive: bool = ..., name: str = ...) -> tuple[Tensor, S[Tensor], S[Tensor]]:
    """SdcaOptimizerV2: sparse_example_indices: int64, sparse_feature_indices: int64, sparse_feature_values: float32, dense_features: float32, example_weights: float32, example_labels: float32, sparse_indices: int64, sparse_weights: float32, dense_weights: float32, example_state_data: float32 -> out_example_state_data: float32, out_delta_sparse_weights: float32, out_delta_dense_weights: float32."""
def sdca_shrink_l1(weights: S[X], *, l1: float, l2: float, name: str = ...) -> None:
    """SdcaShrinkL1: weights: float32 -> nothing."""
def segment_max(data: X, segment_ids: X, *, name: str = ...) -> Tensor:
    """SegmentMax: data: T, segment_ids: Tindices -> output: T."""
def segment_max_v2(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """SegmentMaxV2: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def segment_mean(data: X, segment_ids: X, *, name: str = ...) -> Tensor:
    """SegmentMean: data: T, segment_ids: Tindices -> output: T."""
def segment_min(data: X, segment_ids: X, *, name: str = ...) -> Tensor:
    """SegmentMin: data: T, segment_ids: Tindices -> output: T."""
def segment_min_v2(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """SegmentMinV2: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def segment_prod(data: X, segment_ids: X, *, name: str = ...) -> Tensor:
    """SegmentProd: data: T, segment_ids: Tindices -> output: T."""
def segment_prod_v2(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """SegmentProdV2: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def segment_sum(data: X, segment_ids: X, *, name: str = ...) -> Tensor:
    """SegmentSum: data: T, segment_ids: Tindices -> output: T."""
def segment_sum_v2(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """SegmentSumV2: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def select(condition: X, t: X, e: X, *, name: str = ...) -> Tensor:
    """Select: condition: bool, t: T, e: T -> output: T."""
def select_v2(condition: X, t: X, e: X, *, name: str = ...) -> Tensor:
    """SelectV2: condition: bool, t: T, e: T -> output: T."""
def self_adjoint_eig(input: X, *, name: str = ...) -> Tensor:
    """SelfAdjointEig: input: T -> output: T."""
def self_adjoint_eig_v2(input: X, *, compute_v: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """SelfAdjointEigV2: input: T -> e: T, v: T."""
def selu(features: X, *, name: str = ...) -> Tensor:
    """Selu: features: T -> activations: T."""
def selu_grad(gradients: X, outputs: X, *, name: str = ...) -> Tensor:
    """SeluGrad: gradients: T, outputs: T -> backprops: T."""
def send(tensor: X, *, tensor_name: str, send_device: str, send_device_incarnation: int, recv_device: str, client_terminated: bool = ..., name: str = ...) -> None:
    """Send: tensor: T -> nothing."""
def send_tpu_embedding_gradients(inputs: S[X], learning_rates: S[X], *, config: str, name: str = ...) -> None:
    """SendTPUEmbeddingGradients: inputs: float32, learning_rates: float32 -> nothing."""
def serialize_iterator(resource_handle: X, *, external_state_policy: int = ..., name: str = ...) -> Tensor:
    """SerializeIterator: resource_handle: resource -> serialized: variant."""
def serialize_many_sparse(sparse_indices: X, sparse_values: X, sparse_shape: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """SerializeManySparse: sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type."""
def serialize_sparse(sparse_indices: X, sparse_values: X, sparse_shape: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """SerializeSparse: sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type."""
def serialize_tensor(tensor: X, *, name: str = ...) -> Tensor:
    """SerializeTensor: tensor: T -> serialized: string."""
def set_size(set_indices: X, set_values: X, set_shape: X, *, validate_indices: bool = ..., name: str = ...) -> Tensor:
    """SetSize: set_indices: int64, set_values: T, set_shape: int64 -> size: int32."""
def set_stats_aggregator_dataset(input_dataset: X, stats_aggregator: X, tag: X, counter_prefix: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """SetStatsAggregatorDataset: input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string -> handle: variant."""
def shape(input: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """Shape: input: T -> output: out_type."""
def shape_n(input: S[X], *, out_type: Any = ..., name: str = ...) -> S[Tensor]:
    """ShapeN: input: T -> output: out_type."""
def shard_dataset(input_dataset: X, num_shards: X, index: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], require_non_empty: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ShardDataset: input_dataset: variant, num_shards: int64, index: int64 -> handle: variant."""
def sharded_filename(basename: X, shard: X, num_shards: X, *, name: str = ...) -> Tensor:
    """ShardedFilename: basename: string, shard: int32, num_shards: int32 -> filename: string."""
def sharded_filespec(basename: X, num_shards: X, *, name: str = ...) -> Tensor:
    """ShardedFilespec: basename: string, num_shards: int32 -> filename: string."""
def shuffle_and_repeat_dataset(input_dataset: X, buffer_size: X, seed: X, seed2: X, count: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], reshuffle_each_iteration: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ShuffleAndRepeatDataset: input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64 -> handle: variant."""
def shuffle_and_repeat_dataset_v2(input_dataset: X, buffer_size: X, seed: X, seed2: X, count: X, seed_generator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], reshuffle_each_iteration: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ShuffleAndRepeatDatasetV2: input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64, seed_generator: resource -> handle: variant."""
def shuffle_dataset(input_dataset: X, buffer_size: X, seed: X, seed2: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], reshuffle_each_iteration: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ShuffleDataset: input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64 -> handle: variant."""
def shuffle_dataset_v2(input_dataset: X, buffer_size: X, seed_generator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """ShuffleDatasetV2: input_dataset: variant, buffer_size: int64, seed_generator: resource -> handle: variant."""
def shuffle_dataset_v3(input_dataset: X, buffer_size: X, seed: X, seed2: X, seed_generator: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], reshuffle_each_iteration: bool = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """ShuffleDatasetV3: input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, seed_generator: resource -> handle: variant."""
def shutdown_distributed_tpu(*, name: str = ...) -> None:
    """ShutdownDistributedTPU:  -> nothing."""
def shutdown_tpu_system(*, name: str = ...) -> Tensor:
    """ShutdownTPUSystem:  -> success: bool."""
def sigmoid(x: X, *, name: str = ...) -> Tensor:
    """Sigmoid: x: T -> y: T."""
def sigmoid_grad(y: X, dy: X, *, name: str = ...) -> Tensor:
    """SigmoidGrad: y: T, dy: T -> z: T."""
def sign(x: X, *, name: str = ...) -> Tensor:
    """Sign: x: T -> y: T."""
def simple(a: X, *, name: str = ...) -> Tensor:
    """Simple: a: int32 -> out: float32."""
def simple_struct(*, n_a: int, name: str = ...) -> S[Tensor]:
    """SimpleStruct:  -> a: int32."""
def sin(x: X, *, name: str = ...) -> Tensor:
    """Sin: x: T -> y: T."""
def sinh(x: X, *, name: str = ...) -> Tensor:
    """Sinh: x: T -> y: T."""
def size(input: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """Size: input: T -> output: out_type."""
def skip_dataset(input_dataset: X, count: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """SkipDataset: input_dataset: variant, count: int64 -> handle: variant."""
def skipgram(*, filename: str, batch_size: int, window_size: int = ..., min_count: int = ..., subsample: float = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Skipgram:  -> vocab_word: string, vocab_freq: int32, words_per_epoch: int64, current_epoch: int32, total_words_processed: int64, examples: int32, labels: int32."""
def sleep_dataset(input_dataset: X, sleep_microseconds: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """SleepDataset: input_dataset: variant, sleep_microseconds: int64 -> handle: variant."""
def sleep_identity_op(sleep_seconds: X, input: X, *, name: str = ...) -> Tensor:
    """SleepIdentityOp: sleep_seconds: int32, input: T -> output: T."""
def sleep_op(sleep_seconds: X, *, name: str = ...) -> None:
    """SleepOp: sleep_seconds: int32 -> nothing."""
def slice(input: X, begin: X, size: X, *, name: str = ...) -> Tensor:
    """Slice: input: T, begin: Index, size: Index -> output: T."""
def sliding_window_dataset(input_dataset: X, window_size: X, window_shift: X, window_stride: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], drop_remainder: bool = ..., name: str = ...) -> Tensor:
    """SlidingWindowDataset: input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64 -> handle: variant."""
def snapshot(input: X, *, name: str = ...) -> Tensor:
    """Snapshot: input: T -> output: T."""
def snapshot_chunk_dataset(chunk_file: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], compression: str = ..., name: str = ...) -> Tensor:
    """SnapshotChunkDataset: chunk_file: string -> handle: variant."""
def snapshot_dataset(input_dataset: X, path: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], compression: str = ..., reader_path_prefix: str = ..., writer_path_prefix: str = ..., shard_size_bytes: int = ..., pending_snapshot_expiry_seconds: int = ..., num_reader_threads: int = ..., reader_buffer_size: int = ..., num_writer_threads: int = ..., writer_buffer_size: int = ..., shuffle_on_read: bool = ..., seed: int = ..., seed2: int = ..., mode: str = ..., snapshot_name: str = ..., name: str = ...) -> Tensor:
    """SnapshotDataset: input_dataset: variant, path: string -> handle: variant."""
def snapshot_dataset_reader(shard_dir: X, start_index: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], version: int, compression: str = ..., name: str = ...) -> Tensor:
    """SnapshotDatasetReader: shard_dir: string, start_index: int64 -> handle: variant."""
def snapshot_dataset_v2(input_dataset: X, path: X, reader_func_other_args: S[X], shard_func_other_args: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], reader_func: Any, shard_func: Any, compression: str = ..., reader_prefix: str = ..., writer_prefix: str = ..., hash_valid: bool = ..., hash: int = ..., metadata: str = ..., name: str = ...) -> Tensor:
    """SnapshotDatasetV2: input_dataset: variant, path: string, reader_func_other_args: Treader_func_args, shard_func_other_args: Tshard_func_args -> handle: variant."""
def snapshot_nested_dataset_reader(inputs: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """SnapshotNestedDatasetReader: inputs: variant -> handle: variant."""
def sobol_sample(dim: X, num_results: X, skip: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """SobolSample: dim: int32, num_results: int32, skip: int32 -> samples: dtype."""
def softmax(logits: X, *, name: str = ...) -> Tensor:
    """Softmax: logits: T -> softmax: T."""
def softmax_cross_entropy_with_logits(features: X, labels: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SoftmaxCrossEntropyWithLogits: features: T, labels: T -> loss: T, backprop: T."""
def softplus(features: X, *, name: str = ...) -> Tensor:
    """Softplus: features: T -> activations: T."""
def softplus_grad(gradients: X, features: X, *, name: str = ...) -> Tensor:
    """SoftplusGrad: gradients: T, features: T -> backprops: T."""
def softsign(features: X, *, name: str = ...) -> Tensor:
    """Softsign: features: T -> activations: T."""
def softsign_grad(gradients: X, features: X, *, name: str = ...) -> Tensor:
    """SoftsignGrad: gradients: T, features: T -> backprops: T."""
def sort_list_of_sparse_core_coo_tensors(row_ids_list: S[X], col_ids_list: S[X], gains_list: S[X], *, sample_count_list: S[int], col_offset_list: S[int], num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """SortListOfSparseCoreCooTensors: row_ids_list: int32, col_ids_list: int32, gains_list: float32 -> sorted_row_ids: int32, sorted_col_ids: int32, sorted_gains: float32, id_counts: int32."""
def space_to_batch(input: X, paddings: X, *, block_size: int, name: str = ...) -> Tensor:
    """SpaceToBatch: input: T, paddings: Tpaddings -> output: T."""
def space_to_batch_nd(input: X, block_shape: X, paddings: X, *, name: str = ...) -> Tensor:
    """SpaceToBatchND: input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T."""
def space_to_depth(input: X, *, block_size: int, data_format: str = ..., name: str = ...) -> Tensor:
    """SpaceToDepth: input: T -> output: T."""
def sparse_accumulator_apply_gradient(handle: X, local_step: X, gradient_indices: X, gradient_values: X, gradient_shape: X, *, has_known_shape: bool, name: str = ...) -> None:
    """SparseAccumulatorApplyGradient: handle: string, local_step: int64, gradient_indices: int64, gradient_values: dtype, gradient_shape: int64 -> nothing."""
def sparse_accumulator_take_gradient(handle: X, num_required: X, *, dtype: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseAccumulatorTakeGradient: handle: string, num_required: int32 -> indices: int64, values: dtype, shape: int64."""
def sparse_add(a_indices: X, a_values: X, a_shape: X, b_indices: X, b_values: X, b_shape: X, thresh: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseAdd: a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64."""
def sparse_add_grad(backprop_val_grad: X, a_indices: X, b_indices: X, sum_indices: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseAddGrad: backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> a_val_grad: T, b_val_grad: T."""
def sparse_apply_adadelta(var: X, accum: X, accum_update: X, lr: X, rho: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyAdadelta: var: T, accum: T, accum_update: T, lr: T, rho: T, epsilon: T, grad: T, indices: Tindices -> out: T."""
def sparse_apply_adagrad(var: X, accum: X, lr: X, grad: X, indices: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyAdagrad: var: T, accum: T, lr: T, grad: T, indices: Tindices -> out: T."""
def sparse_apply_adagrad_da(var: X, gradient_accumulator: X, gradient_squared_accumulator: X, grad: X, indices: X, lr: X, l1: X, l2: X, global_step: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyAdagradDA: var: T, gradient_accumulator: T, gradient_squared_accumulator: T, grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64 -> out: T."""
def sparse_apply_adagrad_v2(var: X, accum: X, lr: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., update_slots: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyAdagradV2: var: T, accum: T, lr: T, epsilon: T, grad: T, indices: Tindices -> out: T."""
def sparse_apply_centered_rms_prop(var: X, mg: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyCenteredRMSProp: var: T, mg: T, ms: T, mom: T, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices -> out: T."""
def sparse_apply_ftrl(var: X, accum: X, linear: X, grad: X, indices: X, lr: X, l1: X, l2: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyFtrl: var: T, accum: T, linear: T, grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T -> out: T."""
def sparse_apply_ftrl_v2(var: X, accum: X, linear: X, grad: X, indices: X, lr: X, l1: X, l2: X, l2_shrinkage: X, lr_power: X, *, use_locking: bool = ..., multiply_linear_by_lr: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyFtrlV2: var: T, accum: T, linear: T, grad: T, indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T -> out: T."""
def sparse_apply_momentum(var: X, accum: X, lr: X, grad: X, indices: X, momentum: X, *, use_locking: bool = ..., use_nesterov: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyMomentum: var: T, accum: T, lr: T, grad: T, indices: Tindices, momentum: T -> out: T."""
def sparse_apply_proximal_adagrad(var: X, accum: X, lr: X, l1: X, l2: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyProximalAdagrad: var: T, accum: T, lr: T, l1: T, l2: T, grad: T, indices: Tindices -> out: T."""
def sparse_apply_proximal_gradient_descent(var: X, alpha: X, l1: X, l2: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyProximalGradientDescent: var: T, alpha: T, l1: T, l2: T, grad: T, indices: Tindices -> out: T."""
def sparse_apply_rms_prop(var: X, ms: X, mom: X, lr: X, rho: X, momentum: X, epsilon: X, grad: X, indices: X, *, use_locking: bool = ..., name: str = ...) -> Tensor:
    """SparseApplyRMSProp: var: T, ms: T, mom: T, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices -> out: T."""
def sparse_bincount(indices: X, values: X, dense_shape: X, size: X, weights: X, *, binary_output: bool = ..., name: str = ...) -> Tensor:
    """SparseBincount: indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T -> output: T."""
def sparse_concat(indices: S[X], values: S[X], shapes: S[X], *, concat_dim: int, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseConcat: indices: int64, values: T, shapes: int64 -> output_indices: int64, output_values: T, output_shape: int64."""
def sparse_conditional_accumulator(*, dtype: Any, shape: S[int | None] | None, container: str = ..., shared_name: str = ..., reduction_type: str = ..., name: str = ...) -> Tensor:
    """SparseConditionalAccumulator:  -> handle: string."""
def sparse_count_sparse_output(indices: X, values: X, dense_shape: X, weights: X, *, binary_output: bool, minlength: int = ..., maxlength: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseCountSparseOutput: indices: int64, values: T, dense_shape: int64, weights: output_type -> output_indices: int64, output_values: output_type, output_dense_shape: int64."""
def sparse_cross(indices: S[X], values: S[X], shapes: S[X], dense_inputs: S[X], *, hashed_output: bool, num_buckets: int, hash_key: int, out_type: Any, internal_type: Any, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseCross: indices: int64, values: sparse_types, shapes: int64, dense_inputs: dense_types -> output_indices: int64, output_values: out_type, output_shape: int64."""
def sparse_cross_hashed(indices: S[X], values: S[X], shapes: S[X], dense_inputs: S[X], num_buckets: X, strong_hash: X, salt: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseCrossHashed: indices: int64, values: sparse_types, shapes: int64, dense_inputs: dense_types, num_buckets: int64, strong_hash: bool, salt: int64 -> output_indices: int64, output_values: int64, output_shape: int64."""
def sparse_cross_v2(indices: S[X], values: S[X], shapes: S[X], dense_inputs: S[X], sep: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseCrossV2: indices: int64, values: sparse_types, shapes: int64, dense_inputs: dense_types, sep: string -> output_indices: int64, output_values: string, output_shape: int64."""
def sparse_dense_cwise_add(sp_indices: X, sp_values: X, sp_shape: X, dense: X, *, name: str = ...) -> Tensor:
    """SparseDenseCwiseAdd: sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T."""
def sparse_dense_cwise_div(sp_indices: X, sp_values: X, sp_shape: X, dense: X, *, name: str = ...) -> Tensor:
    """SparseDenseCwiseDiv: sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T."""
def sparse_dense_cwise_mul(sp_indices: X, sp_values: X, sp_shape: X, dense: X, *, name: str = ...) -> Tensor:
    """SparseDenseCwiseMul: sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T."""
def sparse_fill_empty_rows(indices: X, values: X, dense_shape: X, default_value: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """SparseFillEmptyRows: indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64."""
def sparse_fill_empty_rows_grad(reverse_index_map: X, grad_values: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseFillEmptyRowsGrad: reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T."""
def sparse_matmul(a: X, b: X, *, transpose_a: bool = ..., transpose_b: bool = ..., a_is_sparse: bool = ..., b_is_sparse: bool = ..., name: str = ...) -> Tensor:
    """SparseMatMul: a: Ta, b: Tb -> product: float32."""
def sparse_matrix_add(a: X, b: X, alpha: X, beta: X, *, name: str = ...) -> Tensor:
    """SparseMatrixAdd: a: variant, b: variant, alpha: T, beta: T -> c: variant."""
def sparse_matrix_matmul(a: X, b: X, *, transpose_a: bool = ..., transpose_b: bool = ..., adjoint_a: bool = ..., adjoint_b: bool = ..., transpose_output: bool = ..., conjugate_output: bool = ..., name: str = ...) -> Tensor:
    """SparseMatrixMatMul: a: variant, b: T -> output: T."""
def sparse_matrix_mul(a: X, b: X, *, name: str = ...) -> Tensor:
    """SparseMatrixMul: a: variant, b: T -> output: variant."""
def sparse_matrix_nnz(sparse_matrix: X, *, name: str = ...) -> Tensor:
    """SparseMatrixNNZ: sparse_matrix: variant -> nnz: int32."""
def sparse_matrix_ordering_amd(input: X, *, name: str = ...) -> Tensor:
    """SparseMatrixOrderingAMD: input: variant -> output: int32."""
def sparse_matrix_softmax(logits: X, *, type: Any, name: str = ...) -> Tensor:
    """SparseMatrixSoftmax: logits: variant -> softmax: variant."""
def sparse_matrix_softmax_grad(softmax: X, grad_softmax: X, *, type: Any, name: str = ...) -> Tensor:
    """SparseMatrixSoftmaxGrad: softmax: variant, grad_softmax: variant -> gradient: variant."""
def sparse_matrix_sparse_cholesky(input: X, permutation: X, *, type: Any, name: str = ...) -> Tensor:
    """SparseMatrixSparseCholesky: input: variant, permutation: int32 -> output: variant."""
def sparse_matrix_sparse_matmul(a: X, b: X, *, type: Any, transpose_a: bool = ..., transpose_b: bool = ..., adjoint_a: bool = ..., adjoint_b: bool = ..., name: str = ...) -> Tensor:
    """SparseMatrixSparseMatMul: a: variant, b: variant -> c: variant."""
def sparse_matrix_transpose(input: X, *, type: Any, conjugate: bool = ..., name: str = ...) -> Tensor:
    """SparseMatrixTranspose: input: variant -> output: variant."""
def sparse_matrix_zeros(dense_shape: X, *, type: Any, name: str = ...) -> Tensor:
    """SparseMatrixZeros: dense_shape: int64 -> sparse_matrix: variant."""
def sparse_reduce_max(input_indices: X, input_values: X, input_shape: X, reduction_axes: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """SparseReduceMax: input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T."""
def sparse_reduce_max_sparse(input_indices: X, input_values: X, input_shape: X, reduction_axes: X, *, keep_dims: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseReduceMaxSparse: input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output_indices: int64, output_values: T, output_shape: int64."""
def sparse_reduce_sum(input_indices: X, input_values: X, input_shape: X, reduction_axes: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """SparseReduceSum: input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T."""
def sparse_reduce_sum_sparse(input_indices: X, input_values: X, input_shape: X, reduction_axes: X, *, keep_dims: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseReduceSumSparse: input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output_indices: int64, output_values: T, output_shape: int64."""
def sparse_reorder(input_indices: X, input_values: X, input_shape: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseReorder: input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, output_values: T."""
def sparse_reshape(input_indices: X, input_shape: X, new_shape: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseReshape: input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, output_shape: int64."""
def sparse_segment_mean(data: X, indices: X, segment_ids: X, *, sparse_gradient: bool = ..., name: str = ...) -> Tensor:
    """SparseSegmentMean: data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T."""
def sparse_segment_mean_grad(grad: X, indices: X, segment_ids: X, output_dim0: X, *, name: str = ...) -> Tensor:
    """SparseSegmentMeanGrad: grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T."""
def sparse_segment_mean_grad_v2(grad: X, indices: X, segment_ids: X, dense_output_dim0: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseSegmentMeanGradV2: grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 -> output: T, sorted_unique_indices: Tidx."""
def sparse_segment_mean_with_num_segments(data: X, indices: X, segment_ids: X, num_segments: X, *, sparse_gradient: bool = ..., name: str = ...) -> Tensor:
    """SparseSegmentMeanWithNumSegments: data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T."""
def sparse_segment_sqrt_n(data: X, indices: X, segment_ids: X, *, sparse_gradient: bool = ..., name: str = ...) -> Tensor:
    """SparseSegmentSqrtN: data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T."""
def sparse_segment_sqrt_n_grad(grad: X, indices: X, segment_ids: X, output_dim0: X, *, name: str = ...) -> Tensor:
    """SparseSegmentSqrtNGrad: grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T."""
def sparse_segment_sqrt_n_grad_v2(grad: X, indices: X, segment_ids: X, dense_output_dim0: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseSegmentSqrtNGradV2: grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 -> output: T, sorted_unique_indices: Tidx."""
def sparse_segment_sqrt_n_with_num_segments(data: X, indices: X, segment_ids: X, num_segments: X, *, sparse_gradient: bool = ..., name: str = ...) -> Tensor:
    """SparseSegmentSqrtNWithNumSegments: data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T."""
def sparse_segment_sum(data: X, indices: X, segment_ids: X, *, sparse_gradient: bool = ..., name: str = ...) -> Tensor:
    """SparseSegmentSum: data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T."""
def sparse_segment_sum_grad(grad: X, indices: X, segment_ids: X, output_dim0: X, *, name: str = ...) -> Tensor:
    """SparseSegmentSumGrad: grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T."""
def sparse_segment_sum_grad_v2(grad: X, indices: X, segment_ids: X, dense_output_dim0: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseSegmentSumGradV2: grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 -> output: T, sorted_unique_indices: Tidx."""
def sparse_segment_sum_with_num_segments(data: X, indices: X, segment_ids: X, num_segments: X, *, sparse_gradient: bool = ..., name: str = ...) -> Tensor:
    """SparseSegmentSumWithNumSegments: data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T."""
def sparse_slice(indices: X, values: X, shape: X, start: X, size: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseSlice: indices: int64, values: T, shape: int64, start: int64, size: int64 -> output_indices: int64, output_values: T, output_shape: int64."""
def sparse_slice_grad(backprop_val_grad: X, input_indices: X, input_start: X, output_indices: X, *, name: str = ...) -> Tensor:
    """SparseSliceGrad: backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> val_grad: T."""
def sparse_softmax(sp_indices: X, sp_values: X, sp_shape: X, *, name: str = ...) -> Tensor:
    """SparseSoftmax: sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T."""
def sparse_softmax_cross_entropy_with_logits(features: X, labels: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseSoftmaxCrossEntropyWithLogits: features: T, labels: Tlabels -> loss: T, backprop: T."""
def sparse_sparse_maximum(a_indices: X, a_values: X, a_shape: X, b_indices: X, b_values: X, b_shape: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseSparseMaximum: a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64 -> output_indices: int64, output_values: T."""
def sparse_sparse_minimum(a_indices: X, a_values: X, a_shape: X, b_indices: X, b_values: X, b_shape: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """SparseSparseMinimum: a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64 -> output_indices: int64, output_values: T."""
def sparse_split(split_dim: X, indices: X, values: X, shape: X, *, num_split: int, name: str = ...) -> tuple[S[Tensor], S[Tensor], S[Tensor]]:
    """SparseSplit: split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: int64, output_values: T, output_shape: int64."""
def sparse_tensor_dense_add(a_indices: X, a_values: X, a_shape: X, b: X, *, name: str = ...) -> Tensor:
    """SparseTensorDenseAdd: a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T."""
def sparse_tensor_dense_matmul(a_indices: X, a_values: X, a_shape: X, b: X, *, adjoint_a: bool = ..., adjoint_b: bool = ..., name: str = ...) -> Tensor:
    """SparseTensorDenseMatMul: a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T."""
def sparse_tensor_slice_dataset(indices: X, values: X, dense_shape: X, *, name: str = ...) -> Tensor:
    """SparseTensorSliceDataset: indices: int64, values: Tvalues, dense_shape: int64 -> handle: variant."""
def sparse_tensor_to_csr_sparse_matrix(indices: X, values: X, dense_shape: X, *, name: str = ...) -> Tensor:
    """SparseTensorToCSRSparseMatrix: indices: int64, values: T, dense_shape: int64 -> sparse_matrix: variant."""
def sparse_to_dense(sparse_indices: X, output_shape: X, sparse_values: X, default_value: X, *, validate_indices: bool = ..., name: str = ...) -> Tensor:
    """SparseToDense: sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T."""
def sparse_to_sparse_set_operation(set1_indices: X, set1_values: X, set1_shape: X, set2_indices: X, set2_values: X, set2_shape: X, *, set_operation: str, validate_indices: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """SparseToSparseSetOperation: set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values: T, set2_shape: int64 -> result_indices: int64, result_values: T, result_shape: int64."""
def spence(x: X, *, name: str = ...) -> Tensor:
    """Spence: x: T -> y: T."""
def split(split_dim: X, value: X, *, num_split: int, name: str = ...) -> S[Tensor]:
    """Split: split_dim: int32, value: T -> output: T."""
def split_dedup_data(input: X, *, integer_type: Any, float_type: Any, tuple_mask: str, config: str = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """SplitDedupData: input: variant -> integer_tensor: integer_type, float_tensor: float_type."""
def split_v(value: X, size_splits: X, split_dim: X, *, num_split: int, name: str = ...) -> S[Tensor]:
    """SplitV: value: T, size_splits: Tlen, split_dim: int32 -> output: T."""
def sql_dataset(driver_name: X, data_source_name: X, query: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """SqlDataset: driver_name: string, data_source_name: string, query: string -> handle: variant."""
def sqrt(x: X, *, name: str = ...) -> Tensor:
    """Sqrt: x: T -> y: T."""
def sqrt_grad(y: X, dy: X, *, name: str = ...) -> Tensor:
    """SqrtGrad: y: T, dy: T -> z: T."""
def square(x: X, *, name: str = ...) -> Tensor:
    """Square: x: T -> y: T."""
def squared_difference(x: X, y: X, *, name: str = ...) -> Tensor:
    """SquaredDifference: x: T, y: T -> z: T."""
def squeeze(input: X, *, squeeze_dims: S[int] = ..., name: str = ...) -> Tensor:
    """Squeeze: input: T -> output: T."""
def stack(*, elem_type: Any, stack_name: str = ..., name: str = ...) -> Tensor:
    """Stack:  -> handle: string."""
def stack_close(handle: X, *, name: str = ...) -> None:
    """StackClose: handle: string -> nothing."""
def stack_close_v2(handle: X, *, name: str = ...) -> None:
    """StackCloseV2: handle: resource -> nothing."""
def stack_pop(handle: X, *, elem_type: Any, name: str = ...) -> Tensor:
    """StackPop: handle: string -> elem: elem_type."""
def stack_pop_v2(handle: X, *, elem_type: Any, name: str = ...) -> Tensor:
    """StackPopV2: handle: resource -> elem: elem_type."""
def stack_push(handle: X, elem: X, *, swap_memory: bool = ..., name: str = ...) -> Tensor:
    """StackPush: handle: string, elem: T -> output: T."""
def stack_push_v2(handle: X, elem: X, *, swap_memory: bool = ..., name: str = ...) -> Tensor:
    """StackPushV2: handle: resource, elem: T -> output: T."""
def stack_v2(max_size: X, *, elem_type: Any, stack_name: str = ..., name: str = ...) -> Tensor:
    """StackV2: max_size: int32 -> handle: resource."""
def stage(values: S[X], *, capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> None:
    """Stage: values: dtypes -> nothing."""
def stage_clear(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> None:
    """StageClear:  -> nothing."""
def stage_peek(index: X, *, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> S[Tensor]:
    """StagePeek: index: int32 -> values: dtypes."""
def stage_size(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """StageSize:  -> size: int32."""
def stateful_partitioned_call(args: S[X], *, Tout: S[Any], f: Any, config: str = ..., config_proto: str = ..., executor_type: str = ..., name: str = ...) -> S[Tensor]:
    """StatefulPartitionedCall: args: Tin -> output: Tout."""
def stateful_random_binomial(resource: X, algorithm: X, shape: X, counts: X, probs: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatefulRandomBinomial: resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype."""
def stateful_standard_normal(resource: X, shape: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatefulStandardNormal: resource: resource, shape: shape_dtype -> output: dtype."""
def stateful_standard_normal_v2(resource: X, algorithm: X, shape: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatefulStandardNormalV2: resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype."""
def stateful_truncated_normal(resource: X, algorithm: X, shape: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatefulTruncatedNormal: resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype."""
def stateful_uniform(resource: X, algorithm: X, shape: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatefulUniform: resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype."""
def stateful_uniform_full_int(resource: X, algorithm: X, shape: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatefulUniformFullInt: resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype."""
def stateful_uniform_int(resource: X, algorithm: X, shape: X, minval: X, maxval: X, *, name: str = ...) -> Tensor:
    """StatefulUniformInt: resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype."""
def stateless_case(branch_index: X, input: S[X], *, Tout: S[Any], branches: S[Any], output_shapes: S[S[int | None] | None] = ..., name: str = ...) -> S[Tensor]:
    """StatelessCase: branch_index: int32, input: Tin -> output: Tout."""
def stateless_if(cond: X, input: S[X], *, Tout: S[Any], then_branch: Any, else_branch: Any, output_shapes: S[S[int | None] | None] = ..., name: str = ...) -> S[Tensor]:
    """StatelessIf: cond: Tcond, input: Tin -> output: Tout."""
def stateless_multinomial(logits: X, num_samples: X, seed: X, *, output_dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessMultinomial: logits: T, num_samples: int32, seed: Tseed -> output: output_dtype."""
def stateless_parameterized_truncated_normal(shape: X, seed: X, means: X, stddevs: X, minvals: X, maxvals: X, *, name: str = ...) -> Tensor:
    """StatelessParameterizedTruncatedNormal: shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype."""
def stateless_random_binomial(shape: X, seed: X, counts: X, probs: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessRandomBinomial: shape: S, seed: Tseed, counts: T, probs: T -> output: dtype."""
def stateless_random_gamma_v2(shape: X, seed: X, alpha: X, *, name: str = ...) -> Tensor:
    """StatelessRandomGammaV2: shape: T, seed: Tseed, alpha: dtype -> output: dtype."""
def stateless_random_gamma_v3(shape: X, key: X, counter: X, alg: X, alpha: X, *, name: str = ...) -> Tensor:
    """StatelessRandomGammaV3: shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> output: dtype."""
def stateless_random_get_alg(*, name: str = ...) -> Tensor:
    """StatelessRandomGetAlg:  -> alg: int32."""
def stateless_random_get_key_counter(seed: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """StatelessRandomGetKeyCounter: seed: Tseed -> key: uint64, counter: uint64."""
def stateless_random_get_key_counter_alg(seed: X, *, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """StatelessRandomGetKeyCounterAlg: seed: Tseed -> key: uint64, counter: uint64, alg: int32."""
def stateless_random_normal(shape: X, seed: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessRandomNormal: shape: T, seed: Tseed -> output: dtype."""
def stateless_random_normal_v2(shape: X, key: X, counter: X, alg: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessRandomNormalV2: shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype."""
def stateless_random_poisson(shape: X, seed: X, lam: X, *, dtype: Any, name: str = ...) -> Tensor:
    """StatelessRandomPoisson: shape: T, seed: Tseed, lam: Rtype -> output: dtype."""
def stateless_random_uniform(shape: X, seed: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessRandomUniform: shape: T, seed: Tseed -> output: dtype."""
def stateless_random_uniform_full_int(shape: X, seed: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessRandomUniformFullInt: shape: T, seed: Tseed -> output: dtype."""
def stateless_random_uniform_full_int_v2(shape: X, key: X, counter: X, alg: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessRandomUniformFullIntV2: shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype."""
def stateless_random_uniform_int(shape: X, seed: X, minval: X, maxval: X, *, name: str = ...) -> Tensor:
    """StatelessRandomUniformInt: shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype."""
def stateless_random_uniform_int_v2(shape: X, key: X, counter: X, alg: X, minval: X, maxval: X, *, name: str = ...) -> Tensor:
    """StatelessRandomUniformIntV2: shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype -> output: dtype."""
def stateless_random_uniform_v2(shape: X, key: X, counter: X, alg: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessRandomUniformV2: shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype."""
def stateless_sample_distorted_bounding_box(image_size: X, bounding_boxes: X, min_object_covered: X, seed: X, *, aspect_ratio_range: S[float] = ..., area_range: S[float] = ..., max_attempts: int = ..., use_image_if_no_bounding_boxes: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """StatelessSampleDistortedBoundingBox: image_size: T, bounding_boxes: float32, min_object_covered: float32, seed: Tseed -> begin: T, size: T, bboxes: float32."""
def stateless_shuffle(value: X, key: X, counter: X, alg: X, *, name: str = ...) -> Tensor:
    """StatelessShuffle: value: T, key: uint64, counter: uint64, alg: int32 -> output: T."""
def stateless_truncated_normal(shape: X, seed: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessTruncatedNormal: shape: T, seed: Tseed -> output: dtype."""
def stateless_truncated_normal_v2(shape: X, key: X, counter: X, alg: X, *, dtype: Any = ..., name: str = ...) -> Tensor:
    """StatelessTruncatedNormalV2: shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype."""
def stateless_while(input: S[X], *, cond: Any, body: Any, output_shapes: S[S[int | None] | None] = ..., parallel_iterations: int = ..., name: str = ...) -> S[Tensor]:
    """StatelessWhile: input: T -> output: T."""
def static_regex_full_match(input: X, *, pattern: str, name: str = ...) -> Tensor:
    """StaticRegexFullMatch: input: string -> output: bool."""
def static_regex_replace(input: X, *, pattern: str, rewrite: str, replace_global: bool = ..., name: str = ...) -> Tensor:
    """StaticRegexReplace: input: string -> output: string."""
def stats_aggregator_handle(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """StatsAggregatorHandle:  -> handle: resource."""
def stats_aggregator_handle_v2(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """StatsAggregatorHandleV2:  -> handle: resource."""
def stats_aggregator_set_summary_writer(stats_aggregator: X, summary: X, *, name: str = ...) -> None:
    """StatsAggregatorSetSummaryWriter: stats_aggregator: resource, summary: resource -> nothing."""
def stats_aggregator_summary(iterator: X, *, name: str = ...) -> Tensor:
    """StatsAggregatorSummary: iterator: resource -> summary: string."""
def stochastic_cast_to_int(input: X, key: X, counter: X, alg: X, *, Tout: Any, name: str = ...) -> Tensor:
    """StochasticCastToInt: input: Tin, key: uint64, counter: uint64, alg: int32 -> output: Tout."""
def stop_gradient(input: X, *, name: str = ...) -> Tensor:
    """StopGradient: input: T -> output: T."""
def store_minibatch_statistics_in_fdo(program_key: X, max_ids: X, max_uniques: X, *, sample_count: int, num_replica: int, feature_width: int, num_sc_per_chip: int, table_name: str, mini_batch_splits: str, name: str = ...) -> None:
    """StoreMinibatchStatisticsInFdo: program_key: string, max_ids: int32, max_uniques: int32 -> nothing."""
def strided_slice(input: X, begin: X, end: X, strides: X, *, begin_mask: int = ..., end_mask: int = ..., ellipsis_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ..., name: str = ...) -> Tensor:
    """StridedSlice: input: T, begin: Index, end: Index, strides: Index -> output: T."""
def strided_slice_assign(ref: X, begin: X, end: X, strides: X, value: X, *, begin_mask: int = ..., end_mask: int = ..., ellipsis_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ..., name: str = ...) -> Tensor:
    """StridedSliceAssign: ref: T, begin: Index, end: Index, strides: Index, value: T -> output_ref: T."""
def strided_slice_grad(shape: X, begin: X, end: X, strides: X, dy: X, *, begin_mask: int = ..., end_mask: int = ..., ellipsis_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ..., name: str = ...) -> Tensor:
    """StridedSliceGrad: shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T."""
def string_format(inputs: S[X], *, template: str = ..., placeholder: str = ..., summarize: int = ..., name: str = ...) -> Tensor:
    """StringFormat: inputs: T -> output: string."""
def string_join(inputs: S[X], *, separator: str = ..., name: str = ...) -> Tensor:
    """StringJoin: inputs: string -> output: string."""
def string_length(input: X, *, unit: str = ..., name: str = ...) -> Tensor:
    """StringLength: input: string -> output: int32."""
def string_list_attr(*, a: S[str], b: str, name: str = ...) -> None:
    """StringListAttr:  -> nothing."""
def string_lower(input: X, *, encoding: str = ..., name: str = ...) -> Tensor:
    """StringLower: input: string -> output: string."""
def string_n_grams(data: X, data_splits: X, *, separator: str, ngram_widths: S[int], left_pad: str, right_pad: str, pad_width: int, preserve_short_sequences: bool, name: str = ...) -> tuple[Tensor, Tensor]:
    """StringNGrams: data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits."""
def string_split(input: X, delimiter: X, *, skip_empty: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """StringSplit: input: string, delimiter: string -> indices: int64, values: string, shape: int64."""
def string_split_v2(input: X, sep: X, *, maxsplit: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """StringSplitV2: input: string, sep: string -> indices: int64, values: string, shape: int64."""
def string_strip(input: X, *, name: str = ...) -> Tensor:
    """StringStrip: input: string -> output: string."""
def string_to_hash_bucket(string_tensor: X, *, num_buckets: int, name: str = ...) -> Tensor:
    """StringToHashBucket: string_tensor: string -> output: int64."""
def string_to_hash_bucket_fast(input: X, *, num_buckets: int, name: str = ...) -> Tensor:
    """StringToHashBucketFast: input: string -> output: int64."""
def string_to_hash_bucket_strong(input: X, *, num_buckets: int, key: S[int], name: str = ...) -> Tensor:
    """StringToHashBucketStrong: input: string -> output: int64."""
def string_to_number(string_tensor: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """StringToNumber: string_tensor: string -> output: out_type."""
def string_upper(input: X, *, encoding: str = ..., name: str = ...) -> Tensor:
    """StringUpper: input: string -> output: string."""
def stub_resource_handle_op(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """StubResourceHandleOp:  -> resource: resource."""
def sub(x: X, y: X, *, name: str = ...) -> Tensor:
    """Sub: x: T, y: T -> z: T."""
def substr(input: X, pos: X, len: X, *, unit: str = ..., name: str = ...) -> Tensor:
    """Substr: input: string, pos: T, len: T -> output: string."""
def sum(input: X, reduction_indices: X, *, keep_dims: bool = ..., name: str = ...) -> Tensor:
    """Sum: input: T, reduction_indices: Tidx -> output: T."""
def summary_writer(*, shared_name: str = ..., container: str = ..., name: str = ...) -> Tensor:
    """SummaryWriter:  -> writer: resource."""
def svd(input: X, *, compute_uv: bool = ..., full_matrices: bool = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """Svd: input: T -> s: T, u: T, v: T."""
def switch(data: X, pred: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """Switch: data: T, pred: bool -> output_false: T, output_true: T."""
def symbolic_gradient(input: S[X], *, Tout: S[Any], f: Any, name: str = ...) -> S[Tensor]:
    """SymbolicGradient: input: Tin -> output: Tout."""
def sync_device(*, name: str = ...) -> None:
    """SyncDevice:  -> nothing."""
def take_dataset(input_dataset: X, count: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """TakeDataset: input_dataset: variant, count: int64 -> handle: variant."""
def take_many_sparse_from_tensors_map(sparse_handles: X, *, dtype: Any, container: str = ..., shared_name: str = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """TakeManySparseFromTensorsMap: sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64."""
def take_while_dataset(input_dataset: X, other_arguments: S[X], *, predicate: Any, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """TakeWhileDataset: input_dataset: variant, other_arguments: Targuments -> handle: variant."""
def tan(x: X, *, name: str = ...) -> Tensor:
    """Tan: x: T -> y: T."""
def tanh(x: X, *, name: str = ...) -> Tensor:
    """Tanh: x: T -> y: T."""
def tanh_grad(y: X, dy: X, *, name: str = ...) -> Tensor:
    """TanhGrad: y: T, dy: T -> z: T."""
def temporary_variable(*, shape: S[int | None] | None, dtype: Any, var_name: str = ..., name: str = ...) -> Tensor:
    """TemporaryVariable:  -> ref: dtype."""
def tensor_array(size: X, *, dtype: Any, dynamic_size: bool = ..., clear_after_read: bool = ..., tensor_array_name: str = ..., element_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """TensorArray: size: int32 -> handle: string."""
def tensor_array_close(handle: X, *, name: str = ...) -> None:
    """TensorArrayClose: handle: string -> nothing."""
def tensor_array_close_v2(handle: X, *, name: str = ...) -> None:
    """TensorArrayCloseV2: handle: string -> nothing."""
def tensor_array_close_v3(handle: X, *, name: str = ...) -> None:
    """TensorArrayCloseV3: handle: resource -> nothing."""
def tensor_array_concat(handle: X, flow_in: X, *, dtype: Any, element_shape_except0: S[int | None] | None = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorArrayConcat: handle: string, flow_in: float32 -> value: dtype, lengths: int64."""
def tensor_array_concat_v2(handle: X, flow_in: X, *, dtype: Any, element_shape_except0: S[int | None] | None = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorArrayConcatV2: handle: string, flow_in: float32 -> value: dtype, lengths: int64."""
def tensor_array_concat_v3(handle: X, flow_in: X, *, dtype: Any, element_shape_except0: S[int | None] | None = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorArrayConcatV3: handle: resource, flow_in: float32 -> value: dtype, lengths: int64."""
def tensor_array_gather(handle: X, indices: X, flow_in: X, *, dtype: Any, element_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """TensorArrayGather: handle: string, indices: int32, flow_in: float32 -> value: dtype."""
def tensor_array_gather_v2(handle: X, indices: X, flow_in: X, *, dtype: Any, element_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """TensorArrayGatherV2: handle: string, indices: int32, flow_in: float32 -> value: dtype."""
def tensor_array_gather_v3(handle: X, indices: X, flow_in: X, *, dtype: Any, element_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """TensorArrayGatherV3: handle: resource, indices: int32, flow_in: float32 -> value: dtype."""
def tensor_array_grad(handle: X, flow_in: X, *, source: str, name: str = ...) -> Tensor:
    """TensorArrayGrad: handle: string, flow_in: float32 -> grad_handle: string."""
def tensor_array_grad_v2(handle: X, flow_in: X, *, source: str, name: str = ...) -> Tensor:
    """TensorArrayGradV2: handle: string, flow_in: float32 -> grad_handle: string."""
def tensor_array_grad_v3(handle: X, flow_in: X, *, source: str, name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorArrayGradV3: handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32."""
def tensor_array_grad_with_shape(handle: X, flow_in: X, shape_to_prepend: X, *, source: str, name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorArrayGradWithShape: handle: resource, flow_in: float32, shape_to_prepend: int32 -> grad_handle: resource, flow_out: float32."""
def tensor_array_pack(handle: X, flow_in: X, *, dtype: Any, element_shape: S[int | None] | None = ..., name: str = ...) -> Tensor:
    """TensorArrayPack: handle: string, flow_in: float32 -> value: dtype."""
def tensor_array_read(handle: X, index: X, flow_in: X, *, dtype: Any, name: str = ...) -> Tensor:
    """TensorArrayRead: handle: string, index: int32, flow_in: float32 -> value: dtype."""
def tensor_array_read_v2(handle: X, index: X, flow_in: X, *, dtype: Any, name: str = ...) -> Tensor:
    """TensorArrayReadV2: handle: string, index: int32, flow_in: float32 -> value: dtype."""
def tensor_array_read_v3(handle: X, index: X, flow_in: X, *, dtype: Any, name: str = ...) -> Tensor:
    """TensorArrayReadV3: handle: resource, index: int32, flow_in: float32 -> value: dtype."""
def tensor_array_scatter(handle: X, indices: X, value: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArrayScatter: handle: string, indices: int32, value: T, flow_in: float32 -> flow_out: float32."""
def tensor_array_scatter_v2(handle: X, indices: X, value: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArrayScatterV2: handle: string, indices: int32, value: T, flow_in: float32 -> flow_out: float32."""
def tensor_array_scatter_v3(handle: X, indices: X, value: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArrayScatterV3: handle: resource, indices: int32, value: T, flow_in: float32 -> flow_out: float32."""
def tensor_array_size(handle: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArraySize: handle: string, flow_in: float32 -> size: int32."""
def tensor_array_size_v2(handle: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArraySizeV2: handle: string, flow_in: float32 -> size: int32."""
def tensor_array_size_v3(handle: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArraySizeV3: handle: resource, flow_in: float32 -> size: int32."""
def tensor_array_split(handle: X, value: X, lengths: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArraySplit: handle: string, value: T, lengths: int64, flow_in: float32 -> flow_out: float32."""
def tensor_array_split_v2(handle: X, value: X, lengths: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArraySplitV2: handle: string, value: T, lengths: int64, flow_in: float32 -> flow_out: float32."""
def tensor_array_split_v3(handle: X, value: X, lengths: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArraySplitV3: handle: resource, value: T, lengths: int64, flow_in: float32 -> flow_out: float32."""
def tensor_array_unpack(handle: X, value: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArrayUnpack: handle: string, value: T, flow_in: float32 -> flow_out: float32."""
def tensor_array_v2(size: X, *, dtype: Any, element_shape: S[int | None] | None = ..., dynamic_size: bool = ..., clear_after_read: bool = ..., tensor_array_name: str = ..., name: str = ...) -> Tensor:
    """TensorArrayV2: size: int32 -> handle: string."""
def tensor_array_v3(size: X, *, dtype: Any, element_shape: S[int | None] | None = ..., dynamic_size: bool = ..., clear_after_read: bool = ..., identical_element_shapes: bool = ..., tensor_array_name: str = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorArrayV3: size: int32 -> handle: resource, flow: float32."""
def tensor_array_write(handle: X, index: X, value: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArrayWrite: handle: string, index: int32, value: T, flow_in: float32 -> flow_out: float32."""
def tensor_array_write_v2(handle: X, index: X, value: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArrayWriteV2: handle: string, index: int32, value: T, flow_in: float32 -> flow_out: float32."""
def tensor_array_write_v3(handle: X, index: X, value: X, flow_in: X, *, name: str = ...) -> Tensor:
    """TensorArrayWriteV3: handle: resource, index: int32, value: T, flow_in: float32 -> flow_out: float32."""
def tensor_dataset(components: S[X], *, output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """TensorDataset: components: Toutput_types -> handle: variant."""
def tensor_list_concat(input_handle: X, *, element_dtype: Any, element_shape: S[int | None] | None = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorListConcat: input_handle: variant -> tensor: element_dtype, lengths: int64."""
def tensor_list_concat_lists(input_a: X, input_b: X, *, element_dtype: Any, name: str = ...) -> Tensor:
    """TensorListConcatLists: input_a: variant, input_b: variant -> output: variant."""
def tensor_list_concat_v2(input_handle: X, element_shape: X, leading_dims: X, *, element_dtype: Any, name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorListConcatV2: input_handle: variant, element_shape: shape_type, leading_dims: int64 -> tensor: element_dtype, lengths: int64."""
def tensor_list_element_shape(input_handle: X, *, shape_type: Any, name: str = ...) -> Tensor:
    """TensorListElementShape: input_handle: variant -> element_shape: shape_type."""
def tensor_list_from_tensor(tensor: X, element_shape: X, *, name: str = ...) -> Tensor:
    """TensorListFromTensor: tensor: element_dtype, element_shape: shape_type -> output_handle: variant."""
def tensor_list_gather(input_handle: X, indices: X, element_shape: X, *, element_dtype: Any, name: str = ...) -> Tensor:
    """TensorListGather: input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype."""
def tensor_list_get_item(input_handle: X, index: X, element_shape: X, *, element_dtype: Any, name: str = ...) -> Tensor:
    """TensorListGetItem: input_handle: variant, index: int32, element_shape: Tshape -> item: element_dtype."""
def tensor_list_length(input_handle: X, *, name: str = ...) -> Tensor:
    """TensorListLength: input_handle: variant -> length: int32."""
def tensor_list_pop_back(input_handle: X, element_shape: X, *, element_dtype: Any, name: str = ...) -> tuple[Tensor, Tensor]:
    """TensorListPopBack: input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype."""
def tensor_list_push_back(input_handle: X, tensor: X, *, name: str = ...) -> Tensor:
    """TensorListPushBack: input_handle: variant, tensor: element_dtype -> output_handle: variant."""
def tensor_list_push_back_batch(input_handles: X, tensor: X, *, name: str = ...) -> Tensor:
    """TensorListPushBackBatch: input_handles: variant, tensor: element_dtype -> output_handles: variant."""
def tensor_list_reserve(element_shape: X, num_elements: X, *, element_dtype: Any, name: str = ...) -> Tensor:
    """TensorListReserve: element_shape: shape_type, num_elements: int32 -> handle: variant."""
def tensor_list_resize(input_handle: X, size: X, *, name: str = ...) -> Tensor:
    """TensorListResize: input_handle: variant, size: int32 -> output_handle: variant."""
def tensor_list_scatter(tensor: X, indices: X, element_shape: X, *, name: str = ...) -> Tensor:
    """TensorListScatter: tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant."""
def tensor_list_scatter_into_existing_list(input_handle: X, tensor: X, indices: X, *, name: str = ...) -> Tensor:
    """TensorListScatterIntoExistingList: input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant."""
def tensor_list_scatter_v2(tensor: X, indices: X, element_shape: X, num_elements: X, *, name: str = ...) -> Tensor:
    """TensorListScatterV2: tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> output_handle: variant."""
def tensor_list_set_item(input_handle: X, index: X, item: X, *, resize_if_index_out_of_bounds: bool = ..., name: str = ...) -> Tensor:
    """TensorListSetItem: input_handle: variant, index: int32, item: element_dtype -> output_handle: variant."""
def tensor_list_split(tensor: X, element_shape: X, lengths: X, *, name: str = ...) -> Tensor:
    """TensorListSplit: tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant."""
def tensor_list_stack(input_handle: X, element_shape: X, *, element_dtype: Any, num_elements: int = ..., name: str = ...) -> Tensor:
    """TensorListStack: input_handle: variant, element_shape: int32 -> tensor: element_dtype."""
def tensor_map_erase(input_handle: X, key: X, *, value_dtype: Any, name: str = ...) -> Tensor:
    """TensorMapErase: input_handle: variant, key: key_dtype -> output_handle: variant."""
def tensor_map_has_key(input_handle: X, key: X, *, name: str = ...) -> Tensor:
    """TensorMapHasKey: input_handle: variant, key: key_dtype -> has_key: bool."""
def tensor_map_insert(input_handle: X, key: X, value: X, *, name: str = ...) -> Tensor:
    """TensorMapInsert: input_handle: variant, key: key_dtype, value: value_dtype -> output_handle: variant."""
def tensor_map_lookup(input_handle: X, key: X, *, value_dtype: Any, name: str = ...) -> Tensor:
    """TensorMapLookup: input_handle: variant, key: key_dtype -> value: value_dtype."""
def tensor_map_size(input_handle: X, *, name: str = ...) -> Tensor:
    """TensorMapSize: input_handle: variant -> size: int32."""
def tensor_map_stack_keys(input_handle: X, *, key_dtype: Any, name: str = ...) -> Tensor:
    """TensorMapStackKeys: input_handle: variant -> keys: key_dtype."""
def tensor_scatter_add(tensor: X, indices: X, updates: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """TensorScatterAdd: tensor: T, indices: Tindices, updates: T -> output: T."""
def tensor_scatter_max(tensor: X, indices: X, updates: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """TensorScatterMax: tensor: T, indices: Tindices, updates: T -> output: T."""
def tensor_scatter_min(tensor: X, indices: X, updates: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """TensorScatterMin: tensor: T, indices: Tindices, updates: T -> output: T."""
def tensor_scatter_sub(tensor: X, indices: X, updates: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """TensorScatterSub: tensor: T, indices: Tindices, updates: T -> output: T."""
def tensor_scatter_update(tensor: X, indices: X, updates: X, *, bad_indices_policy: str = ..., name: str = ...) -> Tensor:
    """TensorScatterUpdate: tensor: T, indices: Tindices, updates: T -> output: T."""
def tensor_slice_dataset(components: S[X], *, output_shapes: S[S[int | None] | None], is_files: bool = ..., metadata: str = ..., replicate_on_split: bool = ..., name: str = ...) -> Tensor:
    """TensorSliceDataset: components: Toutput_types -> handle: variant."""
def tensor_strided_slice_update(input: X, begin: X, end: X, strides: X, value: X, *, begin_mask: int = ..., end_mask: int = ..., ellipsis_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ..., name: str = ...) -> Tensor:
    """TensorStridedSliceUpdate: input: T, begin: Index, end: Index, strides: Index, value: T -> output: T."""
def tensor_summary(tensor: X, *, description: str = ..., labels: S[str] = ..., display_name: str = ..., name: str = ...) -> Tensor:
    """TensorSummary: tensor: T -> summary: string."""
def tensor_summary_v2(tag: X, tensor: X, serialized_summary_metadata: X, *, name: str = ...) -> Tensor:
    """TensorSummaryV2: tag: string, tensor: T, serialized_summary_metadata: string -> summary: string."""
def test_attr(*, T: Any, name: str = ...) -> Tensor:
    """TestAttr:  -> out: T."""
def test_string_output(input: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """TestStringOutput: input: float32 -> output1: float32, output2: string."""
def text_line_dataset(filenames: X, compression_type: X, buffer_size: X, *, metadata: str = ..., name: str = ...) -> Tensor:
    """TextLineDataset: filenames: string, compression_type: string, buffer_size: int64 -> handle: variant."""
def text_line_reader(*, skip_header_lines: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """TextLineReader:  -> reader_handle: string."""
def text_line_reader_v2(*, skip_header_lines: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """TextLineReaderV2:  -> reader_handle: resource."""
def tf_record_dataset(filenames: X, compression_type: X, buffer_size: X, *, metadata: str = ..., name: str = ...) -> Tensor:
    """TFRecordDataset: filenames: string, compression_type: string, buffer_size: int64 -> handle: variant."""
def tf_record_dataset_v2(filenames: X, compression_type: X, buffer_size: X, byte_offsets: X, *, metadata: str = ..., name: str = ...) -> Tensor:
    """TFRecordDatasetV2: filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64 -> handle: variant."""
def tf_record_reader(*, container: str = ..., shared_name: str = ..., compression_type: str = ..., name: str = ...) -> Tensor:
    """TFRecordReader:  -> reader_handle: string."""
def tf_record_reader_v2(*, container: str = ..., shared_name: str = ..., compression_type: str = ..., name: str = ...) -> Tensor:
    """TFRecordReaderV2:  -> reader_handle: resource."""
def thread_pool_dataset(input_dataset: X, thread_pool: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """ThreadPoolDataset: input_dataset: variant, thread_pool: resource -> handle: variant."""
def thread_pool_handle(*, num_threads: int, display_name: str, max_intra_op_parallelism: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """ThreadPoolHandle:  -> handle: resource."""
def thread_unsafe_unigram_candidate_sampler(true_classes: X, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """ThreadUnsafeUnigramCandidateSampler: true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32."""
def tile(input: X, multiples: X, *, name: str = ...) -> Tensor:
    """Tile: input: T, multiples: Tmultiples -> output: T."""
def tile_grad(input: X, multiples: X, *, name: str = ...) -> Tensor:
    """TileGrad: input: T, multiples: int32 -> output: T."""
def timestamp(*, name: str = ...) -> Tensor:
    """Timestamp:  -> ts: float64."""
def to_bool(input: X, *, name: str = ...) -> Tensor:
    """ToBool: input: T -> output: bool."""
def top_k(input: X, *, k: int, sorted: bool = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """TopK: input: T -> values: T, indices: int32."""
def top_k_unique(input: X, *, k: int, name: str = ...) -> tuple[Tensor, Tensor]:
    """TopKUnique: input: float32 -> topk: float32, topk_indices: int32."""
def top_k_v2(input: X, k: X, *, sorted: bool = ..., index_type: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """TopKV2: input: T, k: Tk -> values: T, indices: index_type."""
def top_k_with_unique(input: X, *, k: int, name: str = ...) -> tuple[Tensor, Tensor]:
    """TopKWithUnique: input: float32 -> topk: float32, topk_indices: int32."""
def tpu_annotate_tensors_with_dynamic_shape(tensors: S[X], *, name: str = ...) -> S[Tensor]:
    """TPUAnnotateTensorsWithDynamicShape: tensors: T -> tpu_tensors: T."""
def tpu_compilation_result(*, name: str = ...) -> Tensor:
    """TPUCompilationResult:  -> output: string."""
def tpu_compile(dynamic_shapes: S[X], guaranteed_constants: S[X], *, num_computations: int, function: Any, metadata: str, name: str = ...) -> tuple[Tensor, S[Tensor], S[Tensor]]:
    """TPUCompile: dynamic_shapes: int64, guaranteed_constants: Tguaranteed_constants -> compilation_status: string, program: string, may_modify_variables: bool."""
def tpu_compile_succeeded_assert(compilation_status: X, *, name: str = ...) -> None:
    """TPUCompileSucceededAssert: compilation_status: string -> nothing."""
def tpu_copy_with_dynamic_shape(tensors: S[X], unpadded_sizes: S[X], *, name: str = ...) -> S[Tensor]:
    """TPUCopyWithDynamicShape: tensors: T, unpadded_sizes: int32 -> tpu_tensors: T."""
def tpu_dummy_input(*, dtype: Any, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """TPUDummyInput:  -> output: dtype."""
def tpu_embedding_activations(embedding_variable: X, sliced_activations: X, *, table_id: int, lookup_id: int, name: str = ...) -> Tensor:
    """TPUEmbeddingActivations: embedding_variable: float32, sliced_activations: float32 -> output: float32."""
def tpu_execute(args: S[X], key: X, *, Tresults: S[Any], name: str = ...) -> S[Tensor]:
    """TPUExecute: args: Targs, key: string -> results: Tresults."""
def tpu_execute_and_update_variables(args: S[X], key: X, *, Tresults: S[Any], device_var_reads_indices: S[int], device_var_updates_indices: S[int], name: str = ...) -> S[Tensor]:
    """TPUExecuteAndUpdateVariables: args: Targs, key: string -> results: Tresults."""
def tpu_handle_to_proto_key(uid: X, *, name: str = ...) -> Tensor:
    """TpuHandleToProtoKey: uid: int64 -> proto_keys: string."""
def tpu_ordinal_selector(*, name: str = ...) -> Tensor:
    """TPUOrdinalSelector:  -> device_ordinals: int32."""
def tpu_partitioned_call(args: S[X], device_ordinal: X, *, Tout: S[Any], f: Any, autotuner_thresh: int = ..., name: str = ...) -> S[Tensor]:
    """TPUPartitionedCall: args: Tin, device_ordinal: int32 -> output: Tout."""
def tpu_partitioned_input(inputs: S[X], *, partition_dim: int = ..., name: str = ...) -> Tensor:
    """TPUPartitionedInput: inputs: T -> output: T."""
def tpu_partitioned_input_v2(inputs: S[X], *, partition_dims: S[int], is_packed: bool = ..., name: str = ...) -> Tensor:
    """TPUPartitionedInputV2: inputs: T -> output: T."""
def tpu_partitioned_output(inputs: X, *, num_splits: int, partition_dim: int = ..., name: str = ...) -> S[Tensor]:
    """TPUPartitionedOutput: inputs: T -> output: T."""
def tpu_partitioned_output_v2(inputs: X, *, num_splits: int, partition_dims: S[int], name: str = ...) -> S[Tensor]:
    """TPUPartitionedOutputV2: inputs: T -> output: T."""
def tpu_replicate_metadata(*, num_replicas: int, num_cores_per_replica: int = ..., topology: str = ..., use_tpu: bool = ..., device_assignment: S[int] = ..., computation_shape: S[int] = ..., host_compute_core: S[str] = ..., padding_map: S[str] = ..., step_marker_location: str = ..., allow_soft_placement: bool = ..., use_spmd_for_xla_partitioning: bool = ..., use_shardy_partitioner: bool = ..., tpu_compile_options_proto: str = ..., name: str = ...) -> None:
    """TPUReplicateMetadata:  -> nothing."""
def tpu_replicated_input(inputs: S[X], *, is_mirrored_variable: bool = ..., index: int = ..., is_packed: bool = ..., name: str = ...) -> Tensor:
    """TPUReplicatedInput: inputs: T -> output: T."""
def tpu_replicated_output(input: X, *, num_replicas: int, name: str = ...) -> S[Tensor]:
    """TPUReplicatedOutput: input: T -> outputs: T."""
def tpu_reshard_variables(vars: S[X], new_format_key: X, format_state_var: X, *, name: str = ...) -> None:
    """TPUReshardVariables: vars: resource, new_format_key: string, format_state_var: resource -> nothing."""
def tpu_round_robin(*, name: str = ...) -> Tensor:
    """TPURoundRobin:  -> device_ordinal: int32."""
def transpose(x: X, perm: X, *, name: str = ...) -> Tensor:
    """Transpose: x: T, perm: Tperm -> y: T."""
def tridiagonal_matmul(superdiag: X, maindiag: X, subdiag: X, rhs: X, *, name: str = ...) -> Tensor:
    """TridiagonalMatMul: superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T."""
def tridiagonal_solve(diagonals: X, rhs: X, *, partial_pivoting: bool = ..., perturb_singular: bool = ..., name: str = ...) -> Tensor:
    """TridiagonalSolve: diagonals: T, rhs: T -> output: T."""
def truncate_div(x: X, y: X, *, name: str = ...) -> Tensor:
    """TruncateDiv: x: T, y: T -> z: T."""
def truncate_mod(x: X, y: X, *, name: str = ...) -> Tensor:
    """TruncateMod: x: T, y: T -> z: T."""
def truncated_normal(shape: X, *, dtype: Any, seed: int = ..., seed2: int = ..., name: str = ...) -> Tensor:
    """TruncatedNormal: shape: T -> output: dtype."""
def two_float_inputs(a: X, b: X, *, name: str = ...) -> None:
    """TwoFloatInputs: a: float32, b: float32 -> nothing."""
def two_float_inputs_float_output(a: X, b: X, *, name: str = ...) -> Tensor:
    """TwoFloatInputsFloatOutput: a: float32, b: float32 -> c: float32."""
def two_float_inputs_int_output(a: X, b: X, *, name: str = ...) -> Tensor:
    """TwoFloatInputsIntOutput: a: float32, b: float32 -> c: int32."""
def two_float_outputs(*, name: str = ...) -> tuple[Tensor, Tensor]:
    """TwoFloatOutputs:  -> a: float32, b: float32."""
def two_int_inputs(a: X, b: X, *, name: str = ...) -> None:
    """TwoIntInputs: a: int32, b: int32 -> nothing."""
def two_int_outputs(*, name: str = ...) -> tuple[Tensor, Tensor]:
    """TwoIntOutputs:  -> a: int32, b: int32."""
def two_refs_in(a: X, b: X, *, name: str = ...) -> None:
    """TwoRefsIn: a: T, b: T -> nothing."""
def type_list(a: S[X], *, name: str = ...) -> None:
    """TypeList: a: T -> nothing."""
def type_list_restrict(a: S[X], *, name: str = ...) -> None:
    """TypeListRestrict: a: T -> nothing."""
def type_list_twice(a: S[X], b: S[X], *, name: str = ...) -> None:
    """TypeListTwice: a: T, b: T -> nothing."""
def unary(a: X, *, name: str = ...) -> Tensor:
    """Unary: a: T -> b: T."""
def unbatch(batched_tensor: X, batch_index: X, id: X, *, timeout_micros: int, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """Unbatch: batched_tensor: T, batch_index: int64, id: int64 -> unbatched_tensor: T."""
def unbatch_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """UnbatchDataset: input_dataset: variant -> handle: variant."""
def unbatch_grad(original_input: X, batch_index: X, grad: X, id: X, *, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """UnbatchGrad: original_input: T, batch_index: int64, grad: T, id: int64 -> batched_grad: T."""
def uncompress_element(compressed: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """UncompressElement: compressed: variant -> components: output_types."""
def unicode_decode(input: X, *, input_encoding: str, errors: str = ..., replacement_char: int = ..., replace_control_characters: bool = ..., Tsplits: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """UnicodeDecode: input: string -> row_splits: Tsplits, char_values: int32."""
def unicode_decode_with_offsets(input: X, *, input_encoding: str, errors: str = ..., replacement_char: int = ..., replace_control_characters: bool = ..., Tsplits: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """UnicodeDecodeWithOffsets: input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64."""
def unicode_encode(input_values: X, input_splits: X, *, output_encoding: str, errors: str = ..., replacement_char: int = ..., name: str = ...) -> Tensor:
    """UnicodeEncode: input_values: int32, input_splits: Tsplits -> output: string."""
def unicode_script(input: X, *, name: str = ...) -> Tensor:
    """UnicodeScript: input: int32 -> output: int32."""
def unicode_transcode(input: X, *, input_encoding: str, output_encoding: str, errors: str = ..., replacement_char: int = ..., replace_control_characters: bool = ..., name: str = ...) -> Tensor:
    """UnicodeTranscode: input: string -> output: string."""
def uniform_candidate_sampler(true_classes: X, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = ..., seed2: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """UniformCandidateSampler: true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32."""
def uniform_dequantize(input: X, scales: X, zero_points: X, *, Tout: Any, quantization_min_val: int, quantization_max_val: int, quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformDequantize: input: Tin, scales: float32, zero_points: int32 -> output: Tout."""
def uniform_quantize(input: X, scales: X, zero_points: X, *, Tout: Any, quantization_min_val: int, quantization_max_val: int, quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformQuantize: input: Tin, scales: float32, zero_points: int32 -> output: Tout."""
def uniform_quantized_add(lhs: X, rhs: X, lhs_scales: X, lhs_zero_points: X, rhs_scales: X, rhs_zero_points: X, output_scales: X, output_zero_points: X, *, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, lhs_quantization_axis: int = ..., rhs_quantization_axis: int = ..., output_quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformQuantizedAdd: lhs: T, rhs: T, lhs_scales: float32, lhs_zero_points: int32, rhs_scales: float32, rhs_zero_points: int32, output_scales: float32, output_zero_points: int32 -> output: T."""
def uniform_quantized_clip_by_value(operand: X, min: X, max: X, scales: X, zero_points: X, *, quantization_min_val: int, quantization_max_val: int, quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformQuantizedClipByValue: operand: T, min: T, max: T, scales: float32, zero_points: int32 -> output: T."""
def uniform_quantized_convolution(lhs: X, rhs: X, lhs_scales: X, lhs_zero_points: X, rhs_scales: X, rhs_zero_points: X, output_scales: X, output_zero_points: X, *, Tout: Any, padding: str, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, window_strides: S[int] = ..., explicit_padding: S[int] = ..., lhs_dilation: S[int] = ..., rhs_dilation: S[int] = ..., batch_group_count: int = ..., feature_group_count: int = ..., dimension_numbers: str = ..., lhs_quantization_axis: int = ..., rhs_quantization_axis: int = ..., output_quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformQuantizedConvolution: lhs: Tin, rhs: Tin, lhs_scales: float32, lhs_zero_points: int32, rhs_scales: float32, rhs_zero_points: int32, output_scales: float32, output_zero_points: int32 -> output: Tout."""
def uniform_quantized_convolution_hybrid(lhs: X, rhs: X, rhs_scales: X, rhs_zero_points: X, *, Tout: Any, padding: str, rhs_quantization_min_val: int, rhs_quantization_max_val: int, window_strides: S[int] = ..., explicit_padding: S[int] = ..., lhs_dilation: S[int] = ..., rhs_dilation: S[int] = ..., batch_group_count: int = ..., feature_group_count: int = ..., dimension_numbers: str = ..., rhs_quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformQuantizedConvolutionHybrid: lhs: Tlhs, rhs: Trhs, rhs_scales: float32, rhs_zero_points: int32 -> output: Tout."""
def uniform_quantized_dot(lhs: X, rhs: X, lhs_scales: X, lhs_zero_points: X, rhs_scales: X, rhs_zero_points: X, output_scales: X, output_zero_points: X, *, Tout: Any, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, lhs_quantization_axis: int = ..., rhs_quantization_axis: int = ..., output_quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformQuantizedDot: lhs: Tin, rhs: Tin, lhs_scales: float32, lhs_zero_points: int32, rhs_scales: float32, rhs_zero_points: int32, output_scales: float32, output_zero_points: int32 -> output: Tout."""
def uniform_quantized_dot_hybrid(lhs: X, rhs: X, rhs_scales: X, rhs_zero_points: X, *, Tout: Any, rhs_quantization_min_val: int, rhs_quantization_max_val: int, rhs_quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformQuantizedDotHybrid: lhs: Tlhs, rhs: Trhs, rhs_scales: float32, rhs_zero_points: int32 -> output: Tout."""
def uniform_requantize(input: X, input_scales: X, input_zero_points: X, output_scales: X, output_zero_points: X, *, Tout: Any, input_quantization_min_val: int, input_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, input_quantization_axis: int = ..., output_quantization_axis: int = ..., name: str = ...) -> Tensor:
    """UniformRequantize: input: Tin, input_scales: float32, input_zero_points: int32, output_scales: float32, output_zero_points: int32 -> output: Tout."""
def unique(x: X, *, out_idx: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """Unique: x: T -> y: T, idx: out_idx."""
def unique_dataset(input_dataset: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """UniqueDataset: input_dataset: variant -> handle: variant."""
def unique_v2(x: X, axis: X, *, out_idx: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """UniqueV2: x: T, axis: Taxis -> y: T, idx: out_idx."""
def unique_with_counts(x: X, *, out_idx: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """UniqueWithCounts: x: T -> y: T, idx: out_idx, count: out_idx."""
def unique_with_counts_v2(x: X, axis: X, *, out_idx: Any = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """UniqueWithCountsV2: x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx."""
def unpack(value: X, *, num: int, axis: int = ..., name: str = ...) -> S[Tensor]:
    """Unpack: value: T -> output: T."""
def unravel_index(indices: X, dims: X, *, name: str = ...) -> Tensor:
    """UnravelIndex: indices: Tidx, dims: Tidx -> output: Tidx."""
def unsorted_segment_join(inputs: X, segment_ids: X, num_segments: X, *, separator: str = ..., name: str = ...) -> Tensor:
    """UnsortedSegmentJoin: inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string."""
def unsorted_segment_max(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """UnsortedSegmentMax: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def unsorted_segment_min(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """UnsortedSegmentMin: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def unsorted_segment_prod(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """UnsortedSegmentProd: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def unsorted_segment_sum(data: X, segment_ids: X, num_segments: X, *, name: str = ...) -> Tensor:
    """UnsortedSegmentSum: data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T."""
def unstage(*, dtypes: S[Any], capacity: int = ..., memory_limit: int = ..., container: str = ..., shared_name: str = ..., name: str = ...) -> S[Tensor]:
    """Unstage:  -> values: dtypes."""
def unwrap_dataset_variant(input_handle: X, *, name: str = ...) -> Tensor:
    """UnwrapDatasetVariant: input_handle: variant -> output_handle: variant."""
def update_task_id_and_global_core_array(tpu_task_id_to_shard_id: S[X], *, name: str = ...) -> None:
    """UpdateTaskIdAndGlobalCoreArray: tpu_task_id_to_shard_id: int32 -> nothing."""
def upper_bound(sorted_inputs: X, values: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """UpperBound: sorted_inputs: T, values: T -> output: out_type."""
def var_handle_op(*, dtype: Any, shape: S[int | None] | None, container: str = ..., shared_name: str = ..., debug_name: str = ..., allowed_devices: S[str] = ..., name: str = ...) -> Tensor:
    """VarHandleOp:  -> resource: resource."""
def var_is_initialized_op(resource: X, *, name: str = ...) -> Tensor:
    """VarIsInitializedOp: resource: resource -> is_initialized: bool."""
def variable(*, shape: S[int | None] | None, dtype: Any, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """Variable:  -> ref: dtype."""
def variable_shape(input: X, *, out_type: Any = ..., name: str = ...) -> Tensor:
    """VariableShape: input: resource -> output: out_type."""
def variable_v2(*, shape: S[int | None] | None, dtype: Any, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """VariableV2:  -> ref: dtype."""
def weighted_flat_map_dataset(input_datasets: S[X], weights: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """WeightedFlatMapDataset: input_datasets: variant, weights: float64 -> handle: variant."""
def where(input: X, *, name: str = ...) -> Tensor:
    """Where: input: T -> index: int64."""
def while_(input: S[X], *, cond: Any, body: Any, output_shapes: S[S[int | None] | None] = ..., parallel_iterations: int = ..., name: str = ...) -> S[Tensor]:
    """While: input: T -> output: T."""
def whole_file_reader(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """WholeFileReader:  -> reader_handle: string."""
def whole_file_reader_v2(*, container: str = ..., shared_name: str = ..., name: str = ...) -> Tensor:
    """WholeFileReaderV2:  -> reader_handle: resource."""
def window_dataset(input_dataset: X, size: X, shift: X, stride: X, drop_remainder: X, *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """WindowDataset: input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool -> handle: variant."""
def window_op(inputs: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], name: str = ...) -> Tensor:
    """WindowOp: inputs: Tinputs -> handle: variant."""
def worker_heartbeat(request: X, *, name: str = ...) -> Tensor:
    """WorkerHeartbeat: request: string -> response: string."""
def wrap_dataset_variant(input_handle: X, *, name: str = ...) -> Tensor:
    """WrapDatasetVariant: input_handle: variant -> output_handle: variant."""
def write_audio_summary(writer: X, step: X, tag: X, tensor: X, sample_rate: X, *, max_outputs: int = ..., name: str = ...) -> None:
    """WriteAudioSummary: writer: resource, step: int64, tag: string, tensor: float32, sample_rate: float32 -> nothing."""
def write_file(filename: X, contents: X, *, name: str = ...) -> None:
    """WriteFile: filename: string, contents: string -> nothing."""
def write_graph_summary(writer: X, step: X, tensor: X, *, name: str = ...) -> None:
    """WriteGraphSummary: writer: resource, step: int64, tensor: string -> nothing."""
def write_histogram_summary(writer: X, step: X, tag: X, values: X, *, name: str = ...) -> None:
    """WriteHistogramSummary: writer: resource, step: int64, tag: string, values: T -> nothing."""
def write_image_summary(writer: X, step: X, tag: X, tensor: X, bad_color: X, *, max_images: int = ..., name: str = ...) -> None:
    """WriteImageSummary: writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8 -> nothing."""
def write_raw_proto_summary(writer: X, step: X, tensor: X, *, name: str = ...) -> None:
    """WriteRawProtoSummary: writer: resource, step: int64, tensor: string -> nothing."""
def write_scalar_summary(writer: X, step: X, tag: X, value: X, *, name: str = ...) -> None:
    """WriteScalarSummary: writer: resource, step: int64, tag: string, value: T -> nothing."""
def write_summary(writer: X, step: X, tensor: X, tag: X, summary_metadata: X, *, name: str = ...) -> None:
    """WriteSummary: writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string -> nothing."""
def xdivy(x: X, y: X, *, name: str = ...) -> Tensor:
    """Xdivy: x: T, y: T -> z: T."""
def xla_all_reduce(input: X, group_assignment: X, *, reduce_op: str, mode: str, name: str = ...) -> Tensor:
    """XlaAllReduce: input: T, group_assignment: int32 -> output: T."""
def xla_broadcast_helper(lhs: X, rhs: X, broadcast_dims: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaBroadcastHelper: lhs: T, rhs: T, broadcast_dims: Tindices -> lhs_output: T, rhs_output: T."""
def xla_call_module(args: S[X], *, version: int, module: str, Sout: S[S[int | None] | None], Tout: S[Any], dim_args_spec: S[str] = ..., platforms: S[str] = ..., function_list: S[Any] = ..., has_token_input_output: bool = ..., disabled_checks: S[str] = ..., use_shardy_partitioner: bool = ..., name: str = ...) -> S[Tensor]:
    """XlaCallModule: args: Tin -> output: Tout."""
def xla_cluster_output(input: X, *, name: str = ...) -> Tensor:
    """XlaClusterOutput: input: T -> outputs: T."""
def xla_concat_nd(inputs: S[X], *, num_concats: S[int], paddings: S[int] = ..., name: str = ...) -> Tensor:
    """XlaConcatND: inputs: T -> output: T."""
def xla_conv(lhs: X, rhs: X, window_strides: X, padding: X, lhs_dilation: X, rhs_dilation: X, feature_group_count: X, *, dimension_numbers: str, precision_config: str, name: str = ...) -> Tensor:
    """XlaConv: lhs: T, rhs: T, window_strides: Tindices, padding: Tindices, lhs_dilation: Tindices, rhs_dilation: Tindices, feature_group_count: Tindices -> output: T."""
def xla_conv_v2(lhs: X, rhs: X, window_strides: X, padding: X, lhs_dilation: X, rhs_dilation: X, feature_group_count: X, *, dimension_numbers: str, precision_config: str, preferred_element_type: Any, batch_group_count: int = ..., name: str = ...) -> Tensor:
    """XlaConvV2: lhs: LhsT, rhs: RhsT, window_strides: Tindices, padding: Tindices, lhs_dilation: Tindices, rhs_dilation: Tindices, feature_group_count: Tindices -> output: preferred_element_type."""
def xla_custom_call(args: S[X], *, target_name: str, backend_config: str, dtype: Any, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """XlaCustomCall: args: T -> output: dtype."""
def xla_custom_call_v2(operands: S[X], *, call_target_name: str, backend_config: str, has_side_effect: bool, result_dtypes: S[Any], result_shapes: S[S[int | None] | None], name: str = ...) -> S[Tensor]:
    """XlaCustomCallV2: operands: operand_dtypes -> results: result_dtypes."""
def xla_dequantize(input: X, *, min_range: float, max_range: float, mode: str, transpose_output: bool, name: str = ...) -> Tensor:
    """XlaDequantize: input: uint32 -> output: bfloat16."""
def xla_dot(lhs: X, rhs: X, *, dimension_numbers: str, precision_config: str, name: str = ...) -> Tensor:
    """XlaDot: lhs: T, rhs: T -> output: T."""
def xla_dot_v2(lhs: X, rhs: X, *, dimension_numbers: str, precision_config: str, preferred_element_type: Any, name: str = ...) -> Tensor:
    """XlaDotV2: lhs: LhsT, rhs: RhsT -> output: preferred_element_type."""
def xla_dynamic_slice(input: X, start_indices: X, size_indices: X, *, name: str = ...) -> Tensor:
    """XlaDynamicSlice: input: T, start_indices: Tindices, size_indices: Tindices -> output: T."""
def xla_dynamic_update_slice(input: X, update: X, indices: X, *, name: str = ...) -> Tensor:
    """XlaDynamicUpdateSlice: input: T, update: T, indices: Tindices -> output: T."""
def xla_einsum(a: X, b: X, *, equation: str, name: str = ...) -> Tensor:
    """XlaEinsum: a: T, b: T -> product: T."""
def xla_gather(operand: X, start_indices: X, slice_sizes: X, *, dimension_numbers: str, indices_are_sorted: bool, name: str = ...) -> Tensor:
    """XlaGather: operand: T, start_indices: Tindices, slice_sizes: Tindices -> output: T."""
def xla_host_compute(inputs: S[X], *, Toutputs: S[Any], ancestors: S[str], shapes: S[S[int | None] | None], shape_inference_graph: Any, key: str, send_key: str = ..., recv_key: str = ..., cost_estimate_ns: int = ..., tpu_core: int = ..., name: str = ...) -> S[Tensor]:
    """XlaHostCompute: inputs: Tinputs -> outputs: Toutputs."""
def xla_if(cond: X, inputs: S[X], *, then_branch: Any, else_branch: Any, Tout: S[Any], name: str = ...) -> S[Tensor]:
    """XlaIf: cond: Tcond, inputs: Tin -> output: Tout."""
def xla_key_value_sort(keys: X, values: X, *, name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaKeyValueSort: keys: K, values: V -> sorted_keys: K, sorted_values: V."""
def xla_launch(constants: S[X], args: S[X], resources: S[X], *, Tresults: S[Any], function: Any, name: str = ...) -> S[Tensor]:
    """XlaLaunch: constants: Tconstants, args: Targs, resources: resource -> results: Tresults."""
def xla_launch_v2(args: S[X], *, Tresults: S[Any], constants: S[int], resources: S[int], function: Any, name: str = ...) -> S[Tensor]:
    """XlaLaunchV2: args: Targs -> results: Tresults."""
def xla_optimization_barrier(input: S[X], *, name: str = ...) -> S[Tensor]:
    """XlaOptimizationBarrier: input: T -> output: T."""
def xla_pad(input: X, padding_value: X, padding_low: X, padding_high: X, padding_interior: X, *, name: str = ...) -> Tensor:
    """XlaPad: input: T, padding_value: T, padding_low: Tindices, padding_high: Tindices, padding_interior: Tindices -> output: T."""
def xla_recv(*, dtype: Any, tensor_name: str, shape: S[int | None] | None, name: str = ...) -> Tensor:
    """XlaRecv:  -> tensor: dtype."""
def xla_recv_from_host(*, Toutput: Any, shape: S[int | None] | None, key: str, name: str = ...) -> Tensor:
    """XlaRecvFromHost:  -> output: Toutput."""
def xla_recv_tpu_embedding_activations(deduplication_data: X, *, num_tables: int, config: str, name: str = ...) -> S[Tensor]:
    """XlaRecvTPUEmbeddingActivations: deduplication_data: variant -> outputs: float32."""
def xla_recv_tpu_embedding_activations_v2(deduplication_data: X, *, num_tables: int, config: str, embedding_partitions: str, hbm_buffers_config: str, tpu_topology: str, name: str = ...) -> S[Tensor]:
    """XlaRecvTPUEmbeddingActivationsV2: deduplication_data: variant -> outputs: float32."""
def xla_recv_tpu_embedding_deduplication_data(*, config: str, name: str = ...) -> Tensor:
    """XlaRecvTPUEmbeddingDeduplicationData:  -> output: variant."""
def xla_recv_tpu_embedding_deduplication_data_v2(*, config: str, embedding_partitions: str, hbm_buffers_config: str, tpu_topology: str, name: str = ...) -> Tensor:
    """XlaRecvTPUEmbeddingDeduplicationDataV2:  -> output: variant."""
def xla_reduce(input: X, init_value: X, *, dimensions_to_reduce: S[int], reducer: Any, name: str = ...) -> Tensor:
    """XlaReduce: input: T, init_value: T -> output: T."""
def xla_reduce_precision(operand: X, *, exponent_bits: int, mantissa_bits: int, name: str = ...) -> Tensor:
    """XlaReducePrecision: operand: T -> output: T."""
def xla_reduce_scatter(input: X, group_assignment: X, scatter_dimension: X, *, reduce_op: str, name: str = ...) -> Tensor:
    """XlaReduceScatter: input: T, group_assignment: int32, scatter_dimension: int32 -> output: T."""
def xla_reduce_window(input: X, init_value: X, window_dimensions: X, window_strides: X, base_dilations: X, window_dilations: X, padding: X, *, computation: Any, name: str = ...) -> Tensor:
    """XlaReduceWindow: input: T, init_value: T, window_dimensions: Tindices, window_strides: Tindices, base_dilations: Tindices, window_dilations: Tindices, padding: Tindices -> output: T."""
def xla_remove_dynamic_dimension_size(input: X, dim_index: X, *, name: str = ...) -> Tensor:
    """XlaRemoveDynamicDimensionSize: input: T, dim_index: int32 -> output: T."""
def xla_replica_id(*, name: str = ...) -> Tensor:
    """XlaReplicaId:  -> id: int32."""
def xla_rng_bit_generator(algorithm: X, initial_state: X, shape: X, *, dtype: Any = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaRngBitGenerator: algorithm: int32, initial_state: uint64, shape: Tshape -> output_key: uint64, output: dtype."""
def xla_scatter(operand: X, scatter_indices: X, updates: X, *, update_computation: Any, dimension_numbers: str, indices_are_sorted: bool, name: str = ...) -> Tensor:
    """XlaScatter: operand: T, scatter_indices: Tindices, updates: T -> output: T."""
def xla_select_and_scatter(operand: X, window_dimensions: X, window_strides: X, padding: X, source: X, init_value: X, *, select: Any, scatter: Any, name: str = ...) -> Tensor:
    """XlaSelectAndScatter: operand: T, window_dimensions: Tindices, window_strides: Tindices, padding: Tindices, source: T, init_value: T -> output: T."""
def xla_self_adjoint_eig(a: X, *, lower: bool, max_iter: int, epsilon: float, name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaSelfAdjointEig: a: T -> w: T, v: T."""
def xla_send(tensor: X, *, tensor_name: str, name: str = ...) -> None:
    """XlaSend: tensor: T -> nothing."""
def xla_send_to_host(input: X, *, key: str, name: str = ...) -> None:
    """XlaSendToHost: input: Tinput -> nothing."""
def xla_send_tpu_embedding_gradients(gradients: S[X], learning_rates: S[X], deduplication_data: X, *, config: str, name: str = ...) -> None:
    """XlaSendTPUEmbeddingGradients: gradients: float32, learning_rates: float32, deduplication_data: variant -> nothing."""
def xla_send_tpu_embedding_gradients_v2(gradients: S[X], learning_rates: S[X], deduplication_data: X, *, config: str, embedding_partitions: str, hbm_buffers_config: str, tpu_topology: str, name: str = ...) -> None:
    """XlaSendTPUEmbeddingGradientsV2: gradients: float32, learning_rates: float32, deduplication_data: variant -> nothing."""
def xla_set_bound(input: X, bound: X, *, name: str = ...) -> Tensor:
    """XlaSetBound: input: int32, bound: int32 -> output: int32."""
def xla_set_dynamic_dimension_size(input: X, dim_index: X, size: X, *, name: str = ...) -> Tensor:
    """XlaSetDynamicDimensionSize: input: T, dim_index: int32, size: int32 -> output: T."""
def xla_sharding(input: X, *, sharding: str = ..., unspecified_dims: S[int] = ..., name: str = ...) -> Tensor:
    """XlaSharding: input: T -> output: T."""
def xla_sort(input: X, *, name: str = ...) -> Tensor:
    """XlaSort: input: T -> output: T."""
def xla_sparse_activations_unstack(stacked_activations: X, *, num_tables: int, sample_counts: S[int], features: S[int], interleaved: bool, dtype: Any, name: str = ...) -> S[Tensor]:
    """XlaSparseActivationsUnstack: stacked_activations: input_dtype -> unstacked_activations: dtype."""
def xla_sparse_core_adagrad(indices: X, gradient: X, learning_rate: X, accumulator: X, embedding_table: X, *, feature_width: int, name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaSparseCoreAdagrad: indices: int32, gradient: float32, learning_rate: float32, accumulator: float32, embedding_table: float32 -> updated_embedding_table: float32, updated_accumulator: float32."""
def xla_sparse_core_adagrad_momentum(indices: X, gradient: X, learning_rate: X, beta_1: X, epsilon: X, accumulator: X, momentum: X, embedding_table: X, *, feature_width: int, use_nesterov: bool, beta_2: float, exponent: float, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseCoreAdagradMomentum: indices: int32, gradient: float32, learning_rate: float32, beta_1: float32, epsilon: float32, accumulator: float32, momentum: float32, embedding_table: float32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_momentum: float32."""
def xla_sparse_core_adam(embedding_table: X, indices: X, gradient: X, learning_rate: X, momentum: X, velocity: X, beta_1: X, beta_2: X, epsilon: X, *, feature_width: int, use_sum_inside_sqrt: bool, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseCoreAdam: embedding_table: float32, indices: int32, gradient: float32, learning_rate: float32, momentum: float32, velocity: float32, beta_1: float32, beta_2: float32, epsilon: float32 -> updated_embedding_table: float32, updated_velocity: float32, updated_momentum: float32."""
def xla_sparse_core_ftrl(embedding_table: X, accumulator: X, linear: X, learning_rate: X, indices: X, gradient: X, beta: X, learning_rate_power: X, l2_regularization_strength: X, *, feature_width: int, multiply_linear_by_learning_rate: bool, l1_regularization_strength: float, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseCoreFtrl: embedding_table: float32, accumulator: float32, linear: float32, learning_rate: float32, indices: int32, gradient: float32, beta: float32, learning_rate_power: float32, l2_regularization_strength: float32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_linear: float32."""
def xla_sparse_core_sgd(indices: X, gradient: X, learning_rate: X, embedding_table: X, *, feature_width: int, name: str = ...) -> Tensor:
    """XlaSparseCoreSgd: indices: int32, gradient: float32, learning_rate: float32, embedding_table: float32 -> updated_embedding_table: float32."""
def xla_sparse_dense_matmul(row_ids: X, col_ids: X, values: X, offsets: X, embedding_table: X, *, max_ids_per_partition: int, max_unique_ids_per_partition: int, input_size: int, name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmul: row_ids: int32, col_ids: uint32, values: float32, offsets: uint32, embedding_table: float32 -> activations: float32, row_pointers: int32, sorted_embedding_ids: int32, sorted_sample_ids: int32, sorted_gains: float32."""
def xla_sparse_dense_matmul_custom_combiner_on_tc_grad_with_adagrad_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_pos_ids: X, sorted_gains: X, weights: X, preserved_valencies: X, preserved_vectors: X, preserved_weights: X, activation_gradients: X, learning_rate: X, combiner_weights_learning_rate: X, embedding_table: X, accumulator: X, *, max_valency: int, num_weights: int, combiner_table_vjp_computation: Any, combiner_weights_vjp_computation: Any, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float32, weights: float32, preserved_valencies: int32, preserved_vectors: float32, preserved_weights: float32, activation_gradients: float32, learning_rate: float32, combiner_weights_learning_rate: float32, embedding_table: float32, accumulator: float32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_weights: float32."""
def xla_sparse_dense_matmul_custom_combiner_on_tc_grad_with_adagrad_momentum_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_pos_ids: X, sorted_gains: X, weights: X, preserved_valencies: X, preserved_vectors: X, preserved_weights: X, activation_gradients: X, learning_rate: X, combiner_weights_learning_rate: X, embedding_table: X, accumulator: X, momenta: X, *, use_nesterov: bool, exponent: float, beta1: float, beta2: float, epsilon: float, max_valency: int, num_weights: int, combiner_table_vjp_computation: Any, combiner_weights_vjp_computation: Any, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float32, weights: float32, preserved_valencies: int32, preserved_vectors: float32, preserved_weights: float32, activation_gradients: float32, learning_rate: float32, combiner_weights_learning_rate: float32, embedding_table: float32, accumulator: float32, momenta: float32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_momenta: float32, updated_weights: float32."""
def xla_sparse_dense_matmul_custom_combiner_on_tc_grad_with_adam_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_pos_ids: X, sorted_gains: X, weights: X, preserved_valencies: X, preserved_vectors: X, preserved_weights: X, activation_gradients: X, learning_rate: X, combiner_weights_learning_rate: X, embedding_table: X, momenta: X, velocity: X, *, use_sum_inside_sqrt: bool, beta1: float, beta2: float, epsilon: float, max_valency: int, num_weights: int, combiner_table_vjp_computation: Any, combiner_weights_vjp_computation: Any, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float32, weights: float32, preserved_valencies: int32, preserved_vectors: float32, preserved_weights: float32, activation_gradients: float32, learning_rate: float32, combiner_weights_learning_rate: float32, embedding_table: float32, momenta: float32, velocity: float32 -> updated_embedding_table: float32, updated_momenta: float32, updated_velocity: float32, updated_weights: float32."""
def xla_sparse_dense_matmul_custom_combiner_on_tc_grad_with_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_pos_ids: X, sorted_gains: X, weights: X, preserved_valencies: X, preserved_vectors: X, preserved_weights: X, activation_gradients: X, tables: S[X], hyperparameters: S[X], combiner_weights_learning_rate: X, *, max_valency: int, num_weights: int, combiner_table_vjp_computation: Any, combiner_weights_vjp_computation: Any, optimizer_custom_computation: Any, table_name: str, num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[S[Tensor], Tensor]:
    """XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float32, weights: float32, preserved_valencies: int32, preserved_vectors: float32, preserved_weights: float32, activation_gradients: float32, tables: float32, hyperparameters: float32, combiner_weights_learning_rate: float32 -> updated_tables: float32, updated_weights: float32."""
def xla_sparse_dense_matmul_custom_combiner_on_tc_grad_with_ftrl_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_pos_ids: X, sorted_gains: X, weights: X, preserved_valencies: X, preserved_vectors: X, preserved_weights: X, activation_gradients: X, learning_rate: X, combiner_weights_learning_rate: X, embedding_table: X, accumulator: X, linear: X, *, multiply_linear_by_learning_rate: bool, beta: float, learning_rate_power: float, l1_regularization_strength: float, l2_regularization_strength: float, max_valency: int, num_weights: int, combiner_table_vjp_computation: Any, combiner_weights_vjp_computation: Any, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float32, weights: float32, preserved_valencies: int32, preserved_vectors: float32, preserved_weights: float32, activation_gradients: float32, learning_rate: float32, combiner_weights_learning_rate: float32, embedding_table: float32, accumulator: float32, linear: float32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_linear: float32, updated_weights: float32."""
def xla_sparse_dense_matmul_custom_combiner_on_tc_grad_with_sgd_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_pos_ids: X, sorted_gains: X, weights: X, preserved_valencies: X, preserved_vectors: X, preserved_weights: X, activation_gradients: X, learning_rate: X, combiner_weights_learning_rate: X, embedding_table: X, *, max_valency: int, num_weights: int, combiner_table_vjp_computation: Any, combiner_weights_vjp_computation: Any, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float32, weights: float32, preserved_valencies: int32, preserved_vectors: float32, preserved_weights: float32, activation_gradients: float32, learning_rate: float32, combiner_weights_learning_rate: float32, embedding_table: float32 -> updated_embedding_table: float32, updated_weights: float32."""
def xla_sparse_dense_matmul_custom_combiner_on_tc_with_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_pos_ids: X, sorted_gains: X, embedding_table: X, weights: X, *, input_size: int, max_valency: int, num_weights: int, combiner_computation: Any, quantization_config_low: float, quantization_config_high: float, quantization_config_num_buckets: int, table_name: str, num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_pos_ids: int32, sorted_gains: float32, embedding_table: float32, weights: float32 -> activations: float32, preserved_valencies: int32, preserved_vectors: float32."""
def xla_sparse_dense_matmul_grad_with_adagrad_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, accumulator: X, num_minibatches_per_physical_sparse_core: X, *, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithAdagradAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, accumulator: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_accumulator: float32."""
def xla_sparse_dense_matmul_grad_with_adagrad_and_static_buffer_size(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, accumulator: X, num_minibatches_per_physical_sparse_core: X, *, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, accumulator: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_accumulator: float32."""
def xla_sparse_dense_matmul_grad_with_adagrad_momentum_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, accumulator: X, momenta: X, num_minibatches_per_physical_sparse_core: X, *, use_nesterov: bool, exponent: float, beta1: float, beta2: float, epsilon: float, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, accumulator: float32, momenta: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_momenta: float32."""
def xla_sparse_dense_matmul_grad_with_adagrad_momentum_and_static_buffer_size(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, accumulator: X, momenta: X, num_minibatches_per_physical_sparse_core: X, *, use_nesterov: bool, exponent: float, beta1: float, beta2: float, epsilon: float, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, accumulator: float32, momenta: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_momenta: float32."""
def xla_sparse_dense_matmul_grad_with_adam_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, momenta: X, velocity: X, num_minibatches_per_physical_sparse_core: X, *, use_sum_inside_sqrt: bool, beta1: float, beta2: float, epsilon: float, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithAdamAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, momenta: float32, velocity: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_momenta: float32, updated_velocity: float32."""
def xla_sparse_dense_matmul_grad_with_adam_and_static_buffer_size(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, momenta: X, velocity: X, num_minibatches_per_physical_sparse_core: X, *, use_sum_inside_sqrt: bool, beta1: float, beta2: float, epsilon: float, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, momenta: float32, velocity: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_momenta: float32, updated_velocity: float32."""
def xla_sparse_dense_matmul_grad_with_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, tables: S[X], hyperparameters: S[X], num_minibatches_per_physical_sparse_core: X, *, custom_computation: Any, table_name: str, num_sparsecores_per_device: int = ..., name: str = ...) -> S[Tensor]:
    """XlaSparseDenseMatmulGradWithCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, tables: T, hyperparameters: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_tables: T."""
def xla_sparse_dense_matmul_grad_with_ftrl_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, accumulator: X, linear: X, num_minibatches_per_physical_sparse_core: X, *, multiply_linear_by_learning_rate: bool, beta: float, learning_rate_power: float, l1_regularization_strength: float, l2_regularization_strength: float, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithFtrlAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, accumulator: float32, linear: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_linear: float32."""
def xla_sparse_dense_matmul_grad_with_ftrl_and_static_buffer_size(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, accumulator: X, linear: X, num_minibatches_per_physical_sparse_core: X, *, multiply_linear_by_learning_rate: bool, beta: float, learning_rate_power: float, l1_regularization_strength: float, l2_regularization_strength: float, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, accumulator: float32, linear: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32, updated_accumulator: float32, updated_linear: float32."""
def xla_sparse_dense_matmul_grad_with_sgd_and_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, num_minibatches_per_physical_sparse_core: X, *, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> Tensor:
    """XlaSparseDenseMatmulGradWithSgdAndCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32."""
def xla_sparse_dense_matmul_grad_with_sgd_and_static_buffer_size(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, activation_gradients: X, learning_rate: X, embedding_table: X, num_minibatches_per_physical_sparse_core: X, *, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = ..., name: str = ...) -> Tensor:
    """XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, activation_gradients: float32, learning_rate: float32, embedding_table: float32, num_minibatches_per_physical_sparse_core: int32 -> updated_embedding_table: float32."""
def xla_sparse_dense_matmul_with_csr_input(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, embedding_table: X, num_minibatches_per_physical_sparse_core: X, *, input_size: int, quantization_config_low: float, quantization_config_high: float, quantization_config_num_buckets: int, table_name: str, num_sparsecores_per_device: int = ..., name: str = ...) -> Tensor:
    """XlaSparseDenseMatmulWithCsrInput: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, embedding_table: T, num_minibatches_per_physical_sparse_core: int32 -> activations: T."""
def xla_sparse_dense_matmul_with_static_buffer_size(row_pointers: X, sorted_sample_ids: X, sorted_token_ids: X, sorted_gains: X, embedding_table: X, num_minibatches_per_physical_sparse_core: X, *, input_size: int, quantization_config_low: float, quantization_config_high: float, quantization_config_num_buckets: int, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str, num_sparsecores_per_device: int = ..., name: str = ...) -> Tensor:
    """XlaSparseDenseMatmulWithStaticBufferSize: row_pointers: int32, sorted_sample_ids: int32, sorted_token_ids: int32, sorted_gains: float32, embedding_table: float32, num_minibatches_per_physical_sparse_core: int32 -> activations: float32."""
def xla_sparse_gradients_stack(unstacked_gradients: S[X], *, interleaved: bool, dtype: Any, name: str = ...) -> Tensor:
    """XlaSparseGradientsStack: unstacked_gradients: input_dtype -> stacked_gradients: dtype."""
def xla_split_nd(input: X, *, N: int, num_splits: S[int], paddings: S[int] = ..., name: str = ...) -> S[Tensor]:
    """XlaSplitND: input: T -> outputs: T."""
def xla_spmd_full_to_shard_shape(input: X, *, manual_sharding: str, dim: int = ..., unspecified_dims: S[int] = ..., name: str = ...) -> Tensor:
    """XlaSpmdFullToShardShape: input: T -> output: T."""
def xla_spmd_shard_to_full_shape(input: X, *, manual_sharding: str, full_shape: S[int | None] | None, dim: int = ..., unspecified_dims: S[int] = ..., name: str = ...) -> Tensor:
    """XlaSpmdShardToFullShape: input: T -> output: T."""
def xla_svd(a: X, *, max_iter: int, epsilon: float, precision_config: str, name: str = ...) -> tuple[Tensor, Tensor, Tensor]:
    """XlaSvd: a: T -> s: T, u: T, v: T."""
def xla_variadic_reduce(input: S[X], init_value: S[X], *, dimensions_to_reduce: S[int], reducer: Any, name: str = ...) -> S[Tensor]:
    """XlaVariadicReduce: input: T, init_value: T -> output: T."""
def xla_variadic_reduce_v2(inputs: S[X], init_values: S[X], *, dimensions_to_reduce: S[int], reducer: Any, name: str = ...) -> S[Tensor]:
    """XlaVariadicReduceV2: inputs: T, init_values: T -> outputs: T."""
def xla_variadic_sort(inputs: S[X], dimension: X, *, comparator: Any, is_stable: bool, name: str = ...) -> S[Tensor]:
    """XlaVariadicSort: inputs: T, dimension: int32 -> outputs: T."""
def xla_while(input: S[X], *, cond: Any, body: Any, name: str = ...) -> S[Tensor]:
    """XlaWhile: input: T -> output: T."""
def xlog1py(x: X, y: X, *, name: str = ...) -> Tensor:
    """Xlog1py: x: T, y: T -> z: T."""
def xlogy(x: X, y: X, *, name: str = ...) -> Tensor:
    """Xlogy: x: T, y: T -> z: T."""
def zeros_like(x: X, *, name: str = ...) -> Tensor:
    """ZerosLike: x: T -> y: T."""
def zeta(x: X, q: X, *, name: str = ...) -> Tensor:
    """Zeta: x: T, q: T -> z: T."""
def zip_dataset(input_datasets: S[X], *, output_types: S[Any], output_shapes: S[S[int | None] | None], metadata: str = ..., name: str = ...) -> Tensor:
    """ZipDataset: input_datasets: variant -> handle: variant."""
