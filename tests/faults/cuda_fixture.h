// SPDX-License-Identifier: Apache-2.0
//
// A program with CUDA streams and a session around it, both through public
// calls; what the report says; what the stand-in for the driver has seen.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include "fake_cuda.h"
#include "own_process.h"
#include "pprof/device.h"
#include "pprof/export.h"
#include "pprof/mark.h"
#include "pprof/report.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {

PPROF_SITE(host_site, "host", PPROF_CATEGORY_PREPROCESS);
PPROF_SITE(device_site, "device", PPROF_CATEGORY_INFERENCE);

constexpr uint32_t kUntimed = PPROF_FLAG_NO_DEVICE_TIME;

class CudaFaultTest : public OwnProcessTest {
 protected:
  // Where the build puts the driver: the current one, others by their version.
  static std::string Driver(const std::string &version = "") {
    const char *folder = getenv("FAKE_CUDA_FOLDER");
    return std::string(folder ? folder : "tests/faults/driver") + version;
  }

  void SetUp() override {
    OwnProcessTest::SetUp();
    live.options.drain_interval_us = 200;
    ASSERT_EQ(pprof_report_create(&report), PPROF_STATUS_OK);
  }

  void TearDown() override {
    live.Destroy();
    pprof_report_destroy(report);
    if (!fake) return;
    EXPECT_STREQ(fake->first_violation(), "");
    EXPECT_LE(fake->num_collectors(), num_sessions);
  }

  // What a program has before it comes to pprof.
  void UseCuda() {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(driver, nullptr) << dlerror();
    auto find = reinterpret_cast<const fake_cuda_controls *(*)()>(
        dlsym(driver, "fake_cuda"));
    ASSERT_NE(find, nullptr) << "libcuda.so.1 is not the stand-in";
    fake = find();
    context = fake->context_create();
    stream = fake->stream_create(context);
  }

  void Start() {
    device = pprof_device_get(pprof_backend_cuda(), 0);
    // Its context is known before the first range, and so are its events.
    if (stream) pprof_stream_name(device, stream, "main");
    ASSERT_NE(live.Create(), nullptr) << live.error.text;
    ASSERT_EQ(pprof_session_add_sink(live.session(), pprof_report_sink(report)),
              PPROF_STATUS_OK);
    ASSERT_EQ(live.Start(), PPROF_STATUS_OK);
    num_sessions++;
  }

  void Begin() {
    Start();
    ASSERT_TRUE(pprof_device_available(device, nullptr));
    Range();
    FlushTwice();
  }

  void UseAndBegin() {
    UseCuda();
    ASSERT_NO_FATAL_FAILURE(Begin());
  }

  // Two whole rounds of the collector: one to see, one to hand on.
  void FlushTwice() {
    for (int i = 0; i < 2; i++)
      while (live.Flush() == PPROF_STATUS_BUSY) {
      }
  }

  // A device range inside a host range: two records.
  void Range() {
    num_ranges++;
    pprof_push(&host_site);
    pprof_device_push(device, stream, &device_site);
    pprof_device_pop(device, stream);
    pprof_pop();
  }

  void Stop() {
    EXPECT_EQ(live.Stop(), PPROF_STATUS_OK) << live.error.text;
    json = Text(pprof_report_write_json);
    table = Text(pprof_report_write_table);
  }

  std::vector<RecordedEvent> DeviceRanges() {
    return live.recording.Named("device");
  }

  // Every host range is there, nothing is lost, and so many device ranges have
  // no time.
  void ExpectHostWhole(uint64_t num_untimed) {
    EXPECT_EQ(live.recording.Named("host").size(), num_ranges);
    EXPECT_EQ(DeviceRanges().size(), num_ranges);
    uint64_t untimed = 0;
    for (const RecordedEvent &range : DeviceRanges()) {
      untimed += (range.event.flags & kUntimed) != 0;
      EXPECT_LE(range.event.start_ns, range.event.end_ns);
    }
    EXPECT_EQ(untimed, num_untimed);
    ExpectTrust("recorded", 2 * num_ranges);
    ExpectTrust("lost", 0);
    ExpectTrust("unmatched", 0);
    ExpectTrust("invalid", 0);
    ExpectTrust("no_device_time", num_untimed);
  }

  void ExpectTrust(const std::string &key, uint64_t value) {
    std::string wanted = "\"" + key + "\":" + std::to_string(value) + ",";
    EXPECT_NE(json.find(wanted), std::string::npos)
        << wanted << " is not in " << json.substr(json.find("\"trust\""));
  }

  // What the report says of devices, a line each.
  std::vector<std::string> Notes() {
    const std::string start = "Trust: device: ";
    std::vector<std::string> notes;
    std::stringstream lines(table);
    for (std::string line; std::getline(lines, line);)
      if (line.compare(0, start.size(), start) == 0)
        notes.push_back(line.substr(start.size()));
    return notes;
  }

  void ExpectOneNote(const std::string &words) {
    std::vector<std::string> notes = Notes();
    ASSERT_EQ(notes.size(), 1u) << table;
    EXPECT_EQ(notes[0].compare(0, 8, "cuda:0: "), 0) << notes[0];
    EXPECT_NE(notes[0].find(words), std::string::npos) << notes[0];
    EXPECT_NE(json.find(words), std::string::npos);
  }

  // But for the name of an error, which is for the report.
  uint64_t NumCalls() {
    return fake->num_calls(nullptr) - fake->num_calls("cuGetErrorName");
  }

  // The one message of a device whose timing an error has ended.
  void ExpectErrorNote(const std::string &error) {
    ExpectOneNote("cuda:0: " + error +
                  ": device timing ended, host times go on");
  }

  // From here on the driver is left alone, whatever the program does.
  void ExpectNoCallsInRanges() {
    uint64_t before = NumCalls();
    for (int i = 0; i < 5; i++) Range();
    FlushTwice();
    Range();
    Stop();
    EXPECT_EQ(NumCalls(), before);
  }

  LiveSession live;
  pprof_report *report = nullptr;
  const fake_cuda_controls *fake = nullptr;
  void *context = nullptr, *stream = nullptr;
  pprof_device *device = nullptr;
  uint64_t num_ranges = 0, num_sessions = 0;
  std::string json, table;

 private:
  std::string Text(pprof_status (*write)(const pprof_report *, const char *,
                                         FILE *)) {
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    EXPECT_EQ(write(report, nullptr, out), PPROF_STATUS_OK);
    fclose(out);
    std::string all(text, len);
    free(text);
    return all;
  }
};

}  // namespace pprof_test
