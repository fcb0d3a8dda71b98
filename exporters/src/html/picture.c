// SPDX-License-Identifier: Apache-2.0
#include "html/picture.h"

#include <string.h>

#include "base/mem.h"
#include "html/detail.h"
#include "html/plan.h"
#include "html/seen.h"
#include "html/series.h"
#include "html/survey.h"

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
  ppi_seen_clear_run(picture);
  clear_names(picture);
  ppi_map_clear(&picture->row_numbers);
  ppi_map_clear(&picture->stage_numbers);
  ppi_map_clear(&picture->device_numbers);
  ppi_map_clear(&picture->series_numbers);
  void *all[] = {
      picture->runs,         picture->rows,       picture->stages,
      picture->devices,      picture->categories, picture->lane_names,
      picture->stream_names, picture->bins,       picture->events,
      picture->series,       picture->counters,   picture->windows};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ppi_free(all[i]);
  ppi_free(picture);
}

pprof_sink *ppi_picture_survey(ppi_picture *picture) {
  return &picture->survey;
}

pprof_sink *ppi_picture_detail(ppi_picture *picture) {
  return &picture->detail;
}

// Requests are few and in the figures: their series is made at once.
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

pprof_status ppi_picture_plan(ppi_picture *picture,
                              const ppi_figures *figures) {
  pprof_status status = ppi_plan_make(picture, figures);
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    size_t at = 0;
    while (at < picture->num_runs &&
           strcmp(picture->runs[at].uuid, run->uuid) != 0)
      at++;
    if (status == PPROF_STATUS_OK && at < picture->num_runs)
      status = add_requests(picture, run, picture->runs[at].shift_ns);
  }
  return status;
}
