# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts where, and the pkg-config file of the libraries.
set(layers model presets calibrate plots)

install(TARGETS fulcrum fulcrum-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fulcrum-worker
  RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/fulcrum)
install(FILES ${PROJECT_SOURCE_DIR}/calibrate/fulcrum_gym.py
  ${PROJECT_SOURCE_DIR}/calibrate/fulcrum_loop.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fulcrum)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/calibrate/frameworks
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fulcrum FILES_MATCHING PATTERN "*.py")
foreach(layer IN LISTS layers)
  install(TARGETS fulcrum_${layer} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
foreach(header IN LISTS FULCRUM_PUBLIC_HEADERS)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fulcrum/${folder})
endforeach()
foreach(kind machines workloads calibrations partitions references)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/presets/${kind}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fulcrum/presets
    FILES_MATCHING PATTERN "*.json" PATTERN "*.csv")
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/presets/baseline.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fulcrum/presets)
install(FILES ${PROJECT_BINARY_DIR}/cli/fulcrum.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/cli/fulcrum.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME fulcrum)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Found from the place of the pkg-config file, so that the whole may be moved. Folders
# that were given as absolute paths stay where they are.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(FULCRUM_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(FULCRUM_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(FULCRUM_PC_PREFIX "\${pcfiledir}/${up}")
  set(FULCRUM_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(FULCRUM_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(FULCRUM_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()

# The libraries are static: whoever links them needs what they were built with.
set(FULCRUM_PC_REQUIRES "gsl json-c >= 0.15 cairo cairo-pdf cairo-svg pangocairo hwloc")
set(FULCRUM_PC_LIBS "-ldl -lpthread -lm")
# OpenBLAS before GSL, whose own BLAS has the same names and is many times slower.
if(FULCRUM_HAVE_OPENBLAS)
  string(PREPEND FULCRUM_PC_REQUIRES "openblas ")
endif()
if(FULCRUM_HAVE_OPENCL)
  string(APPEND FULCRUM_PC_REQUIRES " OpenCL")
endif()
if(FULCRUM_HAVE_CURL)
  string(APPEND FULCRUM_PC_REQUIRES " libcurl >= 7.66")
endif()
if(FULCRUM_HAVE_MUJOCO)
  string(PREPEND FULCRUM_PC_LIBS "-lmujoco ")
endif()
if(FULCRUM_HAVE_OPENMP)
  string(PREPEND FULCRUM_PC_LIBS "${OpenMP_C_FLAGS} ")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/fulcrum.pc.in
  ${PROJECT_BINARY_DIR}/fulcrum.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fulcrum.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
