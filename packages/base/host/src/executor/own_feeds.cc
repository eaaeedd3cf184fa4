// See executor/own_feeds.h.
#include "executor/own_feeds.h"

#include <algorithm>
#include <cstring>

#include "device/lane.h"

namespace drystone::host::executor {
namespace {

constexpr std::size_t kPiece = 8 << 20;  // some milliseconds, of which most is for pages that are new

TF_Tensor* copied(const TF_Tensor& feed, RunStop* stop) {
  TF_Tensor* out = new_tensor_that_fits(feed.dtype, feed.dims.data(), feed.dims.rank());
  const auto* from = static_cast<const char*>(feed.memory->data);
  auto* to = static_cast<char*>(out->memory->data);
  const std::size_t bytes = static_cast<std::size_t>(feed.count()) * stored_size(feed.dtype);
  for (std::size_t k = 0; k < bytes; k += kPiece) {
    if (stop != nullptr && stop->look()) {
      drop(out);
      stop->fail_in_node();
    }
    std::memcpy(to + k, from + k, std::min(kPiece, bytes - k));
  }
  return out;
}

}  // namespace

void OwnFeeds::copy(const Block& block, RunStop* stop) {
  const auto own = [&](std::size_t k) {
    TF_Tensor* const feed = feeds_[k];
    const bool is_elsewhere = feed->memory->device != 0 && !(k < block.feed_goes_to_devices.size() && block.feed_goes_to_devices[k]);
    if (is_elsewhere) return on_host(*feed).release();
    return feed->memory->lent ? copied(*feed, stop) : hold(feed);
  };
  try {
    own_.resize(static_cast<std::size_t>(block.feeds));
    for (std::size_t k = 0; k < own_.size(); ++k) own_[k] = own(k);
  } catch (...) {
    drop_own();
    throw;
  }
  feeds_ = own_.data();
}

void OwnFeeds::drop_own() noexcept {
  for (TF_Tensor* feed : own_) drop(feed);
}

}  // namespace drystone::host::executor
