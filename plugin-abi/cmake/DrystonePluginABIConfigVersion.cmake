# A request is met by the same major version and the same or an older minor version.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../include/drystone/version.h" _drystone_abi_lines
     REGEX "^#define DRYSTONE_ABI_VERSION_M(AJOR|INOR) [0-9]+$")
string(REGEX REPLACE "[^0-9;]" "" PACKAGE_VERSION "${_drystone_abi_lines}")
string(REPLACE ";" "." PACKAGE_VERSION "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+" _drystone_abi_major "${PACKAGE_VERSION}")
set(DrystonePluginABI_VERSION "${PACKAGE_VERSION}")

if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION
   OR NOT PACKAGE_FIND_VERSION_MAJOR EQUAL _drystone_abi_major)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
