# Kernels by oneDNN, from the build requirement onednn-devel-cpu-gomp: headers, libdnnl.so.3 and where
# they are. The library and GNU's OpenMP, which it needs, go beside ours.
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
          "from importlib.metadata import files
print(next(f.locate().resolve().parent for f in files('onednn-devel-cpu-gomp')
           if f.name == 'dnnl-config.cmake'))"
  OUTPUT_VARIABLE from_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(dnnl 3.2 CONFIG QUIET HINTS "${from_python}")
find_package(OpenMP QUIET COMPONENTS CXX)
if(NOT dnnl_FOUND OR NOT OpenMP_CXX_FOUND)
  if(NOT DRYSTONE_CPU_ONEDNN STREQUAL "AUTO")
    message(FATAL_ERROR "oneDNN 3.2 and OpenMP are needed, or -DDRYSTONE_CPU_ONEDNN=OFF: "
                        "pip install onednn-devel-cpu-gomp==2023.2.0, or give -Ddnnl_DIR=...")
  endif()
  message(STATUS "Without oneDNN")
  return()
endif()

file(GLOB dnnl_sources CONFIGURE_DEPENDS kernels/dnnl/*.cc)
add_library(drystone_cpu_dnnl MODULE ${core_sources} ${dnnl_sources})
target_include_directories(drystone_cpu_dnnl PRIVATE kernels)
target_link_libraries(drystone_cpu_dnnl PRIVATE drystone::plugin_abi DNNL::dnnl OpenMP::OpenMP_CXX)
target_link_options(drystone_cpu_dnnl PRIVATE "LINKER:--no-as-needed"
  "$<TARGET_FILE:host_name>" "LINKER:--as-needed" "LINKER:--allow-shlib-undefined")
add_dependencies(drystone_cpu_dnnl host_name)
target_compile_options(drystone_cpu_dnnl PRIVATE -Wall -Wextra -Wno-unknown-pragmas ${math})
# DT_RPATH holds for what libdnnl.so.3 needs, too; DT_RUNPATH would not.
target_link_options(drystone_cpu_dnnl PRIVATE "LINKER:--disable-new-dtags")
set_target_properties(drystone_cpu_dnnl PROPERTIES
  PREFIX "lib" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  SKIP_BUILD_RPATH OFF BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")

execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libgomp.so.1
  OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
file(REAL_PATH "${gomp}" gomp)
get_target_property(dnnl_file DNNL::dnnl LOCATION)
file(REAL_PATH "${dnnl_file}" dnnl_file)
install(TARGETS drystone_cpu_dnnl LIBRARY DESTINATION drystone_cpu)
install(FILES "${dnnl_file}" DESTINATION drystone_cpu RENAME libdnnl.so.3)
install(FILES "${gomp}" DESTINATION drystone_cpu RENAME libgomp.so.1)
# It comes with symbols for debuggers, a fifth of its size, that nothing at run time reads.
if(CMAKE_STRIP)
  install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/drystone_cpu/libdnnl.so.3\" COMMAND_ERROR_IS_FATAL ANY)")
endif()
