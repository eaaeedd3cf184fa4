// Registering kernels, choosing one, and what a create function reads. Built with sanitizers.
#include <stdexcept>

#include "kernels_help.h"

namespace {

using namespace help;
using drystone::sdk::Shape;

// One op with an attribute of every kind, "d_" ones by default only.
Op many_op() {
  Op op{"Many", {}, {}, {}};
  for (const char* name : {"s", "i", "f", "b", "t", "shape", "unknown", "tensor", "func", "ls",
                           "li", "lf", "lb", "lt", "lshape", "ltensor", "lempty", "big"}) {
    op.attrs.push_back(attr_def(name, "any"));
  }
  op.attrs.push_back(attr_def("d_int", "int", attr::integer(41)));
  op.attrs.push_back(attr_def("d_none", "int"));
  return op;
}

std::string scalar_proto(float value) {
  return drystone::sdk::tensor_proto(Shape{std::initializer_list<int64_t>{}},
                                     std::vector<float>{value});
}

Node many_node() {
  std::string tensors;
  for (const float value : {1.0F, 2.0F}) tensors += field(8, scalar_proto(value));
  return {"Many",
          {{"s", attr::string("hello")},
           {"i", attr::integer(-7)},
           {"big", attr::integer(int64_t{1} << 40)},
           {"f", attr::real(1.5F)},
           {"b", attr::boolean(true)},
           {"t", attr::type(TF_HALF)},
           {"shape", attr::shape(Shape{2, -1, 3})},
           {"unknown", attr::shape(Shape())},
           {"tensor", attr::tensor(scalar_proto(2.5F))},
           {"func", attr::function("body")},
           {"ls", attr::strings({"a", "", "ccc"})},
           {"li", attr::integers({1, -2, 3})},
           {"lf", attr::reals({0.5F, 1.5F})},
           {"lb", attr::booleans({true, false})},
           {"lt", attr::types({TF_FLOAT, TF_INT64})},
           {"lshape", attr::shapes({Shape{1, 2}, Shape(), Shape{3}})},
           {"ltensor", field(1, tensors)},
           {"lempty", field(1, "")}},
          {},
          "many"};
}

void test_scalars(TF_OpKernelConstruction* ctx) {
  Status status;
  TF_DataType type{};
  int32_t small = 0;
  int64_t large = 0;
  float real = 0;
  TF_Bool flag = 0;
  char text[8] = "-------";
  TF_OpKernelConstruction_GetAttrType(ctx, "t", &type, status);
  CHECK(status.ok() && type == TF_HALF);
  TF_OpKernelConstruction_GetAttrInt32(ctx, "i", &small, status);
  CHECK(status.ok() && small == -7);
  TF_OpKernelConstruction_GetAttrInt64(ctx, "big", &large, status);
  CHECK(status.ok() && large == int64_t{1} << 40);
  TF_OpKernelConstruction_GetAttrInt64(ctx, "d_int", &large, status);
  CHECK(status.ok() && large == 41);
  TF_OpKernelConstruction_GetAttrFloat(ctx, "f", &real, status);
  CHECK(status.ok() && real == 1.5F);
  TF_OpKernelConstruction_GetAttrBool(ctx, "b", &flag, status);
  CHECK(status.ok() && flag == 1);
  TF_OpKernelConstruction_GetAttrString(ctx, "s", text, 3, status);
  CHECK(status.ok() && std::string(text) == "hel----");
  TF_OpKernelConstruction_GetAttrString(ctx, "s", text, 7, status);
  CHECK(status.ok() && std::string(text) == "hello--");
  TF_OpKernelConstruction_GetAttrInt32(ctx, "big", &small, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "attribute 'big' of node 'many' is not an int that fits"));
  CHECK(small == -7);
}

void test_scalar_errors(TF_OpKernelConstruction* ctx) {
  Status status;
  int64_t large = 5;
  float real = 5;
  TF_Bool flag = 5;
  TF_DataType type = TF_INT8;
  char text[4] = "...";
  TF_OpKernelConstruction_GetAttrInt64(ctx, "absent", &large, status);
  CHECK(status.says(TF_NOT_FOUND, "node 'many' of op 'Many' has no attribute 'absent'"));
  TF_OpKernelConstruction_GetAttrInt64(ctx, "d_none", &large, status);
  CHECK(status.says(TF_NOT_FOUND, "d_none"));
  TF_OpKernelConstruction_GetAttrInt64(ctx, "s", &large, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not an int"));
  TF_OpKernelConstruction_GetAttrFloat(ctx, "i", &real, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not a float"));
  TF_OpKernelConstruction_GetAttrBool(ctx, "i", &flag, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not a bool"));
  TF_OpKernelConstruction_GetAttrType(ctx, "lt", &type, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not a type"));
  TF_OpKernelConstruction_GetAttrString(ctx, "i", text, 4, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not a string"));
  TF_OpKernelConstruction_GetAttrString(ctx, "s", nullptr, 4, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "val must not be NULL"));
  TF_OpKernelConstruction_GetAttrInt64(ctx, nullptr, &large, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "attr_name must not be NULL"));
  TF_OpKernelConstruction_GetAttrInt64(ctx, "i", nullptr, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "val must not be NULL"));
  TF_OpKernelConstruction_GetAttrInt64(nullptr, "i", &large, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "ctx must not be NULL"));
  TF_OpKernelConstruction_GetAttrInt64(ctx, "i", &large, nullptr);
  CHECK(large == -7);
  CHECK(real == 5 && flag == 5 && type == TF_INT8 && std::string(text) == "...");
}

void test_sizes(TF_OpKernelConstruction* ctx) {
  struct Row {
    const char* name;
    int list;
    int total;
  };
  for (const Row& row : std::vector<Row>{{"s", -1, 5},       {"i", -1, -1},      {"f", -1, -1},
                                         {"b", -1, -1},      {"t", -1, -1},      {"shape", -1, 3},
                                         {"unknown", -1, -1}, {"tensor", -1, -1}, {"func", -1, -1},
                                         {"ls", 3, 4},       {"li", 3, -1},      {"lf", 2, -1},
                                         {"lb", 2, -1},      {"lt", 2, -1},      {"lshape", 3, 3},
                                         {"ltensor", 2, -1}, {"lempty", 0, -1}}) {
    Status status;
    int32_t list = 77;
    int32_t total = 77;
    TF_OpKernelConstruction_GetAttrSize(ctx, row.name, &list, &total, status);
    CHECK(status.ok() && list == row.list && total == row.total);
  }
  Status status;
  int32_t list = 77;
  int32_t total = 77;
  TF_OpKernelConstruction_GetAttrSize(ctx, "absent", &list, &total, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "absent") && list == -1 && total == -1);
  TF_OpKernelConstruction_GetAttrSize(ctx, "s", nullptr, nullptr, status);
  CHECK(status.ok());
}

void test_lists(TF_OpKernelConstruction* ctx) {
  Status status;
  int32_t small[4] = {9, 9, 9, 9};
  int64_t large[4] = {9, 9, 9, 9};
  float reals[3] = {9, 9, 9};
  TF_Bool flags[3] = {9, 9, 9};
  TF_DataType types[3] = {TF_INT8, TF_INT8, TF_INT8};
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "li", small, 4, status);
  CHECK(status.ok() && small[0] == 1 && small[1] == -2 && small[2] == 3 && small[3] == 9);
  TF_OpKernelConstruction_GetAttrInt64List(ctx, "li", large, 2, status);
  CHECK(status.ok() && large[1] == -2 && large[2] == 9);
  TF_OpKernelConstruction_GetAttrFloatList(ctx, "lf", reals, 3, status);
  CHECK(status.ok() && reals[1] == 1.5F && reals[2] == 9);
  TF_OpKernelConstruction_GetAttrBoolList(ctx, "lb", flags, 3, status);
  CHECK(status.ok() && flags[0] == 1 && flags[1] == 0 && flags[2] == 9);
  TF_OpKernelConstruction_GetAttrTypeList(ctx, "lt", types, 3, status);
  CHECK(status.ok() && types[1] == TF_INT64 && types[2] == TF_INT8);
  TF_OpKernelConstruction_GetAttrTypeList(ctx, "lempty", nullptr, 0, status);
  CHECK(status.ok());
  TF_OpKernelConstruction_GetAttrTypeList(ctx, "absent", types, 3, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "has no attribute 'absent'"));
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "lf", small, 4, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not a list of ints"));
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "i", small, 4, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not a list of ints"));
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "li", small, -1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "max_vals must not be negative"));
  TF_OpKernelConstruction_GetAttrInt32List(ctx, "li", nullptr, 3, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "vals must not be NULL"));
}

void test_strings(TF_OpKernelConstruction* ctx) {
  Status status;
  char* values[3] = {};
  size_t lengths[3] = {};
  char storage[4];
  TF_OpKernelConstruction_GetAttrStringList(ctx, "ls", values, lengths, 3, storage, 4, status);
  CHECK(status.ok() && std::string(values[0], lengths[0]) == "a" && lengths[1] == 0);
  CHECK(std::string(values[2], lengths[2]) == "ccc");
  TF_OpKernelConstruction_GetAttrStringList(ctx, "ls", values, lengths, 3, storage, 3, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the strings take 4 bytes, storage_size is 3"));
  TF_OpKernelConstruction_GetAttrStringList(ctx, "ls", values, lengths, 2, storage, 1, status);
  CHECK(status.ok());
  TF_OpKernelConstruction_GetAttrStringList(ctx, "ls", nullptr, nullptr, 0, nullptr, 0, status);
  CHECK(status.ok());
  TF_OpKernelConstruction_GetAttrStringList(ctx, "ls", values, nullptr, 3, storage, 4, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "lengths must not be NULL"));
  TF_OpKernelConstruction_GetAttrStringList(ctx, "absent", values, lengths, 3, storage, 4, status);
  CHECK(status.says(TF_NOT_FOUND, "has no attribute 'absent'"));
}

void test_messages(TF_OpKernelConstruction* ctx) {
  Status status;
  int64_t dims[3] = {};
  TF_OpKernelConstruction_GetAttrTensorShape(ctx, "shape", dims, 3, status);
  CHECK(status.ok() && dims[0] == 2 && dims[1] == -1 && dims[2] == 3);
  TF_OpKernelConstruction_GetAttrTensorShape(ctx, "shape", dims, 2, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "has rank 3, there is room for 2"));
  TF_OpKernelConstruction_GetAttrTensorShape(ctx, "unknown", dims, 3, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "a shape of known rank"));
  TF_Tensor* one = nullptr;
  TF_OpKernelConstruction_GetAttrTensor(ctx, "tensor", &one, status);
  CHECK(status.ok() && floats_of(one) == std::vector<float>{2.5F});
  TF_DeleteTensor(one);
  TF_Tensor* two[2] = {};
  TF_OpKernelConstruction_GetAttrTensorList(ctx, "ltensor", two, 2, status);
  CHECK(status.ok() && floats_of(two[1]) == std::vector<float>{2});
  TF_DeleteTensor(two[0]);
  TF_DeleteTensor(two[1]);
  TF_OpKernelConstruction_GetAttrTensor(ctx, "func", &one, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "is not a tensor"));
  CHECK(take(TF_OpKernelConstruction_GetAttrFunction(ctx, "func", status)) == field(1, "body"));
  CHECK(TF_OpKernelConstruction_GetAttrFunction(ctx, "s", status) == nullptr && !status.ok());
  CHECK(take(TF_OpKernelConstruction_GetNodeDef(ctx, status)) == many_node().bytes());
  CHECK(TF_OpKernelConstruction_GetNodeDef(nullptr, status) == nullptr && !status.ok());
  CHECK(text_of(TF_OpKernelConstruction_GetName(ctx)) == "many");
  CHECK(TF_OpKernelConstruction_GetName(nullptr).data == nullptr);
  CHECK(TF_OpKernelConstruction_HasAttr(ctx, "s", status) && status.ok());
  CHECK(TF_OpKernelConstruction_HasAttr(ctx, "d_int", status));
  CHECK(!TF_OpKernelConstruction_HasAttr(ctx, "d_none", status) && status.ok());
  CHECK(!TF_OpKernelConstruction_HasAttr(nullptr, "s", status) && !status.ok());
}

void test_attributes() {
  register_op("Many");
  on_create = [](TF_OpKernelConstruction* ctx) {
    test_scalars(ctx);
    test_scalar_errors(ctx);
    test_sizes(ctx);
    test_lists(ctx);
    test_strings(ctx);
    test_messages(ctx);
  };
  DS_DeleteKernel(must_make(many_op(), many_node()));
  CHECK(created == 1 && deleted == 1);
}

void test_create_fails() {
  on_create = [](TF_OpKernelConstruction* ctx) {
    Status why;
    TF_OpKernelConstruction_Failure(ctx, why);  // OK changes nothing
    TF_SetStatus(why, TF_FAILED_PRECONDITION, "not today");
    TF_OpKernelConstruction_Failure(ctx, why);
    TF_SetStatus(why, TF_ABORTED, "later");
    TF_OpKernelConstruction_Failure(ctx, why);
    TF_OpKernelConstruction_Failure(nullptr, why);
  };
  Status status;
  CHECK(make(many_op(), many_node(), status) == nullptr);
  CHECK(status.says(TF_FAILED_PRECONDITION,
                    "node 'many' (op Many, kernel 'Scripted' of the host program): not today"));
  CHECK(deleted == 2);
  on_create = [](TF_OpKernelConstruction* ctx) { TF_OpKernelConstruction_Failure(ctx, nullptr); };
  CHECK(make(many_op(), many_node(), status) == nullptr);
  CHECK(status.says(TF_INTERNAL, "it failed and gave no status"));
  on_create = [](TF_OpKernelConstruction*) { throw std::runtime_error("oh"); };
  CHECK(make(many_op(), many_node(), status) == nullptr);
  CHECK(status.says(TF_INTERNAL, "its create function threw a C++ exception: oh"));
  on_create = [](TF_OpKernelConstruction*) { throw 1; };
  CHECK(make(many_op(), many_node(), status) == nullptr);
  CHECK(status.says(TF_INTERNAL, "of unknown type"));
  on_create = nullptr;
}

void test_builders() {
  Status status;
  CHECK(TF_NewKernelBuilder(nullptr, "CPU", nullptr, compute, nullptr) == nullptr);
  CHECK(TF_NewKernelBuilder("X", nullptr, nullptr, compute, nullptr) == nullptr);
  CHECK(TF_NewKernelBuilder("X", "CPU", nullptr, nullptr, nullptr) == nullptr);
  CHECK(TF_NewAsyncKernelBuilder("X", "CPU", nullptr, nullptr, nullptr) == nullptr);
  TF_KernelBuilder* builder = TF_NewKernelBuilder("X", "CPU", nullptr, compute, nullptr);
  TF_KernelBuilder_TypeConstraint(builder, "T", static_cast<TF_DataType>(99), status);
  CHECK(status.says(TF_UNIMPLEMENTED, "there is no dtype with the number 99"));
  TF_KernelBuilder_TypeConstraint(builder, nullptr, TF_FLOAT, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "attr_name must not be NULL"));
  TF_KernelBuilder_TypeConstraint(nullptr, "T", TF_FLOAT, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "kernel_builder must not be NULL"));
  TF_KernelBuilder_HostMemory(builder, nullptr);
  TF_KernelBuilder_Label(builder, nullptr);
  TF_KernelBuilder_HostMemory(nullptr, "x");
  TF_KernelBuilder_Label(nullptr, "x");
  TF_KernelBuilder_Priority(nullptr, 1);
  TF_DeleteKernelBuilder(builder);
  TF_DeleteKernelBuilder(nullptr);
  TF_RegisterKernelBuilder("X", nullptr, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "builder must not be NULL"));
  builder = TF_NewKernelBuilder("X", "CPU", nullptr, compute, nullptr);
  TF_RegisterKernelBuilder(nullptr, builder, nullptr);
  builder = TF_NewKernelBuilder("X", "CPU", nullptr, compute, nullptr);
  TF_RegisterKernelBuilder("again", builder, status);
  CHECK(status.says(TF_ALREADY_EXISTS,
                    "kernel 'again' of the host program for op X on device CPU, priority 0 is "
                    "registered already: kernel '' of the host program"));
}

void test_kernel_def() {
  Status status;
  const std::string constraint = field(1, "T") + field(2, attr::types({TF_FLOAT, TF_DOUBLE}));
  const std::string def = field(1, "FromDef") + field(2, "CPU") + field(3, constraint) +
                          field(4, "shape") + field(5, "lab") + field(6, std::uint64_t{7});
  const auto fresh = [] { return TF_NewKernelBuilder("Other", "CPU", nullptr, compute, nullptr); };
  TF_RegisterKernelBuilderWithKernelDef(def.c_str(), "d", fresh(), status);
  CHECK(status.ok());
  TF_RegisterKernelBuilderWithKernelDef("\x0a\x7f", "d", fresh(), status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the KernelDef is malformed"));
  TF_RegisterKernelBuilderWithKernelDef("", "d", fresh(), status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "names no op or no device type"));
  const std::string bad = field(1, "A") + field(2, "CPU") + field(3, field(2, attr::integer(1)));
  TF_RegisterKernelBuilderWithKernelDef(bad.c_str(), "d", fresh(), status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "has no list of allowed values"));
  TF_RegisterKernelBuilderWithKernelDef(nullptr, "d", fresh(), status);
  CHECK(status.ok());
  TF_Buffer* json = TF_NewBuffer();
  DS_ListKernels(nullptr, json, status);
  CHECK(status.ok());
  const std::string text = take(json);
  CHECK(text.find("\"op\":\"FromDef\",\"name\":\"d\",\"device\":\"CPU\",\"priority\":7,"
                  "\"label\":\"lab\",\"constraints\":[{\"attr\":\"T\",\"types\":[1,2]}],"
                  "\"host_memory\":[\"shape\"],\"is_async\":false,"
                  "\"library\":\"the host program\"}") != std::string::npos);
  CHECK(text.find("\"op\":\"Other\",\"name\":\"d\"") != std::string::npos);
  DS_ListKernels(nullptr, nullptr, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
}

// Registers one more kernel of op Pick; its name says which.
void pick(const char* name, TF_DataType type, int priority, const char* label, const char* device) {
  TF_KernelBuilder* builder = TF_NewKernelBuilder("Pick", device, create, compute, destroy);
  TF_KernelBuilder_TypeConstraint(builder, "T", type, nullptr);
  TF_KernelBuilder_Priority(builder, priority);
  TF_KernelBuilder_Label(builder, label);
  must_register(builder, name);
}

int64_t find(const std::vector<std::pair<std::string, std::string>>& attrs, const char* device,
             TF_Status* status) {
  const Bytes op(Op{"Pick", {}, {}, {attr_def("T", "type", attr::type(TF_FLOAT))}}.bytes());
  const Bytes node(Node{"Pick", attrs, {}, "n"}.bytes());
  return DS_FindKernel(node, op, device, status);
}

void test_choice() {
  Status status;
  const int64_t before = find({}, nullptr, status);
  CHECK(before == -1 && status.says(TF_NOT_FOUND, "none is registered"));
  pick("low", TF_FLOAT, 0, "", "CPU");
  pick("high", TF_FLOAT, 5, "", "CPU");
  pick("double", TF_DOUBLE, 0, "", "CPU");
  pick("labelled", TF_FLOAT, 9, "fast", "CPU");
  pick("other", TF_FLOAT, 9, "", "GPU");
  const int64_t high = find({}, nullptr, status);
  CHECK(status.ok() && find({}, "", status) == high && find({}, "CPU", status) == high);
  CHECK(find({{"T", attr::type(TF_DOUBLE)}}, "CPU", status) == high + 1);
  CHECK(find({{"_kernel", attr::string("fast")}}, "CPU", status) == high + 2);
  CHECK(find({}, "GPU", status) == high + 3);
  CHECK(find({{"T", attr::type(TF_HALF)}}, "CPU", status) == -1);
  CHECK(status.says(TF_NOT_FOUND, "no kernel of op 'Pick' for device CPU fits node 'n':"));
  CHECK(status.says(TF_NOT_FOUND, "'low' of the host program: attribute 'T' must be one of float"));
  CHECK(status.says(TF_NOT_FOUND, "'labelled' of the host program: its label is 'fast'"));
  CHECK(status.says(TF_NOT_FOUND, "'other' of the host program: it is for device GPU"));
  CHECK(find({{"T", attr::types({TF_FLOAT, TF_FLOAT})}}, "CPU", status) == high);
  CHECK(find({{"T", attr::types({TF_FLOAT, TF_HALF})}}, "CPU", status) == -1);
  CHECK(find({{"T", attr::integer(1)}}, "CPU", status) == -1);
}

void test_bad_nodes() {
  Status status;
  const Bytes op(many_op().bytes());
  const Bytes node(many_node().bytes());
  const Bytes junk(std::string("\x0a\x7fzz"));
  const Bytes empty{""};
  CHECK(DS_FindKernel(nullptr, op, nullptr, status) == -1 && !status.ok());
  CHECK(DS_FindKernel(junk, op, nullptr, status) == -1);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the NodeDef is malformed"));
  CHECK(DS_FindKernel(empty, op, nullptr, status) == -1);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the NodeDef names no op"));
  CHECK(DS_FindKernel(node, junk, nullptr, status) == -1);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the OpDef is malformed"));
  CHECK(DS_FindKernel(node, nullptr, nullptr, status) == -1);
  CHECK(status.says(TF_NOT_FOUND, "op 'Many' is not registered; pass its OpDef"));
  const Bytes other(Op{"Elsewhere", {}, {}, {}}.bytes());
  CHECK(DS_FindKernel(node, other, nullptr, status) == -1);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the OpDef is that of 'Elsewhere'"));
  CHECK(DS_NewKernel(12345, node, op, nullptr, status) == nullptr);
  CHECK(status.says(TF_NOT_FOUND, "no kernel has the id 12345"));
  const Bytes elsewhere(Node{"Elsewhere", {}, {}, "e"}.bytes());
  CHECK(DS_NewKernel(0, elsewhere, other, nullptr, status) == nullptr);
  CHECK(status.says(TF_INVALID_ARGUMENT, "node 'e' has op 'Elsewhere', the kernel is for op"));
}

void test_bad_signatures() {
  register_op("Sig");
  Status status;
  const auto rejects = [&](const std::string& input, const Node& node, const char* text) {
    CHECK(make({"Sig", {input}, {}, {}}, node, status) == nullptr);
    CHECK(status.says(TF_INVALID_ARGUMENT, text));
  };
  rejects(arg_by("x", 4, "T"), {"Sig", {}, {}}, "attribute 'T' of op 'Sig' must be a dtype");
  rejects(arg_by("x", 4, "T"), {"Sig", {{"T", attr::type(static_cast<TF_DataType>(77))}}, {}},
          "must be a dtype");
  rejects(arg("x", TF_FLOAT) + field(5, "N"), {"Sig", {{"N", attr::integer(-1)}}, {}},
          "must be a number of tensors");
  rejects(arg("x", TF_FLOAT) + field(5, "N"), {"Sig", {{"N", attr::integer(int64_t{1} << 60)}}, {}},
          "must be a number of tensors");
  rejects(arg_by("x", 6, "L"), {"Sig", {{"L", attr::integer(1)}}, {}}, "must be a list of dtypes");
  rejects(arg_by("x", 6, "L"),
          {"Sig", {{"L", attr::types({static_cast<TF_DataType>(0)})}}, {}},
          "must be a list of dtypes");
  rejects(field(1, "x"), {"Sig", {}, {}}, "argument 'x' of op 'Sig' has no dtype in the OpDef");
}

}  // namespace

int main() {
  test_attributes();
  test_create_fails();
  test_builders();
  test_kernel_def();
  test_choice();
  test_bad_nodes();
  test_bad_signatures();
  return help::report();
}
