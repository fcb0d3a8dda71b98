// SPDX-License-Identifier: Apache-2.0
//
// The finished figures of a report: sorted tables that add up. Every sum is of
// integers and every table is ordered by name, so no order of merging shows.
#include "report/figures/sum.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/memory_rows.h"
#include "report/figures/path_rows.h"
#include "report/figures/request_rows.h"
#include "report/figures/rows.h"

// A registered category may be called like one of ours; the least number of a
// row's is the same in any order.
static void add_number(uint32_t *category, uint32_t other) {
  *category = PPI_MIN(*category, other);
}

static pprof_status add_name(ppi_figures *into, const ppi_report_name *from) {
  ppi_report_name *name =
      ppi_figures_name(into, from->category, from->category_name, from->name);
  if (!name) return PPROF_STATUS_NO_MEMORY;
  add_number(&name->category, from->category);
  ppi_spread_merge(&name->host, &from->host);
  ppi_spread_merge(&name->submit, &from->submit);
  ppi_spread_merge(&name->device, &from->device);
  ppi_spread_merge(&name->inside, &from->inside);
  name->self_ns += from->self_ns;
  name->own_device_ns += from->own_device_ns;
  name->num_async += from->num_async;
  ppi_net_add(&name->memory, &from->memory);
  ppi_net_add(&name->own_memory, &from->own_memory);
  ppi_cpu_sums_merge(&name->cpu, &from->cpu);
  ppi_numbers_merge(&name->numbers, &from->numbers);
  pprof_status status =
      ppi_histogram_merge(&name->host_times, &from->host_times);
  if (status == PPROF_STATUS_OK)
    status = ppi_messages_merge(&name->messages, &from->messages);
  ppi_spread_merge(&name->bytes, &from->bytes);
  if (status == PPROF_STATUS_OK)
    status = ppi_histogram_merge(&name->sizes, &from->sizes);
  if (status == PPROF_STATUS_OK)
    status = ppi_phases_merge(&name->host_phases, &from->host_phases);
  if (status == PPROF_STATUS_OK)
    status = ppi_phases_merge(&name->device_phases, &from->device_phases);
  if (status != PPROF_STATUS_OK) return status;
  return ppi_histogram_merge(&name->device_times, &from->device_times);
}

static pprof_status add_category(ppi_figures *into,
                                 const ppi_report_category *from) {
  ppi_report_category *category =
      ppi_figures_category(into, from->category, from->name);
  if (!category) return PPROF_STATUS_NO_MEMORY;
  add_number(&category->category, from->category);
  category->host_calls += from->host_calls;
  category->host_cut += from->host_cut;
  category->host_ns += from->host_ns;
  category->device_calls += from->device_calls;
  category->device_ns += from->device_ns;
  return PPROF_STATUS_OK;
}

static pprof_status add_device(ppi_figures *into,
                               const ppi_report_device *from) {
  ppi_report_device *device = ppi_figures_device(into, from->name);
  if (!device) return PPROF_STATUS_NO_MEMORY;
  device->ranges += from->ranges;
  device->untimed += from->untimed;
  device->early_ns += from->early_ns;
  device->used_ns += from->used_ns;
  device->base_ns += from->base_ns;
  device->active_ns += from->active_ns;
  device->not_submitted_ns += from->not_submitted_ns;
  device->runs_with_kernels += from->runs_with_kernels;
  device->wall_ns += from->wall_ns;
  device->busy_ns += from->busy_ns;
  for (int i = 0; i < PPI_NUM_IDLE; i++) device->idle_ns[i] += from->idle_ns[i];
  device->steps_checked += from->steps_checked;
  device->steps_failed += from->steps_failed;
  device->work += from->work;
  device->num_inside += from->num_inside;
  device->num_outside += from->num_outside;
  device->failed |= from->failed;
  device->incomplete |= from->incomplete;
  return PPROF_STATUS_OK;
}

static pprof_status add_work(ppi_figures *into, const ppi_report_work *from) {
  ppi_report_work *work = ppi_figures_work(into, from);
  if (!work) return PPROF_STATUS_NO_MEMORY;
  work->num_values += from->num_values;
  work->items += from->items;
  work->bytes += from->bytes;
  work->flops += from->flops;
  work->params += from->params;
  work->value += from->value;
  ppi_amounts_add(&work->cold, &from->cold);
  return PPROF_STATUS_OK;
}

static pprof_status add_queue(ppi_figures *into, const ppi_report_queue *from) {
  ppi_report_queue *queue = ppi_figures_queue(into, from);
  return queue ? ppi_queue_merge(&queue->sums, &from->sums)
               : PPROF_STATUS_NO_MEMORY;
}

static pprof_status add_serving(ppi_figures *into,
                                const ppi_report_serving *from) {
  ppi_report_serving *row = ppi_figures_serving(into, from);
  return row ? ppi_serving_merge(&row->sums, &from->sums)
             : PPROF_STATUS_NO_MEMORY;
}

static pprof_status add_interference(ppi_figures *into,
                                     const ppi_report_interference *from) {
  ppi_report_interference *row = ppi_figures_interference(into, from);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  row->num_calls += from->num_calls;
  row->shared_ns += from->shared_ns;
  row->num_measured += from->num_measured;
  row->measured_ns += from->measured_ns;
  row->measured_squares += from->measured_squares;
  return PPROF_STATUS_OK;
}

static pprof_status add_request_run(ppi_figures *into,
                                    const ppi_request_run *from) {
  ppi_request_run *run = ppi_request_run_copy(from);
  pprof_status status =
      run ? ppi_figures_request_run(into, run) : PPROF_STATUS_NO_MEMORY;
  if (status != PPROF_STATUS_OK) ppi_request_run_destroy(run);
  return status;
}

static pprof_status add_thread_name(ppi_figures *into,
                                    const ppi_report_thread_name *from) {
  ppi_report_thread_name *name = ppi_figures_thread_name(into, from);
  if (!name) return PPROF_STATUS_NO_MEMORY;
  add_number(&name->category, from->category);
  ppi_spread_merge(&name->host, &from->host);
  ppi_spread_merge(&name->submit, &from->submit);
  ppi_spread_merge(&name->inside, &from->inside);
  name->self_ns += from->self_ns;
  return ppi_histogram_merge(&name->host_times, &from->host_times);
}

static pprof_status add_part(ppi_figures *into, const ppi_report_part *from) {
  ppi_report_part *part = ppi_figures_part(into, from);
  if (!part) return PPROF_STATUS_NO_MEMORY;
  ppi_spread_merge(&part->host, &from->host);
  ppi_spread_merge(&part->device, &from->device);
  return PPROF_STATUS_OK;
}

static pprof_status add_shape(ppi_figures *into, const ppi_report_shape *from) {
  ppi_report_shape *shape = ppi_figures_shape(into, from);
  if (!shape) return PPROF_STATUS_NO_MEMORY;
  ppi_spread_merge(&shape->spread, &from->spread);
  return ppi_histogram_merge(&shape->times, &from->times);
}

static void add_distribution(ppi_report_distribution *into,
                             const ppi_report_distribution *from) {
  into->host_calls += from->host_calls;
  into->device_calls += from->device_calls;
  into->computation_calls += from->computation_calls;
  into->communication_ns += from->communication_ns;
  into->computation_ns += from->computation_ns;
  into->overlap_ns += from->overlap_ns;
  into->device_communication_ns += from->device_communication_ns;
  into->device_overlap_ns += from->device_overlap_ns;
}

// An error bound or a cost of several runs is the worst one's; crash-safe are
// they all or none.
static void add_totals(ppi_figures *into, const ppi_figures *from) {
  bool first = into->num_inputs == 0;
  for (int key = 0; key < PPI_NUM_TOTALS; key++) {
    uint64_t *mine = &into->totals[key], other = from->totals[key];
    switch (key) {
      case PPI_TOTAL_CLOCK_ERROR_NS:
      case PPI_TOTAL_OWN_COST:
      case PPI_TOTAL_INCOMPLETE:
        *mine = PPI_MAX(*mine, other);
        break;
      case PPI_TOTAL_CRASH_SAFE:
        *mine = first ? other : PPI_MIN(*mine, other);
        break;
      default:
        *mine += other;
    }
  }
}

void ppi_report_perf_merge(ppi_report_perf *into, const ppi_report_perf *from) {
  bool is_first = into->num_stated == 0;
  into->num_steps += from->num_steps;
  ppi_spread_merge(&into->batch, &from->batch);
  ppi_spread_merge(&into->reader, &from->reader);
  into->num_stated += from->num_stated;
  into->items += from->items;
  into->speed_max = PPI_MAX(into->speed_max, from->speed_max);
  if (from->num_stated && (is_first || from->speed_min < into->speed_min))
    into->speed_min = from->speed_min;
}

static void add_scalars(ppi_figures *into, const ppi_figures *from) {
  for (int i = 0; i < PPI_NUM_PHASES; i++) {
    ppi_spread_merge(&into->phases[i].host, &from->phases[i].host);
    ppi_spread_merge(&into->phases[i].device, &from->phases[i].device);
  }
  add_distribution(&into->distribution, &from->distribution);
  into->outside.num += from->outside.num;
  ppi_net_add(&into->outside.sums, &from->outside.sums);
  into->kernels.num += from->kernels.num;
  for (int i = 0; i < PPI_NUM_STRAYS; i++) {
    into->kernels.num_stray[i] += from->kernels.num_stray[i];
    into->kernels.stray_ns[i] += from->kernels.stray_ns[i];
  }
  ppi_report_perf_merge(&into->perf, &from->perf);
  into->base_ns += from->base_ns;
  into->wall_ns += from->wall_ns;
  into->runs_with_steps += from->runs_with_steps;
  into->runs_without_steps += from->runs_without_steps;
  into->runs_with_kernels += from->runs_with_kernels;
  into->runs_unopened += from->runs_unopened;
  into->model_device_ns += from->model_device_ns;
  into->general_device_ns += from->general_device_ns;
  into->num_disbelieved += from->num_disbelieved;
}

static pprof_status add_tables(ppi_figures *into, const ppi_figures *from) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < from->num_names && status == PPROF_STATUS_OK; i++)
    status = add_name(into, &from->names[i]);
  for (size_t i = 0; i < from->num_categories && status == PPROF_STATUS_OK; i++)
    status = add_category(into, &from->categories[i]);
  for (size_t i = 0; i < from->num_devices && status == PPROF_STATUS_OK; i++)
    status = add_device(into, &from->devices[i]);
  for (size_t i = 0; i < from->num_queues && status == PPROF_STATUS_OK; i++)
    status = add_queue(into, &from->queues[i]);
  for (size_t i = 0; i < from->num_serving && status == PPROF_STATUS_OK; i++)
    status = add_serving(into, &from->serving[i]);
  for (size_t i = 0; i < from->num_interference && status == PPROF_STATUS_OK;
       i++)
    status = add_interference(into, &from->interference[i]);
  for (size_t i = 0; i < from->num_request_runs && status == PPROF_STATUS_OK;
       i++)
    status = add_request_run(into, from->request_runs[i]);
  for (size_t i = 0; i < from->courses.num && status == PPROF_STATUS_OK; i++)
    status = ppi_courses_add(&into->courses, &from->courses.items[i]);
  for (size_t i = 0; i < from->num_work && status == PPROF_STATUS_OK; i++)
    status = add_work(into, &from->work[i]);
  for (size_t i = 0; i < from->num_threads && status == PPROF_STATUS_OK; i++)
    status = add_thread_name(into, &from->threads[i]);
  for (size_t i = 0; i < from->num_parts && status == PPROF_STATUS_OK; i++)
    status = add_part(into, &from->parts[i]);
  if (status == PPROF_STATUS_OK) status = ppi_path_rows_merge(into, from);
  for (size_t i = 0; i < from->num_shapes && status == PPROF_STATUS_OK; i++)
    status = add_shape(into, &from->shapes[i]);
  for (size_t i = 0; i < PPI_NUM_BASES && status == PPROF_STATUS_OK; i++)
    status = ppi_answer_merge(&into->answers[i], &from->answers[i]);
  return status;
}

// Of several runs the verdict that says most; of like ones the busier one, then
// that of more units.
static void add_limit(ppi_limit *into, const ppi_limit *from) {
  static const int says[PPI_NUM_CLAIMS] = {[PPI_CLAIM_KEEPS_UP] = 1,
                                           [PPI_CLAIM_BALANCED] = 2,
                                           [PPI_CLAIM_PART] = 2,
                                           [PPI_CLAIM_UNRECORDED] = 3,
                                           [PPI_CLAIM_LIMIT] = 4};
  bool is_more = says[from->claim] != says[into->claim]
                     ? says[from->claim] > says[into->claim]
                 : from->utilization != into->utilization
                     ? from->utilization > into->utilization
                     : from->units > into->units;
  if (is_more) *into = *from;
}

pprof_status ppi_figures_add(ppi_figures *into, const ppi_figures *from) {
  add_limit(&into->limit, &from->limit);
  ppi_machine_figures_add(&into->machine, &from->machine);
  ppi_interpreter_figures_add(&into->interpreter, &from->interpreter);
  add_totals(into, from);
  add_scalars(into, from);
  pprof_status status = ppi_figures_join(into, from);
  if (status == PPROF_STATUS_OK) status = add_tables(into, from);
  if (status == PPROF_STATUS_OK) status = ppi_figures_add_memory(into, from);
  if (status == PPROF_STATUS_OK)
    status = ppi_energy_merge(&into->energy, &from->energy);
  for (size_t i = 0; i < from->num_notes && status == PPROF_STATUS_OK; i++)
    status = ppi_figures_note(into, from->notes[i].key, from->notes[i].text);
  for (size_t i = 0; i < from->num_inputs && status == PPROF_STATUS_OK; i++)
    status = ppi_figures_input(into, &from->inputs[i]);
  return status;
}

static void clear_names(ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_names; i++) {
    ppi_report_name *name = &figures->names[i];
    ppi_free(name->name);
    ppi_free(name->category_name);
    ppi_histogram_clear(&name->host_times);
    ppi_histogram_clear(&name->device_times);
    ppi_messages_clear(&name->messages);
    ppi_histogram_clear(&name->sizes);
    ppi_phases_clear(&name->host_phases);
    ppi_phases_clear(&name->device_phases);
  }
  for (size_t i = 0; i < figures->num_threads; i++) {
    ppi_report_thread_name *name = &figures->threads[i];
    ppi_free(name->process);
    ppi_free(name->name);
    ppi_free(name->category_name);
    ppi_histogram_clear(&name->host_times);
  }
  for (size_t i = 0; i < figures->num_parts; i++) {
    ppi_free(figures->parts[i].process);
    ppi_free(figures->parts[i].op);
    ppi_free(figures->parts[i].child);
    ppi_free(figures->parts[i].launch);
  }
}

static void clear_shapes(ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_shapes; i++) {
    ppi_free(figures->shapes[i].name);
    ppi_histogram_clear(&figures->shapes[i].times);
  }
}

static void clear_devices(ppi_figures *figures) {
  ppi_courses_clear(&figures->courses);
  for (size_t i = 0; i < figures->num_devices; i++)
    ppi_free(figures->devices[i].name);
  for (size_t i = 0; i < figures->num_queues; i++) {
    ppi_free(figures->queues[i].name);
    ppi_free(figures->queues[i].category_name);
    ppi_free(figures->queues[i].device);
    ppi_queue_clear(&figures->queues[i].sums);
  }
  for (size_t i = 0; i < figures->num_serving; i++) {
    ppi_free(figures->serving[i].name);
    ppi_free(figures->serving[i].category_name);
    ppi_serving_clear(&figures->serving[i].sums);
  }
  for (size_t i = 0; i < figures->num_interference; i++) {
    ppi_free(figures->interference[i].device);
    ppi_free(figures->interference[i].name);
    ppi_free(figures->interference[i].other);
  }
}

static void clear_texts(ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_request_runs; i++)
    ppi_request_run_destroy(figures->request_runs[i]);
  for (size_t i = 0; i < figures->num_categories; i++)
    ppi_free(figures->categories[i].name);
  for (size_t i = 0; i < figures->num_work; i++) {
    ppi_free(figures->work[i].run);
    ppi_free(figures->work[i].name);
    ppi_free(figures->work[i].category_name);
  }
  for (size_t i = 0; i < figures->num_notes; i++) {
    ppi_free(figures->notes[i].key);
    ppi_free(figures->notes[i].text);
  }
  for (size_t i = 0; i < figures->num_inputs; i++) {
    ppi_free(figures->inputs[i].uuid);
    ppi_free(figures->inputs[i].host);
    ppi_free(figures->inputs[i].pid);
    ppi_free(figures->inputs[i].command);
    ppi_free(figures->inputs[i].rank);
    ppi_free(figures->inputs[i].config);
    for (size_t base = 0; base < PPI_NUM_BASES; base++)
      ppi_answer_clear(&figures->inputs[i].answers[base]);
  }
}

void ppi_figures_clear(ppi_figures *figures) {
  clear_names(figures);
  ppi_path_rows_clear(figures);
  clear_shapes(figures);
  clear_devices(figures);
  clear_texts(figures);
  ppi_figures_clear_memory(figures);
  ppi_energy_clear(&figures->energy);
  for (size_t i = 0; i < PPI_NUM_BASES; i++)
    ppi_answer_clear(&figures->answers[i]);
  void *const tables[] = {
      figures->names,  figures->categories,   figures->devices,
      figures->queues, figures->serving,      figures->work,
      figures->notes,  figures->inputs,       figures->threads,
      figures->parts,  figures->interference, figures->request_runs,
      figures->shapes};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    ppi_free(tables[i]);
  *figures = (ppi_figures){0};
}
