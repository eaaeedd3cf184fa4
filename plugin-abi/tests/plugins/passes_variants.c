/* Passes that do wrong, one by one, as macros say.
 *
 * NAME, GROUPING, SIZE, RUN, MAJOR   what is registered
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
#define GROUPING TP_PassGrouping_PrePlacement
#endif
#ifndef SIZE
#define SIZE TP_PASS_STRUCT_SIZE
#endif
#ifndef RUN
#define RUN run
#endif
#ifndef MAJOR
#define MAJOR TP_PASSES_MAJOR
#endif
#ifndef ANSWER
#define ANSWER (void)call
#endif

static void run(void* context, const TP_PassCall* call, TF_Status* status) {
  (void)context;
  TF_SetStatus(status, TF_OK, "");
  ANSWER;
}

TF_CAPI_EXPORT void TF_InitPasses(TP_PassRegistrationParams* params, TF_Status* status) {
  TP_Pass pass;
  memset(&pass, 0, sizeof pass);
  params->major_version = MAJOR;
  pass.struct_size = SIZE;
  pass.name = NAME;
  pass.grouping = (TP_PassGrouping)(GROUPING);
  pass.run = RUN;
  (void)run;
  TF_RegisterPass(&pass, status);
#ifdef TWICE
  if (TF_GetCode(status) == TF_OK) TF_RegisterPass(&pass, status);
#endif
#ifdef REFUSE
  TF_SetStatus(status, TF_UNAVAILABLE, REFUSE);
#endif
}
