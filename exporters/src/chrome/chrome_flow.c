// SPDX-License-Identifier: Apache-2.0
//
// Keeps the stages of requests in bounded memory, and draws arrows between
// them.
#include "chrome/chrome_flow.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"

// Flows never have ids from here on; both kinds of ids fit a double exactly.
#define FIRST_OWN_ID (1ull << 52)

static size_t bucket_of(uint64_t flow) {
  return (size_t)((flow * 0x9e3779b97f4a7c15ull) >> 50) %
         PPI_CHROME_FLOW_BUCKETS;
}

pprof_status ppi_chrome_flows_init(ppi_chrome_flows *flows) {
  memset(flows, 0, sizeof *flows);
  flows->next_id = FIRST_OWN_ID;
  flows->buckets = ppi_alloc(PPI_CHROME_FLOW_BUCKETS * sizeof *flows->buckets);
  return flows->buckets ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

PPI_ORDER(by_start, ppi_chrome_stage, PPI_UP(start_ns) PPI_UP(pid) PPI_UP(tid))

static void write_arrow(ppi_page *out, const ppi_chrome_flow *flow, size_t at) {
  const ppi_chrome_stage *stage = &flow->stages[at];
  bool is_last = at + 1 == flow->num_stages;
  ppi_put_line(out);
  ppi_put_object(out, NULL);
  ppi_put_text(out, "ph", at == 0 ? "s" : is_last ? "f" : "t");
  if (at > 0) ppi_put_text(out, "bp", "e");
  ppi_put_text(out, "name", "request");
  ppi_put_text(out, "cat", "flow");
  ppi_put_u64(out, "id", flow->id);
  ppi_put_us(out, "ts", stage->start_ns);
  ppi_put_u64(out, "pid", stage->pid);
  ppi_put_u64(out, "tid", stage->tid);
  ppi_put_object(out, "args");
  ppi_chrome_put_id(out, "flow", flow->flow);
  ppi_page_text(out, "}}");
}

// An arrow needs two ends; a flow of one stage leaves no trace of its own.
static void write_flow(ppi_page *out, ppi_chrome_flow *flow) {
  if (flow->num_stages < 2) return;
  qsort(flow->stages, flow->num_stages, sizeof *flow->stages, by_start);
  for (size_t i = 0; i < flow->num_stages; i++) write_arrow(out, flow, i);
}

static void unlink_age(ppi_chrome_flows *flows, ppi_chrome_flow *flow) {
  *(flow->newer ? &flow->newer->older : &flows->newest) = flow->older;
  *(flow->older ? &flow->older->newer : &flows->oldest) = flow->newer;
}

static void link_newest(ppi_chrome_flows *flows, ppi_chrome_flow *flow) {
  flow->newer = NULL;
  flow->older = flows->newest;
  *(flows->newest ? &flows->newest->newer : &flows->oldest) = flow;
  flows->newest = flow;
}

static void remove_flow(ppi_chrome_flows *flows, ppi_chrome_flow *flow) {
  ppi_chrome_flow **at = &flows->buckets[bucket_of(flow->flow)];
  while (*at != flow) at = &(*at)->next;
  *at = flow->next;
  unlink_age(flows, flow);
  flows->num_stages -= flow->num_stages;
  ppi_free(flow->stages);
  ppi_free(flow);
}

void ppi_chrome_flows_clear(ppi_chrome_flows *flows) {
  while (flows->oldest) remove_flow(flows, flows->oldest);
  ppi_free(flows->buckets);
  memset(flows, 0, sizeof *flows);
}

static ppi_chrome_flow *find_flow(ppi_chrome_flows *flows, uint64_t flow) {
  ppi_chrome_flow **bucket = &flows->buckets[bucket_of(flow)];
  for (ppi_chrome_flow *at = *bucket; at; at = at->next)
    if (at->flow == flow) return at;
  ppi_chrome_flow *made = ppi_alloc(sizeof *made);
  if (!made) return NULL;
  made->flow = flow;
  made->id =
      flows->pushed_out || flow >= FIRST_OWN_ID ? flows->next_id++ : flow;
  made->next = *bucket;
  *bucket = made;
  link_newest(flows, made);
  return made;
}

// Writes the flow's stages. The last one begins the next piece, under a new id,
// so that the row of arrows does not break.
static void write_piece(ppi_chrome_flows *flows, ppi_page *out,
                        ppi_chrome_flow *flow) {
  write_flow(out, flow);
  flow->stages[0] = flow->stages[flow->num_stages - 1];
  flows->num_stages -= flow->num_stages - 1;
  flow->num_stages = 1;
  flow->id = flows->next_id++;
}

// The number of earlier stages in which a range looks for inner ranges. Others
// stay stages.
#define LOOK_BACK 64

// Drops the ranges inside `outer`: they came first, and have the flow from it.
static void drop_inner(ppi_chrome_flows *flows, ppi_chrome_flow *flow,
                       const ppi_chrome_stage *outer) {
  size_t from = flow->num_stages > LOOK_BACK ? flow->num_stages - LOOK_BACK : 0;
  size_t kept = from;
  for (size_t i = from; i < flow->num_stages; i++) {
    const ppi_chrome_stage *stage = &flow->stages[i];
    if (stage->pid == outer->pid && stage->tid == outer->tid &&
        stage->start_ns >= outer->start_ns && stage->end_ns <= outer->end_ns)
      continue;
    flow->stages[kept++] = *stage;
  }
  flows->num_stages -= flow->num_stages - kept;
  flow->num_stages = kept;
}

pprof_status ppi_chrome_flows_add(ppi_chrome_flows *flows, ppi_page *out,
                                  uint64_t flow,
                                  const ppi_chrome_stage *stage) {
  ppi_chrome_flow *at = find_flow(flows, flow);
  if (!at) return PPROF_STATUS_NO_MEMORY;
  unlink_age(flows, at);
  link_newest(flows, at);
  drop_inner(flows, at, stage);
  if (at->num_stages == PPI_CHROME_MAX_FLOW_STAGES) write_piece(flows, out, at);
  while (flows->num_stages >= PPI_CHROME_MAX_STAGES && flows->oldest != at) {
    flows->pushed_out = true;
    write_flow(out, flows->oldest);
    remove_flow(flows, flows->oldest);
  }
  if (!PPI_PUSH(at->stages, at->num_stages, at->capacity, *stage))
    return PPROF_STATUS_NO_MEMORY;
  flows->num_stages++;
  return PPROF_STATUS_OK;
}

PPI_ORDER_OF_POINTERS(by_id, ppi_chrome_flow, PPI_UP(id))

// In order of their ids; without memory for that, in order of age.
void ppi_chrome_flows_write(ppi_chrome_flows *flows, ppi_page *out) {
  size_t num = 0;
  for (ppi_chrome_flow *at = flows->oldest; at; at = at->newer) num++;
  ppi_chrome_flow **sorted = num > 0 ? ppi_alloc(num * sizeof *sorted) : NULL;
  size_t i = 0;
  for (ppi_chrome_flow *at = flows->oldest; at; at = at->newer) {
    if (sorted)
      sorted[i++] = at;
    else
      write_flow(out, at);
  }
  if (sorted) qsort(sorted, num, sizeof *sorted, by_id);
  for (i = 0; sorted && i < num; i++) write_flow(out, sorted[i]);
  ppi_free(sorted);
  while (flows->oldest) remove_flow(flows, flows->oldest);
}
