# SPDX-License-Identifier: GPL-3.0-or-later
# Fails where an #include goes against the order of the layers (docs/STYLE.md section 1),
# files or rooms include each other in a circle, a third-party header is included outside
# its layer or file, or a source does not begin with its own header.
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
  "cairo|plots/chart/canvas.c"
  "pango|plots/chart/canvas.c"
  "gsl/|model calibrate bench"
  "hwloc|calibrate/host.c"
  "mujoco|calibrate/actor/actor_mujoco.c"
  "cblas|calibrate/device/device_host.c"
  "openblas|calibrate/device/device_host.c"
  "CL/|calibrate/device/device_opencl.c"
  "curl/|calibrate/device/learner_endpoint.c"
  "dlfcn|calibrate/actor/libretro_core.c calibrate/shared_library.c calibrate/worker/worker_main.c"
  "linux/perf_event|calibrate/meter/meter_perf.c"
  "CUnit|tests"
  "omp.h|model")

set(faults "")
set(count 0)
foreach(layer IN LISTS layers)
  file(GLOB_RECURSE files ${SOURCE_DIR}/${layer}/*.c ${SOURCE_DIR}/${layer}/*.h)
  foreach(file IN LISTS files)
    file(RELATIVE_PATH name ${SOURCE_DIR} ${file})
    file(STRINGS ${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]")
    math(EXPR count "${count} + 1")
    string(REGEX REPLACE "\\.c$" ".h" own "${name}")
    string(REGEX REPLACE "\\.[ch]$" "" unit "${name}")
    get_filename_component(room ${name} DIRECTORY)
    list(APPEND units ${unit})
    list(APPEND rooms ${room})
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
        string(REGEX REPLACE "^[^\"]*\"([^\"]+)\\.h\".*$" "\\1" other "${line}")
        get_filename_component(other_room ${other} DIRECTORY)
        if(NOT other STREQUAL unit)
          list(APPEND needs_${unit} ${other})
        endif()
        if(NOT other_room STREQUAL room)
          list(APPEND needs_${room}/ ${other_room}/)
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

# What needs nothing that is left is taken away until nothing is left, or a circle.
function(fail_on_circle what)
  set(left ${ARGN})
  list(REMOVE_DUPLICATES left)
  set(before -1)
  list(LENGTH left now)
  while(NOT now EQUAL before)
    set(before ${now})
    foreach(one IN LISTS left)
      set(free TRUE)
      foreach(other IN LISTS needs_${one})
        if(other IN_LIST left)
          set(free FALSE)
          break()
        endif()
      endforeach()
      if(free)
        list(REMOVE_ITEM left ${one})
      endif()
    endforeach()
    list(LENGTH left now)
  endwhile()
  if(left)
    list(JOIN left " " text)
    set(faults "${faults}  ${what} in a circle, or above one: ${text}\n" PARENT_SCOPE)
  endif()
endfunction()
list(TRANSFORM rooms APPEND /)
fail_on_circle("files" ${units})
fail_on_circle("rooms" ${rooms})

if(count EQUAL 0)
  message(FATAL_ERROR "no source file found below ${SOURCE_DIR}")
endif()
if(faults)
  message(FATAL_ERROR "includes against the layers:\n${faults}")
endif()
message(STATUS "${count} files keep to the layers")
