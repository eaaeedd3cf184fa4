// TF_GrapplerItem: a graph with what a run wants of it.
#ifndef DRYSTONE_HOST_OPTIMIZER_ITEM_H_
#define DRYSTONE_HOST_OPTIMIZER_ITEM_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drystone_host/optimizer.h"
#include "optimizer/answer.h"
#include "optimizer/default_device.h"

namespace drystone::host {

// What an item's properties share with it; outlives the item where a plugin keeps properties.
struct ItemState {
  ItemState();
  ~ItemState();
  ItemState(const ItemState&) = delete;
  ItemState& operator=(const ItemState&) = delete;

  DeviceFill fill;  // fill.graph is what plugins see
  std::vector<std::string> fetches;
  std::vector<std::string> feeds;
  std::vector<std::string> preserve;
  std::atomic<bool> alive{true};

  // What inference said, by flags: a plugin that asks twice is answered from here.
  std::mutex mutex;
  std::shared_ptr<const Answer> answers[16];
};

}  // namespace drystone::host

struct TF_GrapplerItem {
  TF_Buffer answer{};  // first: see optimizer/form.h
  std::shared_ptr<drystone::host::ItemState> state;  // NULL when the call it was for has ended
};

namespace drystone::host {

// The state of an item. Fails with FAILED_PRECONDITION where a plugin kept the item too long.
ItemState& state_of(const TF_GrapplerItem* item);

// Items for the time of one call, each a stranger's once that has returned: their memory stays, so
// that a plugin which kept one is told so.
struct ItemRest {
  void operator()(TF_GrapplerItem* item) const noexcept;
};
using ItemPtr = std::unique_ptr<TF_GrapplerItem, ItemRest>;
ItemPtr item_for_call(const TF_GrapplerItem& of);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPTIMIZER_ITEM_H_
