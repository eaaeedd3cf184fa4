/* An optimizer that copies its graph, changed by the test that compiles it. Each macro holds
 * statements or a name.
 *
 *   DEVICE          its device type, a string literal
 *   ENTRY           its entry symbol; TF_InitGraph when not set
 *   AFTER_INIT      at the end of the entry function; `params` and `status` are at hand
 *   BEFORE_OPTIMIZE definitions in front of it
 *   OPTIMIZE        instead of copying; `optimizer`, `graph`, `item`, `optimized` and `status`
 *   HAS_STATE       create_func and destroy_func count what is alive: see live_states
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drystone/optimizer.h"
#include "optimizer_help.h"

#ifndef DEVICE
#define DEVICE "CPU"
#endif
#ifndef ENTRY
#define ENTRY TF_InitGraph
#endif
#ifndef AFTER_INIT
#define AFTER_INIT
#endif
#ifndef OPTIMIZE
#define OPTIMIZE copy_graph(graph, optimized)
#endif

TF_CAPI_EXPORT int created_states = 0;
TF_CAPI_EXPORT int live_states = 0;

#ifdef HAS_STATE
static void* create_state(void) {
  created_states++;
  live_states++;
  return malloc(1);
}

static void destroy_state(void* state) {
  live_states--;
  free(state);
}
#endif

#ifdef BEFORE_OPTIMIZE
BEFORE_OPTIMIZE
#endif
static void optimize(void* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item,
                     TF_Buffer* optimized, TF_Status* status) {
  (void)optimizer;
  (void)item;
  (void)graph;
  (void)optimized;
  (void)status;
  OPTIMIZE;
}

void ENTRY(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->device_type = DEVICE;
  params->optimizer->optimize_func = optimize;
#ifdef HAS_STATE
  params->optimizer->create_func = create_state;
  params->optimizer->destroy_func = destroy_state;
#endif
  AFTER_INIT;
}
