// The part of the host's state that the kernel keeps: signals, limits, timers, scheduling, identity.
#ifndef DRYSTONE_HOST_LIBRARY_PROCESS_STATE_H_
#define DRYSTONE_HOST_LIBRARY_PROCESS_STATE_H_

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <array>
#include <string>

#include "library/host_state.h"

namespace drystone::host {

// Adds what was changed to the list that it belongs to.
void told(Changes& changes, bool is_back, std::string what);

struct Signals {
  Signals();
  void put_back(Changes& changes) const;

  std::array<struct sigaction, NSIG> actions{};
  std::array<bool, NSIG> known{};
  sigset_t blocked;
};

struct ResourceLimits {
  ResourceLimits();
  void put_back(Changes& changes) const;

  std::array<struct rlimit, RLIM_NLIMITS> limits{};
};

struct Timers {
  Timers();
  void put_back(Changes& changes) const;

  std::array<struct itimerval, 3> timers{};
};

// What ends a program from outside: noting it takes five system calls. Handlers and the timer are those
// of the process, and noted on the main thread only: another one's program may be setting them.
struct Control {
  Control();
  void put_back(Changes& changes) const;

  bool is_main;
  sigset_t blocked;
  std::array<struct sigaction, 2> actions{};
  struct itimerval timer{};
};

// The thread's processors, niceness and name.
struct Scheduling {
  Scheduling();
  void put_back(Changes& changes) const;

  bool has_processors;
  cpu_set_t processors;
  int niceness;
  std::array<char, 16> name{};
};

// Who the process is, and what it has given up for good.
struct Identity {
  Identity();
  void put_back(Changes& changes) const;

  struct Fact {
    const char* name;
    long value;
  };
  std::array<Fact, 10> facts;
};

struct ProcessState {
  void put_back(Changes& changes) const {
    signals.put_back(changes);
    limits.put_back(changes);
    timers.put_back(changes);
    scheduling.put_back(changes);
    identity.put_back(changes);
  }

  Signals signals;
  ResourceLimits limits;
  Timers timers;
  Scheduling scheduling;
  Identity identity;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_PROCESS_STATE_H_
