// SPDX-License-Identifier: Apache-2.0
//
// What the events of a trace become. Times and places are typed by hand.
#include "imported.h"

namespace pprof_test {
namespace {

std::string X(const std::string &name, const std::string &ts,
              const std::string &dur, const std::string &more = "") {
  return "{\"ph\":\"X\",\"name\":\"" + name +
         "\",\"pid\":1,\"tid\":2,\"ts\":" + ts + ",\"dur\":" + dur + more + "}";
}

std::string At(const std::string &ph, const std::string &name,
               const std::string &ts, const std::string &more = "") {
  return "{\"ph\":\"" + ph + "\",\"name\":\"" + name +
         "\",\"pid\":1,\"tid\":2,\"ts\":" + ts + more + "}";
}

TEST(ImportTest, TakesCompleteEvents) {
  Imported trace;
  trace.ReadEvents(X("outer", "10", "5") + "," + X("inner", "11.5", "2.25"));
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedRun &run = trace.run();
  ASSERT_EQ(run.events.size(), 2u);
  EXPECT_EQ(run.events[0].name, "inner");
  EXPECT_EQ(run.events[0].event.start_ns, 1500u);
  EXPECT_EQ(run.events[0].event.end_ns, 3750u);
  EXPECT_EQ(run.events[0].event.depth, 1u);
  EXPECT_EQ(run.events[0].thread, 2u);
  EXPECT_EQ(run.events[1].name, "outer");
  EXPECT_EQ(run.events[1].event.end_ns, 5000u);
  EXPECT_EQ(run.events[1].event.depth, 0u);
  EXPECT_EQ(run.info.at("pid"), "1");
  EXPECT_EQ(run.info.at("clock"), "imported");
  EXPECT_EQ(run.windows, (std::vector<uint64_t>{0, 5000}));
  EXPECT_EQ(run.Total("recorded"), 2u);
  EXPECT_EQ(run.Total("lost"), 0u);
}

// The first ones keep their names, and say what they are a row with.
TEST(ImportTest, NumbersInAnnotationsFold) {
  std::string events;
  for (int i = 0; i < 100; i++) {
    const std::string number = std::to_string(i);
    if (i) events += ",";
    events += X("decode step " + number, std::to_string(10 * i), "1",
                ",\"cat\":\"user_annotation\"") +
              "," +
              X("gemm_" + number + "_tn", std::to_string(10 * i + 2), "1",
                ",\"cat\":\"cpu_op\"");
  }
  Imported trace;
  trace.ReadEvents(events);
  const ImportedRun &run = trace.run();
  ASSERT_EQ(200u, run.events.size());
  std::set<std::string> names;
  for (const ImportedEvent &event : run.events) names.insert(event.name);
  EXPECT_EQ(33u + 1 + 100, names.size()) << "33 and what they fold into";
  EXPECT_EQ(67u, run.Named("decode step {}").size());
  EXPECT_EQ(33u, run.folds.size());
  for (const auto &fold : run.folds) EXPECT_EQ("decode step {}", fold.second);
}

TEST(ImportTest, KeepsNanosecondsOfLargeTimes) {
  Imported trace;
  trace.ReadEvents(X("a", "4441230618699.139", "158.002") + "," +
                   X("b", "\"4441230618700.1395\"", "1e-3") + "," +
                   X("c", "4.4412306187002E12", "0.0004"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("a").event.end_ns, 158002u);
  // Half a nanosecond counts up.
  EXPECT_EQ(run.The("b").event.start_ns, 1001u);
  EXPECT_EQ(run.The("b").event.end_ns, 1002u);
  EXPECT_EQ(run.The("c").event.start_ns, 1061u);
  EXPECT_EQ(run.The("c").event.end_ns, 1061u);
}

TEST(ImportTest, TakesAListAlone) {
  Imported trace;
  trace.Read(" \n[" + X("a", "1", "2") + ", ]");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 1u);
}

TEST(ImportTest, TakesAListWithoutItsEnd) {
  Imported trace;
  trace.Read("[" + X("a", "1", "2") + ",\n");
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 1u);
  EXPECT_TRUE(trace.run().HasNote("not closed"));
}

TEST(ImportTest, PairsBeginsAndEnds) {
  Imported trace;
  trace.ReadEvents(At("B", "a", "0") + "," + At("B", "b", "1") + "," +
                   "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":4}," +
                   At("E", "a", "6") + "," + At("E", "x", "7") + "," +
                   At("B", "open", "8") + "," + X("c", "9", "3"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("b").event.end_ns, 4000u);
  EXPECT_EQ(run.The("b").event.depth, 1u);
  EXPECT_EQ(run.The("a").event.end_ns, 6000u);
  EXPECT_EQ(run.Total("unmatched"), 1u);
  EXPECT_EQ(run.The("open").event.end_ns, 12000u);
  EXPECT_EQ(run.The("open").event.flags, uint32_t{PPROF_FLAG_CLIPPED});
  EXPECT_EQ(run.The("c").event.depth, 1u);
  EXPECT_EQ(run.Total("clipped"), 1u);
}

TEST(ImportTest, KeepsRangesThatOverlapPartly) {
  Imported trace;
  trace.ReadEvents(X("p", "0", "100") + "," + X("a", "10", "10") + "," +
                   X("b", "15", "10") + "," + X("c", "16", "2"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("a").event.depth, 1u);
  EXPECT_EQ(run.The("a").event.end_ns, 20000u);
  EXPECT_EQ(run.The("b").event.depth, 1u);
  EXPECT_EQ(run.The("b").event.start_ns, 15000u);
  EXPECT_EQ(run.The("b").event.end_ns, 25000u);
  EXPECT_EQ(run.The("c").event.depth, 2u);
  EXPECT_TRUE(run.HasNote("1 ranges that overlap"));
}

TEST(ImportTest, PairsAsynchronousEventsById) {
  Imported trace;
  trace.ReadEvents(
      At("b", "q", "0", ",\"cat\":\"c\",\"id\":1") + "," +
      At("b", "q", "1", ",\"cat\":\"c\",\"id\":\"0x2\"") + "," +
      At("n", "step", "2", ",\"cat\":\"c\",\"id\":1") + "," +
      "{\"ph\":\"e\",\"cat\":\"c\",\"id\":1,\"pid\":1,\"tid\":9,\"ts\":3}," +
      At("e", "q", "5", ",\"cat\":\"c\",\"id\":\"0x2\"") + "," +
      At("S", "old", "6", ",\"cat\":\"c\",\"id\":7") + "," +
      At("F", "old", "8", ",\"cat\":\"c\",\"id\":7") + "," +
      At("b", "local", "6", ",\"cat\":\"c\",\"id2\":{\"local\":\"0x1\"}") +
      "," + At("e", "none", "9", ",\"cat\":\"c\",\"id\":99"));
  const ImportedRun &run = trace.run();
  auto q = run.Named("q");
  ASSERT_EQ(q.size(), 2u);
  EXPECT_EQ(q[0]->event.start_ns, 0u);
  EXPECT_EQ(q[0]->event.end_ns, 3000u);
  EXPECT_EQ(q[0]->thread, 2u);
  EXPECT_EQ(q[0]->event.flags, uint32_t{PPROF_FLAG_ASYNC});
  EXPECT_EQ(q[1]->event.end_ns, 5000u);
  EXPECT_EQ(run.The("step").event.kind, uint32_t{PPROF_KIND_MARK});
  EXPECT_EQ(run.The("old").event.end_ns, 8000u);
  EXPECT_EQ(run.The("local").event.flags,
            uint32_t{PPROF_FLAG_ASYNC | PPROF_FLAG_CLIPPED});
  EXPECT_EQ(run.Total("unmatched"), 1u);
}

TEST(ImportTest, GivesFlowsToTheRangesAroundThem) {
  Imported trace;
  const std::string flow = ",\"cat\":\"fwdbwd\",\"id\":77";
  trace.ReadEvents(X("f", "0", "10") + "," + X("g", "2", "3") + "," +
                   At("s", "x", "2", flow) + "," + X("h", "20", "5") + "," +
                   At("f", "x", "25", flow + ",\"bp\":\"e\"") + "," +
                   At("t", "x", "40", flow));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("g").flows, std::vector<uint64_t>{77});
  EXPECT_TRUE(run.The("f").flows.empty());
  EXPECT_EQ(run.The("h").flows, std::vector<uint64_t>{77});
  EXPECT_EQ(run.Total("flows_lost"), 0u);
  EXPECT_TRUE(run.HasNote("1 ends of arrows"));
  EXPECT_EQ(run.info.at("flows"), "links") << "autograd's are no requests";
  Imported other;
  other.ReadEvents(X("f", "0", "10") + "," + At("s", "x", "2", flow) + "," +
                   At("s", "x", "3", ",\"cat\":\"order\",\"id\":77"));
  EXPECT_EQ(other.run().info.count("flows"), 0u);
}

TEST(ImportTest, GivesARangeAFlowOnce) {
  Imported trace;
  const std::string flow = ",\"cat\":\"order\",\"id\":";
  trace.ReadEvents(X("f", "0", "10") + "," + At("s", "x", "2", flow + "7") +
                   "," + At("s", "x", "3", flow + "8") + "," +
                   At("t", "x", "4", flow + "7"));
  EXPECT_EQ(trace.run().The("f").flows.size(), 2u);
}

TEST(ImportTest, NamesOfOthersThanPaddleKeepTheirBrackets) {
  Imported trace;
  trace.ReadEvents(X("sleep[10 ms]", "0", "5") + "," +
                   X("sleep[20 ms]", "5", "5"));
  EXPECT_EQ(trace.run().Named("sleep[10 ms]").size(), 1u);
  EXPECT_EQ(trace.run().Named("sleep[20 ms]").size(), 1u);
}

TEST(ImportTest, CountersOfOneNameAreApartById) {
  Imported trace;
  trace.ReadEvents(
      At("C", "mem", "1", ",\"id\":0,\"args\":{\"v\":10}") + "," +
      At("C", "mem", "2", ",\"id\":\"b\",\"args\":{\"v\":20,\"w\":30}") + "," +
      At("C", "mem", "3", ",\"args\":{\"v\":40}"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("mem[0]").event.value, 10);
  EXPECT_EQ(run.The("mem[b]/v").event.value, 20);
  EXPECT_EQ(run.The("mem[b]/w").event.value, 30);
  EXPECT_EQ(run.The("mem").event.value, 40);
}

TEST(ImportTest, CountsValuesOfCountersThatAreNoNumbers) {
  Imported trace;
  trace.ReadEvents(
      At("C", "c", "1",
         ",\"args\":{\"a\":\"12\",\"b\":true,\"c\":{\"d\":[1]},\"e\":5}") +
      "," + At("C", "none", "2") + "," + At("C", "empty", "3", ",\"args\":{}"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("c").event.value, 5);
  EXPECT_EQ(run.Total("lost"), 5u);
  EXPECT_TRUE(run.HasNote("3 values of counters that are no numbers"));
  EXPECT_TRUE(run.HasNote("2 events without what an event needs"));
}

TEST(ImportTest, EndsHaveArgsToo) {
  Imported trace;
  const std::string id = ",\"cat\":\"c\",\"id\":1";
  trace.ReadEvents(
      At("B", "late", "0") + "," +
      At("E", "", "9", ",\"args\":{\"bytes\":64,\"flops\":8,\"rows\":7}") +
      "," + At("B", "both", "10", ",\"args\":{\"bytes\":1,\"rows\":1}") + "," +
      At("E", "", "19", ",\"args\":{\"bytes\":2,\"rows\":2}") + "," +
      At("b", "async", "20", id) + "," +
      At("e", "async", "29", id + ",\"args\":{\"rows\":3}"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("late").work.bytes, 64);
  EXPECT_EQ(run.The("late").work.flops, 8);
  EXPECT_EQ(run.The("late").attributes, "{\"rows\":7}");
  EXPECT_EQ(run.The("both").work.bytes, 2);
  EXPECT_EQ(run.The("both").attributes, "{\"rows\":1}");
  EXPECT_EQ(run.The("async").attributes, "{\"rows\":3}");
  EXPECT_TRUE(run.HasNote("1 ends of ranges without their attributes"));
}

TEST(ImportTest, TakesFlowsOfNumberZero) {
  for (const std::string cat : {"fwdbwd", "order"}) {
    Imported trace;
    const std::string id = ",\"cat\":\"" + cat + "\",\"id\":0";
    trace.ReadEvents(X("f", "0", "10") + "," + At("s", "x", "2", id) + "," +
                     X("g", "20", "5") + "," + At("f", "x", "21", id) + "," +
                     At("s", "x", "3", ",\"cat\":\"" + cat + "\""));
    const ImportedRun &run = trace.run();
    ASSERT_EQ(run.The("f").flows.size(), 1u) << cat;
    EXPECT_EQ(run.The("f").flows, run.The("g").flows) << cat;
    EXPECT_EQ(run.Total("lost"), 1u) << "one has no number";
  }
}

TEST(ImportTest, OfTheProfilerIsOnlyWhatIsCalledSo) {
  Imported trace;
  const std::string cat = ",\"cat\":\"trace\"";
  trace.ReadEvents(X("load", "10", "5", cat) + "," +
                   X("PyTorch Profiler (0)", "0", "50", cat));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.events.size(), 1u);
  EXPECT_EQ(run.The("load").category, "UserDefined");
  EXPECT_EQ(run.windows, (std::vector<uint64_t>{0, 50000}));
}

TEST(ImportTest, MakesACounterOfEachNumber) {
  Imported trace;
  trace.ReadEvents(
      At("C", "load", "1", ",\"args\":{\"value\":3.5}") + "," +
      At("C", "mem", "2", ",\"args\":{\"used\":1,\"x\":\"t\",\"free\":2}"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("load").event.kind, uint32_t{PPROF_KIND_COUNTER});
  EXPECT_EQ(run.The("load").event.value, 3.5);
  EXPECT_EQ(run.The("mem/used").event.value, 1);
  EXPECT_EQ(run.The("mem/free").event.value, 2);
  EXPECT_EQ(run.events.size(), 3u);
}

TEST(ImportTest, MakesMarksOfInstants) {
  Imported trace;
  trace.ReadEvents(At("i", "a", "1") + "," + At("I", "b", "2") + "," +
                   At("R", "c", "3"));
  for (const ImportedEvent &event : trace.run().events)
    EXPECT_EQ(event.event.kind, uint32_t{PPROF_KIND_MARK});
  EXPECT_EQ(trace.run().events.size(), 3u);
}

TEST(ImportTest, CountsKindsItDoesNotKnow) {
  Imported trace;
  trace.ReadEvents(At("P", "sample", "1") + "," + At("v", "dump", "1") + "," +
                   At("", "none", "1") + ",{\"name\":\"x\"},7,[1],{}");
  EXPECT_EQ(trace.run().Total("lost"), 6u);
  EXPECT_TRUE(trace.run().HasNote("2 events of kinds"));
  EXPECT_TRUE(trace.run().HasNote("4 events without what an event needs"));
}

TEST(ImportTest, NamesThreadsAndProcesses) {
  Imported trace;
  trace.ReadEvents(
      X("a", "1", "1") +
      ",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,"
      "\"args\":{\"name\":\"main\"}},"
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,"
      "\"args\":{\"name\":\"python3\"}}");
  EXPECT_EQ(trace.run().The("a").lane, "main");
  EXPECT_EQ(trace.run().info.at("command"), "python3");
}

TEST(ImportTest, GivesIdsThatAreNoNumbersNumbersOfTheirOwn) {
  Imported trace;
  trace.ReadEvents(
      "{\"ph\":\"X\",\"name\":\"a\",\"pid\":\"P\",\"tid\":\"T\",\"ts\":1,"
      "\"dur\":1},{\"ph\":\"X\",\"name\":\"b\",\"pid\":\"P\",\"tid\":\"U\","
      "\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"c\",\"pid\":\"P\","
      "\"tid\":0,\"ts\":1,\"dur\":1}");
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("a").lane, "T");
  EXPECT_EQ(run.The("c").lane, "thread 0");
  std::set<uint64_t> threads = {run.The("a").thread, run.The("b").thread,
                                run.The("c").thread, 0};
  EXPECT_EQ(threads.size(), 4u);
}

TEST(ImportTest, DeliversProcessesOneAfterTheOther) {
  Imported trace;
  trace.ReadEvents(
      "{\"ph\":\"X\",\"name\":\"b\",\"pid\":20,\"tid\":1,\"ts\":1,\"dur\":1},"
      "{\"ph\":\"X\",\"name\":\"a\",\"pid\":3,\"tid\":1,\"ts\":5,\"dur\":2},"
      "{\"ph\":\"Z\",\"name\":\"?\",\"pid\":3,\"tid\":1,\"ts\":5}");
  ASSERT_EQ(trace.runs.size(), 2u);
  EXPECT_EQ(trace.runs[0].info.at("pid"), "3");
  EXPECT_EQ(trace.runs[0].The("a").event.start_ns, 4000u);
  EXPECT_EQ(trace.runs[1].info.at("pid"), "20");
  EXPECT_EQ(trace.runs[1].The("b").event.start_ns, 0u);
  EXPECT_NE(trace.runs[0].info.at("uuid"), trace.runs[1].info.at("uuid"));
  EXPECT_EQ(trace.runs[0].Total("lost") + trace.runs[1].Total("lost"), 1u);
}

TEST(ImportTest, GivesEachProcessANumberOfItsOwn) {
  const std::string more = "\"name\":\"a\",\"tid\":1,\"ts\":1,\"dur\":1}";
  std::string events;
  const char *const pids[] = {"\"x\"", "\"y\"", "1", "2", "16777216", "-1"};
  for (const char *pid : pids)
    events += std::string(events.empty() ? "" : ",") +
              "{\"ph\":\"X\",\"pid\":" + pid + "," + more;
  Imported trace;
  trace.ReadEvents(events);
  ASSERT_EQ(trace.runs.size(), 6u);
  std::set<std::string> numbers, uuids;
  for (const ImportedRun &run : trace.runs) {
    numbers.insert(run.info.at("pid"));
    uuids.insert(run.info.at("uuid"));
  }
  EXPECT_EQ(numbers.size(), 6u);
  EXPECT_EQ(uuids.size(), 6u);
  EXPECT_EQ(trace.runs[4].info.at("command"), "x");
  EXPECT_EQ(trace.runs[4].info.at("pid"), "16777217");
}

TEST(ImportTest, GivesTheSameTraceTheSameIdentity) {
  Imported a, b, c, packed;
  const std::string text = "[" + X("a", "1", "1") + "]";
  a.Read(text);
  b.Read(text);
  c.Read("[" + X("b", "1", "1") + "]");
  packed.Read(Gzip(text));
  EXPECT_EQ(a.run().info.at("uuid").size(), 32u);
  EXPECT_EQ(a.run().info.at("uuid"), b.run().info.at("uuid"));
  EXPECT_NE(a.run().info.at("uuid"), c.run().info.at("uuid"));
  EXPECT_EQ(a.run().info.at("uuid"), packed.run().info.at("uuid"));
}

TEST(ImportTest, KeepsAttributesOncePerText) {
  Imported trace;
  trace.ReadEvents(
      X("a", "1", "1",
        ",\"args\":{\"Ev Idx\":1,\"Input Dims\":[[2,3],[]],\"External id\":4,"
        "\"t\":\"q\\\"\\u0001\\n\",\"o\":{\"k\":[true,null,1.5]}}") +
      "," +
      X("b", "3", "1",
        ",\"args\":{\"Input Dims\":[[2,3],[]],\"t\":\"q\\\"\\u0001\\n\","
        "\"o\":{\"k\":[true,null,1.5]},\"Ev Idx\":2}") +
      "," + X("c", "5", "1", ",\"args\":{\"Ev Idx\":2}"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("a").attributes,
            "{\"Input Dims\":[[2,3],[]],\"t\":\"q\\\"\\u0001\\u000a\","
            "\"o\":{\"k\":[true,null,1.5]}}");
  EXPECT_EQ(run.The("a").event.attributes, run.The("b").event.attributes);
  EXPECT_EQ(run.The("c").event.attributes, 0u);
}

TEST(ImportTest, StatesWork) {
  Imported trace;
  trace.ReadEvents(X("a", "1", "1", ",\"args\":{\"flops\":128,\"bytes\":64}"));
  EXPECT_EQ(trace.run().The("a").work.flops, 128);
  EXPECT_EQ(trace.run().The("a").work.bytes, 64);
}

TEST(ImportTest, ReadsGzipOfSeveralMembers) {
  const std::string text =
      "[" + X("a", "1", "1") + "," + X("b", "3", "1") + "]";
  Imported trace;
  trace.Read(Gzip(text.substr(0, 30)) + Gzip(text.substr(30)) +
             std::string(20, '\0'));
  EXPECT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 2u);
}

// What zlib inflates of it: all that stands in front of the damage.
std::string Inflated(const std::string &packed, size_t room) {
  std::string out(room, '\0');
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef *>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_NE(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  inflateEnd(&stream);
  return out;
}

// Of several blocks, whichever library inflates them first.
TEST(ImportTest, DamageInGzipCostsNoByteInFrontOfIt) {
  std::string text = "[";
  for (int i = 0; i < 20000; i++)
    text +=
        X("a" + std::to_string(i * 7919 % 5000), std::to_string(10 * i), "5") +
        ",\n";
  // Level 0 copies blocks of 65535 bytes, each behind 5 of its own. The sixth
  // one's are damaged: igzip has little room then, and keeps the fifth one
  // back.
  const std::string packed = Gzip(text), copied = Gzip(text, 0);
  const std::pair<std::string, size_t> cases[] = {{packed, packed.size() / 2},
                                                  {packed, packed.size() - 900},
                                                  {copied, 10 + 5 * 65540}};
  for (const auto &[whole, place] : cases) {
    std::string damaged = whole;
    for (size_t i = 0; i < 40; i++) damaged[place + i] = '\xff';
    Imported cut(false), plain(false);
    cut.Read(damaged);
    plain.Read(Inflated(damaged, text.size()));
    EXPECT_EQ(cut.status, PPROF_STATUS_CORRUPT);
    EXPECT_GT(cut.run().Total("recorded"), 1000u);
    EXPECT_EQ(cut.run().Total("recorded"), plain.run().Total("recorded"));
  }
}

TEST(ImportTest, TellsATraceByItsFirstBytes) {
  struct {
    std::string bytes;
    bool is_trace;
  } cases[] = {{"{}", true},       {" \n\t[", true},
               {"\x1f\x8b", true}, {"\xef\xbb\xbf[", true},
               {"", false},        {"PPROF", false},
               {"  x", false},     {"\x1f", false}};
  for (const auto &each : cases) {
    char path[] = "/tmp/pprof-import-test.XXXXXX";
    int fd = mkstemp(path);
    ASSERT_EQ(write(fd, each.bytes.data(), each.bytes.size()),
              static_cast<ssize_t>(each.bytes.size()));
    close(fd);
    EXPECT_EQ(ppi_import_is_trace(path), each.is_trace) << each.bytes;
    unlink(path);
  }
  EXPECT_FALSE(ppi_import_is_trace("/nonexistent"));
}

TEST(ImportTest, TakesNothingFromAPipe) {
  int ends[2];
  char byte;
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "{", 1), 1);
  const std::string path = "/proc/self/fd/" + std::to_string(ends[0]);
  EXPECT_FALSE(ppi_import_is_trace(path.c_str()));
  close(ends[1]);
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
}

TEST(ImportTest, AnswersWhatTheSinkAnswers) {
  char path[] = "/tmp/pprof-import-test.XXXXXX";
  int fd = mkstemp(path);
  std::string text = "[" + X("a", "1", "1") + "]";
  ASSERT_EQ(write(fd, text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  close(fd);
  pprof_sink sink = {};
  sink.size = sizeof sink;
  sink.begin = [](pprof_sink *, const pprof_run_info *) {
    return PPROF_STATUS_UNSUPPORTED;
  };
  EXPECT_EQ(ppi_import_read(path, &sink, nullptr, nullptr),
            PPROF_STATUS_UNSUPPORTED);
  unlink(path);
}

}  // namespace
}  // namespace pprof_test
