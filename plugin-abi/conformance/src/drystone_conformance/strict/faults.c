/* What the strict device notes, counts and tells. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drystone/macros.h"
#include "strict.h"

enum { kText = 1 << 14, kExit = 86 };

_Thread_local const char* strict_node = "";
static atomic_llong figures[STRICT_FIGURES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[kText];

void strict_count(StrictFigure figure) { atomic_fetch_add(&figures[figure], 1); }

void strict_fault(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  strict_count(STRICT_FAULTS);
  pthread_mutex_lock(&mutex);
  const size_t used = strlen(text);
  if (used < kText) snprintf(text + used, kText - used, "%s\n", line);
  pthread_mutex_unlock(&mutex);
  fprintf(stderr, "strict device: %s\n", line);
}

bool strict_is_planted(const char* fault, const char* node) {
  const char* const plant = getenv("STRICT_PLANT");
  const size_t size = strlen(fault);
  return plant != NULL && strncmp(plant, fault, size) == 0 && plant[size] == ':' && strcmp(plant + size + 1, node) == 0;
}

/* ---- for tests, which find these functions by name ---- */

/* One of the figures, since the library was loaded. */
TF_CAPI_EXPORT int64_t strict_figure(int which) {
  return which < 0 || which >= STRICT_FIGURES ? -1 : atomic_load(&figures[which]);
}

/* All faults, a line each, into `out`; and forgets them. */
TF_CAPI_EXPORT void strict_take_faults(char* out, size_t size) {
  pthread_mutex_lock(&mutex);
  snprintf(out, size, "%s", text);
  text[0] = '\0';
  pthread_mutex_unlock(&mutex);
}

/* Hosts refuse handlers that plugins set, so the test that asks for one gives what sets it. */
static int (*set_handler)(int, const struct sigaction*, struct sigaction*);
static struct sigaction before;

static void tell_touched(int number, siginfo_t* info, void* context) {
  static char line[512];
  const char* const who = strict_real(info->si_addr) == NULL ? NULL : strict_node;
  if (who == NULL) {
    set_handler(SIGSEGV, &before, NULL);
    (void)number, (void)context;
    return;
  }
  char maker[kStrictName];
  strict_user_of(info->si_addr, maker);
  const int size = snprintf(line, sizeof line, "strict device: the host touched device memory that node '%s' used last%s%s%s\n",
                            maker, *who == '\0' ? "" : ", in the kernel of node '", who, *who == '\0' ? "" : "'");
  if (write(STDERR_FILENO, line, (size_t)size) < 0) _exit(kExit + 1);
  _exit(kExit);
}

/* From now on a host that reads or writes device memory ends the process with status 86, and says whose it was.
   `with` is the C library's sigaction. */
TF_CAPI_EXPORT void strict_watch_host(int (*with)(int, const struct sigaction*, struct sigaction*)) {
  struct sigaction action = {.sa_sigaction = tell_touched, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  set_handler = with;
  set_handler(SIGSEGV, &action, &before);
}
