// SPDX-License-Identifier: Apache-2.0
//
// Any rows as the SQLite file that nsys makes, or any bytes as such a file. The
// first byte picks the outputs, the lowest bit of the second which of both;
// rows are read as Rows has it.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "fuzz.h"
#include "import/import.h"
#include "sqlite/sqlite.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/nsys";
}

namespace {

const char *const kTables[] = {
    "StringIds(id,value)",
    "NVTX_EVENTS(start,\"end\",eventType,category,text,globalTid,textId,"
    "domainId)",
    "CUPTI_ACTIVITY_KIND_RUNTIME(start,\"end\",globalTid,correlationId,nameId)",
    "CUPTI_ACTIVITY_KIND_KERNEL(start,\"end\",deviceId,streamId,correlationId,"
    "globalPid,demangledName)",
    "CUPTI_ACTIVITY_KIND_MEMCPY(start,\"end\",deviceId,streamId,correlationId,"
    "globalPid,bytes,copyKind)",
    "CUPTI_ACTIVITY_KIND_MEMSET(start,\"end\",deviceId,streamId,correlationId,"
    "globalPid,bytes)",
    "PROCESSES(globalPid,pid,name)",
    "ThreadNames(nameId,globalTid)",
    "TARGET_INFO_SESSION_START_TIME(utcEpochNs)",
};
enum { NUM_TABLES = sizeof kTables / sizeof *kTables };

// SQLite opens no file without a name.
const char *Path() {
  static char path[64];
  if (!path[0]) {
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/nsys_fuzz.XXXXXX", folder);
    const int fd = mkstemp(path);
    fuzz::Require(fd >= 0, "no file");
    close(fd);
    atexit([] { unlink(path); });
  }
  return path;
}

// A table's number, then a value for each of its columns: its kind, then eight
// bytes of a number, or a length and so many of a text. Tables without a row
// are there where the second byte of the input says so.
class Rows {
 public:
  Rows(const uint8_t *data, size_t size) : at_(data), end_(data + size) {}

  void Fill(ppi_db *db) {
    const unsigned there = Byte();
    for (int i = 0; i < NUM_TABLES; i++)
      if (i < 2 || (there >> (i - 2) & 1)) Create(db, i);
    while (at_ < end_) Insert(db, Byte() % NUM_TABLES);
  }

 private:
  unsigned Byte() {
    return at_ < end_ ? *at_++ : 0u;
  }

  std::string Bytes(size_t num) {
    const size_t left = static_cast<size_t>(end_ - at_);
    const std::string bytes(reinterpret_cast<const char *>(at_),
                            num < left ? num : left);
    at_ += bytes.size();
    return bytes;
  }

  void Create(ppi_db *db, unsigned table) {
    if (is_there_[table]) return;
    is_there_[table] = true;
    ppi_db_exec(db, (std::string("CREATE TABLE ") + kTables[table]).c_str());
  }

  void Insert(ppi_db *db, unsigned table) {
    Create(db, table);
    std::string text = std::string("INSERT INTO ") + kTables[table] + " VALUES";
    const char *columns = strchr(kTables[table], '(');
    const char *sign = "(";
    for (const char *c = columns; *c; c++) {
      if (*c != ',' && *c != ')') continue;
      text += sign + Value();
      sign = ",";
    }
    ppi_db_exec(db, (text + ")").c_str());
  }

  // As a literal of SQL.
  std::string Value() {
    static const char digits[] = "0123456789abcdef";
    const unsigned kind = Byte() % 5;
    if (kind == 0) return "NULL";
    if (kind == 1) return std::to_string(Byte());
    std::string bytes = Bytes(kind == 2 || kind == 3 ? 8 : Byte() % 64);
    if (kind == 4) {
      std::string hex = "CAST(x'";
      for (const char c : bytes) {
        hex += digits[static_cast<uint8_t>(c) >> 4];
        hex += digits[c & 15];
      }
      return hex + "' AS TEXT)";
    }
    bytes.resize(8);
    if (kind == 2) {
      int64_t whole;
      memcpy(&whole, bytes.data(), sizeof whole);
      return whole == INT64_MIN ? "-9223372036854775807"
                                : std::to_string(whole);
    }
    double real;
    memcpy(&real, bytes.data(), sizeof real);
    char text[32];
    snprintf(text, sizeof text, "%.17g", real);
    return real - real == 0 ? text : "9e999";
  }

  const uint8_t *at_, *end_;
  bool is_there_[NUM_TABLES] = {};
};

void WriteBytes(const uint8_t *data, size_t size) {
  FILE *file = fopen(Path(), "wb");
  fuzz::Require(file && fwrite(data, 1, size, file) == size, "cannot write");
  fclose(file);
}

void WriteRows(const uint8_t *data, size_t size) {
  WriteBytes(data, 0);
  ppi_db db;
  pprof_error error = {""};
  fuzz::Require(ppi_db_open(&db, Path(), PPI_DB_NEW, &error) == PPROF_STATUS_OK,
                error.text);
  ppi_db_exec(&db, "BEGIN");
  Rows(data, size).Fill(&db);
  ppi_db_exec(&db, "COMMIT");
  fuzz::Require(!ppi_db_failed(&db), db.failure);
  ppi_db_close(&db);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  if (data[1] & 1)
    WriteRows(data + 2, size - 2);
  else
    WriteBytes(data + 2, size - 2);
  ppi_import_is_trace(Path());
  fuzz::Outputs outputs(data[0]);
  pprof_error error = {""};
  const pprof_status status =
      ppi_import_read(Path(), outputs.sink(), nullptr, &error);
  outputs.CheckMessage(status, error);
  outputs.Check();
  return 0;
}
