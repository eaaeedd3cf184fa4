// One block of memory for what the runs of a plan take and give back, laid out from how an earlier run
// did. Safe whatever a run does: what does not come as planned, or would lie where something still
// is, gets memory of its own.
#ifndef DRYSTONE_HOST_CORE_ARENA_H_
#define DRYSTONE_HOST_CORE_ARENA_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace drystone::host {

// Counted by its owner and by all that lies in it.
class Arena {
 public:
  static constexpr std::size_t kFrom = 4096;  // bytes: smaller ones are kept by threads

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A run of this thread that takes from the arena, unless another one does.
  class Scope {
   public:
    explicit Scope(Arena& arena);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena* const before_;
    Arena* const arena_;
  };
  // The arena that this thread takes from, or NULL.
  static Arena* current() noexcept;

  // Allocation for so many bytes, or NULL: elsewhere. `slot`: to be given back; 0: need not be.
  void* take(std::size_t bytes, std::uint64_t* slot);
  // `planned`: it lay in the arena.
  void give(std::uint64_t slot, bool planned) noexcept;
  void release() noexcept;
  // Of the block; 0: nothing is laid out.
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  struct Taken {
    std::size_t bytes;
    std::int64_t begin;
    std::int64_t end;  // 0: it outlived the run
  };
  struct Slot {
    std::size_t bytes = 0;
    std::size_t offset = 0;
    bool is_placed = false;
    std::vector<std::uint64_t> beside;  // a bit for each slot that has room in common
  };
  ~Arena();
  void begin();
  void end() noexcept;
  void lay_out();
  void place(std::size_t which, std::vector<std::size_t>* placed);
  bool is_free(const Slot& slot) const noexcept;
  void forget() noexcept;

  std::atomic<int> references_{1};
  std::atomic<bool> is_busy_{false};
  std::atomic<std::size_t> size_{0};
  int runs_ = 0;
  int plans_ = 0;
  std::size_t next_ = 0;     // of this run
  std::size_t missed_ = 0;
  std::mutex mutex_;         // of what follows
  bool is_recording_ = false;
  std::int64_t clock_ = 0;
  std::vector<Taken> taken_;
  unsigned char* block_ = nullptr;
  std::vector<Slot> slots_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> live_;  // a bit for each slot
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_ARENA_H_
