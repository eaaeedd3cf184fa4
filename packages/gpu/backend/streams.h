// What the handles of drystone/device.h stand for.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "device.h"
#include "drystone/device.h"
#include "layers.h"
#include "moves.h"

// A stream that kernels put work on. Calls of one kernel hold the mutex.
struct SP_Stream_st {
  explicit SP_Stream_st(drystone::gpu::Card& card);
  ~SP_Stream_st();
  SP_Stream_st(const SP_Stream_st&) = delete;
  SP_Stream_st& operator=(const SP_Stream_st&) = delete;

  // The next mark; where a kernel puts it into the flag, the work of that call was given what it cannot do.
  drystone::gpu::Alarm next_alarm() { return {flag, ++marks}; }
  // What is wrong, "" for nothing.
  std::string trouble() const;
  void note(std::string text);

  drystone::gpu::Card& card;
  std::mutex mutex;
  std::unique_ptr<drystone::gpu::Stream> stream;
  drystone::gpu::Layers layers;
  std::uint32_t* flag;      // in pinned memory, which the device writes and the host reads
  std::uint32_t marks = 0;  // of calls so far

 private:
  mutable std::mutex noting_;
  std::string noted_;
};

struct SP_Event_st {
  std::unique_ptr<drystone::gpu::Event> event;
  const SP_Stream_st* stream = nullptr;  // where it was recorded last
  std::uint32_t marks = 0;               // of calls before it
};

struct SP_Timer_st {
  std::unique_ptr<drystone::gpu::Event> begin, end;
};
