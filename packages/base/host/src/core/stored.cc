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

// Bytes of the file, from the elements' byte `offset` on.
void read_bytes(const Stored& from, std::size_t offset, std::size_t bytes, void* into) {
  auto* out = static_cast<char*>(into);
  std::int64_t at = from.offset + static_cast<std::int64_t>(offset);
  while (bytes != 0) {
    const ssize_t got = ::pread(from.descriptor, out, std::min(bytes, kMostAtOnce), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      fail(TF_UNAVAILABLE, std::string("the model's file cannot be read: ") + std::strerror(errno));
    }
    if (got == 0) {
      fail(TF_DATA_LOSS, "the model's file has become shorter than it was when it was loaded",
           {{DS_PAYLOAD_CODE, "file-changed"}});
    }
    out += got;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

// Elements, of which the first is number `first`, times their factors.
void multiply(const Stored& from, std::size_t first, std::size_t count, float* elements) noexcept {
  const auto inner = static_cast<std::size_t>(from.inner);
  for (std::size_t k = 0; k < count;) {
    const std::size_t place = (first + k) / inner % from.factors.size();
    if (inner == 1) {
      const std::size_t segment = std::min(from.factors.size() - place, count - k);
      const float* factors = from.factors.data() + place;
      for (std::size_t j = 0; j < segment; ++j) elements[k + j] *= factors[j];
      k += segment;
    } else {
      const std::size_t segment = std::min(inner - (first + k) % inner, count - k);
      const float factor = from.factors[place];
      for (std::size_t j = 0; j < segment; ++j) elements[k + j] *= factor;
      k += segment;
    }
  }
}

// What is read is multiplied while a cache has it.
constexpr std::size_t kSegment = std::size_t{1} << 16;  // elements

void read_products(const Stored& from, std::size_t first, std::size_t count, float* into) {
  while (count != 0) {
    const std::size_t segment = std::min(count, kSegment);
    read_bytes(from, first * sizeof(float), segment * sizeof(float), into);
    multiply(from, first, segment, into);
    first += segment;
    into += segment;
    count -= segment;
  }
}

// Bytes that begin or end inside of an element, too.
void read_parts(const Stored& from, std::size_t offset, std::size_t bytes, void* into) {
  const std::size_t first = offset / sizeof(float);
  const std::size_t end = (offset + bytes + sizeof(float) - 1) / sizeof(float);
  std::vector<float> whole(end - first);
  read_products(from, first, whole.size(), whole.data());
  std::memcpy(into, reinterpret_cast<const char*>(whole.data()) + offset % sizeof(float), bytes);
}

bool is_aligned(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(float) == 0;
}

}  // namespace

void read_stored(const TF_Tensor& tensor, std::size_t offset, std::size_t bytes, void* into) {
  const auto& from = *static_cast<const Stored*>(tensor.memory->argument);
  if (offset > tensor.memory->length || bytes > tensor.memory->length - offset) {
    fail(TF_OUT_OF_RANGE, "bytes beyond the end of a stored tensor were asked for");
  }
  if (from.factors.empty()) return read_bytes(from, offset, bytes, into);
  if (offset % sizeof(float) != 0 || bytes % sizeof(float) != 0 || !is_aligned(into)) {
    return read_parts(from, offset, bytes, into);
  }
  read_products(from, offset / sizeof(float), bytes / sizeof(float), static_cast<float*>(into));
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
    std::unique_ptr<Stored> stored(new Stored{descriptor, offset, nullptr, nullptr, {}, 1});
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

extern "C" void DS_ScaleStoredTensor(TF_Tensor* tensor, const float* factors, int64_t count, int64_t inner,
                                     TF_Status* status) {
  guarded(status, __func__, [&] {
    if (tensor == nullptr || !is_stored(*tensor) || tensor->dtype != TF_FLOAT) {
      fail(TF_INVALID_ARGUMENT, "only floats that stay in a file are multiplied as they are read");
    }
    if (factors == nullptr || count < 1 || inner < 1) {
      fail(TF_INVALID_ARGUMENT, "factors are needed, and each is for one element or more");
    }
    auto& stored = *static_cast<Stored*>(tensor->memory->argument);
    stored.factors.assign(factors, factors + count);
    stored.inner = inner;
  });
}
