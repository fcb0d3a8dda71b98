// SPDX-License-Identifier: Apache-2.0
//
// Writes rules from runs. A property that all units of all runs share becomes a
// rule. Times and counts that vary with the machine's load become rules in
// comments.
#include "expect/expect_learn.h"

#include <math.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "expect/expect_holds.h"

enum { MOST_NAMES = 64, MOST_KINDS = 8 };

// A name in the units of a kind.
struct name {
  char *name;
  size_t least, most;   // calls in a unit
  bool never_waits;     // no synchronize in its calls
  double p99;           // the largest of all runs, ns
  size_t count, event;  // in this unit
};

struct kind {
  char *kind;
  size_t num_units, num_names;
  size_t num_cut;  // units that an edge of the recording cut: not learnt
  struct name names[MOST_NAMES];
  bool precedes[MOST_NAMES][MOST_NAMES];  // in each unit
};

struct ppi_expect_lesson {
  size_t num_runs, num_kinds;
  struct kind *kinds[MOST_KINDS];
  uint64_t most_lost;
  double overlap;  // of copies with other work, the least; below 0: none
};

ppi_expect_lesson *ppi_expect_lesson_create(void) {
  return ppi_tool_must(ppi_alloc(sizeof(ppi_expect_lesson)));
}

void ppi_expect_lesson_destroy(ppi_expect_lesson *lesson) {
  for (size_t i = 0; i < lesson->num_kinds; i++) {
    struct kind *kind = lesson->kinds[i];
    for (size_t k = 0; k < kind->num_names; k++) ppi_free(kind->names[k].name);
    ppi_free(kind->kind);
    ppi_free(kind);
  }
  ppi_free(lesson);
}

// ---- kinds of units, from the first run ----

static void add_kind(ppi_expect_lesson *lesson, const char *name) {
  for (size_t i = 0; i < lesson->num_kinds; i++)
    if (strcmp(lesson->kinds[i]->kind, name) == 0) return;
  if (lesson->num_kinds == MOST_KINDS) return;
  struct kind *kind = ppi_tool_must(ppi_alloc(sizeof *kind));
  kind->kind = ppi_tool_must(ppi_strdup(name));
  lesson->kinds[lesson->num_kinds++] = kind;
}

static void try_kind(ppi_expect_lesson *lesson, const ppi_expect_run *run,
                     const char *name) {
  ppi_expect_units units = ppi_expect_units_of(run, name);
  bool has_any = false;
  for (size_t i = 0; i < units.num; i++) has_any |= !units.members[i].is_holder;
  ppi_expect_units_clear(&units);
  if (has_any) add_kind(lesson, name);
}

// Takes requests and steps. Without them it takes the run, and outermost ranges
// with calls inside.
static void find_kinds(ppi_expect_lesson *lesson, const ppi_expect_run *run) {
  try_kind(lesson, run, "request");
  try_kind(lesson, run, "step");
  if (lesson->num_kinds) return;
  add_kind(lesson, "run");
  const char *last = "";
  for (size_t i = 0; i < run->num_events; i++) {
    const ppi_expect_event *event = &run->events[i];
    const char *name = ppi_expect_name(run, event);
    if (event->kind != PPROF_KIND_RANGE || event->depth || last == name ||
        strpbrk(name, "*?["))
      continue;
    last = name;
    try_kind(lesson, run, name);
  }
}

// ---- names in a unit ----

// The word of rules for an event, or its name. Kernels have too many names of
// their own.
static const char *word_of(const ppi_expect_run *run,
                           const ppi_expect_event *event) {
  static const char *const words[] = {"synchronize", "launches", "copy"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (ppi_expect_is(run, event, words[i])) return words[i];
  return ppi_expect_name(run, event);
}

static bool has_name(const struct kind *kind, const char *word, size_t *out) {
  for (*out = 0; *out < kind->num_names; ++*out)
    if (strcmp(kind->names[*out].name, word) == 0) return true;
  return false;
}

// NULL: there is no room for the name.
static struct name *name_of(struct kind *kind, const char *word) {
  size_t at;
  if (has_name(kind, word, &at)) return &kind->names[at];
  if (kind->num_names == MOST_NAMES || !*word) return NULL;
  struct name *name = &kind->names[kind->num_names];
  *name = (struct name){.name = ppi_tool_must(ppi_strdup(word)),
                        .least = kind->num_units ? 0 : SIZE_MAX,
                        .never_waits = true};
  for (size_t i = 0; i <= kind->num_names; i++)
    kind->precedes[i][kind->num_names] = kind->precedes[kind->num_names][i] =
        true;
  kind->num_names++;
  return name;
}

// Whether the order is no accident: `a` ends first, or is around `b`.
static bool is_before(const ppi_expect_event *a, const ppi_expect_event *b) {
  bool is_around = a->start_ns <= b->start_ns && b->end_ns <= a->end_ns &&
                   (a->lane == b->lane ? a->depth < b->depth
                                       : (a->flags & PPROF_FLAG_ASYNC) != 0);
  return a->end_ns <= b->start_ns || is_around;
}

static void note_unit(struct kind *kind, const ppi_expect_run *run) {
  for (size_t i = 0; i < kind->num_names; i++) {
    struct name *name = &kind->names[i];
    name->least = PPI_MIN(name->least, name->count);
    name->most = PPI_MAX(name->most, name->count);
    for (size_t k = 0; k < kind->num_names; k++)
      kind->precedes[i][k] &= name->count == 1 && kind->names[k].count == 1 &&
                              is_before(&run->events[name->event],
                                        &run->events[kind->names[k].event]);
  }
  kind->num_units++;
}

// Whether a request at an edge has fewer calls of a name than all others have.
static bool lacks_calls(const struct kind *kind, const ppi_expect_run *run,
                        const ppi_expect_member *members, size_t num) {
  bool lacks = false;
  for (size_t i = 0; i < kind->num_names && kind->num_units; i++) {
    size_t count = 0;
    for (size_t k = 0; k < num; k++)
      count += !members[k].is_holder &&
               strcmp(word_of(run, &run->events[members[k].event]),
                      kind->names[i].name) == 0;
    lacks |= count < kind->names[i].least;
  }
  return lacks;
}

static void learn_unit(struct kind *kind, const ppi_expect_run *run,
                       const ppi_expect_member *members, size_t num) {
  for (size_t i = 0; i < kind->num_names; i++) kind->names[i].count = 0;
  for (size_t i = 0; i < num; i++) {
    const ppi_expect_event *event = &run->events[members[i].event];
    if (members[i].is_holder) continue;
    struct name *name = name_of(kind, word_of(run, event));
    if (!name) continue;
    name->count++;
    name->event = members[i].event;
  }
  note_unit(kind, run);
}

static void learn_name(struct name *name, const ppi_expect_run *run) {
  ppi_expect_units units = ppi_expect_units_of(run, name->name);
  for (size_t i = 0; i < units.num; i++)
    if (!units.members[i].is_holder &&
        ppi_expect_is(run, &run->events[units.members[i].event], "synchronize"))
      name->never_waits = false;
  ppi_expect_units_clear(&units);
  double p99 = ppi_expect_quantile(run, name->name, 0.99);
  name->p99 = PPI_MAX(name->p99, p99);
}

static uint64_t longest_of(const ppi_expect_run *run,
                           const ppi_expect_units *units) {
  uint64_t longest = 0;
  for (size_t begin = 0, end; begin < units->num; begin = end) {
    const ppi_expect_member *members = units->members + begin;
    end = ppi_expect_unit_end(units, begin);
    if (!ppi_expect_is_cut(run, members, end - begin))
      longest = PPI_MAX(longest, ppi_expect_longest(run, members, end - begin));
  }
  return longest;
}

static void learn_kind(struct kind *kind, const ppi_expect_run *run) {
  ppi_expect_units units = ppi_expect_units_of(run, kind->kind);
  bool is_request = strcmp(kind->kind, "request") == 0;
  uint64_t most_ns = is_request ? longest_of(run, &units) : 0;
  // Whole ones come first, and show what those at edges lack.
  for (int at_edge = 0; at_edge <= is_request; at_edge++)
    for (size_t begin = 0, end; begin < units.num; begin = end) {
      const ppi_expect_member *members = units.members + begin;
      end = ppi_expect_unit_end(&units, begin);
      size_t num = end - begin;
      bool is_cut = ppi_expect_is_cut(run, members, num);
      bool is_near = is_request && (is_cut || ppi_expect_is_near_edge(
                                                  run, members, num, most_ns));
      if (is_near != at_edge) continue;
      if (is_cut || (at_edge && lacks_calls(kind, run, members, num)))
        kind->num_cut++;
      else
        learn_unit(kind, run, members, num);
    }
  ppi_expect_units_clear(&units);
  for (size_t i = 0; i < kind->num_names; i++) learn_name(&kind->names[i], run);
}

void ppi_expect_lesson_add(ppi_expect_lesson *lesson,
                           const ppi_expect_run *run) {
  if (!lesson->num_runs) find_kinds(lesson, run);
  for (size_t i = 0; i < lesson->num_kinds; i++)
    learn_kind(lesson->kinds[i], run);
  double overlap = ppi_expect_overlap(run, "copy", "compute");
  lesson->overlap =
      lesson->num_runs ? PPI_MIN(lesson->overlap, overlap) : overlap;
  lesson->most_lost = PPI_MAX(lesson->most_lost, run->num_lost);
  lesson->num_runs++;
}

// ---- the file ----

// Characters with a meaning in rules or YAML become `?`, which matches any.
static void put_name(const char *name, ppi_page *out) {
  for (; *name; name++) {
    bool is_special = strchr("()<>=,*?[]#:\"'\\-", *name) != NULL ||
                      (unsigned char)*name < ' ';
    bool is_dash = *name == '-' && name[1] != '>';
    ppi_page_bytes(out, is_special && !is_dash ? "?" : name, 1);
  }
}

static bool is_word(const char *name) {
  return strcmp(name, "synchronize") == 0 || strcmp(name, "launches") == 0 ||
         strcmp(name, "copy") == 0;
}

static bool is_once(const struct name *name) {
  return name->least == 1 && name->most == 1;
}

// The number of names of the kind that have an order with this one.
static size_t num_ordered(const struct kind *kind, size_t i) {
  size_t num = 0;
  for (size_t k = 0; k < kind->num_names; k++)
    num += k != i && is_once(&kind->names[k]) &&
           (kind->precedes[i][k] || kind->precedes[k][i]);
  return num;
}

// Inserts a name in the chain; false if it has no order with a name there.
static bool insert(const struct kind *kind, size_t i, size_t *chain,
                   size_t num) {
  size_t at = num;
  for (size_t k = 0; k < num; k++)
    if (!kind->precedes[i][chain[k]] && !kind->precedes[chain[k]][i])
      return false;
  for (; at && kind->precedes[i][chain[at - 1]]; at--)
    chain[at] = chain[at - 1];
  chain[at] = i;
  return true;
}

// Makes a chain of names that every unit has once, each after all before it.
// Names with the most orders are tried first.
static size_t chain_of(const struct kind *kind, size_t *out) {
  size_t num = 0;
  for (size_t most = kind->num_names; most > 0; most--)
    for (size_t i = 0; i < kind->num_names; i++)
      if (num < PPI_EXPECT_MOST_NAMES && is_once(&kind->names[i]) &&
          !is_word(kind->names[i].name) && num_ordered(kind, i) == most - 1)
        num += insert(kind, i, out, num);
  return num;
}

static bool is_in(const size_t *chain, size_t num, size_t i) {
  while (num && chain[num - 1] != i) num--;
  return num > 0;
}

static void put_counts(const struct kind *kind, const size_t *chain, size_t num,
                       ppi_page *out) {
  for (size_t i = 0; i < kind->num_names; i++) {
    const struct name *name = &kind->names[i];
    if (is_in(chain, num, i)) continue;
    ppi_page_text(out, name->least == name->most ? "  - " : "  # - ");
    put_name(kind->kind, out);
    ppi_page_text(out, " has ");
    put_name(name->name, out);
    if (name->least == name->most)
      ppi_page_format(out, " = %zu\n", name->most);
    else
      ppi_page_format(out, " <= %zu\n", 2 * name->most);
  }
}

// Puts three times `ns` plus 10 ms, rounded up to two digits. A wait for a CPU
// lasts milliseconds.
static void put_time(double ns, ppi_page *out) {
  double ms = 3 * ns / 1e6 + 10, step = pow(10, floor(log10(ms)) - 1);
  ppi_page_format(out, "%.6g ms", ceil(ms / step) * step);
}

static void put_chain(const struct kind *kind, ppi_page *out) {
  size_t chain[PPI_EXPECT_MOST_NAMES], num = chain_of(kind, chain);
  if (num < 2) num = 0;
  for (size_t i = 0; i < num; i++) {
    if (i == 0) {
      ppi_page_text(out, "  - ");
      put_name(kind->kind, out);
    }
    ppi_page_text(out, i ? " -> " : " has ");
    put_name(kind->names[chain[i]].name, out);
  }
  if (num) ppi_page_text(out, "\n");
  put_counts(kind, chain, num, out);
}

// Puts figures of the names that no earlier kind has.
static void put_figures(const ppi_expect_lesson *lesson, size_t at,
                        ppi_page *out) {
  const struct kind *kind = lesson->kinds[at];
  for (size_t i = 0; i < kind->num_names; i++) {
    const struct name *name = &kind->names[i];
    bool is_known = is_word(name->name) || name->p99 <= 0;
    for (size_t k = 0, place; k < at; k++)
      is_known |= has_name(lesson->kinds[k], name->name, &place);
    if (is_known) continue;
    if (name->never_waits) {
      ppi_page_text(out, "  - no synchronize in ");
      put_name(name->name, out);
      ppi_page_text(out, "\n");
    }
    ppi_page_text(out, "  # - p99(");
    put_name(name->name, out);
    ppi_page_text(out, ") < ");
    put_time(name->p99, out);
    ppi_page_text(out, "\n");
  }
}

void ppi_expect_lesson_put(const ppi_expect_lesson *lesson, ppi_page *out) {
  ppi_page_format(out,
                  "# What was true of %zu run%s. Lines behind # depend on the "
                  "machine's load: take those\n"
                  "# that must be true.\n"
                  "# pprof-report check --expect FILE LOG\n"
                  "expect:\n",
                  lesson->num_runs, lesson->num_runs == 1 ? "" : "s");
  for (size_t i = 0; i < lesson->num_kinds; i++) {
    const struct kind *kind = lesson->kinds[i];
    bool is_run = strcmp(kind->kind, "run") == 0;
    if (kind->num_cut && strcmp(kind->kind, "request") == 0)
      ppi_page_format(out,
                      "  # %zu request%s cut at edges of the recording: not "
                      "learnt from\n",
                      kind->num_cut, kind->num_cut == 1 ? " is" : "s are");
    // One unit does not show what is always true.
    if (kind->num_units < 2) continue;
    put_chain(kind, out);
    put_figures(lesson, i, out);
    size_t place;
    if (!is_run && !has_name(kind, "synchronize", &place)) {
      ppi_page_text(out, "  - ");
      put_name(kind->kind, out);
      ppi_page_text(out, " has synchronize = 0\n");
    }
  }
  if (lesson->most_lost == 0) ppi_page_text(out, "  - lost = 0\n");
  if (lesson->overlap >= 10)
    ppi_page_format(out, "  # - overlap(copy, compute) > %.0f %%\n",
                    floor(lesson->overlap / 2));
}
