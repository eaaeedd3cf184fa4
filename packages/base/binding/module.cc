// drystone_base._native: the hot calls from Python into the host library, for every Python from 3.11.
//
// It does not link the host library, which one place of the package opens: bind() is given addresses.
#define DRYSTONE_IMPORTS_NUMPY
#include "binding/arrays.h"
#include "binding/lists.h"
#include "binding/session.h"
#include "binding/variables.h"

namespace drystone::binding {
namespace {

PyObject* new_cancellation(PyObject*, PyObject*) {
  return PyLong_FromVoidPtr(host.DS_NewCancellation());
}

PyObject* cancel(PyObject*, PyObject* address) {
  host.DS_Cancel(static_cast<DS_Cancellation*>(PyLong_AsVoidPtr(address)));
  Py_RETURN_NONE;
}

PyObject* delete_cancellation(PyObject*, PyObject* address) {
  host.DS_DeleteCancellation(static_cast<DS_Cancellation*>(PyLong_AsVoidPtr(address)));
  Py_RETURN_NONE;
}

// value(address): the array or object of a tensor, which is taken over.
PyObject* value(PyObject*, PyObject* address) {
  auto* tensor = static_cast<TF_Tensor*>(PyLong_AsVoidPtr(address));
  return tensor == nullptr ? nullptr : array_of(tensor);
}

PyMethodDef functions[] = {
    {"bind", bind, METH_O, "bind(addresses): where the host library's functions are, by name."},
    {"set_resolver", set_resolver, METH_O, "set_resolver(function): (dtype, address of a tensor) -> value"},
    {"set_dtypes", set_dtypes, METH_O, "set_dtypes(table): NumPy dtypes by number."},
    {"stored_tensor", stored_tensor, METH_VARARGS,
     "stored_tensor(owner, descriptor, offset, dtype, dims, factors=None, inner=1): a tensor whose elements are in a file."},
    {"device_tensor", device_tensor, METH_O, "device_tensor(address): what runs take as a feed: a tensor on a device."},
    {"new_cancellation", new_cancellation, METH_NOARGS, "The address of a new DS_Cancellation."},
    {"cancel", cancel, METH_O, "cancel(address): stop the runs that were given it."},
    {"delete_cancellation", delete_cancellation, METH_O, "delete_cancellation(address)"},
    {"attend", attend, METH_O, "attend(keep): handle signals while the main thread waits in the host."},
    {"value", value, METH_O, "value(address): the array or object of a tensor, taken over."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "drystone_base._native", "Hot calls into the host library.", -1, functions,
    nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace drystone::binding

// NOLINTNEXTLINE(bugprone-reserved-identifier): CPython looks for that name
PyMODINIT_FUNC PyInit__native(void) {
  using namespace drystone::binding;
  import_array();
  Ref module(PyModule_Create(&definition));
  if (!module || !add_session(module.get()) || !add_plan(module.get()) || !add_aside(module.get()) ||
      !add_variables(module.get()) || !add_lists(module.get())) {
    return nullptr;
  }
  return module.release();
}
