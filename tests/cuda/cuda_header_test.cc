// SPDX-License-Identifier: Apache-2.0
//
// The cuda backend against the driver's own header, where the toolkit is
// installed: the functions that it declares itself, the numbers that it goes
// by.
#include <cuda.h>
#include <gtest/gtest.h>

#include <string>

#include "cuda_symbols.h"
#include "driver_events.h"
#include "tests/support/abi_match.h"

namespace pprof_test {
namespace {

// cuda.h renames functions to their latest versions; so does the backend.
#define EVERY_FUNCTION(X)                                     \
  X(init, cuInit)                                             \
  X(device_count, cuDeviceGetCount)                           \
  X(stream_pool, cuStreamGetCtx)                              \
  X(pool_current, cuCtxGetCurrent)                            \
  X(stream_id, cuStreamGetId)                                 \
  X(stream_capturing, cuStreamIsCapturing)                    \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode) \
  X(pool_enter, cuCtxPushCurrent)                             \
  X(pool_leave, cuCtxPopCurrent)                              \
  X(stream_create, cuStreamCreate)                            \
  X(stream_destroy, cuStreamDestroy)                          \
  X(event_create, cuEventCreate)                              \
  X(event_destroy, cuEventDestroy)                            \
  X(event_record, cuEventRecord)                              \
  X(event_elapsed, cuEventElapsedTime)                        \
  X(error_name, cuGetErrorName)                               \
  X(context_id, cuCtxGetId)                                   \
  X(event_record_flags, cuEventRecordWithFlags)

#define CHECK_TYPE(member, name)                                          \
  static_assert(                                                          \
      AbiMatch<decltype(ppi_driver_api::member), decltype(&name)>::value, \
      #member);
EVERY_FUNCTION(CHECK_TYPE)
#undef CHECK_TYPE
// What pprof/cuda.h asks of the program's own driver.
static_assert(AbiMatch<int (*)(int *), decltype(&cuCtxGetDevice)>::value, "");

static_assert(CUDA_SUCCESS == 0, "");
static_assert(CUDA_ERROR_INVALID_VALUE == 1, "");
static_assert(CUDA_ERROR_OUT_OF_MEMORY == 2, "");
static_assert(CUDA_ERROR_NOT_INITIALIZED == 3, "");
static_assert(CUDA_ERROR_DEINITIALIZED == 4, "");
static_assert(CUDA_ERROR_NO_DEVICE == 100, "");
static_assert(CUDA_ERROR_INVALID_DEVICE == 101, "");
static_assert(CUDA_ERROR_INVALID_CONTEXT == 201, "");
static_assert(CUDA_ERROR_INVALID_HANDLE == 400, "");
static_assert(CUDA_ERROR_NOT_READY == 600, "");
static_assert(CUDA_ERROR_ILLEGAL_ADDRESS == 700, "");
static_assert(CUDA_ERROR_CONTEXT_IS_DESTROYED == 709, "");
static_assert(CUDA_ERROR_NOT_PERMITTED == 800, "");
static_assert(CUDA_ERROR_NOT_SUPPORTED == 801, "");
static_assert(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED == 900, "");
static_assert(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED == 901, "");
static_assert(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT == 906, "");
static_assert(CUDA_ERROR_CAPTURED_EVENT == 907, "");
static_assert(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD == 908, "");
static_assert(CUDA_ERROR_UNKNOWN == 999, "");
static_assert(CU_STREAM_CAPTURE_MODE_RELAXED == 2, "");
static_assert(CU_STREAM_CAPTURE_STATUS_NONE == 0, "");
static_assert(CU_STREAM_NON_BLOCKING == 1, "");
static_assert(CU_EVENT_DEFAULT == 0, "");
static_assert(CU_EVENT_RECORD_EXTERNAL == 1, "");

// The default streams' handles, as devices.md names them.
TEST(CudaHeaderTest, DefaultStreamsAreNumbers) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(CU_STREAM_LEGACY), 1u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD), 2u);
}

// A function that the backend asks for is checked above, under its own name.
TEST(CudaHeaderTest, EveryFunctionIsChecked) {
  const struct {
    size_t offset;
    const char *name;
  } checked[] = {
#define PLACE(member, name) {offsetof(ppi_driver_api, member), #name},
      EVERY_FUNCTION(PLACE)
#undef PLACE
      // Version 2; the header declares the latest only.
      {offsetof(ppi_driver_api, capture_info), "cuStreamGetCaptureInfo"},
  };
  size_t num = 0;
  const ppi_symbol *symbols = ppi_cuda_symbols(&num);
  EXPECT_EQ(num, sizeof checked / sizeof *checked);
  for (size_t i = 0; i < num; i++) {
    std::string asked = symbols[i].name;
    const char *found = "no such function";
    for (const auto &one : checked)
      if (one.offset == symbols[i].offset) found = one.name;
    EXPECT_EQ(asked.substr(0, asked.find("_v2")), found);
  }
}

}  // namespace
}  // namespace pprof_test
