// SPDX-License-Identifier: Apache-2.0
//
// Checks whether runs keep rules, and computes the figures of rules.
#pragma once

#include "expect/expect_rule.h"
#include "expect/expect_run.h"
#include "file/text.h"

PPROF_BEGIN_C_

// ppi_expect_rule_holds answers whether a run keeps a rule; if not, `out` gets
// the first violation. *num_cut is the number of requests that an edge of the
// recording cut; they are not judged.
bool ppi_expect_rule_holds(const ppi_expect_rule *rule,
                           const ppi_expect_run *run, ppi_page *out,
                           size_t *num_cut);

// ppi_expect_is_cut: an edge of a window cut one of the unit's calls.
bool ppi_expect_is_cut(const ppi_expect_run *run,
                       const ppi_expect_member *members, size_t num);
// ppi_expect_longest is the longest time that two successive calls took.
uint64_t ppi_expect_longest(const ppi_expect_run *run,
                            const ppi_expect_member *members, size_t num);
// ppi_expect_is_near_edge: a request may have other calls outside the
// recording. Its own range is not there, and an edge is at most `most_ns` away.
bool ppi_expect_is_near_edge(const ppi_expect_run *run,
                             const ppi_expect_member *members, size_t num,
                             uint64_t most_ns);

// ppi_expect_quantile is the duration of nearest rank of the calls of a name,
// in ns; a quantile below 0 is the mean. 0 where there are none.
double ppi_expect_quantile(const ppi_expect_run *run, const char *name,
                           double quantile);
// ppi_expect_overlap is the share of the time of `a` in which `b` runs, too, in
// %; below 0: `a` has no time.
double ppi_expect_overlap(const ppi_expect_run *run, const char *a,
                          const char *b);

PPROF_END_C_
