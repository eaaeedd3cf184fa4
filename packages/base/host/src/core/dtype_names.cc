// Names of data types.
#include "core/dtype_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace drystone::host {
namespace {

using sdk::kDtypeNames;
constexpr int kReference = sdk::kReferenceDtypes;

}  // namespace

int dtype_of_spec(std::string_view name) {
  if (name == "float32") return 1;
  if (name == "float64") return 2;
  if (name == "float16") return 19;
  if (name.empty()) return 0;
  const auto found = std::find(std::begin(kDtypeNames), std::end(kDtypeNames), name);
  return found == std::end(kDtypeNames) ? 0 : static_cast<int>(found - std::begin(kDtypeNames));
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
  const auto found = std::find_if(std::begin(kDtypeNames) + 1, std::end(kDtypeNames), equal);
  if (found == std::end(kDtypeNames)) return -1;
  return static_cast<int>(found - std::begin(kDtypeNames)) + (reference ? kReference : 0);
}

bool is_dtype(int number) { return number > 0 && number < sdk::kDtypes; }

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
