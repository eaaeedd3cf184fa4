// TF_Buffer: see drystone/buffer.h.
#include "core/buffer.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/failure.h"
#include "core/handles.h"
#include "core/live.h"
#include "core/memory_guards.h"

namespace drystone::host {
namespace {

// What is given out as a buffer has a mark behind it, as TF_Buffer has no room for one; 0: deleted.
struct Marked {
  TF_Buffer buffer;
  std::uint64_t mark;
};
static_assert(sizeof(Marked) == kHandleLayouts[2].bytes && offsetof(Marked, mark) == kHandleLayouts[2].mark);
constexpr std::uint64_t kMark = 0x6472797374756265;
constexpr std::uint64_t kLent = kMark + 1;

// Of a buffer that TF_NewBuffer has made, whatever became of it; others have none.
volatile std::uint64_t* mark_of(const TF_Buffer* buffer) noexcept {
  if (!is_handle(HandleKind::buffer, buffer)) return nullptr;
  return &const_cast<Marked*>(reinterpret_cast<const Marked*>(buffer))->mark;
}

void remark(TF_Buffer* const* buffers, int count, std::uint64_t from, std::uint64_t to) noexcept {
  for (int k = 0; k < count; ++k) {
    volatile std::uint64_t* const mark = mark_of(buffers[k]);
    if (mark != nullptr && *mark == from) *mark = to;
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
  void* const room = take_handle(HandleKind::buffer);
  if (room == nullptr) return nullptr;
  born(Kind::buffer);
  return &(::new (room) Marked{{nullptr, 0, nullptr}, kMark})->buffer;
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
  volatile std::uint64_t* const mark = mark_of(buffer);
  if (mark == nullptr) return note_misuse("it deleted a buffer that TF_NewBuffer has not made");
  if (*mark == kLent) return note_misuse("it deleted a buffer that is the host's");
  if (*mark != kMark) return note_misuse("it deleted a buffer that had been deleted");
  if (buffer->data_deallocator != nullptr && buffer->data != nullptr) {
    answered(0, [&] {  // it may be a plugin's, and throw
      buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
      return 0;
    });
  }
  *mark = 0;
  give_handle(HandleKind::buffer, buffer);
  died(Kind::buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) {
  return buffer == nullptr ? TF_Buffer{nullptr, 0, nullptr} : *buffer;
}

}  // extern "C"
