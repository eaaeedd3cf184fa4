// Upper and lower case: of ASCII letters byte by byte, or of all letters of UTF-8.
//
// Bytes that are no UTF-8 become U+FFFD, one for each maximal part of a character (The Unicode
// Standard, 3.9), as in the kernels in Python.
#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "core/family.h"
#include "core/text.h"
#include "plain/letter_case_data.h"

namespace drystone::cpu {
namespace {

using Text = std::string_view;
using Points = std::u32string;

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;

unsigned char byte_of(Text text, std::size_t k) { return static_cast<unsigned char>(text[k]); }

// What may follow the first byte of a character of several bytes.
struct Lead {
  int more = 0;  // 0: begins no character
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};  // else a half of a pair
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {};
}

// The character from `at` on, which moves behind it.
char32_t next_point(Text text, std::size_t& at) {
  const unsigned char first = byte_of(text, at++);
  if (first < 0x80) return first;
  Lead lead = lead_of(first);
  if (lead.more == 0) return kReplacement;
  char32_t point = first & (0x3FU >> lead.more);
  for (; lead.more > 0; --lead.more, lead.low = 0x80, lead.high = 0xBF) {
    if (at == text.size() || byte_of(text, at) < lead.low || byte_of(text, at) > lead.high) {
      return kReplacement;
    }
    point = point << 6 | (byte_of(text, at++) & 0x3FU);
  }
  return point;
}

void append(std::string& out, char32_t point) {
  const auto put = [&](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  const auto tail = [&](int shift) { put(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    tail(6);
  } else {
    put(0xF0 | point >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
}

bool is_in(std::span<const CodeRange> ranges, char32_t point) {
  const auto at = std::ranges::lower_bound(ranges, point, {}, &CodeRange::last);
  return at != ranges.end() && at->first <= point;
}

// Whether the capital sigma at `at` ends a word: after a letter and before none, with marks between
// passed over (SpecialCasing.txt, Final_Sigma).
bool ends_word(const Points& points, std::size_t at) {
  const auto is_passed_over = [](char32_t point) { return is_in(kPassedOver, point); };
  const auto back = std::make_reverse_iterator(points.begin() + static_cast<std::ptrdiff_t>(at));
  const auto before = std::find_if_not(back, points.rend(), is_passed_over);
  if (before == points.rend() || !is_in(kCased, *before)) return false;
  const auto after = std::find_if_not(points.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                      points.end(), is_passed_over);
  return after == points.end() || !is_in(kCased, *after);
}

struct Tables {
  std::span<const CaseRun> runs;
  std::span<const LongCase> longer;
};

void append_changed(std::string& out, const Tables& tables, char32_t point) {
  const auto run = std::ranges::lower_bound(tables.runs, point, {}, &CaseRun::last);
  if (run != tables.runs.end() && run->first <= point && (point - run->first) % run->step == 0) {
    return append(out, point + static_cast<char32_t>(run->delta));
  }
  const auto longer = std::ranges::lower_bound(tables.longer, point, {}, &LongCase::first);
  if (longer == tables.longer.end() || longer->first != point) return append(out, point);
  for (const char32_t part : longer->to) {
    if (part != 0) append(out, part);
  }
}

template <bool upper>
std::string change_points(Text text) {
  constexpr Tables tables = upper ? Tables{kUpperRuns, kUpperLong} : Tables{kLowerRuns, kLowerLong};
  Points points;
  points.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) points.push_back(next_point(text, at));
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const bool is_final = !upper && points[k] == kSigma && ends_word(points, k);
    is_final ? append(out, kFinalSigma) : append_changed(out, tables, points[k]);
  }
  return out;
}

// Each byte as an ASCII letter of the other case; others as they are.
template <bool upper>
constexpr std::array<char, 256> ascii_table() {
  std::array<char, 256> out{};
  for (int k = 0; k < 256; ++k) {
    const bool changes = upper ? k >= 'a' && k <= 'z' : k >= 'A' && k <= 'Z';
    out[static_cast<std::size_t>(k)] = static_cast<char>(changes ? k ^ 32 : k);
  }
  return out;
}

bool is_ascii(Text text) {
  unsigned char seen = 0;
  for (const char byte : text) seen |= static_cast<unsigned char>(byte);
  return seen < 0x80;
}

template <bool upper>
class ChangeCase {
 public:
  explicit ChangeCase(const Node& node) : encoding_(node.string("encoding")) {
    std::ranges::transform(encoding_, encoding_.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  void compute(Call& call) const {
    require(encoding_.empty() || encoding_ == "utf-8", "the encoding must be '' or 'utf-8'");
    const Tensor strings = call.input(0);
    auto* out = call.output(0, strings.dims()).write<TF_TString>();
    for (std::int64_t k = 0; k < strings.count(); ++k) {
      const Text text = text_of(strings, k);
      if (encoding_.empty() || is_ascii(text)) {
        std::ranges::transform(text, room_in(out + k, text.size()), [](char byte) {
          return kAscii[static_cast<unsigned char>(byte)];
        });
      } else {
        set_text(out + k, change_points<upper>(text));
      }
    }
  }

 private:
  static constexpr std::array<char, 256> kAscii = ascii_table<upper>();
  std::string encoding_;
};

}  // namespace

const Family registered([] {
  add<ChangeCase<false>>("StringLower");
  add<ChangeCase<true>>("StringUpper");
});

}  // namespace drystone::cpu
