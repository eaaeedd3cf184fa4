// The types Session and Plan: the host's executor for Python.
#ifndef DRYSTONE_BINDING_SESSION_H_
#define DRYSTONE_BINDING_SESSION_H_

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "binding/host.h"
#include "drystone/rendezvous.h"

namespace drystone::binding {

// Adds the types to the module; false with an exception set.
bool add_session(PyObject* module);
bool add_plan(PyObject* module);
bool add_aside(PyObject* module);

// A Session's host session, or NULL with TypeError set.
DS_Session* session_of(PyObject* object);

// A kernel of Python's that sends or receives a value, by its key in the run's rendezvous.
struct Transfer {
  std::int32_t kernel;
  bool sends;
  std::string key;
};

// The run that is under way on this thread: what callbacks need.
struct CurrentRun {
  PyObject* runtime = nullptr;    // borrowed
  PyObject* compute = nullptr;    // borrowed: (kernel, runtime, inputs) -> sequence of values
  PyObject* outputs = nullptr;    // borrowed: per kernel, the dtypes of its outputs
  const std::vector<Transfer>* transfers = nullptr;  // of the plan
  const TF_RendezvousThunk* rendezvous = nullptr;    // the runtime's; NULL: Python's kernels send and receive
  PyThreadState* thread = nullptr;  // NULL: of a thread that Python has not met yet
  PyGILState_STATE met = PyGILState_UNLOCKED;
  std::atomic<unsigned long> python{0};  // Python's number of the thread, while it is in Python
  PyObject* context = nullptr;    // borrowed: Python's, of the caller of a run that is elsewhere; NULL: this thread's
  bool is_in_context = false;
  PyObject* error[3] = {};        // of a callback: type, value, traceback
  CurrentRun* before = nullptr;
};

extern thread_local CurrentRun* current_run;

// compute(kernel, runtime, values) in the context of the run: a new reference, or NULL with an exception set.
PyObject* compute_in_context(CurrentRun* run, PyObject* kernel, PyObject* values);

// Whether a kernel's value was sent or received without Python: by the rendezvous of the run, unless that
// leaves it to the kernel.
bool transferred(const CurrentRun& run, std::int32_t kernel, TF_Tensor* const* inputs, int num_inputs,
                 TF_Tensor** outputs, int num_outputs, TF_Status* status);

// A run that the host may give to a thread of its own, and go on without: it holds what callbacks need.
// DS_RunOptions' hooks, whose run_context is one. All of them but end_aside need it alive.
class DetachedRun {
 public:
  // `plan` holds all that is borrowed but the runtime. With the GIL.
  DetachedRun(PyObject* plan, const CurrentRun& of);
  DetachedRun(const DetachedRun&) = delete;
  DetachedRun& operator=(const DetachedRun&) = delete;
  void set_hooks(DS_RunOptions* options);
  // With the GIL: what a callback raised becomes the caller's, unless it was told to stop. Deletes the run,
  // unless it `was_left`.
  static void finish(DetachedRun* run, CurrentRun* caller, bool was_left);

 private:
  ~DetachedRun();
  static void begin(void* context);
  static void end(void* context, std::int32_t was_left);
  static void interrupt(void* context);

  CurrentRun of_thread_;
  PyObject* plan_;
};

// Calls Python where it may take the GIL. An interpreter that ends lets no other thread have it, and ends
// those that ask by unwinding them, which a run does not survive: such a thread waits for the process to end.
template <class Body>
auto unless_over(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {  // Python throws nothing else
    while (true) pause();
  }
}

// Holds the GIL for a scope of a callback.
class WithPython {
 public:
  explicit WithPython(CurrentRun* run) : run_(run) {
    unless_over([&] {
      if (run->thread != nullptr) PyEval_RestoreThread(run->thread);
      else run->met = PyGILState_Ensure();
    });
    run->python.store(PyThread_get_thread_ident(), std::memory_order_relaxed);
  }
  ~WithPython() {
    run_->python.store(0, std::memory_order_relaxed);
    run_->thread = PyEval_SaveThread();
  }
  WithPython(const WithPython&) = delete;
  WithPython& operator=(const WithPython&) = delete;

 private:
  CurrentRun* run_;
};

// DS_RunOptions.poll: lets Python handle signals (Ctrl-C), whose exceptions end the run.
std::int32_t check_signals(void* run_context);

// attend(keep): from now on signals are handled while the main thread waits in the host; `keep` is called
// with what a handler raises.
PyObject* attend(PyObject*, PyObject* keep);

}  // namespace drystone::binding

#endif  // DRYSTONE_BINDING_SESSION_H_
