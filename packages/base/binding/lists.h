// Tensor lists of the host library for Python.
#ifndef DRYSTONE_BINDING_LISTS_H_
#define DRYSTONE_BINDING_LISTS_H_

#include "binding/host.h"

namespace drystone::binding {

bool add_lists(PyObject* module);

}  // namespace drystone::binding

#endif  // DRYSTONE_BINDING_LISTS_H_
