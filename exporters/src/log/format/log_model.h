// SPDX-License-Identifier: Apache-2.0
//
// The state that encoder and decoder of a run share after the same records:
// shapes, guesses of the next shape, open nesting, and base values of
// differences. One object per run.
#pragma once

#include "base/mem.h"
#include "log/format/log_format.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

// A run's payload: a varint mask of the columns in use, the varint length of
// each, their bytes.
typedef enum ppi_log_column {
  PPI_COLUMN_TOKENS,        // hits of the guess, then the shape after a miss
  PPI_COLUMN_SHAPES,        // shapes in order of first use
  PPI_COLUMN_GAP,           // nested leaf: from the end before it to its start
  PPI_COLUMN_DURATION,      // nested leaf
  PPI_COLUMN_LEAD,          // nested parent: from its start to its first child
  PPI_COLUMN_TRAIL,         // nested parent: from its last child to its end
  PPI_COLUMN_START,         // plain: zigzag from the expected time
  PPI_COLUMN_SPAN,          // plain: zigzag from its start to its end
  PPI_COLUMN_DEVICE_START,  // zigzag from the preceding device end
  PPI_COLUMN_DEVICE_SPAN,   // zigzag
  PPI_COLUMN_DEVICE_ERROR,  // zigzag from the one before it
  PPI_COLUMN_FLOWS,         // number, then zigzags from the flow before it
  PPI_COLUMN_WORK,          // four amounts
  PPI_COLUMN_VALUE,
  PPI_COLUMN_ATTRIBUTES,  // zigzag from the id before it
  PPI_COLUMN_CPU,         // a mask of known fields, then these
  PPI_COLUMN_NUMBERS,  // their number, then zigzags from the previous record's
  PPI_NUM_COLUMNS
} ppi_log_column;

enum {
  PPI_FORM_NESTED = 1,
  PPI_FORM_DEVICE = 2,
  PPI_FORM_SAME_FLOWS = 4,
  PPI_FORM_NEW_FLOWS = 8,
  PPI_FORM_WORK = 16,
  PPI_FORM_VALUE = 32,
  PPI_FORM_ATTRIBUTES = 64,
  PPI_FORM_CPU = 128,
  PPI_FORM_STREAM = 256,  // times follow those of the stream; without it, of
                          // the previous record. Does not nest
  PPI_FORM_NUMBERS = 512,
  PPI_FORM_ALL = 1023
};

// All of a record that takes few values. Equal shapes share one token. Behind
// the form, which says what else it has, they are the event's, in this order.
// clang-format off
#define PPI_SHAPE_FIELDS(each) \
  each(kind) each(flags) each(site) each(depth) each(lane) each(stream) \
  each(window)
#define PPI_SHAPE_MEMBER(name) uint32_t name;
// clang-format on
typedef struct ppi_shape {
  uint32_t form;
  PPI_SHAPE_FIELDS(PPI_SHAPE_MEMBER)
} ppi_shape;
#undef PPI_SHAPE_MEMBER

// An event's fields in the columns of work and of CPU use, in this order. The
// time in the run queue follows if it is known.
#define PPI_LOG_WORK_FIELDS(each) \
  each(items) each(bytes) each(flops) each(params)
#define PPI_LOG_CPU_FIELDS(each)                                     \
  each(user_ns) each(sys_ns) each(inner_ns) each(voluntary_switches) \
      each(involuntary_switches) each(minor_faults) each(major_faults)
#define PPI_LOG_COUNT_FIELD(name) +1
enum {
  PPI_LOG_NUM_WORK = 0 PPI_LOG_WORK_FIELDS(PPI_LOG_COUNT_FIELD),
  PPI_LOG_NUM_CPU = 0 PPI_LOG_CPU_FIELDS(PPI_LOG_COUNT_FIELD)
};
#undef PPI_LOG_COUNT_FIELD

// The known CPU use: nothing, the times, or everything.
#define PPI_LOG_KNOWN_CPU(known)                                               \
  ((known)&PPROF_CPU_TIMES ? (known) & (PPROF_CPU_TIMES | PPROF_CPU_RUN_QUEUE) \
                           : 0u)

// Deeper ranges are coded plainly. The record path keeps 512.
#define PPI_LOG_MAX_DEPTH 1024u
#define PPI_LOG_GUESSES 1024u
// The number of streams with their own base values; further streams share them.
#define PPI_LOG_STREAMS 64u

typedef struct ppi_level {
  uint64_t first_start, last_end;
  bool used;
} ppi_level;

typedef struct ppi_log_model {
  ppi_shape *shapes;
  size_t num_shapes, shapes_capacity;
  uint16_t guesses[PPI_LOG_GUESSES];  // token + 1, by the previous two
  // levels[d]: the finished ranges of depth d that wait for their parent. Below
  // the deepest one none is used.
  ppi_level *levels;
  uint32_t deepest;
  size_t num_levels, levels_capacity;
  uint64_t end;    // of the last nested range
  uint64_t start;  // of the last record
  uint64_t device_end, device_error, flow, value, attributes;
  uint64_t work[PPI_LOG_NUM_WORK];
  uint64_t numbers[PPROF_MOST_NUMBERS];
  // The last records in PPI_FORM_STREAM, by stream.
  uint64_t stream_ends[PPI_LOG_STREAMS], stream_device_ends[PPI_LOG_STREAMS];
} ppi_log_model;

void ppi_log_model_reset(ppi_log_model *model);  // keeps its memory
void ppi_log_model_clear(ppi_log_model *model);  // frees it

// The slot of the next record's guess, by the two previous tokens plus one.
static inline uint16_t *ppi_log_model_predicted(ppi_log_model *model,
                                                uint32_t before_last,
                                                uint32_t last) {
  return &model->guesses[(before_last * 37u + last) % PPI_LOG_GUESSES];
}
// Answers the token, or UINT32_MAX when out of memory.
uint32_t ppi_log_model_add_shape(ppi_log_model *model, const ppi_shape *shape);

// Makes room for ranges of `depth` and for their children. False when out of
// memory.
static inline bool ppi_log_model_deepen(ppi_log_model *model, uint32_t depth) {
  return PPI_REACH(model->levels, model->num_levels, model->levels_capacity,
                   (size_t)depth + 2);
}
// The children of a range of `depth` that ends next; NULL: it is a leaf.
static inline const ppi_level *ppi_log_model_children(
    const ppi_log_model *model, uint32_t depth) {
  size_t below = (size_t)depth + 1;
  return below < model->num_levels && model->levels[below].used
             ? &model->levels[below]
             : NULL;
}
// A nested range has ended. There is room for it.
static inline void ppi_log_model_nest(ppi_log_model *model, uint32_t depth,
                                      uint64_t start, uint64_t end) {
  // Deeper ranges have found their parent, or lost it.
  for (; model->deepest > depth; model->deepest--)
    model->levels[model->deepest].used = false;
  model->deepest = depth;
  ppi_level *level = &model->levels[depth];
  if (!level->used) {
    level->first_start = start;
    level->used = true;
  }
  level->last_end = end;
  model->end = end;
}

// The expected time of a plain record. Records that no stream reports follow
// the nested ranges, too.
static inline uint64_t ppi_log_model_follows(const ppi_log_model *model,
                                             const ppi_shape *shape) {
  if (!(shape->form & PPI_FORM_STREAM)) return model->start;
  uint64_t end = model->stream_ends[shape->stream % PPI_LOG_STREAMS];
  if (shape->stream == 0 && model->end > end) end = model->end;
  return end ? end : model->start;
}
static inline uint64_t ppi_log_model_device_follows(const ppi_log_model *model,
                                                    const ppi_shape *shape) {
  uint64_t end =
      shape->form & PPI_FORM_STREAM
          ? model->stream_device_ends[shape->stream % PPI_LOG_STREAMS]
          : 0;
  return end ? end : model->device_end;
}

// Updates the base values after a plain record, and after one with device
// times.
static inline void ppi_log_model_note(ppi_log_model *model,
                                      const ppi_shape *shape, uint64_t end_ns) {
  if (shape->form & PPI_FORM_STREAM)
    model->stream_ends[shape->stream % PPI_LOG_STREAMS] = end_ns;
}
static inline void ppi_log_model_note_device(ppi_log_model *model,
                                             const ppi_shape *shape,
                                             const pprof_event *event) {
  model->device_end = event->device_end_ns;
  model->device_error = event->device_error_ns;
  if (shape->form & PPI_FORM_STREAM)
    model->stream_device_ends[shape->stream % PPI_LOG_STREAMS] =
        event->device_end_ns;
}

// Doubles are coded by their bits: XOR with the previous value, with bytes
// reversed so that the many zeroes of a round number come first.
static inline uint64_t ppi_double_bits(double value) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline double ppi_bits_double(uint64_t bits) {
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

PPROF_END_C_
