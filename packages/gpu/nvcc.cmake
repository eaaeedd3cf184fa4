# Kernels by nvcc: machine code for sm_80 and sm_90, and PTX, of which drivers make code for what is newer.
#
# Gives cuda_home and kernel_objects. CMake's own support of CUDA links a program to try the compiler,
# with libraries that the wheels do not have where it looks.
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
          "import nvidia, pathlib; print(*(p for top in nvidia.__path__ for p in pathlib.Path(top).glob('*/bin/nvcc')), sep=';')"
  OUTPUT_VARIABLE nvcc_found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT nvcc_found)
  message(FATAL_ERROR "no nvcc in site-packages/nvidia: pip install nvidia-cuda-nvcc, or "
                      "-DDRYSTONE_GPU_CUDA=OFF for a library without kernels of the GPU")
endif()
list(GET nvcc_found 0 nvcc)
get_filename_component(cuda_home "${nvcc}/../.." ABSOLUTE)

set(DRYSTONE_GPU_NVCC_LAUNCHER "" CACHE STRING "A program such as ccache that runs nvcc")
set(architectures -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
    -gencode arch=compute_90,code=compute_90)
set(kernel_objects "")
foreach(kernel IN LISTS kernels)
  get_filename_component(name "${kernel}" NAME_WE)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.o")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND ${DRYSTONE_GPU_NVCC_LAUNCHER} "${nvcc}" -std=c++20 -O3 ${architectures} --compress-mode=size
            -ccbin "${CMAKE_CXX_COMPILER}" -Xcudafe --diag_suppress=20012
            -Xcompiler=-Os,-fPIC,-fvisibility=hidden,-ffunction-sections,-fno-math-errno,-ffp-contract=off
            -I "${DrystonePluginABI_INCLUDE_DIR}" -I "${CMAKE_CURRENT_SOURCE_DIR}/backend"
            -c "${kernel}" -o "${object}"
    DEPENDS "${kernel}" ${headers}
    COMMENT "nvcc ${name}.cu" VERBATIM)
  list(APPEND kernel_objects "${object}")
endforeach()
