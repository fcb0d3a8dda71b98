// SPDX-License-Identifier: Apache-2.0
//
// The parts of the importer on their own: decimal times, the external sort,
// the set of texts, files of other tools.
#include <algorithm>
#include <cstring>
#include <random>

extern "C" {
#include "import/fields.h"
#include "import/importer.h"
#include "import/sorter.h"
}
#include "imported.h"

namespace pprof_test {
namespace {

TEST(ImportNumbersTest, TurnsDecimalMicrosecondsIntoNanoseconds) {
  const struct {
    const char *text;
    bool is_good;
    int64_t ns;
  } cases[] = {{"0", true, 0},
               {"1", true, 1000},
               {"-1.5", true, -1500},
               {"+2", true, 2000},
               {"0.001", true, 1},
               {"0.0005", true, 1},
               {"0.0004999", true, 0},
               {"-0.0005", true, -1},
               {"4441230618699.139", true, 4441230618699139},
               {"1e3", true, 1000000},
               {"1.25E-2", true, 13},
               {"1.24E-2", true, 12},
               {"00012.5", true, 12500},
               {"1e-400", true, 0},
               {"0e999999999999", true, 0},
               {"4611686018427387.904", true, INT64_C(1) << 62},
               {"4611686018427387.905", false, 0},
               {"99999999999999999999999999999999999999", false, 0},
               {"0.00000000000000000000000000000000000000001", true, 0},
               {"12345678901234567890e-10", true, 1234567890123},
               {"1.00000000000000000000000000000000000000", true, 1000},
               {"1e400", false, 0},
               {"", false, 0},
               {"-", false, 0},
               {".", false, 0},
               {".5", true, 500},
               {"1.", true, 1000},
               {"1x", false, 0},
               {"1e", false, 0},
               {"nan", false, 0}};
  for (const auto &each : cases) {
    int64_t ns = 0;
    bool is_good =
        ppi_decimal_ns(each.text, strlen(each.text), 3, &ns, nullptr);
    EXPECT_EQ(is_good, each.is_good) << each.text;
    if (is_good) {
      EXPECT_EQ(ns, each.ns) << each.text;
    }
  }
}

TEST(ImportNumbersTest, ReadsDurationsWithUnits) {
  const struct {
    const char *text;
    bool is_good;
    int64_t ns;
  } cases[] = {{"12.345 us", true, 12345}, {"1.5ms", true, 1500000},
               {"7 ns", true, 7},          {"2 s", true, 2000000000},
               {"3", true, 3000},          {"3 min", false, 0},
               {" us", false, 0},          {"", false, 0}};
  for (const auto &each : cases) {
    int64_t ns = 0;
    EXPECT_EQ(ppi_duration_ns(each.text, strlen(each.text), &ns), each.is_good)
        << each.text;
    EXPECT_EQ(ns, each.ns) << each.text;
  }
}

struct Record {
  uint64_t key;
  uint32_t minor, order, group;
};

int ByMinor(const void *left, const void *right) {
  const Record *a = static_cast<const Record *>(left);
  const Record *b = static_cast<const Record *>(right);
  return (a->minor > b->minor) - (a->minor < b->minor);
}

bool IsWanted(const void *context, uint32_t group) {
  return *static_cast<const uint32_t *>(context) == group;
}

// Enough for many runs in the file.
TEST(ImportSorterTest, SortsWhatDoesNotFitLikeAStableSort) {
  for (size_t memory : {size_t{1} << 12, size_t{1} << 24}) {
    std::mt19937_64 random(3);
    ppi_spill spill;
    ppi_sorter sorter;
    ppi_spill_init(&spill, nullptr);
    ppi_sorter_init(&sorter, sizeof(Record), memory, ByMinor, &spill);
    std::vector<Record> wanted;
    for (uint32_t i = 0; i < 20000; i++) {
      // Keys that differ in high bytes, and many that are equal.
      uint64_t key = random() % 3 ? random() % 50 : random();
      Record record = {key, static_cast<uint32_t>(random() % 3), i,
                       static_cast<uint32_t>(random() % 3)};
      wanted.push_back(record);
      ppi_sorter_add(&sorter, record.group, &record);
    }
    ppi_sorter_finish(&sorter);
    EXPECT_EQ(spill.fd >= 0, memory == size_t{1} << 12);
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Record &a, const Record &b) {
                       if (a.group != b.group) return a.group < b.group;
                       if (a.key != b.key) return a.key < b.key;
                       return a.minor < b.minor;
                     });
    size_t at = 0;
    for (uint32_t group = 0; group < 4; group++) {
      ppi_sort_merge merge;
      ppi_sort_merge_open(&merge, &sorter, IsWanted, &group);
      for (;; at++) {
        const Record *record =
            static_cast<const Record *>(ppi_sort_merge_next(&merge));
        if (!record) break;
        ASSERT_LT(at, wanted.size());
        ASSERT_EQ(record->order, wanted[at].order);
      }
      EXPECT_EQ(spill.error_number, 0);
      ppi_sort_merge_close(&merge);
    }
    EXPECT_EQ(at, wanted.size());
    ppi_sorter_clear(&sorter);
    ppi_spill_close(&spill);
  }
}

TEST(ImportSorterTest, MergesAllGroupsByKey) {
  ppi_spill spill;
  ppi_sorter sorter;
  ppi_sort_merge merge;
  ppi_spill_init(&spill, nullptr);
  ppi_sorter_init(&sorter, sizeof(Record), 1 << 20, ByMinor, &spill);
  for (uint32_t i = 0; i < 10; i++) {
    Record record = {10 - i, 0, i, i % 2};
    ppi_sorter_add(&sorter, i % 2, &record);
  }
  ppi_sorter_finish(&sorter);
  ppi_sort_merge_open(&merge, &sorter, nullptr, nullptr);
  for (uint64_t key = 1; key <= 10; key++) {
    const Record *record =
        static_cast<const Record *>(ppi_sort_merge_next(&merge));
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->key, key);
  }
  EXPECT_EQ(ppi_sort_merge_next(&merge), nullptr);
  ppi_sort_merge_close(&merge);
  ppi_sorter_clear(&sorter);
}

TEST(ImportInternTest, GivesEachTextOneIdWithinItsBounds) {
  ppi_intern intern = {};
  intern.max_items = 1000;
  intern.max_bytes = 1 << 20;
  bool is_new;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < 1000; i++) {
      std::string text = "text " + std::to_string(i);
      EXPECT_EQ(ppi_intern_id(&intern, text.data(), text.size(), &is_new),
                i + 1);
      EXPECT_EQ(is_new, pass == 0);
    }
  EXPECT_EQ(ppi_intern_id(&intern, "one more", 8, &is_new), 0u);
  EXPECT_STREQ(ppi_intern_item_of(&intern, 7)->text, "text 6");
  EXPECT_EQ(ppi_intern_item_of(&intern, 1001), nullptr);
  ppi_intern_clear(&intern);
  intern.max_items = 10;
  intern.max_bytes = 100;
  EXPECT_EQ(ppi_intern_id(&intern, std::string(99, 'a').data(), 99, &is_new),
            1u);
  EXPECT_EQ(ppi_intern_id(&intern, "b", 1, &is_new), 0u);
  ppi_intern_clear(&intern);
}

// What people hand in that is no Chrome trace: what it is, and what to do.
const char *const kForeign[][2] = {
    {"{\"$schema\":\"s\",\"shared\":{},\"profiles\":[{\"type\":\"evented\"}]"
     "}",
     "speedscope"},
    {"{\"meta\":{\"interval\":1},\"libs\":[],\"threads\":[]}",
     "Firefox profiler"},
    {"{\"linux-perf-json-version\":1,\"samples\":[]}", "samples of perf"},
    {"PERFILE2h", "speedscope opens what perf script prints"},
    {"\x17\x08\x44tracing6", "trace-cmd report prints it"},
    {"# tracer: nop\n#\n", "ftrace's text, which ui.perfetto.dev opens"},
    {"{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,"
     "\"tid\":1,\"args\":{\"name\":\"a\"}}],\"systemTraceEvents\":\"# "
     "tracer: "
     "nop\\n\"}",
     "ftrace's text, which ui.perfetto.dev opens"},
    {"{\"rocprofiler-sdk-tool\":[{\"metadata\":{}}]}",
     "rocprof --hip-trace writes a Chrome trace"},
    {"{\"NvtxEvent\":{\"Text\":\"a\"}}\n{\"NvtxEvent\":{}}\n",
     "nsys export --type json"},
    {"[{\"id\":1,\"model_name\":\"m\",\"timestamps\":[{\"name\":"
     "\"REQUEST_START\",\"ns\":2259961222771924}]}]",
     "Triton Inference Server; its --trace-config mode=opentelemetry"},
    {"[{\"count\":100},{\"name\":\"conv1\",\"timeMs\":12.5,"
     "\"averageMs\":0.125,\"percentage\":50.0}]",
     "a table of trtexec has no timeline; use nsys profile trtexec"},
    {"[{\"startComputeMs\":1,\"computeMs\":2,\"latencyMs\":3}]",
     "a table of trtexec"},
    {"{\"Layers\":[\"conv1\"],\"Bindings\":[]}", "layers of trtexec"},
    {"[{\"traceId\":\"ab\",\"id\":\"1\",\"name\":\"llm_request\","
     "\"timestamp\":1700000000000000,\"duration\":5000}]",
     "spans of Zipkin; OpenTelemetry's JSON (OTLP) is read"},
    {"{\"data\":[{\"traceID\":\"ab\",\"spans\":[{\"spanID\":\"1\"}]}]}",
     "spans of Jaeger; OpenTelemetry's JSON (OTLP) is read"},
    {"{\"name\":\"a\",\"context\":{\"trace_id\":\"0x1\",\"span_id\":"
     "\"0x2\"}}\n{\"name\":\"b\"}\n",
     "spans; OpenTelemetry's JSON (OTLP) is read"},
    {"{\"schema\":\"1.1.0\",\"pid\":1,\"nodes\":[{\"id\":1}]}",
     "ExecutionTraceObserver"},
    {"{\"nodes\":[{\"id\":1}],\"startTime\":1,\"endTime\":2,\"samples\":[1],"
     "\"timeDeltas\":[1]}",
     "a CPU profile of V8, which has samples; speedscope opens it"},
    {"\x80\x04\x95\x0a", "a pickle of Python; pytorch.org/memory_viz"},
    {"{\"segments\":[],\"device_traces\":[]}", "memory_viz opens"},
    {"\xfb)\x03\xfa", "python -m pstats FILE prints them"},
    {"PK\x03\x04", "a zip archive; unzip it"},
    {"[{\"name\":\"AllReduce\",\"ph\":\"b\",\"ts\":1,\"args\":{\"datatype\": "
     "ncclFloat32,\"Stream\": 0x262ca50}}]",
     "NCCL's profiler plugin are no JSON; quote them: sed"},
    {"[{\"name\":\"a\",\"ph\":\"b\",\"ts\":1,\"p\":(nil)}]",
     "NCCL's profiler plugin"},
    {"\x28\xb5\x2f\xfd", "compressed; decompress it first"},
    {"PAR1", "its --type sqlite is read"},
    {"<!DOCTYPE html>", "a page; give the log or the trace"},
    {"[1,2,{\"a\":3}]", "none of its 3 entries is an event"},
    {"[[{\"a\":3}]]", "none of its 1 entries is an event"},
};

TEST(ImportForeignTest, SaysWhatAFileIsThatIsNoTrace) {
  for (const auto &each : kForeign)
    for (const std::string &text : {std::string(each[0]), Gzip(each[0])}) {
      Imported trace;
      trace.Read(text);
      EXPECT_EQ(trace.status, PPROF_STATUS_INVALID) << each[0];
      EXPECT_NE(trace.message.find(each[1]), std::string::npos)
          << trace.message;
      EXPECT_NE(trace.message.find("not a Chrome trace: "), std::string::npos);
    }
}

// Of protobufs the first bytes say nothing, so the name does.
TEST(ImportForeignTest, SaysByItsNameWhatAFileIs) {
  const char *const cases[][2] = {
      {".pftrace", "a trace of Perfetto; traceconv json IN OUT"},
      {".perfetto-trace", "a trace of Perfetto; traceconv json IN OUT"},
      {".nsys-rep", "nsys export --type sqlite"},
      {".qdrep", "nsys export --type sqlite"},
      {".ncu-rep", "a report of Nsight Compute"},
      {".xplane.pb", "the .trace.json.gz beside it is read"},
      {".pb", "go tool pprof opens it"},
      {".PKL", "a pickle of Python"},
  };
  // The second is what JSON may begin with, too.
  const std::string contents[] = {"\x0a\x05\x08\x01q", "\x0a{\x02\x08\x01",
                                  "(dp0"};
  for (const auto &each : cases)
    for (const std::string &bytes : contents) {
      Imported trace, packed, by_content;
      trace.Read(bytes, each[0]);
      EXPECT_EQ(trace.status, PPROF_STATUS_INVALID) << each[0];
      EXPECT_NE(trace.message.find(each[1]), std::string::npos)
          << trace.message;
      packed.Read(Gzip(bytes), std::string(each[0]) + ".gz");
      EXPECT_NE(packed.message.find(each[1]), std::string::npos)
          << packed.message;
      by_content.ReadEvents("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}",
                            each[0]);
      EXPECT_EQ(by_content.status, PPROF_STATUS_OK) << by_content.message;
    }
}

// What others write as well does not make a trace PyTorch's.
TEST(ImportForeignTest, SaysWhoseTraceItIs) {
  const std::string dur = ",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}]}";
  const char *const cases[][2] = {
      {"\"traceEvents\":[{\"cat\":\"cuda_runtime\"", "a Chrome trace"},
      {"\"traceEvents\":[{\"cat\":\"hip_runtime\"", "a Chrome trace"},
      {"\"traceEvents\":[{\"cat\":\"kernel\"", "a Chrome trace"},
      {"\"traceEvents\":[{\"cat\":\"cpu_op\"", "a PyTorch trace"},
      {"\"traceEvents\":[{\"cat\":\"user_annotation\"", "a PyTorch trace"},
      {"\"schemaVersion\":1,\"traceEvents\":[{\"cat\":\"cuda_runtime\"",
       "a PyTorch trace"},
      {"\"deviceProperties\":[],\"traceEvents\":[{\"cat\":\"kernel\"",
       "a PyTorch trace"},
  };
  for (const auto &each : cases) {
    Imported trace;
    trace.Read(std::string("{") + each[0] + ",\"ph\":\"X\",\"name\":\"a\"" +
               dur);
    EXPECT_TRUE(trace.run().HasNote(std::string("imported from ") + each[1]))
        << each[0];
  }
}

}  // namespace
}  // namespace pprof_test
