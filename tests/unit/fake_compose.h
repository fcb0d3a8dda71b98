// SPDX-License-Identifier: Apache-2.0
//
// pprof_start and pprof_stop with everything they call replaced, which says
// what was called, a word each.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "session/capture/capture_session.h"
#include "start/calls.h"
#include "start/compose.h"
#include "start/environment.h"

namespace fake_compose {

// What was called, a word each; `failing` names the call that fails.
inline std::string said;
inline std::string failing;
inline std::string config_text;
inline pprof_options options;
inline ppi_capture capture;
inline ppi_control_actions control;
inline ppi_control_options control_options;
inline ppi_nvtx_options nvtx;
inline bool other_session;

inline pprof_status Say(const std::string &what) {
  said += (said.empty() ? "" : " ") + what;
  return what.substr(0, what.find(':')) == failing ? PPROF_STATUS_UNAVAILABLE
                                                   : PPROF_STATUS_OK;
}

inline pprof_status SayError(const std::string &what, pprof_error *error) {
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

inline pprof_sink *MakeSink(const std::string &name) {
  auto *sink = new FakeSink{{}, name};
  sink->base.size = sizeof(pprof_sink);
  sink->base.destroy = [](pprof_sink *self) {
    auto *fake = reinterpret_cast<FakeSink *>(self);
    Say("~" + fake->name);
    delete fake;
  };
  return &sink->base;
}

inline pprof_sink *sinks[8];
inline size_t num_sinks;
inline pprof_sink report_sink;

inline char session_memory, report_memory;
inline pprof_session *Session() {
  return reinterpret_cast<pprof_session *>(&session_memory);
}
inline pprof_report *Report() {
  return reinterpret_cast<pprof_report *>(&report_memory);
}

inline std::string log_path, chrome_path, part_path, flight_path, note,
    log_error;
inline int chrome_errno;
inline ppi_log_rotation rotation;
inline ppi_flight_options flight;
inline ppi_window_maker maker;  // the last one
inline std::vector<ppi_window_maker> makers;
inline pprof_window_fn on_window;
inline void *on_window_user;
inline bool busy, dumped;

inline void FakeSettings(ppi_compose_calls &calls) {
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
  calls.session_set_device_mode = [](pprof_session *, ppi_device_mode mode) {
    return Say("devices:" + std::to_string(mode));
  };
  calls.session_set_graph_kernels = [](pprof_session *, bool by_capture) {
    return by_capture ? Say("kernels:capture") : PPROF_STATUS_OK;
  };
  calls.session_set_device_calls = [](pprof_session *, bool all) {
    return all ? Say("calls:all") : PPROF_STATUS_OK;
  };
  calls.session_set_graph_nodes = [](pprof_session *, bool external) {
    return Say(external ? "graphs:external" : "graphs:skip");
  };
  calls.session_set_kernels = [](pprof_session *, bool are_on) {
    return Say(are_on ? "kernels:on" : "kernels:off");
  };
  calls.set_nvtx = [](const ppi_nvtx_options *asked) { nvtx = *asked; };
  calls.set_waits = [](bool, bool) {};
  calls.live_create = [](const ppi_live_options *, ppi_live **out) {
    *out = nullptr;
    return PPROF_STATUS_OK;
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
}

inline void FakeSession(ppi_compose_calls &calls) {
  calls.session_add_window_maker = [](pprof_session *,
                                      const ppi_window_maker *asked) {
    maker = *asked;
    pprof_status status = Say("maker");
    if (status == PPROF_STATUS_OK) makers.push_back(maker);
    return status;
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
    for (const ppi_window_maker &each : makers)
      if (each.destroy) each.destroy(each.user);
    makers.clear();
  };
}

inline void FakeFlight(ppi_compose_calls &calls) {
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
}

inline void FakeWriters(ppi_compose_calls &calls) {
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
}

inline void FakeReport(ppi_compose_calls &calls) {
  calls.report_create = [](pprof_report **out) {
    pprof_status status = Say("report");
    if (status == PPROF_STATUS_OK) *out = Report();
    return status;
  };
  calls.report_set_details = [](pprof_report *, const ppi_report_details *) {};
  calls.report_sink = [](pprof_report *) { return &report_sink; };
  calls.report_destroy = [](pprof_report *) { Say("~report"); };
  calls.report_write = [](const pprof_report *, const ppi_report_options *shown,
                          ppi_report_format format, FILE *out) {
    const bool is_table = format == PPI_FORMAT_TABLE;
    if (format != PPI_FORMAT_CSV) fputs(is_table ? "the table\n" : "{}\n", out);
    const std::string views = shown->views ? shown->views : "all";
    return Say((is_table                    ? "table:"
                : format == PPI_FORMAT_JSON ? "json:"
                                            : "csv:") +
               views);
  };
  calls.html_write_log = [](const char *path, FILE *out, pprof_error *) {
    fputs("the page\n", out);
    return Say("html:" + std::string(strrchr(path, '/') + 1));
  };
}

inline ppi_compose_calls FakeCalls() {
  ppi_compose_calls calls = {};
  FakeSettings(calls);
  FakeSession(calls);
  FakeFlight(calls);
  FakeWriters(calls);
  FakeReport(calls);
  return calls;
}

inline std::string Read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline bool Exists(const std::string &path) {
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

}  // namespace fake_compose
