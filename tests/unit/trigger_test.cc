// SPDX-License-Identifier: Apache-2.0
//
// A program that records with pprof_start, asked from outside: windows and
// dumps come as files, the configuration is read again, stops do no harm.
#include "trigger_case.h"

#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "pprof/log.h"
#include "tests/support/patient_flush.h"

namespace {

// What a log holds: events by name.
struct Counts {
  pprof_sink base = {};
  std::map<uint32_t, std::string> names;
  std::map<std::string, int> events;
};

std::map<std::string, int> CountEvents(const std::string &path) {
  Counts counts;
  pprof_error error = {""};
  counts.base.size = sizeof counts.base;
  counts.base.define = [](pprof_sink *sink, const pprof_definition *it) {
    if (pprof_definition_get_kind(it) == PPROF_DEFINITION_SITE)
      reinterpret_cast<Counts *>(sink)->names[pprof_definition_id(it)] =
          pprof_definition_name(it);
    return PPROF_STATUS_OK;
  };
  counts.base.events = [](pprof_sink *sink, const pprof_batch *batch) {
    auto *self = reinterpret_cast<Counts *>(sink);
    for (size_t i = 0; i < batch->num_events; i++)
      self->events[self->names[pprof_batch_at(batch, i)->site]]++;
    return PPROF_STATUS_OK;
  };
  EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), &counts.base, &error))
      << error.text;
  return counts.events;
}

bool Exists(const std::string &path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0;
}

// Marks and steps until told to end.
class Work {
 public:
  Work() : thread_([this] { Run(); }) {}
  ~Work() {
    Stop();
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    PPROF_SITE(decode, "decode", PPROF_CATEGORY_USER_DEFINED);
    PPROF_SITE(parse, "parse", PPROF_CATEGORY_USER_DEFINED);
    while (!stop_) {
      pprof_push(&decode);
      pprof_push(&parse);
      pprof_pop();
      pprof_pop();
      pprof_step(1);
      std::this_thread::yield();
    }
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(TriggerTest, StepsIntoALogOfTheirOwn) {
  Start("capture: {on_demand: true}\n");
  Work work;
  int fd = Connect("trigger steps=3 output=" + folder_ + "/own log.pplog\n");
  EXPECT_EQ("begun window=0 opens=step file=" + folder_ + "/own log.pplog",
            Receive(fd));
  EXPECT_EQ("done window=0 file=" + folder_ + "/own log.pplog", Receive(fd));
  close(fd);
  auto events = CountEvents(folder_ + "/own log.pplog");
  EXPECT_EQ(3, events["ProfileStep"]);
  EXPECT_EQ(3, events["decode"]);
  fd = Connect("trigger steps=2\n");
  EXPECT_EQ("begun window=1 opens=step file=" + folder_ + "/all.pplog.part",
            Receive(fd));
  EXPECT_EQ("done window=1 file=" + folder_ + "/all.pplog.part", Receive(fd));
  close(fd);
  work.Stop();
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error_)) << error_.text;
  events = CountEvents(folder_ + "/all.pplog");
  EXPECT_EQ(5, events["ProfileStep"]) << "the session's log has both";
  EXPECT_EQ(5, events["decode"]);
}

TEST_F(TriggerTest, TimeFromNowOn) {
  Start("capture: {on_demand: true}\n");
  int fd = Connect("trigger seconds=0.05 output=" + folder_ + "/own.pplog\n");
  EXPECT_EQ("begun window=0 opens=now file=" + folder_ + "/own.pplog",
            Receive(fd));
  EXPECT_EQ("done window=0 file=" + folder_ + "/own.pplog", Receive(fd));
  close(fd);
  EXPECT_TRUE(CountEvents(folder_ + "/own.pplog").empty());
}

TEST_F(TriggerTest, StopAnswersWhoWaits) {
  Start("capture: {on_demand: true}\n");
  int fd = Connect("trigger seconds=1000 output=" + folder_ + "/own.pplog\n");
  EXPECT_EQ("begun window=0 opens=now file=" + folder_ + "/own.pplog",
            Receive(fd));
  PPROF_SITE(late, "late", PPROF_CATEGORY_USER_DEFINED);
  pprof_push(&late);
  pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error_)) << error_.text;
  EXPECT_EQ("done window=0 file=" + folder_ + "/own.pplog", Receive(fd));
  close(fd);
  EXPECT_EQ(1, CountEvents(folder_ + "/own.pplog")["late"]);
}

// Nobody steps; who asked goes away; the next one is served.
TEST_F(TriggerTest, ForsakenDemandMakesRoom) {
  Start("capture: {on_demand: true}\n");
  std::string path = folder_ + "/own.pplog";
  int fd = Connect("trigger steps=3 output=" + path + "\n");
  EXPECT_EQ("begun window=0 opens=step file=" + path, Receive(fd));
  close(fd);
  std::string answer = "failed busy";
  while (answer.rfind("failed busy", 0) == 0) {
    fd = Connect("trigger seconds=0.01\n");
    answer = Receive(fd);
    if (answer.rfind("failed busy", 0) == 0) close(fd);
  }
  EXPECT_EQ("begun window=0 opens=now file=" + folder_ + "/all.pplog.part",
            answer);
  EXPECT_EQ("done window=0 file=" + folder_ + "/all.pplog.part", Receive(fd));
  close(fd);
  EXPECT_FALSE(Exists(path));
  EXPECT_FALSE(Exists(path + ".part"));
}

TEST_F(TriggerTest, AllIsRecordedAlready) {
  Start("");
  int fd = Connect("trigger\n");
  EXPECT_EQ("failed busy everything is being recorded already, to " + folder_ +
                "/all.pplog.part; 'capture: {on_demand: true}' records only"
                " when asked",
            Receive(fd));
  close(fd);
  fd = Connect("trigger seconds=1 output=" + folder_ + "/no/x.pplog\n");
  EXPECT_EQ("failed io cannot write " + folder_ +
                "/no/x.pplog.part: No such file or directory",
            Receive(fd));
  close(fd);
}

TEST_F(TriggerTest, DumpOfTheFlightRecorder) {
  Start("log: false\nflight_recorder: {before: 10s, after: 10ms, output: '" +
        folder_ + "/flight.pplog'}\n");
  Work work;
  for (std::string number : {"", ".1"}) {
    std::string path = folder_ + "/flight" + number + ".pplog";
    int fd = Connect("trigger\n");
    EXPECT_EQ("begun dump file=" + path, Receive(fd));
    EXPECT_EQ("done dump file=" + path, Receive(fd));
    close(fd);
    EXPECT_LT(0, CountEvents(path)["decode"]);
  }
}

TEST_F(TriggerTest, ReloadedGlobsHoldFromThenOn) {
  Start("exclude: [parse]\n");
  PPROF_SITE(parse, "parse", PPROF_CATEGORY_USER_DEFINED);
  pprof_push(&parse);
  pprof_pop();
  pprof_stats stats = {};
  stats.size = sizeof stats;
  // What does not hold yet is counted excluded.
  Configure("output: " + folder_ + "/all.pplog\n");
  for (stats.recorded = 0; stats.recorded == 0;) {
    pprof_push(&parse);
    pprof_pop();
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_test::FlushPatiently(pprof_session_current()));
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_stats(pprof_session_current(), &stats));
  }
  EXPECT_LT(0u, stats.excluded);
}

TEST_F(TriggerTest, EachWindowHasItsExports) {
  Start(
      "capture: {on_demand: true}\nexports:\n"
      "  - {format: csv, per: window, path: '" +
      folder_ + "/w%w.csv'}\n  - {format: chrome, per: window, path: '" +
      folder_ + "/w%w.json'}\n");
  Work work;
  for (int i = 0; i < 2; i++) {
    int fd = Connect("trigger steps=2\n");
    Receive(fd);
    EXPECT_EQ("done window=" + std::to_string(i) + " file=" + folder_ +
                  "/all.pplog.part",
              Receive(fd));
    close(fd);
  }
  work.Stop();
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error_)) << error_.text;
  for (const char *name : {"/w0.csv", "/w1.csv", "/w0.json", "/w1.json"}) {
    EXPECT_TRUE(Exists(folder_ + name)) << name;
    EXPECT_FALSE(Exists(folder_ + name + ".part")) << name;
  }
}

}  // namespace
