// SPDX-License-Identifier: Apache-2.0
//
// Finds stages far below their device's roof.
#include "report/findings/rules.h"

#include "report/findings/parts.h"

// The share of the unit's time, wherever the stage is in it.
static double share_of(const ppi_search *search, const char *stage) {
  const ppi_part part = {.name = stage, .wheres = PPI_PART_WORK};
  uint64_t sum_ns = PPI_MAX(ppi_part_sum(search->answer, &part),
                            ppi_part_on_host(search->answer, stage));
  return ppi_part_share(search->answer, sum_ns);
}

static void put_rate(const ppi_roofline *from,
                     const ppi_roofline_reported *reported,
                     ppi_finding *finding) {
  const char *least = from->at_least ? "at least " : "";
  ppi_words rate = ppi_words_rate(reported->rate, "FLOP/s");
  if (reported->mfu > 0)
    PPI_SAY(finding->text,
            "%s does %s%s: MFU %s of its own time, %s of the wall, of %s%s%s.",
            ppi_words_name(from->stage).text, least, rate.text,
            ppi_words_percent(reported->mfu, 100).text,
            ppi_words_percent(reported->wall_mfu, 100).text,
            ppi_words_rate(from->peak_flops, "FLOP/s").text,
            *from->type ? " in " : "", from->type);
  else
    PPI_SAY(finding->text,
            "%s does %s%s of its own time; what its device could do is not "
            "known.",
            ppi_words_name(from->stage).text, least, rate.text);
}

static void put_bound(const ppi_roofline_reported *reported,
                      ppi_finding *finding) {
  bool by_memory = reported->intensity < reported->ridge;
  if (!(reported->reach > 0)) return;
  PPI_ADD(finding->text,
          " %s-bound: %s FLOP/B is %s times %s the ridge of %s; it reaches %s "
          "of what the roof allows.",
          by_memory ? "Memory" : "Compute",
          ppi_words_number(reported->intensity).text,
          ppi_words_number(by_memory ? reported->ridge / reported->intensity
                                     : reported->intensity / reported->ridge)
              .text,
          by_memory ? "below" : "above", ppi_words_number(reported->ridge).text,
          ppi_words_percent(reported->reach, 100).text);
}

static const char *next_of(const ppi_roofline *from,
                           const ppi_roofline_reported *reported) {
  const double near = 70;
  if (reported->mfu > 100)
    return "a rate above the peak is wrong: check --peak, the model's sizes, "
           "and whether the model is this stage's.";
  if (!(reported->mfu > 0))
    return "state its device's peak: --peak TYPE=FLOPS.";
  if (!(reported->reach > 0))
    return from->bytes > 0
               ? "state its memory's bytes a second, for its roofline: "
                 "--peak bytes=B."
               : "state the bytes of its work, too, for its roofline.";
  if (reported->reach < near)
    return "neither arithmetic nor memory is all that limits it: look for "
           "gaps, small launches and waits inside it.";
  return reported->intensity < reported->ridge
             ? "move fewer bytes: fuse its operators, or use a smaller type or "
               "a larger batch."
             : "compute less, or in a smaller type: this is near what the "
               "device can do.";
}

static void report(ppi_search *search, const ppi_roofline *from) {
  const ppi_roofline_reported reported = ppi_roofline_tell(from);
  double share = share_of(search, from->stage);
  if (!(reported.rate > 0) || 100 * share < search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_FACT, share);
  put_rate(from, &reported, finding);
  put_bound(&reported, finding);
  PPI_SAY(finding->sure, "%.0f steady calls on the %s; FLOPs %s%s", from->calls,
          from->on_device ? "device" : "host",
          from->model ? "by " : "as stated",
          from->model ? ppi_words_name(from->model).text : "");
  PPI_SAY(finding->next, "%s", next_of(from, &reported));
  ppi_finding_value_add(finding, "flop_rate", reported.rate, "FLOP/s");
  ppi_finding_value_add(finding, "mfu", reported.mfu, "%");
  ppi_finding_value_add(finding, "wall_mfu", reported.wall_mfu, "%");
  ppi_finding_value_add(finding, "intensity", reported.intensity, "FLOP/B");
  ppi_finding_value_add(finding, "ridge", reported.ridge, "FLOP/B");
  ppi_finding_value_add(finding, "reach", reported.reach, "%");
}

void ppi_rule_roofline(ppi_search *search) {
  for (size_t i = 0; i < search->num_rooflines; i++)
    report(search, &search->rooflines[i]);
}
