// SPDX-License-Identifier: Apache-2.0
//
// Learns from names which of their shapes fold (fold.h). One writer at a time,
// under its owner's lock; a look-up takes no lock.
#pragma once

#include "event/fold.h"

PPROF_BEGIN_C_

// A shape folds when more names than this have it. A name has a shape without
// its free numbers. That shape, or a name without free numbers, has a wider
// shape without any digits. So `layer0` to `layer31` keep their names; with a
// thirty-third they are `layer{}`; `ResNet50 step 1` to `33` are `ResNet50 step
// {}`.
#define PPI_SHAPE_MEMBERS 32u
#define PPI_MAX_FOLDS 4096u

typedef struct ppi_shapes ppi_shapes;

// ppi_shapes_create makes room for names of numbers 1 to `max`; NULL: no
// memory. Its pages are made as names are added.
ppi_shapes *ppi_shapes_create(uint32_t max);
void ppi_shapes_destroy(ppi_shapes *shapes);
// ppi_shapes_set_members has shapes of free numbers fold from now on when more
// than `num` names have them, instead of PPI_SHAPE_MEMBERS; shapes of the
// digits of words do not change.
void ppi_shapes_set_members(ppi_shapes *shapes, uint32_t num);

// ppi_shapes_site answers the site of a shape that folds, else 0.
uint32_t ppi_shapes_site(const ppi_shapes *shapes, const ppi_fold *fold,
                         uint32_t category);
// ppi_shapes_folded answers the site of a name by its widest shape that folds,
// which it puts in *out. 0: none.
uint32_t ppi_shapes_folded(const ppi_shapes *shapes, const char *name,
                           size_t len, uint32_t category, ppi_fold *out);

// ppi_shapes_learn takes a name that has come for the first time. It answers
// the shape that is to fold now, with its text in *out, or 0. `forced` (NULL:
// none) answers whether a shape folds from its first name on.
typedef bool (*ppi_shape_forced)(const void *user, const char *text);
uint32_t ppi_shapes_learn(ppi_shapes *shapes, uint32_t site, const char *name,
                          size_t len, uint32_t category,
                          ppi_shape_forced forced, const void *user,
                          ppi_fold *out);
// ppi_shapes_fold has a shape fold into `site`, with the name `text` for as
// long as there are shapes; `member` is called for each name that it had.
typedef void (*ppi_shape_member)(void *user, uint32_t member, uint32_t site);
void ppi_shapes_fold(ppi_shapes *shapes, uint32_t shape, uint32_t site,
                     const char *text, ppi_shape_member member, void *user);
// ppi_shapes_leave forgets a name that was learned.
void ppi_shapes_leave(ppi_shapes *shapes, uint32_t site, const char *name,
                      size_t len, uint32_t category);

PPROF_END_C_
