# SPDX-License-Identifier: GPL-3.0-or-later
# Fails where an #include goes against the order of the layers (docs/STYLE.md section 1),
# a third-party header is included outside its layer or file, or a source does not begin
# with its own header.
# cmake -DSOURCE_DIR=... -P check_layers.cmake
cmake_minimum_required(VERSION 3.20)

set(layers model presets calibrate plots cli bench)
set(model_may model)
set(presets_may model presets)
set(calibrate_may model presets calibrate)
set(plots_may model plots)
set(cli_may model presets calibrate plots cli)
set(bench_may model presets calibrate plots cli bench)

# header prefix | layers or files that may include it
set(parties
  "json-c|presets"
  "json.h|presets"
  "cairo|plots/render_cairo.c"
  "pango|plots/render_cairo.c"
  "gsl/|model calibrate bench"
  "hwloc|calibrate/host.c"
  "mujoco|calibrate/actor_mujoco.c"
  "cblas|calibrate/gemm.c"
  "openblas|calibrate/gemm.c"
  "CL/|calibrate/device_opencl.c"
  "dlfcn|calibrate/libretro_core.c calibrate/shared_library.c calibrate/worker_plugin.c"
  "linux/perf_event|calibrate/meter_perf.c"
  "CUnit|tests"
  "omp.h|model")

set(faults "")
set(count 0)
foreach(layer IN LISTS layers)
  file(GLOB files ${SOURCE_DIR}/${layer}/*.c ${SOURCE_DIR}/${layer}/*.h)
  foreach(file IN LISTS files)
    file(RELATIVE_PATH name ${SOURCE_DIR} ${file})
    file(STRINGS ${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]")
    math(EXPR count "${count} + 1")
    string(REGEX REPLACE "\\.c$" ".h" own "${name}")
    list(SUBLIST includes 0 1 first)
    if(EXISTS ${SOURCE_DIR}/${own} AND NOT own STREQUAL name
        AND NOT first MATCHES "\"${own}\"")
      string(APPEND faults "  ${name}: ${first}: include ${own} first\n")
    endif()
    foreach(line IN LISTS includes)
      if(line MATCHES "\"([^\"/]+)/[^\"]*\"" )
        if(NOT CMAKE_MATCH_1 IN_LIST ${layer}_may)
          string(APPEND faults "  ${name}: ${line}: ${layer}/ must not need ${CMAKE_MATCH_1}/\n")
        endif()
      elseif(line MATCHES "\"[^\"]*\"")
        string(APPEND faults "  ${name}: ${line}: write the path from the root\n")
      endif()
      foreach(party IN LISTS parties)
        string(REPLACE "|" ";" cells "${party}")
        list(GET cells 0 prefix)
        list(GET cells 1 allowed)
        separate_arguments(allowed)
        string(FIND "${line}" "<${prefix}" place)
        if(NOT place EQUAL -1 AND NOT layer IN_LIST allowed
            AND NOT name IN_LIST allowed)
          string(APPEND faults "  ${name}: ${line}: belongs to ${allowed} only\n")
        endif()
      endforeach()
    endforeach()
  endforeach()
endforeach()

if(count EQUAL 0)
  message(FATAL_ERROR "no source file found below ${SOURCE_DIR}")
endif()
if(faults)
  message(FATAL_ERROR "includes against the layers:\n${faults}")
endif()
message(STATUS "${count} files keep to the layers")
