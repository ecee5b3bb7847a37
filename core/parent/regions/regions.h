/* SPDX-License-Identifier: MIT */
/*
 * The regions of a program in one run: where they are in each process, who observes them, and what each thread did in
 * them. Whoever can observe places of a program is a backend; for each region the first that can serves, and why the
 * others could not is kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ProgramCommand.h"
#include "ProgramCommandOutput.h"
#include "ProgramRunOutput.h"
#include "common/counting.h"
#include "parent/stepping/reuse.h"
#include "parent/symbols/code.h"
#include "parent/symbols/frames.h"
#include "parent/tracer/thread.h"
#include "parent/tracer/tracer.h"

struct regions;
struct region_image;
struct region_thread;
struct translator;

/* ---- where ---- */

/*
 * A place where one region begins or ends, or both. One list of them for each image; a place that serves several
 * regions is there several times. Owned by regions, at the same address until regions_delete.
 */
struct region_point {
	size_t id;             /* of the run, from 0, without gaps                                  */
	size_t region;         /* index in the command's regions                                    */
	enum frames_kind kind; /* of the region                                                    */
	uint64_t address;      /* in the processes of the image                                     */
	char *file;            /* what to open for the code, or NULL: it is in no file              */
	dev_t device;          /* of the file, as the process has it                                */
	ino_t inode;           /* likewise                                                          */
	uint64_t file_offset;  /* of the instruction                                                */
	char *text;            /* for people                                                        */
	bool begins, ends;     /* both: it ends what was begun before, unless is_instant            */
	bool is_instant;       /* the first instruction of a function leaves it: it begins and then ends */
	uint8_t condition;     /* of an end: the point counts only if code_is_taken says so     */
	bool is_team;          /* of a part that every thread of an OpenMP team executes        */
	const struct region_backend *backend;
};

/* The places of one region in one image, as found: id, region and backend are not set. */
struct region_points {
	struct region_point *points;
	size_t nr;
	const char *team_below; /* of symbols/places.h; as long as its context */
	bool leaves_out_team;   /* hits are chosen by their number, so parts for OpenMP teams are none */
};

/*
 * Finds the places of a region in the process of thread tid, which is stopped with its libraries mapped, or runs. -1:
 * there are none. Strings are the caller's afterwards.
 */
typedef int (*region_finder)(void *context, pid_t tid, const struct region *region, struct region_points *points,
			     struct rot_error *err);

/* The places that a command names (symbols/places.h); context is a struct symbol_files. */
int regions_find_places(void *symbol_files, pid_t tid, const struct region *region, struct region_points *points,
			struct rot_error *err);

/* ---- backends ---- */

/* A thread at a point: what it counted before, and the registers it came with. counts: NULL without counters. */
struct region_hit {
	uint64_t stack_pointer, flags, rcx;
	uint64_t time_ns; /* clock_raw_ns */
	const struct perf_counts *counts;
};

/*
 * The program that a process executes. A forked process gets an image of its own with the points of its parent. own is
 * for the backends, NULL at first, at their numbers.
 */
#define REGION_NR_BACKENDS 4

struct region_image {
	struct regions *regions;
	pid_t pid;
	struct region_point **points;
	size_t nr_points;
	struct region_thread *threads; /* the image is deleted with the last of them; none: the process was just made */
	void *own[REGION_NR_BACKENDS];
	struct region_image *next;
};

struct region_thread {
	struct thread *thread; /* its in_regions is this */
	pid_t tid;             /* of its beginning: that of its process, since it executed a program, is another's */
	struct region_image *image;
	struct counts *counts; /* its counters; the group may be closed (no events, or they were refused) */
	struct frames *frames; /* one for each region */
	void *own[REGION_NR_BACKENDS];
	struct region_thread *next; /* of the same image */
};

/*
 * Every function but open may be NULL. self is what open gave. All are called for the backends that serve a region, in
 * this order for a thread: join, hits, leave.
 *
 * is_in_files: whoever comes to a point is seen wherever its file is mapped, also when that is unloaded and loaded
 *              again. Else it is seen at the address of the point, until the file is unloaded.
 *
 * open:    once in a run, when the backend is tried first. NULL: it cannot serve at all.
 * install: observes nr points of one region in an image, of which witness is a thread: stopped before the first
 *          instruction of the program (its libraries are mapped), in the loader, or, where a running process is
 *          visited, at rest (image.h). -1: not all of them can be, and none is; the region is the next one's.
 * lift:    a point whose file was unloaded is not observed any more; witness as of install. Afterwards threads join
 *          once more.
 * join:    a thread of an image with points, before its first instruction (or running, if it was attached to); and
 *          again after points were added to its image. Afterwards it is observed at all points of this backend in the
 *          image. -1: its hits are not seen; that is reported.
 * leave:   the thread has ended, executes another program, or is let go. Hits that were not told of yet are.
 * stopped: as of tracer.h; called for threads of images with points.
 * drain:   hits of a thread that wait are told of.
 * prune:   points of regions that are given up were taken from the image: what none of the others needs is closed.
 *          NULL: they are lifted.
 * forget:  such a region is observed in no process any more, and will not be.
 * close:   undoes everything.
 */
struct region_backend {
	const char *name; /* as in RegionService */
	size_t number;    /* index in own        */
	bool is_in_files;
	void *(*open)(struct regions *regions, struct rot_error *err);
	int (*install)(void *self, struct region_image *image, struct region_thread *witness,
		       struct region_point *const *points, size_t nr, struct rot_error *err);
	void (*lift)(void *self, struct region_thread *witness, const struct region_point *point);
	int (*join)(void *self, struct region_thread *thread, struct rot_error *err);
	void (*leave)(void *self, struct region_thread *thread);
	enum tracer_answer (*stopped)(void *self, struct region_thread *thread, const struct tracer_stop *stop);
	void (*drain)(void *self, struct region_thread *thread);
	void (*prune)(void *self, struct region_thread *thread);
	void (*forget)(void *self, size_t region);
	void (*close)(void *self);
};

extern const struct region_backend region_blocks, region_uprobe, region_breakpoint, region_int3;

/* All of them, in the order in which they are tried. Where the program is translated, only region_blocks is. */
extern const struct region_backend *const region_backends[REGION_NR_BACKENDS];

/* A backend tells of a hit: at that point, or at all its points at that address of the thread's image. */
void regions_hit(struct region_thread *thread, const struct region_point *point, const struct region_hit *hit);
void regions_hit_address(struct region_thread *thread, const struct region_backend *backend, uint64_t address,
			 const struct region_hit *hit);

/* The point of that id, or NULL. */
struct region_point *regions_point(const struct regions *regions, uint64_t id);

/* For the backends: of what regions_new was told. */
const struct regions_setup *regions_setup(const struct regions *regions);

/* So many hits of the thread in the region, beginnings and ends, were lost between the last one and the next. */
void regions_lose(struct region_thread *thread, size_t region, uint64_t nr);

/* For the backends: a descriptor of a thread; when it is readable drain is called. unwatch: before it is closed. */
int regions_watch(const struct region_thread *thread, int fd);
void regions_unwatch(const struct region_thread *thread, int fd);

/* Something that the output should say; once each. */
void regions_warn(struct regions *regions, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Misses by capacity, as of region_report_curve. */
void regions_add_curve(struct regions *regions, size_t region, const uint64_t by_capacity[REUSE_NR + 1]);

/* ---- a run ---- */

/* All borrowed. listeners: one for each region, or NULL. */
struct regions_setup {
	const struct program_command *command;
	const struct counting *counting;
	struct tracer *tracer;
	region_finder find;
	void *context; /* of find */
	const struct frames_listener *listeners;
	struct translator *translator; /* of the whole program; NULL: hardware counts, if anybody does */
};

/* NULL: the command has no regions. Nothing is observed before regions_resolve. */
struct regions *regions_new(const struct regions_setup *setup);

/* The run cannot observe regions at all, and why. NULL regions: nothing is done. */
void regions_refuse(struct regions *regions, const struct rot_error *err);

/* Becomes readable when there is something for regions_drain. NULL regions: NULL. */
int *regions_fd(struct regions *regions);
void regions_drain(struct regions *regions);

/*
 * Events of threads; NULL regions are allowed everywhere. forked: it made a process, which begins with its image.
 * started: its counters are open. executes: its process stands before the first instruction of another program; its
 * counters are still open. executed: they were opened anew.
 * resolve: the libraries that the program needs are mapped, or others were loaded or unloaded; the thread is the
 * witness (above).
 * leaves: it has ended or is let go; its counters are still open.
 */
void regions_thread_forked(struct regions *regions, const struct thread *thread, pid_t child);
void regions_thread_started(struct regions *regions, struct thread *thread, struct counts *counts);
void regions_thread_executes(struct regions *regions, struct thread *thread);
void regions_thread_executed(struct regions *regions, struct thread *thread, struct counts *counts);
void regions_resolve(struct regions *regions, struct thread *thread);
void regions_thread_leaves(struct regions *regions, struct thread *thread);
enum tracer_answer regions_stopped(struct regions *regions, const struct tracer_stop *stop);

/* On standard error, which regions are not found so far, and why, for somebody who can still end the program. */
void regions_tell_missing(const struct regions *regions);

/* Why the places of a region are not found so far; NULL: they are found, or nobody has looked for them. */
const char *regions_not_found(const struct regions *regions, size_t region);

/* The cost of observing a hit by that backend, where samples can tell times as well. Not known: regions are observed to
 * the end. */
void regions_set_cost(struct regions *regions, const char *backend, uint64_t cost_ns);

/*
 * Gives a region up whose hits are too short to be timed, if there is one: a function, in all its hits. From now on
 * its places are found, and not observed. time_ns (clock_raw_ns): until then it was. To close its events takes long,
 * and the program runs on meanwhile. False: there is none.
 */
bool regions_give_up(struct regions *regions, size_t *region, uint64_t *time_ns);

/* Adds what was measured to a run; how each region was observed, to the command's output. */
void regions_output(struct regions *regions, struct program_run_output *run, struct program_command_output *output);

/* True if some region was observed by the backend of that name. */
bool regions_use(const struct regions *regions, const char *backend);

/* Nothing is observed any more, and nothing left behind. */
void regions_delete(struct regions *regions);
