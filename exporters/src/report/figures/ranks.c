// SPDX-License-Identifier: Apache-2.0
//
// Names and sorts runs by rank or process, and finds their kinds.
#include "report/figures/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/figures/sum.h"

// Numbers sort by value, other texts by strcmp.
static int compare_texts(const char *a, const char *b) {
  char *a_end, *b_end;
  long long left = strtoll(a, &a_end, 10), right = strtoll(b, &b_end, 10);
  bool are_numbers = *a && *b && !*a_end && !*b_end;
  if (are_numbers && left != right) return left < right ? -1 : 1;
  return strcmp(a, b);
}

PPI_ORDER(compare_by_rank, ppi_rank,
          PPI_BY(compare_texts(a->input->rank, b->input->rank)))

PPI_ORDER(compare_by_process, ppi_rank,
          PPI_BY_TEXT(input->host)
              PPI_BY(compare_texts(a->input->pid, b->input->pid))
                  PPI_BY_TEXT(input->uuid))

// `ranks` are sorted by rank. Repeated runs have one rank several times: false.
static bool have_ranks(const ppi_rank *ranks, size_t num) {
  for (size_t i = 0; i < num; i++) {
    if (!*ranks[i].input->rank) return false;
    if (i && strcmp(ranks[i - 1].input->rank, ranks[i].input->rank) == 0)
      return false;
  }
  return true;
}

// Ranks stay; what only launches them, without a rank and a stage, goes.
static void leave_launchers(ppi_ranks *of) {
  size_t num = 0;
  bool any = false;
  for (size_t i = 0; i < of->num; i++) any |= *of->items[i].input->rank;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_report_input *input = of->items[i].input;
    if (!any || *input->rank ||
        ppi_answer_has_stage(&input->answers[PPI_BASE_WALL]))
      of->items[num++] = of->items[i];
  }
  of->num = num;
}

static bool are_of_hosts(const ppi_rank *ranks, size_t num) {
  for (size_t i = 1; i < num; i++)
    if (strcmp(ranks[0].input->host, ranks[i].input->host) != 0) return true;
  return false;
}

PPI_ORDER(compare_by_begin, ppi_rank, PPI_UP(input->began_ns))

// Processes of one job begin at most 10 s after the earlier ones' end.
static bool are_far_apart(ppi_rank *ranks, size_t num) {
  const uint64_t least_ns = UINT64_C(10000000000);
  if (num) qsort(ranks, num, sizeof *ranks, compare_by_begin);
  uint64_t end_ns = UINT64_MAX;  // of earlier runs
  for (size_t i = 0; i < num; i++) {
    const ppi_report_input *input = ranks[i].input;
    uint64_t run_ns = input->began_ns + input->wall_ns;
    if (!input->began_ns) return false;
    if (i && input->began_ns > end_ns && input->began_ns - end_ns > least_ns)
      return true;
    end_ns = i ? PPI_MAX(end_ns, run_ns) : run_ns;
  }
  return false;
}

// "ray::ServeReplica:APP:NAME.METHOD" is NAME, another "ray::" title its class.
static const char *ray_name(const char *title, size_t *out_len) {
  static const char replica[] = "ServeReplica:";
  const char *name = title + sizeof "ray::" - 1;
  if (strncmp(name, replica, sizeof replica - 1) == 0) {
    const char *app = name + sizeof replica - 1;
    size_t len = strcspn(app, ": ");
    if (app[len] == ':') name = app + len + 1;
  }
  *out_len = strcspn(name, ". ");
  return name;
}

// The script or module that Python runs; "spawned" for multiprocessing.
static const char *script_of(const char *begin) {
  const char *at = begin + strcspn(begin, " ");
  while (*at == ' ' && at[1] == '-') {
    const char *option = at + 1;
    at = option + strcspn(option, " ");
    if (option[1] == 'm') return *at ? at + 1 : begin;
    bool has_value = option[1] == 'X' || option[1] == 'W';
    if (has_value && option[2] == ' ') at += 1 + strcspn(at + 1, " ");
    if (option[1] != 'c') continue;
    return strstr(at, "--multiprocessing-fork") ? "spawned" : begin;
  }
  return *at ? at + 1 : begin;
}

// The command's first word without its folder; for Python its script. A
// server's title for its own process is the first word, too.
static const char *program_of(const ppi_report_input *input, size_t *out_len) {
  const char *begin = input->command;
  if (strncmp(begin, "ray::", 5) == 0) return ray_name(begin, out_len);
  size_t len = strcspn(begin, " ");
  const char *slash = memrchr(begin, '/', len);
  if (strncmp(slash ? slash + 1 : begin, "python", 6) == 0) {
    begin = script_of(begin);
    len = strcspn(begin, " ");
  }
  slash = memrchr(begin, '/', len);
  const char *name = slash ? slash + 1 : begin;
  *out_len = len - (size_t)(name - begin);
  return name;
}

static bool are_of_programs(const ppi_rank *ranks, size_t num) {
  size_t first_len = 0, len;
  const char *first = num ? program_of(ranks[0].input, &first_len) : NULL;
  for (size_t i = 1; i < num; i++) {
    const char *program = program_of(ranks[i].input, &len);
    if (len != first_len || memcmp(program, first, len) != 0) return true;
  }
  return false;
}

static void name_rank(const ppi_ranks *ranks, ppi_rank *rank) {
  bool has_host = ranks->of_hosts && !ranks->are_reported;
  bool has_program = ranks->of_programs && !ranks->are_reported;
  size_t len;
  const char *program = program_of(rank->input, &len);
  if (len > 32) len = 32;
  snprintf(rank->name, sizeof rank->name, "%.*s%s%.24s%s%.20s",
           has_program ? (int)len : 0, program, has_program && len ? " " : "",
           has_host ? rank->input->host : "",
           ranks->are_reported ? "rank "
           : has_host          ? ":"
                               : "pid ",
           ranks->are_reported ? rank->input->rank : rank->input->pid);
}

pprof_status ppi_ranks_of(const ppi_figures *figures, ppi_base_kind base,
                          ppi_ranks *out) {
  *out = (ppi_ranks){
      .items = ppi_alloc((figures->num_inputs + 1) * sizeof *out->items)};
  if (!out->items) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < figures->num_inputs; i++) {
    const ppi_report_input *input = &figures->inputs[i];
    const ppi_answer *answer =
        base == PPI_NUM_BASES ? NULL : &input->answers[base];
    if (!answer || answer->num_units)
      out->items[out->num++] = (ppi_rank){.input = input, .answer = answer};
  }
  leave_launchers(out);
  if (out->num)
    qsort(out->items, out->num, sizeof *out->items, compare_by_rank);
  out->are_reported = have_ranks(out->items, out->num);
  out->of_hosts = are_of_hosts(out->items, out->num);
  out->of_programs = are_of_programs(out->items, out->num);
  out->are_apart = !out->are_reported && are_far_apart(out->items, out->num);
  if (out->num && !out->are_reported)
    qsort(out->items, out->num, sizeof *out->items, compare_by_process);
  for (size_t i = 0; i < out->num; i++) name_rank(out, &out->items[i]);
  return PPROF_STATUS_OK;
}

void ppi_ranks_clear(ppi_ranks *ranks) {
  ppi_free(ranks->items);
  *ranks = (ppi_ranks){.items = NULL};
}

void ppi_ranks_keep(ppi_ranks *ranks, uint32_t kind) {
  size_t num = 0;
  for (size_t i = 0; i < ranks->num; i++)
    if (ranks->items[i].input->kind == kind)
      ranks->items[num++] = ranks->items[i];
  ranks->num = num;
}

ppi_ranks_name ppi_ranks_title(const ppi_ranks *ranks) {
  ppi_ranks_name name = {""};
  const char *first = ranks->num ? ranks->items[0].name : "";
  if (ranks->num > 1)
    snprintf(name.text, sizeof name.text, "%s and %zu more", first,
             ranks->num - 1);
  else
    snprintf(name.text, sizeof name.text, "%s", first);
  return name;
}

// ---- kinds ----

static bool has_row(const ppi_answer *answer, const char *name) {
  for (size_t i = 0; i < answer->num_rows; i++)
    if (ppi_row_is_of_kind(&answer->rows[i]) &&
        strcmp(answer->rows[i].name, name) == 0)
      return true;
  return false;
}

static bool are_alike(const ppi_answer *a, const ppi_answer *b) {
  for (size_t i = 0; i < a->num_rows; i++)
    if (ppi_row_is_of_kind(&a->rows[i]) && has_row(b, a->rows[i].name))
      return true;
  return !ppi_answer_has_stage(a) || !ppi_answer_has_stage(b);
}

// A kind's work time, its first input and its number in `list_kinds`.
typedef struct kind {
  uint64_t work_ns;
  uint32_t first, number;
} kind;

PPI_ORDER(compare_kinds, kind, PPI_DOWN(work_ns) PPI_UP(first))

static uint64_t work_of(const ppi_answer *answer) {
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < answer->num_rows; i++) {
    const ppi_answer_row *row = &answer->rows[i];
    bool is_work =
        row->where == PPI_WHERE_DEVICE || row->where == PPI_WHERE_HOST;
    if (is_work && !*row->child) sum_ns += row->total_ns;
  }
  return sum_ns;
}

// Numbers the inputs' kinds in the order of inputs; answers how many.
static uint32_t list_kinds(ppi_figures *figures, ppi_base_kind base,
                           kind *kinds) {
  uint32_t num = 0;
  for (uint32_t i = 0; i < figures->num_inputs; i++) {
    ppi_report_input *input = &figures->inputs[i];
    const ppi_answer *answer = &input->answers[base];
    uint32_t at = 0;
    if (!answer->num_units) continue;
    while (at < num &&
           !are_alike(&figures->inputs[kinds[at].first].answers[base], answer))
      at++;
    if (at == num) kinds[num++] = (kind){.first = i, .number = at};
    kinds[at].work_ns += work_of(answer);
    input->kind = at;
  }
  return num;
}

// The answer of the busiest kind replaces the sum of all kinds.
static bool sum_kinds(ppi_figures *figures, ppi_base_kind base) {
  bool done = true;
  figures->kinds = ppi_alloc(figures->num_kinds * sizeof *figures->kinds);
  if (!figures->kinds) done = false;
  for (size_t i = 0; i < figures->num_inputs && done; i++)
    done = ppi_answer_merge(&figures->kinds[figures->inputs[i].kind],
                            &figures->inputs[i].answers[base]);
  if (!done) {
    ppi_figures_clear_kinds(figures);
    return done;
  }
  ppi_answer_clear(&figures->answers[base]);
  figures->answers[base] = figures->kinds[0];
  figures->kinds[0] = (ppi_answer){0};
  return done;
}

// Here unlike loops count as units: each kind may have its own loop.
static ppi_base_kind base_of(ppi_figures *figures) {
  bool is_unlike = figures->loop.is_unlike;
  figures->loop.is_unlike = false;
  ppi_base_kind base = ppi_figures_base(figures);
  figures->loop.is_unlike = is_unlike;
  return base;
}

bool ppi_ranks_part(ppi_figures *figures) {
  ppi_base_kind base = base_of(figures);
  if (figures->are_joined || figures->num_inputs < 2) return true;
  kind *kinds = ppi_alloc(figures->num_inputs * sizeof *kinds);
  uint32_t *numbers = ppi_alloc(figures->num_inputs * sizeof *numbers);
  bool done = false;
  if (kinds && numbers) {
    uint32_t num = list_kinds(figures, base, kinds);
    done = true;
    if (num > 1) qsort(kinds, num, sizeof *kinds, compare_kinds);
    for (uint32_t i = 0; i < num; i++) numbers[kinds[i].number] = i;
    for (size_t i = 0; i < figures->num_inputs; i++)
      figures->inputs[i].kind = numbers[figures->inputs[i].kind];
    figures->num_kinds = num > 1 ? num : 0;
    if (num > 1) done = sum_kinds(figures, base);
    if (figures->num_kinds && figures->loop.is_unlike) {
      figures->loop.is_unlike = false;
      *figures->loop.stages = 0;
    }
  }
  ppi_free(kinds);
  ppi_free(numbers);
  return done;
}

uint64_t ppi_ranks_left_out(const ppi_figures *figures, ppi_base_kind base) {
  uint64_t num = 0;
  for (size_t i = 0; i < figures->num_inputs; i++)
    num += !figures->inputs[i].answers[base].num_units &&
           ppi_answer_has_stage(&figures->inputs[i].answers[PPI_BASE_WALL]);
  return num;
}
