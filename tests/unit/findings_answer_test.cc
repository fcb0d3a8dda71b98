// SPDX-License-Identifier: Apache-2.0
//
// The line of the answer.
#include <deque>

#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

// 20 steps of 10 ms: a millisecond of one stage, `ms` of another.
EventFeed Steps(uint64_t ms, const pprof_cpu_use *use, uint32_t category) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t now_ns = 10 * i * kMs;
    OnHost(&feed, 1, "decode", now_ns, now_ns + kMs);
    feed.Range(1, "classify", category, now_ns + kMs, now_ns + (1 + ms) * kMs)
        .cpu = use;
    feed.Step(now_ns, now_ns + 10 * kMs);
  }
  feed.AddWindow(0, 200 * kMs);
  return feed;
}

// Lives as long as the test.
const pprof_cpu_use *Computing(uint64_t user_ns) {
  static std::deque<pprof_cpu_use> uses;
  pprof_cpu_use use = {};
  use.known = PPROF_CPU_TIMES;
  use.user_ns = user_ns;
  uses.push_back(use);
  return &uses.back();
}

std::string AnswerOf(EventFeed feed) {
  return FindingsReport(&feed).all().answer;
}

TEST(FindingsAnswerTest, IsTheGreatestStage) {
  EXPECT_EQ(
      "classify takes 7.00 ms of 10.0 ms a step (70 %), steadily; whether it "
      "computes or waits was not recorded (PPROF_SET='cpu=[\"*\"]' records "
      "it).",
      AnswerOf(Steps(7, nullptr, PPROF_CATEGORY_USER_DEFINED)));
}

// As where no device is there that could time it.
TEST(FindingsAnswerTest, ADeviceRangeWithoutATimeIsOneOfItsThread) {
  EventFeed host = Steps(7, nullptr, PPROF_CATEGORY_USER_DEFINED);
  EventFeed untimed = FindingsFeed(true);
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t now_ns = 10 * i * kMs;
    OnHost(&untimed, 1, "decode", now_ns, now_ns + kMs);
    pprof_event &event = untimed.OnDevice(
        1, 1, "classify", PPROF_CATEGORY_USER_DEFINED, now_ns + kMs, 0, 0);
    event.end_ns = now_ns + 8 * kMs;
    event.flags = PPROF_FLAG_NO_DEVICE_TIME;
    untimed.Step(now_ns, now_ns + 10 * kMs);
  }
  untimed.AddWindow(0, 200 * kMs);
  FindingsReport of_host(&host), of_untimed(&untimed);
  EXPECT_STRNE("", of_host.figures()->limit.sentence);
  EXPECT_STREQ(of_host.figures()->limit.sentence,
               of_untimed.figures()->limit.sentence);
}

// Nothing of ours runs in the program that made the trace.
TEST(FindingsAnswerTest, OfATraceAsksForNoRecording) {
  EventFeed feed = Steps(7, nullptr, PPROF_CATEGORY_USER_DEFINED);
  feed.Total(PPI_TOTAL_OWN_COST, 0);
  EXPECT_EQ(
      "classify takes 7.00 ms of 10.0 ms a step (70 %), steadily; whether it "
      "computes or waits was not recorded.",
      AnswerOf(feed));
}

TEST(FindingsAnswerTest, SaysWhetherItComputes) {
  const struct {
    uint64_t user_ns;
    const char *what;
  } cases[] = {{6790 * kUs, "computes (97 %"},
               {3500 * kUs, "computes and waits (50 %"},
               {700 * kUs, "waits (10 %"}};
  for (const auto &each : cases) {
    pprof_cpu_use use = {};
    use.known = PPROF_CPU_TIMES;
    use.user_ns = each.user_ns;
    EXPECT_EQ("classify takes 7.00 ms of 10.0 ms a step (70 %), steadily; it " +
                  std::string(each.what) + " of its time on a processor).",
              AnswerOf(Steps(7, &use, PPROF_CATEGORY_USER_DEFINED)));
  }
}

TEST(FindingsAnswerTest, ARunQueueIsNoWaitingForSomething) {
  const struct {
    uint64_t user_ns, run_queue_ns;
    const char *what, *next;
  } cases[] = {
      {3500 * kUs, 3150 * kUs,
       "it computes (50 % of its time on a processor), and waits for a free "
       "one (45 %).",
       "make its code cheaper: perf, or a profile by lines, says where."},
      {910 * kUs, 6090 * kUs,
       "it computes (13 % of its time on a processor), and waits for a free "
       "one (87 %).",
       "use fewer threads, give the process more processors, or move its "
       "neighbours away."},
      {1050 * kUs, 2100 * kUs,
       "it computes and waits (15 % of its time on a processor), and waits for "
       "a free one (30 %).",
       "use fewer threads, give the process more processors, or move its "
       "neighbours away."},
  };
  for (const auto &each : cases) {
    pprof_cpu_use use = {};
    use.known = PPROF_CPU_TIMES | PPROF_CPU_RUN_QUEUE;
    use.user_ns = each.user_ns;
    use.run_queue_ns = each.run_queue_ns;
    EventFeed feed = Steps(7, &use, PPROF_CATEGORY_USER_DEFINED);
    const std::string answer = AnswerOf(feed);
    EXPECT_NE(std::string::npos, answer.find(each.what)) << answer;
    EXPECT_STREQ(each.next, FindingsReport(&feed).Get("dominates").next);
  }
}

// 59 steps of 10 us and one of 5 s, which are in a stage, waiting for others,
// in no stage, or on a device. The mean, 83 ms, is no step's.
TEST(FindingsAnswerTest, AnOutlierIsNamedWhereverItsTimeIs) {
  const struct {
    uint32_t category;
    bool is_on_device;
    const char *answer;
  } cases[] = {
      {PPROF_CATEGORY_USER_DEFINED, false, "work takes %s; whether "},
      {PPROF_CATEGORY_COMMUNICATION, false, "%s is waiting for others, in "},
      {PPROF_CATEGORY_PROFILE_STEP, false, "%s lie in no stage: mark "},
      {PPROF_CATEGORY_INFERENCE, true, " The greatest part is work: %s."},
  };
  const std::string part =
      "10.0 us of a usual step, and up to 5.00 s in 1 of 60 (100 % of its "
      "time)";
  for (const auto &each : cases) {
    EventFeed feed = FindingsFeed(each.is_on_device);
    uint64_t now_ns = 0;
    for (uint64_t i = 0; i < 60; i++) {
      const uint64_t from_ns = now_ns;
      now_ns += i == 30 ? 5000 * kMs : 10 * kUs;
      feed.Step(from_ns, now_ns);
      if (each.is_on_device)
        OnGpu(&feed, 1, "work", from_ns, from_ns, now_ns);
      else if (each.category != PPROF_CATEGORY_PROFILE_STEP)
        feed.Range(1, "work", each.category, from_ns, now_ns);
    }
    feed.AddWindow(0, now_ns);
    std::string expected = each.answer;
    expected.replace(expected.find("%s"), 2, part);
    const std::string answer = AnswerOf(feed);
    EXPECT_NE(std::string::npos, answer.find(expected)) << answer;
  }
}

// Too few requests for a verdict, of two stages: 2 ms, `gap_ms` of nothing,
// 4 ms; one each 4 ms.
EventFeed Line(uint64_t gap_ms) {
  EventFeed feed = FindingsFeed(false);
  uint64_t now_ns = 0;
  for (uint64_t i = 0; i < 4; i++, now_ns += 4 * kMs) {
    const uint64_t rank_ns = now_ns + (2 + gap_ms) * kMs;
    OfRequest(&OnHost(&feed, 1, "parse", now_ns, now_ns + 2 * kMs), i + 1);
    OfRequest(&OnHost(&feed, 2, "rank", rank_ns, rank_ns + 4 * kMs), i + 1);
  }
  feed.AddWindow(0, now_ns + (6 + gap_ms) * kMs);
  return feed;
}

TEST(FindingsAnswerTest, MayBeALineBeforeAStage) {
  EXPECT_EQ(
      "14.0 ms of 20.0 ms a request (70 %) lie between stages, most in line "
      "before rank begins.",
      AnswerOf(Line(14)));
}

// 20 steps of 10 ms: in 9.8 ms of "image" two others, of so many.
EventFeed Wrapped(uint64_t decode_ms, uint64_t classify_ms) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t now_ns = 10 * i * kMs + 100 * kUs;
    OnHost(&feed, 1, "decode", now_ns, now_ns + decode_ms * kMs);
    now_ns += decode_ms * kMs;
    pprof_event &inner =
        OnHost(&feed, 1, "classify", now_ns, now_ns + classify_ms * kMs);
    inner.cpu = Computing(classify_ms * kMs);
    OnHost(&feed, 1, "image", 10 * i * kMs, 10 * i * kMs + 9800 * kUs);
    feed.Step(10 * i * kMs, 10 * (i + 1) * kMs);
  }
  feed.AddWindow(0, 200 * kMs);
  return feed;
}

TEST(FindingsAnswerTest, NamesWhatCostsInsideAStageAroundAll) {
  EventFeed feed = Wrapped(2, 7);
  FindingsReport report(&feed);
  EXPECT_STREQ(
      "classify, inside image, takes 7.00 ms of 10.0 ms a step (70 %), "
      "steadily; it computes (100 % of its time on a processor).",
      report.all().answer);
  EXPECT_EQ("classify, inside image, takes 7.00 ms of 10.0 ms a step (70 %).",
            report.Text("dominates"));
  // The line says all that these do.
  EXPECT_TRUE(report.Get("dominates").in_answer);
  EXPECT_TRUE(report.Get("computes").in_answer);
}

// 20 steps of 10 ms: "image", in it "classify", "conv" and, of 7 ms, `gemm_ms`
// of "gemm".
EventFeed Deep(uint64_t gemm_ms) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < 20; i++) {
    const uint64_t from_ns = 10 * i * kMs, to_ns = from_ns + 10 * kMs;
    OnHost(&feed, 1, "gemm", to_ns - gemm_ms * kMs - 300 * kUs,
           to_ns - 300 * kUs);
    OnHost(&feed, 1, "conv", from_ns + 2700 * kUs, to_ns - 200 * kUs);
    OnHost(&feed, 1, "classify", from_ns + 1000 * kUs, to_ns - 100 * kUs);
    OnHost(&feed, 1, "image", from_ns, to_ns);
    feed.Step(from_ns, to_ns);
  }
  feed.AddWindow(0, 200 * kMs);
  return feed;
}

TEST(FindingsAnswerTest, NamesWhatCostsSeveralLevelsInside) {
  // Of 8.9 ms in classify.
  EXPECT_EQ(0u, AnswerOf(Deep(6)).find(
                    "classify, inside image, takes 8.90 ms of 10.0 ms a step "
                    "(89 %), steadily, 67 % of it in conv / gemm; whether"))
      << AnswerOf(Deep(6));
  EXPECT_EQ(0u, AnswerOf(Deep(3)).find(
                    "classify, inside image, takes 8.90 ms of 10.0 ms a step "
                    "(89 %), steadily, 80 % of it in conv; whether"))
      << AnswerOf(Deep(3));
}

// Its only call is cut: how much of it lies in what is inside is not known.
TEST(FindingsAnswerTest, NamesNothingInsideWhatWasCut) {
  EventFeed feed = FindingsFeed(false);
  OnHost(&feed, 1, "handle", 1 * kMs, 4 * kMs);
  OnHost(&feed, 1, "serve", 0, 10 * kMs).flags |= PPROF_FLAG_CLIPPED;
  feed.AddWindow(0, 10 * kMs);
  FindingsReport report(&feed);
  EXPECT_STREQ(
      "serve takes 10.0 ms of 10.0 ms of the run (100 %); whether it computes "
      "or waits was not recorded (PPROF_SET='cpu=[\"*\"]' records it).",
      report.all().answer);
  EXPECT_STREQ("look into serve first: mark what it consists of.",
               report.Get("dominates").next);
}

// A window in which nothing was marked is another thing.
TEST(FindingsAnswerTest, SaysThatNoWindowOpened) {
  EventFeed none = FindingsFeed(true), empty = FindingsFeed(true);
  EXPECT_EQ(
      "Nothing was recorded: no window opened. `capture` in the configuration "
      "says when one does (docs/capture.md).",
      AnswerOf(none));
  empty.AddWindow(0, 10 * kMs);
  EXPECT_EQ(
      "10.0 ms of 10.0 ms of the run (100 %) lie in no stage: mark what "
      "happens there.",
      AnswerOf(empty));
}

// A line for each shape that a run may have.
TEST(FindingsAnswerTest, HasWordsForOddRuns) {
  EventFeed recursive = FindingsFeed(false), alone = FindingsFeed(false);
  EventFeed no_time = FindingsFeed(false), no_name = FindingsFeed(false);
  OnHost(&recursive, 1, "walk", 0, 10 * kMs);
  OnHost(&recursive, 1, "walk", 1 * kMs, 10 * kMs);
  recursive.AddWindow(0, 10 * kMs);
  EXPECT_EQ(0u, AnswerOf(recursive).find("walk takes 10.0 ms of 10.0 ms of"));
  OfRequest(&OnHost(&alone, 1, "request", 0, 5 * kMs), 1);
  alone.AddWindow(0, 10 * kMs);
  EXPECT_EQ(0u, AnswerOf(alone).find("request takes 5.00 ms of 5.00 ms a "));
  OfRequest(&OnHost(&alone, 1, "unpack", 5 * kMs, 9 * kMs), 2);
  EXPECT_EQ(0u, AnswerOf(alone).find("request takes 2.50 ms of 4.50 ms a "));
  no_time.Step(0, 0);
  no_time.AddWindow(0, 10 * kMs);
  EXPECT_EQ("", AnswerOf(no_time));
  OnHost(&no_name, 1, "", 0, 10 * kMs);
  no_name.AddWindow(0, 10 * kMs);
  EXPECT_EQ(0u, AnswerOf(no_name).find("(no name) takes 10.0 ms of"));
}

TEST(FindingsAnswerTest, NamesTheStageThatHasMoreThanWhatIsInIt) {
  // 4.8 ms are its own, 4 the greatest part's.
  EXPECT_EQ(0u, AnswerOf(Wrapped(1, 4)).find("image takes 9.80 ms of"));
}

TEST(FindingsAnswerTest, OfManyEqualPartsNoneIsNamed) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < 20; i++) {
    for (uint64_t k = 0; k < 10; k++)
      OnHost(&feed, 1, "part" + std::to_string(k),
             (10 * i + k) * kMs + 100 * kUs, (10 * i + k + 1) * kMs);
    OnHost(&feed, 1, "image", 10 * i * kMs, 10 * (i + 1) * kMs);
    feed.Step(10 * i * kMs, 10 * (i + 1) * kMs);
  }
  feed.AddWindow(0, 200 * kMs);
  EXPECT_EQ(0u, AnswerOf(feed).find("image takes 10.0 ms of 10.0 ms a step"));
}

TEST(FindingsAnswerTest, MayBeThatNobodyWorks) {
  EXPECT_EQ(
      "7.00 ms of 10.0 ms a step (70 %) is waiting for others, in classify.",
      AnswerOf(Steps(7, nullptr, PPROF_CATEGORY_COMMUNICATION)));
  EXPECT_EQ(
      "7.00 ms of 10.0 ms a step (70 %) lie in no stage: mark what happens "
      "there.",
      AnswerOf(Steps(2, nullptr, PPROF_CATEGORY_USER_DEFINED)));
}

TEST(FindingsAnswerTest, IsTheDeviceThatSetsThePace) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 20; i++) {
    OnGpu(&feed, 1, "model", 10 * i * kMs, 10 * i * kMs, (10 * i + 9) * kMs);
    feed.Step(10 * i * kMs, 10 * (i + 1) * kMs);
  }
  feed.AddWindow(0, 200 * kMs);
  EXPECT_EQ(
      "gpu:0 is the limit: busy 90 % of the steps' time. The greatest part "
      "is model: 9.00 ms of 10.0 ms a step (90 %).",
      AnswerOf(feed));
  EXPECT_TRUE(FindingsReport(&feed).Get("dominates").in_answer);
}

TEST(FindingsAnswerTest, IsAQueue) {
  EventFeed feed = FindingsFeed(true);
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t now_ns = 12 * i * kMs, start_ns = now_ns + 24 * kMs;
    OfRequest(&OnGpu(&feed, 1, "model", now_ns, start_ns, start_ns + 10 * kMs),
              i + 1);
  }
  feed.AddWindow(0, 742 * kMs);
  // 20 of 24 ms, of the second 10 and of the first 0: 1170 of 60 * 34 ms.
  EXPECT_EQ(
      "19.5 ms of 34.0 ms a request (57 %) is queueing for gpu:0, which serves "
      "others.",
      AnswerOf(feed));
}

TEST(FindingsAnswerTest, SaysWhyNothingStandsOut) {
  EventFeed feed = FindingsFeed(false);
  feed.AddWindow(0, 0);
  FindingsReport nothing(&feed);
  EXPECT_STREQ("", nothing.all().answer);
  EXPECT_EQ(0u, nothing.all().num);
  EXPECT_EQ(0u, std::string(nothing.all().nothing).find("Nothing stands out"));
}

// Three stages of a third each.
TEST(FindingsAnswerTest, OfWhatIsAlikeTheFiguresAreSaid) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < 40; i++) {
    uint64_t now_ns = i * 30 * kMs;
    OnHost(&feed, 1, "a", now_ns, now_ns + 10 * kMs);
    OnHost(&feed, 1, "b", now_ns + 10 * kMs, now_ns + 20 * kMs);
    OnHost(&feed, 1, "c", now_ns + 20 * kMs, now_ns + 30 * kMs);
    feed.Step(now_ns, now_ns + 30 * kMs);
  }
  feed.AddWindow(0, 1200 * kMs);
  FindingsReport report(&feed);
  EXPECT_EQ(0u,
            std::string(report.all().nothing)
                .find("Nothing else stands out: the longest step takes 1.00 "
                      "times the median; no rule found "))
      << report.all().nothing;
}

}  // namespace
}  // namespace pprof_test
