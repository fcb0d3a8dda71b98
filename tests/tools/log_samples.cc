// SPDX-License-Identifier: Apache-2.0
//
// log_samples FOLDER: writes logs of every sort there, named *.pplog: small and
// large ones, without totals, cut and damaged. For comparing readers.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "event/event.h"
#include "pprof/log.h"
#include "tests/support/log_events.h"

namespace pplog {
namespace {

void Check(pprof_status status) {
  if (status == PPROF_STATUS_OK) return;
  fprintf(stderr, "log_samples: %s\n", pprof_status_string(status));
  exit(1);
}

void Feed(pprof_sink *writer, uint32_t seed, unsigned wildness, int batches) {
  Maker maker(seed);
  std::map<uint32_t, Lane> lanes;
  for (int i = 0; i < batches; i++) {
    uint32_t id = static_cast<uint32_t>(maker.Below(4));
    Lane *lane = &lanes[id];
    size_t n = maker.Below(60);
    Events made = maker.Make(lane, id, n, wildness);
    pprof_batch batch = {};
    batch.size = sizeof batch;
    batch.stride = sizeof(pprof_event);
    batch.events = made.events.data();
    batch.num_events = n;
    batch.first_seq = lane->seq;
    batch.end_seq = lane->seq += n + maker.Below(3);
    batch.lane = id;
    std::string name = "site \xc3\xa9\\ " + std::to_string(i);
    pprof_definition site = {PPROF_DEFINITION_SITE,
                             1u + static_cast<uint32_t>(i),
                             1,
                             0xff0000,
                             UINT64_MAX,
                             name.c_str()};
    Check(writer->define(writer, &site));
    // A wild lane number is a large one: totals by lane are not for those.
    for (pprof_event &event : made.events) event.lane %= 64;
    Check(writer->events(writer, &batch));
    if (i % 10 != 9) continue;
    pprof_checkpoint checkpoint = {maker.Any(), made.events.data(), n};
    Check(writer->checkpoint(writer, &checkpoint));
    Check(writer->window(writer, 0, i % 20 == 9, maker.Any()));
  }
}

void WriteRun(pprof_sink *writer, uint32_t seed, unsigned wildness, int batches,
              bool finish) {
  std::string config(finish ? 100000 : 10, 'c');
  std::string uuid(32, static_cast<char>('0' + seed % 10));
  ppi_text texts[] = {
      {"uuid", uuid.c_str()}, {"config", config.c_str()}, {"command", "a b\n"}};
  pprof_run_info info = {texts, 3, nullptr};
  Check(writer->begin(writer, &info));
  Feed(writer, seed, wildness, batches);
  ppi_total items[] = {{0, PPI_TOTAL_RECORDED, 5},
                       {PPROF_ALL_LANES, PPI_TOTAL_RECORDED, 5},
                       {PPROF_ALL_LANES, PPI_TOTAL_CRASH_SAFE, 1}};
  ppi_text note = {"clock", "tsc"};
  pprof_totals totals = {items, 3, &note, 1};
  if (finish) Check(writer->finish(writer, &totals));
}

void Write(const std::string &path, uint32_t seed, unsigned wildness,
           int batches, bool finish) {
  pprof_sink *writer = nullptr;
  Check(pprof_log_writer_create(path.c_str(), &writer, nullptr));
  WriteRun(writer, seed, wildness, batches, finish);
  writer->destroy(writer);
  if (!finish) rename((path + ".part").c_str(), path.c_str());
}

std::string Slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteSeveral(const std::string &path) {
  pprof_sink *writer = nullptr;
  Check(pprof_log_writer_create(path.c_str(), &writer, nullptr));
  for (uint32_t seed : {7, 8, 9}) WriteRun(writer, seed, 10, 40, true);
  writer->destroy(writer);
}

// Around the second run's header: it is gone in part, in whole, or with the
// blocks behind it; or a header stands where none should.
void DamageSeveral(const std::string &from, const std::string &folder) {
  const std::string whole = Slurp(from), header = whole.substr(0, 64);
  size_t second = whole.find("PPROFLOG", 1);
  int n = 0;
  auto spill = [&](const std::string &bytes) {
    std::ofstream(folder + "/several" + std::to_string(++n) + ".pplog",
                  std::ios::binary)
        << bytes;
  };
  for (size_t at : {size_t{2}, size_t{20}, size_t{63}, size_t{70}}) {
    std::string bytes = whole;
    bytes[second + at] = static_cast<char>(bytes[second + at] ^ 1);
    spill(bytes);
  }
  for (size_t len : {size_t{64}, size_t{70}, size_t{1000}, size_t{5000}}) {
    spill(std::string(whole).erase(second, len));
    spill(std::string(whole).replace(second, len, len, '\0'));
    spill(whole.substr(0, second + len));
  }
  spill(std::string(whole).insert(second, header));
  spill(std::string(whole).replace(second - 90, 64, header));
  spill(whole + whole.substr(0, second));
  spill(whole + "PPROFLOG");
}

void Damage(const std::string &from, const std::string &folder) {
  std::string whole = Slurp(from);
  for (size_t i = 1; i <= 12; i++) {
    std::string bytes = whole;
    size_t at = bytes.size() * i / 13;
    if (i % 3 == 0)
      bytes.resize(at);
    else if (i % 3 == 1)
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    else
      bytes.erase(at, 300);
    std::ofstream(folder + "/bad" + std::to_string(i) + ".pplog",
                  std::ios::binary)
        << bytes;
  }
  whole[3] = 'x';
  std::ofstream(folder + "/bad_magic.pplog", std::ios::binary) << whole;
}

int Main(const std::string &folder) {
  Write(folder + "/empty.pplog", 1, 0, 0, true);
  Write(folder + "/nested.pplog", 2, 0, 60, true);
  Write(folder + "/mixed.pplog", 3, 20, 100, true);
  Write(folder + "/wild.pplog", 4, 100, 60, true);
  Write(folder + "/part.pplog", 5, 20, 60, false);
  Write(folder + "/large.pplog", 6, 5, 900, true);
  Damage(folder + "/mixed.pplog", folder);
  WriteSeveral(folder + "/several.pplog");
  DamageSeveral(folder + "/several.pplog", folder);
  return 0;
}

}  // namespace
}  // namespace pplog

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: log_samples FOLDER\n");
    return 2;
  }
  return pplog::Main(argv[1]);
}
