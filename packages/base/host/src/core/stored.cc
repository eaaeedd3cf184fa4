// Stored tensors: see core/stored.h.
#include "core/stored.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "core/failure.h"
#include "drystone_host/core.h"

namespace drystone::host {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // the system takes no more than 2 GiB

void forget(void*, std::size_t, void* argument) {
  const std::unique_ptr<Stored> stored(static_cast<Stored*>(argument));
  if (stored->release != nullptr) stored->release(stored->argument);
}

void free_elements(void* data, std::size_t, void*) { std::free(data); }

// Exactly as much memory as is needed: blocks that the process keeps for tensors to come are larger.
TF_Tensor* read_all(const TF_Tensor& tensor) {
  const std::size_t bytes = tensor.memory->length;
  void* data = std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
  if (data == nullptr) throw std::bad_alloc();
  std::unique_ptr<TF_Tensor> out(TF_NewTensor(tensor.dtype, tensor.dims.data(), tensor.dims.rank(), data,
                                              bytes, free_elements, nullptr));
  if (out == nullptr) {
    std::free(data);
    throw std::bad_alloc();
  }
  read_stored(tensor, 0, bytes, data);
  return out.release();
}

}  // namespace

void read_stored(const TF_Tensor& tensor, std::size_t offset, std::size_t bytes, void* into) {
  const auto& from = *static_cast<const Stored*>(tensor.memory->argument);
  if (offset > tensor.memory->length || bytes > tensor.memory->length - offset) {
    fail(TF_OUT_OF_RANGE, "bytes beyond the end of a stored tensor were asked for");
  }
  auto* out = static_cast<char*>(into);
  std::int64_t at = from.offset + static_cast<std::int64_t>(offset);
  while (bytes != 0) {
    const ssize_t got = ::pread(from.descriptor, out, std::min(bytes, kMostAtOnce), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      fail(TF_UNAVAILABLE, std::string("the model's file cannot be read: ") + std::strerror(errno));
    }
    if (got == 0) {
      fail(TF_DATA_LOSS, "the model's file has become shorter than it was when it was loaded");
    }
    out += got;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

TF_Tensor* loaded(const TF_Tensor& tensor) {
  Memory* memory = tensor.memory;
  TF_Tensor* known = memory->adapted.load(std::memory_order_acquire);
  if (known == nullptr) {
    std::unique_ptr<TF_Tensor> made(read_all(tensor));
    made->memory->constant = true;
    const bool is_first =
        memory->adapted.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel);
    if (is_first) known = made.release();
  }
  std::unique_ptr<TF_Tensor> out(share(*known));
  out->dims.assign(tensor.dims.data(), tensor.dims.rank());  // a handle may have others
  return out.release();
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" TF_Tensor* DS_NewStoredTensor(TF_DataType dtype, const int64_t* dims, int num_dims,
                                         int descriptor, int64_t offset, void (*release)(void*),
                                         void* argument, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    const auto count = elements(dims, num_dims);
    const std::size_t size = has_objects(dtype) ? 0 : stored_size(dtype);
    std::size_t bytes = 0;
    if (!count || size == 0 || __builtin_mul_overflow(static_cast<std::size_t>(*count), size, &bytes)) {
      fail(TF_INVALID_ARGUMENT, "no tensor of numbers has that dtype and those dimensions");
    }
    if (descriptor < 0 || offset < 0) fail(TF_INVALID_ARGUMENT, "a file and a place in it are needed");
    std::unique_ptr<Stored> stored(new Stored{descriptor, offset, nullptr, nullptr});
    auto memory = std::make_unique<Memory>();
    std::unique_ptr<TF_Tensor> made(new TF_Tensor(dtype, dims, num_dims, nullptr));
    born(Kind::memory);
    memory->length = bytes;
    memory->dtype = dtype;
    memory->stored = true;
    memory->constant = true;  // from the beginning: plans of several threads share it
    memory->deallocator = forget;
    stored->release = release;
    stored->argument = argument;
    memory->argument = stored.release();
    made->memory = memory.release();
    out = made.release();
  });
  return out;
}
