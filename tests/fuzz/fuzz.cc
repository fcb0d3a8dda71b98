// SPDX-License-Identifier: Apache-2.0
//
// What the fuzz targets do with what they read.
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "chrome/chrome.h"
#include "file/utf8.h"
#include "print/report_print.h"

namespace fuzz {

void Require(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

File::File() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
  Require(fd_ >= 0, "no memory file");
  path_ = "/proc/self/fd/" + std::to_string(fd_);
}

void File::Write(const void *data, size_t size) {
  Require(ftruncate(fd_, 0) == 0, "ftruncate");
  Require(pwrite(fd_, data, size, 0) == static_cast<ssize_t>(size), "pwrite");
}

std::string File::Read() const {
  struct stat stat = {};
  Require(fstat(fd_, &stat) == 0, "fstat");
  std::string bytes(static_cast<size_t>(stat.st_size), '\0');
  Require(pread(fd_, &bytes[0], bytes.size(), 0) ==
              static_cast<ssize_t>(bytes.size()),
          "pread");
  return bytes;
}

bool IsVisible(const std::string &text) {
  const unsigned char *at = reinterpret_cast<const unsigned char *>(&text[0]);
  const unsigned char *end = at + text.size();
  while (at < end) {
    const size_t length = ppi_utf8_length(at, end);
    if (length == 0) return false;
    if (*at != '\n' && ppi_utf8_is_invisible(ppi_utf8_code(at, length)))
      return false;
    at += length;
  }
  return true;
}

namespace {

File *Trace() {
  static File *file = new File;
  return file;
}

bool IsJson(unsigned choice) {
  return (choice & 3) == PPI_FORMAT_JSON;
}

ppi_report_options OptionsOf(unsigned choice) {
  ppi_report_options options = {};
  options.style = static_cast<ppi_report_style>((choice >> 2) % 3);
  options.time_unit = static_cast<ppi_time_unit>(choice >> 4 & 3);
  options.top = options.style == PPI_STYLE_TORCH ? 5 : -1;
  if (options.style == PPI_STYLE_PADDLE && (choice & 64))
    options.views = "stages,requests";
  return options;
}

ppi_report_details DetailsOf(unsigned choice) {
  ppi_report_details details = {};
  details.by_thread = (choice & 128) != 0;
  details.operator_parts = (choice & 64) != 0;
  details.paddle_distribution = (choice & 32) != 0;
  details.requests = details.answer = details.paths = (choice & 64) != 0;
  details.warmup = -1;
  return details;
}

std::string Text(const pprof_report *report, const ppi_report_options &options,
                 ppi_report_format format, pprof_status *out) {
  char *text = nullptr;
  size_t len = 0;
  FILE *file = open_memstream(&text, &len);
  *out = ppi_report_write(report, &options, format, file);
  fclose(file);
  const std::string written(text, len);
  free(text);
  return written;
}

}  // namespace

ppi_jobs *Jobs() {
  static ppi_jobs *jobs = ppi_jobs_create(2);
  return jobs;
}

Outputs::Outputs(unsigned choice) : choice_(choice) {
  pprof_sink *chrome = nullptr;
  ppi_tee_init(&tee_);
  Require(pprof_report_create(&report_) == PPROF_STATUS_OK, "report");
  ppi_report_details details = DetailsOf(choice);
  ppi_report_details one_way = details;
  details.jobs = Jobs();
  details.much_pages = 1;
  ppi_report_set_details(report_, &details);
  one_way.one_way = true;
  Require(pprof_report_create(&one_way_) == PPROF_STATUS_OK, "report");
  ppi_report_set_details(one_way_, &one_way);
  Trace()->Write("", 0);
  Require(lseek(Trace()->fd(), 0, SEEK_SET) == 0, "lseek");
  Require(ppi_chrome_writer_create_fd(Trace()->fd(), false, &chrome, nullptr) ==
              PPROF_STATUS_OK,
          "chrome");
  static const uint64_t shifts_ns[16] = {};
  const ppi_chrome_plan plan = {16, shifts_ns, 0, nullptr};
  Require(ppi_chrome_writer_expect(chrome, &plan) == PPROF_STATUS_OK, "plan");
  Require(
      ppi_tee_add(&tee_, pprof_report_sink(report_)) == PPROF_STATUS_OK &&
          ppi_tee_add(&tee_, pprof_report_sink(one_way_)) == PPROF_STATUS_OK &&
          ppi_tee_add(&tee_, chrome) == PPROF_STATUS_OK,
      "tee");
}

Outputs::~Outputs() {
  ppi_tee_destroy_sinks(&tee_);
  pprof_report_destroy(report_);
  pprof_report_destroy(one_way_);
}

void Outputs::CheckMessage(pprof_status status,
                           const pprof_error &error) const {
  const bool has_text = error.text[0] != 0;
  if (status == PPROF_STATUS_OK)
    Require(!has_text, error.text);
  else
    Require(has_text || status == tee_.first_error,
            pprof_status_string(status));
  Require(IsVisible(error.text), "a message that acts");
}

std::string Outputs::Json() const {
  const ppi_report_options all = {};
  pprof_status status = PPROF_STATUS_OK;
  return Text(report_, all, PPI_FORMAT_JSON, &status);
}

void Outputs::Check() {
  const ppi_report_options options = OptionsOf(choice_);
  const ppi_report_options all = {};
  const auto format = static_cast<ppi_report_format>(choice_ & 3);
  pprof_status status = PPROF_STATUS_OK, mine = PPROF_STATUS_OK, other = mine;
  const std::string report = Text(report_, options, format, &status);
  const std::string trace = Trace()->Read();
  Require(Text(report_, all, PPI_FORMAT_JSON, &mine) ==
              Text(one_way_, all, PPI_FORMAT_JSON, &other),
          "a shorter way has another answer");
  Require(mine == other, "a shorter way ends otherwise");
  Require(status == PPROF_STATUS_OK || status == PPROF_STATUS_BUSY,
          pprof_status_string(status));
  Require(IsVisible(report), "the report has characters that act");
  Require(!IsJson(choice_) || (report.find("</") == std::string::npos &&
                               report.find("<!") == std::string::npos),
          "the report can end a script");
  Require(IsVisible(trace), "the trace has characters that act");
  Require(trace.find('<') == std::string::npos, "the trace can end a script");
}

}  // namespace fuzz
