// SPDX-License-Identifier: Apache-2.0
//
// Counts what is missing in a file that ended early.
#include "log/write/log_loss.h"

#include <errno.h>

bool ppi_log_loss_note(ppi_log_loss *loss, const pprof_batch *batch) {
  return ppi_tally_batch(&loss->given, batch) != PPROF_STATUS_NO_MEMORY;
}

bool ppi_log_loss_takes(ppi_log_loss *loss, ppi_log_budget *budget,
                        const uint8_t *blocks, size_t len,
                        pprof_status *out_status) {
  uint64_t num_blocks;
  switch (loss->stage) {
    case PPI_LOG_LOSS_NONE:
      return false;
    case PPI_LOG_LOSS_COUNTS:
      *out_status = ppi_log_budget_refuse(budget, blocks, len, &num_blocks);
      return true;
    default:
      ppi_buffer_bytes(&loss->words, blocks, len);
      *out_status =
          loss->words.failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
      return true;
  }
}

static pprof_status count_ring(ppi_log_budget *budget,
                               const ppi_staging *staging) {
  pprof_status status = PPROF_STATUS_OK;
  uint64_t cursor = 0, number, num_blocks;
  const void *bytes;
  uint32_t len;
  while (status == PPROF_STATUS_OK &&
         ppi_staging_walk(staging, &cursor, &bytes, &len, &number))
    status = ppi_log_budget_refuse(budget, bytes, len, &num_blocks);
  return status;
}

static pprof_status count_backlog(ppi_log_budget *budget,
                                  const ppi_buffer *backlog) {
  pprof_status status = PPROF_STATUS_OK;
  uint64_t num_blocks;
  for (size_t at = 0; status == PPROF_STATUS_OK && at < backlog->len;) {
    uint32_t len = ppi_load32(backlog->data + at);
    status =
        ppi_log_budget_refuse(budget, backlog->data + at + 4, len, &num_blocks);
    at += 4 + (size_t)len;
  }
  return status;
}

// Input after the log's end, as counted from events.
static pprof_status count_unseen(const ppi_log_loss *loss,
                                 const pprof_totals *totals, ppi_tally *into) {
  static const ppi_total_key keys[] = {PPI_TOTAL_RECORDED, PPI_TOTAL_CLIPPED,
                                       PPI_TOTAL_ABANDONED, PPI_TOTAL_LATE,
                                       PPI_TOTAL_NO_DEVICE_TIME};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < totals->num_items; i++) {
    const ppi_total *item = &totals->items[i];
    if (item->lane == PPROF_ALL_LANES) continue;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
      if (item->key != keys[k] || status != PPROF_STATUS_OK) continue;
      uint64_t given = ppi_tally_get(&loss->given, item->lane, keys[k]);
      if (item->value > given)
        status = ppi_tally_add(into, item->lane, keys[k], item->value - given);
    }
  }
  return status;
}

pprof_status ppi_log_loss_settle(ppi_log_loss *loss, ppi_log_budget *budget,
                                 const ppi_log_loss_rest *rest,
                                 const pprof_totals *totals) {
  loss->stage = PPI_LOG_LOSS_COUNTS;
  pprof_status status = ppi_log_assembler_flush(rest->assembler);
  if (budget->error == ENOENT) {
    // With the file, all of its records are lost.
    ppi_tally_clear(&budget->dropped);
    ppi_tally_clear(&loss->given);
    status = ppi_tally_join(&loss->given, rest->elsewhere);
    if (status != PPROF_STATUS_OK) return status;
    return count_unseen(loss, totals, &budget->dropped);
  }
  if (status == PPROF_STATUS_OK) status = count_ring(budget, rest->staging);
  if (status == PPROF_STATUS_OK) status = count_backlog(budget, rest->backlog);
  return status == PPROF_STATUS_OK
             ? count_unseen(loss, totals, &budget->dropped)
             : status;
}

pprof_status ppi_log_loss_speak(ppi_log_loss *loss,
                                const ppi_log_budget *budget,
                                ppi_rotate *rotate,
                                const ppi_log_loss_rest *rest,
                                const pprof_totals *totals) {
  uint64_t num_closed = rest->assembler->next_number;
  loss->stage = PPI_LOG_LOSS_SPEAKS;
  rest->assembler->next_number = rest->num_in_file;
  pprof_status status =
      ppi_log_budget_totals(budget, rotate, totals, rest->assembler);
  rest->assembler->next_number = num_closed;
  return status;
}

static uint64_t num_recorded(const ppi_tally *tally) {
  return ppi_tally_get(tally, PPROF_ALL_LANES, PPI_TOTAL_RECORDED);
}

bool ppi_log_loss_turn(ppi_log_loss *loss, uint64_t num_earlier) {
  return PPI_PUSH(loss->ended, loss->num_ended, loss->ended_capacity,
                  num_earlier);
}

uint64_t ppi_log_loss_missing(const ppi_log_loss *loss,
                              const ppi_log_budget *budget,
                              const pprof_totals *totals, uint32_t segment) {
  if (budget->error != ENOENT) return ppi_log_budget_num_dropped(budget);
  // With the .part, all records are lost that are in no earlier segment.
  uint64_t recorded =
      ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_RECORDED);
  if (segment < 2 || loss->num_ended == 0) return recorded;
  return recorded - loss->ended[PPI_MIN(segment - 2, loss->num_ended - 1)];
}

uint64_t ppi_log_loss_num_given(const ppi_log_loss *loss,
                                const ppi_tally *elsewhere) {
  return num_recorded(&loss->given) - num_recorded(elsewhere);
}

const char *ppi_log_loss_reason(int error) {
  switch (error) {
    case ETIMEDOUT:
      return "timed out, the disk does not answer";
    case ENOENT:
      return "removed while it was written";
    default:
      return strerror(error);
  }
}

void ppi_log_loss_clear(ppi_log_loss *loss) {
  ppi_tally_clear(&loss->given);
  ppi_buffer_clear(&loss->words);
  ppi_free(loss->ended);
}
