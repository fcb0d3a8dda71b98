// SPDX-License-Identifier: Apache-2.0
//
// Accounts for steps and windows, as units of one walk per horizon.
#include "report/answer/accounts.h"

#include <string.h>

#include "base/mem.h"
#include "report/answer/copied_walk.h"
#include "report/answer/step_path.h"
#include "report/answer/walk_back.h"
#include "report/figures/first_calls.h"

bool ppi_accounts_take(ppi_accounts *accounts, const ppi_item *item) {
  if (!(item->flags & PPI_ITEM_NO_HOST))
    ppi_accounts_reach(accounts, item->start_ns, item->end_ns);
  if (item->device_end_ns)
    ppi_accounts_reach(accounts, item->device_start_ns, item->device_end_ns);
  return PPI_PUSH(accounts->items, accounts->num_items,
                  accounts->items_capacity, *item);
}

// ---- steps ----

static int compare_steps(const ppi_step_account *a, const ppi_step_account *b) {
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
  return (a->site > b->site) - (a->site < b->site);
}

static ppi_step_account *insert_step(ppi_accounts *accounts,
                                     const ppi_step_account *step, size_t at) {
  if (!PPI_ROOM(accounts->steps, accounts->steps_capacity,
                accounts->num_steps + 1))
    return NULL;
  ppi_account *account = ppi_alloc(sizeof *account);
  if (!account) return NULL;
  ppi_step_account *grown = accounts->steps;
  memmove(grown + at + 1, grown + at,
          (accounts->num_steps++ - at) * sizeof *grown);
  grown[at] = *step;
  grown[at].account = account;
  // Part of the step's time was settled before, without the step.
  grown[at].is_cut |= step->start_ns < accounts->settled_ns;
  return &grown[at];
}

bool ppi_accounts_step(ppi_accounts *accounts, const ppi_step_account *step) {
  size_t at = accounts->num_steps;
  for (; at; at--) {
    ppi_step_account *known = &accounts->steps[at - 1];
    int order = compare_steps(known, step);
    if (order < 0) break;
    if (order > 0 || known->end_ns != UINT64_MAX) continue;
    known->end_ns = step->end_ns;
    known->is_cut |= step->is_cut;
    return true;
  }
  return insert_step(accounts, step, at);
}

static bool fold_step(ppi_accounts *accounts, ppi_step_account *step,
                      const ppi_account_names *names) {
  ppi_answer *into = &accounts->by_step;
  uint64_t length_ns = step->end_ns - step->start_ns;
  if (!into->num_units) accounts->first_ns = step->start_ns;
  accounts->last_ns = PPI_MAX(accounts->last_ns, step->end_ns);
  return ppi_account_fold(step->account, length_ns, names, into);
}

static void drop_account(ppi_step_account *step) {
  if (!step->account) return;
  ppi_account_clear(step->account);
  ppi_free(step->account);
  step->account = NULL;
}

// Moves the step's account.
static bool keep_first_calls(ppi_accounts *accounts, ppi_step_account *step) {
  if (!PPI_PUSH(accounts->first_calls, accounts->num_first_calls,
                accounts->first_calls_capacity, *step))
    return false;
  step->account = NULL;
  return true;
}

static bool fold_first_calls(ppi_accounts *accounts,
                             const ppi_account_names *names) {
  size_t num = accounts->num_first_calls;
  if (num == 0) return true;
  size_t num_cold =
      ppi_units_num_cold(accounts->first_calls, num,
                         sizeof *accounts->first_calls, accounts->warmup);
  bool done = true;
  for (size_t i = 0; i < num; i++) {
    ppi_step_account *step = &accounts->first_calls[i];
    accounts->by_step.num_cold += i < num_cold;
    if (i < num_cold)
      accounts->by_step.cold_ns += step->end_ns - step->start_ns;
    else if (done)
      done = fold_step(accounts, step, names);
    drop_account(step);
  }
  accounts->num_first_calls = 0;
  return done;
}

static bool fold_ended(ppi_accounts *accounts, ppi_step_account *step,
                       const ppi_account_names *names) {
  ppi_answer *into = &accounts->by_step;
  size_t most = ppi_first_calls_most(accounts->warmup);
  bool done = true;
  if (step->is_cut) {
    into->num_cut++;
    return true;
  }
  bool any_before =
      accounts->num_first_calls || into->num_cold || into->num_units;
  if (!any_before) into->before_ns = step->start_ns;
  if (into->num_units + into->num_cold == 0 && accounts->num_first_calls < most)
    done = keep_first_calls(accounts, step);
  else
    done = fold_step(accounts, step, names);
  if (accounts->num_first_calls == most && done)
    done = fold_first_calls(accounts, names);
  return done;
}

// Folds steps by begin: the result does not depend on horizons.
static bool fold_steps(ppi_accounts *accounts, ppi_step_account *steps,
                       size_t num, const ppi_account_names *names) {
  bool done = true;
  for (size_t i = 0; i < num; i++) {
    if (steps[i].end_ns != UINT64_MAX && done)
      done = fold_ended(accounts, &steps[i], names);
    drop_account(&steps[i]);
  }
  return done;
}

static size_t num_ended(const ppi_accounts *accounts, uint64_t to_ns) {
  size_t num = 0;
  if (to_ns == UINT64_MAX) return accounts->num_steps;
  while (num < accounts->num_steps &&
         accounts->steps[num].end_ns != UINT64_MAX &&
         accounts->steps[num].end_ns <= to_ns)
    num++;
  return num;
}

static void forget_steps(ppi_accounts *accounts, size_t num) {
  accounts->num_steps -= num;
  if (num)
    memmove(accounts->steps, accounts->steps + num,
            accounts->num_steps * sizeof *accounts->steps);
}

// ---- what a horizon settles ----

typedef struct telling {
  ppi_accounts *accounts;
  size_t num_steps;  // of the units; the others are windows
} telling;

static bool take_moment(void *context, const ppi_moment *moment) {
  const telling *to = context;
  ppi_account *account = moment->unit < to->num_steps
                             ? to->accounts->steps[moment->unit].account
                             : &to->accounts->run;
  return ppi_account_add(account, moment);
}

// Adds ranges of the lanes and open ranges to the items, in order; drop_passed
// removes both.
static bool list_items(ppi_accounts *accounts,
                       const ppi_accounts_horizon *horizon) {
  size_t num = ppi_answer_lanes_count(&accounts->lanes);
  if (!PPI_ROOM(accounts->items, accounts->items_capacity,
                accounts->num_items + num + horizon->num_open + 1))
    return false;
  accounts->num_items += ppi_answer_lanes_list(
      &accounts->lanes, accounts->items + accounts->num_items);
  for (size_t i = 0; i < horizon->num_open; i++)
    accounts->items[accounts->num_items++] = horizon->open[i];
  ppi_items_sort(accounts->items, accounts->num_items);
  return true;
}

static void drop_passed(ppi_accounts *accounts, uint64_t to_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < accounts->num_items; i++) {
    const ppi_item *item = &accounts->items[i];
    uint64_t last_ns = PPI_MAX(item->end_ns, item->device_end_ns);
    uint64_t begin_ns = PPI_MAX(item->start_ns, item->device_start_ns);
    bool is_passed = last_ns <= to_ns && begin_ns < to_ns;
    if (item->end_ns != UINT64_MAX && !is_passed && !item->is_copy)
      accounts->items[kept++] = *item;
  }
  accounts->num_items = kept;
}

typedef struct stretch {
  const ppi_accounts_horizon *horizon;
  ppi_moment_unit *units;  // steps, then windows
  size_t num_steps, num_units;
  uint64_t to_ns;
  ppi_step_path path;
  bool has_path;
} stretch;

// Without ranges of lanes: the items have them.
static bool find_path(const ppi_accounts *accounts, stretch *at,
                      ppi_walk_back *walk) {
  walk->items = accounts->items;
  walk->num_items = accounts->num_items;
  walk->open = at->horizon->open;
  walk->num_open = at->horizon->num_open;
  walk->units = at->units;
  walk->num_units = at->num_units;
  walk->from_ns = accounts->settled_ns;
  walk->to_ns = at->to_ns;
  if (!at->has_path && !ppi_step_path_find(walk, &at->path)) return false;
  at->has_path = true;
  walk->path = at->path.items;
  walk->num_path = at->path.num;
  return true;
}

static bool walk_all(ppi_accounts *accounts, stretch *at) {
  telling to = {accounts, at->num_steps};
  ppi_moments moments = {.units = at->units,
                         .num_units = at->num_units,
                         .from_ns = accounts->settled_ns,
                         .to_ns = at->to_ns,
                         .names = at->horizon->names,
                         .on_moment = take_moment,
                         .context = &to};
  bool done = list_items(accounts, at->horizon);
  ppi_walk_back walk = {0};
  done = done && find_path(accounts, at, &walk);
  moments.items = accounts->items;
  moments.num_items = accounts->num_items;
  moments.lanes = walk.path;
  moments.num_lanes = walk.num_path;
  done = done && ppi_moments_walk(&moments, &accounts->room);
  drop_passed(accounts, at->to_ns);
  return done;
}

// The walk back can run: no item has a host side, no lane is mixed.
static bool is_plain(const ppi_accounts *accounts, const stretch *at) {
  bool is_plain = !accounts->one_way && !accounts->lanes.is_mixed &&
                  accounts->num_items < UINT32_MAX;
  for (size_t i = 0; i < at->horizon->num_open; i++)
    is_plain &= !(at->horizon->open[i].flags & PPI_ITEM_LOOSE);
  for (size_t i = 0; i < accounts->num_items && is_plain; i++)
    is_plain = accounts->items[i].flags & PPI_ITEM_NO_HOST;
  return is_plain;
}

static bool add_lanes(ppi_accounts *accounts,
                      const ppi_accounts_horizon *horizon) {
  bool added = true;
  for (size_t i = 0; i < horizon->num_open; i++)
    added &=
        ppi_answer_lanes_at(&accounts->lanes, horizon->open[i].lane) != NULL;
  for (size_t i = 0; i < accounts->num_items; i++)
    added &=
        ppi_answer_lanes_at(&accounts->lanes, accounts->items[i].lane) != NULL;
  return added;
}

// Adds to separate accounts: only the walk's end shows whether they are whole.
static bool walk_back(ppi_accounts *accounts, stretch *at, bool *out_whole) {
  const ppi_accounts_horizon *horizon = at->horizon;
  bool done = add_lanes(accounts, horizon);
  ppi_items_sort(accounts->items, accounts->num_items);
  ppi_walk_back walk = {
      .lanes = &accounts->lanes,
      .names = horizon->names,
      .accounts = ppi_alloc((at->num_units + 1) * sizeof *walk.accounts)};
  if (!walk.accounts) return false;
  done = done && find_path(accounts, at, &walk) &&
         ppi_walk_back_run(&walk, out_whole);
  for (size_t i = 0; i < at->num_units; i++) {
    ppi_account *into =
        i < at->num_steps ? accounts->steps[i].account : &accounts->run;
    if (*out_whole && done) done = ppi_account_move(into, &walk.accounts[i]);
    ppi_account_clear(&walk.accounts[i]);
  }
  ppi_free(walk.accounts);
  if (*out_whole) drop_passed(accounts, at->to_ns);
  return done;
}

static bool list_units(const ppi_accounts *accounts, stretch *at) {
  const ppi_accounts_horizon *horizon = at->horizon;
  at->num_steps = accounts->num_steps;
  at->num_units = accounts->num_steps + horizon->num_windows;
  at->units = ppi_alloc((at->num_units + 1) * sizeof *at->units);
  if (!at->units) return false;
  for (size_t i = 0; i < at->num_steps; i++) {
    const ppi_step_account *step = &accounts->steps[i];
    at->units[i] = (ppi_moment_unit){step->start_ns, step->end_ns, true,
                                     step->is_cut, step->lane};
  }
  for (size_t i = 0; i < horizon->num_windows; i++)
    at->units[at->num_steps + i] =
        (ppi_moment_unit){.start_ns = horizon->windows[i].start_ns,
                          .end_ns = horizon->windows[i].end_ns};
  return true;
}

static bool walk(ppi_accounts *accounts, stretch *at) {
  bool is_reported = false;
  bool done = true;
  if (is_plain(accounts, at)) done = walk_back(accounts, at, &is_reported);
  if (done && !is_reported) done = walk_all(accounts, at);
  ppi_free(at->units);
  ppi_free(at->path.items);
  size_t num = num_ended(accounts, at->to_ns);
  done = done && fold_steps(accounts, accounts->steps, num, at->horizon->names);
  if (done) forget_steps(accounts, num);
  return done;
}

// ---- walks of jobs ----

typedef struct handed {
  ppi_job job;
  ppi_accounts *accounts;
  ppi_copied_walk walk;
  ppi_account **into;       // by unit
  ppi_step_account *ended;  // out of the accounts' steps
  size_t num_ended;
  ppi_account_names names;
  bool done;
} handed;

static void run_handed(ppi_job *job, unsigned worker) {
  handed *self = (handed *)job;
  (void)worker;
  self->done = ppi_walk_copied(&self->walk);
}

static void free_handed(handed *self) {
  for (size_t i = 0; i < self->num_ended; i++) drop_account(&self->ended[i]);
  ppi_copied_walk_clear(&self->walk);
  PPI_FREE_ALL(self->into, self->ended, self);
}

static bool retire(ppi_job *job) {
  handed *self = (handed *)job;
  bool done = self->done;
  for (size_t i = 0; i < self->walk.num_units && done; i++)
    done = ppi_account_move(self->into[i], &self->walk.sums[i]);
  done = done &&
         fold_steps(self->accounts, self->ended, self->num_ended, &self->names);
  free_handed(self);
  return done;
}

bool ppi_accounts_hands_over(const ppi_accounts *accounts,
                             const ppi_accounts_horizon *horizon,
                             bool is_much) {
  const stretch at = {.horizon = horizon};
  return accounts->line.jobs && (is_much || accounts->line.first) &&
         !accounts->num_items && is_plain(accounts, &at);
}

static bool hand_over(ppi_accounts *accounts, const stretch *at) {
  handed *self = ppi_alloc(sizeof *self);
  if (!self) {
    ppi_free(at->units);
    return false;
  }
  const ppi_walk_back from = {.lanes = &accounts->lanes,
                              .open = at->horizon->open,
                              .num_open = at->horizon->num_open,
                              .num_units = at->num_units,
                              .from_ns = accounts->settled_ns,
                              .to_ns = at->to_ns};
  size_t num = num_ended(accounts, at->to_ns);
  *self = (handed){.job = {.run = run_handed, .retire = retire},
                   .accounts = accounts,
                   .into = ppi_alloc((at->num_units + 1) * sizeof *self->into),
                   .ended = ppi_alloc((num + 1) * sizeof *self->ended),
                   .names = *at->horizon->names};
  bool done = ppi_walk_copy(&self->walk, &from, at->units);
  if (!done || !self->into || !self->ended) {
    free_handed(self);
    return false;
  }
  for (size_t i = 0; i < at->num_units; i++)
    self->into[i] =
        i < at->num_steps ? accounts->steps[i].account : &accounts->run;
  if (num) memcpy(self->ended, accounts->steps, num * sizeof *self->ended);
  self->num_ended = num;
  forget_steps(accounts, num);
  enum { BYTES_EACH = 256 };  // of a unit, an open range, a lane
  size_t others = at->num_units + at->horizon->num_open + accounts->lanes.num;
  self->job.size = sizeof *self + others * BYTES_EACH +
                   self->walk.num_words * sizeof *self->walk.words;
  return ppi_line_put(&accounts->line, &self->job);
}

// Only whole steps have paths: the walk ends before the first step that goes on
// and may have one.
static uint64_t hold_back(const ppi_accounts *accounts, uint64_t to_ns) {
  for (size_t i = 0; i < accounts->num_steps; i++) {
    const ppi_step_account *step = &accounts->steps[i];
    if (step->start_ns >= to_ns) break;
    if (step->end_ns > to_ns && step->start_ns >= accounts->settled_ns &&
        !ppi_step_path_is_long(&accounts->lanes, accounts->items,
                               accounts->num_items, step->start_ns, to_ns))
      return step->start_ns;
  }
  return to_ns;
}

bool ppi_accounts_settle(ppi_accounts *accounts,
                         const ppi_accounts_horizon *horizon) {
  bool is_last = horizon->time_ns == UINT64_MAX;
  uint64_t to_ns =
      is_last ? UINT64_MAX : PPI_MIN(accounts->wanted_ns, horizon->time_ns);
  accounts->wanted_ns = PPI_MAX(accounts->wanted_ns, horizon->time_ns);
  if (!horizon->num_windows || to_ns <= accounts->settled_ns) return true;
  bool done = true;
  // Ranges that never end count, too.
  for (size_t i = 0; i < horizon->num_open; i++)
    if (horizon->open[i].start_ns < to_ns)
      ppi_accounts_reach(accounts, horizon->open[i].start_ns, to_ns);
  for (size_t i = 0; i < horizon->num_open_steps && done; i++)
    done = ppi_accounts_step(accounts, &horizon->open_steps[i]);
  if (!is_last) to_ns = hold_back(accounts, to_ns);
  if (!done || to_ns <= accounts->settled_ns) return done;
  stretch at = {.horizon = horizon, .to_ns = to_ns};
  if (!list_units(accounts, &at)) return false;
  done = horizon->hands_over ? hand_over(accounts, &at) : walk(accounts, &at);
  accounts->settled_ns = to_ns;
  return done;
}

bool ppi_accounts_forget(ppi_accounts *accounts) {
  return ppi_answer_lanes_drop(&accounts->lanes, accounts->settled_ns);
}

// ---- the end ----

static uint64_t time_of(const ppi_accounts_horizon *end, uint64_t before_ns) {
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < end->num_windows; i++) {
    uint64_t end_ns = PPI_MIN(end->windows[i].end_ns, before_ns);
    sum_ns += end_ns - PPI_MIN(end->windows[i].start_ns, end_ns);
  }
  return sum_ns;
}

bool ppi_accounts_fill(ppi_accounts *accounts, const ppi_accounts_horizon *end,
                       ppi_answer answers[PPI_NUM_BASES]) {
  bool done =
      ppi_line_end(&accounts->line) && fold_first_calls(accounts, end->names);
  ppi_answer *steps = &accounts->by_step;
  if (!done) return false;
  if (steps->num_units + steps->num_cold) {
    steps->num_runs = 1;
    steps->num_all = steps->num_units;
    steps->before_ns = time_of(end, steps->before_ns);
    steps->span_ns = accounts->last_ns - accounts->first_ns;
    return ppi_answer_merge(&answers[PPI_BASE_STEP], steps);
  }
  if (!end->num_windows) return done;
  ppi_answer *run = &answers[PPI_BASE_WALL];
  uint64_t all_ns = time_of(end, UINT64_MAX);
  uint64_t before_ns = accounts->any ? time_of(end, accounts->begin_ns) : 0;
  uint64_t until_ns = accounts->any ? time_of(end, accounts->end_ns) : all_ns;
  run->num_runs++;
  run->num_all++;
  run->span_ns += until_ns - before_ns;
  run->before_ns += before_ns;
  run->after_ns += all_ns - until_ns;
  run->num_cut += steps->num_cut;
  done =
      ppi_account_fold(&accounts->run, until_ns - before_ns, end->names, run);
  ppi_answer_sort(run);
  return done;
}

void ppi_accounts_clear(ppi_accounts *accounts) {
  ppi_line_end(&accounts->line);
  for (size_t i = 0; i < accounts->num_steps; i++)
    drop_account(&accounts->steps[i]);
  for (size_t i = 0; i < accounts->num_first_calls; i++)
    drop_account(&accounts->first_calls[i]);
  ppi_account_clear(&accounts->run);
  ppi_answer_clear(&accounts->by_step);
  ppi_moment_room_clear(&accounts->room);
  ppi_answer_lanes_clear(&accounts->lanes);
  PPI_FREE_ALL(accounts->items, accounts->steps, accounts->first_calls);
  *accounts = (ppi_accounts){.lanes = {.pool = accounts->lanes.pool},
                             .warmup = accounts->warmup,
                             .one_way = accounts->one_way,
                             .line = {.jobs = accounts->line.jobs}};
}
