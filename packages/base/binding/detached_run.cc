// Runs on a thread of their own: see binding/session.h.
#include "binding/session.h"

#include "binding/arrays.h"

namespace drystone::binding {
namespace {

// What ends a callback from another thread; only code that catches every exception sees it.
PyObject* stopped = nullptr;

PyObject* keep_raised = nullptr;  // of attend()

// With the GIL. Whether a handler of a signal raised something, which is kept then.
bool raised_by_handler() {
  if (PyErr_CheckSignals() == 0) return false;
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  const Ref kept(PyObject_CallFunctionObjArgs(keep_raised, error, nullptr));
  if (!kept) PyErr_Clear();
  for (PyObject* part : {type, error, traceback}) Py_XDECREF(part);
  return true;
}

// DS_SetAttention's.
int wants_to_go_on(void*) {
  return unless_over([] {
    const PyGILState_STATE met = PyGILState_Ensure();
    const bool raised = raised_by_handler();
    PyGILState_Release(met);
    return raised ? 1 : 0;
  });
}

// What kernels find in it is the caller's: how NumPy aligns arrays, floating-point errors.
PyObject* copied_context() {
  const Ref module(PyImport_ImportModule("contextvars"));
  PyObject* out = module ? PyObject_CallMethod(module.get(), "copy_context", nullptr) : nullptr;
  if (out == nullptr) PyErr_Clear();
  return out;
}

}  // namespace

PyObject* compute_in_context(CurrentRun* run, PyObject* kernel, PyObject* values) {
  if (run->context == nullptr || run->is_in_context) {
    return PyObject_CallFunctionObjArgs(run->compute, kernel, run->runtime, values, nullptr);
  }
  const Ref enter(PyObject_GetAttrString(run->context, "run"));
  if (!enter) return nullptr;
  run->is_in_context = true;
  PyObject* out = PyObject_CallFunctionObjArgs(enter.get(), run->compute, kernel, run->runtime, values, nullptr);
  run->is_in_context = false;
  return out;
}

DetachedRun::DetachedRun(PyObject* plan, const CurrentRun& of) : plan_(plan) {
  Py_INCREF(plan);
  Py_XINCREF(of.runtime);
  of_thread_.runtime = of.runtime;
  of_thread_.compute = of.compute;
  of_thread_.outputs = of.outputs;
  of_thread_.transfers = of.transfers;
  of_thread_.rendezvous = of.rendezvous;
  of_thread_.context = PySequence_Size(of.outputs) > 0 ? copied_context() : nullptr;
}

DetachedRun::~DetachedRun() {
  for (PyObject* part : {of_thread_.error[0], of_thread_.error[1], of_thread_.error[2], of_thread_.runtime, of_thread_.context, plan_}) {
    if (part != nullptr) give_back(part);
  }
}

void DetachedRun::set_hooks(DS_RunOptions* options) {
  options->run_context = this;
  options->begin_aside = begin;
  options->end_aside = end;
  options->interrupt = interrupt;
}

void DetachedRun::begin(void* context) { current_run = &static_cast<DetachedRun*>(context)->of_thread_; }

// Python forgets the thread, too: with it what an interrupt left behind.
void DetachedRun::end(void* context, std::int32_t was_left) {
  auto* run = static_cast<DetachedRun*>(context);
  current_run = nullptr;
  if (PyThreadState* const thread = std::exchange(run->of_thread_.thread, nullptr)) {
    unless_over([&] {
      PyEval_RestoreThread(thread);
      PyGILState_Release(run->of_thread_.met);
    });
  }
  if (was_left == 0) return;
  unless_over([&] {
    const PyGILState_STATE met = PyGILState_Ensure();
    delete run;
    collect();  // no caller does it
    PyGILState_Release(met);
  });
}

void DetachedRun::interrupt(void* context) {
  auto* run = static_cast<DetachedRun*>(context);
  if (run->of_thread_.python.load(std::memory_order_relaxed) == 0) return;
  const WithPython gil(current_run);
  const unsigned long thread = run->of_thread_.python.load(std::memory_order_relaxed);
  if (thread != 0) PyThreadState_SetAsyncExc(thread, stopped);
}

void DetachedRun::finish(DetachedRun* run, CurrentRun* caller, bool was_left) {
  if (was_left) return;
  PyObject** error = run->of_thread_.error;
  if (error[0] != nullptr && caller->error[0] == nullptr && PyErr_GivenExceptionMatches(error[0], stopped) == 0) {
    for (int k = 0; k < 3; ++k) caller->error[k] = std::exchange(error[k], nullptr);
  }
  delete run;
}

PyObject* attend(PyObject*, PyObject* keep) {
  Py_INCREF(keep);
  const Ref before(std::exchange(keep_raised, keep));
  host.DS_SetAttention(wants_to_go_on, nullptr);
  Py_RETURN_NONE;
}

bool add_aside(PyObject* module) {
  stopped = PyErr_NewException("drystone_base._native.Stopped", PyExc_BaseException, nullptr);
  return stopped != nullptr && PyModule_AddObjectRef(module, "Stopped", stopped) == 0;
}

}  // namespace drystone::binding
