/* Kernels that do to the program what they must not, by names and numbers that few know: ZooFurther, from its third call
 * on, fails where it could; `how` chooses. ZooEmbeds calls what is for the program that embeds the host. ZooCrashesSo
 * ends the process in ways in which handlers are passed by. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drystone/platform_strings.h"
#include "hostile_kernels.h"

TF_PLATFORM_STRINGS()

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* What the C library has under a second name, and headers do not say. */
extern int __close(int);
extern int __dup2(int, int);
extern int __fcntl(int, int, ...);
extern int __sigaction(int, const struct sigaction*, struct sigaction*);
extern sighandler_t bsd_signal(int, sighandler_t);
extern sighandler_t __sysv_signal(int, sighandler_t);
extern pid_t __fork(void);

static void ignore(int number) { (void)number; }

static void* page_of(const void* memory) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (void*)((size_t)memory & ~(page - 1));
}

/* Seccomp with a filter that allows all: it would stay for good. */
static int filter(int by_number) {
  struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {1, all};
  if (by_number) return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int by_second_names(int64_t how) {
  const struct sigaction quiet = {.sa_handler = SIG_IGN};
  const int null = open("/dev/null", O_RDWR);
  switch (how) {
    case 0: return __close(1);
    case 1: return __dup2(null, 2);
    case 2: return __fcntl(1, F_SETFL, O_NONBLOCK);
    case 3: return __sigaction(SIGINT, &quiet, NULL);
    case 4: return bsd_signal(SIGINT, ignore) == SIG_ERR ? -1 : 0;
    case 5: return __sysv_signal(SIGINT, ignore) == SIG_ERR ? -1 : 0;
    case 6: return freopen64("/dev/null", "w", stdout) == NULL ? -1 : 0;
    case 7: return ftruncate64(1, 0);
    case 8: return fcntl64(1, F_SETFL, O_NONBLOCK);
    default: return -1;
  }
}

static int of_limits(int64_t how) {
  struct rlimit64 files = {99, 99};
  switch (how) {
    case 0: return setrlimit64(RLIMIT_NOFILE, &files);
    case 1: return prlimit64(0, RLIMIT_NOFILE, &files, NULL);
    case 2: return (int)syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &files, NULL);
    case 3: return (int)syscall(SYS_prlimit64, getpid(), RLIMIT_CORE, &files, NULL);
    default: return -1;
  }
}

static int of_identity(int64_t how) {
  switch (how) {
    case 0: return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    case 1: return filter(0);
    case 2: return filter(1);
    case 3: return prctl(PR_SET_DUMPABLE, 0);
    case 4: return prctl(PR_SET_CHILD_SUBREAPER, 1);
    case 5: return (int)syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    case 6: return setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1);
    case 7: return setresgid((gid_t)-1, (gid_t)-1, (gid_t)-1);
    case 8: return chroot("/");
    case 9: return (int)syscall(SYS_chroot, "/");
    case 10: return (int)syscall(SYS_unshare, CLONE_FS);
    case 11: return (int)syscall(SYS_setpgid, 0, 0);
    default: return -1;
  }
}

static int of_memory(int64_t how) {
  void* const host = page_of((void*)(size_t)TF_NewStatus);
  switch (how) {
    case 0: return (int)syscall(SYS_mprotect, host, 4096, PROT_NONE);
    case 1: return (int)syscall(SYS_munmap, host, 4096);
    case 2: return (int)syscall(SYS_madvise, host, 4096, MADV_DONTNEED);
    case 3: return mmap64(host, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0;
    default: return -1;
  }
}

static int of_others(int64_t how) {
  struct timex clock = {0};
  const unsigned long quiet[4] = {(unsigned long)SIG_IGN, 0, 0, 0};
  switch (how) {
    case 0: clock.modes = ADJ_TICK; clock.tick = 10000; return adjtimex(&clock) < 0 ? -1 : 0;
    case 1: return adjtime(&(struct timeval){0, 0}, NULL);
    case 2: clock.modes = ADJ_TICK; clock.tick = 10000; return clock_adjtime(CLOCK_REALTIME, &clock) < 0 ? -1 : 0;
    case 3: return (int)syscall(SYS_rt_sigaction, SIGSEGV, quiet, NULL, 8);
    case 4: return (int)syscall(SYS_close, 1);
    case 5: return (int)syscall(SYS_dup3, open("/dev/null", O_RDWR), 2, 0);
    case 6: return (int)syscall(SYS_fcntl, 1, F_SETFL, O_NONBLOCK);
    case 7: return (int)syscall(SYS_sigaltstack, &(stack_t){.ss_flags = SS_DISABLE}, NULL);
    case 8: return (int)syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);
    case 9: return (int)syscall(SYS_alarm, 1) == 0 ? 0 : -1;
    case 10: return (int)syscall(SYS_close_range, 3, ~0U, 0);
    case 11: return (int)syscall(SYS_ioprio_set, 1, 0, 3 << 13);
    default: return -1;
  }
}

static int meddle(int64_t how) {
  if (how < 10) return by_second_names(how);
  if (how < 20) return of_limits(how - 10);
  if (how < 40) return of_identity(how - 20);
  if (how < 50) return of_memory(how - 40);
  return of_others(how - 50);
}

static void fail(TF_OpKernelContext* ctx, const char* text) {
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, text);
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static void meddles(void* state, TF_OpKernelContext* ctx) {
  static int calls = 0;
  end(begin(ctx));
  if (++calls >= 3 && meddle(((struct Node*)state)->how) == 0) fail(ctx, "it could");
}

/* ---- what is for the program ---- */

struct DS_Library;
extern void DS_SetOptimizerServices(const void*);
extern void DS_SetOpServices(const void*, TF_Status*);
extern void DS_SetOpList(const TF_Buffer*, TF_Status*);
extern void DS_SetLogSink(void*, void*);
extern void DS_ShutdownDevices(void);
extern void DS_PrepareEnd(void);
extern void DS_CleanupFilesystems(void);
extern int64_t DS_FreeKeptMemory(void);
extern void DS_SetCapsuleFunctions(void*, void*);
extern void DS_SetAttention(void*, void*);
extern void DS_RegisterFilesystems(const char*, void*, TF_Status*);
extern void DS_VouchForLibrary(struct DS_Library*);
extern void DS_InitLibrary(struct DS_Library*, const char*, TF_Status*);
extern struct DS_Library* DS_OpenLibraryWithout(const char*, const char* const*, int, TF_Status*);

static int embed(int64_t how) {
  Dl_info own;
  TF_Status* status = TF_NewStatus();
  int could = 0;
  dladdr((void*)(size_t)page_of, &own);
  switch (how) {
    case 0: DS_SetOptimizerServices(NULL); break;
    case 1: DS_SetOpServices(NULL, status); could = TF_GetCode(status) == TF_OK; break;
    case 2: DS_SetOpList(NULL, status); could = TF_GetCode(status) == TF_OK; break;
    case 3: DS_SetLogSink(NULL, NULL); break;
    case 4: DS_ShutdownDevices(); break;
    case 5: DS_PrepareEnd(); break;
    case 6: DS_CleanupFilesystems(); break;
    case 7: DS_FreeKeptMemory(); break;
    case 8: DS_SetCapsuleFunctions(NULL, NULL); break;
    case 9: DS_SetAttention(NULL, NULL); break;
    case 10: DS_RegisterFilesystems("zoo", (void*)0x10, status); could = TF_GetCode(status) == TF_OK; break;
    case 11: could = DS_OpenLibraryWithout(own.dli_fname, NULL, 0, status) != NULL; break;
    case 12: DS_VouchForLibrary((struct DS_Library*)(void*)0x10); break;
    case 13: DS_InitLibrary((struct DS_Library*)(void*)0x10, "TF_InitKernel", status); could = TF_GetCode(status) == TF_OK; break;
    case 14: ((void (*)(void))dlsym(RTLD_DEFAULT, "DS_ShutdownDevices"))(); break;
    default: break;
  }
  TF_DeleteStatus(status);
  return could;
}

static void embeds(void* state, TF_OpKernelContext* ctx) {
  end(begin(ctx));
  if (embed(((struct Node*)state)->how)) fail(ctx, "it could");
}

/* ---- ends of the process ---- */

static int volatile nought, many = 7;

static void read_past_a_file(void) {
  char name[] = "/tmp/zoo-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  if (ftruncate(file, 4096) != 0) abort();
  volatile char* const memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  if (ftruncate(file, 0) != 0) abort();
  nought = memory[0];
}

static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

static void crashes(void* state, TF_OpKernelContext* ctx) {
  end(begin(ctx));
  switch (((struct Node*)state)->how) {
    case 0: block_all(); *(int volatile*)(size_t)nought = 1; break;
    case 1: read_past_a_file(); break;
    case 2: __builtin_trap(); break;
    case 3: nought = many / nought; break;
    case 4: block_all(); abort(); break;
    case 5: raise(SIGTRAP); break;
    case 6: raise(SIGSYS); break;
    case 7: {
      const pid_t child = __fork();
      if (child > 0) waitpid(child, NULL, 0);
      break;
    }
    default: ((void (*)(void))(size_t)nought)();
  }
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
  add("ZooFurther", meddles);
  add("ZooEmbeds", embeds);
  add("ZooCrashesSo", crashes);
}
