// SPDX-License-Identifier: Apache-2.0
//
// Files, staging, what is kept when, and what a broken disk does.
#include "log/write/log_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "log/format/log_block.h"
#include "spool/staging.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

// A staging ring as a spool would hold it.
class Spool {
 public:
  explicit Spool(size_t ring) : memory_((sizeof(ppi_staging) + ring) / 8) {
    staging_ = ppi_staging_init(memory_.data(), memory_.size() * 8);
  }
  ppi_staging *get() {
    return staging_;
  }

 private:
  std::vector<uint64_t> memory_;
  ppi_staging *staging_;
};

std::vector<pprof_event> Ranges(uint32_t lane, size_t n, uint64_t from = 0) {
  std::vector<pprof_event> events;
  for (size_t i = 0; i < n; i++)
    events.push_back(Range(lane, 1, 0, from + i * 10, from + i * 10 + 5));
  return events;
}

uint64_t Kept(pprof_sink *writer, uint32_t lane) {
  uint64_t seq = 99;
  EXPECT_TRUE(writer->kept(writer, lane, &seq));
  return seq;
}

void Feed(pprof_sink *writer, uint32_t lane, uint64_t first, uint64_t end,
          const std::vector<pprof_event> &events) {
  pprof_batch batch = Batch(lane, first, end, events);
  ASSERT_EQ(writer->events(writer, &batch), PPROF_STATUS_OK);
}

void Checkpoint(pprof_sink *writer, uint64_t time) {
  pprof_checkpoint checkpoint = {time, nullptr, 0};
  ASSERT_EQ(writer->checkpoint(writer, &checkpoint), PPROF_STATUS_OK);
}

class LogWriterTest : public ::testing::Test {
 protected:
  void Begin(ppi_staging *staging = nullptr) {
    writer_ = Create(path_);
    Info info({}, staging);
    ASSERT_EQ(writer_->begin(writer_, info.get()), PPROF_STATUS_OK);
  }
  void Finish() {
    ASSERT_EQ(writer_->finish(writer_, &kNoTotals), PPROF_STATUS_OK)
        << ppi_log_writer_error(writer_);
    writer_->destroy(writer_);
  }
  Folder folder_;
  std::string path_ = folder_ / "x.pplog";
  pprof_sink *writer_ = nullptr;
};

TEST_F(LogWriterTest, PartUntilFinish) {
  Begin();
  EXPECT_TRUE(Exists(path_ + ".part"));
  EXPECT_FALSE(Exists(path_));
  Finish();
  EXPECT_FALSE(Exists(path_ + ".part"));
  EXPECT_TRUE(Exists(path_));
}

TEST_F(LogWriterTest, UnwritableFolderFailsAtOnce) {
  pprof_sink *sink = nullptr;
  pprof_error error;
  std::string path = folder_ / "none/x.pplog";
  EXPECT_EQ(pprof_log_writer_create(path.c_str(), &sink, &error),
            PPROF_STATUS_IO);
  EXPECT_EQ(std::string(error.text),
            "cannot write " + path + ".part: No such file or directory");
  EXPECT_EQ(sink, nullptr);
  path = folder_ / ".";
  EXPECT_EQ(pprof_log_writer_create(path.c_str(), &sink, &error),
            PPROF_STATUS_IO);
  EXPECT_EQ(pprof_log_writer_create("", &sink, &error), PPROF_STATUS_IO);
}

TEST_F(LogWriterTest, NeverBegunLeavesNothing) {
  writer_ = Create(path_);
  writer_->destroy(writer_);
  EXPECT_FALSE(Exists(path_ + ".part"));
  EXPECT_FALSE(Exists(path_));
}

TEST_F(LogWriterTest, DeadRunsPartIsLeftAlone) {
  Spill(path_ + ".part", "what a dead run left");
  Begin();
  EXPECT_EQ(std::string(ppi_log_writer_part_path(writer_)),
            folder_ / "x.1.pplog.part");
  Finish();
  EXPECT_EQ(Slurp(path_ + ".part"), "what a dead run left");
  EXPECT_FALSE(Exists(path_));
  EXPECT_EQ(Pick(Read(folder_ / "x.1.pplog"), "finish").size(), 1u);
}

TEST_F(LogWriterTest, ALinkInThePartsPlaceIsNotFollowed) {
  ASSERT_EQ(symlink("theirs", (path_ + ".part").c_str()), 0);
  Begin();
  Finish();
  EXPECT_FALSE(Exists(folder_ / "theirs"));
  EXPECT_EQ(Pick(Read(folder_ / "x.1.pplog"), "finish").size(), 1u);
}

TEST_F(LogWriterTest, TwoWritersOfOneNameDoNotMeet) {
  Begin();
  pprof_sink *other = Create(path_);
  EXPECT_STRNE(ppi_log_writer_part_path(other),
               ppi_log_writer_part_path(writer_));
  EXPECT_EQ(folder_ / "x.1.pplog", ppi_log_writer_path(other));
  Info info;
  ASSERT_EQ(other->begin(other, info.get()), PPROF_STATUS_OK);
  Feed(other, 1, 0, 7, Ranges(1, 7));
  Feed(writer_, 1, 0, 5, Ranges(1, 5));
  Finish();
  ASSERT_EQ(other->finish(other, &kNoTotals), PPROF_STATUS_OK);
  other->destroy(other);
  EXPECT_EQ(Pick(Read(path_), "event").size(), 5u);
  EXPECT_EQ(Pick(Read(folder_ / "x.1.pplog"), "event").size(), 7u);
}

// Whoever ends at once leaves a .part that leads to its spool.
TEST_F(LogWriterTest, BegunFileSaysAtOnceWhatItBelongsTo) {
  std::string config(100000, 'c');
  for (int i = 0; i < 50; i++) {
    std::string path = folder_ / ("at_once" + std::to_string(i) + ".pplog");
    pprof_sink *writer = Create(path);
    Info info(std::vector<ppi_text>{{"config", config.c_str()},
                                    {"spool", "/dev/shm/pprof.1.0"}});
    ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
    Lines lines = Pick(Read(path + ".part"), "info spool");
    ASSERT_EQ(lines, Lines{"info spool=/dev/shm/pprof.1.0"}) << i;
    writer->destroy(writer);
  }
}

// A setting that is wrong is told, not stood aside of.
TEST_F(LogWriterTest, DevicesAndOwnFoldersAreErrors) {
  pprof_sink *writer = nullptr;
  pprof_error error = {""};
  ASSERT_EQ(symlink("/dev/null", path_.c_str()), 0);
  EXPECT_EQ(pprof_log_writer_create(path_.c_str(), &writer, &error),
            PPROF_STATUS_IO);
  EXPECT_EQ("cannot write '" + path_ + "': it is a device", error.text);
  unlink(path_.c_str());
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  EXPECT_EQ(pprof_log_writer_create(path_.c_str(), &writer, &error),
            PPROF_STATUS_IO);
  EXPECT_FALSE(Exists(path_ + ".part"));
  EXPECT_FALSE(Exists(folder_ / "x.1.pplog.part"));
}

// A disk that takes nothing from the beginning delays, and no more.
TEST_F(LogWriterTest, DiskThatBlocksFromTheBeginning) {
  ASSERT_EQ(mkfifo((path_ + ".part").c_str(), 0600), 0);
  int fd = open((path_ + ".part").c_str(), O_RDWR | O_NONBLOCK);
  std::vector<char> full(4096);
  while (write(fd, full.data(), full.size()) > 0) continue;
  Begin();
  Feed(writer_, 1, 0, 5, Ranges(1, 5));
  Checkpoint(writer_, 100);
  EXPECT_EQ(ppi_log_writer_look(writer_).num_bytes, 0u);
  // Once it takes something, all goes on.
  std::vector<char> taken(1 << 20);
  while (ppi_log_writer_look(writer_).num_bytes == 0)
    if (read(fd, taken.data(), taken.size()) <= 0) sched_yield();
  EXPECT_EQ(writer_->finish(writer_, &kNoTotals), PPROF_STATUS_OK);
  EXPECT_EQ(ppi_log_writer_look(writer_).num_blocks_lost, 0u);
  writer_->destroy(writer_);
  close(fd);
}

TEST_F(LogWriterTest, DestroyWithoutFinishKeepsThePart) {
  Begin();
  Feed(writer_, 1, 0, 5, Ranges(1, 5));
  writer_->destroy(writer_);
  EXPECT_EQ(Pick(Read(path_ + ".part"), "event").size(), 5u);
  EXPECT_FALSE(Exists(path_));
}

TEST_F(LogWriterTest, KeptOnceStagedInTheSpool) {
  Spool spool(1 << 20);
  Begin(spool.get());
  EXPECT_EQ(spool.get()->log_path, path_ + ".part");
  EXPECT_EQ(Kept(writer_, 1), 0u);
  Feed(writer_, 1, 0, 9, Ranges(1, 5));
  EXPECT_EQ(Kept(writer_, 1), 0u);
  Checkpoint(writer_, 100);
  EXPECT_EQ(Kept(writer_, 1), 9u);
  EXPECT_EQ(Kept(writer_, 2), 0u);
  Finish();
}

TEST_F(LogWriterTest, SecondWriterKeepsByItsFile) {
  Spool spool(1 << 20);
  ASSERT_TRUE(ppi_staging_claim(spool.get(), "/another.part"));
  Begin(spool.get());
  Feed(writer_, 1, 0, 5, Ranges(1, 5));
  Checkpoint(writer_, 100);
  // The I/O thread gets there without anybody calling.
  while (Kept(writer_, 1) != 5) sched_yield();
  EXPECT_GE(Pick(Read(path_ + ".part"), "event").size(), 5u);
  Finish();
}

TEST_F(LogWriterTest, EmptyBatchMovesKept) {
  Spool spool(1 << 20);
  Begin(spool.get());
  Feed(writer_, 1, 0, 7, {});
  Checkpoint(writer_, 100);
  EXPECT_EQ(Kept(writer_, 1), 7u);
  Finish();
  EXPECT_EQ(Pick(Read(path_), "batch"), Lines{"batch lane=1 seq=0..7 num=0"});
}

TEST_F(LogWriterTest, ContiguousRunsOfALaneMerge) {
  Begin();
  Feed(writer_, 2, 0, 2, Ranges(2, 2));
  Feed(writer_, 1, 0, 3, Ranges(1, 3));
  Feed(writer_, 2, 2, 4, Ranges(2, 2, 100));
  Feed(writer_, 1, 5, 6, Ranges(1, 1, 100));
  auto later = Ranges(1, 2, 200);
  later[1].window = 1;
  Feed(writer_, 1, 6, 8, later);
  Finish();
  EXPECT_EQ(
      Pick(Read(path_), "batch"),
      (Lines{"batch lane=1 seq=0..3 num=3", "batch lane=1 seq=5..7 num=2",
             "batch lane=1 seq=7..8 num=1", "batch lane=2 seq=0..4 num=4"}));
}

TEST_F(LogWriterTest, DefinitionsComeBeforeTheirEvents) {
  Begin();
  for (uint32_t i = 1; i <= 3; i++) {
    pprof_definition site = Site(i, "name");
    ASSERT_EQ(writer_->define(writer_, &site), PPROF_STATUS_OK);
    std::vector<pprof_event> events = {Range(1, i, 0, i * 10, i * 10 + 5)};
    Feed(writer_, 1, i - 1, i, events);
  }
  Finish();
  Lines lines = Read(path_);
  EXPECT_EQ(lines[3].substr(0, 6), "define");
  EXPECT_EQ(lines[5].substr(0, 6), "define");
  EXPECT_EQ(lines[6].substr(0, 5), "batch");
}

TEST_F(LogWriterTest, LongTextsSpanBlocks) {
  std::string config(200000, 'c'), name(70000, 'n');
  writer_ = Create(path_);
  Info info(std::vector<ppi_text>{{"config", config.c_str()}, {"k", "v"}});
  ASSERT_EQ(writer_->begin(writer_, info.get()), PPROF_STATUS_OK);
  pprof_definition site = Site(1, name.c_str());
  ASSERT_EQ(writer_->define(writer_, &site), PPROF_STATUS_OK);
  Finish();
  Lines lines = Read(path_);
  EXPECT_EQ(lines[2], "info config=" + config);
  EXPECT_EQ(lines[3], "info k=v");
  // As much of it as is ever read.
  EXPECT_NE(lines[5].find(std::string(4096, 'n')), std::string::npos);
  EXPECT_EQ(lines[5].find(std::string(4097, 'n')), std::string::npos);
}

TEST_F(LogWriterTest, ManyTotalsAndOpenRangesSpanBlocks) {
  Begin();
  std::vector<pprof_event> open = Ranges(1, 30000);
  pprof_checkpoint checkpoint = {300000, open.data(), open.size()};
  ASSERT_EQ(writer_->checkpoint(writer_, &checkpoint), PPROF_STATUS_OK);
  std::vector<ppi_total> items;
  for (uint32_t lane = 0; lane < 40000; lane++)
    items.push_back({lane, PPI_TOTAL_RECORDED, lane + 1});
  pprof_totals totals = {items.data(), items.size(), nullptr, 0};
  ASSERT_EQ(writer_->finish(writer_, &totals), PPROF_STATUS_OK);
  writer_->destroy(writer_);
  Lines lines = Read(path_);
  EXPECT_EQ(Pick(lines, "checkpoint").size(), 1u);
  EXPECT_EQ(Pick(lines, "open").size(), 30000u);
  EXPECT_EQ(Pick(lines, "total").size(), 40000u);
  EXPECT_EQ(Pick(lines, "total").back(), "total lane=39999 recorded=40000");
}

// The I/O thread writes into a FIFO nobody reads: the pipe fills, then the
// ring. Nothing waits, and what is closed is counted.
TEST_F(LogWriterTest, BlockedDiskBlocksNobodyElse) {
  ASSERT_EQ(mkfifo((path_ + ".part").c_str(), 0600), 0);
  Begin();
  ppi_log_writer_set_limit_ms(writer_, 20);
  uint64_t seq = 0, state = 1;
  while (writer_->ready(writer_)) {
    auto events = Ranges(1, 1000, seq * 10);
    for (auto &event : events) {  // what does not compress
      state = state * 6364136223846793005u + 1442695040888963407u;
      event.start_ns = state;
      event.end_ns = state * state;
    }
    Feed(writer_, 1, seq, seq + 1000, events);
    seq += 1000;
    ASSERT_LT(seq, 1000000u);
  }
  uint64_t kept = Kept(writer_, 1);
  EXPECT_LT(kept, seq);
  // Even unasked-for events are taken, and kept back.
  for (int i = 0; i < 20; i++, seq += 1000)
    Feed(writer_, 1, seq, seq + 1000, Ranges(1, 1000));
  EXPECT_FALSE(writer_->ready(writer_));
  EXPECT_EQ(writer_->finish(writer_, &kNoTotals), PPROF_STATUS_IO);
  EXPECT_NE(std::string(ppi_log_writer_error(writer_)).find("timed out"),
            std::string::npos);
  EXPECT_GT(ppi_log_writer_look(writer_).num_blocks_lost, 0u);
  // A reader lets the thread that was left behind come to its end.
  int fd = open((path_ + ".part").c_str(), O_RDONLY | O_NONBLOCK);
  writer_->destroy(writer_);
  std::vector<char> sink(1 << 20);
  while (read(fd, sink.data(), sink.size()) != 0) sched_yield();
  close(fd);
  EXPECT_FALSE(Exists(path_));
}

// A file may not grow beyond a limit: the write fails in the middle of a block.
TEST_F(LogWriterTest, FullDiskIsSaidAndWholeBlocksStay) {
  struct rlimit before, limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  Begin();
  Feed(writer_, 1, 0, 100, Ranges(1, 100));
  Checkpoint(writer_, 1);
  while (Kept(writer_, 1) != 100) sched_yield();
  limit = before;
  limit.rlim_cur = static_cast<rlim_t>(Slurp(path_ + ".part").size()) + 120;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  pprof_status status = PPROF_STATUS_OK;
  uint64_t seq = 100;
  while (status == PPROF_STATUS_OK) {
    auto events = Ranges(1, 100, seq * 10);
    pprof_batch batch = Batch(1, seq, seq + 100, events);
    seq += 100;
    status = writer_->events(writer_, &batch);
    pprof_checkpoint checkpoint = {seq, nullptr, 0};
    if (status == PPROF_STATUS_OK)
      status = writer_->checkpoint(writer_, &checkpoint);
    sched_yield();
  }
  EXPECT_EQ(status, PPROF_STATUS_IO);
  EXPECT_TRUE(writer_->ready(writer_));
  EXPECT_EQ(writer_->finish(writer_, &kNoTotals), PPROF_STATUS_IO);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(std::string(ppi_log_writer_error(writer_))
                .rfind(path_ + ".part: File too large; ", 0),
            0u)
      << ppi_log_writer_error(writer_);
  EXPECT_GT(ppi_log_writer_look(writer_).num_blocks_lost, 0u);
  writer_->destroy(writer_);
  EXPECT_FALSE(Exists(path_));
  Lines lines = Read(path_ + ".part");
  EXPECT_GE(Pick(lines, "event").size(), 100u);
}

// After a kill at any moment the ring holds all of a batch or nothing, though
// only the batch's end says which of its records are in.
TEST_F(LogWriterTest, SparseBatchIsStagedWhole) {
  struct Seen {
    std::vector<std::pair<size_t, uint64_t>> puts;  // events, end_seq
  } seen;
  ppi_log_assembler assembler;
  auto put = [](void *user, const uint8_t *blocks, size_t len) {
    size_t events = 0;
    uint64_t end = 0;
    while (len > 0) {
      ppi_log_header header;
      EXPECT_TRUE(ppi_log_header_load(blocks, &header));
      for (uint32_t i = 0; i < header.num_runs; i++) {
        ppi_log_run run;
        ppi_log_run_load(blocks + PPI_LOG_HEADER_SIZE + i * PPI_LOG_RUN_SIZE,
                         &run);
        end = std::max(end, run.end_seq);
        events += run.num_events;
      }
      blocks += ppi_log_block_size(&header);
      len -= ppi_log_block_size(&header);
    }
    static_cast<Seen *>(user)->puts.push_back({events, end});
    return PPROF_STATUS_OK;
  };
  ASSERT_EQ(ppi_log_assembler_init(&assembler, put, &seen, 0, 0),
            PPROF_STATUS_OK);
  uint64_t seq = 0;
  for (int i = 0; i < 10; i++) {
    auto events = Ranges(1, 3000, static_cast<uint64_t>(i) * 30000);
    pprof_batch batch = Batch(1, seq, seq + 4000, events);
    ASSERT_EQ(ppi_log_assembler_events(&assembler, &batch), PPROF_STATUS_OK);
    seq += 4000;
  }
  auto huge = Ranges(1, 20000, 300000);  // three blocks, put together
  pprof_batch batch = Batch(1, seq, seq + 30000, huge);
  ASSERT_EQ(ppi_log_assembler_events(&assembler, &batch), PPROF_STATUS_OK);
  ASSERT_EQ(ppi_log_assembler_flush(&assembler), PPROF_STATUS_OK);
  ppi_log_assembler_clear(&assembler);
  size_t events = 0;
  for (const auto &one : seen.puts) {
    events += one.first;
    if (one.second <= 40000)
      EXPECT_EQ(events * 4000, one.second * 3000);
    else
      EXPECT_EQ(one.second, 70000u);
  }
  EXPECT_EQ(events, 50000u);
  EXPECT_EQ(seen.puts.back().second, 70000u);
}

TEST_F(LogWriterTest, SmallSpoolMeansSmallBlocks) {
  Spool spool(100 * 1024);
  Begin(spool.get());
  EXPECT_EQ(spool.get()->claimed, 1u);
  uint64_t seq = 0;
  for (int i = 0; i < 200; i++) {
    while (!writer_->ready(writer_)) sched_yield();
    Feed(writer_, 1, seq, seq + 500, Ranges(1, 300, seq * 10));
    seq += 500;
  }
  Finish();
  EXPECT_EQ(Pick(Read(path_), "event").size(), 60000u);
}

TEST_F(LogWriterTest, TinySpoolIsLeftAlone) {
  Spool spool(4096);
  Begin(spool.get());
  EXPECT_EQ(spool.get()->claimed, 0u);
  Finish();
}

TEST_F(LogWriterTest, SignalsAreBlockedOnItsThread) {
  Begin();
  // The only other thread must not take it: pending for the process.
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  kill(getpid(), SIGUSR1);
  Feed(writer_, 1, 0, 5, Ranges(1, 5));
  Finish();
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGUSR1), 1);
  int caught;
  sigwait(&one, &caught);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(LogWriterTest, OutOfMemoryIsSaid) {
  bool done = false;
  for (uint64_t n = 1; !done; n++) {
    ASSERT_LT(n, 500u);
    ppi_mem_fail_at(n);
    pprof_sink *sink = nullptr;
    pprof_status status =
        pprof_log_writer_create(path_.c_str(), &sink, nullptr);
    if (status == PPROF_STATUS_OK) {
      Info info;
      auto events = Ranges(1, 5);
      pprof_batch batch = Batch(1, 0, 5, events);
      status = sink->begin(sink, info.get());
      if (status == PPROF_STATUS_OK) status = sink->events(sink, &batch);
      pprof_status finished = sink->finish(sink, &kNoTotals);
      if (status == PPROF_STATUS_OK) status = finished;
      sink->destroy(sink);
    }
    ppi_mem_fail_at(0);
    done = status == PPROF_STATUS_OK;
    EXPECT_TRUE(done || status == PPROF_STATUS_NO_MEMORY) << n;
    unlink((path_ + ".part").c_str());
  }
  EXPECT_EQ(Pick(Read(path_), "event").size(), 5u);
}

}  // namespace
}  // namespace pplog
