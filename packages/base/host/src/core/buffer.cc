// TF_Buffer: see drystone/buffer.h.
#include "core/buffer.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/failure.h"
#include "core/live.h"
#include "core/memory_guards.h"

namespace drystone::host {
namespace {

// What is given out as a buffer has a mark before it: TF_Buffer has no room for one.
struct Marked {
  std::uint64_t mark;
  TF_Buffer buffer;
};
constexpr std::uint64_t kMark = 0x6472797374756265;
constexpr std::uint64_t kLent = kMark + 1;

volatile std::uint64_t& mark_of(const TF_Buffer* buffer) noexcept {
  return *const_cast<volatile std::uint64_t*>(reinterpret_cast<const std::uint64_t*>(buffer) - 1);
}

// Of any address, where a buffer may have been: what is found tells, also in memory that was given back.
[[gnu::no_sanitize_address, gnu::noinline]] std::uint64_t mark_found_at(const TF_Buffer* buffer) noexcept {
  return *(reinterpret_cast<const volatile std::uint64_t*>(buffer) - 1);
}

void remark(TF_Buffer* const* buffers, int count, std::uint64_t from, std::uint64_t to) noexcept {
  for (int k = 0; k < count; ++k) {
    if (buffers[k] != nullptr && mark_of(buffers[k]) == from) mark_of(buffers[k]) = to;
  }
}

extern "C" void free_bytes(void* data, size_t) { std::free(data); }

void* copy_of(const void* data, std::size_t length) {
  void* copy = std::malloc(length == 0 ? 1 : length);
  if (copy != nullptr && length != 0) std::memcpy(copy, data, length);
  return copy;
}

}  // namespace

LentBuffers::LentBuffers(TF_Buffer* const* buffers, int count) noexcept
    : buffers_(buffers), count_(buffers == nullptr ? 0 : count) {
  remark(buffers_, count_, kMark, kLent);
}

LentBuffers::~LentBuffers() { remark(buffers_, count_, kLent, kMark); }

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
  auto* const made = new (std::nothrow) Marked{kMark, {nullptr, 0, nullptr}};
  if (made == nullptr) return nullptr;
  born(Kind::buffer);
  return &made->buffer;
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
  const std::uint64_t mark = mark_found_at(buffer);
  if (mark != kMark) {
    return note_misuse(mark == kLent ? "it deleted a buffer that is the host's"
                                     : "it deleted a buffer that had been deleted, or that TF_NewBuffer has not made");
  }
  if (buffer->data_deallocator != nullptr && buffer->data != nullptr) {
    answered(0, [&] {  // it may be a plugin's, and throw
      buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
      return 0;
    });
  }
  mark_of(buffer) = 0;  // which stays until something else lies here
  delete reinterpret_cast<Marked*>(reinterpret_cast<char*>(buffer) - offsetof(Marked, buffer));
  died(Kind::buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) {
  return buffer == nullptr ? TF_Buffer{nullptr, 0, nullptr} : *buffer;
}

}  // extern "C"
