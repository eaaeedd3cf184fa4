#include "device.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace drystone::gpu {
namespace {

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
    const auto begin = std::chrono::steady_clock::now();
    enqueue();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  void enter() override {}

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  std::vector<std::unique_ptr<std::max_align_t[]>> blocks_;
  std::function<void()> recorded_;
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

}  // namespace drystone::gpu
