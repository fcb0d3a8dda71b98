// SPDX-License-Identifier: Apache-2.0
//
// The hip backend against the headers and the library of HIP itself, as Debian
// has them (5.2): what the backend declares is what HIP has. No GPU is needed;
// that the calls do what they should was not tried on one.
#define __HIP_PLATFORM_AMD__ 1
#include "hip.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <string>
#include <vector>

#include "driver_events.h"
#include "pprof/mark.h"
#include "tests/support/abi_match.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

// Functions that may be missing are newer than these headers.
#define CHECK_TYPE_false(name)                                                 \
  static_assert(AbiMatch<decltype(ppi_hip_api::name), decltype(&name)>::value, \
                #name);
#define CHECK_TYPE_true(name)
#define CHECK_TYPE(name, optional, result, parameters) \
  CHECK_TYPE_##optional(name)
PPI_HIP_LIST(CHECK_TYPE)
#undef CHECK_TYPE

// The numbers that the cuda and hip backends go by.
static_assert(hipSuccess == 0, "");
static_assert(hipErrorInvalidValue == 1, "");
static_assert(hipErrorOutOfMemory == 2, "");
static_assert(hipErrorNotInitialized == 3, "");
static_assert(hipErrorDeinitialized == 4, "");
static_assert(hipErrorNoDevice == 100, "");
static_assert(hipErrorInvalidDevice == 101, "");
static_assert(hipErrorInvalidContext == 201, "");
static_assert(hipErrorInvalidHandle == 400, "");
static_assert(hipErrorNotReady == 600, "");
static_assert(hipErrorIllegalAddress == 700, "");
static_assert(hipErrorContextIsDestroyed == 709, "");
static_assert(hipErrorNotSupported == 801, "");
static_assert(hipErrorStreamCaptureUnsupported == 900, "");
static_assert(hipErrorStreamCaptureImplicit == 906, "");
static_assert(hipErrorCapturedEvent == 907, "");
static_assert(hipErrorStreamCaptureWrongThread == 908, "");
static_assert(hipErrorUnknown == 999, "");
static_assert(hipStreamCaptureModeRelaxed == 2, "");
static_assert(hipStreamCaptureStatusNone == 0, "");
static_assert(hipStreamNonBlocking == 1, "");

constexpr char kLibrary[] = "libamdhip64.so.5";

// An installation without it is not one to test on.
TEST(HipLibraryTest, HasWhatTheBackendAsksFor) {
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::vector<std::string> missing;
#define FIND(name, optional, result, parameters)                 \
  if (!dlsym(library, #name)) {                                  \
    EXPECT_TRUE(optional) << #name << " is not in " << kLibrary; \
    missing.push_back(#name);                                    \
  }
  PPI_HIP_LIST(FIND)
#undef FIND
  // Newer than it.
  EXPECT_EQ(missing, std::vector<std::string>{"hipStreamGetId"});
}

TEST(HipLibraryTest, IsLoaded) {
  const char *const sonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                 kLibrary, nullptr};
  ppi_hip_api api = {};
  pprof_error error = {};
  ASSERT_EQ(ppi_hip_load(sonames, &api, &error), PPROF_STATUS_OK) << error.text;
  EXPECT_STREQ(api.hipGetErrorName(600), "hipErrorNotReady");
}

PPROF_SITE(device_site, "device", PPROF_CATEGORY_INFERENCE);

// With a GPU it opens; without, the program is told why and goes on.
TEST(HipLibraryTest, MachineWithoutAGpuGoesOn) {
  pprof_device *device = pprof_device_get(pprof_backend_hip(), 0);
  pprof_error why = {};
  bool has_gpu = pprof_device_available(device, &why);
  EXPECT_STREQ(why.text, has_gpu ? "" : "hip: there is no device 0; found 0");
  LiveSession live;
  ASSERT_EQ(live.Start(), PPROF_STATUS_OK);
  pprof_device_push(device, nullptr, &device_site);
  pprof_device_pop(device, nullptr);
  EXPECT_EQ(live.Stop(), PPROF_STATUS_OK);
  ASSERT_EQ(live.recording.Named("device").size(), 1u);
  if (has_gpu) return;
  EXPECT_EQ(live.recording.notes["device"], std::string("hip:0: ") + why.text);
}

}  // namespace
}  // namespace pprof_test
