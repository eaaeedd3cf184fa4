// A connection over memory that two processes share: a ring of bytes each way.
//
// The side that connects makes the memory and two doorbells (eventfd), and hands them over a unix
// socket, whose end then says that the process is gone. A side that is about to sleep says so in the
// ring; the other rings its doorbell only then, so that a busy pair makes no system calls.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "errors.h"
#include "stream.h"

namespace drystone::net {

namespace {

constexpr std::size_t kRoom = std::size_t{1} << 20;  // of a ring; a power of two
constexpr char kHello[8] = {'D', 'S', 'S', 'H', 'M', '1', 0, 0};

struct Ring {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::atomic<std::uint32_t> reader_sleeps;
  std::atomic<std::uint32_t> writer_sleeps;
  alignas(64) unsigned char bytes[kRoom];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct Shared {
  Ring rings[2];
};

class Mapping {
 public:
  Mapping() = default;
  ~Mapping() {
    if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  void map(int fd) {
    void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) fail_errno("memory cannot be shared", errno);
    shared_ = static_cast<Shared*>(at);
  }
  Shared* get() const { return shared_; }

 private:
  Shared* shared_ = nullptr;
};

void ring_bell(int bell) {
  const std::uint64_t one = 1;
  (void)!write(bell, &one, sizeof one);
}

union Control {
  char bytes[CMSG_SPACE(3 * sizeof(int))];
  cmsghdr align;
};

void hand_over(int socket, const int (&given)[3]) {
  iovec hello{const_cast<char*>(kHello), sizeof kHello};
  Control control{};
  msghdr message{};
  message.msg_iov = &hello;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof given);
  std::memcpy(CMSG_DATA(head), given, sizeof given);
  if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) fail_errno("memory cannot be handed over", errno);
}

// What the other side hands over; false where that has not come.
bool take_over(int socket, Descriptor (&taken)[3]) {
  char said[sizeof kHello] = {};
  iovec hello{said, sizeof said};
  Control control{};
  msghdr message{};
  message.msg_iov = &hello;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    const std::size_t count = std::min<std::size_t>(3, (head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    int fds[3];
    std::memcpy(fds, CMSG_DATA(head), count * sizeof(int));
    for (std::size_t k = 0; k < count; ++k) taken[k] = Descriptor(fds[k]);
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0)
    fail(TF_RESOURCE_EXHAUSTED, "there are no descriptors left for shared memory");
  if (got != sizeof kHello || std::memcmp(said, kHello, sizeof kHello) != 0 || !taken[2])
    fail(TF_INVALID_ARGUMENT, "the other side does not speak this protocol");
  struct stat facts {};
  const int sealed = fcntl(taken[0].get(), F_GET_SEALS);
  if (fstat(taken[0].get(), &facts) != 0 || facts.st_size != sizeof(Shared) || sealed < 0 ||
      (sealed & F_SEAL_SHRINK) == 0)
    fail(TF_INVALID_ARGUMENT, "the memory that the other side shares cannot be used");
  for (int k : {1, 2}) {
    const int flags = fcntl(taken[k].get(), F_GETFL);
    (void)fcntl(taken[k].get(), F_SETFL, flags | O_NONBLOCK);
  }
  return true;
}

class SharedStream : public Stream {
 public:
  // Of the side that is connected to, which has no memory until the other has handed it over.
  explicit SharedStream(Descriptor socket) : socket_(std::move(socket)) {}

  void use(const Descriptor& memory, Descriptor own, Descriptor other, int side) {
    memory_.map(memory.get());
    in_ = &memory_.get()->rings[1 - side];
    out_ = &memory_.get()->rings[side];
    own_ = std::move(own);
    other_ = std::move(other);
  }

  long read(const iovec* pieces, int count) override {
    if (in_ == nullptr && !accept_memory()) return kAgain;
    const std::uint64_t from = in_->read.load(std::memory_order_relaxed);
    const std::uint64_t there = in_->written.load(std::memory_order_acquire) - from;
    check(there);
    if (there == 0) return ended() ? kEnd : kAgain;
    std::uint64_t done = 0;
    for (int k = 0; k < count && done < there; ++k)
      done += copy_out(from + done, pieces[k], there - done);
    in_->read.store(from + done, std::memory_order_release);
    wake(in_->writer_sleeps);
    return static_cast<long>(done);
  }

  long write(const iovec* pieces, int count) override {
    if (out_ == nullptr) return kAgain;
    const std::uint64_t from = out_->written.load(std::memory_order_relaxed);
    const std::uint64_t used = from - out_->read.load(std::memory_order_acquire);
    check(used);
    if (used == kRoom) return kAgain;
    std::uint64_t done = 0;
    for (int k = 0; k < count && done < kRoom - used; ++k)
      done += copy_in(from + done, pieces[k], kRoom - used - done);
    out_->written.store(from + done, std::memory_order_release);
    wake(out_->reader_sleeps);
    return static_cast<long>(done);
  }

  int socket() const override { return socket_.get(); }
  int doorbell() const override { return own_.get(); }

  bool about_to_sleep(bool reads, bool writes) override {
    if (in_ == nullptr) return false;
    if (reads) in_->reader_sleeps.store(1, std::memory_order_seq_cst);
    if (writes) out_->writer_sleeps.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return (reads && in_->written.load(std::memory_order_acquire) !=
                         in_->read.load(std::memory_order_relaxed)) ||
           (writes && out_->written.load(std::memory_order_relaxed) -
                              out_->read.load(std::memory_order_acquire) <
                          kRoom);
  }

  void hear() override {
    std::uint64_t count = 0;
    (void)!::read(own_.get(), &count, sizeof count);
  }

 private:
  bool accept_memory() {
    Descriptor taken[3];
    if (!take_over(socket_.get(), taken)) return false;
    use(taken[0], std::move(taken[1]), std::move(taken[2]), 1);
    return true;
  }

  static void check(std::uint64_t used) {
    if (used > kRoom) fail(TF_DATA_LOSS, "the other side has spoiled the shared memory");
  }

  // Whether the other side is gone, and with it whoever could still write.
  bool ended() {
    char one;
    const ssize_t got = recv(socket_.get(), &one, 1, MSG_DONTWAIT | MSG_PEEK);
    if (got > 0) fail(TF_INVALID_ARGUMENT, "the other side does not speak this protocol");
    const bool gone = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    return gone && in_->written.load(std::memory_order_acquire) ==
                       in_->read.load(std::memory_order_relaxed);
  }

  void wake(std::atomic<std::uint32_t>& sleeps) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (sleeps.load(std::memory_order_relaxed) != 0 && sleeps.exchange(0) != 0)
      ring_bell(other_.get());
  }

  std::uint64_t copy_out(std::uint64_t at, const iovec& piece, std::uint64_t most) {
    const std::uint64_t size = std::min<std::uint64_t>(piece.iov_len, most);
    const std::uint64_t place = at % kRoom, first = std::min(size, kRoom - place);
    if (size == 0) return 0;
    std::memcpy(piece.iov_base, in_->bytes + place, first);
    std::memcpy(static_cast<char*>(piece.iov_base) + first, in_->bytes, size - first);
    return size;
  }

  std::uint64_t copy_in(std::uint64_t at, const iovec& piece, std::uint64_t most) {
    const std::uint64_t size = std::min<std::uint64_t>(piece.iov_len, most);
    const std::uint64_t place = at % kRoom, first = std::min(size, kRoom - place);
    if (size == 0) return 0;
    std::memcpy(out_->bytes + place, piece.iov_base, first);
    std::memcpy(out_->bytes, static_cast<const char*>(piece.iov_base) + first, size - first);
    return size;
  }

  Descriptor socket_, own_, other_;
  Mapping memory_;
  Ring* in_ = nullptr;
  Ring* out_ = nullptr;
};

}  // namespace

std::unique_ptr<Stream> shared_stream_connect(Descriptor socket) {
  Descriptor memory(memfd_create("drystone-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ftruncate(memory.get(), sizeof(Shared)) != 0 ||
      fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    fail_errno("memory cannot be shared", errno);
  Descriptor own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Descriptor other(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!own || !other) fail_errno("no doorbell can be made", errno);
  hand_over(socket.get(), {memory.get(), other.get(), own.get()});
  auto made = std::make_unique<SharedStream>(std::move(socket));
  made->use(memory, std::move(own), std::move(other), 0);
  return made;
}

std::unique_ptr<Stream> shared_stream_accept(Descriptor socket) {
  return std::make_unique<SharedStream>(std::move(socket));
}

}  // namespace drystone::net
