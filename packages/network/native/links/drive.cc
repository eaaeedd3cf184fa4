// Who drives the engine. A value that one thread finds and another waits for costs a wake-up, which is
// most of what a small value costs. So the thread that waits for a value looks for it itself: it leads,
// one at a time, and the thread at home (the one in Links::progress) rests meanwhile. That one takes the
// engine back when nobody has led for a while, when there is something to write, and for what is Python's.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "drystone/status.h"
#include "links.h"

namespace drystone::links {
namespace {

constexpr std::chrono::milliseconds kRest{2};
constexpr std::chrono::seconds kLookForEnd{1};
constexpr std::size_t kRoom = 16;

DS_NetworkEvent fresh() {
  DS_NetworkEvent event{};
  event.struct_size = DS_NETWORK_EVENT_STRUCT_SIZE;
  return event;
}

std::int64_t micros_until(Clock::time_point moment) {
  const auto left = std::chrono::ceil<std::chrono::microseconds>(moment - Clock::now());
  return std::max<std::int64_t>(0, left.count());
}

}  // namespace

// While it lives the thread that made it is in the engine's `progress`, without the lock.
class Links::Drive {
 public:
  Drive(Links* links, Step* leader, std::unique_lock<std::mutex>* lock) : links_(links), lock_(lock) {
    links_->driving_ = true;
    links_->leader_ = leader;
    lock_->unlock();
  }
  ~Drive() {
    if (!lock_->owns_lock()) lock_->lock();
    links_->driving_ = false;
    links_->leader_ = nullptr;
  }
  Drive(const Drive&) = delete;
  Drive& operator=(const Drive&) = delete;

 private:
  Links* const links_;
  std::unique_lock<std::mutex>* const lock_;
};

// ---- at home ------------------------------------------------------------------------------------

std::int32_t Links::progress(std::int64_t timeout_us, DS_NetworkEvent* const* events,
                             std::int32_t room, TF_Status* status) {
  const auto until = timeout_us < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::microseconds(timeout_us);
  std::unique_lock lock(mutex_);
  while (true) {
    const bool is_ours = is_turn(until, &lock);
    if (!kept_.empty()) return hand_kept(events, room);
    if (std::exchange(woken_, false) || !is_ours) return 0;
    called_ = false;
    served_ = false;
    std::int32_t count = 0;
    std::int32_t others = 0;
    {
      const Drive drive(this, nullptr, &lock);
      count = fns_->progress(engine_, timeout_us < 0 ? -1 : micros_until(until), events, room, status);
      others = take_own(events, count);
    }
    if (served_ && waiting_.empty() && under_way_.empty()) rests_until_ = Clock::now() + kRest;
    if (count <= 0) return count;
    if (others > 0) return others;
  }
}

// Waits until the thread at home is to drive the engine, or has something to tell; false where the time
// is over, or there is something to tell.
bool Links::is_turn(Clock::time_point until, std::unique_lock<std::mutex>* lock) {
  std::uint64_t seen = leads_ - 1;
  for (bool is_over = false; kept_.empty() && !woken_ && !is_over;) {
    const auto now = Clock::now();
    if (!driving_ && (called_ || broken_ || now >= rests_until_)) return true;
    sleeps_long_ = driving_ && seen == leads_;  // one who leads for long calls when he leaves
    seen = leads_;
    auto ends = sleeps_long_ ? until : std::min(until, std::max(rests_until_, now + kRest));
    home_.wait_until(*lock, std::min(ends, now + kLookForEnd));
    is_over = Clock::now() >= until;
  }
  sleeps_long_ = false;
  return false;
}

std::int32_t Links::hand_kept(DS_NetworkEvent* const* events, std::int32_t room) {
  std::int32_t count = 0;
  while (count < room && !kept_.empty()) {
    *events[count++] = kept_.front();
    kept_.pop_front();
  }
  return count;
}

// Has the thread at home drive the engine: there is something to write.
void Links::call_home() {
  const std::lock_guard lock(mutex_);
  called_ = true;
  if (!driving_) home_.notify_one();
}

// ---- leading ------------------------------------------------------------------------------------

// Until a value has come, the run is over, or its time is.
void Links::wait(Step& step, const std::string& key, std::unique_lock<std::mutex>* lock) {
  while (!step.values_.contains(key) && !step.is_over() && !step.is_late()) {
    if (!driving_ && !broken_) {
      lead(step, lock);
      continue;
    }
    const Waiter own{&step, &key};
    waiting_.push_back(&own);
    step.changed_.wait_until(*lock, step.ends_);
    waiting_.remove(&own);
  }
}

// Drives the engine until something has happened.
void Links::lead(Step& step, std::unique_lock<std::mutex>* lock) {
  const std::shared_lock calls(open_, std::try_to_lock);
  if (!calls) return;  // it is being closed
  ++leads_;
  std::array<DS_NetworkEvent, kRoom> events;
  std::array<DS_NetworkEvent*, kRoom> places;
  for (std::size_t k = 0; k < kRoom; ++k) *(places[k] = &events[k]) = fresh();
  TF_Status* const status = TF_NewStatus();
  std::int32_t count = 0;
  std::int32_t others = 0;
  {
    const Drive drive(this, &step, lock);
    const auto wait = std::min<std::int64_t>(micros_until(step.ends_), std::int64_t{3'600'000'000});
    count = fns_->progress(engine_, wait, places.data(), kRoom, status);
    others = take_own(places.data(), count);
  }
  TF_DeleteStatus(status);
  kept_.insert(kept_.end(), events.begin(), events.begin() + others);
  broken_ = broken_ || count < 0;
  woken_ = woken_ || (count == 0 && !step.is_over() && !step.is_late());
  called_ = called_ || !under_way_.empty();
  rests_until_ = Clock::now() + kRest;
  if (called_ || woken_ || broken_ || sleeps_long_ || !kept_.empty()) home_.notify_one();
  if (!waiting_.empty() && !broken_) waiting_.front()->step->changed_.notify_all();
}

// Whether somebody waits for a value that has come; he waits no longer.
bool Links::serve(const Step& step, const std::string& key) {
  const auto found = std::ranges::find_if(
      waiting_, [&](const Waiter* one) { return one->step == &step && *one->key == key; });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  served_ = true;
  return true;
}

// ---- events -------------------------------------------------------------------------------------

// Acts on the events that are of this library, and leaves the others at the front; how many those are.
std::int32_t Links::take_own(DS_NetworkEvent* const* events, std::int32_t count) {
  std::int32_t kept = 0;
  for (std::int32_t k = 0; k < count; ++k) {
    if (!take(*events[k])) std::swap(*events[kept++], *events[k]);
  }
  for (std::int32_t k = kept; k < count; ++k) *events[k] = fresh();
  return kept;
}

// Whether an event is one that nobody else need know of.
bool Links::take(const DS_NetworkEvent& event) {
  if (event.token < kOurs) return false;
  if (event.kind == DS_NETWORK_EVENT_SENT) {
    sent(event.token);
    return true;
  }
  if (event.kind != DS_NETWORK_EVENT_RECEIVED) return false;
  if (event.code != TF_CANCELLED) post(event.token);
  return event.code != TF_OK || arrived(event);
}

}  // namespace drystone::links
