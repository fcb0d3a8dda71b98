// SPDX-License-Identifier: Apache-2.0
//
// Traces that are damaged, absurd or hostile: a clear error or a counted skip,
// never a crash, a hang or unbounded memory.
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "base/mem.h"
#include "cli/say.h"
#include "imported.h"

namespace pprof_test {
namespace {

std::string Range(const std::string &name, const std::string &more) {
  return "{\"ph\":\"X\",\"name\":\"" + name + "\",\"pid\":1,\"tid\":2," + more +
         "}";
}

// One event of every kind, with strings, numbers and nesting.
std::string EveryKind() {
  return "{\"schemaVersion\":1,\"baseTimeNanoseconds\":12,\"traceEvents\":[\n"
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\\u00e9\\n\",\"pid\":1,"
         "\"tid\":2,\"ts\":1.5,\"dur\":20,\"args\":{\"External id\":5,"
         "\"Input Dims\":[[1,2],[]],\"o\":{\"k\":null}}},\n"
         "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":1,"
         "\"tid\":2,\"ts\":2,\"dur\":1,\"args\":{\"correlation\":7}},\n"
         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
         "\"ts\":4e0,\"dur\":\"2\",\"args\":{\"correlation\":7,\"stream\":7,"
         "\"device\":0}},\n"
         "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":3,\"ts\":1},\n"
         "{\"ph\":\"E\",\"pid\":1,\"tid\":3,\"ts\":3},\n"
         "{\"ph\":\"b\",\"name\":\"q\",\"cat\":\"c\",\"id\":\"0x1\",\"pid\":1,"
         "\"tid\":3,\"ts\":1},\n"
         "{\"ph\":\"e\",\"name\":\"q\",\"cat\":\"c\",\"id\":\"0x1\",\"pid\":1,"
         "\"tid\":3,\"ts\":2},\n"
         "{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":3,\"pid\":1,"
         "\"tid\":2,\"ts\":3},\n"
         "{\"ph\":\"C\",\"name\":\"n\",\"pid\":1,\"tid\":3,\"ts\":2,\"args\":{"
         "\"v\":1.25}},\n"
         "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,\"ts\":3,"
         "\"args\":{\"Bytes\":5,\"Total Allocated\":9,\"Device Type\":1,"
         "\"Device Id\":0}},\n"
         "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{"
         "\"name\":\"main\"}}\n"
         "],\"ExtraInfo\":{\"Process Cpu Utilization\":\"0.5\"}}";
}

TEST(ImportBadTest, ReadsTheWholeOfEveryKind) {
  Imported trace;
  trace.Read(EveryKind());
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 7u);
  EXPECT_EQ(trace.run().Total("lost"), 0u);
}

TEST(ImportBadTest, DeliversWhatStandsBeforeACut) {
  const std::string whole = EveryKind();
  size_t num_events = 0;
  for (size_t len = 0; len < whole.size(); len++) {
    Imported trace;
    trace.Read(whole.substr(0, len));
    ASSERT_TRUE(trace.status == PPROF_STATUS_INVALID ||
                trace.status == PPROF_STATUS_CORRUPT)
        << len;
    char offset[32];
    snprintf(offset, sizeof offset, "@0x%zx: ", len);
    EXPECT_NE(trace.message.find(offset), std::string::npos) << trace.message;
    if (trace.status == PPROF_STATUS_INVALID) {
      EXPECT_EQ(num_events, 0u) << len;
      EXPECT_TRUE(trace.runs.empty());
      continue;
    }
    size_t now = 0;
    for (const ImportedRun &run : trace.runs) now += run.events.size();
    EXPECT_GE(now, num_events) << len;
    num_events = now;
  }
  EXPECT_EQ(num_events, 7u);
}

// Chrome puts the kernel's events beside its own, as text.
TEST(ImportBadTest, CountsLinesOfFtrace) {
  Imported trace;
  trace.Read(
      "{\"systemTraceEvents\":\"# tracer: nop\\n#\\n\\n a-1 [0] 2.5: B|1|a\\n"
      "a-1 [0] 2.6: E\",\"traceEvents\":[" +
      Range("a", "\"ts\":1,\"dur\":1") + "]}");
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 1u);
  EXPECT_EQ(trace.run().Total("lost"), 2u);
  EXPECT_TRUE(trace.run().HasNote("2 lines of ftrace's text left out"));
}

TEST(ImportBadTest, TellsOfDamageInEachRun) {
  const std::string first = Range("a", "\"ts\":1,\"dur\":1");
  const std::string other =
      "{\"ph\":\"X\",\"name\":\"b\",\"pid\":7,\"tid\":2,\"ts\":1,\"dur\":1}";
  const std::string start = "{\"traceEvents\":[" + first + "," + other;
  for (const char *end : {"", ",{\"ph\":", ",{]"}) {
    Imported trace;
    trace.Read(start + end);
    ASSERT_EQ(trace.status, PPROF_STATUS_CORRUPT);
    ASSERT_EQ(trace.runs.size(), 2u);
    size_t at = strtoull(trace.message.c_str() + trace.message.find("@0x") + 1,
                         nullptr, 16);
    EXPECT_GE(at, start.size());
    for (const ImportedRun &run : trace.runs) {
      EXPECT_EQ(run.Total("ended_without_stop"), 1u) << end;
      EXPECT_TRUE(run.HasNote("damaged: the trace is damaged at byte " +
                              std::to_string(at) + ": what follows is missing"))
          << end;
    }
  }
  Imported whole;
  whole.Read(start + "]}");
  for (const ImportedRun &run : whole.runs) {
    EXPECT_EQ(run.Total("ended_without_stop"), 0u);
    EXPECT_FALSE(run.HasNote("damaged"));
  }
}

// Minutes, if each looked at all of the others.
TEST(ImportBadTest, BearsManyEndsAndOverheads) {
  std::string ends, overheads;
  for (int i = 0; i < 40000; i++) {
    const std::string at = std::to_string(i + 1);
    ends += Range("a", "\"ts\":" + at +
                           ",\"dur\":" + std::to_string(1000000 - 2 * i)) +
            ",";
    overheads +=
        "{\"ph\":\"X\",\"name\":\"l\",\"cat\":\"cuda_runtime\","
        "\"pid\":1,\"tid\":" +
        at + ",\"ts\":1,\"dur\":10,\"args\":{\"correlation\":" + at +
        "}},{\"ph\":\"X\",\"name\":\"o\",\"cat\":\"overhead\","
        "\"pid\":1,\"tid\":1,\"ts\":" +
        std::to_string(i + 100) + ",\"dur\":1},";
  }
  for (int i = 0; i < 40000; i++)
    ends += "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":50000},";
  ends.pop_back();
  overheads.pop_back();
  Imported of_ends(false), of_overheads(false);
  of_ends.ReadEvents(ends);
  EXPECT_EQ(of_ends.run().Total("unmatched"), 40000u);
  of_overheads.ReadEvents(overheads);
  EXPECT_EQ(of_overheads.run().Total("recorded"), 80000u);
}

TEST(ImportBadTest, DeliversWhatStandsBeforeDamageInGzip) {
  const std::string whole = Gzip(EveryKind());
  for (size_t len = 0; len < whole.size(); len += 3) {
    Imported cut, flipped;
    cut.Read(whole.substr(0, len));
    EXPECT_NE(cut.status, PPROF_STATUS_OK) << len;
    std::string damaged = whole;
    damaged[len] = static_cast<char>(damaged[len] ^ 0x10);
    flipped.Read(damaged);
  }
  Imported checksum;
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;
  checksum.Read(damaged);
  EXPECT_EQ(checksum.status, PPROF_STATUS_CORRUPT);
  EXPECT_NE(checksum.message.find("gzip"), std::string::npos);
  EXPECT_EQ(checksum.run().events.size(), 7u);
}

TEST(ImportBadTest, RefusesWhatIsNoTrace) {
  const char *const cases[] = {"",
                               "  \n ",
                               "{}",
                               "{\"a\":[{\"ph\":\"X\"}]}",
                               "{\"traceEvents\":{}}",
                               "{\"traceEvents\":7}",
                               "7",
                               "\"x\"",
                               "null",
                               "[nothing",
                               "{\"traceEvents\":[",
                               "hello",
                               "\x1f\x8b",
                               "\x1f\x8b\x08garbage",
                               "{\"a\":nan,\"traceEvents\":[]}"};
  for (const char *text : cases) {
    Imported trace;
    trace.Read(text);
    EXPECT_EQ(trace.status, PPROF_STATUS_INVALID) << text;
    EXPECT_NE(trace.message.find("@0x"), std::string::npos) << trace.message;
    EXPECT_TRUE(trace.runs.empty()) << text;
  }
  Imported missing;
  missing.ReadFile("/nonexistent/trace.json");
  EXPECT_EQ(missing.status, PPROF_STATUS_IO);
  missing.ReadFile("/tmp");
  EXPECT_EQ(missing.status, PPROF_STATUS_IO);
}

TEST(ImportBadTest, DeliversARunOfNoEvents) {
  for (const char *text : {"[]", "{\"traceEvents\":[]}"}) {
    Imported trace;
    trace.Read(text);
    EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
    EXPECT_EQ(trace.run().events.size(), 0u);
  }
}

TEST(ImportBadTest, SaysWhereSomethingFollows) {
  Imported trace;
  const std::string text = "[" + Range("a", "\"ts\":1,\"dur\":1") + "]";
  trace.Read(text + "\n x");
  EXPECT_EQ(trace.status, PPROF_STATUS_CORRUPT);
  char offset[32];
  snprintf(offset, sizeof offset, "@0x%zx: ", text.size() + 2);
  EXPECT_NE(trace.message.find(offset), std::string::npos) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 1u);
}

TEST(ImportBadTest, SaysWhereNestingIsTooDeep) {
  std::string deep =
      "[" + Range("a", "\"ts\":1,\"dur\":1") + "," +
      Range("b", "\"ts\":2,\"dur\":1,\"args\":{\"x\":" + std::string(300, '[') +
                     std::string(300, ']') + "}") +
      "]";
  Imported trace;
  trace.Read(deep);
  EXPECT_EQ(trace.status, PPROF_STATUS_CORRUPT);
  EXPECT_NE(trace.message.find("nested deeper than 256"), std::string::npos);
  EXPECT_EQ(trace.run().events.size(), 1u);
  Imported fits;
  fits.Read(
      "[" +
      Range("b", "\"ts\":2,\"dur\":1,\"args\":{\"x\":" + std::string(250, '[') +
                     std::string(250, ']') + "}") +
      "]");
  EXPECT_EQ(fits.status, PPROF_STATUS_OK);
  EXPECT_EQ(fits.run().The("b").attributes,
            "{\"x\":" + std::string(250, '[') + std::string(250, ']') + "}");
}

TEST(ImportBadTest, BearsWrongTypesInEveryField) {
  const char *const keys[] = {"ph",    "cat",  "name", "pid", "tid",
                              "ts",    "dur",  "id",   "id2", "bp",
                              "scope", "args", "s",    "tts"};
  const char *const args[] = {"correlation",
                              "correlation id",
                              "External id",
                              "bytes",
                              "flops",
                              "device",
                              "stream",
                              "start_time",
                              "end_time",
                              "Bytes",
                              "Total Allocated",
                              "Total Reserved",
                              "Device Type",
                              "Device Id",
                              "place",
                              "increase_bytes",
                              "op_name",
                              "step",
                              "queue_ns",
                              "device_error_ns",
                              "name",
                              "labels",
                              "flows"};
  const char *const values[] = {"null",
                                "true",
                                "-1",
                                "1e300",
                                "\"\"",
                                "\"text\"",
                                "[]",
                                "[1,[2]]",
                                "{}",
                                "{\"a\":{\"b\":1}}",
                                "123456789012345678901234567890"};
  std::string events;
  for (const char *ph :
       {"X", "B", "E", "b", "e", "n", "s", "f", "C", "i", "M"}) {
    for (const char *cat : {"kernel", "cpu_op", "Memcpy", "Node"}) {
      std::string head = std::string("{\"ph\":\"") + ph + "\",\"cat\":\"" +
                         cat +
                         "\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,"
                         "\"ts\":3,\"dur\":4,\"id\":5";
      for (const char *value : values) {
        for (const char *key : keys)
          events += head + ",\"" + key + "\":" + value + "},\n";
        for (const char *key : args)
          events += head + ",\"args\":{\"" + key + "\":" + value + "}},\n";
      }
    }
  }
  Imported trace;
  trace.ReadEvents(events + "{}");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
}

TEST(ImportBadTest, SkipsAbsurdTimes) {
  Imported trace;
  std::string events;
  for (const char *ts :
       {"1e400", "-1e400", "1e30", "-1e30", "4611686018427388", "\"NaN\"",
        "\"\"", "\"1 us\"", "null", "true", "[]", "{}", "\"1e\"", "\"--1\""})
    events += Range("bad", std::string("\"dur\":1,\"ts\":") + ts) + ",";
  for (const char *dur : {"1e400", "\"x\"", "null", "4611686018427388"})
    events += Range("bad", std::string("\"ts\":5,\"dur\":") + dur) + ",";
  events += Range("none", "\"dur\":1") + ",";
  trace.ReadEvents(events + Range("good", "\"ts\":7,\"dur\":1"));
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 1u);
  EXPECT_EQ(trace.run().Total("lost"), 19u);
  EXPECT_TRUE(trace.run().HasNote("19 events without a time"));
}

TEST(ImportBadTest, BearsTimesAtTheEdge) {
  Imported trace;
  trace.ReadEvents(Range("low", "\"ts\":-4611686018427387.903,\"dur\":-1e15") +
                   "," +
                   Range("high", "\"ts\":4611686018427387.904,\"dur\":0"));
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().The("low").event.start_ns, 0u);
  EXPECT_EQ(trace.run().The("high").event.start_ns, (uint64_t{1} << 63) - 1);
  EXPECT_EQ(trace.run().Total("invalid"), 1u);
}

TEST(ImportBadTest, CutsLongNames) {
  std::string name(4095, 'x');
  Imported trace;
  trace.ReadEvents(Range(name + "\xc3\xa9" + std::string(10 << 20, 'y'),
                         "\"ts\":1,\"dur\":1") +
                   "," + Range("b", "\"ts\":3,\"dur\":1"));
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  // The character that the border splits goes whole.
  EXPECT_EQ(trace.run().The(name).event.start_ns, 0u);
  EXPECT_TRUE(trace.run().HasNote("1 names cut"));
}

TEST(ImportBadTest, BearsLongTextsEverywhere) {
  std::string text(1 << 20, 'z');
  Imported trace;
  trace.ReadEvents(
      Range("a", "\"ts\":1,\"dur\":1,\"cat\":\"" + text + "\",\"id\":\"" +
                     text + "\",\"" + text + "\":1,\"args\":{\"" + text +
                     "\":\"v\",\"k\":[\"" + text.substr(0, 9000) + "\",\"" +
                     text.substr(0, 9000) + "\"],\"Call stack\":\"f\"}") +
      "," + Range("b", "\"ts\":1" + std::string(100000, '0') + ",\"dur\":1"));
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedEvent &a = trace.run().The("a");
  EXPECT_EQ(a.attributes,
            "{\"" + text.substr(0, 256) + "\":\"v\",\"Call stack\":\"f\"}");
  EXPECT_TRUE(trace.run().HasNote("1 events with attributes beyond"));
  EXPECT_EQ(trace.run().Total("lost"), 1u);
}

TEST(ImportBadTest, BearsZeroesAndBytesThatAreNoUtf8) {
  Imported trace;
  trace.ReadEvents(
      "{\"ph\":\"X\",\"name\":\"a\\u0000b\",\"cat\":\"c\\u0000d\",\"pid\":1,"
      "\"tid\":\"t\\u0000\",\"ts\":1,\"dur\":1},"
      "{\"ph\":\"X\",\"name\":\"x\xff\xc3\",\"pid\":1,\"tid\":\"\xfe\","
      "\"ts\":1,\"dur\":1}");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().The("a b").category, "UserDefined");
  EXPECT_EQ(trace.run().The("x\xff\xc3").event.end_ns, 1000u);
}

TEST(ImportBadTest, BoundsLanes) {
  std::string events;
  for (int i = 1; i <= 70000; i++)
    events +=
        "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":" + std::to_string(i) +
        ",\"ts\":1,\"dur\":2},";
  Imported trace;
  trace.ReadEvents(events + "{}");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.Total("recorded"), 70000u);
  EXPECT_TRUE(run.HasNote("4464 events of further threads"));
  size_t num_other = 0;
  for (const ImportedEvent &event : run.events) {
    if (event.lane != "<other>") continue;
    num_other++;
    EXPECT_EQ(event.event.flags, uint32_t{PPROF_FLAG_ASYNC});
  }
  EXPECT_EQ(num_other, 4464u);
}

TEST(ImportBadTest, BoundsProcesses) {
  std::string events;
  for (int i = 1; i <= 300; i++)
    events += "{\"ph\":\"X\",\"name\":\"a\",\"pid\":" + std::to_string(i) +
              ",\"tid\":1,\"ts\":1,\"dur\":2},";
  Imported trace;
  trace.ReadEvents(events + "{}");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.runs.size(), 256u);
  uint64_t recorded = 0;
  bool is_told = false;
  for (const ImportedRun &run : trace.runs) {
    recorded += run.Total("recorded");
    is_told |= run.HasNote("44 events of further processes");
  }
  EXPECT_EQ(recorded, 300u);
  EXPECT_TRUE(is_told);
}

TEST(ImportBadTest, BoundsNames) {
  std::string events;
  for (int i = 0; i < 66000; i++)
    events += "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n" +
              std::to_string(i) + "\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":0},";
  Imported trace;
  trace.ReadEvents(events +
                   "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\","
                   "\"pid\":0,\"tid\":1,\"ts\":1,\"dur\":5}");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.Total("names_overflowed"), 66001u - 65536u);
  EXPECT_EQ(run.Total("recorded"), 66001u);
  size_t num_kernels = 0, num_operators = 0;
  for (const ImportedEvent *event : run.Named("<other>")) {
    num_kernels += event->category == "Kernel" &&
                   event->event.kind == PPROF_KIND_DEVICE_RANGE;
    num_operators += event->category == "Operator";
  }
  EXPECT_EQ(num_kernels, 1u);
  EXPECT_EQ(num_operators, 464u);
}

TEST(ImportBadTest, BoundsAttributes) {
  std::string events;
  for (int i = 0; i < 66000; i++)
    events +=
        Range("a",
              "\"ts\":1,\"dur\":0,\"args\":{\"k\":" + std::to_string(i) + "}") +
        ",";
  Imported trace;
  trace.ReadEvents(events + "{}");
  EXPECT_TRUE(trace.run().HasNote("464 events without attributes"));
  EXPECT_EQ(trace.run().Total("recorded"), 66000u);
  EXPECT_EQ(trace.run().Total("lost"), 0u);
}

TEST(ImportBadTest, BoundsOpenRanges) {
  std::string events;
  const int num = (1 << 18) + 1000;
  for (int i = 0; i < num; i++)
    events += "{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":" +
              std::to_string(i) + "},";
  for (int i = 0; i < 2000; i++)
    events +=
        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(num + i) +
        "},";
  Imported trace(false);
  trace.ReadEvents(events + "{}");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.Total("recorded"), 1u << 18);
  EXPECT_EQ(run.Total("lost"), 1000u);
  EXPECT_EQ(run.Total("clipped"), (1u << 18) - 1000u);
  EXPECT_EQ(run.Total("unmatched"), 0u);
}

TEST(ImportBadTest, BoundsDepth) {
  std::string events;
  const int num = (1 << 18) + 500;
  for (int i = 0; i < num; i++)
    events += Range("a", "\"ts\":" + std::to_string(i) +
                             ",\"dur\":" + std::to_string(2 * (num - i))) +
              ",";
  Imported trace(false);
  trace.ReadEvents(events + "{}");
  EXPECT_EQ(trace.run().Total("recorded"), static_cast<uint64_t>(num));
  EXPECT_TRUE(trace.run().HasNote("500 ranges shown outside of the nesting"));
}

TEST(ImportBadTest, KeepsPromisesOfCheckpoints) {
  std::mt19937 random(7);
  std::string events;
  for (int i = 0; i < 250000; i++)
    events += "{\"ph\":\"X\",\"name\":\"a" + std::to_string(i % 7) +
              "\",\"pid\":1,\"tid\":" + std::to_string(i % 5 + 1) +
              ",\"ts\":" + std::to_string(random() % 1000000) +
              ",\"dur\":" + std::to_string(random() % 3000) + "},";
  // Kernels of a clock that is behind.
  for (int i = 0; i < 20000; i++) {
    std::string at = std::to_string(random() % 990000 + 5000);
    std::string id = ",\"args\":{\"correlation\":" + std::to_string(i + 1);
    events +=
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":1,"
        "\"tid\":9,\"ts\":" +
        at + ",\"dur\":0" + id +
        "}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
        "\"tid\":7,\"ts\":" +
        std::to_string(std::stoi(at) - 3000) + ",\"dur\":9" + id + "}},";
  }
  Imported trace(false);
  trace.ReadEvents(events + "{}");
  EXPECT_EQ(trace.run().checkpoints.size(), 2u);
  EXPECT_EQ(trace.run().Total("recorded"), 290000u);
}

// Of the n-th allocation none comes: the process ends and says why.
TEST(ImportBadTest, EndsWithoutMemory) {
  const std::string text = EveryKind();
  char path[] = "/tmp/pprof-import-test.XXXXXX";
  int fd = mkstemp(path);
  ASSERT_EQ(write(fd, text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  close(fd);
  int code = -1;
  for (uint64_t n = 1; n < 1000 && code != 0; n++) {
    pid_t child = fork();
    if (child == 0) {
      pprof_sink sink = {};
      sink.size = sizeof sink;
      ppi_mem_fail_at(n);
      pprof_status status = ppi_import_read(path, &sink, nullptr, nullptr);
      _exit(status == PPROF_STATUS_OK          ? 0
            : status == PPROF_STATUS_NO_MEMORY ? PPI_EXIT_INPUT
                                               : 1);
    }
    int ended;
    ASSERT_EQ(waitpid(child, &ended, 0), child);
    ASSERT_TRUE(WIFEXITED(ended)) << n;
    code = WEXITSTATUS(ended);
    ASSERT_TRUE(code == 0 || code == PPI_EXIT_INPUT) << n;
  }
  EXPECT_EQ(code, 0);
  unlink(path);
}

TEST(ImportBadTest, SurvivesRandomMutations) {
  std::mt19937 random(20260801);
  const std::string whole = EveryKind();
  const char bytes[] = "{}[]\",:0129.-+eE\\ut\n \xff";
  for (int i = 0; i < 4000; i++) {
    std::string text = whole;
    for (unsigned n = random() % 8 + 1; n > 0; n--) {
      size_t at = random() % text.size();
      size_t len = random() % 12;
      switch (random() % 5) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text[at] = bytes[random() % (sizeof bytes - 1)];
          break;
        case 2:
          text.erase(at, len);
          break;
        case 3:
          text.insert(at, text.substr(random() % text.size(), len * 9));
          break;
        default:
          text.insert(at, 1, bytes[random() % (sizeof bytes - 1)]);
      }
      if (text.empty()) text = "{";
    }
    Imported trace;
    trace.Read(text);
    if (trace.status != PPROF_STATUS_OK) {
      EXPECT_TRUE(trace.status == PPROF_STATUS_INVALID ||
                  trace.status == PPROF_STATUS_CORRUPT);
      EXPECT_NE(trace.message, "");
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << i << "\n" << text;
  }
}

}  // namespace
}  // namespace pprof_test
