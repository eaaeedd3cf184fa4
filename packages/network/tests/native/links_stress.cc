// Two tasks in one process exchange values of many runs, some of which end in the middle, while others
// ask what is waited for and strangers come and go: `links_stress SCHEME SECONDS`, under TSan or ASan.
//
// Prints how many values went round; status 1 where one was wrong, or a run waited for ever.
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "drystone/network.h"
#include "drystone/status.h"
#include "links/links_api.h"

extern "C" void DS_InitNetwork(DS_NetworkRegistrationParams*, TF_Status*);

namespace {

constexpr int kRuns = 6;      // at once
constexpr int kTurns = 40;    // of a run
constexpr double kLong = 20;  // seconds after which a run that waits is one that hangs
constexpr std::size_t kLarge = 300'000;

std::atomic<std::uint64_t> rounds{0}, ended{0}, next_step{1};
std::atomic<bool> over{false}, left{false}, failed{false};  // left: by all runs, homes last

void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  failed = true;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const DS_NetworkTransport* transport_of(const std::string& scheme) {
  DS_NetworkRegistrationParams params{};
  params.struct_size = DS_NETWORK_REGISTRATION_PARAMS_STRUCT_SIZE;
  TF_Status* status = TF_NewStatus();
  DS_InitNetwork(&params, status);
  TF_DeleteStatus(status);
  for (int k = 0; k < params.num_transports; ++k)
    if (scheme == params.transports[k]->scheme) return params.transports[k];
  std::fprintf(stderr, "there is no transport %s\n", scheme.c_str());
  std::exit(2);
}

// A task: its engine, its links, and the thread that is at home in them.
struct Task {
  const DS_NetworkFns* fns;
  void* engine;
  std::string address;
  void* links = nullptr;
  std::uint64_t sends_to = 0, hears = 0;
  std::thread home;

  Task(const DS_NetworkTransport* transport, const std::string& at) : fns(transport->fns) {
    TF_Status* status = TF_NewStatus();
    DS_NetworkOptions options{};
    options.struct_size = DS_NETWORK_OPTIONS_STRUCT_SIZE;
    engine = fns->open(transport, &options, status);
    TF_Buffer bound{};
    fns->listen(engine, at.c_str(), &bound, status);
    if (TF_GetCode(status) != TF_OK) {
      std::fprintf(stderr, "%s\n", TF_Message(status));
      std::exit(2);
    }
    address.assign(static_cast<const char*>(bound.data), bound.length);
    bound.data_deallocator(const_cast<void*>(bound.data), bound.length);
    TF_DeleteStatus(status);
  }

  void connect(const std::string& there) {
    TF_Status* status = TF_NewStatus();
    sends_to = fns->connect(engine, there.c_str(), status);
    TF_DeleteStatus(status);
  }

  // Events that are not of the links; what has connected.
  std::uint64_t turn(bool by_links, std::int64_t micros) {
    std::array<DS_NetworkEvent, 8> events{};
    std::array<DS_NetworkEvent*, 8> places;
    for (std::size_t k = 0; k < events.size(); ++k) {
      events[k].struct_size = DS_NETWORK_EVENT_STRUCT_SIZE;
      places[k] = &events[k];
    }
    TF_Status* status = TF_NewStatus();
    const int count = by_links ? drystone_links_progress(links, micros, places.data(), 8, status)
                               : fns->progress(engine, micros, places.data(), 8, status);
    TF_DeleteStatus(status);
    if (count < 0) fail("an engine is broken");
    std::uint64_t came = 0;
    for (int k = 0; k < count; ++k)
      if (places[k]->kind == DS_NETWORK_EVENT_ACCEPTED) came = places[k]->peer;
    return came;
  }

  void begin(std::uint64_t tag, std::uint64_t theirs) {
    links = drystone_links_new(fns, engine, tag, 1 << 20, 64 << 20);
    drystone_links_admit(links, hears, 0);
    drystone_links_route(links, 0, sends_to, theirs);
    home = std::thread([this] {
      while (!left) {
        const std::uint64_t stranger = turn(true, 50'000);
        if (stranger != 0) fns->disconnect(engine, stranger);
      }
    });
  }

  void close() {
    fns->wake(engine);
    home.join();
    drystone_links_close(links);
    fns->close(engine);
    drystone_links_delete(links);
  }
};

// What one side of a run does: `first` sends and waits for the answer, the other gives it. It is ended by
// another thread after so many microseconds; 0: it is not.
void side(Task* task, std::uint64_t number, bool first, double seconds, int most, unsigned aborts) {
  void* edges = drystone_links_edges_new();
  drystone_links_edges_add(edges, "there", 0, first);
  drystone_links_edges_add(edges, "back", 0, !first);
  void* step = drystone_links_begin(task->links, number, edges, now() + seconds);
  drystone_links_edges_delete(edges);
  if (step == nullptr) return fail("a run that had not ended does not begin");
  std::thread ends_it;
  if (aborts != 0)
    ends_it = std::thread([&] {
      usleep(aborts);
      drystone_links_abort(step);
    });
  std::vector<unsigned char> data(kLarge);
  TF_Status* status = TF_NewStatus();
  for (int k = 0; k < most; ++k) {
    const std::size_t size = k % 8 == 7 ? kLarge : 24;
    const std::int64_t dim = static_cast<std::int64_t>(size);
    for (const bool sends : {first, !first}) {
      const bool there = sends == first;
      if (sends) {
        std::memset(data.data(), static_cast<int>((number + static_cast<std::uint64_t>(k)) % 251), size);
        drystone_links_Value value{nullptr, 4, 1, &dim, data.data(), size};  // uint8
        drystone_links_send(step, there ? "there" : "back", &value, status);
        if (TF_GetCode(status) != TF_OK) goto out;
        continue;
      }
      drystone_links_Value value;
      drystone_links_receive(step, there ? "there" : "back", &value);
      if (value.owner == nullptr) goto out;
      const auto* came = static_cast<const unsigned char*>(value.data);
      const auto want = static_cast<unsigned char>((number + static_cast<std::uint64_t>(k)) % 251);
      if (value.size != size || came[0] != want || came[size - 1] != want) fail("a value is wrong");
      drystone_links_value_delete(value.owner);
    }
    if (first) ++rounds;
  }
out:
  if (seconds >= kLong && aborts == 0 && TF_GetCode(status) != TF_OK) fail(TF_Message(status));
  if (ends_it.joinable()) ends_it.join();
  char text[256];
  drystone_links_awaited(step, text, sizeof text);
  TF_DeleteStatus(status);
  drystone_links_end(task->links, number);
  drystone_links_step_delete(step);
  ++ended;
}

// Runs one after another: most to their end, some with little time, some that one side leaves.
void work(Task* one, Task* other, unsigned seed) {
  std::mt19937 random(seed);
  while (!over) {
    const std::uint64_t number = next_step++;
    const unsigned kind = random() % 8;
    const double seconds = kind == 0 ? 0.002 : kind == 1 ? 0.05 : kLong;
    const unsigned aborts = kind == 2 ? 1 + random() % 20'000 : 0;
    const double begun = now();
    std::thread there(side, other, number, false, kind < 2 ? 0.05 : kLong, kTurns, aborts);
    side(one, number, true, seconds, kind == 1 ? kTurns / 2 : kTurns, aborts);
    there.join();
    if (now() - begun > kLong - 1) fail("a run waited for ever");
  }
}

// Who connects and is sent away: so the threads at home have something to do.
void knock(const DS_NetworkTransport* transport, const std::string& address) {
  while (!over) {
    DS_NetworkOptions options{};
    options.struct_size = DS_NETWORK_OPTIONS_STRUCT_SIZE;
    TF_Status* status = TF_NewStatus();
    void* engine = transport->fns->open(transport, &options, status);
    transport->fns->connect(engine, address.c_str(), status);
    TF_DeleteStatus(status);
    usleep(3000);
    transport->fns->close(engine);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string scheme = words[1];
  const DS_NetworkTransport* transport = transport_of(scheme);
  const std::string at = scheme == "tcp" ? "tcp://127.0.0.1:0" : scheme + "://";
  Task one(transport, at), other(transport, at);
  one.connect(other.address);
  other.connect(one.address);
  while (one.hears == 0 || other.hears == 0) {
    if (one.hears == 0) one.hears = one.turn(false, 10'000);
    if (other.hears == 0) other.hears = other.turn(false, 10'000);
  }
  one.begin(11, 22);
  other.begin(22, 11);
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < kRuns; ++k)
    threads.emplace_back(work, k % 2 ? &other : &one, k % 2 ? &one : &other, k);
  threads.emplace_back(knock, transport, one.address);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(words[2])));
  over = true;
  for (std::thread& thread : threads) thread.join();
  left = true;
  one.close();
  other.close();
  std::printf("%s: %llu values went round in %llu runs\n", scheme.c_str(),
              static_cast<unsigned long long>(rounds.load()),
              static_cast<unsigned long long>(ended.load() / 2));
  return failed || rounds == 0;
}
