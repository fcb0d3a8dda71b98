# SPDX-License-Identifier: Apache-2.0
"""Others' viewers, which are web pages, in headless Chromium: what they have understood of a file."""
import contextlib
import http.server
import json
import os
import sys
import threading

import common

sys.path.insert(0, os.path.join(common.HERE, "..", "page"))
import browser  # noqa: E402  (found by the line above)

FILE = "opened"  # what the page knows the file as
# A page that does not get there fails, in so many milliseconds.
UNTIL = """const until = told => new Promise((done, failed) => {
  const look = () => { const found = told(); found ? done(found) : setTimeout(look, 20); };
  setTimeout(() => failed(new Error(`not seen: ${told}`)), 60000);
  look(); });"""


@contextlib.contextmanager
def page_of(folder, path, fragment=""):
    """The page of a folder, opened from a server that has the file `path`, too."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, asked):
            return path if asked.strip("/") == FILE else super().translate_path(asked)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *told: Handler(*told, directory=folder))
    server.handle_error = lambda *_: None  # the page is closed while it is still asking
    threading.Thread(target=server.serve_forever, daemon=True).start()
    opened = browser.Browser()
    try:
        yield opened.visit(f"http://127.0.0.1:{server.server_port}/index.html{fragment}")
    finally:
        opened.close()
        server.shutdown()
        server.server_close()


def asked(page, body):
    return json.loads(page.js("(async () => {" + UNTIL + body + "})()"))


def perfetto(folder, path, queries):
    """The rows that Perfetto's interface answers to each query of the trace that it has opened."""
    with page_of(folder, path) as page:
        return asked(page, f"""
            const queries = {json.dumps(queries)}, answers = [];
            await until(() => window.app && window.app.openTraceFromUrl);
            window.app.openTraceFromUrl(location.origin + '/{FILE}');
            const engine = await until(() => window.app.trace && window.app.trace.engine);
            for (const query of queries) {{
              const answer = await engine.query(query), names = answer.columns(), rows = [];
              for (const row = answer.iter({{}}); row.valid(); row.next())
                rows.push(names.map(name => row.get(name)));
              answers.push(rows);
            }}
            return JSON.stringify(answers, (_, v) => typeof v === 'bigint' ? Number(v) : v);""")


def converted(folder, version, path):
    """What Perfetto's own converter makes of a trace, as JSON."""
    with page_of(folder, path) as page:
        return page.js("(async () => {" + UNTIL + f"""
            const trace = new File([await (await fetch('/{FILE}')).blob()], 'trace');
            const worker = new Worker('/{version}/traceconv_bundle.js');
            let made;
            worker.onmessage = told => {{ if (told.data.kind === 'downloadFile') made = told.data; }};
            worker.postMessage({{kind: 'ConvertTraceAndDownload', trace, format: 'json'}});
            await until(() => made);
            return new TextDecoder().decode(made.buffer);
          }})()""")


def speedscope(folder, path):
    """What speedscope saves of the file that it has opened."""
    with page_of(folder, path, f"#profileURL=/{FILE}") as page:
        return asked(page, """
            let saved;
            URL.createObjectURL = blob => { saved = blob; return '#'; };
            const of_text = () => [...document.querySelectorAll('div')].find(
              div => div.textContent.endsWith('Export') && div.children.length === 1);
            (await until(of_text)).click();
            return (await until(() => saved)).text();""")
