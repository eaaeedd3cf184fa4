/* Entry functions that register what is absurd, or ask for more than they are there for: one for each value
 * of BAD. What the host answers goes to standard error. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/buffer.h"
#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "drystone/platform_strings.h"
#include "drystone/registry.h"
#include "own_call.h"

enum {
  kLongName = 1,   /* an op with a name of 1 MiB */
  kManyAttributes, /* one with 200,000 attributes */
  kManyInputs,     /* and as many inputs */
  kSameOp,         /* an op twice, with two definitions */
  kNoBuilder,      /* registers NULL, and a builder that is gone */
  kLongKernel,     /* a kernel with a name of 1 MiB, and a label of as much */
  kManyKernels,    /* 20,000 kernels */
  kLoadsItself,    /* loads itself while it is loaded */
  kRecurses,       /* calls its own entry function from an op's registration */
  kNoReturn,       /* leaves its function by a system call of its own, no function of the C library's */
  kMovesAway,      /* changes the working folder so */
  kStaysQuiet,     /* gives statuses that are no codes */
};

TF_PLATFORM_STRINGS()

void TF_InitKernel(void);

static char* letters(size_t count) {
  char* text = malloc(count + 1);
  memset(text, 'A', count);
  text[count] = '\0';
  return text;
}

static void tell(const char* what, TF_Status* status) {
  fprintf(stderr, "%s: %d %.200s\n", what, TF_GetCode(status), TF_Message(status));
}

static void compute(void* state, TF_OpKernelContext* ctx) { (void)state, (void)ctx; }

static void op(const char* name, const char* kind, long count, TF_Status* status) {
  char spec[64];
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddOutput(builder, "y: float");
  for (long k = 0; k < count; ++k) {
    snprintf(spec, sizeof spec, kind, k);
    if (strstr(spec, " = ") != NULL) TF_OpDefinitionBuilderAddAttr(builder, spec);
    else TF_OpDefinitionBuilderAddInput(builder, spec);
  }
  TF_RegisterOpDefinition(builder, status);
  tell(kind, status);
}

static void kernel(const char* name, const char* label, TF_Status* status) {
  TF_KernelBuilder* builder = TF_NewKernelBuilder("NoOp", "ZOO", NULL, compute, NULL);
  TF_KernelBuilder_Label(builder, label);
  TF_RegisterKernelBuilder(name, builder, status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  static int depth = 0;
  TF_Status* status = TF_NewStatus();
  char* text = letters(1 << 20);
  Dl_info own;
  dladdr((void*)(size_t)TF_InitKernel, &own);
  ++depth;
  switch (BAD) {
    case kLongName: op(text, "x%ld: float", 1, status); break;
    case kManyAttributes: op("ZooMany", "a%ld: int = 0", 200000, status); break;
    case kManyInputs: op("ZooMany", "x%ld: float", 200000, status); break;
    case kSameOp:
      op("ZooTwice", "x%ld: float", 1, status);
      op("ZooTwice", "x%ld: float", 2, status);
      break;
    case kNoBuilder:
      TF_RegisterOpDefinition(NULL, status);
      tell("no op", status);
      TF_RegisterKernelBuilder(NULL, NULL, status);
      tell("no kernel", status);
      TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder("ZooGone");
      TF_DeleteOpDefinitionBuilder(builder);
      TF_DeleteOpDefinitionBuilder(builder);
      TF_RegisterOpDefinition(builder, status);
      tell("gone", status);
      break;
    case kLongKernel: kernel(text, text, status); tell("long kernel", status); break;
    case kManyKernels:
      for (int k = 0; k < 20000; ++k) {
        char label[16];
        snprintf(label, sizeof label, "l%d", k);
        kernel("ZooMany", label, status);
      }
      tell("many kernels", status);
      break;
    case kLoadsItself: TF_LoadLibrary(own.dli_fname, status); tell("loads itself", status); break;
    case kRecurses: if (depth < 100) TF_InitKernel(); break;
    case kNoReturn: own_call(SYS_exit_group, 0, 0, 0, 0); break;
    case kMovesAway: own_call(SYS_chdir, (long)"/", 0, 0, 0); break;
    default: TF_SetStatus(status, (TF_Code)12345, text); TF_SetStatus(status, (TF_Code)-7, "no code"); tell("code", status);
  }
  if (BAD > kLongKernel) {
    kernel("ZooPlain", "plain", status);
  }
  free(text);
  TF_DeleteStatus(status);
}
