# SPDX-License-Identifier: Apache-2.0
"""The report of a log, by pprof-report."""
import ctypes
import os

from ._library import Error, functions as _c, library_path

_LONGEST_PATH = 4096


class Report(str):
    """A text; a notebook shows it, or the page if one was written."""
    page = None  # its path

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        import html
        if self.page is None:
            return "<pre>%s</pre>" % html.escape(self)
        with open(self.page, encoding="utf-8") as file:
            return ('<iframe sandbox="allow-scripts" width="100%%" height="800" srcdoc="%s">'
                    "</iframe>" % html.escape(file.read()))


def _last_log():
    path = ctypes.create_string_buffer(_LONGEST_PATH)
    _c.last_log_(path, len(path))
    if not path.value:
        raise Error("there is no log to report: nothing was stopped that writes one")
    return os.fsdecode(path.value)


def _tool():
    """The tool of a wheel, of an installation beside its library, or of PATH."""
    package = os.path.dirname(os.path.realpath(__file__))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(package)))
    beside = os.path.dirname(os.path.dirname(os.path.realpath(library_path() or package)))
    for folder in (package, prefix, beside):
        path = os.path.join(folder, "bin", "pprof-report")
        if os.access(path, os.X_OK):
            return path
    import shutil
    path = shutil.which("pprof-report")
    if not path:
        raise Error("pprof-report is neither beside the library nor in PATH")
    return path


def _run(*arguments, **how):
    import subprocess  # most programs that mark never need it
    done = subprocess.run([_tool(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, encoding="utf-8", errors="replace", **how)
    return done.stdout, done.stderr.strip(), done.returncode


def report(log=None, *options, html=None):
    """What `pprof-report OPTIONS LOG` prints, as a text: which stage has the time, and why. None:
    the log of the session that `stop` has ended last in this process. `html` names a file that
    gets the report as a page; it replaces what is there, and a notebook shows it.

    Raises Error in pprof-report's words."""
    # "./": a name may look like an option or a verb.
    log = os.path.join(".", _last_log() if log is None else os.fsdecode(log))
    text, said, code = _run(*options, log)
    if not text:
        raise Error(said, code)
    made = Report(text)
    if html is not None:
        page = os.path.join(".", os.fspath(html))
        _, said, code = _run("html", "--force", "--output", page, log)
        if not os.path.exists(page):
            raise Error(said, code)
        made.page = page
    return made
