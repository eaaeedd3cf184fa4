// An optimizer for devices of type LACKS that was built beside a larger host: it needs functions that
// nobody defines. `CALLS` says where it calls one: 0 nowhere, 1 in a constructor, 2 in the entry
// function, 3 in optimize, 4 in a thread. `DATA` adds undefined data, `TAKEN` the address of
// a function, `SEVERAL` further functions, `CAUGHT` a handler around the call.
#include <stdexcept>
#include <thread>

#include "drystone/buffer.h"
#include "drystone/optimizer.h"
#include "drystone/platform_strings.h"
#include "drystone/status.h"

TF_PLATFORM_STRINGS()

namespace larger {
struct Host {
  virtual ~Host();
  virtual int answer(const char* what) const;
};
int ask(int question, const char* text);
extern int number;
}  // namespace larger

extern "C" {

void TF_OfALaterHost(void);
void nobody_has_this(void);

namespace {

int destroyed = 0;

struct Counted {
  ~Counted() { ++destroyed; }
};

#if CALLS
void call_it() {
  const Counted unwound;
#ifdef CAUGHT
  try {
    (void)larger::ask(1, "?");
  } catch (...) {
  }
#else
  (void)larger::ask(1, "?");
#endif
}
#endif

// Kept, so that the linker does not see that nothing calls it.
__attribute__((used, noinline)) void never(int which, [[maybe_unused]] larger::Host* host) {
  if (which == 1) TF_OfALaterHost();
#ifdef SEVERAL
  if (which == 2) nobody_has_this();
  if (which == 3) (void)larger::ask(2, "!");
  if (which == 4) host->larger::Host::answer("?");
#endif
#ifdef DATA
  if (which == 5) larger::number = 1;
#endif
}

#ifdef TAKEN
__attribute__((used)) int (*const taken)(int, const char*) = &larger::ask;
#endif

#if CALLS == 1
__attribute__((constructor)) void begin() { call_it(); }
#endif

void optimize(void*, const TF_Buffer* graph, const TF_GrapplerItem*, TF_Buffer* out, TF_Status*) {
#if CALLS == 3
  call_it();
#elif CALLS == 4
  std::thread(call_it).join();
#endif
  TF_Buffer* copy = TF_NewBufferFromString(graph->data, graph->length);
  *out = *copy;
  copy->data = nullptr;
  copy->data_deallocator = nullptr;
  TF_DeleteBuffer(copy);
}

}  // namespace

TF_CAPI_EXPORT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status*) {
#if CALLS == 2
  call_it();
#endif
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = "LACKS";
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = &optimize;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
}

}  // extern "C"
