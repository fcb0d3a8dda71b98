// SPDX-License-Identifier: Apache-2.0
//
// A session and a scripted device, for tests of device ranges.
#ifndef PPT_DEVICE_FIXTURE_H_
#define PPT_DEVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <vector>

#include "device_session.h"
#include "pprof/device.h"
#include "scripted_backend.h"

namespace pprof_test {

constexpr uint64_t kMs = 1000000;

PPROF_SITE(site, "work", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(other_site, "more", PPROF_CATEGORY_POSTPROCESS);

class DeviceTest : public testing::Test {
 protected:
  void Use(scripted_script script) {
    script.now = TestNow;
    script.anchor_width_ns = 20;
    script.anchor_position_permille = 500;
    fake = scripted_device_create(&script);
    device = pprof_device_get(scripted_device_backend(fake),
                              scripted_device_index(fake));
    stream = scripted_stream_create(fake, 0);
  }

  void SetUp() override {
    Use({});
  }

  void TearDown() override {
    session.Stop();
    EXPECT_EQ(scripted_device_num_violations(fake), 0u)
        << scripted_device_first_violation(fake);
    EXPECT_EQ(scripted_device_num_calls_after_error(fake), 0u);
    EXPECT_EQ(scripted_device_num_live_events(fake), 0u);
    EXPECT_EQ(session.stats.invalid, 0u);
  }

  void Push() {
    pprof_device_push(device, stream, &site);
  }
  void Pop() {
    pprof_device_pop(device, stream);
  }
  void Range(uint64_t work_ns) {
    Push();
    scripted_stream_submit(stream, work_ns);
    Pop();
  }

  std::vector<pprof_event> Finish() {
    Advance(100 * kMs);
    session.Flush();
    session.Stop();
    return session.DeviceRanges();
  }

  // The true time of record call `i`, in the events' time.
  uint64_t TrueNs(size_t i) {
    scripted_record record = {};
    EXPECT_TRUE(scripted_device_record(fake, i, &record));
    return record.true_ns - session.base_ns;
  }

  void ExpectTimes(const pprof_event &event, size_t begin, size_t end) {
    EXPECT_NEAR(event.device_start_ns, TrueNs(begin), event.device_error_ns);
    EXPECT_NEAR(event.device_end_ns, TrueNs(end), event.device_error_ns);
    EXPECT_LT(event.device_error_ns, 100000u);
  }

  scripted_device *fake;
  pprof_device *device;
  void *stream;
  DeviceSession session;
};

}  // namespace pprof_test

#endif  // PPT_DEVICE_FIXTURE_H_
