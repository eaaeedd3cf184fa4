// Which message goes to which receive: in the order in which both came.
#ifndef DRYSTONE_UCX_MATCHING_H_
#define DRYSTONE_UCX_MATCHING_H_

#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace drystone::ucx {

struct Tag {
  std::uint64_t high = 0, low = 0;
};

struct Receive {
  std::uint64_t peer = 0;  // 0: any
  Tag tag, mask;
  void* data = nullptr;
  std::size_t size = 0;
  std::uint64_t token = 0;
};

struct Free {
  void operator()(void* data) const noexcept { std::free(data); }
};
using Bytes = std::unique_ptr<void, Free>;

// A message whose head has come: with its bytes, or with what UCX fetches them by.
struct Message {
  std::uint64_t peer = 0;
  Tag tag;
  std::uint64_t size = 0;
  Bytes bytes;
  void* at_sender = nullptr;
};

class Matching {
 public:
  // The receive that a message goes to; without one it is kept.
  std::optional<Receive> take(Message* message);
  void keep(Message message) { kept_.push_back(std::move(message)); }
  // The kept message that goes to a receive; without one `post` it.
  std::optional<Message> find(const Receive& receive);
  void post(const Receive& receive) { posted_.push_back(receive); }
  std::optional<Receive> cancel(std::uint64_t token);
  // Receives that wait for a peer alone.
  std::vector<Receive> lose(std::uint64_t peer);
  // Kept messages of a peer that are with it still.
  std::vector<Message> lose_at_sender(std::uint64_t peer);

 private:
  std::list<Receive> posted_;
  std::list<Message> kept_;
};

}  // namespace drystone::ucx

#endif  // DRYSTONE_UCX_MATCHING_H_
