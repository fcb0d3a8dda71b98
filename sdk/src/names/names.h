// SPDX-License-Identifier: Apache-2.0
//
// Names: process-wide categories, and per session the definitions (sites,
// categories, lanes, devices, streams, texts) in the spool's area of names.
// Looking a name up is lock-free; adding one takes a mutex, once per name.
#pragma once

#include "names/glob.h"
#include "names/names_area.h"
#include "names/site_filter.h"

PPROF_BEGIN_C_

#define PPI_MAX_NAME ((size_t)4096)  // bytes of a name that are kept

typedef struct ppi_names ppi_names;

pprof_status ppi_names_create(ppi_spool *spool, ppi_names **out);
void ppi_names_destroy(ppi_names *names);

// ppi_names_site answers the id of the site with this content; the id of
// `<other>` (counted) when there are too many, 0 when not even that has room.
uint32_t ppi_names_site(ppi_names *names, const char *name, uint32_t category,
                        uint32_t color);
// ppi_names_intern is ppi_names_site under the mutex; *out_new: it was added.
uint32_t ppi_names_intern(ppi_names *names, const char *name, uint32_t category,
                          uint32_t color, bool *out_new);
// ppi_names_tell_again has the collector define a site once more. The caller
// has the mutex.
void ppi_names_tell_again(ppi_names *names, uint32_t id);
// ppi_names_find answers 0 where ppi_names_site would add the name. `hash` is
// ppi_names_hash of it (name_hash.h).
uint32_t ppi_names_find(const ppi_names *names, const char *name,
                        size_t name_len, uint32_t category, uint64_t hash);
// ppi_names_stay lets a site keep its id for the whole session: a site that is
// more than a run-time name, or has an id that another part keeps.
void ppi_names_stay(ppi_names *names, uint32_t id);
// ppi_names_text_of answers the name of a site as the program gave it.
const char *ppi_names_text_of(const ppi_names *names, uint32_t id);
// ppi_names_site_record answers everything known about a site, whichever thread
// added it. Its name may be a hash.
const ppi_definition_record *ppi_names_site_record(ppi_names *names,
                                                   uint32_t id);
// ppi_names_choose puts a choice in force: which sites are wanted, and, where
// it comes before the first name, which names are stored as hashes.
pprof_status ppi_names_choose(ppi_names *names, const ppi_choice *choice);
// ppi_names_watch adds a name with sites to watch (capture.h), 16 of them
// (PPI_SCHEDULE_MAX_RULES); NULL forgets all. Both take effect when a site is
// next decided.
void ppi_names_watch(ppi_names *names, const char *name);
// ppi_names_watched answers the watched name that a site has, as the program
// gave it; NULL: none. It lives as long as `names`.
const char *ppi_names_watched(ppi_names *names, uint32_t site);
// ppi_names_excludes: is there a choice that leaves sites out?
bool ppi_names_excludes(const ppi_names *names);
// ppi_names_verdict answers PPI_SITE_IS_... bits.
uint32_t ppi_names_verdict(ppi_names *names, uint32_t site);
// ppi_names_define appends any other definition; false when there is no room.
bool ppi_names_define(ppi_names *names, const pprof_definition *definition);
// ppi_names_shown answers the name that may be stored of a definition: its own,
// or the hash that is put into `hash`.
const char *ppi_names_shown(const ppi_names *names,
                            const pprof_definition *definition,
                            char hash[PPI_NAME_HASH]);
bool ppi_names_text(ppi_names *names, uint32_t kind, const char *key,
                    const char *value);

// ppi_names_again answers definitions that took the place of others behind a
// finished walk: *cursor starts at 0; NULL: no further one yet.
// ppi_names_num_again is the bound of *cursor. A walk up to that bound, after
// it was read, has all of their categories. Collector.
uint64_t ppi_names_num_again(const ppi_names *names);
const ppi_definition_record *ppi_names_again(const ppi_names *names,
                                             uint64_t *cursor);

// ppi_names_kept answers how many bytes of a name are kept.
size_t ppi_names_kept(const char *name);
const char *ppi_category_name(uint32_t category);
// ppi_category_find is pprof_category_register for a name that people wrote:
// "user_defined" is UserDefined. ppi_same_words compares in the same way.
uint32_t ppi_category_find(const char *name);
bool ppi_same_words(const char *a, const char *b);

// NVTX domains are process-wide, as categories are. ppi_domain_number answers
// the one number, never 0, of the domain with this name; 0: there are too many.
#define PPI_MAX_DOMAINS 1024u
uint32_t ppi_domain_number(const char *name);
const char *ppi_domain_name(uint32_t number);

// A thread that is not in the child may have locked the categories.
void ppi_names_in_forked_child(void);

PPROF_END_C_
