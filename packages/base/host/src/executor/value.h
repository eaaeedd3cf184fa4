// Values of a run: tensors that several holders share, references to variables, and "dead".
#ifndef DRYSTONE_HOST_EXECUTOR_VALUE_H_
#define DRYSTONE_HOST_EXECUTOR_VALUE_H_

#include "core/tensor.h"
#include "drystone_host/kernels.h"

namespace drystone::host::executor {

// The dtype of values that stand for variables. No constant expression, as the enumeration ends before.
inline const auto kReference = static_cast<TF_DataType>(100);

// Whether it is an object of the embedder's in the place of numbers.
inline bool is_opaque(const TF_Tensor* value) noexcept { return value->memory != nullptr && value->memory->opaque; }

// The value of an output that was not computed. Never held, dropped or read.
TF_Tensor* dead() noexcept;

// A value that stands for a variable; takes the handle over.
TF_Tensor* new_reference(DS_Variable* variable);
// The variable, borrowed, or NULL for a value that is none.
DS_Variable* reference(const TF_Tensor* value) noexcept;

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_VALUE_H_
