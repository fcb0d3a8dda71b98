# The headers of Boost.JSON, of any Boost that has it (1.75 and later), as the
# target pprof::boost_json. Boost's own CMake files name one version each.
find_path(PPROF_BOOST_INCLUDE boost/json/basic_parser_impl.hpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(pprof_boost_json
  REQUIRED_VARS PPROF_BOOST_INCLUDE
  REASON_FAILURE_MESSAGE
  "install Boost 1.75 or later (Debian 12: libboost1.81-dev), or build without \
pprof-report: -DPPROF_BUILD_TOOLS=OFF")
if(pprof_boost_json_FOUND AND NOT TARGET pprof::boost_json)
  add_library(pprof::boost_json INTERFACE IMPORTED)
  set_target_properties(pprof::boost_json PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${PPROF_BOOST_INCLUDE}")
endif()
mark_as_advanced(PPROF_BOOST_INCLUDE)
