// Names of data types.
#include "core/dtype_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace drystone::host {
namespace {

constexpr int kReference = 100;  // the number of a reference to type N is N + 100

// By number; the first name of a number is the one that is printed.
constexpr std::array<std::string_view, 34> kNames = {
    "",         "float",       "double",        "int32",           "uint8",
    "int16",    "int8",        "string",        "complex64",       "int64",
    "bool",     "qint8",       "quint8",        "qint32",          "bfloat16",
    "qint16",   "quint16",     "uint16",        "complex128",      "half",
    "resource", "variant",     "uint32",        "uint64",          "float8_e5m2",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4",
    "uint4",    "int2",        "uint2",         "float4_e2m1fn"};

}  // namespace

int dtype_of_spec(std::string_view name) {
  if (name == "float32") return 1;
  if (name == "float64") return 2;
  if (name == "float16") return 19;
  if (name.empty()) return 0;
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  return found == kNames.end() ? 0 : static_cast<int>(found - kNames.begin());
}

int dtype_of_enum(std::string_view name) {
  if (!name.starts_with("DT_")) return -1;
  name.remove_prefix(3);
  if (name == "INVALID") return 0;
  const bool reference = name.ends_with("_REF");
  if (reference) name.remove_suffix(4);
  const auto equal = [&](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(), [](char a, char b) {
      return a == std::toupper(static_cast<unsigned char>(b));
    });
  };
  const auto found = std::find_if(kNames.begin() + 1, kNames.end(), equal);
  if (found == kNames.end()) return -1;
  return static_cast<int>(found - kNames.begin()) + (reference ? kReference : 0);
}

std::string dtype_name(int number) {
  if (is_dtype(number)) return std::string(kNames[static_cast<std::size_t>(number)]);
  if (is_dtype(number - kReference)) return dtype_name(number - kReference) + "_ref";
  return "type " + std::to_string(number);
}

bool is_dtype(int number) { return number > 0 && number < static_cast<int>(kNames.size()); }

const std::vector<int>& dtype_set(std::string_view name) {
  static const std::vector<int> numbers = {1,  2,  3,  4,  5,  6,  8,  9,  11, 12,
                                           13, 14, 15, 16, 17, 18, 19, 22, 23};
  static const std::vector<int> real_numbers = {1, 2, 3, 4, 5, 6, 9, 14, 17, 19, 22, 23};
  static const std::vector<int> quantized = {11, 12, 13, 15, 16};
  static const std::vector<int> none;
  if (name == "numbertype" || name == "numerictype") return numbers;
  if (name == "realnumbertype") return real_numbers;
  return name == "quantizedtype" ? quantized : none;
}

}  // namespace drystone::host
