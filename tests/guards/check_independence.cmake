# SPDX-License-Identifier: GPL-3.0-or-later
# Fails where two solution methods share code: methods that judge each other must not
# have their mistakes in common. What a method is made of is found from its #include
# lines: each header below model/, the .c files that begin with that header, and what
# those include. Only ALLOWED may be shared: the network as it is read, its c(n),
# statuses and the result's form; they are not looked into.
# cmake -DSOURCE_DIR=... -DMETHODS=chain,simulate,... -P check_independence.cmake
cmake_minimum_required(VERSION 3.20)

set(ALLOWED model/cpu_curve.h model/network/network.h model/status.h model/try.h)

# The sources of each header: a source begins with its own header (check_layers.cmake).
file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/model/*.c)
foreach(source IN LISTS sources)
  file(STRINGS ${SOURCE_DIR}/${source} first REGEX "^#[ \t]*include[ \t]" LIMIT_COUNT 1)
  if(first MATCHES "\"([^\"]+)\"")
    list(APPEND sources_of_${CMAKE_MATCH_1} ${source})
  endif()
endforeach()

# Every file of one method, its entry included.
function(parts_of entry out)
  set(parts "")
  set(waiting ${entry})
  while(waiting)
    list(POP_FRONT waiting file)
    if(file IN_LIST parts OR file IN_LIST ALLOWED)
      continue()
    endif()
    list(APPEND parts ${file})
    file(STRINGS ${SOURCE_DIR}/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^[^\"]*\"([^\"]+)\".*$" "\\1" header "${line}")
      list(APPEND waiting ${header})
      if(NOT header IN_LIST ALLOWED)
        list(APPEND waiting ${sources_of_${header}})
      endif()
    endforeach()
  endwhile()
  set(${out} ${parts} PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" methods "${METHODS}")
list(LENGTH methods count)
if(count LESS 2)
  message(FATAL_ERROR "METHODS = ${METHODS}: needs two or more, with commas between")
endif()
set(faults "")
foreach(method IN LISTS methods)
  parts_of(model/${method}.c parts)
  list(LENGTH parts size)
  message(STATUS "${method}: ${size} files")
  foreach(part IN LISTS parts)
    string(MAKE_C_IDENTIFIER ${part} key)
    if(DEFINED owner_${key})
      string(APPEND faults "  ${part}: ${owner_${key}} and ${method}\n")
    else()
      set(owner_${key} ${method})
    endif()
  endforeach()
endforeach()
if(faults)
  message(FATAL_ERROR "methods that share code:\n${faults}")
endif()
