// SPDX-License-Identifier: Apache-2.0
//
// Opens devices, once each. They are known by backend and index, until the
// process ends.
#include "device/device.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/uncancelled.h"
#include "mark/recorder.h"

#define PPI_RESERVED_DEVICES 64u

typedef struct reserved_device {
  char name[PPI_DEVICE_NAME];
  uint32_t id;
} reserved_device;

static struct {
  // Opening may take seconds; markers with a new stream wait only for `mutex`.
  pthread_mutex_t open_mutex;
  pthread_mutex_t mutex;
  pprof_device *list;
  // Under `mutex`: ids given out, and those of devices that are not opened.
  uint32_t num, num_reserved;
  reserved_device reserved[PPI_RESERVED_DEVICES];
  uint32_t null_serial;  // the session that saw a NULL device; atomic
  void (*attach_all)(void);
} devices = {.mutex = PTHREAD_MUTEX_INITIALIZER,
             .open_mutex = PTHREAD_MUTEX_INITIALIZER};

// pprof_device_get never fails: this one stands in when memory is out.
static pprof_device no_memory_device = {.name = "?",
                                        .why_not = {"out of memory"}};

ppi_device_session *ppi_device_sessions[PPI_MAX_TABLES];

void ppi_device_in_forked_child(void) {
  pthread_mutex_init(&devices.open_mutex, NULL);
  pthread_mutex_init(&devices.mutex, NULL);
  memset(ppi_device_sessions, 0, sizeof ppi_device_sessions);
}

pprof_device *ppi_device_list(void) {
  return __atomic_load_n(&devices.list, __ATOMIC_ACQUIRE);
}

void ppi_device_lock(void) {
  pthread_mutex_lock(&devices.mutex);
}

void ppi_device_unlock(void) {
  pthread_mutex_unlock(&devices.mutex);
}

void ppi_device_use_null(void) {
  PPI_STORE_ONCE(&devices.null_serial, ppi_recorder_in_force.serial);
}

bool ppi_device_null_used(void) {
  return __atomic_load_n(&devices.null_serial, __ATOMIC_RELAXED) ==
         ppi_recorder_in_force.serial;
}

void ppi_device_set_attach_hook(void (*attach_all)(void)) {
  __atomic_store_n(&devices.attach_all, attach_all, __ATOMIC_RELEASE);
}

static pprof_device *find_device(const pprof_backend *backend, int index) {
  for (pprof_device *device = devices.list; device; device = device->next)
    if (device->backend == backend && device->index == index) return device;
  return NULL;
}

// Drivers keep files of their own open.
static pprof_status open_backend(pprof_device *device, int index) {
  unsigned standing = ppi_fd_stand_in();
  pprof_status status =
      device->backend->open(index, &device->context, &device->why_not);
  ppi_fd_stand_down(standing);
  return status;
}

void ppi_device_set_name(char name[PPI_DEVICE_NAME], const char *backend,
                         int index) {
  memset(name, 0, PPI_DEVICE_NAME);
  snprintf(name, PPI_DEVICE_NAME, "%.24s:%d", backend ? backend : "?", index);
}

static uint32_t id_in_list(const char *name) {
  for (const pprof_device *d = ppi_device_list(); d; d = d->next)
    if (strcmp(d->name, name) == 0) return d->id;
  return 0;
}

// Under `mutex`.
static uint32_t reserved_id(const char *name) {
  for (uint32_t i = 0; i < devices.num_reserved; i++)
    if (strcmp(devices.reserved[i].name, name) == 0)
      return devices.reserved[i].id;
  return 0;
}

uint32_t ppi_device_id(const char *backend, int index) {
  char name[PPI_DEVICE_NAME];
  ppi_device_set_name(name, backend, index);
  uint32_t id = id_in_list(name);
  if (id) return id;
  pthread_mutex_lock(&devices.mutex);
  id = reserved_id(name);
  if (!id && devices.num_reserved < PPI_RESERVED_DEVICES) {
    reserved_device *reserved = &devices.reserved[devices.num_reserved++];
    memcpy(reserved->name, name, sizeof name);
    id = reserved->id = ++devices.num;
  }
  pthread_mutex_unlock(&devices.mutex);
  return id;
}

// If two backends have one name, the first one has the reserved id.
static uint32_t take_id(const char *name) {
  pthread_mutex_lock(&devices.mutex);
  uint32_t id = id_in_list(name) ? 0 : reserved_id(name);
  if (!id) id = ++devices.num;
  pthread_mutex_unlock(&devices.mutex);
  return id;
}

static pprof_device *open_device(const pprof_backend *backend, int index) {
  pprof_device *device = ppi_alloc(sizeof *device);
  if (!device) return &no_memory_device;
  device->backend = backend;
  device->index = index;
  ppi_device_set_name(device->name, backend->name, index);
  device->id = take_id(device->name);
  pprof_status status = PPROF_STATUS_OK;
  if (PPI_BACKEND_HAS(backend, open)) status = open_backend(device, index);
  device->available = status == PPROF_STATUS_OK;
  if (!device->available && !device->why_not.text[0])
    ppi_fail(&device->why_not, status, "%s", pprof_status_string(status));
  device->next = devices.list;
  __atomic_store_n(&devices.list, device, __ATOMIC_RELEASE);
  return device;
}

pprof_device *pprof_device_get(const pprof_backend *backend, int index) {
  PPI_UNCANCELLED;
  if (!backend) return NULL;
  pthread_mutex_lock(&devices.open_mutex);
  pprof_device *device = find_device(backend, index);
  if (!device) device = open_device(backend, index);
  pthread_mutex_unlock(&devices.open_mutex);
  void (*attach_all)(void) =
      __atomic_load_n(&devices.attach_all, __ATOMIC_ACQUIRE);
  if (attach_all && device->available &&
      !__atomic_load_n(&device->session, __ATOMIC_ACQUIRE))
    attach_all();
  return device;
}

bool pprof_device_available(pprof_device *device, pprof_error *why_not) {
  PPI_UNCANCELLED;
  if (device && device->available) return true;
  ppi_fail(why_not, PPROF_STATUS_UNAVAILABLE, "%s",
           device ? device->why_not.text : "the device is NULL");
  return false;
}

void ppi_device_remember_pool(pprof_device *device, uint64_t id) {
  for (uint32_t i = 0; i < device->num_pools; i++)
    if (device->pools[i] == id) return;
  if (device->num_pools < PPI_EVENT_POOLS)
    device->pools[device->num_pools++] = id;
}

void ppi_device_forget_pool(pprof_device *device, uint64_t id) {
  pthread_mutex_lock(&devices.mutex);
  for (uint32_t i = 0; i < device->num_pools; i++)
    if (device->pools[i] == id)
      device->pools[i--] = device->pools[--device->num_pools];
  pthread_mutex_unlock(&devices.mutex);
}

uint32_t ppi_device_pools(const pprof_device *device, uint64_t *out) {
  pthread_mutex_lock(&devices.mutex);
  uint32_t num = device->num_pools;
  memcpy(out, device->pools, num * sizeof *out);
  pthread_mutex_unlock(&devices.mutex);
  return num;
}
