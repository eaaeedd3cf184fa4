// Which message goes to which receive: receives that were posted, and messages that were kept.
#ifndef DRYSTONE_NET_MATCHING_H_
#define DRYSTONE_NET_MATCHING_H_

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace drystone::net {

struct Tag {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Tag&) const = default;
};

struct Receive {
  std::uint64_t peer = 0;  // 0: any
  Tag tag, mask;
  void* data = nullptr;
  std::uint64_t size = 0, token = 0;

  bool exact() const { return peer != 0 && ~mask.high == 0 && ~mask.low == 0; }
  bool fits(std::uint64_t from, const Tag& other) const {
    return (peer == 0 || peer == from) && ((tag.high ^ other.high) & mask.high) == 0 &&
           ((tag.low ^ other.low) & mask.low) == 0;
  }
};

// A message that is coming or has come. Its bytes go to the memory of its receive where that was
// posted before and gave some, else to memory of its own.
struct Message {
  std::uint64_t peer = 0, size = 0, got = 0;
  Tag tag;
  unsigned char* target = nullptr;                        // null: the bytes are dropped
  std::unique_ptr<unsigned char, decltype(&std::free)> own{nullptr, std::free};
  std::optional<Receive> taker;
  bool whole() const { return got == size; }
};

class Matching {
 public:
  void post(const Receive& receive);
  // The receive that was posted first among those that fit.
  std::optional<Receive> take_posted(std::uint64_t peer, const Tag& tag);
  std::optional<Receive> cancel(std::uint64_t token);
  std::vector<Receive> take_posted_of(std::uint64_t peer);  // for this peer alone
  bool waits_for(std::uint64_t peer) const;

  void keep(std::shared_ptr<Message> message);
  // The message that began to come first among those that fit; null for none.
  std::shared_ptr<Message> take_kept(const Receive& receive);
  void forget_kept(const Message* message);
  std::uint64_t kept_bytes(std::uint64_t peer) const;
  bool has_kept(std::uint64_t peer) const { return kept_.contains(peer); }

 private:
  struct Exact {
    std::uint64_t peer;
    Tag tag;
    bool operator==(const Exact&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Exact& one) const {
      std::uint64_t mixed = one.peer * 0x9e3779b97f4a7c15u ^ one.tag.high;
      mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u ^ one.tag.low;
      return static_cast<std::size_t>((mixed ^ (mixed >> 32)) * 0x94d049bb133111ebu);
    }
  };
  using Orders = std::deque<std::uint64_t>;
  struct OfPeer {
    std::map<std::uint64_t, std::shared_ptr<Message>> by_order;
    std::uint64_t bytes = 0;
  };

  void forget_posted(std::uint64_t order, const Receive& receive);
  // The first of the receives with wild parts that fits and came before another; else that one.
  std::uint64_t first_wild(std::uint64_t of, std::uint64_t peer, const Tag& tag,
                           std::uint64_t before) const;
  std::shared_ptr<Message> take_kept_at(OfPeer& of, std::uint64_t order);
  std::shared_ptr<Message> take_kept_exact(const Receive& receive);

  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Receive> posted_;                  // by order
  std::unordered_map<Exact, Orders, Hash> exact_;            // of those without wild parts
  std::unordered_map<std::uint64_t, std::set<std::uint64_t>> wild_;  // of the others, by peer
  std::unordered_multimap<std::uint64_t, std::uint64_t> by_token_;
  std::unordered_map<std::uint64_t, std::uint64_t> waiting_;  // how many, by peer
  std::unordered_map<std::uint64_t, OfPeer> kept_;
  std::unordered_map<Exact, Orders, Hash> kept_exact_;
};

}  // namespace drystone::net

#endif  // DRYSTONE_NET_MATCHING_H_
