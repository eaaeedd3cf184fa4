// TensorProtos into tensors: every dtype, the repeat-last rule, and bytes that are no tensor. Built
// with sanitizers.
#include "kernels_help.h"

namespace {

using namespace help;
using drystone::sdk::Shape;

std::string proto(TF_DataType dtype, const Shape& shape, const std::string& rest) {
  return field(1, static_cast<std::uint64_t>(dtype)) + field(2, shape.proto()) + rest;
}

// The tensor's memory as a list of T; empty on failure.
template <class T>
std::vector<T> decode(const std::string& bytes, Status& status) {
  const Bytes from(bytes);
  TF_Tensor* to = floats({9});
  TF_TensorFromProto(from, to, status);
  std::vector<T> out;
  if (status.ok()) {
    CHECK(TF_TensorByteSize(to) == static_cast<size_t>(TF_TensorElementCount(to)) * sizeof(T));
    out.resize(TF_TensorByteSize(to) / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), TF_TensorData(to), TF_TensorByteSize(to));
  } else {
    CHECK(TF_TensorType(to) == TF_FLOAT && TF_TensorElementCount(to) == 1);
  }
  TF_DeleteTensor(to);
  return out;
}

std::string packed(std::uint32_t number, const std::vector<std::uint64_t>& values) {
  std::string bytes;
  for (const std::uint64_t value : values) Writer::pack(&bytes, value);
  return field(number, bytes);
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
void small_ints(TF_DataType dtype, std::uint32_t number) {
  Status status;
  const T last = static_cast<T>(-1);
  const auto all = decode<T>(proto(dtype, {4}, packed(number, {1, ~std::uint64_t{0}})), status);
  CHECK(status.ok() && all == std::vector<T>({1, last, last, last}));
  const std::vector<T> given = {5, 6};
  CHECK(decode<T>(proto(dtype, {2}, field(4, raw(given))), status) == given && status.ok());
  const std::string unpacked = field(number, std::uint64_t{3}) + field(number, std::uint64_t{4});
  CHECK(decode<T>(proto(dtype, {2}, unpacked), status) == std::vector<T>({3, 4}));
}

void test_integers() {
  small_ints<std::int32_t>(TF_INT32, 7);
  small_ints<std::int16_t>(TF_INT16, 7);
  small_ints<std::int8_t>(TF_INT8, 7);
  small_ints<std::uint16_t>(TF_UINT16, 7);
  small_ints<std::uint8_t>(TF_UINT8, 7);
  small_ints<std::int8_t>(TF_QINT8, 7);
  small_ints<std::uint8_t>(TF_QUINT8, 7);
  small_ints<std::int16_t>(TF_QINT16, 7);
  small_ints<std::uint16_t>(TF_QUINT16, 7);
  small_ints<std::int32_t>(TF_QINT32, 7);
  small_ints<std::int8_t>(TF_INT4, 7);
  small_ints<std::uint8_t>(TF_UINT4, 7);
  small_ints<std::uint16_t>(TF_HALF, 13);
  small_ints<std::uint16_t>(TF_BFLOAT16, 13);
  small_ints<std::int64_t>(TF_INT64, 10);
  small_ints<std::uint32_t>(TF_UINT32, 16);
  small_ints<std::uint64_t>(TF_UINT64, 17);
  Status status;
  CHECK(decode<std::uint8_t>(proto(TF_BOOL, {3}, packed(11, {7, 0})), status) ==
        std::vector<std::uint8_t>({1, 0, 0}));
  CHECK(decode<char>(proto(TF_FLOAT8_E5M2, {3}, field(18, "ab")), status) ==
        std::vector<char>({'a', 'b', 'b'}));
}

void test_reals() {
  Status status;
  std::string one;
  Writer(&one).float32(5, 2.5F);
  CHECK(decode<float>(proto(TF_FLOAT, {2, 2}, one), status) == std::vector<float>(4, 2.5F));
  const std::vector<float> two = {1, 2};
  CHECK(decode<float>(proto(TF_FLOAT, {3}, field(5, raw(two))), status) ==
        std::vector<float>({1, 2, 2}));
  CHECK(decode<float>(proto(TF_FLOAT, {3}, ""), status) == std::vector<float>(3, 0));
  CHECK(decode<float>(proto(TF_FLOAT, {0, 5}, ""), status).empty() && status.ok());
  const std::vector<double> doubles = {1.5, -2.5};
  CHECK(decode<double>(proto(TF_DOUBLE, {2}, field(6, raw(doubles))), status) == doubles);
  const std::vector<float> complex = {1, 2, 3, 4};
  const Bytes from(proto(TF_COMPLEX64, {3}, field(9, raw(complex))));
  TF_Tensor* to = floats({});
  TF_TensorFromProto(from, to, status);
  CHECK(status.ok() && TF_TensorType(to) == TF_COMPLEX64 && TF_TensorByteSize(to) == 24);
  const auto* pairs = static_cast<float*>(TF_TensorData(to));
  CHECK(pairs[2] == 3 && pairs[3] == 4 && pairs[4] == 3 && pairs[5] == 4);
  TF_DeleteTensor(to);
  const Bytes half(proto(TF_COMPLEX128, {1}, field(12, raw(std::vector<double>{1}))));
  to = floats({1});
  TF_TensorFromProto(half, to, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the TensorProto lists a part of an element"));
  TF_DeleteTensor(to);
}

void test_strings() {
  Status status;
  const std::string lengthy(50, 'x');
  const Bytes from(proto(TF_STRING, {3}, field(8, "ab") + field(8, lengthy)));
  TF_Tensor* to = floats({1});
  TF_TensorFromProto(from, to, status);
  CHECK(status.ok() && TF_TensorType(to) == TF_STRING && TF_Dim(to, 0) == 3);
  const auto* strings = static_cast<const TF_TString*>(TF_TensorData(to));
  const auto at = [&](int k) {
    return std::string(TF_StringGetDataPointer(&strings[k]), TF_StringGetSize(&strings[k]));
  };
  CHECK(at(0) == "ab" && at(1) == lengthy && at(2) == lengthy);
  const Bytes content(proto(TF_STRING, {2}, field(4, "\x01\x32" "a" + lengthy)));
  TF_TensorFromProto(content, to, status);
  strings = static_cast<TF_TString*>(TF_TensorData(to));
  CHECK(status.ok() && at(0) == "a" && at(1) == lengthy);
  const Bytes none(proto(TF_STRING, {2}, ""));
  TF_TensorFromProto(none, to, status);
  CHECK(status.ok() && TF_StringGetSize(static_cast<TF_TString*>(TF_TensorData(to))) == 0);
  TF_DeleteTensor(to);
}

void test_bad_bytes() {
  const auto rejects = [](const std::string& bytes, const char* text) {
    Status status;
    decode<float>(bytes, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, text));
  };
  const Shape huge{int64_t{1} << 40};
  rejects("\x08", "the TensorProto is malformed");
  rejects("", "a TensorProto of dtype type 0 has no value");
  rejects(proto(static_cast<TF_DataType>(99), {1}, ""), "a TensorProto of dtype type 99 has no value");
  rejects(proto(TF_RESOURCE, {1}, ""), "a TensorProto of dtype resource has no value");
  rejects(proto(TF_VARIANT, {1}, ""), "a TensorProto of dtype variant has no value");
  rejects(proto(TF_FLOAT, {-1}, ""), "shape is not fully defined");
  rejects(proto(TF_FLOAT, Shape(), ""), "shape is not fully defined");
  rejects(proto(TF_FLOAT, {2}, field(4, "1234")),
          "has 4 bytes of content where its dtype and shape need 8");
  const char* lengths = "content ends in the lengths of its strings";
  rejects(proto(TF_STRING, {3}, field(4, "\x01\x01")), lengths);
  rejects(proto(TF_STRING, huge, field(4, "1234")), lengths);
  rejects(proto(TF_STRING, {1}, field(4, "\xff\xff\xff\xff\xff\x01")), lengths);
  const char* unfilled = "the strings of the TensorProto do not fill its content";
  rejects(proto(TF_STRING, {1}, field(4, "1234")), unfilled);
  rejects(proto(TF_STRING, {1}, field(4, "\x01" "ab")), unfilled);
  const char* many = "the TensorProto lists more values than its shape has";
  rejects(proto(TF_FLOAT, {1}, field(5, std::string(8, '\0'))), many);
  rejects(proto(TF_FLOAT, {0}, field(5, std::string(4, '\0'))), many);
  rejects(proto(TF_INT32, {1}, packed(7, {1, 2})), many);
  rejects(proto(TF_STRING, {1}, field(8, "a") + field(8, "b")), many);
  rejects(proto(TF_FLOAT, huge, ""), "the TensorProto expands to more than 2 GiB");
  rejects(proto(TF_STRING, huge, field(8, "x")), "the TensorProto expands to more than 2 GiB");
  const char* absurd = "the TensorProto's shape is absurd";
  rejects(proto(TF_FLOAT, {int64_t{1} << 40, int64_t{1} << 40}, ""), absurd);
  rejects(proto(TF_DOUBLE, {int64_t{1} << 62}, ""), absurd);
  rejects(proto(TF_STRING, {1 << 12}, field(8, std::string(1 << 20, 'x'))),
          "repeats a string to more than 2 GiB");
  rejects(proto(TF_FLOAT, Shape(std::vector<int64_t>(300, 1)), ""), absurd);
  Status status;
  TF_TensorFromProto(nullptr, nullptr, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "to must not be NULL"));
  TF_Tensor* to = floats({1});
  TF_TensorFromProto(nullptr, to, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the buffer must not be NULL"));
  TF_DeleteTensor(to);
}

}  // namespace

int main() {
  test_integers();
  test_reals();
  test_strings();
  test_bad_bytes();
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.tensors == 0 && live.memory_blocks == 0);
  return help::report();
}
