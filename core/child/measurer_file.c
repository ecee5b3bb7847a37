/* SPDX-License-Identifier: MIT */
/* The measurer of files: their contents at start and stop. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/measurer.h"
#include "memory.h"

/* Kept of one file; meant for files of /proc and /sys. */
#define MAX_BYTES (1 << 20)

/* error: errno of opening or reading, or 0. text is owned and ends in a zero byte. */
struct content {
	char *text;
	int error;
};

struct file_state {
	const struct file_measurer *description;
	size_t nr;
	struct content *starts, *stops;
};

static int
file_initialize(void *state, const void *description, struct rot_error *err)
{
	struct file_state *own = state;

	(void)err;
	own->description = description;
	own->nr = file_measurer_nr_files_to_record(own->description);
	own->starts = rot_calloc(own->nr + 1, sizeof(*own->starts));
	own->stops = rot_calloc(own->nr + 1, sizeof(*own->stops));
	return 0;
}

/* Zero bytes become blanks: the content is kept as a string. */
static void
read_content(struct content *content, const char *path)
{
	size_t size = 4096, length = 0;
	ssize_t bytes = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(content->text);
	*content = (struct content){0};
	if (fd < 0) {
		content->error = errno;
		return;
	}
	content->text = rot_calloc(1, size);
	while (length < MAX_BYTES && (bytes = read(fd, content->text + length, size - length - 1)) > 0) {
		length += (size_t)bytes;
		if (length + 1 == size)
			content->text = rot_realloc(content->text, 1, size *= 2);
	}
	if (bytes < 0)
		content->error = errno;
	close(fd);
	for (size_t i = 0; i < length; i++)
		if (content->text[i] == '\0')
			content->text[i] = ' ';
	content->text[length] = '\0';
}

static void
file_start(void *state)
{
	struct file_state *own = state;

	for (size_t i = 0; i < own->nr; i++)
		read_content(&own->starts[i], file_measurer_files_to_record_at(own->description, i));
}

static void
file_stop(void *state)
{
	struct file_state *own = state;

	for (size_t i = 0; i < own->nr; i++)
		read_content(&own->stops[i], file_measurer_files_to_record_at(own->description, i));
}

static void *
file_output(void *state, const void *description, struct rot_error *err)
{
	struct file_state *own = state;
	struct file_measurer_output *result = file_measurer_output_new();

	(void)description;
	for (size_t i = 0; i < own->nr; i++) {
		const char *path = file_measurer_files_to_record_at(own->description, i);
		int error = own->starts[i].error ? own->starts[i].error : own->stops[i].error;
		struct file_content *file;

		if (error) {
			rot_error_set(err, error, "cannot read the file '%s' to be recorded", path);
			rot_graph_delete(result);
			return NULL;
		}
		file = file_content_new();
		rot_string_set(&file->file_name, path);
		rot_string_set(&file->start_content, own->starts[i].text);
		rot_string_set(&file->stop_content, own->stops[i].text);
		file_measurer_output_file_content_list_add(result, file);
	}
	return result;
}

static void
file_dispose(void *state)
{
	struct file_state *own = state;

	for (size_t i = 0; i < own->nr; i++) {
		free(own->starts[i].text);
		free(own->stops[i].text);
	}
	free(own->starts);
	free(own->stops);
}

const struct measurer_type file_measurer_type = {
	.class = &file_measurer_class,
	.state_size = sizeof(struct file_state),
	.initialize = file_initialize,
	.start = file_start,
	.stop = file_stop,
	.output = file_output,
	.dispose = file_dispose,
};
