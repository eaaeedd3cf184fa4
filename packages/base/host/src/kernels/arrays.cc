// Kernels over plain memory: see drystone_host/arrays.h.
#include "drystone_host/arrays.h"

#include <bit>
#include <vector>

#include "core/failure.h"
#include "core/tensor.h"
#include "drystone_host/core.h"

using namespace drystone::host;

namespace {

static_assert(sizeof(std::int64_t) == sizeof(void*) && sizeof(std::int64_t) == sizeof(std::uint64_t));

// Tensor handles that are deleted at the end, unless they are taken out.
class Handles {
 public:
  explicit Handles(int count) : all_(static_cast<std::size_t>(count < 0 ? 0 : count), nullptr) {}
  ~Handles() {
    for (TF_Tensor* tensor : all_) TF_DeleteTensor(tensor);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  TF_Tensor** data() { return all_.data(); }
  int size() const { return static_cast<int>(all_.size()); }
  TF_Tensor*& operator[](int k) { return all_[static_cast<std::size_t>(k)]; }

 private:
  std::vector<TF_Tensor*> all_;
};

void lend(Handles& tensors, const std::int64_t* word) {
  TF_Status status;
  for (int k = 0; k < tensors.size(); ++k) {
    const int rank = static_cast<int>(word[1]);
    tensors[k] = DS_TensorFromMemory(
        static_cast<TF_DataType>(word[0]), word + 5, rank, std::bit_cast<void*>(word[2]),
        static_cast<std::size_t>(word[3]), static_cast<std::uint64_t>(word[4]), &status);
    if (status.code != TF_OK) pass_on(status);
    word += 5 + rank;
  }
}

std::int64_t* describe(TF_Tensor* tensor, std::int64_t* word) {
  *word++ = std::bit_cast<std::int64_t>(tensor);
  *word++ = TF_TensorType(tensor);
  const int rank = TF_NumDims(tensor);
  *word++ = rank;
  *word++ = std::bit_cast<std::int64_t>(TF_TensorData(tensor));
  *word++ = static_cast<std::int64_t>(TF_TensorByteSize(tensor));
  for (int k = 0; k < rank && rank <= DS_ARRAY_DIMS; ++k) word[k] = TF_Dim(tensor, k);
  return word + DS_ARRAY_DIMS;
}

}  // namespace

extern "C" int DS_RunKernelOnArrays(DS_Kernel* kernel, const DS_KernelCall* call,
                                    const int64_t* inputs, int num_inputs, int64_t* answer,
                                    int capacity, TF_Status* status) {
  TF_Status own, ran;
  int64_t* end = answer == nullptr ? nullptr : answer + 1;
  guarded(&own, "DS_RunKernel", [&] {
    const int num_outputs = DS_KernelNumOutputs(kernel);
    require(kernel, "kernel");
    require(answer, "answer");
    if (num_inputs > 0) require(inputs, "inputs");
    if (capacity < DS_ANSWER_WORDS(num_outputs)) {
      fail(TF_INVALID_ARGUMENT, "the answer has too little room for the outputs");
    }
    Handles given(num_inputs), made(num_outputs);
    lend(given, inputs);
    DS_RunKernel(kernel, call, given.data(), given.size(), made.data(), made.size(), &ran);
    for (int k = 0; k < num_outputs && ran.code == TF_OK; ++k) end = describe(std::exchange(made[k], nullptr), end);
  });
  if (answer != nullptr && capacity > 0) {
    const int room = capacity - static_cast<int>(end - answer);
    answer[0] = DS_TakeReleased(reinterpret_cast<uint64_t*>(end), room);
  }
  TF_Status& said = ran.code == TF_OK ? own : ran;
  if (status != nullptr) {
    status->code = said.code;
    status->message.swap(said.message);
    status->payloads.swap(said.payloads);
  }
  return said.code;
}
