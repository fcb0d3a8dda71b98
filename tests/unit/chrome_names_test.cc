// SPDX-License-Identifier: Apache-2.0
//
// Names in Chrome traces: which of several is shown, and how it is written.
#include <cstring>

#include "base/mem.h"
#include "chrome/chrome.h"
#include "chrome/chrome_state.h"
#include "tests/unit/chrome_trace.h"

namespace chrome_trace {
namespace {

TEST(ChromeTest, LatestThreadNameIsShown) {
  Trace trace;
  trace.Begin();
  trace.Add(Range(10, 30, 1));
  trace.Define(PPROF_DEFINITION_LANE, 1, "renamed", 0, 4242);
  trace.Finish();
  EXPECT_EQ(1, Count(Read(trace.path()), "{\"name\":\"renamed\""));
  EXPECT_EQ(0, Count(Read(trace.path()), "\"name\":\"main\""));
}

TEST(ChromeTest, UnknownNamesAreNumbers) {
  Trace trace;
  trace.Begin();
  pprof_event event = Range(10, 30, 9);
  event.site = 77;
  trace.Add(event);
  trace.Finish();
  EXPECT_EQ(1, Count(Read(trace.path()),
                     "\"name\":\"site 77\",\"cat\":\"UserDefined\""));
  EXPECT_EQ(1, Count(Read(trace.path()), "\"name\":\"thread 9\""));
  trace.Check();
}

TEST(ChromeTest, NamesAreEscaped) {
  Trace trace;
  trace.Begin();
  trace.Define(PPROF_DEFINITION_SITE, 1,
               "a\"b\\c\n\x01</script>\x7f\xe2\x80\xa8\xff\xc3\xa9\xc0\xaf"
               "\u202e\U000e0041");
  trace.Define(PPROF_DEFINITION_LANE, 1, "t\"\xed\xa0\x80", 0, 4242);
  trace.Add(Range(1, 2));
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text,
                     "\"a\\\"b\\\\c\\u000a\\u0001\\u003c/script>\\u007f\\u2028"
                     "\\ufffd\xc3\xa9\\ufffd\\ufffd\\u202e\\udb40\\udc41\""));
  EXPECT_EQ(1, Count(text, "{\"name\":\"t\\\"\\ufffd\\ufffd\\ufffd\""));
  EXPECT_EQ(1, Count(text, "\"host\":\"nod\\\"e\""));
  EXPECT_EQ(1, Count(text, "\"notes\":[\n\"device: opencl 0: \\\"none\\\"\"]"));
  trace.Check();
}

// What ranges of a site or row share is made once, until one of it changes.
TEST(ChromeTest, RangesShowTheLatestNamesAndTheirWindow) {
  Trace trace;
  trace.Begin();
  const std::string longest(2000, 'n');
  uint64_t at = 1000;
  auto add = [&](uint32_t window) {
    pprof_event event = Range(at, at + 500);
    event.window = window;
    trace.Add(event);
    at += 1000;
  };
  add(0);
  add(0);
  trace.Define(PPROF_DEFINITION_SITE, 1, "encode", 0);
  add(0);
  trace.Define(PPROF_DEFINITION_CATEGORY, 0, "Ours");
  add(4294967295);
  trace.Define(PPROF_DEFINITION_SITE, 1, "embed", 13);
  add(4294967295);
  trace.Define(PPROF_DEFINITION_SITE, 1, longest.c_str(), 13);
  add(7);
  trace.Finish();
  const std::string text = Read(trace.path());
  auto slice = [](const std::string &name, const char *category, int ts,
                  const char *window) {
    return "{\"ph\":\"X\",\"name\":\"" + name + "\",\"cat\":\"" + category +
           "\",\"ts\":" + std::to_string(ts) +
           ".000,\"dur\":0.500,\"pid\":4242,\"tid\":4242,\"args\":{"
           "\"window\":" +
           window + "}}";
  };
  EXPECT_EQ(1, Count(text, slice("decode", "UserDefined", 1, "0")));
  EXPECT_EQ(1, Count(text, slice("decode", "UserDefined", 2, "0")));
  EXPECT_EQ(1, Count(text, slice("encode", "UserDefined", 3, "0")));
  EXPECT_EQ(1, Count(text, slice("encode", "Ours", 4, "4294967295")));
  EXPECT_EQ(1, Count(text, slice("embed", "Inference", 5, "4294967295")));
  EXPECT_EQ(1, Count(text, slice(longest, "Inference", 6, "7")));
}

// An id may be another name's while slices of the former one wait.
TEST(ChromeTest, SlicesKeepTheNamesTheyCameUnder) {
  Trace trace;
  trace.Begin();
  for (uint64_t i = 0; i < 100; i++) {
    trace.Define(PPROF_DEFINITION_SITE, 2,
                 ("request " + std::to_string(i)).c_str(), 13);
    // Told once more, it is the same.
    trace.Define(PPROF_DEFINITION_SITE, 2,
                 ("request " + std::to_string(i)).c_str(), 13);
    trace.Add(Device(i * 100, i * 100 + 10, i * 100 + 20, i * 100 + 90));
    trace.Add(Async(i * 100, i * 100 + 150));
    if (i % 7 == 6) trace.Checkpoint(i * 100 + 100);
  }
  trace.Finish();
  const std::string text = Read(trace.path());
  for (uint64_t i = 0; i < 100; i++)
    EXPECT_EQ(2, Count(text, "\"request " + std::to_string(i) + "\"")) << i;
  EXPECT_EQ(100, Count(text, "\"decode\""));
  EXPECT_NE(std::string::npos, trace.Check().find("X=300"));
}

}  // namespace
}  // namespace chrome_trace
