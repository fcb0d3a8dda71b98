// SPDX-License-Identifier: Apache-2.0
//
// What the cuda and hip backends ask of their driver, against a stand-in that
// notes every call. Numbers and meanings of results are typed from the
// drivers' headers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend_util.h"
#include "base/mem.h"
#include "driver_events.h"
#include "tests/unit/fake_driver.h"

namespace {

using namespace fake_driver;

class DriverOpenTest : public DriverTest {};

class DriverBackendTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(ppi_driver_open(&api_, "cuda", 0, &context_, nullptr),
              PPROF_STATUS_OK);
    driver_.TakeCalls();
  }

  void TearDown() override {
    ppi_driver_close(context_);
    EXPECT_TRUE(driver_.entered.empty());
  }

  pprof_status StreamInfo(void *stream) {
    info_ = {};
    info_.size = sizeof info_;
    return ppi_driver_stream_info(context_, stream, &info_);
  }

  pprof_status Anchor(uint64_t pool, void *event) {
    anchor_ = {};
    anchor_.size = sizeof anchor_;
    anchor_.event = event;
    return ppi_driver_anchor(context_, pool, &anchor_);
  }

  // True when the backend no longer calls into the driver.
  bool IsLetGo() {
    void *event = Handle(100);
    int64_t ns;
    driver_.TakeCalls();
    EXPECT_EQ(ppi_driver_event_query(context_, event), PPROF_STATUS_DEVICE);
    EXPECT_EQ(ppi_driver_event_record(context_, event, nullptr),
              PPROF_STATUS_DEVICE);
    EXPECT_EQ(ppi_driver_event_elapsed(context_, event, event, &ns),
              PPROF_STATUS_DEVICE);
    EXPECT_EQ(ppi_driver_event_create(context_, 10, 1, &event),
              PPROF_STATUS_DEVICE);
    EXPECT_EQ(StreamInfo(nullptr), PPROF_STATUS_DEVICE);
    EXPECT_EQ(Anchor(10, event), PPROF_STATUS_DEVICE);
    EXPECT_EQ(ppi_driver_collector_enter(context_), PPROF_STATUS_DEVICE);
    ppi_driver_event_destroy(context_, 10, 1, &event);
    return driver_.calls.empty();
  }

  void *context_ = nullptr;
  pprof_stream_info info_;
  pprof_anchor anchor_;
};

TEST_F(DriverOpenTest, InitialisedDriverIsNotInitialisedAgain) {
  void *context = nullptr;
  ASSERT_EQ(ppi_driver_open(&api_, "cuda", 1, &context, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(driver_.TakeCalls(), Calls{"device_count()"});
  ppi_driver_close(context);
  EXPECT_TRUE(driver_.calls.empty());
}

TEST_F(DriverOpenTest, FreshDriverIsInitialised) {
  void *context = nullptr;
  driver_.initialised = false;
  ASSERT_EQ(ppi_driver_open(&api_, "cuda", 0, &context, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(driver_.calls,
            (Calls{"device_count()", "init(0)", "device_count()"}));
  ppi_driver_close(context);
}

TEST_F(DriverOpenTest, MissingDeviceIsNamed) {
  void *context = nullptr;
  pprof_error error = {};
  EXPECT_EQ(ppi_driver_open(&api_, "cuda", 2, &context, &error),
            PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text, "cuda: there is no device 2; found 2");
  EXPECT_EQ(ppi_driver_open(&api_, "hip", -1, &context, &error),
            PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text, "hip: there is no device -1; found 2");
  driver_.results["device_count"] = 100;  // NO_DEVICE
  EXPECT_EQ(ppi_driver_open(&api_, "cuda", 0, &context, &error),
            PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text, "cuda: there is no device 0; found 0");
  EXPECT_EQ(context, nullptr);
}

TEST_F(DriverOpenTest, DriverThatFailsIsQuoted) {
  void *context = nullptr;
  pprof_error error = {};
  driver_.initialised = false;
  driver_.results["init"] = 999;
  EXPECT_EQ(ppi_driver_open(&api_, "cuda", 0, &context, &error),
            PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text, "cuda: initialising: CUDA_ERROR_UNKNOWN (999)");
  driver_.initialised = true;
  driver_.results["device_count"] = 803;
  EXPECT_EQ(ppi_driver_open(&api_, "cuda", 0, &context, &error),
            PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text, "cuda: counting devices: unknown error (803)");
  ppi_mem_fail_at(1);
  driver_.results.clear();
  EXPECT_EQ(ppi_driver_open(&api_, "cuda", 0, &context, &error),
            PPROF_STATUS_NO_MEMORY);
  ppi_mem_fail_at(0);
}

TEST_F(DriverBackendTest, CollectorRelaxesItsCaptureModeFirst) {
  EXPECT_EQ(ppi_driver_collector_enter(context_), PPROF_STATUS_OK);
  EXPECT_EQ(driver_.calls, Calls{"exchange_capture_mode(2)"});
}

TEST_F(DriverBackendTest, StreamBelongsToItsContext) {
  EXPECT_EQ(StreamInfo(Handle(51)), PPROF_STATUS_OK);
  EXPECT_EQ(info_.pool, 10u);
  EXPECT_EQ(info_.stable_id, 7051u);
  EXPECT_FALSE(info_.capturing);
  EXPECT_EQ(driver_.calls, (Calls{"stream_capturing(51)", "stream_id(51)",
                                  "stream_pool(51)"}));
}

// A handle comes back for another stream, its number does not.
TEST_F(DriverBackendTest, KnownStreamIsAskedForItsNumberOnly) {
  pprof_stream_info known = {};
  known.stable_id = 7051;
  known.pool = 20;
  info_ = {};
  info_.known = &known;
  EXPECT_EQ(ppi_driver_stream_info(context_, Handle(51), &info_),
            PPROF_STATUS_OK);
  EXPECT_EQ(info_.pool, 20u);
  EXPECT_EQ(info_.stable_id, 7051u);
  EXPECT_FALSE(info_.capturing);
  EXPECT_EQ(driver_.TakeCalls(),
            (Calls{"stream_capturing(51)", "stream_id(51)"}));
  known.stable_id = 7001;
  EXPECT_EQ(ppi_driver_stream_info(context_, Handle(51), &info_),
            PPROF_STATUS_OK);
  EXPECT_EQ(info_.pool, 10u);
  EXPECT_EQ(info_.stable_id, 7051u);
  EXPECT_EQ(driver_.TakeCalls(), (Calls{"stream_capturing(51)", "stream_id(51)",
                                        "stream_pool(51)"}));
}

TEST_F(DriverBackendTest, OnlyTheCaptureIsAskedAfter) {
  for (int state : {0, 1}) {
    driver_.capture_state = state;
    info_ = {};
    info_.capturing_only = true;
    EXPECT_EQ(ppi_driver_stream_info(context_, Handle(51), &info_),
              PPROF_STATUS_OK);
    EXPECT_EQ(info_.capturing, state != 0);
    EXPECT_EQ(driver_.TakeCalls(), Calls{"stream_capturing(51)"});
  }
}

TEST_F(DriverBackendTest, StreamWithoutANumberIsItsHandle) {
  driver_.results["stream_id"] = 1;
  EXPECT_EQ(StreamInfo(Handle(51)), PPROF_STATUS_OK);
  EXPECT_EQ(info_.stable_id, 51u);
  api_.stream_id = nullptr;
  EXPECT_EQ(StreamInfo(Handle(52)), PPROF_STATUS_OK);
  EXPECT_EQ(info_.stable_id, 52u);
}

// Asking a capturing stream for its number would end the capture.
TEST_F(DriverBackendTest, CapturingStreamIsNotAskedForItsNumber) {
  for (int state : {1, 2}) {  // ACTIVE, INVALIDATED
    driver_.capture_state = state;
    EXPECT_EQ(StreamInfo(Handle(51)), PPROF_STATUS_OK);
    EXPECT_TRUE(info_.capturing);
    EXPECT_EQ(info_.pool, 10u);
    EXPECT_EQ(info_.stable_id, 0u);
    EXPECT_EQ(driver_.TakeCalls(),
              (Calls{"stream_capturing(51)", "stream_pool(51)"}));
  }
}

TEST_F(DriverBackendTest, LegacyStreamIsNotTouchedWhileAnotherCaptures) {
  driver_.results["stream_capturing"] = 906;
  EXPECT_EQ(StreamInfo(nullptr), PPROF_STATUS_OK);
  EXPECT_TRUE(info_.capturing);
  EXPECT_EQ(info_.pool, 10u);
  EXPECT_EQ(info_.stable_id, 0u);
  EXPECT_EQ(driver_.calls, (Calls{"stream_capturing(0)", "pool_current()"}));
}

TEST_F(DriverBackendTest, ThreadWithoutAContextLosesOnlyItsRange) {
  driver_.results["stream_capturing"] = 201;  // INVALID_CONTEXT
  EXPECT_EQ(StreamInfo(nullptr), PPROF_STATUS_INVALID);
  driver_.results.clear();
  driver_.results["event_record"] = 201;
  EXPECT_EQ(ppi_driver_event_record(context_, Handle(100), nullptr),
            PPROF_STATUS_INVALID);
  driver_.results.clear();
  EXPECT_EQ(StreamInfo(Handle(51)), PPROF_STATUS_OK);
}

// A stream belongs to its context, whatever is current.
TEST_F(DriverBackendTest, StreamWithoutAContextHasLostIt) {
  for (const char *function : {"stream_capturing", "stream_pool"}) {
    driver_.results.clear();
    driver_.results[function] = 201;
    EXPECT_EQ(StreamInfo(Handle(51)), PPROF_STATUS_UNAVAILABLE) << function;
    EXPECT_EQ(StreamInfo(Handle(2)), PPROF_STATUS_INVALID) << function;
  }
  driver_.results["event_record"] = 201;
  EXPECT_EQ(ppi_driver_event_record(context_, Handle(100), Handle(51)),
            PPROF_STATUS_UNAVAILABLE);
}

TEST_F(DriverBackendTest, EventsAreMadeInTheirPool) {
  void *events[2];
  EXPECT_EQ(ppi_driver_event_create(context_, 20, 2, events), PPROF_STATUS_OK);
  // Of whatever thread it is, a capture goes on.
  EXPECT_EQ(
      driver_.TakeCalls(),
      (Calls{"exchange_capture_mode(2)", "pool_enter(20)", "event_create(0)",
             "event_create(0)", "pool_leave()", "exchange_capture_mode(2)"}));
  EXPECT_EQ(events[0], Handle(100));
  EXPECT_EQ(events[1], Handle(101));
  ppi_driver_event_destroy(context_, 20, 2, events);
  EXPECT_EQ(driver_.calls, (Calls{"pool_enter(20)", "event_destroy(100)",
                                  "event_destroy(101)", "pool_leave()"}));
  EXPECT_EQ(ppi_driver_event_create(context_, 0, 2, events),
            PPROF_STATUS_INVALID);
}

TEST_F(DriverBackendTest, HalfABatchOfEventsIsTakenBack) {
  void *events[4];
  driver_.fail_create_after = 2;
  EXPECT_EQ(ppi_driver_event_create(context_, 20, 4, events),
            PPROF_STATUS_NO_MEMORY);
  EXPECT_EQ(driver_.calls,
            (Calls{"exchange_capture_mode(2)", "pool_enter(20)",
                   "event_create(0)", "event_create(0)", "event_create()",
                   "event_destroy(101)", "event_destroy(100)", "pool_leave()",
                   "exchange_capture_mode(2)"}));
}

TEST_F(DriverBackendTest, RecordsOnTheStreamItIsGiven) {
  EXPECT_EQ(ppi_driver_event_record(context_, Handle(100), Handle(51)),
            PPROF_STATUS_OK);
  EXPECT_EQ(ppi_driver_event_record(context_, Handle(101), nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(driver_.calls,
            (Calls{"event_record(100,51)", "event_record(101,0)"}));
}

// Results that concern one call: the backend goes on.
TEST_F(DriverBackendTest, PassingErrorsPass) {
  const struct {
    int code;
    pprof_status status;
  } cases[] = {{0, PPROF_STATUS_OK},
               {600, PPROF_STATUS_BUSY},
               {1, PPROF_STATUS_INVALID},
               {400, PPROF_STATUS_INVALID},
               {2, PPROF_STATUS_NO_MEMORY},
               {801, PPROF_STATUS_UNSUPPORTED},
               {900, PPROF_STATUS_UNSUPPORTED},
               {906, PPROF_STATUS_UNSUPPORTED},
               {907, PPROF_STATUS_UNSUPPORTED},
               {908, PPROF_STATUS_UNSUPPORTED}};
  for (const auto &one : cases) {
    driver_.results["event_query"] = one.code;
    EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), one.status)
        << one.code;
    driver_.results["event_record"] = one.code;
    EXPECT_EQ(ppi_driver_event_record(context_, Handle(100), Handle(51)),
              one.status)
        << one.code;
  }
  driver_.results.clear();
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_OK);
}

// Results after which the device is of no use: DEINITIALIZED, ECC,
// ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, LAUNCH_FAILED, UNKNOWN.
TEST_F(DriverBackendTest, StickyErrorEndsAllCalls) {
  for (int code : {4, 214, 700, 702, 719, 999}) {
    void *context = nullptr;
    ASSERT_EQ(ppi_driver_open(&api_, "cuda", 0, &context, nullptr),
              PPROF_STATUS_OK);
    std::swap(context, context_);
    driver_.results["event_query"] = code;
    EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)),
              PPROF_STATUS_DEVICE);
    driver_.results.clear();
    EXPECT_TRUE(IsLetGo()) << code;
    ppi_driver_close(context);
  }
}

TEST_F(DriverBackendTest, FirstStickyErrorIsNamed) {
  EXPECT_EQ(ppi_driver_error_text(context_), nullptr);
  driver_.results["event_query"] = 600;
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_BUSY);
  EXPECT_EQ(ppi_driver_error_text(context_), nullptr);
  driver_.results["event_query"] = 999;
  driver_.TakeCalls();
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_DEVICE);
  driver_.results["event_query"] = 700;
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_DEVICE);
  EXPECT_STREQ(ppi_driver_error_text(context_), "CUDA_ERROR_UNKNOWN (999)");
  EXPECT_EQ(driver_.calls, Calls{"event_query(100)"});
}

TEST_F(DriverBackendTest, ErrorWithoutANameHasItsNumber) {
  driver_.results["event_query"] = 702;
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_DEVICE);
  EXPECT_STREQ(ppi_driver_error_text(context_), "unknown error (702)");
}

// Its tables may have gone with it.
TEST_F(DriverBackendTest, DriverThatIsGoneIsNotAskedForAName) {
  driver_.results["event_query"] = 4;
  api_.error_name = nullptr;
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_DEVICE);
  EXPECT_STREQ(ppi_driver_error_text(context_), "the driver has shut down (4)");
}

// INVALID_CONTEXT and CONTEXT_IS_DESTROYED concern one context; those of other
// contexts go on.
TEST_F(DriverBackendTest, DestroyedContextIsNotTouched) {
  void *events[2] = {Handle(100), Handle(101)};
  for (int code : {201, 709}) {
    driver_.results["pool_enter"] = code;
    driver_.TakeCalls();
    ppi_driver_event_destroy(context_, 20, 2, events);
    EXPECT_EQ(driver_.calls, Calls{"pool_enter(20)"});
    EXPECT_EQ(ppi_driver_event_create(context_, 20, 2, events),
              PPROF_STATUS_UNAVAILABLE);
    driver_.results.clear();
    driver_.results["event_query"] = code;
    EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)),
              PPROF_STATUS_UNAVAILABLE);
    driver_.results.clear();
    EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_OK);
  }
}

// A reset gives the primary context its old address and a new number. Events
// and our anchor's stream went with the old one; a stream's handle that is no
// more must not even be asked about.
TEST_F(DriverBackendTest, ResetContextIsAnotherPool) {
  void *events[2] = {};
  api_.context_id = ContextId;
  ASSERT_EQ(StreamInfo(Handle(51)), PPROF_STATUS_OK);
  uint64_t before = info_.pool;
  ASSERT_EQ(ppi_driver_event_create(context_, before, 2, events),
            PPROF_STATUS_OK);
  ASSERT_EQ(Anchor(before, events[0]), PPROF_STATUS_OK);
  EXPECT_EQ(ppi_driver_pool_check(context_, before), PPROF_STATUS_OK);
  driver_.context_id++;
  driver_.TakeCalls();
  EXPECT_EQ(ppi_driver_pool_check(context_, before), PPROF_STATUS_UNAVAILABLE);
  EXPECT_EQ(Anchor(before, events[0]), PPROF_STATUS_UNAVAILABLE);
  EXPECT_EQ(ppi_driver_event_create(context_, before, 2, events),
            PPROF_STATUS_UNAVAILABLE);
  ppi_driver_event_destroy(context_, before, 2, events);
  EXPECT_EQ(driver_.calls, Calls(4, "context_id(10)"));
  ASSERT_EQ(StreamInfo(Handle(51)), PPROF_STATUS_OK);
  EXPECT_NE(info_.pool, before);
  driver_.TakeCalls();
  EXPECT_EQ(ppi_driver_event_create(context_, info_.pool, 1, events),
            PPROF_STATUS_OK);
  EXPECT_EQ(driver_.calls[2], "pool_enter(10)");
  // Between its reset and its next use there is no context at all.
  driver_.results["context_id"] = 709;
  EXPECT_EQ(ppi_driver_pool_check(context_, info_.pool),
            PPROF_STATUS_UNAVAILABLE);
  driver_.TakeCalls();
  ppi_driver_close(context_);
  EXPECT_EQ(driver_.calls, Calls{"context_id(10)"});
  ASSERT_EQ(ppi_driver_open(&api_, "cuda", 0, &context_, nullptr),
            PPROF_STATUS_OK);
}

TEST_F(DriverBackendTest, EventBecomesANodeOfACapture) {
  uint64_t capture = 0;
  void *event = Handle(100);
  driver_.capture_state = 1;
  EXPECT_EQ(
      ppi_driver_event_record_in_graph(context_, event, Handle(51), &capture),
      PPROF_STATUS_UNSUPPORTED);
  EXPECT_TRUE(driver_.calls.empty());
  api_.event_record_flags = EventRecordFlags;
  api_.capture_info = CaptureInfo;
  EXPECT_EQ(
      ppi_driver_event_record_in_graph(context_, event, Handle(51), &capture),
      PPROF_STATUS_OK);
  EXPECT_EQ(capture, 33u);
  EXPECT_EQ(driver_.TakeCalls(),
            (Calls{"stream_capturing(51)", "capture_info(51)",
                   "event_record_flags(100,51,1)"}));
  for (int state : {0, 2}) {  // none; INVALIDATED
    driver_.capture_state = state;
    EXPECT_EQ(
        ppi_driver_event_record_in_graph(context_, event, Handle(51), &capture),
        PPROF_STATUS_UNSUPPORTED);
    EXPECT_EQ(driver_.TakeCalls(), Calls{"stream_capturing(51)"});
  }
  driver_.results["stream_capturing"] = 906;
  EXPECT_EQ(
      ppi_driver_event_record_in_graph(context_, event, nullptr, &capture),
      PPROF_STATUS_UNSUPPORTED);
  EXPECT_EQ(driver_.TakeCalls(), Calls{"stream_capturing(0)"});
}

TEST_F(DriverBackendTest, EventIsAskedByItsTimeToItself) {
  api_.event_query = nullptr;
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_OK);
  driver_.results["event_elapsed"] = 600;
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_BUSY);
  // Never recorded, which cuEventQuery calls passed.
  driver_.results["event_elapsed"] = 400;
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)),
            PPROF_STATUS_INVALID);
  EXPECT_EQ(driver_.TakeCalls(), Calls(3, "event_elapsed(100,100)"));
  driver_.results.clear();
  EXPECT_EQ(Anchor(20, Handle(100)), PPROF_STATUS_OK);
  EXPECT_EQ(driver_.calls.back(), "event_elapsed(100,100)");
}

TEST_F(DriverBackendTest, ElapsedIsWholeNanoseconds) {
  int64_t ns = 77;
  const struct {
    float ms;
    int64_t ns;
  } cases[] = {{0.5f, 500000},        {-1.25f, -1250000}, {0.0f, 0},
               {1000.0f, 1000000000}, {0.000032f, 32},    {-0.000032f, -32}};
  for (const auto &one : cases) {
    driver_.elapsed_ms = one.ms;
    EXPECT_EQ(ppi_driver_event_elapsed(context_, Handle(100), Handle(101), &ns),
              PPROF_STATUS_OK);
    EXPECT_EQ(ns, one.ns);
  }
  EXPECT_EQ(driver_.calls.back(), "event_elapsed(100,101)");
  driver_.results["event_elapsed"] = 600;
  EXPECT_EQ(ppi_driver_event_elapsed(context_, Handle(100), Handle(101), &ns),
            PPROF_STATUS_BUSY);
  EXPECT_EQ(ns, -32);
  EXPECT_EQ(ppi_driver_event_elapsed(context_, nullptr, Handle(101), &ns),
            PPROF_STATUS_UNSUPPORTED);
}

TEST_F(DriverBackendTest, AnchorRunsOnAStreamOfItsOwn) {
  uint64_t before_ns = ppi_backend_now_ns();
  ASSERT_EQ(Anchor(20, Handle(100)), PPROF_STATUS_OK);
  EXPECT_EQ(driver_.TakeCalls(),
            (Calls{"pool_enter(20)", "stream_create(1)", "pool_leave()",
                   "event_record(100,50)", "event_query(100)"}));
  EXPECT_LE(before_ns, anchor_.host_before_ns);
  EXPECT_LE(anchor_.host_before_ns, anchor_.host_after_ns);
  EXPECT_LE(anchor_.host_after_ns, ppi_backend_now_ns());
  EXPECT_EQ(anchor_.device_ns, 0);
  // The stream serves its pool again; another pool gets its own.
  ASSERT_EQ(Anchor(20, Handle(101)), PPROF_STATUS_OK);
  ASSERT_EQ(Anchor(30, Handle(102)), PPROF_STATUS_OK);
  EXPECT_EQ(driver_.TakeCalls(),
            (Calls{"event_record(101,50)", "event_query(101)", "pool_enter(30)",
                   "stream_create(1)", "pool_leave()", "event_record(102,51)",
                   "event_query(102)"}));
  ppi_driver_close(context_);
  EXPECT_EQ(driver_.TakeCalls(),
            (Calls{"pool_enter(30)", "stream_destroy(51)", "pool_leave()",
                   "pool_enter(20)", "stream_destroy(50)", "pool_leave()"}));
  ASSERT_EQ(ppi_driver_open(&api_, "cuda", 0, &context_, nullptr),
            PPROF_STATUS_OK);
}

// A thread that is held up between two questions may find its time gone.
TEST_F(DriverBackendTest, AnchorIsAskedForUntilItCame) {
  pprof_status status;
  do {
    driver_.TakeCalls();
    driver_.queries_until_ready = 2;
    status = Anchor(20, Handle(100));
  } while (status == PPROF_STATUS_BUSY);
  EXPECT_EQ(status, PPROF_STATUS_OK);
  Calls last(driver_.calls.end() - 3, driver_.calls.end());
  EXPECT_EQ(last, Calls(3, "event_query(100)"));
}

TEST_F(DriverBackendTest, AnchorThatDoesNotComeIsGivenUp) {
  driver_.results["event_query"] = 600;
  EXPECT_EQ(Anchor(20, Handle(100)), PPROF_STATUS_BUSY);
  EXPECT_EQ(driver_.calls[4], "event_query(100)");
  EXPECT_EQ(anchor_.host_before_ns, 0u);
  EXPECT_EQ(anchor_.host_after_ns, 0u);
  EXPECT_EQ(Anchor(0, Handle(100)), PPROF_STATUS_INVALID);
  EXPECT_EQ(Anchor(20, nullptr), PPROF_STATUS_INVALID);
}

TEST_F(DriverBackendTest, AnchorWithoutAStreamFails) {
  driver_.results["stream_create"] = 2;
  EXPECT_EQ(Anchor(20, Handle(100)), PPROF_STATUS_NO_MEMORY);
  driver_.results.clear();
  ppi_mem_fail_at(1);
  EXPECT_EQ(Anchor(20, Handle(100)), PPROF_STATUS_NO_MEMORY);
  ppi_mem_fail_at(0);
  EXPECT_EQ(Anchor(20, Handle(100)), PPROF_STATUS_OK);
}

TEST_F(DriverBackendTest, ForkedChildDoesNotCallIn) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(IsLetGo() && !HasFailure() ? 0 : 1);
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  ASSERT_TRUE(WIFEXITED(result));
  EXPECT_EQ(WEXITSTATUS(result), 0);
  EXPECT_EQ(ppi_driver_event_query(context_, Handle(100)), PPROF_STATUS_OK);
}

}  // namespace
