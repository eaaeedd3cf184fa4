// Slabs of large pages: see dnnl/packed_memory.h.
#include "dnnl/packed_memory.h"

#include <cstdlib>
#include <mutex>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace drystone::cpu::dnnl_part {
namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kSlab = 8 * kPage;  // what is not cut from it yet takes no memory
constexpr std::size_t kAligned = 64;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

class Slab {
 public:
  explicit Slab(std::size_t bytes)
      : bytes_(round_up(bytes, kPage)), start_(static_cast<char*>(std::aligned_alloc(kPage, bytes_))) {
    if (start_ == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(start_, bytes_, MADV_HUGEPAGE);  // it may refuse: then pages are small
#endif
  }
  ~Slab() { std::free(start_); }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  bool fits(std::size_t bytes) const { return bytes <= bytes_ - used_; }
  void* take(std::size_t bytes) {
    void* out = start_ + used_;
    used_ += bytes;
    return out;
  }

 private:
  std::size_t bytes_;
  char* start_;
  std::size_t used_ = 0;
};

// The slab that pieces are cut from; those who have them hold it. Never destroyed: kernels may go
// during exit.
struct Open {
  std::mutex mutex;
  std::weak_ptr<Slab> slab;
};

Open& open() {
  static Open* const only = new Open();
  return *only;
}

}  // namespace

std::shared_ptr<void> allocate_packed(std::size_t bytes) {
  const std::size_t needed = round_up(bytes, kAligned);
  if (needed >= kSlab) {
    const auto own = std::make_shared<Slab>(needed);
    return {own, own->take(needed)};
  }
  Open& all = open();
  const std::lock_guard lock(all.mutex);
  std::shared_ptr<Slab> slab = all.slab.lock();
  if (slab == nullptr || !slab->fits(needed)) {
    slab = std::make_shared<Slab>(kSlab);
    all.slab = slab;
  }
  return {slab, slab->take(needed)};
}

}  // namespace drystone::cpu::dnnl_part
