#include "matching.h"

#include <algorithm>
#include <utility>

namespace drystone::net {

void Matching::post(const Receive& receive) {
  const std::uint64_t order = next_++;
  posted_.emplace(order, receive);
  by_token_.emplace(receive.token, order);
  ++waiting_[receive.peer];
  if (receive.exact()) {
    exact_[{receive.peer, receive.tag}].push_back(order);
  } else {
    wild_[receive.peer].insert(order);
  }
}

void Matching::forget_posted(std::uint64_t order, const Receive& receive) {
  if (receive.exact()) {
    const auto found = exact_.find({receive.peer, receive.tag});
    Orders& orders = found->second;
    orders.erase(std::find(orders.begin(), orders.end(), order));
    if (orders.empty()) exact_.erase(found);
  } else {
    const auto found = wild_.find(receive.peer);
    found->second.erase(order);
    if (found->second.empty()) wild_.erase(found);
  }
  const auto [from, to] = by_token_.equal_range(receive.token);
  by_token_.erase(std::find_if(from, to, [&](const auto& one) { return one.second == order; }));
  const auto count = waiting_.find(receive.peer);
  if (--count->second == 0) waiting_.erase(count);
  posted_.erase(order);
}

std::uint64_t Matching::first_wild(std::uint64_t of, std::uint64_t peer, const Tag& tag,
                                   std::uint64_t before) const {
  const auto found = wild_.find(of);
  if (found == wild_.end()) return before;
  for (const std::uint64_t order : found->second) {
    if (before != 0 && order > before) break;
    if (posted_.at(order).fits(peer, tag)) return order;
  }
  return before;
}

std::optional<Receive> Matching::take_posted(std::uint64_t peer, const Tag& tag) {
  std::uint64_t first = 0;
  if (const auto found = exact_.find({peer, tag}); found != exact_.end())
    first = found->second.front();
  first = first_wild(peer, peer, tag, first_wild(0, peer, tag, first));
  if (first == 0) return std::nullopt;
  const Receive receive = posted_.at(first);
  forget_posted(first, receive);
  return receive;
}

std::optional<Receive> Matching::cancel(std::uint64_t token) {
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return std::nullopt;
  const std::uint64_t order = found->second;
  const Receive receive = posted_.at(order);
  forget_posted(order, receive);
  return receive;
}

std::vector<Receive> Matching::take_posted_of(std::uint64_t peer) {
  std::vector<std::pair<std::uint64_t, Receive>> found;
  if (waiting_.contains(peer))
    for (const auto& [order, receive] : posted_)
      if (receive.peer == peer) found.emplace_back(order, receive);
  std::vector<Receive> out;
  for (const auto& [order, receive] : found) {
    forget_posted(order, receive);
    out.push_back(receive);
  }
  return out;
}

bool Matching::waits_for(std::uint64_t peer) const {
  return waiting_.contains(peer) || waiting_.contains(0);
}

void Matching::keep(std::shared_ptr<Message> message) {
  const std::uint64_t order = next_++;
  kept_exact_[{message->peer, message->tag}].push_back(order);
  OfPeer& of = kept_[message->peer];
  of.bytes += message->size;
  of.by_order.emplace(order, std::move(message));
}

std::shared_ptr<Message> Matching::take_kept_at(OfPeer& of, std::uint64_t order) {
  const auto place = of.by_order.find(order);
  std::shared_ptr<Message> message = std::move(place->second);
  of.by_order.erase(place);
  of.bytes -= message->size;
  const auto found = kept_exact_.find({message->peer, message->tag});
  Orders& orders = found->second;
  orders.erase(std::find(orders.begin(), orders.end(), order));
  if (orders.empty()) kept_exact_.erase(found);
  if (of.by_order.empty()) kept_.erase(message->peer);
  return message;
}

std::shared_ptr<Message> Matching::take_kept_exact(const Receive& receive) {
  const auto found = kept_exact_.find({receive.peer, receive.tag});
  if (found == kept_exact_.end()) return nullptr;
  return take_kept_at(kept_.at(receive.peer), found->second.front());
}

std::shared_ptr<Message> Matching::take_kept(const Receive& receive) {
  if (receive.exact()) return take_kept_exact(receive);
  OfPeer* best = nullptr;
  std::uint64_t first = 0;
  for (auto& [peer, of] : kept_) {
    if (receive.peer != 0 && receive.peer != peer) continue;
    for (const auto& [order, message] : of.by_order) {
      if (first != 0 && order > first) break;
      if (!receive.fits(peer, message->tag)) continue;
      best = &of;
      first = order;
      break;
    }
  }
  return best == nullptr ? nullptr : take_kept_at(*best, first);
}

void Matching::forget_kept(const Message* message) {
  const auto of = kept_.find(message->peer);
  if (of == kept_.end()) return;
  for (const auto& [order, one] : of->second.by_order) {
    if (one.get() != message) continue;
    take_kept_at(of->second, order);
    return;
  }
}

std::uint64_t Matching::kept_bytes(std::uint64_t peer) const {
  const auto of = kept_.find(peer);
  return of == kept_.end() ? 0 : of->second.bytes;
}

}  // namespace drystone::net
