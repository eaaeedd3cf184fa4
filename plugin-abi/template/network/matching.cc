#include "matching.h"

#include <algorithm>
#include <new>

namespace {{name}} {

std::shared_ptr<Message> Matching::begin(std::uint64_t peer, const Tag& tag, std::uint64_t size) {
  auto message = std::make_shared<Message>(Message{peer, tag, size});
  const auto found = std::find_if(posted_.begin(), posted_.end(),
                                  [&](const Receive& one) { return one.fits(peer, tag); });
  const bool has_place = found != posted_.end() && found->data != nullptr;
  if (!has_place) {
    message->own.reset(static_cast<unsigned char*>(std::malloc(size == 0 ? 1 : size)));
    if (message->own == nullptr) throw std::bad_alloc();
    message->target = message->own.get();
  } else if (size <= found->size) {
    message->target = static_cast<unsigned char*>(found->data);
  }
  if (found == posted_.end()) {
    kept_.push_back(message);
  } else {
    message->receive = *found;
    posted_.erase(found);
  }
  return message;
}

std::shared_ptr<Message> Matching::take_kept(const Receive& receive) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) {
    return receive.fits(one->peer, one->tag);
  });
  if (found == kept_.end()) return nullptr;
  std::shared_ptr<Message> message = *found;
  kept_.erase(found);
  return message;
}

std::optional<Receive> Matching::cancel(std::uint64_t token) {
  const auto found = std::find_if(posted_.begin(), posted_.end(),
                                  [&](const Receive& one) { return one.token == token; });
  if (found == posted_.end()) return std::nullopt;
  const Receive receive = *found;
  posted_.erase(found);
  return receive;
}

std::vector<Receive> Matching::forget(std::uint64_t peer, const Message* half) {
  kept_.remove_if([&](const auto& one) { return one.get() == half; });
  std::vector<Receive> out;
  std::deque<Receive> left;
  for (const Receive& one : posted_) {
    if (one.peer == peer)
      out.push_back(one);
    else
      left.push_back(one);
  }
  posted_ = std::move(left);
  return out;
}

bool Matching::is_awaited(std::uint64_t peer) const {
  return std::any_of(posted_.begin(), posted_.end(),
                     [&](const Receive& one) { return one.peer == 0 || one.peer == peer; });
}

std::uint64_t Matching::kept_bytes(std::uint64_t peer) const {
  std::uint64_t sum = 0;
  for (const auto& one : kept_) sum += one->peer == peer ? one->size : 0;
  return sum;
}

}  // namespace {{name}}
