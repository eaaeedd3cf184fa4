// Operators of compiled regions: calls from many threads while executables come, change and go.
// Built with sanitizers.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "drystone_host/subgraph.h"

namespace {

int failures = 0;

#define CHECK(what)                                                       \
  do {                                                                    \
    if (!(what)) {                                                        \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);     \
      ++failures;                                                         \
    }                                                                     \
  } while (false)

// x times a number that `update` sets from the weight; fails for x = 13, and gives its input for x = 17.
struct Scale {
  float factor;
  bool busy = false;  // calls take turns, or the thread sanitizer says so
};
std::atomic<int> alive{0};
constexpr float kThrows = 1000;  // destroying it throws

Scale* made(float factor) {
  ++alive;
  return new Scale{factor};
}

void execute(const DS_SubgraphBackend*, void* executable, TF_Tensor* const* inputs, int32_t,
             TF_Tensor** outputs, int32_t, TF_Status* status) {
  auto* scale = static_cast<Scale*>(executable);
  CHECK(!scale->busy);
  scale->busy = true;
  const float x = *static_cast<const float*>(TF_TensorData(inputs[0]));
  if (x == 13) TF_SetStatus(status, TF_INTERNAL, "unlucky");
  if (x == 17) {
    outputs[0] = inputs[0];
    scale->busy = false;
    return;
  }
  outputs[0] = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof x);
  *static_cast<float*>(TF_TensorData(outputs[0])) = x * scale->factor;
  scale->busy = false;
}

void update(const DS_SubgraphBackend*, void* executable, TF_Tensor* const* inputs, int32_t,
            const unsigned char* changed, TF_Status*) {
  CHECK(changed[0] == 0 && inputs[0] == nullptr && changed[1] != 0);
  static_cast<Scale*>(executable)->factor = *static_cast<const float*>(TF_TensorData(inputs[1]));
}

void destroy(const DS_SubgraphBackend*, void* executable) {
  --alive;
  const bool throws = static_cast<Scale*>(executable)->factor == kThrows;
  delete static_cast<Scale*>(executable);
  if (throws) throw std::runtime_error("cannot let go");
}

DS_SubgraphBackend backend{};
DS_SubgraphFns fns{};

std::int64_t new_operator() {
  const int32_t weight = 1;
  const TF_DataType type = TF_FLOAT;
  TF_Status* status = TF_NewStatus();
  const std::int64_t out = DS_NewOperator(&backend, &fns, 2, &weight, 1, &type, 1, status);
  CHECK(TF_GetCode(status) == TF_OK && out > 0);
  TF_DeleteStatus(status);
  return out;
}

std::int64_t add(std::int64_t number, float factor, std::int64_t version) {
  const std::int64_t shapes[] = {0, 0};
  TF_Status* status = TF_NewStatus();
  Scale* scale = made(factor);
  const std::int64_t out = DS_AddExecutable(number, scale, shapes, 2, &version, status);
  if (TF_GetCode(status) == TF_NOT_FOUND) destroy(&backend, scale);  // it was not taken over
  TF_DeleteStatus(status);
  return out;
}

// The result, or -1 where it was not computed.
float call(std::int64_t number, float x, float weight, std::int64_t version) {
  TF_Tensor* inputs[3];
  for (int k = 0; k < 2; ++k) {
    inputs[k] = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof x);
    *static_cast<float*>(TF_TensorData(inputs[k])) = k == 0 ? x : weight;
  }
  inputs[2] = TF_AllocateTensor(TF_INT64, nullptr, 0, sizeof version);
  std::memcpy(TF_TensorData(inputs[2]), &version, sizeof version);
  TF_Tensor* output = nullptr;
  float out = -1;
  if (DS_RunOperator(number, inputs, 3, &output, 1) != 0) {
    out = *static_cast<float*>(TF_TensorData(output));
    TF_DeleteTensor(output);
  } else {
    CHECK(output == nullptr);
  }
  for (TF_Tensor* input : inputs) TF_DeleteTensor(input);
  return out;
}

DS_ExecutableState state_of(std::int64_t number, std::int64_t executable, TF_Code expected) {
  DS_ExecutableState state{};
  state.struct_size = DS_EXECUTABLE_STATE_STRUCT_SIZE;
  TF_Status* status = TF_NewStatus();
  DS_DescribeExecutable(number, executable, &state, status);
  CHECK(TF_GetCode(status) == expected);
  TF_DeleteStatus(status);
  return state;
}

void one_after_another() {
  const std::int64_t number = new_operator();
  CHECK(call(number, 2, 3, 1) == -1);
  const std::int64_t first = add(number, 3, 1);
  CHECK(call(number, 2, 3, 1) == 6);
  CHECK(call(number, 2, 4, 2) == 8);
  CHECK(call(number, 3, 4, 2) == 12);
  DS_ExecutableState state = state_of(number, first, TF_OK);
  CHECK(state.runs == 3 && state.packs == 2 && state.is_alive == 1 && alive == 1);
  CHECK(call(number, 13, 4, 2) == -1);
  state = state_of(number, first, TF_INTERNAL);
  CHECK(state.is_alive == 0 && alive == 0);
  CHECK(call(number, 2, 4, 2) == -1);
  DS_RemoveExecutable(number, first);
  state_of(number, first, TF_NOT_FOUND);
  add(number, 5, 3);
  CHECK(call(number, 2, 5, 3) == 10);
  DS_DeleteOperator(number);
  CHECK(alive == 0 && call(number, 2, 5, 3) == -1);
  CHECK(add(number, 1, 1) == -1);
}

// What is not a new tensor is not the host's to delete.
void inputs_given_back() {
  const std::int64_t number = new_operator();
  const std::int64_t one = add(number, 3, 1);
  CHECK(call(number, 17, 3, 1) == -1);
  CHECK(state_of(number, one, TF_INTERNAL).is_alive == 0 && alive == 0);
  DS_DeleteOperator(number);
}

void twice(const DS_SubgraphBackend*, void*, TF_Tensor* const*, int32_t, TF_Tensor** outputs, int32_t,
           TF_Status*) {
  outputs[0] = outputs[1] = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof(float));
}

void outputs_given_twice() {
  DS_SubgraphFns own = fns;
  own.execute = twice;
  const TF_DataType types[] = {TF_FLOAT, TF_FLOAT};
  TF_Status* status = TF_NewStatus();
  const std::int64_t number = DS_NewOperator(&backend, &own, 0, nullptr, 0, types, 2, status);
  DS_AddExecutable(number, made(1), nullptr, 0, nullptr, status);
  CHECK(TF_GetCode(status) == TF_OK);
  TF_Tensor* outputs[2] = {nullptr, nullptr};
  CHECK(DS_RunOperator(number, nullptr, 0, outputs, 2) == 0);
  CHECK(outputs[0] == nullptr && outputs[1] == nullptr && alive == 0);
  TF_DeleteStatus(status);
  DS_DeleteOperator(number);
}

// Neither removing, nor failing, nor ending ends the process.
void destructors_that_throw() {
  const std::int64_t number = new_operator();
  DS_RemoveExecutable(number, add(number, kThrows, 1));
  add(number, kThrows, 1);
  CHECK(call(number, 13, 1, 1) == -1);
  add(number, kThrows, 1);
  DS_DeleteOperator(number);
  DS_DestroyExecutable(&backend, &fns, made(kThrows));
  CHECK(alive == 0);
}

void at_once() {
  const std::int64_t number = new_operator();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 rng(seed);
      while (!stop) {
        const auto version = static_cast<std::int64_t>(1 + rng() % 3);
        const auto weight = static_cast<float>(version);
        const float found = call(number, 2, weight, version);
        CHECK(found == -1 || found == 2 * weight);
      }
    });
  }
  for (int k = 0; k < 200; ++k) {
    const std::int64_t one = add(number, 1, 1);
    state_of(number, one, TF_OK);
    if (k % 2 != 0) call(number, 13, 1, 1);
    DS_RemoveExecutable(number, one);
  }
  add(number, 1, 1);
  DS_DeleteOperator(number);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(alive == 0);
}

}  // namespace

int main() {
  fns.execute = execute;
  fns.update = update;
  fns.destroy_executable = destroy;
  backend.name = "scale";
  one_after_another();
  inputs_given_back();
  outputs_given_twice();
  destructors_that_throw();
  at_once();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
