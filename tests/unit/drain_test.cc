// SPDX-License-Identifier: Apache-2.0
//
// What the collector keeps of windows does not grow with their number.
#include "deliver/drain.h"

#include <gtest/gtest.h>

#include "base/mem.h"
#include "session/state/session_impl.h"

namespace {

TEST(DrainTest, MemoryDoesNotGrowWithTheNumberOfWindows) {
  ppi_spool spool;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool, 2u << 20, "memory"));
  pprof_sink sink = {};
  sink.size = sizeof sink;
  spool.header->ticks_per_second = 1000000000;
  ppi_drain drain;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_drain_init(&drain, &spool, &sink));
  ppi_spool_header *header = spool.header;
  const uint32_t num = 300000;
  for (uint32_t i = 0; i < num; i++) {
    // From 10 i + 1 to 10 i + 6.
    ppi_edge opens = {}, closes = {};
    opens.ticks = 10ull * i + 1;
    closes.ticks = 10ull * i + 6;
    opens.window = closes.window = i;
    opens.flags = PPI_EDGE_OPENS;
    closes.flags = PPI_EDGE_CLOSES;
    header->edges[header->num_edges++ % PPI_MAX_EDGES] = opens;
    header->edges[header->num_edges++ % PPI_MAX_EDGES] = closes;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_drain_edges(&drain));
  }
  EXPECT_LE(drain.windows_capacity, 65536u);
  // The latest 32 768 at least are known; of what was forgotten nothing is.
  for (uint32_t i = num - 32768; i < num; i++) {
    const ppi_window *window = ppi_drain_window_at(&drain, 10ull * i + 5);
    ASSERT_NE(nullptr, window) << i;
    ASSERT_EQ(i, window->index);
    ASSERT_EQ(nullptr, ppi_drain_window_at(&drain, 10ull * i + 6));
  }
  EXPECT_EQ(nullptr, ppi_drain_window_at(&drain, 5));
  ppi_drain_clear(&drain);
  ppi_spool_destroy(&spool, false);
}

}  // namespace
