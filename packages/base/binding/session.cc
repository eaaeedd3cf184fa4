// Sessions, and the callbacks by which the executor reaches Python: see binding/session.h.
#include "binding/session.h"

#include <cstdint>

#include "binding/arrays.h"

namespace drystone::binding {

thread_local CurrentRun* current_run = nullptr;

namespace {

struct SessionObject {
  PyObject_HEAD
  DS_Session* session;
  PyObject* adapt;    // (value, dtype number) -> address of a new tensor, or of a new variable
};

PyTypeObject* session_type = nullptr;

SessionObject* self_of(PyObject* object) { return reinterpret_cast<SessionObject*>(object); }

// Keeps the exception for when the run has ended, and fails the call.
void keep_error(CurrentRun* run, TF_Status* status) {
  if (run->error[0] == nullptr) PyErr_Fetch(&run->error[0], &run->error[1], &run->error[2]);
  else PyErr_Clear();
  host.TF_SetStatus(status, TF_INTERNAL, "Python raised an exception");
}

// Makes an exception of adapt() the status: the executor names the node.
void* refuse(TF_Status* status) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const Ref types(type), values(value), traces(trace);
  const bool out_of_memory = type != nullptr && PyErr_GivenExceptionMatches(type, PyExc_MemoryError) != 0;
  Ref text(value == nullptr ? nullptr : PyObject_GetAttrString(value, "found"));
  PyErr_Clear();
  const Ref shown(text ? PyObject_Str(text.get()) : value == nullptr ? nullptr : PyObject_Str(value));
  const Ref bytes(shown ? PyUnicode_AsUTF8String(shown.get()) : nullptr);
  host.TF_SetStatus(status, out_of_memory ? TF_RESOURCE_EXHAUSTED : TF_INVALID_ARGUMENT,
                    bytes ? PyBytes_AsString(bytes.get()) : "it cannot be converted");
  PyErr_Clear();
  return nullptr;
}

bool set_outputs(PyObject* results, PyObject* dtypes, TF_Tensor** outputs, int count) {
  const Ref items(PySequence_Tuple(results));
  if (!items) return false;
  if (PyTuple_Size(items.get()) != count || PyTuple_Size(dtypes) != count) {
    PyErr_Format(PyExc_ValueError, "the kernel gave %zd outputs, not %d", PyTuple_Size(items.get()), count);
    return false;
  }
  for (int k = 0; k < count; ++k) {
    if (PyTuple_GetItem(items.get(), k) == Py_None) continue;  // a dead value
    const long dtype = PyLong_AsLong(PyTuple_GetItem(dtypes, k));
    outputs[k] = tensor_of(PyTuple_GetItem(items.get(), k), static_cast<TF_DataType>(dtype), false, false);
    if (outputs[k] == nullptr) return false;
  }
  return true;
}

void compute(void*, void*, std::int32_t kernel, TF_Tensor* const* inputs, int num_inputs,
             TF_Tensor** outputs, int num_outputs, TF_Status* status) {
  CurrentRun* run = current_run;
  if (transferred(*run, kernel, inputs, num_inputs, outputs, num_outputs, status)) return;
  const WithPython gil(run);
  collect();
  const Ref values(PyList_New(num_inputs));
  for (int k = 0; k < num_inputs && values; ++k) {
    PyObject* value = inputs[k] == nullptr ? Ref::borrow(Py_None).release()
                                           : array_of(host.DS_ShareTensor(inputs[k]));
    if (value == nullptr || PyList_SetItem(values.get(), k, value) != 0) return keep_error(run, status);
  }
  const Ref number(PyLong_FromLong(kernel));
  const Ref results(!values || !number ? nullptr : unless_over([&] {
    return compute_in_context(run, number.get(), values.get());
  }));
  PyObject* dtypes = PyList_GetItem(run->outputs, kernel);
  if (!results || dtypes == nullptr || !set_outputs(results.get(), dtypes, outputs, num_outputs)) {
    keep_error(run, status);
  }
}

void* adapted(const SessionObject* self, PyObject* object, long dtype) {
  const Ref number(PyLong_FromLong(dtype));
  if (!number) return nullptr;
  const Ref address(unless_over([&] {
    return PyObject_CallFunctionObjArgs(self->adapt, object, number.get(), nullptr);
  }));
  return address ? PyLong_AsVoidPtr(address.get()) : nullptr;
}

TF_Tensor* adapt(void* context, const TF_Tensor* opaque, TF_DataType dtype, TF_Status* status) {
  CurrentRun* run = current_run;
  const WithPython gil(run);
  auto* object = static_cast<PyObject*>(host.DS_OpaqueObject(opaque));
  const bool is_number = PyArray_Check(object) && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object)) != NPY_OBJECT;
  auto* out = is_number            ? tensor_of(object, dtype, false, false)
              : dtype == TF_STRING ? strings_of(object)
                  : static_cast<TF_Tensor*>(adapted(static_cast<SessionObject*>(context), object, dtype));
  if (out == nullptr) refuse(status);
  return out;
}

DS_Variable* adapt_variable(void* context, const TF_Tensor* opaque, TF_Status* status) {
  constexpr long kReference = 100;
  CurrentRun* run = current_run;
  const WithPython gil(run);
  auto* object = static_cast<PyObject*>(host.DS_OpaqueObject(opaque));
  auto* out = static_cast<DS_Variable*>(adapted(static_cast<SessionObject*>(context), object, kReference));
  if (out == nullptr) refuse(status);
  return out;
}

// Session(adapt, threads, inter_op_threads, micro_batch_bytes)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* adapt_function = nullptr;
  int threads = 0;
  int inter_op_threads = 0;
  long long micro_batch_bytes = 0;
  if (PyArg_ParseTuple(args, "OiiL", &adapt_function, &threads, &inter_op_threads, &micro_batch_bytes) == 0) {
    return nullptr;
  }
  Ref object(PyType_GenericAlloc(type, 0));
  if (!object) return nullptr;
  SessionObject* self = self_of(object.get());
  Py_INCREF(adapt_function);
  self->adapt = adapt_function;
  DS_Callbacks callbacks{DS_CALLBACKS_STRUCT_SIZE, self, compute, adapt, adapt_variable};
  DS_SessionOptions options{DS_SESSION_OPTIONS_STRUCT_SIZE, &callbacks, threads, inter_op_threads,
                            micro_batch_bytes};
  self->session = host.DS_NewSession(&options, nullptr);
  if (self->session == nullptr) return PyErr_NoMemory();
  return object.release();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  const SessionObject* self = self_of(object);
  Py_VISIT(self->adapt);
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  return 0;
}

int clear_session(PyObject* object) {
  SessionObject* self = self_of(object);
  Py_CLEAR(self->adapt);
  return 0;
}

void free_session(PyObject* object) {
  PyObject_GC_UnTrack(object);
  clear_session(object);
  host.DS_DeleteSession(self_of(object)->session);
  collect();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

PyObject* reset(PyObject* object, PyObject*) {
  host.DS_ResetSession(self_of(object)->session);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"reset", reset, METH_NOARGS, "Forget what plans keep from run to run."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_session)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_session)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("A session of the native executor: Session(adapt, threads, inter_op_threads, micro_batch_bytes).")},
    {0, nullptr},
};

PyType_Spec spec = {"drystone_base._native.Session", sizeof(SessionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

std::int32_t check_signals(void*) {
  CurrentRun* run = current_run;
  const WithPython gil(run);
  if (unless_over([] { return PyErr_CheckSignals(); }) == 0) return 0;
  if (run->error[0] == nullptr) PyErr_Fetch(&run->error[0], &run->error[1], &run->error[2]);
  else PyErr_Clear();
  return 1;
}

DS_Session* session_of(PyObject* object) {
  if (PyObject_TypeCheck(object, session_type)) return self_of(object)->session;
  PyErr_SetString(PyExc_TypeError, "a Session is needed");
  return nullptr;
}

bool add_session(PyObject* module) {
  session_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  return session_type != nullptr && PyModule_AddType(module, session_type) == 0;
}

}  // namespace drystone::binding
