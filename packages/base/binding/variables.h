// Variables that live in the host library, by address.
#ifndef DRYSTONE_BINDING_VARIABLES_H_
#define DRYSTONE_BINDING_VARIABLES_H_

#include "binding/host.h"

namespace drystone::binding {

// Adds the functions to the module; false with an exception set.
bool add_variables(PyObject* module);

}  // namespace drystone::binding

#endif  // DRYSTONE_BINDING_VARIABLES_H_
