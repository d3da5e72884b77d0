# SPDX-License-Identifier: GPL-3.0-or-later
# Tests that are no C: guards of the layers and documents, and golden cases by folder.
add_test(NAME layers COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake)
# Methods that judge each other share nothing but what they are given.
add_test(NAME independence COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -DMETHODS=chain,simulate,fast,textbook
  -P ${CMAKE_CURRENT_LIST_DIR}/check_independence.cmake)
# fulcrum_add_symbol_test(name layer rule) looks at what a library calls.
function(fulcrum_add_symbol_test name layer rule)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM}
    -DLIBRARY=$<TARGET_FILE:fulcrum_${layer}> -DRULE=${rule}
    -P ${PROJECT_SOURCE_DIR}/tests/check_pure.cmake)
  set_tests_properties(${name} PROPERTIES LABELS guard)
endfunction()
fulcrum_add_symbol_test(pure model PURE)
foreach(layer presets calibrate plots)
  fulcrum_add_symbol_test(quiet_${layer} ${layer} QUIET)
endforeach()
# The kernels' text for NVIDIA's driver is that of their source.
add_test(NAME ptx COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_ptx.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(ptx PROPERTIES LABELS guard SKIP_RETURN_CODE 77)
add_test(NAME docs_references COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/check_docs.cmake)
foreach(document cli fields)
  add_test(NAME docs_${document} COMMAND diff -u
    ${PROJECT_SOURCE_DIR}/docs/${document}.md ${PROJECT_BINARY_DIR}/cli/${document}.md)
endforeach()
set_tests_properties(layers independence docs_references docs_cli docs_fields PROPERTIES LABELS guard)

# Installed headers: each compiles alone, and all of them together in either order.
set(headers "")
foreach(layer model presets calibrate plots)
  file(GLOB found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/${layer}/*.h)
  list(APPEND headers ${found})
endforeach()
set(forward "")
set(backward "")
set(header_sources "")
foreach(header IN LISTS headers)
  set(include "#include \"${header}\"\n")
  string(APPEND forward "${include}")
  string(PREPEND backward "${include}")
  string(MAKE_C_IDENTIFIER ${header} name)
  list(APPEND header_sources ${PROJECT_BINARY_DIR}/tests/headers/${name}.c)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests/headers/${name}.c CONTENT
    "${include}")
endforeach()
foreach(order forward backward)
  list(APPEND header_sources ${PROJECT_BINARY_DIR}/tests/headers/${order}.c)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests/headers/${order}.c CONTENT
    "${${order}}")
endforeach()
add_library(fulcrum_headers OBJECT ${header_sources})
target_link_libraries(fulcrum_headers PRIVATE fulcrum_flags fulcrum_model)

# fulcrum_add_golden(program folder prefix): every case of a folder, run by a program.
function(fulcrum_add_golden program folder prefix)
  file(GLOB cases CONFIGURE_DEPENDS ${folder}/*.args)
  foreach(case IN LISTS cases)
    get_filename_component(name ${case} NAME_WE)
    add_test(NAME ${prefix}_${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_golden.sh
      $<TARGET_FILE:${program}> ${folder}/${name}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${prefix}_${name} PROPERTIES LABELS golden TIMEOUT 60
      ENVIRONMENT "FULCRUM_CUDA_LIBRARY=/none/libcuda.so.1")
  endforeach()
endfunction()
fulcrum_add_golden(fulcrum ${CMAKE_CURRENT_LIST_DIR}/golden golden)
fulcrum_add_golden(fulcrum-bench ${CMAKE_CURRENT_LIST_DIR}/golden/bench golden_bench)

# Predictions of every reference against the stored ones; that changes are noticed, by the
# job files for users too; that a run which is stopped leaves nothing behind, and a
# measurement what there is.
foreach(name accuracy accuracy_moved refit ci_examples measured stopped)
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/${name}.sh
    $<TARGET_FILE:fulcrum> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS golden TIMEOUT 600)
endforeach()
set_tests_properties(accuracy_moved PROPERTIES LABELS accuracy)
# Every reference three times over: minutes with sanitizers.
set_tests_properties(accuracy PROPERTIES TIMEOUT 1800)
set_tests_properties(measured PROPERTIES SKIP_RETURN_CODE 77)
# After a change that is meant to move predictions.
add_custom_target(accuracy
  COMMAND fulcrum validate --quiet --baseline none
    --save-baseline presets/baseline.json --markdown docs/accuracy.md
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
