/* SPDX-License-Identifier: MIT */
/*
 * The code cache of a traced process: translated code, in memory that the process executes and the tracer writes.
 *
 * Memory files (memfd) hold all of it; the process maps parts of them, and no page is both writable and
 * executable there:
 *
 *	low      below 2 GB, so that "[index * 8 + address]" reaches it: the look-up table of indirect branches, and
 *	         small tables for system calls and masks. Read-only
 *	arenas   translated code, each in reach of the code that it was translated from. Executable
 *	areas    one for each thread, at its gs base: slots for registers, then 8-byte counters
 *	banks    areas with other counters of a thread, which count while it is in some regions. In the process their
 *	         first page is that of the thread's area, so that the thread changes them by its gs base alone
 *
 * A forked process shares the cache with its parent until one of them maps other code or needs another arena
 * (code_cache_copy); areas are of one file for all of them, so that copying disturbs no thread that runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* Offsets in the low part. */
#define LOW_TABLE_ENTRIES 65536
#define LOW_TABLE 0                                /* addresses of entries, by the low 16 bits of the target */
#define LOW_CALL_CLASSES (LOW_TABLE_ENTRIES * 8)   /* enum call_class of each system call, a byte each        */
#define LOW_PROTECTIONS (LOW_CALL_CLASSES + 65536) /* 1 where the low byte of a protection has PROT_EXEC      */
#define LOW_ONES (LOW_PROTECTIONS + 256)           /* ones among the low 1, 2, 4, 8 bits of a byte            */
#define LOW_TRAPS (LOW_ONES + 4 * 256)             /* 1 where the low byte of a set of signals has SIGTRAP */
#define LOW_ZERO (LOW_TRAPS + 256)                 /* an empty string */
#define LOW_LEFT_OUT (LOW_ZERO + 64)               /* tables of accesses to lines that are not sampled (recording.h) */
/* EDGE_CALL: return addresses that are known, by their last 16 bits: the 32 bits before these */
#define LOW_CALLERS (LOW_TABLE_ENTRIES * 8 + 65536 + 8192)
/* likewise: 1 where all return addresses that end so are taken as known */
#define LOW_SETTLED (LOW_CALLERS + 65536 * 4)
#define LOW_BYTES (LOW_SETTLED + 65536)

/* The translated code does this before a system call. */
enum call_class { CALL_PLAIN, CALL_STOPS, CALL_STOPS_IF_EXECUTABLE, CALL_STOPS_IF_OF_TRAPS };

/* A thread's area. The slots hold registers while inserted code uses them. */
#define AREA_BYTES (UINT64_C(64) << 20)
#define AREA_RCX 0
#define AREA_RDX 8
#define AREA_RAX 16
#define AREA_BLOCKS_TRAPS 24 /* 1: the program believes that the thread blocks SIGTRAP */
#define AREA_RECORD 32       /* where the next frame is recorded (recording.h) */
#define AREA_SIGNAL_SET 40   /* what is blocked or let through instead of the program's set */
#define AREA_EXIT 48         /* number of the fragment whose indirect branch looked up its target last */
#define AREA_LOADED 56       /* of a load: what the register has before */
#define AREA_FS_BASE 64      /* as it was known last */
#define AREA_VISITS 512      /* struct visit of each region (visits.h) */
#define AREA_TOGGLES 4096 /* of a bank: by regions, the bank that is entered where one begins or ends; 0: not known */
#define AREA_COUNTERS 8192
#define AREA_MAX_COUNTERS (((UINT64_C(16) << 20) - AREA_COUNTERS) / 8)
#define MAX_AREAS 16384

/* An area has two buffers of what is recorded (recording.h), too: they end where bits 16 to 23 of addresses are 0. */
#define AREA_BUFFER_BYTES (UINT64_C(4) << 20)
#define AREA_BUFFER_END(buffer) ((UINT64_C(32) + 16 * (buffer)) << 20)

#define ARENA_BYTES (UINT64_C(64) << 20)
#define MAX_ARENAS 64
#define GAP_BYTES 16

/* Where arenas lie in the file, behind the low part. */
#define FILE_ARENAS (UINT64_C(1) << 30)

/*
 * The areas of processes that are descended from each other by fork, in a file of their own.
 * nr: of threads; the first first_bank of them have not been banks, which are taken from the end
 * owners: of each, + 1: the area of its thread; 0: it is free
 */
struct areas {
	int fd;
	unsigned nr_users; /* caches */
	uint32_t nr, first_bank;
	uint64_t address;
	uint16_t *owners;
};

/*
 * A gap: a place where a thread stops because something is missing. It is an int3, and becomes a jump later.
 * target: the original address that the thread is on its way to
 * site: where the branch that leads here has its displacement, to be set right when the target is there; of a call, the
 * instruction itself; 0: nowhere
 * fragment: of GAP_CALL and GAP_STALE; of GAP_EDGE the number of the edge, and site is where the thread goes on
 * next: of those that wait for the same target, + 1
 */
enum gap_kind { GAP_LINK, GAP_CALL, GAP_NATIVE, GAP_STALE, GAP_EDGE };
struct gap {
	uint64_t target;
	uint32_t site, fragment, next;
	uint8_t kind;
};

/*
 * Translated code grows from the beginning, gaps from the end; order has the fragments of the arena by address.
 * The first byte is an int3 that ends each chain of the look-up table. At ARENA_CALL is a system call, which the
 * process makes for the tracer.
 */
#define ARENA_CALL 2
#define ARENA_FIRST 16 /* where the code begins */
struct arena {
	uint64_t address;
	uint8_t *bytes;
	uint32_t used;
	struct gap *gaps;
	uint32_t nr_gaps, gap_room;
	uint32_t *order;
	uint32_t nr_order, order_room;
};

/* Bits in a mark's origin. */
#define MARK_AFTER_CALL 0x8000 /* behind a system call: rcx is not right yet     */
#define MARK_SAVED 0x4000      /* the program's rcx and rdx are in their slots */
#define MARK_PASSED 0x2000     /* behind an edge at the same address, which would be passed once more */
#define MARK_BEHIND 0x1000     /* behind all edges at the address: what was taken away here goes on here */
#define MARK_LOADS 0x0800      /* the register that the instruction loads is in its slot */
#define MARK_ORIGIN 0x07ff

/* A copied instruction, or another place at which all registers are the program's; offsets from body and origin. */
struct mark {
	uint16_t at, origin;
};

/*
 * A translated basic block. Offsets are in its arena.
 * body: where branches lead that know their target   entry: where those do that look it up; 0: none
 * counted_at: where it has been counted, from body on
 * bytes: its original bytes in code_cache.bytes, if they are kept (is_kept): they may change, or have changed
 * is_checked: it looks whether they have, each time
 * object, offset: where the code is, as struct code_range has it; object 0: not known
 * is_executed: some thread has executed it
 * is_ended: an edge stands between the place where its only instruction is counted and the instruction
 * There are hundreds of thousands of them, so they are small.
 */
struct fragment {
	uint64_t origin;
	uint32_t body, end, entry;
	uint32_t marks, bytes, counter;
	uint32_t waiting;  /* the first gap that is linked when it is complete, + 1 */
	uint32_t contents; /* of contents.h: + 1; 0: not looked at yet */
	uint32_t object, offset;
	uint16_t nr_marks, nr_origin_bytes, counted_at;
	uint8_t arena;
	bool is_dead : 1, is_checked : 1, is_kept : 1, is_executed : 1, is_ended : 1;
};

/*
 * A counter of what depends on values: how many active lanes, or turns of a repeated instruction. A branch back to
 * the beginning of a loop has one of how often it had been executed when the loop was left last, and from
 * DYNAMIC_TRIPS on those of how often it was left after 1 turn, 2 or 3, 4 to 7, ...
 */
enum dynamic_kind { DYNAMIC_TURNS, DYNAMIC_LANES, DYNAMIC_LEFT, DYNAMIC_TRIPS };
struct dynamic {
	uint32_t counter, fragment;
	uint16_t origin; /* of the instruction, from that of the fragment */
	uint8_t kind;
};

#define OWNER_DYNAMIC 0x80000000U

/*
 * An original address that is known, in an open hash table. number, + 1: of its fragment, or, with KNOWN_WAITS, of the
 * first gap that waits for one; 0: the place is free; KNOWN_WAITS alone: the address is not known any more.
 */
#define KNOWN_WAITS 0x80000000U
struct known {
	uint64_t address;
	uint32_t number;
};

struct code_page {
	uint64_t address;
	struct code_page *next;
	uint8_t bytes[4096];
};
#define CODE_PAGE_BUCKETS 4096

/* Original addresses that are to be translated, from first on, and how many fragments may be made of them. */
#define CODE_QUEUE_ROOM 2048
struct code_queue {
	struct queued {
		uint64_t origin;
		bool has_entry;
	} entries[CODE_QUEUE_ROOM];
	uint32_t first, nr, nr_to_make;
};

/* A mapped file whose blocks are foreseen (foreseen.h): where it is; the number of the first block not made yet. */
struct foreseen_code {
	const struct foreseen_file *file;
	uint64_t start, end;
	size_t next;
};

struct code_cache {
	int fd;
	int memory; /* of a process as it is now: another program that it executes later is not read by it; -1: closed
		     */
	pid_t memory_pid;  /* of which; those that it has forked may use the cache without it */
	unsigned nr_users; /* processes */
	uint64_t low_address, handle_address;
	uint8_t *low;
	struct areas *areas;
	struct arena arenas[MAX_ARENAS];
	uint32_t nr_arenas;

	struct fragment *fragments;
	uint32_t nr_fragments, fragment_room;
	struct known *known;
	uint32_t nr_known, known_room; /* a power of two */
	struct mark *marks;
	uint32_t nr_marks, mark_room;
	uint8_t *bytes;
	uint32_t nr_bytes, byte_room;
	struct dynamic *dynamics;
	uint32_t nr_dynamics, dynamic_room;
	uint32_t *owners; /* of counters: fragments, or dynamics with OWNER_DYNAMIC */
	uint32_t nr_counters, owner_room;
	struct contents *contents;
	uint32_t nr_contents, contents_room;
	uint32_t next_counter, look_again_at; /* of contents_ahead: at how many fragments it begins anew */
	struct code_page *pages[CODE_PAGE_BUCKETS];
	struct code_queue ahead;
	struct foreseen_code *foreseen;
	size_t nr_foreseen;
	bool has_all_foreseen; /* made, of all that is mapped */
	struct edge *edges;    /* numbers of those that are lifted are not used again */
	uint32_t nr_edges, nr_callers_replaced;
};

/*
 * Makes the cache of a process by calls in its thread, which is at a pause (remote_call). empty: the address of a 0
 * byte in its memory. NULL: the system does not permit it.
 */
struct code_cache *code_cache_new(pid_t tid, long options, uint64_t empty, struct rot_error *err);

/* A forked process gets a cache of its own, at the same addresses, with all that from has. Like code_cache_new. */
struct code_cache *code_cache_copy(const struct code_cache *from, pid_t tid, long options, struct rot_error *err);

/* One process less uses it. NULL is allowed. */
void code_cache_release(struct code_cache *cache);

/* Takes all of it out of the process of that thread, which is at a pause; no thread executes anything there now. */
void code_cache_unmap(const struct code_cache *cache, pid_t tid, long options);

/* The arena in reach of that address with room for more code, made where there is none. -1: there can be none. */
int code_cache_arena(struct code_cache *cache, pid_t tid, long options, uint64_t near, struct rot_error *err);

/* The process of that thread, which is stopped, has all of it: nothing was made or copied while it was forked. */
bool code_cache_is_whole(const struct code_cache *cache, pid_t tid);

/* There is such an arena already. */
bool code_cache_has_room(const struct code_cache *cache, uint64_t near);

/* An area for a thread, all zero. -1: there are no more. */
int64_t code_cache_take_area(struct code_cache *cache);
void code_cache_give_area(struct code_cache *cache, int64_t area);
uint64_t code_cache_area_address(const struct code_cache *cache, int64_t area);

/* A bank for the thread of that area, mapped as code_cache_new does. -1: there can be none. */
int64_t code_cache_take_bank(struct code_cache *cache, int64_t area, pid_t tid, long options, struct rot_error *err);

/* The area or bank that a gs base is the address of, and the area of its thread. */
int64_t code_cache_bank_at(const struct code_cache *cache, uint64_t gs_base);
int64_t code_cache_owner(const struct code_cache *cache, int64_t bank);

/* Bytes of an area, zero where nothing was written. write: false: the system refuses it. */
void code_cache_read_area(const struct code_cache *cache, int64_t area, uint64_t offset, void *bytes, size_t n);
bool code_cache_write_area(const struct code_cache *cache, int64_t area, uint64_t offset, const void *bytes, size_t n);

/* A word of an area; 0 where nothing was written. set: false: the system refuses it. */
uint64_t code_cache_slot(const struct code_cache *cache, int64_t area, uint64_t offset);
bool code_cache_set_slot(const struct code_cache *cache, int64_t area, uint64_t offset, uint64_t word);

/* Counters of an area, a page of them from first on, which is the first of a page. */
#define PAGE_COUNTERS 512
bool
code_cache_read_counters(const struct code_cache *cache, int64_t area, uint32_t first, uint64_t values[PAGE_COUNTERS]);

/* Calls visit for each counter of an area that is not 0. */
void code_cache_each_counter(const struct code_cache *cache, int64_t area,
			     void (*visit)(void *context, uint32_t counter, uint64_t value), void *context);

/* ---- fragments ---- */

/* The live fragment of that original address, or NULL. */
struct fragment *code_cache_find(const struct code_cache *cache, uint64_t origin);
struct fragment *code_cache_add(struct code_cache *cache, uint32_t arena, uint64_t origin, uint32_t body);

/* Counts something that depends on values; of the fragment's instruction at that offset from its origin. */
uint32_t
code_cache_add_dynamic(struct code_cache *cache, const struct fragment *fragment, uint8_t kind, uint32_t origin);

/* Keeps the original bytes of a fragment. */
void code_cache_keep(struct code_cache *cache, struct fragment *fragment, const uint8_t *bytes);
void code_cache_add_mark(struct code_cache *cache, struct fragment *fragment, uint32_t at, uint32_t origin);
uint64_t fragment_address(const struct code_cache *cache, const struct fragment *fragment);

/* The fragment whose code has that address of the process, or ends there; NULL: none. */
struct fragment *code_cache_fragment_at(const struct code_cache *cache, uint64_t address);

/* The arena that has that address, or NULL. */
struct arena *code_cache_arena_at(const struct code_cache *cache, uint64_t address);

/* A new gap; its offset in the arena. One of GAP_LINK waits for its target, or leads there at once. */
uint32_t code_cache_add_gap(struct code_cache *cache, uint32_t arena, const struct gap *gap);
struct gap *code_cache_gap_at(const struct code_cache *cache, uint64_t address);

/* All who wait for the target of this fragment now lead there. */
void code_cache_link(struct code_cache *cache, struct fragment *fragment);

/* Fragments of code in that range are not used any more, and its bytes are read anew. */
void code_cache_forget(struct code_cache *cache, uint64_t start, uint64_t end);
void code_cache_kill(struct code_cache *cache, struct fragment *fragment);

/* All code is translated anew. */
void code_cache_kill_all(struct code_cache *cache);

/* The number of the fragment that begins at that address of the process and is not used any more. */
#define NO_FRAGMENT UINT32_MAX
bool code_cache_find_dead(const struct code_cache *cache, uint64_t address, uint32_t *fragment);

/* Threads that still go to a fragment that is not used any more now go on to that address. */
void code_cache_replace(struct code_cache *cache, const struct fragment *dead, uint64_t address);

/*
 * Up to n bytes of original code; how many can be read. tid: a stopped thread that has them; CODE_CACHE_RUNNING: the
 * process of the cache, while it runs. is_fresh: as they are now, rather than when they were read first.
 */
#define CODE_CACHE_RUNNING 0
size_t code_cache_read(struct code_cache *cache, pid_t tid, uint64_t address, uint8_t *bytes, size_t n, bool is_fresh);
