// A row times a constant matrix: dense layers and convolutions of one example, one place.
#ifndef DRYSTONE_CPU_DNNL_PACKED_GEMV_H_
#define DRYSTONE_CPU_DNNL_PACKED_GEMV_H_

#include "dnnl/gemv.h"
#include "dnnl/weights.h"

namespace drystone::cpu::dnnl_part {

class PackedGemv {
 public:
  struct Sizes {
    std::int64_t depth;
    std::int64_t width;
  };

  // y[width] = x[depth] times the call's constant input `i`, whose elements are w[depth][width], and
  // `bias` added where there is one. Needs has_gemv(). With several `threads` strips are shared.
  void run(const Call& call, int i, const Tensor& w, const Sizes& sizes, const float* x,
           const float* bias, float* y, int threads);

 private:
  Plans<Packing> orders_;
  Weights weights_;
};

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_PACKED_GEMV_H_
