// What a plugin frees while one of its kernels is looked after: it stays allocated until the call is over, so
// that an output that lies there is found out.
//
// The frees are seen where the plugin's own code calls free, realloc or operator delete
// (library/redirect.h), on the thread of the call.
#ifndef DRYSTONE_HOST_CORE_FREED_BLOCKS_H_
#define DRYSTONE_HOST_CORE_FREED_BLOCKS_H_

#include <array>
#include <cstddef>

namespace drystone::host {

class FreedBlocks {
 public:
  using Release = void (*)(void*);

  FreedBlocks() = default;
  ~FreedBlocks() { release(); }
  FreedBlocks(const FreedBlocks&) = delete;
  FreedBlocks& operator=(const FreedBlocks&) = delete;

  // Those of this thread, if it keeps any now.
  static FreedBlocks* current() noexcept;

  // From now on, and no more: what is freed on this thread comes here.
  void begin() noexcept;
  void end() noexcept;

  // Memory of the host's that is lent to the plugin meanwhile.
  void lend(const void* data, std::size_t size) noexcept {
    lent_ = static_cast<const char*>(data);
    lent_end_ = lent_ + size;
  }

  // Takes the block over; the oldest go where there are too many. What was freed twice, or is lent, is left
  // alone, and noted as a misuse.
  void take(void* memory, Release release) noexcept;

  // Whether the address is in one of them.
  bool holds(const void* address) const noexcept;

  // Gives all of them back.
  void release() noexcept;

 private:
  struct Block {
    void* memory;
    std::size_t size;
    Release release;
  };
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  void release_oldest() noexcept;

  std::array<Block, kMost> blocks_;  // a ring; nothing in it is set before it is taken
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  const char* lent_ = nullptr;
  const char* lent_end_ = nullptr;
  FreedBlocks* outer_ = nullptr;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_FREED_BLOCKS_H_
