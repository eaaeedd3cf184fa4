// Shape functions: the first bytes are shapes and a NodeDef, the rest is a program that a shape
// function runs: each step calls one function with handles and numbers picked by bytes.
#include <cstdint>
#include <string>
#include <vector>

#include "drystone/ops.h"
#include "drystone_host/ops.h"
#include "fuzz_input.h"

namespace {

Input* program = nullptr;  // of the shape function that runs

struct Handles {
  std::vector<TF_ShapeHandle*> shapes;  // some are deleted, and used all the same
  std::vector<TF_DimensionHandle*> dims;
};

template <class T>
T* pick(Input* in, const std::vector<T*>& from) {
  const std::size_t which = in->below(from.size() + 1);
  return which == from.size() ? nullptr : from[which];
}

void make(Input* in, TF_ShapeInferenceContext* ctx, Handles* made) {
  switch (in->below(6)) {
    case 0: made->shapes.push_back(TF_ShapeInferenceContextScalar(ctx)); break;
    case 1: made->shapes.push_back(TF_ShapeInferenceContextVectorFromSize(ctx, in->number())); break;
    case 2: made->dims.push_back(TF_NewDimensionHandle()); break;
    case 3: TF_DeleteShapeHandle(pick(in, made->shapes)); break;
    case 4: TF_DeleteDimensionHandle(pick(in, made->dims)); break;
    default: made->shapes.push_back(TF_NewShapeHandle());
  }
}

void use(Input* in, TF_ShapeInferenceContext* ctx, Handles* made, TF_Status* status) {
  TF_ShapeHandle* a = pick(in, made->shapes);
  TF_ShapeHandle* b = pick(in, made->shapes);
  const auto i = static_cast<std::int64_t>(in->number());
  switch (in->below(9)) {
    case 0: TF_ShapeInferenceContextGetInput(ctx, static_cast<int>(i), a, status); break;
    case 1: TF_ShapeInferenceContextSetOutput(ctx, static_cast<int>(i), a, status); break;
    case 2: TF_ShapeInferenceContextWithRank(ctx, a, i, b, status); break;
    case 3: TF_ShapeInferenceContextWithRankAtLeast(ctx, a, i, b, status); break;
    case 4: TF_ShapeInferenceContextWithRankAtMost(ctx, a, i, b, status); break;
    case 5: TF_ShapeInferenceContextDim(ctx, a, i, pick(in, made->dims)); break;
    case 6: {
      const auto end = static_cast<std::int64_t>(in->number());
      TF_ShapeInferenceContextSubshape(ctx, a, i, end, b, status);
      break;
    }
    case 7: TF_ShapeInferenceContextConcatenateShapes(ctx, a, b, a, status); break;
    default: {
      TF_DataType type = TF_FLOAT;
      TF_ShapeInferenceContext_GetAttrType(ctx, in->text(3).c_str(), &type, status);
    }
  }
  if (TF_ShapeInferenceContextRank(ctx, a) > 254) __builtin_trap();
  if (TF_DimensionHandleValue(pick(in, made->dims)) < -1) __builtin_trap();
}

void run(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  Handles made;
  while (program->left() > 0 && made.shapes.size() < 64) {
    if (program->below(3) == 0) {
      make(program, ctx, &made);
    } else {
      use(program, ctx, &made, status);
    }
  }
  if (TF_ShapeInferenceContextNumInputs(ctx) % 2 == 0) TF_SetStatus(status, TF_OK, nullptr);
}

bool define() {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Fuzzed");
  TF_OpDefinitionBuilderAddAttr(op, "N: int >= 0 = 2");
  TF_OpDefinitionBuilderAddAttr(op, "T: type = DT_HALF");
  TF_OpDefinitionBuilderAddAttr(op, "L: list(type) >= 0 = []");
  TF_OpDefinitionBuilderAddInput(op, "x: N * T");
  TF_OpDefinitionBuilderAddInput(op, "z: L");
  TF_OpDefinitionBuilderAddOutput(op, "y: N * T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, run);
  TF_RegisterOpDefinition(op, status);
  const bool fine = TF_GetCode(status) == TF_OK;
  TF_DeleteStatus(status);
  return fine;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool defined = define();
  if (!defined) __builtin_trap();
  Input in(data, size);
  std::vector<int> ranks(in.below(4));
  std::vector<std::int64_t> dims;
  for (int& rank : ranks) {
    rank = static_cast<int>(in.below(6)) - 1;
    for (int k = 0; k < rank; ++k) dims.push_back(static_cast<std::int64_t>(in.number()));
  }
  const std::string node = in.text(in.below(2) == 0 ? 0 : 60);
  TF_Status* status = TF_NewStatus();
  TF_Buffer* node_def = TF_NewBufferFromString(node.data(), node.size());
  TF_Buffer* out = TF_NewBuffer();
  program = &in;
  DS_InferShapes("Fuzzed", node_def, static_cast<int>(ranks.size()), ranks.data(), dims.data(), out,
                 status);
  if ((TF_GetCode(status) == TF_OK) != (out->length > 0)) __builtin_trap();
  TF_DeleteBuffer(out);
  TF_DeleteBuffer(node_def);
  TF_DeleteStatus(status);
  return 0;
}
