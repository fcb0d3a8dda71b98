// SPDX-License-Identifier: Apache-2.0
//
// Names the kinds in a verdict, and bounds the gain of faster stages.
#include "report/figures/limit.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

const char *ppi_limit_claim_name(ppi_limit_claim claim) {
  static const char *const names[PPI_NUM_CLAIMS] = {
      [PPI_CLAIM_NONE] = "none",
      [PPI_CLAIM_LIMIT] = "limit",
      [PPI_CLAIM_BALANCED] = "balanced",
      [PPI_CLAIM_KEEPS_UP] = "keeps_up",
      [PPI_CLAIM_UNRECORDED] = "unrecorded",
      [PPI_CLAIM_PART] = "part"};
  return names[claim];
}

const char *ppi_gap_kind_name(ppi_gap_kind kind) {
  static const char *const names[PPI_NUM_GAP_KINDS] = {
      [PPI_GAP_LAUNCHING] = "launching",
      [PPI_GAP_AFTER_WAIT] = "after wait",
      [PPI_GAP_STAGE] = "stage",
      [PPI_GAP_WAITING] = "waiting",
      [PPI_GAP_STARTING] = "starting",
      [PPI_GAP_NO_REQUEST] = "no request",
      [PPI_GAP_NOTHING] = "nothing recorded",
      [PPI_GAP_OTHERS] = "others"};
  return names[kind];
}

const char *ppi_blame_kind_name(ppi_blame_kind kind) {
  static const char *const names[PPI_NUM_BLAME_KINDS] = {
      [PPI_BLAME_WORK] = "work",        [PPI_BLAME_LINE] = "in line for",
      [PPI_BLAME_HELD] = "held up by",  [PPI_BLAME_BATCH] = "batch fills",
      [PPI_BLAME_IDLE] = "idle before", [PPI_BLAME_HAND_OVER] = "hand-over",
      [PPI_BLAME_PAUSED] = "paused",    [PPI_BLAME_OTHERS] = "others"};
  return names[kind];
}

const char *ppi_server_kind_name(ppi_server_kind kind) {
  static const char *const names[PPI_NUM_SERVER_KINDS] = {
      [PPI_SERVER_THREADS] = "threads",
      [PPI_SERVER_DEVICE] = "device",
      [PPI_SERVER_ONE_AT_A_TIME] = "one at a time",
      [PPI_SERVER_LOCK] = "lock"};
  return names[kind];
}

// A server's utilization, less the part that `factors` save.
static double use_with(const ppi_limit *limit, uint32_t server,
                       const double *factors) {
  double use = limit->servers[server].utilization;
  for (size_t k = 0; k < limit->num_demands; k++)
    if (limit->demands[k].server == server)
      use -= (1 - factors[k]) * limit->demands[k].utilization;
  return use;
}

static bool is_of_round(const ppi_limit_server *server) {
  return (server->kind != PPI_SERVER_ONE_AT_A_TIME &&
          server->kind != PPI_SERVER_LOCK) ||
         server->is_elsewhere;
}

// A unit's time without lines, less the part that `factors` save. A
// one-at-a-time range of a thread, or under a lock, is already part of the
// thread's stage.
static double round_with(const ppi_limit *limit, const double *factors) {
  double ns = limit->round_ns;
  for (size_t k = 0; k < limit->num_demands; k++)
    if (is_of_round(&limit->servers[limit->demands[k].server]))
      ns -= (1 - factors[k]) * limit->demands[k].demand_ns;
  return ns;
}

// Places that are not full may be more: they bound nothing but themselves.
static bool is_bound(const ppi_limit_server *server, double use) {
  return is_of_round(server) || server->utilization >= ppi_saturated ||
         use < server->utilization;
}

double ppi_limit_bound(const ppi_limit *limit, const double *factors,
                       uint32_t *out_server) {
  double before = 0, after = 0;
  *out_server = PPI_LIMIT_SERVERS;
  for (uint32_t i = 0; i < limit->num_servers; i++)
    if (is_bound(&limit->servers[i], use_with(limit, i, factors)))
      before = PPI_MAX(before, limit->servers[i].utilization);
  for (uint32_t i = 0; i < limit->num_servers; i++) {
    double use = use_with(limit, i, factors);
    if (!is_bound(&limit->servers[i], use)) continue;
    // Faster arrivals make the batches of a waiting server larger.
    if (limit->servers[i].utilization < before)
      use *= 1 - limit->servers[i].batches_save;
    if (use <= after) continue;
    after = use;
    *out_server = i;
  }
  double gain = after > 0 ? before / after - 1 : 0;
  if (limit->under_way <= 0 || limit->every_ns <= 0) return gain;
  // Relative to the present rate: an unsaturated server may rise to saturation.
  double rate = after > 0 ? 1 / after - 1 : gain;
  double round_ns = round_with(limit, factors);
  // Units come round as often as they do: no bound is below the present rate.
  double turn_ns = PPI_MAX(limit->under_way * limit->every_ns, limit->round_ns);
  double turns = round_ns > 0 ? turn_ns / round_ns - 1 : rate;
  if (turns >= rate) return rate;
  *out_server = PPI_LIMIT_SERVERS;
  return turns;
}

// The one copy of a verdict's name; NULL: no memory.
static const char *lasting(const char *name) {
  static char *names[32];
  size_t i = 0;
  while (i < 32 && names[i] && strcmp(names[i], name) != 0) i++;
  if (i == 32) return NULL;
  if (!names[i]) names[i] = ppi_strdup(name);
  return names[i];
}

void ppi_limit_carry(ppi_carry *carry, ppi_limit *limit) {
  char *verdict = (char *)limit->verdict;
  PPI_CARRY_FROM(carry, limit, claim, claim);
  ppi_carry_text(carry, &verdict);
  PPI_CARRY_FROM(carry, limit, names, units);
  if (!carry->reads || !verdict) return;
  limit->verdict = lasting(verdict);
  carry->failed |= !limit->verdict;
  ppi_free(verdict);
}
