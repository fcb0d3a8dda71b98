// SPDX-License-Identifier: Apache-2.0
//
// Collects the machine's troubles over time, as findings report them.
#include "html/bands.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/machine/troubles.h"

static int longest_first(const void *a, const void *b) {
  const ppi_picture_band *one = a, *other = b;
  uint64_t ns = one->end_ns - one->start_ns;
  uint64_t other_ns = other->end_ns - other->start_ns;
  if (ns != other_ns) return ns < other_ns ? 1 : -1;
  return (one->start_ns > other->start_ns) - (one->start_ns < other->start_ns);
}

static void trim(ppi_picture *picture) {
  size_t num = picture->num_bands;
  if (num > 1)
    qsort(picture->bands, num, sizeof *picture->bands, longest_first);
  if (num <= PPI_PICTURE_BANDS) return;
  picture->num_bands_left_out += num - PPI_PICTURE_BANDS;
  picture->num_bands = PPI_PICTURE_BANDS;
}

static pprof_status add_bands(ppi_picture *picture,
                              const ppi_intervals *stretches,
                              const ppi_picture_band *like) {
  uint64_t shift_ns = picture->runs[like->run].shift_ns;
  size_t num = picture->num_bands + stretches->num;
  if (!PPI_ROOM(picture->bands, picture->bands_capacity, num + 1))
    return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < stretches->num; i++) {
    ppi_picture_band *to = &picture->bands[picture->num_bands++];
    *to = *like;
    to->start_ns = stretches->items[i].from_ns + shift_ns;
    to->end_ns = stretches->items[i].to_ns + shift_ns;
  }
  trim(picture);
  return PPROF_STATUS_OK;
}

pprof_status ppi_bands_take(ppi_picture *picture) {
  pprof_status status = PPROF_STATUS_OK;
  ppi_picture_band like = {.run = (uint32_t)picture->at_run - 1};
  for (uint32_t i = 0; i < PPI_NUM_MACHINE_CAUSES; i++)
    for (uint32_t k = 0; k < PPI_MACHINE_DEVICES && status == PPROF_STATUS_OK;
         k++) {
      ppi_intervals stretches = {0};
      uint64_t ns;
      like.cause = i;
      like.device = k;
      status = ppi_machine_stretches(&picture->machine, (ppi_machine_cause)i, k,
                                     &stretches, &ns);
      if (status == PPROF_STATUS_OK && stretches.num)
        status = add_bands(picture, &stretches, &like);
      ppi_intervals_clear(&stretches);
    }
  return status;
}

static void put_sums(ppi_page *page, const ppi_machine_figures *machine) {
  const char *comma = "";
  ppi_page_text(page, "\"causes\":[");
  for (size_t i = 0; i < PPI_NUM_MACHINE_CAUSES; i++)
    for (unsigned k = 0; k < PPI_MACHINE_DEVICES; k++) {
      const ppi_machine_trouble *trouble = &machine->troubles[i][k];
      if (!trouble->num) continue;
      ppi_page_format(
          page, "%s[\"%s\",%u,%llu,%llu]", comma, ppi_machine_cause_id(i), k,
          (unsigned long long)trouble->num, (unsigned long long)trouble->ns);
      comma = ",";
    }
  ppi_page_text(page, "],\n");
}

void ppi_bands_put(ppi_page *page, const ppi_picture *picture,
                   const ppi_figures *figures, unsigned level) {
  size_t num = picture->num_bands >> level;
  const char *comma = "";
  put_sums(page, &figures->machine);
  ppi_page_format(page, "\"bands_left_out\":%llu,\"bands\":[",
                  (unsigned long long)(picture->num_bands_left_out +
                                       picture->num_bands - num));
  for (size_t i = 0; i < num; i++, comma = ",") {
    const ppi_picture_band *band = &picture->bands[i];
    ppi_page_format(page, "%s[\"%s\",%u,%u,%llu,%llu]", comma,
                    ppi_machine_cause_id(band->cause), band->run, band->device,
                    (unsigned long long)band->start_ns,
                    (unsigned long long)band->end_ns);
  }
  ppi_page_text(page, "],\n");
}
