// Optimizers from an embedding program without Python: arguments are pairs of a plugin and its
// device type, "-" for one that must be refused. Built with sanitizers.
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "checking.h"
#include "drystone/optimizer.h"
#include "drystone/sdk/wire.hpp"
#include "drystone_host/core.h"
#include "drystone_host/library.h"
#include "drystone_host/optimizer.h"

namespace {

using drystone::wire::Writer;

struct Status {
  TF_Status* status = TF_NewStatus();
  ~Status() { TF_DeleteStatus(status); }
  operator TF_Status*() { return status; }
  TF_Code code() const { return TF_GetCode(status); }
  bool ok() const { return code() == TF_OK; }
};

struct Buffer {
  TF_Buffer* buffer = TF_NewBuffer();
  ~Buffer() { TF_DeleteBuffer(buffer); }
  operator TF_Buffer*() { return buffer; }
  std::string text() const {
    return {static_cast<const char*>(buffer->data), buffer->length};
  }
};

std::string node(const char* name, const char* op, const char* device) {
  std::string out;
  Writer writer(&out);
  writer.bytes(1, name);
  writer.bytes(2, op);
  if (*device != '\0') writer.bytes(4, device);
  return out;
}

// Two nodes, one with a device, and a function library with one function.
std::string graph() {
  std::string out;
  std::string signature;
  std::string function;
  std::string library;
  Writer(&signature).bytes(1, "own");
  Writer(&function).bytes(1, signature);
  Writer(&library).bytes(1, function);
  Writer writer(&out);
  writer.bytes(1, node("x", "NoOp", ""));
  writer.bytes(1, node("y", "NoOp", "/device:CPU:0"));
  writer.bytes(2, library);
  return out;
}

struct Item {
  explicit Item(const std::string& bytes) {
    static const char* const values[] = {"x", "y:0"};
    static const size_t lengths[] = {1, 3};
    DS_ItemSpec spec{};
    spec.struct_size = DS_ITEM_SPEC_STRUCT_SIZE;
    spec.graph = bytes.data();
    spec.graph_length = bytes.size();
    spec.fetches = {values, lengths, 2};
    spec.feeds = {values, lengths, 1};
    spec.preserve = {values, lengths, 2};
    spec.default_device = "/device:CPU:7";
    item = DS_NewItem(&spec, status);
  }
  ~Item() { DS_DeleteItem(item); }
  Status status;
  TF_GrapplerItem* item = nullptr;
};

int asked = 0;

// Inference that knows one node with one output, or fails when `context` says so.
void infer(void* context, const TF_Buffer*, const DS_Names* feeds, int flags, TF_Buffer* out,
           TF_Status* status) {
  ++asked;
  CHECK(feeds->count == 1);
  if (context != nullptr) return TF_SetStatus(status, TF_ABORTED, "no inference today");
  std::string op;
  std::string entry;
  std::string list;
  Writer(&op).bytes(5, flags == 0 ? "\x08\x01" : "\x08\x03");
  Writer(&entry).bytes(1, op);
  Writer(&entry).bytes(5, "y");
  Writer(&list).bytes(1, entry);
  if (flags == 15) list = "\xFF";
  TF_Buffer* made = TF_NewBufferFromString(list.data(), list.size());
  *out = *made;
  *made = TF_Buffer{nullptr, 0, nullptr};
  TF_DeleteBuffer(made);
}

void offer(void* context) {
  DS_OptimizerServices services{};
  services.struct_size = DS_OPTIMIZER_SERVICES_STRUCT_SIZE;
  services.context = context;
  services.infer = infer;
  DS_SetOptimizerServices(&services);
}

void test_names() {
  Item item(graph());
  CHECK(item.status.ok());
  Status status;
  int count = -1;
  size_t bytes = 0;
  char* values[4] = {};
  size_t lengths[4] = {};
  std::vector<char> storage(4);
  TF_GetFetchNodesListSize(item.item, &count, &bytes, status);
  CHECK(count == 2 && bytes == 4);
  TF_GetFetchNodesList(item.item, values, lengths, 2, storage.data(), storage.size(), status);
  CHECK(status.ok() && std::string(values[1], lengths[1]) == "y:0");
  TF_GetFetchNodesList(item.item, values, lengths, 2, storage.data(), 3, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  TF_GetNodesToPreserveList(item.item, values, lengths, 2, nullptr, 4, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  TF_GetNodesToPreserveList(item.item, nullptr, lengths, 2, storage.data(), 4, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  TF_GetNodesToPreserveListSize(item.item, nullptr, &bytes, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  TF_GetFetchNodesSize(item.item, nullptr, nullptr);
  TF_GetFetchNodesList(item.item, values, lengths, 2, storage.data(), 3, nullptr);
}

void test_properties() {
  Status status;
  TF_GraphProperties* kept = nullptr;
  {
    Item item(graph());
    TF_GraphProperties* properties = TF_NewGraphProperties(item.item);
    TF_InferStatically(properties, 1, 0, 0, 0, status);
    CHECK(status.code() == TF_UNAVAILABLE);
    offer(nullptr);
    asked = 0;
    for (int k = 0; k < 3; ++k) TF_InferStatically(properties, 0, 0, 0, 0, status);
    CHECK(status.ok() && asked == 1);
    Buffer out;
    TF_Buffer* list[] = {out};
    TF_GetOutputPropertiesList(properties, "y", list, 1, status);
    CHECK(status.ok() && out.text() == "\x08\x01");
    TF_GetOutputPropertiesList(properties, "y", list, 1, status);
    CHECK(status.code() == TF_INVALID_ARGUMENT);  // the buffer is full
    TF_GetOutputPropertiesList(properties, "y", nullptr, 1, status);
    CHECK(status.code() == TF_INVALID_ARGUMENT);
    TF_GetInputPropertiesList(properties, "nobody", list, -1, status);
    CHECK(status.code() == TF_INVALID_ARGUMENT);
    TF_InferStatically(properties, 1, 1, 1, 1, status);
    CHECK(status.code() == TF_INTERNAL);  // malformed, and the former answer stays
    int count = 0;
    TF_GetOutputPropertiesListSize(properties, "y", &count, status);
    CHECK(count == 1);
    kept = properties;
  }
  TF_InferStatically(kept, 0, 0, 0, 0, status);
  CHECK(status.code() == TF_FAILED_PRECONDITION);
  TF_DeleteGraphProperties(kept);
  offer(&asked);
  Item item(graph());
  TF_GraphProperties* properties = TF_NewGraphProperties(item.item);
  TF_InferStatically(properties, 0, 0, 0, 0, status);
  CHECK(status.code() == TF_ABORTED);
  TF_DeleteGraphProperties(properties);
  DS_SetOptimizerServices(nullptr);
}

void test_functions() {
  Status status;
  const std::string bytes = graph();
  TF_Buffer* buffer = TF_NewBufferFromString(bytes.data(), bytes.size());
  TF_FunctionLibraryDefinition* library = TF_NewFunctionLibraryDefinition(buffer, status);
  TF_DeleteBuffer(buffer);
  Buffer out;
  TF_LookUpOpDef(library, "own", out, status);
  CHECK(status.ok() && out.text() == "\x0A\x03own");
  Buffer other;
  TF_LookUpOpDef(library, "NoSuchOp", other, status);
  CHECK(status.code() == TF_NOT_FOUND);
  TF_LookUpOpDef(library, nullptr, other, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  TF_DeleteFunctionLibraryDefinition(library);
  TF_DeleteFunctionLibraryDefinition(nullptr);
}

// Every prefix of a graph, and every byte of it changed: an item or an error, never more.
void test_damaged_graphs() {
  const std::string whole = graph();
  for (size_t k = 0; k <= whole.size(); ++k) {
    const Item cut(whole.substr(0, k));
    CHECK((cut.item == nullptr) != cut.status.ok());
  }
  for (size_t k = 0; k < whole.size(); ++k) {
    for (const int bit : {0x80, 0x01, 0x7F}) {
      std::string damaged = whole;
      damaged[k] = static_cast<char>(damaged[k] ^ bit);
      const Item item(damaged);
      Status status;
      TF_Buffer view{damaged.data(), damaged.size(), nullptr};
      TF_DeleteFunctionLibraryDefinition(TF_NewFunctionLibraryDefinition(&view, status));
    }
  }
}

void test_nulls() {
  Status status;
  Buffer out;
  CHECK(DS_NewItem(nullptr, status) == nullptr && !status.ok());
  DS_ItemSpec spec{};
  CHECK(DS_NewItem(&spec, status) == nullptr && status.code() == TF_INVALID_ARGUMENT);
  spec.struct_size = DS_ITEM_SPEC_STRUCT_SIZE;
  spec.feeds.count = -1;
  CHECK(DS_NewItem(&spec, status) == nullptr && status.code() == TF_INVALID_ARGUMENT);
  spec.feeds.count = 2;
  CHECK(DS_NewItem(&spec, status) == nullptr && status.code() == TF_INVALID_ARGUMENT);
  spec.feeds.count = 0;
  spec.graph_length = 5;
  CHECK(DS_NewItem(&spec, status) == nullptr && status.code() == TF_INVALID_ARGUMENT);
  DS_DeleteItem(nullptr);
  CHECK(DS_RunOptimizer(nullptr, nullptr, nullptr, status) == 0 && !status.ok());
  CHECK(DS_RunOptimizer("CPU", nullptr, out, status) == 0 && !status.ok());
  Item item(graph());
  CHECK(DS_RunOptimizer("NOBODY", item.item, out, status) == 0);
  CHECK(status.code() == TF_NOT_FOUND);
  CHECK(DS_RunOptimizer("NOBODY", item.item, nullptr, nullptr) == 0);
  CHECK(TF_GetGrapplerItem(nullptr, status) == nullptr && !status.ok());
  CHECK(TF_GetGrapplerItem(out, status) == nullptr && status.code() == TF_INVALID_ARGUMENT);
  CHECK(TF_NewGraphProperties(nullptr) == nullptr);
  TF_InferStatically(nullptr, 0, 0, 0, 0, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  int count = 7;
  TF_GetInputPropertiesSize(nullptr, nullptr, &count);
  CHECK(count == 0);
  TF_DeleteGraphProperties(nullptr);
  CHECK(TF_NewFunctionLibraryDefinition(nullptr, status) == nullptr && !status.ok());
  TF_LookUpOpDef(nullptr, "x", out, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  DS_ListOptimizers(nullptr, status);
  CHECK(!status.ok());
}

void run_on_threads(const char* device) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([device] {
      for (int n = 0; n < 20; ++n) {
        Item item(graph());
        Buffer out;
        Status status;
        const int changed = DS_RunOptimizer(device, item.item, out, status);
        CHECK(changed == 0 || status.ok());
        if (n == 0) std::printf("%s: %d %s\n", device, changed, TF_Message(status));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void test_plugin(const char* path, const char* device) {
  Status status;
  DS_Library* library = DS_OpenLibrary(path, status);
  CHECK(status.ok());
  const char* symbols[4] = {};
  CHECK(DS_LibraryEntries(library, symbols, 4) >= 1);
  DS_InitLibrary(library, symbols[0], status);
  if (std::strcmp(device, "-") == 0) {
    CHECK(!status.ok());
    std::printf("refused: %s\n", TF_Message(status));
    return;
  }
  CHECK(status.ok());
  run_on_threads(device);
}

}  // namespace

int main(int count, char** arguments) {
  DS_LiveObjects before{};
  DS_LiveObjects after{};
  before.struct_size = after.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&before);
  test_names();
  test_properties();
  test_functions();
  test_damaged_graphs();
  test_nulls();
  for (int k = 1; k + 1 < count; k += 2) test_plugin(arguments[k], arguments[k + 1]);
  Status status;
  {
    Buffer list;
    DS_ListOptimizers(list, status);
    std::printf("%s\n", list.text().c_str());
  }
  DS_GetLiveObjects(&after);
  CHECK(after.items == before.items && after.buffers == before.buffers);
  return help::report();
}
