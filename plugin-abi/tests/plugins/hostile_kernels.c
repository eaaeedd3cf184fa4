/* Kernels that do what kernels must not, each of an op `Zoo...(x: float) -> y: float` with an attribute
 * `how: int`. Those that hang do so for HANG_SECONDS. -DEND=1: a destructor of the library hangs; 2: a
 * function that it gave to atexit. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "drystone/kernel_views.h"
#include "drystone/kernels_experimental.h"
#include "drystone/ops.h"
#include "drystone/buffer.h"
#include "drystone/platform_strings.h"
#include "drystone/tstring.h"
#include "hostile_kernels.h"
#include "own_call.h"

TF_PLATFORM_STRINGS()

#ifndef HANG_SECONDS
#define HANG_SECONDS 90
#endif
#ifndef END
#define END 0
#endif

static void hang(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += HANG_SECONDS;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) continue;
}

static void good(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  end(begin(ctx));
}

static void past(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  memset((char*)call.out + call.bytes, 0x41, (size_t)((struct Node*)state)->how);
  end(call);
}

static void before(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  const size_t how = (size_t)((struct Node*)state)->how;
  memset((char*)call.out - how, 0x41, how);
  end(call);
}

/* Temporary memory: of TF_AllocateTemp (how = 0), TF_AllocateTensor (1), DS_Scratch (2). */
static void temporary(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  const int64_t dims[1] = {6};
  const int64_t how = ((struct Node*)state)->how;
  if (how == 2) {
    memset(DS_Scratch(ctx, 24), 0x41, 25);
  } else {
    TF_Status* status = TF_NewStatus();
    TF_Tensor* temporary = how == 0 ? TF_AllocateTemp(ctx, TF_FLOAT, dims, 1, NULL, status)
                                    : TF_AllocateTensor(TF_FLOAT, dims, 1, 24);
    memset(TF_TensorData(temporary), 0x41, 25);
    TF_DeleteTensor(temporary);
    TF_DeleteStatus(status);
  }
  end(call);
}

/* Writes one number of its input. */
static void input(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  call.in[((struct Node*)state)->how] += 1;
  end(call);
}

static void sleeps(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  const struct Call call = begin(ctx);
  hang();
  end(call);
}

/* Is brief `how` times, and sleeps from then on. */
static void later(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  if (((struct Node*)state)->how-- <= 0) hang();
  end(call);
}

static void never(void* state, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
  (void)state, (void)done;
  end(begin(ctx));
}

static void* write_later(void* memory) {
  for (int k = 1; k <= 300; ++k) {
    usleep(1000);
    *(volatile float*)memory = (float)k;
  }
  return NULL;
}

/* Leaves a thread that writes to its output (how = 0) or its input (1). */
static void writes_later(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  pthread_t thread;
  pthread_create(&thread, NULL, write_later, ((struct Node*)state)->how == 0 ? call.out : call.in);
  pthread_detach(thread);
  end(call);
}

struct Done {
  TF_AsyncOpKernelDoneCallback* callback;
  void* memory;
};

static void* write_when_done(void* state) {
  struct Done done = *(struct Done*)state;
  free(state);
  TF_RunAsyncOpKernelDoneCallback(done.callback);
  return write_later(done.memory);
}

/* Writes to its output when it has called done. */
static void writes_when_done(void* state, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
  (void)state;
  const struct Call call = begin(ctx);
  pthread_t thread;
  struct Done* both = malloc(sizeof *both);
  both->callback = done;
  both->memory = call.out;
  end(call);
  pthread_create(&thread, NULL, write_when_done, both);
  pthread_detach(thread);
}

/* Keeps the context, and uses it when another call is under way (how = 0), or on a thread and later (2). */
static TF_OpKernelContext* kept_context;

static void* ask_kept(void* context) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* input = NULL;
  usleep(50000);
  TF_GetInput(context, 0, &input, status);
  TF_Tensor* made = TF_AllocateTensor(TF_FLOAT, NULL, 0, 4);
  TF_SetOutput(context, 0, made, status);
  fprintf(stderr, "kept: %d %d %d\n", input != NULL, TF_GetCode(status), TF_NumInputs(context));
  TF_IncNumDeferredOps(context);
  TF_OpKernelContext_Failure(context, status);
  TF_DeleteTensor(made);
  TF_DeleteStatus(status);
  return NULL;
}

static void keeps(void* state, TF_OpKernelContext* ctx) {
  const int64_t how = ((struct Node*)state)->how;
  pthread_t thread;
  end(begin(ctx));
  if (how == 2) {
    pthread_create(&thread, NULL, ask_kept, ctx);
    pthread_detach(thread);
  } else if (kept_context != NULL && kept_context != ctx) {
    ask_kept(kept_context);
  }
  kept_context = ctx;
}

static void* create_slowly(TF_OpKernelConstruction* ctx) {
  void* made = create(ctx);
  hang();
  return made;
}

static void destroy_slowly(void* state) {
  hang();
  destroy(state);
}

/* Deletes one of a thousand statuses, all of which it has deleted. */
static void delete_late(TF_Status** first) {
  TF_Status* all[1000];
  for (int k = 0; k < 1000; ++k) all[k] = TF_NewStatus();
  for (int k = 0; k < 1000; ++k) TF_DeleteStatus(all[k]);
  if (*first == NULL) *first = all[500];
  TF_DeleteStatus(*first);
}

/* Deletes a handle of its input (how = 0), of its output (1) or a status (2) twice; a tensor (3), a status (4)
 * and a buffer (5) that are memory of its own; a status that was deleted long ago (6). */
static void twice(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  static char own[256];
  static TF_Status* first = NULL;
  const int64_t how = ((struct Node*)state)->how;
  TF_Status* status = TF_NewStatus();
  TF_DeleteStatus(status);
  if (how == 0) TF_DeleteTensor(call.x);
  if (how == 1) TF_DeleteTensor(call.y);
  if (how == 2) TF_DeleteStatus(status);
  if (how == 3) TF_DeleteTensor((TF_Tensor*)(void*)(own + 64));
  if (how == 4) TF_DeleteStatus((TF_Status*)(void*)(own + 64));
  if (how == 5) TF_DeleteBuffer((TF_Buffer*)(void*)(own + 64));
  if (how == 6) delete_late(&first);
  end(call);
}

/* Returns in the child, too. */
static void forks(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  end(begin(ctx));
  if (fork() < 0) abort();
}

static void end_process(int64_t how) {
  static char* const nothing[] = {"true", NULL};
  switch (how) {
    case 0: exit(0);
    case 1: quick_exit(0);
    case 2: _exit(0);
    case 3: _Exit(0);
    case 4: syscall(SYS_exit_group, 0); break;
    case 5: kill(getpid(), SIGKILL); break;
    case 6: kill(0, SIGKILL); break;
    case 7: killpg(0, SIGTERM); break;
    case 8: raise(SIGKILL); break;
    case 9: pthread_kill(pthread_self(), SIGKILL); break;
    case 10: syscall(SYS_tgkill, getpid(), getpid(), SIGKILL); break;
    case 11: execv("/bin/true", nothing); break;
    case 12: execvp("true", nothing); break;
    default: execve("/bin/true", nothing, environ);
  }
}

/* Ends the process: as above, by pthread_exit() (how = -1), or as free() does for what is not malloc's (-2). */
static void ends(void* state, TF_OpKernelContext* ctx) {
  const struct Call call = begin(ctx);
  void* volatile inside = call.in + 2;
  const int64_t how = ((struct Node*)state)->how;
  if (how == -1) pthread_exit(NULL);
  if (how == -2) free(inside);
  end_process(how);
}

static void* end_in_thread(void* state) {
  end_process(((struct Node*)state)->how);
  return NULL;
}

static void ends_elsewhere(void* state, TF_OpKernelContext* ctx) {
  pthread_t thread;
  end(begin(ctx));
  pthread_create(&thread, NULL, end_in_thread, state);
  pthread_join(thread, NULL);
}

/* Changes what is the program's; whether it could. */
static int meddle(int64_t how) {
  struct rlimit files;
  const struct itimerval soon = {{0, 0}, {1, 0}};
  const int null = open("/dev/null", O_RDWR);
  switch (how) {
    case 0: return close(1);
    case 1: return dup2(null, 2);
    case 2: return dup3(null, 0, 0);
    case 3: return fclose(stdout);
    case 4: return chdir("/");
    case 5: return fchdir(open("/", O_RDONLY));
    case 6: return signal(SIGINT, SIG_IGN) == SIG_ERR ? -1 : 0;
    case 7: return sigaction(SIGTERM, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    case 8: getrlimit(RLIMIT_NOFILE, &files); files.rlim_cur = 9; return setrlimit(RLIMIT_NOFILE, &files);
    case 9: return setitimer(ITIMER_REAL, &soon, NULL);
    default: alarm(1); return -1;
  }
}

static void* meddle_in_thread(void* state) {
  ((struct Node*)state)->how = meddle(((struct Node*)state)->how);
  return NULL;
}

/* Fails where it could, from its third call on, here (`how`) or on a thread of its own (`how` - 100). */
static void meddles(void* state, TF_OpKernelContext* ctx) {
  static int calls = 0;
  struct Node* node = state;
  end(begin(ctx));
  if (++calls < 3 || node->how == -1) return;
  if (node->how < 100) {
    node->how = meddle(node->how);
  } else {
    pthread_t thread;
    node->how -= 100;
    pthread_create(&thread, NULL, meddle_in_thread, state);
    pthread_join(thread, NULL);
  }
  if (node->how == -1) return;
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, "it could");
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

/* From its third call on: an alarm (how = 0), all signals blocked (1), Ctrl-C ignored (2); by ways that
 * the host does not redirect. */
static void takes(void* state, TF_OpKernelContext* ctx) {
  static int calls = 0;
  const struct itimerval soon = {{0, 0}, {1, 0}};
  const unsigned long ignore[4] = {(unsigned long)SIG_IGN, 0, 0, 0};
  end(begin(ctx));
  if (++calls < 3) return;
  sigset_t all;
  sigfillset(&all);
  switch (((struct Node*)state)->how) {
    case 0: own_call(SYS_setitimer, ITIMER_REAL, (long)&soon, 0, 0); break;
    case 1: pthread_sigmask(SIG_BLOCK, &all, NULL); break;
    default: own_call(SYS_rt_sigaction, SIGINT, (long)ignore, 0, 8);
  }
}

static void nothing_to_free(void* data, size_t length, void* arg) {
  (void)data, (void)length, (void)arg;
}

/* Its output is memory that is not there: aligned (how = 0), or so that the host would copy it (16). */
static void nowhere(void* state, TF_OpKernelContext* ctx) {
  const int64_t dims[1] = {6};
  TF_Status* status = TF_NewStatus();
  void* none = (void*)(size_t)(0x1000 + ((struct Node*)state)->how);
  TF_Tensor* made = TF_NewTensor(TF_FLOAT, dims, 1, none, 24, nothing_to_free, NULL);
  if (made != NULL) TF_SetOutput(ctx, 0, made, status);
  TF_DeleteTensor(made);
  TF_DeleteStatus(status);
}

/* Strings of any bytes (how = 0), or that lie where nothing is (1). */
static void strings(void* state, TF_OpKernelContext* ctx) {
  const int64_t dims[1] = {3};
  TF_Status* status = TF_NewStatus();
  TF_Tensor* made = TF_AllocateOutput(ctx, 0, TF_STRING, dims, 1, 3 * sizeof(TF_TString), status);
  TF_TString* all = TF_TensorData(made);
  if (((struct Node*)state)->how == 0) memset(all + 1, 0xFF, sizeof *all);
  else TF_TString_AssignView(all + 1, (const char*)0x1000, 100);
  TF_DeleteTensor(made);
  TF_DeleteStatus(status);
}

/* Leaves its output out (how = 0), and says so by OK (1). */
static void silent(void* state, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  if (((struct Node*)state)->how == 1) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

/* Fails with eight million letters. */
static void shouts(void* state, TF_OpKernelContext* ctx) {
  enum { kLetters = 8 << 20 };
  (void)state;
  TF_Status* status = TF_NewStatus();
  char* text = malloc(kLetters + 1);
  memset(text, 'A', kLetters);
  text[kLetters] = '\0';
  TF_SetStatus(status, TF_INTERNAL, text);
  TF_OpKernelContext_Failure(ctx, status);
  free(text);
  TF_DeleteStatus(status);
}

static void prints(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  end(begin(ctx));
  printf("{\"noise\": 1}\n");
  fflush(stdout);
}

static void shape_hangs(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  (void)ctx, (void)status;
  hang();
}

static void shape_crashes(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  (void)ctx, (void)status;
  raise(SIGSEGV);
}

static void shape_changes(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
  if (chdir("/") != 0) abort();
  signal(SIGINT, SIG_IGN);
}

static void register_op(const char* name, TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, strcmp(name, "ZooStrings") == 0 ? "y: string" : "y: float");
  TF_OpDefinitionBuilderAddAttr(op, "how: int = 0");
  if (strcmp(name, "ZooShapeHangs") == 0) TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape_hangs);
  if (strcmp(name, "ZooShapeCrashes") == 0) TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape_crashes);
  if (strcmp(name, "ZooShapeChanges") == 0) TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape_changes);
  TF_RegisterOpDefinition(op, status);
}

static void* register_late(void* answer) {
  TF_Status* status = TF_NewStatus();
  register_op("ZooLateOp", status);
  snprintf(answer, 1024, "op: %d %s", TF_GetCode(status), TF_Message(status));
  TF_KernelBuilder* kernel = TF_NewKernelBuilder("ZooGood", "CPU", create, good, destroy);
  TF_KernelBuilder_Priority(kernel, 100);
  TF_RegisterKernelBuilder("ZooLateKernel", kernel, status);
  const size_t used = strlen(answer);
  snprintf((char*)answer + used, 1024 - used, "; kernel: %d %s", TF_GetCode(status), TF_Message(status));
  TF_DeleteStatus(status);
  return NULL;
}

/* Registers an op and a kernel while it runs (how = 0) or on a thread of its own (1), and fails with what
 * that said. */
static void late(void* state, TF_OpKernelContext* ctx) {
  char answer[1024] = "";
  if (((struct Node*)state)->how == 0) {
    register_late(answer);
  } else {
    pthread_t thread;
    pthread_create(&thread, NULL, register_late, answer);
    pthread_join(thread, NULL);
  }
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, answer);
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static void add(const char* name, TF_KernelBuilder* kernel) {
  TF_Status* status = TF_NewStatus();
  register_op(name, status);
  if (TF_GetCode(status) != TF_OK) fprintf(stderr, "%s: %s\n", name, TF_Message(status));
  TF_RegisterKernelBuilder(name, kernel, status);
  TF_DeleteStatus(status);
}

static TF_KernelBuilder* plain(const char* name, void (*compute)(void*, TF_OpKernelContext*)) {
  return TF_NewKernelBuilder(name, "CPU", create, compute, destroy);
}

#if END == 1
__attribute__((destructor)) static void at_end(void) { hang(); }
#endif

TF_CAPI_EXPORT void TF_InitKernel(void) {
  add("ZooGood", plain("ZooGood", good));
  add("ZooPast", plain("ZooPast", past));
  add("ZooBefore", plain("ZooBefore", before));
  add("ZooTemporary", plain("ZooTemporary", temporary));
  add("ZooInput", plain("ZooInput", input));
  add("ZooSleeps", plain("ZooSleeps", sleeps));
  add("ZooLater", plain("ZooLater", later));
  add("ZooLate", plain("ZooLate", late));
  add("ZooTwice", plain("ZooTwice", twice));
  add("ZooForks", plain("ZooForks", forks));
  add("ZooEnds", plain("ZooEnds", ends));
  add("ZooEndsElsewhere", plain("ZooEndsElsewhere", ends_elsewhere));
  add("ZooMeddles", plain("ZooMeddles", meddles));
  add("ZooTakes", plain("ZooTakes", takes));
  add("ZooNowhere", plain("ZooNowhere", nowhere));
  add("ZooStrings", plain("ZooStrings", strings));
  add("ZooSilent", plain("ZooSilent", silent));
  add("ZooShouts", plain("ZooShouts", shouts));
  add("ZooPrints", plain("ZooPrints", prints));
  add("ZooShapeHangs", plain("ZooShapeHangs", good));
  add("ZooShapeCrashes", plain("ZooShapeCrashes", good));
  add("ZooShapeChanges", plain("ZooShapeChanges", good));
  add("ZooKeeps", plain("ZooKeeps", keeps));
  add("ZooWritesLater", plain("ZooWritesLater", writes_later));
  add("ZooWhenDone", TF_NewAsyncKernelBuilder("ZooWhenDone", "CPU", create, writes_when_done, destroy));
  add("ZooNever", TF_NewAsyncKernelBuilder("ZooNever", "CPU", create, never, destroy));
  add("ZooCreates", TF_NewKernelBuilder("ZooCreates", "CPU", create_slowly, good, destroy));
  add("ZooDeletes", TF_NewKernelBuilder("ZooDeletes", "CPU", create, good, destroy_slowly));
#if END == 2
  atexit(hang);
#endif
}
