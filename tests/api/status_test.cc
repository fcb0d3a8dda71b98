// SPDX-License-Identifier: Apache-2.0
//
// Status codes and batches as programs see them; values typed from the
// published list, which may grow but never change.
#include "pprof/base.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "pprof/event.h"

namespace {

TEST(StatusTest, ValuesAndTextsAreThePublishedOnes) {
  const std::vector<std::pair<int, std::string>> published = {
      {PPROF_STATUS_OK, "success"},
      {PPROF_STATUS_NO_MEMORY, "out of memory"},
      {PPROF_STATUS_INVALID, "invalid argument"},
      {PPROF_STATUS_BUSY, "already running, or not ready yet"},
      {PPROF_STATUS_UNAVAILABLE, "not available on this machine"},
      {PPROF_STATUS_IO, "input or output failed"},
      {PPROF_STATUS_CORRUPT, "the log is damaged"},
      {PPROF_STATUS_VERSION, "written by a newer version"},
      {PPROF_STATUS_CONFIG, "the configuration is not valid"},
      {PPROF_STATUS_DEVICE, "the device reported an error"},
      {PPROF_STATUS_UNSUPPORTED, "not supported by this backend or format"},
  };
  for (int i = 0; i < static_cast<int>(published.size()); i++) {
    EXPECT_EQ(published[i].first, i);
    EXPECT_EQ(pprof_status_string(static_cast<pprof_status>(i)),
              published[i].second);
  }
}

TEST(StatusTest, UnknownValueHasAConstantText) {
  const char *text = pprof_status_string(static_cast<pprof_status>(15));
  ASSERT_NE(text, nullptr);
  EXPECT_STRNE(text, "");
  EXPECT_EQ(pprof_status_string(static_cast<pprof_status>(14)), text);
}

TEST(BatchTest, LargerEventsOfANewerSenderAreSteppedOver) {
  struct newer_event {
    pprof_event event;
    uint64_t appended;
  };
  newer_event events[3] = {};
  for (uint32_t i = 0; i < 3; i++) events[i].event.site = 10 + i;
  pprof_batch batch = {};
  batch.size = sizeof batch;
  batch.stride = sizeof(newer_event);
  batch.events = &events[0].event;
  batch.num_events = 3;
  EXPECT_EQ(pprof_batch_at(&batch, 0)->site, 10u);
  EXPECT_EQ(pprof_batch_at(&batch, 2)->site, 12u);
}

}  // namespace
