// The protobuf wire format: reading without copies, and writing.
//
// Header-only C++17, no exceptions, no dependency. Reader never trusts its bytes: whatever they are,
// it stops at the first malformed field and says so by ok(). Source: the Protocol Buffers encoding
// specification.
#ifndef DRYSTONE_SDK_WIRE_HPP_
#define DRYSTONE_SDK_WIRE_HPP_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace drystone::wire {

enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Walks the fields of one message:
//   for (Reader r(bytes); r.next();) switch (r.field()) { case 1: name = r.bytes(); break; }
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  // Move to the next field; false at the end and at a malformed field.
  bool next() {
    if (rest_.empty() || !ok_) return false;
    start_ = rest_.data();
    std::uint64_t tag = 0;
    if (!take_varint(&tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return fail();
    field_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<Type>(tag & 7);
    switch (type_) {
      case Type::varint:
        return take_varint(&value_) || fail();
      case Type::fixed64:
        return take_fixed(8) || fail();
      case Type::fixed32:
        return take_fixed(4) || fail();
      case Type::bytes:
        return take_bytes() || fail();
      default:
        return fail();  // groups, which no proto of ours has
    }
  }

  // Whether everything so far was well-formed.
  bool ok() const { return ok_; }
  std::uint32_t field() const { return field_; }
  Type type() const { return type_; }
  // The field with its tag, as it stands in the message.
  std::string_view raw() const {
    return {start_, static_cast<std::size_t>(rest_.data() - start_)};
  }

  // The value. A field of another wire type than asked for gives 0 or "".
  std::uint64_t varint() const { return type_ == Type::varint ? value_ : 0; }
  std::int64_t int64() const { return static_cast<std::int64_t>(varint()); }
  std::int32_t int32() const { return static_cast<std::int32_t>(varint()); }
  bool boolean() const { return varint() != 0; }
  std::string_view bytes() const { return type_ == Type::bytes ? bytes_ : std::string_view(); }
  std::uint64_t fixed64() const { return type_ == Type::fixed64 ? value_ : 0; }
  std::uint32_t fixed32() const {
    return type_ == Type::fixed32 ? static_cast<std::uint32_t>(value_) : 0;
  }
  float float32() const {
    const std::uint32_t bits = fixed32();
    float out = 0;
    std::memcpy(&out, &bits, sizeof out);
    return out;
  }
  double float64() const {
    const std::uint64_t bits = fixed64();
    double out = 0;
    std::memcpy(&out, &bits, sizeof out);
    return out;
  }

 private:
  bool fail() {
    ok_ = false;
    return false;
  }

  bool take_varint(std::uint64_t* out) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        *out = value;
        return shift < 63 || byte <= 1;
      }
    }
    return false;
  }

  bool take_fixed(std::size_t size) {
    if (rest_.size() < size) return false;
    value_ = 0;
    for (std::size_t k = 0; k < size; ++k) {
      value_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[k])) << (8 * k);
    }
    rest_.remove_prefix(size);
    return true;
  }

  bool take_bytes() {
    std::uint64_t size = 0;
    if (!take_varint(&size) || size > rest_.size()) return false;
    bytes_ = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return true;
  }

  std::string_view rest_;
  std::string_view bytes_;
  const char* start_ = nullptr;
  std::uint64_t value_ = 0;
  std::uint32_t field_ = 0;
  Type type_ = Type::varint;
  bool ok_ = true;
};

// Walks the elements of a packed repeated field of varints, or the single value of an unpacked one.
//   for (Varints v(reader); v.next();) use(v.value());
class Varints {
 public:
  explicit Varints(const Reader& field)
      : rest_(field.bytes()), single_(field.type() == Type::varint), value_(field.varint()) {}

  bool next() {
    if (single_) {
      single_ = false;
      return true;
    }
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        value_ = value;
        return true;
      }
    }
    ok_ = ok_ && rest_.empty();
    rest_ = {};
    return false;
  }

  std::uint64_t value() const { return value_; }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool single_;
  bool ok_ = true;
  std::uint64_t value_;
};

// Appends fields to a string.
class Writer {
 public:
  explicit Writer(std::string* out) : out_(out) {}

  void varint(std::uint32_t field, std::uint64_t value) {
    tag(field, Type::varint);
    put_varint(value);
  }
  void int64(std::uint32_t field, std::int64_t value) {
    varint(field, static_cast<std::uint64_t>(value));
  }
  void boolean(std::uint32_t field, bool value) { varint(field, value ? 1 : 0); }
  void bytes(std::uint32_t field, std::string_view value) {
    tag(field, Type::bytes);
    put_varint(value.size());
    out_->append(value);
  }
  void fixed32(std::uint32_t field, std::uint32_t value) {
    tag(field, Type::fixed32);
    put_fixed(value, 4);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    tag(field, Type::fixed64);
    put_fixed(value, 8);
  }
  void float32(std::uint32_t field, float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    fixed32(field, bits);
  }
  // A field as Reader::raw() gave it.
  void raw(std::string_view field) { out_->append(field); }
  // One element of a packed field; the caller writes the whole with bytes().
  static void pack(std::string* packed, std::uint64_t value) { Writer(packed).put_varint(value); }

 private:
  void tag(std::uint32_t field, Type type) {
    put_varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }
  void put_varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_->push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_->push_back(static_cast<char>(value));
  }
  void put_fixed(std::uint64_t value, unsigned size) {
    for (unsigned k = 0; k < size; ++k) out_->push_back(static_cast<char>(value >> (8 * k)));
  }

  std::string* out_;
};

}  // namespace drystone::wire

#endif  // DRYSTONE_SDK_WIRE_HPP_
