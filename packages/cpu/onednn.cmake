# Kernels by oneDNN, from the build requirement onednn-devel-cpu-gomp: headers, libdnnl.so.3 and where
# they are. The library goes beside ours, with our OpenMP in the place of GNU's (kernels/omp).
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
          "from importlib.metadata import files
print(next(f.locate().resolve().parent for f in files('onednn-devel-cpu-gomp')
           if f.name == 'dnnl-config.cmake'))"
  OUTPUT_VARIABLE from_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(dnnl 3.2 CONFIG QUIET HINTS "${from_python}")
if(NOT dnnl_FOUND)
  if(NOT DRYSTONE_CPU_ONEDNN STREQUAL "AUTO")
    message(FATAL_ERROR "oneDNN 3.2 is needed, or -DDRYSTONE_CPU_ONEDNN=OFF: "
                        "pip install onednn-devel-cpu-gomp==2023.2.0, or give -Ddnnl_DIR=...")
  endif()
  message(STATUS "Without oneDNN")
  return()
endif()

add_library(drystone_cpu_omp SHARED kernels/omp/omp.cc kernels/omp/gang.cc)
target_include_directories(drystone_cpu_omp PRIVATE kernels)
target_link_libraries(drystone_cpu_omp PRIVATE drystone::plugin_abi)
target_link_options(drystone_cpu_omp PRIVATE
  "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/kernels/omp/exports.map" "LINKER:-soname,libdomp.so.1"
  "LINKER:--no-as-needed" "$<TARGET_FILE:host_name>" "LINKER:--as-needed" "LINKER:--allow-shlib-undefined")
add_dependencies(drystone_cpu_omp host_name)
target_compile_options(drystone_cpu_omp PRIVATE -Wall -Wextra ${math})
set_target_properties(drystone_cpu_omp PROPERTIES PREFIX "lib" OUTPUT_NAME domp SUFFIX ".so.1" NO_SONAME ON)

get_target_property(dnnl_file DNNL::dnnl LOCATION)
file(REAL_PATH "${dnnl_file}" dnnl_file)
set(dnnl_ours "${CMAKE_CURRENT_BINARY_DIR}/libddnn.so.3")
execute_process(
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/rename_omp.py" "${dnnl_file}" "${dnnl_ours}"
  COMMAND_ERROR_IS_FATAL ANY)

file(GLOB dnnl_sources CONFIGURE_DEPENDS kernels/dnnl/*.cc)
add_library(drystone_cpu_dnnl MODULE $<TARGET_OBJECTS:core> ${dnnl_sources})
target_include_directories(drystone_cpu_dnnl PRIVATE kernels)
target_include_directories(drystone_cpu_dnnl SYSTEM PRIVATE
  $<TARGET_PROPERTY:DNNL::dnnl,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(drystone_cpu_dnnl PRIVATE drystone::plugin_abi "${dnnl_ours}" drystone_cpu_omp)
target_link_options(drystone_cpu_dnnl PRIVATE "LINKER:--no-as-needed"
  "$<TARGET_FILE:host_name>" "LINKER:--as-needed" "LINKER:--allow-shlib-undefined")
add_dependencies(drystone_cpu_dnnl host_name)
target_compile_options(drystone_cpu_dnnl PRIVATE -Wall -Wextra -Wno-unknown-pragmas ${math})
precompile(drystone_cpu_dnnl)
# DT_RPATH holds for what libdnnl.so.3 needs, too; DT_RUNPATH would not.
target_link_options(drystone_cpu_dnnl PRIVATE "LINKER:--disable-new-dtags")
set_target_properties(drystone_cpu_dnnl PROPERTIES
  PREFIX "lib" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  SKIP_BUILD_RPATH OFF BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")

# Notices of what oneDNN holds itself: their licences ask for it in what is built of it.
if(SKBUILD)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
            "from importlib.metadata import files
print(next(f.locate().resolve() for f in files('onednn-devel-cpu-gomp') if f.name == 'THIRD-PARTY-PROGRAMS'))"
    OUTPUT_VARIABLE dnnl_notices OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  install(FILES "${dnnl_notices}" DESTINATION "${SKBUILD_METADATA_DIR}/licenses" COMPONENT notices)
endif()

install(TARGETS drystone_cpu_dnnl LIBRARY DESTINATION drystone_cpu)
install(TARGETS drystone_cpu_omp LIBRARY DESTINATION drystone_cpu)
install(FILES "${dnnl_ours}" DESTINATION drystone_cpu)
# It comes with symbols for debuggers, a fifth of its size, that nothing at run time reads.
if(CMAKE_STRIP)
  install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/drystone_cpu/libddnn.so.3\" COMMAND_ERROR_IS_FATAL ANY)")
endif()
