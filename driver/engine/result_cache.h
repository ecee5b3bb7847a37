/* SPDX-License-Identifier: MIT */
/*
 * The result cache: one file per description hash, CACHE/results/HH/HASH.xml. The first line is a comment with the
 * format's version and the SHA-256 of all that follows; what follows is the MeasurementResult in canonical XML. Files
 * appear complete or not at all. Nothing here is fatal: what cannot be read is absent, what cannot be written is
 * measured again next time, and both are said once.
 */
#pragma once

#include <stdbool.h>

#include "entities.h"

struct result_cache;

/* folder: of the cache. Both are borrowed. */
struct result_cache *result_cache_new(const char *folder, const struct rot_registry *registry);
void result_cache_delete(struct result_cache *cache);

/* The stored result, owned by the caller (rot_graph_delete), or NULL. A damaged file is set aside as HASH.xml.damaged.
 */
struct measurement_result *result_cache_load(struct result_cache *cache, const char *description_hash);

/* Stores under the result's descriptionHash, replacing what is there. */
void result_cache_store(struct result_cache *cache, const struct measurement_result *result);

/*
 * Waits until no other rot builds or measures with this cache folder. Returns a descriptor for cache_unlock; -1 when
 * locking is not possible here (go on without), -2 when the user interrupted.
 */
int cache_lock(const char *folder);
void cache_unlock(int lock);

/* Does another rot hold it now? */
bool cache_is_locked(const char *folder);
