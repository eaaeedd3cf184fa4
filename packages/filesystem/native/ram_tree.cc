// Files in memory: see ram_tree.h.
#include "ram_tree.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "errors.h"
#include "paths.h"
#include "ram_open.h"

namespace drystone::files {

std::int64_t now_nsec() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

// ---- bytes --------------------------------------------------------------------------------------

void Budget::take(std::size_t size) {
  const auto wanted = static_cast<std::int64_t>(size);
  const std::int64_t limit = options[kByteLimit];
  const std::int64_t before = used.fetch_add(wanted);
  if (limit == 0 || before <= limit - wanted) return;
  used.fetch_sub(wanted);
  fail(TF_RESOURCE_EXHAUSTED, "byte_limit is " + std::to_string(limit) + ", and " +
                                  std::to_string(before) + " bytes are in use");
}

Buffer::Buffer(std::shared_ptr<Budget> budget, std::size_t size)
    : budget_(std::move(budget)), size_(size) {
  budget_->take(size);
  try {
    data_.reset(new char[size]);  // not zeroed: what is read was written
  } catch (...) {
    budget_->used.fetch_sub(static_cast<std::int64_t>(size));
    throw;
  }
}

Buffer::~Buffer() { budget_->used.fetch_sub(static_cast<std::int64_t>(size_)); }

Blob::Blob(std::shared_ptr<Budget> budget, Bytes bytes)
    : budget_(std::move(budget)), bytes_(std::move(bytes)), mtime_nsec_(now_nsec()) {}

// A new buffer, with what there is; others keep the old one as long as they read it.
void Blob::grow(std::size_t needed) {
  const std::size_t room = own_ == nullptr ? 0 : own_->size();
  if (own_ != nullptr && needed <= room) return;
  const std::size_t size = room == 0 ? needed : std::max(needed, room + room / 2);
  auto grown = std::make_shared<Buffer>(budget_, size);
  if (bytes_.length != 0) std::memcpy(grown->data(), bytes_.buffer->data(), bytes_.length);
  own_ = std::move(grown);
  bytes_.buffer = own_;
}

void Blob::append(std::string_view bytes) {
  const std::unique_lock lock(mutex_);
  mtime_nsec_ = now_nsec();
  if (bytes.empty()) return;
  if (bytes.size() > SIZE_MAX / 2 - bytes_.length) throw std::bad_alloc();
  grow(bytes_.length + bytes.size());
  std::memcpy(own_->data() + bytes_.length, bytes.data(), bytes.size());
  bytes_.length += bytes.size();
}

Bytes Blob::bytes() const {
  const std::shared_lock lock(mutex_);
  return bytes_;
}

std::int64_t Blob::mtime() const {
  const std::shared_lock lock(mutex_);
  return mtime_nsec_;
}

// ---- names --------------------------------------------------------------------------------------

const Node* Tree::find(std::string_view path) const {
  const Node* at = &root_;
  for (const std::string_view part : parts_of(path)) {
    const auto next = at->children.find(part);
    if (next == at->children.end()) return nullptr;
    at = next->second.get();
  }
  return at;
}

Node* Tree::find(std::string_view path) {
  return const_cast<Node*>(std::as_const(*this).find(path));
}

Node& Tree::above(std::string_view path, std::string* name) {
  auto parts = parts_of(path);
  if (parts.empty()) fail(TF_FAILED_PRECONDITION, "it is the root of all");
  *name = parts.back();
  parts.pop_back();
  Node* at = &root_;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    auto next = at->children.find(parts[k]);
    if (next == at->children.end()) {
      if (k != 0) fail(TF_NOT_FOUND, "there is no directory for it");
      next = at->children.emplace(parts[k], std::make_unique<Node>()).first;
      next->second->mtime_nsec = now_nsec();
    }
    at = next->second.get();
    if (at->blob != nullptr) fail(TF_FAILED_PRECONDITION, std::string(parts[k]) + " is a file");
  }
  return *at;
}

void Tree::put(std::string_view path, std::shared_ptr<Blob> blob) {
  std::string name;
  Node& directory = above(path, &name);
  auto& node = directory.children[name];
  if (node == nullptr) {
    node = std::make_unique<Node>();
    directory.mtime_nsec = now_nsec();
  } else if (node->blob == nullptr) {
    fail(TF_FAILED_PRECONDITION, "it is a directory");
  }
  node->blob = std::move(blob);
}

}  // namespace drystone::files
