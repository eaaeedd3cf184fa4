// Work on threads of its own, whose callers may go on without it.
#ifndef DRYSTONE_HOST_THREADS_TASKS_H_
#define DRYSTONE_HOST_THREADS_TASKS_H_

#include <memory>

namespace drystone::host {

class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual void go() noexcept = 0;
};
using TaskPtr = std::shared_ptr<Task>;

// Has another thread take the task; it holds it until it is done. False without a thread.
bool start_task(const TaskPtr& task);

// Its caller has gone on without a task, and the task is done at last. A process that ends does not wait
// for those that are not, nor take apart the libraries that they are in: some would wait for their own
// threads, others crash.
void note_abandoned() noexcept;
void note_returned() noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_THREADS_TASKS_H_
