# SPDX-License-Identifier: GPL-3.0-or-later
# fulcrum_embed(target symbol file) puts the bytes of `file` into the generated header
# <build>/<folder>/<symbol>.h as `static const unsigned char <symbol>[]`, so that an
# installed program needs no file beside it. Of a listing (.lst: address, bytes, text) it is
# the bytes that the lines tell; behind a text of PTX (.ptx) is the zero that the driver
# looks for.
# The same file is the script that writes the header: string literals longer than 4095
# characters are not portable C17, arrays are.
if(CMAKE_SCRIPT_MODE_FILE)
  if(INPUT MATCHES "\\.lst$")
    file(STRINGS "${INPUT}" lines REGEX "^[0-9A-F]+  ([0-9A-F][0-9A-F] ?)+")
    set(bytes "")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^[0-9A-F]+  (([0-9A-F][0-9A-F] )*[0-9A-F][0-9A-F])" line "${line}")
      string(REPLACE " " "" line "${CMAKE_MATCH_1}")
      string(TOLOWER "${line}\n" line)
      string(APPEND bytes "${line}")
    endforeach()
  else()
    file(READ "${INPUT}" bytes HEX)
    if(INPUT MATCHES "\\.ptx$")
      string(APPEND bytes "00")
    endif()
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
  get_filename_component(name "${INPUT}" NAME)
  file(WRITE "${OUTPUT}"
    "/* Generated from ${name}. */\nstatic const unsigned char ${SYMBOL}[] = {\n${bytes}\n};\n")
  return()
endif()

set(FULCRUM_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(fulcrum_embed target symbol file)
  set(input ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.h)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DSYMBOL=${symbol}
      -P ${FULCRUM_EMBED_SCRIPT}
    DEPENDS ${input} ${FULCRUM_EMBED_SCRIPT}
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
