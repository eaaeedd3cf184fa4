// The edge of a plugin: nothing of C++ leaves it.
//
// Since ABI 1.0. Internal to the SDK. With exceptions compiled in, whatever the body throws becomes an
// INTERNAL error that names the place; without them, this is a plain call.
#ifndef DRYSTONE_SDK_GUARD_HPP_
#define DRYSTONE_SDK_GUARD_HPP_

#include <string>

#include "drystone/sdk/error.hpp"

#if defined(__cpp_exceptions)
#include <exception>
#include <new>
#endif

namespace drystone::sdk {

template <class Body>
Error guarded(const char* place, Body body) noexcept {
#if defined(__cpp_exceptions)
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {TF_RESOURCE_EXHAUSTED, std::string(place) + ": no memory"};
  } catch (const std::exception& thrown) {
    return {TF_INTERNAL, std::string(place) + " threw: " + thrown.what()};
  } catch (...) {
    return {TF_INTERNAL, std::string(place) + " threw something that is no std::exception"};
  }
#else
  static_cast<void>(place);
  return body();
#endif
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_GUARD_HPP_
