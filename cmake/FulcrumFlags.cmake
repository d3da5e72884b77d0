# SPDX-License-Identifier: GPL-3.0-or-later
# One target carries every flag of ours; it is linked privately.
add_library(fulcrum_flags INTERFACE)
target_compile_features(fulcrum_flags INTERFACE c_std_17)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_program(FULCRUM_CCACHE ccache)
if(FULCRUM_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${FULCRUM_CCACHE})
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
target_include_directories(fulcrum_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
# Inner loops of a few instructions lose a tenth of their speed where they happen to
# straddle two cache lines: alignment keeps that out of the linker's hands.
# Clang counts the float constants behind NAN, INFINITY and isfinite as promotions of
# ours; GCC knows that they come from math.h.
target_compile_options(fulcrum_flags INTERFACE
  $<$<CONFIG:Release,RelWithDebInfo>:-falign-functions=64;-falign-loops=32>
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla -Wundef
  -Wcast-qual -Wwrite-strings -Wformat=2 -Wswitch-enum -Wimplicit-fallthrough
  $<$<C_COMPILER_ID:GNU>:-Wdouble-promotion>
  -ffp-contract=off $<$<BOOL:${FULCRUM_WERROR}>:-Werror>)
if(FULCRUM_SANITIZE)
  set(sanitize -fsanitize=address,undefined,float-divide-by-zero,float-cast-overflow
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(fulcrum_flags INTERFACE ${sanitize})
  target_link_options(fulcrum_flags INTERFACE ${sanitize})
endif()
if(FULCRUM_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "FULCRUM_FUZZ needs Clang: -DCMAKE_C_COMPILER=clang")
  endif()
  target_compile_options(fulcrum_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(FULCRUM_COVERAGE)
  target_compile_options(fulcrum_flags INTERFACE --coverage)
  target_link_options(fulcrum_flags INTERFACE --coverage)
endif()
