// NumPy arrays to tensors of the host library and back. All functions need the GIL.
#ifndef DRYSTONE_BINDING_ARRAYS_H_
#define DRYSTONE_BINDING_ARRAYS_H_

#include "binding/host.h"

namespace drystone::binding {

// set_dtypes(table): NumPy dtypes by number of TensorFlow's; None for a dtype without one, a function
// without arguments for one that is found when it is needed.
PyObject* set_dtypes(PyObject* module, PyObject* table);

// set_resolver(function): what stands for a tensor that holds handles of the host library's, or lies on a device:
// that one it takes over.
PyObject* set_resolver(PyObject* module, PyObject* function);

// A new tensor of an array, which must have the dtype's layout: its memory is shared where it is
// aligned and `copy` is not wanted. An array of another dtype is converted, or refused unless
// `may_cast`. Dtype 0, object arrays and anything that is no array become opaque, which
// keeps the object alive. NULL with an exception set.
TF_Tensor* tensor_of(PyObject* value, TF_DataType dtype, bool copy, bool may_cast = true);

// The same for a feed of a run, which makes a copy itself where it takes long.
TF_Tensor* feed_of(PyObject* value, TF_DataType dtype, bool copy);

// stored_tensor(owner, descriptor, offset, dtype, dims): a capsule that holds a tensor whose elements
// are in a file, see DS_NewStoredTensor; `owner` keeps the descriptor open.
PyObject* stored_tensor(PyObject* module, PyObject* args);

// A new handle of the tensor in such a capsule; NULL, without an exception, for anything else.
TF_Tensor* stored_of(PyObject* value);

// device_tensor(address): a capsule that holds a handle of a tensor on a device, which feed_of() takes.
PyObject* device_tensor(PyObject* module, PyObject* address);

// A tensor of strings out of an object array of bytes.
TF_Tensor* strings_of(PyObject* array);

// What a tensor stands for, as a new reference: an array, or the object of an opaque one. Takes the
// tensor over.
PyObject* array_of(TF_Tensor* tensor);

// Give back an object of the host library's, from any thread: collect() does the rest.
void give_back(void* object);

// Give back objects whose tensors went while other threads ran.
void collect();

// Whether the value is a plain array of exactly this dtype, in the machine's byte order.
bool is_array_of(PyObject* value, TF_DataType dtype);

}  // namespace drystone::binding

#endif  // DRYSTONE_BINDING_ARRAYS_H_
