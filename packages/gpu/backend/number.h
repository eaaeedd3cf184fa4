// Numbers of 16 bits, and reading and writing elements of any type as the lanes of kernels.
#pragma once

#include <cstdint>
#include <cstring>

#include "value.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#if defined(__CUDA_ARCH__)
#define DS_BOTH __host__ __device__ __forceinline__
#elif defined(__CUDACC__)
#define DS_BOTH __host__ __device__ inline  // what the processor runs need not be fast
#else
#define DS_BOTH inline
#endif

namespace drystone::gpu {

DS_BOTH float float_of_bits(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

DS_BOTH std::uint32_t bits_of_float(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

DS_BOTH float from_bf16(std::uint16_t bits) {
  return float_of_bits(static_cast<std::uint32_t>(bits) << 16);
}

// Rounded to nearest, ties to even; a NaN stays one.
DS_BOTH std::uint16_t to_bf16(float value) {
#if defined(__CUDA_ARCH__)
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
  const std::uint32_t bits = bits_of_float(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
#endif
}

DS_BOTH float from_f16(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(bits));
#else
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
  if (exponent == 31) return float_of_bits(sign | 0x7F800000u | fraction << 13);
  if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 5.9604644775390625e-08f;  // 2^-24
  return sign != 0 ? -small : small;
#endif
}

DS_BOTH std::uint16_t to_f16(float value) {
#if defined(__CUDA_ARCH__)
  return __half_as_ushort(__float2half_rn(value));
#else
  const std::uint32_t bits = bits_of_float(value), size = bits & 0x7FFFFFFFu;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  if (size > 0x7F800000u) return sign | 0x7E00u;
  if (size >= 0x477FF000u) return sign | 0x7C00u;  // rounds to infinity
  if (size < 0x38800000u) {                        // below 2^-14: a multiple of 2^-24
    const float scaled = float_of_bits(size) + 0.5f;
    return sign | static_cast<std::uint16_t>(bits_of_float(scaled) - 0x3F000000u);
  }
  const std::uint32_t rounded = size + 0xFFFu + (size >> 13 & 1u);
  return sign | static_cast<std::uint16_t>((rounded - 0x38000000u) >> 13);
#endif
}

// What a conversion to a whole number gives on x86: the smallest number for all that does not fit.
DS_BOTH std::int32_t to_i32(float value) {
  return value >= -2147483648.0f && value < 2147483648.0f ? static_cast<std::int32_t>(value)
                                                          : INT32_MIN;
}
DS_BOTH std::int64_t to_i64(float value) {
  return value >= -9223372036854775808.0f && value < 9223372036854775808.0f
             ? static_cast<std::int64_t>(value)
             : INT64_MIN;
}

// Lanes are float for floating-point programs, and int64 for those of whole numbers and booleans.
template <class Lane>
DS_BOTH Lane load(const void* data, Type type, std::uint32_t at) {
  switch (type) {
    case Type::f32: return static_cast<Lane>(static_cast<const float*>(data)[at]);
    case Type::f16: return static_cast<Lane>(from_f16(static_cast<const std::uint16_t*>(data)[at]));
    case Type::bf16:
      return static_cast<Lane>(from_bf16(static_cast<const std::uint16_t*>(data)[at]));
    case Type::i32: return static_cast<Lane>(static_cast<const std::int32_t*>(data)[at]);
    case Type::i64: return static_cast<Lane>(static_cast<const std::int64_t*>(data)[at]);
    default: return static_cast<Lane>(static_cast<const std::uint8_t*>(data)[at]);
  }
}

DS_BOTH void store(void* data, Type type, std::uint32_t at, float value) {
  switch (type) {
    case Type::f32: static_cast<float*>(data)[at] = value; break;
    case Type::f16: static_cast<std::uint16_t*>(data)[at] = to_f16(value); break;
    case Type::bf16: static_cast<std::uint16_t*>(data)[at] = to_bf16(value); break;
    case Type::i32: static_cast<std::int32_t*>(data)[at] = to_i32(value); break;
    case Type::i64: static_cast<std::int64_t*>(data)[at] = to_i64(value); break;
    case Type::b8: static_cast<std::uint8_t*>(data)[at] = value != 0.0f; break;
    default: static_cast<std::uint8_t*>(data)[at] = static_cast<std::uint8_t>(to_i32(value));
  }
}

DS_BOTH void store(void* data, Type type, std::uint32_t at, std::int64_t value) {
  switch (type) {
    case Type::i32: static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(value); break;
    case Type::i64: static_cast<std::int64_t*>(data)[at] = value; break;
    case Type::b8: static_cast<std::uint8_t*>(data)[at] = value != 0; break;
    case Type::u8: static_cast<std::uint8_t*>(data)[at] = static_cast<std::uint8_t>(value); break;
    default: store(data, type, at, static_cast<float>(value));
  }
}

// Width elements in a row; `at` is a multiple of Width, and so is what `data` is aligned to.
template <class Lane, int Width>
DS_BOTH void load_row(const void* data, Type type, std::uint32_t at, Lane* to) {
#if defined(__CUDA_ARCH__)
  if constexpr (Width == 8 && sizeof(Lane) == sizeof(float)) {
    if (type == Type::bf16 || type == Type::f16) {
      const uint4 all = static_cast<const uint4*>(data)[at / 8];
      const std::uint32_t pairs[4] = {all.x, all.y, all.z, all.w};
      for (int j = 0; j < 8; ++j) {
        const auto bits = static_cast<std::uint16_t>(pairs[j / 2] >> (j % 2 * 16));
        to[j] = type == Type::bf16 ? from_bf16(bits) : from_f16(bits);
      }
      return;
    }
  }
  if constexpr (Width == 4 && sizeof(Lane) == sizeof(float)) {
    if (type == Type::f32) {
      const float4 all = static_cast<const float4*>(data)[at / 4];
      to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
      return;
    }
    if (type == Type::bf16 || type == Type::f16) {
      const ushort4 all = static_cast<const ushort4*>(data)[at / 4];
      const std::uint16_t bits[4] = {all.x, all.y, all.z, all.w};
      for (int j = 0; j < 4; ++j)
        to[j] = type == Type::bf16 ? from_bf16(bits[j]) : from_f16(bits[j]);
      return;
    }
  }
#endif
  for (int j = 0; j < Width; ++j) to[j] = load<Lane>(data, type, at + j);
}

template <class Lane, int Width>
DS_BOTH void store_row(void* data, Type type, std::uint32_t at, const Lane* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (Width == 8 && sizeof(Lane) == sizeof(float)) {
    if (type == Type::bf16 || type == Type::f16) {
      std::uint32_t pairs[4] = {};
      for (int j = 0; j < 8; ++j) {
        const std::uint32_t bits = type == Type::bf16 ? to_bf16(from[j]) : to_f16(from[j]);
        pairs[j / 2] |= bits << (j % 2 * 16);
      }
      static_cast<uint4*>(data)[at / 8] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
      return;
    }
  }
  if constexpr (Width == 4 && sizeof(Lane) == sizeof(float)) {
    if (type == Type::f32) {
      static_cast<float4*>(data)[at / 4] = make_float4(from[0], from[1], from[2], from[3]);
      return;
    }
    if (type == Type::bf16 || type == Type::f16) {
      std::uint16_t bits[4];
      for (int j = 0; j < 4; ++j) bits[j] = type == Type::bf16 ? to_bf16(from[j]) : to_f16(from[j]);
      static_cast<ushort4*>(data)[at / 4] = make_ushort4(bits[0], bits[1], bits[2], bits[3]);
      return;
    }
  }
#endif
  for (int j = 0; j < Width; ++j) store(data, type, at + j, from[j]);
}

}  // namespace drystone::gpu
