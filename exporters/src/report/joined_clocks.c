// SPDX-License-Identifier: Apache-2.0
//
// Bounds how far the clocks of hosts differ. A called part begins after its
// caller begins, and ends before its caller ends. So each call bounds the
// difference of two clocks from both sides.
#include "report/joined_clocks.h"

#include <stdlib.h>

#include "base/mem.h"

enum { DRIFT = 2000, OUTLIERS = 100 };

PPI_ORDER(compare_roles, ppi_host_call, PPI_UP(by) PPI_UP(of))
PPI_ORDER(compare_pairs, ppi_host_call,
          PPI_UP(caller) PPI_UP(callee) PPI_UP(at_ns))

// By the hosts' own clocks.
static bool is_inside(const ppi_host_call *call) {
  return call->least_ns <= 0 && call->most_ns >= 0;
}

// A process is called by another one if its parts mostly lie inside the
// other's. A few may outlast a caller that gave up.
static size_t keep_calls(ppi_host_call *calls, size_t num) {
  size_t kept = 0, next;
  if (num > 1) qsort(calls, num, sizeof *calls, compare_roles);
  for (size_t from = 0; from < num; from = next) {
    size_t inside = 0;
    for (next = from; next < num && !compare_roles(&calls[from], &calls[next]);
         next++)
      inside += is_inside(&calls[next]);
    size_t all = next - from, out = all - inside;
    for (size_t i = from; i < next && inside > out; i++)
      if (OUTLIERS * out > all || is_inside(&calls[i]))
        calls[kept++] = calls[i];
  }
  return kept;
}

// Both directions of a pair bound one difference.
static void turn(ppi_host_call *call) {
  int64_t least_ns = call->least_ns;
  uint32_t caller = call->caller;
  if (caller < call->callee) return;
  call->caller = call->callee;
  call->callee = caller;
  call->least_ns = -call->most_ns;
  call->most_ns = -least_ns;
}

// The difference changes by 1 / DRIFT of the time at most.
static void narrow(ppi_host_call *call, const ppi_host_call *by) {
  uint64_t ns =
      PPI_MAX(call->at_ns, by->at_ns) - PPI_MIN(call->at_ns, by->at_ns);
  int64_t drift_ns = (int64_t)(ns / DRIFT) + 1;
  call->least_ns = PPI_MAX(call->least_ns, by->least_ns - drift_ns);
  call->most_ns = PPI_MIN(call->most_ns, by->most_ns + drift_ns);
}

// The greatest difference of two hosts' clocks during the run. False: no
// difference fits all calls.
static bool bound_of(ppi_host_call *calls, size_t num, uint64_t *bound_ns) {
  for (size_t i = 1; i < num; i++) narrow(&calls[i], &calls[i - 1]);
  for (size_t i = num; i-- > 1;) narrow(&calls[i - 1], &calls[i]);
  int64_t most_ns = 0;
  for (size_t i = 0; i < num; i++) {
    if (calls[i].least_ns > calls[i].most_ns) return false;
    most_ns = PPI_MAX(most_ns, calls[i].most_ns);
    most_ns = PPI_MAX(most_ns, -calls[i].least_ns);
  }
  *bound_ns = (uint64_t)most_ns;
  return true;
}

static bool set_bounds(ppi_host_links *links, uint64_t *bounds) {
  ppi_host_call *calls = links->calls;
  size_t hosts = links->num_hosts, next;
  size_t num = keep_calls(calls, links->num_calls);
  for (size_t i = 0; i < num; i++) turn(&calls[i]);
  if (num > 1) qsort(calls, num, sizeof *calls, compare_pairs);
  for (size_t from = 0; from < num; from = next) {
    size_t a = calls[from].caller, b = calls[from].callee;
    for (next = from;
         next < num && calls[next].caller == a && calls[next].callee == b;
         next++) {
    }
    if (!bound_of(&calls[from], next - from, &bounds[a * hosts + b]))
      return false;
    bounds[b * hosts + a] = bounds[a * hosts + b];
  }
  return true;
}

// Hosts without a call between them are compared by hosts between them.
static void close_bounds(uint64_t *bounds, size_t num) {
  for (size_t via = 0; via < num; via++)
    for (size_t a = 0; a < num; a++)
      for (size_t b = 0; b < num; b++) {
        uint64_t to = bounds[a * num + via], from = bounds[via * num + b];
        if (to < UINT64_MAX && from < UINT64_MAX)
          bounds[a * num + b] = PPI_MIN(bounds[a * num + b], to + from);
      }
}

bool ppi_bound_clocks(ppi_host_links *links, ppi_host_clocks *clocks,
                      uint64_t *bound_ns) {
  size_t num = links->num_hosts;
  *bound_ns = 0;
  uint64_t *bounds = ppi_alloc(num * num * sizeof *bounds);
  if (!bounds) return false;
  for (size_t i = 0; i < num * num; i++)
    bounds[i] = i % (num + 1) ? UINT64_MAX : 0;
  bool do_agree = set_bounds(links, bounds);
  if (do_agree) close_bounds(bounds, num);
  for (size_t i = 0; i < num * num; i++)
    if (links->are_linked[i]) *bound_ns = PPI_MAX(*bound_ns, bounds[i]);
  bool is_bound = do_agree && links->num_calls && *bound_ns < UINT64_MAX;
  *clocks = is_bound    ? PPI_CLOCKS_BOUND
            : !do_agree ? PPI_CLOCKS_CONTRADICT
                        : PPI_CLOCKS_UNKNOWN;
  if (!is_bound) *bound_ns = 0;
  ppi_free(bounds);
  return true;
}
