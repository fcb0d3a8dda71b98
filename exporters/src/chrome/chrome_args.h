// SPDX-License-Identifier: Apache-2.0
//
// The members of an event's `args`, and an event's name in full.
#pragma once

#include "base/base.h"
#include "chrome/chrome_text.h"
#include "pprof/event.h"

// Nothing for an amount of 0.
void ppi_chrome_put_amount(ppi_page *out, const char *key, double amount);
void ppi_chrome_put_flags(ppi_page *out, uint32_t flags);
void ppi_chrome_put_flows(ppi_page *out, const uint64_t *flows, size_t num);
void ppi_chrome_put_work(ppi_page *out, const pprof_work_amount *work);
void ppi_chrome_put_cpu(ppi_page *out, const pprof_cpu_use *cpu);
void ppi_chrome_put_numbers(ppi_page *out, const pprof_numbers *numbers);

static inline bool ppi_chrome_is_full(const pprof_numbers *numbers) {
  return numbers && numbers->full_name == PPROF_NAME_IN_FULL;
}
// `escaped` is the site's name with a `{}` for each number.
void ppi_chrome_put_full(ppi_page *out, const char *escaped,
                         const pprof_numbers *numbers);
