// An optimizer that throws, which none may.
#include <stdexcept>

#include "drystone/optimizer.h"

namespace {

void optimize(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status*) {
  throw std::runtime_error("deliberate");
}

}  // namespace

void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->device_type = "THROWS";
  params->optimizer->optimize_func = optimize;
}
