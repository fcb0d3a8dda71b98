python3 "$TESTS/page_bounds.py" "$TOOL" && echo "at most 3 MB"
