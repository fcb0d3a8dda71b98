// SPDX-License-Identifier: Apache-2.0
//
// Finding the vendors' libraries at run time: what is said when one is missing
// or is not what its name says.
#include <gtest/gtest.h>

#include <string>

#include "cuda_symbols.h"
#include "driver_events.h"
#include "hip.h"
#include "opencl.h"

namespace {

TEST(OpenclLibraryTest, MissingLibraryIsNamed) {
  const char *const sonames[] = {"libpprof-no-such-opencl.so.1", nullptr};
  ppi_opencl_api api;
  pprof_error error = {};
  EXPECT_EQ(ppi_opencl_load(sonames, &api, &error), PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text,
               "opencl: libpprof-no-such-opencl.so.1: cannot open shared "
               "object file: No such file or directory");
  EXPECT_EQ(ppi_opencl_load(sonames, &api, nullptr), PPROF_STATUS_UNAVAILABLE);
}

TEST(OpenclLibraryTest, LibraryWithoutTheFunctionsIsRefused) {
  const char *const sonames[] = {"libm.so.6", nullptr};
  ppi_opencl_api api;
  pprof_error error = {};
  EXPECT_EQ(ppi_opencl_load(sonames, &api, &error), PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text,
               "opencl: libm.so.6 has no function clGetPlatformIDs (too old, "
               "or not the driver)");
}

bool MayWait(const std::string &function) {
  for (const char *word : {"Sync", "Wait", "HostFunc", "Callback"})
    if (function.find(word) != std::string::npos) return true;
  return false;
}

// What is not asked for cannot be called.
TEST(DriverSymbolsTest, NothingThatWaits) {
  EXPECT_TRUE(MayWait("cuStreamSynchronize"));
  size_t num = 0;
  const ppi_symbol *symbols = ppi_cuda_symbols(&num);
  EXPECT_GT(num, 10u);
  for (size_t i = 0; i < num; i++) {
    EXPECT_FALSE(MayWait(symbols[i].name)) << symbols[i].name;
    if (symbols[i].other_name) {
      EXPECT_FALSE(MayWait(symbols[i].other_name));
    }
  }
#define EXPECT_NO_WAIT(name, optional, result, parameters) \
  EXPECT_FALSE(MayWait(#name)) << #name;
  PPI_HIP_LIST(EXPECT_NO_WAIT)
#undef EXPECT_NO_WAIT
}

// Of a session with such a device the report says so.
TEST(HipLibraryTest, IsLabelledAsNotRun) {
  EXPECT_STREQ(pprof_backend_hip()->caveat, "not run on hardware");
  EXPECT_EQ(pprof_backend_cuda()->caveat, nullptr);
}

// ROCm records no event each time a graph is launched.
TEST(HipLibraryTest, PutsNothingIntoGraphs) {
  EXPECT_EQ(pprof_backend_hip()->event_record_in_graph, nullptr);
  EXPECT_NE(pprof_backend_cuda()->event_record_in_graph, nullptr);
}

// There NULL is the thread's own stream, whatever the program means by it.
TEST(DriverSymbolsTest, NoneOfPerThreadStreams) {
  size_t num = 0;
  const ppi_symbol *symbols = ppi_cuda_symbols(&num);
  for (size_t i = 0; i < num; i++)
    for (const char *name : {symbols[i].name, symbols[i].other_name})
      if (name) {
        EXPECT_EQ(std::string(name).find("_pts"), std::string::npos) << name;
      }
}

// Where there is a GPU the first device opens, elsewhere the reason is given.
TEST(CudaLibraryTest, MachineWithoutADeviceSaysWhy) {
  for (const pprof_backend *backend :
       {pprof_backend_cuda(), pprof_backend_hip()}) {
    void *context = nullptr;
    pprof_error error = {};
    pprof_status status = backend->open(0, &context, &error);
    EXPECT_EQ(backend->caps,
              PPROF_BACKEND_CAPTURE | PPROF_BACKEND_CREATE_ANYWHERE);
    if (status == PPROF_STATUS_OK) {
      backend->close(context);
      continue;
    }
    EXPECT_EQ(status, PPROF_STATUS_UNAVAILABLE);
    std::string start = std::string(backend->name) + ": ";
    EXPECT_EQ(std::string(error.text).compare(0, start.size(), start), 0);
  }
}

TEST(HipLibraryTest, SeveralVersionsAreTried) {
  const char *const sonames[] = {"libpprof-no-such-hip.so.7",
                                 "libpprof-no-such-hip.so.6", nullptr};
  ppi_hip_api api;
  pprof_error error = {};
  EXPECT_EQ(ppi_hip_load(sonames, &api, &error), PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text,
               "hip: libpprof-no-such-hip.so.6: cannot open shared object "
               "file: No such file or directory (libpprof-no-such-hip.so.7 was "
               "tried first)");
  const char *const second[] = {"libpprof-no-such-hip.so.7", "libm.so.6",
                                nullptr};
  EXPECT_EQ(ppi_hip_load(second, &api, &error), PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text,
               "hip: libm.so.6 has no function hipInit (too old, or not the "
               "driver)");
}

}  // namespace
