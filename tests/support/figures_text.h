// SPDX-License-Identifier: Apache-2.0
//
// The figures of a report as text, where its views do not show all of them, for
// tests that compare two reports.
#pragma once

#include <ostream>
#include <sstream>
#include <string>

#include "report/report.h"

namespace pprof_test {

inline std::ostream &operator<<(std::ostream &out, const ppi_spread &spread) {
  return out << spread.n << "," << spread.sum << "," << spread.min << ","
             << spread.max << ","
             << static_cast<uint64_t>(spread.sum_squares >> 64) << ":"
             << static_cast<uint64_t>(spread.sum_squares) << " ";
}

inline std::ostream &operator<<(std::ostream &out,
                                const ppi_histogram &histogram) {
  out << histogram.n;
  for (double q : {0.1, 0.5, 0.9, 0.99, 1.0})
    out << "," << ppi_histogram_quantile(&histogram, q);
  return out << " ";
}

inline std::ostream &operator<<(std::ostream &out, const ppi_device_use &use) {
  return out << use.kernels << "+" << use.copies << "/" << use.launches << "/"
             << use.by_wait << "/" << use.copied_bytes << "/" << use.copy_ns
             << "/" << use.busy_ns << "/" << use.spans << use.span_times
             << use.host_ns << "/" << use.gap_ns[PPI_GAP_NOT_LAUNCHED] << "/"
             << use.gap_ns[PPI_GAP_LAUNCH] << "/" << use.gap_ns[PPI_GAP_QUEUED]
             << " " << use.delays;
}

inline std::ostream &operator<<(std::ostream &out, const ppi_net_bytes &sums) {
  return out << sums.bytes[PPI_MEMORY_HOST] << "/"
             << sums.bytes[PPI_MEMORY_DEVICE] << " ";
}

inline void PutMemory(std::ostream &out, const ppi_figures &figures) {
  for (size_t i = 0; i < figures.num_names; i++)
    out << "\nmemory " << figures.names[i].memory
        << figures.names[i].own_memory;
  out << "\noutside " << figures.outside.num << " " << figures.outside.sums;
}

inline void PutPath(std::ostream &out, const ppi_report_path &row) {
  out << "\npath " << row.up << " " << row.name << " " << row.category_name
      << " " << row.on_device << " " << row.spread << row.times << row.self_ns
      << " " << row.wall_ns << " " << row.device_ns << " " << row.use;
}

inline void PutPlaces(std::ostream &out, const ppi_figures &figures) {
  for (size_t i = 0; i < figures.num_memory; i++) {
    const ppi_report_memory &row = figures.memory[i];
    out << "\nmemory " << row.place << "/" << row.is_reserved << "/" << row.name
        << " " << row.allocations << " " << row.frees << " "
        << row.allocated_bytes << " " << row.freed_bytes;
  }
  for (size_t i = 0; i < figures.num_places; i++) {
    const ppi_report_place &row = figures.places[i];
    out << "\nplace " << row.name << " " << row.is_known[0] << row.is_known[1]
        << " " << row.peak_bytes[0] << " " << row.peak_bytes[1];
    for (const ppi_growth &growth : row.growth)
      out << " " << growth.num_levels << " " << growth.num_lows << " "
          << growth.low_bytes << " " << growth.bytes << " "
          << growth.least_bytes;
  }
}

inline void PutRows(std::ostream &out, const ppi_figures &figures) {
  for (size_t i = 0; i < figures.num_names; i++) {
    const ppi_report_name &row = figures.names[i];
    out << "\nname " << row.category_name << "/" << row.name << " "
        << row.category << " " << row.host << row.submit << row.device
        << row.inside << row.host_times << row.device_times << row.messages.num
        << " " << row.self_ns << " " << row.own_device_ns << " "
        << row.num_async;
  }
  for (size_t i = 0; i < figures.num_categories; i++)
    out << "\ncategory " << figures.categories[i].name << " "
        << figures.categories[i].category;
  for (size_t i = 0; i < figures.num_threads; i++) {
    const ppi_report_thread_name &row = figures.threads[i];
    out << "\nthread " << row.process << "/" << row.thread << "/"
        << row.category_name << "/" << row.name << " " << row.category << " "
        << row.host << row.submit << row.inside << row.host_times
        << row.self_ns;
  }
  for (size_t i = 0; i < figures.num_parts; i++) {
    const ppi_report_part &row = figures.parts[i];
    out << "\npart " << row.process << "/" << row.thread << "/" << row.op << "/"
        << row.child << "/" << row.launch << " " << row.host << row.device;
  }
  for (size_t i = 0; i < figures.num_paths; i++) PutPath(out, figures.paths[i]);
  for (size_t i = 0; i < figures.num_shapes; i++) {
    const ppi_report_shape &row = figures.shapes[i];
    char text[PPI_LAUNCH_SHAPE_TEXT];
    ppi_launch_shape_put(&row.shape, text);
    out << "\nshape " << row.name << " " << text << " " << row.spread
        << row.times;
  }
  out << "\nkernels " << figures.kernels.num;
  for (int i = 0; i < PPI_NUM_STRAYS; i++)
    out << " " << figures.kernels.num_stray[i] << "/"
        << figures.kernels.stray_ns[i];
  for (size_t i = 0; i < figures.num_devices; i++)
    out << "\nwork " << figures.devices[i].name << " "
        << figures.devices[i].work << " " << figures.devices[i].num_inside
        << " " << figures.devices[i].num_outside;
  PutPlaces(out, figures);
}

inline std::string FiguresText(const ppi_figures &figures) {
  std::ostringstream out;
  out.precision(17);
  PutRows(out, figures);
  PutMemory(out, figures);
  const ppi_report_distribution &d = figures.distribution;
  out << "\ndistribution " << d.host_calls << " " << d.device_calls << " "
      << d.computation_calls << " " << d.communication_ns << " "
      << d.computation_ns << " " << d.overlap_ns << " "
      << d.device_communication_ns << " " << d.device_overlap_ns;
  const ppi_report_perf &perf = figures.perf;
  out << "\nperf " << perf.num_steps << " " << perf.batch << perf.reader
      << perf.num_stated << " " << static_cast<uint64_t>(perf.items >> 64)
      << ":" << static_cast<uint64_t>(perf.items) << " " << perf.speed_max
      << " " << perf.speed_min;
  return out.str();
}

}  // namespace pprof_test
