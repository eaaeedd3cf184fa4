// DS_ functions for memory of devices: allocation, copies, fills.
#include <cstring>
#include <vector>

#include "core/answers.h"
#include "device/objects.h"

namespace drystone::host {
namespace {

void require_size(const DS_DeviceMemory& memory, std::uint64_t size) {
  if (size <= memory.base.size) return;
  fail(TF_OUT_OF_RANGE, std::to_string(size) + " bytes asked for, the memory on " +
                            memory.device->name + " has " + std::to_string(memory.base.size));
}

std::unique_ptr<DS_DeviceMemory> allocate(DS_Device& device, std::uint64_t size) {
  auto memory = std::make_unique<DS_DeviceMemory>();
  memory->device = &device;
  if (!allocate_block(device, size, &memory->base) && size != 0) {
    fail(TF_RESOURCE_EXHAUSTED,
         device.name + " gave no memory for " + std::to_string(size) + " bytes", about(device));
  }
  memory->base.size = size;
  return memory;
}

void to_device(DS_Stream* stream, DS_DeviceMemory& to, const void* from, std::uint64_t size) {
  DS_Device& device = *to.device;
  if (stream == nullptr) {
    execute(device, "sync_memcpy_htod", &SP_StreamExecutor::sync_memcpy_htod, &to.base, from, size);
    return;
  }
  require_same_device(*stream, to);
  execute(device, "memcpy_htod", &SP_StreamExecutor::memcpy_htod, stream->handle, &to.base, from,
          size);
}

void to_host(DS_Stream* stream, void* to, const DS_DeviceMemory& from, std::uint64_t size) {
  DS_Device& device = *from.device;
  if (stream == nullptr) {
    execute(device, "sync_memcpy_dtoh", &SP_StreamExecutor::sync_memcpy_dtoh, to, &from.base, size);
    return;
  }
  require_same_device(*stream, from);
  execute(device, "memcpy_dtoh", &SP_StreamExecutor::memcpy_dtoh, stream->handle, to, &from.base,
          size);
}

// For devices whose layout has no functions that fill.
void fill_over_host(DS_Stream& stream, DS_DeviceMemory& memory, std::uint32_t pattern,
                    std::uint64_t size) {
  std::vector<unsigned char> bytes(size);
  for (std::uint64_t k = 0; k < size; ++k) {
    bytes[k] = static_cast<unsigned char>(pattern >> (8 * (k % 4)));
  }
  block_for_stream(stream);
  to_device(nullptr, memory, bytes.data(), size);
}

void fill8(DS_Stream& stream, DS_DeviceMemory& memory, std::uint8_t pattern, std::uint64_t size) {
  DS_Device& device = *memory.device;
  if (pattern == 0 && device.executor->mem_zero != nullptr) {
    execute(device, "mem_zero", &SP_StreamExecutor::mem_zero, stream.handle, &memory.base, size);
  } else if (device.executor->memset != nullptr) {
    execute(device, "memset", &SP_StreamExecutor::memset, stream.handle, &memory.base, pattern,
            size);
  } else {
    fill_over_host(stream, memory, pattern * 0x01010101U, size);
  }
}

void fill32(DS_Stream& stream, DS_DeviceMemory& memory, std::uint32_t pattern,
            std::uint64_t size) {
  if (size % 4 != 0) fail(TF_INVALID_ARGUMENT, "size must be a multiple of 4");
  DS_Device& device = *memory.device;
  if (device.executor->memset32 != nullptr) {
    execute(device, "memset32", &SP_StreamExecutor::memset32, stream.handle, &memory.base, pattern,
            size);
  } else {
    fill_over_host(stream, memory, pattern, size);
  }
}

// Runs `body` on the stream, or on one made for it and waited for.
template <class Body>
void on_some_stream(DS_Stream* stream, DS_DeviceMemory& memory, Body&& body) {
  if (stream != nullptr) {
    require_same_device(*stream, memory);
    body(*stream);
    return;
  }
  TF_Status status;
  const std::unique_ptr<DS_Stream, void (*)(DS_Stream*)> own(DS_NewStream(memory.device, &status),
                                                             DS_DeleteStream);
  if (own == nullptr) pass_on(status);
  body(*own);
  block_for_stream(*own);
}

// Memory of the host's that a plugin gives.
template <class Function>
void* host_memory(DS_Device& device, const char* what, const char* kind, Function allocate, std::uint64_t size) {
  void* const out = ask(device, what, allocate, size);
  if (out == nullptr) {
    fail(TF_RESOURCE_EXHAUSTED, device.name + " gave no " + kind + " memory for " + std::to_string(size) + " bytes",
         about(device));
  }
  if (!can_read(out, size)) {
    misbehaved(device.name + " " + what, device.platform.library(),
               "answered memory that cannot be read over the " + std::to_string(size) + " bytes", device.name);
  }
  return out;
}

}  // namespace

bool allocate_block(DS_Device& device, std::uint64_t size, SP_DeviceMemoryBase* block) {
  auto padded = DRYSTONE_PADDED_STRUCT(SP_DeviceMemoryBase, SP_DEVICE_MEMORY_BASE_STRUCT_SIZE);
  ask(device, "allocate", &SP_StreamExecutor::allocate, size, std::int64_t{0}, padded.get());
  padded.check();
  *block = *padded;
  block->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  if (block->opaque == nullptr) return false;
  const auto refused = [&](const std::string& how) {
    misbehaved(device.name + " allocate", device.platform.library(), "answered " + how, device.name);
  };
  if (size != 0) {
    const std::lock_guard lock(device.blocks_mutex);
    if (!device.blocks.insert(block->opaque).second) refused("a block that it had given before, and that is in use");
  }
  if (block->size != 0 && block->size < size) {
    const std::uint64_t got = block->size;
    free_block(device, *block);
    refused(std::to_string(got) + " bytes where " + std::to_string(size) + " were asked for");
  }
  block->size = size;
  return true;
}

void free_block(DS_Device& device, SP_DeviceMemoryBase& block) noexcept {
  answered(0, [&] {
    {
      const std::lock_guard lock(device.blocks_mutex);
      device.blocks.erase(block.opaque);
    }
    ask(device, "deallocate", &SP_StreamExecutor::deallocate, &block);
    return 0;
  });
}

void copy_on_device(DS_Device& device, DS_Stream* stream, SP_DeviceMemoryBase& to, const SP_DeviceMemoryBase& from,
                    std::uint64_t size) {
  const SP_StreamExecutor& executor = *device.executor;
  if (stream != nullptr && executor.memcpy_dtod != nullptr) {
    execute(device, "memcpy_dtod", &SP_StreamExecutor::memcpy_dtod, stream->handle, &to, &from, size);
    return;
  }
  if (stream != nullptr) block_for_stream(*stream);
  if (executor.sync_memcpy_dtod != nullptr) {
    execute(device, "sync_memcpy_dtod", &SP_StreamExecutor::sync_memcpy_dtod, &to, &from, size);
    return;
  }
  std::vector<unsigned char> bytes(size);
  execute(device, "sync_memcpy_dtoh", &SP_StreamExecutor::sync_memcpy_dtoh, static_cast<void*>(bytes.data()), &from, size);
  execute(device, "sync_memcpy_htod", &SP_StreamExecutor::sync_memcpy_htod, &to, static_cast<const void*>(bytes.data()), size);
}
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

DS_DeviceMemory* DS_AllocateDeviceMemory(DS_Device* device, uint64_t size, TF_Status* status) {
  DS_DeviceMemory* result = nullptr;
  guarded(status, __func__, [&] {
    require(device, "device");
    result = allocate(*device, size).release();
  });
  return result;
}

void DS_FreeDeviceMemory(DS_DeviceMemory* memory) {
  if (memory == nullptr) return;
  const std::unique_ptr<DS_DeviceMemory> owned(memory);
  if (memory->base.opaque != nullptr) free_block(*memory->device, memory->base);
}

uint64_t DS_DeviceMemorySize(const DS_DeviceMemory* memory) {
  return memory == nullptr ? 0 : memory->base.size;
}

void* DS_DeviceMemoryHandle(const DS_DeviceMemory* memory) {
  return memory == nullptr ? nullptr : memory->base.opaque;
}

void* DS_AllocateHostMemory(DS_Device* device, uint64_t size, TF_Status* status) {
  void* result = nullptr;
  guarded(status, __func__, [&] {
    require(device, "device");
    result = host_memory(*device, "host_memory_allocate", "host", &SP_StreamExecutor::host_memory_allocate, size);
  });
  return result;
}

void DS_FreeHostMemory(DS_Device* device, void* memory) {
  if (device == nullptr || memory == nullptr) return;
  answered(0, [&] {
    ask(*device, "host_memory_deallocate", &SP_StreamExecutor::host_memory_deallocate, memory);
    return 0;
  });
}

void* DS_AllocateUnifiedMemory(DS_Device* device, uint64_t size, TF_Status* status) {
  void* result = nullptr;
  guarded(status, __func__, [&] {
    require(device, "device");
    if (!device->platform.unified_memory()) {
      fail(TF_UNIMPLEMENTED, "platform " + device->platform.name() + " has no unified memory");
    }
    result = host_memory(*device, "unified_memory_allocate", "unified", &SP_StreamExecutor::unified_memory_allocate,
                         size);
  });
  return result;
}

void DS_FreeUnifiedMemory(DS_Device* device, void* memory) {
  if (device == nullptr || memory == nullptr || !device->platform.unified_memory()) return;
  answered(0, [&] {
    ask(*device, "unified_memory_deallocate", &SP_StreamExecutor::unified_memory_deallocate, memory);
    return 0;
  });
}

void DS_CopyToDevice(DS_Stream* stream, DS_DeviceMemory* to, const void* from, uint64_t size,
                     TF_Status* status) {
  guarded(status, __func__, [&] {
    require(to, "to");
    require(from, "from");
    require_size(*to, size);
    if (size != 0) to_device(stream, *to, from, size);
  });
}

void DS_CopyToHost(DS_Stream* stream, void* to, const DS_DeviceMemory* from, uint64_t size,
                   TF_Status* status) {
  guarded(status, __func__, [&] {
    require(to, "to");
    require(from, "from");
    require_size(*from, size);
    if (size != 0) to_host(stream, to, *from, size);
  });
}

void DS_CopyOnDevice(DS_Stream* stream, DS_DeviceMemory* to, const DS_DeviceMemory* from,
                     uint64_t size, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(to, "to");
    require(from, "from");
    require_same_device(*to, *from);
    if (stream != nullptr) require_same_device(*stream, *to);
    require_size(*to, size);
    require_size(*from, size);
    if (size != 0) copy_on_device(*to->device, stream, to->base, from->base, size);
  });
}

void DS_FillDevice(DS_Stream* stream, DS_DeviceMemory* memory, uint8_t pattern, uint64_t size,
                   TF_Status* status) {
  guarded(status, __func__, [&] {
    require(memory, "memory");
    require_size(*memory, size);
    if (size == 0) return;
    on_some_stream(stream, *memory, [&](DS_Stream& some) { fill8(some, *memory, pattern, size); });
  });
}

void DS_FillDevice32(DS_Stream* stream, DS_DeviceMemory* memory, uint32_t pattern, uint64_t size,
                     TF_Status* status) {
  guarded(status, __func__, [&] {
    require(memory, "memory");
    require_size(*memory, size);
    if (size == 0) return;
    on_some_stream(stream, *memory,
                   [&](DS_Stream& some) { fill32(some, *memory, pattern, size); });
  });
}

}  // extern "C"
