// The host library's functions, as addresses that Python found in the library it opened.
#ifndef DRYSTONE_BINDING_HOST_H_
#define DRYSTONE_BINDING_HOST_H_

#include "binding/python.h"
#include "drystone/session.h"
#include "drystone_host/core.h"
#include "drystone_host/dlpack.h"

namespace drystone::binding {

// One line for each function that is used.
#define DRYSTONE_HOST_FUNCTIONS(X) \
  X(TF_NewStatus)                  \
  X(TF_DeleteStatus)               \
  X(TF_GetCode)                    \
  X(TF_Message)                    \
  X(TF_SetStatus)                  \
  X(TF_ForEachPayload)             \
  X(TF_AllocateTensor)             \
  X(TF_DeleteTensor)               \
  X(TF_TensorType)                 \
  X(TF_NumDims)                    \
  X(TF_Dim)                        \
  X(TF_TensorData)                 \
  X(TF_TensorByteSize)             \
  X(TF_NewTensor)                  \
  X(DS_ShareTensor)                \
  X(DS_TensorIsExclusive)          \
  X(DS_MarkTensorShared)           \
  X(DS_NewFeed)                    \
  X(DS_NewOpaqueTensor)            \
  X(DS_NewStoredTensor)            \
  X(DS_ScaleStoredTensor)          \
  X(DS_OpaqueObject)               \
  X(DS_NewSession)                 \
  X(DS_DeleteSession)              \
  X(DS_ResetSession)               \
  X(DS_NewPlan)                    \
  X(DS_DeletePlan)                 \
  X(DS_PlanNumFeeds)               \
  X(DS_PlanNumFetches)             \
  X(DS_PlanFeedType)               \
  X(DS_DescribePlan)               \
  X(DS_NewCancellation)            \
  X(DS_DeleteCancellation)         \
  X(DS_Cancel)                     \
  X(DS_RunPlan)                    \
  X(DS_SetAttention)               \
  X(DS_NewVariable)                \
  X(DS_DeleteVariable)             \
  X(DS_ShareVariable)              \
  X(DS_VariableTensor)             \
  X(DS_VariableVersion)            \
  X(DS_SetVariable)                \
  X(DS_VariableHandle)             \
  X(DS_NewListTensor)              \
  X(DS_ListOfTensor)               \
  X(DS_ListTensorItem)             \
  X(DS_NewForeignTensor)           \
  X(DS_ForeignObject)              \
  X(DS_TensorDevice)

struct Host {
// NOLINTNEXTLINE(bugprone-macro-parentheses): what is declared cannot be in brackets
#define DRYSTONE_MEMBER(name) decltype(&::name) name = nullptr;
  DRYSTONE_HOST_FUNCTIONS(DRYSTONE_MEMBER)
#undef DRYSTONE_MEMBER
};

extern Host host;

// bind(addresses): a mapping of names to addresses. Raises KeyError for a function that is missing.
PyObject* bind(PyObject* module, PyObject* addresses);

}  // namespace drystone::binding

#endif  // DRYSTONE_BINDING_HOST_H_
