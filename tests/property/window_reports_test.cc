// SPDX-License-Identifier: Apache-2.0
//
// Random runs of several windows, their lanes and windows interleaved at
// random: the report of each window is, byte for byte, that of a run which has
// nothing but this window.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "event_feed.h"
#include "report_text.h"
#include "window/window_sinks.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;
using Random = std::mt19937_64;

struct Site {
  const char *name;
  uint32_t category;
};

const Site kHostSites[] = {{"decode", PPROF_CATEGORY_PREPROCESS},
                           {"matmul", PPROF_CATEGORY_OPERATOR},
                           {"reader", PPROF_CATEGORY_DATALOADER},
                           {"mine", PPROF_CATEGORY_USER_DEFINED}};
const Site kDeviceSites[] = {{"gemm", PPROF_CATEGORY_KERNEL},
                             {"detect", PPROF_CATEGORY_INFERENCE}};

uint64_t Pick(Random *random, uint64_t n) {
  return (*random)() % n;
}

uint64_t KnownAt(const pprof_event &event) {
  return std::max(event.end_ns, event.device_end_ns);
}

// The whole run, and of each window a run of its own.
class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {
    Describe(&whole);
    uint64_t time_ns = Pick(&random_, 2) * 100, end_ns = 0;
    for (uint32_t i = 0, num = 2 + Pick(&random_, 4); i < num; i++) {
      end_ns = time_ns + 50 + Pick(&random_, 500);
      windows.push_back(std::make_unique<EventFeed>());
      Describe(windows.back().get());
      whole.AddWindow(time_ns, end_ns);
      windows.back()->AddWindow(time_ns, end_ns);
      Fill(i, time_ns, end_ns);
      time_ns = end_ns + Pick(&random_, 2) * 30;  // some touch
    }
    Sort(&whole);
    for (auto &window : windows) Sort(window.get());
  }

  EventFeed whole;
  std::vector<std::unique_ptr<EventFeed>> windows;

 private:
  static void Describe(EventFeed *feed) {
    feed->Lane(1, 100, "a");
    feed->Lane(2, 200, "b");
    feed->Device(1, "gpu:0");
    feed->Stream(1, 1);
  }

  static void Sort(EventFeed *feed) {
    for (auto &lane : feed->lanes())
      std::stable_sort(lane.second.begin(), lane.second.end(),
                       [](const pprof_event &a, const pprof_event &b) {
                         return KnownAt(a) < KnownAt(b);
                       });
  }

  template <typename Make>
  void AddToBoth(uint32_t window, Make make) {
    for (EventFeed *feed : {&whole, windows[window].get()})
      make(feed)->window = window;
  }

  // Host ranges lie in their window; device sides may end long after it.
  void Fill(uint32_t window, uint64_t from_ns, uint64_t to_ns) {
    AddToBoth(window,
              [&](EventFeed *feed) { return &feed->Step(from_ns, to_ns); });
    for (uint32_t lane : {1u, 2u}) {
      uint64_t at_ns = from_ns + Pick(&random_, 20);
      while (at_ns < to_ns) {
        uint64_t end_ns = std::min(to_ns, at_ns + 1 + Pick(&random_, 60));
        const Site &site = kHostSites[Pick(&random_, 4)];
        AddToBoth(window, [&](EventFeed *feed) {
          return &feed->Range(lane, site.name, site.category, at_ns, end_ns);
        });
        if (Pick(&random_, 3) == 0) AddDevice(window, lane, at_ns);
        at_ns = end_ns + Pick(&random_, 20);
      }
    }
  }

  void AddDevice(uint32_t window, uint32_t lane, uint64_t submit_ns) {
    uint64_t start_ns = std::max(device_ns_, submit_ns + Pick(&random_, 50));
    uint64_t end_ns = start_ns + 1 + Pick(&random_, 200);
    const Site &site = kDeviceSites[Pick(&random_, 2)];
    AddToBoth(window, [&](EventFeed *feed) {
      return &feed->OnDevice(lane, 1, site.name, site.category, submit_ns,
                             start_ns, end_ns);
    });
    device_ns_ = end_ns;
  }

  Random random_;
  uint64_t device_ns_ = 0;
};

struct Texts {
  std::map<uint32_t, std::string> json;
  std::vector<uint32_t> order;
  std::map<pprof_sink *, std::unique_ptr<Report>> open;
  std::mutex mutex;
};

pprof_sink *OpenReport(void *user, uint32_t) {
  Texts *texts = static_cast<Texts *>(user);
  auto report = std::make_unique<Report>();
  pprof_sink *sink = report->sink();
  std::lock_guard<std::mutex> lock(texts->mutex);
  texts->open[sink] = std::move(report);
  return sink;
}

void WriteReport(void *user, uint32_t window, pprof_sink *sink,
                 pprof_status status) {
  Texts *texts = static_cast<Texts *>(user);
  EXPECT_EQ(PPROF_STATUS_OK, status);
  std::lock_guard<std::mutex> lock(texts->mutex);
  texts->order.push_back(window);
  texts->json[window] =
      texts->open[sink]->Write(PPI_FORMAT_JSON, static_cast<char *>(nullptr));
  texts->open.erase(sink);
}

class WindowReportsTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(WindowReportsTest, EachIsThatOfItsWindowAlone) {
  for (uint64_t seed = GetParam(); seed < GetParam() + 25; seed++) {
    RandomRun run(seed);
    Random random(seed);
    Texts texts;
    ppi_window_sinks *windows = nullptr;
    ppi_window_maker maker = {OpenReport, WriteReport, nullptr, &texts,
                              nullptr};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_window_sinks_create(nullptr, &windows));
    ASSERT_EQ(PPROF_STATUS_OK, ppi_window_sinks_add(windows, &maker));
    pprof_sink *sink = ppi_window_sinks_sink(windows);
    ASSERT_EQ(PPROF_STATUS_OK,
              run.whole.DeliverAs(sink, &random, Pick(&random, 8)));
    sink->destroy(sink);
    ASSERT_EQ(run.windows.size(), texts.order.size());
    EXPECT_TRUE(std::is_sorted(texts.order.begin(), texts.order.end()));
    for (uint32_t i = 0; i < run.windows.size(); i++) {
      Report alone(*run.windows[i]);
      EXPECT_EQ(alone.Write(PPI_FORMAT_JSON, static_cast<char *>(nullptr)),
                texts.json[i])
          << "seed " << seed << ", window " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, WindowReportsTest,
                         ::testing::Values(1, 1001, 2001, 3001));

}  // namespace
