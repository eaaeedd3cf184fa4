#include "device.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace drystone::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// Work is done when it is put on a stream.
class HostEvent final : public Event {
 public:
  Clock::time_point at;

  bool is_done() const override { return true; }
  void wait() const override {}
  double seconds_since(const Event& earlier) const override {
    return std::chrono::duration<double>(at - static_cast<const HostEvent&>(earlier).at).count();
  }
};

class HostStream final : public Stream {
 public:
  bool is_host() const override { return true; }
  void* native() const override { return nullptr; }
  void* allocate(std::size_t bytes) override {
    blocks_.push_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
    return blocks_.back().get();
  }
  void* allocate_pinned(std::size_t bytes) override { return allocate(bytes); }
  void copy_in(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy_out(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void clear(void* at, std::size_t bytes) override {
    if (bytes != 0) std::memset(at, 0, bytes);
  }
  void wait() override {}
  void record(const std::function<void()>& enqueue) override { recorded_ = enqueue; }
  void replay() override { recorded_(); }
  double time(const std::function<void()>& enqueue) override {
    const auto begin = Clock::now();
    enqueue();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  void enter() override {}
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memmove(to, from, bytes);
  }
  void fill(void* at, std::uint8_t byte, std::size_t bytes) override {
    if (bytes != 0) std::memset(at, byte, bytes);
  }
  void fill32(void* at, std::uint32_t pattern, std::size_t bytes) override {
    for (std::size_t k = 0; k + sizeof pattern <= bytes; k += sizeof pattern) {
      std::memcpy(static_cast<char*>(at) + k, &pattern, sizeof pattern);
    }
  }
  void mark(Event& event) override { static_cast<HostEvent&>(event).at = Clock::now(); }
  void wait_for(const Event&) override {}
  void call(void (*function)(void*), void* argument) override { function(argument); }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  std::vector<std::unique_ptr<std::max_align_t[]>> blocks_;
  std::function<void()> recorded_;
};

class HostCard final : public Card {
 public:
  const char* name() const override { return "the processor, in place of a GPU"; }
  const char* bus() const override { return nullptr; }
  double bytes_per_second() const override { return -1.0; }
  void* allocate(std::size_t bytes) override {
    constexpr std::size_t kLine = 256;
    return std::aligned_alloc(kLine, (bytes + kLine) / kLine * kLine);
  }
  void free(void* block) override { std::free(block); }
  void* allocate_pinned(std::size_t bytes) override { return allocate(bytes); }
  void free_pinned(void* block) override { std::free(block); }
  bool usage(std::int64_t*, std::int64_t*) override { return false; }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memmove(to, from, bytes);
  }
  void wait() override {}
  std::unique_ptr<Stream> open_stream() override { return open_host_stream(); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<HostEvent>(); }
};

}  // namespace

std::unique_ptr<Stream> open_host_stream() { return std::make_unique<HostStream>(); }

#if !defined(DRYSTONE_GPU_CUDA)
Found look_for_gpus() {
  Found none;
  none.reason = "this library was built without CUDA";
  return none;
}

std::unique_ptr<Stream> open_gpu_stream() { return nullptr; }
std::unique_ptr<Card> open_gpu(int) { return nullptr; }
#endif

const Found& found() {
  static const Found value = [] {
    const char* asked = std::getenv("DRYSTONE_GPU_DEVICE");
    if (asked == nullptr || std::strcmp(asked, "host") != 0) return look_for_gpus();
    Found host;
    host.devices = 1;
    host.is_host = true;
    host.name = "the processor, in place of a GPU";
    return host;
  }();
  return value;
}

std::unique_ptr<Stream> open_stream() {
  return found().is_host ? open_host_stream() : open_gpu_stream();
}

std::unique_ptr<Card> open_card(int number) {
  if (found().is_host) return std::make_unique<HostCard>();
  return open_gpu(number);
}

}  // namespace drystone::gpu
