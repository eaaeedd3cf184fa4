// "ram://": files in memory, for as long as the process lives.
//
// A URI's host is the first directory. A new file shows when it is flushed or closed; what is
// appended to one that is there shows at once. A file that is replaced or deleted stays as it was for
// those who have it open.
#include <mutex>
#include <utility>

#include "errors.h"
#include "paths.h"
#include "ram_open.h"
#include "schemes.h"

namespace drystone::files {
namespace {

// "/host/a/b" without empty, "." and ".." parts; ".." does not leave the host.
std::string cleaned(const std::string& uri) {
  const std::size_t host = host_of(uri);
  const std::size_t head = host == 0 ? 0 : head_of(uri);
  const std::string_view named = std::string_view(uri).substr(host, head - host);
  std::vector<std::string_view> parts;
  for (const std::string_view part : parts_of(std::string_view(uri).substr(head))) {
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (part != ".") {
      parts.push_back(part);
    }
  }
  std::string out;
  if (!named.empty() && named != "." && named != "..") out.append("/").append(named);
  for (const std::string_view part : parts) out.append("/").append(part);
  return out.empty() ? "/" : out;
}

class Ram : public Files {
 public:
  Ram() : Files(ram_options()) {}

  std::string translated(const std::string& uri) const override { return cleaned(uri); }

  std::optional<Found> look(const std::string& path) const override {
    const std::shared_lock lock(tree_->mutex);
    const Node* node = std::as_const(*tree_).find(path);
    if (node == nullptr) return std::nullopt;
    if (node->blob == nullptr) return Found{0, node->mtime_nsec, true};
    return Found{static_cast<std::int64_t>(node->blob->bytes().length), node->blob->mtime(), false};
  }

  std::vector<std::string> children(const std::string& path) const override {
    const std::shared_lock lock(tree_->mutex);
    const Node* node = std::as_const(*tree_).find(path);
    if (node == nullptr) fail(TF_NOT_FOUND, "there is no such directory");
    if (node->blob != nullptr) fail(TF_FAILED_PRECONDITION, "it is a file");
    std::vector<std::string> names;
    names.reserve(node->children.size());
    for (const auto& [name, child] : node->children) names.push_back(name);
    return names;
  }

  std::unique_ptr<Reader> open(const std::string& path) const override {
    return ram_open(file(path));
  }
  std::unique_ptr<Region> map(const std::string& path) const override { return ram_map(*file(path)); }

  std::unique_ptr<Writer> write(const std::string& path, Writing how) override {
    auto blob = writable(path, how);
    return ram_write(*this, tree_, path, std::move(blob));
  }

  void make_directory(const std::string& path) override {
    const std::unique_lock lock(tree_->mutex);
    if (tree_->find(path) != nullptr) fail(TF_ALREADY_EXISTS, "there is something of this name");
    std::string name;
    Node& directory = tree_->above(path, &name);
    auto made = std::make_unique<Node>();
    made->mtime_nsec = directory.mtime_nsec = now_nsec();
    directory.children[name] = std::move(made);
  }

  void remove(const std::string& path) override { take(path, false); }
  void remove_directory(const std::string& path) override { take(path, true); }

  void rename(const std::string& from, const std::string& to) override {
    const std::unique_lock lock(tree_->mutex);
    const Node* node = tree_->find(from);
    if (node == nullptr) fail(TF_NOT_FOUND, "there is no " + from);
    if (from == to) return;
    if (to.compare(0, from.size() + 1, from + "/") == 0) {
      fail(TF_INVALID_ARGUMENT, "a directory cannot move into itself");
    }
    const Node* there = tree_->find(to);
    const bool fits = there == nullptr || (there->blob != nullptr) == (node->blob != nullptr);
    if (!fits || (there != nullptr && !there->children.empty())) {
      fail(TF_FAILED_PRECONDITION, to + " is there, and cannot be replaced");
    }
    std::string name;
    std::string old_name;
    Node& target = tree_->above(to, &name);
    Node& source = tree_->above(from, &old_name);
    auto& place = target.children[name];
    place = std::move(source.children[old_name]);
    source.children.erase(old_name);
    target.mtime_nsec = source.mtime_nsec = now_nsec();
  }

  void copy(const std::string& from, const std::string& to) override {
    const auto source = file(from);
    if (from == to) return;
    checked_target(to);
    auto blob = std::make_shared<Blob>(budget_, source->bytes());
    ram_write(*this, tree_, to, std::move(blob))->close();
  }

 private:
  std::shared_ptr<Blob> file(const std::string& path) const {
    const std::shared_lock lock(tree_->mutex);
    const Node* node = std::as_const(*tree_).find(path);
    if (node == nullptr) fail(TF_NOT_FOUND, "there is no such file");
    if (node->blob == nullptr) fail(TF_FAILED_PRECONDITION, "it is a directory");
    return node->blob;
  }

  // Fails where a file of this path could not be put.
  void checked_target(const std::string& path) {
    const std::unique_lock lock(tree_->mutex);
    std::string name;
    const Node& directory = tree_->above(path, &name);
    const auto there = directory.children.find(name);
    if (there != directory.children.end() && there->second->blob == nullptr) {
      fail(TF_FAILED_PRECONDITION, "it is a directory");
    }
  }

  // The bytes to write to: those that are there when they are appended to outside a transaction.
  std::shared_ptr<Blob> writable(const std::string& path, Writing how) {
    checked_target(path);
    if (how == Writing::kAppend && look(path)) {
      auto there = file(path);
      if (transactions.number_of(path) == 0) return there;
      return std::make_shared<Blob>(budget_, there->bytes());
    }
    return std::make_shared<Blob>(budget_, Bytes());
  }

  void take(const std::string& path, bool directory) {
    std::unique_ptr<Node> gone;  // freed when the lock is
    const std::unique_lock lock(tree_->mutex);
    const Node* node = tree_->find(path);
    if (node == nullptr) fail(TF_NOT_FOUND, "there is nothing of this name");
    if ((node->blob == nullptr) != directory) {
      fail(TF_FAILED_PRECONDITION, directory ? "it is a file" : "it is a directory");
    }
    if (!node->children.empty()) fail(TF_FAILED_PRECONDITION, "it is not empty");
    std::string name;
    Node& above = tree_->above(path, &name);
    gone = std::move(above.children[name]);
    above.children.erase(name);
    above.mtime_nsec = now_nsec();
  }

  std::shared_ptr<Budget> budget_ = std::shared_ptr<Budget>(new Budget{0, options});
  std::shared_ptr<Tree> tree_ = std::make_shared<Tree>();
};

}  // namespace

void init_ram(TF_Filesystem* filesystem, TF_Status* status) {
  guarded(status, [&] { filesystem->plugin_filesystem = static_cast<Files*>(new Ram()); });
}

}  // namespace drystone::files
