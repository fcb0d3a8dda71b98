// SPDX-License-Identifier: Apache-2.0
//
// Keys that belong to one part each: names, the flight recorder, files,
// control, exports, NVTX.
#include "schema_fixture.h"

#include <cstring>

namespace {

TEST_F(SchemaTest, NvtxRulesAreChecked) {
  EXPECT_EQ("p.yaml:1:18: a name must have 1 to 63 bytes",
            Refusal("nvtx: {domains: {" + std::string(64, 'x') + ": memory}}"));
  EXPECT_EQ("p.yaml:1:21: a category is longer than 63 bytes",
            Refusal("nvtx: {domains: {x: " + std::string(64, 'x') + "}}"));
  std::string many = "nvtx:\n  domains:\n";
  for (int i = 0; i < 65; i++) many += "    d" + std::to_string(i) + ": a\n";
  EXPECT_EQ("p.yaml:3:5: 'domains' has more than 64 names", Refusal(many));
  EXPECT_EQ(PPROF_STATUS_OK,
            Apply("nvtx: {domains: {a: User_Defined, b: user-defined,"
                  " c: CPU task, d: capture}}\n"))
      << error_.text;
}

// What is refused once all is read.
std::string Doubted(ppi_config *config) {
  pprof_error error = {""};
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(config, &error));
  return error.text;
}

TEST_F(SchemaTest, CostIsWhatOptionsSay) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("cost: {models: [\"a.onnx:detect\", b.onnx],"
                  " dims: [batch=8], peaks: [bf16=989T, bytes=3.35T]}\n"))
      << error_.text;
  ASSERT_EQ(2u, config().cost.models.num);
  EXPECT_STREQ("a.onnx:detect", config().cost.models.items[0]);
  EXPECT_STREQ("batch=8", config().cost.dims.items[0]);
  ASSERT_EQ(2u, config().cost.peaks.num);
  EXPECT_STREQ("bytes=3.35T", config().cost.peaks.items[1]);
  EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), nullptr));
}

TEST_F(SchemaTest, CostIsChecked) {
  EXPECT_EQ(PPROF_STATUS_OK, Apply("cost: {dims: [a=1]}\n"));
  EXPECT_EQ("p.yaml:1:7: 'cost' has no models and no peaks",
            Doubted(&config()));
  EXPECT_EQ(PPROF_STATUS_OK, Apply("cost: {peaks: [f32=fast]}\n"));
  EXPECT_EQ(
      "p.yaml:1:15: 'f32=fast' is no peak such as bf16=989T or "
      "bf16=989T@model*",
      Doubted(&config()));
  std::string models = "cost: {models: [a", peaks = "cost: {peaks: [a=1";
  for (int i = 0; i < 16; i++) models += ",a", peaks += ",a=1";
  EXPECT_EQ(PPROF_STATUS_OK, Apply(models + "]}\n"));
  EXPECT_EQ("p.yaml:1:16: more than 16 models", Doubted(&config()));
  EXPECT_EQ(PPROF_STATUS_OK, Apply("cost: {models: [a]}\n"));
  EXPECT_EQ(PPROF_STATUS_OK, Apply(peaks + "]}\n"));
  EXPECT_EQ("p.yaml:1:15: more than 16 peaks", Doubted(&config()));
}

TEST_F(SchemaTest, ChoiceOfNames) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("include: [dec*, \"a b\"]\n"
                                   "exclude: ['?']\n"
                                   "cpu: [work, \"load *\"]\n"
                                   "requests: {every: 8}\n"
                                   "privacy: {names: hash, allow: [decode]}\n"))
      << error_.text;
  auto chosen = std::make_unique<ppi_config_chosen>();
  ppi_config_choice(&config(), chosen.get());
  ASSERT_EQ(2u, chosen->choice.num_include);
  EXPECT_STREQ("dec*", chosen->choice.include[0]);
  EXPECT_STREQ("a b", chosen->choice.include[1]);
  ASSERT_EQ(1u, chosen->choice.num_exclude);
  EXPECT_STREQ("?", chosen->choice.exclude[0]);
  ASSERT_EQ(2u, chosen->choice.num_cpu);
  EXPECT_STREQ("work", chosen->choice.cpu[0]);
  EXPECT_STREQ("load *", chosen->choice.cpu[1]);
  ASSERT_EQ(1u, chosen->choice.num_allow);
  EXPECT_STREQ("decode", chosen->choice.allow[0]);
  EXPECT_TRUE(chosen->choice.hash_names);
  EXPECT_FALSE(chosen->choice.timer_only);
  EXPECT_EQ(8u, chosen->choice.requests_every);
}

TEST_F(SchemaTest, NamesAreChecked) {
  EXPECT_EQ("p.yaml:1:11: a name is longer than 255 bytes",
            Refusal("include: [" + std::string(256, 'x') + "]"));
  std::string many = "include: [a";
  for (int i = 0; i < 64; i++) many += ",a";
  EXPECT_EQ("p.yaml:1:10: 'include' has more than 64 names",
            Refusal(many + "]"));
}

TEST_F(SchemaTest, FlightRecorder) {
  EXPECT_EQ(0u, config().flight.given);
  ASSERT_EQ(PPROF_STATUS_OK, Apply("flight_recorder: {}\n"));
  EXPECT_EQ(1u, config().flight.given);
  EXPECT_EQ(16777216u, config().flight.memory_bytes);
  EXPECT_EQ(10000000u, config().flight.before_us);
  EXPECT_EQ(2000000u, config().flight.after_us);
  EXPECT_EQ(60000000u, config().flight.every_us);
  EXPECT_EQ(10u, config().flight.limit);
  EXPECT_STREQ("pprof.%h.%p.flight.pplog", config().flight.output.text);
  EXPECT_EQ(0u, config().flight.num_conditions);
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("flight_recorder:\n"
                  "  rules: ['stage \"decode\" > 40ms', request > 120ms,\n"
                  "          'p99(\"decode\", 10s) > 30ms']\n"))
      << error_.text;
  ppi_rule rules[PPI_CONFIG_MAX_CONDITIONS];
  ASSERT_EQ(3u, ppi_config_conditions(&config(), rules));
  EXPECT_EQ(PPI_RULE_STAGE, rules[0].kind);
  EXPECT_STREQ("decode", rules[0].name);
  EXPECT_EQ(40000000u, rules[0].limit_ns);
  EXPECT_EQ(PPI_RULE_REQUEST, rules[1].kind);
  EXPECT_EQ(PPI_RULE_QUANTILE, rules[2].kind);
  EXPECT_EQ(10000000000u, rules[2].over_ns);
}

TEST_F(SchemaTest, FlightRecorderIsChecked) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("memory_limit: 16MiB\nflight_recorder:\n"
                                   "  memory: 9MiB\n"));
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(&config(), &error_));
  EXPECT_STREQ(
      "p.yaml:3:11: 'flight_recorder.memory' must be at most half of"
      " 'memory_limit'",
      error_.text);
  // The column is that of the rule's text, in quotes or not.
  std::string many = "flight_recorder:\n  rules:\n";
  for (int i = 0; i < 17; i++) many += "    - request > 1s\n";
  EXPECT_EQ("p.yaml:19:7: more than 16 rules", Refusal(many));
}

TEST_F(SchemaTest, FilesAndControl) {
  EXPECT_EQ(0u, config().rotate_bytes);
  EXPECT_EQ(0u, config().disk_limit_bytes);
  EXPECT_EQ(1u, config().control.socket);
  EXPECT_EQ(1u, config().control.reload);
  EXPECT_STREQ("", config().control.file.text);
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("rotate: {size: 64MiB, keep: 3}\ndisk_limit: 10GiB\n"
                  "control: {socket: false, file: t.%p, signal: USR1,"
                  " reload: false}\n"))
      << error_.text;
  EXPECT_EQ(67108864u, config().rotate_bytes);
  EXPECT_EQ(3u, config().rotate_keep);
  EXPECT_EQ(10737418240u, config().disk_limit_bytes);
  EXPECT_EQ(0u, config().control.socket);
  EXPECT_STREQ("t.%p", config().control.file.text);
  EXPECT_EQ(PPI_CONTROL_SIGNAL_USR1, config().control.signal);
  EXPECT_EQ(0u, config().control.reload);
  ASSERT_EQ(PPROF_STATUS_OK, Apply("rotate: {size: none}\n"
                                   "disk_limit: none\n"
                                   "control: {file: ''}\n"));
  EXPECT_EQ(0u, config().disk_limit_bytes);
  EXPECT_STREQ("", config().control.file.text);
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(&config(), &error_));
  EXPECT_STREQ("p.yaml:1:29: 'rotate.keep' needs 'rotate.size'", error_.text);
  // The newest whole segment and the one that is written.
  ASSERT_EQ(PPROF_STATUS_OK, Apply("rotate: {size: 1MiB}\n"
                                   "disk_limit: 2559KiB\n"));
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(&config(), &error_));
  EXPECT_STREQ(
      "p.yaml:2:13: 'disk_limit' must be at least 2560KiB, twice 'rotate.size'"
      " and 512KiB",
      error_.text);
  ASSERT_EQ(PPROF_STATUS_OK, Apply("disk_limit: 2560KiB\n"));
  EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), &error_));
}

// It is made of the log, as one file.
TEST_F(SchemaTest, APageNeedsTheLog) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("exports: [{format: html, path: x}]\n"));
  EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), &error_));
  ASSERT_EQ(PPROF_STATUS_OK, Apply("rotate: {size: 1MiB}\n"));
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(&config(), &error_));
  EXPECT_STREQ(
      "p.yaml:1:10: an export with 'format: html' needs the log in one file,"
      " without 'rotate.size'",
      error_.text);
  ASSERT_EQ(PPROF_STATUS_OK, Apply("log: false\n"));
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(&config(), &error_));
  EXPECT_STREQ(
      "p.yaml:1:10: an export with 'format: html' needs the log: 'log' is"
      " false",
      error_.text);
}

TEST_F(SchemaTest, TimerOnlyGoesAlone) {
  ASSERT_EQ(PPROF_STATUS_OK, Apply("mode: timer_only\n"));
  EXPECT_EQ(PPROF_STATUS_OK, ppi_config_check(&config(), &error_));
  const struct {
    const char *text, *error;
  } refused[] = {
      {"capture: {active: 1}\n",
       "p.yaml:1:10: 'mode: timer_only' goes with no 'capture'"},
      {"include: [a]\n",
       "p.yaml:1:10: 'mode: timer_only' goes with no 'include'"},
      {"exclude: [a]\n",
       "p.yaml:1:10: 'mode: timer_only' goes with no 'exclude'"},
  };
  for (const auto &one : refused) {
    SetUp();
    ASSERT_EQ(PPROF_STATUS_OK, Apply("mode: timer_only\n"));
    ASSERT_EQ(PPROF_STATUS_OK, Apply(one.text));
    EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_config_check(&config(), &error_));
    EXPECT_STREQ(one.error, error_.text);
  }
}

TEST_F(SchemaTest, ExportsPerWindow) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("exports: [{format: csv, path: 'a.%w.csv', per: window}]\n"))
      << error_.text;
  EXPECT_EQ(1u, config().exports[0].per_window);
}

TEST_F(SchemaTest, ExportsAreChecked) {
  std::string many = "exports:\n";
  for (int i = 0; i < 17; i++) many += "  - {format: csv, path: x}\n";
  EXPECT_EQ("p.yaml:18:5: more than 16 exports", Refusal(many));
}

TEST_F(SchemaTest, PathsAreChecked) {
  EXPECT_EQ(PPROF_STATUS_OK, Apply("output: a%%%h%p%r%t%q{x}\n"));
}

}  // namespace
