// Op definition builders: see drystone/ops.h.
#include <functional>

#include "core/failure.h"
#include "core/library.h"
#include "drystone/ops.h"
#include "library/registering.h"
#include "ops/cursor.h"
#include "ops/handles.h"
#include "ops/registry.h"
#include "ops/spec.h"
#include "ops/validate.h"

struct TF_OpDefinitionBuilder {
  std::string name;
  std::vector<std::string> attrs;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> errors;
  drystone::host::ops::OpDef properties;  // flags and deprecation
  drystone::host::ops::ShapeFunction shape_function = nullptr;
};

namespace drystone::host::ops {
namespace {

Handles<TF_OpDefinitionBuilder>& builders() {
  static auto& all = *new Handles<TF_OpDefinitionBuilder>("op definition builder");
  return all;
}

// Runs `change` on a builder that is alive.
void change(TF_OpDefinitionBuilder* builder,
            const std::function<void(TF_OpDefinitionBuilder&)>& change) noexcept {
  answered(0, [&] {
    change(builders().get(builder));
    return 0;
  });
}

void append(TF_OpDefinitionBuilder& builder, std::vector<std::string>& specs, const char* kind,
            const char* spec) {
  if (spec != nullptr) {
    specs.emplace_back(spec);
  } else {
    builder.errors.push_back(std::string("the spec of an ") + kind + " is NULL");
  }
}

// Runs `parse(spec)` for each spec and remembers what went wrong.
void each(TF_OpDefinitionBuilder& builder, const std::vector<std::string>& specs, const char* kind,
          const std::function<void(const std::string&)>& parse) {
  for (const std::string& spec : specs) {
    try {
      parse(spec);
    } catch (const SpecError& error) {
      builder.errors.push_back(std::string(kind) + " \"" + spec + "\", position " +
                               std::to_string(error.position) + ": " + error.message);
    }
  }
}

bool is_resource(const std::vector<ArgDef>& args) {
  constexpr int kResource = 20;
  for (const ArgDef& arg : args) {
    if (arg.type == kResource) return true;
  }
  return false;
}

void parse_args(TF_OpDefinitionBuilder& builder, OpDef& def) {
  each(builder, builder.inputs, "input",
       [&](const std::string& spec) { def.inputs.push_back(parse_arg_spec(spec, def.attrs)); });
  each(builder, builder.outputs, "output",
       [&](const std::string& spec) { def.outputs.push_back(parse_arg_spec(spec, def.attrs)); });
}

OpDef finish(TF_OpDefinitionBuilder& builder) {
  OpDef def = builder.properties;
  def.name = builder.name;
  each(builder, builder.attrs, "attribute",
       [&](const std::string& spec) { def.attrs.push_back(parse_attr_spec(spec)); });
  if (builder.errors.empty()) parse_args(builder, def);  // they refer to attributes
  if (is_resource(def.inputs) || is_resource(def.outputs)) def.is_stateful = true;
  if (builder.errors.empty()) {
    try {
      validate(def);
      return def;
    } catch (const Failure& failure) {
      builder.errors.push_back(failure.message);
    }
  }
  std::string all;
  for (const std::string& error : builder.errors) all += (all.empty() ? "" : "; ") + error;
  fail(TF_INVALID_ARGUMENT, "op " + builder.name + " of " + current_origin() + ": " + all);
}

void register_definition(TF_OpDefinitionBuilder& builder, const void* caller) {
  try {
    require_registering("ops are registered in entry functions only, such as TF_InitKernel", caller);
    add(finish(builder), builder.shape_function, current_origin());
  } catch (const Failure& failure) {
    record_error(failure.message);
    throw;
  }
}

}  // namespace
}  // namespace drystone::host::ops

namespace host = drystone::host;
namespace ops = drystone::host::ops;

extern "C" {

TF_CAPI_EXPORT TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name) {
  return host::answered<TF_OpDefinitionBuilder*>(nullptr, [&] {
    TF_OpDefinitionBuilder fresh;
    if (op_name != nullptr) fresh.name = op_name;
    return ops::builders().add(std::move(fresh), nullptr);
  });
}

TF_CAPI_EXPORT void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder, TF_Status* status) {
  const void* const caller = __builtin_return_address(0);
  host::guarded(status, __func__, [&] {
    TF_OpDefinitionBuilder taken = std::move(ops::builders().get(builder));
    ops::builders().remove(builder);
    ops::register_definition(taken, caller);
  });
}

TF_CAPI_EXPORT void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* builder) {
  ops::builders().remove(builder);
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* builder,
                                                  const char* attr_spec) {
  ops::change(builder, [&](auto& b) { ops::append(b, b.attrs, "attribute", attr_spec); });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* builder,
                                                   const char* input_spec) {
  ops::change(builder, [&](auto& b) { ops::append(b, b.inputs, "input", input_spec); });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* builder,
                                                    const char* output_spec) {
  ops::change(builder, [&](auto& b) { ops::append(b, b.outputs, "output", output_spec); });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder* builder, bool) {
  ops::change(builder, [](auto& b) { b.properties.is_commutative = true; });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder* builder, bool) {
  ops::change(builder, [](auto& b) { b.properties.is_aggregate = true; });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder* builder, bool) {
  ops::change(builder, [](auto& b) { b.properties.is_stateful = true; });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetAllowsUninitializedInput(
    TF_OpDefinitionBuilder* builder, bool) {
  ops::change(builder, [](auto& b) { b.properties.allows_uninitialized_input = true; });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder* builder, int version,
                                                     const char* explanation) {
  ops::change(builder, [&](auto& b) {
    if (b.properties.deprecated) b.errors.emplace_back("Deprecated was called twice");
    b.properties.deprecated = version;
    b.properties.deprecation = explanation == nullptr ? "" : explanation;
  });
}

TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder, void (*shape_inference_func)(TF_ShapeInferenceContext* ctx,
                                                                  TF_Status* status)) {
  ops::change(builder, [&](auto& b) { b.shape_function = shape_inference_func; });
}

}  // extern "C"
