// Parsing of specs.
#include "ops/spec.h"

#include <algorithm>
#include <charconv>

#include "core/dtype_names.h"
#include "core/quoted.h"
#include "drystone/sdk/wire.hpp"
#include "ops/cursor.h"
#include "ops/text_schema.h"
#include "ops/text_value.h"

namespace drystone::host::ops {
namespace {

using wire::Writer;

// AttrValue bytes of a list of types.
std::string types_value(const std::vector<int>& types) {
  std::string packed;
  for (const int type : types) Writer::pack(&packed, static_cast<std::uint64_t>(type));
  std::string list;
  Writer(&list).bytes(6, packed);
  std::string value;
  Writer(&value).bytes(1, list);
  return value;
}

// AttrValue bytes of a list of strings.
std::string strings_value(const std::vector<std::string>& strings) {
  std::string list;
  Writer out(&list);
  for (const std::string& text : strings) out.bytes(2, text);
  std::string value;
  Writer(&value).bytes(1, list);
  return value;
}

std::string_view name_and_colon(Cursor& in, bool (*first)(char), bool (*other)(char),
                                const char* what) {
  if (!first(in.peek())) in.expected(what);
  const std::string_view name = in.take_while(other);
  in.spaces();
  if (!in.take(":")) in.expected("':'");
  in.spaces();
  return name;
}

// The rest of "{item, item}" after the brace; a comma may follow the last item.
template <class Item>
void items(Cursor& in, Item&& item) {
  do {
    in.spaces();
    item();
    in.spaces();
    if (in.take("}")) return;
    if (!in.take(",")) in.expected("',' or '}'");
    in.spaces();
  } while (!in.take("}"));
}

// One data type, or the types of a named set.
void dtype_item(Cursor& in, std::vector<int>& types) {
  const std::size_t start = in.position();
  const std::string_view name = in.word();
  const int type = dtype_of_spec(name);
  const std::vector<int>& set = dtype_set(name);
  if (type != 0) types.push_back(type);
  types.insert(types.end(), set.begin(), set.end());
  if (type != 0 || !set.empty()) return;
  if (name.empty()) in.expected("a data type such as float");
  Cursor::fail_at(start, quoted(name) + " is no data type");
}

// What stands in braces: strings, or data types.
std::string braced(Cursor& in, AttrDef& attr) {
  in.spaces();
  if (in.peek() == '\'' || in.peek() == '"') {
    std::vector<std::string> strings;
    items(in, [&] { strings.push_back(parse_quoted(in)); });
    attr.allowed_values = strings_value(strings);
    return "string";
  }
  std::vector<int> types;
  items(in, [&] { dtype_item(in, types); });
  attr.allowed_values = types_value(types);
  return "type";
}

// The type of one value: a name, or a set in braces.
std::string value_type(Cursor& in, AttrDef& attr) {
  if (in.take("{")) return braced(in, attr);
  const std::size_t start = in.position();
  const std::string_view name = in.word();
  if (value_field(name, false) != nullptr) return std::string(name);
  if (const auto& set = dtype_set(name); !set.empty()) {
    attr.allowed_values = types_value(set);
    return "type";
  }
  if (name.empty()) in.expected("the type of an attribute");
  Cursor::fail_at(start, quoted(name) + " is no type of an attribute");
}

void attr_type(Cursor& in, AttrDef& attr) {
  Cursor ahead = in;
  if (ahead.word() != "list") {
    attr.type = value_type(in, attr);
    return;
  }
  in = ahead;
  in.spaces();
  if (!in.take("(")) in.expected("'('");
  in.spaces();
  attr.type = "list(" + value_type(in, attr) + ")";
  in.spaces();
  if (!in.take(")")) in.expected("')'");
}

void minimum(Cursor& in, AttrDef& attr) {
  const bool counts = attr.type == "int" || attr.type.starts_with("list(");
  if (!counts || !in.take(">=")) return;
  in.spaces();
  const std::string_view rest = in.rest();
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), attr.minimum);
  if (error != std::errc()) in.expected("an integer of 64 bits");
  in.take(rest.substr(0, static_cast<std::size_t>(end - rest.data())));
  attr.has_minimum = true;
}

AttrDef* find(std::vector<AttrDef>& attrs, std::string_view name) {
  const auto found = std::find_if(attrs.begin(), attrs.end(),
                                  [&](const AttrDef& attr) { return attr.name == name; });
  return found == attrs.end() ? nullptr : &*found;
}

void must_not_be_empty(AttrDef& attr) {
  if (attr.has_minimum) return;
  attr.has_minimum = true;
  attr.minimum = 1;
}

AttrDef& named_attr(Cursor& in, std::size_t at, std::string_view name,
                    std::vector<AttrDef>& attrs) {
  AttrDef* attr = find(attrs, name);
  if (attr != nullptr) return *attr;
  if (name.empty()) in.expected("a data type or the name of an attribute");
  Cursor::fail_at(at, quoted(name) + " is neither a data type nor an attribute");
}

// "N *" in front of the type, where it is there.
void length(Cursor& in, ArgDef& arg, std::vector<AttrDef>& attrs) {
  Cursor ahead = in;
  const std::string_view name = ahead.word();
  ahead.spaces();
  if (name.empty() || !ahead.take("*")) return;
  AttrDef& attr = named_attr(in, in.position(), name, attrs);
  if (attr.type != "int") {
    in.fail("attribute '" + attr.name + "' is of type " + attr.type + ", but a length must be int");
  }
  must_not_be_empty(attr);
  arg.number_attr = name;
  in = ahead;
  in.spaces();
}

// A data type, or an attribute that is one or more of them.
void arg_type(Cursor& in, ArgDef& arg, std::vector<AttrDef>& attrs) {
  const std::size_t start = in.position();
  const std::string_view name = in.word();
  arg.type = dtype_of_spec(name);
  if (arg.type != 0) return;
  AttrDef& attr = named_attr(in, start, name, attrs);
  if (attr.type == "type") {
    arg.type_attr = name;
  } else if (attr.type == "list(type)") {
    if (!arg.number_attr.empty()) {
      Cursor::fail_at(start, "a list of types has its own length, and takes no '*'");
    }
    must_not_be_empty(attr);
    arg.type_list_attr = name;
  } else {
    Cursor::fail_at(start, "attribute '" + attr.name + "' is of type " + attr.type +
                               ", but type or list(type) is needed");
  }
}

}  // namespace

AttrDef parse_attr_spec(std::string_view spec) {
  Cursor in(spec);
  AttrDef attr;
  attr.name = name_and_colon(in, Cursor::is_letter, Cursor::is_word, "the name of an attribute");
  attr_type(in, attr);
  in.spaces();
  minimum(in, attr);
  in.spaces();
  if (in.take("=")) {
    in.spaces();
    attr.default_value = parse_value(in, attr.type);
    in.blanks();
  }
  if (!in.at_end()) in.expected("the end of the spec");
  return attr;
}

ArgDef parse_arg_spec(std::string_view spec, std::vector<AttrDef>& attrs) {
  const auto word = [](char c) { return Cursor::is_lower(c) || Cursor::is_digit(c) || c == '_'; };
  Cursor in(spec);
  ArgDef arg;
  arg.name = name_and_colon(in, Cursor::is_lower, word, "a name in lower case");
  Cursor ahead = in;
  if (ahead.word() == "Ref") {
    ahead.spaces();
    arg.is_ref = ahead.take("(");
  }
  if (arg.is_ref) {
    in = ahead;
    in.spaces();
  }
  length(in, arg, attrs);
  arg_type(in, arg, attrs);
  in.spaces();
  if (arg.is_ref && !in.take(")")) in.expected("')'");
  in.spaces();
  if (!in.at_end()) in.expected("the end of the spec");
  return arg;
}

}  // namespace drystone::host::ops
