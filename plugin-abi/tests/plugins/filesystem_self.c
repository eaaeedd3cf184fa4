/* A plugin whose TF_InitPlugin takes no argument, as in the design of modular TensorFlow: it
 * registers itself, here an op, or nothing with -DNOTHING. */
#define DRYSTONE_INIT_PLUGIN_WITHOUT_INFO
#include "drystone/filesystem.h"
#include "drystone/ops.h"

__attribute__((visibility("default"))) void TF_InitPlugin(void) {
#ifndef NOTHING
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("SelfRegistered");
  TF_OpDefinitionBuilderAddOutput(op, "out: float");
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);
#endif
}
