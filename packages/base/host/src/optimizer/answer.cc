// The embedder's services: DS_SetOptimizerServices, and reading what inference answers.
#include "optimizer/answer.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "core/buffer.h"
#include "core/failure.h"
#include "drystone/sdk/wire.hpp"
#include "library/of_programs.h"
#include "optimizer/item.h"
#include "threads/abandonable_call.h"

namespace drystone::host {
namespace {

// Held shared while a service is called, so that withdrawing services waits for calls under way.
std::shared_mutex services_mutex;
DS_OptimizerServices services{};

// Pointers and lengths of names, as the embedder takes them.
class NameArrays {
 public:
  explicit NameArrays(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      values_.push_back(name.data());
      lengths_.push_back(name.size());
    }
  }
  DS_Names view() const {
    return {values_.data(), lengths_.data(), static_cast<int>(values_.size())};
  }

 private:
  std::vector<const char*> values_;
  std::vector<std::size_t> lengths_;
};

// A buffer on the stack whose data is freed at the end.
struct OwnBuffer {
  TF_Buffer buffer{nullptr, 0, nullptr};
  OwnBuffer() = default;
  OwnBuffer(const OwnBuffer&) = delete;
  OwnBuffer& operator=(const OwnBuffer&) = delete;
  ~OwnBuffer() {
    if (buffer.data_deallocator != nullptr && buffer.data != nullptr) {
      buffer.data_deallocator(const_cast<void*>(buffer.data), buffer.length);
    }
  }
};

std::string ask(const ItemState& item, int flags) {
  const std::shared_lock lock(services_mutex);
  if (services.infer == nullptr) {
    fail(TF_UNAVAILABLE, "this host was embedded without inference of shapes");
  }
  const TF_Buffer graph{item.fill.graph.data(), item.fill.graph.size(), nullptr};
  const NameArrays names(item.feeds);
  const DS_Names feeds = names.view();
  OwnBuffer out;
  TF_Status status;
  on_caller([&] { services.infer(services.context, &graph, &feeds, flags, &out.buffer, &status); });
  if (status.code != TF_OK) pass_on(status);
  return std::string(view(&out.buffer));
}

// OpPerformanceList.op_performance 1; OpPerformance.op 1, .node 5; OpInfo.inputs 3, .outputs 5.
bool read_op(std::string_view bytes, Answer::Node* out) {
  wire::Reader reader(bytes);
  while (reader.next()) {
    if (reader.field() == 3) out->inputs.push_back(reader.bytes());
    if (reader.field() == 5) out->outputs.push_back(reader.bytes());
  }
  return reader.ok();
}

bool read_node(std::string_view bytes, Answer* answer) {
  std::string_view name;
  Answer::Node node;
  bool ok = true;
  wire::Reader reader(bytes);
  while (reader.next()) {
    if (reader.field() == 1) ok = read_op(reader.bytes(), &node) && ok;
    if (reader.field() == 5) name = reader.bytes();
  }
  answer->nodes.insert_or_assign(name, std::move(node));
  return ok && reader.ok();
}

}  // namespace

std::shared_ptr<const Answer> infer(const ItemState& item, int flags) {
  auto answer = std::make_shared<Answer>();
  answer->bytes = ask(item, flags);
  wire::Reader reader(answer->bytes);
  bool ok = true;
  while (reader.next()) {
    if (reader.field() == 1) ok = read_node(reader.bytes(), answer.get()) && ok;
  }
  if (!ok || !reader.ok()) fail(TF_INTERNAL, "the embedder's inference gave malformed bytes");
  return answer;
}

}  // namespace drystone::host

extern "C" void DS_SetOptimizerServices(const DS_OptimizerServices* offered) {
  using namespace drystone::host;
  if (is_refused("DS_SetOptimizerServices", __builtin_return_address(0))) return;
  DS_OptimizerServices now{};
  if (offered != nullptr) {
    std::memcpy(&now, offered, std::min(offered->struct_size, sizeof now));
  }
  const std::unique_lock lock(services_mutex);
  services = now;
}
