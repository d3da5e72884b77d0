# SPDX-License-Identifier: GPL-3.0-or-later
install(DIRECTORY presets/machines presets/workloads presets/calibrations
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fulcrum/presets
  FILES_MATCHING PATTERN "*.json")
foreach(layer model presets calibrate plots)
  file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR} ${layer}/*.h)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fulcrum/${layer})
endforeach()
