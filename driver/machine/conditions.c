/* SPDX-License-Identifier: MIT */
#include "machine/conditions.h"

#include "base/json.h"
#include "config.h"
#include "memory.h"

/* Sizes of caches are not among them: where they are measured, they vary. */
static const struct {
	const char *key, *words;
} conditions[CONDITIONS_NR] = {
	{"microcode", "microcode"},
	{"kernel", "kernel"},
	{"governor", "frequency governor"},
	{"cpus", "number of CPUs"},
};

json_t *
conditions_json(const struct machine *machine)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "microcode", json_text(machine->microcode), "kernel",
			 json_text(machine->kernel_release), "governor", json_text(machine->governor), "cpus",
			 json_number((double)machine->online_cpus.nr), "llcBytes",
			 json_number((double)machine->llc_bytes), "rot", json_text(PACKAGE_VERSION));
}

bool
conditions_are_same(const json_t *then, const json_t *now)
{
	for (size_t i = 0; i < CONDITIONS_NR; i++)
		if (!json_equal(json_object_get(then, conditions[i].key), json_object_get(now, conditions[i].key)))
			return false;
	return true;
}

bool
conditions_are_old(time_t then)
{
	return time(NULL) - then > (time_t)CONDITIONS_MAX_AGE_DAYS * 86400;
}

/* A text or whole number for people. Fresh memory. */
static char *
fact_text(const json_t *fact)
{
	if (json_is_integer(fact))
		return rot_format("%lld", (long long)json_integer_value(fact));
	return rot_strdup(json_string_length(fact) ? json_string_value(fact) : "unknown");
}

bool
conditions_append_change(char **text, size_t i, const json_t *then, const json_t *now)
{
	const json_t *fact = json_object_get(then, conditions[i].key),
		     *fact_now = json_object_get(now, conditions[i].key);
	autofree char *before = fact_text(fact), *after = fact_text(fact_now);

	if (json_equal(fact, fact_now))
		return false;
	rot_append(text, "%s%s %s, now %s", (*text)[0] ? ", " : "", conditions[i].words, before, after);
	return true;
}

void
conditions_append_age(char **text, const char *prefix, time_t then)
{
	if (conditions_are_old(then))
		rot_append(text, "%s%s%lld days old", (*text)[0] ? ", " : "", prefix,
			   (long long)(time(NULL) - then) / 86400);
}
