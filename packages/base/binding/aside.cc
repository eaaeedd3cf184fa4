// Runs on a thread of their own: see binding/session.h.
#include "binding/session.h"

#include "binding/arrays.h"

namespace drystone::binding {
namespace {

// What ends a callback from another thread; nobody sees it but whoever catches everything.
PyObject* stopped = nullptr;

}  // namespace

AsideRun::AsideRun(PyObject* plan, const CurrentRun& of) : plan_(plan) {
  Py_INCREF(plan);
  Py_XINCREF(of.runtime);
  of_thread_.runtime = of.runtime;
  of_thread_.compute = of.compute;
  of_thread_.outputs = of.outputs;
}

AsideRun::~AsideRun() {
  for (PyObject* part : {of_thread_.error[0], of_thread_.error[1], of_thread_.error[2], of_thread_.runtime, plan_}) {
    if (part != nullptr) give_back(part);
  }
}

void AsideRun::set_hooks(DS_RunOptions* options) {
  options->run_context = this;
  options->begin_aside = begin;
  options->end_aside = end;
  options->interrupt = interrupt;
}

void AsideRun::begin(void* context) { current_run = &static_cast<AsideRun*>(context)->of_thread_; }

// Python forgets the thread, too: with it what an interrupt left behind.
void AsideRun::end(void* context, std::int32_t was_left) {
  auto* run = static_cast<AsideRun*>(context);
  current_run = nullptr;
  if (PyThreadState* const thread = std::exchange(run->of_thread_.thread, nullptr)) {
    unless_over([&] {
      PyEval_RestoreThread(thread);
      PyGILState_Release(run->of_thread_.met);
    });
  }
  if (was_left != 0) delete run;
}

void AsideRun::interrupt(void* context) {
  auto* run = static_cast<AsideRun*>(context);
  if (run->of_thread_.python.load(std::memory_order_relaxed) == 0) return;
  const WithPython gil(current_run);
  const unsigned long thread = run->of_thread_.python.load(std::memory_order_relaxed);
  if (thread != 0) PyThreadState_SetAsyncExc(thread, stopped);
}

void AsideRun::finish(AsideRun* run, CurrentRun* caller, bool was_left) {
  if (was_left) return;
  PyObject** error = run->of_thread_.error;
  if (error[0] != nullptr && caller->error[0] == nullptr && PyErr_GivenExceptionMatches(error[0], stopped) == 0) {
    for (int k = 0; k < 3; ++k) caller->error[k] = std::exchange(error[k], nullptr);
  }
  delete run;
}

bool add_aside(PyObject* module) {
  stopped = PyErr_NewException("drystone_base._native.Stopped", PyExc_BaseException, nullptr);
  return stopped != nullptr && PyModule_AddObjectRef(module, "Stopped", stopped) == 0;
}

}  // namespace drystone::binding
