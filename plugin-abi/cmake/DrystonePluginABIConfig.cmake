# CMake package of drystone-plugin-abi. Find it with
#   find_package(DrystonePluginABI 1.0 CONFIG REQUIRED
#                HINTS "<output of python -m drystone_abi --cmake-dir>")
#
# It gives
#   drystone::plugin_abi          interface target: include folder of the contract's headers
#   drystone_add_plugin(NAME SOURCE...)
#                                 a loadable library NAME that exports its entry symbols only and
#                                 links nothing of the host: TF_* bind when the host loads it
#   drystone_check_plugin(NAME [MANIFEST])
#                                 after each build `drystone plugins check` of the library, with its
#                                 manifest beside it, where drystone is installed
#   DrystonePluginABI_VERSION     MAJOR.MINOR of the contract
#   DrystonePluginABI_INCLUDE_DIR the include folder
include_guard(GLOBAL)

get_filename_component(_drystone_abi_root "${CMAKE_CURRENT_LIST_DIR}/.." REALPATH)
set(DrystonePluginABI_INCLUDE_DIR "${_drystone_abi_root}/include")
set(_drystone_abi_map "${CMAKE_CURRENT_LIST_DIR}/plugin.map")

if(NOT EXISTS "${DrystonePluginABI_INCLUDE_DIR}/drystone/version.h")
  set(DrystonePluginABI_FOUND FALSE)
  set(DrystonePluginABI_NOT_FOUND_MESSAGE
      "no drystone/version.h in ${DrystonePluginABI_INCLUDE_DIR}: reinstall drystone-plugin-abi")
  return()
endif()

if(NOT TARGET drystone::plugin_abi)
  add_library(drystone::plugin_abi INTERFACE IMPORTED)
  set_target_properties(
    drystone::plugin_abi PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                    "${DrystonePluginABI_INCLUDE_DIR}")
endif()

function(drystone_add_plugin name)
  if(NOT ARGN)
    message(FATAL_ERROR "drystone_add_plugin(${name}): give at least one source file")
  endif()
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE drystone::plugin_abi)
  set_target_properties(
    ${name}
    PROPERTIES C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON
               LINK_DEPENDS "${_drystone_abi_map}")
  if(UNIX AND NOT APPLE)
    target_link_options(${name} PRIVATE "LINKER:--version-script=${_drystone_abi_map}")
  elseif(APPLE)
    target_link_options(${name} PRIVATE "LINKER:-undefined,dynamic_lookup")
  endif()
endfunction()

function(drystone_check_plugin name)
  foreach(manifest IN LISTS ARGN)
    add_custom_command(
      TARGET ${name} POST_BUILD
      COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${CMAKE_CURRENT_SOURCE_DIR}/${manifest}"
              "$<TARGET_FILE_DIR:${name}>"
      VERBATIM)
  endforeach()
  find_program(DRYSTONE_COMMAND drystone)
  # pip hides what is installed from the builds that it isolates, by PYTHONPATH.
  set(_drystone "${CMAKE_COMMAND}" -E env --unset=PYTHONPATH DRYSTONE_DEVELOPER_MODE=1
                "${DRYSTONE_COMMAND}")
  set(_drystone_answer 1)
  if(DRYSTONE_COMMAND AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ${_drystone} --version RESULT_VARIABLE _drystone_answer
                    OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(_drystone_answer EQUAL 0)
    add_custom_command(
      TARGET ${name} POST_BUILD
      COMMAND ${_drystone} plugins check "$<TARGET_FILE:${name}>"
      COMMENT "drystone plugins check $<TARGET_FILE_NAME:${name}>" VERBATIM)
  else()
    message(STATUS "${name} will not be checked: no drystone that runs here is installed")
  endif()
endfunction()
