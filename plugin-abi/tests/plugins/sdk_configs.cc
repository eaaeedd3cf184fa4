// Which bytes of TP_OptimizerConfigs the SDK writes, for hosts of several ages.
#include <cstdint>
#include <cstring>

#include "drystone/sdk/optimizer.hpp"

// Turn a pass off in a struct of `size` bytes at `bytes`, of which the first states the size.
extern "C" __attribute__((visibility("default"))) void probe_turn_off(char* bytes, std::size_t size,
                                                                      int pass, int on) {
  std::memcpy(bytes, &size, sizeof size);
  drystone::sdk::Configs configs(reinterpret_cast<TP_OptimizerConfigs*>(bytes));
  const auto which = static_cast<drystone::sdk::Pass>(pass);
  on != 0 ? configs.turn_on(which) : configs.turn_off(which);
}
