/* Kernels that do what is the machine's or rarely done, by doors beside those of hostile_doors.c: ZooMachine, from its
 * third call on, fails where it could; `how` chooses. ZooLeavesBehind leaves something of its thread behind, and
 * ZooFinds fails where it finds that. ZooLast asks the host for something when the process or a thread ends. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <grp.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <ulimit.h>
#include <unistd.h>

#include "drystone/platform_strings.h"
#include "hostile_kernels.h"

TF_PLATFORM_STRINGS()

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static char* page_of_host(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (char*)((size_t)(void*)TF_NewStatus & ~(page - 1));
}

/* All pages of the host's library, and one on either side. */
static int around_host(struct dl_phdr_info* info, size_t size, void* range) {
  char** const ends = range;
  (void)size;
  ends[0] = ends[1] = NULL;
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    char* const at = (char*)(info->dlpi_addr + info->dlpi_phdr[k].p_vaddr);
    if (info->dlpi_phdr[k].p_type != PT_LOAD) continue;
    if (ends[0] == NULL) ends[0] = (char*)((size_t)at & ~(size_t)4095) - 4096;
    ends[1] = (char*)((size_t)(at + info->dlpi_phdr[k].p_memsz + 8191) & ~(size_t)4095);
  }
  return page_of_host() > ends[0] && page_of_host() < ends[1];
}

static int unmap_around(void) {
  char* ends[2];
  dl_iterate_phdr(around_host, ends);
  return munmap(ends[0], (size_t)(ends[1] - ends[0]));
}

static int buffer(int64_t how) {
  static char own[BUFSIZ];
  if (how == 0) setbuf(stdout, own);
  if (how == 1) setbuffer(stderr, own, sizeof own);
  if (how == 2) setlinebuf(stdin);
  return -1; /* they do not say */
}

static int of_thread(int64_t how) {
  const struct sched_param lowest = {.sched_priority = 0};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  switch (how) {
    case 0: return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0 ? 0 : -1;
    case 1: return pthread_setschedparam(pthread_self(), SCHED_IDLE, &lowest) == 0 ? 0 : -1;
    case 2: return pthread_setschedprio(pthread_self(), 0) == 0 ? 0 : -1;
    case 3: return pthread_detach(pthread_self()) == 0 ? 0 : -1;
    default: return sched_setparam(0, &lowest);
  }
}

/* 0, or -1 where it could not, or does not say. What the machine would feel is harmless where it goes through. */
static int meddle(int64_t how) {
  int on = 1;
  struct termios terminal;
  struct timespec now;
  struct timeval then;
  char name[65] = {0};
  siginfo_t facts;
  clock_gettime(CLOCK_REALTIME, &now);
  gettimeofday(&then, NULL);
  gethostname(name, sizeof name - 1);
  memset(&terminal, 0, sizeof terminal);
  switch (how) {
    case 0: case 1: case 2: return buffer(how);
    case 3: case 4: case 5: case 6: case 7: return of_thread(how - 3);
    case 8: return sethostname(name, strlen(name));
    case 9: return setdomainname(name, strlen(name));
    case 10: return settimeofday(&then, NULL);
    case 11: return clock_settime(CLOCK_REALTIME, &now);
    case 12: return mount("none", "/nowhere", "tmpfs", MS_RDONLY, NULL);
    case 13: return umount("/nowhere");
    case 14: return umount2("/nowhere", MNT_DETACH);
    case 15: return setreuid((uid_t)-1, (uid_t)-1);
    case 16: return setregid((gid_t)-1, (gid_t)-1);
    case 17: return initgroups("root", 0);
    case 18: return setpgrp();
    case 19: setfsuid(12345); return setfsuid((uid_t)-1) == 12345 ? 0 : -1;
    case 20: setfsgid(12345); return setfsgid((gid_t)-1) == 12345 ? 0 : -1;
    case 21: return personality(ADDR_NO_RANDOMIZE) < 0 ? -1 : 0;
    case 22: return prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    case 23: return prctl(PR_SET_KEEPCAPS, 1);
    case 24: return ioctl(1, FIONBIO, &on);
    case 25: return tcsetattr(0, TCSANOW, &terminal);
    case 26: return tcsetpgrp(0, 1);
    case 27: return ftruncate(1, 0);
    case 28: return sigignore(SIGINT);
    case 29: return siginterrupt(SIGINT, 1);
    case 30: ualarm(200000, 0); return -1;
    case 31: return ulimit(UL_SETFSIZE, 1L) < 0 ? -1 : 0;
    case 32: return wait(NULL) < 0 ? -1 : 0;
    case 33: return waitpid(-1, NULL, WNOHANG);
    case 34: return waitid(P_ALL, 0, &facts, WEXITED | WNOHANG);
    case 35: return wait3(NULL, WNOHANG, NULL);
    case 36: return wait4(-1, NULL, WNOHANG, NULL);
    case 37: return kill(-1, SIGURG);
    case 38: return kill(getppid(), SIGURG);
    case 39: return pkey_mprotect(page_of_host(), 4096, PROT_NONE, -1);
    case 40: return unmap_around();
    case 41: return (int)syscall(SYS_umask, 0) < 0 ? -1 : 0;
    case 42: return (int)syscall(SYS_chdir, "/");
    case 43: return (int)syscall(SYS_setsid) < 0 ? -1 : 0;
    case 44: return (int)syscall(SYS_kill, -1, SIGURG);
    case 45: return (int)syscall(SYS_sethostname, name, strlen(name));
    default: return -1;
  }
}

static void meddles(void* state, TF_OpKernelContext* ctx) {
  static int calls = 0;
  end(begin(ctx));
  if (++calls < 3 || meddle(((struct Node*)state)->how) != 0) return;
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, "it could");
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

/* Another locale (how = 0), rounding upwards (1), traps for divisions by nought (2), short numbers of the x87 (3); on
 * x86-64: registers of MMX in use (4), copies that run backwards (5). */
static void leaves(void* state, TF_OpKernelContext* ctx) {
  static int calls = 0;
  end(begin(ctx));
  if (++calls < 3) return;
  switch (((struct Node*)state)->how) {
    case 0: uselocale(newlocale(LC_ALL_MASK, "C", NULL)); break;
    case 1: fesetround(FE_UPWARD); break;
    case 2: feenableexcept(FE_DIVBYZERO | FE_INVALID); break;
#ifdef __x86_64__
    case 3: { const unsigned short words = 0x007f; __asm__ volatile("fldcw %0" ::"m"(words)); break; }
    case 4: __asm__ volatile("pxor %%mm0, %%mm0" ::: "memory"); break;
    case 5: __asm__ volatile("std" ::: "memory", "cc"); break;
#endif
    default: break;
  }
}

/* Fails where the thread has another locale, rounds or traps, is short of digits of `long double` or copies backwards. */
static void finds(void* state, TF_OpKernelContext* ctx) {
  volatile long double one = 1, three = 3;
  unsigned long flags = 0;
  char text[128];
  (void)state;
  end(begin(ctx));
#ifdef __x86_64__
  __asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags));
#endif
  const int found[] = {uselocale(NULL) != LC_GLOBAL_LOCALE, fegetround(), fegetexcept(),
                       !(one / three * three == one), (int)((flags >> 10) & 1)};
  for (size_t k = 0; k < sizeof found / sizeof *found; ++k) {
    if (found[k] == 0) continue;
    TF_Status* status = TF_NewStatus();
    snprintf(text, sizeof text, "found: fact %zu is %d", k, found[k]);
    TF_SetStatus(status, TF_ABORTED, text);
    TF_OpKernelContext_Failure(ctx, status);
    TF_DeleteStatus(status);
    return;
  }
}

/* What comes last: calls of the host's, where it is shutting down. */
static void ask_host(void) {
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_OK, "");
  TF_DeleteTensor(TF_AllocateTensor(TF_FLOAT, NULL, 0, 4));
  TF_RegisterKernelBuilder("late", TF_NewKernelBuilder("ZooFinds", "CPU", create, finds, destroy), status);
  fprintf(stderr, "late: %d %s\n", TF_GetCode(status), TF_Message(status));
  TF_DeleteStatus(status);
}

static void* ask_for_ever(void* unused) {
  for (;;) {
    TF_Status* status = TF_NewStatus();
    TF_DeleteTensor(TF_AllocateTensor(TF_FLOAT, NULL, 0, 4));
    TF_DeleteStatus(status);
  }
  return unused;
}

static void end_of_thread(void* how) {
  ask_host();
  if ((size_t)how == 5) abort();
}

static int asks_at_end;

/* Has the host asked by atexit (how = 1), a destructor (2), a thread that never ends (3), at the end of the thread
 * that calls (4), which fails (5). */
static void last(void* state, TF_OpKernelContext* ctx) {
  static pthread_key_t key;
  pthread_t thread;
  const int64_t how = ((struct Node*)state)->how;
  end(begin(ctx));
  if (how == 1) atexit(ask_host);
  if (how == 2) asks_at_end = 1;
  if (how == 3) pthread_create(&thread, NULL, ask_for_ever, NULL);
  if (how >= 4) pthread_key_create(&key, end_of_thread), pthread_setspecific(key, (void*)(size_t)how);
}

__attribute__((destructor)) static void at_end(void) {
  if (asks_at_end) ask_host();
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
  add("ZooMachine", meddles);
  add("ZooLeavesBehind", leaves);
  add("ZooFinds", finds);
  add("ZooLast", last);
}
