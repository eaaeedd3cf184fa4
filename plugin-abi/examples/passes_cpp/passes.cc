// Three passes on the C++ SDK, at the places where TensorFlow runs those that they are examples of.
#include "calls.h"
#include "drystone/platform_strings.h"
#include "layout_pair.h"
#include "nccl_replace.h"

TF_PLATFORM_STRINGS()

namespace {

struct Entry {
  const char* name;
  DS_PassGrouping grouping;
  int phase;
  const char* const* ops;
  example::Edit edit;
};

const char* const kCollectives[] = {"NcclReduce", "NcclBroadcast", nullptr};
const char* const kLayouts[] = {"Conv2D", "MaxPool", "AvgPool", nullptr};

const Entry kPasses[] = {
    {"NcclReplacePass", DS_PassGrouping_PostPlacement, 0, kCollectives, example::nccl_replace},
    {"LayoutRewritePass", DS_PassGrouping_PostPartitioning, 1, kLayouts, example::layout_rewrite},
    {"LayoutConversionPass", DS_PassGrouping_PostPartitioning, 2, kLayouts,
     example::layout_conversion},
};

}  // namespace

extern "C" TF_CAPI_EXPORT void DS_InitPasses(DS_PassRegistrationParams* params, TF_Status* status) {
  params->major_version = DS_PASSES_MAJOR;
  params->minor_version = DS_PASSES_MINOR;
  params->patch_version = DS_PASSES_PATCH;
  for (const Entry& entry : kPasses) {
    DS_Pass pass = {};
    pass.struct_size = DS_PASS_STRUCT_SIZE;
    pass.name = entry.name;
    pass.grouping = entry.grouping;
    pass.phase = entry.phase;
    pass.ops = entry.ops;
    pass.context = reinterpret_cast<void*>(entry.edit);
    pass.run = example::run;
    DS_RegisterPass(&pass, status);
    if (TF_GetCode(status) != TF_OK) return;
  }
}
