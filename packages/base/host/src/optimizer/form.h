// The forms of optimize_func, which are all called in one way.
//
//   since TensorFlow 2.6          (state, graph, item, out, status)
//   TensorFlow 2.5, RFC's example (state, graph, out, status)
//   the RFC's TP_Optimizer        (state, graph, out)
//
// Nothing in a library says which it has. So every argument is what any form takes it for: an item
// begins with a buffer, and a status begins with a buffer. Each form then finds all that it knows of,
// and arguments beyond its own are left in registers that it does not read.
#ifndef DRYSTONE_HOST_OPTIMIZER_FORM_H_
#define DRYSTONE_HOST_OPTIMIZER_FORM_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "core/failure.h"
#include "core/freed_blocks.h"
#include "core/given_buffer.h"
#include "core/plugin_call.h"
#include "drystone/logging.h"
#include "optimizer/item.h"

namespace drystone::host {

// The arguments of one call of optimize_func, and what it answered in whichever of them.
class Call {
 public:
  // The plugin gets a copy of the bytes, which it may then damage.
  Call(const ItemPtr& item, std::string_view graph, const std::string& library)
      : item_(item), library_(library), copy_(graph), graph_{copy_.data(), copy_.size(), nullptr} {
    item_->answer = {};
    freed_.lend(copy_.data(), copy_.size() + 1);
  }
  ~Call() {
    release(item_->answer);
    release(fourth_.answer);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void run(const TP_Optimizer& functions, void* state) {
    static_assert(offsetof(TF_GrapplerItem, answer) == 0);
    freed_.begin();
    functions.optimize_func(state, &graph_, item_.get(), &fourth_.answer, &fifth_);
    freed_.end();
  }

  // The status that is not OK, or NULL.
  const TF_Status* failure() const {
    if (fifth_.code != TF_OK) return &fifth_;
    return fourth_.code == TF_OK ? nullptr : &fourth_;
  }

  const TF_Buffer& answer() const {
    return fourth_.answer.data != nullptr ? fourth_.answer : item_->answer;
  }

  // Why the answer must not be read, or "".
  const char* problem() const { return problem_of(answer(), freed_); }

  bool answered_input(std::string_view graph) const {
    const TF_Buffer& found = answer();
    return std::string_view(static_cast<const char*>(found.data), found.length) == graph;
  }

  TF_Buffer* graph() { return &graph_; }

 private:
  // Freed by the plugin's own deallocator. Data that is the input's stays.
  void release(TF_Buffer& buffer) noexcept {
    if (buffer.data == nullptr || buffer.data == copy_.data()) return;
    if (buffer.data_deallocator == nullptr || freed_.holds(buffer.data)) return;
    if (!has_deallocator(buffer)) {
      return TF_Log(TF_ERROR, "%s: the data_deallocator of its graph is no function", library_.c_str());
    }
    const PluginCall running("data_deallocator", library_.c_str());
    answered(0, [&] {  // it is the plugin's, and may throw
      buffer.data_deallocator(const_cast<void*>(buffer.data), buffer.length);
      return 0;
    });
  }

  const ItemPtr& item_;
  const std::string& library_;
  std::string copy_;
  TF_Buffer graph_;
  FreedBlocks freed_;
  TF_Status fourth_;
  TF_Status fifth_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPTIMIZER_FORM_H_
