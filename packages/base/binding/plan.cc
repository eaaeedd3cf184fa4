// The type Plan: see binding/session.h.
#include <unistd.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "binding/arrays.h"
#include "binding/session.h"
#include "drystone/payloads.h"

namespace drystone::binding {
namespace {

struct PlanObject {
  PyObject_HEAD
  DS_Plan* plan;
  PyObject* session;
  PyObject* outputs;    // list of tuples: dtypes of the outputs of each kernel of Python's
  PyObject* compute;    // (kernel, runtime, inputs) -> sequence of values
  PyObject* raise;      // (code, message, payloads): raises the exception of a failed run
  int feeds;
  int fetches;
  std::vector<Transfer>* transfers;  // by kernel
  bool has_callbacks;
  unsigned long long uses;   // of call()
  bool copies;               // feeds, whatever their size
  struct Expected* expected; // per feed; NULL until expect() has been called
  PyObject* standing;        // what kernels of Python's get as runtime in call(); NULL where they need one of the run
};

// What a value must be to be fed as it is.
struct Expected {
  TF_DataType dtype = TF_FLOAT;
  int rank = -1;              // -1: any shape
  std::vector<npy_intp> dims; // -1: any
};

PlanObject* self_of(PyObject* object) { return reinterpret_cast<PlanObject*>(object); }

// Tensors of a scope.
struct Tensors {
  explicit Tensors(std::size_t count) {
    if (count > std::size(few)) more.resize(count);
    at = count > std::size(few) ? more.data() : few;
    size = count;
  }
  ~Tensors() {
    for (std::size_t k = 0; k < size; ++k) host.TF_DeleteTensor(at[k]);
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  TF_Tensor* few[8] = {};
  std::vector<TF_Tensor*> more;
  TF_Tensor** at;
  std::size_t size;
};

struct Status {
  TF_Status* status = host.TF_NewStatus();
  ~Status() { host.TF_DeleteStatus(status); }
  bool ok() const { return host.TF_GetCode(status) == TF_OK; }
};

// The status's payloads, as a list of pairs of bytes; of one for which there is no memory, what came before it.
PyObject* payloads_of(const Status& status) {
  PyObject* const list = PyList_New(0);
  const auto add = [](const char* key, const char* value, void* to) {
    const Ref pair(to == nullptr ? nullptr : Py_BuildValue("(yy)", key, value));
    if (!pair || PyList_Append(static_cast<PyObject*>(to), pair.get()) != 0) PyErr_Clear();
  };
  host.TF_ForEachPayload(status.status, add, list);
  return list;
}

PyObject* raise_status(PyObject* raise, const Status& status) {
  const Ref payloads(payloads_of(status));
  if (!payloads) return nullptr;
  const Ref result(PyObject_CallFunction(raise, "iyO", static_cast<int>(host.TF_GetCode(status.status)),
                                         host.TF_Message(status.status), payloads.get()));
  if (result) PyErr_SetString(PyExc_SystemError, "a failed run must raise");
  return nullptr;
}

// constants: a sequence of (array or what stored_tensor() gave, dtype number)
bool read_constants(PyObject* constants, Tensors* out) {
  for (std::size_t k = 0; k < out->size; ++k) {
    const Ref pair(PySequence_GetItem(constants, static_cast<Py_ssize_t>(k)));
    PyObject* value = nullptr;
    int dtype = 0;
    if (!pair || PyArg_ParseTuple(pair.get(), "Oi", &value, &dtype) == 0) return false;
    out->at[k] = stored_of(value);
    if (out->at[k] == nullptr) out->at[k] = tensor_of(value, static_cast<TF_DataType>(dtype), false);
    if (out->at[k] == nullptr) return false;
  }
  return true;
}

// transfers: a sequence of (kernel, whether it sends, key), by kernel
bool read_transfers(PyObject* transfers, std::vector<Transfer>* out) {
  const Py_ssize_t count = PySequence_Size(transfers);
  for (Py_ssize_t k = 0; k < count; ++k) {
    const Ref row(PySequence_GetItem(transfers, k));
    int kernel = 0, sends = 0;
    const char* key = nullptr;
    Py_ssize_t size = 0;
    if (!row || PyArg_ParseTuple(row.get(), "ips#", &kernel, &sends, &key, &size) == 0) return false;
    out->push_back({kernel, sends != 0, {key, static_cast<std::size_t>(size)}});
  }
  return count >= 0;
}

// Plan(session, plan bytes, constants, outputs, transfers, compute, raise)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *session = nullptr, *constants = nullptr, *outputs = nullptr, *compute = nullptr, *raise = nullptr;
  PyObject* transfers = nullptr;
  const char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (PyArg_ParseTuple(args, "Oy#OOOOO", &session, &bytes, &size, &constants, &outputs, &transfers, &compute, &raise) == 0) return nullptr;
  auto keys = std::make_unique<std::vector<Transfer>>();
  if (!read_transfers(transfers, keys.get())) return nullptr;
  DS_Session* owner = session_of(session);
  const Py_ssize_t count = owner == nullptr ? -1 : PySequence_Size(constants);
  if (count < 0) return nullptr;
  Tensors tensors(static_cast<std::size_t>(count));
  if (!read_constants(constants, &tensors)) return nullptr;
  const TF_Buffer buffer{bytes, static_cast<std::size_t>(size), nullptr};
  const Status status;
  PyThreadState* const thread = PyEval_SaveThread();  // constants are read from their files
  DS_Plan* plan = host.DS_NewPlan(owner, &buffer, tensors.at, static_cast<int>(count), status.status);
  PyEval_RestoreThread(thread);
  if (plan == nullptr) return raise_status(raise, status);
  PyObject* object = PyType_GenericAlloc(type, 0);
  if (object == nullptr) {
    host.DS_DeletePlan(plan);
    return nullptr;
  }
  PlanObject* self = self_of(object);
  self->plan = plan;
  self->feeds = host.DS_PlanNumFeeds(plan);
  self->fetches = host.DS_PlanNumFetches(plan);
  self->session = Ref::borrow(session).release();
  self->outputs = Ref::borrow(outputs).release();
  self->compute = Ref::borrow(compute).release();
  self->raise = Ref::borrow(raise).release();
  self->transfers = keys.release();
  self->has_callbacks = PySequence_Size(outputs) > 0;
  return object;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  const PlanObject* self = self_of(object);
  Py_VISIT(self->session);
  Py_VISIT(self->outputs);
  Py_VISIT(self->compute);
  Py_VISIT(self->raise);
  Py_VISIT(self->standing);
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  return 0;
}

int clear_plan(PyObject* object) {
  PlanObject* self = self_of(object);
  Py_CLEAR(self->outputs);
  Py_CLEAR(self->compute);
  Py_CLEAR(self->raise);
  Py_CLEAR(self->standing);
  return 0;
}

void free_plan(PyObject* object) {
  PyObject_GC_UnTrack(object);
  PlanObject* self = self_of(object);
  clear_plan(object);
  delete[] self->expected;
  delete self->transfers;
  host.DS_DeletePlan(self->plan);
  Py_CLEAR(self->session);  // after its plan
  collect();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

PyObject* bytes_of(TF_Buffer& buffer) {
  PyObject* out = PyBytes_FromStringAndSize(static_cast<const char*>(buffer.data), static_cast<Py_ssize_t>(buffer.length));
  if (buffer.data_deallocator != nullptr) buffer.data_deallocator(const_cast<void*>(buffer.data), buffer.length);
  return out;
}

// Appends a run's record to the list that asked for it.
void keep_trace(PyObject* list, TF_Buffer& trace) {
  PyObject* error[3] = {};
  PyErr_Fetch(&error[0], &error[1], &error[2]);
  const Ref bytes(bytes_of(trace));
  if (!bytes || PyList_Append(list, bytes.get()) != 0) PyErr_Clear();  // the run matters more
  PyErr_Restore(error[0], error[1], error[2]);
}

bool on_main_thread() {
  static thread_local const bool is_main = gettid() == getpid();
  return is_main;
}

// Tells an exception of Python's through which functions its node was reached.
void add_calls(CurrentRun* run, const Status& status) {
  std::string calls;
  const auto find = [](const char* key, const char* value, void* out) {
    if (std::strcmp(key, DS_PAYLOAD_CALLS) == 0) *static_cast<std::string*>(out) = value;
  };
  host.TF_ForEachPayload(status.status, find, &calls);
  if (calls.empty()) return;
  PyErr_NormalizeException(&run->error[0], &run->error[1], &run->error[2]);
  if (PyObject_HasAttrString(run->error[1], "reached_through") == 0) return;
  const Ref done(PyObject_CallMethod(run->error[1], "reached_through", "s", calls.c_str()));
  if (!done) PyErr_Clear();
}

// Tells KeyboardInterrupt that a kernel still runs.
void add_note(CurrentRun* run, const char* message) {
  PyErr_NormalizeException(&run->error[0], &run->error[1], &run->error[2]);
  const Ref done(PyObject_CallMethod(run->error[1], "add_note", "s", message));
  if (!done) PyErr_Clear();
}

// Runs without the GIL. Whether it succeeded; otherwise an exception is set.
bool run_plan(PlanObject* self, PyObject* runtime, DS_RunOptions& options, Tensors& feeds, Tensors& fetches,
              const TF_RendezvousThunk* rendezvous = nullptr) {
  CurrentRun run;
  run.transfers = self->transfers;
  run.rendezvous = rendezvous;
  run.runtime = runtime;
  run.compute = self->compute;
  run.outputs = self->outputs;
  run.before = std::exchange(current_run, &run);
  const Status status;
  const bool has_limit = options.deadline_ms > 0 || options.cancellation != nullptr;
  const bool may_leave = has_limit || (self->has_callbacks && options.poll != nullptr);
  DetachedRun* const detached = may_leave ? new (std::nothrow) DetachedRun(reinterpret_cast<PyObject*>(self), run) : nullptr;
  std::int32_t was_left = 0;
  options.was_left = &was_left;
  if (detached != nullptr) detached->set_hooks(&options);
  run.thread = PyEval_SaveThread();
  host.DS_RunPlan(self->plan, &options, feeds.at, self->feeds, fetches.at, self->fetches, status.status);
  PyEval_RestoreThread(run.thread);
  current_run = run.before;
  if (detached != nullptr) DetachedRun::finish(detached, &run, was_left != 0);
  collect();
  if (run.error[0] != nullptr) {
    if (was_left != 0) add_note(&run, host.TF_Message(status.status));
    add_calls(&run, status);
    PyErr_Restore(run.error[0], run.error[1], run.error[2]);
    return false;
  }
  if (status.ok()) return true;
  raise_status(self->raise, status);
  return false;
}

PyObject* list_of(const PlanObject* self, Tensors& fetches) {
  Ref out(PyList_New(self->fetches));
  for (int k = 0; k < self->fetches && out; ++k) {
    PyObject* value = array_of(std::exchange(fetches.at[k], nullptr));
    if (value == nullptr || PyList_SetItem(out.get(), k, value) != 0) return nullptr;
  }
  return out.release();
}

// run(feeds, runtime, deadline_ms, step_id, copies, cancellation, traces, rendezvous, of_kernels) -> list
PyObject* run(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  PlanObject* self = self_of(object);
  if (count != 9) return PyErr_Format(PyExc_TypeError, "run takes 9 arguments, not %zd", count);
  collect();
  if (PySequence_Size(args[0]) != self->feeds) {
    if (PyErr_Occurred() == nullptr) PyErr_Format(PyExc_ValueError, "%d feeds are needed", self->feeds);
    return nullptr;
  }
  const bool copies = PyObject_IsTrue(args[4]) == 1;
  Tensors feeds(static_cast<std::size_t>(self->feeds));
  for (int k = 0; k < self->feeds; ++k) {
    const Ref value(PySequence_GetItem(args[0], k));
    if (!value) return nullptr;
    feeds.at[k] = feed_of(value.get(), host.DS_PlanFeedType(self->plan, k), copies);
    if (feeds.at[k] == nullptr) return nullptr;
  }
  DS_RunOptions options{};
  options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
  options.deadline_ms = PyLong_AsLongLong(args[2]);
  options.step_id = PyLong_AsLongLong(args[3]);
  if (args[5] != Py_None) options.cancellation = static_cast<DS_Cancellation*>(PyLong_AsVoidPtr(args[5]));
  if (on_main_thread()) options.poll = check_signals;  // Python runs its handlers there only
  const TF_RendezvousThunk* rendezvous = nullptr;
  if (args[7] != Py_None) rendezvous = static_cast<const TF_RendezvousThunk*>(PyLong_AsVoidPtr(args[7]));
  if (args[8] != Py_None) options.rendezvous = static_cast<const TF_RendezvousThunk*>(PyLong_AsVoidPtr(args[8]));
  if (PyErr_Occurred() != nullptr) return nullptr;
  Tensors fetches(static_cast<std::size_t>(self->fetches));
  TF_Buffer trace{};
  if (args[6] != Py_None) options.trace = &trace;
  const bool succeeded = run_plan(self, args[1], options, feeds, fetches, rendezvous);
  if (options.trace != nullptr) keep_trace(args[6], trace);
  if (!succeeded) return nullptr;
  return list_of(self, fetches);
}

bool read_shape(PyObject* shape, Expected* out) {
  if (shape == Py_None) return true;
  const Py_ssize_t rank = PySequence_Size(shape);
  if (rank < 0) return false;
  for (Py_ssize_t k = 0; k < rank; ++k) {
    const Ref dim(PySequence_GetItem(shape, k));
    out->dims.push_back(dim ? static_cast<npy_intp>(PyLong_AsSsize_t(dim.get())) : -1);
  }
  out->rank = static_cast<int>(rank);
  return PyErr_Occurred() == nullptr;
}

// expect(shapes, copies, runtime)
PyObject* expect(PyObject* object, PyObject* args) {
  PlanObject* self = self_of(object);
  PyObject *shapes = nullptr, *runtime = nullptr;
  int copies = 0;
  if (PyArg_ParseTuple(args, "OpO", &shapes, &copies, &runtime) == 0) return nullptr;
  if (PySequence_Size(shapes) != self->feeds) return PyErr_Format(PyExc_ValueError, "%d shapes are needed", self->feeds);
  auto made = std::make_unique<Expected[]>(static_cast<std::size_t>(self->feeds));
  for (int k = 0; k < self->feeds; ++k) {
    const Ref shape(PySequence_GetItem(shapes, k));
    made[static_cast<std::size_t>(k)].dtype = host.DS_PlanFeedType(self->plan, k);
    if (!shape || !read_shape(shape.get(), &made[static_cast<std::size_t>(k)])) return nullptr;
  }
  delete[] std::exchange(self->expected, made.release());
  self->copies = copies != 0;
  const Ref before(std::exchange(self->standing, runtime == Py_None ? nullptr : Ref::borrow(runtime).release()));
  Py_RETURN_NONE;
}

bool fits(const Expected& expected, PyObject* value) {
  if (!is_array_of(value, expected.dtype)) return false;
  if (expected.rank < 0) return true;
  auto* array = reinterpret_cast<PyArrayObject*>(value);
  if (PyArray_NDIM(array) != expected.rank) return false;
  for (int k = 0; k < expected.rank; ++k) {
    const npy_intp dim = expected.dims[static_cast<std::size_t>(k)];
    if (dim >= 0 && dim != PyArray_DIM(array, k)) return false;
  }
  return true;
}

// call(feeds, single): what run() would give, or NotImplemented
PyObject* call(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  PlanObject* self = self_of(object);
  if (count != 2 || PyTuple_Check(args[0]) == 0) return PyErr_Format(PyExc_TypeError, "call takes a tuple and a bool");
  if (self->expected == nullptr || PyTuple_Size(args[0]) != self->feeds) Py_RETURN_NOTIMPLEMENTED;
  if (self->has_callbacks && self->standing == nullptr) Py_RETURN_NOTIMPLEMENTED;
  for (int k = 0; k < self->feeds; ++k) {
    if (!fits(self->expected[k], PyTuple_GetItem(args[0], k))) Py_RETURN_NOTIMPLEMENTED;
  }
  ++self->uses;
  collect();
  Tensors feeds(static_cast<std::size_t>(self->feeds));
  for (int k = 0; k < self->feeds; ++k) {
    feeds.at[k] = feed_of(PyTuple_GetItem(args[0], k), self->expected[k].dtype, self->copies);
    if (feeds.at[k] == nullptr) return nullptr;
  }
  DS_RunOptions options{};
  options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
  if (on_main_thread()) options.poll = check_signals;
  Tensors fetches(static_cast<std::size_t>(self->fetches));
  if (!run_plan(self, self->standing, options, feeds, fetches)) return nullptr;
  if (args[1] == Py_True && self->fetches == 1) return array_of(std::exchange(fetches.at[0], nullptr));
  return list_of(self, fetches);
}

PyObject* uses(PyObject* object, PyObject*) { return PyLong_FromUnsignedLongLong(self_of(object)->uses); }

PyObject* describe(PyObject* object, PyObject*) {
  TF_Buffer buffer{};
  const Status status;
  PyThreadState* const thread = PyEval_SaveThread();  // a region that runs may be waited for
  host.DS_DescribePlan(self_of(object)->plan, &buffer, status.status);
  PyEval_RestoreThread(thread);
  if (!status.ok()) return raise_status(self_of(object)->raise, status);
  return bytes_of(buffer);
}

PyMethodDef methods[] = {
    // NOLINTNEXTLINE(bugprone-casting-through-void): CPython casts it back, by the flag
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run)), METH_FASTCALL,
     "run(feeds, runtime, deadline_ms, step_id, copies, cancellation, traces, rendezvous, of_kernels): the fetches,\n"
     "as a list. The last two are addresses of a TF_RendezvousThunk, or None: what transfers go by without Python,\n"
     "and what kernels of plugins get."},
    {"expect", expect, METH_VARARGS,
     "expect(shapes, copies, runtime): what arrays call() accepts, and what it hands to kernels of Python's.\n"
     "A shape may be None, and so may the runtime, where they need one of the run."},
    // NOLINTNEXTLINE(bugprone-casting-through-void): the same
    {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call)), METH_FASTCALL,
     "call(feeds, single): the fetches as a list, or the only one; NotImplemented where a value must be\n"
     "converted or checked first, or kernels of Python's need a runtime of the run."},
    {"uses", uses, METH_NOARGS, "How many calls call() has computed."},
    {"describe", describe, METH_NOARGS, "What the plan consists of, as JSON."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_plan)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_plan)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("A loaded plan: Plan(session, plan, constants, outputs, transfers, compute, raise).")},
    {0, nullptr},
};

PyType_Spec spec = {"drystone_base._native.Plan", sizeof(PlanObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

bool add_plan(PyObject* module) {
  const Ref type(PyType_FromModuleAndSpec(module, &spec, nullptr));
  return type && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())) == 0;
}

}  // namespace drystone::binding
