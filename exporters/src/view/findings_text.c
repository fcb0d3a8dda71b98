// SPDX-License-Identifier: Apache-2.0
//
// Writes findings as lines and as JSON.
#include "view/findings_text.h"

#include <string.h>

#include "file/json_put.h"
#include "view/finding_key.h"
#include "view/wrapped.h"

#define MOST 5

static void put_finding(ppi_page *page, const ppi_finding *finding,
                        size_t number, size_t width) {
  size_t indent = 3 + width + 2;
  ppi_page sentence = {0};
  size_t len = strlen(finding->text);
  bool has_stop = len && finding->text[len - 1] == '.';
  ppi_page_bytes(&sentence, finding->text, len - has_stop);
  if (*finding->sure) ppi_page_format(&sentence, " (%s)", finding->sure);
  ppi_page_text(&sentence, has_stop ? "." : "");
  page->failed |= sentence.failed;
  ppi_page_format(page, "%-3llu", (unsigned long long)number);
  ppi_page_strong(page, finding->id);
  ppi_page_repeat(page, ' ', width - strlen(finding->id) + 2);
  if (!sentence.failed) ppi_page_wrapped(page, sentence.bytes, indent);
  ppi_page_clear(&sentence);
  if (!*finding->next) return;
  ppi_page_repeat(page, ' ', indent);
  ppi_page_text(page, "Next: ");
  ppi_page_wrapped(page, finding->next, indent + strlen("Next: "));
}

// The answer's finding may have the next step.
static const char *next_of(const ppi_findings *findings) {
  const ppi_finding *said = findings->items;
  const ppi_finding *end = findings->items + findings->num;
  if (!*findings->answer || *findings->answer_next)
    return findings->answer_next;
  while (said < end && !said->in_answer) said++;
  return said < end ? said->next : "";
}

static void put_answer(ppi_page *page, const ppi_findings *findings) {
  static const char head[] = "Answer", next[] = "Next: ";
  const size_t indent = strlen(head) + 3;
  const char *todo = next_of(findings);
  if (!*findings->answer) return;
  ppi_page_text(page, "\n");
  ppi_page_strong(page, head);
  ppi_page_text(page, "   ");
  ppi_page_wrapped(page, findings->answer, indent);
  if (!*todo) return;
  ppi_page_repeat(page, ' ', indent);
  ppi_page_text(page, next);
  ppi_page_wrapped(page, todo, indent + strlen(next));
}

static void put_all(ppi_page *page, const ppi_findings *findings) {
  const ppi_finding *shown[MOST];
  size_t num = 0, width = 0, num_said = 0;
  for (size_t i = 0; i < findings->num; i++) {
    const ppi_finding *finding = &findings->items[i];
    num_said += finding->in_answer;
    if (finding->in_answer || num == MOST) continue;
    shown[num++] = finding;
    if (strlen(finding->id) > width) width = strlen(finding->id);
  }
  put_answer(page, findings);
  if (!findings->num && *findings->nothing) {
    ppi_page_text(page, "\n");
    ppi_page_wrapped(page, findings->nothing, 0);
  }
  if (num) ppi_page_text(page, "\n");
  for (size_t i = 0; i < num; i++) put_finding(page, shown[i], i + 1, width);
  if (findings->num > num + num_said)
    ppi_page_format(page, "%llu more in -f json.\n",
                    (unsigned long long)(findings->num - num - num_said));
}

pprof_status ppi_findings_put(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings_options *options) {
  ppi_findings findings = {0};
  pprof_status status = ppi_findings_of(figures, options, &findings);
  if (status == PPROF_STATUS_OK) put_all(page, &findings);
  ppi_findings_clear(&findings);
  return status;
}

static void put_finding_json(ppi_page *page, const ppi_figures *figures,
                             const ppi_finding *finding, size_t number) {
  ppi_page key = {0};
  ppi_finding_key(&key, figures, finding);
  ppi_put_object(page, NULL);
  ppi_put_u64(page, "number", number);
  ppi_put_text(page, "id", finding->id);
  ppi_put_text(page, "key", key.bytes ? key.bytes : "");
  page->failed |= key.failed;
  ppi_page_clear(&key);
  ppi_put_text(page, "kind",
               finding->is_limit     ? "limit"
               : finding->is_problem ? "problem"
                                     : "fact");
  ppi_put_u64(page, "explains_ns", finding->ns);
  ppi_put_text(page, "text", finding->text);
  ppi_put_text(page, "evidence", finding->sure);
  ppi_put_text(page, "next", finding->next);
  ppi_put_array(page, "values");
  for (size_t i = 0; i < finding->num_values; i++) {
    const ppi_finding_value *value = &finding->values[i];
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", value->name);
    ppi_put_real(page, "value", value->number);
    ppi_put_text(page, "unit", value->unit);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
}

// Begins a row of a list.
static void put_kind(ppi_page *page, const char *kind, const char *name) {
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "kind", kind);
  ppi_put_text(page, "name", name);
}

static void put_stages(ppi_page *page, const ppi_limit *limit, size_t server) {
  ppi_put_array(page, "stages");
  for (size_t i = 0; i < limit->num_demands; i++) {
    const ppi_limit_demand *demand = &limit->demands[i];
    if (demand->server != server) continue;
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", demand->name);
    ppi_put_real(page, "utilization", demand->utilization);
    ppi_put_real(page, "demand", demand->demand_ns);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
}

static void put_servers(ppi_page *page, const ppi_limit *limit) {
  ppi_put_array(page, "servers");
  for (size_t i = 0; i < limit->num_servers; i++) {
    const ppi_limit_server *server = &limit->servers[i];
    put_kind(page, ppi_server_kind_name(server->kind), server->name);
    ppi_put_u64(page, "num", server->num);
    ppi_put_real(page, "utilization", server->utilization);
    ppi_put_real(page, "occupied", server->occupied);
    ppi_put_real(page, "demand", server->demand_ns);
    ppi_put_real(page, "in_line", server->line_ns);
    put_stages(page, limit, i);
  }
  ppi_page_text(page, "]");
}

static void put_blame(ppi_page *page, const ppi_limit *limit) {
  ppi_put_array(page, "blame");
  for (size_t i = 0; i < limit->num_blames; i++) {
    const ppi_limit_blame *blame = &limit->blames[i];
    put_kind(page, ppi_blame_kind_name(blame->kind), blame->name);
    ppi_put_real(page, "time", blame->ns);
    ppi_put_real(page, "usual", blame->usual_ns);
    ppi_put_real(page, "slow", blame->slow_ns);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
  ppi_put_real(page, "hand_overs", (double)limit->num_edges);
  ppi_put_real(page, "hand_overs_differ", (double)limit->num_differ);
}

static void put_gaps(ppi_page *page, const ppi_limit *limit) {
  ppi_put_text(page, "idle_device", limit->idle_device);
  ppi_put_real(page, "stops", limit->stops);
  ppi_put_array(page, "gaps");
  for (size_t i = 0; i < limit->num_gaps; i++) {
    const ppi_limit_gap *gap = &limit->gaps[i];
    put_kind(page, ppi_gap_kind_name(gap->kind), gap->name);
    ppi_put_real(page, "time", gap->ns);
    ppi_put_real(page, "part", gap->part);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static void put_limit(ppi_page *page, const ppi_limit *limit,
                      const char *process) {
  ppi_put_line(page);
  ppi_put_object(page, "limit");
  ppi_put_text(page, "claim", ppi_limit_claim_name(limit->claim));
  ppi_put_text(page, "verdict", limit->verdict ? limit->verdict : "");
  ppi_put_text(page, "process", process);
  ppi_put_array(page, "names");
  for (size_t i = 0; i < limit->num_names; i++)
    ppi_put_text(page, NULL, limit->names[i]);
  ppi_page_text(page, "]");
  ppi_put_real(page, "utilization", limit->utilization);
  ppi_put_real(page, "demand", limit->demand_ns);
  ppi_put_real(page, "bound", limit->bound);
  ppi_put_text(page, "next_limit", limit->next_limit);
  ppi_put_text(page, "sentence", limit->sentence);
  ppi_put_text(page, "next", limit->next);
  put_servers(page, limit);
  put_blame(page, limit);
  put_gaps(page, limit);
  ppi_page_text(page, "}");
}

void ppi_findings_put_members(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings *findings, size_t most) {
  size_t number = 0;
  ppi_put_line(page);
  ppi_put_text(page, "answer", findings->answer);
  ppi_put_text(page, "next", next_of(findings));
  put_limit(page, &figures->limit, findings->process);
  ppi_put_line(page);
  ppi_put_array(page, "findings");
  for (size_t i = 0; i < findings->num && i < most; i++) {
    const ppi_finding *finding = &findings->items[i];
    ppi_put_line(page);
    number += !finding->in_answer;
    put_finding_json(page, figures, finding, finding->in_answer ? 0 : number);
  }
  ppi_page_text(page, "]");
}

pprof_status ppi_findings_put_json(ppi_page *page, const ppi_figures *figures,
                                   const ppi_findings_options *options) {
  ppi_findings findings = {0};
  pprof_status status = ppi_findings_of(figures, options, &findings);
  if (status == PPROF_STATUS_OK)
    ppi_findings_put_members(page, figures, &findings, SIZE_MAX);
  ppi_findings_clear(&findings);
  return status;
}
