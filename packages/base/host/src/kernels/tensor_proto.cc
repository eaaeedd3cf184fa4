// Decoding TensorProtos: see kernels/tensor_proto.h.
#include "kernels/tensor_proto.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/buffer.h"
#include "core/dtype_names.h"
#include "core/failure.h"
#include "drystone/sdk/shape.hpp"
#include "drystone/sdk/wire.hpp"
#include "drystone/tstring.h"

namespace drystone::host::kernels {
namespace {

constexpr std::size_t kMostExpanded = std::size_t{1} << 31;

// How elements of a dtype are listed: in which field, and as what.
enum class Listed { none, varints, fixed, bytes, strings };
struct List {
  std::uint32_t field;
  Listed as;
};

List list_of(TF_DataType dtype) {
  switch (static_cast<int>(dtype)) {
    case TF_FLOAT: return {5, Listed::fixed};
    case TF_DOUBLE: return {6, Listed::fixed};
    case TF_STRING: return {8, Listed::strings};
    case TF_COMPLEX64: return {9, Listed::fixed};
    case TF_INT64: return {10, Listed::varints};
    case TF_BOOL: return {11, Listed::varints};
    case TF_COMPLEX128: return {12, Listed::fixed};
    case TF_HALF: case TF_BFLOAT16: return {13, Listed::varints};
    case TF_UINT32: return {16, Listed::varints};
    case TF_UINT64: return {17, Listed::varints};
    case TF_FLOAT8_E5M2: case TF_FLOAT8_E4M3FN: case TF_FLOAT8_E4M3FNUZ:
    case TF_FLOAT8_E4M3B11FNUZ: case TF_FLOAT8_E5M2FNUZ: case TF_FLOAT4_E2M1FN:
      return {18, Listed::bytes};
    case TF_INT32: case TF_INT16: case TF_INT8: case TF_UINT16: case TF_UINT8: case TF_QINT8:
    case TF_QUINT8: case TF_QINT16: case TF_QUINT16: case TF_QINT32: case TF_INT4: case TF_UINT4:
    case TF_INT2: case TF_UINT2:
      return {7, Listed::varints};
    default: return {0, Listed::none};
  }
}

struct Proto {
  TF_DataType dtype = static_cast<TF_DataType>(0);
  sdk::Shape shape{std::initializer_list<std::int64_t>{}};
  std::string_view content;
};

Proto parse(std::string_view bytes) {
  Proto out;
  wire::Reader fields(bytes);
  while (fields.next()) {
    if (fields.field() == 1) out.dtype = static_cast<TF_DataType>(fields.int32());
    if (fields.field() == 2) out.shape = sdk::Shape::parse(fields.bytes());
    if (fields.field() == 4) out.content = fields.bytes();
  }
  if (!fields.ok()) fail(TF_INVALID_ARGUMENT, "the TensorProto is malformed");
  if (!out.shape.fully_defined()) {
    fail(TF_INVALID_ARGUMENT, "the TensorProto's shape is not fully defined");
  }
  return out;
}

[[noreturn]] void fail_of_too_many() {
  fail(TF_INVALID_ARGUMENT, "the TensorProto lists more values than its shape has");
}

[[noreturn]] void fail_of_lengths() {
  fail(TF_INVALID_ARGUMENT, "the TensorProto's content ends in the lengths of its strings");
}

// The memory of the tensor while its bytes are written from front to back.
struct Sink {
  char* data;
  std::size_t size;
  std::size_t written = 0;

  void put(const void* from, std::size_t count) {
    if (count > size - written) fail_of_too_many();
    if (count != 0) std::memcpy(data + written, from, count);
    written += count;
  }
};

void put_varints(const wire::Reader& field, bool is_bool, std::size_t element, Sink* sink) {
  for (wire::Varints all(field); all.next();) {
    std::uint64_t value = is_bool ? all.value() != 0 : all.value();
    sink->put(&value, element);  // little-endian: the low bytes come first
  }
}

void put_fixed(const wire::Reader& field, Sink* sink) {
  if (field.type() == wire::Type::fixed32) {
    const std::uint32_t value = field.fixed32();
    sink->put(&value, sizeof value);
  } else if (field.type() == wire::Type::fixed64) {
    const std::uint64_t value = field.fixed64();
    sink->put(&value, sizeof value);
  } else {
    sink->put(field.bytes().data(), field.bytes().size());
  }
}

// Fills the rest with the last element, doubling what is copied at a time.
void repeat_last(std::size_t element, Sink* sink) {
  if (sink->written % element != 0) {
    fail(TF_INVALID_ARGUMENT, "the TensorProto lists a part of an element");
  }
  if (sink->written == sink->size) return;
  if (sink->written == 0) {
    std::memset(sink->data, 0, sink->size);
    return;
  }
  const char* last = sink->data + sink->written - element;
  for (std::size_t known = element; sink->written < sink->size;) {
    const std::size_t more = std::min(known, sink->size - sink->written);
    sink->put(last, more);
    known += more;
  }
}

void expand(std::string_view bytes, TF_DataType dtype, TF_Tensor* tensor) {
  const List list = list_of(dtype);
  const std::size_t element = stored_size(dtype);
  Sink sink{static_cast<char*>(TF_TensorData(tensor)), TF_TensorByteSize(tensor)};
  wire::Reader fields(bytes);
  while (fields.next()) {
    if (fields.field() != list.field) continue;
    if (list.as == Listed::varints) put_varints(fields, dtype == TF_BOOL, element, &sink);
    if (list.as == Listed::fixed) put_fixed(fields, &sink);
    if (list.as == Listed::bytes) sink.put(fields.bytes().data(), fields.bytes().size());
  }
  repeat_last(element, &sink);
}

void put_strings(std::string_view bytes, TF_Tensor* tensor) {
  auto* strings = static_cast<TF_TString*>(TF_TensorData(tensor));
  const auto count = static_cast<std::size_t>(tensor->count());
  std::size_t written = 0;
  std::string_view last;
  wire::Reader fields(bytes);
  while (fields.next()) {
    if (fields.field() != 8) continue;
    if (written == count) fail_of_too_many();
    last = fields.bytes();
    TF_TString_Copy(&strings[written++], last.data(), last.size());
  }
  if (last.empty() || count == 0) return;
  if (last.size() > kMostExpanded / count) {
    fail(TF_INVALID_ARGUMENT, "the TensorProto repeats a string to more than 2 GiB");
  }
  for (; written < count; ++written) TF_TString_Copy(&strings[written], last.data(), last.size());
}

// Strings as EncodeStringList of TensorFlow's C API lays them out: the lengths of all, as varints,
// then the bytes of all.
void put_text_content(std::string_view content, TF_Tensor* tensor) {
  constexpr int kMostBits = 35;  // of a varint of 32 bits
  auto* strings = static_cast<TF_TString*>(TF_TensorData(tensor));
  const auto count = static_cast<std::size_t>(tensor->count());
  std::vector<std::size_t> lengths;
  std::size_t at = 0;
  std::size_t total = 0;
  while (lengths.size() < count) {
    std::size_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (at == content.size() || shift == kMostBits) fail_of_lengths();
      const auto byte = static_cast<unsigned char>(content[at++]);
      length |= static_cast<std::size_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    lengths.push_back(length);
    total += length;
  }
  if (total != content.size() - at) {
    fail(TF_INVALID_ARGUMENT, "the strings of the TensorProto do not fill its content");
  }
  for (std::size_t k = 0; k < count; at += lengths[k++]) {
    TF_TString_Copy(&strings[k], content.data() + at, lengths[k]);
  }
}

// Whether each byte is 0 or 1: eight at a time, as there may be gigabytes of them.
bool are_truth_values(std::string_view bytes) {
  std::uint64_t met = 0;
  std::size_t at = 0;
  for (; at + sizeof met <= bytes.size(); at += sizeof met) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    met |= word;
  }
  for (; at < bytes.size(); ++at) met |= static_cast<unsigned char>(bytes[at]);
  return (met & ~std::uint64_t{0x0101'0101'0101'0101}) == 0;
}

void check_size(const Proto& proto, std::int64_t count) {
  const std::size_t element = stored_size(proto.dtype);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), element, &bytes)) {
    fail(TF_INVALID_ARGUMENT, "the TensorProto's shape is absurd");
  }
  if (proto.content.empty() && bytes > kMostExpanded) {
    fail(TF_INVALID_ARGUMENT, "the TensorProto expands to more than 2 GiB");
  }
  if (proto.content.empty()) return;
  if (proto.dtype == TF_STRING) {  // the length of each takes a byte at least
    if (static_cast<std::size_t>(count) > proto.content.size()) fail_of_lengths();
    return;
  }
  if (proto.content.size() != bytes) {
    fail(TF_INVALID_ARGUMENT, "the TensorProto has " + std::to_string(proto.content.size()) +
                                  " bytes of content where its dtype and shape need " +
                                  std::to_string(bytes));
  }
  if (proto.dtype == TF_BOOL && !are_truth_values(proto.content)) {
    fail(TF_INVALID_ARGUMENT, "the TensorProto of bool has bytes that are neither 0 nor 1");
  }
}

}  // namespace

TF_Tensor* tensor_from_proto(std::string_view bytes) {
  const Proto proto = parse(bytes);
  const List list = list_of(proto.dtype);
  if (list.as == Listed::none) {
    fail(TF_INVALID_ARGUMENT, "a TensorProto of dtype " +
                                  dtype_name(proto.dtype) +
                                  " has no value that can be decoded");
  }
  const auto& dims = proto.shape.dims();
  constexpr std::size_t kTooMany = 255;  // dimensions, which elements() refuses
  const auto count = elements(dims.data(), static_cast<int>(std::min(dims.size(), kTooMany)));
  if (!count) fail(TF_INVALID_ARGUMENT, "the TensorProto's shape is absurd");
  check_size(proto, *count);
  std::unique_ptr<TF_Tensor> out(
      new_tensor_that_fits(proto.dtype, dims.data(), static_cast<int>(dims.size())));
  const bool has_content = !proto.content.empty();
  if (list.as == Listed::strings && has_content) put_text_content(proto.content, out.get());
  else if (list.as == Listed::strings) put_strings(bytes, out.get());
  else if (!has_content) expand(bytes, proto.dtype, out.get());
  else std::memcpy(TF_TensorData(out.get()), proto.content.data(), proto.content.size());
  return out.release();
}

}  // namespace drystone::host::kernels

using namespace drystone::host;

extern "C" void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(to, "to");
    const std::unique_ptr<TF_Tensor> value(kernels::tensor_from_proto(view(from)));
    assign(to, *value);
  });
}
