/* Libraries that do wrong while they are opened, or their entry function runs: one for each value of BAD. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "drystone/platform_strings.h"

enum {
  kFloods = 1,      /* prints, and never ends */
  kForks,           /* forks, and returns in the child, too */
  kForksAside,      /* the same by _Fork, which calls no handlers */
  kRemovesItself,   /* its file */
  kRegistersLater,  /* on a thread of its own, when the entry function is over */
  kClosesAll,       /* files, those of who tries it among them */
  kExecutes,        /* another program */
  kStops,           /* itself */
  kSignalsParent,   /* so that it ends */
  kHugeData,        /* takes 16 TiB of zeros */
  kHugeThreads,     /* takes 1 GiB for each thread */
  kResolverCrashes, /* where the linker asks which function it is */
  kDescends,        /* uses the stack up in a constructor */
  kManyThreads,     /* leaves 300 threads */
};

TF_PLATFORM_STRINGS()

#if BAD == 10
TF_CAPI_EXPORT char zoo_data[(size_t)1 << 44];
#endif
#if BAD == 11
TF_CAPI_EXPORT __thread char zoo_of_thread[(size_t)1 << 30];
#endif
#if BAD == 12
static void (*resolve(void))(void) {
  raise(SIGSEGV);
  return NULL;
}
TF_CAPI_EXPORT void zoo_resolved(void) __attribute__((ifunc("resolve")));
__attribute__((used)) static void (*const volatile needs_it)(void) = zoo_resolved;
#endif
#if BAD == 13
static int descend(int depth) {
  volatile char frame[4096];
  frame[depth % 4096] = (char)depth;
  return depth < 0 ? 0 : descend(depth + 1) + frame[depth % 4096];
}
__attribute__((constructor)) static void begin(void) { descend(0); }
#endif

static void flood(void) {
  char line[1024];
  memset(line, 'A', sizeof line);
  line[sizeof line - 1] = '\n';
  for (int k = 0;; ++k) fwrite(line, sizeof line, 1, k % 2 ? stdout : stderr);
}

static void add_op(const char* name) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  if (TF_GetCode(status) != TF_OK) fprintf(stderr, "%s: %s\n", name, TF_Message(status));
  TF_DeleteStatus(status);
}

static void* register_later(void* unused) {
  usleep(300000);
  add_op("ZooEntriesLater");
  return unused;
}

static void* sleep_on(void* unused) {
  sleep(1000);
  return unused;
}

static void misbehave(void) {
  Dl_info own;
  pthread_t thread;
  dladdr((void*)(size_t)flood, &own);
  switch (BAD) {
    case kFloods: flood(); break;
    case kForks: if (fork() < 0) abort(); break;
    case kForksAside: {
      pid_t (*const forks)(void) = (pid_t (*)(void))dlsym(RTLD_DEFAULT, "_Fork");
      if ((forks == NULL ? fork() : forks()) < 0) abort();
      break;
    }
    case kRemovesItself: unlink(own.dli_fname); break;
    case kRegistersLater: pthread_create(&thread, NULL, register_later, NULL); break;
    case kClosesAll: for (int k = 3; k < 1024; ++k) close(k); break;
    case kExecutes: execl("/bin/true", "true", (char*)NULL); break;
    case kStops: raise(SIGSTOP); break;
    case kSignalsParent: if (kill(getppid(), SIGTERM) != 0) fprintf(stderr, "kill: %s\n", strerror(errno)); break;
    case kManyThreads: for (int k = 0; k < 300; ++k) pthread_create(&thread, NULL, sleep_on, NULL); break;
    default: break;
  }
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  add_op("ZooEntries");
  misbehave();
}
