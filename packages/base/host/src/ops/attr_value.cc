// Decoding and checking of AttrValue bytes.
#include "ops/attr_value.h"

#include <algorithm>
#include <array>

#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/quoted.h"
#include "drystone/sdk/wire.hpp"

namespace drystone::host::ops {
namespace {

using wire::Reader;

// Types by field number of AttrValue, and of AttrValue.ListValue.
constexpr std::array<std::string_view, 11> kSingle = {
    "", "", "string", "int", "float", "bool", "type", "shape", "tensor", "placeholder", "func"};
constexpr std::array<std::string_view, 10> kList = {
    "",           "",           "list(string)", "list(int)",    "list(float)",
    "list(bool)", "list(type)", "list(shape)",  "list(tensor)", "list(func)"};

bool is_number(std::uint32_t field) { return field == 3 || field == 5 || field == 6; }

[[noreturn]] void malformed() { fail(TF_INVALID_ARGUMENT, "malformed bytes of an AttrValue"); }

void decode_numbers(const Reader& field, AttrValue& value) {
  wire::Varints numbers(field);
  while (numbers.next()) {
    value.numbers.push_back(static_cast<std::int64_t>(numbers.value()));
    ++value.length;
  }
  if (!numbers.ok()) malformed();
}

void decode_list(std::string_view bytes, AttrValue& value) {
  value.type = "list";
  Reader in(bytes);
  while (in.next()) {
    if (in.field() >= kList.size() || kList[in.field()].empty()) continue;
    const std::string_view type = kList[in.field()];
    const bool first = value.type == "list" || value.type == type;
    value.type = first ? type : "mixed";
    if (is_number(in.field())) {
      decode_numbers(in, value);
    } else if (in.field() == 4) {
      value.length += in.type() == wire::Type::bytes ? in.bytes().size() / 4 : 1;
    } else {
      value.strings.push_back(in.bytes());
      ++value.length;
    }
  }
  if (!in.ok()) malformed();
}

// How a value reads in a message.
std::string show(std::string_view base, const AttrValue& value, std::size_t k) {
  if (base == "string") return quoted(value.strings[k]);
  const std::int64_t number = value.numbers[k];
  return base == "type" ? dtype_name(static_cast<int>(number)) : std::to_string(number);
}

void check_allowed(const AttrDef& attr, std::string_view base, const AttrValue& value) {
  if (!attr.allowed_values || (base != "string" && base != "type")) return;
  const AttrValue allowed = decode_value(*attr.allowed_values);
  const std::size_t count = base == "type" ? value.numbers.size() : value.strings.size();
  for (std::size_t k = 0; k < count; ++k) {
    const bool found =
        base == "type"
            ? std::count(allowed.numbers.begin(), allowed.numbers.end(), value.numbers[k]) != 0
            : std::count(allowed.strings.begin(), allowed.strings.end(), value.strings[k]) != 0;
    if (found) continue;
    std::string all;
    for (std::size_t j = 0; j < allowed.length; ++j) {
      all += (j == 0 ? "" : ", ") + show(base, allowed, j);
    }
    fail(TF_INVALID_ARGUMENT, "attribute " + quoted(attr.name) + " must be one of " + all +
                                  ", not " + show(base, value, k));
  }
}

void check_minimum(const AttrDef& attr, const AttrValue& value) {
  if (!attr.has_minimum) return;
  const bool list = attr.type.starts_with("list(");
  const auto found = list ? static_cast<std::int64_t>(value.length)
                          : value.numbers.empty() ? 0 : value.numbers[0];
  if (found >= attr.minimum) return;
  fail(TF_INVALID_ARGUMENT, (list ? "the length of attribute " : "attribute ") +
                                quoted(attr.name) + " must be at least " +
                                std::to_string(attr.minimum) + ", not " + std::to_string(found));
}

}  // namespace

AttrValue decode_value(std::string_view bytes) {
  AttrValue value;
  Reader in(bytes);
  while (in.next()) {
    if (in.field() == 0 || in.field() >= kSingle.size()) continue;
    value = AttrValue{};
    if (in.field() == 1) {
      decode_list(in.bytes(), value);
      continue;
    }
    value.type = kSingle[in.field()];
    if (is_number(in.field())) {
      value.numbers.push_back(in.int64());
    } else {
      value.strings.push_back(in.bytes());
    }
  }
  if (!in.ok()) malformed();
  return value;
}

void check_value(const AttrDef& attr, std::string_view bytes) {
  const AttrValue value = decode_value(bytes);
  const bool list = attr.type.starts_with("list(") && attr.type.ends_with(")");
  const bool empty_list = list && value.type == "list";
  if (value.type != attr.type && !empty_list) {
    const std::string found = value.type.empty() ? "without a value" : std::string(value.type);
    fail(TF_INVALID_ARGUMENT, "attribute " + quoted(attr.name) + " must be of type " + attr.type +
                                  ", but is " + found);
  }
  const std::string base = list ? attr.type.substr(5, attr.type.size() - 6) : attr.type;
  if (base == "type") {
    for (const std::int64_t number : value.numbers) {
      const int type = static_cast<int>(std::clamp<std::int64_t>(number, -1, 1 << 20));
      if (!is_dtype(type)) {
        fail(TF_INVALID_ARGUMENT, "attribute " + quoted(attr.name) +
                                      " must be a data type and no reference, not " +
                                      dtype_name(type));
      }
    }
  }
  check_minimum(attr, value);
  check_allowed(attr, base, value);
}

}  // namespace drystone::host::ops
