/* Kernels that do to the process what they must not, by doors beside those of hostile_kernels.c and hostile_process.c;
 * `how` or END chooses. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drystone/platform_strings.h"
#include "hostile_kernels.h"

TF_PLATFORM_STRINGS()

static void ignore(int number) { (void)number; }

static void* of_host(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (void*)((size_t)(void*)TF_NewStatus & ~(page - 1));
}

/* As programs do that go to the background. What was opened after the first plugin may be anybody's, and goes. */
static int close_all(void) {
  int first = -1;
  for (int k = 3; k < 1024; ++k) {
    const int is_kept = close(k) != 0 && errno == EPERM;
    if (is_kept && first < 0) first = k;
  }
  return first < 0 ? 0 : -1;
}

/* 0, or -1 where it could not. */
static int take_over(int64_t how) {
  const struct sched_param lowest = {.sched_priority = 0};
  cpu_set_t one;
  gid_t group = 0;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  switch (how) {
    case 0: return kill(getpid(), SIGSTOP);
    case 1: return raise(SIGSTOP);
    case 2: return (int)syscall(SYS_kill, getpid(), SIGSTOP);
    case 3: return mmap(of_host(), 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0;
    case 4: return mremap(of_host(), 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0;
    case 5: return madvise(of_host(), 4096, MADV_DONTNEED);
    case 6: return sbrk(-(1 << 16)) == (void*)-1 ? -1 : 0;
    case 7: return mlockall(MCL_FUTURE);
    case 8: errno = 0; return nice(5) == -1 && errno != 0 ? -1 : 0;
    case 9: return setpriority(PRIO_PROCESS, 0, 6);
    case 10: return sched_setscheduler(0, SCHED_IDLE, &lowest);
    case 11: return sched_setaffinity(getpid(), sizeof one, &one);
    case 12: return setvbuf(stdout, NULL, _IONBF, 0);
    case 13: return signal(SIGSEGV, ignore) == SIG_ERR ? -1 : 0;
    case 14: return sysv_signal(SIGINT, ignore) == SIG_ERR ? -1 : 0;
    case 15: return sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    case 16: return ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? -1 : 0;
    case 17: return unshare(CLONE_FS);
    case 18: return setgroups(1, &group);
    case 19: return close_all();
    case 20: return fcntl(1, F_SETFL, O_NONBLOCK);
    case 21: return fcntl(0, F_SETFD, FD_CLOEXEC);
    case 22: return fcntl(open("/dev/null", O_RDONLY), F_SETOWN, getpid());
    case 23: return fcloseall();
    case 24: return daemon(0, 0);
    default: return -1;
  }
}

static void end_process(void) {
  char* words[] = {"true", NULL};
  const union sigval value = {0};
  switch (END) {
    case 0: err(3, "the vendor's"); break;
    case 1: execl("/bin/true", "true", (char*)NULL); break;
    case 2: execlp("true", "true", (char*)NULL); break;
    case 3: execle("/bin/true", "true", (char*)NULL, environ); break;
    case 4: execvpe("true", words, environ); break;
    case 5: fexecve(open("/bin/true", O_RDONLY), words, environ); break;
    case 6: sigqueue(getpid(), SIGKILL, value); break;
    case 7: tgkill(getpid(), getpid(), SIGKILL); break;
    case 8: pthread_sigqueue(pthread_self(), SIGKILL, value); break;
    default: syscall(SYS_exit, 0);
  }
}

/* Ends the process, by END. */
static void ends(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  end(begin(ctx));
  end_process();
}

/* Closes the host's library often (how = 0), leaves streams locked (1), does nothing (2). */
static void leaves(void* state, TF_OpKernelContext* ctx) {
  const int64_t how = ((struct Node*)state)->how;
  Dl_info host;
  end(begin(ctx));
  dladdr((void*)(size_t)TF_NewStatus, &host);
  void* const handle = how == 0 ? dlopen(host.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
  for (int k = 0; handle != NULL && k < 1000; ++k) dlclose(handle);
  if (how == 1) flockfile(stdout), flockfile(stderr);
}

/* Fails where it could, from its third call on. */
static void takes_over(void* state, TF_OpKernelContext* ctx) {
  static int calls = 0;
  end(begin(ctx));
  if (++calls < 3 || take_over(((struct Node*)state)->how) != 0) return;
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, "it could");
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static void add(const char* name, void (*compute)(void*, TF_OpKernelContext*)) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderAddAttr(op, "how: int = 0");
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(name, TF_NewKernelBuilder(name, "CPU", create, compute, destroy), status);
  TF_DeleteStatus(status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  add("ZooTakesOver", takes_over);
  add("ZooEndsBy", ends);
  add("ZooLeaves", leaves);
}
