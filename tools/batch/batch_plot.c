// SPDX-License-Identifier: Apache-2.0
//
// Draws items per second over the batch size, as SVG in a page. Batch sizes
// double from mark to mark; tries that failed stand on the axis.
#include "batch/batch_plot.h"

#include <math.h>

#include "batch/batch_measure.h"

enum { WIDTH = 720, HEIGHT = 360, LEFT = 90, RIGHT = 30, TOP = 30, BELOW = 60 };

typedef struct scale {
  double least, largest;  // log2 of the batches
  double most;            // items a second
} scale;

static int x_of(const scale *plot, size_t batch) {
  double width = plot->largest > plot->least ? plot->largest - plot->least : 1;
  double part = (log2((double)batch) - plot->least) / width;
  return LEFT + (int)lround(part * (WIDTH - LEFT - RIGHT));
}

static int y_of(const scale *plot, double throughput) {
  double part = throughput / plot->most;
  return HEIGHT - BELOW - (int)lround(part * (HEIGHT - TOP - BELOW));
}

// Escapes a text for the inside of an element.
static void put_text(ppi_page *page, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      ppi_page_text(page, "&lt;");
    else if (*text == '&')
      ppi_page_text(page, "&amp;");
    else if ((unsigned char)*text >= ' ')
      ppi_page_bytes(page, text, 1);
  }
}

static void put_axes(const scale *plot, ppi_page *page) {
  ppi_page_format(page,
                  "<path d=\"M%d %d V%d H%d\" fill=\"none\" "
                  "stroke=\"#555\"/>\n",
                  LEFT, TOP, HEIGHT - BELOW, WIDTH - RIGHT);
  for (int i = 0; i <= 4; i++) {
    double value = plot->most * i / 4;
    int y = y_of(plot, value);
    ppi_page_format(page,
                    "<path d=\"M%d %d H%d\" stroke=\"#ddd\"/>"
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                    LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4);
    ppi_page_fixed(page, value, plot->most < 100 ? 2 : 0);
    ppi_page_text(page, "</text>\n");
  }
  ppi_page_format(page,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">batch, "
                  "doubling</text>"
                  "<text x=\"%d\" y=\"18\">items/s</text>\n",
                  (LEFT + WIDTH) / 2, HEIGHT - 8, LEFT - 60);
}

static void put_point(const ppi_batch_try *one, const scale *plot, bool is_knee,
                      ppi_page *page) {
  double rate = one->survived ? ppi_batch_throughput(one) : 0;
  int x = x_of(plot, one->batch), y = y_of(plot, rate);
  const char *color = is_knee         ? "#d95f02"
                      : one->survived ? "#1b6ca8"
                                      : "#b00020";
  ppi_page_format(page,
                  "<circle cx=\"%d\" cy=\"%d\" r=\"5\" fill=\"%s\">"
                  "<title>%zu: ",
                  x, y, color, one->batch);
  put_text(page, one->result);
  ppi_page_text(page, ", ");
  ppi_page_fixed(page, rate, 2);
  ppi_page_text(page, " items/s</title></circle>\n");
  if (is_knee)
    ppi_page_format(page,
                    "<text x=\"%d\" y=\"%d\" fill=\"%s\" "
                    "text-anchor=\"middle\">knee</text>\n",
                    x, y - 10, color);
}

// Puts each batch below its point, if the label before it leaves room.
static void put_labels(const ppi_batch_result *result, const scale *plot,
                       ppi_page *page) {
  const int room = 30;
  int last = -room;
  for (size_t i = 0; i < result->num_tries; i++) {
    int x = x_of(plot, result->tries[i].batch);
    if (x - last < room) continue;
    last = x;
    ppi_page_format(
        page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%zu</text>\n", x,
        HEIGHT - BELOW + 18, result->tries[i].batch);
  }
}

static void put_line(const ppi_batch_result *result, const scale *plot,
                     ppi_page *page) {
  const char *next = "M";
  ppi_page_text(page, "<path fill=\"none\" stroke=\"#1b6ca8\" d=\"");
  for (size_t i = 0; i < result->num_tries; i++) {
    const ppi_batch_try *one = &result->tries[i];
    double rate = one->survived ? ppi_batch_throughput(one) : 0;
    if (rate <= 0) continue;
    ppi_page_format(page, "%s%d %d ", next, x_of(plot, one->batch),
                    y_of(plot, rate));
    next = "L";
  }
  ppi_page_text(page, "\"/>\n");
}

static void put_rows(const ppi_batch_result *result, ppi_page *page) {
  ppi_page_text(page,
                "<table><tr><th>Batch<th>Result<th>Items/s<th>P99 (ms)\n");
  for (size_t i = 0; i < result->num_tries; i++) {
    const ppi_batch_try *one = &result->tries[i];
    ppi_page_format(page, "<tr><td>%zu<td>", one->batch);
    put_text(page, one->result);
    ppi_page_text(page, "<td>");
    if (one->num_runs) ppi_page_fixed(page, ppi_batch_throughput(one), 2);
    ppi_page_text(page, "<td>");
    if (one->num_runs) ppi_page_fixed(page, (double)one->p99_ns / 1e6, 3);
    ppi_page_text(page, "\n");
  }
  ppi_page_text(page, "</table>\n");
}

void ppi_batch_plot(const ppi_batch_result *result, ppi_page *page) {
  ppi_batch_curve curve;
  ppi_batch_curve_of(result->tries, result->num_tries, &curve);
  scale plot = {log2((double)result->tries[0].batch),
                log2((double)result->tries[result->num_tries - 1].batch),
                curve.fastest ? ppi_batch_throughput(curve.fastest) : 1};
  ppi_page_text(
      page,
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
      "<title>Items/s by batch</title>\n"
      "<style>body{font:14px sans-serif;margin:2em}svg{font-size:12px}"
      "td,th{padding:2px 12px;text-align:right}</style>\n<h1>Items/s by "
      "batch</h1>\n<p><code>");
  for (int i = 0; i < result->options->num_inputs; i++) {
    put_text(page, result->options->inputs[i]);
    ppi_page_text(page, " ");
  }
  ppi_page_format(page,
                  "</code></p>\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" "
                  "role=\"img\" aria-label=\"Items a second by batch\">\n",
                  WIDTH, HEIGHT, WIDTH);
  put_axes(&plot, page);
  put_line(result, &plot, page);
  for (size_t i = 0; i < result->num_tries; i++)
    put_point(&result->tries[i], &plot, &result->tries[i] == curve.knee, page);
  put_labels(result, &plot, page);
  ppi_page_text(page, "</svg>\n");
  put_rows(result, page);
  ppi_page_text(page, "</html>\n");
}
