// Windows over pictures, for what more than one family of ops is made of.
#pragma once

#include "rules.h"

namespace drystone::gpu {

// What is padded.
struct Around {
  std::int64_t top = 0, low = 0, left = 0, right = 0;
};

// Kernels know pictures as [batch, height, width, channels]: a value in that order, and a result in
// the one of the node's data_format.
bool channels_in_front(const Building& b);
int channels_last(Building& b, int value);
int as_given(Building& b, int value);
std::string known_format(const sdk::NodeView& node);

// The window of a layer over [batch, height, width, channels] by its attributes.
Window window_of(const Building& b, const Dims& from, std::int64_t filter_h, std::int64_t filter_w,
                 Around around);
Window pool_of(const Building& b, const Dims& from, const Around& around);
Dims shape_of(const Window& window, std::int32_t channels);
// A shape that is an input, in the order of kernels.
Dims sizes_of(const Building& b, int input);

}  // namespace drystone::gpu
