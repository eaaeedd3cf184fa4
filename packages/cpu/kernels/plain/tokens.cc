// Strings cut into tokens, and neighbouring tokens joined.
#include <algorithm>
#include <limits>

#include "core/family.h"
#include "core/text.h"

namespace drystone::cpu {
namespace {

using Text = std::string_view;

// The three outputs of a sparse matrix whose rows are tokens up to each of `ends`.
void write_rows(Call& call, const std::vector<Text>& tokens, const std::vector<std::size_t>& ends) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  auto* indices = call.output(0, {{count, 2}}).write<std::int64_t>();
  auto* values = call.output(1, {{count}}).write<TF_TString>();
  auto* shape = call.output(2, {{2}}).write<std::int64_t>();
  std::size_t begin = 0;
  std::size_t longest = 0;
  for (std::size_t row = 0; row < ends.size(); ++row) {
    for (std::size_t k = begin; k < ends[row]; ++k) {
      indices[2 * k] = static_cast<std::int64_t>(row);
      indices[2 * k + 1] = static_cast<std::int64_t>(k - begin);
      set_text(values + k, tokens[k]);
    }
    longest = std::max(longest, ends[row] - begin);
    begin = ends[row];
  }
  shape[0] = static_cast<std::int64_t>(ends.size());
  shape[1] = static_cast<std::int64_t>(longest);
}

class SplitV2 {
 public:
  explicit SplitV2(const Node& node) : limit_(node.integer("maxsplit")) {}
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    const Tensor separator = call.input(1);
    require(strings.rank() == 1, "input must be a vector");
    require(separator.rank() == 0, "sep must be a scalar");
    const Text by = text_of(separator, 0);
    std::vector<Text> tokens;
    std::vector<std::size_t> ends;
    for (std::int64_t k = 0; k < strings.count(); ++k) {
      const Text text = text_of(strings, k);
      by.empty() ? words(text, tokens) : pieces(text, by, tokens);
      ends.push_back(tokens.size());
    }
    write_rows(call, tokens, ends);
  }

 private:
  static constexpr Text kSpace = " \t\n\r\x0b\x0c";

  void pieces(Text text, Text by, std::vector<Text>& out) const {
    std::int64_t left = limit_ < 0 ? std::numeric_limits<std::int64_t>::max() : limit_;
    for (std::size_t at = 0; left-- > 0 && (at = text.find(by)) != Text::npos;) {
      out.push_back(text.substr(0, at));
      text.remove_prefix(at + by.size());
    }
    out.push_back(text);
  }
  // At most limit_ words between spaces, then what is left, which may be nothing.
  void words(Text text, std::vector<Text>& out) const {
    if (limit_ == 0) return out.push_back(text);
    const auto skip = [&] {
      text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    };
    skip();
    for (std::int64_t found = 0; !text.empty();) {
      const std::size_t size = std::min(text.find_first_of(kSpace), text.size());
      out.push_back(text.substr(0, size));
      text.remove_prefix(size);
      skip();
      if (++found == limit_) return out.push_back(text);
    }
  }
  std::int64_t limit_;
};

class Split {
 public:
  explicit Split(const Node& node) : skips_empty_(node.boolean("skip_empty")) {}
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    const Tensor delimiter = call.input(1);
    require(strings.rank() == 1, "input must be a vector");
    require(delimiter.rank() == 0, "delimiter must be a scalar");
    const Text by = text_of(delimiter, 0);
    std::vector<Text> tokens;
    std::vector<std::size_t> ends;
    for (std::int64_t k = 0; k < strings.count(); ++k) {
      const Text text = text_of(strings, k);
      if (!text.empty()) cut(text, by, tokens);
      ends.push_back(tokens.size());
    }
    write_rows(call, tokens, ends);
  }

 private:
  // Between any of the bytes of `by`; each byte is a token when there are none.
  void cut(Text text, Text by, std::vector<Text>& out) const {
    if (by.empty()) {
      for (std::size_t k = 0; k < text.size(); ++k) out.push_back(text.substr(k, 1));
      return;
    }
    for (bool more = true; more;) {
      const std::size_t size = text.find_first_of(by);
      more = size != Text::npos;
      const Text token = text.substr(0, size);
      if (!token.empty() || !skips_empty_) out.push_back(token);
      if (more) text.remove_prefix(size + 1);
    }
  }

  bool skips_empty_;
};

// Runs of neighbouring tokens of each row, joined.
class NGrams {
 public:
  explicit NGrams(const Node& node)
      : separator_(node.string("separator")), left_(node.string("left_pad")),
        right_(node.string("right_pad")), widths_(node.integers("ngram_widths")),
        pad_(node.integer("pad_width")),
        keeps_short_(node.boolean("preserve_short_sequences")) {}

  void compute(Call& call) const {
    const Tensor data = call.input(0);
    const Tensor splits = call.input(1);
    require(data.rank() == 1, "data must be a vector");
    const bool wide = splits.dtype() == TF_INT64;
    const auto split = [&](std::int64_t k) {
      return wide ? splits.as<std::int64_t>()[k] : std::int64_t{splits.as<std::int32_t>()[k]};
    };
    const std::int64_t count = splits.count();
    for (std::int64_t k = 0; k < count; ++k) {
      require(k == 0 ? split(0) == 0 : split(k - 1) <= split(k), "row splits must ascend from 0");
    }
    require(count == 0 || split(count - 1) == data.count(),
            "the last split must be the number of tokens");
    for (const std::int64_t width : widths_) require(width > 0, "n-gram widths must be positive");
    std::vector<std::string> grams;
    Dims ends(static_cast<std::size_t>(count), 0);
    for (std::int64_t k = 1; data.count() != 0 && k < count; ++k) {
      row(call, data.as<TF_TString>() + split(k - 1), split(k) - split(k - 1), grams);
      ends[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(grams.size());
    }
    auto* out = call.output(0, {{static_cast<std::int64_t>(grams.size())}}).write<TF_TString>();
    for (std::size_t k = 0; k < grams.size(); ++k) set_text(out + k, grams[k]);
    const Tensor out_splits = call.output(1, splits.dims());
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t end = ends[static_cast<std::size_t>(k)];
      if (wide) out_splits.write<std::int64_t>()[k] = end;
      else out_splits.write<std::int32_t>()[k] = static_cast<std::int32_t>(end);
    }
  }

 private:
  // Attributes may ask for absurdly many.
  static void check_size(const Call& call, double tokens) {
    call.check_room(tokens < 0x1p60 ? static_cast<std::int64_t>(tokens) : INT64_MAX, sizeof(void*));
  }
  void row(const Call& call, const TF_TString* tokens, std::int64_t count, std::vector<std::string>& out) const {
    const std::size_t before = out.size();
    for (const std::int64_t width : widths_) {
      windows(call, tokens, count, width, std::min(pad_ < 0 ? width - 1 : pad_, width - 1), out);
    }
    if (out.size() != before || count == 0 || !keeps_short_) return;
    const std::int64_t reach = std::max<std::int64_t>(pad_, 0);
    check_size(call, static_cast<double>(reach));
    windows(call, tokens, count, count + 2 * reach, reach, out);
  }
  // Windows of `width` tokens over a row with `pad` more at both ends.
  void windows(const Call& call, const TF_TString* tokens, std::int64_t count, std::int64_t width,
               std::int64_t pad, std::vector<std::string>& out) const {
    const double found = static_cast<double>(count) +
        2 * static_cast<double>(pad) - static_cast<double>(width) + 1;
    if (found <= 0) return;
    check_size(call, found * static_cast<double>(width));
    for (std::int64_t start = -pad; start + width <= count + pad; ++start) {
      std::string gram;
      for (std::int64_t k = start; k < start + width; ++k) {
        if (k != start) gram += separator_;
        gram += k < 0 ? Text(left_) : k >= count ? Text(right_) : text_of(tokens[k]);
      }
      out.push_back(std::move(gram));
    }
  }

  std::string separator_;
  std::string left_;
  std::string right_;
  std::vector<std::int64_t> widths_;
  std::int64_t pad_;
  bool keeps_short_;
};

}  // namespace

const Family registered([] {
  add<Split>("StringSplit");
  add<SplitV2>("StringSplitV2");
  add<NGrams>("StringNGrams");
});

}  // namespace drystone::cpu
