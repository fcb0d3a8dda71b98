# libyaml as the target pprof::yaml: it comes with a file for pkg-config, and
# with one for CMake only since 0.2.
find_path(PPROF_YAML_INCLUDE yaml.h)
find_library(PPROF_YAML_LIBRARY yaml)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(pprof_yaml
  REQUIRED_VARS PPROF_YAML_LIBRARY PPROF_YAML_INCLUDE
  REASON_FAILURE_MESSAGE "install libyaml (Debian: libyaml-dev)")
if(pprof_yaml_FOUND AND NOT TARGET pprof::yaml)
  add_library(pprof::yaml UNKNOWN IMPORTED)
  set_target_properties(pprof::yaml PROPERTIES
    IMPORTED_LOCATION "${PPROF_YAML_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PPROF_YAML_INCLUDE}")
endif()
mark_as_advanced(PPROF_YAML_INCLUDE PPROF_YAML_LIBRARY)
