// Elements of results that are pictures.
#pragma once

#include "number.h"

namespace drystone::gpu {

// Where an output element is: its channel, column, row and picture.
struct Place {
  std::int32_t channel, column, row, picture;
  DS_BOTH Place(std::uint32_t i, std::int32_t height, std::int32_t width, std::int32_t channels) {
    channel = static_cast<std::int32_t>(i % channels);
    i /= channels;
    column = static_cast<std::int32_t>(i % width);
    i /= width;
    row = static_cast<std::int32_t>(i % height);
    picture = static_cast<std::int32_t>(i / height);
  }
};

}  // namespace drystone::gpu
