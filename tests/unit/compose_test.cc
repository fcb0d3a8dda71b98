// SPDX-License-Identifier: Apache-2.0
//
// pprof_start and pprof_stop, with everything they call replaced: what is asked
// for, in which order, and that each failure leaves nothing behind.
#include "start/compose.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/mem.h"
#include "session/capture/capture_session.h"
#include "start/environment.h"

namespace {

// What was called, a word each; `failing` names the call that fails.
std::string said;
std::string failing;
std::string config_text;
pprof_options options;
ppi_capture capture;
ppi_control_actions control;
ppi_control_options control_options;
ppi_nvtx_options nvtx;
bool other_session;

pprof_status Say(const std::string &what) {
  said += (said.empty() ? "" : " ") + what;
  return what.substr(0, what.find(':')) == failing ? PPROF_STATUS_UNAVAILABLE
                                                   : PPROF_STATUS_OK;
}

pprof_status SayError(const std::string &what, pprof_error *error) {
  pprof_status status = Say(what);
  if (status != PPROF_STATUS_OK)
    snprintf(error->text, sizeof error->text, "%s failed",
             what.substr(0, what.find(':')).c_str());
  return status;
}

struct FakeSink {
  pprof_sink base;
  std::string name;
};

pprof_sink *MakeSink(const std::string &name) {
  auto *sink = new FakeSink{{}, name};
  sink->base.size = sizeof(pprof_sink);
  sink->base.destroy = [](pprof_sink *self) {
    auto *fake = reinterpret_cast<FakeSink *>(self);
    Say("~" + fake->name);
    delete fake;
  };
  return &sink->base;
}

pprof_sink *sinks[8];
size_t num_sinks;
pprof_sink report_sink;

char session_memory, report_memory;
pprof_session *Session() {
  return reinterpret_cast<pprof_session *>(&session_memory);
}
pprof_report *Report() {
  return reinterpret_cast<pprof_report *>(&report_memory);
}

std::string log_path, chrome_path, part_path, flight_path, note, log_error;
int chrome_errno;
ppi_log_rotation rotation;
ppi_flight_options flight;
ppi_window_maker maker;
pprof_window_fn on_window;
void *on_window_user;
bool busy, dumped;

ppi_compose_calls FakeCalls() {
  ppi_compose_calls calls = {};
  calls.session_current = [] { return other_session ? Session() : nullptr; };
  calls.session_create = [](const pprof_options *asked, pprof_session **out,
                            pprof_error *error) {
    options = *asked;
    pprof_status status = SayError("create", error);
    if (status == PPROF_STATUS_OK) *out = Session();
    return status;
  };
  calls.session_set_capture = [](pprof_session *, const ppi_capture *asked) {
    pprof_status status = Say("capture");
    if (status == PPROF_STATUS_OK) capture = *asked;
    return status;
  };
  calls.session_set_choice = [](pprof_session *, const ppi_choice *asked) {
    std::string globs;
    for (size_t i = 0; i < asked->num_include; i++)
      globs += std::string("+") + asked->include[i];
    for (size_t i = 0; i < asked->num_exclude; i++)
      globs += std::string("-") + asked->exclude[i];
    for (size_t i = 0; i < asked->num_cpu; i++)
      globs += std::string("@") + asked->cpu[i];
    return Say("choice" + (globs.empty() ? "" : ":" + globs));
  };
  calls.session_set_ring = [](pprof_session *, uint64_t bytes) {
    return Say("ring:" + std::to_string(bytes));
  };
  calls.session_add_window_maker = [](pprof_session *,
                                      const ppi_window_maker *asked) {
    maker = *asked;
    return Say("maker");
  };
  calls.session_on_window = [](pprof_session *, pprof_window_fn fn,
                               void *user) {
    on_window = fn;
    on_window_user = user;
    return Say("windows");
  };
  calls.session_demand = [](pprof_session *, const ppi_demand *asked,
                            uint32_t *out) {
    *out = 5;
    if (busy) return Say("demand"), PPROF_STATUS_BUSY;
    return Say("demand:" + std::to_string(asked->steps) + ":" +
               std::to_string(asked->ns));
  };
  calls.session_withdraw = [](pprof_session *) {
    Say("withdraw");
    return !busy;
  };
  calls.session_note = [](pprof_session *, const char *key, const char *text) {
    Say(std::string("note:") + key);
    note = text;
  };
  calls.session_flush = [](pprof_session *) { return Say("flush"); };
  calls.session_set_device_mode = [](pprof_session *, ppi_device_mode mode) {
    return Say("devices:" + std::to_string(mode));
  };
  calls.session_set_graph_nodes = [](pprof_session *, bool external) {
    return Say(external ? "graphs:external" : "graphs:skip");
  };
  calls.set_nvtx = [](const ppi_nvtx_options *asked) { nvtx = *asked; };
  calls.session_set_info = [](pprof_session *, const char *key,
                              const char *value) {
    config_text = value;
    return Say(std::string("info:") + key);
  };
  calls.session_add_sink = [](pprof_session *, pprof_sink *sink) {
    pprof_status status = Say("add");
    if (status == PPROF_STATUS_OK) sinks[num_sinks++] = sink;
    return status;
  };
  calls.session_start = [](pprof_session *) { return Say("start"); };
  calls.session_stop = [](pprof_session *, pprof_error *error) {
    return SayError("stop", error);
  };
  calls.session_destroy = [](pprof_session *) {
    Say("destroy");
    for (size_t i = 0; i < num_sinks; i++)
      if (sinks[i]->destroy) sinks[i]->destroy(sinks[i]);
    num_sinks = 0;
  };
  calls.log_writer_create = [](const char *path, const ppi_log_rotation *asked,
                               pprof_sink **out, pprof_error *error) {
    pprof_status status = SayError(std::string("log:") + path, error);
    log_path = path;
    part_path = log_path + ".part";
    rotation = *asked;
    if (status == PPROF_STATUS_OK) *out = MakeSink("log");
    return status;
  };
  calls.log_writer_part_path = [](const pprof_sink *) {
    return part_path.c_str();
  };
  calls.log_writer_error = [](const pprof_sink *) { return log_error.c_str(); };
  calls.log_writer_note = [](const pprof_sink *) { return ""; };
  calls.flight_create = [](const ppi_flight_options *asked, pprof_sink **out,
                           pprof_error *error) {
    pprof_status status = SayError("flight", error);
    flight = *asked;
    flight_path = asked->path;
    if (status == PPROF_STATUS_OK) *out = MakeSink("flight");
    return status;
  };
  calls.flight_set_rules = [](pprof_sink *, const ppi_rule *, size_t num,
                              uint64_t every_ns, uint64_t limit) {
    return Say("rules:" + std::to_string(num) + ":" + std::to_string(every_ns) +
               ":" + std::to_string(limit));
  };
  calls.flight_trigger = [](pprof_sink *, const char *path, char *out,
                            size_t size) {
    snprintf(out, size, "%s", path ? path : flight_path.c_str());
    return Say(std::string("dump:") + (path ? path : "-"));
  };
  calls.flight_dumped = [](pprof_sink *, const char *, pprof_status *out) {
    *out = PPROF_STATUS_OK;
    return dumped;
  };
  calls.log_writer_path = [](const pprof_sink *) { return log_path.c_str(); };
  calls.chrome_writer_create = [](const char *path, pprof_sink **out,
                                  pprof_error *error) {
    pprof_status status = SayError(std::string("chrome:") + path, error);
    chrome_path = path;
    if (status == PPROF_STATUS_OK) *out = MakeSink("chrome");
    return status;
  };
  calls.chrome_writer_set_disk = [](pprof_sink *, ppi_disk *) {};
  calls.chrome_writer_path = [](const pprof_sink *) {
    return chrome_path.c_str();
  };
  calls.chrome_writer_error = [](const pprof_sink *) { return chrome_errno; };
  calls.report_create = [](pprof_report **out) {
    pprof_status status = Say("report");
    if (status == PPROF_STATUS_OK) *out = Report();
    return status;
  };
  calls.report_set_details = [](pprof_report *, const ppi_report_details *) {};
  calls.report_sink = [](pprof_report *) { return &report_sink; };
  calls.report_destroy = [](pprof_report *) { Say("~report"); };
  calls.report_write[PPI_EXPORT_TABLE] = [](const pprof_report *,
                                            const char *views, FILE *out) {
    fputs("the table\n", out);
    return Say(std::string("table:") + (views ? views : "all"));
  };
  calls.report_write[PPI_EXPORT_JSON] = [](const pprof_report *,
                                           const char *views, FILE *out) {
    fputs("{}\n", out);
    return Say(std::string("json:") + (views ? views : "all"));
  };
  calls.report_write[PPI_EXPORT_CSV] = [](const pprof_report *,
                                          const char *views, FILE *) {
    return Say(std::string("csv:") + (views ? views : "all"));
  };
  calls.open_backends = [](uint64_t backends) {
    if (backends) Say("backends:" + std::to_string(backends));
  };
  calls.control_start = [](const ppi_control_options *asked,
                           const ppi_control_actions *actions, ppi_control **,
                           pprof_error *) {
    control_options = *asked;
    control = *actions;
    return PPROF_STATUS_OK;
  };
  return calls;
}

std::string Read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Exists(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

class ComposeTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char *name :
         {"PPROF_CONFIG", "PPROF_OUTPUT", "PPROF_ENABLE", "PPROF_SET",
          "PPROF_LOG_LEVEL", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
          "SLURM_PROCID"})
      unsetenv(name);
    said = failing = config_text = "";
    other_session = busy = dumped = false;
    note = log_error = "";
    chrome_errno = 0;
    error_.text[0] = 0;
    ppi_compose_set_calls(&calls_);
    // A short path: messages hold 255 bytes, Bazel's own folder is longer.
    folder_ = "/tmp/compose.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(folder_.data()));
  }
  void TearDown() override {
    pprof_stop(nullptr);
    ppi_compose_set_calls(nullptr);
    std::string command = "rm -r '" + folder_ + "'";
    EXPECT_EQ(0, system(command.c_str()));
  }
  std::string File(const std::string &text) {
    std::string path = folder_ + "/p.yaml";
    std::ofstream(path) << text;
    return path;
  }
  pprof_status Start(const std::string &text) {
    return pprof_start(File(text).c_str(), &error_);
  }

  std::string folder_;
  pprof_error error_;

 private:
  ppi_compose_calls calls_ = FakeCalls();
};

TEST_F(ComposeTest, DefaultsWriteALog) {
  setenv("PPROF_OUTPUT", "x.pplog", 1);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, &error_)) << error_.text;
  EXPECT_EQ(
      "create capture choice devices:0 graphs:skip info:config log:x.pplog add "
      "maker start",
      said);
  EXPECT_EQ(sizeof options, options.size);
  EXPECT_EQ(67108864u, options.memory_limit_bytes);
  EXPECT_EQ(nullptr, options.spool_dir);
  EXPECT_EQ(5000u, options.drain_interval_us);
  EXPECT_EQ(1000u, options.stop_wait_ms);
  EXPECT_EQ(0u, capture.num_rules);
  EXPECT_EQ(0u,
            config_text.find("version: 1\nmode: full\noutput: \"x.pplog\"\n"));
  said = "";
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error_));
  EXPECT_EQ("stop destroy ~log", said);
}

TEST_F(ComposeTest, FileDrivesEverything) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a.pplog\n"
                                   "memory_limit: 8MiB\n"
                                   "spool: /var/tmp\n"
                                   "drain_interval: 1ms\n"
                                   "stop_wait: 50ms\n"
                                   "capture: {steps: [3, 6]}\n"
                                   "devices: {mode: off, backends: [opencl],\n"
                                   "          graphs: external}\n"
                                   "nvtx: {device: default, fork: off}\n"
                                   "exports:\n"
                                   "  - {format: chrome, path: a.json.gz}\n"
                                   "  - {format: table, path: '" +
                                   folder_ +
                                   "/t.txt',"
                                   " views: [model]}\n"
                                   "  - {format: json, path: '" +
                                   folder_ + "/t.json'}\n"))
      << error_.text;
  EXPECT_EQ(
      "create capture choice devices:1 graphs:external info:config log:a.pplog "
      "add"
      " chrome:a.json.gz add report add maker backends:2 start",
      said);
  EXPECT_EQ(8388608u, options.memory_limit_bytes);
  EXPECT_EQ(1000u, options.drain_interval_us);
  EXPECT_EQ(50u, options.stop_wait_ms);
  EXPECT_EQ(PPI_NVTX_DEVICE_DEFAULT, nvtx.device);
  EXPECT_EQ(PPI_NVTX_FORK_OFF, nvtx.fork);
  ASSERT_EQ(1u, capture.num_rules);
  EXPECT_EQ(2u, capture.rules[0].steps.skip_first);
  EXPECT_EQ(3u, capture.rules[0].steps.active);
  said = "";
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error_));
  EXPECT_EQ("stop table:model json:all destroy ~log ~chrome ~report", said);
  EXPECT_EQ("the table\n", Read(folder_ + "/t.txt"));
  EXPECT_EQ("{}\n", Read(folder_ + "/t.json"));
  EXPECT_FALSE(Exists(folder_ + "/t.txt.part"));
}

TEST_F(ComposeTest, LogCanBeLeftOut) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("log: false\nexports: [{format: chrome, path: c.json}]\n"));
  EXPECT_EQ(
      "create capture choice devices:0 graphs:skip info:config chrome:c.json"
      " add maker start",
      said);
}

// The call that fails, and what must be undone after it.
TEST_F(ComposeTest, EachFailureLeavesNothing) {
  const struct {
    const char *failing, *calls, *message;
  } cases[] = {
      {"create", "create", "create failed"},
      {"capture", "create capture destroy",
       "cannot set up the session: not available on this machine"},
      {"choice", "create capture choice destroy",
       "cannot set up the session: not available on this machine"},
      {"graphs", "create capture choice devices:0 graphs:skip destroy",
       "cannot set up the session: not available on this machine"},
      {"info",
       "create capture choice devices:0 graphs:skip info:config destroy",
       "cannot set up the session: not available on this machine"},
      {"log",
       "create capture choice devices:0 graphs:skip info:config log:a destroy",
       "log failed"},
      {"add",
       "create capture choice devices:0 graphs:skip info:config log:a add"
       " ~log destroy",
       "cannot add an output: not available on this machine"},
      {"chrome",
       "create capture choice devices:0 graphs:skip info:config log:a add"
       " chrome:c destroy ~log",
       "chrome failed"},
      {"report",
       "create capture choice devices:0 graphs:skip info:config log:a add"
       " chrome:c add report destroy ~log ~chrome",
       "cannot make a report: not available on this machine"},
      {"start",
       "create capture choice devices:0 graphs:skip info:config log:a add"
       " chrome:c add report add maker start destroy ~log ~chrome ~report",
       "cannot start: not available on this machine"},
  };
  const std::string text =
      "output: a\nexports: [{format: chrome, path: c}, {format: csv, path:"
      " t}]\n";
  for (const auto &one : cases) {
    said = "";
    failing = one.failing;
    EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, Start(text)) << one.failing;
    EXPECT_EQ(one.calls, said);
    EXPECT_STREQ(one.message, error_.text);
    failing = said = "";
    EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
    EXPECT_EQ("", said) << "nothing is left to stop";
    EXPECT_FALSE(Exists("t.part"));
  }
}

TEST_F(ComposeTest, SecondStartIsBusyAndTouchesNothing) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
  said = "";
  EXPECT_EQ(PPROF_STATUS_BUSY, Start("output: a\n"));
  EXPECT_STREQ("a session is running already", error_.text);
  EXPECT_EQ("", said);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  other_session = true;
  EXPECT_EQ(PPROF_STATUS_BUSY, Start("output: a\n"));
  other_session = false;
  EXPECT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
}

TEST_F(ComposeTest, StopBeforeStartAndTwiceIsHarmless) {
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error_));
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  said = "";
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error_));
  EXPECT_EQ("", said);
}

TEST_F(ComposeTest, StopAnswersTheFirstErrorAndWritesTheRest) {
  const std::string text = "output: a\nexports:\n  - {format: csv, path: '" +
                           folder_ + "/t.csv'}\n  - {format: json, path: '" +
                           folder_ + "/t.json'}\n";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text));
  failing = "stop";
  EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, pprof_stop(&error_));
  EXPECT_STREQ("stop failed", error_.text);
  EXPECT_TRUE(Exists(folder_ + "/t.csv"));
  failing = "";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text));
  unlink((folder_ + "/t.csv").c_str());
  unlink((folder_ + "/t.json").c_str());
  failing = "csv";
  EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, pprof_stop(&error_));
  EXPECT_EQ("cannot write " + folder_ + "/t.csv: not available on this machine",
            error_.text);
  EXPECT_FALSE(Exists(folder_ + "/t.csv"));
  EXPECT_FALSE(Exists(folder_ + "/t.csv.part"));
  EXPECT_TRUE(Exists(folder_ + "/t.json"));
}

TEST_F(ComposeTest, PrecedenceIsEnvironmentFileDefault) {
  setenv("PPROF_CONFIG", File("output: file\nstop_wait: 2s\n").c_str(), 1);
  setenv("PPROF_OUTPUT", "variable", 1);
  setenv("PPROF_SET", "drain_interval=2ms; stop_wait=3s ;devices.mode=off", 1);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, &error_)) << error_.text;
  EXPECT_NE(std::string::npos, said.find("log:variable "));
  EXPECT_NE(std::string::npos, said.find("devices:1 "));
  EXPECT_EQ(2000u, options.drain_interval_us);
  EXPECT_EQ(3000u, options.stop_wait_ms);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  said = "";
  setenv("PPROF_SET", "output=set", 1);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, &error_)) << error_.text;
  EXPECT_NE(std::string::npos, said.find("log:set "));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  setenv("PPROF_CONFIG", "/nowhere/p.yaml", 1);
  EXPECT_EQ(PPROF_STATUS_OK, Start("output: a\n")) << "the API goes first";
}

TEST_F(ComposeTest, DisabledDoesNothing) {
  setenv("PPROF_ENABLE", "0", 1);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_start("/nowhere/p.yaml", &error_));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, &error_));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error_));
  EXPECT_EQ("", said);
  setenv("PPROF_ENABLE", "perhaps", 1);
  EXPECT_EQ(PPROF_STATUS_CONFIG, pprof_start(nullptr, &error_));
  EXPECT_STREQ("PPROF_ENABLE:1:1: must be 0 or 1, not 'perhaps'", error_.text);
  setenv("PPROF_ENABLE", "1", 1);
  setenv("PPROF_LOG_LEVEL", "loud", 1);
  EXPECT_EQ(PPROF_STATUS_CONFIG, pprof_start(nullptr, &error_));
  EXPECT_STREQ(
      "PPROF_LOG_LEVEL:1:1: must be off, error, warn, info or debug,"
      " not 'loud'",
      error_.text);
}

TEST_F(ComposeTest, MessagesOnlyWhenAskedFor) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(PPROF_STATUS_IO, pprof_start("/nowhere/p.yaml", nullptr));
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
  setenv("PPROF_LOG_LEVEL", "info", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(PPROF_STATUS_IO, pprof_start("/nowhere/p.yaml", nullptr));
  EXPECT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  EXPECT_EQ(
      "pprof: error: /nowhere/p.yaml: No such file or directory\n"
      "pprof: info: recording to a\n"
      "pprof: info: wrote a\n",
      testing::internal::GetCapturedStderr());
}

TEST_F(ComposeTest, BadFilesStartNothing) {
  EXPECT_EQ(PPROF_STATUS_CONFIG, Start("otput: a\n"));
  EXPECT_EQ(folder_ +
                "/p.yaml:1:1: unknown key 'otput' (did you mean"
                " 'output'?)",
            error_.text);
  EXPECT_EQ(PPROF_STATUS_CONFIG, Start("log: false\n"));
  EXPECT_EQ(PPROF_STATUS_CONFIG, Start("exports: [{format: csv, path: x},"
                                       " {format: json, path: x}]\n"));
  EXPECT_EQ(folder_ + "/p.yaml:1:56: two outputs have the path 'x'",
            error_.text);
  EXPECT_EQ(PPROF_STATUS_CONFIG,
            Start("output: x\nexports: [{format: chrome, path: x}]\n"));
  EXPECT_EQ(folder_ + "/p.yaml:2:34: two outputs have the path 'x'",
            error_.text);
  EXPECT_EQ(PPROF_STATUS_IO,
            Start("exports: [{format: csv, path: /nowhere/x}]\n"));
  EXPECT_EQ(folder_ +
                "/p.yaml:1:31: cannot write into /nowhere: No such file"
                " or directory",
            error_.text);
  EXPECT_EQ(PPROF_STATUS_CONFIG, Start("output: 'a.%q{PPROF_TEST_NO}'\n"));
  EXPECT_EQ(folder_ +
                "/p.yaml:1:9: environment variable not set:"
                " PPROF_TEST_NO",
            error_.text);
  EXPECT_EQ("", said);
}

TEST_F(ComposeTest, BadSettingsNameTheirPlace) {
  const struct {
    const char *set, *message;
  } cases[] = {
      {"nonsense", "PPROF_SET:1:1: expected key=value"},
      {"=5", "PPROF_SET:1:1: expected key=value"},
      {"a..b=5", "PPROF_SET:1:3: expected key=value"},
      {"output=a;otput=b",
       "PPROF_SET:1:10: unknown key 'otput' (did you mean 'output'?)"},
      {"output=a;output=b",
       "PPROF_SET:1:10: key 'output' stands here twice (first in line 1)"},
      {"stop_wait=1s;memory_limit=5",
       "PPROF_SET:1:27: 'memory_limit' must be a size such as 64MiB, not '5'"},
      {"output=", "PPROF_SET:1:1: 'output' needs a value"},
      {"capture.active=5",
       "PPROF_SET:1:1: 'capture' can only be set as a"
       " whole"},
      {"devices.mdoe=off",
       "PPROF_SET:1:9: unknown key 'mdoe' (did you mean 'mode'?)"},
      {"version=1;version.x=1",
       "PPROF_SET:1:11: 'version' was given a value before"},
      {"devices.mode=off;devices={mode: events}",
       "PPROF_SET:1:18: key 'devices' stands here twice (first in line 1)"},
      {"output=*x", "PPROF_SET:1:8: aliases are not accepted"},
      {"output=\xff", "PPROF_SET:1:8: byte 0xff is not valid UTF-8"},
  };
  for (const auto &one : cases) {
    setenv("PPROF_SET", one.set, 1);
    EXPECT_EQ(PPROF_STATUS_CONFIG, pprof_start(nullptr, &error_)) << one.set;
    EXPECT_STREQ(one.message, error_.text);
  }
  setenv("PPROF_SET", "", 1);
  setenv("PPROF_OUTPUT", "a%", 1);
  EXPECT_EQ(PPROF_STATUS_CONFIG, pprof_start(nullptr, &error_));
  EXPECT_STREQ(
      "PPROF_OUTPUT:1:1: only %h, %p, %r, %t, %q{NAME} and %% may"
      " follow a %",
      error_.text);
}

TEST_F(ComposeTest, SettingsTakeWhatFilesTake) {
  setenv("PPROF_SET",
         ";devices.mode=off;capture=[{steps: [1, 3]}, {active: 2}];;"
         "output=\"a;b\";devices.backends=[cpu];",
         1);
  ASSERT_EQ(PPROF_STATUS_OK, Start("capture: {active: 9}\n")) << error_.text;
  EXPECT_EQ(2u, capture.num_rules);
  EXPECT_NE(std::string::npos, said.find("log:a;b add maker backends:1 start"));
  EXPECT_NE(std::string::npos, said.find("devices:1"));
}

TEST_F(ComposeTest, PathsAreExpanded) {
  ppi_config_text from = {};
  char to[PATH_MAX], host[256];
  ASSERT_EQ(0, gethostname(host, sizeof host));
  setenv("PPROF_TEST_JOB", "job/7", 1);
  strcpy(from.text, "%h-%p-%r-%%-%q{PPROF_TEST_JOB}x");
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_path(&from, to, &error_));
  EXPECT_EQ(std::string(host) + "-" + std::to_string(getpid()) + "-0-%-job/7x",
            to);
  setenv("SLURM_PROCID", "4", 1);
  setenv("RANK", "x", 1);  // not a number: not ours
  strcpy(from.text, "%r");
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_path(&from, to, &error_));
  EXPECT_STREQ("4", to);
  strcpy(from.text, "%t");
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_path(&from, to, &error_));
  EXPECT_EQ(16u, strlen(to));
  EXPECT_EQ('T', to[8]);
  EXPECT_EQ('Z', to[15]);
  std::string large(5000, 'x');
  setenv("PPROF_TEST_JOB", large.c_str(), 1);
  strcpy(from.text, "%q{PPROF_TEST_JOB}");
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_expand_path(&from, to, &error_));
  EXPECT_STREQ("output: the path is too long", error_.text);
  setenv("PPROF_TEST_JOB", "", 1);
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_expand_path(&from, to, &error_));
  EXPECT_STREQ("output: the path is empty", error_.text);
  unsetenv("PPROF_TEST_JOB");
}

// ---- what is asked of a run that goes on ----

std::string Ask(uint64_t steps, uint64_t ns, const char *output,
                uint64_t *out_ticket = nullptr) {
  ppi_trigger trigger = {steps, ns, ""};
  strcpy(trigger.output, output);
  ppi_control_reply reply = {};
  control.trigger(control.user, &trigger, &reply);
  if (out_ticket) *out_ticket = reply.ticket;
  return reply.text;
}

std::string Settled(uint64_t ticket) {
  ppi_control_reply reply = {};
  return control.settled(control.user, ticket, &reply) ? reply.text : "(not)";
}

TEST_F(ComposeTest, EverythingOfAFlightRecorder) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("log: false\nflight_recorder:\n  memory: 4MiB\n"
                  "  before: 3s\n  after: 500ms\n  every: 5s\n  limit: 2\n"
                  "  output: " +
                  folder_ + "/f.pplog\n  rules: ['request > 120ms']\n"))
      << error_.text;
  EXPECT_EQ(
      "create capture choice ring:4194304 devices:0 graphs:skip info:config"
      " flight add maker start",
      said);
  EXPECT_EQ(3000000000u, flight.before_ns);
  EXPECT_EQ(500000000u, flight.after_ns);
  EXPECT_EQ(5000000000u, flight.every_ns);
  EXPECT_EQ(2u, flight.limit);
  EXPECT_EQ(1u, flight.num_rules);
  EXPECT_EQ(folder_ + "/f.pplog", flight_path);
  said = "";
  uint64_t ticket = 0;
  EXPECT_EQ("begun dump file=" + folder_ + "/f.pplog", Ask(0, 0, "", &ticket));
  EXPECT_EQ("(not)", Settled(ticket));
  dumped = true;
  EXPECT_EQ("done dump file=" + folder_ + "/f.pplog", Settled(ticket));
  EXPECT_EQ("begun dump file=/tmp/x y", Ask(0, 0, "/tmp/x y", &ticket));
  EXPECT_EQ("done dump file=/tmp/x y", Settled(ticket));
  EXPECT_EQ("dump:- dump:/tmp/x y", said);
  busy = true;
  EXPECT_EQ(
      "failed busy everything is being recorded already; without steps and"
      " seconds a trigger makes the flight recorder write a dump",
      Ask(2, 0, ""));
}

TEST_F(ComposeTest, RotationAndLimitReachTheLog) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: a\nrotate: {size: 8MiB, keep: 3}\n"
                  "disk_limit: 1GiB\ninclude: [de*]\nexclude: [\"*x\"]\n"))
      << error_.text;
  EXPECT_EQ(8388608u, rotation.segment_bytes);
  EXPECT_EQ(3u, rotation.keep);
  EXPECT_NE(nullptr, rotation.disk);
  EXPECT_NE(std::string::npos, said.find(" choice:+de*-*x "));
}

TEST_F(ComposeTest, WindowOnDemandGoesIntoALogOfItsOwn) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: " + folder_ + "/a\ncapture: {on_demand: true}\n"))
      << error_.text;
  said = "";
  uint64_t ticket = 0;
  EXPECT_EQ("begun window=5 opens=step file=/tmp/own",
            Ask(3, 0, "/tmp/own", &ticket));
  EXPECT_EQ("log:/tmp/own demand:3:0", said);
  EXPECT_EQ("(not)", Settled(ticket));
  EXPECT_EQ(nullptr, maker.open(maker.user, 4)) << "another window";
  maker.complete(maker.user, 4, nullptr, PPROF_STATUS_OK);
  pprof_sink *sink = maker.open(maker.user, 5);
  ASSERT_NE(nullptr, sink);
  EXPECT_EQ("(not)", Settled(ticket));
  said = "";
  maker.complete(maker.user, 5, sink, PPROF_STATUS_OK);
  EXPECT_EQ("~log", said);
  EXPECT_EQ("done window=5 file=/tmp/own", Settled(ticket));
  EXPECT_EQ("failed busy too much was asked for since", Settled(ticket));
}

TEST_F(ComposeTest, WindowOnDemandGoesIntoTheLogOfAll) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: " + folder_ + "/a\ncapture: {on_demand: true}\n"));
  std::ofstream(folder_ + "/a.part") << "x";
  said = "";
  uint64_t ticket = 0;
  EXPECT_EQ("begun window=5 opens=now file=" + folder_ + "/a.part",
            Ask(0, 0, "", &ticket))
      << "ten seconds unless said";
  EXPECT_EQ("demand:0:10000000000", said);
  said = "";
  EXPECT_EQ(nullptr, maker.open(maker.user, 5));
  maker.complete(maker.user, 5, nullptr, PPROF_STATUS_OK);
  EXPECT_EQ("done window=5 file=" + folder_ + "/a.part", Settled(ticket));
  EXPECT_EQ("flush", said);
  EXPECT_EQ("begun window=5 opens=now file=" + folder_ + "/a.part",
            Ask(0, 7, "", &ticket));
  maker.complete(maker.user, 5, nullptr, PPROF_STATUS_OK);
  unlink((folder_ + "/a.part").c_str());
  EXPECT_EQ("done window=5 file=" + folder_ + "/a", Settled(ticket))
      << "it was stopped meanwhile";
}

TEST_F(ComposeTest, DemandsThatFailLeaveNoLog) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\ncapture: {on_demand: true}\n"));
  busy = true;
  said = "";
  EXPECT_EQ(
      "failed busy a window is open or asked for already; try again later",
      Ask(0, 1, "/tmp/own"));
  EXPECT_EQ("log:/tmp/own demand ~log", said);
  failing = "log";
  EXPECT_EQ("failed io log failed", Ask(0, 1, "/tmp/own"));
  failing = "";
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
  EXPECT_EQ(
      "failed busy everything is being recorded already, to a.part; 'capture:"
      " {on_demand: true}' records only when asked",
      Ask(0, 1, ""));
}

// A window that waits for a step is given up when nobody waits for it.
TEST_F(ComposeTest, DemandIsWithdrawnWithItsClient) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\ncapture: {on_demand: true}\n"));
  uint64_t ticket = 0;
  Ask(3, 0, "/tmp/own", &ticket);
  said = "";
  control.gone(control.user, ticket + 1);
  EXPECT_EQ("", said) << "another's";
  control.gone(control.user, ticket);
  EXPECT_EQ("withdraw ~log", said);
  Ask(3, 0, "/tmp/own", &ticket);
  busy = true;
  said = "";
  control.gone(control.user, ticket);
  EXPECT_EQ("withdraw", said) << "it has just opened";
  pprof_sink *sink = maker.open(maker.user, 5);
  said = "";
  control.gone(control.user, ticket);
  EXPECT_EQ("", said) << "an open window ends by itself";
  maker.complete(maker.user, 5, sink, PPROF_STATUS_OK);
}

// Whoever asked for a window that there is no room for is told at once.
TEST_F(ComposeTest, DemandOfAWindowThatIsSkippedIsOver) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\ncapture: {on_demand: true}\n"));
  uint64_t ticket = 0;
  Ask(0, 1, "/tmp/own", &ticket);
  ppi_control_reply reply = {};
  EXPECT_FALSE(control.settled(control.user, ticket, &reply));
  said = "";
  maker.skipped(maker.user, 4);
  EXPECT_FALSE(control.settled(control.user, ticket, &reply)) << "another's";
  maker.skipped(maker.user, 5);
  EXPECT_EQ("~log", said);
  ASSERT_TRUE(control.settled(control.user, ticket, &reply));
  EXPECT_EQ(0u, std::string(reply.text).find("failed busy ")) << reply.text;
}

TEST_F(ComposeTest, ManyDemandsThatNobodyWaitsFor) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\ncapture: {on_demand: true}\n"));
  for (int i = 0; i < 40; i++) {
    EXPECT_EQ("begun window=5 opens=now file=a.part", Ask(0, 1, ""));
    maker.complete(maker.user, 5, nullptr, PPROF_STATUS_OK);
  }
}

TEST_F(ComposeTest, ControlIsAskedForAsConfigured) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
  EXPECT_TRUE(control_options.socket);
  EXPECT_EQ(nullptr, control_options.touch_path);
  EXPECT_EQ(folder_ + "/p.yaml", control_options.reload_path);
  EXPECT_EQ(0, control_options.signal);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  said = "";
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: a\ncontrol: {socket: false, reload: false,"
                  " signal: USR2, file: '" +
                  folder_ + "/touch'}\n"));
  EXPECT_FALSE(control_options.socket);
  EXPECT_EQ(folder_ + "/touch", control_options.touch_path);
  EXPECT_EQ(nullptr, control_options.reload_path);
  EXPECT_EQ(SIGUSR2, control_options.signal);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  said = "";
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\ncontrol: {socket: false}\n"));
  EXPECT_EQ(std::string::npos, said.find("maker")) << "nobody can ask";
}

TEST_F(ComposeTest, ReloadTakesWhatMayChange) {
  const std::string flying =
      "flight_recorder: {output: " + folder_ + "/f, rules: [";
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: a\ncapture: {steps: [0, 2]}\n" + flying + "]}\n"));
  said = "";
  File("output: a\ncapture: {steps: [5, 9]}\nexclude: [a, b]\n" + flying +
       "'request > 1s'], every: 1s, limit: 3}\n");
  control.reload(control.user);
  EXPECT_EQ("rules:1:1000000000:3 capture choice:-a-b note:reloaded", said);
  EXPECT_EQ(4u, capture.rules[0].steps.skip_first);
  said = "";
  control.reload(control.user);
  EXPECT_EQ("rules:1:1000000000:3 capture note:reloaded", said)
      << "an epoch only for another choice";
  said = "";
  File("output: a\ncapture: {steps: [5, 9]}\nexclude: [a, b]\ncpu: [c]\n" +
       flying + "'request > 1s'], every: 1s, limit: 3}\n");
  control.reload(control.user);
  EXPECT_EQ("rules:1:1000000000:3 capture choice:-a-b@c note:reloaded", said);
}

TEST_F(ComposeTest, ReloadIsAllOrNothing) {
  const std::string first = "output: a\ncapture: {steps: [0, 2]}\n";
  ASSERT_EQ(PPROF_STATUS_OK, Start(first));
  said = "";
  File("output: a\ncapture: {active: 0}\n");
  control.reload(control.user);
  EXPECT_EQ("note:reload_refused", said);
  EXPECT_EQ(0u, note.find(folder_ + "/p.yaml:2:")) << note;
  said = "";
  File("output: b\ncapture: {steps: [5, 9]}\n");
  control.reload(control.user);
  EXPECT_EQ("note:reload_refused", said);
  EXPECT_EQ(folder_ + "/p.yaml: 'output' cannot change while a session runs",
            note);
  said = "";
  File("output: a\ncapture: {steps: [5, 9]}\nexclude: [a]\n");
  failing = "choice";
  control.reload(control.user);
  EXPECT_EQ("capture choice:-a capture note:reload_refused", said);
  EXPECT_EQ(0u, capture.rules[0].steps.skip_first) << "taken back";
  failing = said = "";
  control.reload(control.user);
  EXPECT_EQ("capture choice:-a note:reloaded", said);
  unlink((folder_ + "/p.yaml").c_str());
  said = "";
  control.reload(control.user);
  EXPECT_EQ("note:reload_refused", said);
}

// What the session calls for each window writes its files.
TEST_F(ComposeTest, ExportsOfWindows) {
  ASSERT_EQ(
      PPROF_STATUS_OK,
      Start("output: a\nexports:\n  - {format: table, per: window, path:"
            " '" +
            folder_ + "/w%w.txt'}\n  - {format: chrome, per: window, path: '" +
            folder_ + "/w%w.json'}\ncontrol: {socket: false}\n"))
      << error_.text;
  EXPECT_EQ(
      "create capture choice devices:0 graphs:skip info:config log:a add"
      " maker windows start",
      said);
  said = "";
  on_window(on_window_user, 12, Report());
  EXPECT_EQ("table:all", said);
  EXPECT_EQ("the table\n", Read(folder_ + "/w12.txt"));
  EXPECT_FALSE(Exists(folder_ + "/w12.txt.part"));
  said = "";
  pprof_sink *sink = maker.open(maker.user, 3);
  EXPECT_EQ("chrome:" + folder_ + "/w3.json", said);
  said = "";
  maker.complete(maker.user, 3, sink, PPROF_STATUS_OK);
  EXPECT_EQ("~chrome", said);
  failing = "table";
  on_window(on_window_user, 13, Report());
  EXPECT_FALSE(Exists(folder_ + "/w13.txt"));
  EXPECT_FALSE(Exists(folder_ + "/w13.txt.part"));
  failing = "";
  on_window(on_window_user, 14, Report());
  EXPECT_TRUE(Exists(folder_ + "/w14.txt"));
  EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, pprof_stop(&error_));
  EXPECT_EQ(
      "cannot write " + folder_ + "/w13.txt: not available on this machine",
      error_.text);
  maker.destroy(maker.user);
}

// Hashed names are not told by the configuration in the log either.
TEST_F(ComposeTest, HashedNamesStandNowhere) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: a\nexclude: [secret]\nprivacy: {names: hash}\n"))
      << error_.text;
  EXPECT_EQ(std::string::npos, config_text.find("secret")) << config_text;
  File("output: a\nexclude: [secret]\nprivacy: {names: hash}\nx: secret\n");
  control.reload(control.user);
  EXPECT_EQ("", note);
}

TEST_F(ComposeTest, TwoProcessesOneNameEachItsExport) {
  std::string text =
      "output: a\nexports: [{format: csv, path: '" + folder_ + "/t.csv'}]\n";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text));
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    num_sinks = 0;  // the parent's
    bool good = Start(text) == PPROF_STATUS_OK &&
                pprof_stop(nullptr) == PPROF_STATUS_OK;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_TRUE(Exists(folder_ + "/t.1.csv"));
  EXPECT_FALSE(Exists(folder_ + "/t.csv"));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  EXPECT_TRUE(Exists(folder_ + "/t.csv"));
}

// A forked child has no session of its parent's; it may start its own.
TEST_F(ComposeTest, ChildStartsAnew) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    said = "";
    bool good = pprof_stop(nullptr) == PPROF_STATUS_OK && said.empty();
    num_sinks = 0;  // the parent's
    good = good && Start("output: b\n") == PPROF_STATUS_OK;
    good = good && pprof_stop(nullptr) == PPROF_STATUS_OK;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  said = "";
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error_));
  EXPECT_EQ("stop destroy ~log", said);
}

// The real calls, once: what was asked for lies there afterwards.
TEST_F(ComposeTest, RealSessionLeavesItsFiles) {
  static pprof_site site = {"decode", PPROF_CATEGORY_USER_DEFINED, 0, 0, {}};
  ppi_compose_set_calls(nullptr);
  std::string base = folder_ + "/a";
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: " + base +
                  ".pplog\nexports:\n  - {format: chrome,"
                  " path: " +
                  base + ".trace.json}\n  - {format: table, path: " + base +
                  ".txt}\n  - {format: csv, path: " + base + ".csv}\n"))
      << error_.text;
  EXPECT_EQ(PPROF_STATUS_BUSY, Start("output: b\n"));
  for (int i = 0; i < 3; i++) {
    pprof_push(&site);
    pprof_pop();
  }
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error_)) << error_.text;
  for (const char *end : {".pplog", ".trace.json", ".txt", ".csv"}) {
    EXPECT_TRUE(Exists(base + end)) << end;
    EXPECT_FALSE(Exists(base + end + ".part")) << end;
  }
  std::string trace = Read(base + ".trace.json");
  size_t num = 0;
  for (size_t at = 0; (at = trace.find("\"ph\":\"X\"", at)) != trace.npos; at++)
    num++;
  EXPECT_EQ(3u, num);
  EXPECT_NE(std::string::npos, trace.find("\"recorded\":3,"));
  EXPECT_NE(std::string::npos, trace.find("\"config\":\"version: 1\\u000a"));
}

TEST_F(ComposeTest, StopSaysWhichFileFailedAndWhy) {
  std::string trace = folder_ + "/t.json";
  std::string text = "output: a\nexports:\n  - {format: csv, path: " + folder_ +
                     "/t.csv}\n  - {format: chrome, path: " + trace + "}\n";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text));
  failing = "stop";
  chrome_errno = ENOSPC;
  EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, pprof_stop(&error_));
  EXPECT_EQ("cannot write " + trace + ": No space left on device", error_.text);
  failing = "";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text));
  failing = "stop";
  chrome_errno = PPI_FILE_OVER_LIMIT;
  EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, pprof_stop(&error_));
  EXPECT_EQ("cannot write " + trace + ": no room within 'disk_limit'",
            error_.text);
  failing = "";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text));
  failing = "stop";
  log_error = "a.part: No space left on device";
  EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, pprof_stop(&error_));
  EXPECT_STREQ("a.part: No space left on device", error_.text);
}

// A pipe waits for its reader where it is opened, and the stop for neither.
TEST_F(ComposeTest, TableOnAFifoThatNobodyReadsEndsInTime) {
  const std::string table = folder_ + "/t.csv";
  ASSERT_EQ(0, mkfifo(table.c_str(), 0600));
  ppi_compose_calls calls = FakeCalls();
  calls.file_limit_ms = 20;
  ppi_compose_set_calls(&calls);
  ASSERT_EQ(
      PPROF_STATUS_OK,
      Start("output: a\nexports: [{format: csv, path: " + table + "}]\n"));
  EXPECT_EQ(PPROF_STATUS_IO, pprof_stop(&error_));
  EXPECT_EQ("cannot write " + table + ": timed out, the disk does not answer",
            error_.text);
  ppi_compose_set_calls(nullptr);
  // Lets the thread that was left behind come to its end.
  close(open(table.c_str(), O_RDONLY | O_NONBLOCK));
}

TEST_F(ComposeTest, RealFailureLeavesNothing) {
  ppi_compose_set_calls(nullptr);
  std::string base = folder_ + "/a";
  EXPECT_EQ(PPROF_STATUS_IO, Start("output: " + base +
                                   ".pplog\nexports: [{format: chrome, path:"
                                   " /proc/a.json}]\n"));
  EXPECT_FALSE(Exists(base + ".pplog"));
  EXPECT_FALSE(Exists(base + ".pplog.part"));
  EXPECT_EQ(nullptr, pprof_session_current());
}

TEST_F(ComposeTest, RunsOutOfMemoryCleanly) {
  std::string path = File("output: a\ncapture: [{active: 1}]\n");
  setenv("PPROF_SET", "devices.mode=off", 1);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  for (uint64_t n = 1; status == PPROF_STATUS_NO_MEMORY && n < 100; n++) {
    ppi_mem_fail_at(n);
    status = pprof_start(path.c_str(), &error_);
    ppi_mem_fail_at(0);
    if (status != PPROF_STATUS_OK) {
      EXPECT_STREQ("out of memory", error_.text);
    }
  }
  EXPECT_EQ(PPROF_STATUS_OK, status);
}

}  // namespace
