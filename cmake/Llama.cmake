# One target, llama::llama, from the first provider that has llama.cpp v0.4.0:
#   1. find_package(llama): an installed llama.cpp;
#   2. the shared libraries of the npm package @node-llama-cpp/linux-x64 that scripts/setup puts
#      into .deps/, with the headers of the source tree beside it;
#   3. FetchContent of the source, from .deps/llama.cpp where that exists, else from GitHub.
# With TIDEGATE_CUDA the second is @node-llama-cpp/linux-x64-cuda, which needs no CUDA toolkit to
# build against, and the first is not asked. TIDEGATE_LLAMA_PROVIDER names one of the three.
# Sets TIDEGATE_LLAMA_LIBRARIES to the folder of the backends that are loaded at run time; empty
# when they are linked in. With TIDEGATE_CUDA they are loaded: such a program also starts, and
# computes on the CPU, on a machine without NVIDIA's driver.
set(TIDEGATE_LLAMA_TAG "v0.4.0")
set(TIDEGATE_LLAMA_PROVIDER "auto" CACHE STRING
    "Where llama.cpp comes from: auto, installed, npm or source")
set_property(CACHE TIDEGATE_LLAMA_PROVIDER PROPERTY STRINGS auto installed npm source)
set(TIDEGATE_LLAMA_LIBRARIES "")
set(_llama_source "${PROJECT_SOURCE_DIR}/.deps/llama.cpp")
if(TIDEGATE_CUDA)
  set(_llama_npm "${PROJECT_SOURCE_DIR}/.deps/cuda/node_modules/@node-llama-cpp/linux-x64-cuda")
  set(_llama_npm "${_llama_npm}/bins/linux-x64-cuda")
  set(_llama_npm_suffix ".cuda.${TIDEGATE_LLAMA_TAG}.so")
else()
  set(_llama_npm "${PROJECT_SOURCE_DIR}/.deps/node_modules/@node-llama-cpp/linux-x64")
  set(_llama_npm "${_llama_npm}/bins/linux-x64")
  set(_llama_npm_suffix ".${TIDEGATE_LLAMA_TAG}.so")
endif()

function(_tidegate_llama_installed found)
  find_package(llama CONFIG QUIET)
  if(llama_FOUND AND "v${LLAMA_VERSION}" STREQUAL TIDEGATE_LLAMA_TAG)
    add_library(llama::llama INTERFACE IMPORTED GLOBAL)
    target_link_libraries(llama::llama INTERFACE llama)
    set_target_properties(llama ggml::ggml ggml::ggml-base PROPERTIES IMPORTED_GLOBAL TRUE)
    set(${found} TRUE PARENT_SCOPE)
  elseif(llama_FOUND)
    message(STATUS "Installed llama.cpp ${LLAMA_VERSION} is not ${TIDEGATE_LLAMA_TAG}: not used")
  endif()
endfunction()

function(_tidegate_llama_npm found)
  if(NOT EXISTS "${_llama_npm}/libllama${_llama_npm_suffix}"
     OR NOT EXISTS "${_llama_source}/include/llama.h")
    return()
  endif()
  foreach(part IN ITEMS llama ggml)
    add_library(llama::npm_${part} SHARED IMPORTED GLOBAL)
    set_target_properties(llama::npm_${part} PROPERTIES
      IMPORTED_LOCATION "${_llama_npm}/lib${part}${_llama_npm_suffix}"
      IMPORTED_SONAME "lib${part}${_llama_npm_suffix}")
  endforeach()
  add_library(llama::npm_ggml_base SHARED IMPORTED GLOBAL)
  set_target_properties(llama::npm_ggml_base PROPERTIES
    IMPORTED_LOCATION "${_llama_npm}/libggml-base.so" IMPORTED_SONAME "libggml-base.so")
  add_library(llama::llama INTERFACE IMPORTED GLOBAL)
  target_include_directories(llama::llama SYSTEM INTERFACE
    "${_llama_source}/include" "${_llama_source}/ggml/include")
  target_link_libraries(llama::llama
    INTERFACE llama::npm_llama llama::npm_ggml llama::npm_ggml_base)
  set(TIDEGATE_LLAMA_LIBRARIES "${_llama_npm}" PARENT_SCOPE)
  set(${found} TRUE PARENT_SCOPE)
endfunction()

# Settles what llama.cpp asks for to build its CUDA backend, in the caller's scope.
macro(_tidegate_llama_cuda)
  find_package(CUDAToolkit)
  if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "TIDEGATE_CUDA compiles llama.cpp with the CUDA toolkit (nvcc, cudart, "
                        "cublas), which is not here. Either name its folder with "
                        "-DCUDAToolkit_ROOT=DIR; or, on x86-64, take the ready-made libraries: "
                        "TIDEGATE_PRESET=cuda scripts/setup; or leave TIDEGATE_CUDA off")
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # The GPUs of this machine, where it has any; else llama.cpp's list of the usual ones, which
    # takes several times as long to compile.
    execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE _no_gpu OUTPUT_QUIET ERROR_QUIET)
    if(_no_gpu STREQUAL "0")
      set(CMAKE_CUDA_ARCHITECTURES native)
    endif()
  endif()
  set(GGML_CUDA ON)
  set(GGML_CUDA_NCCL OFF)  # for one model over several GPUs, which an engine here does not do
  set(BUILD_SHARED_LIBS ON)
  set(GGML_BACKEND_DL ON)
  set(GGML_NATIVE OFF)  # llama.cpp does not combine it with loaded backends; AVX2 is taken then
  set(TIDEGATE_LLAMA_LIBRARIES "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" PARENT_SCOPE)
endmacro()

function(_tidegate_llama_source)
  include(FetchContent)
  if(EXISTS "${_llama_source}/CMakeLists.txt")
    set(FETCHCONTENT_SOURCE_DIR_LLAMA "${_llama_source}" CACHE PATH "Source of llama.cpp")
  endif()
  set(BUILD_SHARED_LIBS OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  foreach(part IN ITEMS COMMON TESTS TOOLS EXAMPLES SERVER APP)
    set(LLAMA_BUILD_${part} OFF)
  endforeach()
  set(LLAMA_BUILD_IS_DEV OFF)
  set(GGML_OPENMP OFF)
  if(TIDEGATE_CUDA)
    _tidegate_llama_cuda()
  endif()
  FetchContent_Declare(llama GIT_REPOSITORY https://github.com/ggml-org/llama.cpp.git
    GIT_TAG "${TIDEGATE_LLAMA_TAG}" GIT_SHALLOW TRUE)
  FetchContent_GetProperties(llama)
  if(NOT llama_POPULATED)
    FetchContent_Populate(llama)
    add_subdirectory("${llama_SOURCE_DIR}" "${llama_BINARY_DIR}" EXCLUDE_FROM_ALL SYSTEM)
  endif()
  if(TIDEGATE_SANITIZE)
    # The same memory model on both sides; its own warnings and findings are not ours to stop on.
    foreach(part IN ITEMS llama ggml ggml-base ggml-cpu)
      target_compile_options(${part} PRIVATE "-fsanitize=${TIDEGATE_SANITIZE}" -O2)
    endforeach()
  endif()
  add_library(llama_llama INTERFACE)
  add_library(llama::llama ALIAS llama_llama)
  target_include_directories(llama_llama SYSTEM INTERFACE
    "${llama_SOURCE_DIR}/include" "${llama_SOURCE_DIR}/ggml/include")
  target_link_libraries(llama_llama INTERFACE llama)
endfunction()

set(_llama_found FALSE)
if(NOT TIDEGATE_CUDA AND TIDEGATE_LLAMA_PROVIDER MATCHES "^(auto|installed)$")
  _tidegate_llama_installed(_llama_found)
endif()
if(NOT _llama_found AND TIDEGATE_LLAMA_PROVIDER MATCHES "^(auto|npm)$")
  _tidegate_llama_npm(_llama_found)
endif()
if(NOT _llama_found)
  if(NOT TIDEGATE_LLAMA_PROVIDER MATCHES "^(auto|source)$")
    message(FATAL_ERROR "llama.cpp ${TIDEGATE_LLAMA_TAG} is not there as "
                        "'${TIDEGATE_LLAMA_PROVIDER}'; run scripts/setup, or use "
                        "-DTIDEGATE_LLAMA_PROVIDER=auto")
  endif()
  if(NOT FETCHCONTENT_SOURCE_DIR_LLAMA AND NOT EXISTS "${_llama_source}/CMakeLists.txt")
    message(STATUS "llama.cpp is neither installed nor in .deps/ (scripts/setup puts it there); "
                   "trying to download its source. -DTIDEGATE_LLAMA=OFF builds without it")
  endif()
  _tidegate_llama_source()
endif()
