// Strings: lengths, parts, joining, base64, and bytes read as numbers.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "core/text.h"

namespace drystone::cpu {
namespace {

using Text = std::string_view;

// Whether a byte begins a UTF-8 character.
bool begins(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

class Length {
 public:
  explicit Length(const Node& node) : bytes_(node.string("unit") == "BYTE") {}
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    auto* out = call.output(0, strings.dims()).write<std::int32_t>();
    for (std::int64_t k = 0; k < strings.count(); ++k) {
      const Text text = text_of(strings, k);
      out[k] = static_cast<std::int32_t>(bytes_ ? static_cast<std::ptrdiff_t>(text.size())
                                                : std::count_if(text.begin(), text.end(), begins));
    }
  }

 private:
  bool bytes_;
};

std::int64_t number(const Tensor& tensor, std::int64_t k) {
  return tensor.dtype() == TF_INT32 ? tensor.as<std::int32_t>()[k] : tensor.as<std::int64_t>()[k];
}

std::int64_t start_of(std::int64_t pos, std::int64_t size) {
  if (pos < -size || pos > size) {
    fail(TF_INVALID_ARGUMENT, "pos " + std::to_string(pos) +
         " out of range for a string of length " + std::to_string(size));
  }
  return pos < 0 ? pos + size : pos;
}

class Substr {
 public:
  explicit Substr(const Node& node) : bytes_(node.string("unit") == "BYTE") {}
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    const Tensor pos = call.input(1);
    const Tensor length = call.input(2);
    require(std::ranges::equal(pos.dims(), length.dims()),
            "pos and len should have the same shape");
    const bool is_plain = pos.rank() == 0 || std::ranges::equal(pos.dims(), strings.dims());
    const DimsView given = strings.dims();
    const Dims dims = is_plain ? Dims(given.begin(), given.end()) : both(strings, pos);
    const Tensor out = call.output(0, dims);
    auto* to = out.write<TF_TString>();
    const std::int64_t columns = is_plain ? out.count() : dims.back();
    for (std::int64_t k = 0; k < out.count(); ++k) {
      const std::int64_t row = k / columns;
      const std::int64_t from = is_plain ? k : place(strings, row, k % columns);
      const std::int64_t at = pos.rank() == 0 ? 0 : is_plain ? k : place(pos, row, k % columns);
      set_text(to + k, cut(text_of(strings, from), number(pos, at), number(length, at)));
    }
  }

 private:
  // NumPy's rule, up to rank 2.
  static Dims both(const Tensor& a, const Tensor& b) {
    const auto rank = static_cast<std::size_t>(std::max(a.rank(), b.rank()));
    Dims out(rank);
    for (std::size_t k = 1; k <= rank; ++k) {
      const auto dim = [k](const Tensor& t) {
        return k > t.dims().size() ? 1 : t.dims()[t.dims().size() - k];
      };
      const std::int64_t x = dim(a);
      const std::int64_t y = dim(b);
      require(x == y || x == 1 || y == 1, "the shapes of input and pos do not go together");
      out[rank - k] = x == 1 ? y : x;
    }
    if (rank > 2) fail(TF_UNIMPLEMENTED, "shapes may be broadcast up to rank 2");
    return out;
  }
  // Where the element of a broadcast row and column is.
  static std::int64_t place(const Tensor& t, std::int64_t row, std::int64_t column) {
    const std::int64_t columns = t.rank() == 0 ? 1 : t.dim(t.rank() - 1);
    return (t.rank() < 2 || t.dim(0) == 1 ? 0 : row * columns) + (columns == 1 ? 0 : column);
  }
  Text cut(Text text, std::int64_t pos, std::int64_t count) const {
    if (bytes_) {
      const std::int64_t start = start_of(pos, static_cast<std::int64_t>(text.size()));
      const std::size_t size = count < 0 ? Text::npos : static_cast<std::size_t>(count);
      return text.substr(static_cast<std::size_t>(start), size);
    }
    // Bytes that continue no character belong to the one before; the first byte begins one. Unlike
    // with bytes, a negative count is none.
    std::int64_t characters = 0;
    for (std::size_t k = 0; k < text.size(); ++k) characters += k == 0 || begins(text[k]) ? 1 : 0;
    const std::int64_t first = start_of(pos, characters);
    const std::int64_t last = first + std::clamp<std::int64_t>(count, 0, characters - first);
    const std::size_t from = place_of(text, first);
    return text.substr(from, place_of(text, last) - from);
  }
  // Where the `index`-th character begins; the end when there are as many.
  static std::size_t place_of(Text text, std::int64_t index) {
    for (std::size_t k = 0; k < text.size(); ++k) {
      if ((k == 0 || begins(text[k])) && index-- == 0) return k;
    }
    return text.size();
  }

  bool bytes_;
};

class Join {
 public:
  explicit Join(const Node& node) : separator_(node.string("separator")) {}
  void compute(Call& call) const {
    std::vector<Tensor> parts;
    const Tensor* shaped = nullptr;
    for (int k = 0; k < call.inputs(); ++k) parts.push_back(call.input(k));
    for (const Tensor& part : parts) {
      if (part.rank() == 0) continue;
      require(shaped == nullptr || std::ranges::equal(part.dims(), shaped->dims()),
              "Input shapes do not match: inputs that are not scalars must have one shape");
      shaped = &part;
    }
    const Tensor out = call.output(0, shaped == nullptr ? DimsView() : shaped->dims());
    for (std::int64_t k = 0; k < out.count(); ++k) write(parts, k, out.write<TF_TString>() + k);
  }

 private:
  void write(const std::vector<Tensor>& parts, std::int64_t k, TF_TString* to) const {
    std::size_t size = parts.empty() ? 0 : separator_.size() * (parts.size() - 1);
    for (const Tensor& part : parts) size += text_of(part, part.rank() == 0 ? 0 : k).size();
    char* at = room_in(to, size);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i != 0) at += separator_.copy(at, separator_.size());
      const Text text = text_of(parts[i], parts[i].rank() == 0 ? 0 : k);
      at += text.copy(at, text.size());
    }
  }

  std::string separator_;
};

constexpr Text kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

class EncodeBase64 {
 public:
  explicit EncodeBase64(const Node& node) : pad_(node.boolean("pad")) {}
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    auto* out = call.output(0, strings.dims()).write<TF_TString>();
    for (std::int64_t k = 0; k < strings.count(); ++k) encode(text_of(strings, k), out + k);
  }

 private:
  void encode(Text text, TF_TString* to) const {
    const std::size_t bare = (text.size() * 4 + 2) / 3;
    const std::size_t size = pad_ ? (text.size() + 2) / 3 * 4 : bare;
    char* out = room_in(to, size);
    for (std::size_t k = 0; k < bare; ++k) {
      const std::size_t at = k * 6 / 8;  // six bits from there on
      const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
      };
      const unsigned both = byte(at) << 8 | byte(at + 1);
      out[k] = kBase64[both >> (10 - k * 6 % 8) & 63U];
    }
    std::fill(out + bare, out + size, '=');
  }

  bool pad_;
};

void decode_base64(Call& call) {
  const Tensor strings = call.input(0);
  auto* out = call.output(0, strings.dims()).write<TF_TString>();
  for (std::int64_t k = 0; k < strings.count(); ++k) {
    const Text text = text_of(strings, k);
    const std::size_t size = std::min(text.find('='), text.size());
    const bool padded = size < text.size();
    require(text.size() - size <= 2 && size % 4 != 1 &&
            (!padded || (text.size() % 4 == 0 && size > 0)),
            "Invalid character or padding found in base64.");
    char* to = room_in(out + k, size * 3 / 4);
    unsigned bits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::size_t value = i < size ? kBase64.find(text[i]) : 0;
      require(i < size ? value != Text::npos : text[i] == '=',
              "Invalid character found in base64.");
      if (i >= size) continue;
      bits = bits << 6 | static_cast<unsigned>(value);
      if (i % 4 != 0) *to++ = static_cast<char>(bits >> (6 - i % 4 * 2) & 255U);
    }
  }
}

struct Sizes {
  std::size_t element;
  std::size_t part;  // that is swapped for the other order of bytes
};

Sizes sizes_of(TF_DataType dtype) {
  switch (dtype) {
    case TF_BOOL: case TF_INT8: case TF_UINT8: return {1, 1};
    case TF_HALF: case TF_BFLOAT16: case TF_INT16: case TF_UINT16: return {2, 2};
    case TF_FLOAT: case TF_INT32: return {4, 4};
    case TF_DOUBLE: case TF_INT64: return {8, 8};
    case TF_COMPLEX64: return {8, 4};
    case TF_COMPLEX128: return {16, 8};
    default: fail(TF_UNIMPLEMENTED, "DecodeRaw to this dtype");
  }
}

class DecodeRaw {
 public:
  explicit DecodeRaw(const Node& node)
      : sizes_(sizes_of(node.type("out_type"))), swaps_(!node.boolean("little_endian")) {}
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    const std::size_t size = strings.count() == 0 ? 0 : text_of(strings, 0).size();
    for (std::int64_t k = 0; k < strings.count(); ++k) {
      require(text_of(strings, k).size() == size,
              "DecodeRaw requires input strings to all be the same size");
    }
    require(size % sizes_.element == 0,
            "Input to DecodeRaw has a length that is not a multiple of the dtype's size");
    Dims dims(strings.dims().begin(), strings.dims().end());
    dims.push_back(static_cast<std::int64_t>(size / sizes_.element));
    char* out = call.output(0, dims).write<char>();
    for (std::int64_t k = 0; k < strings.count(); ++k, out += size) {
      text_of(strings, k).copy(out, size);
      if (!swaps_ || sizes_.part == 1) continue;
      for (std::size_t at = 0; at < size; at += sizes_.part) {
        std::reverse(out + at, out + at + sizes_.part);
      }
    }
  }

 private:
  Sizes sizes_;
  bool swaps_;
};

}  // namespace

const Family registered([] {
  add<Length>("StringLength");
  add<Substr>("Substr");
  add<Join>("StringJoin");
  add<EncodeBase64>("EncodeBase64");
  add<decode_base64>("DecodeBase64");
  add<DecodeRaw>("DecodeRaw");
});

}  // namespace drystone::cpu
