// Kernels of the device for each op that has a rule.
#include <cstring>

#include "node.h"

namespace drystone::gpu {
namespace {

// Where an op's arguments are on the host, and which attributes name its types, "T" where it is not
// here, and "" for an op of one type; further ones whose other types are left to the host.
struct Names {
  const char* op;
  std::vector<std::string> on_host;
  const char* type = "T";
  std::vector<std::pair<const char*, unsigned>> more = {};
};

const std::vector<Names>& all_names() {
  static const std::vector<Names> all = {
      {"Reshape", {"shape"}},
      {"ExpandDims", {"dim"}},
      {"Shape", {"output"}},
      {"ShapeN", {"output"}},
      {"Size", {"output"}},
      {"Rank", {"output"}},
      {"Sum", {"reduction_indices"}},
      {"Mean", {"reduction_indices"}},
      {"Max", {"reduction_indices"}},
      {"Min", {"reduction_indices"}},
      {"Prod", {"reduction_indices"}},
      {"All", {"reduction_indices"}, ""},
      {"Any", {"reduction_indices"}, ""},
      {"ArgMax", {"dimension"}, "T", {{"output_type", kWhole}, {"Tidx", kWhole}}},
      {"ArgMin", {"dimension"}, "T", {{"output_type", kWhole}, {"Tidx", kWhole}}},
      {"Transpose", {"perm"}},
      {"Slice", {"begin", "size"}},
      {"StridedSlice", {"begin", "end", "strides"}, "T", {{"Index", kWhole}}},
      {"Concat", {"concat_dim"}},
      {"ConcatV2", {"axis"}},
      {"Split", {"split_dim"}},
      {"SplitV", {"size_splits", "split_dim"}},
      {"BroadcastTo", {"shape"}},
      {"Tile", {"multiples"}},
      {"ReverseV2", {"axis"}},
      {"Pad", {"paddings"}},
      {"PadV2", {"paddings", "constant_values"}},
      {"MirrorPad", {"paddings"}},
      {"Fill", {"dims"}},
      {"Gather", {}, "Tparams", {{"Tindices", kWhole}}},
      {"GatherV2", {"axis"}, "Tparams", {{"Tindices", kWhole}}},
      {"OneHot", {"depth"}, "T", {{"TI", kWhole}}},
      {"StridedSliceGrad", {"shape", "begin", "end", "strides"}, "T", {{"Index", kWhole}}},
      {"Conv2DBackpropInput", {"input_sizes"}},
      {"Conv2DBackpropFilter", {"filter_sizes"}},
      {"DepthwiseConv2dNativeBackpropInput", {"input_sizes"}},
      {"DepthwiseConv2dNativeBackpropFilter", {"filter_sizes"}},
      {"AvgPoolGrad", {"orig_input_shape"}},
      {"UnsortedSegmentSum", {"num_segments"}, "T", {{"Tindices", kWhole}}},
      {"ResizeBilinear", {"size"}},
      {"ResizeNearestNeighbor", {"size"}},
      {"Cast", {}, "SrcT", {{"DstT", kAny}}},
      {"FusedBatchNormV2", {}, "T", {{"U", kFloats}}},
      {"FusedBatchNormV3", {}, "T", {{"U", kFloats}}},
      {"FusedBatchNormGradV2", {}, "T", {{"U", kFloats}}},
      {"FusedBatchNormGradV3", {}, "T", {{"U", kFloats}}},
      {"LogicalAnd", {}, ""},
      {"LogicalOr", {}, ""},
      {"LogicalNot", {}, ""},
  };
  return all;
}

Names names_of(const Rule& rule) {
  for (const Names& names : all_names()) {
    if (std::strcmp(names.op, rule.op) == 0) return names;
  }
  return {rule.op, {}};
}

// ---- a kernel --------------------------------------------------------------------------------

void* create(TF_OpKernelConstruction* construction) {
  return created(construction, [&]() -> void* {
    std::string def = def_of(construction), why;
    const Rule* rule = rule_of(sdk::NodeView(def), &why);
    if (rule == nullptr) throw Refused(why);
    return new Node(std::move(def), *rule);
  });
}

void destroy(void* node) { delete static_cast<Node*>(node); }

// Known contents as an output.
void give_known(const NodeCall& call, int k, const Value& value) {
  sdk::Status status;
  sdk::Tensor made;
  void* const to = allocate(call, k, value.type, value.dims, &made);
  if (value.known->empty()) return;
  const bool is_on_host = TF_IsHostMemoryOutput(call.get(), k, status.get());
  check(status);
  if (is_on_host) {
    std::memcpy(to, value.known->data(), value.known->size());
    return;
  }
  const std::lock_guard<std::mutex> guard(call.stream()->mutex);
  call.stream()->stream->enter();
  call.stream()->stream->copy_in(to, value.known->data(), value.known->size());
}

void compute(void* kernel, TF_OpKernelContext* context) {
  computed(context, [&] {
    NodeCall call(context);
    for (int k = 0; k < TF_NumInputs(context); ++k) call.take(k);
    give(call, *static_cast<Node*>(kernel));
  });
}

}  // namespace

void give(NodeCall& call, Node& node) {
  const auto count = static_cast<std::size_t>(TF_NumOutputs(call.get()));
  const auto compiled = node.compiled(call, count);
  const Graph& graph = compiled->graph;
  std::vector<sdk::Tensor> outputs(count);
  std::vector<void*> results(count, nullptr);
  std::map<int, const TF_Tensor*> shared;  // by value
  for (std::size_t k = 0; k < count; ++k) {
    const int number = static_cast<int>(k), root = graph.root(compiled->results[k]);
    const Value &value = graph.at(compiled->results[k]), &source = graph.at(root);
    if (source.known != nullptr) {
      Value known = source;
      known.dims = value.dims;
      give_known(call, number, known);
      continue;
    }
    const TF_Tensor* same = source.input >= 0 ? call.input(static_cast<std::size_t>(source.input))
                            : shared.count(root) != 0 ? shared[root]
                                                      : nullptr;
    if (same == nullptr) {
      results[k] = allocate(call, number, value.type, value.dims, &outputs[k]);
      shared[root] = outputs[k].get();
      continue;
    }
    outputs[k] = reshaped(same, value.dims);
    sdk::Status status;
    TF_SetOutput(call.get(), number, outputs[k].get(), status.get());
    check(status);
  }
  put(call, *compiled, results);
}

namespace {

// ---- registration ----------------------------------------------------------------------------

// Whole numbers of 32 bits are shapes and places: those stay on the host, unless `all`.
std::vector<TF_DataType> types_of(unsigned types, bool all) {
  std::vector<TF_DataType> found;
  if ((types & kFloats) != 0) found = {TF_FLOAT, TF_HALF, TF_BFLOAT16};
  if ((types & kWhole) != 0) found.push_back(TF_INT64);
  if ((types & kWhole) != 0 && all) found.push_back(TF_INT32);
  if ((types & kBool) != 0) found.push_back(TF_BOOL);
  if ((types & kByte) != 0) found.push_back(TF_UINT8);
  return found;
}

// One for each set of the types that are left.
void add_each(Registered kernel, const Names& names, std::size_t next) {
  if (next == names.more.size()) return add_kernel(kernel);
  const auto& [attr, types] = names.more[next];
  for (TF_DataType type : types_of(types, true)) {
    kernel.constraints.emplace_back(attr, type);
    add_each(kernel, names, next + 1);
    kernel.constraints.pop_back();
  }
}

void add(const Rule& rule) {
  const Names names = names_of(rule);
  Registered kernel = {rule.op, create, compute, destroy, names.on_host, {}};
  if (*names.type == '\0') {
    add_kernel(kernel);
    return;
  }
  const std::string first = names.type;
  for (TF_DataType type : types_of(rule.types, first == "SrcT")) {
    kernel.constraints = {{first, type}};
    add_each(kernel, names, 0);
  }
}

}  // namespace

// Range has nothing on the device.
void add_rule_kernels() {
  for (const Rule& rule : every_rule()) {
    if (std::strcmp(rule.op, "Range") != 0) add(rule);
  }
}

}  // namespace drystone::gpu

TF_CAPI_EXPORT void TF_InitKernel(void) {
  if (drystone::gpu::found().devices == 0) return;
  drystone::gpu::add_rule_kernels();
  drystone::gpu::add_update_kernels();
  drystone::gpu::add_list_kernels();
  drystone::gpu::add_random_kernels();
}
