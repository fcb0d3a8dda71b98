// SPDX-License-Identifier: Apache-2.0
//
// A configuration as a whole: where each value came from, and which changes a
// running session can take over.
#include <iterator>
#include <vector>

#include "schema_fixture.h"

namespace {

const ppi_key *KeyOf(const std::string &path) {
  for (size_t i = 0; i < ppi_num_keys; i++)
    if (path == ppi_keys[i].path) return &ppi_keys[i];
  return nullptr;
}

std::string OriginOf(const ppi_config &config, const std::string &path) {
  return ppi_config_origin(&config, KeyOf(path));
}

TEST_F(SchemaTest, OriginsAreWhereValuesStand) {
  EXPECT_EQ("default", OriginOf(config(), "output"));
  EXPECT_EQ("default", OriginOf(config(), "capture"));
  ASSERT_EQ(PPROF_STATUS_OK, Apply("output: a\n"
                                   "capture:\n"
                                   "  - active: 3\n"
                                   "flight_recorder: {every: 1s}\n"));
  EXPECT_EQ("p.yaml:1:9", OriginOf(config(), "output"));
  EXPECT_EQ("p.yaml:3:3", OriginOf(config(), "capture"));
  EXPECT_EQ("p.yaml:4:26", OriginOf(config(), "flight_recorder.every"));
  EXPECT_EQ("default", OriginOf(config(), "flight_recorder.limit"));
  EXPECT_EQ("default", OriginOf(config(), "log"));
  ppi_config_set_origin(&config(), "log", "PPROF_SET:1:5");
  EXPECT_EQ("PPROF_SET:1:5", OriginOf(config(), "log"));
}

TEST_F(SchemaTest, OriginsAreWrittenAsComments) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("capture: {active: 3}\nlog: false\n"));
  std::string text =
      Printed([&](FILE *out) { ppi_config_write_origins(&config(), out); });
  EXPECT_NE(std::string::npos, text.find("\nlog: false  # p.yaml:2:6\n"));
  EXPECT_NE(std::string::npos,
            text.find("\ncapture:  # p.yaml:1:10\n  - {skip_first: 0, "));
  EXPECT_NE(std::string::npos, text.find("\n# include: all  # default\n"));
  EXPECT_NE(std::string::npos, text.find("\ndevices:\n"));
  // Without what says where it came from it is the same configuration.
  SetUp();
  ASSERT_EQ(PPROF_STATUS_OK, Apply(text)) << error_.text;
  EXPECT_EQ(0u, config().log);
  EXPECT_EQ(3u, config().windows[0].active);
}

// A value other than the default, for every key that is not an item's.
struct Change {
  const char *path, *text;
  bool reloads;
};

const Change changes[] = {
    {"mode", "mode: timer_only", false},
    {"output", "output: other", false},
    {"log", "log: false", false},
    {"report", "report: stderr", false},
    {"memory_limit", "memory_limit: 65MiB", false},
    {"spool", "spool: /dev/shm", false},
    {"drain_interval", "drain_interval: 6ms", false},
    {"stop_wait", "stop_wait: 2s", false},
    {"reclaim", "reclaim: false", false},
    {"exit_wait", "exit_wait: 0us", false},
    {"capture", "capture: {active: 3}", true},
    {"include", "include: [a]", true},
    {"exclude", "exclude: [a]", true},
    {"cpu", "cpu: [a]", true},
    {"waits", "waits: on", true},
    {"waits.io", "waits: {io: on}", true},
    {"names.fold", "names: {fold: off}", false},
    {"names.keep", "names: {keep: [a]}", false},
    {"names.shapes", "names: {shapes: [a]}", false},
    {"names.categories", "names: {categories: {a: memory}}", false},
    {"names.idle", "names: {idle: [a]}", false},
    {"steps.begin", "steps: {begin: a}", false},
    {"names.full", "names: {full: on}", false},
    {"requests.every", "requests: {every: 2}", false},
    {"privacy.names", "privacy: {names: hash}", false},
    {"privacy.allow", "privacy: {allow: [a]}", false},
    {"rotate.size", "rotate: {size: 1MiB}", false},
    {"rotate.keep", "rotate: {keep: 1}", false},
    {"disk_limit", "disk_limit: 1GiB", false},
    {"flight_recorder", "flight_recorder: {}", false},
    {"flight_recorder.memory", "flight_recorder: {memory: 2MiB}", false},
    {"flight_recorder.before", "flight_recorder: {before: 1s}", false},
    {"flight_recorder.after", "flight_recorder: {after: 1s}", false},
    {"flight_recorder.output", "flight_recorder: {output: x}", false},
    {"flight_recorder.rules", "flight_recorder: {rules: [request > 1s]}", true},
    {"flight_recorder.every", "flight_recorder: {every: 1s}", true},
    {"flight_recorder.limit", "flight_recorder: {limit: 1}", true},
    {"control.socket", "control: {socket: false}", false},
    {"control.file", "control: {file: x}", false},
    {"control.signal", "control: {signal: USR1}", false},
    {"control.reload", "control: {reload: false}", false},
    {"metrics.file", "metrics: {file: x}", false},
    {"metrics.every", "metrics: {every: 1s}", false},
    {"metrics.buckets", "metrics: {buckets: genai}", false},
    {"cost", "cost: {}", false},
    {"cost.models", "cost: {models: [a]}", false},
    {"cost.dims", "cost: {dims: [a=1]}", false},
    {"cost.peaks", "cost: {peaks: [a=1]}", false},
    {"run", "run: {}", false},
    {"run.environment", "run: {environment: [A=1]}", false},
    {"run.packages", "run: {packages: [a]}", false},
    {"run.hints", "run: {hints: [a]}", false},
    {"run.hooks", "run: {hooks: [a]}", false},
    {"machine", "machine: on", false},
    {"machine_without", "machine_without: [gpu]", false},
    {"nvtx.device", "nvtx: {device: default}", false},
    {"nvtx.domains", "nvtx: {domains: {a: memory}}", false},
    {"nvtx.streams", "nvtx: {streams: {a: own}}", false},
    {"nvtx.categories", "nvtx: {categories: {a: memory}}", false},
    {"nvtx.payload", "nvtx: {payload: flow}", false},
    {"nvtx.fields", "nvtx: {fields: false}", false},
    {"nvtx.cut_names", "nvtx: {cut_names: false}", false},
    {"fork", "fork: off", false},
    {"nvtx.fork", "nvtx: {fork: off}", false},
    {"nvtx.emit", "nvtx: {emit: true}", false},
    {"exports", "exports: [{format: csv, path: x}]", false},
};

const Change device_changes[] = {
    {"devices.mode", "devices: {mode: off}", false},
    {"devices.backends", "devices: {backends: [cpu]}", false},
    {"devices.graphs", "devices: {graphs: external}", false},
    {"devices.kernels", "devices: {kernels: true}", false},
    {"devices.graph_kernels", "devices: {graph_kernels: capture}", false},
    {"devices.calls", "devices: {calls: true}", false},
};

std::vector<Change> AllChanges() {
  std::vector<Change> all(std::begin(changes), std::end(changes));
  all.insert(all.end(), std::begin(device_changes), std::end(device_changes));
  return all;
}

TEST_F(SchemaTest, OnlySomeKeysChangeWhileASessionRuns) {
  for (const auto &change : AllChanges()) {
    SetUp();
    auto before = std::make_unique<ppi_config>(config());
    // Of maps that may be missing, a key changes where they are there.
    for (const std::string map : {"flight_recorder", "cost", "run", "waits"}) {
      if (std::string(change.path).rfind(map + ".", 0) != 0) continue;
      ASSERT_EQ(PPROF_STATUS_OK, Apply(map + ": {}"));
      *before = config();
    }
    EXPECT_EQ(nullptr, ppi_config_fixed_change(before.get(), &config()));
    ASSERT_EQ(PPROF_STATUS_OK, Apply(change.text)) << error_.text;
    const char *changed = ppi_config_fixed_change(before.get(), &config());
    EXPECT_STREQ(change.reloads ? nullptr : change.path, changed);
  }
}

// A key that is added is added above.
TEST_F(SchemaTest, EveryKeyWasChanged) {
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    if (strchr(key->path, '[') || strcmp(key->path, "version") == 0 ||
        (key->type == PPI_KEY_MAP && key->offset == 0))
      continue;
    bool found = false;
    for (const auto &change : AllChanges())
      found = found || strcmp(change.path, key->path) == 0;
    EXPECT_TRUE(found) << key->path;
  }
}

TEST_F(SchemaTest, ChangesWithinListsAreFound) {
  const char *const texts[] = {
      "exports: [{format: csv, path: x}, {format: json, path: y}]",
      "exports: [{format: csv, path: x}, {format: json, path: z}]",
      "exports: [{format: csv, path: x}, {format: table, path: z}]",
      "exports: [{format: csv, path: x}, {format: table, path: z,"
      " views: [model]}]",
      "exports: [{format: csv, path: x}, {format: table, path: z%w,"
      " views: [model], per: window}]",
  };
  auto before = std::make_unique<ppi_config>(config());
  for (const char *text : texts) {
    *before = config();
    ASSERT_EQ(PPROF_STATUS_OK, Apply(text)) << error_.text;
    EXPECT_STREQ("exports", ppi_config_fixed_change(before.get(), &config()));
    ASSERT_EQ(PPROF_STATUS_OK, Apply(text));
    *before = config();
    EXPECT_EQ(nullptr, ppi_config_fixed_change(before.get(), &config()));
  }
  ASSERT_EQ(PPROF_STATUS_OK, Apply("nvtx: {domains: {a: memory}}"));
  *before = config();
  ASSERT_EQ(PPROF_STATUS_OK, Apply("nvtx: {domains: {a: kernel}}"));
  EXPECT_STREQ("nvtx.domains",
               ppi_config_fixed_change(before.get(), &config()));
}

}  // namespace
