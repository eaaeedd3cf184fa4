// Where a region runs: an NVIDIA GPU, or the processor itself.
//
// The processor runs the same kernels as plain loops. Small whole-number arithmetic of shapes is
// computed so when a region is compiled, and tests run whole regions so where there is no GPU
// (DRYSTONE_GPU_DEVICE=host).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace drystone::gpu {

// What was found when the plugin was loaded.
struct Found {
  int devices = 0;
  bool is_host = false;  // the processor was asked for
  std::string name;      // of the first device
  std::string reason;    // why there is none, or none that can be used
};

// Looked up once; never throws.
const Found& found();

// A mark in a stream.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool is_done() const = 0;
  virtual void wait() const = 0;
  virtual double seconds_since(const Event& earlier) const = 0;  // of work; both are done
};

// A stream of the device and the memory that goes with it. One thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual bool is_host() const = 0;
  virtual void* native() const = 0;  // cudaStream_t
  // Memory of the device and pinned memory of the host, freed with the stream.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void copy_in(void* to, const void* from, std::size_t bytes) = 0;   // asynchronous
  virtual void copy_out(void* to, const void* from, std::size_t bytes) = 0;  // asynchronous
  virtual void clear(void* at, std::size_t bytes) = 0;                       // asynchronous
  virtual void wait() = 0;
  // The work that `enqueue` puts on the stream, to be done again at each replay().
  virtual void record(const std::function<void()>& enqueue) = 0;
  virtual void replay() = 0;
  // Seconds that the work takes, the shortest of a few repetitions.
  virtual double time(const std::function<void()>& enqueue) = 0;
  // Makes the device this thread's; called before anything else by each thread that comes.
  virtual void enter() = 0;
  // All of these are asynchronous.
  virtual void copy_within(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* at, std::uint8_t byte, std::size_t bytes) = 0;
  virtual void fill32(void* at, std::uint32_t pattern, std::size_t bytes) = 0;
  virtual void mark(Event& event) = 0;
  virtual void wait_for(const Event& event) = 0;
  virtual void call(void (*function)(void*), void* argument) = 0;  // on a thread of the device's
};

// A device as one of the interface in drystone/device.h. Any thread may call any function.
class Card {
 public:
  virtual ~Card() = default;
  virtual const char* name() const = 0;
  virtual const char* bus() const = 0;        // null where it is on none
  virtual double bytes_per_second() const = 0;  // of its memory; negative: unknown
  virtual void* allocate(std::size_t bytes) = 0;  // null where there is no room
  virtual void free(void* block) = 0;
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(void* block) = 0;
  virtual bool usage(std::int64_t* unused, std::int64_t* total) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;  // done on return
  virtual void wait() = 0;
  virtual std::unique_ptr<Stream> open_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
};

// Of cuda.cc; a library that is built without CUDA finds nothing.
Found look_for_gpus();
std::unique_ptr<Stream> open_gpu_stream();
std::unique_ptr<Card> open_gpu(int number);

std::unique_ptr<Stream> open_host_stream();
// On what was found; these throw std::runtime_error.
std::unique_ptr<Stream> open_stream();
std::unique_ptr<Card> open_card(int number);

}  // namespace drystone::gpu
