/* A plugin without a device, for tests: it answers what the environment tells it to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

struct voxridge_cuda_session {
  int unused;
};

static struct voxridge_cuda_session the_session;

static double number(const char* name, double otherwise) {
  const char* value = getenv(name);
  return value != NULL ? atof(value) : otherwise;
}

static void copy(char* to, size_t size, const char* name) {
  const char* value = getenv(name);
  if (value != NULL) snprintf(to, size, "%s", value);
}

static int info(voxridge_cuda_info* out) {
  out->available = (int)number("FAKE_AVAILABLE", 0);
  out->driver_version = (int)number("FAKE_DRIVER", 0);
  out->runtime_version = 13000;
  out->device_count = out->available;
  out->fp64_ratio = 2;
  out->memory_free = number("FAKE_FREE", 0);
  out->memory_total = 2 * out->memory_free;
  copy(out->name, sizeof out->name, "FAKE_NAME");
  copy(out->architectures, sizeof out->architectures, "FAKE_ARCHITECTURES");
  copy(out->libraries, sizeof out->libraries, "FAKE_LIBRARIES");
  copy(out->reason, sizeof out->reason, "FAKE_REASON");
  return (int)number("FAKE_INFO", VOXRIDGE_OK);
}

static int solver(char* text, int text_size) {
  copy(text, (size_t)text_size, "FAKE_SOLVER");
  return VOXRIDGE_UNAVAILABLE;
}

static int open_session(voxridge_cuda_session** out, char* text, int text_size) {
  *out = &the_session;
  copy(text, (size_t)text_size, "FAKE_TEXT");
  return (int)number("FAKE_OPEN", VOXRIDGE_OK);
}

static void close_session(voxridge_cuda_session* session) { (void)session; }

#ifndef NO_ENTRY
const voxridge_cuda_table* voxridge_cuda(void) {
  static voxridge_cuda_table table;
  table.abi = (int)number("FAKE_ABI", VOXRIDGE_CUDA_ABI);
  table.table_size = (int)number("FAKE_TABLE_SIZE", sizeof table);
  table.info = info;
  table.solver = solver;
  table.open = open_session;
  table.close = close_session;
  return &table;
}
#else
void* unused_functions[] = {(void*)info, (void*)solver, (void*)open_session, (void*)close_session};
#endif

/* Opening it shows: it takes memory. */
__attribute__((constructor)) static void take_memory(void) {
  const size_t bytes = (size_t)(1e6 * number("FAKE_MB", 0));
  char* memory = bytes > 0 ? malloc(bytes) : NULL;
  if (memory != NULL) memset(memory, 1, bytes);
}
