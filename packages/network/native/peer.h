// A connection to another engine: messages on their way out, and the one that is coming in.
//
// On the wire: a greeting of 16 bytes each way, then messages, each a head of 32 bytes and its bytes.
#ifndef DRYSTONE_NET_PEER_H_
#define DRYSTONE_NET_PEER_H_

#include <sys/uio.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "matching.h"
#include "stream.h"

namespace drystone::net {

struct Head {
  std::uint32_t magic, zero;
  std::uint64_t high, low, size;
};
static_assert(sizeof(Head) == 32);

// A message that is not yet on its way to its end.
struct Outgoing {
  std::optional<std::uint64_t> token;  // none: of the greeting, of which nobody wants to hear
  std::vector<unsigned char> head;
  std::vector<iovec> rest;  // what is still to be written, `head` among it
  bool begun = false;
};

// What an engine does with what comes.
class Inbox {
 public:
  virtual ~Inbox() = default;
  virtual void greeted(std::uint64_t peer) = 0;
  virtual std::shared_ptr<Message> begin(std::uint64_t peer, const Tag& tag, std::uint64_t size) = 0;
  virtual void finish(const std::shared_ptr<Message>& message) = 0;
  virtual bool may_read(std::uint64_t peer, const Message* current) const = 0;
  virtual void sent(std::uint64_t peer, std::uint64_t token) = 0;
};

class Peer {
 public:
  Peer(std::uint64_t id, std::unique_ptr<Stream> stream, std::uint64_t max_message);

  // Whether it is written already; else `out` is kept until it is.
  bool send(Outgoing out, Inbox* inbox);
  void write_more(Inbox* inbox);
  // Reads what there is, within reason. False at the end of the connection.
  bool read_more(Inbox* inbox);

  bool has_outgoing() const { return !outgoing_.empty(); }
  std::deque<Outgoing>& outgoing() { return outgoing_; }
  const std::shared_ptr<Message>& current() const { return current_; }
  bool is_greeted() const { return greeted_; }
  bool in_the_middle() const { return current_ != nullptr || from_ != to_; }
  Stream& stream() { return *stream_; }

  const std::uint64_t id;
  std::uint32_t watched = 0;  // what epoll watches of the socket
  bool has_doorbell = false;  // that epoll watches

 private:
  bool write_one(Outgoing* out);
  void parse(Inbox* inbox);
  bool take_greeting(Inbox* inbox);
  bool take_head(Inbox* inbox);
  void take_bytes();
  long fill();

  std::unique_ptr<Stream> stream_;
  const std::uint64_t max_message_;
  std::deque<Outgoing> outgoing_;
  std::vector<unsigned char> staged_;  // read, and not yet looked at: from from_ to to_
  std::size_t from_ = 0, to_ = 0;
  std::shared_ptr<Message> current_;
  bool greeted_ = false;
};

// The bytes before those of a message.
std::vector<unsigned char> head_of(const Tag& tag, std::uint64_t size);

}  // namespace drystone::net

#endif  // DRYSTONE_NET_PEER_H_
