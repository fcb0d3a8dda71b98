// SPDX-License-Identifier: Apache-2.0
//
// What the markers of requests and tokens record and count, seen from a sink.
#include <gtest/gtest.h>
#include <semaphore.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "pprof/mark.h"
#include "pprof/pprof.hpp"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"
#include "tests/support/traps.h"

namespace pprof_test {
namespace {

PPROF_SITE(chat_site, "chat", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(decode_site, "decode", PPROF_CATEGORY_INFERENCE);

using Flows = std::vector<uint64_t>;

class RequestTest : public ::testing::Test {
 protected:
  void Stop() {
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_FALSE(live.recording.undefined_site);
  }
  std::vector<RecordedEvent> Named(const std::string &name) {
    return live.recording.Named(name);
  }
  LiveSession live;
};

TEST_F(RequestTest, ARequestIsARangeOfItsClassWithItsNumber) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const pprof_request request = pprof_request_begin(4711, &chat_site);
  EXPECT_NE(0u, request.range.id);
  pprof_request_input(request, 100);
  pprof_request_input(request, 28);
  std::thread([&] { pprof_request_end(request); }).join();
  Stop();
  ASSERT_EQ(1u, live.recording.events.size());
  const RecordedEvent &event = live.recording.events[0];
  EXPECT_EQ("chat", event.name);
  EXPECT_EQ(PPROF_KIND_RANGE, event.event.kind);
  EXPECT_EQ(unsigned{PPROF_FLAG_ASYNC | PPROF_FLAG_REQUEST}, event.event.flags);
  EXPECT_EQ(Flows{4711}, event.flows);
  EXPECT_EQ(128, event.work.items);
}

TEST_F(RequestTest, TokensAreMarksInTheRangeAround) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const pprof_request request = pprof_request_begin(7, &chat_site);
  pprof_push(&decode_site);
  pprof_flow(9);
  pprof_token(request, 3);
  pprof_token(request, 0);
  pprof_pop();
  pprof_request_end(request);
  Stop();
  const auto tokens = Named("token");
  ASSERT_EQ(1u, tokens.size()) << "none for no token";
  EXPECT_EQ(PPROF_KIND_MARK, tokens[0].event.kind);
  EXPECT_EQ(unsigned{PPROF_FLAG_REQUEST}, tokens[0].event.flags);
  EXPECT_EQ(tokens[0].event.start_ns, tokens[0].event.end_ns);
  EXPECT_EQ(1u, tokens[0].event.depth);
  EXPECT_EQ(Flows{7}, tokens[0].flows) << "the request's alone";
  ASSERT_TRUE(tokens[0].has_work);
  EXPECT_EQ(3, tokens[0].work.items);
}

TEST_F(RequestTest, ABatchMayBeOfAnySize) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::vector<pprof_request> requests;
  for (uint64_t i = 1; i <= 300; i++)
    requests.push_back(pprof_request_begin(i, &chat_site));
  pprof_push(&decode_site);
  pprof_serve(requests.data(), requests.size());
  pprof_pop();
  pprof_serve(nullptr, 3);
  for (const pprof_request &request : requests) pprof_request_end(request);
  Stop();
  const auto served = Named("served");
  ASSERT_EQ(300u, served.size());
  for (uint64_t i = 0; i < 300; i++) {
    EXPECT_EQ(Flows{i + 1}, served[i].flows);
    EXPECT_FALSE(served[i].has_work);
    EXPECT_EQ(unsigned{PPROF_FLAG_REQUEST}, served[i].event.flags);
  }
  EXPECT_EQ(0u, live.Stats().flows_lost);
}

TEST_F(RequestTest, ARequestServesItselfAloneWhereverItBegins) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_push(&decode_site);
  pprof_flow(1);
  pprof_flow(2);
  pprof_request_end(pprof_request_begin(3, &chat_site));
  pprof_pop();
  Stop();
  EXPECT_EQ(Flows{3}, Named("chat")[0].flows);
}

TEST_F(RequestTest, NumberNoughtIsNone) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const pprof_request request = pprof_request_begin(0, &chat_site);
  EXPECT_EQ(0u, request.range.id);
  pprof_token(request, 1);
  pprof_serve(&request, 1);
  pprof_request_input(request, 1);
  pprof_request_end(request);
  Stop();
  EXPECT_TRUE(live.recording.events.empty());
  EXPECT_EQ(1u, live.Stats().flows_lost);
}

TEST_F(RequestTest, WhatIsNeverEndedIsOpen) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_request_begin(5, &chat_site);
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  Stop();
  const auto chats = Named("chat");
  ASSERT_EQ(1u, chats.size());
  EXPECT_EQ(
      unsigned{PPROF_FLAG_ASYNC | PPROF_FLAG_REQUEST | PPROF_FLAG_CLIPPED},
      chats[0].event.flags);
}

TEST_F(RequestTest, AnEndedOneEndsOnce) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const pprof_request request = pprof_request_begin(5, &chat_site);
  pprof_request_end(request);
  pprof_request_end(request);
  Stop();
  EXPECT_EQ(1u, live.Stats().unmatched);
}

TEST_F(RequestTest, ManyTokensGoOnInTheNextChunk) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const pprof_request request = pprof_request_begin(5, &chat_site);
  for (int i = 0; i < 10000; i++) pprof_token(request, 1);
  pprof_request_end(request);
  Stop();
  EXPECT_EQ(10000u, Named("token").size() + live.Stats().lost);
  EXPECT_EQ(0u, live.Stats().lost);
}

TEST_F(RequestTest, NothingWhileNothingRecords) {
  const pprof_request request = pprof_request_begin(5, &chat_site);
  EXPECT_EQ(0u, request.range.id);
  pprof_token(request, 1);
  pprof_request_end(request);
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  Stop();
  EXPECT_TRUE(live.recording.events.empty());
}

TEST_F(RequestTest, OneThatBeganBeforeIsServedByItsNumber) {
  const pprof_request request = pprof_request_begin(5, &chat_site);
  const pprof::request in_cpp(6, "chat");
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const pprof_request both[] = {request, in_cpp.handle()};
  pprof_serve(both, 2);
  pprof_token(request, 1);
  in_cpp.token(2);
  pprof_request_input(request, 3);
  pprof_request_end(request);
  Stop();
  EXPECT_TRUE(Named("chat").empty());
  ASSERT_EQ(2u, Named("served").size());
  ASSERT_EQ(2u, Named("token").size());
  for (uint64_t i = 0; i < 2; i++) {
    EXPECT_EQ(Flows{5 + i}, Named("served")[i].flows);
    EXPECT_EQ(Flows{5 + i}, Named("token")[i].flows);
  }
  EXPECT_EQ(0u, live.Stats().unmatched);
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
// The calling thread stands at an instruction of its marker, until another one
// has done what it is asked for.
struct Standing {
  uint64_t num_left;  // instructions until then
  sem_t asked, done;
};
Standing standing;

void Await(sem_t *what) {
  while (sem_wait(what) != 0) {
  }
}

void OnTrap(int, siginfo_t *info, void *context) {
  constexpr greg_t kTrapFlag = 1u << 8;
  greg_t *flags =
      &static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL];
  const bool is_trap = info->si_code == SI_KERNEL;
  const bool begins = is_trap && !(*flags & kTrapFlag) && standing.num_left;
  if (begins) {
    *flags |= kTrapFlag;
  } else if (is_trap) {
    *flags &= ~kTrapFlag;
  } else if (--standing.num_left == 0) {
    *flags &= ~kTrapFlag;
    sem_post(&standing.asked);
    Await(&standing.done);
  }
}

TEST_F(RequestTest, AnEdgeAtAnyInstructionOfItsBeginFindsItWhole) {
  const ppi_capture every_step = Cycle(0, 0, 0, 1, 0);
  struct sigaction action = {}, old = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = OnTrap;
  sigaction(SIGTRAP, &action, &old);
  sem_init(&standing.asked, 0, 0);
  sem_init(&standing.done, 0, 0);
  live.options.drain_interval_us = kKeptAwayUs;
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_session_set_capture(live.session(), &every_step));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  bool is_over = false;
  std::thread other([&] {
    for (Await(&standing.asked); !is_over; Await(&standing.asked)) {
      pprof_step(0);
      EXPECT_EQ(PPROF_STATUS_OK, FlushPatiently(live.session()));
      sem_post(&standing.done);
    }
  });
  constexpr uint64_t kStride = 3;
  uint64_t num = 0;
  do {
    // All that a first marker of an epoch does is done.
    pprof_request_end(pprof_request_begin(4711, &chat_site));
    standing.num_left = ++num * kStride;
    Trap();
    const pprof_request request = pprof_request_begin(4711, &chat_site);
    Trap();
    pprof_request_end(request);
  } while (standing.num_left == 0);
  is_over = true;
  sem_post(&standing.asked);
  other.join();
  sigaction(SIGTRAP, &old, nullptr);
  Stop();
  EXPECT_LT(20u, num);
  EXPECT_EQ(2 * num, Named("chat").size());
  for (const RecordedEvent &event : Named("chat")) {
    EXPECT_TRUE(event.event.flags & PPROF_FLAG_REQUEST);
    EXPECT_EQ(Flows{4711}, event.flows);
  }
}
#endif

std::atomic<uint64_t> now_ns;
uint64_t Now() {
  return now_ns;
}

// At 1500 it begins and has waited so long; the session starts at 1000.
void ExpectWaited(uint64_t waited_ns, uint64_t start_ns) {
  ppi_clock_inject(Now, 1000000000);
  now_ns = 1000;
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  now_ns = 1500;
  const pprof_request request = pprof_request_begin(5, &chat_site);
  pprof_request_waited(request, waited_ns);
  now_ns = 1700;
  pprof_request_end(request);
  pprof_request_waited(request, 1);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  const auto chats = live.recording.Named("chat");
  ASSERT_EQ(1u, chats.size());
  EXPECT_EQ(start_ns, chats[0].event.start_ns) << waited_ns;
  EXPECT_EQ(700u, chats[0].event.end_ns);
  EXPECT_EQ(0u, chats[0].event.flags & PPROF_FLAG_CLIPPED);
}

TEST_F(RequestTest, WhatServesMaySaySinceWhen) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const pprof_request request = {5, {0}};
  pprof_push(&decode_site);
  pprof_serve_since(&request, 1, 500000);
  pprof_serve(&request, 1);
  pprof_serve_since(nullptr, 3, 1);
  pprof_pop();
  Stop();
  const auto served = Named("served");
  ASSERT_EQ(2u, served.size());
  EXPECT_EQ(500000, served[0].event.value);
  EXPECT_EQ(0, served[1].event.value);
  EXPECT_LE(served[0].event.start_ns, served[1].event.start_ns) << "as said";
}

TEST_F(RequestTest, WhatHasWaitedBeginsEarlierButNotBeforeTheSession) {
  ExpectWaited(0, 500);
  ExpectWaited(200, 300);
  ExpectWaited(500, 0);
  ExpectWaited(501, 0);
  ExpectWaited(UINT64_MAX, 0);
  ppi_clock_inject(nullptr, 0);
}

// mix(x) of splitmix64, mix(mix(high + 0x9e37...15) ^ low) with the first bit.
TEST_F(RequestTest, AContextHasOneNumberEverywhere) {
  EXPECT_EQ(0u, pprof_flow_context(0, 0));
  EXPECT_EQ(0x9e0160293a33aaf7u, pprof_flow_context(0, 1));
  EXPECT_EQ(0xdce423fc82c0d5b8u, pprof_flow_context(1, 0));
  const struct {
    const char *text;
    uint64_t number;
  } cases[] = {
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
       0xcd98bc78c6e30ad1},
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more",
       0xcd98bc78c6e30ad1},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", 0},
      {"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 0},
      {"00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 0},
      {"00-00000000000000000000000000000000-00f067aa0ba902b7-01", 0},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", 0},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", 0},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01", 0},
      {"", 0}};
  for (const auto &one : cases)
    EXPECT_EQ(one.number, pprof::flow_traceparent(one.text)) << one.text;
  unsetenv("TRACEPARENT");
  EXPECT_EQ(0u, pprof::flow_traceparent());
  setenv("TRACEPARENT", cases[0].text, 1);
  EXPECT_EQ(cases[0].number, pprof::flow_traceparent());
  EXPECT_EQ(cases[0].number,
            pprof::flow_context(0x4bf92f3577b34da6, 0xa3ce929d0e0e4736));
}

TEST_F(RequestTest, InCpp) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  {
    pprof::request chat(4711, "chat");
    EXPECT_TRUE(chat);
    chat.waited(0);
    chat.input(8);
    const pprof_request served[] = {chat.handle()};
    pprof::serve(served, 1);
    chat.token();
    pprof::request moved(std::move(chat));
    EXPECT_FALSE(chat);
    chat.token();
    moved.token(2);
  }
  Stop();
  ASSERT_EQ(1u, Named("chat").size());
  EXPECT_EQ(8, Named("chat")[0].work.items);
  EXPECT_EQ(2u, Named("token").size());
  EXPECT_EQ(1u, Named("served").size());
}

}  // namespace
}  // namespace pprof_test
