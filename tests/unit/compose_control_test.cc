// SPDX-License-Identifier: Apache-2.0
//
// What a running profiler is asked for, with everything it calls replaced:
// dumps and windows on demand, and a configuration that is read again.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "start/compose.h"
#include "tests/unit/fake_compose.h"

namespace {

using namespace fake_compose;

// ---- what is asked of a run that goes on ----

std::string Ask(uint64_t steps, uint64_t ns, const char *output,
                uint64_t *out_ticket = nullptr) {
  ppi_trigger trigger = {};
  trigger.steps = steps;
  trigger.ns = ns;
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

// What the program says in code stays, whatever the file says then.
TEST_F(ComposeTest, ReadAgainTheFileDoesNotTakeTheProgramsSchedule) {
  const std::string file = File("output: a.pplog\ncapture: {active: 7}\n");
  const pprof_schedule cycles = {sizeof cycles, 0, 1, 0, 2, 0, 0};
  const pprof_start_options options = {sizeof options, file.c_str(), &cycles,
                                       nullptr,        nullptr,      nullptr};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start_with(&options, &error_));
  EXPECT_EQ(2u, capture.rules[0].steps.active);
  capture = {};
  File("output: a.pplog\ncapture: {active: 9}\nexclude: [x]\n");
  said = "";
  control.reload(control.user);
  EXPECT_EQ("capture choice:-x note:reloaded", said);
  EXPECT_EQ(2u, capture.rules[0].steps.active);
}

// The answer of `body` in a child that a first marker has had go on.
template <typename Body>
int InAForkedChild(Body body) {
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    num_sinks = 0;  // the parent's
    said = "";
    pprof_push_name("first", PPROF_CATEGORY_USER_DEFINED);
    _exit(body());
  }
  int status = -1;
  EXPECT_EQ(pid, waitpid(pid, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Nor in a forked child: it goes on by the schedule, with logs of its own, or
// with none where its parent was told of the windows.
TEST_F(ComposeTest, ReadAgainInAForkedChildNeither) {
  const pprof_schedule cycles = {sizeof cycles, 0, 1, 0, 2, 0, 0};
  for (const std::string text : {"output: a.pplog\n", "log: false\n"}) {
    const std::string file = File(text);
    const bool has_log = text[0] == 'o';
    const pprof_start_options options = {
        sizeof options, file.c_str(),
        &cycles,        [](void *, const pprof_window *) {},
        nullptr,        has_log ? "w.%w.pplog" : nullptr};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start_with(&options, &error_))
        << error_.text;
    EXPECT_EQ(0, InAForkedChild([&] {
                EXPECT_EQ(2u, capture.rules[0].steps.active);
                capture = {};
                File(text + "exclude: [x]\n");
                said = "";
                control.reload(control.user);
                EXPECT_EQ("capture choice:-x note:reloaded", said) << note;
                EXPECT_EQ(2u, capture.rules[0].steps.active);
                return HasFailure() ? 1 : 0;
              }));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  }
}

TEST_F(ComposeTest, AForkedChildHasWhatWasReadAgain) {
  ASSERT_EQ(PPROF_STATUS_OK, Start("output: a\n"));
  File("output: a\nexclude: [x]\n");
  control.reload(control.user);
  EXPECT_EQ(0, InAForkedChild([&] {
              EXPECT_NE(std::string::npos, said.find(" choice:-x ")) << said;
              File("output: a\nexclude: [x, y]\n");
              said = "";
              control.reload(control.user);
              EXPECT_EQ("capture choice:-x-y note:reloaded", said) << note;
              return HasFailure() ? 1 : 0;
            }));
}

TEST_F(ComposeTest, EverythingOfAFlightRecorder) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Start("log: false\nflight_recorder:\n  memory: 4MiB\n"
                  "  before: 3s\n  after: 500ms\n  every: 5s\n  limit: 2\n"
                  "  output: " +
                  folder_ + "/f.pplog\n  rules: ['request > 120ms']\n"))
      << error_.text;
  EXPECT_EQ(
      "create capture choice ring:4194304 devices:0 graphs:skip kernels:off "
      "info:config"
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
  EXPECT_EQ("failed unavailable log failed", Ask(0, 1, "/tmp/own"));
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

// A number, or a folder of the moment, is another file's later.
TEST_F(ComposeTest, OnlyAPathIsReadAgain) {
  const std::string file = File("output: a\nexclude: [x]\n");
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const std::string number = std::to_string(fd), link = folder_ + "/link.yaml";
  const std::string twice = folder_ + "/twice", folder = folder_ + "/numbers";
  ASSERT_EQ(0, symlink(("/dev/fd/" + number).c_str(), link.c_str()));
  ASSERT_EQ(0, symlink("link.yaml", twice.c_str()));
  ASSERT_EQ(0, symlink("/proc/self/fd", folder.c_str()));
  ASSERT_EQ(0, symlink("p.yaml", (folder_ + "/good.yaml").c_str()));
  const struct {
    std::string path;
    bool is_read_again;
  } cases[] = {{"/proc/self/fd/" + number, false},
               {"/proc/thread-self/fd/" + number, false},
               {"/proc/self/root" + file, false},
               {"/dev/fd/" + number, false},
               {link, false},
               {twice, false},
               {folder + "/" + number, false},
               {folder_ + "/good.yaml", true},
               {file, true}};
  for (const auto &one : cases) {
    said = "";
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(one.path.c_str(), &error_))
        << one.path << ": " << error_.text;
    EXPECT_NE(std::string::npos, said.find(" choice:-x ")) << one.path;
    EXPECT_EQ(one.is_read_again, control_options.reload_path != nullptr)
        << one.path;
    ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  }
  close(fd);
}

// Nor does PPROF_CONFIG stand in for the path that a text does not have.
TEST_F(ComposeTest, ATextIsNeverReadAgain) {
  const pprof_start_options options = {sizeof options, nullptr, nullptr,
                                       nullptr,        nullptr, nullptr};
  setenv("PPROF_CONFIG", File("output: b\n").c_str(), 1);
  ASSERT_EQ(
      PPROF_STATUS_OK,
      pprof_start_alone_text_(&options, "output: a\nexclude: [x]\n", &error_))
      << error_.text;
  EXPECT_NE(std::string::npos, said.find(" choice:-x ")) << said;
  EXPECT_EQ(nullptr, control_options.reload_path);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  EXPECT_EQ(
      PPROF_STATUS_CONFIG,
      pprof_start_alone_text_(&options, "output: a\noutptu: y\n", &error_));
  EXPECT_EQ(0u, std::string(error_.text).find("config:2:1: ")) << error_.text;
  unsetenv("PPROF_CONFIG");
}

TEST_F(ComposeTest, NorIsAFileThatAForkedChildFindsInItsEnvironment) {
  unsetenv("PPROF_CONFIG");
  setenv("PPROF_SET", "output=a", 1);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, &error_)) << error_.text;
  unsetenv("PPROF_SET");
  setenv("PPROF_CONFIG", File("output: a\n").c_str(), 1);
  EXPECT_EQ(0, InAForkedChild([] {
              EXPECT_EQ(nullptr, control_options.reload_path);
              return HasFailure() ? 1 : 0;
            }));
  unsetenv("PPROF_CONFIG");
}

}  // namespace
