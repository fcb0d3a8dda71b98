// SPDX-License-Identifier: Apache-2.0
//
// A dead run for recover: its blocks, and its spool made of plain arrays in
// place of sdk/src/recover/salvage.c, whose functions this defines: for one
// file of a program only.
#pragma once

#include <cstdlib>
#include <fstream>
#include <memory>

#include "log/format/log_block.h"
#include "log/recover/log_recover.h"
#include "log/write/log_writer.h"
#include "recover/salvage.h"
#include "tests/support/log_fixture.h"

struct ppi_salvage {
  std::vector<ppi_text> texts;
  pprof_run_info info;
};

namespace pplog {
namespace {

struct FakeSpool {
  std::string uuid = kUuid;
  std::vector<std::vector<pprof_event>> lanes;  // seq = index
  std::vector<uint64_t> ring;
  ppi_staging *staging = nullptr;
  std::vector<ppi_total> items;
  bool alive = false, own = true;
} * spool;

}  // namespace
}  // namespace pplog

using pplog::spool;

// A spool is a file that says so; what is in it is `spool`.
extern "C" pprof_status ppi_salvage_open(const char *path, ppi_salvage **out,
                                         pprof_error *error) {
  (void)error;
  char start[6] = "";  // others of this machine may be large
  std::ifstream(path).read(start, 5);
  if (strcmp(start, "spool") != 0)
    return pplog::Exists(path) ? PPROF_STATUS_INVALID : PPROF_STATUS_IO;
  if (spool->alive) return PPROF_STATUS_BUSY;
  *out = new ppi_salvage;
  (*out)->texts = {{"uuid", spool->uuid.c_str()}, {"host", "box"}};
  (*out)->info = {(*out)->texts.data(), 2, nullptr};
  return PPROF_STATUS_OK;
}
extern "C" pprof_status ppi_salvage_open_live(const char *path,
                                              ppi_salvage **out,
                                              pprof_error *error) {
  const bool alive = spool->alive;
  spool->alive = false;
  const pprof_status status = ppi_salvage_open(path, out, error);
  spool->alive = alive;
  return status;
}
extern "C" void ppi_salvage_close(ppi_salvage *salvage) {
  delete salvage;
}
extern "C" bool ppi_salvage_claim(const ppi_salvage *) {
  return true;
}
extern "C" bool ppi_salvage_is_own(const ppi_salvage *) {
  return spool->own;
}
extern "C" const pprof_run_info *ppi_salvage_run_info(
    const ppi_salvage *salvage) {
  return &salvage->info;
}
extern "C" const ppi_staging *ppi_salvage_staging(const ppi_salvage *) {
  return spool->staging;
}
extern "C" const ppi_ring *ppi_salvage_ring(const ppi_salvage *) {
  return nullptr;
}
extern "C" pprof_status ppi_salvage_deliver(ppi_salvage *,
                                            uint64_t (*kept)(void *, uint32_t),
                                            void *user, bool windows,
                                            pprof_sink *sink) {
  EXPECT_TRUE(windows);
  pprof_definition site = pplog::Site(1, "decode");
  EXPECT_EQ(sink->define(sink, &site), PPROF_STATUS_OK);
  EXPECT_EQ(sink->window(sink, 0, true, 0), PPROF_STATUS_OK);
  for (uint32_t lane = 0; lane < spool->lanes.size(); lane++) {
    const auto &all = spool->lanes[lane];
    uint64_t first = kept(user, lane);
    if (first >= all.size()) continue;
    std::vector<pprof_event> rest(all.begin() + (long)first, all.end());
    pprof_batch batch = pplog::Batch(lane, first, all.size(), rest);
    pprof_status status = sink->events(sink, &batch);
    if (status != PPROF_STATUS_OK) return status;
  }
  return sink->window(sink, 0, false, 9000);
}
extern "C" const pprof_totals *ppi_salvage_totals(const ppi_salvage *) {
  static pprof_totals totals;
  totals = {spool->items.data(), spool->items.size(), nullptr, 0};
  return &totals;
}
extern "C" uint64_t ppi_salvage_dropped(const ppi_salvage *, uint32_t) {
  return 0;
}
extern "C" uint64_t ppi_salvage_first(const ppi_salvage *, uint32_t) {
  return 0;
}

extern "C" uint64_t ppi_salvage_last_time_ns(const ppi_salvage *) {
  return 9000;
}

namespace pplog {
namespace {

struct Blocks {
  std::vector<std::string> all;

  static pprof_status Put(void *user, const uint8_t *bytes, size_t len) {
    while (len > 0) {
      ppi_log_header header;
      EXPECT_TRUE(ppi_log_header_load(bytes, &header));
      size_t size = ppi_log_block_size(&header);
      static_cast<Blocks *>(user)->all.emplace_back(
          reinterpret_cast<const char *>(bytes), size);
      bytes += size;
      len -= size;
    }
    return PPROF_STATUS_OK;
  }
};

// A run of three lanes: blocks of ten events a lane, then what no block has.
class RecoverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    spool = &spool_;
    // One of the folders where spools are by themselves.
    const std::string spools = spool_path_.substr(0, spool_path_.rfind('/'));
    setenv("XDG_RUNTIME_DIR", spools.c_str(), 1);
    Spill(spool_path_, "spool");
    for (uint32_t lane = 0; lane < 3; lane++) {
      spool_.lanes.emplace_back();
      for (uint64_t i = 0; i < 45; i++)
        spool_.lanes[lane].push_back(
            Range(lane, 1, 0, i * 100, i * 100 + 10 + lane));
    }
    spool_.items = {{1, PPI_TOTAL_LOST, 4},
                    {PPROF_ALL_LANES, PPI_TOTAL_LOST, 4},
                    {PPROF_ALL_LANES, PPI_TOTAL_CLOCK_ERROR_NS, 77}};
    MakeBlocks();
  }

  void TearDown() override {
    unsetenv("XDG_RUNTIME_DIR");
  }

  void MakeBlocks() {
    ppi_log_assembler assembler;
    ASSERT_EQ(ppi_log_assembler_init(&assembler, Blocks::Put, &blocks_, 0, 0),
              PPROF_STATUS_OK);
    Info info(std::vector<ppi_text>{{"spool", spool_path_.c_str()}});
    ppi_log_assembler_info(&assembler, info.get(), nullptr, 0);
    ppi_log_assembler_window(&assembler, 0, true, 0);
    pprof_definition site = Site(1, "decode");
    ppi_log_assembler_define(&assembler, &site);
    for (size_t i = 0; i < 4; i++) {
      for (uint32_t lane = 0; lane < 3; lane++) {
        const auto &all = spool_.lanes[lane];
        std::vector<pprof_event> part(all.begin() + (long)i * 10,
                                      all.begin() + (long)i * 10 + 10);
        pprof_batch batch = Batch(lane, i * 10, i * 10 + 10, part);
        ppi_log_assembler_events(&assembler, &batch);
      }
      pprof_checkpoint checkpoint = {i * 1000 + 910, nullptr, 0};
      ppi_log_assembler_checkpoint(&assembler, &checkpoint);
    }
    num_live_ = blocks_.all.size();
    ppi_log_assembler_window(&assembler, 0, false, 4000);
    ppi_log_assembler_totals(&assembler, &kNoTotals, nullptr);
    ppi_log_assembler_clear(&assembler);
  }

  // The .part holds [0, written), the ring [released, staged).
  void Lay(size_t written, size_t released, size_t staged) {
    uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
    ppi_log_file_header_store(header, kUuid);
    std::string bytes(reinterpret_cast<char *>(header), sizeof header);
    for (size_t i = 0; i < written; i++) bytes += blocks_.all[i];
    Spill(part_, bytes);
    spool_.ring.assign((sizeof(ppi_staging) + (1 << 20)) / 8, 0);
    spool_.staging =
        ppi_staging_init(spool_.ring.data(), spool_.ring.size() * 8);
    ppi_staging_claim(spool_.staging, part_.c_str());
    for (size_t i = released; i < staged; i++) {
      ppi_staging_block block = {blocks_.all[i].data(),
                                 (uint32_t)blocks_.all[i].size(), i};
      ASSERT_TRUE(ppi_staging_put(spool_.staging, &block, 1));
    }
  }

  pprof_status Recover(const std::string &path,
                       const ppi_recover_options *options = nullptr) {
    error_ = {};
    return ppi_recover(path.c_str(), options, &result_, &error_);
  }

  // All 45 of each lane, once, in order.
  void ExpectAll(const std::string &path) {
    Collector wanted;
    for (uint32_t lane = 0; lane < 3; lane++) {
      pprof_batch batch = Batch(lane, 0, 45, spool_.lanes[lane]);
      wanted.sink()->events(wanted.sink(), &batch);
    }
    Lines read = Read(path);
    for (const char *lane : {"event 0", "event 1", "event 2"})
      ASSERT_EQ(Pick(read, lane), Pick(wanted.lines(), lane));
    ASSERT_EQ(Pick(read, "window index=0 opens").size(), 1u);
    ASSERT_EQ(Pick(read, "window index=0 closes").size(), 1u);
    ASSERT_EQ(Pick(read, "info uuid").size(), 1u);
    ASSERT_EQ(Pick(read, "total"),
              (Lines{"total lane=0 recorded=45", "total lane=1 recorded=45",
                     "total lane=1 lost=4", "total lane=2 recorded=45",
                     "total lane=-1 recorded=135", "total lane=-1 lost=4",
                     "total lane=-1 clock_error_ns=77",
                     "total lane=-1 ended_without_stop=1"}));
  }

  FakeSpool spool_;
  Folder folder_;
  std::string path_ = folder_ / "x.pplog", part_ = path_ + ".part";
  std::string spool_path_ = folder_ / "pprof-12345.0.spool";
  Blocks blocks_;
  size_t num_live_ = 0;
  ppi_recover_result result_;
  pprof_error error_;
};

}  // namespace
}  // namespace pplog
