// Devices from an embedding program without Python: the first argument is the fake device of the
// examples, the others are plugins that the host must refuse or use. Built with sanitizers.
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "checking.h"
#include "drystone_host/core.h"
#include "drystone_host/device.h"
#include "drystone_host/library.h"

namespace {

struct Status {
  TF_Status* status = TF_NewStatus();
  ~Status() { TF_DeleteStatus(status); }
  operator TF_Status*() { return status; }
  bool ok() const { return TF_GetCode(status) == TF_OK; }
  std::string text() const { return TF_Message(status); }
};

std::string listed(void (*list)(TF_Buffer*, TF_Status*)) {
  Status status;
  TF_Buffer* buffer = TF_NewBuffer();
  list(buffer, status);
  CHECK(status.ok());
  std::string text(static_cast<const char*>(buffer->data), buffer->length);
  TF_DeleteBuffer(buffer);
  return text;
}

void load(const char* path, bool* registered) {
  Status status;
  DS_Library* library = DS_OpenLibrary(path, status);
  CHECK(status.ok());
  DS_InitLibrary(library, "SE_InitPlugin", status);
  *registered = status.ok();
  if (!status.ok()) std::printf("%s\n", status.text().c_str());
  Status profiler;
  if (DS_LibrarySymbol(library, "TF_InitProfiler") != nullptr) {
    DS_InitLibrary(library, "TF_InitProfiler", profiler);
    CHECK(profiler.ok());
  }
}

void round_trips(DS_Device* device) {
  Status status;
  DS_Stream* stream = DS_NewStream(device, status);
  DS_Event* event = DS_NewEvent(device, status);
  for (int k = 0; k < 50; ++k) {
    const std::vector<char> sent(1024, static_cast<char>(k));
    std::vector<char> got(1024);
    DS_DeviceMemory* one = DS_AllocateDeviceMemory(device, 1024, status);
    DS_DeviceMemory* two = DS_AllocateDeviceMemory(device, 1024, status);
    DS_CopyToDevice(stream, one, sent.data(), 1024, status);
    DS_CopyOnDevice(stream, two, one, 1024, status);
    DS_RecordEvent(stream, event, status);
    DS_BlockForEvent(event, status);
    DS_CopyToHost(nullptr, got.data(), two, 1024, status);
    CHECK(status.ok() && got == sent);
    DS_FreeDeviceMemory(one);
    DS_FreeDeviceMemory(two);
  }
  DS_DeleteEvent(event);
  DS_DeleteStream(stream);
}

void test_threads() {
  Status status;
  DS_Device* device = DS_GetDevice("FAKE", 0, status);
  CHECK(status.ok() && device != nullptr);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back(round_trips, device);
  for (std::thread& thread : threads) thread.join();
  CHECK(DS_DeviceCount("FAKE", status) == 2);
}

void test_profile() {
  Status status;
  DS_StartProfiler("FAKE", status);
  CHECK(status.ok());
  DS_StopProfiler("FAKE", status);
  TF_Buffer* profile = TF_NewBuffer();
  DS_CollectProfile("FAKE", profile, status);
  CHECK(status.ok() && profile->length > 20);
  DS_CollectProfile("FAKE", profile, status);
  CHECK(TF_GetCode(status) == TF_INVALID_ARGUMENT);  // the buffer holds data
  TF_DeleteBuffer(profile);
}

// Devices of a changed plugin may be refused; nothing else may happen.
void test_variant(const char* path, const char* type) {
  bool registered = false;
  load(path, &registered);
  Status status;
  DS_Device* device = registered ? DS_GetDevice(type, 0, status) : nullptr;
  if (device != nullptr) {
    round_trips(device);
  } else if (registered) {
    std::printf("%s\n", status.text().c_str());
  }
}

}  // namespace

int main(int count, char** arguments) {
  bool registered = false;
  load(arguments[1], &registered);
  CHECK(registered);
  test_threads();
  test_profile();
  for (int k = 2; k + 1 < count; k += 2) test_variant(arguments[k], arguments[k + 1]);
  CHECK(listed(DS_ListDevices).find("FAKE_PLATFORM") != std::string::npos);
  CHECK(listed(DS_ListProfilers).find("FAKE") != std::string::npos);
  DS_ShutdownDevices();
  CHECK(listed(DS_ListDevices) == "[]");
  CHECK(listed(DS_ListProfilers) == "[]");
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.handles == 0 && live.statuses == 0 && live.buffers == 0);
  return help::report();
}
