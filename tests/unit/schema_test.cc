// SPDX-License-Identifier: Apache-2.0
//
// Keys of a configuration: values and defaults, and the texts made from the
// table. tests/data/yaml/refused.txt has the refusals in their exact words.
#include "schema_fixture.h"

#include <cstring>
#include <regex>
#include <sstream>

#include "print/report_print.h"

namespace {

TEST_F(SchemaTest, Defaults) {
  EXPECT_EQ(1u, config().version);
  EXPECT_STREQ("pprof.%h.%p.pplog", config().output.text);
  EXPECT_STREQ("", config().output.where);
  EXPECT_EQ(1u, config().log);
  EXPECT_EQ(67108864u, config().memory_limit_bytes);
  EXPECT_STREQ("memory", config().spool.text);
  EXPECT_EQ(5000u, config().drain_interval_us);
  EXPECT_EQ(1000000u, config().stop_wait_us);
  EXPECT_EQ(PPI_NVTX_FORK_FOLLOW, config().fork);
  EXPECT_EQ(0u, config().num_windows);
  EXPECT_EQ(0u, config().device_mode);
  EXPECT_EQ(0u, config().backends);
  EXPECT_EQ(0u, config().graph_nodes);
  EXPECT_EQ(0u, config().kernels);
  EXPECT_EQ(0u, config().graph_kernels);
  EXPECT_EQ(0u, config().calls);
  EXPECT_EQ(PPI_NVTX_DEVICE_OFF, config().nvtx.device);
  EXPECT_EQ(PPI_NVTX_PAYLOAD_COUNTER, config().nvtx.payload);
  EXPECT_EQ(PPI_NVTX_FORK_FOLLOW, config().nvtx.fork);
  EXPECT_EQ(1u, config().nvtx.fields);
  EXPECT_EQ(1u, config().nvtx.cut_names);
  EXPECT_EQ(0u, config().nvtx.emit);
  EXPECT_EQ(0u, config().nvtx.num_domains);
  EXPECT_EQ(0u, config().nvtx.num_categories);
  EXPECT_EQ(0u, config().num_exports);
}

TEST_F(SchemaTest, NvtxDefaultsAreInjections) {
  auto defaults = std::make_unique<ppi_nvtx_options>();
  ppi_nvtx_defaults(defaults.get());
  EXPECT_EQ(0, memcmp(defaults.get(), &config().nvtx, sizeof *defaults));
}

const char kEveryKey[] =
    "version: 1\n"
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
    "  kernels: true\n"
    "  graph_kernels: capture\n"
    "  calls: true\n"
    "nvtx:\n"
    "  device: default\n"
    "  domains: {NCCL: communication,\n"
    "            'my lib': Frame Grab}\n"
    "  categories: {io: Dataloader}\n"
    "  streams: {my comm: own, NCCL: default}\n"
    "  payload: flow\n"
    "  fields: false\n"
    "  cut_names: false\n"
    "  fork: off\n"
    "  emit: true\n"
    "exports:\n"
    "  - format: chrome\n"
    "    path: a.json.gz\n"
    "  - {format: csv, path: \"a.csv\",\n"
    "     views: [model, device]}\n";

TEST_F(SchemaTest, EveryKey) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply(kEveryKey)) << error_.text;
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
  EXPECT_EQ(1u, config().kernels);
  EXPECT_EQ(1u, config().graph_kernels);
  EXPECT_EQ(1u, config().calls);
  const ppi_nvtx_options &nvtx = config().nvtx;
  EXPECT_EQ(PPI_NVTX_DEVICE_DEFAULT, nvtx.device);
  EXPECT_EQ(PPI_NVTX_PAYLOAD_FLOW, nvtx.payload);
  EXPECT_EQ(0u, nvtx.fields);
  EXPECT_EQ(0u, nvtx.cut_names);
  EXPECT_EQ(PPI_NVTX_FORK_OFF, nvtx.fork);
  EXPECT_EQ(1u, nvtx.emit);
  ASSERT_EQ(2u, nvtx.num_domains);
  EXPECT_STREQ("NCCL", nvtx.domains[0].from);
  EXPECT_STREQ("communication", nvtx.domains[0].category);
  EXPECT_STREQ("my lib", nvtx.domains[1].from);
  EXPECT_STREQ("Frame Grab", nvtx.domains[1].category);
  ASSERT_EQ(2u, nvtx.num_streams);
  EXPECT_STREQ("my comm", nvtx.streams[0].from);
  EXPECT_STREQ("own", nvtx.streams[0].category);
  EXPECT_STREQ("default", nvtx.streams[1].category);
  ASSERT_EQ(1u, nvtx.num_categories);
  EXPECT_STREQ("io", nvtx.categories[0].from);
  EXPECT_STREQ("Dataloader", nvtx.categories[0].category);
  ASSERT_EQ(2u, config().num_exports);
  EXPECT_EQ(PPI_EXPORT_CHROME, config().exports[0].format);
  EXPECT_STREQ("a.json.gz", config().exports[0].path.text);
  EXPECT_EQ(PPI_EXPORT_REPORT + PPI_FORMAT_CSV, config().exports[1].format);
  EXPECT_STREQ("device,model", config().exports[1].views.text);
  ppi_capture capture;
  ppi_config_capture(&config(), &capture);
  ASSERT_EQ(2u, capture.num_rules);
  const ppi_schedule_rule &first = capture.rules[0].steps;
  EXPECT_EQ(1u, first.skip_first);
  EXPECT_EQ(2u, first.wait);
  EXPECT_EQ(3u, first.warmup);
  EXPECT_EQ(4u, first.active);
  EXPECT_EQ(5u, first.repeat);
  const ppi_schedule_rule &span = capture.rules[1].steps;
  EXPECT_EQ(6u, span.skip_first);
  EXPECT_EQ(0u, span.wait);
  EXPECT_EQ(1u, span.warmup);
  EXPECT_EQ(2u, span.active);
  EXPECT_EQ(1u, span.repeat);
}

TEST_F(SchemaTest, TruthHasThreeWordsEach) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("log: no\nreclaim: off\ncontrol: {socket: false}\n"
                  "devices: {kernels: on}\nnvtx: {emit: yes}\n"))
      << error_.text;
  EXPECT_EQ(0u, config().log);
  EXPECT_EQ(0u, config().reclaim);
  EXPECT_EQ(0u, config().control.socket);
  EXPECT_EQ(1u, config().kernels);
  EXPECT_EQ(1u, config().nvtx.emit);
}

// Words of choices, and texts, stay what they were.
TEST_F(SchemaTest, WordsOfTruthMayBeChoicesAndTexts) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("output: on\ndevices: {mode: off}\nnvtx: {fork: off}\n"
                  "names: {fold: off}\ninclude: [yes]\n"))
      << error_.text;
  EXPECT_STREQ("on", config().output.text);
  EXPECT_EQ(1u, config().device_mode);
  EXPECT_EQ(PPI_NVTX_FORK_OFF, config().nvtx.fork);
}

TEST_F(SchemaTest, RangesAreChecked) {
  EXPECT_EQ("p.yaml:1:9: 'output' is longer than 1023 bytes",
            Refusal("output: " + std::string(1024, 'x')));
}

TEST_F(SchemaTest, NvtxRulesReplaceEarlierOnes) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("nvtx: {domains: {a: memory, b: kernel}}"));
  ASSERT_EQ(PPROF_STATUS_OK, Apply("nvtx: {domains: {c: memcpy}}"));
  ASSERT_EQ(1u, config().nvtx.num_domains);
  EXPECT_STREQ("c", config().nvtx.domains[0].from);
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
  EXPECT_STREQ(
      "nothing to write: 'log' is false and there are no 'exports', no"
      " 'flight_recorder' and no 'report'",
      error_.text);
  ASSERT_EQ(PPROF_STATUS_OK, Apply("exports: [{format: csv, path: x}]\n"));
  EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), &error_));
  ASSERT_EQ(PPROF_STATUS_OK, Apply("flight_recorder: {}\nexports: []\n"));
  EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), &error_));
}

const char kWritten[] =
    "version: 1\n"
    "mode: full\n"
    "output: \"a \\\"b\\\" %p\"\n"
    "log: true\n"
    "report: stderr\n"
    "memory_limit: 3MB\n"
    "spool: \"memory\"\n"
    "reclaim: false\n"
    "drain_interval: 1500us\n"
    "stop_wait: 1s\n"
    "exit_wait: 5s\nfork: follow\n"
    "capture:\n"
    "  - {skip_first: 1, skip_first_wait: 0, wait: 0, warmup: 0, active: 4,"
    " repeat: 0}\n"
    "  - {steps: [3, 6]}\n"
    "  - {delay: 1s, duration: 250ms}\n"
    "  - {repeat: 3, delay: 0us, duration: 1s, every: 1min,"
    " at: 2026-11-22T10:00:00Z}\n"
    "  - {marker: \"a b\", from: 2, to: 5, then: repeat}\n"
    "  - {on_demand: true}\n"
    "include: [\"*\", \"dec?de\"]\n"
    "exclude: [\"x \\\"y\\\"\"]\n"
    "names:\n"
    "  fold: all\n"
    "  keep: [\"layer*\"]\n"
    "  shapes: [\"step {n}\"]\n"
    "  full: true\n"
    "steps:\n"
    "  begin: \"turn\"\n"
    "requests:\n"
    "  every: 7\n"
    "privacy:\n"
    "  names: hash\n"
    "  allow: [\"decode\"]\n"
    "rotate:\n"
    "  size: 1MiB\n"
    "  keep: 3\n"
    "disk_limit: 1GiB\n"
    "flight_recorder:\n"
    "  memory: 1MiB\n"
    "  before: 1s\n"
    "  after: 500ms\n"
    "  output: \"f.pplog\"\n"
    "  rules:\n"
    "    - \"stage \\\"decode\\\" > 40ms\"\n"
    "    - \"request > 120ms\"\n"
    "  every: 2min\n"
    "  limit: 2\n"
    "control:\n"
    "  socket: false\n"
    "  file: \"touch.me\"\n"
    "  signal: USR2\n"
    "  reload: false\n"
    "metrics:\n"
    "  file: \"m.prom\"\n"
    "  every: 30s\n"
    "  buckets: \"genai\"\n"
    "devices:\n"
    "  mode: off\n"
    "  backends: [cpu, cuda]\n"
    "  graphs: external\n"
    "  kernels: true\n"
    "  graph_kernels: capture\n"
    "  calls: true\n"
    "machine: true\n"
    "machine_without: [gpu, gpu_energy]\n"
    "nvtx:\n"
    "  device: default\n"
    "  domains: {\"NCCL\": \"communication\", \"a \\\"b\\\"\": \"X\"}\n"
    "  payload: ignore\n"
    "  fields: true\n"
    "  cut_names: false\n"
    "  fork: follow\n"
    "  emit: true\n"
    "exports:\n"
    "  - {format: chrome, path: \"x.json\", per: run}\n"
    "  - {format: table, path: \"x.%w.txt\", views: [overview,model],"
    " per: window}\n";

TEST_F(SchemaTest, WrittenConfigurationReadsBack) {
  const std::string text = kWritten;
  ASSERT_EQ(PPROF_STATUS_OK, Apply(text)) << error_.text;
  auto written = [&] {
    return Printed([&](FILE *out) { ppi_config_write(&config(), out); });
  };
  const std::string all = written();
  std::istringstream lines(text);
  size_t at = 0;
  for (std::string line; std::getline(lines, line); at += line.size()) {
    at = all.find(line + "\n", at);
    ASSERT_NE(std::string::npos, at) << line << all;
  }
  SetUp();
  ASSERT_EQ(PPROF_STATUS_OK, Apply(all)) << error_.text;
  EXPECT_EQ(all, written());
}

// Its text is that of the document's table, in lines of 78 columns.
TEST_F(SchemaTest, HelpSaysWhatTheDocumentationDoes) {
  const std::string help = Printed(ppi_config_help);
  EXPECT_EQ(0u, help.find("Keys of a configuration file, with their type and "
                          "[default].\n"));
  EXPECT_NE(std::string::npos,
            help.find("\n  memory_limit: size, 1MiB to 1TiB [64MiB]\n"
                      "      The most memory for records that wait; at most a "
                      "sixteenth of the\n"
                      "      cgroup's. Records without room are counted as "
                      "lost.\n"));
  const std::regex line_break("\n {6}");
  const std::string text = std::regex_replace(help, line_break, " ");
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const std::string key = std::string("\n  ") + ppi_keys[i].path + ": ";
    EXPECT_NE(std::string::npos, text.find(key)) << key;
    EXPECT_NE(std::string::npos, text.find(ppi_keys[i].help)) << key;
  }
}

// The help has each key's type and default in its line.
TEST_F(SchemaTest, DocumentationHasAllKeys) {
  const std::string help = Printed(ppi_config_help);
  std::string table = "| Key | Type | Default | Meaning |\n|---|---|---|---|\n";
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key &key = ppi_keys[i];
    const std::string before = std::string("\n  ") + key.path + ": ";
    const size_t from = help.find(before) + before.size();
    std::string type = help.substr(from, help.find('\n', from) - from), value;
    if (key.fallback && *key.fallback) {
      value = std::string("`") + key.fallback + "` ";
      type.resize(type.rfind(" ["));
    }
    table += std::string("| `") + key.path + "` | " + type + " | " + value +
             "| " + key.help + (key.reloads ? " **R**" : "") + " |\n";
  }
  EXPECT_NE(Read("docs/profile-yaml.md").find("\n" + table + "\n"),
            std::string::npos)
      << "docs/profile-yaml.md must have this table:\n"
      << table;
}

TEST_F(SchemaTest, ExampleConfigurationsAreValid) {
  for (const char *name :
       {"pipeline", "first_look", "serving", "flight_recorder", "training",
        "timer_only", "many_ranks"}) {
    std::string path = std::string("examples/config/") + name + ".yaml";
    std::string text = Read(path);
    ASSERT_NE("", text) << path;
    SetUp();
    EXPECT_EQ(PPROF_STATUS_OK, Apply(text)) << path << error_.text;
    EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), &error_))
        << path << error_.text;
    if (config().log) {
      EXPECT_STRNE("pprof.%h.%p.pplog", config().output.text) << path;
    }
  }
}

TEST_F(SchemaTest, ViewsAreTheReports) {
  std::string names;
  for (auto kind = ppi_view_kinds(); *kind; kind++)
    names += std::string(names.empty() ? "" : ", ") + (*kind)->name;
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("exports: [{format: csv, path: x, views: [" + names + "]}]"))
      << error_.text;
  const std::string refused =
      Refusal("exports: [{format: csv, path: x, views: [zzz]}]");
  const std::string begin = "p.yaml:1:42: 'views' must be one of ";
  const std::string end = ", ..., not 'zzz'";
  ASSERT_EQ(begin, refused.substr(0, begin.size()));
  ASSERT_EQ(end, refused.substr(refused.size() - end.size()));
  const std::string listed =
      refused.substr(begin.size(), refused.size() - begin.size() - end.size());
  EXPECT_EQ(names.substr(0, listed.size()), listed) << "as many as have room";
}

}  // namespace
