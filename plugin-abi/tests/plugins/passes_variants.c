/* Passes that do wrong, one by one, as macros say.
 *
 * NAME, GROUPING, SIZE, RUN, MAJOR   what is registered
 * OPS                                for which ops: NULL, or what is no list of them
 * ANSWER                             what run answers: an expression with `call` and `status`
 * TWICE, REFUSE                      register again; refuse after registering */
#include <string.h>

#include "drystone/passes.h"
#include "drystone/platform_strings.h"

TF_PLATFORM_STRINGS()

#ifndef NAME
#define NAME "variant"
#endif
#ifndef GROUPING
#define GROUPING DS_PassGrouping_PrePlacement
#endif
#ifndef SIZE
#define SIZE DS_PASS_STRUCT_SIZE
#endif
#ifndef OPS
#define OPS NULL
#endif
#ifndef RUN
#define RUN run
#endif
#ifndef MAJOR
#define MAJOR DS_PASSES_MAJOR
#endif
#ifndef ANSWER
#define ANSWER (void)call
#endif

/* Ends with what is no text. */
__attribute__((unused)) static const char* const endless[] = {"Neg", (const char*)0x10};

static void run(void* context, const DS_PassCall* call, TF_Status* status) {
  (void)context;
  TF_SetStatus(status, TF_OK, "");
  ANSWER;
}

TF_CAPI_EXPORT void DS_InitPasses(DS_PassRegistrationParams* params, TF_Status* status) {
  DS_Pass pass;
  memset(&pass, 0, sizeof pass);
  params->major_version = MAJOR;
  pass.struct_size = SIZE;
  pass.name = NAME;
  pass.grouping = (DS_PassGrouping)(GROUPING);
  pass.run = RUN;
  pass.ops = OPS;
  (void)run;
  DS_RegisterPass(&pass, status);
#ifdef TWICE
  if (TF_GetCode(status) == TF_OK) DS_RegisterPass(&pass, status);
#endif
#ifdef REFUSE
  TF_SetStatus(status, TF_UNAVAILABLE, REFUSE);
#endif
}
