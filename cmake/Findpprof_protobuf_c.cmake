# protobuf-c and its compiler as the target pprof::protobuf_c and the variable
# PPROF_PROTOC_C: Debian's has no file for CMake.
find_path(PPROF_PROTOBUF_C_INCLUDE protobuf-c/protobuf-c.h)
find_library(PPROF_PROTOBUF_C_LIBRARY protobuf-c)
find_program(PPROF_PROTOC_C protoc-c)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(pprof_protobuf_c
  REQUIRED_VARS PPROF_PROTOBUF_C_LIBRARY PPROF_PROTOBUF_C_INCLUDE PPROF_PROTOC_C
  REASON_FAILURE_MESSAGE
  "install protobuf-c (Debian: libprotobuf-c-dev protobuf-c-compiler), or build \
without pprof-report: -DPPROF_BUILD_TOOLS=OFF")
if(pprof_protobuf_c_FOUND AND NOT TARGET pprof::protobuf_c)
  add_library(pprof::protobuf_c UNKNOWN IMPORTED)
  set_target_properties(pprof::protobuf_c PROPERTIES
    IMPORTED_LOCATION "${PPROF_PROTOBUF_C_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PPROF_PROTOBUF_C_INCLUDE}")
endif()
mark_as_advanced(
  PPROF_PROTOBUF_C_INCLUDE PPROF_PROTOBUF_C_LIBRARY PPROF_PROTOC_C)
