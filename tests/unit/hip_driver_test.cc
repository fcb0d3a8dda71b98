// SPDX-License-Identifier: Apache-2.0
//
// What the hip backend asks of its driver, against a stand-in that notes every
// call. Numbers and meanings of results are typed from HIP's headers.
#include "hip.h"

#include <gtest/gtest.h>

#include "driver_events.h"
#include "tests/unit/fake_driver.h"

namespace {

using namespace fake_driver;

int SetDevice(int device) {
  return driver->Note("set_device", std::to_string(device));
}
int CurrentDevice(int *out) {
  *out = 3;
  return driver->Note("current_device", "");
}
int StreamDevice(void *stream) {
  return driver->Note("stream_device", Text(stream)) ? -1 : 3;
}
const char *HipErrorName(int) {
  return "hipErrorUnknown";
}

class HipTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    hip_.hipInit = Init;
    hip_.hipGetDeviceCount = DeviceCount;
    hip_.hipGetDevice = CurrentDevice;
    hip_.hipSetDevice = SetDevice;
    hip_.hipGetStreamDeviceId = StreamDevice;
    hip_.hipStreamIsCapturing = StreamCapturing;
    hip_.hipThreadExchangeStreamCaptureMode = ExchangeCaptureMode;
    hip_.hipStreamCreateWithFlags = StreamCreate;
    hip_.hipStreamDestroy = StreamDestroy;
    hip_.hipEventCreateWithFlags = EventCreate;
    hip_.hipEventDestroy = EventDestroy;
    hip_.hipEventRecord = EventRecord;
    hip_.hipEventQuery = EventQuery;
    hip_.hipEventElapsedTime = EventElapsed;
    hip_.hipGetErrorName = HipErrorName;
    ppi_hip_use(&hip_, &api_);
  }

  ppi_hip_api hip_ = {};
};

TEST_F(HipTest, PoolIsADevice) {
  void *context = nullptr;
  void *event = nullptr;
  pprof_stream_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(ppi_driver_open(&api_, "hip", 1, &context, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(ppi_driver_collector_enter(context), PPROF_STATUS_OK);
  EXPECT_EQ(ppi_driver_stream_info(context, Handle(51), &info),
            PPROF_STATUS_OK);
  EXPECT_EQ(info.pool, 4u);
  EXPECT_EQ(info.stable_id, 51u);
  EXPECT_EQ(ppi_driver_event_create(context, info.pool, 1, &event),
            PPROF_STATUS_OK);
  EXPECT_EQ(ppi_driver_event_record(context, event, Handle(51)),
            PPROF_STATUS_OK);
  EXPECT_EQ(driver_.calls, (Calls{"device_count()", "exchange_capture_mode(2)",
                                  "stream_capturing(51)", "stream_device(51)",
                                  "exchange_capture_mode(2)", "set_device(3)",
                                  "event_create(0)", "exchange_capture_mode(2)",
                                  "event_record(100,51)"}));
  ppi_driver_close(context);
}

TEST_F(HipTest, WhatIsNoStreamLosesOnlyItsRange) {
  void *context = nullptr;
  pprof_stream_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(ppi_driver_open(&api_, "hip", 1, &context, nullptr),
            PPROF_STATUS_OK);
  driver_.results["stream_device"] = 1;
  EXPECT_EQ(ppi_driver_stream_info(context, Handle(51), &info),
            PPROF_STATUS_INVALID);
  driver_.results.clear();
  EXPECT_EQ(ppi_driver_stream_info(context, Handle(51), &info),
            PPROF_STATUS_OK);
  ppi_driver_close(context);
}

TEST_F(HipTest, LegacyStreamDuringACaptureIsOfTheCurrentDevice) {
  void *context = nullptr;
  pprof_stream_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(ppi_driver_open(&api_, "hip", 1, &context, nullptr),
            PPROF_STATUS_OK);
  driver_.results["stream_capturing"] = 906;
  EXPECT_EQ(ppi_driver_stream_info(context, nullptr, &info), PPROF_STATUS_OK);
  EXPECT_TRUE(info.capturing);
  EXPECT_EQ(info.pool, 4u);
  EXPECT_EQ(driver_.calls.back(), "current_device()");
  ppi_driver_close(context);
}

TEST_F(HipTest, DriverThatFailsIsQuoted) {
  void *context = nullptr;
  pprof_error error = {};
  driver_.results["device_count"] = 999;
  EXPECT_EQ(ppi_driver_open(&api_, "hip", 0, &context, &error),
            PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text, "hip: counting devices: hipErrorUnknown (999)");
}

}  // namespace
