// SPDX-License-Identifier: Apache-2.0
//
// A program that is linked with pprof: PLUGIN.
#ifdef __cplusplus
extern "C"
#endif
    int
    run_all(const char *plugin_path);

int main(int argc, char **argv) {
  return argc == 2 ? run_all(argv[1]) : 2;
}
