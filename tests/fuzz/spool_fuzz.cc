// SPDX-License-Identifier: Apache-2.0
//
// A spool with any bytes in it. An input is a list of patches to the spool of a
// session that recorded something of every kind, in regions rather than at
// offsets, so that it means the same whatever the layout:
//
//   first byte  0: deliver; 1: recover; 2: forensics, as `--open-ranges` reads
//   it patch       region (1 byte), offset (3, little endian), length - 1 (1,
//   of
//               which the lower 4 bits count), the bytes
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.h"
#include "log/recover/log_recover.h"
#include "mark/thread.h"
#include "pprof/mark.h"
#include "pprof/pprof.h"
#include "recover/forensics.h"
#include "recover/forensics_names.h"
#include "recover/salvage.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/spool";

namespace {

struct Region {
  size_t offset, size;
};

// The bytes of the spool, a file that holds them, and where things are in it.
struct Base {
  std::string folder, path, bytes;
  uint8_t *file;
  std::vector<Region> regions;
  // Where recover would write; not the input's to say.
  std::vector<Region> kept;
};

void Remove(const std::string &folder) {
  const std::string command = "rm -rf '" + folder + "'";
  Require(system(command.c_str()) == 0, "rm");
}

void Record() {
  static pprof_site outer = {"outer", 0, 0, 0, {0, 0}};
  static pprof_site inner = {"inner", 0, 0, 0, {0, 0}};
  pprof_work_amount work = {};
  work.size = sizeof work;
  work.items = 3;
  for (int i = 0; i < 20; i++) {
    pprof_push(&outer);
    pprof_flow(static_cast<uint64_t>(i) + 1);
    pprof_push(&inner);
    pprof_work(&work);
    pprof_pop();
    pprof_mark(&inner);
    pprof_count(&inner, i);
    pprof_range_end(pprof_range_begin(&outer));
    pprof_pop();
  }
  pprof_range_begin(&inner);
  pprof_push(&outer);
  for (uint64_t flow = 1; flow <= 40; flow++) pprof_flow(flow);
  pprof_push(&inner);
}

size_t Chunk(uint32_t number) {
  return static_cast<size_t>(number) * PPI_CHUNK_SIZE;
}

void FindRegions(Base *base) {
  auto *header = reinterpret_cast<ppi_spool_header *>(&base->bytes[0]);
  auto *staging =
      reinterpret_cast<ppi_staging *>(&base->bytes[header->staging_offset]);
  staging->tail = 0;  // what was written to the log is there once more
  const auto lane_at = [&](uint32_t place) {
    return static_cast<size_t>(header->lanes[place]) * PPI_LANE_SIZE;
  };
  auto *lane = reinterpret_cast<ppi_lane *>(&base->bytes[lane_at(0)]);
  const size_t blocks = header->ring_offset + sizeof(ppi_ring);
  base->regions = {{0, sizeof *header},
                   {Chunk(header->names[0]), header->names_end},
                   {header->staging_offset, sizeof *staging + 16384},
                   {header->ring_offset, sizeof(ppi_ring) + 16384},
                   {lane_at(0), sizeof *lane},
                   {lane_at(1), sizeof *lane},
                   {Chunk(lane->directory[1] / PPI_UNITS_PER_CHUNK), 8192},
                   {Chunk(header->tables[0]), 12288}};
  auto log_path = [&](size_t at) {
    return Region{at + offsetof(ppi_staging, log_path),
                  sizeof staging->log_path};
  };
  base->kept = {log_path(header->staging_offset), log_path(blocks)};
}

const Base *MakeBase() {
  auto *base = new Base;
  const char *parent = getenv("TEST_TMPDIR");
  base->folder = std::string(parent ? parent : "/tmp") + "/fuzz.XXXXXX";
  Require(mkdtemp(&base->folder[0]) != nullptr, "mkdtemp");
  static std::string folder = base->folder;
  atexit([] { Remove(folder); });
  const std::string config = folder + "/p.yaml";
  std::ofstream(config) << "output: " << folder << "/run.pplog\n"
                        << "memory_limit: 4MiB\n"
                        << "flight_recorder: {memory: 1MiB, output: " << folder
                        << "/dump.pplog}\n";
  pprof_error error = {""};
  Require(pprof_start(config.c_str(), &error) == PPROF_STATUS_OK, error.text);
  Record();
  pprof_session_flush(pprof_session_current());
  Record();
  const ppi_spool &spool = ppi_recorder_in_force.spool;
  base->bytes.assign(reinterpret_cast<const char *>(spool.base), spool.size);
  Require(pprof_stop(nullptr) == PPROF_STATUS_OK, "stop");
  unlink((folder + "/run.pplog").c_str());
  FindRegions(base);
  base->path = folder + "/pprof-fuzz.spool";
  std::ofstream(base->path, std::ios::binary) << base->bytes;
  const int fd = open(base->path.c_str(), O_RDWR | O_CLOEXEC);
  base->file = static_cast<uint8_t *>(mmap(
      nullptr, base->bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  close(fd);
  Require(base->file != MAP_FAILED, "mmap");
  return base;
}

// Patches the file and answers what was patched.
std::vector<Region> Patch(const Base *base, const uint8_t *data, size_t size) {
  std::vector<Region> done;
  while (size > 5) {
    const Region &region = base->regions[data[0] % base->regions.size()];
    const size_t from = (data[1] | data[2] << 8 | data[3] << 16) % region.size;
    const size_t len = std::min<size_t>(
        {(data[4] & 15u) + 1u, size - 5, base->bytes.size() - from});
    const size_t at = std::min(region.offset + from, base->bytes.size() - len);
    memcpy(base->file + at, data + 5, len);
    done.push_back({at, len});
    data += 5 + len;
    size -= 5 + len;
  }
  for (const Region &kept : base->kept)
    memcpy(base->file + kept.offset, &base->bytes[kept.offset], kept.size);
  return done;
}

void Deliver(const Base *base) {
  ppi_salvage *salvage = nullptr;
  pprof_error error = {""};
  if (ppi_salvage_open(base->path.c_str(), &salvage, &error) !=
      PPROF_STATUS_OK) {
    Require(error.text[0] != 0, "a failure without a message");
    return;
  }
  Outputs outputs(0);
  pprof_sink *sink = outputs.sink();
  Require(sink->begin(sink, ppi_salvage_run_info(salvage)) == PPROF_STATUS_OK,
          "begin");
  ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink);
  sink->finish(sink, ppi_salvage_totals(salvage));
  ppi_salvage_close(salvage);
  outputs.Check();
}

void Recover(const Base *base) {
  const std::string output = base->folder + "/out.pplog";
  const ppi_recover_options options = {output.c_str(), true, true, false,
                                       nullptr};
  ppi_recover_result result;
  pprof_error error = {""};
  unlink((base->folder + "/dump.pplog").c_str());
  pprof_status status =
      ppi_recover(base->path.c_str(), &options, &result, &error);
  Require(status == PPROF_STATUS_OK || error.text[0] != 0,
          "a failure without a message");
  if (status == PPROF_STATUS_OK) {
    Outputs outputs(2);
    pprof_status read = pprof_log_read(output.c_str(), outputs.sink(), &error);
    Require(read == PPROF_STATUS_OK || read == PPROF_STATUS_CORRUPT,
            error.text);
    outputs.Check();
  }
  unlink(output.c_str());
}

void Look(const Base *base) {
  ppi_forensics found;
  pprof_error error = {""};
  if (ppi_forensics_read(base->path.c_str(), &found, &error) == PPROF_STATUS_OK)
    for (size_t i = 0; i < found.num_items; i++)
      ppi_forensics_find(&found, PPROF_DEFINITION_SITE, found.items[i].site);
  ppi_forensics_clear(&found);
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::Base *base = fuzz::MakeBase();
  if (size < 1) return 0;
  const auto patched = fuzz::Patch(base, data + 1, size - 1);
  if (data[0] % 3 == 0) fuzz::Deliver(base);
  if (data[0] % 3 == 1) fuzz::Recover(base);
  if (data[0] % 3 == 2) fuzz::Look(base);
  for (const fuzz::Region &region : patched)
    memcpy(base->file + region.offset, &base->bytes[region.offset],
           region.size);
  return 0;
}
