// A TF_Buffer that deletes itself, and filling one that belongs to the host.
//
// Since ABI 1.0. Needs the host's buffer functions.
#ifndef DRYSTONE_SDK_BUFFER_HPP_
#define DRYSTONE_SDK_BUFFER_HPP_

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "drystone/buffer.h"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/graph_edit.hpp"

namespace drystone::sdk {

inline std::string_view view(const TF_Buffer* buffer) {
  if (buffer == nullptr || buffer->data == nullptr) return {};
  return {static_cast<const char*>(buffer->data), buffer->length};
}

// An empty buffer for the host to fill. The bytes live as long as the Buffer.
class Buffer {
 public:
  Buffer() : buffer_(TF_NewBuffer()) {}
  TF_Buffer* get() const { return buffer_.get(); }
  std::string_view bytes() const { return view(get()); }

 private:
  struct Delete {
    void operator()(TF_Buffer* buffer) const { TF_DeleteBuffer(buffer); }
  };
  std::unique_ptr<TF_Buffer, Delete> buffer_;
};

// Room for `size` bytes in an output buffer of the host's, which frees them. Fails for a buffer that
// holds data already and when memory is exhausted; `out` is then left alone.
inline Result<char*> reserve(TF_Buffer* out, std::size_t size) {
  if (out == nullptr || out->data != nullptr) {
    return invalid_argument("an output buffer must come empty, with data == NULL");
  }
  char* memory = static_cast<char*>(std::malloc(size == 0 ? 1 : size));
  if (memory == nullptr) return Error(TF_RESOURCE_EXHAUSTED, "no memory for an output buffer");
  out->data = memory;
  out->length = size;
  out->data_deallocator = [](void* data, std::size_t) { std::free(data); };
  return memory;
}

inline Error fill(TF_Buffer* out, std::string_view bytes) {
  Result<char*> memory = reserve(out, bytes.size());
  if (!memory.ok()) return memory.error();
  if (!bytes.empty()) std::memcpy(*memory, bytes.data(), bytes.size());
  return {};
}

// The edited GraphDef, written in one go into memory of the right size.
inline Error fill(TF_Buffer* out, const GraphEdit& graph) {
  std::size_t size = 0;
  graph.write([&](std::string_view piece) { size += piece.size(); });
  Result<char*> memory = reserve(out, size);
  if (!memory.ok()) return memory.error();
  char* end = *memory;
  graph.write([&](std::string_view piece) {
    std::memcpy(end, piece.data(), piece.size());
    end += piece.size();
  });
  return {};
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_BUFFER_HPP_
