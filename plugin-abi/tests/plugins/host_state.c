/* An optimizer and a kernel that change what belongs to the process.
 *
 *   DEVICE  the optimizer's device type, a string literal; the op is named after OP
 *   WHEN    in what it changes things: one of the names below
 *   CHANGES statements instead of all of them
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "drystone/optimizer.h"
#include "drystone/platform_strings.h"
#include "optimizer_help.h"
TF_PLATFORM_STRINGS()

enum { kOpened = 1, kEntry, kOptimize, kCreate, kCompute };

static void ignore(int number) { (void)number; }

/* Denormals become zero: what linking with -ffast-math does. */
static inline void flush_denormals(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static inline void change_all(void) {
  const struct itimerval timer = {{0, 0}, {1000, 0}};
  struct rlimit files;
  cpu_set_t first;
  sigset_t blocked;
  flush_denormals();
  umask(0);
  if (chdir("/") != 0) abort();
  signal(SIGINT, ignore);
  signal(SIGUSR2, ignore);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = 77;
  setrlimit(RLIMIT_NOFILE, &files);
  setlocale(LC_ALL, "C");
  setlocale(LC_ALL, "C.UTF-8");
  setenv("DRYSTONE_HOST_STATE", "mine", 1);
  unsetenv("PATH");
  setenv("HOME", "/nowhere", 1);
  setitimer(ITIMER_REAL, &timer, NULL);
  sched_getaffinity(0, sizeof first, &first);
  for (int k = 0; k < CPU_SETSIZE; ++k) {
    if (CPU_ISSET(k, &first) == 0) continue;
    CPU_ZERO(&first);
    CPU_SET(k, &first);
  }
  sched_setaffinity(0, sizeof first, &first);
  prctl(PR_SET_NAME, "mine");
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  close(2);
  close(null);
}
#ifndef CHANGES
#define CHANGES change_all()
#endif

static void change(int when) {
  if (when == WHEN) {
    CHANGES;
  }
}

__attribute__((constructor)) static void opened(void) { change(kOpened); }

static void optimize(void* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item,
                     TF_Buffer* optimized, TF_Status* status) {
  (void)optimizer;
  (void)item;
  (void)status;
  change(kOptimize);
  copy_graph(graph, optimized);
}

TF_CAPI_EXPORT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  (void)status;
  printf("said in TF_InitGraph\n");
  params->device_type = DEVICE;
  params->optimizer->optimize_func = optimize;
  change(kEntry);
}

static void* create(TF_OpKernelConstruction* construction) {
  (void)construction;
  change(kCreate);
  return NULL;
}

static void compute(void* state, TF_OpKernelContext* context) {
  (void)state;
  TF_Status* const status = TF_NewStatus();
  TF_Tensor* input = NULL;
  TF_GetInput(context, 0, &input, status);
  TF_SetOutput(context, 0, input, status);
  TF_DeleteTensor(input);
  TF_DeleteStatus(status);
  change(kCompute);
}

#ifdef OP
TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_Status* const status = TF_NewStatus();
  TF_OpDefinitionBuilder* const op = TF_NewOpDefinitionBuilder(OP);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(OP, TF_NewKernelBuilder(OP, "CPU", create, compute, NULL), status);
  TF_DeleteStatus(status);
}
#else
TF_CAPI_EXPORT void* unused[] = {(void*)create, (void*)compute};
#endif
