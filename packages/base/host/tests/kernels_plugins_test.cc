// Kernel libraries opened by a program without Python: plugins whose paths are the arguments. Built
// with sanitizers.
//   kernels_plugins_test NULLS SCALE SCALE_AGAIN SCALE_TWICE THROWS_1 THROWS_2 THROWS_3 THROWS_4
#include "drystone_host/library.h"
#include "kernels_help.h"

namespace {

using namespace help;

char** plugins;  // the paths

DS_Library* open(int which, Status& status) {
  DS_Library* library = DS_OpenLibrary(plugins[which], status);
  CHECK(status.ok() && library != nullptr);
  DS_InitLibrary(library, "TF_InitKernel", status);
  return library;
}

std::string description(DS_Library* library) {
  Status status;
  TF_Buffer* json = TF_NewBuffer();
  DS_DescribeLibrary(library, json, status);
  CHECK(status.ok());
  return take(json);
}

std::string kernels() {
  Status status;
  TF_Buffer* json = TF_NewBuffer();
  DS_ListKernels(nullptr, json, status);
  CHECK(status.ok());
  return take(json);
}

int count(const std::string& text, const std::string& part) {
  int out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++out;
  return out;
}

void test_nulls() {
  Status status;
  DS_Library* library = open(0, status);
  CHECK(status.ok());
  const int findings = *static_cast<int*>(DS_LibrarySymbol(library, "kernels_nulls_findings"));
  const char* first = *static_cast<const char**>(DS_LibrarySymbol(library, "kernels_nulls_first"));
  if (findings != 0) std::fprintf(stderr, "%d findings, the first: %s\n", findings, first);
  CHECK(findings == 0);
  CHECK(description(library).find("builder must not be NULL") != std::string::npos);
}

DS_Kernel* scale(const std::vector<std::pair<std::string, std::string>>& attrs, Status& status) {
  const Bytes node(Node{"Scale", attrs, {"x", "shift"}, "s"}.bytes());
  const int64_t id = DS_FindKernel(node, nullptr, nullptr, status);
  return id < 0 ? nullptr : DS_NewKernel(id, node, nullptr, nullptr, status);
}

// Scales {1, 2} by the kernel and adds 0.5.
std::vector<float> scaled(DS_Kernel* kernel, Status& status) {
  TF_Tensor* in[] = {floats({1, 2}), tensor<float>(TF_FLOAT, {}, {0.5F})};
  TF_Tensor* out[] = {nullptr, nullptr};
  DS_RunKernel(kernel, nullptr, in, 2, out, 2, status);
  std::vector<float> values;
  if (status.ok()) {
    values = floats_of(out[0]);
    CHECK(*static_cast<int32_t*>(TF_TensorData(out[1])) == 1);
  }
  for (TF_Tensor* t : {in[0], in[1], out[0], out[1]}) TF_DeleteTensor(t);
  return values;
}

void test_scale() {
  Status status;
  DS_Library* library = open(1, status);
  CHECK(status.ok());
  const auto* alive = static_cast<int*>(DS_LibrarySymbol(library, "scales_alive"));
  const std::string later = attr::string("later");
  const std::string type = attr::type(TF_FLOAT);
  for (const auto& [attrs, wanted] :
       std::vector<std::pair<std::vector<std::pair<std::string, std::string>>, float>>{
           {{{"T", type}}, 2.0F},
           {{{"T", type}, {"factor", attr::real(3)}}, 3.0F},
           {{{"T", type}, {"_kernel", later}}, 2.0F}}) {
    DS_Kernel* kernel = scale(attrs, status);
    CHECK(status.ok() && *alive == 1);
    CHECK(scaled(kernel, status) == std::vector<float>({wanted + 0.5F, 2 * wanted + 0.5F}));
    CHECK(status.ok());
    DS_DeleteKernel(kernel);
    CHECK(*alive == 0);
  }
  CHECK(scale({{"T", type}, {"factor", attr::real(0)}}, status) == nullptr && *alive == 0);
  CHECK(status.says(TF_INVALID_ARGUMENT, "factor must not be 0"));
  CHECK(status.says(TF_INVALID_ARGUMENT, plugins[1]));
  CHECK(scale({}, status) == nullptr);
  CHECK(status.says(TF_NOT_FOUND, "attribute 'T' must be one of float"));
  CHECK(count(kernels(), "\"op\":\"Scale\"") == 4);
}

void test_duplicates() {
  Status status;
  const std::string before = kernels();
  DS_Library* again = open(2, status);
  const std::string facts = description(again);
  CHECK(count(facts, "is registered already: kernel 'Scale' of") == 4);
  CHECK(facts.find(std::string("kernel 'Again' of ") + plugins[2]) != std::string::npos);
  CHECK(facts.find(plugins[1]) != std::string::npos);
  CHECK(kernels() == before);
  DS_Library* twice = open(3, status);
  CHECK(count(description(twice), "is registered already") == 1);
  CHECK(count(kernels(), "\"op\":\"Scale\"") == 8);
  CHECK(count(kernels(), "\"priority\":7") == 4);
}

DS_Kernel* thrower(const std::string& op, Status& status) {
  return make({op, {}, {}, {}}, {op, {}, {}}, status);
}

void test_exceptions() {
  Status status;
  open(4, status);
  CHECK(status.says(TF_INTERNAL, "threw a C++ exception: thrown by the plugin"));
  CHECK(status.says(TF_INTERNAL, plugins[4]));
  CHECK(kernels().find("Throws1") == std::string::npos);
  open(5, status);
  CHECK(status.ok() && thrower("Throws2", status) == nullptr);
  CHECK(status.says(TF_INTERNAL, "its create function threw a C++ exception: thrown by the"));
  open(6, status);
  DS_Kernel* kernel = thrower("Throws3", status);
  CHECK(status.ok());
  DS_RunKernel(kernel, nullptr, nullptr, 0, nullptr, 0, status);
  CHECK(status.says(TF_INTERNAL, "kernel 'Thrower' of "));
  CHECK(status.says(TF_INTERNAL, "its compute function threw a C++ exception: thrown by the"));
  DS_DeleteKernel(kernel);
  open(7, status);
  kernel = thrower("Throws4", status);
  CHECK(status.ok());
  DS_DeleteKernel(kernel);
}

}  // namespace

int main(int arguments, char** values) {
  if (arguments != 9) return 2;
  plugins = values + 1;
  test_nulls();
  test_scale();
  test_duplicates();
  test_exceptions();
  return report();
}
