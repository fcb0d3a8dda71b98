// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder in a session: its ring in the spool, dumps of a run that
// goes on, and what recover makes of a process that was killed.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "flight/flight.h"
#include "log/recover/log_recover.h"
#include "pprof/log.h"
#include "recording_sink.h"
#include "recover/salvage.h"
#include "spool/spool.h"
#include "tests/support/log_fixture.h"
#include "tests/support/patient_flush.h"

namespace {

using pplog::Folder;
using pprof_test::Recording;
using pprof_test::RecordingSink;

const uint64_t kSecond = 1000000000;

class FlightLiveTest : public testing::Test {
 protected:
  FlightLiveTest()
      : spools_(folder_ / "spools"),
        dump_(folder_ / "x.flight.pplog"),
        log_(folder_ / "x.pplog") {
    EXPECT_EQ(0, mkdir(spools_.c_str(), 0700));
  }

  // A session with a flight recorder and, perhaps, a log.
  pprof_session *Session(bool with_log, uint64_t before_ns,
                         const std::vector<ppi_rule> &rules = {}) {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = 8 << 20;
    options.spool_dir = spools_.c_str();
    options.drain_interval_us = interval_us_;
    pprof_session *session = nullptr;
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session, &error));
    EXPECT_EQ(PPROF_STATUS_OK, ppi_session_set_ring(session, ring_bytes_));
    ppi_flight_options flight = {};
    flight.before_ns = before_ns;
    flight.after_ns = after_ns_;
    flight.path = dump_.c_str();
    flight.rules = rules.data();
    flight.num_rules = rules.size();
    EXPECT_EQ(PPROF_STATUS_OK, ppi_flight_create(&flight, &sink_, &error));
    EXPECT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, sink_));
    if (with_log) {
      pprof_sink *log = pplog::Create(log_);
      EXPECT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, log));
    }
    return session;
  }
  // Records as a program would and is killed; answers when it is dead.
  void RunAndKill(bool with_log, uint64_t before_ns, int num_ranges) {
    pid_t child = fork();
    if (child == 0) {
      pprof_session *session = Session(with_log, before_ns);
      if (pprof_session_start(session) != PPROF_STATUS_OK) _exit(1);
      static pprof_site open = {"open", PPROF_CATEGORY_INFERENCE, 0, 0, {0, 0}};
      static pprof_site range = {
          "range", PPROF_CATEGORY_INFERENCE, 0, 0, {0, 0}};
      pprof_push(&open);
      for (int i = 0; i < num_ranges; i++) {
        pprof_push(&range);
        pprof_pop();
        if (i % 1000 == 0 || i == num_ranges / 2)
          pprof_test::FlushPatiently(session);
      }
      kill(getpid(), SIGKILL);
    }
    int state = 0;
    ASSERT_EQ(child, waitpid(child, &state, 0));
    ASSERT_TRUE(WIFSIGNALED(state)) << WEXITSTATUS(state);
  }
  std::string Spool() {
    std::string command = "ls " + spools_ + "/*.spool 2>/dev/null";
    FILE *pipe = popen(command.c_str(), "r");
    char line[4096] = "";
    if (!fgets(line, sizeof line, pipe)) line[0] = 0;
    pclose(pipe);
    std::string path = line;
    return path.substr(0, path.find('\n'));
  }
  static Recording Read(const std::string &path) {
    Recording recording;
    pprof_sink *reader = RecordingSink::Make(&recording);
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), reader, &error))
        << error.text;
    reader->destroy(reader);
    EXPECT_FALSE(recording.undefined_site);
    EXPECT_FALSE(recording.gap);
    EXPECT_EQ(recording.events.size(), recording.Total(PPI_TOTAL_RECORDED));
    return recording;
  }
  ppi_recover_result Recover(const std::string &path, bool keep = false) {
    const std::string folder = folder_ / "";
    ppi_recover_options options = {nullptr, false, keep, false, folder.c_str()};
    ppi_recover_result result;
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_recover(path.c_str(), &options, &result, &error))
        << error.text;
    return result;
  }

  Folder folder_;
  std::string spools_, dump_, log_;
  uint64_t ring_bytes_ = 1 << 20, after_ns_ = 0;
  uint32_t interval_us_ = 0;  // the usual one
  pprof_sink *sink_ = nullptr;
};

TEST_F(FlightLiveTest, ARunThatGoesOnIsDumpedWhenAsked) {
  pprof_session *session = Session(false, 100 * kSecond);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  static pprof_site site = {"range", PPROF_CATEGORY_INFERENCE, 0, 0, {0, 0}};
  static pprof_site open = {"open", PPROF_CATEGORY_INFERENCE, 0, 0, {0, 0}};
  pprof_push(&open);
  for (int i = 0; i < 1000; i++) {
    pprof_push(&site);
    pprof_pop();
  }
  pprof_pop();
  pprof_pop();  // unmatched
  pprof_push(&open);
  char path[4096];
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_flight_trigger(sink_, nullptr, path, sizeof path));
  pprof_status status;
  while (!ppi_flight_dumped(sink_, path, &status)) {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_test::FlushPatiently(session));
    sched_yield();
  }
  ASSERT_EQ(PPROF_STATUS_OK, status);
  Recording dump = Read(path);
  EXPECT_EQ(1000u, dump.Named("range").size());
  ASSERT_EQ(2u, dump.Named("open").size());
  EXPECT_EQ(unsigned{PPROF_FLAG_CLIPPED}, dump.Named("open")[1].event.flags);
  EXPECT_EQ(1u, dump.Total(PPI_TOTAL_CLIPPED));
  EXPECT_EQ(1u, dump.Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(0u, dump.Total(PPI_TOTAL_EXCLUDED));
  EXPECT_EQ(0u, dump.Total(PPI_TOTAL_INCOMPLETE));
  EXPECT_EQ(1u, dump.Total(PPI_TOTAL_CRASH_SAFE));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  pprof_session_destroy(session);
}

TEST_F(FlightLiveTest, AKilledRunLeavesItsLatestRecords) {
  RunAndKill(false, 100 * kSecond, 2500);
  std::string spool = Spool();
  ASSERT_NE("", spool);
  ppi_recover_result result = Recover(spool);
  EXPECT_EQ(dump_, result.path);
  EXPECT_EQ(dump_, result.dump_path);
  EXPECT_FALSE(result.already_whole);
  EXPECT_GE(result.blocks_staged, 1u);
  EXPECT_GE(result.records_recovered, 499u);
  EXPECT_EQ("", Spool()) << "it is not needed any more";
  Recording dump = Read(dump_);
  EXPECT_EQ(2500u, dump.Named("range").size());
  ASSERT_EQ(1u, dump.Named("open").size());
  EXPECT_EQ(unsigned{PPROF_FLAG_CLIPPED}, dump.Named("open")[0].event.flags);
  EXPECT_EQ(1u, dump.Total(PPI_TOTAL_INCOMPLETE));
  EXPECT_EQ(0u, dump.Total(PPI_TOTAL_EXCLUDED));
  EXPECT_EQ(2u, dump.windows.size());
  EXPECT_EQ(0u, dump.info["flight"].find("a part of the run, before its"));
}

TEST_F(FlightLiveTest, AKilledRunWithALogHasBoth) {
  RunAndKill(true, 100 * kSecond, 2500);
  ppi_recover_result result = Recover(log_ + ".part");
  EXPECT_EQ(log_, result.path);
  EXPECT_EQ(dump_, result.dump_path);
  EXPECT_EQ("", Spool());
  EXPECT_EQ(2501u, Read(log_).events.size());
  EXPECT_EQ(2501u, Read(dump_).events.size());
}

TEST_F(FlightLiveTest, WhatIsOlderThanTheTimeBeforeIsLeftOut) {
  RunAndKill(false, 0, 2500);
  Recover(Spool());
  Recording dump = Read(dump_);
  EXPECT_LT(dump.Named("range").size(), 1500u);
  EXPECT_EQ(1u, dump.Named("open").size());
  EXPECT_EQ(2501u, dump.events.size() + dump.Total(PPI_TOTAL_EXCLUDED));
}

TEST_F(FlightLiveTest, RecoveredTwiceItIsOneDump) {
  RunAndKill(false, 100 * kSecond, 100);
  std::string spool = Spool();
  Recover(spool, true);
  ppi_recover_result again = Recover(spool);
  EXPECT_TRUE(again.already_whole);
  EXPECT_EQ(dump_, again.dump_path);
  EXPECT_FALSE(pplog::Exists(folder_ / "x.flight.1.pplog"));
  EXPECT_EQ("", Spool());
}

// It waits for a time after its moment that never comes.
TEST_F(FlightLiveTest, ADumpThatADeathCutOffIsFinished) {
  pid_t child = fork();
  if (child == 0) {
    after_ns_ = 100 * kSecond;
    pprof_session *session = Session(false, 100 * kSecond);
    char path[4096];
    static pprof_site range = {"range", PPROF_CATEGORY_INFERENCE, 0, 0, {0, 0}};
    if (pprof_session_start(session) != PPROF_STATUS_OK ||
        ppi_flight_trigger(sink_, nullptr, path, sizeof path))
      _exit(1);
    for (int i = 0; i < 50; i++) {
      pprof_push(&range);
      pprof_pop();
    }
    pprof_test::FlushPatiently(session);
    // Until the block is in the file.
    struct stat stat = {};
    for (off_t size = 0; size < 400; size = stat.st_size)
      if (::stat((dump_ + ".part").c_str(), &stat) != 0) _exit(1);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(pplog::Exists(dump_ + ".part"));
  // A recover that was killed has left these.
  const std::string spool = Spool();
  Recover(spool, true);
  const std::string death = folder_ / "x.flight.1.pplog";
  ASSERT_EQ(0, rename(death.c_str(), (death + ".part").c_str()));
  pplog::Spill(folder_ / "x.flight.2.pplog", "somebody's");
  pplog::Spill(folder_ / "x.flight.2.pplog.part", "");

  const ppi_recover_result result = Recover(spool);
  EXPECT_FALSE(result.already_whole);
  EXPECT_EQ(death, result.dump_path);
  EXPECT_EQ(50u, Read(death).Named("range").size());
  const Recording cut = Read(dump_);
  EXPECT_EQ(50u, cut.Named("range").size());
  EXPECT_EQ(1u, cut.Total(PPI_TOTAL_INCOMPLETE));
  for (const char *name :
       {"x.flight.pplog", "x.flight.1.pplog", "x.flight.2.pplog"})
    EXPECT_FALSE(pplog::Exists(folder_ / (std::string(name) + ".part")))
        << name;
  EXPECT_EQ("", Spool());
}

// The ring's oldest blocks go before the lanes know that their records are
// kept; a kill then finds these in the lanes, and counted as gone.
TEST_F(FlightLiveTest, ARingThatWrapsWithinACycleCountsEachRecordOnce) {
  ring_bytes_ = 256 * 1024;
  const uint64_t kFew = 10, kValues = 60000;
  pid_t child = fork();
  if (child == 0) {
    interval_us_ = 3600u * 1000000u;
    pprof_session *session = Session(false, 100 * kSecond);
    static pprof_sink killer;
    killer.size = sizeof killer;
    killer.checkpoint = [](pprof_sink *, const pprof_checkpoint *checkpoint) {
      // Told behind the events of its cycle, before they are freed. The other
      // open one is step 0.
      if (checkpoint->num_open == 2) kill(getpid(), SIGKILL);
      return PPROF_STATUS_OK;
    };
    static pprof_site site = {"value", PPROF_CATEGORY_INFERENCE, 0, 0, {0, 0}};
    if (pprof_session_add_sink(session, &killer) != PPROF_STATUS_OK ||
        pprof_session_start(session) != PPROF_STATUS_OK)
      _exit(1);
    std::thread([&] {
      for (uint64_t i = 0; i < kFew; i++) pprof_mark(&site);
    }).join();
    uint64_t random = 1;
    for (uint64_t i = 0; i < kValues; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      pprof_count(&site, static_cast<double>(random));
    }
    pprof_push(&site);
    for (;;) pprof_session_flush(session);
  }
  int state = 0;
  ASSERT_EQ(child, waitpid(child, &state, 0));
  ASSERT_TRUE(WIFSIGNALED(state)) << WEXITSTATUS(state);
  Recover(Spool());
  Recording dump = Read(dump_);
  EXPECT_LT(dump.events.size(), kValues) << "the ring has not wrapped";
  EXPECT_EQ(0u, dump.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(kFew + kValues + 1,
            dump.events.size() + dump.Total(PPI_TOTAL_EXCLUDED));
}

TEST_F(FlightLiveTest, ADumpThatIsThereAlreadyStays) {
  pplog::Spill(dump_, "somebody's");
  RunAndKill(false, 100 * kSecond, 100);
  EXPECT_EQ(folder_ / "x.flight.1.pplog", Recover(Spool()).path);
  EXPECT_EQ("somebody's", pplog::Slurp(dump_));
}

// A ring much smaller than what is recorded: old blocks go, memory is used
// again, nothing is lost.
TEST_F(FlightLiveTest, AFullRingLosesNothingNew) {
  ring_bytes_ = 256 * 1024;
  pprof_session *session = Session(false, 100 * kSecond);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  // Values that no compression makes smaller.
  static pprof_site site = {"value", PPROF_CATEGORY_INFERENCE, 0, 0, {0, 0}};
  const uint64_t kValues = 100000;
  uint64_t random = 1;
  for (uint64_t i = 0; i < kValues; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    pprof_count(&site, static_cast<double>(random));
    if (i % 2000 == 0) {
      ASSERT_EQ(PPROF_STATUS_OK, pprof_test::FlushPatiently(session));
    }
  }
  char path[4096];
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_flight_trigger(sink_, nullptr, path, sizeof path));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  EXPECT_GT(ppi_flight_look(sink_).num_overwritten, 0u);
  Recording dump = Read(path);
  EXPECT_EQ(0u, dump.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(kValues, dump.events.size() + dump.Total(PPI_TOTAL_EXCLUDED));
  pprof_session_destroy(session);
}

}  // namespace
