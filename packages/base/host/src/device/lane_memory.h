// Memory of a device for the work of one stream, which may use again at once what earlier work there has used.
#ifndef DRYSTONE_HOST_DEVICE_LANE_MEMORY_H_
#define DRYSTONE_HOST_DEVICE_LANE_MEMORY_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "device/platform.h"

namespace drystone::host {

// A part of a device's memory. `is_new`: no work has used it yet.
struct Piece {
  SP_DeviceMemoryBase base{};
  bool is_new = false;
};

// Blocks as the device gave them, or parts of regions where its platform asks for that (use_bfc_allocator):
// the smallest part that fits, joined with its neighbours when it is free. Threads: any; the plugin is called without
// the lock, as a thread of its own may give memory back.
class LaneMemory {
 public:
  explicit LaneMemory(DS_Device& device);
  LaneMemory(const LaneMemory&) = delete;
  LaneMemory& operator=(const LaneMemory&) = delete;

  // Room for `bytes`, a multiple of kUnit. False where the device has none.
  bool take(std::uint64_t bytes, Piece* piece);
  void give(const SP_DeviceMemoryBase& base) noexcept;
  // Gives the device back what nothing uses, once work that may use it is done.
  void release_unused() noexcept;
  // The most bytes that were taken at once since the last call.
  std::int64_t peak();

  static constexpr std::uint64_t kUnit = 256;  // of sizes, so that more of them are used again

 private:
  struct Part {
    std::uint64_t size = 0;
    bool is_free = false;
    bool is_new = false;
    bool begins = false;  // a region
  };
  using Parts = std::map<char*, Part>;

  bool take_block(std::uint64_t bytes, Piece* piece);
  bool take_part(std::uint64_t bytes, Piece* piece);
  bool find_part(std::uint64_t bytes, Piece* piece);
  bool add_region(std::uint64_t least);
  void set_free(Parts::iterator part);
  void set_taken(Parts::iterator part);
  Parts::iterator joined(Parts::iterator part);

  DS_Device& device_;
  const bool divides_;
  std::mutex mutex_;
  std::multimap<std::uint64_t, SP_DeviceMemoryBase> unused_;  // blocks, by size
  Parts parts_;                                               // of all regions, by address
  std::set<std::pair<std::uint64_t, char*>> free_;            // parts, by size
  std::map<char*, SP_DeviceMemoryBase> regions_;
  std::uint64_t next_region_;
  std::int64_t held_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_LANE_MEMORY_H_
