// Ops that look whether values are as they must be, and bytes seen as another dtype.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/family.h"
#include "core/lists.h"
#include "core/moving.h"
#include "core/text.h"
#include "core/widen.h"

namespace drystone::cpu {
namespace {

// Elements of a tensor as TensorFlow shows them in one line.
class Shown {
 public:
  Shown(const Tensor& x, std::int64_t limit) : x_(x), left_(limit < 0 ? x.count() : limit) {
    put(0, 0, x.count());
    if (x.rank() > 1 && limit >= 0 && x.count() > limit) text_ += "...";
  }
  const std::string& text() const { return text_; }

 private:
  void put(int dim, std::int64_t first, std::int64_t count) {
    if (dim == x_.rank()) {
      put_element(first);
      return;
    }
    const std::int64_t rows = x_.dim(dim);
    const bool is_last = dim + 1 == x_.rank();
    std::int64_t k = 0;
    for (; k < rows && left_ > 0; ++k) {
      if (is_last) {
        if (k > 0) text_ += ' ';
        put_element(first + k);
        --left_;
      } else {
        text_ += '[';
        put(dim + 1, first + k * (count / rows), count / rows);
        text_ += ']';
      }
    }
    if (is_last && k < rows) text_ += "...";
  }
  void put_element(std::int64_t k) {
    switch (x_.dtype()) {
      case TF_STRING: return put_string(text_of(x_, k));
      case TF_BOOL: text_ += x_.as<bool>()[k] ? '1' : '0'; return;
      case TF_FLOAT: return put_float(x_.as<float>()[k]);
      case TF_HALF: return put_float(to_float(x_.as<Half>()[k]));
      case TF_BFLOAT16: return put_float(to_float(x_.as<BFloat16>()[k]));
      case TF_DOUBLE: return put_real(x_.as<double>()[k], "%.15g", "%.17g", [](const char* s) {
        return std::strtod(s, nullptr);
      });
      case TF_COMPLEX64: case TF_COMPLEX128: text_ += '?'; return;
      default: break;
    }
    with_real(x_.dtype(), [&](auto type) { text_ += std::to_string(x_.as<decltype(type)>()[k]); });
  }
  void put_float(float value) {
    put_real(value, "%.6g", "%.9g", [](const char* s) { return std::strtof(s, nullptr); });
  }
  // The shorter of two forms that reads back as the same number.
  template <class T, class Read>
  void put_real(T value, const char* brief, const char* full, Read&& read) {
    char room[40];
    std::snprintf(room, sizeof room, brief, static_cast<double>(value));
    if (value == value && read(room) != value)
      std::snprintf(room, sizeof room, full, static_cast<double>(value));
    text_ += room;
  }
  void put_string(std::string_view bytes) {
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      char room[8] = {c, '\0'};
      if (c == '\t' || c == '\n' || c == '\r') {
        room[0] = '\\';
        room[1] = c == '\t' ? 't' : c == '\n' ? 'n' : 'r';
        room[2] = '\0';
      } else if (c == '"' || c == '\'' || c == '\\') {
        room[0] = '\\';
        room[1] = c;
        room[2] = '\0';
      } else if (byte < 32 || byte == 127) {
        std::snprintf(room, sizeof room, "\\%03o", static_cast<unsigned>(byte));
      }
      text_ += room[0] == '\0' ? std::string() : std::string(room);
    }
  }
  const Tensor& x_;
  std::int64_t left_;
  std::string text_;
};

class Assert {
 public:
  explicit Assert(const Node& node) : limit_(node.integer("summarize")) {}
  void compute(Call& call) const {
    const Tensor condition = call.input(0);
    require(condition.rank() == 0, "the condition must be a scalar");
    if (*condition.as<bool>()) return;
    std::string message = "assertion failed:";
    for (int i = 1; i < call.inputs(); ++i) {
      message += " [";
      message += Shown(call.input(i), limit_).text();
      message += ']';
    }
    fail(TF_INVALID_ARGUMENT, std::move(message));
  }

 private:
  std::int64_t limit_;
};

template <class T>
class CheckNumerics {
 public:
  explicit CheckNumerics(const Node& node) : message_(node.string("message")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    bool has_nan = false;
    bool has_infinity = false;
    for (std::int64_t k = 0; k < x.count(); ++k) {
      const Wide<T> value = widen(x.as<T>()[k]);
      has_nan |= value != value;
      has_infinity |= std::isinf(value);
    }
    if (has_nan || has_infinity) {
      const char* found = !has_infinity ? "NaN" : has_nan ? "NaN and Inf" : "Inf";
      fail(TF_INVALID_ARGUMENT,
           message_ + ": the tensor must hold finite numbers, and holds " + found);
    }
    call.share(0, 0, x.dims());
  }

 private:
  std::string message_;
};

// A shape as Python shows a list of its sizes, which is how the NumPy kernel says it.
std::string as_list(DimsView dims) {
  std::string out = "[";
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (k != 0) out += ", ";
    out += std::to_string(dims[k]);
  }
  return out + "]";
}

class EnsureShape {
 public:
  explicit EnsureShape(const Node& node) : shape_(shape_attr(node, "shape")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    if (!fits(shape_, x.dims())) {
      fail_check(TF_INVALID_ARGUMENT, "the tensor must have the shape that the node asserts",
                 as_list(x.dims()), as_list(*shape_));
    }
    call.share(0, 0, x.dims());
  }

 private:
  Shape shape_;
};

class Bitcast {
 public:
  explicit Bitcast(const Node& node)
      : from_(node.type("T")), to_(node.type("type")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    Dims dims(x.dims().begin(), x.dims().end());
    const auto in = static_cast<std::int64_t>(element_size(from_));
    const auto out = static_cast<std::int64_t>(element_size(to_));
    if (in > out) {
      dims.push_back(in / out);
    } else if (in < out) {
      if (dims.empty() || dims.back() != out / in) {
        fail(TF_INVALID_ARGUMENT, "Cannot bitcast: the last dimension must be " +
                                      std::to_string(out / in) + ", not that of shape " +
                                      text(x.dims()));
      }
      dims.pop_back();
    }
    if (from_ == to_) return call.share(0, 0, dims);
    copy_bytes(call.output(0, dims).write<char>(), x.data(), x.count() * in);
  }

 private:
  TF_DataType from_;
  TF_DataType to_;
};

template <class T>
void add_numerics(TF_DataType dtype) {
  add<CheckNumerics<T>>("CheckNumerics", {{"T", {dtype}}});
  add<CheckNumerics<T>>("CheckNumericsV2", {{"T", {dtype}}});
}

}  // namespace

const Family registered([] {
  add<Assert>("Assert");
  add<EnsureShape>("EnsureShape");
  add<Bitcast>("Bitcast", {{"T", plain_types()}, {"type", plain_types()}});
  add_numerics<float>(TF_FLOAT);
  add_numerics<double>(TF_DOUBLE);
  add_numerics<Half>(TF_HALF);
  add_numerics<BFloat16>(TF_BFLOAT16);
});

}  // namespace drystone::cpu
