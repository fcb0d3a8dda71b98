#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs were compiled against stays: abi_test.py SYMBOLS GOLDEN HEADER...

Types of all exported calls, and sizes, offsets and values of all that they take, as the compiler's
own debugging information has them, read by gdb. Lines are only ever added; a structure that
begins with `size` may grow at its end. With SET_EXACT_OUTPUT=1 the list is written, for review."""
import difflib
import os
import subprocess
import sys
import tempfile

# Run by gdb: the types of all that a file's variables reach.
READ = '''
import gdb
seen = {}

def leaf(type):
    while type.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY):
        type = type.target()
    return type

def visit(type):
    type = leaf(type)
    if type.code == gdb.TYPE_CODE_TYPEDEF:
        return visit_named(type) or visit(type.strip_typedefs())
    if type.code == gdb.TYPE_CODE_FUNC:
        visit(type.target())
        for field in type.fields():
            visit(field.type)
    elif type.name or type.tag:
        visit_named(type)

def visit_named(type):
    """Its own types alone: what the C library's look like is not ours to say."""
    name = type.name or type.tag
    bare = type.strip_typedefs()
    if not name.startswith(("pprof", "PPROF")) or name in seen:
        return name in seen
    seen[name] = lines = []
    if bare.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        try:
            fields = bare.fields()
            lines.append("%s: %d bytes" % (name, bare.sizeof) if fields else name + ": hidden")
        except TypeError:
            fields = []
        for field in fields:
            lines.append("  %d %s %s" % (field.bitpos // 8, field.name, field.type))
            visit(field.type)
    elif bare.code == gdb.TYPE_CODE_ENUM:
        lines.append("%s: %d bytes" % (name, bare.sizeof))
        lines.extend("  %s = %d" % (field.name, field.enumval) for field in bare.fields())
    else:
        lines.append("%s: %s" % (name, bare))
        visit(bare)
    return True

for symbol in open(NAMES).read().split():
    type = gdb.lookup_global_symbol("abi_" + symbol).type.target()
    print(symbol + ": " + str(type))
    visit(type)
for name in sorted(seen):
    print()
    print("\\n".join(seen[name]))
print()
for symbol in sorted(gdb.lookup_global_symbol("abi_pprof_push").symtab.static_block(), key=str):
    if symbol.addr_class == gdb.SYMBOL_LOC_CONST and symbol.name.startswith("PPROF"):
        print("%s = %d" % (symbol.name, symbol.value()))
'''


def declared(symbols, headers):
    """Those of `symbols` that programs may call, and markers in them."""
    text = "".join(open(header, encoding="utf-8").read() for header in headers)
    names = [line.split("@")[0].strip() for line in open(symbols, encoding="utf-8")]
    return [name for name in names if name + "(" in text or name + ";" in text]


def describe(names, headers, folder):
    source, program, script = (os.path.join(folder, name) for name in ("abi.c", "abi.o", "read.py"))
    with open(source, "w", encoding="utf-8") as file:
        for header in headers:
            if header.endswith(".h"):
                file.write("#include <pprof/%s>\n" % os.path.basename(header))
        for name in names:
            file.write("__typeof__(%s) *abi_%s;\n" % (name, name))
    listed = os.path.join(folder, "names")
    with open(listed, "w", encoding="utf-8") as file:
        file.write("\n".join(names))
    with open(script, "w", encoding="utf-8") as file:
        file.write("NAMES = %r\n%s" % (listed, READ))
    subprocess.run(["gcc", "-std=c11", "-g", "-fno-eliminate-unused-debug-types", "-Isdk/include",
                    "-Iexporters/include", "-Iconfig/include", "-c", source, "-o", program],
                   check=True)
    return subprocess.run(["gdb", "-nx", "-batch", "-x", script, program], check=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True).stdout


def main():
    symbols, golden, *headers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        found = describe(declared(symbols, headers), headers, folder)
    if os.environ.get("SET_EXACT_OUTPUT") == "1":
        with open(golden, "w", encoding="utf-8") as file:
            file.write(found)
    with open(golden, encoding="utf-8") as file:
        expected = file.read()
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(True), found.splitlines(True), golden, "the headers"))
    return 0 if found.count("\n") > 300 and found == expected else 1


sys.exit(main())
