// SPDX-License-Identifier: Apache-2.0
//
// Every request for memory, a mapping, a thread or a stream that the library
// makes is refused once, alone and with all that come after it: whatever was
// done is right or answers NO_MEMORY, and all that was taken is given back.
#include "tests/faults/memory_shim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "flight/flight.h"
#include "log/recover/log_recover.h"
#include "log/write/log_writer.h"
#include "pprof/pprof.h"
#include "print/report_print.h"
#include "report/report.h"
#include "session/capture/capture_session.h"
#include "session/state/session_state.h"
#include "start/environment.h"
#include "tests/support/capture_rules.h"
#include "tests/support/log_fixture.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"
#include "view/view.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(device_site, "on device", PPROF_CATEGORY_INFERENCE);

class MemoryFaultTest : public ::testing::Test {
 protected:
  // Does it again until nothing is refused any more. `act` answers what went
  // wrong; `judge` looks afterwards, with memory. Where it takes long, every
  // `step`th request is refused, from that of the day on, and all of them in
  // the long version.
  void EachFailure(const std::function<pprof_status()> &act,
                   const std::function<void(pprof_status)> &judge,
                   std::set<pprof_status> expected = {PPROF_STATUS_NO_MEMORY},
                   uint64_t step = 1) {
    const Sample sample(step, 1);
    TheSupply()->Stop();
    ASSERT_EQ(PPROF_STATUS_OK, act());  // what is made once and stays
    judge(PPROF_STATUS_OK);
    expected.insert(PPROF_STATUS_OK);
    long num_refused = 0;
    for (bool for_good : {false, true}) {
      bool refused = true;
      for (uint64_t n = 1 + sample.first; refused; n += sample.stride) {
        SCOPED_TRACE(std::to_string(n) + (for_good ? " and later" : ""));
        const size_t memory = TheSupply()->NumOut();
        const size_t files = NumEntries("/proc/self/fd");
        TheSupply()->FailAt(n, for_good);
        const pprof_status status = act();
        refused = TheSupply()->Stop();
        num_refused += refused;
        EXPECT_TRUE(expected.count(status)) << pprof_status_string(status);
        judge(status);
        EXPECT_EQ(memory, TheSupply()->NumOut()) << "blocks not given back";
        EXPECT_EQ(files, NumEntries("/proc/self/fd"));
        EXPECT_EQ(nullptr, pprof_session_current());
        if (HasFailure()) return;
        ASSERT_LT(n, 20000u);
      }
    }
    RecordProperty("refused", static_cast<int>(num_refused));
    printf("%ld requests refused\n", num_refused);
  }

  pplog::Folder folder_;
  std::string path_ = folder_ / "x.pplog";
};

// Five records, and a sixth on the stream.
void MarkAll(pprof_device *device, pprof_cpu_stream *stream) {
  pprof_push(&outer_site);
  pprof_push_name("by name", PPROF_CATEGORY_INFERENCE);
  pprof_flow(7);
  pprof_pop();
  pprof_count(&outer_site, 1);
  pprof_mark(&outer_site);
  pprof_range_end(pprof_range_begin(&outer_site));
  pprof_pop();
  if (!stream) return;
  pprof_device_push(device, stream, &device_site);
  pprof_device_pop(device, stream);
}

TEST_F(MemoryFaultTest, Session) {
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  pprof_cpu_stream *stream = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_cpu_stream_create(&stream));
  Recording recording;
  pprof_stats stats = {};
  auto act = [&] {
    // The next log would stand aside of one that a failed session has finished.
    unlink(path_.c_str());
    recording = Recording();
    stats = {};
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = 2u << 20;
    options.spool_dir = "memory";
    options.stop_wait_ms = 20;
    pprof_session *session = nullptr;
    pprof_status status = pprof_session_create(&options, &session, nullptr);
    if (status != PPROF_STATUS_OK) return status;
    pprof_sink *sink = RecordingSink::Make(&recording);
    EXPECT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, sink));
    pprof_sink *log = nullptr;
    status = pprof_log_writer_create(path_.c_str(), &log, nullptr);
    if (status == PPROF_STATUS_OK) {
      EXPECT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, log));
    }
    if (status == PPROF_STATUS_OK) status = pprof_session_start(session);
    if (status == PPROF_STATUS_OK) {
      MarkAll(device, stream);
      pprof_cpu_stream_synchronize(stream);
      status = pprof_session_stop(session, nullptr);
      stats.size = sizeof stats;
      pprof_session_stats(session, &stats);
    }
    pprof_session_destroy(session);
    unlink((path_ + ".part").c_str());
    return status;
  };
  // What is called a success is whole, or says what is lost.
  auto judge = [&](pprof_status status) {
    if (status != PPROF_STATUS_OK) return;
    EXPECT_EQ(6u, stats.recorded + stats.lost + stats.device_lost);
    EXPECT_EQ(stats.recorded, recording.events.size());
    EXPECT_EQ(stats.recorded, pplog::Pick(pplog::Read(path_), "event").size());
  };
  EachFailure(act, judge, {PPROF_STATUS_NO_MEMORY}, 7);
  pprof_cpu_stream_destroy(stream);
}

TEST_F(MemoryFaultTest, WindowsAndTheirReports) {
  auto act = [&] {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = 2u << 20;
    options.spool_dir = "memory";
    options.stop_wait_ms = 20;
    pprof_session *session = nullptr;
    pprof_status status = pprof_session_create(&options, &session, nullptr);
    if (status != PPROF_STATUS_OK) return status;
    const ppi_capture capture = Cycle(0, 0, 1, 1, 0);
    status = ppi_session_set_capture(session, &capture);
    if (status == PPROF_STATUS_OK)
      status = pprof_session_on_window(
          session, [](void *, uint32_t, const pprof_report *) {}, nullptr);
    if (status == PPROF_STATUS_OK) status = pprof_session_start(session);
    for (int i = 0; i < 4 && status == PPROF_STATUS_OK; i++) {
      MarkAll(nullptr, nullptr);
      pprof_step(1);
    }
    if (status == PPROF_STATUS_OK)
      status = pprof_session_stop(session, nullptr);
    pprof_session_destroy(session);
    return status;
  };
  EachFailure(
      act, [](pprof_status) {}, {PPROF_STATUS_NO_MEMORY}, 9);
}

TEST_F(MemoryFaultTest, Configuration) {
  const std::string config = folder_ / "pprof.yaml";
  pplog::Spill(
      config,
      "version: 1\noutput: " + path_ +
          "\nspool: memory\nstop_wait: 20ms\nmemory_limit: 4MiB\n" +
          "rotate: {size: 1MiB, keep: 2}\ndisk_limit: 10MiB\n" +
          "include: ['*']\nexclude: ['none*']\n" +
          "exports:\n  - {format: chrome, path: " + folder_ / "t.json.gz" +
          "}\n  - {format: csv, path: " + folder_ / "t.csv" +
          "}\n  - {format: table, path: " + folder_ / "w.%w.txt" +
          ", per: window}\n" +
          "flight_recorder: {memory: 1MiB, before: 1s, after: 0s, output: " +
          folder_ / "f.pplog" + ", rules: ['stage \"outer\" > 1h']}\n");
  pprof_error error;
  auto act = [&] {
    error = {};
    pprof_status status = pprof_start(config.c_str(), &error);
    if (status == PPROF_STATUS_CONFIG) ADD_FAILURE() << error.text;
    if (status != PPROF_STATUS_OK) return status;
    MarkAll(nullptr, nullptr);
    return pprof_stop(&error);
  };
  auto judge = [&](pprof_status status) {
    EXPECT_EQ(status != PPROF_STATUS_OK, error.text[0] != '\0')
        << pprof_status_string(status) << error.text;
    EXPECT_EQ(0, system(("rm -f '" + folder_ / "" + "'*.pplog* '" +
                         folder_ / "" + "'*.part")
                            .c_str()));
  };
  // A file that memory is missing for cannot be opened.
  EachFailure(act, judge, {PPROF_STATUS_NO_MEMORY, PPROF_STATUS_IO}, 29);
}

// However much is recorded while nobody takes it, memory stays what it was, but
// for what is held for who has no room.
TEST_F(MemoryFaultTest, NothingGrowsWithWhatWaits) {
  const size_t kMostHeld = 256 * 1024;
  for (uint64_t mib : {2, 4, 16}) {
    for (bool has_file : {false, true}) {
      SCOPED_TRACE(mib);
      LiveSession live;
      bool takes = false;
      live.options.memory_limit_bytes = mib << 20;
      live.options.spool_dir = has_file ? nullptr : "memory";
      live.recording.ready = [&takes] { return takes; };
      ASSERT_NE(nullptr, live.Create());
      live.session()->tee.most_buffered = kMostHeld;
      ASSERT_EQ(PPROF_STATUS_OK, live.Start());
      auto mark = [](int num) {
        for (int i = 0; i < num; i++) pprof_mark(&outer_site);
      };
      mark(1);
      const size_t before = TheSupply()->NumBytes();
      mark(1000000);
      EXPECT_LE(TheSupply()->NumBytes(), before + kMostHeld + 64 * 1024);
      takes = true;
      ASSERT_EQ(PPROF_STATUS_IO, live.Stop());
      const pprof_stats stats = live.Stats();
      EXPECT_LE(stats.spool_bytes, mib << 20);
      EXPECT_GT(stats.missed, 0u);
      EXPECT_EQ(1000001u, stats.recorded + stats.lost);
      EXPECT_EQ(stats.recorded, live.recording.events.size() + stats.missed);
    }
  }
}

class LogMemoryFaultTest : public MemoryFaultTest {
 protected:
  void SetUp() override {
    pprof_sink *log = pplog::Create(path_);
    pplog::Info info;
    ASSERT_EQ(PPROF_STATUS_OK, log->begin(log, info.get()));
    for (uint32_t id = 1; id < 20; id++) {
      const std::string name = "site " + std::to_string(id);
      pprof_definition site = pplog::Site(id, name.c_str());
      ASSERT_EQ(PPROF_STATUS_OK, log->define(log, &site));
    }
    for (uint32_t lane = 1; lane < 4; lane++) {
      std::vector<pprof_event> events;
      for (uint64_t i = 0; i < 200; i++)
        events.push_back(
            pplog::Range(lane, 1 + i % 19, 0, i * 100, i * 100 + 50));
      pprof_batch batch = pplog::Batch(lane, 0, 200, events);
      ASSERT_EQ(PPROF_STATUS_OK, log->events(log, &batch));
    }
    ASSERT_EQ(PPROF_STATUS_OK, log->finish(log, &pplog::kNoTotals));
    log->destroy(log);
  }
};

TEST_F(LogMemoryFaultTest, ReadingAndReporting) {
  FILE *null = fopen("/dev/null", "w");
  auto act = [&] {
    pprof_report *report = nullptr;
    pprof_status status = pprof_report_create(&report);
    if (status != PPROF_STATUS_OK) return status;
    pprof_error error = {};
    status = pprof_log_read(path_.c_str(), pprof_report_sink(report), &error);
    EXPECT_EQ(status != PPROF_STATUS_OK, error.text[0] != '\0');
    for (auto write : {pprof_report_write_table, pprof_report_write_json,
                       pprof_report_write_csv})
      if (status == PPROF_STATUS_OK) status = write(report, nullptr, null);
    pprof_report_destroy(report);
    return status;
  };
  EachFailure(act, [](pprof_status) {});
  fclose(null);
}

TEST_F(LogMemoryFaultTest, Trace) {
  const std::string trace = folder_ / "t.json.gz";
  auto act = [&] {
    pprof_sink *sink = nullptr;
    pprof_status status =
        pprof_chrome_writer_create(trace.c_str(), &sink, nullptr);
    if (status != PPROF_STATUS_OK) return status;
    status = pprof_log_read(path_.c_str(), sink, nullptr);
    sink->destroy(sink);
    return status;
  };
  auto judge = [&](pprof_status status) {
    EXPECT_FALSE(pplog::Exists(trace + ".part"));
    EXPECT_EQ(status == PPROF_STATUS_OK, pplog::Exists(trace));
    unlink(trace.c_str());
  };
  EachFailure(act, judge);
}

TEST_F(MemoryFaultTest, Recover) {
  const std::string spools = folder_ / "spools";
  ASSERT_EQ(0, mkdir(spools.c_str(), 0700));
  pid_t pid = fork();
  if (pid == 0) {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = 2u << 20;
    options.spool_dir = spools.c_str();
    pprof_session *session = nullptr;
    pprof_sink *log = pplog::Create(path_);
    if (pprof_session_create(&options, &session, nullptr) ||
        pprof_session_add_sink(session, log) || pprof_session_start(session))
      _exit(2);
    for (int i = 0; i < 50; i++) MarkAll(nullptr, nullptr);
    pprof_session_flush(session);
    for (int i = 0; i < 50; i++) MarkAll(nullptr, nullptr);
    _exit(0);
  }
  int state = 0;
  ASSERT_EQ(pid, waitpid(pid, &state, 0));
  ASSERT_EQ(0, state);
  const std::string copy = folder_ / "copy.pplog";
  pprof_error error;
  auto act = [&] {
    ppi_recover_options options = {copy.c_str(), false, true, false, nullptr};
    ppi_recover_result result = {};
    error = {};
    return ppi_recover((path_ + ".part").c_str(), &options, &result, &error);
  };
  auto judge = [&](pprof_status status) {
    EXPECT_EQ(status != PPROF_STATUS_OK, error.text[0] != '\0');
    if (status == PPROF_STATUS_OK) {
      EXPECT_EQ(500u, pplog::Pick(pplog::Read(copy), "event").size());
    }
    unlink(copy.c_str());
    EXPECT_TRUE(pplog::Exists(path_ + ".part"));
  };
  EachFailure(act, judge, {PPROF_STATUS_NO_MEMORY, PPROF_STATUS_IO});
}

}  // namespace
}  // namespace pprof_test
