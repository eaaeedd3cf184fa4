// Variables of the host library for Python: see binding/variables.h.
#include "binding/variables.h"

#include "binding/arrays.h"
#include "drystone/sdk/dtype.hpp"

namespace drystone::binding {
namespace {

// Addresses are those of DS_Variables: made by new_variable, given back by delete_variable.
DS_Variable* variable_at(PyObject* address) {
  return static_cast<DS_Variable*>(PyLong_AsVoidPtr(address));
}

// new_variable(name, dtype, value or None) -> address
PyObject* new_variable(PyObject*, PyObject* args) {
  const char* name = nullptr;
  int dtype = 0;
  PyObject* value = nullptr;
  if (PyArg_ParseTuple(args, "yiO", &name, &dtype, &value) == 0) return nullptr;
  TF_Tensor* tensor = nullptr;
  if (value != Py_None) {
    tensor = dtype == TF_STRING ? strings_of(value) : tensor_of(value, static_cast<TF_DataType>(dtype), true);
    if (tensor == nullptr) return nullptr;
  }
  DS_Variable* made = host.DS_NewVariable(name, nullptr, static_cast<TF_DataType>(dtype), tensor, nullptr);
  host.TF_DeleteTensor(tensor);
  if (made == nullptr) return PyErr_Format(PyExc_ValueError, "no variable can be made of dtype %s", sdk::dtype_name(dtype).c_str());
  return PyLong_FromVoidPtr(made);
}

// variable_value(address) -> array, or None without a value
PyObject* variable_value(PyObject*, PyObject* address) {
  TF_Tensor* tensor = host.DS_VariableTensor(variable_at(address), nullptr);
  if (tensor == nullptr) Py_RETURN_NONE;
  return array_of(tensor);
}

// variable_version(address) -> its version
PyObject* variable_version(PyObject*, PyObject* address) {
  return PyLong_FromLongLong(host.DS_VariableVersion(variable_at(address)));
}

// set_variable(address, dtype, value or None)
PyObject* set_variable(PyObject*, PyObject* args) {
  PyObject* address = nullptr;
  int dtype = 0;
  PyObject* value = nullptr;
  if (PyArg_ParseTuple(args, "OiO", &address, &dtype, &value) == 0) return nullptr;
  TF_Tensor* tensor = nullptr;
  if (value != Py_None) {
    tensor = dtype == TF_STRING ? strings_of(value) : tensor_of(value, static_cast<TF_DataType>(dtype), false);
    if (tensor == nullptr) return nullptr;
  }
  host.DS_SetVariable(variable_at(address), tensor, nullptr);
  host.TF_DeleteTensor(tensor);
  Py_RETURN_NONE;
}

// variable_handle(address) -> address of a new resource tensor that stands for it
PyObject* variable_handle(PyObject*, PyObject* address) {
  return PyLong_FromVoidPtr(host.DS_VariableHandle(variable_at(address), nullptr));
}

// share_variable(address) -> address of another handle of the same variable
PyObject* share_variable(PyObject*, PyObject* address) {
  return PyLong_FromVoidPtr(host.DS_ShareVariable(variable_at(address)));
}

PyObject* delete_variable(PyObject*, PyObject* address) {
  host.DS_DeleteVariable(variable_at(address));
  collect();
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"new_variable", new_variable, METH_VARARGS, "new_variable(name, dtype, value): its address."},
    {"variable_value", variable_value, METH_O, "variable_value(address): an array, or None."},
    {"variable_version", variable_version, METH_O, "variable_version(address): 0 without a value."},
    {"set_variable", set_variable, METH_VARARGS, "set_variable(address, dtype, value)"},
    {"variable_handle", variable_handle, METH_O, "variable_handle(address): a resource tensor's address."},
    {"share_variable", share_variable, METH_O, "share_variable(address): another handle's address."},
    {"delete_variable", delete_variable, METH_O, "delete_variable(address)"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_variables(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace drystone::binding
