# SPDX-License-Identifier: GPL-3.0-or-later
# Tests that are no C: guards of the layers and documents, and golden cases by folder.
add_test(NAME layers COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake)
add_test(NAME pure COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM}
  -DLIBRARY=$<TARGET_FILE:fulcrum_model> -P ${CMAKE_CURRENT_LIST_DIR}/check_pure.cmake)
add_test(NAME docs_references COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/check_docs.cmake)
foreach(document cli fields)
  add_test(NAME docs_${document} COMMAND diff -u
    ${PROJECT_SOURCE_DIR}/docs/${document}.md ${PROJECT_BINARY_DIR}/cli/${document}.md)
endforeach()
set_tests_properties(layers pure docs_references docs_cli docs_fields PROPERTIES LABELS guard)

file(GLOB golden_cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/golden/*.args)
foreach(case IN LISTS golden_cases)
  get_filename_component(name ${case} NAME_WE)
  add_test(NAME golden_${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_golden.sh
    $<TARGET_FILE:fulcrum> ${CMAKE_CURRENT_LIST_DIR}/golden/${name}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(golden_${name} PROPERTIES LABELS golden TIMEOUT 60)
endforeach()
