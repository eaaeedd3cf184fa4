// A position in a spec, and the errors that name it.
#ifndef DRYSTONE_HOST_OPS_CURSOR_H_
#define DRYSTONE_HOST_OPS_CURSOR_H_

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "core/quoted.h"

namespace drystone::host::ops {

// Thrown by parsers; code that knows the spec and the op turns it into a message.
struct SpecError : std::exception {
  SpecError(std::size_t position_, std::string message_)
      : position(position_), message(std::move(message_)) {}
  const char* what() const noexcept override { return message.c_str(); }

  std::size_t position;
  std::string message;
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  std::size_t position() const { return position_; }
  std::string_view rest() const { return text_.substr(position_); }

  void spaces() {
    while (!at_end() && is_space(peek())) ++position_;
  }

  // Spaces, and comments from '#' to the end of the line.
  void blanks() {
    for (spaces(); peek() == '#'; spaces()) {
      while (!at_end() && peek() != '\n') ++position_;
    }
  }

  // Takes `expected` if it is next.
  bool take(std::string_view expected) {
    if (!rest().starts_with(expected)) return false;
    position_ += expected.size();
    return true;
  }

  // Takes the longest run of characters that `accept` takes.
  template <class Accept>
  std::string_view take_while(Accept&& accept) {
    const std::size_t start = position_;
    while (!at_end() && accept(peek())) ++position_;
    return text_.substr(start, position_ - start);
  }

  // A letter, then letters, digits and underscores; empty where none is next.
  std::string_view word() {
    if (!is_letter(peek())) return {};
    return take_while(is_word);
  }

  // What follows, quoted, for messages.
  std::string found() const {
    if (at_end()) return "the end";
    const std::string_view all = rest();
    return all.size() > 40 ? quoted(std::string(all.substr(0, 40)) + "...") : quoted(all);
  }

  [[noreturn]] void fail(std::string message) const { fail_at(position_, std::move(message)); }
  [[noreturn]] static void fail_at(std::size_t position, std::string message) {
    throw SpecError(position, std::move(message));
  }
  [[noreturn]] void expected(const std::string& what) const {
    fail("expected " + what + ", found " + found());
  }

  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  static bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
  static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_CURSOR_H_
