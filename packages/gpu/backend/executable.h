// A compiled region: memory of the device, and one graph of work that a run starts.
#pragma once

#include <memory>
#include <vector>

#include "layers.h"
#include "region.h"

namespace drystone::gpu {

class Executable {
 public:
  // Throws Refused, and std::runtime_error where the device fails.
  explicit Executable(const DS_SubgraphRegion& region);

  // Inputs and outputs as DS_SubgraphFns::execute has them.
  void run(TF_Tensor* const* inputs, TF_Tensor** outputs);
  // As DS_SubgraphFns::update.
  void update(TF_Tensor* const* inputs, const unsigned char* changed);

 private:
  // What goes between pinned memory of the host and the device in each run.
  struct Port {
    int number;  // of the region's input or output
    std::byte* staging;
    void* device;
    std::size_t bytes;
    bool narrowed = false;  // bfloat16 here, float32 in the host's tensor
  };

  void place_invariant(const DS_SubgraphRegion& region);
  void place_inputs();
  void bind_all();
  void place_results();
  void prepare();
  static bool is_recorded(const Port& port);
  void bring(const Port& port, const TF_Tensor* tensor);
  void send(const Port& port, std::size_t offset, std::size_t bytes);
  void upload(int value, const void* data);
  std::size_t bytes_of(int value) const;
  bool is_placed(int value) const { return memory_[static_cast<std::size_t>(value)] != nullptr; }
  TF_Tensor* output(std::size_t k, TF_Tensor* const* inputs) const;

  Built built_;
  std::unique_ptr<Stream> stream_;
  Layers layers_;
  std::vector<void*> memory_;  // of values
  std::vector<Port> in_, out_;
  std::vector<Work> preparing_, running_;
  std::uint32_t* wrong_ = nullptr;
  std::uint32_t* wrong_seen_ = nullptr;
};

}  // namespace drystone::gpu
