#include "imports.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "services.h"

namespace drystone_tvm {
namespace {

using drystone::sdk::Error;
using drystone::sdk::Result;

constexpr std::size_t kExtents = 6;  // of the grid and of a block
constexpr int kMostSharedMemory = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr std::int64_t kUsualSharedMemory = 48 << 10;  // what a kernel may have without being asked
constexpr std::uint8_t kUInt = 1;
constexpr std::uint8_t kHandle = 3;
constexpr std::string_view kSharedMemory = "tirx.use_dyn_shared_memory";

// Numbers and texts one after the other; what is beyond the end is nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    T out{};
    if (rest_.size() < sizeof out) {
      broken_ = true;
      rest_ = {};
      return out;
    }
    std::memcpy(&out, rest_.data(), sizeof out);
    rest_.remove_prefix(sizeof out);
    return out;
  }
  std::string text() {
    const auto size = number<std::uint64_t>();
    if (size > rest_.size()) {
      broken_ = true;
      rest_ = {};
      return {};
    }
    std::string out(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }
  // Of things of `least` bytes each: no more than there can be.
  std::uint64_t count(std::size_t least) {
    const auto found = number<std::uint64_t>();
    if (found > rest_.size() / least) broken_ = true;
    return broken_ ? 0 : found;
  }
  bool broken() const { return broken_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool broken_ = false;
};

// The place of a tag such as blockIdx.x; nothing for one that is not known.
std::optional<std::size_t> place(const std::string& tag) {
  for (const auto& [prefix, first] : {std::pair<std::string_view, std::size_t>{"blockIdx.", 0}, {"threadIdx.", 3}}) {
    if (tag.size() != prefix.size() + 1 || tag.compare(0, prefix.size(), prefix) != 0) continue;
    const char axis = tag.back();
    if (axis >= 'x' && axis <= 'z') return first + static_cast<std::size_t>(axis - 'x');
  }
  return std::nullopt;
}

Error unknown(const std::string& what) { return Error(TF_UNIMPLEMENTED, what + ", which is not known here"); }

Result<Launch> read_launch(Reader& in) {
  Launch out;
  out.key = in.text();
  out.name = in.text();
  for (std::uint64_t n = in.count(sizeof(DLDataType)); n > 0; --n) {
    const auto dtype = in.number<DLDataType>();
    const bool is_known = dtype.lanes == 1 && (dtype.code <= kUInt || dtype.code == kHandle);
    if (!is_known) return unknown("kernel '" + out.name + "' takes a number that is no whole one");
    ++out.arguments;
  }
  for (std::uint64_t n = in.count(sizeof(std::uint64_t)); n > 0; --n) {
    const std::string tag = in.text();
    const auto found = place(tag);
    if (found) {
      out.places.push_back(*found);
    } else if (tag == kSharedMemory) {
      out.with_shared_memory = true;
    } else if (!in.broken()) {
      return unknown("kernel '" + out.name + "' is launched with '" + tag + "'");
    }
  }
  for (std::uint64_t n = in.count(sizeof(std::int32_t)); n > 0; --n) {
    if (in.number<std::int32_t>() != 0) return unknown("kernel '" + out.name + "' takes a map of a tensor");
  }
  return out;
}

int raise(const std::string& kind, const std::string& message) {
  set_raised(kind, message);
  return -1;
}

class KernelCallee : public Callee {
 public:
  KernelCallee(const cuda::Driver& driver, cuda::Kernel kernel, Launch launch)
      : driver_(driver), kernel_(kernel), launch_(std::move(launch)) {}

  int call(const Any* arguments, std::int32_t count) const override {
    const std::size_t first = launch_.arguments;
    const std::size_t needed = first + launch_.places.size() + (launch_.with_shared_memory ? 1 : 0);
    if (count < 0 || static_cast<std::size_t>(count) != needed) {
      return raise("TypeError", "kernel " + launch_.name + " takes " + std::to_string(needed) + " arguments");
    }
    std::vector<std::int64_t> values(first);
    std::vector<void*> pointers(first);
    for (std::size_t i = 0; i < first; ++i) {
      values[i] = arguments[i].integer;  // of a narrower number the first bytes
      pointers[i] = &values[i];
    }
    std::array<unsigned, kExtents> extents;
    extents.fill(1);
    for (std::size_t i = 0; i < launch_.places.size(); ++i) {
      const std::int64_t extent = arguments[first + i].integer;
      if (extent > 0) extents[launch_.places[i]] = static_cast<unsigned>(extent);  // 0: of an open size
    }
    const std::int64_t shared = launch_.with_shared_memory ? arguments[needed - 1].integer : 0;
    return started(extents, shared, pointers.data());
  }

 private:
  int started(const std::array<unsigned, kExtents>& e, std::int64_t shared, void** pointers) const {
    cuda::Result result = 0;
    if (shared > kUsualSharedMemory) {
      result = driver_.call().kernel_attribute(kernel_, kMostSharedMemory, static_cast<int>(shared));
    }
    if (result == 0) {
      auto* stream = static_cast<cuda::Stream>(current_stream());
      result = driver_.call().launch(kernel_, e[0], e[1], e[2], e[3], e[4], e[5], static_cast<unsigned>(shared),
                                     stream, pointers, nullptr);
    }
    const Error error = driver_.error("kernel " + launch_.name + " cannot be launched", result);
    return error.ok() ? 0 : raise("RuntimeError", error.message());
  }

  const cuda::Driver& driver_;
  cuda::Kernel kernel_;
  Launch launch_;
};

// __tvm_set_device: all of a call is on the device of its tensors.
class SetDevice : public Callee {
 public:
  int call(const Any* arguments, std::int32_t count) const override {
    if (count == 2 && arguments[0].integer == kCuda && arguments[1].integer == 0) return 0;
    return raise("ValueError", "the function is for another device");
  }
};

struct Part {
  std::string code;
  std::vector<Launch> launches;
};

Result<Part> read_part(const std::string& kind, const std::string& bytes) {
  if (kind != "cuda") return Error(TF_UNIMPLEMENTED, "it has a module for " + kind + ", and there is a run time for CUDA only");
  Reader in(bytes);
  const std::string form = in.text();
  if (form == "cuda") {
    return Error(TF_UNIMPLEMENTED, "its code for CUDA is text, which no driver takes: have "
                                   "drystone_tvm.export write it, in the place of export_library");
  }
  Part out;
  for (std::uint64_t n = in.count(sizeof(std::uint64_t)); n > 0; --n) {
    Result<Launch> launch = read_launch(in);
    if (!launch.ok()) return launch.error();
    out.launches.push_back(std::move(*launch));
  }
  out.code = in.text();
  if (in.broken()) return Error(TF_FAILED_PRECONDITION, "its module for CUDA is cut off");
  return out;
}

}  // namespace

Result<std::unique_ptr<Imports>> Imports::load(std::string_view bytes) {
  Reader in(bytes);
  for (int tree = 0; tree < 2; ++tree) {  // which module belongs to which
    for (std::uint64_t n = in.count(sizeof(std::uint64_t)); n > 0; --n) in.number<std::uint64_t>();
  }
  std::vector<Part> parts;
  while (!in.at_end()) {
    const std::string kind = in.text();
    if (in.broken() || kind == "_lib") continue;  // the library itself
    Result<Part> part = read_part(kind, in.text());
    if (!part.ok()) return part.error();
    parts.push_back(std::move(*part));
  }
  if (in.broken() || parts.empty()) return Error(TF_FAILED_PRECONDITION, "its modules for devices are cut off");
  const Result<const cuda::Driver*> driver = cuda::Driver::get();
  if (!driver.ok()) return driver.error();
  std::unique_ptr<Imports> out(new Imports(**driver));
  out->callees_["__tvm_set_device"] = std::make_unique<SetDevice>();
  const cuda::Current current(**driver);
  for (Part& part : parts) {
    if (Error error = out->add(part.code, std::move(part.launches)); !error.ok()) return error;
  }
  return out;
}

Error Imports::add(const std::string& code, std::vector<Launch> launches) {
  cuda::Module module = nullptr;
  cuda::Result result = driver_.call().load(&module, code.c_str());
  if (Error error = driver_.error("its code cannot be loaded", result); !error.ok()) {
    return Error(TF_FAILED_PRECONDITION, error.message());
  }
  modules_.push_back(module);
  for (Launch& launch : launches) {
    cuda::Kernel kernel = nullptr;
    result = driver_.call().kernel(&kernel, module, launch.name.c_str());
    if (result != 0) return Error(TF_FAILED_PRECONDITION, "its code has no kernel " + launch.name);
    std::string key = launch.key;
    callees_[key] = std::make_unique<KernelCallee>(driver_, kernel, std::move(launch));
  }
  return {};
}

Imports::~Imports() {
  const cuda::Current current(driver_);
  for (const cuda::Module module : modules_) driver_.call().unload(module);
}

const Callee* Imports::find(const std::string& name) const {
  const auto found = callees_.find(name);
  return found == callees_.end() ? nullptr : found->second.get();
}

}  // namespace drystone_tvm
