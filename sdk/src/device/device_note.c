// SPDX-License-Identifier: Apache-2.0
//
// Writes a session's notes about devices: reasons for missing device times, and
// limits of their other figures.
#include "device/device_note.h"

#include "device/device_impl.h"

static void add_reason(ppi_texts *out, const pprof_device *device,
                       const char *why) {
  char text[400];
  snprintf(text, sizeof text, "%s: %s", device->name, why);
  ppi_texts_add(out, "device", text);
}

static void add_error(ppi_texts *out, const pprof_device *device) {
  const char *error = PPI_BACKEND_HAS(device->backend, error_text)
                          ? device->backend->error_text(device->context)
                          : NULL;
  char text[300];
  snprintf(text, sizeof text, "%s: device timing ended, host times go on",
           error ? error : "it reported an error");
  add_reason(out, device, text);
}

static void add_reasons(ppi_texts *out, const pprof_device *device,
                        uint32_t notes) {
  const char *hint = PPI_BACKEND_HAS(device->backend, untimed_hint)
                         ? device->backend->untimed_hint
                         : "a stream gives no times";
  const struct {
    uint32_t note;
    const char *text;
  } all[] = {
      {PPI_DEVICE_NOTE_LOST_POOL,
       "a context was destroyed or reset: no device times for what was still "
       "pending in it"},
      {PPI_DEVICE_NOTE_UNTIMED, hint},
      {PPI_DEVICE_NOTE_NOT_STREAM,
       "ranges on something that is no stream of it: host time only"},
      {PPI_DEVICE_NOTE_REFUSED,
       "it refused some events: host time only for their ranges"},
      {PPI_DEVICE_NOTE_NEW_POOL,
       "the first ranges of a context have host times only: call "
       "pprof_stream_name before the start"},
      {PPI_DEVICE_NOTE_MANY_POOLS,
       "more than 8 contexts at a time: host time only on the others"},
      {PPI_DEVICE_NOTE_MANY_STREAMS,
       "more than 256 streams at a time: host time only on the others"},
      {PPI_DEVICE_NOTE_SHARED_ROWS,
       "more than 256 streams: some rows show several, one after the other"},
      {PPI_DEVICE_NOTE_GRAPH,
       "ranges in graphs: a launch that came and went between two looks of the "
       "collector is missing"},
      {PPI_DEVICE_NOTE_MANY_IN_GRAPHS,
       "more than 256 ranges in graphs: the others have no device time"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (notes & all[i].note) add_reason(out, device, all[i].text);
}

static void add_session(ppi_texts *out, const pprof_device *device) {
  const ppi_device_session *session = device->session;
  if (PPI_BACKEND_HAS(device->backend, caveat))
    add_reason(out, device, device->backend->caveat);
  if (ppi_device_has_failed(session)) add_error(out, device);
  add_reasons(out, device, __atomic_load_n(&session->notes, __ATOMIC_RELAXED));
}

void ppi_device_notes(ppi_texts *out, bool is_off) {
  if (ppi_device_null_used())
    ppi_texts_add(out, "device",
                  "a NULL device, or no current CUDA context: host time only");
  for (const pprof_device *d = ppi_device_list(); d; d = d->next) {
    if (!d->available)
      add_reason(out, d, d->why_not.text);
    else if (d->refused_serial == ppi_recorder_in_force.serial)
      add_reason(out, d,
                 "no room for its ranges (memory, or too many devices)");
    else if (d->session)
      add_session(out, d);
    if (d->available && is_off)
      add_reason(out, d, "device times are switched off");
  }
}
