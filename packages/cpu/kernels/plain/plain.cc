// All families of this folder: see plain/plain.h.
#include "plain/plain.h"

namespace drystone::cpu {

void add_plain_kernels() {
  add_reshaping();
}

}  // namespace drystone::cpu
