/* SPDX-License-Identifier: MIT */
/*
 * Code that a program is going to execute, since it did so in earlier runs: its basic blocks by their places in files,
 * in the order in which they were met. It is a hint, which saves stops and blocks that nobody executes: whatever it
 * says, the program is translated and counted as it is.
 *
 * There is one file for each program, named by a hash of its path: "rot executed blocks 1", and for each file that was
 * mapped a line with inode, size, time of its change, number of blocks and path, then the blocks. Files that have
 * changed since are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks of a mapped file. They are only added, so others may keep the number of those that they know. */
struct foreseen_file;

/* Opens what is known of programs, kept in that folder, which is made. delete writes what is new. */
struct foreseen *foreseen_new(const char *folder);
void foreseen_delete(struct foreseen *foreseen);

/* The program of that path, with what is known of it. It and its files live as long as foreseen. */
struct foreseen_program *foreseen_program(struct foreseen *foreseen, const char *path);

/* A file that is mapped while the program executes. NULL: there is no such file now. */
struct foreseen_file *foreseen_find(struct foreseen_program *program, const char *path);

size_t foreseen_nr(const struct foreseen_file *file);

/* The block of that number: its place in the file. *has_entry: indirect branches lead there. */
uint64_t foreseen_at(const struct foreseen_file *file, size_t number, bool *has_entry);
bool foreseen_has(const struct foreseen_file *file, uint64_t place);
void foreseen_add(struct foreseen_file *file, uint64_t place, bool has_entry);
