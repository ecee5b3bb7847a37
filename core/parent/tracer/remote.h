/* SPDX-License-Identifier: MIT */
/*
 * A stopped process from outside: its memory is read and written, system calls are made in it, pages are mapped.
 * Nothing here changes its code.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "error.h"

/* How far instructions reach that name their target relative to themselves, less what the mapping itself may span. */
#define REMOTE_NEAR_BYTES 0x7ff00000UL

/*
 * n bytes at address, all or -1. Writing disregards the protection of the pages. The thread must be stopped, unless
 * only what does not change is read.
 */
int remote_read(pid_t tid, uint64_t address, void *bytes, size_t n, struct rot_error *err);

/*
 * A descriptor (pread, pwrite) of the memory that the thread's process has now, also while it runs; only to be read
 * where the system permits no more. tid: any thread that has not ended. -1: refused.
 */
int remote_open_memory(pid_t tid);
int remote_write(pid_t tid, uint64_t address, const void *bytes, size_t n, struct rot_error *err);

/* The code segment of 64-bit programs on Linux. */
#define CODE_SEGMENT_64 0x33

/* Registers of a stopped thread. -1: it was killed, or (get) executes 32-bit code; its registers then are no use. */
int remote_get_registers(pid_t tid, struct user_regs_struct *registers, struct rot_error *err);
int remote_set_registers(pid_t tid, const struct user_regs_struct *registers);

/* The signals that a stopped thread blocks, bit NUMBER - 1 each. As the registers. */
int remote_get_mask(pid_t tid, uint64_t *mask);
int remote_set_mask(pid_t tid, uint64_t mask);

#define REMOTE_SIGNAL(number) (1ULL << ((number)-1))

/* Signals that the processor raises for the instruction that is executed. Blocking them would not hold them up. */
#define REMOTE_SYNCHRONOUS                                                                                             \
	(REMOTE_SIGNAL(SIGTRAP) | REMOTE_SIGNAL(SIGSEGV) | REMOTE_SIGNAL(SIGBUS) | REMOTE_SIGNAL(SIGILL) |             \
	 REMOTE_SIGNAL(SIGFPE) | REMOTE_SIGNAL(SIGSYS))
bool remote_is_synchronous(int signal);

/*
 * Such a signal that a stopped thread has raised, and will be told of when it goes on: until then nothing of it may be
 * changed. 0: none.
 */
int remote_raised_signal(pid_t tid);

/* A signal that a stopped thread will be told of when it goes on: raised, or sent to it alone. False: there is none. */
bool remote_pending_signal(pid_t tid, int signal, siginfo_t *info);

/*
 * Makes one system call in the only thread of a process, which is at a pause or about to get a signal (tracer_stop;
 * never at another event). It is stopped afterwards as well, with its registers and signals as before: a signal that
 * was about to be delivered can still be delivered. Signals that come meanwhile stay pending. No code is changed: an
 * instruction that is there is executed in a single step. If the program ignores SIGTRAP, it does not any more.
 *
 * options: those the thread is traced with (tracer_options). A filter for system calls that the process has beyond ours
 * is set aside for the call, which needs privileges.
 * result: as the kernel returns it, -4095..-1 for errors.
 * -1: the call was not made (32-bit, filtered, no such instruction), or the process was killed, which is then reported
 * to whoever waits for it.
 */
int
remote_call(pid_t tid, long options, long number, const uint64_t arguments[6], int64_t *result, struct rot_error *err);

/* The address of a 64-bit system call instruction in the process' code; 0: none. */
uint64_t remote_find_syscall(pid_t tid);

/* Like remote_call, with the instruction at that address; filters are not looked at. */
int remote_step_call(pid_t tid, uint64_t instruction, long number, const uint64_t arguments[6], int64_t *result,
		     struct rot_error *err);

/*
 * The stopped thread executes one instruction. Returns SIGTRAP, or the signal that the instruction has raised instead,
 * which is not delivered; 0: the thread has ended. The caller has blocked other signals, which stay pending.
 */
int remote_step_once(pid_t tid);

/*
 * Maps fresh private pages, where nothing is, in reach (REMOTE_NEAR_BYTES) of the address near; anywhere if that is 0.
 * bytes: a multiple of the page size.   protection: as of mmap.   As remote_call.
 */
int remote_map_near(pid_t tid, long options, uint64_t near, size_t bytes, int protection, uint64_t *address,
		    struct rot_error *err);

/* A line of /proc/PID/maps. */
struct remote_mapping {
	uint64_t start, end;
	bool is_executable;
	bool is_changeable; /* by writing to it, or to another mapping of the same file */
	char name[256];     /* the beginning of its path or [name]; "" */
	ino_t inode;        /* 0: it has no file */
	uint64_t offset;    /* in its file */
};

/* All mappings in order, nr of them; to be freed. NULL and err. */
struct remote_mapping *remote_mappings(pid_t tid, size_t *nr, struct rot_error *err);

/*
 * Where nothing is mapped: bytes of room in reach of near that take nothing from the heap or the stack. attempt: 0 is
 * the best place, the nearest below; 1 the second... 0: there is none.
 */
uint64_t remote_find_gap(const struct remote_mapping *mappings, size_t nr, uint64_t near, size_t bytes, size_t attempt);
