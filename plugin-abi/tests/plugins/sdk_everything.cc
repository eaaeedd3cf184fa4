// Uses every part of the SDK that needs a host, so that compiling it checks the templates.
#include "drystone/platform_strings.h"
#include "drystone/sdk/sdk.hpp"

namespace {

using namespace drystone::sdk;

class Doubles {
 public:
  static void configure(Configs& configs) { configs.turn_off(Pass::remapping); }

  Error optimize(GraphEdit& graph, const Item& item) {
    const Result<std::vector<std::string>> fetches = item.fetches();
    if (!fetches.ok()) return fetches.error();
    const auto fetched = static_cast<std::int64_t>(fetches->size());
    const TF_Buffer bytes = {graph.view().bytes().data(), graph.view().bytes().size(), nullptr};
    const Result<GraphProperties> shapes = GraphProperties::infer(item, {true, false, true, true});
    if (!shapes.ok()) return shapes.error();
    const Pattern twice = op("Neg").as("root")(op("Neg").as("inner").inside());
    const Result<FunctionLibrary> library = FunctionLibrary::open(&bytes);
    if (!library.ok()) return library.error();
    const Result<OpDef> neg = library->op_def("Neg");
    if (!neg.ok() || (*neg)->inputs().size() != 1) return failed_precondition("no OpDef of Neg");
    if (library->op_def("NoSuchOp").ok()) return failed_precondition("an OpDef of NoSuchOp");
    for (int id = 0; id < graph.size(); ++id) {
      if (!find(graph, twice, id) || !shapes->shape(graph.name(id)).known_rank()) continue;
      if (Error error = graph.set_attr(id, "_fetches", attr::integer(fetched)); !error.ok()) {
        return error;
      }
      if (Error error = graph.set_op(id, "Identity"); !error.ok()) return error;
    }
    return {};
  }
};

class Scale {
 public:
  Error init(Construction& node) {
    const Result<float> factor = node.real("factor");
    const Result<std::vector<std::string>> names = node.strings("names");
    if (!factor.ok() || !names.ok()) return factor.ok() ? names.error() : factor.error();
    factor_ = *factor;
    return {};
  }

  Error compute(KernelContext& call) {
    Result<Tensor> x = call.input(0);
    if (!x.ok()) return x.error();
    Result<Tensor> y = call.output_in_place(0, {0}, x->dims());
    if (!y.ok()) return y.error();
    const Result<Span<const float>> from = x->values<float>();
    const Result<Span<float>> to = y->mutable_values<float>();
    if (!from.ok() || !to.ok()) return from.ok() ? to.error() : from.error();
    for (std::size_t i = 0; i < from->size(); ++i) {
      if ((*from)[i] < -100) return invalid_argument("too low").with("sdk/index", std::to_string(i));
      (*to)[i] = (*from)[i] * factor_;
    }
    return {};
  }

 private:
  float factor_ = 1;
};

class Later {
 public:
  void compute(KernelContext& call, Done done) {
    const Result<Tensor> x = call.input(0);
    done(x.ok() ? call.set_output(0, *x) : x.error());
  }
};

Error first_dims(ShapeContext& node) {
  const Result<ShapeHandle> x = node.input_at_least(0, 1);
  if (!x.ok()) return x.error();
  return node.set_output(0, node.part(*x, 0, -1));
}

Error add_all() {
  NewOp scale("SdkScale");
  scale.attr("T: {float, double}").attr("factor: float").attr("names: list(string) = []");
  Error error = scale.input("x: T").output("y: T").shape<same_shape>().add();
  if (!error.ok()) return error;
  error = NewOp("SdkFirst").input("x: float").output("y: float").shape<first_dims>().add();
  if (!error.ok()) return error;
  error = NewOp("SdkLater").input("x: float").output("y: float").shape<same_shape>().add();
  if (!error.ok()) return error;
  error = NewKernel::async<Later>("SdkLater", "CPU").host_memory("x").add();
  if (!error.ok()) return error;
  error = NewKernel::of<Scale>("SdkScale", "CPU").type("T", TF_FLOAT).label("fast").add();
  if (!error.ok()) return error;
  return NewKernel::of<Scale>("SdkScale", "CPU").type("T", TF_FLOAT).priority(1).add();
}

}  // namespace

TF_PLATFORM_STRINGS()
DRYSTONE_OPTIMIZER("CPU", Doubles)
DRYSTONE_KERNELS(add_all)
