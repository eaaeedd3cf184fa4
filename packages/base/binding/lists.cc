// Tensor lists of the host library for Python: see binding/lists.h.
#include "binding/lists.h"

#include <cstdint>
#include <vector>

#include "binding/arrays.h"
#include "drystone/sdk/dtype.hpp"

namespace drystone::binding {
namespace {

TF_Tensor* tensor_at(PyObject* address) { return static_cast<TF_Tensor*>(PyLong_AsVoidPtr(address)); }

// Numbers of a sequence; -1 entries of shapes included. False with an exception set.
bool read_numbers(PyObject* sequence, std::vector<std::int64_t>* out) {
  const Py_ssize_t count = PySequence_Size(sequence);
  for (Py_ssize_t k = 0; k < count; ++k) {
    const Ref item(PySequence_GetItem(sequence, k));
    if (!item) return false;
    out->push_back(PyLong_AsLongLong(item.get()));
  }
  return PyErr_Occurred() == nullptr;
}

// Tensors of a scope; NULL for what is unset.
struct Items {
  std::vector<TF_Tensor*> all;
  ~Items() {
    for (TF_Tensor* item : all) host.TF_DeleteTensor(item);
  }
};

// A value of a list: None, an array, or the address of a tensor, which is taken over.
bool read_item(PyObject* value, int dtype, Items* out) {
  out->all.push_back(nullptr);
  if (value == Py_None) return true;
  TF_Tensor*& item = out->all.back();
  if (PyLong_Check(value)) item = tensor_at(value);
  else if (dtype == TF_STRING) item = strings_of(value);
  else item = tensor_of(value, static_cast<TF_DataType>(dtype), false);
  return item != nullptr;
}

// new_list(dtype, dims or None, limit, items) -> address of a tensor
PyObject* new_list(PyObject*, PyObject* args) {
  int dtype = 0;
  long long limit = -1;
  PyObject *shape = nullptr, *values = nullptr;
  if (PyArg_ParseTuple(args, "iOLO", &dtype, &shape, &limit, &values) == 0) return nullptr;
  std::vector<std::int64_t> dims;
  if (shape != Py_None && !read_numbers(shape, &dims)) return nullptr;
  Items items;
  const Py_ssize_t count = PySequence_Size(values);
  for (Py_ssize_t k = 0; k < count; ++k) {
    const Ref value(PySequence_GetItem(values, k));
    if (!value || !read_item(value.get(), dtype, &items)) return nullptr;
  }
  const std::int64_t none = 0;
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  facts.dtype = static_cast<TF_DataType>(dtype);
  facts.rank = shape == Py_None ? -1 : static_cast<std::int32_t>(dims.size());
  facts.dims = dims.empty() ? &none : dims.data();
  facts.length = count;
  facts.limit = limit;
  TF_Tensor* made = host.DS_NewListTensor(&facts, items.all.data(), nullptr);
  if (made == nullptr) return PyErr_Format(PyExc_ValueError, "no list can be made of dtype %s", sdk::dtype_name(dtype).c_str());
  return PyLong_FromVoidPtr(made);
}

PyObject* shape_of(const DS_ListFacts& facts) {
  if (facts.rank < 0) Py_RETURN_NONE;
  Ref out(PyTuple_New(facts.rank));
  for (int k = 0; k < facts.rank && out; ++k) {
    PyTuple_SetItem(out.get(), k, PyLong_FromLongLong(facts.dims[k]));
  }
  return out.release();
}

// list_parts(address of a tensor) -> (dtype, dims or None, limit, items), or None for no list
PyObject* list_parts(PyObject*, PyObject* address) {
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  const DS_TensorList* list = host.DS_ListOfTensor(tensor_at(address), &facts);
  if (list == nullptr) Py_RETURN_NONE;
  const Ref shape(shape_of(facts));
  const Ref items(PyList_New(static_cast<Py_ssize_t>(facts.length)));
  if (!shape || !items) return nullptr;
  for (std::int64_t k = 0; k < facts.length; ++k) {
    TF_Tensor* item = host.DS_ListTensorItem(list, k);
    PyObject* value = item == nullptr ? Ref::borrow(Py_None).release() : array_of(item);
    if (value == nullptr || PyList_SetItem(items.get(), static_cast<Py_ssize_t>(k), value) != 0) return nullptr;
  }
  return Py_BuildValue("iOLO", static_cast<int>(facts.dtype), shape.get(),
                       static_cast<long long>(facts.limit), items.get());
}

// foreign_tensor(dtype, dims, object) -> address of a tensor
PyObject* foreign_tensor(PyObject*, PyObject* args) {
  int dtype = 0;
  PyObject *shape = nullptr, *object = nullptr;
  if (PyArg_ParseTuple(args, "iOO", &dtype, &shape, &object) == 0) return nullptr;
  std::vector<std::int64_t> dims;
  if (!read_numbers(shape, &dims)) return nullptr;
  Py_INCREF(object);
  TF_Tensor* made = host.DS_NewForeignTensor(static_cast<TF_DataType>(dtype), dims.data(),
                                             static_cast<int>(dims.size()), object, give_back);
  return made == nullptr ? PyErr_NoMemory() : PyLong_FromVoidPtr(made);
}

// share_tensor(address) -> address of another handle
PyObject* share_tensor(PyObject*, PyObject* address) {
  TF_Tensor* made = host.DS_ShareTensor(tensor_at(address));
  return made == nullptr ? PyErr_NoMemory() : PyLong_FromVoidPtr(made);
}

PyObject* delete_tensor(PyObject*, PyObject* address) {
  host.TF_DeleteTensor(tensor_at(address));
  collect();
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"new_list", new_list, METH_VARARGS, "new_list(dtype, dims, limit, items): a tensor's address."},
    {"list_parts", list_parts, METH_O, "list_parts(address): what a list consists of, or None."},
    {"foreign_tensor", foreign_tensor, METH_VARARGS, "foreign_tensor(dtype, dims, object): a tensor's address."},
    {"share_tensor", share_tensor, METH_O, "share_tensor(address): another handle's address."},
    {"delete_tensor", delete_tensor, METH_O, "delete_tensor(address)"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_lists(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace drystone::binding
