// SPDX-License-Identifier: Apache-2.0
//
// A driver that stands in for CUDA's or HIP's, and notes every call.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver_events.h"

namespace fake_driver {

using Calls = std::vector<std::string>;

// Contexts, streams and events are small numbers in disguise.
inline void *Handle(uintptr_t number) {
  return reinterpret_cast<void *>(number);
}

inline std::string Text(const void *handle) {
  return std::to_string(reinterpret_cast<uintptr_t>(handle));
}

struct Driver {
  Calls calls;
  std::map<std::string, int> results;  // by function; missing: 0
  bool initialised = true;
  int num_devices = 2;
  void *current = Handle(10);  // context of the default stream
  std::vector<void *> entered;
  int capture_state = 0;
  unsigned long long context_id = 1;
  float elapsed_ms = 0;
  uintptr_t next_event = 100, next_stream = 50;
  int fail_create_after = -1;  // events
  int queries_until_ready = 0;

  int Note(const std::string &function, const std::string &arguments) {
    calls.push_back(function + "(" + arguments + ")");
    auto found = results.find(function);
    return found == results.end() ? 0 : found->second;
  }

  Calls TakeCalls() {
    Calls taken;
    taken.swap(calls);
    return taken;
  }
};
inline Driver *driver;

inline int Init(unsigned flags) {
  driver->initialised = true;
  return driver->Note("init", std::to_string(flags));
}
inline int DeviceCount(int *out) {
  int code = driver->Note("device_count", "");
  if (!driver->initialised) return 3;
  if (!code) *out = driver->num_devices;
  return code;
}
inline int StreamPool(void *stream, void **out) {
  int code = driver->Note("stream_pool", Text(stream));
  if (!code) *out = driver->current;
  return code;
}
inline int PoolCurrent(void **out) {
  *out = Handle(10);
  return driver->Note("pool_current", "");
}
inline int ContextId(void *pool, unsigned long long *out) {
  *out = driver->context_id;
  return driver->Note("context_id", Text(pool));
}
inline int EventRecordFlags(void *event, void *stream, unsigned flags) {
  return driver->Note("event_record_flags", Text(event) + "," + Text(stream) +
                                                "," + std::to_string(flags));
}
inline int CaptureInfo(void *stream, int *out_state, unsigned long long *out_id,
                       void *graph, void *dependencies, size_t *num) {
  EXPECT_TRUE(!graph && !dependencies && !num);
  *out_state = driver->capture_state;
  *out_id = 33;
  return driver->Note("capture_info", Text(stream));
}
inline int StreamId(void *stream, unsigned long long *out) {
  *out = 7000 + reinterpret_cast<uintptr_t>(stream);
  return driver->Note("stream_id", Text(stream));
}
inline int StreamCapturing(void *stream, int *out) {
  *out = driver->capture_state;
  return driver->Note("stream_capturing", Text(stream));
}
inline int ExchangeCaptureMode(int *mode) {
  return driver->Note("exchange_capture_mode", std::to_string(*mode));
}
inline int PoolEnter(void *pool) {
  int code = driver->Note("pool_enter", Text(pool));
  if (!code) driver->entered.push_back(pool);
  return code;
}
inline int PoolLeave(void **out) {
  *out = driver->entered.back();
  driver->entered.pop_back();
  return driver->Note("pool_leave", "");
}
inline int StreamCreate(void **out, unsigned flags) {
  *out = Handle(driver->next_stream++);
  return driver->Note("stream_create", std::to_string(flags));
}
inline int StreamDestroy(void *stream) {
  return driver->Note("stream_destroy", Text(stream));
}
inline int EventCreate(void **out, unsigned flags) {
  if (driver->fail_create_after == 0)
    return driver->Note("event_create", ""), 2;
  driver->fail_create_after--;
  *out = Handle(driver->next_event++);
  return driver->Note("event_create", std::to_string(flags));
}
inline int EventDestroy(void *event) {
  return driver->Note("event_destroy", Text(event));
}
inline int EventRecord(void *event, void *stream) {
  return driver->Note("event_record", Text(event) + "," + Text(stream));
}
inline int EventQuery(void *event) {
  int code = driver->Note("event_query", Text(event));
  return driver->queries_until_ready-- > 0 ? 600 : code;
}
inline int EventElapsed(float *out_ms, void *from, void *to) {
  *out_ms = driver->elapsed_ms;
  return driver->Note("event_elapsed", Text(from) + "," + Text(to));
}
inline int ErrorName(int code, const char **out) {
  *out = code == 999 ? "CUDA_ERROR_UNKNOWN" : nullptr;
  return code == 999 ? 0 : 1;
}

inline ppi_driver_api FakeApi() {
  ppi_driver_api api = {};
  api.init = Init;
  api.device_count = DeviceCount;
  api.stream_pool = StreamPool;
  api.pool_current = PoolCurrent;
  api.stream_id = StreamId;
  api.stream_capturing = StreamCapturing;
  api.exchange_capture_mode = ExchangeCaptureMode;
  api.pool_enter = PoolEnter;
  api.pool_leave = PoolLeave;
  api.stream_create = StreamCreate;
  api.stream_destroy = StreamDestroy;
  api.event_create = EventCreate;
  api.event_destroy = EventDestroy;
  api.event_record = EventRecord;
  api.event_query = EventQuery;
  api.event_elapsed = EventElapsed;
  api.error_name = ErrorName;
  return api;
}

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    driver = &driver_;
  }

  Driver driver_;
  ppi_driver_api api_ = FakeApi();
};

}  // namespace fake_driver
