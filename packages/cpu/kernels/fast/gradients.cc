// Gradients of activations and functions: of two tensors of one shape.
#include <cmath>

#include "fast/elementwise.h"
#include "fast/vector_math.h"

namespace drystone::cpu {
namespace {

struct Alike {
  static constexpr Shapes kShapes = Shapes::equal;
};
struct AlikeInCount {
  static constexpr Shapes kShapes = Shapes::equal_count;
};

inline float exp_of(float x) { return vector_math::exp(x); }
inline double exp_of(double x) { return std::exp(x); }

// Of a gradient and the features. A product with 0, so that NaN stays NaN.
struct ReluGradOp : Alike {
  template <class T>
  T operator()(T dy, T x) const {
    return static_cast<T>(dy * (x > T(0) ? T(1) : T(0)));
  }
};
struct Relu6GradOp : Alike {
  template <class T>
  T operator()(T dy, T x) const {
    return static_cast<T>(dy * ((x > T(0)) & (x < T(6)) ? T(1) : T(0)));
  }
};
struct SoftplusGradOp : Alike {
  static constexpr std::uint16_t kCost = 8;
  template <class T>
  T operator()(T dy, T x) const {
    return dy / (exp_of(-x) + 1);
  }
};
struct SoftsignGradOp : Alike {
  template <class T>
  T operator()(T dy, T x) const {
    const T sum = std::fabs(x) + 1;
    return dy / (sum * sum);
  }
};
// Of a gradient and the outputs.
struct EluGradOp : Alike {
  template <class T>
  T operator()(T dy, T y) const {
    const T low = (y + 1) * dy;
    return y < 0 ? low : dy;
  }
};
struct SeluGradOp : Alike {
  template <class T>
  T operator()(T dy, T y) const {
    const T low = dy * (y + static_cast<T>(1.0507009873554805 * 1.6732632423543772));
    const T high = dy * static_cast<T>(1.0507009873554805);
    return y < 0 ? low : high;
  }
};
// Of the outputs and a gradient.
struct SigmoidGradOp : AlikeInCount {
  template <class T>
  T operator()(T y, T dy) const {
    return dy * y * (1 - y);
  }
};
struct TanhGradOp : AlikeInCount {
  template <class T>
  T operator()(T y, T dy) const {
    return dy * (1 - y * y);
  }
};
struct SqrtGradOp : AlikeInCount {
  template <class T>
  T operator()(T y, T dy) const {
    return dy * T(0.5) / y;
  }
};
struct RsqrtGradOp : AlikeInCount {
  template <class T>
  T operator()(T y, T dy) const {
    return dy * T(-0.5) * (y * y * y);
  }
};
struct ReciprocalGradOp : AlikeInCount {
  template <class T>
  T operator()(T y, T dy) const {
    return -dy * (y * y);
  }
};

}  // namespace

void add_gradients() {
  add_float_binary<ReluGradOp>("ReluGrad");
  add_binary<ReluGradOp>("ReluGrad", Signed{});
  add_binary<ReluGradOp>("ReluGrad", Unsigned{});
  add_float_binary<Relu6GradOp>("Relu6Grad");
  add_binary<Relu6GradOp>("Relu6Grad", Signed{});
  add_binary<Relu6GradOp>("Relu6Grad", Unsigned{});
  add_float_binary<SoftplusGradOp>("SoftplusGrad");
  add_float_binary<SoftsignGradOp>("SoftsignGrad");
  add_float_binary<EluGradOp>("EluGrad");
  add_float_binary<SeluGradOp>("SeluGrad");
  add_float_binary<SigmoidGradOp>("SigmoidGrad");
  add_float_binary<TanhGradOp>("TanhGrad");
  add_float_binary<SqrtGradOp>("SqrtGrad");
  add_float_binary<RsqrtGradOp>("RsqrtGrad");
  add_float_binary<ReciprocalGradOp>("ReciprocalGrad");
  add_float_binary<ReciprocalGradOp>("InvGrad");
}

}  // namespace drystone::cpu
