// NcclReduce(x0, x1, ...) on a device that holds one of its inputs becomes _NcclReduceRecv of that
// input there, and _NcclReduceSend of each other input where it is. NcclBroadcast(x) becomes
// _NcclBroadcastSend(x) there, and _NcclBroadcastRecv on each device that reads it. What belongs
// together has one shared_name. Readers wait for the sends, so that nothing drops them.
#include "nccl_replace.h"

#include <algorithm>
#include <map>
#include <vector>

namespace example {
namespace {

NewNode collective(const GraphEdit& graph, int id, const std::string& name, const char* op,
                   std::string_view device, std::int64_t devices) {
  NewNode made(graph.unused_name(name), op);
  made.on(device).attr("T", graph.attr(id, "T"));
  made.attr("num_devices", attr::integer(devices));
  made.attr("shared_name", attr::string(graph.name(id)));
  return made;
}

Error wait_for(GraphEdit& graph, const std::vector<Edge>& readers, const std::vector<int>& sends) {
  for (const Edge& reader : readers) {
    for (const int send : sends) {
      if (Error error = graph.add_control(reader.consumer, send); !error.ok()) return error;
    }
  }
  return {};
}

Error reduce(GraphEdit& graph, int id) {
  const std::vector<TensorId> inputs(graph.regular_fan_ins(id).begin(),
                                     graph.regular_fan_ins(id).end());
  const auto count = static_cast<std::int64_t>(inputs.size());
  const std::string name(graph.name(id));
  const std::vector<Edge> readers = graph.fan_outs(id);
  std::vector<int> sends;
  TensorId own{};
  for (const TensorId input : inputs) {
    if (own.node < 0 && graph.device(input.node) == graph.device(id)) {
      own = input;
      continue;
    }
    NewNode send = collective(graph, id, name + "/send_" + std::to_string(sends.size()),
                              "_NcclReduceSend", graph.device(input.node), count);
    send.attr("reduction", graph.attr(id, "reduction")).reads(input);
    const Result<int> added = graph.add(send);
    if (!added.ok()) return added.error();
    sends.push_back(*added);
  }
  if (own.node < 0) {
    return failed_precondition("NcclReduce " + quoted(name) + " has no input on its own device");
  }
  NewNode receive = collective(graph, id, name, "_NcclReduceRecv", graph.device(id), count);
  receive.attr("reduction", graph.attr(id, "reduction")).reads(own);
  receive.reads(graph.control_fan_ins(id));
  if (Error error = graph.replace(id, receive); !error.ok()) return error;
  return wait_for(graph, readers, sends);
}

bool is_known(const Shape& shape) {
  return shape.known_rank() && std::all_of(shape.dims().begin(), shape.dims().end(),
                                           [](std::int64_t size) { return size >= 0; });
}

// A constant of int32: the dimensions of `shape`.
std::string dimensions(const Shape& shape) {
  std::string proto("\x08\x03\x12", 3);  // DT_INT32, then the shape of the constant: [rank]
  const auto rank = static_cast<char>(shape.dims().size());
  const std::string dim = std::string("\x12\x02\x08", 3) + rank;
  proto += static_cast<char>(dim.size()) + dim;
  for (const std::int64_t size : shape.dims()) {
    proto += '\x38';  // int_val
    for (auto left = static_cast<std::uint64_t>(size);; left >>= 7) {
      proto += static_cast<char>(left < 0x80 ? left : left | 0x80);
      if (left < 0x80) break;
    }
  }
  return proto;
}

Result<int> receiver(GraphEdit& graph, int id, const Shape& shape, const std::string& device,
                     std::int64_t devices, int number) {
  const std::string name = std::string(graph.name(id)) + "/recv_" + std::to_string(number);
  NewNode size(graph.unused_name(name + "/shape"), "Const");
  size.on(device).attr("dtype", attr::type(TF_INT32));
  size.attr("value", attr::tensor(dimensions(shape)));
  const Result<int> constant = graph.add(size);
  if (!constant.ok()) return constant.error();
  NewNode receive = collective(graph, id, name, "_NcclBroadcastRecv", device, devices);
  receive.reads(TensorId{*constant, 0});
  return graph.add(receive);
}

Error broadcast(GraphEdit& graph, int id) {
  const std::string name(graph.name(id));
  const std::optional<Shape> shape = graph.attr(id, "shape").shape();
  if (!shape || !is_known(*shape)) {
    return failed_precondition("NcclBroadcast " + quoted(name) + " has no known shape");
  }
  std::map<std::string, std::vector<Edge>> readers;
  for (const Edge& edge : graph.fan_outs(id)) {
    if (graph.source(edge).control()) continue;
    readers[std::string(graph.device(edge.consumer))].push_back(edge);
  }
  const TensorId input = graph.regular_fan_ins(id)[0];
  const auto devices = static_cast<std::int64_t>(readers.size() + 1);
  int number = 0;
  for (const auto& [device, edges] : readers) {
    const Result<int> made = receiver(graph, id, *shape, device, devices, number++);
    if (!made.ok()) return made.error();
    for (const Edge& edge : edges) {
      if (Error error = graph.set_input(edge.consumer, edge.input, TensorId{*made, 0}); !error.ok()) {
        return error;
      }
      if (Error error = graph.add_control(edge.consumer, id); !error.ok()) return error;
    }
  }
  NewNode send = collective(graph, id, name, "_NcclBroadcastSend", graph.device(id), devices);
  return graph.replace(id, send.reads(input).reads(graph.control_fan_ins(id)));
}

}  // namespace

Error nccl_replace(GraphEdit& graph) {
  for (int id = 0; id < graph.view().size(); ++id) {
    if (graph.is_protected(id)) continue;
    Error error;
    if (graph.op(id) == "NcclReduce") error = reduce(graph, id);
    if (graph.op(id) == "NcclBroadcast") error = broadcast(graph, id);
    if (!error.ok()) return error;
  }
  return {};
}

}  // namespace example
