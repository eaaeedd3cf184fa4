// Definitions of kernels: see kernels/definition.h.
#include "kernels/definition.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "core/failure.h"
#include "core/tensor.h"
#include "drystone/sdk/attr.hpp"

namespace drystone::host::kernels {
namespace {

Constraint parse_constraint(std::string_view bytes) {
  Constraint out;
  wire::Reader fields(bytes);
  while (fields.next()) {
    if (fields.field() == 1) out.attr = fields.bytes();
    if (fields.field() != 2) continue;
    const sdk::AttrView allowed(fields.bytes());
    if (allowed.kind() != sdk::AttrKind::list) {
      fail(TF_INVALID_ARGUMENT, "a constraint of the KernelDef has no list of allowed values");
    }
    const std::vector<TF_DataType> types = allowed.types();
    out.types.insert(out.types.end(), types.begin(), types.end());
  }
  if (!fields.ok()) fail(TF_INVALID_ARGUMENT, "the KernelDef is malformed");
  return out;
}

std::vector<Constraint> in_order(std::vector<Constraint> constraints) {
  std::sort(constraints.begin(), constraints.end());
  return constraints;
}

std::size_t hash_of(std::string_view text) noexcept { return std::hash<std::string_view>{}(text); }

std::size_t combined(std::size_t sum, std::size_t more) noexcept {
  return (std::rotl(sum, 29) ^ more) * std::size_t{0x9E3779B97F4A7C15};
}

std::string serialize(const Constraint& constraint) {
  std::vector<TF_DataType> types;
  for (const int type : constraint.types) types.push_back(static_cast<TF_DataType>(type));
  std::string out;
  wire::Writer writer(&out);
  writer.bytes(1, constraint.attr);
  writer.bytes(2, sdk::attr::types(types));
  return out;
}

}  // namespace

bool known_dtype(int number) noexcept {
  return number > 0 && stored_size(static_cast<TF_DataType>(number)) != 0;
}

bool same_place(const Definition& a, const Definition& b) {
  if (a.op != b.op || a.device != b.device || a.label != b.label || a.priority != b.priority) {
    return false;
  }
  return in_order(a.constraints) == in_order(b.constraints);
}

// Of constraints the sum, which no order changes.
std::size_t place_hash(const Definition& definition) noexcept {
  std::size_t sum = 0;
  for (const Constraint& one : definition.constraints) {
    std::size_t number = hash_of(one.attr);
    for (const int type : one.types) number = combined(number, static_cast<std::size_t>(type));
    sum += number;
  }
  std::size_t out = combined(hash_of(definition.op), hash_of(definition.device));
  out = combined(out, hash_of(definition.label));
  return combined(combined(out, static_cast<std::size_t>(definition.priority)), sum);
}

std::string serialize(const Definition& definition) {
  std::string out;
  wire::Writer writer(&out);
  writer.bytes(1, definition.op);
  writer.bytes(2, definition.device);
  for (const Constraint& one : definition.constraints) writer.bytes(3, serialize(one));
  for (const std::string& arg : definition.host_memory) writer.bytes(4, arg);
  if (!definition.label.empty()) writer.bytes(5, definition.label);
  if (definition.priority != 0) writer.int64(6, definition.priority);
  return out;
}

Definition parse_kernel_def(std::string_view bytes) {
  Definition out;
  wire::Reader fields(bytes);
  while (fields.next()) {
    switch (fields.field()) {
      case 1: out.op = fields.bytes(); break;
      case 2: out.device = fields.bytes(); break;
      case 3: out.constraints.push_back(parse_constraint(fields.bytes())); break;
      case 4: out.host_memory.emplace_back(fields.bytes()); break;
      case 5: out.label = fields.bytes(); break;
      case 6: out.priority = fields.int32(); break;
      default: break;
    }
  }
  if (!fields.ok()) fail(TF_INVALID_ARGUMENT, "the KernelDef is malformed");
  if (out.op.empty() || out.device.empty()) {
    fail(TF_INVALID_ARGUMENT, "the KernelDef names no op or no device type");
  }
  return out;
}

}  // namespace drystone::host::kernels
