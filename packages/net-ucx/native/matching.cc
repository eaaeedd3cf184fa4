#include "matching.h"

#include <utility>

namespace drystone::ucx {
namespace {

bool fits(const Receive& receive, const Message& message) {
  return (receive.peer == 0 || receive.peer == message.peer) &&
         (receive.tag.high & receive.mask.high) == (message.tag.high & receive.mask.high) &&
         (receive.tag.low & receive.mask.low) == (message.tag.low & receive.mask.low);
}

// Takes the first that fits out of a list.
template <class T, class Fits>
std::optional<T> first(std::list<T>* all, const Fits& is_it) {
  for (auto at = all->begin(); at != all->end(); ++at) {
    if (!is_it(*at)) continue;
    std::optional<T> out(std::move(*at));
    all->erase(at);
    return out;
  }
  return std::nullopt;
}

template <class T, class Fits>
std::vector<T> every(std::list<T>* all, const Fits& is_it) {
  std::vector<T> out;
  while (auto one = first(all, is_it)) out.push_back(std::move(*one));
  return out;
}

}  // namespace

std::optional<Receive> Matching::take(Message* message) {
  return first(&posted_, [&](const Receive& one) { return fits(one, *message); });
}

std::optional<Message> Matching::find(const Receive& receive) {
  return first(&kept_, [&](const Message& one) { return fits(receive, one); });
}

std::optional<Receive> Matching::cancel(std::uint64_t token) {
  return first(&posted_, [&](const Receive& one) { return one.token == token; });
}

std::vector<Receive> Matching::lose(std::uint64_t peer) {
  return every(&posted_, [&](const Receive& one) { return one.peer == peer; });
}

std::vector<Message> Matching::lose_at_sender(std::uint64_t peer) {
  return every(&kept_, [&](const Message& one) { return one.peer == peer && one.at_sender != nullptr; });
}

}  // namespace drystone::ucx
