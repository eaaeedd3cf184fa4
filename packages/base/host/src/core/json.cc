// A JSON writer: see core/json.h.
#include "core/json.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

namespace drystone::host {
namespace {

// Length of the UTF-8 sequence at the front of `text`, or 0 when it is malformed.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  for (std::size_t k = 1; k < size; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return size;
}

void append_in_text(std::string* out, char c) {
  char escaped[8];
  if (c == '"' || c == '\\') {
    out->push_back('\\');
    out->push_back(c);
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
    std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
    out->append(escaped);
  } else {
    out->push_back(c);
  }
}

}  // namespace

void Json::separate() {
  if (!first_ && !after_key_) out_.push_back(',');
  first_ = false;
  after_key_ = false;
}

void Json::open(char left, char right) {
  separate();
  out_.push_back(left);
  ends_.push_back(right);
  first_ = true;
}

void Json::close() {
  if (ends_.empty()) return;
  out_.push_back(ends_.back());
  ends_.pop_back();
  first_ = false;
}

void Json::key(std::string_view name) {
  text(name);
  out_.push_back(':');
  after_key_ = true;
}

void Json::text(std::string_view value) {
  separate();
  out_.push_back('"');
  while (!value.empty()) {
    const std::size_t size = sequence(value);
    if (size == 0) out_.append("\\ufffd");
    else if (size == 1) append_in_text(&out_, value[0]);
    else out_.append(value.substr(0, size));
    value.remove_prefix(size == 0 ? 1 : size);
  }
  out_.push_back('"');
}

void Json::integer(std::int64_t value) {
  separate();
  out_.append(std::to_string(value));
}

void Json::number(double value) {
  char digits[32];
  separate();
  if (!std::isfinite(value)) {
    out_.append("null");
    return;
  }
  // Not printf's text, whose decimal point the program's locale chooses.
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out_.append(error == std::errc() ? std::string_view(digits, end) : "null");
}

void Json::boolean(bool value) {
  separate();
  out_.append(value ? "true" : "false");
}

void Json::null() {
  separate();
  out_.append("null");
}

}  // namespace drystone::host
