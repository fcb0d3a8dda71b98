// SPDX-License-Identifier: Apache-2.0
//
// Finds what the machine does to a run: clocks, quotas, memory and neighbours.
#include "report/findings/rules.h"

typedef struct subject {
  const ppi_machine_figures *machine;
  const ppi_machine_trouble *trouble;
  unsigned device;
} subject;

// ---- the text of each cause ----

static void put_share(const subject *of, char *to, size_t size) {
  ppi_words_put(to, size, "%s (%s of the run)",
                ppi_words_time((double)of->trouble->ns).text,
                ppi_words_percent((double)of->trouble->ns,
                                  (double)of->machine->observed_ns)
                    .text);
}

static void put_clocks(const subject *of, char *to, size_t size) {
  const ppi_machine_device *device = &of->machine->devices[of->device];
  double mhz = ppi_machine_mean_of(&device->capped_mhz);
  *to = 0;
  if (mhz > 0 && device->sm_max_mhz > 0)
    ppi_words_put(to, size, ": SM clock %s of %s MHz",
                  ppi_words_number(mhz).text,
                  ppi_words_number(device->sm_max_mhz).text);
}

static void say_power_cap(const subject *of, char *to, size_t size) {
  char share[96], clocks[96];
  put_share(of, share, sizeof share);
  put_clocks(of, clocks, sizeof clocks);
  ppi_words_put(to, size, "gpu:%u was at its power cap for %s%s.", of->device,
                share, clocks);
}

static void say_heat(const subject *of, char *to, size_t size) {
  char share[96], clocks[96];
  put_share(of, share, sizeof share);
  put_clocks(of, clocks, sizeof clocks);
  ppi_words_put(to, size,
                "gpu:%u slowed down for heat or its power supply for %s%s.",
                of->device, share, clocks);
}

static void say_quota(const subject *of, char *to, size_t size) {
  char share[96], quota[64] = "";
  put_share(of, share, sizeof share);
  if (of->machine->cpu_max > 0)
    PPI_SAY(quota, ": `cpu.max` is %s processors",
            ppi_words_number(of->machine->cpu_max).text);
  ppi_words_put(to, size, "The cgroup throttled the process for %s%s.", share,
                quota);
}

static void say_shared(const subject *of, char *to, size_t size) {
  ppi_words_put(to, size, "Another process used gpu:%u in %s of %s.",
                of->device, ppi_words_time((double)of->trouble->ns).text,
                ppi_words_time((double)of->machine->observed_ns).text);
}

static const char *why_stood(const ppi_machine_trouble *trouble) {
  if (2 * trouble->quota_ns > trouble->ns) return "the cgroup throttled it";
  if (2 * trouble->swap_ns > trouble->ns) return "memory was swapped in";
  if (2 * trouble->ready_ns > trouble->ns)
    return "other processes had the processors";
  return "it was stopped, or its machine was paused";
}

static void say_stood(const subject *of, char *to, size_t size) {
  const ppi_machine_trouble *trouble = of->trouble;
  ppi_words_put(to, size,
                "Everything stood still %llu time%s, %s%s: no thread got a "
                "processor; %s.",
                (unsigned long long)trouble->num, trouble->num == 1 ? "" : "s",
                ppi_words_time((double)trouble->ns / (double)trouble->num).text,
                trouble->num == 1 ? "" : " each", why_stood(trouble));
}

static void say_neighbours(const subject *of, char *to, size_t size) {
  ppi_words_put(to, size,
                "Other processes took %s of %s processors; this one's threads "
                "waited %s for a processor meanwhile.",
                ppi_words_number(of->machine->others).text,
                ppi_words_number(of->machine->processors).text,
                ppi_words_time((double)of->trouble->ns).text);
}

static void say_steal(const subject *of, char *to, size_t size) {
  char share[96];
  put_share(of, share, sizeof share);
  ppi_words_put(to, size, "The hypervisor took each processor away for %s.",
                share);
}

static void say_swapping(const subject *of, char *to, size_t size) {
  char share[96];
  put_share(of, share, sizeof share);
  ppi_words_put(to, size, "Memory came from a disk for %s (major faults).",
                share);
}

// ---- the rows ----

typedef struct row {
  // Of the run: reported whatever calls met it.
  double least;
  bool is_fact;  // the program may be meant to do this, if no call is slow
  void (*say)(const subject *of, char *to, size_t size);
  const char *next;
} machine_row;

static const machine_row rows[PPI_NUM_MACHINE_CAUSES] = {
    [PPI_MACHINE_POWER_CAP] = {0.1, true, say_power_cap,
                               "raise the power limit, or compare runs at the "
                               "same clocks (`compare --adjust clock`)."},
    [PPI_MACHINE_HEAT] = {0.02, false, say_heat,
                          "look at cooling and power supply of that machine."},
    [PPI_MACHINE_QUOTA] = {0.05, false, say_quota,
                           "raise the quota, or use fewer threads: a quota is "
                           "used up by all threads together."},
    [PPI_MACHINE_SHARED_DEVICE] = {0.05, false, say_shared,
                                   "move the other process to another device."},
    [PPI_MACHINE_STOOD_STILL] = {0.02, false, say_stood,
                                 "look for who stops it: a debugger, a "
                                 "snapshot of the machine, a quota."},
    [PPI_MACHINE_NEIGHBOURS] = {0.2, false, say_neighbours,
                                "move the neighbours away, or give this "
                                "process processors of its own."},
    [PPI_MACHINE_STEAL] =
        {0.05, false, say_steal,
         "use a machine that shares its processors with nobody."},
    [PPI_MACHINE_SWAPPING] = {0.05, false, say_swapping,
                              "use less memory, or load files before the "
                              "first request."},
};

static void put_stage(const ppi_machine_trouble *trouble, ppi_finding *to) {
  PPI_ADD(
      to->text, " %s of `%s`'s slow calls lie there.",
      ppi_words_percent((double)trouble->covered, (double)trouble->slow).text,
      ppi_words_name(trouble->stage).text);
  PPI_SAY(to->sure,
          "%llu of %llu slow calls; by chance fewer than 2 in 1 000 times",
          (unsigned long long)trouble->covered,
          (unsigned long long)trouble->slow);
  ppi_finding_value_add(to, "slow_calls", (double)trouble->slow, "");
  ppi_finding_value_add(to, "covered", (double)trouble->covered, "");
}

static void report(ppi_search *search, const machine_row *row,
                   const subject *of) {
  const ppi_machine_trouble *trouble = of->trouble;
  double share =
      (double)trouble->ns / (double)PPI_MAX(of->machine->observed_ns, 1);
  bool hits = trouble->stage[0];
  if (!trouble->num || (!hits && share < row->least * search->threshold))
    return;
  ppi_finding *finding =
      ppi_search_add(search, hits || !row->is_fact ? PPI_PROBLEM : PPI_FACT,
                     PPI_MAX(share, 0.01));
  finding->id = ppi_machine_cause_id((size_t)(row - rows));
  row->say(of, finding->text, sizeof finding->text);
  PPI_SAY(finding->next, "%s", row->next);
  ppi_finding_value_add(finding, "time", (double)trouble->ns, "ns");
  ppi_finding_value_add(finding, "share", 100 * share, "%");
  if (hits) put_stage(trouble, finding);
}

// Processes of one job are no others: they may use each other's devices.
static bool is_of_others(const ppi_search *search, int cause) {
  return cause != PPI_MACHINE_SHARED_DEVICE || search->figures->num_inputs < 2;
}

void ppi_rule_machine(ppi_search *search) {
  const ppi_machine_figures *machine = &search->figures->machine;
  for (int i = 0; i < PPI_NUM_MACHINE_CAUSES; i++)
    for (unsigned k = 0; k < PPI_MACHINE_DEVICES; k++) {
      const subject of = {machine, &machine->troubles[i][k], k};
      if (is_of_others(search, i)) report(search, &rows[i], &of);
    }
}
