/* A PJRT plugin that computes nothing: output k of a program is a copy of argument k. It checks what
 * it is given, counts what is alive, and misbehaves as fake_set() says. A program's text is the
 * number of its outputs. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {  /* places in the table, counted in the interface's header */
  ERROR_DESTROY = 0, ERROR_MESSAGE = 1, ERROR_GET_CODE = 2, PLUGIN_INITIALIZE = 3,
  EVENT_DESTROY = 5, EVENT_AWAIT = 8, CLIENT_CREATE = 10,
  CLIENT_PLATFORM_NAME = 12, CLIENT_PLATFORM_VERSION = 14, CLIENT_ADDRESSABLE_DEVICES = 16,
  CLIENT_COMPILE = 20, CLIENT_BUFFER_FROM_HOST = 22, EXECUTABLE_DESTROY = 40,
  EXECUTABLE_NUM_OUTPUTS = 44, BUFFER_ELEMENT_TYPE = 59, BUFFER_DIMENSIONS = 60, EXECUTABLE_SERIALIZE = 49, LOADED_DESTROY = 50,
  LOADED_GET_EXECUTABLE = 51, LOADED_EXECUTE = 55, DESERIALIZE_AND_LOAD = 56, BUFFER_DESTROY = 58,
  BUFFER_TO_HOST = 70, PLACES = 71
};

typedef struct { char message[96]; int code; } Error;
typedef struct { bool fired; } Event;
typedef struct { int outputs; } Program;
typedef struct {
  const void* data;
  void* own;
  size_t bytes;
  Event* done;
  int type;
  int64_t dims[4];
  size_t rank;
} Buffer;

static size_t size_ = 16 + 24 + 8 * PLACES;
static int major_, minor_ = 90, absent_ = -1, failing_ = -1, mute_, empty_ = -1, devices_ = 1;
static long live_, misuses_;

static Error* fail(const char* text, int code) {
  Error* error = calloc(1, sizeof *error);
  live_++;
  snprintf(error->message, sizeof error->message, "%s", text);
  error->code = code;
  return error;
}

#define BEGIN(place, type)                                                             \
  type* args = given;                                                                  \
  if (args->struct_size < sizeof *args) return fail("unexpected size", 3);             \
  if (args->extension_start) return fail("an extension", 3);                           \
  if (failing_ == (place)) return fail("it is told to fail", 8);

#define ARGS(...) typedef struct { size_t struct_size; void* extension_start; __VA_ARGS__ }

ARGS(Error* error;) ErrorDestroy;
static void* error_destroy(void* given) {
  ErrorDestroy* args = given;
  free(args->error);
  live_--;
  return NULL;
}

ARGS(const Error* error; const char* message; size_t message_size;) ErrorMessage;
static void* error_message(void* given) {
  ErrorMessage* args = given;
  if (mute_) return fail("an error has no text", 13);
  args->message = args->error->message;
  args->message_size = strlen(args->error->message);
  return NULL;
}

ARGS(const Error* error; int code;) ErrorGetCode;
static void* error_get_code(void* given) {
  ErrorGetCode* args = given;
  args->code = args->error->code;
  return NULL;
}

ARGS() Plain;
static void* plugin_initialize(void* given) {
  BEGIN(PLUGIN_INITIALIZE, Plain)
  return NULL;
}

ARGS(Event* event;) OfEvent;
static void* event_destroy(void* given) {
  BEGIN(EVENT_DESTROY, OfEvent)
  free(args->event);
  live_--;
  return NULL;
}
static void* event_await(void* given) {
  BEGIN(EVENT_AWAIT, OfEvent)
  if (!args->event->fired) misuses_++;  /* a real one would wait for ever */
  return NULL;
}
static Event* event(bool fired) {
  Event* made = calloc(1, sizeof *made);
  made->fired = fired;
  live_++;
  return made;
}

ARGS(const void* options; size_t num_options; void* callbacks[4]; void* client; void* more[2];) Create;
static void* client_create(void* given) {
  BEGIN(CLIENT_CREATE, Create)
  args->client = empty_ == CLIENT_CREATE ? NULL : &live_;
  return NULL;
}

ARGS(void* client; const char* text; size_t text_size;) Text;
static void* platform_name(void* given) {
  BEGIN(CLIENT_PLATFORM_NAME, Text)
  args->text = "fake, and more";
  args->text_size = 4;
  return NULL;
}
static void* platform_version(void* given) {
  BEGIN(CLIENT_PLATFORM_VERSION, Text)
  args->text = "7";
  args->text_size = 1;
  return NULL;
}

static void* device_list_[1] = {&size_};
ARGS(void* client; void* const* devices; size_t count;) Devices;
static void* devices(void* given) {
  BEGIN(CLIENT_ADDRESSABLE_DEVICES, Devices)
  args->devices = device_list_;
  args->count = devices_;
  return NULL;
}

ARGS(char* code; size_t code_size; const char* format; size_t format_size;) Source;
ARGS(void* client; const Source* program; const char* options; size_t options_size; Program* made;) Compile;
static void* client_compile(void* given) {
  BEGIN(CLIENT_COMPILE, Compile)
  const Source* source = args->program;
  if (source->format_size != 4 || memcmp(source->format, "mlir", 4)) return fail("format", 3);
  if (!args->options_size) return fail("no options", 3);
  if (empty_ == CLIENT_COMPILE) return NULL;
  args->made = calloc(1, sizeof(Program));
  live_++;
  args->made->outputs = source->code[0] - '0';
  return NULL;
}

ARGS(Program* program;) OfProgram;
static void* program_destroy(void* given) {
  BEGIN(LOADED_DESTROY, OfProgram)
  free(args->program);
  live_--;
  return NULL;
}
static void* plain_destroy(void* given) {
  BEGIN(EXECUTABLE_DESTROY, OfProgram)
  live_--;
  return NULL;
}
ARGS(Program* loaded; Program* plain;) GetExecutable;
static void* get_executable(void* given) {
  BEGIN(LOADED_GET_EXECUTABLE, GetExecutable)
  args->plain = args->loaded;
  live_++;
  return NULL;
}
ARGS(Program* program; size_t count;) NumOutputs;
static void* num_outputs(void* given) {
  BEGIN(EXECUTABLE_NUM_OUTPUTS, NumOutputs)
  args->count = args->program->outputs;
  return NULL;
}

static void written_delete(void* written) {
  free(written);
  live_--;
}
ARGS(const Program* program; const char* bytes; size_t size; void* written; void (*deleter)(void*);) Serialize;
static void* serialize(void* given) {
  BEGIN(EXECUTABLE_SERIALIZE, Serialize)
  char* text = malloc(8);
  live_++;
  snprintf(text, 8, "fake:%d", args->program->outputs);
  args->bytes = text;
  args->size = strlen(text);
  args->written = text;
  args->deleter = written_delete;
  return NULL;
}
ARGS(void* client; const char* bytes; size_t size; Program* made; void* more[3];) Deserialize;
static void* deserialize(void* given) {
  BEGIN(DESERIALIZE_AND_LOAD, Deserialize)
  if (args->size != 6 || memcmp(args->bytes, "fake:", 5)) return fail("not written here", 3);
  args->made = calloc(1, sizeof(Program));
  live_++;
  args->made->outputs = args->bytes[5] - '0';
  return NULL;
}

ARGS(void* client; const void* data; int type; const int64_t* dims; size_t num_dims;
     const int64_t* strides; size_t num_strides; int semantics; void* device; void* memory;
     void* layout; Event* done; Buffer* buffer;) FromHost;
static void* from_host(void* given) {
  BEGIN(CLIENT_BUFFER_FROM_HOST, FromHost)
  if (args->device != device_list_[0]) return fail("another device", 3);
  static const size_t widths[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};
  size_t bytes = widths[args->type];
  for (size_t k = 0; k < args->num_dims; k++) bytes *= args->dims[k];
  Buffer* made = calloc(1, sizeof *made);
  live_++;
  *made = (Buffer){.data = args->data, .bytes = bytes, .done = event(false), .type = args->type};
  made->rank = args->num_dims;
  for (size_t k = 0; k < made->rank; k++) made->dims[k] = args->dims[k];
  args->done = made->done;
  args->buffer = made;
  return NULL;
}
ARGS(Buffer* buffer; int type;) ElementType;
static void* element_type(void* given) {
  BEGIN(BUFFER_ELEMENT_TYPE, ElementType)
  args->type = args->buffer->type;
  return NULL;
}
ARGS(Buffer* buffer; const int64_t* dims; size_t rank;) Dimensions;
static void* dimensions(void* given) {
  BEGIN(BUFFER_DIMENSIONS, Dimensions)
  args->dims = args->buffer->dims;
  args->rank = args->buffer->rank;
  return NULL;
}

ARGS(Buffer* buffer;) OfBuffer;
static void* buffer_destroy(void* given) {
  BEGIN(BUFFER_DESTROY, OfBuffer)
  if (args->buffer->done) args->buffer->done->fired = true;
  free(args->buffer->own);
  free(args->buffer);
  live_--;
  return NULL;
}
ARGS(Buffer* source; void* layout; void* into; size_t size; Event* done;) ToHost;
static void* to_host(void* given) {
  BEGIN(BUFFER_TO_HOST, ToHost)
  if (args->size != args->source->bytes) return fail("another size", 3);
  memcpy(args->into, args->source->data, args->size);
  args->done = event(true);
  return NULL;
}

ARGS(Program* program; void* options; Buffer* const* const* arguments; size_t num_devices;
     size_t num_args; Buffer** const* outputs; Event** done; void* device;) Execute;
static void* execute(void* given) {
  BEGIN(LOADED_EXECUTE, Execute)
  if (args->num_devices != 1) return fail("devices", 3);
  if ((size_t)args->program->outputs > args->num_args) return fail("too few arguments", 3);
  for (int k = 0; k < args->program->outputs; k++) {
    const Buffer* from = args->arguments[0][k];
    Buffer* made = calloc(1, sizeof *made);
    live_++;
    *made = *from;
    made->done = NULL;
    made->own = malloc(from->bytes + 1);
    made->data = memcpy(made->own, from->data, from->bytes);
    args->outputs[0][k] = made;
  }
  if (args->done) args->done[0] = event(true);
  return NULL;
}

static struct {
  size_t size;
  void* extensions;
  struct { size_t size; void* extensions; int major, minor; } version;
  void* functions[PLACES];
} table_;

const void* GetPjrtApi(void) {
  const char* text = getenv("FAKE_PJRT");
  if (text && !strcmp(text, "crash")) abort();
  if (text && !strcmp(text, "none")) return NULL;
  void* all[PLACES] = {
      [ERROR_DESTROY] = error_destroy, [ERROR_MESSAGE] = error_message,
      [ERROR_GET_CODE] = error_get_code, [PLUGIN_INITIALIZE] = plugin_initialize,
      [EVENT_DESTROY] = event_destroy, [EVENT_AWAIT] = event_await,
      [CLIENT_CREATE] = client_create,
      [CLIENT_PLATFORM_NAME] = platform_name, [CLIENT_PLATFORM_VERSION] = platform_version,
      [CLIENT_ADDRESSABLE_DEVICES] = devices, [CLIENT_COMPILE] = client_compile,
      [CLIENT_BUFFER_FROM_HOST] = from_host, [EXECUTABLE_DESTROY] = plain_destroy,
      [EXECUTABLE_NUM_OUTPUTS] = num_outputs, [EXECUTABLE_SERIALIZE] = serialize,
      [LOADED_DESTROY] = program_destroy, [LOADED_GET_EXECUTABLE] = get_executable,
      [LOADED_EXECUTE] = execute, [DESERIALIZE_AND_LOAD] = deserialize,
      [BUFFER_ELEMENT_TYPE] = element_type, [BUFFER_DIMENSIONS] = dimensions,
      [BUFFER_DESTROY] = buffer_destroy, [BUFFER_TO_HOST] = to_host};
  memcpy(table_.functions, all, sizeof all);
  if (absent_ >= 0) table_.functions[absent_] = NULL;
  table_.size = size_;
  table_.version.size = sizeof table_.version;
  table_.version.major = major_;
  table_.version.minor = minor_;
  return &table_;
}

/* What goes wrong from now on, one thing: anything else is as it should be. */
void fake_set(const char* what, long number) {
  size_ = sizeof table_;
  major_ = mute_ = 0;
  minor_ = 90;
  devices_ = 1;
  absent_ = failing_ = empty_ = -1;
  if (!strcmp(what, "size")) size_ = number;
  if (!strcmp(what, "major")) major_ = number;
  if (!strcmp(what, "minor")) minor_ = number;
  if (!strcmp(what, "absent")) absent_ = number;
  if (!strcmp(what, "failing")) failing_ = number;
  if (!strcmp(what, "mute")) mute_ = 1, failing_ = number;
  if (!strcmp(what, "empty")) empty_ = number;
  if (!strcmp(what, "devices")) devices_ = number;
}

long fake_live(void) { return live_; }
long fake_misuses(void) { return misuses_; }
/* What could not be destroyed, as it was told to fail, is alive for ever. */
void fake_forget(void) { live_ = misuses_ = 0; }
