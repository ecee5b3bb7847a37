/* SPDX-License-Identifier: MIT */
/* Profiles as files: whose they are, what changed since, and merging. */
#include "roof/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/paths.h"
#include "entities.h"
#include "machine/conditions.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "roof/peak.h"
#include "rot.h"

/* ---- merging ---- */

/* Both are the same line of the roof, in whatever mode it was seen. */
static bool
is_same_peak(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"kind",   "name",           "operation", "border",
					   "access", "instructionSet", "threads"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
			return false;
	return true;
}

/* The better is larger, also of latencies. */
struct reached {
	double value, low, high;
};

static struct reached
reached_by(const json_t *peak)
{
	const json_t *estimate = json_object_get(peak, "perCycle");
	struct reached r;

	if (isnan(json_number_at(estimate, "value")))
		estimate = json_object_get(peak, "perSecond");
	r = (struct reached){json_number_at(estimate, "value"), json_number_at(estimate, "low"),
			     json_number_at(estimate, "high")};
	r.low = isnan(r.low) ? r.value : r.low;
	r.high = isnan(r.high) ? r.value : r.high;
	return strcmp(json_text_at(peak, "kind"), "latency") == 0 ? (struct reached){-r.value, -r.high, -r.low} : r;
}

/* The best of the peak's modes; NaN if none has a value. */
static struct reached
best_of(const json_t *peaks, const json_t *peak)
{
	struct reached best = {NAN, NAN, NAN};
	size_t i;
	json_t *other;

	json_array_foreach(peaks, i, other) {
		struct reached r = reached_by(other);

		if (is_same_peak(other, peak) && !(r.value <= best.value) && !isnan(r.value))
			best = r;
	}
	return best;
}

static bool
is_of_conditions(const json_t *peak, const json_t *conditions)
{
	json_int_t found_at = json_integer_value(json_object_get(peak, "foundAt"));

	return !conditions_are_old((time_t)found_at) &&
	       conditions_are_same(json_object_get(peak, "foundOn"), conditions);
}

/* More than a processor can do is a mistake, and not to be kept. What is told of memory may be the mistake. */
static bool
is_above_limit(const json_t *peak)
{
	return strcmp(json_text_at(peak, "limitSource"), LIMIT_OF_MEMORY) != 0 &&
	       json_number_at(json_object_get(peak, "perCycle"), "value") >
		       (1 + LIMIT_EXCEEDED) * json_number_at(peak, "limitPerCycle");
}

/* Is there one of the peak like that? conditions NULL: any. */
static bool
has(const json_t *peaks, const json_t *peak, bool is_full, const json_t *conditions)
{
	size_t i;
	json_t *other;

	json_array_foreach(peaks, i, other) {
		if (is_same_peak(other, peak) && (!is_full || strcmp(json_text_at(other, "search"), "quick") != 0) &&
		    (!conditions || (is_of_conditions(other, conditions) && !is_above_limit(other))))
			return true;
	}
	return false;
}

/*
 * May what was found now under these conditions replace what is kept of that peak? What was reached once can be
 * reached: a search that comes to clearly less was disturbed.
 */
static bool
may_replace(const json_t *found, const json_t *kept, const json_t *peak, const json_t *conditions)
{
	struct reached now = best_of(found, peak), before = best_of(kept, peak);

	if (!has(kept, peak, false, conditions))
		return true;
	if (before.low > now.high)
		return false;
	return has(found, peak, true, NULL) || !has(kept, peak, true, conditions) || now.value > before.value;
}

static void
append_same(json_t *all, const json_t *peaks, const json_t *peak)
{
	size_t i;
	json_t *other;

	json_array_foreach(peaks, i, other) {
		if (is_same_peak(other, peak))
			json_array_append(all, other);
	}
}

/*
 * The peaks as they will be in the file: new ones in the place of those that they replace, or at the end; those that
 * were not looked for stay. conditions: the facts that found was found under. New reference.
 */
static json_t *
profile_merge(const json_t *found, const json_t *kept, const json_t *conditions)
{
	const json_t *const both[] = {kept, found};
	json_t *all = json_array(), *peak;
	size_t i;

	for (size_t k = 0; k < 2; k++) {
		json_array_foreach(both[k], i, peak) {
			bool is_new = has(found, peak, false, NULL) && may_replace(found, kept, peak, conditions);

			if (!has(all, peak, false, NULL))
				append_same(all, is_new || k == 1 ? found : kept, peak);
		}
	}
	return all;
}

static const char schema[] = "rot.profile/1";
static const char schema_family[] = "rot.profile/";

#define ADVICE "'rot peaks' finds them anew"

/* ---- where ---- */

static char *
profiles_folder(const struct rot *rot)
{
	return rot_format("%s/profiles", rot->paths->user);
}

/* "AuthenticAMD-26-2-1-KVM.json": so that a home folder shared by several machines holds one for each kind. */
static struct profile_state
state_of(struct pool *pool, const struct rot *rot)
{
	autofree char *folder = profiles_folder(rot), *name = machine_file_name(rot->machine);

	return (struct profile_state){.path = pool_format(pool, "%s/%s.json", folder, name), .message = ""};
}

/* ---- whose ---- */

/* ---- files ---- */

static void
put_aside(const char *path, const char *ending)
{
	autofree char *to = rot_format("%s%s", path, ending);

	rename(path, to);
}

/* The profile of a file; NULL: it is none, with the reason. */
static json_t *
parse(struct pool *pool, const char *bytes, size_t length, const char **reason)
{
	json_error_t why;
	json_t *json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &why);
	const char *found = json_text_at(json, "schema");

	*reason = NULL;
	if (!json)
		*reason = pool_format(pool, "line %d: %s", why.line, why.text);
	else if (strncmp(found, schema_family, strlen(schema_family)) != 0)
		*reason = "it does not say that it is a profile";
	else if (strcmp(found, schema) == 0 && !json_is_array(json_object_get(json, "peaks")))
		*reason = "it has no \"peaks\"";
	if (!*reason)
		return json;
	json_decref(json);
	return NULL;
}

static void
say(struct profile_state *state, enum profile_match match, const char *message)
{
	state->message = message;
	state->match = match;
}

static void
put_damaged_aside(struct pool *pool, struct profile_state *state, const char *reason)
{
	put_aside(state->path, ".damaged");
	say(state, PROFILE_NONE,
	    pool_format(pool, "the profile '%s' is damaged (%s) and was put aside as '%s.damaged'", state->path, reason,
			state->path));
}

/* The machine's file, damaged ones put aside. NULL: nothing to use, see state; -1 in *rc: cannot be read. */
static json_t *
read_file(struct pool *pool, struct profile_state *state, int *rc, struct rot_error *err)
{
	size_t length;
	struct rot_error why = {0};
	autofree char *bytes = file_read(state->path, &length, &why);
	const char *reason = why.text;
	json_t *json;

	*rc = 0;
	if (!bytes && !file_is_unreadable(errno)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return NULL;
		if (err)
			*err = why;
		*rc = -1;
		return NULL;
	}
	json = bytes ? parse(pool, bytes, length, &reason) : NULL;
	if (json)
		return json;
	put_damaged_aside(pool, state, reason);
	return NULL;
}

/* ---- loading ---- */

static int
read_peaks(const json_t *json, struct peak_list *list)
{
	const json_t *peaks = json_object_get(json, "peaks");
	size_t i;
	json_t *peak;

	json_array_foreach(peaks, i, peak) {
		list->peaks = pool_grow(&list->pool, list->peaks, list->nr, sizeof(*list->peaks));
		if (peak_of_json(&list->pool, peak, &list->peaks[list->nr++]) < 0)
			return -1;
	}
	return 0;
}

/* The changes since the peaks were found; "" if there is none. Fresh memory. */
static char *
changes(const json_t *json, const struct machine *machine)
{
	const json_t *peaks = json_object_get(json, "peaks");
	json_auto_t *now = conditions_json(machine);
	json_t *peak;
	char *text = rot_strdup("");
	json_int_t oldest = (json_int_t)time(NULL);
	size_t i;

	/* The first peak whose condition is another one now says it for all. */
	for (size_t condition = 0; condition < CONDITIONS_NR; condition++) {
		json_array_foreach(peaks, i, peak) {
			if (conditions_append_change(&text, condition, json_object_get(peak, "foundOn"), now))
				break;
		}
	}
	json_array_foreach(peaks, i, peak) {
		json_int_t found_at = json_integer_value(json_object_get(peak, "foundAt"));

		oldest = found_at < oldest ? found_at : oldest;
	}
	conditions_append_age(&text, "up to ", (time_t)oldest);
	return text;
}

static bool
is_foreign(const json_t *json, const struct machine *machine, char **whose)
{
	autograph struct machine *found = machine_new();
	bool is_same;

	json_entity_fill(found, json_object_get(json, "machine"));
	is_same = strcmp(found->cpu_vendor, machine->cpu_vendor) == 0 &&
		  strcmp(found->cpu_name, machine->cpu_name) == 0 &&
		  strcmp(found->hypervisor, machine->hypervisor) == 0 && found->cpu_family == machine->cpu_family &&
		  found->cpu_model == machine->cpu_model && found->cpu_stepping == machine->cpu_stepping;
	*whose = is_same ? NULL : machine_caption(found);
	return !is_same;
}

static void
use(const struct rot *rot, const json_t *json, struct peak_list *list, struct profile_state *state)
{
	autofree char *whose = NULL, *changed = NULL;
	struct pool *pool = &list->pool;

	if (strcmp(json_text_at(json, "schema"), schema) != 0) {
		say(state, PROFILE_NONE,
		    pool_format(pool, "the profile '%s' is of a later rot ('%s') and is not used", state->path,
				json_text_at(json, "schema")));
		return;
	}
	if (is_foreign(json, rot->machine, &whose)) {
		autofree char *here = machine_caption(rot->machine);

		say(state, PROFILE_FOREIGN,
		    pool_format(pool, "the profile '%s' is of another machine (%s; this is %s) and is not used",
				state->path, whose, here));
		return;
	}
	if (read_peaks(json, list) < 0) {
		list->nr = 0;
		put_damaged_aside(pool, state, "a peak is none");
		return;
	}
	changed = changes(json, rot->machine);
	say(state, changed[0] ? PROFILE_STALE : PROFILE_FRESH,
	    changed[0] ? pool_format(pool, "the peaks of this machine were found under other conditions: %s; " ADVICE,
				     changed)
		       : "");
}

/* Without a profile of its own: are there those of others? They may have been brought here to be used. */
static void
look_for_others(struct pool *pool, const struct rot *rot, struct profile_state *state)
{
	autofree char *folder = profiles_folder(rot), **names = folder_list(folder);
	autofree char *others = rot_strdup("");

	for (size_t i = 0; names[i]; i++)
		if (path_ends_in(names[i], ".json"))
			rot_append(&others, "%s%.*s", others[0] ? ", " : "", (int)strlen(names[i]) - 5, names[i]);
	if (others[0] && !state->message[0])
		say(state, PROFILE_FOREIGN,
		    pool_format(pool, "the profiles in '%s' are of other machines (%s) and are not used", folder,
				others));
}

int
profile_load(struct rot *rot, struct peak_list *list, struct profile_state *state, struct rot_error *err)
{
	json_auto_t *json = NULL;
	struct stat status;
	int rc;

	*list = (struct peak_list){.peaks = NULL};
	*state = state_of(&list->pool, rot);
	if (stat(state->path, &status) == 0)
		state->age_s = difftime(time(NULL), status.st_mtime);
	json = read_file(&list->pool, state, &rc, err);
	if (json)
		use(rot, json, list, state);
	else if (rc == 0)
		look_for_others(&list->pool, rot, state);
	return rc < 0 ? rot_error_prefix(err, "the profile of this machine") : 0;
}

/* ---- storing ---- */

static json_t *
found_json(const struct peak_list *list, json_t *facts)
{
	json_t *found = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		json_t *peak = peak_json(&list->peaks[i]);

		if (list->peaks[i].found_at == 0)
			json_object_set_new(peak, "foundAt", json_integer((json_int_t)time(NULL)));
		json_object_set(peak, "foundOn", facts);
		json_array_append_new(found, peak);
	}
	return found;
}

/* The peaks kept for this machine; what is there instead is put aside. An empty array if there is nothing. */
static json_t *
read_kept(struct pool *pool, const struct rot *rot, struct profile_state *state, int *rc, struct rot_error *err)
{
	json_auto_t *json = read_file(pool, state, rc, err);
	autofree char *whose = NULL;

	if (!json)
		return json_array();
	if (strcmp(json_text_at(json, "schema"), schema) == 0 && !is_foreign(json, rot->machine, &whose))
		return json_incref(json_object_get(json, "peaks"));
	put_aside(state->path, ".other");
	return json_array();
}

/* Whoever stores at the same time waits; without a lock (a file system that has none) it goes on. */
static int
lock_folder(const char *folder)
{
	int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (lock >= 0 && flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
	return lock;
}

int
profile_store(struct rot *rot, const struct peak_list *list, struct rot_error *err)
{
	autopool pool = {0};
	struct profile_state state = state_of(&pool, rot);
	autofree char *folder = profiles_folder(rot);
	json_t *now = json_in_pool(&pool, conditions_json(rot->machine)), *found, *kept;
	int rc = folder_make(folder, err);

	if (rc == 0) {
		const int lock = lock_folder(folder);

		found = json_in_pool(&pool, found_json(list, now));
		kept = json_in_pool(&pool, read_kept(&pool, rot, &state, &rc, err));
		if (state.message[0])
			rot_warning("%s", state.message);
		if (rc == 0) {
			json_auto_t *json =
				json_pack("{s:s, s:o, s:O}", "schema", schema, "machine", json_entity(rot->machine),
					  "peaks", json_in_pool(&pool, profile_merge(found, kept, now)));
			autofree char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);

			rc = file_write(state.path, text, strlen(text), true, err);
		}
		if (lock >= 0)
			close(lock);
	}
	if (rc < 0) {
		rot_error_prefix(err, "the peaks of this machine are not kept");
		rot_error_hint(err, "name a folder you may write to: -dataFolder=FOLDER");
	}
	return rc;
}
