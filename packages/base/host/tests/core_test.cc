// Core of the host library, called as a plugin and as an embedder would. Built with sanitizers.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "checking.h"
#include "core/json.h"
#include "core/large_blocks.h"
#include "core/printable.h"
#include "drystone/logging.h"
#include "drystone/tstring.h"
#include "drystone_host/core.h"
#include "drystone_host/dlpack.h"

namespace {

void test_status() {
  TF_Status* s = TF_NewStatus();
  CHECK(TF_GetCode(s) == TF_OK && std::strcmp(TF_Message(s), "") == 0);
  TF_SetStatus(s, TF_NOT_FOUND, "gone");
  TF_SetPayload(s, "b", "2");
  TF_SetPayload(s, "a", "1");
  std::string seen;
  TF_ForEachPayload(
      s, [](const char* k, const char* v, void* out) { *static_cast<std::string*>(out) += k + std::string(v); },
      &seen);
  CHECK(seen == "a1b2");
  TF_SetStatus(s, TF_OK, "ignored");
  CHECK(std::strcmp(TF_Message(s), "") == 0);
  TF_SetPayload(s, "a", "1");
  seen.clear();
  TF_ForEachPayload(
      s, [](const char* k, const char*, void* out) { *static_cast<std::string*>(out) += k; }, &seen);
  CHECK(seen.empty());
  TF_SetStatus(s, static_cast<TF_Code>(99), nullptr);
  CHECK(TF_GetCode(s) == TF_UNKNOWN);
  TF_SetStatusFromIOError(s, ENOENT, "opening x");
  CHECK(TF_GetCode(s) == TF_NOT_FOUND);
  CHECK(std::string(TF_Message(s)) == "opening x; No such file or directory");
  TF_SetStatusFromIOError(s, 0, nullptr);
  CHECK(TF_GetCode(s) == TF_OK);
  TF_DeleteStatus(s);
  s = TSL_NewStatus();
  TSL_SetStatus(s, TSL_ABORTED, "lost");
  TSL_SetPayload(s, "k", "v");
  CHECK(TSL_GetCode(s) == TSL_ABORTED && std::strcmp(TSL_Message(s), "lost") == 0);
  TSL_SetStatusFromIOError(s, EACCES, "x");
  CHECK(TSL_GetCode(s) == TSL_PERMISSION_DENIED);
  TSL_DeleteStatus(s);
}

void test_null() {
  TF_DeleteStatus(nullptr);
  TF_SetStatus(nullptr, TF_OK, nullptr);
  TF_SetPayload(nullptr, nullptr, nullptr);
  TF_ForEachPayload(nullptr, nullptr, nullptr);
  TF_SetStatusFromIOError(nullptr, 1, nullptr);
  CHECK(TF_GetCode(nullptr) == TF_OK && *TF_Message(nullptr) == '\0');
  TF_DeleteBuffer(nullptr);
  CHECK(TF_GetBuffer(nullptr).data == nullptr);
  CHECK(TF_NewBufferFromString(nullptr, 4) == nullptr);
  TF_DeleteTensor(nullptr);
  CHECK(TF_TensorData(nullptr) == nullptr && TF_NumDims(nullptr) == 0 && TF_Dim(nullptr, 0) == -1);
  CHECK(TF_TensorElementCount(nullptr) == 0 && TF_TensorByteSize(nullptr) == 0);
  CHECK(TF_TensorMaybeMove(nullptr) == nullptr && !TF_TensorIsAligned(nullptr));
  TF_SetShape(nullptr, nullptr, 0);
  TF_TensorBitcastFrom(nullptr, TF_FLOAT, nullptr, nullptr, 0, nullptr);
  TF_Log(TF_FATAL, nullptr);
  TF_VLog(1, nullptr);
  DS_GetLiveObjects(nullptr);
  CHECK(DS_TakeReleased(nullptr, 3) == 0 && DS_ShareTensor(nullptr) == nullptr);
  TF_StringInit(nullptr);
  TF_StringDealloc(nullptr);
  CHECK(TF_StringGetSize(nullptr) == 0);
}

void test_buffer() {
  char text[] = "abc";
  TF_Buffer* b = TF_NewBufferFromString(text, 3);
  text[0] = 'x';
  CHECK(b->length == 3 && std::memcmp(b->data, "abc", 3) == 0);
  CHECK(TF_GetBuffer(b).data == b->data);
  TF_DeleteBuffer(b);
  b = TF_NewBufferFromString("", 0);
  CHECK(b->data != nullptr && b->length == 0);
  TF_DeleteBuffer(b);
  static int freed;
  b = TF_NewBuffer();
  b->data = text;
  b->length = 3;
  b->data_deallocator = [](void*, size_t n) { freed += static_cast<int>(n); };
  TF_DeleteBuffer(b);
  CHECK(freed == 3);
}

int freed_tensors;
void count_free(void* data, size_t, void* arg) {
  ++*static_cast<int*>(arg);
  std::free(data);
}

void test_tensor() {
  const int64_t dims[] = {2, 3};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 2, 24);
  CHECK(TF_TensorIsAligned(t) && TF_TensorByteSize(t) == 24 && TF_Dim(t, 1) == 3);
  CHECK(TF_Dim(t, 2) == -1 && TF_Dim(t, -1) == -1);
  CHECK(TF_AllocateTensor(TF_FLOAT, dims, 2, 23) == nullptr);
  TF_Tensor* other = DS_ShareTensor(t);
  CHECK(TF_TensorData(other) == TF_TensorData(t));
  CHECK(TF_TensorMaybeMove(t) == nullptr);
  TF_DeleteTensor(other);
  TF_Tensor* moved = TF_TensorMaybeMove(t);
  CHECK(moved != nullptr);
  const int64_t flat[] = {6};
  const int64_t wrong[] = {5};
  TF_SetShape(moved, wrong, 1);
  CHECK(TF_NumDims(moved) == 2);
  TF_SetShape(moved, flat, 1);
  CHECK(TF_NumDims(moved) == 1 && TF_Dim(moved, 0) == 6);
  TF_Status* s = TF_NewStatus();
  TF_Tensor* cast = TF_AllocateTensor(TF_INT32, flat, 1, 24);
  TF_TensorBitcastFrom(moved, TF_DOUBLE, cast, (const int64_t[]){3}, 1, s);
  CHECK(TF_GetCode(s) == TF_OK && TF_TensorType(cast) == TF_DOUBLE);
  CHECK(TF_TensorData(cast) == TF_TensorData(moved));
  TF_TensorBitcastFrom(moved, TF_DOUBLE, cast, wrong, 1, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
  TF_DeleteTensor(cast);
  TF_DeleteTensor(moved);
  TF_DeleteStatus(s);
}

void test_bad_dims() {
  const int64_t huge[] = {INT64_MAX, 3};
  const int64_t negative[] = {-1};
  const int64_t empty[] = {0, INT64_MAX, INT64_MAX};
  CHECK(TF_AllocateTensor(TF_FLOAT, huge, 2, 100) == nullptr);
  CHECK(TF_AllocateTensor(TF_FLOAT, negative, 1, 100) == nullptr);
  CHECK(TF_AllocateTensor(TF_FLOAT, nullptr, 1, 100) == nullptr);
  CHECK(TF_AllocateTensor(TF_FLOAT, huge, -2, 100) == nullptr);
  CHECK(TF_AllocateTensor(TF_FLOAT, huge, 1 << 30, 100) == nullptr);
  CHECK(TF_AllocateTensor(static_cast<TF_DataType>(77), huge, 0, 100) == nullptr);
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, empty, 3, 0);
  CHECK(t != nullptr && TF_TensorElementCount(t) == 0);
  TF_DeleteTensor(t);
  int64_t many[300];
  for (auto& dim : many) dim = 1;
  CHECK(TF_AllocateTensor(TF_FLOAT, many, 300, 4) == nullptr);
  t = TF_AllocateTensor(TF_FLOAT, many, 20, 4);
  CHECK(TF_NumDims(t) == 20 && TF_Dim(t, 19) == 1);
  TF_DeleteTensor(t);
}

void test_given_memory() {
  const int64_t dims[] = {4};
  void* data = std::aligned_alloc(64, 64);
  TF_Tensor* t = TF_NewTensor(TF_INT32, dims, 1, data, 16, count_free, &freed_tensors);
  CHECK(TF_TensorData(t) == data && TF_TensorMaybeMove(t) == nullptr);
  TF_DeleteTensor(t);
  CHECK(freed_tensors == 1);
  char* odd = static_cast<char*>(std::malloc(64));
  t = TF_NewTensor(TF_INT32, dims, 1, odd, 16, count_free, &freed_tensors);
  CHECK(TF_TensorIsAligned(t));
  TF_DeleteTensor(t);
  if (reinterpret_cast<uintptr_t>(odd) % 64 != 0) CHECK(freed_tensors == 2);
  CHECK(TF_NewTensor(TF_INT32, dims, 1, &help::failures, 15, nullptr, nullptr) == nullptr);
  CHECK(TF_NewTensor(TF_INT32, dims, 1, nullptr, 16, nullptr, nullptr) == nullptr);
}

void test_lent_memory() {
  alignas(4) char block[32] = {};
  const int64_t dims[] = {2};
  TF_Status* s = TF_NewStatus();
  TF_Tensor* t = DS_TensorFromMemory(TF_FLOAT, dims, 1, block + 4, 8, 42, s);
  CHECK(t != nullptr && TF_TensorData(t) == block + 4);
  TF_Tensor* other = DS_ShareTensor(t);
  uint64_t tokens[4];
  TF_DeleteTensor(t);
  CHECK(DS_TakeReleased(tokens, 4) == 0);
  std::thread([other] { TF_DeleteTensor(other); }).join();
  CHECK(DS_TakeReleased(tokens, 4) == 1 && tokens[0] == 42);
  CHECK(DS_TensorFromMemory(TF_FLOAT, dims, 1, block, 7, 1, s) == nullptr);
  CHECK(std::string(TF_Message(s)).find("too small") != std::string::npos);
  CHECK(DS_TensorFromMemory(TF_FLOAT, dims, 1, block, 8, 0, s) == nullptr);
  TF_DeleteStatus(s);
}

void test_strings() {
  const int64_t dims[] = {3};
  TF_Tensor* t = TF_AllocateTensor(TF_STRING, dims, 1, 72);
  auto* strings = static_cast<TF_TString*>(TF_TensorData(t));
  CHECK(TF_StringGetSize(&strings[0]) == 0);
  const std::string text(1000, 'y');
  TF_StringCopy(&strings[0], text.data(), text.size());
  CHECK(TF_StringGetType(&strings[0]) == TF_TSTR_LARGE && TF_StringGetSize(&strings[0]) == 1000);
  TF_StringCopy(&strings[0], TF_StringGetDataPointer(&strings[0]) + 10, 22);
  CHECK(TF_StringGetType(&strings[0]) == TF_TSTR_SMALL && TF_StringGetCapacity(&strings[0]) == 22);
  TF_StringAssignView(&strings[1], text.data(), 5);
  CHECK(TF_StringGetType(&strings[1]) == TF_TSTR_VIEW);
  TF_TString_AppendN(&strings[1], "zz", 2);
  CHECK(std::string(TF_StringGetDataPointer(&strings[1]), 7) == "yyyyyzz");
  TF_TString_Append(&strings[1], &strings[1]);
  CHECK(std::string(TF_StringGetDataPointer(&strings[1]), 14) == "yyyyyzzyyyyyzz");
  for (int k = 0; k < 5; ++k) TF_TString_Append(&strings[1], &strings[1]);
  CHECK(TF_StringGetSize(&strings[1]) == 448);
  for (int k = 0; k < 1000; ++k) TF_TString_AppendN(&strings[2], "ab", 2);
  CHECK(TF_StringGetSize(&strings[2]) == 2000);
  TF_TString copy;
  TF_StringInit(&copy);
  TF_TString_Assign(&copy, &strings[2]);
  TF_TString_Move(&strings[0], &copy);
  CHECK(TF_StringGetSize(&strings[0]) == 2000 && TF_StringGetSize(&copy) == 0);
  TF_TString_Resize(&strings[0], 2001, '!');
  CHECK(TF_StringGetDataPointer(&strings[0])[2000] == '!');
  TF_DeleteTensor(t);  // frees what the strings own: LeakSanitizer watches
}

void test_logging() {
  static std::vector<std::string> lines;
  DS_SetLogSink([](void*, int level, const char* m) { lines.push_back(std::to_string(level) + m); },
                nullptr);
  TF_Log(TF_WARNING, "%s %d", "two", 2);
  TF_Log(TF_INFO, "hidden");
  TF_Log(TF_FATAL, "%s", std::string(10000, 'a').c_str());
  TF_VLog(9, "hidden");
  DS_SetLogSink(nullptr, nullptr);
  CHECK(lines.size() == 2 && lines[0] == "1two 2" && lines[1].size() == 10001);
}

void test_what_a_terminal_would_act_on() {
  using drystone::host::printable;
  CHECK(printable("") == "" && printable("plain\ttext, gr\xc3\xbc\xc3\x9f\xe2\x98\x83") ==
                                   "plain\ttext, gr\xc3\xbc\xc3\x9f\xe2\x98\x83");
  CHECK(printable("\x1b[31mred\a\r\x7f") == "\\x1b[31mred\\x07\\x0d\\x7f");
  CHECK(printable("a\xe2\x80\xae" "b\xe2\x81\xa6") == "a\\u202eb\\u2066");
  CHECK(printable("\xc2\x9b" "31m") == "\\x9b31m");          // a control sequence in one letter
  CHECK(printable("\xf3\xa0\x81\x81") == "\\U000e0041");  // an invisible tag
  CHECK(printable("one\nerror: two") == "one\n    error: two");
  CHECK(printable("\xff\xc3\xe2\x80\xc0\x80\xed\xa0\x80") ==
        "\\xff\\xc3\\xe2\\x80\\xc0\\x80\\ud800");  // no UTF-8
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
}

void test_sinks_that_log() {
  static std::vector<std::string> lines;
  const DS_LogSink once = [](void*, int, const char* message) {
    lines.push_back(message);
    TF_Log(TF_ERROR, "logged by the sink, to standard error");
    DS_SetLogSink(nullptr, nullptr);
  };
  DS_SetLogSink(once, nullptr);
  TF_Log(TF_ERROR, "first");
  TF_Log(TF_ERROR, "after the sink took itself away");
  CHECK(lines.size() == 1 && lines[0] == "first");
}

void test_messages_of_themselves() {
  TF_Status* s = TF_NewStatus();
  const std::string text(200, 'm');
  TF_SetStatus(s, TF_NOT_FOUND, text.c_str());
  TF_SetStatus(s, TF_INTERNAL, TF_Message(s));
  CHECK(TF_GetCode(s) == TF_INTERNAL && TF_Message(s) == text);
  TF_DeleteStatus(s);
}

// Handles that were made on another thread, which is over, and deleted twice: what a plugin deletes is told
// from what it has deleted, and from memory of its own, without reading memory that was freed.
void test_handles_that_are_deleted_twice() {
  constexpr int kCount = 3000;
  static std::vector<std::string> said;
  std::vector<TF_Tensor*> tensors(kCount);
  std::vector<TF_Status*> statuses(kCount);
  std::vector<TF_Buffer*> buffers(kCount);
  const int64_t dims[] = {0};
  std::thread([&] {
    for (int k = 0; k < kCount; ++k) {
      tensors[k] = TF_AllocateTensor(TF_FLOAT, dims, 1, 0);
      statuses[k] = TF_NewStatus();
      buffers[k] = TF_NewBuffer();
    }
  }).join();
  DS_SetLogSink([](void*, int, const char* m) { said.emplace_back(m); }, nullptr);
  for (int times = 0; times < 3; ++times) {
    for (int k = 0; k < kCount; ++k) {
      TF_DeleteTensor(tensors[k]);
      TF_DeleteStatus(statuses[k]);
      TF_DeleteBuffer(buffers[k]);
    }
  }
  CHECK(said.size() == 2 * 3 * kCount);
  CHECK(said[0].ends_with("it deleted a tensor that had been deleted"));
  CHECK(said[1].ends_with("it deleted a status that had been deleted"));
  CHECK(said[2].ends_with("it deleted a buffer that had been deleted"));
  said.clear();
  alignas(128) static char none[1024];
  for (std::size_t k = 0; k < sizeof none; ++k) {
    TF_DeleteTensor(reinterpret_cast<TF_Tensor*>(none + k));
    TF_DeleteStatus(reinterpret_cast<TF_Status*>(none + k));
    TF_DeleteBuffer(reinterpret_cast<TF_Buffer*>(none + k));
  }
  CHECK(said.size() == 3 * sizeof none);
  DS_SetLogSink(nullptr, nullptr);
}

void test_numbers_of_json() {
  drystone::host::Json json;
  json.array();
  for (const double number : {0.1, -2.0, 1e300, 0.0 / 0.0}) json.number(number);
  json.close();
  CHECK(json.str() == "[0.1,-2,1e+300,null]");
}

void test_deallocators_that_throw() {
  alignas(64) static float numbers[2] = {1, 2};
  const int64_t dims[] = {2};
  static int calls = 0;
  TF_Tensor* t = TF_NewTensor(
      TF_FLOAT, dims, 1, numbers, sizeof numbers, [](void*, size_t, void*) { throw ++calls; },
      nullptr);
  TF_DeleteTensor(t);
  TF_Buffer* buffer = TF_NewBuffer();
  buffer->data = numbers;
  buffer->length = sizeof numbers;
  buffer->data_deallocator = [](void*, size_t) { throw ++calls; };
  TF_DeleteBuffer(buffer);
  CHECK(calls == 2);
}

void test_strides_of_nothing() {
  const int64_t dims[] = {0, int64_t{1} << 62, 4};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 3, 0);
  CHECK(t != nullptr && TF_TensorElementCount(t) == 0);
  TF_Status* s = TF_NewStatus();
  void* managed = DS_TensorToDLPack(t, 1, 0, s);
  CHECK(managed != nullptr && TF_GetCode(s) == TF_OK);
  DS_DeleteDLPack(managed, 1);
  TF_DeleteStatus(s);
  TF_DeleteTensor(t);
}

void test_large_blocks() {
  using drystone::host::free_large;
  using drystone::host::allocate_large;
  constexpr std::size_t kMega = std::size_t{1} << 20;
  void* one = allocate_large(kMega + 1);
  void* other = allocate_large(kMega + 1);
  CHECK(one != other && reinterpret_cast<std::uintptr_t>(one) % 64 == 0);
  CHECK(drystone::host::large_block_capacity(one) >= kMega + 1);
  std::memset(one, 1, kMega + 1);
  free_large(other);
  CHECK(drystone::host::free_kept() >= kMega + 1);
  CHECK(drystone::host::free_kept() == 0);
  void* again = allocate_large(kMega + 1);
  std::memset(again, 1, kMega + 1);
  for (void* block : {one, again}) free_large(block);
}

}  // namespace

int main() {
  test_status();
  test_large_blocks();
  test_null();
  test_buffer();
  test_tensor();
  test_bad_dims();
  test_given_memory();
  test_lent_memory();
  test_strings();
  test_logging();
  test_what_a_terminal_would_act_on();
  test_sinks_that_log();
  test_messages_of_themselves();
  test_handles_that_are_deleted_twice();
  test_numbers_of_json();
  test_deallocators_that_throw();
  test_strides_of_nothing();
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.statuses == 0 && live.buffers == 0 && live.tensors == 0 && live.memory_blocks == 0);
  DS_LiveObjects old{};
  old.struct_size = 16;
  old.buffers = 7;
  DS_GetLiveObjects(&old);
  CHECK(old.buffers == 7);
  return help::report();
}
