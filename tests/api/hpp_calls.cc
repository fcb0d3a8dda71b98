// SPDX-License-Identifier: Apache-2.0
//
// Every call of pprof.hpp once, compiled by hpp_compile_test.sh in each
// language version, with PPROF_DISABLE and without; with it, linked without the
// library. Answers 0 when nothing has an effect.
#include <pprof/pprof.hpp>

#include <utility>

PPROF_SITE(file_site, "file", PPROF_CATEGORY_PREPROCESS);

static int num_evaluated;

static std::string name_made_here() {
  num_evaluated++;
  return "made";
}

static void points(const std::string &text) {
  pprof::mark(file_site);
  pprof::mark(text);
  pprof::mark("named", pprof::category::op);
  pprof::count(file_site, 1);
  pprof::count(text, 2, pprof::category::memory);
  pprof::flow(3);
  pprof::step();
  pprof::name_thread(text);
  pprof::work().items(1).bytes(2).flops(3).params(4).add();
#if __cplusplus >= 201703L
  pprof::mark(std::string_view(text).substr(1));
#endif
}

static pprof::range handed_out() {
  pprof::range range(name_made_here(), pprof::category::memcpy);
  range.flow(1);
  return range;
}

static int ranges() {
  pprof::scope outer(file_site);
  pprof::scope inner(name_made_here(), pprof::register_category("mine"));
  pprof::range range = handed_out();
  range.work(pprof::work().items(1));
  pprof::range other(file_site);
  other = std::move(range);
  other.end();
  return range || other || other.handle().id != 0;
}

static int on_device(pprof_device *device, void *stream) {
  pprof::device_scope outer(device, stream, file_site);
  pprof::device_scope inner(device, stream, name_made_here());
  outer.flow(1);
  outer.work(pprof::work().items(1));
  pprof::device_range range(device, stream, "named");
  pprof::device_range other(std::move(range));
  other.flow(1);
  other.work(pprof::work());
  other.end();
  return range || other;
}

int main() {
  points("text");
  return ranges() || on_device(nullptr, nullptr) || num_evaluated != 3;
}
