// Op definitions as structs: read from and written to OpDef bytes.
#ifndef DRYSTONE_HOST_OPS_OP_DEF_H_
#define DRYSTONE_HOST_OPS_OP_DEF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace drystone::host::ops {

// One input or output. Exactly one of type, type_attr and type_list_attr is set in a valid one.
struct ArgDef {
  std::string name;
  int type = 0;
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;

  bool operator==(const ArgDef&) const = default;
};

// One attribute. Values are the bytes of an AttrValue.
struct AttrDef {
  std::string name;
  std::string type;
  std::optional<std::string> default_value;
  bool has_minimum = false;
  std::int64_t minimum = 0;
  std::optional<std::string> allowed_values;

  bool operator==(const AttrDef&) const = default;
};

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  std::optional<std::int32_t> deprecated;  // the graph version from which it may not be used
  std::string deprecation;                 // why
  bool is_aggregate = false;
  bool is_stateful = false;
  bool is_commutative = false;
  bool allows_uninitialized_input = false;

  const AttrDef* attr(std::string_view attr_name) const;
};

// The bytes of an OpDef: fields in order of their numbers, defaults left out, as protobuf does.
std::string serialize(const OpDef& def);

// Fails with INVALID_ARGUMENT for bytes that are no OpDef. Documentation is dropped.
OpDef parse_op_def(std::string_view bytes);

// Whether two definitions mean the same; the order of attributes does not count.
bool same(const OpDef& a, const OpDef& b);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_OP_DEF_H_
