// A backend's functions for embedders that no exception must reach: see drystone_host/subgraph.h.
#include <string>

#include "core/answers.h"
#include "core/failure.h"
#include "core/given_buffer.h"
#include "drystone/logging.h"
#include "subgraph/operator.h"

namespace drystone::host::subgraph {
namespace {

// A call that gives bytes, which are read where they can be.
template <class Call>
void give_bytes(const char* what, TF_Buffer* bytes, TF_Status* status, Call&& call) {
  FreedBlocks freed;
  calling(status, [&] {
    freed.begin();
    call();
    freed.end();
  });
  const std::string problem = settled(bytes, freed);
  if (problem.empty() || status->code != TF_OK) return;
  set(status, TF_INTERNAL, "a subgraph backend", ("it gave bad bytes of its " + std::string(what) + ": " + problem).c_str());
}

}  // namespace
}  // namespace drystone::host::subgraph

using namespace drystone::host;
using namespace drystone::host::subgraph;

extern "C" {

void DS_CallInitSubgraph(void (*init)(DS_SubgraphRegistrationParams*, TF_Status*),
                         DS_SubgraphRegistrationParams* params, TF_Status* status) {
  const DS_SubgraphBackend* const backend = params->backend;
  calling(status, [&] { init(params, status); });
  for (const char* text : {backend->name, backend->version}) {
    if (text == nullptr || text_at(text) || status->code != TF_OK) continue;
    set(status, TF_INTERNAL, "DS_InitSubgraph", "a text of DS_SubgraphBackend has no end, or cannot be read");
  }
}

void* DS_NewSelector(const DS_SubgraphBackend* backend, const DS_SubgraphSelectorFns* fns,
                     TF_Status* status) {
  void* out = nullptr;
  calling(status, [&] { out = fns->create_selector(backend, status); });
  return out;
}

void DS_DestroySelector(const DS_SubgraphBackend* backend, const DS_SubgraphSelectorFns* fns,
                        void* selector) {
  if (selector == nullptr || fns->destroy_selector == nullptr) return;
  try {
    fns->destroy_selector(backend, selector);
  } catch (...) {
    TF_Log(TF_ERROR, "destroying a selector of subgraph backend \"%s\" threw an exception", backend->name);
  }
}

TF_Bool DS_SelectNode(const DS_SubgraphBackend* backend, const DS_SubgraphSelectorFns* fns,
                      void* selector, const DS_SubgraphNode* node, TF_Status* status) {
  TF_Bool out = 0;
  calling(status, [&] { out = fns->select(backend, selector, node); });
  return out;
}

TF_Bool DS_SelectNeighbour(const DS_SubgraphBackend* backend, const DS_SubgraphSelectorFns* fns,
                           void* selector, const DS_SubgraphNode* node,
                           const DS_SubgraphNode* neighbour, TF_Bool is_input, TF_Status* status) {
  const auto asked = is_input != 0 ? fns->select_input : fns->select_output;
  if (asked == nullptr) return DS_SelectNode(backend, fns, selector, neighbour, status);
  TF_Bool out = 0;
  calling(status, [&] { out = asked(backend, selector, node, neighbour); });
  return out;
}

void DS_FilterNodes(const DS_SubgraphBackend* backend, const DS_SubgraphSelectorFns* fns,
                    void* selector, const DS_SubgraphNode* const* nodes, int32_t count,
                    unsigned char* keep, TF_Status* status) {
  if (fns->filter == nullptr) return;
  calling(status, [&] { fns->filter(backend, selector, nodes, count, keep); });
}

void DS_ResetSelector(const DS_SubgraphBackend* backend, const DS_SubgraphSelectorFns* fns,
                      void* selector, TF_Status* status) {
  if (fns->reset == nullptr) return;
  calling(status, [&] { fns->reset(backend, selector); });
}

TF_Bool DS_AcceptRegion(const DS_SubgraphBackend* backend, const DS_SubgraphFns* fns,
                        const DS_SubgraphRegion* region, TF_Status* status) {
  TF_Bool out = 0;
  calling(status, [&] { out = fns->accept(backend, region, status); });
  return out;
}

void DS_ReviewRegion(const DS_SubgraphBackend* backend, const DS_SubgraphFns* fns,
                     const DS_SubgraphRegion* region, unsigned char* keep, TF_Buffer* attrs,
                     TF_Status* status) {
  if (fns->review == nullptr) return;
  give_bytes("attributes", attrs, status, [&] { fns->review(backend, region, keep, attrs, status); });
}

void* DS_CompileRegion(const DS_SubgraphBackend* backend, const DS_SubgraphFns* fns,
                       const DS_SubgraphRegion* region, const TF_Buffer* bytes, TF_Status* status) {
  void* out = nullptr;
  calling(status, [&] {
    out = bytes == nullptr ? fns->compile(backend, region, status)
                           : fns->deserialize(backend, region, bytes, status);
  });
  return out;
}

void DS_SerializeExecutable(const DS_SubgraphBackend* backend, const DS_SubgraphFns* fns,
                            void* executable, TF_Buffer* bytes, TF_Status* status) {
  give_bytes("executable", bytes, status, [&] { fns->serialize(backend, executable, bytes, status); });
}

void DS_DestroyExecutable(const DS_SubgraphBackend* backend, const DS_SubgraphFns* fns,
                          void* executable) {
  Backend{backend, fns}.destroy(executable);
}

}  // extern "C"
