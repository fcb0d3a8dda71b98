# SPDX-License-Identifier: Apache-2.0
"""Marks functions of packages that are not changed: an import hook that data files lead.

    pprof.hooks.install("torch", "own.hooks")

A row of a data file is columns with two blanks or more between them: module, function, name,
category, words. docs/python.md explains them. Data files are code: install those that you trust.

site/sitecustomize.py loads this file by itself. The rest of the package is loaded with the first
module that has a row.
"""
import atexit
import importlib
import importlib.util
import os
import re
import sys
import time
import types
import _thread

_HERE = os.path.dirname(os.path.abspath(__file__))
_SITE = os.path.join(_HERE, "site")
_NAMES, _NOTES = "PPROF_HOOKS", "PPROF_HOOKS_NOTES"
_AUTO = ("torch", "asgi", "functions")  # for a program that marks nothing itself
_OWN = "*"  # the module of a row for all functions of the program's own files
_OTHERS = tuple(os.path.join(os.path.dirname(path), "") for path in (
    os.__file__, sys.executable, os.path.join(_HERE, "")) if path)
_MARKS = "pprof"  # who imports it marks
_SPAWN = "multiprocessing.spawn"
_WORDS = ("step", "sub", "top", "marks")


class Rule(types.SimpleNamespace):
    """A row: `file`, `module`, `function`, `name`, `category` (None: none), `words`, `by`."""


def _path_of(name):
    is_path = os.sep in name or name.endswith(".hooks")
    return name if is_path else os.path.join(_HERE, "hook_files", name + ".hooks")


def _rule_of(file, place, line):
    columns = re.split(r"\s{2,}|\t", line.strip())
    columns += ["", "", "", ""][len(columns) - 1:]
    module, function, name, category = columns[:4]
    words = " ".join(columns[4:]).split()
    by = [word[3:] for word in words if word.startswith("by=")]
    wrong = [word for word in words if word not in _WORDS and not word.startswith("by=")]
    if not function or wrong:
        raise ValueError("%s: %s; columns are module, function, name, category, words, with two "
                         "blanks between them" % (place, "'%s' is no word of a row" % wrong[0]
                                                  if wrong else "a row needs a function"))
    return Rule(file=file, module=module, function=function,
                name=function if name in ("", "=") else name,
                category=None if category in ("", "-") else category,
                words=words, by=by[0] if by else None)


def read(name):
    """The rules of a data file: one of the package by its name, or a path. OSError, ValueError."""
    path = _path_of(name)
    file = os.path.basename(path).rsplit(".", 1)[0]
    with open(path, encoding="utf-8") as lines:
        return [_rule_of(file, "%s:%d" % (path, number), line)
                for number, line in enumerate(lines, 1)
                if line.strip() and not line.startswith("#")]


def _note(kind, file, words):
    """Passes a message to `pprof-report run` for its end; elsewhere a warning has it."""
    path = os.environ.get(_NOTES)
    if path:
        try:
            with open(path, "a", encoding="utf-8") as notes:
                notes.write("%s %s %s\n" % (kind, file, words))
        except OSError:
            pass
    elif kind == "missing":
        import warnings
        warnings.warn("pprof: hooks %s: not found in this version: %s" % (file, words),
                      RuntimeWarning, stacklevel=2)


def _package():
    """The package of this file; `sitecustomize` has loaded the file without it."""
    if __package__ not in sys.modules:
        library = os.environ.get("NVTX_INJECTION64_PATH")
        if library:
            import ctypes
            ctypes.CDLL(library)  # the library of the run becomes the one of this process
        spec = importlib.util.spec_from_file_location(
            __package__, os.path.join(_HERE, "__init__.py"), submodule_search_locations=[_HERE])
        sys.modules[__package__] = package = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(package)
        except BaseException:
            del sys.modules[__package__]
            raise
    return importlib.import_module("._hook_calls", __package__)


# ---- functions ----

def _owner_of(module, function):
    """(owner of the attribute, its name, the attribute as stored)."""
    *path, name = function.split(".")
    owner = module
    for part in path:
        owner = getattr(owner, part)
    found = getattr(owner, name)
    return owner, name, getattr(owner, "__dict__", {}).get(name, found)


def _wrapped(stored, rule, calls):
    if isinstance(stored, (staticmethod, classmethod)):
        return type(stored)(calls.wrap(stored.__func__, rule))
    return calls.wrap(stored, rule)


def _wrap_in_subclasses(owner, rules, calls):
    """Wraps the functions of the rules in each later subclass of `owner`."""
    before = owner.__dict__.get("__init_subclass__")

    def init_subclass(cls, **options):
        if before is None:
            super(owner, cls).__init_subclass__(**options)
        else:
            before.__get__(None, cls)(**options)
        for rule in rules:
            name = rule.function.rsplit(".", 1)[1]
            if name in cls.__dict__:
                setattr(cls, name, _wrapped(cls.__dict__[name], rule, calls))
    owner.__init_subclass__ = classmethod(init_subclass)


class _Finder:
    """The first finder in sys.meta_path; it applies the rules of a module once that is loaded."""

    def __init__(self, rules, is_auto):
        self.rules, self.is_auto = {}, is_auto
        self.patched = []  # (owner, name, what was there)
        self.finding, self.noted = set(), set()
        self.own = next((rule for rule in rules if rule.module == _OWN), None)
        self.functions, self.packages, self.has_main = [], set(), False  # own ones
        self.lines = None  # of the main file
        self.lock = _thread.allocate_lock()
        for rule in rules:
            if rule is not self.own:
                self.rules.setdefault(rule.module, []).append(rule)
        self.roots = {name.partition(".")[0] for name in self.rules} | {_SPAWN}

    def find_spec(self, name, path=None, target=None):
        if self.is_auto and name == _MARKS:
            self.remove()
            return None
        if self.is_auto and name == "torch":  # its loops have stages without
            self._leave_functions()
        may_be_own = self.own and (path is None or name.rpartition(".")[0] in self.packages)
        is_known = name in self.rules or name in self.roots
        if name in self.finding or not (may_be_own or is_known):
            return None
        self.finding.add(name)
        try:
            spec = _find_by_others(self, name, path, target)
        finally:
            self.finding.discard(name)
        if may_be_own and spec is not None and _is_own(
                spec.origin or next(iter(spec.submodule_search_locations or ()), None)):
            self.packages.add(name)
            is_known = True
        if is_known and spec is not None and spec.loader is not None:
            self._watch(spec.loader, name)
        return spec

    def _watch(self, loader, name):
        run = getattr(loader, "exec_module", None)

        def exec_module(module):
            try:
                del loader.exec_module
            except AttributeError:
                pass
            run(module)
            self.apply(name, module)
        try:
            loader.exec_module = exec_module
        except (AttributeError, TypeError):  # it takes none: the module stays as it is
            pass

    def apply(self, name, module):
        """Applies the rules; functions that cannot be wrapped stay as they are."""
        if name == _SPAWN:
            module.prepare = _with_role(module.prepare, self)
        if name in self.roots:
            self._note_missing_modules(name, getattr(module, "__path__", ()))
        if self.own and name in self.packages:
            self._mark_functions(module)
        rules = self.rules.pop(name, ())
        calls = rules and self._loaded(rules, name)
        if not calls:
            return
        missing = [rule for rule in rules if not self._patch(module, rule, calls)]
        for rule in missing:
            _note("missing", rule.file, "%s.%s" % (rule.module, rule.function))
        self._patch_subclasses(module, [rule for rule in rules if rule not in missing], calls)

    def _loaded(self, rules, name):
        """What marks, once a module has a rule; None: it cannot be loaded."""
        try:
            calls = _package()
        except Exception as error:
            _note("failed", rules[0].file, error)
            return None
        for file in sorted({rule.file for rule in rules} - self.noted):
            self.noted.add(file)
            _note("auto" if self.is_auto else "used", file, name)
        return calls

    def _mark_functions(self, module):
        has_any = any(isinstance(value, (types.FunctionType, type))
                      and value.__module__ == module.__name__
                      for value in list(vars(module).values()))
        calls = has_any and self._loaded([self.own], module.__name__)
        if calls:
            functions = importlib.import_module("._hook_functions", calls.__package__)
            self.functions += functions.mark_all(module, self.own.category, self.functions)
            return functions
        return None

    def names_of_functions(self):
        """The last names of the marked functions."""
        return {function.site[0].rpartition(".")[2] for function in self.functions}

    def load_for_main(self):
        return self._loaded([self.own], "__main__") if self.own else None

    def _leave_functions(self):
        if self.lines:
            self.lines.stop()
        with self.lock:
            for function in self.functions:
                function.restore()
            self.own, self.functions = None, []

    def watch_main(self):
        """Marks the program's file: no import loads it."""
        def in_child():
            self.lock.release()
            atexit.unregister(self._note_loops)
            if self.lines:
                self.lines.forget()
            elif self.own and not self.has_main:  # the thread that waits is not there
                _thread.start_new_thread(self._await_main, (_thread.get_ident(), True))
        if self.own:
            os.register_at_fork(before=self.lock.acquire, after_in_parent=self.lock.release,
                                after_in_child=in_child)
            if not self._watch_lines():
                _thread.start_new_thread(self._await_main, (_thread.get_ident(), False))
            if not hasattr(sys, "monitoring"):
                atexit.register(self._note_loops, os.path.abspath((sys.argv or [""])[0]))

    def _watch_lines(self):
        """From Python 3.12 on: the main file's lines as they run. False: nobody follows them."""
        monitoring = getattr(sys, "monitoring", None)
        tool = next((one for one in (4, 3) if monitoring and not monitoring.get_tool(one)), None)
        if tool is None or _main_frame(sys._getframe()):
            return False

        def start(code, offset):
            if code.co_name != "<module>" or not _main_frame(sys._getframe(1)):
                return monitoring.DISABLE
            monitoring.set_events(tool, 0)
            try:
                if self.own and _is_own(code.co_filename):
                    self.has_main = True
                    self.lines = _lines_class()(self, tool, code)
            except (OSError, SyntaxError, UnicodeError):  # its source is not there
                pass
            if not self.lines:
                monitoring.free_tool_id(tool)
            return None
        monitoring.use_tool_id(tool, "pprof")
        monitoring.register_callback(tool, monitoring.events.PY_START, start)
        monitoring.set_events(tool, monitoring.events.PY_START)
        return True

    def _note_loops(self, script):
        """Before Python 3.12 nothing marks them. Of a script Python drops `__file__` at its end."""
        path = getattr(sys.modules.get("__main__"), "__file__", script)
        if (self.own and sum(function.has_ended for function in self.functions) < 2
                and _is_own(path) and _has_loops(path)):
            _note("loops", self.own.file, "%d.%d" % sys.version_info[:2])

    def _await_main(self, thread, is_forked):
        pause = 0.001
        while self.own and not self.has_main and self in sys.meta_path:
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
            main, frame = sys.modules.get("__main__"), _main_frame(
                sys._current_frames().get(thread))
            functions = self.mark_main(main) if frame or is_forked else None
            if is_forked or frame and frame.f_lineno > _last_definition(frame.f_code):
                self.has_main = True
                if functions and frame:
                    functions.follow(thread, self.functions)
                return

    def mark_main(self, main):
        """Marks the functions that the main file has defined until now."""
        with self.lock:  # no fork in between
            if self.own and _is_own(getattr(main, "__file__", None)):
                return self._mark_functions(main)
            return None

    def _patch(self, module, rule, calls):
        try:
            owner, name, stored = _owner_of(module, rule.function)
            if "marks" in rule.words:
                replaced = calls.once(stored, self.remove if self.is_auto else None)
            else:
                replaced = _wrapped(stored, rule, calls)
            setattr(owner, name, replaced)
        except (AttributeError, TypeError, LookupError, ImportError):
            return "marks" in rule.words
        self.patched.append((owner, name, stored, replaced))
        return True

    def _patch_subclasses(self, module, rules, calls):
        classes = {}
        for rule in rules:
            if "sub" in rule.words:
                classes.setdefault(_owner_of(module, rule.function)[0], []).append(rule)
        for owner, of_class in classes.items():
            _wrap_in_subclasses(owner, of_class, calls)

    def _note_missing_modules(self, root, folders):
        for name in sorted(self.rules):
            if name.partition(".")[0] != root or name == root:
                continue
            parts = name.split(".")[1:]
            if not any(_has_module(os.path.join(folder, *parts[:-1]), parts[-1])
                       for folder in folders):
                for rule in self.rules.pop(name):
                    if "marks" not in rule.words:
                        _note("missing", rule.file, "%s.%s" % (rule.module, rule.function))

    def remove(self):
        """Removes the markers of this finder's rules."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self.rules = {}
        is_used = bool(self.patched or self.functions)
        self._leave_functions()
        for owner, name, stored, replaced in reversed(self.patched):
            if getattr(owner, "__dict__", {}).get(name) is replaced:
                setattr(owner, name, stored)
        for file in sorted(_AUTO) if is_used and self.is_auto else ():
            _note("left", file, "")
        self.patched = []


def _is_own(path):
    """Whether this is a file of the program: not of Python, nor of an installed package."""
    return (bool(path) and os.path.isabs(path) and not path.startswith(_OTHERS)
            and "-packages" + os.sep not in path)


def _main_frame(frame):
    """The frame that runs the main module, of a thread's innermost one."""
    names = vars(sys.modules["__main__"]) if "__main__" in sys.modules else None
    while frame and (frame.f_code.co_name != "<module>" or frame.f_globals is not names):
        frame = frame.f_back
    return frame


def _lines_class():
    """Of a file that needs no other of the package."""
    spec = importlib.util.spec_from_file_location(
        __package__ + "._hook_lines", os.path.join(_HERE, "_hook_lines.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Lines


def _last_definition(code):
    """The last line of a module where a function or class begins."""
    return max((one.co_firstlineno for one in code.co_consts
                if isinstance(one, types.CodeType) and one.co_name[0] != "<"), default=0)


def _has_loops(path):
    """Whether this file has loops outside of functions."""
    import ast
    import tokenize
    try:
        with tokenize.open(path) as file:
            left = [ast.parse(file.read())]
    except Exception:  # its source is not there, or is none
        return False
    while left:
        node = left.pop()
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return True
        left += [one for one in ast.iter_child_nodes(node) if not isinstance(
            one, (ast.expr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    return False


def _has_module(folder, name):
    try:
        return any(entry == name or entry.startswith(name + ".") for entry in os.listdir(folder))
    except OSError:
        return False


def _find_by_others(finder, name, path, target):
    for other in sys.meta_path:
        find = getattr(other, "find_spec", None)
        if other is finder or find is None:
            continue
        spec = find(name, path, target)
        if spec is not None:
            return spec
    return None


def set_role(script, name):
    """What this worker is called in its log: the script and its own name. Its command line is that
    of any worker."""
    words = "%s:%s" % (os.path.basename(script), name.replace("/", "-"))
    try:
        os.environ["PPROF_ROLE"] = "%d %s" % (os.getpid(), words.replace(" ", "-"))
    except ValueError:  # no text for an environment
        pass


def _with_role(prepare, finder):
    """multiprocessing.spawn's `prepare`, which loads the program in a spawned worker."""
    def prepare_worker(data):
        set_role((data.get("sys_argv") or [""])[0], data.get("name", ""))
        prepare(data)
        atexit.unregister(finder._note_loops)
        finder.mark_main(sys.modules.get("__main__"))
        finder.has_main = True
    return prepare_worker


# ---- installing ----

def _install(names, is_auto=False):
    finder = _Finder([rule for name in names for rule in read(name)], is_auto)
    if is_auto and _MARKS in sys.modules:
        return
    sys.meta_path.insert(0, finder)
    for name in sorted(set(finder.rules) | finder.roots):
        if name in sys.modules:
            finder.apply(name, sys.modules[name])
    finder.watch_main()


def install(*names, children=True):
    """From now on the functions that these data files name are marked: names of the package's own
    files (torch, transformers, vllm, sglang, ray-serve, litserve, asgi, concurrent), or paths.
    Modules that are loaded already are covered; functions that others have copied from them are
    not. With `children`, Python programs that this one starts install the same.

    Raises OSError or ValueError where a file cannot be read. What a version lacks is a
    RuntimeWarning."""
    _install(names)
    if children:
        listed = os.environ.get(_NAMES, "").split(os.pathsep)
        paths = [os.path.abspath(_path_of(name)) for name in names]
        os.environ[_NAMES] = os.pathsep.join(
            [name for name in listed if name and name not in paths] + paths)
        python = os.environ.get("PYTHONPATH", "")
        if _SITE not in python.split(os.pathsep):
            os.environ["PYTHONPATH"] = _SITE + (os.pathsep + python if python else "")


def install_listed():
    """Installs what the environment lists; "auto": what a program has that marks nothing itself."""
    names = [name for name in os.environ.get(_NAMES, "").split(os.pathsep) if name]
    for name in names:
        try:
            _install(_AUTO if name == "auto" else [name], name == "auto")
        except (OSError, ValueError) as error:
            _note("failed", os.path.basename(name), error)
