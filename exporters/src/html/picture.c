// SPDX-License-Identifier: Apache-2.0
//
// Plans the drawings of the page from the two readings of each log.
#include "html/picture.h"

#include <string.h>

#include "base/mem.h"
#include "html/detail.h"
#include "html/page_data.h"
#include "html/plan.h"
#include "html/series.h"
#include "html/survey.h"
#include "report/figures/sum.h"

pprof_status ppi_picture_create(ppi_picture **out) {
  ppi_picture *picture = ppi_alloc(sizeof *picture);
  if (!picture) return PPROF_STATUS_NO_MEMORY;
  ppi_survey_init(picture);
  ppi_detail_init(picture);
  *out = picture;
  return PPROF_STATUS_OK;
}

static void clear_names(ppi_picture *picture) {
  for (size_t i = 0; i < picture->num_runs; i++) {
    ppi_free(picture->runs[i].host);
    ppi_free(picture->runs[i].pid);
  }
  for (size_t i = 0; i < picture->num_rows; i++)
    ppi_free(picture->rows[i].name);
  for (size_t i = 0; i < picture->num_stages; i++) {
    ppi_free(picture->stages[i].name);
    ppi_free(picture->stages[i].category);
  }
  for (size_t i = 0; i < picture->num_devices; i++)
    ppi_free(picture->devices[i]);
  for (size_t i = 0; i < picture->num_counters; i++)
    ppi_free(picture->counters[i].name);
}

void ppi_picture_destroy(ppi_picture *picture) {
  if (!picture) return;
  ppi_page_data_clear_run(picture);
  ppi_machine_run_clear(&picture->machine);
  clear_names(picture);
  ppi_map_clear(&picture->row_numbers);
  ppi_map_clear(&picture->stage_numbers);
  ppi_map_clear(&picture->device_numbers);
  ppi_map_clear(&picture->series_numbers);
  void *all[] = {
      picture->runs,         picture->rows,       picture->stages,
      picture->devices,      picture->categories, picture->lane_names,
      picture->stream_names, picture->bins,       picture->events,
      picture->series,       picture->counters,   picture->windows,
      picture->bands};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ppi_free(all[i]);
  ppi_free(picture);
}

pprof_sink *ppi_picture_survey(ppi_picture *picture) {
  return &picture->survey;
}

pprof_sink *ppi_picture_detail(ppi_picture *picture) {
  return &picture->detail;
}

// The figures have all requests, so their series needs no second reading.
static pprof_status add_requests(ppi_picture *picture,
                                 const ppi_request_run *run,
                                 uint64_t shift_ns) {
  const ppi_series_key key = {PPI_SERIES_REQUESTS, UINT32_MAX, UINT32_MAX};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < run->num_rows && status == PPROF_STATUS_OK; i++) {
    uint64_t start_ns = run->rows[i].start_ns + shift_ns;
    status = ppi_series_add(
        picture, key,
        (ppi_stretch){start_ns, start_ns + run->rows[i].length_ns});
  }
  return status;
}

// The figures have the courses, too. If one run fills the page, a bin of its
// course is at most a quarter of a moment.
static pprof_status add_course(ppi_picture *picture, uint32_t device,
                               const ppi_course *course, uint64_t shift_ns) {
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t kind = 0; kind < PPI_COURSE_KINDS; kind++)
    for (uint64_t i = 0; i < PPI_COURSE_BINS; i++) {
      uint64_t ns = course->ns[kind][i];
      uint64_t start_ns = course->start_ns + i * course->bin_ns + shift_ns;
      if (!ns || status != PPROF_STATUS_OK) continue;
      status = ppi_series_add_part(
          picture, (ppi_series_key){PPI_SERIES_STATE, device, kind},
          (ppi_stretch){start_ns, start_ns + course->bin_ns}, ns);
    }
  return status;
}

static const ppi_picture_run *run_of(const ppi_picture *picture,
                                     const char *uuid) {
  for (size_t i = 0; i < picture->num_runs; i++)
    if (strcmp(picture->runs[i].uuid, uuid) == 0) return &picture->runs[i];
  return NULL;
}

static uint32_t device_of(const ppi_picture *picture, const char *name) {
  size_t at = 0;
  while (at < picture->num_devices && strcmp(picture->devices[at], name) != 0)
    at++;
  return at < picture->num_devices ? (uint32_t)at : PPI_SEEN_NONE;
}

pprof_status ppi_picture_plan(ppi_picture *picture,
                              const ppi_figures *figures) {
  pprof_status status = ppi_plan_make(picture, figures);
  bool has_requests = ppi_figures_base(figures) == PPI_BASE_REQUEST;
  for (size_t i = 0; has_requests && i < figures->num_request_runs; i++) {
    const ppi_request_run *of = figures->request_runs[i];
    const ppi_picture_run *run = run_of(picture, of->uuid);
    if (run && status == PPROF_STATUS_OK)
      status = add_requests(picture, of, run->shift_ns);
  }
  for (size_t i = 0; i < figures->courses.num; i++) {
    const ppi_report_course *of = &figures->courses.items[i];
    const ppi_picture_run *run = run_of(picture, of->uuid);
    uint32_t device = device_of(picture, of->device);
    if (run && device != PPI_SEEN_NONE && status == PPROF_STATUS_OK)
      status = add_course(picture, device, &of->course, run->shift_ns);
  }
  return status;
}
