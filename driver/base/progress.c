/* SPDX-License-Identifier: MIT */
/* The progress line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entry.h"
#include "base/progress.h"
#include "memory.h"

#define TERMINAL_INTERVAL_S 0.1
#define LOG_INTERVAL_S 60

/* The terminal is one for the whole process, and so is this. */
static struct progress {
	const char *title; /* of progress_enter, or NULL */
	unsigned depth;    /* of progress_begin; the rest is valid when it is not 0 */
	bool is_silent, is_terminal;
	bool is_shown; /* on the terminal */
	struct progress_place place;
	struct progress_place outside; /* where it was when blocks began */
	int nr_before, nr_all;         /* of progress_part */
	double until_s;                /* of progress_until; 0: nobody knows */
	double begin_s, shown_s;
} progress, around; /* what is around a part that was entered */
static double entered_s;

static char *
duration_text(double seconds)
{
	if (seconds < 90)
		return rot_format("%.0f s", fmax(1, ceil(seconds)));
	if (seconds < 90 * 60)
		return rot_format("%.0f min", ceil(seconds / 60));
	return rot_format("%.1f h", seconds / 3600);
}

char *
progress_range(double least_s, double most_s)
{
	autofree char *least = duration_text(least_s), *most = duration_text(most_s);

	return strcmp(least, most) == 0 ? rot_format("about %s", least) : rot_format("about %s to %s", least, most);
}

/* ", about 12 s left", or nothing where there is no ground to say so. */
static char *
left_text(const struct progress_place *place, double elapsed_s)
{
	const double of_block = (double)(place->point ? place->point - 1 : 0) +
				(place->nr_runs > 0 ? (double)place->run / place->nr_runs : 0);
	const double done = of_block + (place->nr_blocks ? (double)(place->block - 1) * (double)place->nr_points : 0);
	const double all = (double)place->nr_points * (place->nr_blocks ? place->nr_blocks : 1);
	char *duration, *text;

	if (place->nr_points == 0 || done <= 0 || !(elapsed_s >= 1))
		return rot_strdup("");
	duration = duration_text(fmax(place->least_left_s, elapsed_s / done * fmax(0, all - done)));
	text = rot_format(", about %s left", duration);
	free(duration);
	return text;
}

char *
progress_text(const char *title, const struct progress_place *place, const char *task, double elapsed_s)
{
	autofree char *block =
		place->nr_blocks ? rot_format("block %d of %d, ", place->block, place->nr_blocks) : rot_strdup("");
	autofree char *of_points = place->nr_points ? rot_format(" of %zu", place->nr_points) : rot_strdup("");
	autofree char *doing = task ? rot_strdup(task) : rot_format("run %d of %d", place->run, place->nr_runs);
	autofree char *left = left_text(place, elapsed_s);

	return rot_format("%s%s%spoint %zu%s, %s%s", title ? title : "", title ? ": " : "", block, place->point,
			  of_points, doing, left);
}

/* Whole words that fit on a line: a longer one would go on in the next, which is never cleared. */
static int
fitting_length(const char *text)
{
	const size_t columns = terminal_columns(STDERR_FILENO, 80), width = columns > 1 ? columns - 1 : 79;
	size_t length = strlen(text);

	if (length <= width)
		return (int)length;
	for (length = width; length > 0 && text[length] != ' '; length--)
		;
	return (int)length;
}

static bool
is_due(void)
{
	return clock_now_s() - progress.shown_s >= (progress.is_terminal ? TERMINAL_INTERVAL_S : LOG_INTERVAL_S);
}

static void
show(const char *task)
{
	autofree char *text = NULL;

	if (progress.depth == 0 || progress.is_silent || (!progress.is_terminal && !is_due()))
		return;
	progress.place.least_left_s = progress.until_s - clock_now_s(); /* less than 0 counts as unknown */
	text = progress_text(progress.title, &progress.place, task, clock_now_s() - progress.begin_s);
	if (progress.is_terminal)
		fprintf(stderr, "\r\033[K%.*s", fitting_length(text), text);
	else
		fprintf(stderr, "rot: %s\n", text);
	fflush(stderr);
	progress.is_shown = progress.is_terminal;
	progress.shown_s = clock_now_s();
}

void
progress_begin(size_t nr_points, bool quiet)
{
	if (progress.depth++ > 0)
		return;
	progress.is_silent = quiet;
	progress.is_terminal = terminal_can_rewrite(STDERR_FILENO);
	progress.place = (struct progress_place){.nr_points = nr_points};
	progress.until_s = 0;
	progress.begin_s = clock_now_s();
	progress.shown_s = progress.is_terminal ? 0 : progress.begin_s;
}

void
progress_enter(const char *title)
{
	around = progress;
	entered_s = clock_now_s();
	progress.title = title;
	progress.depth = 0;
}

void
progress_leave(void)
{
	progress_clear();
	progress = around;
	progress.begin_s += clock_now_s() - entered_s;
}

void
progress_point(void)
{
	if (progress.depth != 1)
		return;
	progress.place.point++;
	progress.place.run = progress.place.nr_runs = 0;
}

void
progress_point_again(void)
{
	if (progress.depth == 1)
		progress.place.point--;
}

void
progress_block(int block, int nr_blocks, size_t nr_points)
{
	struct progress_place *place = &progress.place;

	if (progress.depth != 1 || (place->block == block && place->nr_blocks == nr_blocks))
		return;
	if (nr_blocks == 0) {
		*place = progress.outside;
		progress.begin_s = NAN;
		return;
	}
	if (place->nr_blocks == 0) {
		progress.outside = *place;
		progress.begin_s = clock_now_s();
	}
	*place = (struct progress_place){.block = block, .nr_blocks = nr_blocks, .nr_points = nr_points};
}

void
progress_until(double at_s)
{
	if (progress.depth == 1)
		progress.until_s = isfinite(at_s) ? at_s : 0;
}

void
progress_run(int nr_done, int nr_runs)
{
	struct progress_place *place = &progress.place;

	place->run = progress.nr_before + nr_done;
	place->nr_runs = progress.nr_all ? progress.nr_all : nr_runs;
	if (place->run == place->nr_runs || is_due())
		show(NULL);
}

void
progress_part(int nr_before, int nr_runs)
{
	progress.nr_before = nr_before;
	progress.nr_all = nr_runs;
}

void
progress_task(const char *task)
{
	show(task);
}

void
progress_clear(void)
{
	if (!progress.is_shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress.is_shown = false;
}

void
progress_end(void)
{
	if (progress.depth > 0 && --progress.depth == 0)
		progress_clear();
}
