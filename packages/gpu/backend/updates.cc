// Variables on the device: values that are replaced, and that optimizers change where they lie.
//
// What an update computes is lowered as any other op is; its results are put where the variables are.
// So an update reads what a variable was before it makes what it becomes, and not after.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "drystone/kernels_experimental.h"
#include "moving.h"
#include "node.h"

// Of a host that has no views.
#pragma weak DS_ViewVariable

namespace drystone::gpu {
namespace {

// ---- what updates compute --------------------------------------------------------------------

// Arithmetic of values of the variable's type.
struct Sums {
  Building& b;
  Type type;

  explicit Sums(Building& b) : b(b), type(b.type(0)) {
    for (std::size_t k = 0; k < b.in.size(); ++k) {
      if (b.dims(k) != b.dims(0) && !b.dims(k).empty()) throw Refused("shapes that do not fit");
    }
  }
  int number(double value) const { return b.number(type, value); }
  int add(int x, int y) const { return b.compute(Code::add, {x, y}, type); }
  int sub(int x, int y) const { return b.compute(Code::sub, {x, y}, type); }
  int mul(int x, int y) const { return b.compute(Code::mul, {x, y}, type); }
  int div(int x, int y) const { return b.compute(Code::div, {x, y}, type); }
  int one(Code code, int x) const { return b.compute(code, {x}, type); }
  // (1 - rate) * from + rate * to, as TensorFlow has it.
  int nearer(int from, int to, int kept) const {
    return add(from, mul(sub(to, from), sub(number(1.0), kept)));
  }
};

void assign_add(Building& b) { b.out[0] = Sums(b).add(b.in[0], b.in[1]); }
void assign_sub(Building& b) { b.out[0] = Sums(b).sub(b.in[0], b.in[1]); }

// var, alpha, delta
void descend(Building& b) {
  const Sums s(b);
  b.out[0] = s.sub(b.in[0], s.mul(b.in[1], b.in[2]));
}

// var, accum, lr, grad, momentum
void momentum(Building& b) {
  const Sums s(b);
  const int lr = b.in[2], grad = b.in[3], rate = b.in[4];
  b.out[1] = s.add(s.mul(b.in[1], rate), grad);
  const int step = b.flag("use_nesterov") ? s.add(s.mul(grad, lr), s.mul(s.mul(b.out[1], rate), lr))
                                          : s.mul(b.out[1], lr);
  b.out[0] = s.sub(b.in[0], step);
}

void keras_momentum(Building& b) {
  const Sums s(b);
  const int rate = b.in[4], step = s.mul(b.in[2], b.in[3]);
  b.out[1] = s.sub(s.mul(b.in[1], rate), step);
  const int way = b.flag("use_nesterov") ? s.sub(s.mul(b.out[1], rate), step) : b.out[1];
  b.out[0] = s.add(b.in[0], way);
}

// var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad
void adam(Building& b) {
  const Sums s(b);
  const int one = s.number(1.0), beta1 = b.in[6], grad = b.in[9];
  const int deviation = s.one(Code::sqrt, s.sub(one, b.in[4]));
  const int alpha = s.div(s.mul(b.in[5], deviation), s.sub(one, b.in[3]));
  b.out[1] = s.nearer(b.in[1], grad, beta1);
  b.out[2] = s.nearer(b.in[2], s.mul(grad, grad), b.in[7]);
  const int way = b.flag("use_nesterov")
                      ? s.add(s.mul(grad, s.sub(one, beta1)), s.mul(beta1, b.out[1]))
                      : b.out[1];
  const int least = s.add(s.one(Code::sqrt, b.out[2]), b.in[8]);
  b.out[0] = s.sub(b.in[0], s.div(s.mul(way, alpha), least));
}

// var, indices, updates: of rows, each of which may come more than once.
void scatter(Building& b, Code code) {
  const Dims rows = b.dims(0), places = b.dims(1);
  int updates = b.in[2];
  if (rows.empty()) throw Refused("a variable without rows");
  Dims dims = places;
  dims.insert(dims.end(), rows.begin() + 1, rows.end());
  if (b.dims(2).empty()) updates = spread(b, updates, dims);
  if (b.graph.at(updates).dims != dims) throw Refused("updates of other shape");
  const int sum = sum_of_segments(b, updates, b.in[1], rows[0], true);
  b.out[0] = b.compute(code, {b.in[0], sum}, b.type(0));
}
void scatter_add(Building& b) { scatter(b, Code::add); }
void scatter_sub(Building& b) { scatter(b, Code::sub); }

// var, accum, lr, grad
void adagrad(Building& b) {
  const Sums s(b);
  const int grad = b.in[3];
  b.out[1] = s.add(b.in[1], s.mul(grad, grad));
  b.out[0] = s.sub(b.in[0], s.mul(s.mul(grad, b.in[2]), s.one(Code::rsqrt, b.out[1])));
}

// var, accum, lr, epsilon, grad
void adagrad_v2(Building& b) {
  const Sums s(b);
  const int grad = b.in[4];
  b.out[1] = s.add(b.in[1], s.mul(grad, grad));
  const int least = s.add(s.one(Code::sqrt, b.out[1]), b.in[3]);
  b.out[0] = s.sub(b.in[0], s.div(s.mul(grad, b.in[2]), least));
}

// var, ms, mom, lr, rho, momentum, epsilon, grad
void rms_prop(Building& b) {
  const Sums s(b);
  const int grad = b.in[7];
  b.out[1] = s.nearer(b.in[1], s.mul(grad, grad), b.in[4]);
  const int size = s.one(Code::rsqrt, s.add(b.out[1], b.in[6]));
  b.out[2] = s.add(s.mul(b.in[2], b.in[5]), s.mul(s.mul(grad, b.in[3]), size));
  b.out[0] = s.sub(b.in[0], b.out[2]);
}

// ---- kernels ---------------------------------------------------------------------------------

struct Update {
  Rule rule;
  int variables;  // the first inputs
  bool is_ref;    // the first output is the first variable
  const char* attr = "T";
};

const std::vector<Update>& all_updates() {
  static const std::vector<Update> all = {
      {{"AssignAddVariableOp", assign_add, kFloats}, 1, false, "dtype"},
      {{"AssignSubVariableOp", assign_sub, kFloats}, 1, false, "dtype"},
      {{"AssignAdd", assign_add, kFloats}, 1, true},
      {{"AssignSub", assign_sub, kFloats}, 1, true},
      {{"ResourceScatterAdd", scatter_add, kFloats}, 1, false, "dtype"},
      {{"ResourceScatterSub", scatter_sub, kFloats}, 1, false, "dtype"},
      {{"ScatterAdd", scatter_add, kFloats}, 1, true},
      {{"ScatterSub", scatter_sub, kFloats}, 1, true},
      {{"ResourceApplyGradientDescent", descend, kFloats}, 1, false},
      {{"ApplyGradientDescent", descend, kFloats}, 1, true},
      {{"ResourceApplyMomentum", momentum, kFloats}, 2, false},
      {{"ApplyMomentum", momentum, kFloats}, 2, true},
      {{"ResourceApplyKerasMomentum", keras_momentum, kFloats}, 2, false},
      {{"ResourceApplyAdam", adam, kFloats}, 3, false},
      {{"ApplyAdam", adam, kFloats}, 3, true},
      {{"ResourceApplyAdagrad", adagrad, kFloats}, 2, false},
      {{"ApplyAdagrad", adagrad, kFloats}, 2, true},
      {{"ResourceApplyAdagradV2", adagrad_v2, kFloats}, 2, false},
      {{"ResourceApplyRMSProp", rms_prop, kFloats}, 3, false},
      {{"ApplyRMSProp", rms_prop, kFloats}, 3, true},
  };
  return all;
}

class Updating {
 public:
  Updating(std::string def, const Update& update)
      : node_(std::move(def), update.rule), update_(update) {}

  void run(TF_OpKernelContext* context) {
    NodeCall call(context);
    std::vector<int> places(static_cast<std::size_t>(update_.variables));
    std::iota(places.begin(), places.end(), 0);
    sdk::Status status;
    Lock lock;
    TF_MaybeLockVariableInputMutexesInOrder(context, true, false, places.data(), places.size(),
                                            copy, &lock.held, status.get());
    check(status);
    std::vector<void*> results;
    for (int k : places) {
      TF_Tensor* value = nullptr;
      TF_GetInputTensorFromVariable(context, k, true, false, false, copy, &value, status.get());
      sdk::Tensor owner(value);
      check(status);
      results.push_back(TF_TensorData(value));
      call.take(std::move(owner), false);
    }
    for (int k = update_.variables; k < TF_NumInputs(context); ++k) call.take(k);
    put(call, *node_.compiled(call, places.size()), results);
    if (update_.is_ref) TF_OpKernelContext_ForwardRefInputToRefOutput(context, 0, 0);
  }

  // For the host, which knows of memory of the device only what it was told.
  static void copy(TF_OpKernelContext* context, TF_Tensor* from, TF_Tensor* to) {
    const sdk::Tensor source(from), target(to);
    computed(context, [&] {
      const NodeCall call(context);
      const std::lock_guard<std::mutex> guard(call.stream()->mutex);
      Stream& stream = *call.stream()->stream;
      stream.enter();
      stream.copy_within(TF_TensorData(to), TF_TensorData(from), TF_TensorByteSize(from));
    });
  }

 private:
  struct Lock {
    TF_VariableInputLockHolder* held = nullptr;
    ~Lock() { TF_ReleaseVariableInputLockHolder(held); }
  };

  Node node_;
  const Update& update_;
};

void* create(TF_OpKernelConstruction* construction) {
  return created(construction, [&]() -> void* {
    std::string def = def_of(construction);
    const sdk::NodeView view(def);
    const auto found = std::find_if(all_updates().begin(), all_updates().end(),
                                    [&](const Update& one) { return view.op() == one.rule.op; });
    if (found == all_updates().end()) throw Refused("no such update");
    return new Updating(std::move(def), *found);
  });
}

void destroy(void* kernel) { delete static_cast<Updating*>(kernel); }

void compute(void* kernel, TF_OpKernelContext* context) {
  computed(context, [&] { static_cast<Updating*>(kernel)->run(context); });
}

// ---- values that are replaced ----------------------------------------------------------------

struct Assigning {
  bool validates;
};

void* create_assign(TF_OpKernelConstruction* construction) {
  return created(construction, [&]() -> void* {
    const std::string def = def_of(construction);
    const sdk::NodeView view(def);
    const bool otherwise = view.op() == "Assign";
    return new Assigning{view.attr("validate_shape").boolean().value_or(otherwise)};
  });
}

void destroy_assign(void* kernel) { delete static_cast<Assigning*>(kernel); }

void assign(void* kernel, TF_OpKernelContext* context) {
  computed(context, [&] {
    sdk::Status status;
    TF_AssignVariable(context, 0, 1, static_cast<Assigning*>(kernel)->validates, Updating::copy,
                      status.get());
    check(status);
  });
}

void assign_ref(void* kernel, TF_OpKernelContext* context) {
  computed(context, [&] {
    sdk::Status status;
    TF_AssignRefVariable(context, 0, 0, 1, true, static_cast<Assigning*>(kernel)->validates,
                         Updating::copy, status.get());
    check(status);
  });
}

// ---- values that are read --------------------------------------------------------------------

void* create_gather(TF_OpKernelConstruction* construction) {
  return created(construction, [&]() -> void* {
    static const Rule rule = {"ResourceGather", gather_rows, kAny};
    return new Node(def_of(construction), rule);
  });
}

void destroy_gather(void* kernel) { delete static_cast<Node*>(kernel); }

void gather(void* kernel, TF_OpKernelContext* context) {
  computed(context, [&] {
    NodeCall call(context);
    call.take_variable(0);
    call.take(1);
    give(call, *static_cast<Node*>(kernel));
  });
}

}  // namespace

void add_update_kernels() {
  for (const TF_DataType type : {TF_FLOAT, TF_HALF, TF_BFLOAT16}) {
    for (const Update& one : all_updates()) {
      add_kernel({one.rule.op, create, compute, destroy, {}, {{one.attr, type}}});
    }
    if (DS_ViewVariable != nullptr)
      add_kernel({"ResourceGather", create_gather, gather, destroy_gather, {}, {{"dtype", type}}});
    add_kernel({"AssignVariableOp", create_assign, assign, destroy_assign, {}, {{"dtype", type}}});
    add_kernel({"Assign", create_assign, assign_ref, destroy_assign, {}, {{"T", type}}});
  }
}

}  // namespace drystone::gpu
