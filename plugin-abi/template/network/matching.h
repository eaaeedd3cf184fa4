// Which receive a message goes to: the one that was posted first among those that fit, when the message
// begins. One that nobody waits for is kept, and the next receive that fits gets it.
#ifndef {{NAME}}_MATCHING_H_
#define {{NAME}}_MATCHING_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace {{name}} {

struct Tag {
  std::uint64_t high, low;
};

struct Receive {
  std::uint64_t peer;
  Tag tag, mask;
  void* data;
  std::size_t size;
  std::uint64_t token;

  bool fits(std::uint64_t from, const Tag& of) const {
    return (peer == 0 || peer == from) && ((tag.high ^ of.high) & mask.high) == 0 &&
           ((tag.low ^ of.low) & mask.low) == 0;
  }
};

struct Free {
  void operator()(void* data) const { std::free(data); }
};

struct Message {
  std::uint64_t peer;
  Tag tag;
  std::uint64_t size, got = 0;
  std::unique_ptr<unsigned char, Free> own = nullptr;  // where the receive has no room for it
  unsigned char* target = nullptr;                     // NULL: the bytes are dropped
  std::optional<Receive> receive = std::nullopt;
};

class Matching {
 public:
  // A message that begins. Throws std::bad_alloc.
  std::shared_ptr<Message> begin(std::uint64_t peer, const Tag& tag, std::uint64_t size);
  // The first message kept that fits; NULL: there is none.
  std::shared_ptr<Message> take_kept(const Receive& receive);
  void post(const Receive& receive) { posted_.push_back(receive); }
  std::optional<Receive> cancel(std::uint64_t token);
  // Receives of a peer that is gone, which get nothing any more; what began and is not whole is dropped.
  std::vector<Receive> forget(std::uint64_t peer, const Message* half);
  bool is_awaited(std::uint64_t peer) const;
  std::uint64_t kept_bytes(std::uint64_t peer) const;

 private:
  std::deque<Receive> posted_;
  std::list<std::shared_ptr<Message>> kept_;
};

}  // namespace {{name}}

#endif  // {{NAME}}_MATCHING_H_
