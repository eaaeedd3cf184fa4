// Values on their way between tasks: a head, the dimensions, the key of the edge, and from the next
// multiple of 64 on the bytes. Little endian. Strings are their lengths (64 bits each), then their bytes.
#ifndef DRYSTONE_LINKS_VALUE_H_
#define DRYSTONE_LINKS_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drystone/network.h"
#include "drystone/tensor.h"

namespace drystone::links {

struct DeleteTensor {
  void operator()(TF_Tensor* tensor) const noexcept { TF_DeleteTensor(tensor); }
};
using Tensor = std::unique_ptr<TF_Tensor, DeleteTensor>;

// Memory that an engine has given with a message, given back at the end.
class Memory {
 public:
  Memory(const DS_NetworkFns* fns, void* data) : fns_(fns), data_(data) {}
  ~Memory() {
    if (data_ != nullptr) fns_->release(data_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

 private:
  const DS_NetworkFns* fns_;
  void* data_;
};

// A value that has come. `dtype` 0: a dead one.
struct Incoming {
  std::unique_ptr<Memory> memory;
  std::uint64_t step = 0;
  std::string key;
  TF_DataType dtype = static_cast<TF_DataType>(0);
  std::vector<std::int64_t> dims;
  std::span<unsigned char> data;

  // The value as a tensor; NULL where there is no memory for it.
  static Tensor tensor(Incoming value);
};

// Whether the bytes of a message are a value; nothing in them is trusted.
bool read(std::span<unsigned char> message, Incoming* out);

// A value on its way out: its head, after which short bytes follow at once, and what holds long ones.
struct Outgoing {
  std::vector<unsigned char> head;
  std::vector<unsigned char> own;  // long bytes that were made for this message
  Tensor tensor;                   // whose long bytes are sent as they are
  std::span<const unsigned char> data;

  std::size_t size() const { return head.size() + data.size(); }
};

// A value of the given bytes, which are copied.
Outgoing outgoing(std::uint64_t step, std::string_view key, TF_DataType dtype,
                  std::span<const std::int64_t> dims, std::span<const unsigned char> data);

// A tensor (NULL: a dead value), whose memory is shared or copied. False for one that means nothing
// elsewhere.
bool outgoing(std::uint64_t step, std::string_view key, const TF_Tensor* tensor, Outgoing* out);

}  // namespace drystone::links

#endif  // DRYSTONE_LINKS_VALUE_H_
