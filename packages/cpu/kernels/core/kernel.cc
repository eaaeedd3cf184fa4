// Attributes, registration, failures: see core/kernel.h.
#include "core/kernel.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace drystone::cpu {

bool should_stop() { return DS_ShouldStop() != 0; }

namespace {

constexpr char kMustFit[] = "a tensor must fit in this machine's memory, with room for others";
constexpr char kLess[] = "as much as the kernel works with";

// A TF_Status for a scope; what it says becomes a Failure.
class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  ~Status() { TF_DeleteStatus(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  TF_Status* get() const { return status_; }
  bool ok() const { return TF_GetCode(status_) == TF_OK; }
  void check() const {
    if (!ok()) fail(TF_GetCode(status_), TF_Message(status_));
  }

 private:
  TF_Status* status_;
};

std::pair<std::int32_t, std::int32_t> size_of(TF_OpKernelConstruction* construction, const char* attr) {
  const Status status;
  std::int32_t items = -1;
  std::int32_t bytes = -1;
  TF_OpKernelConstruction_GetAttrSize(construction, attr, &items, &bytes, status.get());
  status.check();
  return {items, bytes};
}

// How many bytes a field of a protocol buffer takes that holds `size` bytes.
std::size_t field_size(std::size_t size) {
  std::size_t out = 2 + size;
  for (std::size_t rest = size; rest >= 0x80; rest >>= 7) ++out;
  return out;
}

// What comes before the bytes of such a field.
void begin_field(std::string* out, int number, std::size_t size) {
  *out += static_cast<char>(number << 3 | 2);
  for (; size >= 0x80; size >>= 7) *out += static_cast<char>(size | 0x80);
  *out += static_cast<char>(size);
}

void put_field(std::string* out, int number, std::string_view bytes) {
  begin_field(out, number, bytes.size());
  *out += bytes;
}

// Field 3 of a KernelDef: the attribute, and an AttrValue with a list of its types.
void put_constraint(std::string* out, const Constraint& constraint) {
  const std::string_view attr = constraint.attr;
  const std::size_t list = field_size(constraint.types.size());
  begin_field(out, 3, field_size(attr.size()) + field_size(field_size(list)));
  put_field(out, 1, attr);
  begin_field(out, 2, field_size(list));
  begin_field(out, 1, list);
  begin_field(out, 6, constraint.types.size());
  for (const TF_DataType type : constraint.types) *out += static_cast<char>(type);
}

}  // namespace

void fail(TF_Code code, std::string message) { throw Failure(code, std::move(message)); }

void fail_check(TF_Code code, std::string check, std::string found, std::string needed) {
  throw Failure(code, std::move(check), std::move(found), std::move(needed));
}

void fail_too_many(std::string found) {
  fail_check(TF_INVALID_ARGUMENT, "a tensor's element count must fit in 63 bits", std::move(found),
             "fewer than 2^63 elements");
}

void fail_no_memory(const std::string& found) {
  fail_check(TF_RESOURCE_EXHAUSTED, kMustFit, found + ": the system gives no more memory", kLess);
}

std::string text(DimsView dims) {
  std::string out = "[";
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (k != 0) out += ',';
    out += std::to_string(dims[k]);
  }
  out += ']';
  return out;
}

void* Call::scratch_bytes(std::int64_t count, std::size_t size) const {
  std::size_t bytes = 0;
  require(count >= 0, "a kernel works with a negative number of elements");
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), size, &bytes)) bytes = SIZE_MAX;
  void* out = DS_Scratch(context_, bytes);
  if (out == nullptr) throw AlreadyFailed();
  return out;
}

// 2^63 - 1, which no tensor has, where it would be more.
std::int64_t product(DimsView dims) {
  std::int64_t out = 1;
  bool is_too_large = false;
  for (const std::int64_t dim : dims) {
    if (dim == 0) return 0;  // whatever the others are
    is_too_large = __builtin_mul_overflow(out, dim, &out) || is_too_large;
  }
  return is_too_large ? INT64_MAX : out;
}

std::string Node::name() const {
  const TF_StringView view = TF_OpKernelConstruction_GetName(construction_);
  return {view.data, view.len};
}

bool Node::has(const char* attr) const {
  const Status status;
  const bool found = TF_OpKernelConstruction_HasAttr(construction_, attr, status.get());
  return found && status.ok();
}

TF_DataType Node::type(const char* attr) const {
  const Status status;
  TF_DataType out = TF_FLOAT;
  TF_OpKernelConstruction_GetAttrType(construction_, attr, &out, status.get());
  status.check();
  return out;
}

std::vector<TF_DataType> Node::types(const char* attr) const {
  std::vector<TF_DataType> out(static_cast<std::size_t>(size_of(construction_, attr).first));
  const Status status;
  TF_OpKernelConstruction_GetAttrTypeList(construction_, attr, out.data(), static_cast<int>(out.size()), status.get());
  status.check();
  return out;
}

std::int64_t Node::integer(const char* attr) const {
  const Status status;
  std::int64_t out = 0;
  TF_OpKernelConstruction_GetAttrInt64(construction_, attr, &out, status.get());
  status.check();
  return out;
}

std::vector<std::int64_t> Node::integers(const char* attr) const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(size_of(construction_, attr).first));
  const Status status;
  TF_OpKernelConstruction_GetAttrInt64List(construction_, attr, out.data(), static_cast<int>(out.size()), status.get());
  status.check();
  return out;
}

float Node::real(const char* attr) const {
  const Status status;
  float out = 0;
  TF_OpKernelConstruction_GetAttrFloat(construction_, attr, &out, status.get());
  status.check();
  return out;
}

std::vector<float> Node::reals(const char* attr) const {
  std::vector<float> out(static_cast<std::size_t>(size_of(construction_, attr).first));
  const Status status;
  TF_OpKernelConstruction_GetAttrFloatList(construction_, attr, out.data(), static_cast<int>(out.size()), status.get());
  status.check();
  return out;
}

bool Node::boolean(const char* attr) const {
  const Status status;
  TF_Bool out = 0;
  TF_OpKernelConstruction_GetAttrBool(construction_, attr, &out, status.get());
  status.check();
  return out != 0;
}

std::string Node::string(const char* attr) const {
  const auto bytes = static_cast<std::size_t>(size_of(construction_, attr).second);
  std::string out(bytes, '\0');
  const Status status;
  TF_OpKernelConstruction_GetAttrString(construction_, attr, out.data(), bytes, status.get());
  status.check();
  return out;
}

std::vector<std::string> Node::strings(const char* attr) const {
  const auto [items, bytes] = size_of(construction_, attr);
  std::vector<char*> starts(static_cast<std::size_t>(items));
  std::vector<std::size_t> sizes(starts.size());
  std::string room(static_cast<std::size_t>(std::max(bytes, 0)), '\0');  // none: -1
  const Status status;
  TF_OpKernelConstruction_GetAttrStringList(construction_, attr, starts.data(), sizes.data(), items,
                                            room.data(), room.size(), status.get());
  status.check();
  std::vector<std::string> out;
  for (std::size_t k = 0; k < starts.size(); ++k) out.emplace_back(starts[k], sizes[k]);
  return out;
}

void add_kernel(const char* op, const std::vector<Constraint>& constraints, Create create,
                Compute compute, Delete destroy) {
  // One kernel whose constraints list their types: a kernel for each type would make the host's
  // list several times as long. The bytes are those of a KernelDef: see the interface.
  std::string definition;
  definition.reserve(256);
  put_field(&definition, 1, op);
  put_field(&definition, 2, "CPU");
  for (const Constraint& constraint : constraints) put_constraint(&definition, constraint);
  // Priority -1, that of the NumPy kernels, which yield to a plugin's: a vendor's 0 goes before ours.
  definition += "\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  TF_KernelBuilder* builder = TF_NewKernelBuilder(op, "CPU", create, compute, destroy);
  const Status status;
  TF_RegisterKernelBuilderWithKernelDef(definition.c_str(), op, builder, status.get());
}

namespace {

void attach_parts(TF_Status* status, const char* check, const char* found, const char* needed) noexcept {
  TF_SetPayload(status, DS_PAYLOAD_CHECK, check);
  TF_SetPayload(status, DS_PAYLOAD_FOUND, found);
  TF_SetPayload(status, DS_PAYLOAD_NEEDED, needed);
}

// The code and words of what escaped. Those of memory are the host's.
void store(const std::exception* error, TF_Status* status) noexcept {
  if (error == nullptr) return TF_SetStatus(status, TF_INTERNAL, "an exception of unknown type was thrown");
  if (const auto* failure = dynamic_cast<const Failure*>(error)) {
    TF_SetStatus(status, failure->code, failure->what());
    if (failure->check.empty()) return;
    return attach_parts(status, failure->check.c_str(), failure->found.c_str(), failure->needed.c_str());
  }
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(error) != nullptr ||
                         dynamic_cast<const std::length_error*>(error) != nullptr;
  if (!is_memory) return TF_SetStatus(status, TF_INTERNAL, error->what());
  TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, kMustFit);
  attach_parts(status, kMustFit, "the system gives the kernel no more memory", kLess);
}

}  // namespace

void report(TF_OpKernelContext* context, const std::exception* error) noexcept {
  const Status status;
  store(error, status.get());
  TF_OpKernelContext_Failure(context, status.get());
}

void report(TF_OpKernelConstruction* construction, const std::exception* error) noexcept {
  const Status status;
  store(error, status.get());
  TF_OpKernelConstruction_Failure(construction, status.get());
}

}  // namespace drystone::cpu
