// Numbers to strings and back, whatever the locale of the process is.
#include <algorithm>
#include <charconv>
#include <climits>
#include <clocale>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>

#include <locale.h>  // NOLINT(modernize-deprecated-headers): newlocale is POSIX's

#include "core/family.h"
#include "core/moving.h"
#include "core/text.h"
#include "core/widen.h"

namespace drystone::cpu {
namespace {

using Text = std::string_view;

locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

// printf and its kin write the C locale's numbers in this scope and thread.
class InC {
 public:
  InC() : before_(uselocale(c_locale())) {}
  ~InC() { uselocale(before_); }
  InC(const InC&) = delete;
  InC& operator=(const InC&) = delete;

 private:
  locale_t before_;
};

int length_of(std::int64_t given) {
  if (given > INT_MAX) fail_no_memory("text " + std::to_string(given) + " wide");
  return given < 0 ? -1 : static_cast<int>(given);
}

class AsString {
 public:
  explicit AsString(const Node& node)
      : dtype_(node.type("T")),
        precision_(node.integer("precision")),
        width_(node.integer("width")),
        fill_(node.string("fill")) {
    const bool scientific = node.boolean("scientific");
    const bool shortest = node.boolean("shortest");
    require(fill_.size() <= 1 && Text(" +-0#").find(fill_) != Text::npos,
            "Fill string must be one or fewer characters: ' ', '+', '-', '0' or '#'");
    require(!scientific || !shortest, "Cannot select both scientific and shortest notation");
    const bool exact = is_exact();
    require(!exact || !(scientific || shortest || precision_ >= 0),
            "precision and notation do not apply to this dtype");
    letter_ = scientific ? 'e' : shortest ? 'g' : 'f';
  }
  void compute(Call& call) const {
    const Tensor values = call.input(0);
    if (dtype_ == TF_STRING && width_ <= 0) return call.share(0, 0, values.dims());
    const std::int64_t wide = std::max<std::int64_t>({width_, precision_, 0});
    check_dims({{values.count(), wide}});
    call.check_room(values.count() * wide, 1);
    const InC scope;
    auto* out = call.output(0, values.dims()).write<TF_TString>();
    for (std::int64_t k = 0; k < values.count(); ++k) set_text(out + k, text_at(values, k));
  }

 private:
  bool is_exact() const {
    switch (dtype_) {
      case TF_FLOAT: case TF_DOUBLE: case TF_HALF: case TF_BFLOAT16: case TF_COMPLEX64:
      case TF_COMPLEX128: case TF_STRING: return false;
      default: return true;
    }
  }
  std::string text_at(const Tensor& values, std::int64_t k) const {
    switch (dtype_) {
      case TF_STRING: return padded(text_of(values, k));
      case TF_BOOL: return values.as<bool>()[k] ? "true" : "false";
      case TF_HALF: return real(to_float(values.as<Half>()[k]));
      case TF_BFLOAT16: return real(to_float(values.as<BFloat16>()[k]));
      case TF_FLOAT: return real(values.as<float>()[k]);
      case TF_DOUBLE: return real(values.as<double>()[k]);
      case TF_COMPLEX64: return pair(values.as<std::complex<float>>()[k]);
      case TF_COMPLEX128: return pair(values.as<std::complex<double>>()[k]);
      default: break;
    }
    std::string out;
    with_real(dtype_, [&](auto type) { out = whole(values.as<decltype(type)>()[k]); });
    return out;
  }
  template <class... T>
  static std::string written(const std::string& form, T... values) {
    std::string out(32, '\0');
    int size = std::snprintf(out.data(), out.size(), form.c_str(), values...);
    if (size >= static_cast<int>(out.size())) {
      out.resize(static_cast<std::size_t>(size) + 1);
      size = std::snprintf(out.data(), out.size(), form.c_str(), values...);
    }
    if (size < 0) fail_no_memory("the text of a number");
    out.resize(static_cast<std::size_t>(size));
    return out;
  }
  std::string real(double value) const {
    // What is not finite is never filled with zeros.
    std::string form(1, '%');
    if (fill_ != "0" || std::isfinite(value)) form += fill_;
    return written(form + "*.*" + letter_, std::max(length_of(width_), 0), length_of(precision_),
                   value);
  }
  template <class T>
  std::string pair(std::complex<T> value) const {
    std::string out(1, '(');
    out += real(value.real());
    out += ',';
    out += real(value.imag());
    out += ')';
    return out;
  }
  template <class T>
  std::string whole(T value) const {
    const int width = std::max(length_of(width_), 0);
    std::string form(1, '%');
    if constexpr (std::is_unsigned_v<T>) {
      if (fill_ != "+" && fill_ != " ") form += fill_;  // a sign is for signed types
      return written(form + "*llu", width, static_cast<unsigned long long>(value));
    } else {
      return written(form + fill_ + "*lld", width, static_cast<long long>(value));
    }
  }
  std::string padded(Text text) const {
    if (precision_ >= 0) text = text.substr(0, static_cast<std::size_t>(precision_));
    const auto width = static_cast<std::size_t>(length_of(width_));
    const std::size_t spaces = width > text.size() ? width - text.size() : 0;
    const std::string room(spaces, ' ');
    return fill_ == "-" ? std::string(text) + room : room + std::string(text);
  }

  TF_DataType dtype_;
  std::int64_t precision_;
  std::int64_t width_;
  std::string fill_;
  char letter_;
};

constexpr Text kSpace = " \t\n\r\x0b\x0c";

Text bare(Text text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == Text::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
bool is_word(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_'; }

// Whether a text is a float, and nothing else: 1.5e3, .5, 0x1.8p4, inf, Infinity, nan(7).
class FloatSyntax {
 public:
  explicit FloatSyntax(Text text) : text_(text) {}
  bool holds() {
    if (take("+") || take("-")) {}
    if (take("0x")) return digits(is_hex) && exponent('p');
    if (take("infinity") || take("inf")) return text_.empty();
    if (take("nan")) return text_.empty() || in_brackets();
    return digits(is_digit) && exponent('e');
  }

 private:
  bool take(Text lower) {
    if (text_.size() < lower.size()) return false;
    for (std::size_t k = 0; k < lower.size(); ++k) {
      const char c = text_[k];
      if ((c >= 'A' && c <= 'Z' ? c | 32 : c) != lower[k]) return false;
    }
    text_.remove_prefix(lower.size());
    return true;
  }
  std::size_t run(bool (*fits)(char)) {
    const std::size_t size = static_cast<std::size_t>(
        std::find_if_not(text_.begin(), text_.end(), fits) - text_.begin());
    text_.remove_prefix(size);
    return size;
  }
  bool digits(bool (*fits)(char)) {
    std::size_t count = run(fits);
    if (take(".")) count += run(fits);
    return count > 0;
  }
  bool exponent(char letter) {
    if (text_.empty()) return true;
    if (!take(Text(&letter, 1))) return false;
    if (take("+") || take("-")) {}
    return run(is_digit) > 0 && text_.empty();
  }
  bool in_brackets() {
    if (!take("(")) return false;
    run(is_word);
    return take(")") && text_.empty();
  }
  Text text_;
};

template <class T>
bool read(Text text, T& out) {
  if constexpr (std::is_integral_v<T>) {
    if (!text.empty() && text[0] == '+') {
      text.remove_prefix(1);
      if (!text.empty() && text[0] == '-') return false;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
  } else {
    if (!FloatSyntax(text).holds()) return false;
    const std::string ended(text);
    if constexpr (std::is_same_v<T, float>) out = strtof_l(ended.c_str(), nullptr, c_locale());
    else out = strtod_l(ended.c_str(), nullptr, c_locale());
    return true;
  }
}

template <class T>
void string_to_number(Call& call) {
  const Tensor strings = call.input(0);
  T* out = call.output(0, strings.dims()).template write<T>();
  for (std::int64_t k = 0; k < strings.count(); ++k) {
    const Text text = text_of(strings, k);
    if (!read(bare(text), out[k])) {
      fail(TF_INVALID_ARGUMENT,
           "StringToNumberOp could not correctly convert string: " + std::string(text));
    }
  }
}

}  // namespace

const Family registered([] {
  std::vector<TF_DataType> types = real_types();
  types.insert(types.end(),
               {TF_BOOL, TF_HALF, TF_BFLOAT16, TF_COMPLEX64, TF_COMPLEX128, TF_STRING});
  add<AsString>("AsString", {{"T", types}});
  const char* op = "StringToNumber";
  add<string_to_number<float>>(op, {{"out_type", {TF_FLOAT}}});
  add<string_to_number<double>>(op, {{"out_type", {TF_DOUBLE}}});
  add<string_to_number<std::int32_t>>(op, {{"out_type", {TF_INT32}}});
  add<string_to_number<std::int64_t>>(op, {{"out_type", {TF_INT64}}});
  add<string_to_number<std::uint32_t>>(op, {{"out_type", {TF_UINT32}}});
  add<string_to_number<std::uint64_t>>(op, {{"out_type", {TF_UINT64}}});
});

}  // namespace drystone::cpu
