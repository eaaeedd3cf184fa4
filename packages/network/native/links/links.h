// The data plane of a task: values that come are left for the run that waits for them, and values of
// runs go to their tasks, on the thread that has them. Python decides who is let in and who is gone.
#ifndef DRYSTONE_LINKS_LINKS_H_
#define DRYSTONE_LINKS_LINKS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "value.h"

namespace drystone::links {

inline constexpr std::uint64_t kOurs = std::uint64_t{1} << 63;  // in tokens of operations of this library

using Task = std::int32_t;  // a number that Python gives it

// The edges between tasks of a graph, as one task sees them.
struct Edge {
  Task other;
  bool sends;
};
using Edges = std::unordered_map<std::string, Edge>;

using Clock = std::chrono::steady_clock;

enum class Sent { yes, stopped, lost, refused, foreign };

class Links;

// A run on this task.
class Step {
 public:
  Step(std::shared_ptr<Links> links, std::uint64_t id, std::shared_ptr<const Edges> edges, double ends);

  // `foreign`: a key that is of no edge to another task, or a value that means nothing there.
  Sent send(const std::string& key, const TF_Tensor* tensor);
  // `why`: what the engine said.
  Sent send(const std::string& key, Outgoing value, std::string* why);
  // Waits for a value; false where none will come, or the key is of no edge from another task.
  bool receive(const std::string& key, Incoming* out);
  void abort();
  // Keys of values that are, or were at the end, waited for; one a line.
  std::string awaited() const;
  std::uint64_t id() const { return id_; }

 private:
  friend class Links;
  const Edge* edge(const std::string& key, bool sends) const;
  bool is_over() const;
  bool is_late() const { return Clock::now() >= ends_; }

  const std::shared_ptr<Links> links_;
  const std::uint64_t id_;
  const std::shared_ptr<const Edges> edges_;
  const Clock::time_point ends_;
  std::condition_variable changed_;  // all that follows is guarded by the mutex of the links
  std::unordered_map<std::string, std::deque<Incoming>> values_;
  std::vector<std::string> awaited_;
  bool aborted_ = false;
};

struct Limits {
  std::uint64_t under_way;  // bytes to one task, before a sender waits
  std::uint64_t early;      // bytes that came before their runs began
};

class Links : public std::enable_shared_from_this<Links> {
 public:
  // `tag`: the second number of the tags of values that come here. Who may not send any does not know
  // it, so that the memory that is given to values is not for his messages.
  Links(const DS_NetworkFns* fns, void* engine, std::uint64_t tag, const Limits& limits);

  // As DS_NetworkFns.progress, without what is done here. Of one thread, which is at home in it: see
  // drive.cc.
  std::int32_t progress(std::int64_t timeout_us, DS_NetworkEvent* const* events, std::int32_t room,
                        TF_Status* status);
  void admit(std::uint64_t peer, Task task);
  void route(Task task, std::uint64_t peer, std::uint64_t tag);
  void forget(std::uint64_t peer);
  std::shared_ptr<Step> begin(std::uint64_t step, std::shared_ptr<const Edges> edges, double ends);
  void end(std::uint64_t step);
  // The engine is about to be closed: from now on nothing is called of it.
  void close();

 private:
  friend class Step;
  struct Link {
    std::uint64_t peer = 0;
    std::uint64_t tag = 0;
    std::uint64_t bytes = 0;  // under way
  };
  struct UnderWay {
    std::shared_ptr<Link> link;
    Outgoing value;
  };
  struct Early {
    Task sender;
    Incoming value;
  };

  // Who waits for a value while another thread drives the engine.
  struct Waiter {
    Step* step;
    const std::string* key;
  };
  class Drive;

  void post(std::uint64_t token);
  bool take(const DS_NetworkEvent& event);
  std::int32_t take_own(DS_NetworkEvent* const* events, std::int32_t count);
  std::int32_t hand_kept(DS_NetworkEvent* const* events, std::int32_t room);
  bool is_turn(Clock::time_point until, std::unique_lock<std::mutex>* lock);
  void wait(Step& step, const std::string& key, std::unique_lock<std::mutex>* lock);
  void lead(Step& step, std::unique_lock<std::mutex>* lock);
  bool serve(const Step& step, const std::string& key);
  void call_home();
  bool arrived(const DS_NetworkEvent& event);
  void sent(std::uint64_t token);
  void leave(Task sender, Incoming value);
  void keep(Task sender, Incoming value);
  void forget_early(std::uint64_t step);
  void remember_ended(std::uint64_t step);
  Sent send(Step& step, Task to, Outgoing value, std::string* why);
  std::int32_t hand_over(const Link& link, std::uint64_t token, const Outgoing& value,
                         TF_Status* status);

  const DS_NetworkFns* const fns_;
  void* const engine_;
  const std::uint64_t tag_;
  const Limits limits_;
  std::mutex mutex_;
  std::shared_mutex open_;  // shared while the engine is called
  bool closed_ = false;
  std::condition_variable room_;
  std::uint64_t next_token_;
  std::unordered_map<std::uint64_t, Task> known_;
  std::unordered_map<Task, std::shared_ptr<Link>> links_;
  std::unordered_map<std::uint64_t, UnderWay> under_way_;  // by token; the engine has its memory
  std::unordered_map<std::uint64_t, std::weak_ptr<Step>> steps_;
  std::unordered_map<std::uint64_t, std::vector<Early>> early_;
  std::uint64_t early_bytes_ = 0;
  std::unordered_set<std::uint64_t> ended_;
  std::deque<std::uint64_t> ended_order_;

  bool driving_ = false;       // whether somebody is in the engine's `progress`
  Step* leader_ = nullptr;     // whose receiver it is; none: the thread at home
  std::uint64_t leads_ = 0;    // times that a receiver was
  bool broken_ = false;        // the engine failed a receiver; the thread at home tells
  std::list<const Waiter*> waiting_;  // in order
  std::condition_variable home_;
  Clock::time_point rests_until_{};  // the thread at home, unless it is called
  bool called_ = false, served_ = false, sleeps_long_ = false;
  bool woken_ = false;                // a receiver was woken who did not ask for it
  std::deque<DS_NetworkEvent> kept_;  // that receivers found, for the thread at home
};

}  // namespace drystone::links

#endif  // DRYSTONE_LINKS_LINKS_H_
