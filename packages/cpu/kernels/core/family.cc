// The list of families: see core/family.h.
#include "core/family.h"

namespace drystone::cpu {
namespace {

constinit const Family* first = nullptr;  // there before any family is made, in whatever order

}  // namespace

Family::Family(void (*add)()) : add_(add), next_(first) { first = this; }

void Family::add_all() {
  for (const Family* one = first; one != nullptr; one = one->next_) one->add_();
}

}  // namespace drystone::cpu
