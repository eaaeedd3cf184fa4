// Conversions at a region's edges, done by the host as it copies.
#pragma once

#include "region.h"

namespace drystone::gpu {

// An input of float32 that only a cast to bfloat16 reads is brought to the device in bfloat16, and a
// result that is a cast of bfloat16 to float32 comes back in bfloat16: half as much for the bus.
// Sets Value::outside of what is left.
void narrow_edges(Built& built);

// float32 as bfloat16, and back.
void narrow(const float* from, std::uint16_t* to, std::size_t count);
void widen(const std::uint16_t* from, float* to, std::size_t count);

}  // namespace drystone::gpu
