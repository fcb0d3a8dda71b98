NVTX_INJECTION64_PATH=/opt/other.so "$TOOL" run --library "$RUN_LIBRARY" --logs logs "$RUN_CHILD" hello
[ ! -e logs ]
