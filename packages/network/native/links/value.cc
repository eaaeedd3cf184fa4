#include "value.h"

#include <cstring>

#include "drystone/datatype.h"
#include "drystone/status.h"
#include "drystone/tstring.h"

namespace drystone::links {
namespace {

constexpr std::uint32_t kMagic = 0x32565344;  // "DSV2"
constexpr std::size_t kAligned = 64;
constexpr std::uint32_t kMostDims = 63;
constexpr std::uint32_t kMostKey = 1 << 16;
constexpr std::size_t kSmall = 1 << 16;  // bytes that are copied rather than kept where they came
constexpr auto kDead = static_cast<TF_DataType>(0);

struct Head {
  std::uint32_t magic, dtype;
  std::uint64_t step;
  std::uint32_t key, rank;
  std::uint64_t size;
};
static_assert(sizeof(Head) == 32);

std::size_t aligned(std::size_t size) { return (size + kAligned - 1) / kAligned * kAligned; }

// The product of dimensions, or -1 where it is absurd.
std::int64_t count_of(std::span<const std::int64_t> dims) {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || dim > kMost || (dim != 0 && count > kMost / dim)) return -1;
    count *= dim;
  }
  return count;
}

// Lengths that together with themselves take all bytes.
bool are_strings(std::span<const unsigned char> data, std::int64_t count) {
  const auto strings = static_cast<std::size_t>(count);
  if (strings > data.size() / sizeof(std::uint64_t)) return false;
  std::size_t left = data.size() - strings * sizeof(std::uint64_t);
  for (std::size_t k = 0; k < strings; ++k) {
    std::uint64_t length = 0;
    std::memcpy(&length, data.data() + k * sizeof length, sizeof length);
    if (length > left) return false;
    left -= length;
  }
  return left == 0;
}

bool are_elements(const Incoming& value) {
  if (value.dtype == kDead) return value.dims.empty() && value.data.empty();
  const std::int64_t count = count_of(value.dims);
  if (count < 0) return false;
  if (value.dtype == TF_STRING) return are_strings(value.data, count);
  const std::size_t size = TF_DataTypeSize(value.dtype);
  if (size == 0 || value.data.size() != static_cast<std::size_t>(count) * size) return false;
  if (value.dtype != TF_BOOL) return true;
  unsigned char all = 0;
  for (const unsigned char one : value.data) all |= one;
  return all <= 1;
}

Tensor strings_of(const Incoming& value) {
  const auto count = static_cast<std::size_t>(count_of(value.dims));
  Tensor out(TF_AllocateTensor(TF_STRING, value.dims.data(), static_cast<int>(value.dims.size()),
                               count * sizeof(TF_TString)));
  if (out == nullptr) return out;
  auto* strings = static_cast<TF_TString*>(TF_TensorData(out.get()));
  const unsigned char* at = value.data.data() + count * sizeof(std::uint64_t);
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t length = 0;
    std::memcpy(&length, value.data.data() + k * sizeof length, sizeof length);
    TF_TString_Init(&strings[k]);
    TF_TString_Copy(&strings[k], reinterpret_cast<const char*>(at), length);
    if (TF_TString_GetSize(&strings[k]) != length) return nullptr;
    at += length;
  }
  return out;
}

void drop_memory(void*, size_t, void* memory) { delete static_cast<Memory*>(memory); }

std::vector<unsigned char> encoded_strings(const TF_Tensor& tensor) {
  const auto count = static_cast<std::size_t>(TF_TensorElementCount(&tensor));
  const auto* strings = static_cast<const TF_TString*>(TF_TensorData(&tensor));
  std::size_t size = count * sizeof(std::uint64_t);
  for (std::size_t k = 0; k < count; ++k) size += TF_TString_GetSize(&strings[k]);
  std::vector<unsigned char> out(size);
  unsigned char* at = out.data() + count * sizeof(std::uint64_t);
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t length = TF_TString_GetSize(&strings[k]);
    std::memcpy(out.data() + k * sizeof length, &length, sizeof length);
    if (length != 0) std::memcpy(at, TF_TString_GetDataPointer(&strings[k]), length);
    at += length;
  }
  return out;
}

// The head of a message, with room for `more` bytes after it.
std::vector<unsigned char> head_of(std::uint64_t step, std::string_view key, TF_DataType dtype,
                                   std::span<const std::int64_t> dims, std::size_t size,
                                   std::size_t more) {
  const Head head{kMagic, static_cast<std::uint32_t>(dtype), step,
                  static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(dims.size()),
                  size};
  std::vector<unsigned char> out(aligned(sizeof head + dims.size_bytes() + key.size()) + more);
  std::memcpy(out.data(), &head, sizeof head);
  if (!dims.empty()) std::memcpy(out.data() + sizeof head, dims.data(), dims.size_bytes());
  if (!key.empty()) {
    std::memcpy(out.data() + sizeof head + dims.size_bytes(), key.data(), key.size());
  }
  return out;
}

// Another handle of the memory of a tensor of numbers; NULL without memory for it.
Tensor shared(const TF_Tensor& tensor, std::span<const std::int64_t> dims) {
  const std::int64_t none = 0;
  Tensor out(TF_AllocateTensor(TF_TensorType(&tensor), &none, 1, 0));
  if (out == nullptr) return out;
  TF_Status* const status = TF_NewStatus();
  TF_TensorBitcastFrom(&tensor, TF_TensorType(&tensor), out.get(), dims.data(),
                       static_cast<int>(dims.size()), status);
  if (TF_GetCode(status) != TF_OK) out.reset();
  TF_DeleteStatus(status);
  return out;
}

}  // namespace

bool read(std::span<unsigned char> message, Incoming* out) {
  Head head;
  if (message.size() < sizeof head) return false;
  std::memcpy(&head, message.data(), sizeof head);
  if (head.magic != kMagic || head.rank > kMostDims || head.key > kMostKey) return false;
  const std::size_t dims = head.rank * sizeof(std::int64_t);
  const std::size_t begin = aligned(sizeof head + dims + head.key);
  if (message.size() < begin || message.size() - begin != head.size) return false;
  out->step = head.step;
  out->dtype = static_cast<TF_DataType>(head.dtype);
  out->dims.resize(head.rank);
  if (dims != 0) std::memcpy(out->dims.data(), message.data() + sizeof head, dims);
  out->key.assign(reinterpret_cast<const char*>(message.data()) + sizeof head + dims, head.key);
  out->data = message.subspan(begin);
  return are_elements(*out);
}

Tensor Incoming::tensor(Incoming value) {
  if (value.dtype == TF_STRING) return strings_of(value);
  const int rank = static_cast<int>(value.dims.size());
  const auto address = reinterpret_cast<std::uintptr_t>(value.data.data());
  if (value.data.size() > kSmall && address % TF_TensorDefaultAlignment() == 0) {
    Memory* const memory = value.memory.release();
    Tensor out(TF_NewTensor(value.dtype, value.dims.data(), rank, value.data.data(),
                            value.data.size(), drop_memory, memory));
    if (out == nullptr) delete memory;
    return out;
  }
  Tensor out(TF_AllocateTensor(value.dtype, value.dims.data(), rank, value.data.size()));
  if (out != nullptr && !value.data.empty()) {
    std::memcpy(TF_TensorData(out.get()), value.data.data(), value.data.size());
  }
  return out;
}

Outgoing outgoing(std::uint64_t step, std::string_view key, TF_DataType dtype,
                  std::span<const std::int64_t> dims, std::span<const unsigned char> data) {
  Outgoing out;
  const std::size_t more = data.size() <= kSmall ? data.size() : 0;
  out.head = head_of(step, key, dtype, dims, data.size(), more);
  if (more != 0) {
    std::memcpy(out.head.data() + out.head.size() - more, data.data(), more);
  } else if (!data.empty()) {
    out.own.assign(data.begin(), data.end());
    out.data = out.own;
  }
  return out;
}

bool outgoing(std::uint64_t step, std::string_view key, const TF_Tensor* tensor, Outgoing* out) {
  if (tensor == nullptr) {
    *out = outgoing(step, key, kDead, {}, {});
    return true;
  }
  const TF_DataType dtype = TF_TensorType(tensor);
  const int rank = TF_NumDims(tensor);
  const bool is_strings = dtype == TF_STRING;
  if (rank < 0 || rank > static_cast<int>(kMostDims)) return false;
  if (!is_strings && TF_DataTypeSize(dtype) == 0) return false;
  std::vector<std::int64_t> dims;
  for (int k = 0; k < rank; ++k) dims.push_back(TF_Dim(tensor, k));
  const std::span<const unsigned char> data(
      static_cast<const unsigned char*>(TF_TensorData(tensor)), TF_TensorByteSize(tensor));
  if (data.data() == nullptr && !data.empty()) return false;
  if (is_strings) {
    *out = outgoing(step, key, dtype, dims, encoded_strings(*tensor));
    return true;
  }
  if (data.size() <= kSmall) {
    *out = outgoing(step, key, dtype, dims, data);
    return true;
  }
  out->tensor = shared(*tensor, dims);
  if (out->tensor == nullptr) return false;
  out->head = head_of(step, key, dtype, dims, data.size(), 0);
  out->data = data;
  return true;
}

}  // namespace drystone::links
