// Errors as values: what every fallible function of the SDK returns.
//
// Since ABI 1.0. Header-only C++17, clean under -fno-exceptions and -fno-rtti. Nothing here throws;
// the only thing that can end the process is running out of memory.
//
//   Error save(...);               // "" and TF_OK when it worked
//   Result<int> count(...);        // a value, or the error that stood in its way
//   if (Error error = save(); !error.ok()) return error;
//
// An Error and a Result own their parts and may be copied, moved and sent between threads. Reading the
// value of a Result that holds an error is a mistake of the caller: ask ok() first.
#ifndef DRYSTONE_SDK_ERROR_HPP_
#define DRYSTONE_SDK_ERROR_HPP_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drystone/status.h"

namespace drystone::sdk {

// A code and a message, and payloads for programs; a default one says that nothing failed.
//   return Error(TF_OUT_OF_RANGE, "row 17 is no number").with("acme/row", "17");
class [[nodiscard]] Error {
 public:
  Error() = default;
  Error(TF_Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == TF_OK; }
  TF_Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Attach a value under a key of one's own, as TF_SetPayload does.
  Error& with(std::string key, std::string value) & {
    payloads_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  Error with(std::string key, std::string value) && {
    return std::move(with(std::move(key), std::move(value)));
  }
  const std::vector<std::pair<std::string, std::string>>& payloads() const { return payloads_; }

 private:
  TF_Code code_ = TF_OK;
  std::string message_;
  std::vector<std::pair<std::string, std::string>> payloads_;
};

inline Error invalid_argument(std::string message) {
  return {TF_INVALID_ARGUMENT, std::move(message)};
}
inline Error failed_precondition(std::string message) {
  return {TF_FAILED_PRECONDITION, std::move(message)};
}
inline Error not_found(std::string message) { return {TF_NOT_FOUND, std::move(message)}; }

// A value or an error. T must be default-constructible.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit on purpose
  Result(Error error) : error_(std::move(error)) {}      // NOLINT: implicit on purpose

  bool ok() const { return error_.ok(); }
  const Error& error() const { return error_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  // The value, or `other` where there is an error.
  T value_or(T other) const { return ok() ? value_ : std::move(other); }

 private:
  T value_{};  // NOLINT(bugprone-invalid-enum-default-initialization): not read on errors
  Error error_;
};

// A view of `size` elements in a row, owned by other code (std::span is C++20).
template <class T>
class Span {
 public:
  Span() = default;
  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  template <class U>
  Span(const std::vector<U>& all) : data_(all.data()), size_(all.size()) {}  // NOLINT: implicit

  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t index) const { return data_[index]; }
  // The part from `start` of at most `count` elements.
  Span part(std::size_t start, std::size_t count) const {
    if (start > size_) start = size_;
    return {data_ + start, count < size_ - start ? count : size_ - start};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Quoted and cut to a length that fits a message, with unprintable bytes as '?'.
inline std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 200;
  std::string out = "'";
  for (char c : text.substr(0, kMost)) out += (c >= ' ' && c <= '~') ? c : '?';
  return out + (text.size() > kMost ? "...'" : "'");
}

// Found before std::quoted, which argument-dependent lookup finds where <iomanip> is included.
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_ERROR_HPP_
