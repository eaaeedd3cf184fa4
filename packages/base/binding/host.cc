// Addresses of the host library's functions: see binding/host.h.
#include "binding/host.h"

namespace drystone::binding {

Host host;

namespace {

bool find(PyObject* addresses, const char* name, void** out) {
  const Ref key(PyUnicode_FromString(name));
  if (!key) return false;
  const Ref value(PyObject_GetItem(addresses, key.get()));
  if (!value) return false;
  *out = PyLong_AsVoidPtr(value.get());
  return *out != nullptr || PyErr_Occurred() == nullptr;
}

}  // namespace

PyObject* bind(PyObject*, PyObject* addresses) {
  Host found;
  void* address = nullptr;
#define DRYSTONE_FIND(name)                          \
  if (!find(addresses, #name, &address)) return nullptr; \
  found.name = reinterpret_cast<decltype(found.name)>(address);
  DRYSTONE_HOST_FUNCTIONS(DRYSTONE_FIND)
#undef DRYSTONE_FIND
  host = found;
  Py_RETURN_NONE;
}

}  // namespace drystone::binding
