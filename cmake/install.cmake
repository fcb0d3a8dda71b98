# What `cmake --install` puts where.
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/pprof")
install(TARGETS pprof EXPORT pprof_shared
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS pprof_static EXPORT pprof_static
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT pprof_shared NAMESPACE pprof:: DESTINATION "${package_folder}")
install(EXPORT pprof_static NAMESPACE pprof:: DESTINATION "${package_folder}")
if(PPROF_BUILD_NVTX)
  install(TARGETS pprof_nvtx pprof_waits LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(PPROF_BUILD_TOOLS)
  install(TARGETS pprof-report RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(NOT CMAKE_CROSSCOMPILING)
    set(pages "${CMAKE_CURRENT_BINARY_DIR}/pages")
    install(DIRECTORY "${pages}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}")
    install(DIRECTORY "${pages}/" DESTINATION "${CMAKE_INSTALL_DATADIR}"
      PATTERN man EXCLUDE)
  endif()
endif()
foreach(layer sdk exporters config)
  install(DIRECTORY ${layer}/include/pprof
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endforeach()
# Documents, with all that their links lead to.
file(GLOB documents "${PROJECT_SOURCE_DIR}/*.md")
install(FILES LICENSE ${documents} DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs examples DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  PATTERN BUILD EXCLUDE)
foreach(file bench/README.md bench/budget.txt sdk/include/pprof/device.h
    sdk/include/pprof/mark.h tests/peers/differences.md tests/peers/results.md
    tests/property/compare_results.md tests/support/durations.h)
  get_filename_component(folder "${file}" DIRECTORY)
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
endforeach()

configure_package_config_file(cmake/pprof-config.cmake.in pprof-config.cmake
  INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file(pprof-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/pprof-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/pprof-config-version.cmake"
  cmake/Findpprof_yaml.cmake
  DESTINATION "${package_folder}")

# pkg-config's file says where things are by where it is itself.
set(VERSION "${PROJECT_VERSION}")
file(RELATIVE_PATH PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" PREFIX "${PREFIX}")
set(INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
set(LIBDIR "${CMAKE_INSTALL_LIBDIR}")
configure_file(pprof.pc.in pprof.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pprof.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
