# SPDX-License-Identifier: Apache-2.0
"""Follows the lines of a program's own main file, from Python 3.12 on.

Its functions are marked as soon as they are defined. A statement of a loop outside of functions is
a stage, unless it calls a marked function. A short statement is left out; a loop that has only
short ones is one stage.
"""
import ast
import sys
import time
import tokenize

JUDGED, SHORT_NS, WIDTH = 100, 50_000, 40  # as _hook_functions has them; characters of a name
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_now = time.perf_counter_ns


class _Part:
    """A statement, or a loop: its head while it has `parts`, all of it without."""

    def __init__(self, node, name, loop):
        self.node, self.name, self.loop = node, name, loop
        self.parts = 0  # those inside that are not short
        self.is_short = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
        self.entry = self.is_stage = None
        self.calls = self.shorts = 0


def _blocks(node):
    """The lists of statements inside a statement."""
    for name in "body", "orelse", "finalbody":
        yield getattr(node, name, [])
    for other in getattr(node, "handlers", []) + getattr(node, "cases", []):
        yield other.body


class _Reader:
    """What the source has: `parts` by line, and where definitions end."""

    def __init__(self, text):
        self.lines, self.parts, self.ends = text.splitlines(), {}, []
        self._read(ast.parse(text).body, None)
        self.ends.sort()

    def _read(self, statements, loop):
        for node in statements:
            if isinstance(node, _DEFINITIONS):
                self.ends.append(node.end_lineno)
                continue
            inner = [block for block in _blocks(node) if block]
            part = loop
            if loop or isinstance(node, _LOOPS):
                part = self._add(node, loop, inner[0][0].lineno if inner else 0)
            if inner and (part is None or part.node is not node or node.lineno < inner[0][0].lineno):
                for block in inner:
                    self._read(block, part if isinstance(node, _LOOPS) else loop)

    def _add(self, node, loop, first):
        text = self.lines[node.lineno - 1].strip().rstrip(":")
        part = _Part(node, "line %d: %s" % (node.lineno, text[:WIDTH]), loop)
        if loop:
            loop.parts += 1
        for line in range(node.lineno, max(first, node.lineno + 1) if first else
                          node.end_lineno + 1):
            self.parts[line] = part
        return part


def _is_inside(part, loop):
    while part and part is not loop:
        part = part.loop
    return part is loop


class Lines:
    """The events of the main file's lines; `finder` is of hooks.py."""

    def __init__(self, finder, tool, code):
        with tokenize.open(code.co_filename) as file:
            read = _Reader(file.read())
        self._finder, self._tool, self._code = finder, tool, code
        self._parts, self._ends = read.parts, read.ends
        self._open = self._token = self._calls = self._epoch = None
        self._began = 0
        events = sys.monitoring.events
        sys.monitoring.register_callback(tool, events.LINE, self._line)
        sys.monitoring.register_callback(tool, events.PY_RETURN, self._return)
        sys.monitoring.set_local_events(tool, code, events.LINE | events.PY_RETURN)

    def stop(self):
        if self._code:
            self._close()
            sys.monitoring.set_local_events(self._tool, self._code, 0)
            sys.monitoring.free_tool_id(self._tool)
            self._code = None

    def forget(self):
        """In a forked child: the open range is of its parent."""
        self._open = self._token = None

    def _line(self, code, line):
        if self._open is None and self._epoch and not self._epoch.value and not self._ends:
            return None
        if self._ends and line > self._ends[0]:
            while self._ends and line > self._ends[0]:
                self._ends.pop(0)
            self._finder.mark_main(sys.modules.get("__main__"))
        part = self._parts.get(line)
        if part is None:
            self._close()
            return None
        at = sys._getframe(1).f_lasti
        if part is self._open and at != part.entry:
            return None if part.parts else sys.monitoring.DISABLE
        if not part.is_short:
            self._close()
            part = self._parts[line]
        if part.is_short:
            return sys.monitoring.DISABLE
        if part.entry is None:
            part.entry = at
        self._begin(part)
        return None

    def _return(self, code, offset, value):
        self._close()

    def _begin(self, part):
        if part.is_stage is None:
            part.is_stage = not self._calls_marked(part)
        if part.is_stage:
            calls = self._calls = self._calls or self._finder.load_for_main()
            self._epoch = calls and calls._markers._epoch
            if not calls or not self._epoch.value:
                return
            self._token = calls._byref(calls._push(calls._site(
                part.name, self._finder.own.category)))
        self._open, self._began = part, _now()

    def _close(self):
        part, token = self._open, self._token
        if part is None:
            return
        self._open = self._token = None
        if token is not None:
            self._calls._pop(token)
        part.calls += 1
        part.shorts += _now() - self._began < SHORT_NS
        if part.calls >= JUDGED:
            if 2 * part.shorts > part.calls:
                self._leave_out(part)
            part.calls = part.shorts = 0

    def _leave_out(self, part):
        part.is_short = True
        loop = part if part.parts else part.loop
        if loop is not part and loop:
            loop.parts -= 1
        if loop and not loop.parts and loop.is_short:
            loop.is_short, loop.is_stage = False, True
            loop.entry = -1 if loop.entry is None else loop.entry
            for line, one in self._parts.items():
                if _is_inside(one, loop):
                    self._parts[line] = loop
            sys.monitoring.restart_events()

    def _calls_marked(self, part):
        names = self._finder.names_of_functions()
        inner = {id(one) for block in _blocks(part.node) for one in block} if part.parts else ()
        left = [part.node]
        while left:
            node = left.pop()
            if isinstance(node, ast.Call) and self._is_marked(node.func, names):
                return True
            left += [one for one in ast.iter_child_nodes(node) if id(one) not in inner]
        return False

    def _is_marked(self, called, names):
        if isinstance(called, ast.Name):
            value = sys.modules["__main__"].__dict__.get(called.id)
            kind = type(value).__dict__.get("__call__")
            return called.id in names or getattr(kind, "__name__", "") in names
        return isinstance(called, ast.Attribute) and called.attr in names
