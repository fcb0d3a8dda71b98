// SPDX-License-Identifier: Apache-2.0
//
// A C++ program as people write them with nvtx3.hpp. What is recorded stands in
// cxx_test.py.
#include <nvtx3/nvtx3.hpp>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

struct my_domain {
  static constexpr char const *name{"my domain"};
};

struct my_text {
  static constexpr char const *message{"registered once"};
};

struct my_category {
  static constexpr char const *name{"my category"};
  static constexpr uint32_t id{42};
};

void Function() {
  NVTX3_FUNC_RANGE();
}

void FunctionInDomain() {
  NVTX3_FUNC_RANGE_IN(my_domain);
}

void Scoped() {
  nvtx3::scoped_range outer{"outer"};
  nvtx3::scoped_range_in<my_domain> in_domain{"in my domain"};
  for (int i = 0; i < 3; i++)
    nvtx3::scoped_range_in<my_domain> inner{
        nvtx3::registered_string_in<my_domain>::get<my_text>()};
  nvtx3::scoped_range attributes{nvtx3::event_attributes{
      "with attributes", nvtx3::rgb{1, 2, 3}, nvtx3::category{3}}};
  nvtx3::scoped_range_in<my_domain> categorised{
      "categorised", nvtx3::named_category_in<my_domain>::get<my_category>()};
}

// The range ends though the function does not return.
void Throws() {
  try {
    nvtx3::scoped_range range{"ends by an exception"};
    throw std::runtime_error("expected");
  } catch (const std::runtime_error &) {
    nvtx3::mark("caught");
  }
}

void OverThreads() {
  nvtx3::unique_range range{"moves to a thread"};
  std::thread thread([moved = std::move(range)]() {
    nvtx3::mark_in<my_domain>("on a thread");
  });
  thread.join();
  auto handle = nvtx3::start_range_in<my_domain>("started");
  std::thread([handle]() { nvtx3::end_range_in<my_domain>(handle); }).join();
}

}  // namespace

int main() {
  Function();
  FunctionInDomain();
  Scoped();
  Throws();
  OverThreads();
  nvtx3::mark("with a number", nvtx3::payload{int64_t{5}});
  return 0;
}
