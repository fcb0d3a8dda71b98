// SPDX-License-Identifier: Apache-2.0
//
// The CPU half of the pipeline: frames, decoding, scaling, choosing boxes,
// cutting crops, and reading the classifier's answer. Pure functions.
#ifndef EXAMPLES_PIPELINE_IMAGE_H_
#define EXAMPLES_PIPELINE_IMAGE_H_

#include <stddef.h>
#include <stdint.h>

enum {
  FRAME_WIDTH = 1280,
  FRAME_HEIGHT = 720,
  FRAME_BYTES = FRAME_WIDTH * FRAME_HEIGHT * 3 / 2,  // I420
  RGB_BYTES = FRAME_WIDTH * FRAME_HEIGHT * 3,
  INPUT_SIZE = 128,
  INPUT_FLOATS = INPUT_SIZE * INPUT_SIZE * 3,
  CROP_SIZE = 16,
  CROP_FLOATS = CROP_SIZE * CROP_SIZE * 3,
  MAX_BOXES = 16,
  NUM_CANDIDATES = 256
};

struct box {
  float score, left, top, right, bottom;
};

// frame_generate fills an I420 frame with a scene that depends on `seed`.
void frame_generate(uint8_t *frame, uint32_t seed);
void image_decode(const uint8_t *frame, uint8_t *rgb);
void image_resize(const uint8_t *rgb, float *scaled);
void image_normalise(float *scaled);

// boxes_rank takes the detector's output and writes the NUM_CANDIDATES boxes
// of the highest score, best first.
void boxes_rank(const float *detect, int grid_size, int num_anchors,
                struct box *candidates);
// boxes_suppress keeps at most MAX_BOXES candidates that overlap none better.
int boxes_suppress(const struct box *candidates, struct box *kept);
void boxes_crop(const float *input, const struct box *boxes, int num_boxes,
                float *crops);

// classes_read turns a row of logits into its likeliest class.
int classes_read(const float *logits, int num_classes, float *out_probability);

#endif  // EXAMPLES_PIPELINE_IMAGE_H_
