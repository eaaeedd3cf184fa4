// Convolutions in float32 with sums shared among blocks, for results of few tiles.
#pragma once

#include "windows.h"

namespace drystone::gpu {

// How one is cut: `splits` blocks share the sums of a tile.
struct Tiling {
  std::uint32_t splits = 1;
  float* partial = nullptr;           // splits * the result's elements, where splits > 1
  std::uint32_t* arrived = nullptr;   // a zero for each tile; zeros again afterwards
};

// Whether there is a kernel: channels in whole steps.
bool can_tile(const Window& window);
std::uint32_t tile_count(const Window& window);
// How many blocks can share a tile's sums.
std::uint32_t most_splits(const Window& window);

// As run_convolution of one group in float32. On a GPU only.
void run_tiles(const Stream& stream, const Window& window, const Tiling& tiling, const void* from,
               const void* filter, const After& after, void* to);

}  // namespace drystone::gpu
