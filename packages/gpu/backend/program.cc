#include "program.h"

#include <algorithm>

namespace drystone::gpu {
namespace {

constexpr std::size_t kSmall = 65536;  // bytes that are worth computing ahead

}  // namespace

int Graph::add_value(Type type, Dims dims) {
  static_cast<void>(count_of(dims));
  Value value;
  value.type = type;
  value.dims = std::move(dims);
  values.push_back(std::move(value));
  return static_cast<int>(values.size()) - 1;
}

int Graph::add_constant(Type type, Dims dims, const void* data) {
  const int made = add_value(type, std::move(dims));
  Value& value = values.back();
  const auto* bytes = static_cast<const std::byte*>(data);
  const std::size_t size = static_cast<std::size_t>(count_of(value.dims)) * size_of(type);
  value.known = std::make_shared<const std::vector<std::byte>>(bytes, bytes + size);
  value.invariant = true;
  return made;
}

int Graph::root(int value) const {
  while (at(value).root >= 0) value = at(value).root;
  return value;
}

int Graph::reshaped(int value, Dims dims) {
  if (count_of(dims) != count_of(at(value).dims)) throw Refused("a shape of other size");
  if (dims == at(value).dims) return value;
  const int made = add_value(at(value).type, std::move(dims));
  Value& to = values.back();
  to.root = value;
  to.invariant = at(value).invariant;
  to.known = at(value).known;
  return made;
}

int Graph::add(Detail detail, std::vector<int> in, Type type, Dims dims) {
  const int made = add_value(type, std::move(dims));
  Operation operation{std::move(detail), std::move(in), made};
  values.back().invariant =
      std::all_of(operation.in.begin(), operation.in.end(), [this](int k) { return at(k).invariant; });
  if (!fold(operation)) operations.push_back(std::move(operation));
  return made;
}

bool Graph::fold(const Operation& operation) {
  Value& out = values[static_cast<std::size_t>(operation.out)];
  const std::size_t bytes = static_cast<std::size_t>(count_of(out.dims)) * size_of(out.type);
  const bool known = std::all_of(operation.in.begin(), operation.in.end(),
                                 [this](int k) { return at(k).known != nullptr; });
  if (!known || bytes > kSmall) return false;
  auto result = std::make_shared<std::vector<std::byte>>(bytes);
  std::vector<void*> memory(values.size(), nullptr);
  for (int k : operation.in) {
    memory[static_cast<std::size_t>(k)] = const_cast<std::byte*>(at(k).known->data());
  }
  memory[static_cast<std::size_t>(operation.out)] = result->data();
  const std::unique_ptr<Stream> stream = open_host_stream();
  Layers layers(*stream);
  std::uint32_t wrong = 0;
  work_of(*this, operation, *stream, layers, memory, {&wrong, 1}, nullptr)();
  if (wrong != 0) throw Refused("an index out of range");
  out.known = std::move(result);
  return true;
}

std::vector<std::int64_t> Graph::whole(int value) const {
  const Value& of = at(value);
  if (of.known == nullptr) throw Refused("a shape that is computed from values");
  std::vector<std::int64_t> found;
  const std::int64_t count = count_of(of.dims);
  for (std::int64_t k = 0; k < count; ++k) {
    found.push_back(load<std::int64_t>(of.known->data(), of.type, static_cast<std::uint32_t>(k)));
  }
  return found;
}

std::int64_t Graph::scalar(int value) const {
  const std::vector<std::int64_t> all = whole(value);
  if (all.size() != 1) throw Refused("a number is needed");
  return all[0];
}

Dims broadcast(const std::vector<Dims>& all) {
  Dims found;
  for (const Dims& dims : all) {
    if (dims.size() > found.size()) found.insert(found.begin(), dims.size() - found.size(), 1);
    const std::size_t skip = found.size() - dims.size();
    for (std::size_t k = 0; k < dims.size(); ++k) {
      std::int64_t& to = found[skip + k];
      if (dims[k] == to || dims[k] == 1) continue;
      if (to != 1) throw Refused("shapes that do not broadcast");
      to = dims[k];
    }
  }
  return found;
}

}  // namespace drystone::gpu
