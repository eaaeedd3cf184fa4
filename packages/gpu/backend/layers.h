// Layers that NVIDIA's libraries compute, with what follows them, or plain kernels where they
// cannot.
#pragma once

#include <functional>
#include <memory>

#include "windows.h"

namespace drystone::gpu {

// Work for a stream: what it reads and writes is decided.
using Work = std::function<void()>;

class Lt;
class Dnn;

// The libraries as one executable, or one stream of a device, uses them. On the processor, and where a
// library is not there, plain kernels compute.
class Layers {
 public:
  explicit Layers(Stream& stream);
  // For one call on the stream that `kept` is for: what that knows serves again, and memory comes from
  // `stream`.
  Layers(Stream& stream, const Layers& kept);
  ~Layers();

  // The quickest way that there is, found by trying the first time; all memory must be there, its
  // contents are lost.
  Work product(const Product& product, const void* a, const void* b, const After& after, void* to);
  // `pack`, if not null: set to what has to be done again whenever the filter has changed, if
  // anything. Null: the filter changes from run to run, and that is part of the work.
  Work convolution(const Window& window, std::int32_t groups, Type type, const void* from,
                   const void* filter, const After& after, void* to, Work* pack);

 private:
  struct Parts;
  Lt* lt();
  Dnn* dnn();
  Work quickest_of_dnn(const Window& window, std::int32_t groups, Type type, const void* from,
                       const void* filter, const After& after, void* to, Work* pack);
  Work by_libraries(const Window& window, std::int32_t groups, Type type, const void* from,
                    const void* filter, const After& after, void* to, Work* pack);
  Work tiles(const Window& window, std::uint32_t splits, const void* from, const void* filter,
             const After& after, void* to);
  std::uint32_t quickest_splits(const Window& window, const void* from, const void* filter,
                                const After& after, void* to, double seconds);
  Work by_dnn(const Window& window, std::int32_t groups, Type type, bool widens, const void* from,
              const void* filter, const After& after, void* to, Work* pack);
  Work finishing(const After& after, Type type, std::int64_t count, std::int64_t channels,
                 void* at) const;
  void* scratch(std::size_t bytes);
  void* cleared(std::size_t bytes);

  Stream& stream_;
  std::shared_ptr<Parts> parts_;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace drystone::gpu
