// SPDX-License-Identifier: Apache-2.0
//
// Stacks of NVTX domains beside a thread's own: levels, edges, exits, threads
// that use too many; and what the configuration says about names and
// categories.
#include "inject/inject.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "mark/thread.h"
#include "names/names.h"
#include "names/tails.h"
#include "report_text.h"
#include "session/capture/capture_session.h"
#include "session/state/session_impl.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

int Push(uint32_t domain, const char *name) {
  return pprof_inject_push_(domain, nullptr, name, PPROF_CATEGORY_FORWARD);
}

struct Row {
  std::string name;
  uint32_t lane, depth, flags;
};

std::vector<Row> Rows(const LiveSession &live) {
  std::vector<Row> rows;
  for (const auto &recorded : live.recording.events)
    rows.push_back({recorded.name, recorded.event.lane, recorded.event.depth,
                    recorded.event.flags});
  return rows;
}

const Row &Find(const std::vector<Row> &rows, const std::string &name) {
  static const Row none = {"none", 0, 99, 0};
  for (const Row &row : rows)
    if (row.name == name) return row;
  return none;
}

TEST(InjectTest, EachDomainHasItsStack) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  uint32_t a = pprof_inject_domain_("inject a");
  uint32_t b = pprof_inject_domain_("inject b");
  ASSERT_NE(0u, a);
  ASSERT_NE(a, b);
  EXPECT_EQ(a, pprof_inject_domain_("inject a"));
  EXPECT_EQ(0, Push(0, "own"));
  EXPECT_EQ(0, Push(a, "a0"));
  EXPECT_EQ(1, Push(a, "a1"));
  EXPECT_EQ(0, Push(b, "b0"));
  EXPECT_EQ(1, Push(0, "own inner"));
  // Not nested in one another: the outer one ends first.
  EXPECT_EQ(1, pprof_inject_pop_(0));
  EXPECT_EQ(0, pprof_inject_pop_(0));
  EXPECT_EQ(1, pprof_inject_pop_(a));
  EXPECT_EQ(0, pprof_inject_pop_(b));
  EXPECT_EQ(0, pprof_inject_pop_(a));
  EXPECT_EQ(PPROF_INJECT_BAD_, pprof_inject_pop_(a));
  EXPECT_EQ(PPROF_INJECT_BAD_, pprof_inject_pop_(0));
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  std::vector<Row> rows = Rows(live);
  ASSERT_EQ(5u, rows.size());
  EXPECT_EQ(1u, Find(rows, "a1").depth);
  EXPECT_EQ(Find(rows, "a0").lane, Find(rows, "a1").lane);
  EXPECT_NE(Find(rows, "a0").lane, Find(rows, "b0").lane);
  EXPECT_NE(Find(rows, "a0").lane, Find(rows, "own").lane);
  EXPECT_EQ(2u, live.Stats().unmatched);
  EXPECT_EQ(PPROF_INJECT_NO_TOOL_, Push(a, "off"));
  EXPECT_EQ(PPROF_INJECT_NO_TOOL_, pprof_inject_pop_(a));
}

TEST(InjectTest, TheDefaultDomainIsTheThreadsOwnStack) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  PPROF_SITE(site, "sdk", PPROF_CATEGORY_USER_DEFINED);
  pprof_push(&site);
  EXPECT_EQ(1, Push(0, "nvtx"));
  pprof_pop();
  EXPECT_EQ(0, pprof_inject_pop_(0));
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  std::vector<Row> rows = Rows(live);
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ(1u, Find(rows, "nvtx").depth);
  EXPECT_EQ(Find(rows, "sdk").lane, Find(rows, "nvtx").lane);
}

TEST(InjectTest, AThreadsExitAbandonsItsDomainsToo) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  uint32_t a = pprof_inject_domain_("inject a");
  std::thread([&] {
    Push(a, "left open");
    Push(0, "own left open");
  }).join();
  // Another thread, perhaps with the same block, has an empty stack.
  std::thread([&] {
    EXPECT_EQ(PPROF_INJECT_BAD_, pprof_inject_pop_(a));
  }).join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  std::vector<Row> rows = Rows(live);
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ((uint32_t)PPROF_FLAG_ABANDONED, Find(rows, "left open").flags);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ABANDONED, Find(rows, "own left open").flags);
}

TEST(InjectTest, AnEdgeCutsEveryStackOfAThread) {
  LiveSession live;
  const ppi_capture capture = Cycle(0, 1, 0, 1, 0);  // every other step
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  uint32_t a = pprof_inject_domain_("inject a");
  EXPECT_EQ(PPROF_INJECT_NO_TOOL_, Push(a, "closed"));
  pprof_step(0);
  EXPECT_EQ(0, Push(a, "cut a"));
  EXPECT_EQ(0, Push(0, "cut own"));
  pprof_step(0);
  EXPECT_EQ(PPROF_INJECT_NO_TOOL_, pprof_inject_pop_(a));
  pprof_step(0);
  EXPECT_EQ(PPROF_INJECT_BAD_, pprof_inject_pop_(a));
  EXPECT_EQ(0, Push(a, "whole"));
  EXPECT_EQ(0, pprof_inject_pop_(a));
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  std::vector<Row> rows = Rows(live);
  EXPECT_EQ((uint32_t)PPROF_FLAG_CLIPPED, Find(rows, "cut a").flags);
  EXPECT_EQ((uint32_t)PPROF_FLAG_CLIPPED, Find(rows, "cut own").flags);
  EXPECT_EQ(0u, Find(rows, "whole").flags);
  EXPECT_EQ("none", Find(rows, "closed").name);
  EXPECT_EQ(1u, live.Stats().begun_before);
  EXPECT_EQ(0u, live.Stats().unmatched);
}

TEST(InjectTest, TheCollectorCutsTheStacksOfAThreadThatRests) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Push(pprof_inject_domain_("inject a"), "open in a");
  Push(pprof_inject_domain_("inject b"), "open in b");
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  std::vector<Row> rows = Rows(live);
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ((uint32_t)PPROF_FLAG_CLIPPED, Find(rows, "open in a").flags);
  EXPECT_EQ((uint32_t)PPROF_FLAG_CLIPPED, Find(rows, "open in b").flags);
}

TEST(InjectTest, ADomainBeyondAThreadsPlacesIsCountedLost) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::thread([&] {
    for (uint32_t i = 0; i < PPI_DOMAIN_LANES; i++) {
      std::string name = "inject many " + std::to_string(i);
      uint32_t domain = pprof_inject_domain_(name.c_str());
      EXPECT_EQ(0, Push(domain, "kept")) << i;
      EXPECT_EQ(0, pprof_inject_pop_(domain)) << i;
    }
    uint32_t last = pprof_inject_domain_("inject one too many");
    EXPECT_EQ(PPROF_INJECT_BAD_, Push(last, "lost"));
    EXPECT_EQ(PPROF_INJECT_BAD_, pprof_inject_pop_(last));
  }).join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ((size_t)PPI_DOMAIN_LANES, live.recording.events.size());
  EXPECT_EQ(1u, live.Stats().lost);
}

TEST(InjectTest, AThreadIsNamedByItsNumberBeforeAndAfterItsFirstMarker) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::promise<uint32_t> tid;
  std::promise<void> named, marked, renamed;
  std::thread other([&] {
    tid.set_value((uint32_t)gettid());
    named.get_future().wait();
    Push(0, "own");
    Push(pprof_inject_domain_("inject a"), "in a");
    marked.set_value();
    renamed.get_future().wait();
  });
  uint32_t number = tid.get_future().get();
  EXPECT_TRUE(pprof_inject_name_thread_(number, "early"));
  named.set_value();
  marked.get_future().wait();
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  std::string early = live.recording.lanes[1];
  EXPECT_TRUE(pprof_inject_name_thread_(number, "late"));
  renamed.set_value();
  other.join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ("early", early);
  EXPECT_EQ("late", live.recording.lanes[1]);
  EXPECT_EQ("late [inject a]", live.recording.lanes[2]);
}

TEST(InjectTest, ADeviceRangeEndsWithTheRangeItIsBeside) {
  pprof_cpu_stream *stream;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_cpu_stream_create(&stream));
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  uint32_t a = pprof_inject_domain_("inject a");
  const auto begin = [&](uint32_t domain, int level) {
    const pprof_inject_place_ place = {domain, level, device, stream};
    pprof_inject_device_begin_(&place);
  };
  begin(a, Push(a, "outer"));
  begin(0, Push(0, "own"));
  begin(a, Push(a, "inner"));
  pprof_inject_pop_(a);
  begin(a, Push(a, "inner"));
  begin(a, 5);  // no such range
  pprof_inject_pop_(0);
  pprof_inject_pop_(a);
  pprof_inject_pop_(a);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  pprof_cpu_stream_destroy(stream);
  size_t num_device = 0;
  for (const auto &recorded : live.recording.events) {
    if (recorded.event.kind != PPROF_KIND_DEVICE_RANGE) continue;
    num_device++;
    EXPECT_EQ(0u, recorded.event.flags & PPROF_FLAG_CLIPPED) << recorded.name;
  }
  EXPECT_EQ(4u, num_device);
  EXPECT_EQ(8u, live.recording.events.size());
  EXPECT_EQ(0u, live.recording.notes.count("nvtx"));
}

TEST(InjectTest, DeviceRangesBeyondThoseKeptAreLost) {
  constexpr size_t kKept = 64, kPushed = 70;
  pprof_cpu_stream *stream;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_cpu_stream_create(&stream));
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  for (size_t i = 0; i < kPushed; i++) {
    const pprof_inject_place_ place = {0, Push(0, "nested"), device, stream};
    pprof_inject_device_begin_(&place);
  }
  for (size_t i = 0; i < kPushed; i++) pprof_inject_pop_(0);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  pprof_cpu_stream_destroy(stream);
  size_t num_device = 0;
  for (const auto &recorded : live.recording.events)
    num_device += recorded.event.kind == PPROF_KIND_DEVICE_RANGE;
  EXPECT_EQ(kKept, num_device);
  EXPECT_EQ(kPushed + kKept, live.recording.events.size());
  EXPECT_EQ(kPushed - kKept, live.recording.Total(PPI_TOTAL_DEVICE_LOST));
  EXPECT_EQ(kPushed - kKept, live.recording.Total(PPI_TOTAL_LOST));
}

TEST(InjectTest, ADeviceRangeIsPairedWithTheRangeItIsBeside) {
  pprof_cpu_stream *streams[2];
  for (auto &stream : streams)
    ASSERT_EQ(PPROF_STATUS_OK, pprof_cpu_stream_create(&stream));
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  uint32_t a = pprof_inject_domain_("inject a");
  const auto begin = [](uint32_t domain, int level, pprof_device *on,
                        void *stream) {
    const pprof_inject_place_ place = {domain, level, on, stream};
    pprof_inject_device_begin_(&place);
  };
  PPROF_SITE(site, "ordinary", PPROF_CATEGORY_USER_DEFINED);
  begin(0, Push(0, "outer"), device, streams[0]);
  begin(a, Push(a, "inner"), device, streams[0]);
  begin(a, 0, device, streams[1]);
  pprof_range ordinary = pprof_device_range_begin(device, streams[0], &site);
  pprof_device_range_end(ordinary, streams[0]);
  begin(a, Push(a, "on no device"), nullptr, streams[0]);
  begin(a, Push(a, "innermost"), device, streams[1]);
  for (int i = 0; i < 3; i++) pprof_inject_pop_(a);
  pprof_inject_pop_(0);
  begin(0, Push(0, "next"), device, streams[0]);
  pprof_inject_pop_(0);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  for (auto *stream : streams) pprof_cpu_stream_destroy(stream);
  std::multiset<std::pair<std::string, uint32_t>> flags;
  for (const auto &recorded : live.recording.events) {
    if (recorded.event.kind == PPROF_KIND_DEVICE_RANGE)
      flags.insert({recorded.name, recorded.event.flags});
    else
      EXPECT_EQ(0u, recorded.event.flags) << recorded.name;
  }
  constexpr uint32_t kPaired = PPROF_FLAG_PAIRED;
  constexpr uint32_t kInner = PPROF_FLAG_PAIRED | PPROF_FLAG_INNER;
  const std::multiset<std::pair<std::string, uint32_t>> want = {
      {"outer", kPaired},
      {"inner", kInner},
      {"inner", kPaired},
      {"ordinary", 0},
      {"on no device", kPaired | PPROF_FLAG_NO_DEVICE_TIME},
      {"innermost", kInner},
      {"next", kPaired}};
  EXPECT_EQ(want, flags);
}

// What NCCL does is on a stream of its own: the default stream's time of its
// ranges is that of nothing.
TEST(InjectTest, RangesOfDomainsWithStreamsOfTheirOwnAreNotTimed) {
  pprof_cpu_stream *stream;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_cpu_stream_create(&stream));
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  ppi_nvtx_options options;
  const auto timed = [&](std::string *out_note) {
    LiveSession live;
    EXPECT_EQ(PPROF_STATUS_OK, live.Start());
    for (const char *name : {"NCCL", "ucx", "inject mine", "inject a"}) {
      const uint32_t domain = pprof_inject_domain_(name);
      const pprof_inject_place_ place = {domain, Push(domain, name), device,
                                         stream};
      pprof_inject_device_begin_(&place);
      pprof_inject_pop_(domain);
    }
    EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
    std::set<std::string> found;
    size_t num_hosts = 0;
    for (const auto &recorded : live.recording.events)
      if (recorded.event.kind == PPROF_KIND_DEVICE_RANGE)
        found.insert(recorded.name);
      else
        num_hosts++;
    EXPECT_EQ(4u, num_hosts);
    *out_note = live.recording.notes["nvtx streams"];
    return found;
  };
  std::string note;
  ppi_nvtx_defaults(&options);
  ppi_nvtx_set_options(&options);
  EXPECT_EQ((std::set<std::string>{"inject a", "inject mine"}), timed(&note));
  EXPECT_EQ("no device times: work on streams of its own in domain NCCL, ucx",
            note);
  options.num_streams = 2;
  strcpy(options.streams[0].from, "Inject Mine");
  strcpy(options.streams[0].category, "own");
  strcpy(options.streams[1].from, "nccl");
  strcpy(options.streams[1].category, "default");
  ppi_nvtx_set_options(&options);
  EXPECT_EQ((std::set<std::string>{"inject a", "NCCL"}), timed(&note));
  ppi_nvtx_defaults(&options);
  ppi_nvtx_set_options(&options);
  pprof_cpu_stream_destroy(stream);
}

// Pushed by the same call to the same stream, each a call once in the tables.
TEST(InjectTest, ATimedRangeIsOneCall) {
  pprof_cpu_stream *stream;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_cpu_stream_create(&stream));
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  Report report;
  LiveSession live;
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(live.session(), report.sink()));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const auto push = [&](const char *name) {
    int level =
        pprof_inject_push_(0, nullptr, name, PPROF_CATEGORY_USER_DEFINED);
    const pprof_inject_place_ place = {0, level, device, stream};
    pprof_inject_device_begin_(&place);
  };
  for (int i = 0; i < 5; i++) {
    push("train step");
    push("op");
    pprof_inject_pop_(0);
    push("op");
    pprof_inject_pop_(0);
    pprof_inject_pop_(0);
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  pprof_cpu_stream_destroy(stream);
  std::map<std::string, uint64_t> device_ns;
  for (const auto &recorded : live.recording.events)
    if (recorded.event.kind == PPROF_KIND_DEVICE_RANGE)
      device_ns[recorded.name] +=
          recorded.event.device_end_ns - recorded.event.device_start_ns;
  const ppi_figures *figures = ppi_report_figures(report.get());
  ASSERT_NE(nullptr, figures);
  ASSERT_EQ(2u, figures->num_names);
  const ppi_report_name *names = figures->names;
  EXPECT_EQ(10u, names[0].host.n + names[0].submit.n);
  EXPECT_EQ(5u, names[1].host.n + names[1].submit.n);
  EXPECT_EQ(device_ns["op"], names[0].inside.sum);
  EXPECT_EQ(device_ns["train step"], names[1].inside.sum);
  EXPECT_EQ(device_ns["train step"], figures->general_device_ns);
}

TEST(InjectTest, TheNoteSaysThatThereAreHostTimesOnly) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_inject_category_("any", nullptr);  // asked at a domain's first event
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ("host times only: nvtx.device is off",
            live.recording.notes["nvtx"]);
}

TEST(InjectTest, KnownTailsOfNamesAreCut) {
  const struct {
    const char *name, *kept;
  } cases[] = {{"aten::add, seq = 12", "aten::add"},
               {"aten::add, op_id = 3, sizes = [[1]]", "aten::add"},
               {"aten::mm, sizes = [[2, 3], [3, 4]]", "aten::mm"},
               {"Backward, stashed seq=4", "Backward"},
               {"load a, b, seq = 9", "load a, b"},
               {"load a, b", nullptr},
               {", seq = 1", nullptr},
               {"sequence, seq is 1", nullptr},
               {"", nullptr}};
  for (const auto &one : cases) {
    size_t end = ppi_name_end(one.name);
    if (one.kept)
      EXPECT_EQ(one.kept, std::string(one.name, end));
    else
      EXPECT_EQ(0u, end) << one.name;
  }
}

TEST(InjectTest, NamesThatAreCutAreOneSite) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  for (int i = 0; i < 3; i++) {
    std::string name = "aten::add, seq = " + std::to_string(i);
    Push(0, name.c_str());
    pprof_inject_pop_(0);
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(3u, live.recording.events.size());
  for (const auto &recorded : live.recording.events) {
    EXPECT_EQ("aten::add", recorded.name);
    EXPECT_EQ(live.recording.events[0].event.site, recorded.event.site);
  }
}

TEST(InjectTest, CategoriesByRuleThenNameThenDomain) {
  ppi_nvtx_options options;
  ppi_nvtx_defaults(&options);
  options.num_domains = 1;
  strcpy(options.domains[0].from, "NCCL");
  strcpy(options.domains[0].category, "my network");
  options.num_categories = 1;
  strcpy(options.categories[0].from, "io");
  strcpy(options.categories[0].category, "data_loader");
  ppi_nvtx_set_options(&options);
  auto name = [](const char *domain, const char *category) {
    return std::string(
        ppi_category_name(pprof_inject_category_(domain, category)));
  };
  EXPECT_EQ("Dataloader", name("NCCL", "io"));
  EXPECT_EQ("my network", name("NCCL", "other"));
  EXPECT_EQ("my network", name("nccl", nullptr));
  EXPECT_EQ("other", name("mine", "other"));
  EXPECT_EQ("UserDefined", name("mine", nullptr));
  EXPECT_EQ("UserDefined", name(nullptr, nullptr));
  EXPECT_EQ("Inference", name("TensorRT", nullptr));
  ppi_nvtx_defaults(&options);
  ppi_nvtx_set_options(&options);
  EXPECT_EQ("Communication", name("NCCL", nullptr));
}

}  // namespace
}  // namespace pprof_test
