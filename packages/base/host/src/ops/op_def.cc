// Op definitions: bytes to structs and back.
#include "ops/op_def.h"

#include <algorithm>
#include <tuple>

#include "core/failure.h"
#include "drystone/sdk/wire.hpp"

namespace drystone::host::ops {
namespace {

using wire::Reader;
using wire::Writer;

void text(Writer& out, std::uint32_t field, const std::string& value) {
  if (!value.empty()) out.bytes(field, value);
}

void flag(Writer& out, std::uint32_t field, bool value) {
  if (value) out.boolean(field, true);
}

std::string serialize(const ArgDef& arg) {
  std::string bytes;
  Writer out(&bytes);
  text(out, 1, arg.name);
  if (arg.type != 0) out.int64(3, arg.type);
  text(out, 4, arg.type_attr);
  text(out, 5, arg.number_attr);
  text(out, 6, arg.type_list_attr);
  flag(out, 16, arg.is_ref);
  return bytes;
}

std::string serialize(const AttrDef& attr) {
  std::string bytes;
  Writer out(&bytes);
  text(out, 1, attr.name);
  text(out, 2, attr.type);
  if (attr.default_value) out.bytes(3, *attr.default_value);
  flag(out, 5, attr.has_minimum);
  if (attr.minimum != 0) out.int64(6, attr.minimum);
  if (attr.allowed_values) out.bytes(7, *attr.allowed_values);
  return bytes;
}

std::string deprecation(std::int64_t version, const std::string& explanation) {
  std::string bytes;
  Writer out(&bytes);
  if (version != 0) out.int64(1, version);
  text(out, 2, explanation);
  return bytes;
}

void check(const Reader& reader, const char* message) {
  if (!reader.ok()) fail(TF_INVALID_ARGUMENT, std::string("malformed bytes of ") + message);
}

ArgDef parse_arg(std::string_view bytes) {
  ArgDef arg;
  Reader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case 1: arg.name = in.bytes(); break;
      case 3: arg.type = in.int32(); break;
      case 4: arg.type_attr = in.bytes(); break;
      case 5: arg.number_attr = in.bytes(); break;
      case 6: arg.type_list_attr = in.bytes(); break;
      case 16: arg.is_ref = in.boolean(); break;
      default: break;
    }
  }
  check(in, "an OpDef.ArgDef");
  return arg;
}

AttrDef parse_attr(std::string_view bytes) {
  AttrDef attr;
  Reader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case 1: attr.name = in.bytes(); break;
      case 2: attr.type = in.bytes(); break;
      case 3: attr.default_value = std::string(in.bytes()); break;
      case 5: attr.has_minimum = in.boolean(); break;
      case 6: attr.minimum = in.int64(); break;
      case 7: attr.allowed_values = std::string(in.bytes()); break;
      default: break;
    }
  }
  check(in, "an OpDef.AttrDef");
  return attr;
}

void parse_deprecation(std::string_view bytes, OpDef& def) {
  def.deprecated = 0;
  Reader in(bytes);
  while (in.next()) {
    if (in.field() == 1) def.deprecated = in.int32();
    if (in.field() == 2) def.deprecation = in.bytes();
  }
  check(in, "an OpDeprecation");
}

}  // namespace

const AttrDef* OpDef::attr(std::string_view attr_name) const {
  const auto found = std::find_if(attrs.begin(), attrs.end(),
                                  [&](const AttrDef& attr) { return attr.name == attr_name; });
  return found == attrs.end() ? nullptr : &*found;
}

std::string serialize(const OpDef& def) {
  std::string bytes;
  Writer out(&bytes);
  text(out, 1, def.name);
  for (const ArgDef& arg : def.inputs) out.bytes(2, serialize(arg));
  for (const ArgDef& arg : def.outputs) out.bytes(3, serialize(arg));
  for (const AttrDef& attr : def.attrs) out.bytes(4, serialize(attr));
  if (def.deprecated) out.bytes(8, deprecation(*def.deprecated, def.deprecation));
  flag(out, 16, def.is_aggregate);
  flag(out, 17, def.is_stateful);
  flag(out, 18, def.is_commutative);
  flag(out, 19, def.allows_uninitialized_input);
  return bytes;
}

OpDef parse_op_def(std::string_view bytes) {
  OpDef def;
  Reader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case 1: def.name = in.bytes(); break;
      case 2: def.inputs.push_back(parse_arg(in.bytes())); break;
      case 3: def.outputs.push_back(parse_arg(in.bytes())); break;
      case 4: def.attrs.push_back(parse_attr(in.bytes())); break;
      case 8: parse_deprecation(in.bytes(), def); break;
      case 16: def.is_aggregate = in.boolean(); break;
      case 17: def.is_stateful = in.boolean(); break;
      case 18: def.is_commutative = in.boolean(); break;
      case 19: def.allows_uninitialized_input = in.boolean(); break;
      default: break;
    }
  }
  check(in, "an OpDef");
  return def;
}

bool same(const OpDef& a, const OpDef& b) {
  const auto flags = [](const OpDef& d) {
    return std::tuple(d.is_aggregate, d.is_stateful, d.is_commutative,
                      d.allows_uninitialized_input);
  };
  if (a.name != b.name || a.inputs != b.inputs || a.outputs != b.outputs ||
      a.deprecated != b.deprecated || flags(a) != flags(b) || a.attrs.size() != b.attrs.size()) {
    return false;
  }
  return std::all_of(a.attrs.begin(), a.attrs.end(), [&](const AttrDef& attr) {
    const AttrDef* other = b.attr(attr.name);
    return other != nullptr && attr == *other;
  });
}

}  // namespace drystone::host::ops
