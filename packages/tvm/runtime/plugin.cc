// The op TvmRuntime: a function of a library of compiled functions, as a node of a graph.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "drystone/platform_strings.h"
#include "drystone/sdk/sdk.hpp"
#include "library.h"
#include "services.h"
#include "tensors.h"

namespace drystone_tvm {
namespace {

using drystone::sdk::Construction;
using drystone::sdk::Error;
using drystone::sdk::KernelContext;
using drystone::sdk::NewKernel;
using drystone::sdk::NewOp;
using drystone::sdk::Result;
using drystone::sdk::Shape;
using drystone::sdk::ShapeContext;
using drystone::sdk::Tensor;

TF_Code code_of(const std::string& kind) {
  if (kind == "TypeError" || kind == "ValueError") return TF_INVALID_ARGUMENT;
  if (kind == "IndexError") return TF_OUT_OF_RANGE;
  if (kind == "MemoryError") return TF_RESOURCE_EXHAUSTED;
  if (kind == "NotImplementedError") return TF_UNIMPLEMENTED;
  return TF_INTERNAL;
}

class TvmRuntime {
 public:
  Error init(Construction& node) {
    Result<std::string> path = node.string("lib_path");
    if (!path.ok()) return path.error();
    Result<std::string> name = node.string("function_name");
    if (!name.ok()) return name.error();
    if (Error error = take_types(node); !error.ok()) return error;
    if (Error error = take_shapes(node); !error.ok()) return error;
    const Result<std::string> hash = node.string("sha256");
    if (!hash.ok()) return hash.error();
    Result<std::shared_ptr<Library>> library = Library::open(*path, *hash);
    if (!library.ok()) return library.error();
    Result<Function> function = (*library)->function(*name);
    if (!function.ok()) return function.error();
    library_ = std::move(*library);
    function_ = *function;
    name_ = "function '" + *name + "' of '" + *path + "'";
    return {};
  }

  Error compute(KernelContext& call) const {
    if (library_->driver() == nullptr) return compute_on(call, {kCpu, 0});
    cuda::Call work(*library_->driver());
    if (Error error = work.begin(); !error.ok()) return error;
    const DLDevice device{kCuda, 0};
    const CurrentStream current(device, work.stream());
    return compute_on(call, device, &work);
  }

 protected:
  Error compute_on(KernelContext& call, DLDevice device, cuda::Call* work = nullptr) const {
    const std::size_t inputs = input_types_.size();
    const std::size_t all = inputs + output_types_.size();
    // Most calls are of a few tensors: what describes them is in the frame of this function.
    alignas(std::max_align_t) std::array<std::byte, kUsualCall> room;
    std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
    std::pmr::vector<Tensor> kept(&memory);
    kept.reserve(all);
    Arguments arguments(device, all, &memory, work);
    for (std::size_t i = 0; i < inputs; ++i) {
      Result<Tensor> tensor = call.input(static_cast<int>(i));
      if (!tensor.ok()) return tensor.error();
      if (Error error = arguments.add_input(tensor->get(), input_types_[i]); !error.ok()) return error;
      kept.push_back(std::move(*tensor));
    }
    for (std::size_t i = 0; i < output_types_.size(); ++i) {
      Result<std::vector<std::int64_t>> dims = output_dims(call, kept, i);
      if (!dims.ok()) return dims.error();
      Result<Tensor> tensor = call.output(static_cast<int>(i), *dims);
      if (!tensor.ok()) return tensor.error();
      if (Error error = arguments.add_output(tensor->get(), output_types_[i]); !error.ok()) return error;
      kept.push_back(std::move(*tensor));
    }
    return run(arguments);
  }

 private:
  Error run(Arguments& arguments) const {
    Any result{kNone, 0, {}};
    forget_raised();  // of a call before, which nobody asked for
    const int code = function_(nullptr, arguments.values(), arguments.count(), &result);
    if (code != 0) return failed(code);
    if (result.type >= kObjects) {
      return Error(TF_UNIMPLEMENTED, name_ + " returned an object; results go to the tensors after its inputs");
    }
    return arguments.finish();
  }

  Error failed(int code) const {
    const Raised raised = take_raised();
    if (raised.kind.empty() && raised.message.empty()) {
      return Error(TF_INTERNAL, name_ + " failed with " + std::to_string(code) + " and said nothing");
    }
    return Error(code_of(raised.kind), name_ + " raised " + raised.kind + ": " + raised.message);
  }

  static Error take_list(Construction& node, const char* attr, std::vector<DLDataType>& out) {
    const Result<std::vector<TF_DataType>> types = node.types(attr);
    if (!types.ok()) return types.error();
    for (const TF_DataType type : *types) {
      const auto found = dlpack_dtype(type);
      if (!found) {
        return Error(TF_INVALID_ARGUMENT, "compiled functions take no tensors of dtype " +
                                              drystone::sdk::dtype_name(type) + " (in " + attr + ")");
      }
      out.push_back(*found);
    }
    return {};
  }

  Error take_types(Construction& node) {
    if (Error error = take_list(node, "Tin", input_types_); !error.ok()) return error;
    return take_list(node, "Tout", output_types_);
  }

  Error take_shapes(Construction& node) {
    const Result<std::int64_t> given = node.integer("num_shapes");
    if (!given.ok()) return given.error();
    drystone::sdk::Status status;
    TF_Buffer* bytes = TF_OpKernelConstruction_GetNodeDef(node.get(), status.get());
    if (Error error = status.take(); !error.ok()) return error;
    const std::string proto(drystone::sdk::view(bytes));
    TF_DeleteBuffer(bytes);
    const drystone::sdk::NodeView view(proto);
    shapes_ = view.attr("output_shapes").shapes();
    places_ = view.attr("sizes_of").integers();
    num_shapes_ = static_cast<std::size_t>(*given);
    const std::size_t outputs = output_types_.size();
    if (num_shapes_ != 0 && (num_shapes_ != outputs || !shapes_.empty())) {
      return Error(TF_INVALID_ARGUMENT, "shapes are given for every output, as inputs or as output_shapes: found " +
                                            std::to_string(num_shapes_) + " inputs and " +
                                            std::to_string(shapes_.size()) + " output_shapes for " +
                                            std::to_string(outputs) + " outputs");
    }
    return check_stated(outputs);
  }

  Error check_stated(std::size_t outputs) const {
    if (!shapes_.empty() && shapes_.size() != outputs) {
      return Error(TF_INVALID_ARGUMENT, "output_shapes has " + std::to_string(shapes_.size()) +
                                            " shapes for " + std::to_string(outputs) + " outputs");
    }
    std::size_t open = 0;
    for (const Shape& shape : shapes_) {
      if (shape.rank() < 0) return Error(TF_INVALID_ARGUMENT, "output_shapes has a shape of unknown rank");
      for (const std::int64_t size : shape.dims()) open += size < 0 ? 1 : 0;
    }
    if (2 * open != places_.size()) {
      return Error(TF_INVALID_ARGUMENT, "output_shapes has " + std::to_string(open) + " unknown sizes, and sizes_of " +
                                            std::to_string(places_.size()) +
                                            " numbers: needed an input and an axis for each, or shapes as inputs");
    }
    for (std::size_t i = 0; i < places_.size(); i += 2) {
      if (places_[i] < 0 || places_[i] >= static_cast<std::int64_t>(input_types_.size()) || places_[i + 1] < 0) {
        return Error(TF_INVALID_ARGUMENT, "sizes_of names an axis of an input that is not there");
      }
    }
    if (shapes_.empty() && num_shapes_ == 0 && input_types_.empty()) {
      return Error(TF_INVALID_ARGUMENT, "a function without inputs needs output_shapes");
    }
    return {};
  }

  // Stated, given as an input, or the first input's.
  Result<std::vector<std::int64_t>> output_dims(KernelContext& call, std::span<const Tensor> inputs,
                                                std::size_t index) const {
    if (!shapes_.empty()) return stated_dims(inputs, index);
    if (num_shapes_ == 0) return inputs[0].dims();
    Result<Tensor> given = call.input(static_cast<int>(input_types_.size() + index));
    if (!given.ok()) return given.error();
    const auto sizes = given->values<std::int64_t>();
    if (!sizes.ok()) return sizes.error();
    std::vector<std::int64_t> dims(sizes->begin(), sizes->end());
    for (const std::int64_t size : dims) {
      if (size < 0) {
        return Error(TF_INVALID_ARGUMENT, "the shape of output " + std::to_string(index) +
                                              " has a size of " + std::to_string(size) + ", needed 0 or more");
      }
    }
    return dims;
  }

  // A stated shape, in which each unknown size is that of an axis of an input.
  Result<std::vector<std::int64_t>> stated_dims(std::span<const Tensor> inputs, std::size_t index) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < index; ++i) {
      for (const std::int64_t size : shapes_[i].dims()) next += size < 0 ? 2 : 0;
    }
    std::vector<std::int64_t> dims = shapes_[index].dims();
    for (std::int64_t& size : dims) {
      if (size >= 0) continue;
      const std::vector<std::int64_t> given = inputs[static_cast<std::size_t>(places_[next])].dims();
      const auto axis = static_cast<std::size_t>(places_[next + 1]);
      if (axis >= given.size()) {
        return Error(TF_INVALID_ARGUMENT, name_ + " needs axis " + std::to_string(axis) + " of input " +
                                              std::to_string(places_[next]) + ", which has rank " +
                                              std::to_string(given.size()));
      }
      size = given[axis];
      next += 2;
    }
    return dims;
  }

  static constexpr std::size_t kUsualCall = 2048;  // bytes that describe the tensors of one

  std::shared_ptr<Library> library_;
  Function function_ = nullptr;
  std::string name_;
  std::vector<DLDataType> input_types_;
  std::vector<DLDataType> output_types_;
  std::vector<Shape> shapes_;
  std::vector<std::int64_t> places_;  // an input and an axis for each unknown size of shapes_
  std::size_t num_shapes_ = 0;
};

// On a device of another plugin: tensors are in its memory, and a function puts its work on the stream
// that it asks for.
class OnDevice : public TvmRuntime {
 public:
  Error compute(KernelContext& call) const {
    drystone::sdk::Status status;
    const SP_Stream stream = TF_GetStream(call.get(), status.get());
    if (Error error = status.take(); !error.ok()) return error;
    const DLDevice device{kExternal, TF_GetDeviceId(call.get())};
    const CurrentStream current(device, stream);
    return compute_on(call, device);
  }
};

// Types of devices whose compiled functions there may be, with commas between.
Error add_devices() {
  const char* named = std::getenv("DRYSTONE_TVM_DEVICES");
  std::istringstream types(named == nullptr ? "" : named);
  for (std::string type; std::getline(types, type, ',');) {
    if (type.empty()) continue;
    Error error = NewKernel::of<OnDevice>("TvmRuntime", type.c_str()).host_memory("shapes").add();
    if (!error.ok()) return error;
  }
  return {};
}

// What attributes say of shapes is not told to shape functions.
Error any_shape(ShapeContext& node) { return node.set_unknown_outputs(); }

Error add_all() {
  Error error = NewOp("TvmRuntime")
                    .attr("lib_path: string")
                    .attr("function_name: string")
                    .attr("Tin: list(type) >= 0")
                    .attr("Tout: list(type) >= 1")
                    .attr("output_shapes: list(shape) = []")
                    .attr("sizes_of: list(int) = []")
                    .attr("sha256: string = ''")
                    .attr("num_shapes: int >= 0 = 0")
                    .input("inputs: Tin")
                    .input("shapes: num_shapes * int64")
                    .output("outputs: Tout")
                    .shape<any_shape>()
                    .add();
  if (!error.ok()) return error;
  error = NewKernel::of<TvmRuntime>("TvmRuntime", "CPU").add();
  return error.ok() ? add_devices() : error;
}

}  // namespace
}  // namespace drystone_tvm

TF_PLATFORM_STRINGS()
DRYSTONE_KERNELS(drystone_tvm::add_all)
