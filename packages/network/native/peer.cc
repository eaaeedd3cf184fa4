#include "peer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "errors.h"

namespace drystone::net {

namespace {

constexpr std::uint32_t kMagic = 0x314e5344;  // "DSN1"
constexpr unsigned char kGreeting[16] = {'d', 'r', 'y', 's', 't', 'o', 'n', 'e',
                                         '-', 'n', 'e', 't', ' ', '0', '1', '\n'};
constexpr std::size_t kStaged = std::size_t{64} << 10;
constexpr std::size_t kDirect = std::size_t{16} << 10;  // more than this skips the staging memory
constexpr std::uint64_t kTurn = std::uint64_t{8} << 20;  // read of one peer before others have theirs
constexpr std::size_t kMostPieces = 64;                  // handed to the system at once

}  // namespace

Peer::Peer(std::uint64_t number, std::unique_ptr<Stream> stream, std::uint64_t max_message)
    : id(number), stream_(std::move(stream)), max_message_(max_message), staged_(kStaged) {
  Outgoing greeting;
  greeting.head.assign(kGreeting, kGreeting + sizeof kGreeting);
  greeting.rest.push_back({greeting.head.data(), greeting.head.size()});
  if (!write_one(&greeting)) outgoing_.push_back(std::move(greeting));
}

// ---- Out ----------------------------------------------------------------------------------------

bool Peer::write_one(Outgoing* out) {
  std::size_t first = 0;
  while (first < out->rest.size()) {
    const std::size_t count = std::min(kMostPieces, out->rest.size() - first);
    long put = stream_->write(out->rest.data() + first, static_cast<int>(count));
    if (put == kAgain) break;
    out->begun = true;
    while (first < out->rest.size()) {
      iovec& piece = out->rest[first];
      const std::size_t step = std::min<std::size_t>(piece.iov_len, static_cast<std::size_t>(put));
      piece.iov_base = static_cast<char*>(piece.iov_base) + step;
      piece.iov_len -= step;
      put -= static_cast<long>(step);
      if (piece.iov_len > 0) break;
      ++first;
    }
  }
  out->rest.erase(out->rest.begin(), out->rest.begin() + static_cast<std::ptrdiff_t>(first));
  return out->rest.empty();
}

bool Peer::send(Outgoing out, Inbox* inbox) {
  if (!outgoing_.empty()) write_more(inbox);
  if (outgoing_.empty() && write_one(&out)) return true;
  outgoing_.push_back(std::move(out));
  return false;
}

void Peer::write_more(Inbox* inbox) {
  while (!outgoing_.empty() && write_one(&outgoing_.front())) {
    if (outgoing_.front().token) inbox->sent(id, *outgoing_.front().token);
    outgoing_.pop_front();
  }
}

// ---- In -----------------------------------------------------------------------------------------

// Reads once: the rest of a large message where it belongs, and what follows into the staging memory.
long Peer::fill() {
  if (from_ == to_) from_ = to_ = 0;
  if (from_ > 0 && to_ == staged_.size()) {
    std::memmove(staged_.data(), staged_.data() + from_, to_ - from_);
    to_ -= from_;
    from_ = 0;
  }
  iovec pieces[2];
  int count = 0;
  std::size_t direct = 0;
  if (current_ != nullptr && from_ == to_ && current_->target != nullptr &&
      current_->size - current_->got >= kDirect) {
    direct = current_->size - current_->got;
    pieces[count++] = {current_->target + current_->got, direct};
  }
  pieces[count++] = {staged_.data() + to_, staged_.size() - to_};
  const long got = stream_->read(pieces, count);
  if (got <= 0) return got;
  const std::size_t placed = std::min<std::size_t>(direct, static_cast<std::size_t>(got));
  if (current_ != nullptr) current_->got += placed;
  to_ += static_cast<std::size_t>(got) - placed;
  return got;
}

bool Peer::read_more(Inbox* inbox) {
  std::uint64_t seen = 0;
  parse(inbox);  // what was staged when reading stopped
  while (seen < kTurn && inbox->may_read(id, current_.get())) {
    const long got = fill();
    if (got == kAgain) return true;
    if (got == kEnd) return false;
    seen += static_cast<std::uint64_t>(got);
    parse(inbox);
  }
  return true;
}

void Peer::parse(Inbox* inbox) {
  if (!greeted_ && !take_greeting(inbox)) return;
  for (;;) {
    if (current_ == nullptr) {
      if (!inbox->may_read(id, nullptr) || !take_head(inbox)) return;
    }
    take_bytes();
    if (!current_->whole()) return;
    inbox->finish(std::exchange(current_, nullptr));
  }
}

bool Peer::take_greeting(Inbox* inbox) {
  const std::size_t size = std::min(to_ - from_, sizeof kGreeting);
  if (std::memcmp(staged_.data() + from_, kGreeting, size) != 0)
    fail(TF_INVALID_ARGUMENT, "the other side does not speak this protocol, or another version");
  if (size < sizeof kGreeting) return false;
  from_ += sizeof kGreeting;
  greeted_ = true;
  inbox->greeted(id);
  return true;
}

bool Peer::take_head(Inbox* inbox) {
  if (to_ - from_ < sizeof(Head)) return false;
  Head head;
  std::memcpy(&head, staged_.data() + from_, sizeof head);
  from_ += sizeof head;
  if (head.magic != kMagic || head.zero != 0)
    fail(TF_INVALID_ARGUMENT, "what the other side sent is no message");
  if (head.size > max_message_)
    fail(TF_INVALID_ARGUMENT, "the other side sends a message of " + std::to_string(head.size) +
                                  " bytes, and at most " + std::to_string(max_message_) +
                                  " are taken");
  current_ = inbox->begin(id, {head.high, head.low}, head.size);
  return true;
}

void Peer::take_bytes() {
  const std::uint64_t size = std::min<std::uint64_t>(to_ - from_, current_->size - current_->got);
  if (size == 0) return;
  if (current_->target != nullptr)
    std::memcpy(current_->target + current_->got, staged_.data() + from_, size);
  current_->got += size;
  from_ += size;
}

std::vector<unsigned char> head_of(const Tag& tag, std::uint64_t size) {
  const Head head{kMagic, 0, tag.high, tag.low, size};
  std::vector<unsigned char> out(sizeof head);
  std::memcpy(out.data(), &head, sizeof head);
  return out;
}

}  // namespace drystone::net
