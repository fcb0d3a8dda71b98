// SPDX-License-Identifier: Apache-2.0
//
// Runs that findings are tried on, by hand. For tests; one thread.
#pragma once

#include <deque>
#include <string>

#include "event_feed.h"

namespace pprof_test {

// Two threads; with a device of two streams, gpu:0.
inline EventFeed FindingsFeed(bool has_device) {
  EventFeed feed;
  feed.Lane(1, 101, "main");
  feed.Lane(2, 102, "worker");
  feed.Lane(1001, 0, "stream");
  feed.Lane(1002, 0, "stream");
  feed.Total(PPI_TOTAL_OWN_COST, 40000);
  if (!has_device) return feed;
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.Stream(2, 1);
  return feed;
}

// On the device; its submission takes the host no time.
inline pprof_event &OnGpu(EventFeed *feed, uint32_t stream,
                          const std::string &name, uint64_t submit_ns,
                          uint64_t start_ns, uint64_t end_ns) {
  return feed->OnDevice(1, stream, name, PPROF_CATEGORY_INFERENCE, submit_ns,
                        start_ns, end_ns);
}

inline pprof_event &OnHost(EventFeed *feed, uint32_t lane,
                           const std::string &name, uint64_t start_ns,
                           uint64_t end_ns) {
  return feed->Range(lane, name, PPROF_CATEGORY_USER_DEFINED, start_ns, end_ns);
}

// Makes the event a part of a request; events point to their flows.
inline pprof_event &OfRequest(pprof_event *event, uint64_t flow) {
  static std::deque<uint64_t> flows;
  flows.push_back(flow);
  event->num_flows = 1;
  event->flows = &flows.back();
  return *event;
}

}  // namespace pprof_test
