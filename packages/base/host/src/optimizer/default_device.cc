// Filling and stripping devices on the wire: see optimizer/default_device.h.
#include "optimizer/default_device.h"

#include "core/failure.h"
#include "drystone/sdk/wire.hpp"

namespace drystone::host {
namespace {

// GraphDef.node; NodeDef.name, .op and .device.
constexpr std::uint32_t kNode = 1;
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kOp = 2;
constexpr std::uint32_t kDevice = 4;

struct NodeFields {
  std::string_view name;
  std::string_view op;
  std::string_view device;
  bool ok = false;
};

NodeFields read_node(std::string_view bytes) {
  NodeFields out;
  wire::Reader reader(bytes);
  while (reader.next()) {
    if (reader.field() == kName) out.name = reader.bytes();
    if (reader.field() == kOp) out.op = reader.bytes();
    if (reader.field() == kDevice) out.device = reader.bytes();
  }
  out.ok = reader.ok() && !out.name.empty() && !out.op.empty();
  return out;
}

// Walks a GraphDef; `change(fields, bytes, out)` writes a node and answers whether it did.
template <class Change>
std::string rewrite(std::string_view graph, TF_Code code, Change&& change) {
  std::string out;
  out.reserve(graph.size());
  wire::Writer writer(&out);
  wire::Reader reader(graph);
  while (reader.next()) {
    if (reader.field() != kNode || reader.type() != wire::Type::bytes) {
      writer.raw(reader.raw());
      continue;
    }
    const NodeFields fields = read_node(reader.bytes());
    if (!fields.ok) fail(code, "the graph has a node that is malformed or lacks name or op");
    if (!change(fields, reader.bytes(), &writer)) writer.raw(reader.raw());
  }
  if (!reader.ok()) fail(code, "the graph is no GraphDef: its bytes are malformed or truncated");
  return out;
}

std::string without_device(std::string_view node) {
  std::string out;
  out.reserve(node.size());
  wire::Reader reader(node);
  while (reader.next()) {
    if (reader.field() != kDevice) out.append(reader.raw());
  }
  return out;
}

}  // namespace

DeviceFill fill_device(std::string_view graph, std::string_view device) {
  DeviceFill out;
  out.device = device;
  std::string body;
  out.graph = rewrite(graph, TF_INVALID_ARGUMENT,
                      [&](const NodeFields& node, std::string_view bytes, wire::Writer* writer) {
                        if (device.empty()) return false;
                        if (node.device == device) out.stated.emplace(node.name);
                        if (!node.device.empty()) return false;
                        body.assign(bytes);
                        wire::Writer(&body).bytes(kDevice, device);
                        writer->bytes(kNode, body);
                        return true;
                      });
  return out;
}

std::string strip_device(std::string_view graph, const DeviceFill& fill) {
  return rewrite(graph, TF_INTERNAL,
                 [&](const NodeFields& node, std::string_view bytes, wire::Writer* writer) {
                   if (fill.device.empty() || node.device != fill.device) return false;
                   if (fill.stated.count(std::string(node.name)) != 0) return false;
                   writer->bytes(kNode, without_device(bytes));
                   return true;
                 });
}

}  // namespace drystone::host
