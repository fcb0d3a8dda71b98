// SPDX-License-Identifier: Apache-2.0
//
// Devices: opened once, known by backend and index, there until the process
// ends.
#include <string.h>

#include "base/descriptor.h"
#include "base/mem.h"
#include "device/device_impl.h"

static struct {
  // Opening may take seconds; markers that meet a new stream wait for `mutex`
  // alone.
  pthread_mutex_t open_mutex;
  pthread_mutex_t mutex;
  pprof_device *list;
  uint32_t num;
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

static pprof_device *open_device(const pprof_backend *backend, int index) {
  pprof_device *device = ppi_alloc(sizeof *device);
  if (!device) return &no_memory_device;
  device->backend = backend;
  device->index = index;
  device->id = ++devices.num;
  size_t len = strnlen(backend->name ? backend->name : "?", 24);
  memcpy(device->name, backend->name ? backend->name : "?", len);
  pprof_error number;
  ppi_fail(&number, PPROF_STATUS_OK, ":%d", index);
  memcpy(device->name + len, number.text, strlen(number.text) + 1);
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
