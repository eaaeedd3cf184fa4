// TF_GraphProperties: what inference knows of an item's nodes.
#include <new>

#include "core/buffer.h"
#include "core/failure.h"
#include "core/live_set.h"
#include "optimizer/item.h"

struct TF_GraphProperties {
  std::shared_ptr<drystone::host::ItemState> item;
  std::shared_ptr<const drystone::host::Answer> answer;
};

namespace drystone::host {
namespace {

// Never destroyed: threads of plugins may outlive main().
LiveSet<TF_GraphProperties>& given_properties() {
  static auto& all = *new LiveSet<TF_GraphProperties>("properties", "it deleted graph properties that had been deleted");
  return all;
}

using Side = std::vector<std::string_view> Answer::Node::*;

// The properties of one side of a node; NULL for a node that is not there.
const std::vector<std::string_view>* find(TF_GraphProperties* properties, const char* name,
                                          Side side) {
  given_properties().require(properties);
  require(name, "name");
  if (properties->answer == nullptr) return nullptr;
  const auto found = properties->answer->nodes.find(name);
  return found == properties->answer->nodes.end() ? nullptr : &(found->second.*side);
}

void list_size(TF_GraphProperties* properties, const char* name, Side side, int* num_values) {
  require(num_values, "num_values");
  const auto* values = find(properties, name, side);
  *num_values = values == nullptr ? 0 : static_cast<int>(values->size());
}

void list(TF_GraphProperties* properties, const char* name, Side side, TF_Buffer** buffers,
          int num_values) {
  const auto* values = find(properties, name, side);
  if (num_values < 0) fail(TF_INVALID_ARGUMENT, "num_values is negative");
  const auto count = static_cast<std::size_t>(num_values);
  const std::size_t there = values == nullptr ? 0 : values->size();
  if (count > there) {
    fail(TF_INVALID_ARGUMENT, "node " + std::string(name) + " has " + std::to_string(there) +
                                  " of these, and " + std::to_string(count) + " were asked for");
  }
  if (count == 0) return;
  require(buffers, "list");
  for (std::size_t k = 0; k < count; ++k) fill(buffers[k], (*values)[k]);
}

void list_size_plain(TF_GraphProperties* properties, const char* name, Side side,
                     int* num_values) {
  int count = 0;
  answered(false, [&] {
    list_size(properties, name, side, &count);
    return true;
  });
  if (num_values != nullptr) *num_values = count;
}

int bits(TF_Bool feeds, TF_Bool aggressive, TF_Bool inputs, TF_Bool outputs) {
  return (feeds != 0 ? DS_INFER_ASSUME_VALID_FEEDS : 0) |
         (aggressive != 0 ? DS_INFER_AGGRESSIVE : 0) | (inputs != 0 ? DS_INFER_INPUT_VALUES : 0) |
         (outputs != 0 ? DS_INFER_OUTPUT_VALUES : 0);
}

void infer_into(TF_GraphProperties* properties, int flags) {
  given_properties().require(properties);
  ItemState& item = *properties->item;
  if (!item.alive) {
    fail(TF_FAILED_PRECONDITION, "the item of these properties is gone; it must outlive them");
  }
  const std::lock_guard lock(item.mutex);
  auto& cached = item.answers[flags];
  if (cached == nullptr) cached = infer(item, flags);
  properties->answer = cached;
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_GraphProperties* TF_NewGraphProperties(const TF_GrapplerItem* item) {
  if (item == nullptr || item->state == nullptr) return nullptr;
  return answered<TF_GraphProperties*>(nullptr, [&] {
    auto made = std::make_unique<TF_GraphProperties>(item->state, nullptr);
    given_properties().add(made.get());
    return made.release();
  });
}

void TF_DeleteGraphProperties(TF_GraphProperties* properties) { given_properties().erase(properties); }

void TF_InferStatically(TF_GraphProperties* properties, TF_Bool assume_valid_feeds,
                        TF_Bool aggressive_shape_inference, TF_Bool include_input_tensor_values,
                        TF_Bool include_output_tensor_values, TF_Status* status) {
  guarded(status, "TF_InferStatically", [&] {
    infer_into(properties, bits(assume_valid_feeds, aggressive_shape_inference,
                                include_input_tensor_values, include_output_tensor_values));
  });
}

void TF_GetInputPropertiesListSize(TF_GraphProperties* properties, const char* name,
                                   int* num_values, TF_Status* status) {
  guarded(status, "TF_GetInputPropertiesListSize",
          [&] { list_size(properties, name, &Answer::Node::inputs, num_values); });
}

void TF_GetOutputPropertiesListSize(TF_GraphProperties* properties, const char* name,
                                    int* num_values, TF_Status* status) {
  guarded(status, "TF_GetOutputPropertiesListSize",
          [&] { list_size(properties, name, &Answer::Node::outputs, num_values); });
}

void TF_GetInputPropertiesList(TF_GraphProperties* properties, const char* name,
                               TF_Buffer** buffers, int num_values, TF_Status* status) {
  guarded(status_or_none(status), "TF_GetInputPropertiesList",
          [&] { list(properties, name, &Answer::Node::inputs, buffers, num_values); });
}

void TF_GetOutputPropertiesList(TF_GraphProperties* properties, const char* name,
                                TF_Buffer** buffers, int num_values, TF_Status* status) {
  guarded(status_or_none(status), "TF_GetOutputPropertiesList",
          [&] { list(properties, name, &Answer::Node::outputs, buffers, num_values); });
}

void TF_GetInputPropertiesSize(TF_GraphProperties* properties, const char* name, int* num_values) {
  list_size_plain(properties, name, &Answer::Node::inputs, num_values);
}

void TF_GetOutputPropertiesSize(TF_GraphProperties* properties, const char* name,
                                int* num_values) {
  list_size_plain(properties, name, &Answer::Node::outputs, num_values);
}

}  // extern "C"
