// SPDX-License-Identifier: Apache-2.0
//
// Decides when to stop running programs in turns, and the result. A round is
// one run of the base and one of each program that is still in; two rounds, in
// opposite orders, cancel an even drift. Which order is first changes without a
// period. Group-sequential: the error is spent over a few looks, planned before
// the first run. A stop at any look keeps the error. One thread. Also prints
// the result.
#pragma once

#include "compare/compare_comparison.h"

PPROF_BEGIN_C_

struct ppi_tool_options;

// The most programs without the base; the fewest rounds; the most looks.
enum { PPI_TURNS_MOST = 32, PPI_TURNS_LEAST = 6, PPI_TURNS_MAX_LOOKS = 24 };

// One stage of one program against the base, in logarithms.
typedef struct ppi_turn_figure {
  size_t num;  // rounds in which both had it
  double mean, squares;
  double *changes;   // of each of these rounds
  double low, high;  // in which the change lies, at all looks together
  ppi_decision decision;
} ppi_turn_figure;

typedef struct ppi_turns {
  size_t num_programs, num_stages, num_rounds;
  size_t looks[PPI_TURNS_MAX_LOOKS];  // rounds after which there is one
  size_t num_looks, next_look;
  double until;              // changes up to it do not matter
  ppi_turn_figure *figures;  // of each program, of each stage
  double *changes;           // of all figures
  size_t *rounds_of;         // of each program: how many it took part in
  bool *is_out;
  // Of the base, then of each program: surely slower than another, by the first
  // stage.
  bool *is_behind;
  bool are_alike;  // the last two programs differ by `until` at most
} ppi_turns;

// ppi_turns_open plans for at most `max_runs` runs a program, PPI_TURNS_LEAST
// at least.
void ppi_turns_open(ppi_turns *turns, size_t num_programs, size_t num_stages,
                    size_t max_runs, double until);
void ppi_turns_close(ppi_turns *turns);
ppi_turn_figure *ppi_turns_figure(const ppi_turns *turns, size_t program,
                                  size_t stage);
// ppi_turns_add takes log(program / base) of this round.
void ppi_turns_add(ppi_turns *turns, size_t program, size_t stage,
                   double change);
// ppi_turns_command answers which command is the `place`-th of this round, 0
// for the base.
size_t ppi_turns_command(const ppi_turns *turns, size_t place);
// ppi_turns_end_round decides at a look. It drops the worse half of more than
// two programs by their first stage, and of two the one that is behind. Answers
// whether to go on.
bool ppi_turns_end_round(ppi_turns *turns);

// All pointers are borrowed.
typedef struct ppi_turns_result {
  const struct ppi_tool_options *options;
  const ppi_turns *turns;
  const ppi_compare_stage *const *stages;
  // The mean of the logarithms of the runs' figures, by stage: of the base,
  // then of each program.
  const double *logs;
  const char *const *commands;
  ppi_metric metric;
  const ppi_page *notes;  // a line each
} ppi_turns_result;

// Answers `code`, or PPI_EXIT_USAGE if a write failed.
int ppi_turns_print(const ppi_turns_result *result, int code);

PPROF_END_C_
