// TF_Buffer: see drystone/buffer.h.
#include "core/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "core/failure.h"
#include "core/live.h"

namespace drystone::host {
namespace {

extern "C" void free_bytes(void* data, size_t) { std::free(data); }

void* copy_of(const void* data, std::size_t length) {
  void* copy = std::malloc(length == 0 ? 1 : length);
  if (copy != nullptr && length != 0) std::memcpy(copy, data, length);
  return copy;
}

}  // namespace

void fill(TF_Buffer* out, std::string_view bytes) {
  require(out, "the output buffer");
  if (out->data != nullptr) {
    fail(TF_INVALID_ARGUMENT, "the output buffer holds data already: give an empty one");
  }
  void* copy = copy_of(bytes.data(), bytes.size());
  if (copy == nullptr) throw std::bad_alloc();
  *out = TF_Buffer{copy, bytes.size(), free_bytes};
}

std::string_view view(const TF_Buffer* buffer) {
  require(buffer, "the buffer");
  if (buffer->data == nullptr && buffer->length != 0) {
    fail(TF_INVALID_ARGUMENT, "the buffer has a length but no data");
  }
  return {static_cast<const char*>(buffer->data), buffer->length};
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_Buffer* TF_NewBuffer(void) {
  auto* buffer = new (std::nothrow) TF_Buffer{nullptr, 0, nullptr};
  if (buffer != nullptr) born(Kind::buffer);
  return buffer;
}

TF_Buffer* TF_NewBufferFromString(const void* data, size_t length) {
  if (data == nullptr && length != 0) return nullptr;
  void* copy = copy_of(data, length);
  TF_Buffer* buffer = copy == nullptr ? nullptr : TF_NewBuffer();
  if (buffer == nullptr) {
    std::free(copy);
    return nullptr;
  }
  *buffer = TF_Buffer{copy, length, free_bytes};
  return buffer;
}

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->data_deallocator != nullptr && buffer->data != nullptr) {
    answered(0, [&] {  // it may be a plugin's, and throw
      buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
      return 0;
    });
  }
  delete buffer;
  died(Kind::buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) {
  return buffer == nullptr ? TF_Buffer{nullptr, 0, nullptr} : *buffer;
}

}  // extern "C"
