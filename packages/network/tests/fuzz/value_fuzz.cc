// The message of a value that goes from task to task: it is refused, or is a tensor that goes back into
// the same message.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "links/value.cc"

namespace {

void release(void* data) { std::free(data); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drystone::links;
  static const DS_NetworkFns fns = [] {
    DS_NetworkFns made{};
    made.release = release;
    return made;
  }();
  // As an engine gives it: memory of exactly that size, so that a step beyond it is seen.
  auto* message = static_cast<unsigned char*>(std::malloc(size == 0 ? 1 : size));
  if (size != 0) std::memcpy(message, data, size);
  const std::vector<unsigned char> sent(message, message + size);
  Incoming value;
  value.memory = std::make_unique<Memory>(&fns, message);
  if (!read({message, size}, &value)) return 0;
  const std::uint64_t step = value.step;
  const std::string key = value.key;
  const bool dead = value.dtype == static_cast<TF_DataType>(0);
  const Tensor tensor = dead ? nullptr : Incoming::tensor(std::move(value));
  if (!dead && tensor == nullptr) return 0;  // a resource, or no memory for it
  Outgoing back;
  if (!outgoing(step, key, tensor.get(), &back)) return 0;
  std::vector<unsigned char> again = back.head;
  again.insert(again.end(), back.data.begin(), back.data.end());
  // What lies between the key and the bytes means nothing, and may have been anything.
  Incoming second;
  if (again.size() != sent.size() || !read(again, &second)) __builtin_trap();
  if (second.step != step || second.key != key) __builtin_trap();
  const std::size_t begin = again.size() - second.data.size();
  if (!second.data.empty() &&
      std::memcmp(second.data.data(), sent.data() + begin, second.data.size()) != 0)
    __builtin_trap();
  return 0;
}
