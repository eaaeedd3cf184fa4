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
#include <cstring>

#include "core/failure.h"
#include "optimizer/item.h"

namespace drystone::host {

// The arguments of one call of optimize_func, and what it answered in whichever of them.
class Call {
 public:
  Call(const ItemPtr& item, const TF_Buffer& graph) : item_(item), graph_(graph) {
    item_->answer = {};
  }
  ~Call() {
    release(item_->answer);
    release(fourth_.answer);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void run(const TP_Optimizer& functions, void* state) {
    static_assert(offsetof(TF_GrapplerItem, answer) == 0);
    functions.optimize_func(state, &graph_, item_.get(), &fourth_.answer, &fifth_);
  }

  // The status that is not OK, or NULL.
  const TF_Status* failure() const {
    if (fifth_.code != TF_OK) return &fifth_;
    return fourth_.code == TF_OK ? nullptr : &fourth_;
  }

  const TF_Buffer& answer() const {
    return fourth_.answer.data != nullptr ? fourth_.answer : item_->answer;
  }

  bool answered_input() const {
    const TF_Buffer& found = answer();
    return found.length == graph_.length &&
           (found.data == graph_.data ||
            std::memcmp(found.data, graph_.data, graph_.length) == 0);
  }

  TF_Buffer* graph() { return &graph_; }

 private:
  // Freed by the plugin's own deallocator. Data that is the input's stays.
  void release(TF_Buffer& buffer) noexcept {
    if (buffer.data == nullptr || buffer.data == graph_.data) return;
    if (buffer.data_deallocator == nullptr) return;
    answered(0, [&] {  // it is the plugin's, and may throw
      buffer.data_deallocator(const_cast<void*>(buffer.data), buffer.length);
      return 0;
    });
  }

  const ItemPtr& item_;
  TF_Buffer graph_;
  TF_Status fourth_;
  TF_Status fifth_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPTIMIZER_FORM_H_
