// What <iomanip> has under the same name takes no call of the SDK's, whatever the string is.
#include <iomanip>

#include "drystone/platform_strings.h"
#include "drystone/sdk/sdk.hpp"

TF_PLATFORM_STRINGS()

using namespace drystone::sdk;

std::string all_of_them(std::string changed, const std::string& kept, std::string_view part) {
  return quoted(changed) + quoted(kept) + quoted(part) + quoted("word") + quoted(kept + "more");
}
