#include "links.h"

#include <algorithm>
#include <utility>

#include "drystone/status.h"

namespace drystone::links {
namespace {

constexpr std::uint64_t kPosted = 16;
constexpr std::uint64_t kDataHigh = 2;  // the first number of the tags of values
constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::size_t kMostEnded = 4096;
constexpr std::uint64_t kKeptSize = 64;  // what a value takes beside its bytes
constexpr std::chrono::milliseconds kLookForRoom{50};
constexpr double kFar = 1e9;  // seconds, after which nobody waits

std::chrono::steady_clock::time_point moment(double seconds) {
  const auto since = std::chrono::duration<double>(std::min(seconds, kFar));
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(since));
}

}  // namespace

// ---- runs ---------------------------------------------------------------------------------------

Step::Step(std::shared_ptr<Links> links, std::uint64_t id, std::shared_ptr<const Edges> edges,
           double ends)
    : links_(std::move(links)), id_(id), edges_(std::move(edges)), ends_(moment(ends)) {}

const Edge* Step::edge(const std::string& key, bool sends) const {
  const auto found = edges_->find(key);
  return found == edges_->end() || found->second.sends != sends ? nullptr : &found->second;
}

bool Step::is_over() const { return aborted_ || links_->closed_; }

Sent Step::send(const std::string& key, const TF_Tensor* tensor) {
  const Edge* to = edge(key, true);
  Outgoing value;
  if (to == nullptr || !outgoing(id_, key, tensor, &value)) return Sent::foreign;
  return links_->send(*this, to->other, std::move(value), nullptr);
}

Sent Step::send(const std::string& key, Outgoing value, std::string* why) {
  const Edge* to = edge(key, true);
  return to == nullptr ? Sent::foreign : links_->send(*this, to->other, std::move(value), why);
}

bool Step::receive(const std::string& key, Incoming* out) {
  if (edge(key, false) == nullptr) return false;
  std::unique_lock lock(links_->mutex_);
  if (!values_.contains(key)) {
    awaited_.push_back(key);
    links_->wait(*this, key, &lock);
    if (is_over() || !values_.contains(key)) return false;
    awaited_.erase(std::find(awaited_.begin(), awaited_.end(), key));
  }
  if (is_over()) return false;
  const auto found = values_.find(key);
  *out = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) values_.erase(found);
  return true;
}

void Step::abort() {
  const std::shared_lock calls(links_->open_);
  const std::lock_guard lock(links_->mutex_);
  aborted_ = true;
  changed_.notify_all();
  links_->room_.notify_all();
  if (links_->leader_ == this && !links_->closed_) links_->fns_->wake(links_->engine_);
}

std::string Step::awaited() const {
  const std::lock_guard lock(links_->mutex_);
  std::string out;
  for (const std::string& key : awaited_) out += key + '\n';
  return out;
}

// ---- links --------------------------------------------------------------------------------------

Links::Links(const DS_NetworkFns* fns, void* engine, std::uint64_t tag, const Limits& limits)
    : fns_(fns), engine_(engine), tag_(tag), limits_(limits), next_token_(kOurs + kPosted) {
  for (std::uint64_t k = 0; k < kPosted; ++k) post(kOurs + k);
}

void Links::post(std::uint64_t token) {
  TF_Status* const status = TF_NewStatus();
  fns_->receive(engine_, 0, kDataHigh, tag_, kAll, kAll, nullptr, 0, token, status);
  TF_DeleteStatus(status);
}

void Links::sent(std::uint64_t token) {
  std::unique_lock lock(mutex_);
  const auto done = under_way_.extract(token);  // whose memory goes without the lock
  if (done.empty()) return;
  done.mapped().link->bytes -= done.mapped().value.size();
  lock.unlock();
  room_.notify_all();
}

// Whether a message is a value of a task that was let in.
bool Links::arrived(const DS_NetworkEvent& event) {
  std::unique_lock lock(mutex_);
  const auto known = known_.find(event.peer);
  if (known == known_.end()) return false;
  const Task sender = known->second;
  lock.unlock();
  Incoming value;
  if (!read({static_cast<unsigned char*>(event.data), event.size}, &value)) return false;
  value.memory = std::make_unique<Memory>(fns_, event.data);
  leave(sender, std::move(value));
  return true;
}

void Links::leave(Task sender, Incoming value) {
  std::unique_lock lock(mutex_);
  const auto found = steps_.find(value.step);
  const auto step = found == steps_.end() ? nullptr : found->second.lock();
  if (step == nullptr) {
    keep(sender, std::move(value));
    return;
  }
  const Edge* from = step->edge(value.key, false);
  if (from == nullptr || from->other != sender || step->aborted_) return;
  const bool is_awaited = serve(*step, value.key);
  step->values_[value.key].push_back(std::move(value));
  lock.unlock();
  if (is_awaited) step->changed_.notify_all();
}

void Links::keep(Task sender, Incoming value) {
  if (ended_.contains(value.step)) return;
  const std::uint64_t size = kKeptSize + value.data.size();
  if (early_bytes_ + size > limits_.early) {  // so that its run fails, and does not wait
    forget_early(value.step);
    remember_ended(value.step);
    return;
  }
  early_bytes_ += size;
  early_[value.step].push_back({sender, std::move(value)});
}

void Links::forget_early(std::uint64_t step) {
  const auto found = early_.find(step);
  if (found == early_.end()) return;
  for (const Early& one : found->second) early_bytes_ -= kKeptSize + one.value.data.size();
  early_.erase(found);
}

void Links::remember_ended(std::uint64_t step) {
  if (!ended_.insert(step).second) return;
  ended_order_.push_back(step);
  if (ended_order_.size() <= kMostEnded) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
}

std::shared_ptr<Step> Links::begin(std::uint64_t id, std::shared_ptr<const Edges> edges,
                                   double ends) {
  auto step = std::make_shared<Step>(shared_from_this(), id, std::move(edges), ends);
  const std::lock_guard lock(mutex_);
  if (closed_ || ended_.contains(id)) return nullptr;
  steps_[id] = step;
  const auto found = early_.find(id);
  if (found == early_.end()) return step;
  for (Early& one : found->second) {
    early_bytes_ -= kKeptSize + one.value.data.size();
    const Edge* from = step->edge(one.value.key, false);
    if (from == nullptr || from->other != one.sender) continue;
    step->values_[one.value.key].push_back(std::move(one.value));
  }
  early_.erase(found);
  return step;
}

void Links::end(std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  steps_.erase(step);
  forget_early(step);
  remember_ended(step);
}

void Links::admit(std::uint64_t peer, Task task) {
  const std::lock_guard lock(mutex_);
  known_[peer] = task;
}

void Links::route(Task task, std::uint64_t peer, std::uint64_t tag) {
  const std::lock_guard lock(mutex_);
  links_[task] = std::make_shared<Link>(Link{peer, tag, 0});
}

void Links::forget(std::uint64_t peer) {
  const std::lock_guard lock(mutex_);
  known_.erase(peer);
  std::erase_if(links_, [&](const auto& one) { return one.second->peer == peer; });
  room_.notify_all();
}

void Links::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (auto& [id, one] : steps_) {
      if (const auto step = one.lock()) step->changed_.notify_all();
    }
    room_.notify_all();
    if (leader_ != nullptr) fns_->wake(engine_);
  }
  const std::unique_lock waits(open_);
  const std::lock_guard lock(mutex_);
  links_.clear();
  under_way_.clear();
  known_.clear();
  early_.clear();
}

// ---- sending ------------------------------------------------------------------------------------

Sent Links::send(Step& step, Task to, Outgoing value, std::string* why) {
  const std::shared_lock calls(open_);
  std::unique_lock lock(mutex_);
  std::shared_ptr<Link> link;
  while (true) {
    const auto found = links_.find(to);
    if (step.is_over()) return Sent::stopped;
    if (found == links_.end()) return Sent::lost;
    link = found->second;
    if (link->bytes <= limits_.under_way) break;
    if (step.is_late()) return Sent::stopped;
    room_.wait_for(lock, kLookForRoom);
  }
  const std::uint64_t token = next_token_++;
  link->bytes += value.size();
  const Outgoing& handed = under_way_.emplace(token, UnderWay{link, std::move(value)}).first->second.value;
  lock.unlock();
  TF_Status* const status = TF_NewStatus();
  const std::int32_t done = hand_over(*link, token, handed, status);
  const bool is_too_large = done < 0 && TF_GetCode(status) == TF_RESOURCE_EXHAUSTED;
  if (done < 0 && why != nullptr) *why = TF_Message(status);
  TF_DeleteStatus(status);
  if (done == 0) {
    call_home();
  } else {
    sent(token);
  }
  return done >= 0 ? Sent::yes : is_too_large ? Sent::refused : Sent::lost;
}

// What DS_NetworkFns.send answers.
std::int32_t Links::hand_over(const Link& link, std::uint64_t token, const Outgoing& value,
                              TF_Status* status) {
  const void* const pieces[] = {value.head.data(), value.data.data()};
  const std::size_t sizes[] = {value.head.size(), value.data.size()};
  return fns_->send(engine_, link.peer, kDataHigh, link.tag, pieces, sizes, value.data.empty() ? 1 : 2,
                    token, status);
}

}  // namespace drystone::links
