// SPDX-License-Identifier: Apache-2.0
//
// Collects the machine's troubles over time, as findings report them.
#include "html/bands.h"

#include <stdlib.h>

#include "base/mem.h"
#include "file/json_put.h"
#include "report/machine/machine.h"

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

// Opens an array that begins with a cause.
static void put_cause(ppi_page *page, ppi_machine_cause cause) {
  ppi_put_array(page, NULL);
  ppi_put_text(page, NULL, ppi_machine_cause_id(cause));
}

static void put_sums(ppi_page *page, const ppi_machine_figures *machine) {
  ppi_put_line(page);
  ppi_put_array(page, "causes");
  for (size_t i = 0; i < PPI_NUM_MACHINE_CAUSES; i++)
    for (unsigned k = 0; k < PPI_MACHINE_DEVICES; k++) {
      const ppi_machine_trouble *trouble = &machine->troubles[i][k];
      if (!trouble->num) continue;
      put_cause(page, (ppi_machine_cause)i);
      PPI_PUT_NUMBERS(page, k, trouble->num, trouble->ns);
      ppi_page_text(page, "]");
    }
  ppi_page_text(page, "]");
}

void ppi_bands_put(ppi_page *page, const ppi_picture *picture,
                   const ppi_figures *figures, unsigned level) {
  size_t num = picture->num_bands >> level;
  put_sums(page, &figures->machine);
  ppi_put_line(page);
  ppi_put_u64(page, "bands_left_out",
              picture->num_bands_left_out + picture->num_bands - num);
  ppi_put_array(page, "bands");
  for (size_t i = 0; i < num; i++) {
    const ppi_picture_band *band = &picture->bands[i];
    put_cause(page, band->cause);
    PPI_PUT_NUMBERS(page, band->run, band->device, band->start_ns,
                    band->end_ns);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]");
}
