// Ops of the host library, called as a plugin and as an embedder would. Built with sanitizers.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "checking.h"
#include "drystone/ops.h"
#include "drystone/registry.h"
#include "drystone/sdk/wire.hpp"
#include "drystone_host/core.h"
#include "drystone_host/ops.h"

namespace {

TF_Status* s = nullptr;

bool failed(TF_Code code, const char* text) {
  if (TF_GetCode(s) == code && std::strstr(TF_Message(s), text) != nullptr) return true;
  std::fprintf(stderr, "status is %d: %s\n", TF_GetCode(s), TF_Message(s));
  return false;
}

using ShapeFunction = void (*)(TF_ShapeInferenceContext*, TF_Status*);

// An op with N inputs and N outputs.
void define(const char* name, ShapeFunction shape) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddAttr(op, "N: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "T: type = DT_HALF");
  TF_OpDefinitionBuilderAddInput(op, "x: N * T");
  TF_OpDefinitionBuilderAddOutput(op, "y: N * T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape);
  TF_RegisterOpDefinition(op, s);
}

// The answer of DS_InferShapes for a node of such an op.
std::vector<int64_t> infer(const char* op, const std::vector<int>& ranks,
                           const std::vector<int64_t>& dims) {
  std::string value;
  drystone::wire::Writer(&value).int64(3, static_cast<int64_t>(ranks.size()));
  std::string entry;
  drystone::wire::Writer(&entry).bytes(1, "N");
  drystone::wire::Writer(&entry).bytes(2, value);
  std::string node;
  drystone::wire::Writer(&node).bytes(5, entry);
  TF_Buffer* in = TF_NewBufferFromString(node.data(), node.size());
  TF_Buffer* out = TF_NewBuffer();
  DS_InferShapes(op, in, static_cast<int>(ranks.size()), ranks.data(), dims.data(), out, s);
  std::vector<int64_t> numbers(out->length / sizeof(int64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), out->data, out->length);
  TF_DeleteBuffer(in);
  TF_DeleteBuffer(out);
  return numbers;
}

void test_specs() {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Deleted");
  TF_DeleteOpDefinitionBuilder(op);
  TF_DeleteOpDefinitionBuilder(op);  // once more: not its memory any longer
  TF_OpDefinitionBuilderAddAttr(op, "T: type");
  TF_RegisterOpDefinition(op, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "the op definition builder is not valid: it was deleted"));
  TF_RegisterOpDefinition(nullptr, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "the op definition builder must not be NULL"));
  op = TF_NewOpDefinitionBuilder(nullptr);
  TF_OpDefinitionBuilderAddAttr(op, nullptr);
  TF_OpDefinitionBuilderAddInput(op, nullptr);
  TF_OpDefinitionBuilderDeprecated(op, 1, nullptr);
  TF_OpDefinitionBuilderDeprecated(op, 2, "");
  TF_RegisterOpDefinition(op, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "the spec of an attribute is NULL; the spec of an input is "
                                    "NULL; Deprecated was called twice"));
  TF_OpDefinitionBuilderAddAttr(nullptr, "T: type");
  TF_OpDefinitionBuilderSetIsStateful(nullptr, true);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(nullptr, nullptr);
  TF_DeleteOpDefinitionBuilder(nullptr);
}

// Every prefix of some specs, and every one of them with a byte changed.
void test_many_specs() {
  const std::vector<std::string> specs = {
      "T: list({float, int32}) >= 1 = [DT_FLOAT, 3]",
      "s: {'a', \"\\x41\\101\\n\"} = 'a' # why",
      "h: list(shape) = [{ dim { size: -1 name: 'n' } }, < unknown_rank: true >]",
      "c: tensor = { dtype: DT_INT64 tensor_shape { dim: [{ size: 1 }] } int64_val: 7; "
      "double_val: [1e400, -inf, nan] half_val: 1 bool_val: true tensor_content: '\\0' }",
      "g: func = { name: 'f' attr { key: 'k' value { list { i: [1, 2] s: 'x' } } } }"};
  unsigned state = 1;
  int count = 0;
  const auto attempt = [&](const std::string& spec) {
    const std::string name = "Many" + std::to_string(count++);
    TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name.c_str());
    TF_OpDefinitionBuilderAddAttr(op, spec.c_str());
    TF_OpDefinitionBuilderAddInput(op, spec.c_str());
    TF_RegisterOpDefinition(op, s);
    CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
    op = TF_NewOpDefinitionBuilder(name.c_str());
    TF_OpDefinitionBuilderAddAttr(op, spec.c_str());
    TF_RegisterOpDefinition(op, s);
    CHECK(TF_GetCode(s) == TF_OK || TF_GetCode(s) == TF_INVALID_ARGUMENT);
  };
  for (const std::string& spec : specs) {
    attempt(spec);
    CHECK(TF_GetCode(s) == TF_OK);
    for (std::size_t k = 0; k < spec.size(); ++k) {
      attempt(spec.substr(0, k));
      std::string changed = spec;
      state = state * 1664525 + 1013904223;
      changed[k] = static_cast<char>(state >> 24 | 1);
      attempt(changed);
    }
  }
}

void test_shapes() {
  define("Reverse", [](TF_ShapeInferenceContext* c, TF_Status* status) {
    const int n = static_cast<int>(TF_ShapeInferenceContextNumInputs(c));
    TF_ShapeHandle* h = TF_NewShapeHandle();
    for (int k = 0; k < n; ++k) {
      TF_ShapeInferenceContextGetInput(c, k, h, status);
      TF_ShapeInferenceContextSetOutput(c, n - 1 - k, h, status);
    }
    TF_DeleteShapeHandle(h);
  });
  CHECK(TF_GetCode(s) == TF_OK);
  CHECK((infer("Reverse", {2, -1, 0}, {3, -7}) == std::vector<int64_t>{3, 0, -1, 2, 3, -7}));
  CHECK(TF_GetCode(s) == TF_OK);
  CHECK((infer("Reverse", {}, {}) == std::vector<int64_t>{0}));
}

TF_ShapeInferenceContext* kept = nullptr;
TF_ShapeHandle* kept_handle = nullptr;

// Neither a context nor a handle outlives the call: both are refused, not read.
void test_kept() {
  define("Keeps", [](TF_ShapeInferenceContext* c, TF_Status*) {
    kept = c;
    kept_handle = TF_NewShapeHandle();
  });
  infer("Keeps", {0}, {});
  TF_ShapeHandle* own = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(kept, 0, own, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "is valid only in its shape function"));
  CHECK(TF_ShapeInferenceContextNumInputs(kept) == 0);
  TF_ShapeInferenceContextConcatenateShapes(kept, kept_handle, own, own, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
  TF_DeleteShapeHandle(kept_handle);
  TF_DeleteShapeHandle(own);
}

// What the shape function below finds wrong.
int wrong = 0;
#define EXPECT(condition) \
  if (!(condition)) ++wrong, std::fprintf(stderr, "failed: %s\n", #condition)

void ranks(TF_ShapeInferenceContext* c, TF_ShapeHandle* x, TF_Status* t) {  // x is [3, ?, 5]
  TF_ShapeHandle* unknown = TF_NewShapeHandle();
  TF_ShapeHandle* r = TF_NewShapeHandle();
  EXPECT(TF_ShapeInferenceContextRank(c, unknown) == -1);
  EXPECT(TF_ShapeInferenceContextRankKnown(c, unknown) == 0);
  EXPECT(TF_ShapeInferenceContextRank(c, x) == 3);
  EXPECT(TF_ShapeInferenceContextRankKnown(c, x) == 1);
  TF_ShapeInferenceContextWithRank(c, unknown, 2, r, t);
  EXPECT(TF_ShapeInferenceContextRank(c, r) == 2);
  TF_ShapeInferenceContextWithRank(c, x, 2, r, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  TF_ShapeInferenceContextWithRank(c, unknown, int64_t{1} << 40, r, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  TF_ShapeInferenceContextWithRank(c, unknown, -1, r, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  EXPECT(TF_ShapeInferenceContextRank(c, r) == 2);  // left alone
  TF_ShapeInferenceContextWithRankAtLeast(c, unknown, 4, r, t);
  EXPECT(TF_GetCode(t) == TF_OK && TF_ShapeInferenceContextRank(c, r) == -1);
  TF_ShapeInferenceContextWithRankAtLeast(c, x, 4, r, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  TF_ShapeInferenceContextWithRankAtMost(c, x, INT64_MAX, r, t);
  EXPECT(TF_GetCode(t) == TF_OK && TF_ShapeInferenceContextRank(c, r) == 3);
  TF_ShapeInferenceContextWithRankAtMost(c, x, 2, r, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  TF_DeleteShapeHandle(unknown);
  TF_DeleteShapeHandle(r);
}

void dimensions(TF_ShapeInferenceContext* c, TF_ShapeHandle* x) {  // x is [3, ?, 5]
  TF_DimensionHandle* d = TF_NewDimensionHandle();
  const auto dim = [&](int64_t i) {
    TF_ShapeInferenceContextDim(c, x, i, d);
    EXPECT(TF_DimensionHandleValueKnown(d) == (TF_DimensionHandleValue(d) >= 0 ? 1 : 0));
    return TF_DimensionHandleValue(d);
  };
  EXPECT(dim(0) == 3 && dim(1) == -1 && dim(2) == 5 && dim(-1) == 5 && dim(-3) == 3);
  EXPECT(dim(3) == -1 && dim(-4) == -1 && dim(INT64_MIN) == -1 && dim(INT64_MAX) == -1);
  TF_DeleteDimensionHandle(d);
}

void parts(TF_ShapeInferenceContext* c, TF_ShapeHandle* x, TF_Status* t) {  // x is [3, ?, 5]
  TF_ShapeHandle* r = TF_NewShapeHandle();
  const auto rank_of = [&](int64_t start, int64_t end) {
    TF_ShapeInferenceContextSubshape(c, x, start, end, r, t);
    return TF_GetCode(t) == TF_OK ? TF_ShapeInferenceContextRank(c, r) : -2;
  };
  EXPECT(rank_of(0, INT64_MAX) == 3 && rank_of(1, 2) == 1 && rank_of(-2, INT64_MAX) == 2);
  EXPECT(rank_of(5, INT64_MAX) == 0 && rank_of(0, -1) == 2 && rank_of(1, 1) == 0);
  EXPECT(rank_of(-4, 3) == -2 && rank_of(0, -4) == -2 && rank_of(2, 1) == -2);
  EXPECT(rank_of(INT64_MIN, INT64_MAX) == -2 && rank_of(0, INT64_MIN) == -2);
  TF_ShapeInferenceContextConcatenateShapes(c, x, x, r, t);
  EXPECT(TF_ShapeInferenceContextRank(c, r) == 6);
  for (int k = 0; k < 6; ++k) TF_ShapeInferenceContextConcatenateShapes(c, r, r, r, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);  // 384 dimensions
  TF_ShapeHandle* unknown = TF_NewShapeHandle();
  TF_ShapeInferenceContextConcatenateShapes(c, x, unknown, r, t);
  EXPECT(TF_GetCode(t) == TF_OK && TF_ShapeInferenceContextRankKnown(c, r) == 0);
  EXPECT(rank_of(0, 1) == 1);
  TF_ShapeInferenceContextSubshape(c, unknown, 3, 1, r, t);
  EXPECT(TF_GetCode(t) == TF_OK && TF_ShapeInferenceContextRank(c, r) == -1);
  TF_ShapeHandle* vector = TF_ShapeInferenceContextVectorFromSize(c, SIZE_MAX);
  EXPECT(TF_ShapeInferenceContextRank(c, vector) == 1);
  TF_DeleteShapeHandle(vector);
  TF_DeleteShapeHandle(unknown);
  TF_DeleteShapeHandle(r);
}

void misuse(TF_ShapeInferenceContext* c, TF_Status* t) {
  TF_ShapeHandle* h = TF_NewShapeHandle();
  for (const int i : {-1, 1, 1 << 30}) {
    TF_ShapeInferenceContextGetInput(c, i, h, t);
    EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
    TF_ShapeInferenceContextSetOutput(c, i, h, t);
    EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  }
  TF_DeleteShapeHandle(h);
  TF_DeleteShapeHandle(h);
  TF_DeleteShapeHandle(nullptr);
  TF_DeleteDimensionHandle(nullptr);
  for (TF_ShapeHandle* bad : {h, static_cast<TF_ShapeHandle*>(nullptr)}) {
    TF_ShapeInferenceContextGetInput(c, 0, bad, t);
    EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
    TF_ShapeInferenceContextSetOutput(c, 0, bad, t);
    EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
    EXPECT(TF_ShapeInferenceContextRank(c, bad) == -1);
    TF_ShapeInferenceContextDim(c, bad, 0, nullptr);
  }
  EXPECT(TF_ShapeInferenceContextNumInputs(nullptr) == 0);
  EXPECT(TF_ShapeInferenceContextScalar(nullptr) == nullptr);
  EXPECT(TF_ShapeInferenceContextVectorFromSize(nullptr, 1) == nullptr);
  EXPECT(TF_DimensionHandleValueKnown(nullptr) == 0);
  TF_DataType type = TF_BOOL;
  TF_ShapeInferenceContext_GetAttrType(c, "T", &type, t);
  EXPECT(TF_GetCode(t) == TF_OK && type == TF_HALF);
  TF_ShapeInferenceContext_GetAttrType(c, "N", &type, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  TF_ShapeInferenceContext_GetAttrType(c, "Q", &type, t);
  EXPECT(TF_GetCode(t) == TF_NOT_FOUND && type == TF_HALF);
  TF_ShapeInferenceContext_GetAttrType(c, nullptr, nullptr, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  TF_ShapeInferenceContextSetUnknownShape(nullptr, t);
  EXPECT(TF_GetCode(t) == TF_INVALID_ARGUMENT);
  TF_SetStatus(t, TF_OK, nullptr);
}

void test_shape_functions() {
  define("Everything", [](TF_ShapeInferenceContext* c, TF_Status* t) {
    TF_ShapeHandle* x = TF_NewShapeHandle();
    TF_ShapeInferenceContextGetInput(c, 0, x, t);
    ranks(c, x, t);
    dimensions(c, x);
    parts(c, x, t);
    misuse(c, t);
    TF_ShapeInferenceContextSetUnknownShape(c, t);
    TF_NewShapeHandle();  // left behind
    TF_DeleteShapeHandle(x);
  });
  CHECK((infer("Everything", {3}, {3, -1, 5}) == std::vector<int64_t>{1, -1}));
  CHECK(TF_GetCode(s) == TF_OK && wrong == 0);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([] {
      const int64_t dims[] = {3, -1, 5};
      const int three = 3;
      TF_Buffer* node = TF_NewBufferFromString("\x2a\x09\x0a\x01N\x12\x04\x18\x81\x80\x00", 11);
      for (int i = 0; i < 50; ++i) {
        TF_Status* own = TF_NewStatus();
        TF_Buffer* out = TF_NewBuffer();
        DS_InferShapes("Reverse", node, 1, &three, dims, out, own);
        if (TF_GetCode(own) != TF_OK) std::fprintf(stderr, "%s\n", TF_Message(own));
        CHECK(TF_GetCode(own) == TF_OK && out->length == 5 * sizeof(int64_t));
        TF_DeleteBuffer(out);
        TF_DeleteStatus(own);
      }
      TF_DeleteBuffer(node);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void test_bad_calls() {
  TF_Buffer* out = TF_NewBuffer();
  TF_Buffer* node = TF_NewBuffer();
  DS_InferShapes(nullptr, node, 0, nullptr, nullptr, out, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "op must not be NULL"));
  DS_InferShapes("Reverse", nullptr, 0, nullptr, nullptr, out, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
  DS_InferShapes("Reverse", node, -1, nullptr, nullptr, out, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "num_inputs must not be negative"));
  DS_InferShapes("Reverse", node, 1, nullptr, nullptr, out, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "ranks must not be NULL"));
  const int one = 1;
  DS_InferShapes("Reverse", node, 1, &one, nullptr, out, s);
  CHECK(failed(TF_INVALID_ARGUMENT, "dims must not be NULL"));
  DS_FindOp("Reverse", nullptr, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
  DS_FindOp(nullptr, out, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK(TF_OpIsStateful(nullptr, s) == 0 && TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK(TF_GetRegisteredKernelsForOp(nullptr, s) == nullptr);
  TF_DeleteBuffer(out);
  TF_DeleteBuffer(node);
}

int asked = 0;

void give_list(void* context, TF_Buffer* out, TF_Status* status) {
  ++asked;
  DS_SetOpServices(nullptr, status);  // from within: refused
  CHECK(TF_GetCode(status) == TF_FAILED_PRECONDITION);
  TF_SetStatus(status, TF_OK, nullptr);
  CHECK(TF_OpIsStateful("Given", status) == 0 && TF_GetCode(status) == TF_NOT_FOUND);
  TF_SetStatus(status, TF_OK, nullptr);
  const std::string* list = static_cast<const std::string*>(context);
  TF_Buffer* made = TF_NewBufferFromString(list->data(), list->size());
  std::swap(*out, *made);
  TF_DeleteBuffer(made);
}

void test_services() {
  std::string def;
  drystone::wire::Writer(&def).bytes(1, "Given");
  drystone::wire::Writer(&def).boolean(17, true);
  std::string list;
  drystone::wire::Writer(&list).bytes(1, def);
  DS_OpServices services{};
  DS_SetOpServices(&services, s);
  CHECK(failed(TF_FAILED_PRECONDITION, "DS_OpServices.struct_size must be set"));
  services.struct_size = offsetof(DS_OpServices, kernel_list);  // an older program
  services.context = &list;
  services.op_list = give_list;
  services.kernel_list = [](void*, const char*, TF_Buffer*, TF_Status*) { std::abort(); };
  DS_SetOpServices(&services, s);
  CHECK(TF_OpIsStateful("Given", s) == 1 && TF_GetCode(s) == TF_OK);
  CHECK(TF_OpIsStateful("Reverse", s) == 0 && TF_GetCode(s) == TF_OK);
  TF_Buffer* kernels = TF_GetAllRegisteredKernels(s);
  CHECK(kernels != nullptr && kernels->length == 0);
  TF_DeleteBuffer(kernels);
  CHECK(asked == 1);
  define("Given", nullptr);
  CHECK(failed(TF_ALREADY_EXISTS, "has another definition already, of the host program"));
  DS_SetOpServices(nullptr, s);
  CHECK(TF_OpIsStateful("Given", s) == 0 && TF_GetCode(s) == TF_NOT_FOUND);
  TF_Buffer* bytes = TF_NewBufferFromString(list.data(), list.size());
  DS_SetOpList(bytes, s);
  TF_DeleteBuffer(bytes);
  CHECK(TF_OpIsStateful("Given", s) == 1);
  TF_OpDefinitionBuilder* equal = TF_NewOpDefinitionBuilder("Given");
  TF_OpDefinitionBuilderSetIsStateful(equal, false);
  TF_RegisterOpDefinition(equal, s);
  CHECK(TF_GetCode(s) == TF_OK);
  DS_SetOpList(nullptr, s);
  CHECK(TF_OpIsStateful("Given", s) == 1);  // a plugin registered it as well
}

}  // namespace

int main() {
  s = TF_NewStatus();
  test_specs();
  test_many_specs();
  test_shapes();
  test_shape_functions();
  test_kept();
  test_bad_calls();
  test_services();
  TF_DeleteStatus(s);
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.statuses == 0 && live.buffers == 0 && live.handles == 0);
  return help::report();
}
