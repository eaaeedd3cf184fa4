// Items: DS_NewItem and the lists of names that a plugin reads from one.
#include "optimizer/item.h"

#include <algorithm>
#include <climits>
#include <deque>
#include <new>

#include "core/failure.h"
#include "core/live.h"

namespace drystone::host {

ItemState::ItemState() { born(Kind::item); }
ItemState::~ItemState() { died(Kind::item); }

ItemState& state_of(const TF_GrapplerItem* item) {
  require(item, "item");
  if (item->state == nullptr) {
    fail(TF_FAILED_PRECONDITION, "the item is gone: it is there while optimize_func runs");
  }
  return *item->state;
}

namespace {

constexpr std::size_t kResting = 64;

struct Resting {
  std::mutex mutex;
  std::deque<TF_GrapplerItem*> items;
};

Resting& resting() {
  static auto* only = new Resting();
  return *only;
}

TF_GrapplerItem* longest_rested() {
  const std::lock_guard lock(resting().mutex);
  if (resting().items.size() <= kResting) return nullptr;
  TF_GrapplerItem* out = resting().items.front();
  resting().items.pop_front();
  return out;
}

}  // namespace

void ItemRest::operator()(TF_GrapplerItem* item) const noexcept {
  item->state.reset();
  answered(0, [&] {
    const std::lock_guard lock(resting().mutex);
    resting().items.push_back(item);
    return 0;
  });
}

ItemPtr item_for_call(const TF_GrapplerItem& of) {
  TF_GrapplerItem* item = longest_rested();
  if (item == nullptr) item = new TF_GrapplerItem();
  item->state = of.state;
  return ItemPtr(item);
}

namespace {

std::vector<std::string> copy_names(const DS_Names& names, const char* what) {
  if (names.count < 0) fail(TF_INVALID_ARGUMENT, std::string(what) + ".count is negative");
  if (names.count > 0) {
    require(names.values, what);
    require(names.lengths, what);
  }
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(names.count));
  for (int k = 0; k < names.count; ++k) {
    require(names.values[k], what);
    out.emplace_back(names.values[k], names.lengths[k]);
  }
  return out;
}

using Names = std::vector<std::string> ItemState::*;

void list_size(const TF_GrapplerItem* item, Names which, int* num_values, size_t* storage_size) {
  const auto& names = state_of(item).*which;
  require(num_values, "num_values");
  require(storage_size, "storage_size");
  std::size_t bytes = 0;
  for (const std::string& name : names) bytes += name.size();
  *num_values = static_cast<int>(names.size());
  *storage_size = bytes;
}

void list(const TF_GrapplerItem* item, Names which, char** values, size_t* lengths, int num_values,
          void* storage, size_t storage_size) {
  const auto& names = state_of(item).*which;
  if (num_values < 0) fail(TF_INVALID_ARGUMENT, "num_values is negative");
  const std::size_t count = std::min(names.size(), static_cast<std::size_t>(num_values));
  if (count == 0) return;
  require(values, "values");
  require(lengths, "lengths");
  std::size_t needed = 0;
  for (std::size_t k = 0; k < count; ++k) needed += names[k].size();
  if (needed > storage_size) {
    fail(TF_INVALID_ARGUMENT, "storage of " + std::to_string(storage_size) +
                                  " bytes is too small for " + std::to_string(needed) + " bytes");
  }
  if (needed != 0) require(storage, "storage");
  char* next = static_cast<char*>(storage);
  for (std::size_t k = 0; k < count; ++k) {
    values[k] = next;
    lengths[k] = names[k].size();
    if (names[k].empty()) continue;
    names[k].copy(next, names[k].size());
    next += names[k].size();
  }
}

// The RFC's form of the size queries.
void list_size_int(const TF_GrapplerItem* item, Names which, int* num_values, int* storage_size) {
  int count = 0;
  std::size_t bytes = 0;
  const bool ok = answered(false, [&] {
    list_size(item, which, &count, &bytes);
    return bytes <= static_cast<std::size_t>(INT_MAX);
  });
  if (num_values != nullptr) *num_values = ok ? count : 0;
  if (storage_size != nullptr) *storage_size = ok ? static_cast<int>(bytes) : 0;
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_GrapplerItem* DS_NewItem(const DS_ItemSpec* spec, TF_Status* status) {
  TF_GrapplerItem* out = nullptr;
  guarded(status, "DS_NewItem", [&] {
    require(spec, "spec");
    if (spec->struct_size < DS_ITEM_SPEC_STRUCT_SIZE) {
      fail(TF_INVALID_ARGUMENT, "spec.struct_size is too small");
    }
    if (spec->graph_length != 0) require(spec->graph, "spec.graph");
    auto state = std::make_shared<ItemState>();
    const char* device = spec->default_device == nullptr ? "" : spec->default_device;
    state->fill = fill_device({static_cast<const char*>(spec->graph), spec->graph_length}, device);
    state->fetches = copy_names(spec->fetches, "spec.fetches");
    state->feeds = copy_names(spec->feeds, "spec.feeds");
    state->preserve = copy_names(spec->preserve, "spec.preserve");
    out = new TF_GrapplerItem{{}, std::move(state)};
  });
  return out;
}

void DS_DeleteItem(TF_GrapplerItem* item) {
  if (item == nullptr) return;
  item->state->alive = false;
  delete item;
}

void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item, int* num_values,
                                   size_t* storage_size, TF_Status* status) {
  guarded(status, "TF_GetNodesToPreserveListSize",
          [&] { list_size(item, &ItemState::preserve, num_values, storage_size); });
}

void TF_GetNodesToPreserveList(const TF_GrapplerItem* item, char** values, size_t* lengths,
                               int num_values, void* storage, size_t storage_size,
                               TF_Status* status) {
  guarded(status, "TF_GetNodesToPreserveList", [&] {
    list(item, &ItemState::preserve, values, lengths, num_values, storage, storage_size);
  });
}

void TF_GetFetchNodesListSize(const TF_GrapplerItem* item, int* num_values, size_t* storage_size,
                              TF_Status* status) {
  guarded(status, "TF_GetFetchNodesListSize",
          [&] { list_size(item, &ItemState::fetches, num_values, storage_size); });
}

void TF_GetFetchNodesList(const TF_GrapplerItem* item, char** values, size_t* lengths,
                          int num_values, void* storage, size_t storage_size, TF_Status* status) {
  guarded(status, "TF_GetFetchNodesList", [&] {
    list(item, &ItemState::fetches, values, lengths, num_values, storage, storage_size);
  });
}

void TF_GetNodesToPreserveSize(const TF_GrapplerItem* item, int* num_values, int* storage_size) {
  list_size_int(item, &ItemState::preserve, num_values, storage_size);
}

void TF_GetFetchNodesSize(const TF_GrapplerItem* item, int* num_values, int* storage_size) {
  list_size_int(item, &ItemState::fetches, num_values, storage_size);
}

}  // extern "C"
