// SPDX-License-Identifier: Apache-2.0
//
// Keys of a configuration: values, defaults, schedules, every refusal in its
// exact words, and the texts made from the table.
#include "schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "view.h"

namespace {

std::string Read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Print>
std::string Printed(Print print) {
  char *text = nullptr;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  print(out);
  fclose(out);
  std::string copy(text, len);
  free(text);
  return copy;
}

class SchemaTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PPROF_STATUS_OK, ppi_config_defaults(&config()));
  }
  ppi_config &config() {
    return *config_;
  }
  pprof_status Apply(const std::string &text) {
    ppi_yaml yaml;
    ppi_yaml_init(&yaml, "p.yaml");
    pprof_status status = ppi_yaml_parse(&yaml, text.data(), text.size(),
                                         {1, 1}, &yaml.root, &error_);
    if (status == PPROF_STATUS_OK)
      status = ppi_config_apply(&config(), &yaml, &error_);
    ppi_yaml_clear(&yaml);
    return status;
  }
  std::string Refusal(const std::string &text) {
    EXPECT_EQ(PPROF_STATUS_CONFIG, Apply(text)) << text;
    return error_.text;
  }
  // The states of steps 0, 1, ... as letters: C closed, Y warm-up, R recorded.
  std::string States(const std::string &text, uint64_t num) {
    EXPECT_EQ(PPROF_STATUS_OK, Apply(text)) << error_.text;
    ppi_schedule schedule;
    ppi_config_schedule(&config(), &schedule);
    std::string states;
    for (uint64_t step = 0; step < num; step++)
      states += "CYR"[ppi_schedule_at(&schedule, step).phase];
    return states;
  }

  pprof_error error_ = {""};

 private:
  std::unique_ptr<ppi_config> config_ = std::make_unique<ppi_config>();
};

TEST_F(SchemaTest, Defaults) {
  EXPECT_EQ(1u, config().version);
  EXPECT_STREQ("pprof.%h.%p.pplog", config().output.text);
  EXPECT_STREQ("", config().output.where);
  EXPECT_EQ(1u, config().log);
  EXPECT_EQ(67108864u, config().memory_limit_bytes);
  EXPECT_STREQ("memory", config().spool.text);
  EXPECT_EQ(5000u, config().drain_interval_us);
  EXPECT_EQ(1000000u, config().stop_wait_us);
  EXPECT_EQ(0u, config().num_windows);
  EXPECT_EQ(0u, config().device_mode);
  EXPECT_EQ(0u, config().backends);
  EXPECT_EQ(0u, config().graph_nodes);
  EXPECT_EQ(PPI_NVTX_DEVICE_OFF, config().nvtx.device);
  EXPECT_EQ(PPI_NVTX_PAYLOAD_COUNTER, config().nvtx.payload);
  EXPECT_EQ(PPI_NVTX_FORK_FOLLOW, config().nvtx.fork);
  EXPECT_EQ(1u, config().nvtx.fields);
  EXPECT_EQ(1u, config().nvtx.cut_names);
  EXPECT_EQ(0u, config().nvtx.num_domains);
  EXPECT_EQ(0u, config().nvtx.num_categories);
  EXPECT_EQ(0u, config().num_exports);
}

// Two sources of the same defaults.
TEST_F(SchemaTest, NvtxDefaultsAreInjections) {
  auto defaults = std::make_unique<ppi_nvtx_options>();
  ppi_nvtx_defaults(defaults.get());
  EXPECT_EQ(0, memcmp(defaults.get(), &config().nvtx, sizeof *defaults));
}

TEST_F(SchemaTest, EveryKey) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("version: 1\n"
                                   "output: run.%r.%q{JOB}.pplog\n"
                                   "log: false\n"
                                   "memory_limit: 128MiB\n"
                                   "spool: /dev/shm\n"
                                   "drain_interval: 250us\n"
                                   "stop_wait: 2s\n"
                                   "capture:\n"
                                   "  - {skip_first: 1, wait: 2, warmup: 3,\n"
                                   "     active: 4, repeat: 5}\n"
                                   "  - steps: [7, 9]\n"
                                   "devices:\n"
                                   "  mode: off\n"
                                   "  backends: [hip, opencl, cuda, cpu]\n"
                                   "  graphs: external\n"
                                   "nvtx:\n"
                                   "  device: default\n"
                                   "  domains: {NCCL: communication,\n"
                                   "            'my lib': Frame Grab}\n"
                                   "  categories: {io: Dataloader}\n"
                                   "  payload: flow\n"
                                   "  fields: false\n"
                                   "  cut_names: false\n"
                                   "  fork: off\n"
                                   "exports:\n"
                                   "  - format: chrome\n"
                                   "    path: a.json.gz\n"
                                   "  - {format: csv, path: \"a.csv\",\n"
                                   "     views: [model, device]}\n"))
      << error_.text;
  EXPECT_STREQ("run.%r.%q{JOB}.pplog", config().output.text);
  EXPECT_STREQ("p.yaml:2:9", config().output.where);
  EXPECT_EQ(0u, config().log);
  EXPECT_EQ(134217728u, config().memory_limit_bytes);
  EXPECT_STREQ("/dev/shm", config().spool.text);
  EXPECT_EQ(250u, config().drain_interval_us);
  EXPECT_EQ(2000000u, config().stop_wait_us);
  ASSERT_EQ(2u, config().num_windows);
  EXPECT_EQ(1u, config().device_mode);
  EXPECT_EQ(15u, config().backends);
  EXPECT_EQ(1u, config().graph_nodes);
  const ppi_nvtx_options &nvtx = config().nvtx;
  EXPECT_EQ(PPI_NVTX_DEVICE_DEFAULT, nvtx.device);
  EXPECT_EQ(PPI_NVTX_PAYLOAD_FLOW, nvtx.payload);
  EXPECT_EQ(0u, nvtx.fields);
  EXPECT_EQ(0u, nvtx.cut_names);
  EXPECT_EQ(PPI_NVTX_FORK_OFF, nvtx.fork);
  ASSERT_EQ(2u, nvtx.num_domains);
  EXPECT_STREQ("NCCL", nvtx.domains[0].from);
  EXPECT_STREQ("communication", nvtx.domains[0].category);
  EXPECT_STREQ("my lib", nvtx.domains[1].from);
  EXPECT_STREQ("Frame Grab", nvtx.domains[1].category);
  ASSERT_EQ(1u, nvtx.num_categories);
  EXPECT_STREQ("io", nvtx.categories[0].from);
  EXPECT_STREQ("Dataloader", nvtx.categories[0].category);
  ASSERT_EQ(2u, config().num_exports);
  EXPECT_EQ(PPI_EXPORT_CHROME, config().exports[0].format);
  EXPECT_STREQ("a.json.gz", config().exports[0].path.text);
  EXPECT_EQ(PPI_EXPORT_CSV, config().exports[1].format);
  EXPECT_STREQ("device,model", config().exports[1].views.text);
  ppi_schedule schedule;
  ppi_config_schedule(&config(), &schedule);
  ASSERT_EQ(2u, schedule.num_rules);
  const ppi_schedule_rule &first = schedule.rules[0];
  EXPECT_EQ(1u, first.skip_first);
  EXPECT_EQ(2u, first.wait);
  EXPECT_EQ(3u, first.warmup);
  EXPECT_EQ(4u, first.active);
  EXPECT_EQ(5u, first.repeat);
  const ppi_schedule_rule &span = schedule.rules[1];
  EXPECT_EQ(6u, span.skip_first);
  EXPECT_EQ(0u, span.wait);
  EXPECT_EQ(1u, span.warmup);
  EXPECT_EQ(2u, span.active);
  EXPECT_EQ(1u, span.repeat);
}

// Paddle's documented examples (reference, section 2.1); its RECORD_AND_RETURN
// is our R.
TEST_F(SchemaTest, SchedulesGoAsPaddles) {
  EXPECT_EQ("CCYRRRCC", States("capture: {steps: [3, 6]}", 8));
  EXPECT_EQ("YRC", States("capture: {steps: [1, 2]}", 3));
  EXPECT_EQ("RRC", States("capture: {steps: [0, 2]}", 3));
  EXPECT_EQ("CCYRRCYRRCC", States("capture: {skip_first: 1, wait: 1, warmup: 1,"
                                  " active: 2, repeat: 2}",
                                  11));
  EXPECT_EQ("CRCRCRC", States("capture: {wait: 1, active: 1}", 7));
}

// torch: wait=10, warmup=3, active=1, repeat=1, skip_first=1.
TEST_F(SchemaTest, SchedulesGoAsTorchs) {
  EXPECT_EQ("CCCCCCCCCCCYYYRC",
            States("capture: {skip_first: 1, wait: 10, warmup: 3, active: 1,"
                   " repeat: 1}",
                   16));
}

TEST_F(SchemaTest, NoCaptureRecordsEverything) {
  EXPECT_EQ("RRRR", States("{}", 4));
}

TEST_F(SchemaTest, UnknownKeysAreRefusedWithAHint) {
  EXPECT_EQ("p.yaml:2:1: unknown key 'otput' (did you mean 'output'?)",
            Refusal("version: 1\notput: x\n"));
  EXPECT_EQ("p.yaml:1:11: unknown key 'warm_up' (did you mean 'warmup'?)",
            Refusal("capture: {warm_up: 1}"));
  EXPECT_EQ("p.yaml:2:3: unknown key 'mdoe' (did you mean 'mode'?)",
            Refusal("devices:\n  mdoe: off\n"));
  EXPECT_EQ("p.yaml:1:13: unknown key 'file'",
            Refusal("exports: [ {file: x}]"));
  EXPECT_EQ("p.yaml:1:1: unknown key 'zzzzzzzz'", Refusal("zzzzzzzz: 1\n"));
  EXPECT_EQ("p.yaml:1:1: unknown key 'devices.mode' (did you mean 'devices'?)",
            Refusal("devices.mode: off\n"));
  EXPECT_EQ("p.yaml:1:1: unknown key 'capture[].wait'",
            Refusal("'capture[].wait': 1\n"));
  EXPECT_EQ("p.yaml:1:1: unknown key '<<'", Refusal("<<: {a: 1}\n"));
  EXPECT_EQ("p.yaml:1:1: unknown key ''", Refusal("'': 1\n"));
}

TEST_F(SchemaTest, WrongTypesAreRefused) {
  EXPECT_EQ("p.yaml:1:1: a configuration is a mapping of keys",
            Refusal("- a\n"));
  EXPECT_EQ("p.yaml:1:1: a configuration is a mapping of keys",
            Refusal("hello\n"));
  EXPECT_EQ("p.yaml:1:10: 'version' must be a whole number, not 'one'",
            Refusal("version: one\n"));
  EXPECT_EQ("p.yaml:1:10: 'version' must be a whole number, not text in quotes",
            Refusal("version: '1'\n"));
  EXPECT_EQ("p.yaml:1:10: 'version' must be a whole number, not '1.0'",
            Refusal("version: 1.0\n"));
  EXPECT_EQ("p.yaml:1:10: 'version' must be a whole number, not '-1'",
            Refusal("version: -1\n"));
  EXPECT_EQ("p.yaml:1:10: 'version' must be a whole number, not a list",
            Refusal("version: [1]\n"));
  EXPECT_EQ("p.yaml:1:6: 'log' must be true or false, not 'yes'",
            Refusal("log: yes\n"));
  EXPECT_EQ("p.yaml:1:6: 'log' must be true or false, not text in quotes",
            Refusal("log: 'true'\n"));
  EXPECT_EQ(
      "p.yaml:1:15: 'memory_limit' must be a size such as 64MiB, not"
      " '64'",
      Refusal("memory_limit: 64\n"));
  EXPECT_EQ(
      "p.yaml:1:17: 'drain_interval' must be a duration such as 500ms,"
      " not '5 ms'",
      Refusal("drain_interval: 5 ms\n"));
  EXPECT_EQ("p.yaml:1:9: 'output' must be text, not '5'",
            Refusal("output: 5\n"));
  EXPECT_EQ("p.yaml:1:9: 'output' must be text, not 'true'",
            Refusal("output: true\n"));
  EXPECT_EQ("p.yaml:1:9: 'output' must be text, not a mapping",
            Refusal("output: {a: b}\n"));
  EXPECT_EQ("p.yaml:1:10: 'devices' must be a mapping, not 'off'",
            Refusal("devices: off\n"));
  EXPECT_EQ(
      "p.yaml:1:10: 'capture' must be a mapping or a list of mappings,"
      " not '5'",
      Refusal("capture: 5\n"));
  EXPECT_EQ(
      "p.yaml:1:11: 'capture' must be a mapping or a list of mappings,"
      " not '5'",
      Refusal("capture: [5]\n"));
  EXPECT_EQ("p.yaml:1:10: 'exports' must be a list of mappings, not a mapping",
            Refusal("exports: {format: csv, path: x}\n"));
  EXPECT_EQ("p.yaml:1:11: 'exports' must be a list of mappings, not 'csv'",
            Refusal("exports: [csv]\n"));
  EXPECT_EQ("p.yaml:1:21: 'backends' must be a list, not 'cpu'",
            Refusal("devices: {backends: cpu}\n"));
}

TEST_F(SchemaTest, MissingValuesAreRefused) {
  EXPECT_EQ("p.yaml:1:8: 'output' needs a value", Refusal("output:\n"));
  EXPECT_EQ("p.yaml:1:9: 'output' needs a value", Refusal("output: ~\n"));
  EXPECT_EQ("p.yaml:1:10: 'capture' needs a value", Refusal("capture: null\n"));
  EXPECT_EQ("p.yaml:1:9: 'output' is empty", Refusal("output: ''\n"));
}

TEST_F(SchemaTest, RangesAreChecked) {
  EXPECT_EQ("p.yaml:1:10: 'version' must be 1 to 1, not 2",
            Refusal("version: 2\n"));
  EXPECT_EQ("p.yaml:1:15: 'memory_limit' must be 1MiB to 1TiB, not 1023KiB",
            Refusal("memory_limit: 1023KiB\n"));
  EXPECT_EQ("p.yaml:1:15: 'memory_limit' must be 1MiB to 1TiB, not 2TiB",
            Refusal("memory_limit: 2TiB\n"));
  EXPECT_EQ("p.yaml:1:12: 'stop_wait' must be 1ms to 1min, not 61s",
            Refusal("stop_wait: 61s\n"));
  EXPECT_EQ("p.yaml:1:19: 'active' must be 1 to 1000000000, not 0",
            Refusal("capture: {active: 0}\n"));
  EXPECT_EQ("p.yaml:1:19: 'active' must be 1 to 1000000000, not 1000000001",
            Refusal("capture: {active: 1000000001}\n"));
  EXPECT_EQ(
      "p.yaml:1:15: 'memory_limit' must be a size such as 64MiB, not"
      " '18446744073709551616B'",
      Refusal("memory_limit: 18446744073709551616B\n"));
  EXPECT_EQ("p.yaml:1:9: 'output' is longer than 1023 bytes",
            Refusal("output: " + std::string(1024, 'x')));
}

TEST_F(SchemaTest, ChoicesAreChecked) {
  EXPECT_EQ(
      "p.yaml:1:17: 'mode' must be one of events, off, not 'evnts' (did"
      " you mean 'events'?)",
      Refusal("devices: {mode: evnts}\n"));
  EXPECT_EQ(
      "p.yaml:1:22: 'backends' must be one of cpu, opencl, cuda, hip, not"
      " 'cdua' (did you mean 'cuda'?)",
      Refusal("devices: {backends: [cdua]}\n"));
  EXPECT_EQ(
      "p.yaml:1:19: 'graphs' must be one of skip, external, not 'extern'"
      " (did you mean 'external'?)",
      Refusal("devices: {graphs: extern}\n"));
  EXPECT_EQ(
      "p.yaml:1:17: 'payload' must be one of counter, flow, bytes, items,"
      " ignore, not 'flows' (did you mean 'flow'?)",
      Refusal("nvtx: {payload: flows}\n"));
  EXPECT_EQ("p.yaml:1:27: 'backends' names cpu twice",
            Refusal("devices: {backends: [cpu, cpu]}\n"));
  EXPECT_EQ(
      "p.yaml:1:20: 'format' must be one of chrome, table, json, csv,"
      " not 'Chrome' (did you mean 'chrome'?)",
      Refusal("exports: [{format: Chrome, path: x}]\n"));
  EXPECT_EQ(
      "p.yaml:1:43: 'views' must be one of device, overview, model,"
      " userdefined, queue, messages, not 'overveiw' (did you mean"
      " 'overview'?)",
      Refusal("exports: [{format: csv, path: x, views: [ overveiw]}]\n"));
}

TEST_F(SchemaTest, NvtxRulesAreChecked) {
  EXPECT_EQ(
      "p.yaml:1:17: 'domains' must be a mapping of names to categories, not"
      " 'NCCL'",
      Refusal("nvtx: {domains: NCCL}\n"));
  EXPECT_EQ("p.yaml:1:24: 'NCCL' needs a category, such as communication",
            Refusal("nvtx: {domains: {NCCL: [a]}}\n"));
  EXPECT_EQ(
      "p.yaml:1:24: unknown category 'comunication' (did you mean"
      " 'communication'?)",
      Refusal("nvtx: {domains: {NCCL: comunication}}\n"));
  EXPECT_EQ("p.yaml:1:24: steps are made by pprof_step alone",
            Refusal("nvtx: {categories: {s: Profile_Step}}\n"));
  EXPECT_EQ("p.yaml:1:24: a category needs a name",
            Refusal("nvtx: {categories: {s: '-'}}\n"));
  EXPECT_EQ("p.yaml:1:18: a name must have 1 to 63 bytes",
            Refusal("nvtx: {domains: {'': memory}}\n"));
  EXPECT_EQ("p.yaml:1:18: a name must have 1 to 63 bytes",
            Refusal("nvtx: {domains: {" + std::string(64, 'x') + ": memory}}"));
  EXPECT_EQ("p.yaml:1:21: a category is longer than 63 bytes",
            Refusal("nvtx: {domains: {x: " + std::string(64, 'x') + "}}"));
  EXPECT_EQ("p.yaml:1:8: unknown key 'emit'", Refusal("nvtx: {emit: true}\n"));
  std::string many = "nvtx:\n  domains:\n";
  for (int i = 0; i < 65; i++) many += "    d" + std::to_string(i) + ": a\n";
  EXPECT_EQ("p.yaml:3:5: 'domains' has more than 64 names", Refusal(many));
  EXPECT_EQ(PPROF_STATUS_OK,
            Apply("nvtx: {domains: {a: User_Defined, b: user-defined,"
                  " c: CPU task, d: capture}}\n"))
      << error_.text;
}

TEST_F(SchemaTest, NvtxRulesReplaceEarlierOnes) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("nvtx: {domains: {a: memory, b: kernel}}"));
  ASSERT_EQ(PPROF_STATUS_OK, Apply("nvtx: {domains: {c: memcpy}}"));
  ASSERT_EQ(1u, config().nvtx.num_domains);
  EXPECT_STREQ("c", config().nvtx.domains[0].from);
}

TEST_F(SchemaTest, WindowsAreChecked) {
  EXPECT_EQ("p.yaml:1:10: a window needs 'active' or 'steps'",
            Refusal("capture: {wait: 1}\n"));
  EXPECT_EQ("p.yaml:1:10: a window needs 'active' or 'steps'",
            Refusal("capture: {}\n"));
  EXPECT_EQ("p.yaml:1:10: 'capture' needs at least one window",
            Refusal("capture: []\n"));
  EXPECT_EQ("p.yaml:1:10: 'steps' stands alone in its window",
            Refusal("capture: {steps: [1, 2], active: 3}\n"));
  EXPECT_EQ("p.yaml:1:18: 'steps' must end after it begins",
            Refusal("capture: {steps: [2, 2]}\n"));
  EXPECT_EQ(
      "p.yaml:1:18: 'steps' must be two step numbers such as [10, 20],"
      " not a list",
      Refusal("capture: {steps: [2]}\n"));
  EXPECT_EQ("p.yaml:1:22: 'steps' must be a whole number, not 'b'",
            Refusal("capture: {steps: [2, b]}\n"));
  std::string many = "capture:\n";
  for (int i = 0; i < 17; i++) many += "  - {active: 1}\n";
  EXPECT_EQ("p.yaml:18:5: more than 16 windows", Refusal(many));
}

TEST_F(SchemaTest, ExportsAreChecked) {
  EXPECT_EQ("p.yaml:1:11: an export needs 'format'",
            Refusal("exports: [{path: x}]\n"));
  EXPECT_EQ("p.yaml:1:11: an export needs 'path'",
            Refusal("exports: [{format: csv}]\n"));
  EXPECT_EQ("p.yaml:1:44: a Chrome trace has no 'views'",
            Refusal("exports: [{format: chrome, path: x, views: [model]}]\n"));
  EXPECT_EQ("p.yaml:1:41: 'views' is empty",
            Refusal("exports: [{format: csv, path: x, views: []}]\n"));
  std::string many = "exports:\n";
  for (int i = 0; i < 17; i++) many += "  - {format: csv, path: x}\n";
  EXPECT_EQ("p.yaml:18:5: more than 16 exports", Refusal(many));
}

TEST_F(SchemaTest, PathsAreChecked) {
  EXPECT_EQ(
      "p.yaml:1:9: 'output': only %h, %p, %r, %t, %q{NAME} and %% may"
      " follow a %",
      Refusal("output: a%x\n"));
  EXPECT_EQ("p.yaml:1:9: 'output': %q{ without its }",
            Refusal("output: 'a%q{b'\n"));
  EXPECT_EQ("p.yaml:1:9: 'output': %q{} without a name",
            Refusal("output: 'a%q{}'\n"));
  EXPECT_EQ(
      "p.yaml:1:9: 'output': only %h, %p, %r, %t, %q{NAME} and %% may"
      " follow a %",
      Refusal("output: a%\n"));
  EXPECT_EQ(PPROF_STATUS_OK, Apply("output: a%%%h%p%r%t%q{x}\n"));
}

TEST_F(SchemaTest, LaterListsReplaceEarlierOnes) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("capture: [{active: 1}, {active: 2}]\n"));
  ASSERT_EQ(PPROF_STATUS_OK, Apply("capture: {active: 3}\n"));
  EXPECT_EQ(1u, config().num_windows);
  EXPECT_EQ(3u, config().windows[0].active);
}

TEST_F(SchemaTest, NothingToWriteIsAnError) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("log: false\n"));
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(&config(), &error_));
  EXPECT_STREQ("nothing to write: 'log' is false and there are no 'exports'",
               error_.text);
  ASSERT_EQ(PPROF_STATUS_OK, Apply("exports: [{format: csv, path: x}]\n"));
  EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), &error_));
}

TEST_F(SchemaTest, WrittenConfigurationReadsBack) {
  const std::string text =
      "version: 1\n"
      "output: \"a \\\"b\\\" %p\"\n"
      "log: true\n"
      "memory_limit: 3MB\n"
      "spool: \"memory\"\n"
      "drain_interval: 1500us\n"
      "stop_wait: 1s\n"
      "capture:\n"
      "  - {skip_first: 1, wait: 0, warmup: 0, active: 4, repeat: 0}\n"
      "  - {steps: [3, 6]}\n"
      "devices:\n"
      "  mode: off\n"
      "  backends: [cpu, cuda]\n"
      "  graphs: external\n"
      "nvtx:\n"
      "  device: default\n"
      "  domains: {\"NCCL\": \"communication\", \"a \\\"b\\\"\": \"X\"}\n"
      "  payload: ignore\n"
      "  fields: true\n"
      "  cut_names: false\n"
      "  fork: follow\n"
      "exports:\n"
      "  - {format: chrome, path: \"x.json\"}\n"
      "  - {format: table, path: \"x.txt\", views: [overview,model]}\n";
  ASSERT_EQ(PPROF_STATUS_OK, Apply(text)) << error_.text;
  EXPECT_EQ(text,
            Printed([&](FILE *out) { ppi_config_write(&config(), out); }));
}

TEST_F(SchemaTest, HelpIsAsReviewed) {
  EXPECT_EQ(Read("tests/golden/config_help.txt"), Printed(ppi_config_help));
}

TEST_F(SchemaTest, DocumentationIsGenerated) {
  EXPECT_EQ(Read("docs/profile-yaml.md"), Printed(ppi_config_markdown))
      << "docs/profile-yaml.md must be what ppi_config_markdown prints";
}

TEST_F(SchemaTest, ExampleConfigurationsAreValid) {
  EXPECT_EQ(PPROF_STATUS_OK, Apply(Read("examples/config/pipeline.yaml")))
      << error_.text;
  EXPECT_STREQ("pipeline.pplog", config().output.text);
}

// `views` names what reports have.
TEST_F(SchemaTest, ViewsAreTheReports) {
  std::string names;
  for (auto kind = ppi_view_kinds(); *kind; kind++)
    names += std::string(names.empty() ? "" : ", ") + (*kind)->name;
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("exports: [{format: csv, path: x, views: [" + names + "]}]"))
      << error_.text;
  EXPECT_EQ("p.yaml:1:42: 'views' must be one of " + names + ", not 'zzz'",
            Refusal("exports: [{format: csv, path: x, views: [zzz]}]"));
}

TEST(ValueTest, Sizes) {
  const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0B", 0},
              {"1B", 1},
              {"3kB", 3000},
              {"3KiB", 3072},
              {"2MB", 2000000},
              {"64MiB", 67108864},
              {"1GB", 1000000000},
              {"1GiB", 1073741824},
              {"1TB", 1000000000000},
              {"16777215TiB", 18446742974197923840u},
              {"18446744073709551615B", UINT64_MAX}};
  for (const auto &one : good) {
    uint64_t bytes = 7;
    EXPECT_TRUE(ppi_parse_size(one.text, &bytes)) << one.text;
    EXPECT_EQ(one.bytes, bytes) << one.text;
  }
  for (const char *text :
       {"", "MiB", "1", "1 MiB", "1mib", "1.5GiB", "-1B", "+1B", "16777216TiB",
        "18446744073709551616B", "1MiBx", "0x10B", "1K"}) {
    uint64_t bytes = 7;
    EXPECT_FALSE(ppi_parse_size(text, &bytes)) << text;
    EXPECT_EQ(7u, bytes) << text;
  }
}

TEST(ValueTest, Durations) {
  const struct {
    const char *text;
    uint64_t us;
  } good[] = {{"0us", 0},      {"250us", 250},     {"500ms", 500000},
              {"2s", 2000000}, {"1min", 60000000}, {"1h", 3600000000u}};
  for (const auto &one : good) {
    uint64_t us = 7;
    EXPECT_TRUE(ppi_parse_duration(one.text, &us)) << one.text;
    EXPECT_EQ(one.us, us) << one.text;
  }
  for (const char *text : {"", "5", "ms", "5 ms", "5m", "1.5s", "-1s",
                           "18446744073709551615s", "5124095577h"}) {
    uint64_t us = 7;
    EXPECT_FALSE(ppi_parse_duration(text, &us)) << text;
    EXPECT_EQ(7u, us) << text;
  }
}

TEST(ValueTest, Nearest) {
  const char *const words[] = {"output", "memory_limit", "log"};
  EXPECT_STREQ("output", ppi_nearest("otuput", words, 3));
  EXPECT_STREQ("output", ppi_nearest("outptu", words, 3));
  EXPECT_STREQ("memory_limit", ppi_nearest("memory-limit", words, 3));
  EXPECT_STREQ("log", ppi_nearest("logs", words, 3));
  EXPECT_EQ(nullptr, ppi_nearest("xyz", words, 3));
  EXPECT_EQ(nullptr, ppi_nearest("", words, 3));
  EXPECT_EQ(nullptr, ppi_nearest(std::string(4000, 'o').c_str(), words, 3));
}

}  // namespace
