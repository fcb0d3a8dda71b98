// SPDX-License-Identifier: Apache-2.0
//
// What the page draws of a log: two readings, in bounded memory.
#include "html/picture.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <string>

#include "base/mem.h"
#include "event_feed.h"
#include "html/pack.h"
#include "html/picture_state.h"
#include "html/series.h"
#include "html/survey.h"
#include "report/report.h"

namespace {

using pprof_test::EventFeed;

class Picture {
 public:
  Picture() {
    EXPECT_EQ(ppi_picture_create(&picture_), PPROF_STATUS_OK);
  }
  ~Picture() {
    ppi_picture_destroy(picture_);
  }
  Picture(const Picture &) = delete;
  Picture &operator=(const Picture &) = delete;

  // The first failure of: reading, planning, reading again.
  pprof_status Read(EventFeed *feed, const ppi_figures &figures) {
    pprof_status status = feed->Deliver(ppi_picture_survey(picture_));
    if (status == PPROF_STATUS_OK)
      status = ppi_picture_plan(picture_, &figures);
    if (status == PPROF_STATUS_OK)
      status = feed->Deliver(ppi_picture_detail(picture_));
    return status;
  }
  const ppi_picture *operator->() const {
    return picture_;
  }
  ppi_picture *get() {
    return picture_;
  }

 private:
  ppi_picture *picture_ = nullptr;
};

void MakePipeline(EventFeed *feed, uint64_t calls) {
  feed->Lane(1, 11, "main");
  feed->Stream(1, 1);
  for (uint64_t i = 0; i < calls; i++) {
    uint64_t at = 1000 * i;
    feed->Range(1, "decode", PPROF_CATEGORY_DATALOADER, at, at + 400 + i % 7);
    feed->OnDevice(1, 1, "detect", PPROF_CATEGORY_INFERENCE, at + 450, at + 500,
                   at + 900);
  }
}

uint64_t NumIn(const Picture &picture, size_t row) {
  const ppi_picture_row &of = picture->rows[row];
  uint64_t num = 0;
  if (of.first_track == SIZE_MAX) return 0;
  for (size_t i = 0; i < of.depth * picture->bins_a_track; i++)
    num += picture->bins[of.first_track * picture->bins_a_track + i].num;
  return num;
}

TEST(PictureTest, FewEventsAreToldOneByOne) {
  EventFeed feed;
  MakePipeline(&feed, 50);
  Picture picture;
  ppi_figures figures = {};
  ASSERT_EQ(picture.Read(&feed, figures), PPROF_STATUS_OK);
  EXPECT_EQ(picture->num_kept, 100u);
  EXPECT_EQ(picture->num_tracks, 0u);
  EXPECT_EQ(picture->end_ns, 49900u);
  ASSERT_EQ(picture->num_rows, 2u);
  EXPECT_EQ(picture->rows[0].kind, PPI_ROW_THREAD);
  EXPECT_EQ(picture->rows[1].kind, PPI_ROW_STREAM);
}

// A row has 30 000 of the exact ones, here none: all are of two classes of
// length. The slowest eight of each stage are told all the same.
TEST(PictureTest, OfManyTheSlowestAreToldAndNoneIsMissed) {
  const uint64_t calls = 70000;
  EventFeed feed;
  MakePipeline(&feed, calls);
  feed.Range(1, "decode", PPROF_CATEGORY_DATALOADER, 1000 * calls,
             1000 * calls + 5000);
  Picture picture;
  ppi_figures figures = {};
  ASSERT_EQ(picture.Read(&feed, figures), PPROF_STATUS_OK);
  EXPECT_LT(picture->num_kept, 40u);
  uint64_t longest = 0, of_thread = 0, on_device = 0;
  for (size_t i = 0; i < picture->num_kept; i++) {
    const ppi_picture_event &event = picture->events[i];
    longest = std::max(longest, event.end_ns - event.start_ns);
    of_thread += event.row == 0;
    on_device += event.stream_row == 2;
  }
  EXPECT_EQ(longest, 5000u);
  EXPECT_EQ(of_thread + NumIn(picture, 0), 2 * calls + 1);
  EXPECT_EQ(on_device + NumIn(picture, 1), calls);
}

// A span of 2.5 moments, begun in the middle of the first: 0.5, 1, 1.
TEST(PictureTest, SumsGiveEachMomentItsPart) {
  Picture picture;
  ppi_picture *of = picture.get();
  of->start_ns = 1000;
  of->moment_ns = 100;
  of->end_ns = 1000 + 100 * PPI_PICTURE_MOMENTS;
  const ppi_series_key key = {PPI_SERIES_BUSY, 0, 0};
  ASSERT_EQ(ppi_series_add(of, key, {1050, 1300}), PPROF_STATUS_OK);
  ASSERT_EQ(ppi_series_add(of, key, {1210, 1230}), PPROF_STATUS_OK);
  ASSERT_EQ(ppi_series_add(of, key, {0, 1010}), PPROF_STATUS_OK);
  ASSERT_EQ(of->num_series, 1u);
  const uint64_t wanted[] = {600, 1000, 1200, 0};
  int64_t level = 0;
  for (size_t at = 0; at < 4; at++)
    EXPECT_EQ(ppi_series_at(of, &of->series[0], at, &level), wanted[at]) << at;
}

// 60 of a span of 200, from the middle of a moment on: 15, 30, 15; what lies
// before the page's time is left out.
TEST(PictureTest, PartsAreSpreadOverTheirStretch) {
  Picture picture;
  ppi_picture *of = picture.get();
  of->start_ns = 1000;
  of->moment_ns = 100;
  of->end_ns = 1000 + 100 * PPI_PICTURE_MOMENTS;
  const ppi_series_key key = {PPI_SERIES_STATE, 0, PPI_COURSE_BUSY};
  ASSERT_EQ(ppi_series_add_part(of, key, {1050, 1250}, 60), PPROF_STATUS_OK);
  ASSERT_EQ(ppi_series_add_part(of, key, {900, 1100}, 40), PPROF_STATUS_OK);
  const uint64_t wanted[] = {150 + 200, 300, 150, 0};
  int64_t level = 0;
  for (size_t at = 0; at < 4; at++)
    EXPECT_EQ(ppi_series_at(of, &of->series[0], at, &level), wanted[at]) << at;
}

// Two runs of 100 ns, seen late in each, the second one begun 250 ns or 750 ns
// after the first.
TEST(PictureTest, RunsThatLieFarApartCountFromTheirStarts) {
  for (uint64_t apart_ns : {250, 750}) {
    Picture picture;
    ppi_picture *of = picture.get();
    of->runs = static_cast<ppi_picture_run *>(ppi_alloc(2 * sizeof *of->runs));
    ASSERT_NE(of->runs, nullptr);
    of->num_runs = of->runs_capacity = 2;
    for (uint64_t i = 0; i < 2; i++) {
      of->runs[i].base_ns = 1000 + i * apart_ns;
      of->runs[i].first_ns = 9000;
      of->runs[i].last_ns = 9100;
    }
    ppi_figures figures = {};
    ASSERT_EQ(ppi_picture_plan(of, &figures), PPROF_STATUS_OK);
    EXPECT_EQ(of->runs[1].shift_ns, apart_ns == 250 ? 250u : 0u);
    EXPECT_EQ(of->start_ns, 9000u);
    EXPECT_EQ(of->end_ns, apart_ns == 250 ? 9350u : 9100u);
  }
}

TEST(PictureTest, ClassesOfLengthsAreHalfOctaves) {
  const uint64_t begins[] = {0, 1, 2, 3, 4, 6, 8, 12, 16};
  for (size_t i = 0; i + 1 < sizeof begins / sizeof *begins; i++) {
    EXPECT_EQ(ppi_picture_class_ns(i), begins[i]);
    EXPECT_EQ(ppi_picture_class(begins[i]), i);
    EXPECT_EQ(ppi_picture_class(begins[i + 1] - 1), i);
  }
  EXPECT_EQ(ppi_picture_class(UINT64_MAX), 127u);
}

TEST(PictureTest, NamesThatFoldAreOneStage) {
  EventFeed feed;
  feed.Lane(1, 11, "main");
  for (uint64_t i = 0; i < 12; i++)
    feed.Range(1, "step " + std::to_string(i), PPROF_CATEGORY_CPU_TASK, 100 * i,
               100 * i + 10 + i);
  for (uint64_t i = 0; i < 12; i++)
    feed.Fold("step " + std::to_string(i), "step {}", PPROF_CATEGORY_CPU_TASK);
  Picture picture;
  ppi_figures figures = {};
  ASSERT_EQ(picture.Read(&feed, figures), PPROF_STATUS_OK);
  ASSERT_EQ(picture->num_kept, 12u);
  for (size_t i = 0; i < 12; i++)
    EXPECT_STREQ(picture->stages[picture->events[i].stage].name, "step {}");
}

// A thread that comes and goes is a row; so many of them are not.
TEST(PictureTest, RowsAreBounded) {
  EventFeed feed;
  for (uint32_t i = 1; i <= 2 * PPI_PICTURE_ROWS; i++) {
    feed.Lane(i, 100 + i, "t");
    feed.Range(i, "work", PPROF_CATEGORY_CPU_TASK, i, i + 1);
  }
  Picture picture;
  ppi_figures figures = {};
  ASSERT_EQ(picture.Read(&feed, figures), PPROF_STATUS_OK);
  EXPECT_EQ(picture->num_rows, static_cast<size_t>(PPI_PICTURE_ROWS));
  EXPECT_GT(picture->num_rows_left_out, 0u);
}

TEST(PictureTest, TimesThatNoneCanHaveAreCounted) {
  EventFeed feed;
  feed.Lane(1, 11, "main");
  feed.Range(1, "odd", PPROF_CATEGORY_CPU_TASK, 5, 4);
  feed.Range(1, "odd", PPROF_CATEGORY_CPU_TASK, 5, UINT64_MAX);
  feed.Range(1, "good", PPROF_CATEGORY_CPU_TASK, 5, 7);
  Picture picture;
  ppi_figures figures = {};
  ASSERT_EQ(picture.Read(&feed, figures), PPROF_STATUS_OK);
  EXPECT_EQ(picture->num_odd, 2u);
  EXPECT_EQ(picture->num_kept, 1u);
  EXPECT_EQ(picture->end_ns, 7u);
}

// A log that has grown since has runs that were not counted.
TEST(PictureTest, ARunThatIsNewInTheSecondReadingIsRefused) {
  EventFeed feed, more;
  MakePipeline(&feed, 3);
  MakePipeline(&more, 3);
  Picture picture;
  ppi_figures figures = {};
  ASSERT_EQ(picture.Read(&feed, figures), PPROF_STATUS_OK);
  EXPECT_EQ(more.Deliver(ppi_picture_detail(picture.get())),
            PPROF_STATUS_INVALID);
}

TEST(PictureTest, OutOfMemoryIsSaid) {
  bool is_done = false;
  for (uint64_t n = 1; !is_done; n++) {
    EventFeed feed;
    MakePipeline(&feed, 20);
    feed.Fold("decode", "all", PPROF_CATEGORY_DATALOADER);
    Picture picture;
    ppi_figures figures = {};
    ppi_mem_fail_at(n);
    pprof_status status = picture.Read(&feed, figures);
    ppi_mem_fail_at(0);
    is_done = status == PPROF_STATUS_OK;
    EXPECT_TRUE(is_done || status == PPROF_STATUS_NO_MEMORY) << status;
  }
}

// RFC 4648, 10.
TEST(Base64Test, OfTheStandard) {
  const char *const pairs[][2] = {{"", ""},
                                  {"f", "Zg=="},
                                  {"fo", "Zm8="},
                                  {"foo", "Zm9v"},
                                  {"foob", "Zm9vYg=="},
                                  {"fooba", "Zm9vYmE="},
                                  {"foobar", "Zm9vYmFy"}};
  for (const auto &pair : pairs) {
    char text[PPI_BASE64_SIZE(6)];
    ppi_base64(pair[0], strlen(pair[0]), text);
    EXPECT_STREQ(text, pair[1]);
  }
}

}  // namespace
