// SPDX-License-Identifier: Apache-2.0
//
// Findings about ranks that wait for each other.
#include <memory>
#include <vector>

#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

// 40 steps of 33 ms: forward, waiting for others, the rest.
EventFeed Rank(const char *pid, uint64_t forward_ms, uint64_t wait_ms) {
  EventFeed feed = FindingsFeed(false);
  feed.Run(std::string(31, '0') + pid, pid);
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

// What is found of several ranks, the first of which stands for their sum.
class Ranks {
 public:
  explicit Ranks(std::vector<EventFeed> feeds) {
    const char *const names[] = {"0", "1", "2"};
    std::vector<ppi_findings_rank> ranks;
    for (EventFeed &feed : feeds) {
      reports_.emplace_back(new FindingsReport(&feed));
      ranks.push_back({names[ranks.size()], reports_.back()->figures()});
    }
    ppi_findings_options options = {};
    options.ranks = ranks.data();
    options.num_ranks = ranks.size();
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_findings_of(ranks[0].figures, &options, &findings_));
  }
  ~Ranks() {
    ppi_findings_clear(&findings_);
  }
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;
  ppi_finding Get(const std::string &id) const {
    for (size_t i = 0; i < findings_.num; i++)
      if (id == findings_.items[i].id) return findings_.items[i];
    return {};
  }

 private:
  std::vector<std::unique_ptr<FindingsReport>> reports_;
  ppi_findings findings_ = {};
};

TEST(FindingsRanksTest, TheSlowOneIsNamed) {
  Ranks ranks({Rank("1", 9, 10), Rank("2", 18, 1), Rank("3", 9, 10)});
  // 33 less 10, and less 1.
  EXPECT_STREQ(
      "Rank 1 works 32.0 ms of a step, the others usually 23.0 ms: they wait "
      "for it.",
      ranks.Get("slow-rank").text);
  EXPECT_STREQ(
      "look at forward of that rank: 18.0 ms there, 9.00 ms on a "
      "usual one.",
      ranks.Get("slow-rank").next);
  EXPECT_EQ(9 * kMs, ranks.Get("slow-rank").ns);
}

TEST(FindingsRanksTest, RanksThatAreAlikeAreNot) {
  Ranks ranks({Rank("1", 9, 10), Rank("2", 10, 9), Rank("3", 9, 10)});
  EXPECT_STREQ("", ranks.Get("slow-rank").text);
}

TEST(FindingsRanksTest, OneRankIsSlowerThanNobody) {
  Ranks ranks({Rank("1", 9, 10)});
  EXPECT_STREQ("", ranks.Get("slow-rank").text);
}

}  // namespace
}  // namespace pprof_test
