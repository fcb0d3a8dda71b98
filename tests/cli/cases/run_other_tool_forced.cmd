NVTX_INJECTION64_PATH=/opt/other.so "$TOOL" run --library "$RUN_LIBRARY" --logs logs --force "$RUN_CHILD" env=NVTX_INJECTION64_PATH 2>/dev/null
