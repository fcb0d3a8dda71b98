// SPDX-License-Identifier: Apache-2.0
//
// Markers: all that an instrumented file includes. While no session runs each
// costs one load and one branch; with PPROF_DISABLE defined before the
// first include, markers compile to nothing and need no library.
//
// Example:
//   PPROF_SITE(decode, "decode", PPROF_CATEGORY_PREPROCESS);
//   pprof_push(&decode);             // a range: begun here ...
//   decode_frame();
//   pprof_pop();                     // ... ended here, same thread
//   {
//     PPROF_SCOPE("resize");         // the same, ended by the block
//     resize_frame();
//   }
//
//   what happens                                    call
//   a block of code takes time                      PPROF_SCOPE
//   the same, begin and end in different places     pprof_push, pprof_pop
//   it ends on another thread                       pprof_range_begin, _end
//   a name is known at run time only                pprof_push_name
//   something happens at one moment                 pprof_mark
//   a quantity changes                              pprof_count
//   one round of the program's main loop is over    pprof_step
//   code works for one request among many           pprof_flow
//   code gets through so many items or bytes        pprof_work
//   a device works, beside the host                 device.h, cuda.h
//
// Calls that record (all but pprof_category_register) may be made from any
// thread, return nothing or a handle, and count what they cannot keep
// (pprof_session_stats). They never wait, allocate or call the system, save at
// the first marker of a thread, the first use of a name, pprof_step, markers
// that a capture rule counts, and ranges with CPU use, which the configuration
// asks for (`cpu`). One that runs in a signal handler and interrupts a marker
// of its own thread is counted lost; so is one that such a handler leaves
// (siglongjmp).
#ifndef PPROF_MARK_H_
#define PPROF_MARK_H_

#include "pprof/base.h"

PPROF_BEGIN_C_

// Categories group sites into rows of the Overview table ("event types"). The
// first ones carry the names Paddle prints. Which one a site has changes no
// time; tables of memory, communication and kernels take their rows by it.
// Values are this process's; logs carry names only.
enum {
  PPROF_CATEGORY_USER_DEFINED = 0,
  PPROF_CATEGORY_PROFILE_STEP,  // pprof_step makes these
  PPROF_CATEGORY_DATALOADER,
  PPROF_CATEGORY_FORWARD,
  PPROF_CATEGORY_BACKWARD,
  PPROF_CATEGORY_OPTIMIZATION,
  PPROF_CATEGORY_COMMUNICATION,
  PPROF_CATEGORY_OPERATOR,
  PPROF_CATEGORY_OPERATOR_INNER,
  PPROF_CATEGORY_RUNTIME,
  PPROF_CATEGORY_PYTHON_OP,
  PPROF_CATEGORY_PYTHON_USER_DEFINED,
  PPROF_CATEGORY_PREPROCESS,
  PPROF_CATEGORY_INFERENCE,
  PPROF_CATEGORY_POSTPROCESS,
  PPROF_CATEGORY_CPU_TASK,
  PPROF_CATEGORY_MEMORY,
  PPROF_CATEGORY_KERNEL,
  PPROF_CATEGORY_MEMCPY,
  PPROF_CATEGORY_MEMSET,
  PPROF_CATEGORY_WAIT,  // of a thread for another one, as `waits` records it
  PPROF_CATEGORY_IDLE,  // waits for work to come: no work itself
  PPROF_CATEGORY_FIRST_REGISTERED = 64
};

// pprof_site is a named place in the code. Make it with PPROF_SITE. One site
// may serve several places and any number of threads; sites of one name and
// category are one row of a table. It is read by markers only, so a library
// that is unloaded may take its sites with it. The layout is frozen: it is
// compiled into every instrumented file.
typedef struct pprof_site {
  const char *name;   // static text
  uint32_t category;  // may be set until the site's first use
  uint32_t color;     // 0xRRGGBB; 0 = derived from the name
  uint64_t state_;    // epoch << 32 | id, the last decision about this site
  uint64_t reserved_[2];
} pprof_site;

// In reserved_[0]: the site serves one call. Its name keeps its id only while
// it is used, as those of pprof_push_name do. For the names of pprof.hpp and of
// bindings of other languages.
#define PPROF_SITE_ONCE_ 1u
// Or: it stays, and its name is one of run time, as that of a site that serves
// one call.
#define PPROF_SITE_NAMED_ 3u
// Or: it is a string that a program registered with NVTX. In reserved_[1] then:
// the address of a pprof_numbers that lives as long, or 0.
#define PPROF_SITE_NVTX_ 2u

// PPROF_SITE defines the static site `var`, in a file or in a block. In C the
// label and the category are constant expressions; for a registered category
// set `var.category` before the first use.
//
// Example:
//   PPROF_SITE(parse, "parse", PPROF_CATEGORY_USER_DEFINED);
//   parse.category = pprof_category_register("Text");
//   pprof_push(&parse);
//   pprof_pop();
#define PPROF_SITE(var, label, category) \
  static pprof_site var = {label, category, 0, 0, {0, 0}}

// pprof_range is a handle on a range that any thread may end. It is a value:
// copy it, put it into a queue or a request; ending one copy ends the range.
typedef struct pprof_range {
  uint64_t id;  // 0 = none: calls that take it do nothing
} pprof_range;

// pprof_work_amount is work done in a range, for rates such as items/s or
// FLOP/s. Amounts given to one range in several calls add up.
typedef struct pprof_work_amount {
  size_t size;    // sizeof(pprof_work_amount)
  double items;   // e.g. images, requests; 0 = not stated, as for the others
  double bytes;   // bytes moved
  double flops;   // floating-point operations
  double params;  // parameters of the model
} pprof_work_amount;

// pprof_request is a handle on a request that is served: a value, as a range
// is.
typedef struct pprof_request {
  uint64_t id;        // the number that the caller gave it
  pprof_range range;  // from its arrival to its end; id 0: none
} pprof_request;

// pprof_scope_token remembers what PPROF_SCOPE opened; all zero = nothing.
typedef struct pprof_scope_token {
  void *lane;
  uint32_t epoch;
  uint32_t depth;
} pprof_scope_token;

#define PPROF_CAT2_(a, b) a##b
#define PPROF_CAT_(a, b) PPROF_CAT2_(a, b)

#ifdef PPROF_DISABLE
static inline pprof_range pprof_no_range_(void) {
  pprof_range none = {0};
  return none;
}
static inline pprof_request pprof_no_request_(void) {
  pprof_request none = {0, {0}};
  return none;
}
static inline pprof_scope_token pprof_no_scope_(void) {
  pprof_scope_token none = {PPROF_NULL_, 0, 0};
  return none;
}
#endif

// pprof_category_register makes `name` a category. The same name has the same
// value for the life of the process, also that of a category above.
//
// Result: the category; PPROF_CATEGORY_USER_DEFINED when there is no room for
//         another.
// Cost:   takes a lock; not for hot code.
PPROF_API uint32_t pprof_category_register(const char *name)
    PPROF_OFF_(PPROF_CATEGORY_USER_DEFINED);

// pprof_push opens a range on the calling thread, inside the innermost one.
// Beyond 512 open ranges, or with the memory full, the range is counted lost
// and its pprof_pop keeps the balance. The record is written by the pop: a
// process that is killed in between leaves the range as open.
PPROF_API void pprof_push(pprof_site *site) PPROF_OFF_();

// pprof_push_name is pprof_push with a name known at run time only. A session
// holds 65 536 different names at a time, those of sites among them; names that
// are used no more make room, so there may be any number. One that finds none
// is `<other>`, counted in names_overflowed.
//
// Cost: compares the name at each call; a static site is cheaper.
//
// Example:
//   pprof_push_name(layer_name, PPROF_CATEGORY_FORWARD);
//   forward();
//   pprof_pop();
PPROF_API void pprof_push_name(const char *name, uint32_t category)
    PPROF_OFF_();

// pprof_pop ends the innermost range of the calling thread and records it. With
// none open it is counted unmatched, or begun_before when a capture window has
// ended its range since, or its range may have begun before the session.
PPROF_API void pprof_pop(void) PPROF_OFF_();

// pprof_range_begin opens a range that may end on another thread. It takes no
// part in the thread's nesting; it serves the requests of the innermost range.
//
// Result: id 0 while nothing records, or when it could not be kept.
//
// Example:
//   PPROF_SITE(waiting, "in the queue", PPROF_CATEGORY_CPU_TASK);
//   pprof_range range = pprof_range_begin(&waiting);
//   put_into_queue(range.id);         // and, on the thread that takes it out:
//   pprof_range taken = {take_from_queue()};
//   pprof_range_end(taken);
PPROF_API pprof_range pprof_range_begin(pprof_site *site)
    PPROF_OFF_(pprof_no_range_());

// pprof_range_end ends `range` and records it. Ending it twice is counted
// unmatched.
PPROF_API void pprof_range_end(pprof_range range) PPROF_OFF_();

// pprof_range_flow says that `range` serves the request `flow`; see pprof_flow.
// Like pprof_range_work it may come from any thread until the range ends.
PPROF_API void pprof_range_flow(pprof_range range, uint64_t flow) PPROF_OFF_();

// pprof_range_work adds `work` to `range`.
PPROF_API void pprof_range_work(pprof_range range,
                                const pprof_work_amount *work) PPROF_OFF_();

// pprof_mark records a point in time.
PPROF_API void pprof_mark(pprof_site *site) PPROF_OFF_();

// pprof_count records `value` as the value the counter `site` has now; it has
// it until the next call. Of category MEMORY and named after a place, the
// counter is the memory in use there, in bytes.
//
// Units: the caller's.
//
// Example:
//   PPROF_SITE(queued, "requests queued", PPROF_CATEGORY_USER_DEFINED);
//   pprof_count(&queued, 17);
PPROF_API void pprof_count(pprof_site *site, double value) PPROF_OFF_();

// pprof_flow says that the innermost open range of this thread, and what begins
// inside it later, serve the request `flow`, a number but 0 that the caller
// chooses. Several calls name several requests (a batch): 64 a range. A number
// that the range has already is added once. Further ones, and one with no range
// open, are counted in flows_lost.
//
// Example:
//   PPROF_SCOPE("answer");
//   pprof_flow(4711);  // the same number wherever this request is worked on
//   answer_request();
PPROF_API void pprof_flow(uint64_t flow) PPROF_OFF_();

// pprof_flow_context answers the number of a request that has a context of 128
// bits, such as a trace id: the same one in all processes, on all hosts. Logs
// that have such a number work on one request. It is 2^63 or more; 0 where the
// context is.
//
// Example:
//   PPROF_SCOPE("answer");
//   pprof_flow(pprof_flow_context(0x4bf92f3577b34da6, 0xa3ce929d0e0e4736));
PPROF_API uint64_t pprof_flow_context(uint64_t high, uint64_t low)
    PPROF_OFF_(0);

// pprof_flow_traceparent is pprof_flow_context of a W3C traceparent
// ("00-4bf9...-00f0...-01"); with NULL, of the one in the environment.
//
// Result: 0 where there is none, or it is not well-formed.
PPROF_API uint64_t pprof_flow_traceparent(const char *traceparent)
    PPROF_OFF_(0);

// pprof_work adds `work` to the innermost open range of this thread; with none
// open it is counted in flows_lost.
//
// Example:
//   pprof_work_amount work = {sizeof work, 8, 0, 2e9, 0};  // 8 items, 2 GFLOP
//   PPROF_SCOPE("detect");
//   pprof_work(&work);
PPROF_API void pprof_work(const pprof_work_amount *work) PPROF_OFF_();

// pprof_step ends step n, in which `num_items` items were completed, and begins
// step n + 1, for the whole process. Step 0 begins when the session starts; the
// step that is open when it stops is recorded as clipped. Steps are the base of
// the tables' ratios and open and close capture windows. A program that never
// calls it has no steps, and its ratios are of the whole window.
//
// Cost: takes a lock.
//
// Example:
//   while (next_batch()) {
//     train();
//     pprof_step(32);  // at the end of a round; 32 images were in it
//   }
PPROF_API void pprof_step(uint64_t num_items) PPROF_OFF_();

// pprof_request_begin begins a request of the class `site` (its name: "chat")
// where it arrives. `id` is a number but 0 that no other live request has; it
// is the flow (pprof_flow) of whatever serves the request. A range as of
// pprof_range_begin, which it is counted like: 5 859 of both are kept at a
// time, each in memory of one size, however many tokens follow. One that is
// never ended is open in the log.
//
// Result: range.id 0 while nothing records, or when it could not be kept; the
//         number stays, so that its tokens are marks where a window opens.
//
// Example:
//   PPROF_SITE(chat, "chat", PPROF_CATEGORY_INFERENCE);
//   pprof_request request = pprof_request_begin(4711, &chat);
//   pprof_request_input(request, num_tokens_of(prompt));
//   wait_in_queue();                // and, wherever it is served:
//   for (int i = 0; i < 8; i++) {
//     PPROF_SCOPE("decode");
//     pprof_serve(&request, 1);     // this iteration serves it
//     decode_one();
//     pprof_token(request, 1);
//   }
//   pprof_request_end(request);
PPROF_API pprof_request pprof_request_begin(uint64_t id, pprof_site *site)
    PPROF_OFF_(pprof_no_request_());

// pprof_request_input says how many tokens a request came with; several calls
// add up.
PPROF_API void pprof_request_input(pprof_request request, uint64_t num_tokens)
    PPROF_OFF_();

// pprof_request_waited says that the request had arrived `waited_ns` before its
// pprof_request_begin: it begins that much earlier, but not before recording
// does. Once, by whoever began it, before others have its handle.
//
// Example:
//   PPROF_SITE(chat, "chat", PPROF_CATEGORY_INFERENCE);
//   pprof_request request = pprof_request_begin(4711, &chat);
//   pprof_request_waited(request, 2000000);  // 2 ms in the socket
//   pprof_request_end(request);
PPROF_API void pprof_request_waited(pprof_request request, uint64_t waited_ns)
    PPROF_OFF_();

// pprof_serve says that the innermost open range of this thread serves these
// requests, any number of them. The first time is when a request was scheduled.
// Requests of another process are {number, {0}}, for pprof_token, too.
//
// Cost: a mark for each.
PPROF_API void pprof_serve(const pprof_request *requests, size_t num)
    PPROF_OFF_();

// pprof_serve_since is pprof_serve of requests that were scheduled `ago_ns`
// ago: before a scheduler knew which.
//
// Example:
//   pprof_request batch[2] = {{4711, {0}}, {4712, {0}}};
//   pprof_serve_since(batch, 2, 500000);  // choosing them took 0.5 ms
PPROF_API void pprof_serve_since(const pprof_request *requests, size_t num,
                                 uint64_t ago_ns) PPROF_OFF_();

// pprof_token says that the request has got `num_tokens` more tokens, now; in
// the innermost open range of this thread, if there is one.
//
// Cost: a mark's.
PPROF_API void pprof_token(pprof_request request, uint64_t num_tokens)
    PPROF_OFF_();

// pprof_request_end ends a request, on any thread; as pprof_range_end.
PPROF_API void pprof_request_end(pprof_request request) PPROF_OFF_();

// pprof_thread_name names the calling thread's row of the timeline; the latest
// name counts. Without it the row has the system's name of the thread.
//
// Owns: nothing; `name` is copied, 63 bytes at most.
PPROF_API void pprof_thread_name(const char *name) PPROF_OFF_();

// pprof_name_object names what threads wait for, where `waits` is recorded: a
// mutex, a condition variable, a semaphore, by its address. The latest name
// counts; the object that later lies there has it, too. About a thousand
// objects keep their names; of more, some are called as if they had none.
//
// Owns: nothing; `name` is copied, 118 bytes at most.
//
// Example:
//   pprof_name_object(&cache_mutex, "cache");
PPROF_API void pprof_name_object(const volatile void *address, const char *name)
    PPROF_OFF_();

// For inline code only: 0 = nothing records. It changes whenever a site's
// decision may change (start, stop, edge of a capture window).
#ifdef PPROF_DISABLE
#define PPROF_EPOCH_() 0u
#else
extern PPROF_API uint32_t pprof_epoch_;
#define PPROF_EPOCH_() __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED)
#endif
#define PPROF_RECORDS_() (PPROF_EPOCH_() != 0)
#define PPROF_SITE_EXCLUDED_ 0xffffffffu
PPROF_API pprof_scope_token pprof_scope_push_(pprof_site *site)
    PPROF_OFF_(pprof_no_scope_());
PPROF_API void pprof_scope_pop_(const pprof_scope_token *token) PPROF_OFF_();
static inline pprof_scope_token pprof_scope_enter_(pprof_site *site) {
  pprof_scope_token none = {PPROF_NULL_, 0, 0};
  uint32_t epoch = PPROF_EPOCH_();
  uint64_t excluded = epoch;
  excluded = excluded << 32 | PPROF_SITE_EXCLUDED_;
  if (__builtin_expect(epoch == 0, 1) ||
      __atomic_load_n(&site->state_, __ATOMIC_RELAXED) == excluded)
    return none;
  return pprof_scope_push_(site);
}
static inline void pprof_scope_exit_(const pprof_scope_token *token) {
  if (token->lane) pprof_scope_pop_(token);
}

// The calls above that record look inline, too, whether anything does, by
// macros of their names. PPROF_NO_INLINE, defined before the first include,
// leaves the macros out, for who has members of such a name.
#ifndef PPROF_NO_INLINE
static inline void pprof_push_if_(pprof_site *site) {
  if (PPROF_RECORDS_()) pprof_push(site);
}
static inline void pprof_push_name_if_(const char *name, uint32_t category) {
  if (PPROF_RECORDS_()) pprof_push_name(name, category);
}
static inline void pprof_pop_if_(void) {
  if (PPROF_RECORDS_()) pprof_pop();
}
static inline pprof_range pprof_range_begin_if_(pprof_site *site) {
  pprof_range none = {0};
  return PPROF_RECORDS_() ? pprof_range_begin(site) : none;
}
static inline void pprof_range_end_if_(pprof_range range) {
  if (range.id) pprof_range_end(range);
}
static inline void pprof_range_flow_if_(pprof_range range, uint64_t flow) {
  if (range.id) pprof_range_flow(range, flow);
}
static inline void pprof_range_work_if_(pprof_range range,
                                        const pprof_work_amount *work) {
  if (range.id) pprof_range_work(range, work);
}
static inline void pprof_mark_if_(pprof_site *site) {
  if (PPROF_RECORDS_()) pprof_mark(site);
}
static inline void pprof_count_if_(pprof_site *site, double value) {
  if (PPROF_RECORDS_()) pprof_count(site, value);
}
static inline void pprof_flow_if_(uint64_t flow) {
  if (PPROF_RECORDS_()) pprof_flow(flow);
}
static inline void pprof_work_if_(const pprof_work_amount *work) {
  if (PPROF_RECORDS_()) pprof_work(work);
}
static inline pprof_request pprof_request_begin_if_(uint64_t id,
                                                    pprof_site *site) {
  pprof_request unrecorded = {id, {0}};
  return PPROF_RECORDS_() ? pprof_request_begin(id, site) : unrecorded;
}
static inline void pprof_serve_if_(const pprof_request *requests, size_t num) {
  if (PPROF_RECORDS_()) pprof_serve(requests, num);
}
static inline void pprof_serve_since_if_(const pprof_request *requests,
                                         size_t num, uint64_t ago_ns) {
  if (PPROF_RECORDS_()) pprof_serve_since(requests, num, ago_ns);
}
static inline void pprof_token_if_(pprof_request request, uint64_t num_tokens) {
  if (PPROF_RECORDS_()) pprof_token(request, num_tokens);
}
#define pprof_request_begin(...) pprof_request_begin_if_(__VA_ARGS__)
#define pprof_serve(...) pprof_serve_if_(__VA_ARGS__)
#define pprof_serve_since(...) pprof_serve_since_if_(__VA_ARGS__)
#define pprof_token(...) pprof_token_if_(__VA_ARGS__)
#define pprof_push(...) pprof_push_if_(__VA_ARGS__)
#define pprof_push_name(...) pprof_push_name_if_(__VA_ARGS__)
#define pprof_pop() pprof_pop_if_()
#define pprof_range_begin(...) pprof_range_begin_if_(__VA_ARGS__)
#define pprof_range_end(...) pprof_range_end_if_(__VA_ARGS__)
#define pprof_range_flow(...) pprof_range_flow_if_(__VA_ARGS__)
#define pprof_range_work(...) pprof_range_work_if_(__VA_ARGS__)
#define pprof_mark(...) pprof_mark_if_(__VA_ARGS__)
#define pprof_count(...) pprof_count_if_(__VA_ARGS__)
#define pprof_flow(...) pprof_flow_if_(__VA_ARGS__)
#define pprof_work(...) pprof_work_if_(__VA_ARGS__)
#endif

// PPROF_SCOPE opens a range that ends with the enclosing block, also by return,
// break, goto and a C++ exception. It closes what it opened and no more; ranges
// left open inside it end with it, marked abandoned. `label` is a string
// literal.
//
// Threads: the block stays on its thread (in C++ not across co_await).
//
// Example:
//   for (int i = 0; i < 4; i++) {
//     PPROF_SCOPE("layer");
//     if (!forward()) break;  // ends the range, too
//   }
#define PPROF_SCOPE(label) \
  PPROF_SCOPE_N_(label, PPROF_CATEGORY_USER_DEFINED, __COUNTER__)

// PPROF_SCOPE_CAT is PPROF_SCOPE with a category.
#define PPROF_SCOPE_CAT(label, category) \
  PPROF_SCOPE_N_(label, category, __COUNTER__)

#ifdef PPROF_DISABLE
// A declaration, too, and it makes neither code nor data.
#define PPROF_SCOPE_N_(label, category, n) \
  enum { PPROF_CAT_(pprof_nothing_, n) = sizeof(label) }
#else
#define PPROF_SCOPE_N_(label, category, n)                                    \
  PPROF_SITE(PPROF_CAT_(pprof_site_, n), label, category);                    \
  __attribute__((cleanup(pprof_scope_exit_), unused)) const pprof_scope_token \
  PPROF_CAT_(pprof_token_, n) =                                               \
      pprof_scope_enter_(&PPROF_CAT_(pprof_site_, n))
#endif

PPROF_END_C_

#endif  // PPROF_MARK_H_
