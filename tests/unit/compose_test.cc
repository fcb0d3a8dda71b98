// SPDX-License-Identifier: Apache-2.0
//
// pprof_start and pprof_stop, with everything they call replaced: what is asked
// for, in which order, and that each failure leaves nothing behind.
#include "start/compose.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>
#include <memory>

#include "base/mem.h"
#include "file/file_io.h"
#include "tests/unit/fake_compose.h"

namespace {

using namespace fake_compose;

TEST_F(ComposeTest, DefaultsWriteALog) {
  setenv("PPROF_OUTPUT", "x.pplog", 1);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, &error_)) << error_.text;
  EXPECT_EQ(
      "create capture choice devices:0 graphs:skip kernels:off info:config "
      "log:x.pplog add "
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
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("output: a.pplog\n"
                  "memory_limit: 8MiB\n"
                  "spool: /var/tmp\n"
                  "drain_interval: 1ms\n"
                  "stop_wait: 50ms\n"
                  "capture: {steps: [3, 6]}\n"
                  "devices: {mode: off, backends: [opencl],\n"
                  "          graphs: external, kernels: true,\n"
                  "          graph_kernels: capture, calls: on}\n"
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
      "create capture choice devices:1 graphs:external kernels:on "
      "kernels:capture calls:all info:config "
      "log:a.pplog "
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
      "create capture choice devices:0 graphs:skip kernels:off info:config "
      "chrome:c.json"
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
       "create capture choice devices:0 graphs:skip kernels:off info:config "
       "destroy",
       "cannot set up the session: not available on this machine"},
      {"log",
       "create capture choice devices:0 graphs:skip kernels:off info:config "
       "log:a destroy",
       "log failed"},
      {"add",
       "create capture choice devices:0 graphs:skip kernels:off info:config "
       "log:a add"
       " ~log destroy",
       "cannot add an output: not available on this machine"},
      {"chrome",
       "create capture choice devices:0 graphs:skip kernels:off info:config "
       "log:a add"
       " chrome:c destroy ~log",
       "chrome failed"},
      {"report",
       "create capture choice devices:0 graphs:skip kernels:off info:config "
       "log:a add"
       " chrome:c add report destroy ~log ~chrome",
       "cannot make a report: not available on this machine"},
      {"start",
       "create capture choice devices:0 graphs:skip kernels:off info:config "
       "log:a add"
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

// It is made of the log, and needs no report.
TEST_F(ComposeTest, APageIsMadeOfTheLogAtTheStop) {
  const std::string text = "output: " + folder_ +
                           "/a.pplog\nexports: [{format: html, path: '" +
                           folder_ + "/p.html'}]\n";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text)) << error_.text;
  said = "";
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error_));
  EXPECT_NE(std::string::npos, said.find("html:a.pplog")) << said;
  EXPECT_EQ(std::string::npos, said.find("report")) << said;
  EXPECT_TRUE(Exists(folder_ + "/p.html"));
  unlink((folder_ + "/p.html").c_str());
  failing = "html";
  ASSERT_EQ(PPROF_STATUS_OK, Start(text));
  EXPECT_EQ(PPROF_STATUS_UNAVAILABLE, pprof_stop(&error_));
  EXPECT_EQ(
      "cannot write " + folder_ + "/p.html: not available on this machine",
      error_.text);
  EXPECT_FALSE(Exists(folder_ + "/p.html"));
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
  setenv("PPROF_SET", "output=set;log=on", 1);
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

// The text is the fake's.
TEST_F(ComposeTest, ReportAtTheEndOnlyWhenAskedFor) {
  const struct {
    const char *variable, *key, *printed;
  } cases[] = {{nullptr, "", ""},
               {"0", "report: stderr\n", ""},
               {nullptr, "report: stderr\n", "the table\n"},
               {nullptr, "log: false\nreport: stderr\n", "the table\n"},
               {"1", "", "the table\n"}};
  for (const auto &each : cases) {
    if (each.variable)
      setenv("PPROF_REPORT", each.variable, 1);
    else
      unsetenv("PPROF_REPORT");
    testing::internal::CaptureStderr();
    EXPECT_EQ(PPROF_STATUS_OK, Start(std::string("output: a\n") + each.key));
    EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
    EXPECT_EQ(each.printed, testing::internal::GetCapturedStderr());
  }
  setenv("PPROF_REPORT", "perhaps", 1);
  EXPECT_EQ(PPROF_STATUS_CONFIG, pprof_start(nullptr, &error_));
  EXPECT_STREQ("PPROF_REPORT:1:1: must be 0 or 1, not 'perhaps'", error_.text);
  unsetenv("PPROF_REPORT");
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
      "create capture choice devices:0 graphs:skip kernels:off info:config "
      "log:a add"
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
