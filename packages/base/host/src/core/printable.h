// Text of others where people read it, such as in a terminal.
#ifndef DRYSTONE_HOST_CORE_PRINTABLE_H_
#define DRYSTONE_HOST_CORE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace drystone::host {

// The text without what a terminal would act on: controls, formats such as those that turn the
// direction of writing, and bytes that are no UTF-8 are escaped as Python writes them, "\x1b". Tabs
// stay, and so do line breaks, with an indent after each: no line passes for another one.
std::string printable(std::string_view text);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_PRINTABLE_H_
