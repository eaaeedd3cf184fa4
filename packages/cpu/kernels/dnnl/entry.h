// Kernels of this folder's library: how the plugin, which registers them, gets at them.
//
// The plugin knows their names (plain/dnnl_kernels.cc) and opens the library when the first one is
// made.
#ifndef DRYSTONE_CPU_DNNL_ENTRY_H_
#define DRYSTONE_CPU_DNNL_ENTRY_H_

#include "core/widened_call.h"

namespace drystone::cpu::dnnl_part {

// See dnnl/primitive.h.
bool is_native(TF_DataType dtype);

// What the library shows for an op.
struct Entry {
  const char* op;
  bool is_narrow;  // for floats of 16 bits
  Create create;
  Compute compute;
  Delete destroy;
};

template <class Kernel>
Entry entry(const char* op, bool is_narrow) {
  return {op,
          is_narrow,
          [](TF_OpKernelConstruction* construction) -> void* {
            try {
              return new Kernel(Node(construction));
            } catch (const std::exception& error) {
              report(construction, &error);
            } catch (...) {
              report(construction, nullptr);
            }
            return nullptr;
          },
          [](void* kernel, TF_OpKernelContext* context) {
            try {
              Call call(context);
              static_cast<Kernel*>(kernel)->compute(call);
            } catch (const AlreadyFailed&) {  // NOLINT(bugprone-empty-catch): the host knows
            } catch (const std::exception& error) {
              report(context, &error);
            } catch (...) {
              report(context, nullptr);
            }
          },
          [](void* kernel) { delete static_cast<Kernel*>(kernel); }};
}

// For floats of 16 bits: by oneDNN in that type where the processor has it, else widened.
template <class Kernel>
class Narrow final : public Widened<Kernel> {
 public:
  using Widened<Kernel>::Widened;
  void compute(Call& call) {
    if (is_native(call.held_input(0).dtype())) return this->kernel().compute(call);
    Widened<Kernel>::compute(call);
  }
};

// A kernel for float, and the same for floats of 16 bits.
template <class Kernel>
void list(std::vector<Entry>& out, const char* op) {
  out.push_back(entry<Kernel>(op, false));
  out.push_back(entry<Widened<Kernel>>(op, true));
}

// The same for one that takes elements of 16 bits as they are.
template <class Kernel>
void list_narrow(std::vector<Entry>& out, const char* op) {
  out.push_back(entry<Kernel>(op, false));
  out.push_back(entry<Narrow<Kernel>>(op, true));
}

// One per file: appends its kernels.
void list_products(std::vector<Entry>& out);
void list_sums(std::vector<Entry>& out);
void list_attention(std::vector<Entry>& out);
void list_convolutions(std::vector<Entry>& out);
void list_convolution_gradients(std::vector<Entry>& out);
void list_quantized(std::vector<Entry>& out);
void list_quantized_products(std::vector<Entry>& out);

}  // namespace drystone::cpu::dnnl_part

// The library's one function: the entry of an op, or NULL.
extern "C" const drystone::cpu::dnnl_part::Entry* drystone_cpu_dnnl_entry(const char* op,
                                                                           int is_narrow);

#endif  // DRYSTONE_CPU_DNNL_ENTRY_H_
