// SPDX-License-Identifier: Apache-2.0
//
// NCCL's calls without a GPU: nccl LIBRARY. They fail, but annotate themselves
// before they do.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct unique_id {
  char internal[128];
} unique_id;

static void find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
}

int main(int argc, char **argv) {
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  int (*get_id)(unique_id *);
  int (*init_rank)(void **, int, unique_id, int);
  int (*all_reduce)(const void *, void *, size_t, int, int, void *, void *);
  int (*broadcast)(const void *, void *, size_t, int, int, void *, void *);
  void *communicator = NULL;
  unique_id id;
  memset(&id, 0, sizeof id);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  find(library, "ncclGetUniqueId", &get_id);
  find(library, "ncclCommInitRank", &init_rank);
  find(library, "ncclAllReduce", &all_reduce);
  find(library, "ncclBroadcast", &broadcast);
  printf("id %d\n", get_id(&id));
  printf("init %d\n", init_rank(&communicator, 1, id, 0) != 0);
  // 1000 floats, summed; 50 doubles from rank 0.
  printf("reduce %d\n", all_reduce(NULL, NULL, 1000, 7, 0, NULL, NULL) != 0);
  printf("broadcast %d\n", broadcast(NULL, NULL, 50, 8, 0, NULL, NULL) != 0);
  return 0;
}
