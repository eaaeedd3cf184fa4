// Values in protobuf's text format, to bytes.
#include "ops/text_value.h"

#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "core/dtype_names.h"
#include "drystone/sdk/wire.hpp"
#include "ops/text_schema.h"

namespace drystone::host::ops {
namespace {

using wire::Writer;

constexpr int kMaxDepth = 32;

// What was read of one field so far.
struct Slot {
  const FieldType* field;
  std::string packed;                                          // repeated numbers
  std::vector<std::pair<std::string, std::string>> elements;   // key of a map entry, bytes
  std::string single;                                          // a field with its tag
};

// Reads the fields of one message.
class MessageParser {
 public:
  MessageParser(Cursor& in, const MessageType& type, int depth)
      : in_(in), type_(type), depth_(depth) {
    if (depth > kMaxDepth) in.fail("messages are nested too deeply");
  }

  // Fields up to `close` ('\0': the end), which is taken.
  std::string parse(char close) {
    for (in_.blanks(); close == '\0' ? !in_.at_end() : in_.peek() != close; in_.blanks()) {
      field();
      in_.blanks();
      if (!in_.take(",")) in_.take(";");
    }
    if (close != '\0') in_.take({&close, 1});
    return bytes();
  }

  // One value, or a list of values in brackets, of a field.
  void values(const FieldType& field, bool needs_list = false) {
    in_.blanks();
    if (field.repeated && in_.take("[")) {
      in_.blanks();
      if (in_.take("]")) return;
      do {
        value(field);
        in_.blanks();
      } while (in_.take(","));
      if (!in_.take("]")) in_.expected("',' or ']'");
    } else {
      if (needs_list) in_.expected("'['");
      value(field);
    }
  }

  std::string bytes() const;

 private:
  void field();
  void value(const FieldType& field);
  void number(const FieldType& field, Slot& slot);
  std::string message(const FieldType& field);
  std::string_view token();
  template <class Number>
  Number integer();
  double real(bool single_precision);
  bool boolean();
  int dtype();
  Slot& slot(const FieldType& field);

  Cursor& in_;
  const MessageType& type_;
  int depth_;
  std::map<std::uint32_t, Slot> slots_;
};

void MessageParser::field() {
  const std::size_t start = in_.position();
  const std::string_view name = in_.word();
  if (name.empty()) in_.expected("the name of a field of " + std::string(type_.name));
  const FieldType* found = type_.find(name);
  if (found == nullptr) {
    Cursor::fail_at(start, std::string(type_.name) + " has no field '" + std::string(name) + "'");
  }
  in_.blanks();
  if (!in_.take(":") && found->kind != FieldKind::message) in_.expected("':'");
  values(*found);
}

Slot& MessageParser::slot(const FieldType& field) {
  const bool taken = !field.repeated && slots_.contains(field.number);
  if (taken) in_.fail("field '" + std::string(field.name) + "' is given twice");
  if (type_.oneof && !slots_.empty()) in_.fail("only one kind of value may be given");
  return slots_.try_emplace(field.number, Slot{&field, {}, {}, {}}).first->second;
}

void MessageParser::value(const FieldType& field) {
  in_.blanks();
  Slot& into = slot(field);
  if (field.kind == FieldKind::message) {
    std::string bytes = message(field);
    std::string key;
    if (field.message->map_entry) {
      wire::Reader entry(bytes);
      while (entry.next()) {
        if (entry.field() == 1) key = entry.bytes();
      }
    }
    into.elements.emplace_back(std::move(key), std::move(bytes));
  } else if (field.kind == FieldKind::text) {
    into.elements.emplace_back("", parse_quoted(in_));
  } else {
    number(field, into);
  }
}

void MessageParser::number(const FieldType& field, Slot& slot) {
  std::string& out = field.repeated ? slot.packed : slot.single;
  std::string one;
  Writer write(&one);
  switch (field.kind) {
    case FieldKind::int32: write.int64(1, integer<std::int32_t>()); break;
    case FieldKind::int64: write.int64(1, integer<std::int64_t>()); break;
    case FieldKind::uint32: write.varint(1, integer<std::uint32_t>()); break;
    case FieldKind::uint64: write.varint(1, integer<std::uint64_t>()); break;
    case FieldKind::dtype: write.int64(1, dtype()); break;
    case FieldKind::boolean: write.boolean(1, boolean()); break;
    case FieldKind::float32: write.float32(1, static_cast<float>(real(true))); break;
    default: {
      const double value = real(false);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      write.fixed64(1, bits);
    }
  }
  out.append(one, 1);  // without its tag, which is one byte
}

std::string MessageParser::message(const FieldType& field) {
  const bool angle = in_.peek() == '<';
  if (!in_.take("{") && !in_.take("<")) {
    in_.expected("'{' of " + std::string(field.message->name));
  }
  const char close = angle ? '>' : '}';
  MessageParser inner(in_, *field.message, depth_ + 1);
  return inner.parse(close);
}

std::string_view MessageParser::token() {
  const std::string_view taken = in_.take_while([](char c) {
    return Cursor::is_word(c) || c == '.' || c == '+' || c == '-';
  });
  if (taken.empty()) in_.expected("a value");
  return taken;
}

template <class Number>
Number MessageParser::integer() {
  const std::size_t start = in_.position();
  const std::string text(token());
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  Number value = 0;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size();
  if (error == std::errc::result_out_of_range && whole) {
    Cursor::fail_at(start, "'" + text + "' is out of range");
  }
  if (error != std::errc() || !whole) Cursor::fail_at(start, "'" + text + "' is no integer");
  return value;
}

double MessageParser::real(bool single_precision) {
  const std::size_t start = in_.position();
  const std::string text(token());
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  double value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  if (end != last || error == std::errc::invalid_argument) {
    Cursor::fail_at(start, "'" + text + "' is no number");
  }
  if (error == std::errc::result_out_of_range) {
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos ||
                      text.find("0.0") != text.npos;
    value = tiny ? 0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -value : value;
  }
  if (single_precision) {  // rounded once, not by way of a double
    float single = 0;
    if (std::from_chars(first, last, single).ec == std::errc()) return single;
  }
  return value;
}

bool MessageParser::boolean() {
  const std::size_t start = in_.position();
  const std::string_view text = token();
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  Cursor::fail_at(start, "'" + std::string(text) + "' is neither true nor false");
}

int MessageParser::dtype() {
  const std::size_t start = in_.position();
  if (Cursor::is_digit(in_.peek()) || in_.peek() == '-') return integer<std::int32_t>();
  const std::string_view text = token();
  const int number = dtype_of_enum(text);
  if (number < 0) {
    Cursor::fail_at(start, "'" + std::string(text) + "' is no data type such as DT_FLOAT");
  }
  return number;
}

// A single number, unless it is left out because it is 0.
void write_single(Writer& out, const Slot& slot, bool keep_zero) {
  const std::string& value = slot.single;
  if (!keep_zero && value.find_first_not_of('\0') == value.npos) return;
  wire::Type type = wire::Type::varint;
  if (slot.field->kind == FieldKind::float32) type = wire::Type::fixed32;
  if (slot.field->kind == FieldKind::float64) type = wire::Type::fixed64;
  std::string tag;
  Writer::pack(&tag, slot.field->number << 3 | static_cast<unsigned>(type));
  out.raw(tag + value);
}

// Strings and messages: entries of a map sorted and one for each key, others in their order.
void write_elements(Writer& out, const Slot& slot, bool keep_empty) {
  const bool map = slot.field->message != nullptr && slot.field->message->map_entry;
  std::map<std::string_view, std::string_view> entries;
  for (const auto& [key, bytes] : slot.elements) {
    const bool plain = slot.field->repeated || slot.field->kind == FieldKind::message;
    if (map) {
      entries[key] = bytes;
    } else if (plain || keep_empty || !bytes.empty()) {
      out.bytes(slot.field->number, bytes);
    }
  }
  for (const auto& [key, bytes] : entries) out.bytes(slot.field->number, bytes);
}

std::string MessageParser::bytes() const {
  std::string result;
  Writer out(&result);
  const bool keep = type_.oneof || type_.map_entry;
  if (type_.map_entry && !slots_.contains(1)) out.bytes(1, "");
  for (const auto& [number, slot] : slots_) {
    if (!slot.packed.empty()) out.bytes(number, slot.packed);
    if (!slot.single.empty()) write_single(out, slot, keep);
    write_elements(out, slot, keep);
  }
  if (type_.map_entry && !slots_.contains(2)) out.bytes(2, "");
  return result;
}

// The character that an escape after a backslash stands for.
char parse_escape(Cursor& in) {
  constexpr std::string_view kNames = "abfnrtv\\'\"?";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"?";
  const std::size_t start = in.position();
  const auto digits = [&](int base, std::size_t most) {
    std::string text;
    while (text.size() < most && std::isxdigit(static_cast<unsigned char>(in.peek())) != 0 &&
           (base == 16 || (in.peek() >= '0' && in.peek() <= '7'))) {
      text += in.peek();
      in.take(in.rest().substr(0, 1));
    }
    const int value = text.empty() ? 256 : std::stoi(text, nullptr, base);
    if (value > 255) Cursor::fail_at(start, "this escape is no byte");
    return static_cast<char>(value);
  };
  if (in.take("x") || in.take("X")) return digits(16, 2);
  if (in.peek() >= '0' && in.peek() <= '7') return digits(8, 3);
  const std::size_t which = in.at_end() ? kNames.npos : kNames.find(in.peek());
  if (which == kNames.npos) in.expected("an escape such as \\n");
  in.take(in.rest().substr(0, 1));
  return kValues[which];
}

}  // namespace

std::string parse_quoted(Cursor& in) {
  const std::size_t start = in.position();
  const char quote = in.peek();
  if (!in.take("'") && !in.take("\"")) in.expected("a quoted string");
  std::string text;
  while (in.peek() != quote || in.at_end()) {
    if (in.at_end() || in.peek() == '\n') Cursor::fail_at(start, "this string is not closed");
    if (in.take("\\")) {
      text += parse_escape(in);
    } else {
      text += in.take_while([&](char c) { return c != quote && c != '\\' && c != '\n'; });
    }
  }
  in.take({&quote, 1});
  return text;
}

std::string parse_value(Cursor& in, std::string_view type) {
  const bool list = type.starts_with("list(") && type.ends_with(")");
  if (list) type = type.substr(5, type.size() - 6);
  const FieldType* field = value_field(type, list);
  if (field == nullptr) in.fail("'" + std::string(type) + "' is no attribute type");
  const MessageType* message = list ? kAttrValue.find("list")->message : &kAttrValue;
  MessageParser parser(in, *message, 0);
  parser.values(*field, list);
  if (!list) return parser.bytes();
  std::string bytes;
  Writer(&bytes).bytes(1, parser.bytes());
  return bytes;
}

}  // namespace drystone::host::ops
