// SPDX-License-Identifier: Apache-2.0
//
// Findings about ranks that wait for each other.
#include <vector>

#include "findings_report.h"
#include "findings_runs.h"
#include "report/figures/ranks.h"
#include "report/figures/sum.h"

namespace pprof_test {
namespace {

// 40 steps of 33 ms: forward, waiting for others, the rest.
EventFeed Rank(const char *pid, uint64_t forward_ms, uint64_t wait_ms) {
  EventFeed feed = FindingsFeed(false);
  feed.Run(std::string(31, '0') + pid, pid);
  feed.SetRank(std::to_string(atoi(pid) - 1));
  for (uint64_t i = 0; i < 40; i++) {
    uint64_t now_ns = 33 * i * kMs, next_ns = now_ns + forward_ms * kMs;
    feed.Range(1, "forward", PPROF_CATEGORY_FORWARD, now_ns, next_ns);
    feed.Range(1, "reduce", PPROF_CATEGORY_COMMUNICATION, next_ns,
               next_ns + wait_ms * kMs);
    OnHost(&feed, 1, "update", next_ns + wait_ms * kMs, now_ns + 32 * kMs);
    feed.Step(now_ns, now_ns + 33 * kMs);
  }
  feed.AddWindow(0, 40 * 33 * kMs);
  return feed;
}

// 40 steps that never wait.
EventFeed Short(const char *pid, uint64_t step_ms) {
  EventFeed feed = FindingsFeed(false);
  feed.Run(std::string(31, '0') + pid, pid);
  feed.SetRank(std::to_string(atoi(pid) - 1));
  for (uint64_t i = 0; i < 40; i++) {
    uint64_t now_ns = step_ms * i * kMs;
    OnHost(&feed, 1, "update", now_ns, now_ns + step_ms * kMs);
    feed.Step(now_ns, now_ns + step_ms * kMs);
  }
  feed.AddWindow(0, 40 * step_ms * kMs);
  return feed;
}

// What is found of several ranks, added up.
class Ranks {
 public:
  explicit Ranks(std::vector<EventFeed> feeds) {
    ppi_figures sum = {};
    for (EventFeed &feed : feeds) {
      FindingsReport report(&feed);
      EXPECT_TRUE(ppi_figures_add(&sum, report.figures()));
    }
    sum.limit = ppi_limit{};  // as where the model of servers has no verdict
    EXPECT_EQ(PPROF_STATUS_OK, ppi_findings_of(&sum, nullptr, &findings_));
    ppi_figures_clear(&sum);
  }
  ~Ranks() {
    ppi_findings_clear(&findings_);
  }
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;
  std::string answer() const {
    return findings_.answer;
  }
  ppi_finding Get(const std::string &id) const {
    for (size_t i = 0; i < findings_.num; i++)
      if (id == findings_.items[i].id) return findings_.items[i];
    return {};
  }

 private:
  ppi_findings findings_ = {};
};

TEST(FindingsRanksTest, TheSlowOneIsNamed) {
  Ranks ranks({Rank("1", 9, 10), Rank("2", 18, 1), Rank("3", 9, 10)});
  // 33 less 10, and less 1.
  EXPECT_STREQ(
      "rank 1 works 32.0 ms of a step, the others usually 23.0 ms: they wait "
      "for it.",
      ranks.Get("slow-rank").text);
  EXPECT_STREQ("look at forward there: 18.0 ms, on a usual one 9.00 ms.",
               ranks.Get("slow-rank").next);
  // Of an average unit of all ranks.
  EXPECT_EQ(9 * kMs, ranks.Get("slow-rank").ns);
}

TEST(FindingsRanksTest, WhoWaitsForWhomIsTheAnswer) {
  EXPECT_STREQ(
      "rank 0 waits for rank 1: 10.0 ms of 33.0 ms a step (30 %), in reduce; "
      "rank 1 works 32.0 ms, rank 0 23.0 ms.",
      Ranks({Rank("1", 9, 10), Rank("2", 18, 1)}).answer().c_str());
  const std::string of_three =
      Ranks({Rank("1", 9, 10), Rank("2", 18, 1), Rank("3", 9, 10)}).answer();
  // Of the two that wait as long the later one is the median's.
  EXPECT_EQ(0u, of_three.find("rank 2 waits for rank 1: 10.0 ms")) << of_three;
}

// A little waiting is not what most of the time is.
TEST(FindingsRanksTest, TheGreatestStageIsTheAnswerWhereFewWait) {
  const std::string answer =
      Ranks({Rank("1", 9, 5), Rank("2", 14, 1)}).answer();
  EXPECT_EQ(0u, answer.find("update takes ")) << answer;
}

// Who trains waits 8 of 10 ms for what two workers do, who make no steps; of a
// launcher, which marks nothing, nothing is said.
TEST(FindingsRanksTest, LogsWithoutStepsAreCounted) {
  std::vector<EventFeed> feeds(4, FindingsFeed(false));
  for (size_t i = 0; i < feeds.size(); i++) {
    feeds[i].Run(std::string(31, '0') + std::to_string(i), std::to_string(i));
    feeds[i].AddWindow(0, 200 * kMs);
  }
  for (uint64_t i = 0; i < 20; i++) {
    OnHost(&feeds[0], 1, "forward", 10 * i * kMs, (10 * i + 2) * kMs);
    feeds[0].Step(10 * i * kMs, 10 * (i + 1) * kMs);
    OnHost(&feeds[1 + i % 2], 1, "unpack", 10 * i * kMs, (10 * i + 8) * kMs);
  }
  Ranks ranks(feeds);
  EXPECT_EQ(
      "8.00 ms of 10.0 ms a step (80 %) lie in no stage; 2 of 4 logs have no "
      "steps and are not in this.",
      ranks.answer());
  EXPECT_STREQ("2 of 4 logs have no steps: their time is in no row.",
               ranks.Get("left-out").text);
  EXPECT_TRUE(ranks.Get("left-out").is_limit);
}

// Nothing says that anybody waits.
TEST(FindingsRanksTest, OthersThatDoNotWaitAreNotSaidTo) {
  Ranks ranks({Short("1", 10), Short("2", 20), Short("3", 10)});
  EXPECT_STREQ("rank 1 works 20.0 ms of a step, the others usually 10.0 ms.",
               ranks.Get("slow-rank").text);
  EXPECT_STREQ("40 steps of it", ranks.Get("slow-rank").sure);
}

TEST(FindingsRanksTest, RanksThatAreAlikeAreNot) {
  Ranks ranks({Rank("1", 9, 10), Rank("2", 10, 9), Rank("3", 9, 10)});
  EXPECT_STREQ("", ranks.Get("slow-rank").text);
}

// Without ranks: two that begin so far apart.
std::string SlowOfTwo(uint64_t apart_ms) {
  EventFeed fast = Rank("1", 9, 10), slow = Rank("2", 18, 1);
  fast.SetRank("");
  slow.SetRank("");
  fast.SetBegan(kMs);
  slow.SetBegan(kMs + apart_ms * kMs);
  return Ranks({fast, slow}).Get("slow-rank").text;
}

// A run has 1320 ms; what begins later than 10 s behind it is no process of it.
TEST(FindingsRanksTest, RunsOfDifferentTimesAreNoRanks) {
  EXPECT_EQ(0u, SlowOfTwo(0).find("pid 2 works 32.0 ms"));
  EXPECT_EQ(0u, SlowOfTwo(11320).find("pid 2 works 32.0 ms"));
  EXPECT_EQ("", SlowOfTwo(11321));
}

TEST(FindingsRanksTest, OneRankIsSlowerThanNobody) {
  Ranks ranks({Rank("1", 9, 10)});
  EXPECT_STREQ("", ranks.Get("slow-rank").text);
}

// What each is called beside one of another program.
TEST(FindingsRanksTest, ProcessesAreCalledByWhatTheyRun) {
  const struct {
    const char *command, *name;
  } cases[] = {
      {"/opt/engine --port 1", "engine pid 7"},
      {"VLLM::EngineCore", "VLLM::EngineCore pid 7"},
      {"/usr/bin/python3 -X dev /srv/app.py --port 1", "app.py pid 7"},
      {"python3.11 -m uvicorn app:app", "uvicorn pid 7"},
      {"python -c print()", "python pid 7"},
      {"python -c from multiprocessing.spawn import spawn_main; spawn_main() "
       "--multiprocessing-fork",
       "spawned pid 7"},
      {"train.py:SpawnPoolWorker-12 /usr/bin/python -c from "
       "multiprocessing.spawn import spawn_main",
       "train.py:SpawnPoolWorker-12 pid 7"},
      {"ray::ServeReplica:default:Embed.handle_request", "Embed pid 7"},
      {"ray::ServeReplica:default:Embed", "Embed pid 7"},
      {"ray::ProxyActor.run", "ProxyActor pid 7"},
      {"ray::", "pid 7"},
      {"python", "python pid 7"}};
  char empty[] = "", pid[] = "7", other_pid[] = "8", other[] = "other";
  for (const auto &one : cases) {
    std::string command = one.command;
    ppi_report_input inputs[2] = {
        {empty, empty, pid, &command[0], empty, empty, 0, 0, {}, {}},
        {empty, empty, other_pid, other, empty, empty, 0, 0, {}, {}}};
    for (auto &input : inputs) input.answers[PPI_BASE_STEP].num_units = 1;
    ppi_figures figures = {};
    figures.inputs = inputs;
    figures.num_inputs = 2;
    ppi_ranks ranks;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_ranks_of(&figures, PPI_BASE_STEP, &ranks));
    EXPECT_STREQ(one.name, ranks.items[0].name) << one.command;
    ppi_ranks_clear(&ranks);
  }
}

}  // namespace
}  // namespace pprof_test
