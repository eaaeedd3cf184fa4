// TF_Tensor: see drystone/tensor.h.
#include "core/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/freed_blocks.h"
#include "core/handles.h"
#include "core/lent_tensors.h"
#include "core/live.h"
#include "core/memory_guards.h"
#include "core/memory_limit.h"
#include "core/plugin_call.h"
#include "core/readable.h"
#include "drystone/tstring.h"
#include "drystone_host/core.h"

namespace drystone::host {

static_assert(sizeof(TF_Tensor) == kHandleLayouts[0].bytes && offsetof(TF_Tensor, users) == kHandleLayouts[0].mark);

constinit thread_local const LentTensors* LentTensors::innermost __attribute__((tls_model("initial-exec"))) = nullptr;

void Dims::assign_more(const std::int64_t* dims, int count) {
  std::unique_ptr<std::int64_t[]> more;
  if (count > kFew) {
    more = std::make_unique_for_overwrite<std::int64_t[]>(static_cast<std::size_t>(count));
    std::copy_n(dims, count, more.get());
  } else if (count > 0) {
    std::memmove(few_, dims, static_cast<std::size_t>(count) * sizeof *dims);
  }
  more_ = std::move(more);
  count_ = count;
}

namespace {

// Inlined in all who ask for each output of each kernel: a call, and what it gives through memory, took 5 %
// of a loop of small kernels.
[[gnu::always_inline]] inline std::optional<std::int64_t> product_of(const std::int64_t* dims, int count) noexcept {
  constexpr int kMostDims = 254;
  if (count == 0) return 1;
  if (count < 0 || count > kMostDims || dims == nullptr) return std::nullopt;
  std::int64_t product = 1;
  bool overflows = false;
  bool is_empty = false;
  for (int k = 0; k < count; ++k) {
    if (dims[k] < 0) return std::nullopt;
    is_empty = is_empty || dims[k] == 0;
    overflows = __builtin_mul_overflow(product, dims[k], &product) || overflows;
  }
  if (is_empty) return 0;  // whatever the others are
  if (overflows) return std::nullopt;
  return product;
}

}  // namespace

std::optional<std::int64_t> elements(const std::int64_t* dims, int count) noexcept { return product_of(dims, count); }

bool has_objects(TF_DataType dtype) noexcept {
  return dtype == TF_STRING || dtype == TF_RESOURCE || dtype == TF_VARIANT;
}

std::size_t stored_size(TF_DataType dtype) noexcept {
  if (dtype == TF_STRING) return sizeof(TF_TString);
  if (dtype == TF_RESOURCE || dtype == TF_VARIANT) return sizeof(void*);
  return TF_DataTypeSize(dtype);
}

namespace {

// Bytes of an element by dtype: looked up more often than anything else.
struct Sizes {
  unsigned char of[64] = {};
  Sizes() noexcept {
    for (int k = 0; k < 64; ++k) {
      of[k] = static_cast<unsigned char>(stored_size(static_cast<TF_DataType>(k)));
    }
  }
};
const Sizes sizes;

// Bytes for dtype and dims; nothing when they are no valid tensor.
[[gnu::always_inline]] inline std::optional<std::size_t> bytes_for(TF_DataType dtype, const std::int64_t* dims, int count) {
  const auto number = product_of(dims, count);
  const auto known = static_cast<unsigned>(dtype);
  const std::size_t size = known < 64 ? sizes.of[known] : 0;
  std::size_t bytes = 0;
  if (!number || size == 0) return std::nullopt;
  if (__builtin_mul_overflow(static_cast<std::size_t>(*number), size, &bytes)) return std::nullopt;
  return bytes;
}

std::string listed(const std::int64_t* dims, int count) {
  std::string out = "[";
  for (int k = 0; k < count; ++k) out += (k == 0 ? "" : ", ") + std::to_string(dims[k]);
  return out + "]";
}

std::string described(const std::int64_t* dims, int count, TF_DataType dtype) {
  return listed(dims, count) + " of " + dtype_name(dtype) + ": ";
}

// For what bytes_for() has no number: as kernels in Python say it (drystone_base/kernels/_limits.py).
[[noreturn]] void fail_too_many(TF_DataType dtype, const std::int64_t* dims, int count) {
  constexpr int kMostDims = 254;
  const bool is_shape = count >= 0 && count <= kMostDims && dims != nullptr &&
                        std::all_of(dims, dims + count, [](std::int64_t dim) { return dim >= 0; });
  const std::size_t size = stored_size(dtype);
  if (!is_shape || size == 0) fail(TF_INVALID_ARGUMENT, "no tensor has that dtype and those dimensions");
  const auto number = elements(dims, count);
  if (!number) {
    fail_check(TF_INVALID_ARGUMENT, "a tensor's element count must fit in 63 bits", listed(dims, count),
               "fewer than 2^63 elements");
  }
  fail_too_large(static_cast<unsigned __int128>(*number) * size, described(dims, count, dtype));
}

bool aligned(const void* data) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0;
}

// Memory that a watched call of a plugin has copied: what it has freed, or what is not there, would go for
// values.
bool can_be_copied(const void* data, std::size_t bytes) noexcept {
  const FreedBlocks* const freed = FreedBlocks::current();
  if (freed == nullptr || bytes == 0) return true;
  if (freed->holds(data)) {
    note_misuse("it made a tensor of memory that it had freed");
    return false;
  }
  if (is_readable(data, bytes)) return true;
  note_misuse("it made a tensor of memory where nothing can be read");
  return false;
}

// A handle that takes over one reference of `memory`, also when it cannot be made.
TF_Tensor* handle(TF_DataType dtype, const std::int64_t* dims, int count, Memory* memory) {
  try {
    return new TF_Tensor(dtype, dims, count, memory);
  } catch (...) {
    release(memory);
    throw;
  }
}

Memory* foreign(TF_DataType dtype, void* data, std::size_t length) {
  auto* memory = new Memory();
  born(Kind::memory);
  memory->data = data;
  memory->length = length;
  memory->dtype = dtype;
  return memory;
}

}  // namespace

TF_Tensor* new_tensor(TF_DataType dtype, const std::int64_t* dims, int count) {
  const auto bytes = bytes_for(dtype, dims, count);
  if (!bytes) fail(TF_INVALID_ARGUMENT, "no tensor has that dtype and those dimensions");
  return handle(dtype, dims, count, allocate(dtype, *bytes));
}

TF_Tensor* new_tensor_that_fits(TF_DataType dtype, const std::int64_t* dims, int count,
                                const GuardOwner* owner) {
  const auto bytes = bytes_for(dtype, dims, count);
  if (!bytes) fail_too_many(dtype, dims, count);
  check_fits(*bytes, [&] { return described(dims, count, dtype); });
  return handle(dtype, dims, count, allocate(dtype, *bytes, owner));
}

TF_Tensor* new_lent(TF_DataType dtype, const std::int64_t* dims, int count, void* data, std::size_t length,
                    void (*deallocator)(void*, std::size_t, void*), void* argument) {
  const auto bytes = bytes_for(dtype, dims, count);
  if (!bytes || length < *bytes || has_objects(dtype) || (data == nullptr && *bytes != 0)) return nullptr;
  TF_Tensor* tensor = handle(dtype, dims, count, foreign(dtype, data, length));
  tensor->memory->deallocator = deallocator;
  tensor->memory->argument = argument;
  tensor->memory->shared = true;
  tensor->memory->lent = true;
  return tensor;
}

TF_Tensor* share(const TF_Tensor& tensor) {
  retain(tensor.memory);
  return handle(tensor.dtype, tensor.dims.data(), tensor.dims.rank(), tensor.memory);
}

TF_Tensor* rows_of(const TF_Tensor& whole, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> dims(whole.dims.data(), whole.dims.data() + whole.dims.rank());
  const std::size_t bytes = static_cast<std::size_t>(whole.count()) * stored_size(whole.dtype);
  const std::size_t row = dims[0] == 0 ? 0 : bytes / static_cast<std::size_t>(dims[0]);
  dims[0] = count;
  const int rank = whole.dims.rank();
  const std::size_t length = row * static_cast<std::size_t>(count);
  char* start = static_cast<char*>(whole.memory->data) + row * static_cast<std::size_t>(first);
  if (!aligned(start)) {
    TF_Tensor* copy = new_tensor(whole.dtype, dims.data(), rank);
    if (length != 0) std::memcpy(copy->memory->data, start, length);
    return copy;
  }
  TF_Tensor* part = handle(whole.dtype, dims.data(), rank, foreign(whole.dtype, start, length));
  retain(whole.memory);
  part->memory->shared = true;
  part->memory->argument = whole.memory;
  part->memory->deallocator = [](void*, std::size_t, void* memory) {
    release(static_cast<Memory*>(memory));
  };
  return part;
}

void assign(TF_Tensor* to, const TF_Tensor& from) {
  if (to == &from) return;
  to->dims.assign(from.dims.data(), from.dims.rank());
  retain(from.memory);
  release(std::exchange(to->memory, from.memory));
  to->dtype = from.dtype;
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

size_t TF_DataTypeSize(TF_DataType dtype) {
  switch (static_cast<int>(dtype)) {
    case TF_UINT8: case TF_INT8: case TF_BOOL: case TF_QINT8: case TF_QUINT8:
    case TF_FLOAT8_E5M2: case TF_FLOAT8_E4M3FN: case TF_FLOAT8_E4M3FNUZ:
    case TF_FLOAT8_E4M3B11FNUZ: case TF_FLOAT8_E5M2FNUZ:
    case TF_INT4: case TF_UINT4: case TF_INT2: case TF_UINT2: case TF_FLOAT4_E2M1FN:
      return 1;
    case TF_INT16: case TF_UINT16: case TF_QINT16: case TF_QUINT16: case TF_BFLOAT16: case TF_HALF:
      return 2;
    case TF_FLOAT: case TF_INT32: case TF_UINT32: case TF_QINT32:
      return 4;
    case TF_DOUBLE: case TF_INT64: case TF_UINT64: case TF_COMPLEX64:
      return 8;
    case TF_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

size_t TF_TensorDefaultAlignment(void) { return kAlignment; }

TF_Tensor* TF_NewTensor(TF_DataType dtype, const int64_t* dims, int num_dims, void* data, size_t len,
                        void (*deallocator)(void*, size_t, void*), void* deallocator_arg) {
  return answered<TF_Tensor*>(nullptr, [&]() -> TF_Tensor* {
    const auto bytes = bytes_for(dtype, dims, num_dims);
    if (!bytes || len < *bytes || (data == nullptr && *bytes != 0)) return nullptr;
    if (!aligned(data) && !has_objects(dtype)) {
      if (!can_be_copied(data, *bytes)) return nullptr;
      Memory* copy = allocate(dtype, *bytes);
      if (*bytes != 0) std::memcpy(copy->data, data, *bytes);
      TF_Tensor* tensor = handle(dtype, dims, num_dims, copy);
      if (deallocator != nullptr) deallocator(data, len, deallocator_arg);
      return tensor;
    }
    TF_Tensor* tensor = handle(dtype, dims, num_dims, foreign(dtype, data, len));
    tensor->memory->deallocator = deallocator;
    tensor->memory->argument = deallocator_arg;
    return tensor;
  });
}

TF_Tensor* DS_TensorFromMemory(TF_DataType dtype, const int64_t* dims, int num_dims, void* data,
                               size_t len, uint64_t token, TF_Status* status) {
  TF_Tensor* tensor = nullptr;
  guarded(status, __func__, [&] {
    const auto bytes = bytes_for(dtype, dims, num_dims);
    if (!bytes) fail(TF_INVALID_ARGUMENT, "no tensor has that dtype and those dimensions");
    if (len < *bytes) fail(TF_INVALID_ARGUMENT, "the memory is too small for dtype and dimensions");
    if (*bytes != 0) require(data, "data");
    if (token == 0) fail(TF_INVALID_ARGUMENT, "token must not be 0");
    tensor = handle(dtype, dims, num_dims, foreign(dtype, data, len));
    tensor->memory->token = token;
  });
  return tensor;
}

TF_Tensor* DS_ShareTensor(const TF_Tensor* tensor) {
  return answered<TF_Tensor*>(
      nullptr, [&]() -> TF_Tensor* { return tensor == nullptr ? nullptr : share(*tensor); });
}

TF_Bool DS_TensorIsExclusive(const TF_Tensor* tensor) {
  return tensor != nullptr && is_exclusive(*tensor);
}

TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims, int num_dims, size_t len) {
  return answered<TF_Tensor*>(nullptr, [&]() -> TF_Tensor* {
    const auto bytes = bytes_for(dtype, dims, num_dims);
    if (!bytes || len < *bytes) return nullptr;
    const GuardOwner* owner = running_call == nullptr ? nullptr : running_call->guards;
    return handle(dtype, dims, num_dims, allocate(dtype, len, owner));
  });
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor) {
  if (tensor == nullptr || !is_exclusive(*tensor) || LentTensors::hold(tensor)) return nullptr;
  TF_Tensor* moved = DS_ShareTensor(tensor);
  if (moved != nullptr) drop(tensor);
  return moved;
}

void TF_DeleteTensor(TF_Tensor* tensor) {
  if (tensor == nullptr) return;
  if (!is_handle(HandleKind::tensor, tensor)) return note_misuse("it deleted a tensor that is none");
  if (tensor->users.load(std::memory_order_relaxed) == TF_Tensor::kDeleted) {
    return note_misuse("it deleted a tensor that had been deleted");
  }
  if (LentTensors::hold(tensor)) return note_misuse("it deleted a tensor that is the host's");
  drop(tensor);
}

TF_DataType TF_TensorType(const TF_Tensor* tensor) {
  return tensor == nullptr ? static_cast<TF_DataType>(0) : tensor->dtype;
}

void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims) {
  if (tensor == nullptr || elements(dims, num_dims) != tensor->count()) return;
  answered(0, [&] {
    tensor->dims.assign(dims, num_dims);
    return 0;
  });
}

int TF_NumDims(const TF_Tensor* tensor) { return tensor == nullptr ? 0 : tensor->dims.rank(); }

int64_t TF_Dim(const TF_Tensor* tensor, int dim_index) {
  if (tensor == nullptr || dim_index < 0 || dim_index >= tensor->dims.rank()) return -1;
  return tensor->dims[dim_index];
}

size_t TF_TensorByteSize(const TF_Tensor* tensor) {
  if (tensor == nullptr || tensor->memory == nullptr) return 0;
  return static_cast<size_t>(tensor->count()) * stored_size(tensor->dtype);
}

void* TF_TensorData(const TF_Tensor* tensor) {
  return tensor == nullptr || tensor->memory == nullptr ? nullptr : tensor->memory->data;
}

int64_t TF_TensorElementCount(const TF_Tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->count();
}

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to,
                          const int64_t* new_dims, int num_new_dims, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(from, "from");
    require(to, "to");
    const auto bytes = bytes_for(type, new_dims, num_new_dims);
    if (has_objects(type) || has_objects(from->dtype) || from->memory == nullptr) {
      fail(TF_INVALID_ARGUMENT, "only tensors of plain numbers can be cast bit by bit");
    }
    if (!bytes || *bytes != TF_TensorByteSize(from)) {
      fail(TF_INVALID_ARGUMENT, "the new dtype and dimensions take another number of bytes");
    }
    retain(from->memory);
    Memory* shared = from->memory;
    try {
      to->dims.assign(new_dims, num_new_dims);
    } catch (...) {
      release(shared);
      throw;
    }
    release(std::exchange(to->memory, shared));
    to->dtype = type;
  });
}

bool TF_TensorIsAligned(const TF_Tensor* tensor) {
  return tensor != nullptr && aligned(TF_TensorData(tensor));
}

}  // extern "C"
