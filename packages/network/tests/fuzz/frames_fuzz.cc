// What another process sends over a connection: the bytes come in pieces of any size, and what the peer
// makes of them is one greeting and whole messages in order, or a refusal.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "matching.cc"
#include "peer.cc"

namespace {

using namespace drystone::net;

constexpr std::uint64_t kMostMessage = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostKept = std::uint64_t{3} << 20;

// The bytes after the first, in pieces of sizes that those before them say.
class Pieces : public Stream {
 public:
  Pieces(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  long read(const iovec* pieces, int count) override {
    if (left_ == 0) return kEnd;
    turn_ = turn_ * 1103515245u + 12345u;
    if (turn_ >> 30 == 0) return kAgain;
    std::size_t most = std::size_t{1} << ((turn_ >> 16) % 18);
    std::size_t put = 0;
    for (int k = 0; k < count && most != 0 && left_ != 0; ++k) {
      const std::size_t step = std::min({pieces[k].iov_len, most, left_});
      if (step != 0) std::memcpy(pieces[k].iov_base, data_, step);
      data_ += step;
      left_ -= step;
      most -= step;
      put += step;
    }
    if (put == 0) __builtin_trap();  // nobody may ask for no bytes
    return static_cast<long>(put);
  }
  long write(const iovec* pieces, int count) override {
    long put = 0;
    for (int k = 0; k < count; ++k) put += static_cast<long>(pieces[k].iov_len);
    return put;
  }
  int socket() const override { return -1; }
  std::size_t left() const { return left_; }
  void begin(std::uint32_t turn) { turn_ = turn; }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
  std::uint32_t turn_ = 1;
};

// Receives that were posted before take what fits, and the rest is kept, as an engine does.
class Receiver : public Inbox {
 public:
  Receiver() : memory_(std::size_t{1} << 16) {
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::uint64_t mask = k % 2 == 0 ? ~std::uint64_t{0} : 0xff;
      void* data = k < 2 ? memory_.data() + k * (memory_.size() / 2) : nullptr;
      matching_.post({k < 2 ? 1u : 0u, {k, k}, {mask, mask}, data, memory_.size() / 2, k});
    }
  }

  void greeted(std::uint64_t) override {
    if (greeted_ || begun_ != 0) __builtin_trap();
    greeted_ = true;
  }
  std::shared_ptr<Message> begin(std::uint64_t peer, const Tag& tag, std::uint64_t size) override {
    if (!greeted_ || open_ || size > kMostMessage) __builtin_trap();
    open_ = true;
    ++begun_;
    auto message = std::make_shared<Message>();
    message->peer = peer;
    message->size = size;
    message->tag = tag;
    message->taker = matching_.take_posted(peer, tag);
    if (message->taker && message->taker->data != nullptr) {
      if (size <= message->taker->size)
        message->target = static_cast<unsigned char*>(message->taker->data);
    } else {
      message->own.reset(static_cast<unsigned char*>(std::malloc(std::max<std::uint64_t>(size, 1))));
      message->target = message->own.get();
    }
    if (!message->taker) matching_.keep(message);
    return message;
  }
  void finish(const std::shared_ptr<Message>& message) override {
    if (!open_ || !message->whole()) __builtin_trap();
    open_ = false;
    ++finished_;
  }
  bool may_read(std::uint64_t peer, const Message* current) const override {
    return current != nullptr || matching_.kept_bytes(peer) < kMostKept;
  }
  void sent(std::uint64_t, std::uint64_t) override { __builtin_trap(); }  // nothing was sent

  // Takes all that was kept for a peer, in order; how many.
  std::size_t drain() {
    std::size_t count = 0;
    while (matching_.take_kept({0, {}, {0, 0}, nullptr, 0, 0}) != nullptr) ++count;
    if (matching_.kept_bytes(1) != 0) __builtin_trap();
    return count;
  }

 private:
  std::vector<unsigned char> memory_;
  Matching matching_;
  bool greeted_ = false, open_ = false;
  std::size_t begun_ = 0, finished_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto pieces = std::make_unique<Pieces>(data + 1, size - 1);
  pieces->begin(data[0]);
  Pieces& stream = *pieces;
  Receiver receiver;
  try {
    Peer peer(1, std::move(pieces), kMostMessage);
    for (std::size_t turn = 0; turn < 8 * size + 64; ++turn) {
      if (!peer.read_more(&receiver)) break;
      if (stream.left() == 0 || turn % 16 == 15) receiver.drain();
    }
    receiver.drain();
  } catch (const Failure&) {
    receiver.drain();
  }
  return 0;
}
