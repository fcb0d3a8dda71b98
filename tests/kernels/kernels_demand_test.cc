// SPDX-License-Identifier: Apache-2.0
//
// Kernels for a while, of a session that runs; over a stand-in for libcupti.
#include <string>

#include "kernels_case.h"

namespace {

using pprof_test::Advance;
using pprof_test::cupti_;
using pprof_test::DeviceSession;
using pprof_test::KernelsTest;
using pprof_test::test_clock_ns;

PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);

class KernelsDemandTest : public KernelsTest {
 protected:
  void SetUp() override {
    KernelsTest::SetUp();
    ASSERT_EQ(
        ppi_session_set_kernels(session_->get(), ppi_cupti_source(), false),
        PPROF_STATUS_OK);
    session_->Start();
  }

  pprof_status Ask(uint64_t ns = 1000000000) {
    return ppi_session_trace_kernels(session_->get(), ns, &error_);
  }

  bool IsOver() {
    return ppi_session_kernels_traced(session_->get(), &status_, &error_);
  }

  pprof_error error_ = {""};
  pprof_status status_ = PPROF_STATUS_OK;
};

TEST_F(KernelsDemandTest, BeginAndEndWhileTheSessionGoesOn) {
  for (int i = 0; i < 2; i++) {
    Launch();  // not looked at
    ASSERT_EQ(Ask(), PPROF_STATUS_OK) << error_.text;
    EXPECT_EQ(Ask(), PPROF_STATUS_BUSY);
    pprof_push(&detect);
    uint32_t correlation = Launch();
    pprof_pop();
    Look();
    EXPECT_FALSE(IsOver());
    Advance(1000000000);
    Look();  // its end has come; what was launched is awaited
    uint32_t late = Launch();
    EXPECT_FALSE(IsOver());
    uint64_t now = test_clock_ns;
    Tell(late, now + 10, now + 20);
    Tell(correlation, now - 10, now);
    Look();
    Look();
    ASSERT_TRUE(IsOver());
    EXPECT_EQ(status_, PPROF_STATUS_OK) << error_.text;
    EXPECT_EQ(cupti_->num_kinds, 0u);
    LeaveCupti();
  }
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].depth, 1u);
  EXPECT_EQ(kernels[1].depth, 1u);
  EXPECT_TRUE(session_->HasNote("kernels: 2 recordings on demand"));
  EXPECT_FALSE(session_->HasNote("no known launch"));
}

TEST_F(KernelsDemandTest, SayThatNothingWasLaunched) {
  ASSERT_EQ(Ask(), PPROF_STATUS_OK);
  Advance(1000000000);
  for (int i = 0; i < 3; i++) Look();
  ASSERT_TRUE(IsOver());
  EXPECT_EQ(status_, PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error_.text,
               "the program launched nothing on a device in that time");
}

// The driver's tracing may be dead where it begins late.
TEST_F(KernelsDemandTest, SayThatNothingCameOfWhatWasLaunched) {
  ASSERT_EQ(Ask(), PPROF_STATUS_OK);
  Launch();
  Advance(1000000000);
  Look();
  Look();
  EXPECT_FALSE(IsOver());
  Advance(1000000000);
  Look();
  ASSERT_TRUE(IsOver());
  EXPECT_EQ(status_, PPROF_STATUS_UNAVAILABLE);
  EXPECT_NE(std::string(error_.text).find("the driver reported none"),
            std::string::npos)
      << error_.text;
}

TEST_F(KernelsDemandTest, SayWhoElseHasThem) {
  cupti_->results[0] = {"cuptiSubscribe", PPI_CUPTI_MULTIPLE_SUBSCRIBERS, 0};
  EXPECT_EQ(Ask(), PPROF_STATUS_UNAVAILABLE);
  EXPECT_NE(std::string(error_.text).find("another tool"), std::string::npos)
      << error_.text;
  cupti_->results[0] = {nullptr, 0, 0};
  EXPECT_EQ(Ask(), PPROF_STATUS_OK);
  session_->Stop();
  EXPECT_FALSE(session_->HasNote("another tool"));
}

TEST_F(KernelsDemandTest, AStopTellsWhatIsThere) {
  ASSERT_EQ(Ask(), PPROF_STATUS_OK);
  uint32_t correlation = Launch();
  Tell(correlation, test_clock_ns + 10, test_clock_ns + 20);
  session_->Stop();
  ASSERT_TRUE(IsOver());
  EXPECT_EQ(status_, PPROF_STATUS_OK) << error_.text;
  EXPECT_EQ(session_->DeviceRanges().size(), 1u);
}

TEST_F(KernelsDemandTest, AreNoneWhereTheyAreThereAlready) {
  session_.reset(new DeviceSession);
  EXPECT_STREQ(ppi_clock_name(), "injected");
  ppi_session_set_kernels(session_->get(), ppi_cupti_source(), true);
  session_->Start();
  EXPECT_EQ(Ask(), PPROF_STATUS_BUSY);
  EXPECT_STREQ(error_.text, "kernels are being recorded already");
}

}  // namespace
