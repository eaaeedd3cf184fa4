// What scatters, segments and assignments do to a run of elements: one function per operation and
// dtype, looked up when a kernel runs.
#ifndef DRYSTONE_CPU_PLAIN_COMBINE_H_
#define DRYSTONE_CPU_PLAIN_COMBINE_H_

#include "core/moving.h"

namespace drystone::cpu {

// NaN wins kMin and kMax; of kLesser and kGreater what is there stays where either is NaN.
enum class Operation { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax, kLesser, kGreater };

// out[k] = operation(out[k], in[k * step]) for k below count; step is 0 or 1.
using Combine = void (*)(void* out, const void* in, std::int64_t count, std::int64_t step);

// Integers wrap, and are divided towards zero (never by zero: check).
// Floats of 16 bits are rounded after each operation. Null for a dtype that has no such operation.
Combine combine_of(Operation operation, TF_DataType dtype);

// The dtypes that have it.
std::vector<TF_DataType> types_of(Operation operation);

// Whether the operation is a division by 0 somewhere in the tensor: an integer, or any number.
bool divides_by_zero(Operation operation, const Tensor& by, bool floats_too);

// Index vectors [..., depth] as row numbers of a tensor whose first dims they index. Fails for one
// outside, or makes it -1 where `ignores`.
const std::int64_t* row_numbers(const Call& call, const Tensor& indices, DimsView limits,
                                bool ignores);

// Fails unless every index lies in [0, limit).
void check_below(const Tensor& indices, std::int64_t limit, const char* what = "indices");

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_PLAIN_COMBINE_H_
