// SPDX-License-Identifier: Apache-2.0
//
// The CPU half of the pipeline: decoding, scaling, choosing boxes, crops.
#include "pipeline_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint8_t to_byte(int value) {
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static float clamp(float value, float low, float high) {
  return value < low ? low : value > high ? high : value;
}

void frame_generate(uint8_t *frame, uint32_t seed) {
  uint32_t noise = seed * 2654435761u + 1;
  int centre_x = FRAME_WIDTH / 4 + (int)(seed % 5) * 120;
  int centre_y = FRAME_HEIGHT / 3 + (int)(seed % 3) * 90;
  for (int y = 0; y < FRAME_HEIGHT; y++) {
    for (int x = 0; x < FRAME_WIDTH; x++) {
      int dx = x - centre_x, dy = y - centre_y;
      int disc = dx * dx + dy * dy < 120 * 120 ? 90 : 0;
      int board = ((x >> 5) ^ (y >> 5)) & 1 ? 40 : 0;
      noise = noise * 1664525u + 1013904223u;
      frame[y * FRAME_WIDTH + x] =
          to_byte(40 + x * 60 / FRAME_WIDTH + disc + board + (noise >> 28));
    }
  }
  uint8_t *chroma = frame + FRAME_WIDTH * FRAME_HEIGHT;
  for (int i = 0; i < FRAME_WIDTH * FRAME_HEIGHT / 2; i++)
    chroma[i] = to_byte(96 + (i / 97 + (int)seed * 31) % 64);
}

// BT.601, studio range, in 8-bit fixed point.
void image_decode(const uint8_t *frame, uint8_t *rgb) {
  const uint8_t *plane_u = frame + FRAME_WIDTH * FRAME_HEIGHT;
  const uint8_t *plane_v = plane_u + FRAME_WIDTH * FRAME_HEIGHT / 4;
  for (int y = 0; y < FRAME_HEIGHT; y++) {
    for (int x = 0; x < FRAME_WIDTH; x++) {
      int chroma = (y / 2) * (FRAME_WIDTH / 2) + x / 2;
      int luma = 298 * (frame[y * FRAME_WIDTH + x] - 16) + 128;
      int u = plane_u[chroma] - 128, v = plane_v[chroma] - 128;
      uint8_t *pixel = rgb + 3 * (y * FRAME_WIDTH + x);
      pixel[0] = to_byte((luma + 409 * v) >> 8);
      pixel[1] = to_byte((luma - 100 * u - 208 * v) >> 8);
      pixel[2] = to_byte((luma + 516 * u) >> 8);
    }
  }
}

// The mean of the source pixels under one target pixel.
static void mean_of(const uint8_t *rgb, int column, int row, float *out) {
  int left = column * FRAME_WIDTH / INPUT_SIZE;
  int right = (column + 1) * FRAME_WIDTH / INPUT_SIZE;
  int top = row * FRAME_HEIGHT / INPUT_SIZE;
  int bottom = (row + 1) * FRAME_HEIGHT / INPUT_SIZE;
  int sum[3] = {0, 0, 0};
  for (int y = top; y < bottom; y++) {
    const uint8_t *pixel = rgb + 3 * (y * FRAME_WIDTH + left);
    for (int x = left; x < right; x++, pixel += 3)
      for (int c = 0; c < 3; c++) sum[c] += pixel[c];
  }
  int num = (right - left) * (bottom - top);
  for (int c = 0; c < 3; c++) out[c] = (float)sum[c] / (float)num;
}

void image_resize(const uint8_t *rgb, float *scaled) {
  for (int row = 0; row < INPUT_SIZE; row++)
    for (int column = 0; column < INPUT_SIZE; column++)
      mean_of(rgb, column, row, scaled + 3 * (row * INPUT_SIZE + column));
}

void image_normalise(float *scaled) {
  static const float mean[3] = {123.675f, 116.28f, 103.53f};
  static const float deviation[3] = {58.395f, 57.12f, 57.375f};
  for (int i = 0; i < INPUT_FLOATS; i++)
    scaled[i] = (scaled[i] - mean[i % 3]) / deviation[i % 3];
}

// One anchor of one cell: score, centre offset (2), log size (2), spare.
static struct box box_of(const float *values, int column, int row, float stride,
                         float anchor) {
  float x = ((float)column + 0.5f + tanhf(values[1])) * stride;
  float y = ((float)row + 0.5f + tanhf(values[2])) * stride;
  float width = anchor * expf(clamp(values[3], -1, 1));
  float height = anchor * expf(clamp(values[4], -1, 1));
  struct box result = {values[0], clamp(x - width / 2, 0, INPUT_SIZE - 1),
                       clamp(y - height / 2, 0, INPUT_SIZE - 1),
                       clamp(x + width / 2, 0, INPUT_SIZE - 1),
                       clamp(y + height / 2, 0, INPUT_SIZE - 1)};
  return result;
}

static int by_score(const void *left, const void *right) {
  float a = ((const struct box *)left)->score,
        b = ((const struct box *)right)->score;
  return a < b ? 1 : a > b ? -1 : 0;
}

// Keeps the heap's root the worst of the best so far.
static void sift_down(struct box *heap, int num, int at) {
  for (;;) {
    int child = 2 * at + 1;
    if (child >= num) return;
    if (child + 1 < num && heap[child + 1].score < heap[child].score) child++;
    if (heap[at].score <= heap[child].score) return;
    struct box moved = heap[at];
    heap[at] = heap[child];
    heap[child] = moved;
    at = child;
  }
}

void boxes_rank(const float *detect, int grid_size, int num_anchors,
                struct box *candidates) {
  float stride = (float)INPUT_SIZE / (float)grid_size;
  for (int i = 0; i < NUM_CANDIDATES; i++)
    candidates[i] = (struct box){-INFINITY, 0, 0, 0, 0};
  for (int cell = 0; cell < grid_size * grid_size; cell++) {
    for (int a = 0; a < num_anchors; a++) {
      struct box found =
          box_of(detect + (cell * num_anchors + a) * 6, cell % grid_size,
                 cell / grid_size, stride, stride * (float)(2 + a));
      if (!(found.score > candidates[0].score)) continue;
      candidates[0] = found;
      sift_down(candidates, NUM_CANDIDATES, 0);
    }
  }
  qsort(candidates, NUM_CANDIDATES, sizeof(struct box), by_score);
}

static float overlap(const struct box *a, const struct box *b) {
  float width = fminf(a->right, b->right) - fmaxf(a->left, b->left);
  float height = fminf(a->bottom, b->bottom) - fmaxf(a->top, b->top);
  if (width <= 0 || height <= 0) return 0;
  float both = width * height;
  float area_a = (a->right - a->left) * (a->bottom - a->top);
  float area_b = (b->right - b->left) * (b->bottom - b->top);
  return both / (area_a + area_b - both);
}

int boxes_suppress(const struct box *candidates, struct box *kept) {
  int num_kept = 0;
  for (int i = 0; i < NUM_CANDIDATES && num_kept < MAX_BOXES; i++) {
    int j = 0;
    while (j < num_kept && overlap(&candidates[i], &kept[j]) < 0.45f) j++;
    if (j == num_kept) kept[num_kept++] = candidates[i];
  }
  return num_kept;
}

static void sample(const float *input, float x, float y, float *out) {
  int column = (int)x, row = (int)y;
  int right = column + 1 < INPUT_SIZE ? column + 1 : column;
  int below = row + 1 < INPUT_SIZE ? row + 1 : row;
  float fx = x - (float)column, fy = y - (float)row;
  for (int c = 0; c < 3; c++) {
    float top = input[3 * (row * INPUT_SIZE + column) + c] * (1 - fx) +
                input[3 * (row * INPUT_SIZE + right) + c] * fx;
    float bottom = input[3 * (below * INPUT_SIZE + column) + c] * (1 - fx) +
                   input[3 * (below * INPUT_SIZE + right) + c] * fx;
    out[c] = top * (1 - fy) + bottom * fy;
  }
}

void boxes_crop(const float *input, const struct box *boxes, int num_boxes,
                float *crops) {
  memset(crops, 0, sizeof(float) * CROP_FLOATS * MAX_BOXES);
  for (int i = 0; i < num_boxes; i++) {
    const struct box *from = &boxes[i];
    for (int p = 0; p < CROP_SIZE * CROP_SIZE; p++) {
      float u = ((float)(p % CROP_SIZE) + 0.5f) / CROP_SIZE;
      float v = ((float)(p / CROP_SIZE) + 0.5f) / CROP_SIZE;
      sample(input, from->left + u * (from->right - from->left),
             from->top + v * (from->bottom - from->top),
             crops + i * CROP_FLOATS + p * 3);
    }
  }
}

int classes_read(const float *logits, int num_classes, float *out_probability) {
  int best = 0;
  float sum = 0;
  for (int i = 1; i < num_classes; i++)
    if (logits[i] > logits[best]) best = i;
  for (int i = 0; i < num_classes; i++) sum += expf(logits[i] - logits[best]);
  *out_probability = 1.0f / sum;
  return best;
}
