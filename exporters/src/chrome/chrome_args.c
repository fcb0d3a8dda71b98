// SPDX-License-Identifier: Apache-2.0
//
// Writes the `args` of a trace event.
#include "chrome/chrome_args.h"

static const struct {
  uint32_t flag;
  const char *text;
} flag_names[] = {
    {PPROF_FLAG_CLIPPED, "clipped"},
    {PPROF_FLAG_ABANDONED, "abandoned"},
    {PPROF_FLAG_LATE, "late"},
    {PPROF_FLAG_IN_GRAPH, "in_graph"},
    {PPROF_FLAG_NO_DEVICE_TIME, "no_device_time"},
    {PPROF_FLAG_PAIRED, "paired"},
    {PPROF_FLAG_INNER, "inner"},
    {PPROF_FLAG_COMMUNICATION, "communication"},
    {PPROF_FLAG_RESERVED, "reserved"},
    {PPROF_FLAG_PROJECTED, "projected"},
    {PPROF_FLAG_BY_WAIT, "by_wait"},
    {PPROF_FLAG_REQUEST, "request"},
};

void ppi_chrome_put_flags(ppi_page *out, uint32_t flags) {
  if (flags == 0) return;
  for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
    if (flags & flag_names[i].flag) ppi_put_bool(out, flag_names[i].text, true);
}

void ppi_chrome_put_flows(ppi_page *out, const uint64_t *flows, size_t num) {
  if (num == 0) return;
  ppi_put_array(out, "flows");
  for (size_t i = 0; i < num; i++) ppi_chrome_put_id(out, NULL, flows[i]);
  ppi_page_text(out, "]");
}

void ppi_chrome_put_amount(ppi_page *out, const char *key, double amount) {
  if (amount == 0) return;
  ppi_put_key(out, key);
  ppi_page_exact(out, amount);
}

void ppi_chrome_put_work(ppi_page *out, const pprof_work_amount *work) {
  if (work->size == 0) return;
  ppi_chrome_put_amount(out, "items", work->items);
  ppi_chrome_put_amount(out, "bytes", work->bytes);
  ppi_chrome_put_amount(out, "flops", work->flops);
  ppi_chrome_put_amount(out, "params", work->params);
}

void ppi_chrome_put_cpu(ppi_page *out, const pprof_cpu_use *cpu) {
  if (!cpu) return;
  ppi_put_u64(out, "cpu_known", cpu->known);
  if (cpu->known == 0) return;
  ppi_put_u64(out, "cpu_user_ns", cpu->user_ns);
  ppi_put_u64(out, "cpu_sys_ns", cpu->sys_ns);
  ppi_put_u64(out, "cpu_inner_ns", cpu->inner_ns);
  ppi_put_u64(out, "run_queue_ns", cpu->run_queue_ns);
  ppi_put_u64(out, "voluntary_switches", cpu->voluntary_switches);
  ppi_put_u64(out, "involuntary_switches", cpu->involuntary_switches);
  ppi_put_u64(out, "minor_faults", cpu->minor_faults);
  ppi_put_u64(out, "major_faults", cpu->major_faults);
}

void ppi_chrome_put_numbers(ppi_page *out, const pprof_numbers *numbers) {
  uint32_t num = PPI_MIN(numbers->num, PPROF_MOST_NUMBERS);
  if (num == 0) return;
  ppi_put_array(out, "numbers");
  for (uint32_t i = 0; i < num; i++) {
    if (numbers->values[i] == UINT64_MAX)
      ppi_put_text(out, NULL, NULL);
    else
      ppi_put_u64(out, NULL, numbers->values[i]);
  }
  ppi_page_text(out, "]");
}

// Braces are not escaped.
void ppi_chrome_put_full(ppi_page *out, const char *escaped,
                         const pprof_numbers *numbers) {
  uint32_t num = PPI_MIN(numbers->num, PPROF_MOST_NUMBERS);
  for (uint32_t i = 0; i < num; i++) {
    const char *hole = strstr(escaped, "{}");
    if (!hole) break;
    ppi_page_bytes(out, escaped, (size_t)(hole - escaped));
    ppi_page_u64(out, numbers->values[i]);
    escaped = hole + 2;
  }
  ppi_page_text(out, escaped);
}
