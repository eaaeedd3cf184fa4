// Arrays and tensors: see binding/arrays.h.
#include "binding/arrays.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "drystone/sdk/dtype.hpp"
#include "drystone/tstring.h"

namespace drystone::binding {
namespace {

constexpr int kDtypes = 64;
constexpr std::size_t kSmall = 2048;   // bytes: a copy costs less than sharing
constexpr std::size_t kLong = 1 << 20;  // bytes: a run copies them, which its deadline ends
constexpr std::size_t kAlignment = 64;

PyArray_Descr* descriptions[kDtypes];  // by TF_DataType; NULL: no such array, or none so far
PyObject* finders[kDtypes];            // likewise: () -> NumPy dtype, for what is found when it is needed

PyObject* resolver = nullptr;          // (dtype, address of a tensor) -> value, or raises

// Objects to give back, from threads that do not hold the GIL.
struct Waiting {
  std::mutex mutex;
  std::atomic<bool> any{false};
  std::vector<PyObject*> objects;
};

Waiting& waiting() {
  static auto* const queue = new Waiting();  // never destroyed: tensors may go during exit
  return *queue;
}

void give_back_array(void*, std::size_t, void* object) { give_back(object); }

void delete_tensor(PyObject* capsule) {
  host.TF_DeleteTensor(static_cast<TF_Tensor*>(PyCapsule_GetPointer(capsule, nullptr)));
}

constexpr const char* kStored = "drystone.stored";  // of capsules

void delete_stored(PyObject* capsule) {
  host.TF_DeleteTensor(static_cast<TF_Tensor*>(PyCapsule_GetPointer(capsule, kStored)));
  collect();  // nothing else may be called for long, and a descriptor is scarce
}

constexpr const char* kThere = "drystone.device";  // of capsules

void delete_there(PyObject* capsule) {
  host.TF_DeleteTensor(static_cast<TF_Tensor*>(PyCapsule_GetPointer(capsule, kThere)));
}

bool is_array(PyObject* value) { return PyArray_Check(value); }

TF_Tensor* opaque(PyObject* value, TF_DataType dtype) {
  Py_INCREF(value);
  TF_Tensor* out = host.DS_NewOpaqueTensor(value, dtype, give_back);
  if (out == nullptr) {
    Py_DECREF(value);
    PyErr_NoMemory();
  }
  return out;
}

// NULL where arrays have no such dtype, and, with an exception set, where it cannot be found.
PyArray_Descr* description_of(int dtype) {
  if (dtype < 0 || dtype >= kDtypes) return nullptr;
  if (descriptions[dtype] == nullptr && finders[dtype] != nullptr) {
    const Ref found(PyObject_CallFunction(finders[dtype], nullptr));
    PyArray_Descr* description = nullptr;
    if (!found || PyArray_DescrConverter(found.get(), &description) == 0) return nullptr;
    descriptions[dtype] = description;
  }
  return descriptions[dtype];
}

TF_Tensor* bad_dtype(int dtype) {
  if (PyErr_Occurred() == nullptr) {
    PyErr_Format(PyExc_TypeError, "dtype %s has no arrays of numbers", sdk::dtype_name(dtype).c_str());
  }
  return nullptr;
}

bool is_aligned(PyArrayObject* array) {
  return reinterpret_cast<std::uintptr_t>(PyArray_DATA(array)) % kAlignment == 0;
}

enum class Use : std::uint8_t { any, feed };

// A tensor of an array of the dtype's layout, which `owner` is. NULL with an exception set.
TF_Tensor* tensor_of_layout(Ref& owner, TF_DataType dtype, bool copy, Use use) {
  auto* array = reinterpret_cast<PyArrayObject*>(owner.get());
  const int rank = PyArray_NDIM(array);
  std::int64_t dims[NPY_MAXDIMS];
  for (int k = 0; k < rank; ++k) dims[k] = PyArray_DIM(array, k);
  const auto bytes = static_cast<std::size_t>(PyArray_NBYTES(array));
  const bool shares = !copy && bytes > kSmall && is_aligned(array);
  if (shares || (use == Use::feed && bytes > kLong)) {
    auto* make = shares ? host.TF_NewTensor : host.DS_NewFeed;
    TF_Tensor* out = make(dtype, dims, rank, PyArray_DATA(array), bytes, give_back_array, owner.get());
    if (out == nullptr) {
      PyErr_Format(PyExc_ValueError, "an array cannot become a tensor of dtype %s", sdk::dtype_name(dtype).c_str());
      return nullptr;
    }
    owner.release();
    host.DS_MarkTensorShared(out);  // with the owner of the array; a mapped file cannot be written
    return out;
  }
  TF_Tensor* out = host.TF_AllocateTensor(dtype, dims, rank, bytes);
  if (out == nullptr) PyErr_Format(PyExc_MemoryError, "no room for a tensor of %zu bytes", bytes);
  else if (bytes != 0) std::memcpy(host.TF_TensorData(out), PyArray_DATA(array), bytes);
  return out;
}

}  // namespace

void give_back(void* object) {
  Waiting& queue = waiting();
  const std::lock_guard lock(queue.mutex);
  queue.objects.push_back(static_cast<PyObject*>(object));
  queue.any.store(true, std::memory_order_release);
}

void collect() {
  Waiting& queue = waiting();
  if (!queue.any.load(std::memory_order_acquire)) return;
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(queue.mutex);
    objects.swap(queue.objects);
    queue.any.store(false, std::memory_order_release);
  }
  for (PyObject* object : objects) Py_DECREF(object);
}

PyObject* set_resolver(PyObject*, PyObject* function) {
  Py_INCREF(function);
  const Ref before(std::exchange(resolver, function));
  Py_RETURN_NONE;
}

PyObject* set_dtypes(PyObject*, PyObject* table) {
  const Py_ssize_t count = PySequence_Size(table);
  for (Py_ssize_t k = 0; k < count && k < kDtypes; ++k) {
    const Ref item(PySequence_GetItem(table, k));
    if (!item) return nullptr;
    PyArray_Descr* description = nullptr;
    if (PyCallable_Check(item.get()) != 0) {
      Py_INCREF(item.get());
      finders[k] = item.get();
      continue;
    }
    if (item.get() != Py_None && PyArray_DescrConverter(item.get(), &description) == 0) return nullptr;
    descriptions[k] = description;
  }
  Py_RETURN_NONE;
}

namespace {

TF_Tensor* made_of(PyObject* value, TF_DataType dtype, bool copy, bool may_cast, Use use) {
  if (PyCapsule_IsValid(value, kThere) != 0) {
    return host.DS_ShareTensor(static_cast<TF_Tensor*>(PyCapsule_GetPointer(value, kThere)));
  }
  if (!is_array(value) || static_cast<int>(dtype) == 0) return opaque(value, dtype);
  auto* array = reinterpret_cast<PyArrayObject*>(value);
  if (PyArray_TYPE(array) == NPY_OBJECT) return opaque(value, dtype);
  Ref owner = Ref::borrow(value);
  PyArray_Descr* wanted = description_of(dtype);
  if (wanted == nullptr) return bad_dtype(dtype);
  const bool casts = wanted->type_num != PyArray_TYPE(array);
  if (casts && !may_cast) {
    PyErr_Format(PyExc_TypeError, "an array of %S where %S is due", PyArray_DESCR(array), wanted);
    return nullptr;
  }
  if (casts || !PyArray_ISCARRAY_RO(array)) {
    Py_INCREF(reinterpret_cast<PyObject*>(wanted));
    owner = Ref(PyArray_FromArray(array, wanted, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST));
    if (!owner) return nullptr;
  }
  return tensor_of_layout(owner, dtype, copy, use);
}

}  // namespace

TF_Tensor* tensor_of(PyObject* value, TF_DataType dtype, bool copy, bool may_cast) {
  return made_of(value, dtype, copy, may_cast, Use::any);
}

TF_Tensor* feed_of(PyObject* value, TF_DataType dtype, bool copy) {
  return made_of(value, dtype, copy, true, Use::feed);
}

bool is_array_of(PyObject* value, TF_DataType dtype) {
  if (!PyArray_CheckExact(value)) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(value);
  const PyArray_Descr* wanted = description_of(dtype);
  if (wanted == nullptr) PyErr_Clear();  // what makes a tensor of it says so
  return wanted != nullptr && wanted->type_num == PyArray_TYPE(array) &&
         PyArray_ISNOTSWAPPED(array);
}

namespace {

// Takes the factors, an array of floats, or nothing for None. Whether it could.
bool scale(TF_Tensor* tensor, PyObject* factors, long long inner, TF_Status* status) {
  if (factors == Py_None) return true;
  auto* array = reinterpret_cast<PyArrayObject*>(factors);
  if (!is_array_of(factors, TF_FLOAT) || !PyArray_ISCARRAY_RO(array)) {
    PyErr_SetString(PyExc_ValueError, "factors must be an array of float32");
    return false;
  }
  host.DS_ScaleStoredTensor(tensor, static_cast<const float*>(PyArray_DATA(array)), PyArray_SIZE(array), inner,
                            status);
  if (host.TF_GetCode(status) == TF_OK) return true;
  PyErr_SetString(PyExc_ValueError, host.TF_Message(status));
  return false;
}

}  // namespace

PyObject* stored_tensor(PyObject*, PyObject* args) {
  PyObject *owner = nullptr, *shape = nullptr, *factors = Py_None;
  int descriptor = -1, dtype = 0;
  long long offset = 0, inner = 1;
  if (PyArg_ParseTuple(args, "OiLiO|OL", &owner, &descriptor, &offset, &dtype, &shape, &factors, &inner) == 0) return nullptr;
  const Py_ssize_t rank = PySequence_Size(shape);
  if (rank < 0) return nullptr;
  std::vector<std::int64_t> dims;
  for (Py_ssize_t k = 0; k < rank; ++k) {
    const Ref dim(PySequence_GetItem(shape, k));
    dims.push_back(dim ? PyLong_AsLongLong(dim.get()) : -1);
  }
  if (PyErr_Occurred() != nullptr) return nullptr;
  TF_Status* status = host.TF_NewStatus();
  Ref held = Ref::borrow(owner);
  TF_Tensor* tensor = host.DS_NewStoredTensor(static_cast<TF_DataType>(dtype), dims.data(), static_cast<int>(rank),
                                              descriptor, offset, give_back, held.get(), status);
  if (tensor == nullptr) PyErr_SetString(PyExc_ValueError, host.TF_Message(status));
  if (tensor != nullptr) held.release();
  if (tensor != nullptr && !scale(tensor, factors, inner, status)) {
    host.TF_DeleteTensor(tensor);
    tensor = nullptr;
  }
  host.TF_DeleteStatus(status);
  if (tensor == nullptr) return nullptr;
  PyObject* out = PyCapsule_New(tensor, kStored, delete_stored);
  if (out == nullptr) host.TF_DeleteTensor(tensor);
  return out;
}

PyObject* device_tensor(PyObject*, PyObject* address) {
  auto* given = static_cast<TF_Tensor*>(PyLong_AsVoidPtr(address));
  if (given == nullptr) return nullptr;
  TF_Tensor* tensor = host.DS_ShareTensor(given);
  PyObject* out = PyCapsule_New(tensor, kThere, delete_there);
  if (out == nullptr) host.TF_DeleteTensor(tensor);
  return out;
}

TF_Tensor* stored_of(PyObject* value) {
  if (PyCapsule_IsValid(value, kStored) == 0) return nullptr;
  return host.DS_ShareTensor(static_cast<TF_Tensor*>(PyCapsule_GetPointer(value, kStored)));
}

TF_Tensor* strings_of(PyObject* value) {
  if (!is_array(value) || PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value)) != NPY_OBJECT) {
    PyErr_SetString(PyExc_TypeError, "an object array of bytes is needed");
    return nullptr;
  }
  const Ref owner(PyArray_FromArray(reinterpret_cast<PyArrayObject*>(value), nullptr, NPY_ARRAY_CARRAY_RO));
  if (!owner) return nullptr;
  auto* array = reinterpret_cast<PyArrayObject*>(owner.get());
  const int rank = PyArray_NDIM(array);
  std::int64_t dims[NPY_MAXDIMS];
  for (int k = 0; k < rank; ++k) dims[k] = PyArray_DIM(array, k);
  const npy_intp count = PyArray_SIZE(array);
  TF_Tensor* out = host.TF_AllocateTensor(TF_STRING, dims, rank, static_cast<std::size_t>(count) * sizeof(TF_TString));
  if (out == nullptr) {
    PyErr_NoMemory();
    return nullptr;
  }
  auto* strings = static_cast<TF_TString*>(host.TF_TensorData(out));
  auto* const items = static_cast<PyObject**>(PyArray_DATA(array));
  for (npy_intp k = 0; k < count; ++k) {
    char* text = nullptr;
    Py_ssize_t size = 0;
    if (items[k] == nullptr || PyBytes_AsStringAndSize(items[k], &text, &size) != 0) {
      host.TF_DeleteTensor(out);
      if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_TypeError, "a string is missing");
      return nullptr;
    }
    TF_TString_Init(&strings[k]);
    TF_TString_Copy(&strings[k], text, static_cast<std::size_t>(size));
  }
  return out;
}

namespace {

// Deletes a tensor at the end of a scope.
struct Tensor {
  TF_Tensor* tensor;
  ~Tensor() { host.TF_DeleteTensor(tensor); }
};

// Raises what says that NumPy has no array of the tensor's shape, in place of its ValueError; NULL.
PyObject* without_array(int number, TF_Tensor* tensor) {
  if (resolver == nullptr || PyErr_ExceptionMatches(PyExc_ValueError) == 0) return nullptr;
  PyErr_Clear();
  const Ref address(PyLong_FromVoidPtr(tensor));
  return address ? PyObject_CallFunction(resolver, "iO", number, address.get()) : nullptr;
}

PyObject* object_of_strings(TF_Tensor* tensor, int rank, const npy_intp* dims) {
  const Tensor guard{tensor};
  Ref out(PyArray_SimpleNew(rank, dims, NPY_OBJECT));
  if (!out) return without_array(TF_STRING, tensor);
  auto* array = reinterpret_cast<PyArrayObject*>(out.get());
  const auto* strings = static_cast<const TF_TString*>(host.TF_TensorData(tensor));
  auto** items = static_cast<PyObject**>(PyArray_DATA(array));
  const npy_intp count = PyArray_SIZE(array);
  for (npy_intp k = 0; k < count; ++k) {
    PyObject* text = PyBytes_FromStringAndSize(TF_TString_GetDataPointer(&strings[k]),
                                               static_cast<Py_ssize_t>(TF_TString_GetSize(&strings[k])));
    if (text == nullptr) return nullptr;
    PyObject* before = std::exchange(items[k], text);
    Py_XDECREF(before);
  }
  return out.release();
}

PyObject* share_memory(TF_Tensor* tensor, PyArray_Descr* description, int rank, const npy_intp* dims,
                       bool writeable) {
  Ref capsule(PyCapsule_New(tensor, nullptr, delete_tensor));
  if (!capsule) {
    host.TF_DeleteTensor(tensor);
    return nullptr;
  }
  Py_INCREF(reinterpret_cast<PyObject*>(description));
  Ref out(PyArray_NewFromDescr(&PyArray_Type, description, rank, dims, nullptr, host.TF_TensorData(tensor),
                               writeable ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO, nullptr));
  if (!out) return nullptr;
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(out.get()), capsule.release()) != 0) return nullptr;
  return out.release();
}

// An array of Python's handles that passed through a plugin's kernel, which may have seen another
// shape in it; a new reference.
PyObject* in_shape(PyObject* object, int rank, npy_intp* dims) {
  if (!is_array(object)) return Ref::borrow(object).release();
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  if (PyArray_NDIM(array) == rank && std::equal(dims, dims + rank, PyArray_DIMS(array))) {
    return Ref::borrow(object).release();
  }
  PyArray_Dims shape{dims, rank};
  return PyArray_Newshape(array, &shape, NPY_CORDER);
}

}  // namespace

PyObject* array_of(TF_Tensor* tensor) {
  if (void* object = host.DS_OpaqueObject(tensor)) {
    auto* out = static_cast<PyObject*>(object);
    Py_INCREF(out);
    host.TF_DeleteTensor(tensor);
    return out;
  }
  const int number = static_cast<int>(host.TF_TensorType(tensor));
  if (host.DS_TensorDevice(tensor) != nullptr) {
    const Ref address(PyLong_FromVoidPtr(tensor));
    PyObject* out = address && resolver != nullptr ? PyObject_CallFunction(resolver, "iO", number, address.get()) : nullptr;
    if (out == nullptr) host.TF_DeleteTensor(tensor);
    return out;  // which has taken it over
  }
  const int rank = host.TF_NumDims(tensor);
  npy_intp dims[NPY_MAXDIMS];
  if (rank > NPY_MAXDIMS) {
    const Tensor guard{tensor};
    PyErr_Format(PyExc_ValueError, "NumPy has no arrays of %d dimensions", rank);
    return without_array(number, tensor);
  }
  for (int k = 0; k < rank; ++k) dims[k] = host.TF_Dim(tensor, k);
  if (number == TF_STRING) return object_of_strings(tensor, rank, dims);
  if ((number == TF_RESOURCE || number == TF_VARIANT) && resolver != nullptr) {
    const Tensor guard{tensor};
    if (void* object = host.DS_ForeignObject(tensor)) {
      return in_shape(static_cast<PyObject*>(object), rank, dims);
    }
    const Ref address(PyLong_FromVoidPtr(tensor));
    return address ? PyObject_CallFunction(resolver, "iO", number, address.get()) : nullptr;
  }
  PyArray_Descr* description = description_of(number);
  if (description == nullptr) {
    const Tensor guard{tensor};
    if (PyErr_Occurred() != nullptr) return nullptr;
    return PyErr_Format(PyExc_TypeError, "a tensor of dtype %s is no array", sdk::dtype_name(number).c_str());
  }
  const std::size_t bytes = host.TF_TensorByteSize(tensor);
  const bool writeable = host.DS_TensorIsExclusive(tensor) != 0;
  if (bytes > kSmall || (!writeable && bytes != 0)) {
    return share_memory(tensor, description, rank, dims, writeable);
  }
  const Tensor guard{tensor};
  Py_INCREF(reinterpret_cast<PyObject*>(description));
  PyObject* out = PyArray_NewFromDescr(&PyArray_Type, description, rank, dims, nullptr, nullptr, 0, nullptr);
  if (out == nullptr) return without_array(number, tensor);
  if (bytes != 0) {
    std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out)), host.TF_TensorData(tensor), bytes);
  }
  return out;
}

}  // namespace drystone::binding
