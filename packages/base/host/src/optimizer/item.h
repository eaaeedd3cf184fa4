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
  std::shared_ptr<drystone::host::ItemState> state;
};

#endif  // DRYSTONE_HOST_OPTIMIZER_ITEM_H_
