/* A plugin with one op whose loading misbehaves as its flags say. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#include <utime.h>

#include "drystone/ops.h"
#include "drystone/platform_strings.h"
#include "drystone/status.h"

#ifndef OP
#define OP "LoaderVariant"
#endif

#if defined(RECORDS)
/* Records of the test's own choice. */
__attribute__((used)) static const char records[] = RECORDS;
#elif !defined(NO_STRINGS)
TF_PLATFORM_STRINGS()
#endif

#ifdef CRASH
__attribute__((constructor)) static void crash(void) {
  static const char text[] = "the wall came down\n";
  if (write(2, text, sizeof text - 1) < 0) _exit(9);
  abort();
}
#endif

#ifdef TOUCH
/* The file of the environment variable of that name is another one afterwards. */
__attribute__((constructor)) static void touch(void) {
  const char* file = getenv(TOUCH);
  if (file != NULL) utime(file, NULL);
}
#endif

#ifdef EXTRA_EXPORT
TF_CAPI_EXPORT int extra_export(void) { return 1; }
#endif

#ifdef NEEDS_SYMBOL
extern void TF_NobodyHasThis(void);
#endif

#ifdef OPENS
/* Whatever is opened later may be tied to the functions of the library that it opens. */
#ifdef OPENS_EARLY
__attribute__((constructor))
#endif
static void open_for_all(void) {
  if (dlopen(OPENS, RTLD_NOW | RTLD_GLOBAL) == NULL) abort();
}
#endif

#ifdef NO_ENTRY
void TF_InitKernel(void);
#else
TF_CAPI_EXPORT void TF_InitKernel(void);
#endif

void TF_InitKernel(void) {
#if defined(OPENS) && !defined(OPENS_EARLY)
  open_for_all();
#endif
#ifdef EXIT
  exit(EXIT);
#endif
#ifdef HANG
  for (;;) pause();
#endif
#ifdef NEEDS_SYMBOL
  TF_NobodyHasThis();
#endif
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(OP);
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);
}
