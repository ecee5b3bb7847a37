/* SPDX-License-Identifier: MIT */
/* A region is taken apart from its ends: the name in front, the hits behind, then the two places. */
#include "programs/region_spec.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

const char region_spec_usage[] =
	"a region is [NAME=]PLACE[..PLACE][#FIRST[-[LAST]]]; a place is FUNCTION, 0xADDRESS, FILE:LINE, a marker's "
	"name,\nssc:NUMBER or itt:TASK, with LIBRARY: before it if need be; for example: solve, "
	"inner=mesh.c:40..mesh.c:52, "
	"libz.so.1:deflate#2-10";

static size_t
name_length(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	size_t length = strspn(text, letters);

	return text[length] == '=' && strncmp(text, "operator", length) != 0 ? length : 0;
}

/* As many digits fit into any long. */
#define MAX_DIGITS 18

/* Takes "#FIRST", "#FIRST-" or "#FIRST-LAST" off the end of the text. */
static int
take_hits(char *text, struct region *region, struct rot_error *err)
{
	static const char digits[] = "0123456789";
	char *hash = strrchr(text, '#'), *dash;
	size_t nr_first, nr_last;

	if (!hash || strchr(hash, '}'))
		return 0;
	nr_first = strspn(hash + 1, digits);
	dash = hash + 1 + nr_first;
	nr_last = *dash == '-' ? strspn(dash + 1, digits) : 0;
	if (nr_first == 0 || nr_first > MAX_DIGITS || nr_last > MAX_DIGITS ||
	    (*dash && (*dash != '-' || dash[1 + nr_last])))
		return rot_error_set(err, 0, "'%s' is no range of hits", hash);
	region->first_hit = strtoll(hash + 1, NULL, 10);
	region->last_hit = nr_last ? strtoll(dash + 1, NULL, 10) : *dash ? 0 : region->first_hit;
	if (region->first_hit < 1 || (nr_last && region->last_hit < region->first_hit))
		return rot_error_set(err, 0, "'%s': hits count from 1, and the last is not before the first", hash);
	*hash = '\0';
	return 0;
}

/* The ".." between two places, or NULL. */
static char *
find_separator(char *text)
{
	for (char *at = strstr(text, ".."); at; at = strstr(at + 1, ".."))
		if (at[2] != '/' && (at == text || at[-1] != '/'))
			return at;
	return NULL;
}

static int
check_place(const char *place, const char *which, struct rot_error *err)
{
	if (!*place)
		return rot_error_set(err, 0, "the place where it %s is missing", which);
	if (place[0] == ':' || place[strlen(place) - 1] == ':')
		return rot_error_set(err, 0, "'%s': something is missing beside the ':'", place);
	return 0;
}

static int
parse(const char *text, struct region *region, struct rot_error *err)
{
	size_t length = name_length(text);
	autofree char *name = rot_strndup(text, length);
	char *begin = rot_strdup(text + length + (length > 0)), *end;
	int rc = -1;

	if (text[0] == '=') {
		rot_error_set(err, 0, "the name before '=' is missing");
		goto out;
	}
	if (take_hits(begin, region, err) < 0)
		goto out;
	rot_string_set(&region->name, length ? name : begin);
	end = find_separator(begin);
	if (end) {
		*end = '\0';
		end += 2;
	}
	if (check_place(begin, "begins", err) < 0 || (end && check_place(end, "ends", err) < 0))
		goto out;
	rot_string_set(&region->begin, begin);
	rot_string_set(&region->end, end ? end : "");
	rc = 0;
out:
	free(begin);
	return rc;
}

struct region *
region_spec_parse(const char *text, struct rot_error *err)
{
	struct region *region = region_new();

	if (parse(text, region, err) == 0)
		return region;
	rot_error_prefix(err, "region '%s'", text);
	rot_error_hint(err, "%s", region_spec_usage);
	region_delete(region);
	return NULL;
}
