// Devices of plugins in runs: see executor/devices.h.
#include "executor/devices.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "core/failure.h"
#include "executor/run.h"
#include "executor/trace.h"
#include "kernels/kernel.h"

namespace drystone::host::executor {
namespace {

// Fails unless a tensor lies where the kernel was registered to have it.
void check_place(const Instruction& in, const Lane& lane, const TF_Tensor& tensor, bool on_host, const char* what,
                 std::size_t k) {
  const Lane* const found = lane_of(tensor);
  if (on_host ? found == nullptr : found != nullptr && &found->device() == &lane.device()) return;
  const auto place = [](const Lane* where) { return where == nullptr ? "host memory" : "the memory of " + where->device().name; };
  fail_at(in.kernel->subject(), {TF_INTERNAL, std::string(what) + " " + std::to_string(k) + " lies in " + place(found) +
                                                  "; the kernel is registered to have it in " + place(on_host ? nullptr : &lane)});
}

}  // namespace

std::shared_ptr<Lane> IdleLanes::take(DS_Device& device) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(lanes_, [&](const auto& lane) { return &lane->device() == &device; });
    if (found != lanes_.end()) {
      auto lane = std::move(*found);
      lanes_.erase(found);
      return lane;
    }
  }
  wait_for_left(device);
  return std::make_shared<Lane>(device);
}

void IdleLanes::give(std::shared_ptr<Lane> lane) {
  const std::lock_guard lock(mutex_);
  lanes_.push_back(std::move(lane));
}

RunDevices::RunDevices(IdleLanes& idle, const std::vector<ProgramDevice>& devices, bool measures)
    : idle_(idle), devices_(devices), measures_(measures), lanes_(devices.size()) {}

RunDevices::~RunDevices() {
  for (auto& lane : lanes_) {
    if (lane == nullptr) continue;
    answered(0, [&] {
      lane->wait();
      idle_.give(std::move(lane));  // not one whose work has failed
      return 0;
    });
  }
}

Lane& RunDevices::lane(std::int16_t number) {
  const auto at = static_cast<std::size_t>(number) - 1;
  if (lanes_[at] == nullptr) {
    lanes_[at] = idle_.take(*devices_[at].device);
    lanes_[at]->measure(measures_);
    lanes_[at]->peak();  // of what it did before
  }
  return *lanes_[at];
}

// What another run has made there is used by work of this run, too.
Lane& RunDevices::lane_on(const DS_Device& device) {
  const auto found = std::ranges::find_if(devices_, [&](const ProgramDevice& one) { return one.device == &device; });
  return lane(static_cast<std::int16_t>(found - devices_.begin() + 1));
}

void RunDevices::leave(std::int16_t number) {
  // It is never given back: nobody knows when the kernel is done.
  static_cast<void>(new std::shared_ptr<Lane>(lanes_[static_cast<std::size_t>(number) - 1]));
}

TF_Tensor* RunDevices::copied(const Instruction& in, TF_Tensor* from) {
  const Lane* const source = lane_of(*from);
  const Work of{&in.node, &in.op};
  if (in.device != 0) {
    Lane& to = lane(in.device);
    if (source != nullptr && &source->device() == &to.device()) {  // of a variable, or fed
      if (source != &to) to.keep(from);
      return hold(from);
    }
    std::unique_ptr<TF_Tensor> moved;
    if (source != nullptr) from = (moved = on_host(*from)).get();  // fed from another device
    TF_Tensor* const out = to.allocate(from->dtype, from->dims.data(), from->dims.rank());
    to.keep(from);
    to.copy_in(*from, *out, of);
    drop(moved.release());
    return out;
  }
  if (source == nullptr) return hold(from);
  Lane& by = lane_on(source->device());
  TF_Tensor* const out = new_tensor(from->dtype, from->dims.data(), from->dims.rank());
  by.keep(from);
  by.keep(out);
  by.copy_out(*from, *out, of);
  return out;
}

void RunDevices::keep(TF_Tensor* tensor) {
  if (const Lane* const source = lane_of(*tensor)) lane_on(source->device()).keep(tensor);
}

void RunDevices::wait() {
  std::exception_ptr first;
  for (auto& lane : lanes_) {
    try {
      if (lane != nullptr) lane->wait();
    } catch (...) {
      lane.reset();
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

void RunDevices::tell(Trace& trace) {
  for (const auto& lane : lanes_) {
    if (lane == nullptr) continue;
    for (const auto& [node, nanoseconds] : lane->times()) trace.add_device_time(node, lane->device(), nanoseconds);
    trace.add_device(lane->device(), lane->peak());
  }
}

void Run::copy(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  TF_Tensor* made = nullptr;
  if (inputs[0]->memory != nullptr && inputs[0]->memory->opaque) made = adapted(in, 0, inputs[0], inputs[0]->dtype);
  try {
    outputs[0] = devices_->copied(in, made == nullptr ? inputs[0] : made);
  } catch (...) {
    drop(made);
    throw;
  }
  drop(made);
  if (in.waits || in.is_constant) devices_->wait();
}

// The embedder's kernel says what is wrong with a handle that cannot be read.
void Run::read_there(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  Lane& lane = devices_->lane(in.device);
  if (const kernels::VariablePtr variable = variable_to_read(in, inputs[0])) {
    outputs[0] = variable->read(&lane).release();
    lane.end({&in.node, &in.op});
    return;
  }
  TF_Tensor* found = nullptr;
  callback(in, in.callback, inputs, &found);
  const std::unique_ptr<TF_Tensor, void (*)(TF_Tensor*)> held(found, drop);
  outputs[0] = devices_->copied(in, found);
}

void Run::device_kernel(const Instruction& in, TF_Tensor** inputs, const DS_KernelCall& facts, TF_Tensor** outputs) {
  Lane& lane = devices_->lane(in.device);
  const DS_Kernel& kernel = *in.kernel;
  for (std::size_t k = 0; k < kernel.input_on_host.size(); ++k) {
    if (kernel.inputs.is_ref[k] == 0) check_place(in, lane, *inputs[k], kernel.input_on_host[k] != 0, "input", k);
  }
  DS_KernelCall call = facts;
  put_on(lane, &call);
  lane.begin();
  try {
    kernels::run_kernel(*in.kernel, call, inputs, outputs, true);
  } catch (const Failure& failure) {
    if (failure.code == TF_DEADLINE_EXCEEDED || failure.code == TF_CANCELLED) devices_->leave(in.device);
    throw;
  }
  lane.end({&in.node, &in.op});
  for (std::size_t k = 0; k < kernel.output_on_host.size(); ++k) {
    if (kernel.outputs.is_ref[k] == 0) check_place(in, lane, *outputs[k], kernel.output_on_host[k] != 0, "output", k);
  }
}

// What the embedder computed in place of the device's kernel, where that would have put it.
void Run::put_there(const Instruction& in, TF_Tensor** outputs) {
  for (std::size_t k = 0; k < in.kernel->output_on_host.size(); ++k) {
    if (in.kernel->output_on_host[k] != 0) continue;
    const std::unique_ptr<TF_Tensor, void (*)(TF_Tensor*)> made(std::exchange(outputs[k], nullptr), drop);
    outputs[k] = devices_->copied(in, made.get());
  }
}

void Run::wait_for_devices() {
  if (devices_ == nullptr) return;
  devices_->wait();
  if (trace_ != nullptr) devices_->tell(*trace_);
}

ProgramDevice find_device(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  const std::size_t type = colon == std::string_view::npos || colon == 0 ? std::string_view::npos : name.rfind(':', colon - 1);
  if (type == std::string_view::npos) fail(TF_INVALID_ARGUMENT, "the plan is malformed: a device without type and number");
  ProgramDevice out{std::string(name), std::string(name.substr(type + 1, colon - type - 1)), nullptr};
  TF_Status status;
  out.device = DS_GetDevice(out.type.c_str(), std::atoi(out.name.c_str() + colon + 1), &status);
  const bool is_named = status.payloads.contains(DS_PAYLOAD_DEVICE);
  if (out.device == nullptr) pass_on(status, is_named ? "" : out.name + ": ");
  return out;
}

}  // namespace drystone::host::executor
