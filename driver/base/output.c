/* SPDX-License-Identifier: MIT */
/* Result files beside the user: complete or not there. */
#include "base/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/pool.h"
#include "memory.h"
#include "rot.h"

/* Measured results are not lost where this could not be written: the result cache has them. */
static int
hint_elsewhere(const char *output_name, struct rot_error *err)
{
	return rot_error_hint(err, "make room there or go where you may write, or name such a place: /tmp/%s",
			      path_name(output_name));
}

/* Tries a file of a name that begins so, where nothing of what was killed is left then. what: for the message. */
static int
try_beside(const char *name, const char *what, struct rot_error *err)
{
	const char *slash = strrchr(name, '/');
	autofree char *path = rot_format("%s" FILE_TEMPORARY, name);
	autofree char *folder = slash ? rot_strndup(name, (size_t)(slash - name) + 1) : rot_strdup(".");
	int fd = mkstemp(path), reason = errno;

	folder_sweep(folder);

	if (fd >= 0) {
		close(fd);
		unlink(path);
	} else {
		rot_error_set(err, reason, "cannot write %s", what);
		hint_elsewhere(name, err);
	}
	return fd < 0 ? -1 : 0;
}

int
output_check(const char *output_name, struct rot_error *err)
{
	const char *base = path_name(output_name);
	autofree char *what = NULL;

	/* Files named so would be hidden or lost. */
	if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
		rot_error_set(err, 0, "'%s' cannot be the begin of the results' names", output_name);
		return rot_error_hint(err, "it is what .json and .pdf are added to: rot measure NAME folder/name");
	}
	what = rot_format("'%s.json' and the plots", output_name);
	return try_beside(output_name, what, err);
}

int
output_check_file(const char *path, struct rot_error *err)
{
	struct stat status;
	autofree char *what = NULL;
	int rc;

	if (strcmp(path, "-") == 0)
		return 0;
	what = rot_format("'%s'", path);
	if (stat(path, &status) < 0 || S_ISREG(status.st_mode)) {
		rc = try_beside(path, what, err);
	} else {
		rc = !S_ISDIR(status.st_mode) && access(path, W_OK) == 0 ? 0 : -1;
		if (rc < 0)
			rot_error_set(err, S_ISDIR(status.st_mode) ? EISDIR : errno, "cannot write %s", what);
	}
	return rc;
}

static struct pool told_pool;
static struct texts told;

void
output_tell(const char *path)
{
	texts_add(&told_pool, &told, path);
}

/* More have too long a list: what all of their names begin with is told. */
#define MOST_LISTED 12

static char *
list_told(void)
{
	autofree char *list = rot_strdup("");
	size_t common = strlen(told.items[0]);

	for (size_t i = 0; i < told.nr; i++) {
		const char *path = told.items[i];
		size_t same = 0;

		rot_append(&list, "%s%s", i ? " " : "", path);
		while (same < common && path[same] == told.items[0][same])
			same++;
		common = same;
	}
	return told.nr > MOST_LISTED ? rot_format("%zu files: %.*s*", told.nr, (int)common, told.items[0])
				     : rot_keep(&list);
}

void
output_print_told(void)
{
	bool has_pictures = false;

	for (size_t i = 0; i < told.nr; i++)
		has_pictures = has_pictures || path_ends_in(told.items[i], ".pdf");
	if (told.nr) {
		autofree char *list = list_told();

		rot_note("wrote %s%s", list, has_pictures ? " (.data and .gnuplot draw a picture anew)" : "");
	}
	pool_clear(&told_pool);
	told = (struct texts){.nr = 0};
}

int
output_write_json(const json_t *json, const char *path, struct rot_error *err)
{
	autofree char *text = json_dumps(json, JSON_INDENT(1));
	autofree char *lines = rot_format("%s\n", text ? text : "");
	int rc = 0;

	if (!text)
		rc = rot_error_set(err, 0, "cannot make the JSON of '%s'", path);
	else if (strcmp(path, "-") == 0)
		fputs(lines, stdout); /* whether that arrives is looked at when the program ends */
	else if (file_deliver(path, lines, strlen(lines), true, err) < 0)
		rc = hint_elsewhere(path, err);
	else if (err)
		output_tell(path);
	return rc;
}

int
output_take_json(json_t *json, const char *output_name, struct rot_error *err)
{
	autofree char *path = rot_format("%s.json", output_name);
	int rc = output_write_json(json, path, err);

	json_decref(json);
	return rc;
}

FILE *
output_text_begin(struct output_text *text)
{
	text->text = NULL;
	text->stream = open_memstream(&text->text, &text->length);
	return text->stream;
}

int
output_text_end(struct output_text *text, const char *output_name, const char *ending, struct rot_error *err)
{
	autofree char *path = rot_format("%s%s", output_name, ending);
	int rc;

	fclose(text->stream);
	rc = file_deliver(path, text->text, text->length, false, err);
	if (rc < 0)
		hint_elsewhere(path, err);
	else
		output_tell(path);
	free(text->text);
	return rc;
}
