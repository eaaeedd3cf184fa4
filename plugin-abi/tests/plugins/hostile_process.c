/* Kernels that do to the process what they must not, by ways beside those of hostile_kernels.c, from their
 * third call on; each fails where it could. `how` chooses. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "drystone/platform_strings.h"
#include "hostile_kernels.h"

TF_PLATFORM_STRINGS()

static int start_timer(void) {
  timer_t timer;
  struct sigevent event = {0};
  const struct itimerspec soon = {{0, 0}, {0, 200000000}};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  return timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ? -1 : timer_settime(timer, 0, &soon, NULL);
}

static int protect_host(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* const at = (void*)((size_t)(void*)TF_NewStatus & ~(page - 1));
  return mprotect(at, page, PROT_NONE);
}

static int unmap_host(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* const at = (void*)((size_t)(void*)TF_NewStatus & ~(page - 1));
  return munmap(at, page);
}

/* 0, or -1 where it could not. */
static int meddle(int64_t how) {
  struct rlimit files = {9, 9};
  static char entry[] = "ZOO_ENTRY=1";
  switch (how) {
    case 0: return start_timer();
    case 1: return prlimit(0, RLIMIT_NOFILE, &files, NULL);
    case 2: return protect_host();
    case 3: return unmap_host();
    case 4: return mallopt(M_MMAP_THRESHOLD, 1) == 1 ? 0 : -1;
    case 5: return setlocale(LC_ALL, "C.UTF-8") == NULL ? -1 : 0;
    case 6: umask(0); return umask(0) == 0 ? 0 : -1;
    case 7: return setenv("PATH", "/nowhere", 1);
    case 8: return unsetenv("PATH");
    case 9: return putenv(entry);
    case 10: return signal(SIGPIPE, SIG_DFL) == SIG_ERR ? -1 : 0;
    case 11: return signal(SIGCHLD, SIG_IGN) == SIG_ERR ? -1 : 0;
    case 12: return freopen("/dev/null", "w", stdout) == NULL ? -1 : 0;
    case 13: return prctl(PR_SET_PDEATHSIG, SIGKILL);
    case 14: return setsid() < 0 && errno == EPERM ? -1 : 0;
    case 15: return (int)syscall(436 /* close_range */, 3, ~0U, 0);
    default: return close_range(3, ~0U, 0);
  }
}

static void meddles(void* state, TF_OpKernelContext* ctx) {
  static int calls = 0;
  struct Node* node = state;
  end(begin(ctx));
  if (++calls < 3 || meddle(node->how) != 0) return;
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, "it could");
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static int descend(int depth) {
  volatile char frame[4096];
  frame[depth % 4096] = (char)depth;
  return depth < 0 ? 0 : descend(depth + 1) + frame[depth % 4096];
}

static void* spin(void* unused) {
  static volatile long count;
  for (;;) ++count, usleep(100);
  return unused;
}

static void* end_thread(void* unused) { (void)unused; abort(); }

/* Uses up the stack by calls (how = 0) or by one frame (1); cancels its own thread (2); leaves a thread that
 * never ends (3), one that ends the process (4), closes its own library too often (5). */
static void ends(void* state, TF_OpKernelContext* ctx) {
  pthread_t thread;
  end(begin(ctx));
  switch (((struct Node*)state)->how) {
    case 0: descend(0); break;
    case 1: {
      const size_t size = (size_t)1 << 30;
      volatile char* frame = __builtin_alloca(size);
      frame[0] = 1;
      break;
    }
    case 2: pthread_cancel(pthread_self()); pthread_testcancel(); break;
    case 3: pthread_create(&thread, NULL, spin, NULL); break;
    case 4: pthread_create(&thread, NULL, end_thread, NULL); pthread_join(thread, NULL); break;
    default: {
      Dl_info own;
      dladdr((void*)(size_t)ends, &own);
      for (int k = 0; k < 9; ++k) {
        void* again = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        if (again != NULL) dlclose(again), dlclose(again);
      }
    }
  }
}

static TF_AsyncOpKernelDoneCallback* kept_done;

/* Calls done twice (how = 0), or that of the call before as well (1). */
static void done_twice(void* state, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
  const int64_t how = ((struct Node*)state)->how;
  if (how == 1 && kept_done != NULL) TF_RunAsyncOpKernelDoneCallback(kept_done);
  end(begin(ctx));
  kept_done = done;
  TF_RunAsyncOpKernelDoneCallback(done);
  if (how == 0) TF_RunAsyncOpKernelDoneCallback(done);
}

static void add(const char* name, TF_KernelBuilder* kernel) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderAddAttr(op, "how: int = 0");
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(name, kernel, status);
  TF_DeleteStatus(status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  add("ZooProcess", TF_NewKernelBuilder("ZooProcess", "CPU", create, meddles, destroy));
  add("ZooCrashes", TF_NewKernelBuilder("ZooCrashes", "CPU", create, ends, destroy));
  add("ZooDoneTwice", TF_NewAsyncKernelBuilder("ZooDoneTwice", "CPU", create, done_twice, destroy));
}
