/* SPDX-License-Identifier: MIT */
/* Which file was mapped where in which process at a moment, by the records that a sampler hands on. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "parent/profile/sampler.h"

/* The origins of the code at an address. */
enum code_origin {
	CODE_UNKNOWN,   /* nothing is known to be mapped there                                     */
	CODE_KERNEL,    /* the system's own                                                        */
	CODE_VDSO,      /* what the kernel provides to each process                                */
	CODE_ANONYMOUS, /* memory without a file: code that was made at run time; apart by process */
	CODE_FILE,
};

/* path, inode: of CODE_FILE, as the process knew it. pid: of CODE_ANONYMOUS. */
struct code_object {
	enum code_origin origin;
	pid_t pid;
	ino_t inode;
	char *path;
};

/* Where an address is. object: index in the spaces. offset: in the file, or the vdso; elsewhere the address itself. */
struct code_position {
	size_t object;
	uint64_t offset;
};

struct spaces;

struct spaces *spaces_new(void);
void spaces_delete(struct spaces *spaces);

/* In the order of their time. A record that is none of mappings, forks, ends and executed programs is passed over. */
void spaces_handle(struct spaces *spaces, const struct perf_event_header *record);

struct code_position spaces_at(struct spaces *spaces, pid_t pid, uint64_t address);
struct code_position spaces_find(struct spaces *spaces, const struct sample_record *sample);

/*
 * The object that a process has mapped: of that file, or without one (path "", "[stack]"). Memory that is shared
 * through a file which has no name in any folder counts as memory without a file.
 */
size_t spaces_object_of(struct spaces *spaces, pid_t pid, ino_t inode, const char *path);

/* An object of which nothing is known. */
size_t spaces_unknown_object(struct spaces *spaces);

/* Lives until the next record is handled. */
const struct code_object *spaces_object(const struct spaces *spaces, size_t object);
