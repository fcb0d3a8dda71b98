// SPDX-License-Identifier: Apache-2.0
//
// What ranges have to themselves, on the host and of the device, and what
// operators consist of. Values are typed by hand.
#include <gtest/gtest.h>

#include <string>

#include "base/mem.h"
#include "report/spans/identity.h"
#include "report/spans/scope.h"
#include "report_text.h"
#include "scenario_s.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::kMs;
using pprof_test::Report;

const ppi_report_name &Name(Report &report, const std::string &name) {
  const ppi_figures *figures = ppi_report_figures(report.get());
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].name == name) return figures->names[i];
  static const ppi_report_name none = {};
  ADD_FAILURE() << "no " << name;
  return none;
}

const ppi_report_category &Category(Report &report, const std::string &name) {
  const ppi_figures *figures = ppi_report_figures(report.get());
  for (size_t i = 0; i < figures->num_categories; i++)
    if (figures->categories[i].name == name) return figures->categories[i];
  static const ppi_report_category none = {};
  ADD_FAILURE() << "no " << name;
  return none;
}

std::string Parts(const ppi_figures *figures) {
  std::string text;
  for (size_t i = 0; i < figures->num_parts; i++) {
    const ppi_report_part &part = figures->parts[i];
    if (*part.process)
      text +=
          std::string(part.process) + ":" + std::to_string(part.thread) + " ";
    text += std::string(part.op) + "/" + part.child + "/" + part.launch +
            " host " + std::to_string(part.host.n) + "x" +
            std::to_string(part.host.sum) + " device " +
            std::to_string(part.device.n) + "x" +
            std::to_string(part.device.sum) + "\n";
  }
  return text;
}

class Nesting : public testing::Test {
 protected:
  Nesting() {
    feed.Lane(1, 100, "main");
    feed.Lane(2, 100, "main, another domain");
    feed.Lane(3, 300, "worker");
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.AddWindow(0, 1000);
  }
  pprof_event &Op(const std::string &name, uint64_t from, uint64_t to,
                  uint32_t lane = 1,
                  uint32_t category = PPROF_CATEGORY_OPERATOR) {
    return feed.Range(lane, name, category, from, to);
  }
  pprof_event &Kernel(const std::string &name, uint64_t submit, uint64_t ns,
                      uint32_t lane = 1,
                      uint32_t category = PPROF_CATEGORY_KERNEL) {
    at_ += 100;
    return feed.OnDevice(lane, 1, name, category, submit, at_, at_ + ns);
  }
  EventFeed feed;

 private:
  uint64_t at_ = 0;
};

TEST(ScenarioSTest, SelfAndOwn) {
  EventFeed feed;
  pprof_test::FillScenarioS(&feed);
  Report report(feed);
  const struct {
    const char *name;
    double self, inside, own;  // ms, both steps
  } rows[] = {{"Forward", 10, 32, 0},
              {"Backward", 4, 48, 0},
              {"Optimization Step", 2, 10, 0},
              {"matmul", 4, 24, 0},
              {"matmul compute", 6, 24, 24},
              {"relu", 6, 8, 8},
              {"matmul_grad", 18, 28, 28},
              {"c_allreduce_sum", 4, 20, 20},
              {"adam", 8, 6, 6},
              {"GpuMemcpyAsync:CPU->GPU", 1, 4, 4},
              {"cudaLaunchKernel", 10, 0, 0},
              {"ProfileStep", 0, 90, 0}};
  for (const auto &row : rows) {
    SCOPED_TRACE(row.name);
    const ppi_report_name &name = Name(report, row.name);
    EXPECT_EQ(name.self_ns, static_cast<uint64_t>(row.self * 1e6));
    EXPECT_EQ(name.inside.sum, static_cast<uint64_t>(row.inside * 1e6));
    EXPECT_EQ(name.inside.n, name.host.n);
    EXPECT_EQ(name.own_device_ns, static_cast<uint64_t>(row.own * 1e6));
  }
  EXPECT_EQ(Name(report, "ProfileStep").num_async, 2u);
  EXPECT_EQ(Name(report, "relu").num_async, 0u);
}

TEST(ScenarioSTest, PartsOfOperators) {
  EventFeed feed;
  pprof_test::FillScenarioS(&feed);
  Report report;
  ppi_report_details details = {};
  details.operator_parts = true;
  ppi_report_set_details(report.get(), &details);
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  EXPECT_EQ(Parts(ppi_report_figures(report.get())),
            "adam//adam_k host 0x0 device 2x6000000\n"
            "c_allreduce_sum//ncclAllReduce host 0x0 device 2x20000000\n"
            "matmul/matmul compute/ host 2x8000000 device 2x24000000\n"
            "matmul/matmul compute/gemm_k host 0x0 device 2x24000000\n"
            "matmul_grad//gemm_bw host 0x0 device 2x28000000\n"
            "relu//relu_k host 0x0 device 2x8000000\n");
}

TEST_F(Nesting, SelfIsLessTheDirectlyNested) {
  Op("leaf", 20, 30);
  Op("inner", 10, 40);
  Op("inner", 50, 60);
  Op("outer", 0, 100);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").self_ns, 100u - 30 - 10);
  EXPECT_EQ(Name(report, "inner").self_ns, 20u + 10);
  EXPECT_EQ(Name(report, "leaf").self_ns, 10u);
}

// Touching, empty and identical ones; the one that comes last is outside.
TEST_F(Nesting, SelfAtTheBorders) {
  Op("a", 10, 20);
  Op("b", 20, 20);
  Op("b", 20, 30);
  Op("twin", 10, 30);
  Op("outer", 10, 30);
  Report report(feed);
  EXPECT_EQ(Name(report, "twin").self_ns, 0u);
  EXPECT_EQ(Name(report, "outer").self_ns, 0u);
  EXPECT_EQ(Name(report, "b").self_ns, 10u);
}

TEST_F(Nesting, LanesDoNotNestInEachOther) {
  Op("inner", 10, 20, 2);
  Op("outer", 0, 100, 1);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").self_ns, 100u);
}

TEST_F(Nesting, AsyncTakesNoPart) {
  Op("async", 10, 20).flags = PPROF_FLAG_ASYNC;
  Op("outer", 0, 100);
  Kernel("k", 15, 7);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").self_ns, 100u);
  EXPECT_EQ(Name(report, "outer").own_device_ns, 7u);
  EXPECT_EQ(Name(report, "async").self_ns, 0u);
  EXPECT_EQ(Name(report, "async").inside.sum, 7u);
  EXPECT_EQ(Name(report, "async").own_device_ns, 0u);
  EXPECT_EQ(Name(report, "async").num_async, 1u);
}

// The middle one was lost: the leaves are the outer one's then.
TEST_F(Nesting, ALostParentGivesItsChildrenOn) {
  Op("leaf", 20, 30);
  Op("leaf", 35, 40);
  Op("outer", 0, 100);
  Op("leaf", 120, 130);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").self_ns, 85u);
}

// More wait than are kept apart; then a range of their depth that begins in
// between.
TEST_F(Nesting, ManySiblingsWait) {
  for (uint64_t i = 0; i < 5000; i++)
    Op("leaf", 10 + 2 * i, 11 + 2 * i).depth = 1;
  Op("outer", 0, 20000);
  Op("other", 20000, 20010).depth = 1;
  Op("outer", 20000, 20100);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").self_ns, 15000u + 90);
}

TEST_F(Nesting, PartlyOverlappingOnesAreSiblings) {
  Op("a", 10, 50);
  Op("b", 40, 60);
  Op("outer", 0, 100);
  Kernel("k", 45, 7);
  Kernel("k", 15, 3);
  Report report(feed);
  EXPECT_EQ(Name(report, "a").self_ns, 40u);
  EXPECT_EQ(Name(report, "b").self_ns, 20u);
  EXPECT_EQ(Name(report, "outer").self_ns, 40u);
  // What lies in both is the later one's.
  EXPECT_EQ(Name(report, "a").own_device_ns, 3u);
  EXPECT_EQ(Name(report, "b").own_device_ns, 7u);
  EXPECT_EQ(Name(report, "a").inside.sum, 10u);
}

TEST_F(Nesting, SelfIsNeverNegative) {
  Op("a", 0, 30);
  Op("b", 10, 40);
  Op("outer", 0, 40);
  Op("wrong", 60, 50);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").self_ns, 0u);
  EXPECT_EQ(Name(report, "wrong").self_ns, 0u);
}

// By thread and time for what is inside, by lane for what is its own.
TEST_F(Nesting, DeviceTimeOfTwoLanesOfAThread) {
  Op("inner", 10, 20, 1);
  Op("outer", 0, 100, 1);
  Op("domain", 5, 50, 2);
  Op("elsewhere", 0, 100, 3);
  Kernel("k", 15, 4, 2);
  Kernel("k", 30, 8, 1);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").inside.sum, 12u);
  EXPECT_EQ(Name(report, "outer").own_device_ns, 8u);
  EXPECT_EQ(Name(report, "inner").own_device_ns, 4u);
  EXPECT_EQ(Name(report, "domain").own_device_ns, 12u);
  EXPECT_EQ(Name(report, "elsewhere").inside.sum, 0u);
  EXPECT_EQ(Name(report, "elsewhere").inside.n, 1u);
}

TEST_F(Nesting, RuntimeCallsOwnNothing) {
  Op("driver", 12, 14, 1, PPROF_CATEGORY_RUNTIME);
  Op("runtime", 10, 20, 1, PPROF_CATEGORY_RUNTIME);
  Op("op", 0, 100);
  Op("alone", 200, 300, 1, PPROF_CATEGORY_RUNTIME);
  Kernel("k", 13, 4);
  Kernel("k", 210, 8);
  Report report(feed);
  EXPECT_EQ(Name(report, "op").self_ns, 90u);
  EXPECT_EQ(Name(report, "op").own_device_ns, 4u);
  EXPECT_EQ(Name(report, "runtime").self_ns, 8u);
  EXPECT_EQ(Name(report, "runtime").inside.sum, 0u);
  EXPECT_EQ(Name(report, "runtime").own_device_ns, 0u);
  EXPECT_EQ(Name(report, "alone").inside.sum, 0u);
}

TEST_F(Nesting, CopiesCountBesideKernelsAndOthersOnlyWithout) {
  for (bool kernels : {true, false}) {
    EventFeed run = feed;
    run.Range(1, "op", PPROF_CATEGORY_OPERATOR, 0, 100);
    run.OnDevice(1, 1, "copy", PPROF_CATEGORY_MEMCPY, 10, 10, 14);
    run.OnDevice(1, 1, "mine", PPROF_CATEGORY_INFERENCE, 20, 20, 28);
    if (kernels) run.OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 30, 30, 31);
    Report report(run);
    EXPECT_EQ(Name(report, "op").own_device_ns, kernels ? 5u : 12u);
    EXPECT_EQ(Name(report, "op").inside.sum, kernels ? 5u : 12u);
  }
}

// On whatever lane, a step has what all threads submit; where it nests, it
// takes part in that, and owns what is left on its thread.
TEST_F(Nesting, AStepOnAThreadsLane) {
  Op("op", 10, 20);
  Op("ProfilerStep", 0, 100, 1, PPROF_CATEGORY_PROFILE_STEP);
  Op("root", 0, 200);
  Kernel("k", 15, 1);
  Kernel("k", 50, 2);
  Kernel("k", 50, 4, 3);
  Report report(feed);
  const ppi_report_name &step = Name(report, "ProfilerStep");
  EXPECT_EQ(step.self_ns, 90u);
  EXPECT_EQ(step.inside.sum, 7u);
  EXPECT_EQ(step.own_device_ns, 2u);
  EXPECT_EQ(step.num_async, 0u);
  EXPECT_EQ(Name(report, "root").self_ns, 100u);
  EXPECT_EQ(Name(report, "root").own_device_ns, 0u);
  const ppi_figures *figures = ppi_report_figures(report.get());
  EXPECT_EQ(figures->phases[PPI_PHASE_PROFILE_STEP].device.sum, 7u);
}

TEST_F(Nesting, FlaggedRangesAreCommunicationToo) {
  Op("send", 10, 20).flags = PPROF_FLAG_COMMUNICATION;
  Op("wait", 15, 30, 3, PPROF_CATEGORY_COMMUNICATION);
  Kernel("ncclSend", 12, 5).flags = PPROF_FLAG_COMMUNICATION;
  Report report(feed);
  EXPECT_EQ(Category(report, "Operator").host_calls, 1u);
  EXPECT_EQ(Category(report, "Operator").host_ns, 10u);
  EXPECT_EQ(Category(report, "Communication").host_calls, 2u);
  EXPECT_EQ(Category(report, "Communication").host_ns, 20u);
  EXPECT_EQ(Category(report, "Communication").device_calls, 1u);
  EXPECT_EQ(Category(report, "Communication").device_ns, 5u);
  EXPECT_EQ(Category(report, "Kernel").device_ns, 5u);
}

// The category has a name where no definition gave it one.
TEST_F(Nesting, AFlagAloneMakesTheRow) {
  Op("send", 10, 20).flags = PPROF_FLAG_COMMUNICATION;
  Report report(feed);
  EXPECT_EQ(Category(report, "Communication").host_ns, 10u);
}

TEST_F(Nesting, ProjectedRangesAreNoWork) {
  Op("op", 0, 100);
  Kernel("k", 10, 50);  // on the device from 100 to 150
  pprof_event &frame =
      feed.OnDevice(1, 1, "frame", PPROF_CATEGORY_USER_DEFINED, 10, 90, 190);
  frame.flags = PPROF_FLAG_PROJECTED;
  Report report(feed);
  const ppi_figures *figures = ppi_report_figures(report.get());
  EXPECT_EQ(figures->devices[0].busy_ns, 50u);
  EXPECT_EQ(figures->devices[0].ranges, 1u);
  EXPECT_EQ(figures->num_queues, 0u);
  EXPECT_EQ(Category(report, "UserDefined").device_ns, 100u);
  EXPECT_EQ(Name(report, "frame").device.sum, 100u);
  EXPECT_EQ(Name(report, "frame").submit.n, 0u);
  EXPECT_EQ(Name(report, "op").inside.sum, 50u);
  EventFeed alone;
  alone.Lane(1, 100, "main");
  alone.Range(1, "op", PPROF_CATEGORY_OPERATOR, 0, 100);
  alone.Add(1000, frame);
  Report without(alone);
  EXPECT_EQ(Name(without, "op").inside.sum, 0u);
  EXPECT_EQ(Name(without, "op").own_device_ns, 0u);
}

TEST_F(Nesting, ByThread) {
  Op("a", 0, 10);
  Op("a", 20, 40, 2);
  Op("b", 50, 90, 2);
  Op("a", 0, 5, 3);
  Kernel("k", 5, 7);
  Report report;
  ppi_report_details details = {};
  details.by_thread = true;
  ppi_report_set_details(report.get(), &details);
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  const ppi_figures *figures = ppi_report_figures(report.get());
  ASSERT_EQ(figures->num_threads, 4u);  // with k's
  const ppi_report_thread_name &k = figures->threads[0];
  const ppi_report_thread_name &a = figures->threads[1];
  EXPECT_STREQ(k.name, "k");
  EXPECT_EQ(k.submit.n, 1u);
  EXPECT_EQ(k.inside.sum, 7u);
  EXPECT_STREQ(a.process, "testhost 1");
  EXPECT_EQ(a.thread, 100u);
  EXPECT_STREQ(a.name, "a");
  EXPECT_STREQ(a.category_name, "Operator");
  EXPECT_EQ(a.category, PPROF_CATEGORY_OPERATOR);
  EXPECT_EQ(a.host.n, 2u);
  EXPECT_EQ(a.host.sum, 30u);
  EXPECT_EQ(a.host_times.n, 2u);
  EXPECT_EQ(a.self_ns, 30u);
  EXPECT_EQ(a.inside.n, 2u);
  EXPECT_EQ(a.inside.sum, 7u);
  EXPECT_EQ(figures->threads[2].self_ns, 40u);
  EXPECT_EQ(figures->threads[3].thread, 300u);
  EXPECT_EQ(figures->threads[3].host.sum, 5u);
  Report usual(feed);
  EXPECT_EQ(ppi_report_figures(usual.get())->num_threads, 0u);
  EXPECT_EQ(ppi_report_figures(usual.get())->num_parts, 0u);
}

TEST_F(Nesting, PartsSkipOperatorsAndRuntimeCalls) {
  Op("launch", 12, 14, 1, PPROF_CATEGORY_RUNTIME);
  Op("child", 11, 20, 1, PPROF_CATEGORY_OPERATOR_INNER);
  Op("empty", 20, 20, 1, PPROF_CATEGORY_USER_DEFINED);
  Op("grandchild", 23, 24, 1, PPROF_CATEGORY_OPERATOR_INNER);
  Op("nested", 22, 30);
  Op("launch", 40, 50, 1, PPROF_CATEGORY_RUNTIME);
  Op("op", 10, 60);
  Op("child", 70, 80, 1, PPROF_CATEGORY_OPERATOR_INNER);  // of no operator
  Kernel("k", 13, 1);
  Kernel("k", 23, 2);
  Kernel("copy", 45, 4, 1, PPROF_CATEGORY_MEMCPY);
  Kernel("mine", 46, 8, 1, PPROF_CATEGORY_INFERENCE);  // no kernel
  Kernel("k", 75, 16);
  for (bool by_thread : {false, true}) {
    Report report;
    ppi_report_details details = {};
    details.operator_parts = true;
    details.by_thread = by_thread;
    ppi_report_set_details(report.get(), &details);
    ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
    std::string from = by_thread ? "testhost 1:100 " : "";
    EXPECT_EQ(Parts(ppi_report_figures(report.get())),
              from + "nested/grandchild/ host 1x1 device 1x2\n" + from +
                  "nested/grandchild/k host 0x0 device 1x2\n" + from +
                  "op//copy host 0x0 device 1x4\n" + from +
                  "op/child/ host 1x9 device 1x1\n" + from +
                  "op/child/k host 0x0 device 1x1\n" + from +
                  "op/empty/ host 1x0 device 1x0\n");
  }
}

// Paddle's definition meets kernels by the ranges that launched them.
TEST_F(Nesting, StrayKernelsAreInNoPaddleDistribution) {
  Op("op", 10, 20);
  Op("alone", 40, 50, 1, PPROF_CATEGORY_RUNTIME);
  Kernel("k", 15, 4);
  Kernel("k", 30, 8);
  Kernel("k", 45, 16);
  for (bool paddle : {true, false}) {
    Report report;
    ppi_report_details details = {};
    details.paddle_distribution = paddle;
    ppi_report_set_details(report.get(), &details);
    ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
    EXPECT_EQ(ppi_report_figures(report.get())->distribution.computation_ns,
              paddle ? 4u : 28u);
  }
}

TEST_F(Nesting, MemoryBelongsToTheInnermostThatCanOwn) {
  Op("inner", 12, 18, 1, PPROF_CATEGORY_OPERATOR_INNER);
  Op("op", 10, 20);
  Op("domain", 14, 16, 2, PPROF_CATEGORY_USER_DEFINED);
  Op("async", 11, 99, 1).flags = PPROF_FLAG_ASYNC;
  pprof_work_amount work = {sizeof work, 0, 100, 0, 0};
  for (uint64_t time : {13u, 15u, 25u}) {
    pprof_event event = {};
    event.kind = PPROF_KIND_COUNTER;
    event.site = feed.Site("gpu:0", PPROF_CATEGORY_MEMORY);
    event.lane = 1;
    event.start_ns = event.end_ns = time;
    event.value = 1000;
    event.work = &work;
    feed.Add(1, event);
  }
  Report report(feed);
  const ppi_figures *figures = ppi_report_figures(report.get());
  ASSERT_EQ(figures->num_memory, 3u);
  EXPECT_STREQ(figures->memory[0].name, "");
  EXPECT_STREQ(figures->memory[1].name, "domain");
  EXPECT_STREQ(figures->memory[2].name, "op");
  for (size_t i = 0; i < 3; i++)
    EXPECT_EQ(figures->memory[i].allocated_bytes, 100u);
}

// One sum for each border with submissions, its own and the shared ones alike.
TEST(ScopesTest, SharedBordersKeepSumsApart) {
  ppi_scopes scopes = {};
  for (uint64_t time : {5u, 15u, 16u, 25u, 35u, 36u}) {
    ppi_point point = {};
    point.time_ns = time;
    point.value = 1;
    ASSERT_TRUE(ppi_scopes_add(&scopes, &point));
  }
  ppi_borders shared = {};
  for (uint64_t time : {40u, 30u, 10u, 10u})
    ASSERT_TRUE(ppi_borders_add(&shared, time));
  ppi_borders_sort(&shared);
  ASSERT_TRUE(ppi_scopes_border(&scopes, 20));
  EXPECT_EQ(scopes.borders.num, 0u);  // no submissions are settled yet
  ASSERT_TRUE(ppi_scopes_prepare(&scopes, 50));
  ASSERT_TRUE(ppi_scopes_border(&scopes, 20));
  ASSERT_TRUE(ppi_scopes_carry(&scopes, &shared));
  const uint64_t expected[][2] = {{10, 2}, {20, 1}, {30, 2}};
  ASSERT_EQ(scopes.num_carried, 3u);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(scopes.carried[i].time_ns, expected[i][0]);
    EXPECT_EQ(scopes.carried[i].sums.ns[PPI_DEVICE_OTHER], expected[i][1]);
  }
  ppi_free(shared.times_ns);
  ppi_scopes_clear(&scopes);
}

// Steps in too many others are counted as unchecked once, open or ended.
TEST(IdentityTest, ChecksSoManyStepsAtOnce) {
  for (bool is_told_open : {false, true}) {
    ppi_identity identity = {};
    ppi_span window = {0, 2000};
    ppi_windows windows = {&window, 1, 1};
    ppi_union none = {};
    const uint64_t num = PPI_IDENTITY_MAX_OPEN + 10;
    ppi_device_side side = {1, 1500, 0, 0, false, false, false};
    ASSERT_TRUE(ppi_identity_add(&identity, &side));
    for (uint64_t i = 0; is_told_open && i < num; i++)
      ASSERT_TRUE(ppi_identity_step_at(&identity, 0, i, UINT64_MAX));
    const uint64_t settled_ns = is_told_open ? num : 0;
    ASSERT_TRUE(ppi_identity_settle(&identity, &windows, &none, settled_ns));
    for (uint64_t i = 0; i < num; i++)
      ASSERT_TRUE(ppi_identity_step_at(&identity, 0, i, 1500 - i));
    // They have ended where it begins.
    ASSERT_TRUE(ppi_identity_step_at(&identity, 0, 1500, 1600));
    ASSERT_TRUE(ppi_identity_settle(&identity, &windows, &none, UINT64_MAX));
    EXPECT_EQ(identity.steps_unchecked, 10u);
    EXPECT_EQ(identity.steps_failed, 0u);
    EXPECT_EQ(identity.num_steps, 0u);
    EXPECT_EQ(identity.num_open, 0u);
    ppi_identity_clear(&identity);
  }
}

}  // namespace
