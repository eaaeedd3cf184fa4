// Rows joined: what more than one family of ops is made of.
#pragma once

#include "rules.h"

namespace drystone::gpu {

// The sum and its like over the dimensions that are `gone`, which stay as ones where it `keeps` them.
int joined(Building& b, int value, const std::vector<bool>& gone, bool keeps, Join join);

// Over the last dimension.
int softmax_of(Building& b, int value, bool logarithm);

}  // namespace drystone::gpu
