// SPDX-License-Identifier: Apache-2.0
//
// Traces as our own exporter writes them: nothing of them is guessed.
#include "imported.h"

namespace pprof_test {
namespace {

const char kOwnHead[] =
    "{\"displayTimeUnit\":\"ns\",\"pprofTrace\":1,\"baseTimeNanoseconds\":5000,"
    "\n\"traceEvents\":[\n";

const char kEveryKind[] =
    "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 3 opens\",\"cat\":"
    "\"window\",\"ts\":5.000,\"pid\":4,\"tid\":4},\n"
    "{\"ph\":\"X\",\"name\":\"ProfileStep\",\"cat\":\"ProfileStep\","
    "\"ts\":5.000,\"dur\":90.000,\"pid\":4,\"tid\":16777216,\"args\":{"
    "\"window\":3,\"async\":true,\"step\":2,\"items\":8}},\n"
    "{\"ph\":\"X\",\"name\":\"nccl:allreduce [1 us]\",\"cat\":\"my own\","
    "\"ts\":10.001,\"dur\":5.500,\"pid\":4,\"tid\":44,\"args\":{"
    "\"window\":3,\"depth\":1,\"flows\":[9],\"bytes\":16,\"params\":2,"
    "\"clipped\":true,\"cpu_known\":1,\"cpu_user_ns\":70,"
    "\"major_faults\":3}},\n"
    "{\"ph\":\"X\",\"name\":\"infer\",\"cat\":\"Inference\",\"ts\":20.000"
    ",\"dur\":1.000,\"pid\":4,\"tid\":16777217,\"args\":{\"window\":3,"
    "\"flows\":[9],\"paired\":true,\"on_stream\":2,"
    "\"device_start_ns\":30000,\"device_end_ns\":37000,"
    "\"device_off_ns\":20}},\n"
    "{\"ph\":\"X\",\"name\":\"infer\",\"cat\":\"Inference\",\"ts\":30.000"
    ",\"dur\":7.000,\"pid\":1073741825,\"tid\":16777218,\"args\":{"
    "\"window\":3,\"device_error_ns\":20,\"queue_ns\":10000}},\n"
    "{\"ph\":\"X\",\"name\":\"late\",\"cat\":\"Inference\",\"ts\":40.000"
    ",\"dur\":1.000,\"pid\":4,\"tid\":16777217,\"args\":{\"window\":3,"
    "\"no_device_time\":true,\"on_stream\":2}},\n"
    "{\"ph\":\"C\",\"name\":\"gpu:0\",\"cat\":\"Memory\",\"ts\":41.000,"
    "\"pid\":4,\"tid\":44,\"args\":{\"value\":64},\"change\":-16,"
    "\"reserved\":true},\n"
    "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 3 closes\",\"cat\":"
    "\"window\",\"ts\":95.000,\"pid\":4,\"tid\":4},\n"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":16777217,"
    "\"args\":{\"name\":\"main submit\",\"lane\":6}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":44,"
    "\"args\":{\"name\":\"main\",\"lane\":6}}],\n"
    "\"otherData\":{\"uuid\":\"ab\",\"host\":\"node\",\"pid\":\"4\","
    "\"counters_not_finite\":2,\"shift_ns\":0,\"lanes\":[{\"id\":0,"
    "\"of\":0,\"number\":0,\"name\":\"process\"},{\"id\":6,\"of\":0,"
    "\"number\":45,\"name\":\"main\"}],\"devices\":[{\"id\":1,\"of\":0,"
    "\"number\":0,\"name\":\"cpu:0\"}],\"streams\":[{\"id\":2,\"of\":1,"
    "\"number\":8,\"name\":\"copies\"}],\"trust\":{\"recorded\":9,"
    "\"lost\":5,\"clock_error_ns\":431},\"notes\":[\"clock: good\",{}]}"
    "}";

TEST(ImportOwnTest, ReadsWhatTheExporterWrites) {
  Imported trace;
  trace.Read(std::string(kOwnHead) + kEveryKind);
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.info.at("uuid"), "ab");
  EXPECT_EQ(run.info.at("host"), "node");
  EXPECT_EQ(run.windows, (std::vector<uint64_t>{5000, 95000}));
  EXPECT_EQ(run.The("ProfileStep").event.value, 2);
  EXPECT_EQ(run.The("ProfileStep").work.items, 8);
  EXPECT_EQ(run.The("ProfileStep").event.flags, uint32_t{PPROF_FLAG_ASYNC});
  // Neither the name nor the category is taken for more than it says.
  const ImportedEvent &own = run.The("nccl:allreduce [1 us]");
  EXPECT_EQ(own.category, "my own");
  EXPECT_EQ(own.event.flags, uint32_t{PPROF_FLAG_CLIPPED});
  EXPECT_EQ(own.event.start_ns, 10001u);
  EXPECT_EQ(own.event.end_ns, 15501u);
  EXPECT_EQ(own.event.depth, 1u);
  EXPECT_EQ(own.flows, std::vector<uint64_t>{9});
  EXPECT_EQ(own.work.bytes, 16);
  EXPECT_EQ(own.work.params, 2);
  EXPECT_EQ(own.thread, 45u);
  EXPECT_EQ(own.cpu.known, 1u);
  EXPECT_EQ(own.cpu.user_ns, 70u);
  EXPECT_EQ(own.cpu.major_faults, 3u);
  const ImportedEvent &infer = run.The("infer");
  EXPECT_EQ(infer.event.start_ns, 20000u);
  EXPECT_EQ(infer.event.end_ns, 21000u);
  EXPECT_EQ(infer.event.device_start_ns, 30000u);
  EXPECT_EQ(infer.event.device_end_ns, 37000u);
  EXPECT_EQ(infer.event.device_error_ns, 20u);
  EXPECT_EQ(infer.event.flags, uint32_t{PPROF_FLAG_PAIRED});
  EXPECT_EQ(infer.flows, std::vector<uint64_t>{9});
  EXPECT_EQ(infer.thread, 45u);
  EXPECT_EQ(infer.device, "cpu:0");
  EXPECT_EQ(infer.stream, "copies");
  EXPECT_EQ(run.The("late").event.device_end_ns, 0u);
  EXPECT_EQ(run.The("late").device, "cpu:0");
  EXPECT_EQ(run.The("gpu:0").event.value, 64);
  EXPECT_EQ(run.The("gpu:0").work.bytes, -16);
  EXPECT_EQ(run.The("gpu:0").event.flags, uint32_t{PPROF_FLAG_RESERVED});
  EXPECT_EQ(run.Total("lost"), 5u);
  EXPECT_EQ(run.Total("recorded"), 5u);
  EXPECT_EQ(run.Total("clock_error_ns"), 431u);
  EXPECT_EQ(run.Total("no_device_time"), 1u);
  EXPECT_TRUE(run.HasNote("clock: good"));
  EXPECT_TRUE(run.HasNote("import: imported from a trace of pprof"));
  EXPECT_TRUE(run.HasNote("2 values of counters that were not finite"));
}

// A run as the exporter writes it into a trace of several, which begins 1 µs
// after the first one: its thread is called like the other run's.
std::string OwnRun(const std::string &pid, const std::string &tid) {
  const std::string host = ",\"pid\":" + pid + ",\"tid\":";
  return "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window 0 opens\",\"cat\":"
         "\"window\",\"ts\":1.000" +
         host + pid +
         "},\n{\"ph\":\"X\",\"name\":\"infer\",\"cat\":\"Kernel\",\"ts\":"
         "20.000,\"dur\":1.000" +
         host + tid +
         ",\"args\":{\"window\":0,\"on_stream\":1,\"device_start_ns\":31000,"
         "\"device_end_ns\":37000,\"device_off_ns\":20}},\n"
         "{\"ph\":\"M\",\"name\":\"thread_name\"" +
         host + tid +
         ",\"args\":{\"name\":\"main submit\",\"lane\":1}},\n"
         "{\"ph\":\"M\",\"name\":\"run\"" +
         host + "0,\"args\":{\"baseTimeNanoseconds\":\"5000\",\"host\":\"h" +
         pid +
         "\",\"shift_ns\":1000,\"lanes\":[{\"id\":1,\"of\":0,\"number\":" +
         pid +
         ",\"name\":\"main\"}],\"devices\":[{\"id\":1,\"of\":0,\"number\":0,"
         "\"name\":\"gpu" +
         pid +
         "\"}],\"streams\":[{\"id\":1,\"of\":1,\"number\":0,\"name\":\"s\"}],"
         "\"trust\":{\"recorded\":1,\"late\":" +
         pid + "},\"notes\":[]}}";
}

TEST(ImportOwnTest, ReadsWhatTheExporterWritesOfSeveralRuns) {
  Imported trace;
  trace.Read(kOwnHead + OwnRun("4", "100") + ",\n" + OwnRun("5", "200") +
             "],\n\"otherData\":{\"baseTimeNanoseconds\":\"5000\",\"runs\":2}"
             "}");
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  ASSERT_EQ(trace.runs.size(), 2u);
  for (size_t i = 0; i < 2; i++) {
    const ImportedRun &run = trace.runs[i];
    const ImportedEvent &infer = run.The("infer");
    EXPECT_EQ(run.info.at("host"), "h" + std::to_string(4 + i));
    EXPECT_EQ(infer.event.kind, uint32_t{PPROF_KIND_DEVICE_RANGE});
    // Times are the run's own.
    EXPECT_EQ(infer.event.start_ns, 19000u);
    EXPECT_EQ(infer.event.device_start_ns, 30000u);
    EXPECT_EQ(infer.thread, 4 + i);
    EXPECT_EQ(infer.device, "gpu" + std::to_string(4 + i));
    EXPECT_EQ(run.Total("late"), 4 + i);
    EXPECT_TRUE(run.HasNote("imported from a trace of pprof"));
  }
}

// One that no window was open in has nothing else that says it.
TEST(ImportOwnTest, ReadsHowFarARunCame) {
  Imported trace;
  trace.Read(
      kOwnHead +
      std::string("{\"ph\":\"X\",\"name\":\"r\",\"cat\":\"Inference\",\"ts\":"
                  "1.000,\"dur\":2.000,\"pid\":4,\"tid\":44},\n"
                  "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":"
                  "44,\"args\":{\"name\":\"main\",\"lane\":6}}],\n"
                  "\"otherData\":{\"pid\":\"4\",\"shift_ns\":0,"
                  "\"told_until_ns\":90000,\"trust\":{\"recorded\":1}}}"));
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  ASSERT_FALSE(trace.run().checkpoints.empty());
  EXPECT_EQ(trace.run().checkpoints.back(), 90000u);
  EXPECT_TRUE(trace.run().windows.empty());
}

// A range that an earlier checkpoint lies in is open there.
TEST(ImportOwnTest, ListsWhatIsOpenAtACheckpoint) {
  const std::string place = ",\"cat\":\"Inference\",\"pid\":4,\"tid\":44,";
  std::string text = kOwnHead;
  for (int i = 0; i < 100010; i++)
    text += "{\"ph\":\"X\",\"name\":\"inner\"" + place +
            "\"ts\":" + std::to_string(i + 1) +
            ".000,\"dur\":0.500,\"args\":{\"depth\":1}},\n";
  text +=
      "{\"ph\":\"M\",\"name\":\"checkpoint\",\"pid\":4,\"tid\":0,\"args\":{"
      "\"time_ns\":100011000}},\n"
      "{\"ph\":\"X\",\"name\":\"outer\"" +
      place +
      "\"ts\":0.500,\"dur\":200000.000,\"args\":{\"window\":0,\"flows\":"
      "[1,2,3,4,5]}}],\n\"otherData\":{\"shift_ns\":0}}";
  Imported trace;
  trace.Read(text);
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().checkpoints, std::vector<uint64_t>{100011000});
  EXPECT_EQ(trace.run().The("outer").flows,
            (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

// A range before its device was ready has no stream.
// Numbers of contexts (pprof_flow_context) are at least 2^63; the exporter
// writes large numbers as texts.
TEST(ImportOwnTest, KeepsFlowsOf64Bits) {
  Imported trace;
  trace.Read(std::string(kOwnHead) +
             "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"Forward\",\"ts\":6.000,"
             "\"dur\":1.000,\"pid\":4,\"tid\":4,\"args\":{\"window\":0,"
             "\"flows\":[9007199254740991,\"9223372036854775807\","
             "\"9223372036854775808\",\"18446744073709551615\"]}}]}");
  EXPECT_EQ(trace.run().The("a").flows,
            (std::vector<uint64_t>{(UINT64_C(1) << 53) - 1, INT64_MAX,
                                   UINT64_C(1) << 63, UINT64_MAX}));
}

TEST(ImportOwnTest, ReadsARangeOnNoStream) {
  std::string text = OwnRun("4", "100");
  const std::string known =
      "\"on_stream\":1,\"device_start_ns\":31000,"
      "\"device_end_ns\":37000,\"device_off_ns\":20";
  text.replace(text.find(known), known.size(),
               "\"no_device_time\":true,\"on_stream\":0");
  Imported trace;
  trace.Read(kOwnHead + text +
             "],\n\"otherData\":{\"baseTimeNanoseconds\":\"5000\",\"runs\":1}"
             "}");
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedEvent &infer = trace.run().The("infer");
  EXPECT_EQ(infer.event.kind, uint32_t{PPROF_KIND_DEVICE_RANGE});
  EXPECT_EQ(infer.event.stream, 0u);
  EXPECT_EQ(infer.device, "");
}

// Its number is no name's.
TEST(ImportOwnTest, ReadsAWindowOfAnyNumber) {
  Imported trace;
  trace.Read(kOwnHead +
             std::string("{\"ph\":\"i\",\"s\":\"p\",\"name\":"
                         "\"window 4000000000 opens\",\"cat\":\"window\","
                         "\"ts\":1.000,\"pid\":4,\"tid\":4}],\n"
                         "\"otherData\":{\"shift_ns\":0}}"));
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().windows, (std::vector<uint64_t>{1000, 1000}));
}

// A run that died while its trace was written leaves no table of its streams.
TEST(ImportOwnTest, ReadsATraceThatIsCut) {
  Imported trace;
  trace.Read(kOwnHead + OwnRun("4", "100").substr(0, 330));
  EXPECT_EQ(trace.status, PPROF_STATUS_CORRUPT);
  EXPECT_EQ(trace.run().The("infer").device, "device");
  EXPECT_EQ(trace.run().Total("ended_without_stop"), 1u);
}

TEST(ImportOwnTest, SaysThatAnOlderTraceIsNotUnderstood) {
  Imported trace;
  trace.Read(
      "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1}],"
      "\"otherData\":{\"trust\":{}}}");
  EXPECT_TRUE(trace.run().HasNote("a trace of an older pprof"));
}

}  // namespace
}  // namespace pprof_test
