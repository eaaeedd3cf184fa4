// What follows a layer, element by element.
#pragma once

#include "number.h"
#include "windows.h"

namespace drystone::gpu {

// A NaN among the two is the result.
DS_BOTH float larger(float a, float b) {
#if defined(__CUDA_ARCH__)
  float found;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));
  return found;
#else
  return a > b || a != a ? a : b;
#endif
}
DS_BOTH float smaller(float a, float b) {
#if defined(__CUDA_ARCH__)
  float found;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));
  return found;
#else
  return a < b || a != a ? a : b;
#endif
}

DS_BOTH float activated(Activation activation, float value) {
  if (activation != Activation::none) value = larger(value, 0.0f);
  return activation == Activation::relu6 ? smaller(value, 6.0f) : value;
}

DS_BOTH float finished(const After& after, Type type, std::uint32_t at, std::uint32_t channel,
                       float value) {
  if (after.bias != nullptr) value += load<float>(after.bias, type, channel);
  if (after.residual != nullptr) value += load<float>(after.residual, type, at);
  return activated(after.activation, value);
}

// The same for Width channels in a row.
template <int Width>
DS_BOTH void finish_row(const After& after, Type type, std::uint32_t at, std::uint32_t channel,
                        float* values) {
  float added[Width];
  if (after.bias != nullptr) {
    load_row<float, Width>(after.bias, type, channel, added);
    for (int j = 0; j < Width; ++j) values[j] += added[j];
  }
  if (after.residual != nullptr) {
    load_row<float, Width>(after.residual, type, at, added);
    for (int j = 0; j < Width; ++j) values[j] += added[j];
  }
  for (int j = 0; j < Width; ++j) values[j] = activated(after.activation, values[j]);
}

}  // namespace drystone::gpu
