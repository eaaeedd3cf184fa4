// Open files and memory regions of a plugin.
#include <cstring>
#include <optional>

#include "core/guarded.h"
#include "drystone/logging.h"
#include "filesystem/plugin.h"

namespace drystone::host {
namespace {

using State = std::shared_ptr<PluginState>;

// What the three kinds share: the handle that the plugin filled, its tables, and the path for
// errors.
template <class Handle>
struct Open {
  State state;
  std::string path;
  Guarded<Handle> handle;

  const Plugin& plugin() const { return state->plugin; }

  // Opens with a member of the filesystem's table.
  template <class Member>
  Open(State given, const std::string& user_path, const std::string& local, const char* name,
       Member TF_FilesystemOps::* member)
      : state(std::move(given)), path(user_path) {
    const auto function = plugin().tables.filesystem.*member;
    plugin().need(path, name, function, [&](TF_Status* status) {
      function(state->handle(), local.c_str(), handle.get(), status);
    });
    check(name);
  }

  // After every call of the plugin's.
  void check(const char* name) const {
    plugin().check_whole(handle, path, name, "struct of an open file");
    state->check_handle(path, name);
  }

  void cleanup(void (*function)(Handle*)) noexcept {
    const PluginCall running("cleanup", plugin().library.c_str());
    try {
      function(handle.get());
    } catch (...) {
      TF_Log(TF_ERROR, "%s: cleanup of an open file of the %s filesystem (%s) threw an exception",
             path.c_str(), plugin().scheme.c_str(), plugin().library.c_str());
    }
  }
};

class PluginReadable : public ReadableFile {
 public:
  PluginReadable(State state, const std::string& path, const std::string& local)
      : open_(std::move(state), path, local, "new_random_access_file",
              &TF_FilesystemOps::new_random_access_file) {}
  ~PluginReadable() override { open_.cleanup(ops().cleanup); }

  // Into memory of the host's, with guard bytes: behind the caller's buffer is what must not be touched.
  std::size_t read(std::uint64_t offset, char* buffer, std::size_t size) override {
    if (!open_.plugin().is_watched) return read_into(offset, buffer, size);
    const bool is_piece = size <= kPiece;
    GuardedBytes more(is_piece ? 0 : size);
    GuardedBytes& room = is_piece ? piece() : more;
    const std::size_t got = read_into(offset, room.data() + (is_piece ? kPiece - size : 0), size);
    open_.plugin().check_whole(room, open_.path, "read", "buffer");
    std::memcpy(buffer, room.data() + (is_piece ? kPiece - size : 0), got);
    return got;
  }

 private:
  // Kept by the thread: most reads are of a piece. Their ends meet the guard bytes.
  static GuardedBytes& piece() {
    thread_local GuardedBytes kept(kPiece);
    return kept;
  }

  std::size_t read_into(std::uint64_t offset, char* buffer, std::size_t size) {
    constexpr const char* kName = "read";
    if (ops().read == nullptr) open_.plugin().not_offered(open_.path, kName);
    const std::int64_t got = open_.plugin().call(
        open_.path, kName,
        [&](TF_Status* status) { return ops().read(open_.handle.get(), offset, size, buffer, status); },
        TF_OUT_OF_RANGE);
    open_.check(kName);
    if (got >= 0 && static_cast<std::uint64_t>(got) <= size) return static_cast<std::size_t>(got);
    fail(TF_INTERNAL, open_.plugin().told(open_.path, kName,
                                          "answered " + std::to_string(got) + " bytes, and " +
                                              std::to_string(size) + " were asked for"));
  }

  const TF_RandomAccessFileOps& ops() const { return open_.plugin().tables.readable; }
  Open<TF_RandomAccessFile> open_;
};

class PluginWritable : public WritableFile {
 public:
  PluginWritable(State state, const std::string& path, const std::string& local, bool append)
      : open_(std::move(state), path, local, append ? "new_appendable_file" : "new_writable_file",
              append ? &TF_FilesystemOps::new_appendable_file
                     : &TF_FilesystemOps::new_writable_file) {}
  ~PluginWritable() override { open_.cleanup(ops().cleanup); }

  void append(std::string_view bytes) override {
    open_.plugin().need(open_.path, "append", ops().append, [&](TF_Status* status) {
      ops().append(open_.handle.get(), bytes.data(), bytes.size(), status);
    });
    open_.check("append");
  }
  std::int64_t tell() override {
    const std::int64_t place = open_.plugin().need(
        open_.path, "tell", ops().tell,
        [&](TF_Status* status) { return ops().tell(open_.handle.get(), status); });
    open_.check("tell");
    return open_.plugin().checked_size(place, open_.path, "tell");
  }
  void flush() override { optional("flush", ops().flush); }
  void sync() override { ops().sync == nullptr ? flush() : optional("sync", ops().sync); }
  void close() override { ops().close == nullptr ? flush() : optional("close", ops().close); }

 private:
  const TF_WritableFileOps& ops() const { return open_.plugin().tables.writable; }

  void optional(const char* name, void (*member)(const TF_WritableFile*, TF_Status*)) {
    if (member == nullptr) return;
    open_.plugin().call(open_.path, name,
                        [&](TF_Status* status) { member(open_.handle.get(), status); });
    open_.check(name);
  }

  Open<TF_WritableFile> open_;
};

class PluginRegion : public MemoryRegion {
 public:
  PluginRegion(State state, const std::string& path, const std::string& local)
      : open_(std::move(state), path, local, "new_read_only_memory_region_from_file",
              &TF_FilesystemOps::new_read_only_memory_region_from_file) {}
  ~PluginRegion() override { open_.cleanup(ops().cleanup); }

  const void* data() override {
    const void* const out = open_.plugin().call(open_.path, "data", [&](TF_Status*) { return ops().data(open_.handle.get()); });
    open_.check("data");
    const std::uint64_t bytes = length();
    if (bytes == 0 || (can_read(out, 1) && can_read(static_cast<const char*>(out) + bytes - 1, 1))) return out;
    fail(TF_INTERNAL, open_.plugin().told(open_.path, "data",
                                          "answered memory that cannot be read over the " +
                                              std::to_string(bytes) + " bytes that length answers"));
  }
  // Asked for once: what was checked is what counts.
  std::uint64_t length() override {
    if (length_) return *length_;
    const std::uint64_t out = open_.plugin().call(open_.path, "length", [&](TF_Status*) { return ops().length(open_.handle.get()); });
    open_.check("length");
    open_.plugin().checked_size(static_cast<std::int64_t>(out), open_.path, "length");
    length_ = out;
    return out;
  }

 private:
  const TF_ReadOnlyMemoryRegionOps& ops() const { return open_.plugin().tables.region; }
  Open<TF_ReadOnlyMemoryRegion> open_;
  std::optional<std::uint64_t> length_;
};

}  // namespace

std::unique_ptr<ReadableFile> open_plugin_readable(State state, const std::string& path,
                                                   const std::string& local) {
  return std::make_unique<PluginReadable>(std::move(state), path, local);
}

std::unique_ptr<WritableFile> open_plugin_writable(State state, const std::string& path,
                                                   const std::string& local, bool append) {
  return std::make_unique<PluginWritable>(std::move(state), path, local, append);
}

std::unique_ptr<MemoryRegion> open_plugin_region(State state, const std::string& path,
                                                 const std::string& local) {
  return std::make_unique<PluginRegion>(std::move(state), path, local);
}

}  // namespace drystone::host
