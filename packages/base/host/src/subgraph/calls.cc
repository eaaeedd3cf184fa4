// A backend's functions for embedders that no exception must reach: see drystone_host/subgraph.h.
#include "core/failure.h"
#include "subgraph/operator.h"

using namespace drystone::host;
using namespace drystone::host::subgraph;

extern "C" {

void DS_InitSubgraph(void (*init)(TF_SubgraphRegistrationParams*, TF_Status*),
                     TF_SubgraphRegistrationParams* params, TF_Status* status) {
  calling(status, [&] { init(params, status); });
}

void* DS_NewSelector(const TP_SubgraphBackend* backend, const TP_SubgraphSelectorFns* fns,
                     TF_Status* status) {
  void* out = nullptr;
  calling(status, [&] { out = fns->create_selector(backend, status); });
  return out;
}

TF_Bool DS_AcceptRegion(const TP_SubgraphBackend* backend, const TP_SubgraphFns* fns,
                        const TF_SubgraphRegion* region, TF_Status* status) {
  TF_Bool out = 0;
  calling(status, [&] { out = fns->accept(backend, region, status); });
  return out;
}

void* DS_CompileRegion(const TP_SubgraphBackend* backend, const TP_SubgraphFns* fns,
                       const TF_SubgraphRegion* region, const TF_Buffer* bytes, TF_Status* status) {
  void* out = nullptr;
  calling(status, [&] {
    out = bytes == nullptr ? fns->compile(backend, region, status)
                           : fns->deserialize(backend, region, bytes, status);
  });
  return out;
}

void DS_SerializeExecutable(const TP_SubgraphBackend* backend, const TP_SubgraphFns* fns,
                            void* executable, TF_Buffer* bytes, TF_Status* status) {
  calling(status, [&] { fns->serialize(backend, executable, bytes, status); });
}

void DS_DestroyExecutable(const TP_SubgraphBackend* backend, const TP_SubgraphFns* fns,
                          void* executable) {
  Backend{backend, fns}.destroy(executable);
}

}  // extern "C"
