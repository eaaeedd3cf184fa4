// The rules of op definitions. The same as TensorFlow's.
#include "ops/validate.h"

#include <set>

#include "core/dtype_names.h"
#include "core/failure.h"
#include "ops/attr_value.h"
#include "ops/cursor.h"
#include "ops/text_schema.h"

namespace drystone::host::ops {
namespace {

[[noreturn]] void wrong(const std::string& text) { fail(TF_INVALID_ARGUMENT, text); }

// CamelCase parts joined by '>'; anything of these characters after a leading underscore.
bool is_op_name(std::string_view name) {
  const bool internal = name.starts_with('_');
  bool first = true;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (first && !upper && !internal) return false;
    if (!Cursor::is_word(c) && (c != '>' || first)) return false;
    first = c == '>';
  }
  return !first;
}

// The attribute type without "list(...)".
std::string base_type(const std::string& type) {
  const bool list = type.starts_with("list(") && type.ends_with(")");
  return list ? type.substr(5, type.size() - 6) : type;
}

void check_attr(const AttrDef& attr) {
  const std::string base = base_type(attr.type);
  if (dtype_of_spec(attr.name) != 0) {
    wrong("attribute '" + attr.name + "' has the name of a data type");
  }
  if (value_field(base, false) == nullptr) {
    wrong("attribute '" + attr.name + "' has the unknown type '" + attr.type + "'");
  }
  const bool list = base != attr.type;
  if (attr.has_minimum && !list && attr.type != "int") {
    wrong("attribute '" + attr.name + "' is of type " + attr.type + " and cannot have a minimum");
  }
  if (attr.has_minimum && list && attr.minimum < 0) {
    wrong("the minimum length of attribute '" + attr.name + "' is negative");
  }
  if (attr.allowed_values) {
    if (base != "string" && base != "type") {
      wrong("attribute '" + attr.name + "' is of type " + attr.type + " and cannot list values");
    }
    AttrDef values{attr.name, "list(" + base + ")", {}, false, 0, {}};
    check_value(values, *attr.allowed_values);
  }
  if (attr.default_value) check_value(attr, *attr.default_value);
}

void check_reference(const OpDef& def, const ArgDef& arg, const std::string& name,
                     std::string_view type) {
  const AttrDef* attr = def.attr(name);
  if (attr == nullptr || attr->type != type) {
    wrong("argument '" + arg.name + "' needs an attribute '" + name + "' of type " +
          std::string(type));
  }
}

void check_arg(const OpDef& def, const ArgDef& arg) {
  const int kinds = (arg.type != 0 ? 1 : 0) + (arg.type_attr.empty() ? 0 : 1) +
                    (arg.type_list_attr.empty() ? 0 : 1);
  if (kinds != 1) wrong("argument '" + arg.name + "' must have exactly one type");
  if (arg.type != 0 && !is_dtype(arg.type)) {
    wrong("argument '" + arg.name + "' has the invalid type " + dtype_name(arg.type));
  }
  if (!arg.type_attr.empty()) check_reference(def, arg, arg.type_attr, "type");
  if (!arg.type_list_attr.empty()) {
    check_reference(def, arg, arg.type_list_attr, "list(type)");
    if (!arg.number_attr.empty()) wrong("argument '" + arg.name + "' has two lengths");
  }
  if (!arg.number_attr.empty()) {
    check_reference(def, arg, arg.number_attr, "int");
    const AttrDef* attr = def.attr(arg.number_attr);
    if (!attr->has_minimum || attr->minimum < 0) {
      wrong("attribute '" + arg.number_attr + "' is a length and needs a minimum of 0 or more");
    }
  }
}

}  // namespace

void validate(const OpDef& def) {
  if (!is_op_name(def.name)) {
    wrong("'" + def.name + "' is no name of an op: it must be in CamelCase");
  }
  std::set<std::string_view> names;
  const auto take = [&](const std::string& name) {
    if (name.empty()) wrong("an argument or attribute has no name");
    if (!names.insert(name).second) wrong("the name '" + name + "' is used twice");
  };
  for (const AttrDef& attr : def.attrs) {
    take(attr.name);
    check_attr(attr);
  }
  for (const ArgDef& arg : def.inputs) take(arg.name);
  for (const ArgDef& arg : def.outputs) take(arg.name);
  for (const ArgDef& arg : def.inputs) check_arg(def, arg);
  for (const ArgDef& arg : def.outputs) check_arg(def, arg);
}

}  // namespace drystone::host::ops
