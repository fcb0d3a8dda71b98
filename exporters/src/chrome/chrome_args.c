// SPDX-License-Identifier: Apache-2.0
//
// Writes the `args` of a trace event.
#include "chrome/chrome_args.h"

#include <string.h>

void ppi_chrome_put_field(ppi_chrome_out *out, const char *key,
                          uint64_t value) {
  ppi_chrome_put_text(out, key);
  ppi_chrome_put_u64(out, value);
}

static const struct {
  uint32_t flag;
  const char *text;
} flag_names[] = {
    {PPROF_FLAG_CLIPPED, ",\"clipped\":true"},
    {PPROF_FLAG_ABANDONED, ",\"abandoned\":true"},
    {PPROF_FLAG_LATE, ",\"late\":true"},
    {PPROF_FLAG_IN_GRAPH, ",\"in_graph\":true"},
    {PPROF_FLAG_NO_DEVICE_TIME, ",\"no_device_time\":true"},
    {PPROF_FLAG_PAIRED, ",\"paired\":true"},
    {PPROF_FLAG_INNER, ",\"inner\":true"},
    {PPROF_FLAG_COMMUNICATION, ",\"communication\":true"},
    {PPROF_FLAG_RESERVED, ",\"reserved\":true"},
    {PPROF_FLAG_PROJECTED, ",\"projected\":true"},
    {PPROF_FLAG_BY_WAIT, ",\"by_wait\":true"},
    {PPROF_FLAG_REQUEST, ",\"request\":true"},
};

void ppi_chrome_put_flags(ppi_chrome_out *out, uint32_t flags) {
  if (flags == 0) return;
  for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
    if (flags & flag_names[i].flag)
      ppi_chrome_put_text(out, flag_names[i].text);
}

void ppi_chrome_put_flows(ppi_chrome_out *out, const uint64_t *flows,
                          size_t num) {
  if (num == 0) return;
  PPI_CHROME_PUT(out, ",\"flows\":[");
  for (size_t i = 0; i < num; i++) {
    if (i > 0) PPI_CHROME_PUT(out, ",");
    ppi_chrome_put_id(out, flows[i]);
  }
  PPI_CHROME_PUT(out, "]");
}

void ppi_chrome_put_amount(ppi_chrome_out *out, const char *key,
                           double amount) {
  if (amount == 0) return;
  ppi_chrome_put_text(out, key);
  ppi_chrome_put_double(out, amount);
}

void ppi_chrome_put_work(ppi_chrome_out *out, const pprof_work_amount *work) {
  if (work->size == 0) return;
  ppi_chrome_put_amount(out, ",\"items\":", work->items);
  ppi_chrome_put_amount(out, ",\"bytes\":", work->bytes);
  ppi_chrome_put_amount(out, ",\"flops\":", work->flops);
  ppi_chrome_put_amount(out, ",\"params\":", work->params);
}

void ppi_chrome_put_cpu(ppi_chrome_out *out, const pprof_cpu_use *cpu) {
  if (!cpu) return;
  ppi_chrome_put_field(out, ",\"cpu_known\":", cpu->known);
  if (cpu->known == 0) return;
  ppi_chrome_put_field(out, ",\"cpu_user_ns\":", cpu->user_ns);
  ppi_chrome_put_field(out, ",\"cpu_sys_ns\":", cpu->sys_ns);
  ppi_chrome_put_field(out, ",\"cpu_inner_ns\":", cpu->inner_ns);
  ppi_chrome_put_field(out, ",\"run_queue_ns\":", cpu->run_queue_ns);
  ppi_chrome_put_field(out,
                       ",\"voluntary_switches\":", cpu->voluntary_switches);
  ppi_chrome_put_field(out,
                       ",\"involuntary_switches\":", cpu->involuntary_switches);
  ppi_chrome_put_field(out, ",\"minor_faults\":", cpu->minor_faults);
  ppi_chrome_put_field(out, ",\"major_faults\":", cpu->major_faults);
}

void ppi_chrome_put_numbers(ppi_chrome_out *out, const pprof_numbers *numbers) {
  uint32_t num = PPI_MIN(numbers->num, PPROF_MOST_NUMBERS);
  if (num == 0) return;
  PPI_CHROME_PUT(out, ",\"numbers\":[");
  for (uint32_t i = 0; i < num; i++) {
    if (i > 0) PPI_CHROME_PUT(out, ",");
    if (numbers->values[i] == UINT64_MAX)
      PPI_CHROME_PUT(out, "null");
    else
      ppi_chrome_put_u64(out, numbers->values[i]);
  }
  PPI_CHROME_PUT(out, "]");
}

// Braces are not escaped.
void ppi_chrome_put_full(ppi_chrome_out *out, const char *escaped,
                         const pprof_numbers *numbers) {
  uint32_t num = PPI_MIN(numbers->num, PPROF_MOST_NUMBERS);
  for (uint32_t i = 0; i < num; i++) {
    const char *hole = strstr(escaped, "{}");
    if (!hole) break;
    ppi_chrome_put(out, escaped, (size_t)(hole - escaped));
    ppi_chrome_put_u64(out, numbers->values[i]);
    escaped = hole + 2;
  }
  ppi_chrome_put_text(out, escaped);
}
