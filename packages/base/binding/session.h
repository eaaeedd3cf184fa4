// The types Session and Plan: the host's executor for Python.
#ifndef DRYSTONE_BINDING_SESSION_H_
#define DRYSTONE_BINDING_SESSION_H_

#include <cstdint>

#include "binding/host.h"

namespace drystone::binding {

// Adds the types to the module; false with an exception set.
bool add_session(PyObject* module);
bool add_plan(PyObject* module);

// A Session's host session, or NULL with TypeError set.
DS_Session* session_of(PyObject* object);

// The run that is under way on this thread: what callbacks need.
struct CurrentRun {
  PyObject* runtime = nullptr;    // borrowed
  PyObject* compute = nullptr;    // borrowed: (kernel, runtime, inputs) -> sequence of values
  PyObject* outputs = nullptr;    // borrowed: per kernel, the dtypes of its outputs
  PyThreadState* thread = nullptr;
  PyObject* error[3] = {};        // of a callback: type, value, traceback
  CurrentRun* before = nullptr;
};

extern thread_local CurrentRun* current_run;

// DS_RunOptions.poll: lets Python handle signals (Ctrl-C), whose exceptions end the run.
std::int32_t check_signals(void* run_context);

}  // namespace drystone::binding

#endif  // DRYSTONE_BINDING_SESSION_H_
