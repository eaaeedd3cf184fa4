// Round trips and 64 MiB by each transport between two processes, beside sockets without it.
//
// Prints lines "NAME MICROSECONDS PROCESSOR_MICROSECONDS GIB_PER_SECOND": the median round trip of 8
// bytes, what one of the two processes used of the processor for one, and the best of several transfers
// of 64 MiB.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "engine.h"

extern "C" void TF_SetStatus(TF_Status*, TF_Code, const char*) {}  // of the host, which is not here

namespace {

using namespace drystone::net;

constexpr std::size_t kLarge = std::size_t{64} << 20;
constexpr int kTransfers = 7;
int rounds = 4000;

using Move = std::function<void(char*, std::size_t)>;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void measure(const char* name, const Move& give, const Move& take) {
  std::vector<char> data(kLarge, 1);
  char word[8] = {};
  std::vector<double> small, large;
  const double begun = processor();
  for (int k = 0; k < rounds; ++k) {
    const double start = now();
    give(word, sizeof word);
    take(word, sizeof word);
    small.push_back(now() - start);
  }
  const double used = (processor() - begun) / rounds;
  for (int k = 0; k < kTransfers; ++k) {
    const double start = now();
    give(data.data(), data.size());
    take(word, sizeof word);
    large.push_back(now() - start);
  }
  std::nth_element(small.begin(), small.begin() + rounds / 2, small.end());
  std::printf("%s %.3f %.3f %.3f\n", name, small[static_cast<std::size_t>(rounds) / 2] * 1e6, used * 1e6,
              64.0 / 1024 / *std::min_element(large.begin(), large.end()));
  std::fflush(stdout);
}

void answer(const Move& give, const Move& take) {
  std::vector<char> data(kLarge, 2);
  char word[8] = {};
  for (int k = 0; k < rounds; ++k) {
    take(word, sizeof word);
    give(word, sizeof word);
  }
  for (int k = 0; k < kTransfers; ++k) {
    take(data.data(), data.size());
    give(word, sizeof word);
  }
}

void wait_for(Engine& engine, DS_NetworkEventKind kind) {
  for (;;)
    for (const Event& event : engine.progress(-1, 8))
      if (event.kind == kind) return;
}

Move giving(Engine& engine, std::uint64_t peer) {
  return [&engine, peer](char* data, std::size_t size) {
    const void* const piece = data;
    if (!engine.send(peer, {1, 1}, &piece, &size, 1, 2)) wait_for(engine, DS_NETWORK_EVENT_SENT);
  };
}

Move taking(Engine& engine, std::uint64_t peer) {
  return [&engine, peer](char* data, std::size_t size) {
    engine.receive({peer, {1, 1}, {~0ull, ~0ull}, data, size, 1});
    wait_for(engine, DS_NETWORK_EVENT_RECEIVED);
  };
}

void transport(const char* name, Kind kind, const char* address) {
  const Limits limits{std::uint64_t{1} << 33, std::uint64_t{64} << 20, 10'000'000};
  int tell[2];
  if (pipe(tell) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    char place[128] = {};
    if (read(tell[0], place, sizeof place - 1) <= 0) std::_Exit(1);
    Engine engine(kind, limits);
    const std::uint64_t peer = engine.connect(place);
    answer(giving(engine, peer), taking(engine, peer));
    std::_Exit(0);
  }
  Engine engine(kind, limits);
  const std::string place = engine.listen(address);
  if (write(tell[1], place.c_str(), place.size()) < 0) std::exit(1);
  const std::uint64_t peer = engine.progress(-1, 1).at(0).peer;
  measure(name, giving(engine, peer), taking(engine, peer));
  waitpid(child, nullptr, 0);
}

void socket_alone(const char* name, int one, int other) {
  const pid_t child = fork();
  const int fd = child == 0 ? other : one;
  const auto all = [fd](char* data, std::size_t size, auto&& move) {
    for (ssize_t done = 0; size > 0; data += done, size -= static_cast<std::size_t>(done)) {
      done = move(fd, data, size);
      if (done <= 0) std::_Exit(1);
    }
  };
  const Move give = [&](char* data, std::size_t size) { all(data, size, ::write); };
  const Move take = [&](char* data, std::size_t size) { all(data, size, ::read); };
  if (child == 0) {
    answer(give, take);
    std::_Exit(0);
  }
  measure(name, give, take);
  waitpid(child, nullptr, 0);
}

void tcp_alone() {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const int listener = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0);
  auto* address = reinterpret_cast<sockaddr*>(&at);
  if (bind(listener, address, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, address, &size) != 0 || connect(one, address, size) != 0)
    std::exit(1);
  const int other = accept(listener, nullptr, nullptr), on = 1;
  for (const int fd : {one, other}) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  socket_alone("tcp-socket", one, other);
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) rounds = std::max(100, std::atoi(words[1]));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  socket_alone("unix-socket", pair[0], pair[1]);
  transport("unix", Kind::kUnix, "unix://");
  tcp_alone();
  transport("tcp", Kind::kTcp, "tcp://127.0.0.1:0");
  transport("shm", Kind::kShared, "shm://");
  return 0;
}
