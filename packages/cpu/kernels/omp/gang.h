// Threads that run at once and wait for one another.
#ifndef DRYSTONE_CPU_OMP_GANG_H_
#define DRYSTONE_CPU_OMP_GANG_H_

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace drystone::cpu::omp {

// The process's one gang: a team of several has it for itself, and others wait. Its threads are beside the
// host's, as they cannot be shared: each must run while the others do.
class Gang {
 public:
  using Body = void (*)(void* argument, int number, Gang* gang);

  // Whether it has threads for a team of `count`, the caller among them. Makes them.
  static bool exists(int count) noexcept;
  // body(argument, k, gang) begins for k in [1, count); 0 is the caller's. exists(count) must have held.
  static Gang* begin(int count, Body body, void* argument);
  void end();
  // Waits until all of the team are here.
  void meet() noexcept;

 private:
  static std::atomic<Gang*>& current();
  bool grow(int count) noexcept;
  void serve(int number) noexcept;

  std::mutex used_;             // by a team
  std::mutex mutex_;            // of what follows
  std::condition_variable changed_;
  int threads_ = 0;
  int size_ = 0;                // of the team
  unsigned round_ = 0;
  int running_ = 0;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> meetings_{0};
};

}  // namespace drystone::cpu::omp

#endif  // DRYSTONE_CPU_OMP_GANG_H_
