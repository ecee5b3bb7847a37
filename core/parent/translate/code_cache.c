/* SPDX-License-Identifier: MIT */
#include "parent/translate/code_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/proc.h"
#include "memory.h"
#include "parent/tracer/remote.h"
#include "parent/translate/contents.h" /* struct contents */
#include "parent/translate/edges.h"    /* struct edge */
#include "parent/translate/recording.h"

#define PAGE_BYTES 4096
#define INT3 0xcc

/* Far from libraries, near which arenas are. */
#define AREAS_HINT UINT64_C(0x200000000000)
#define HANDLE_HINT UINT64_C(0x280000000000)

#define FILE_BYTES (FILE_ARENAS + MAX_ARENAS * ARENA_BYTES)
#define CACHE_LINE 64

/* glibc 2.38 and kernel 6.3 have it; others refuse it. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

static void *
grown(void *old, uint32_t nr, uint32_t *room, size_t bytes)
{
	if (nr < *room)
		return old;
	*room = 2 * nr + 256;
	return rot_realloc(old, *room, bytes);
}

/* ---- the file, and what is mapped of it ---- */

/* instruction: a system call in its code; 0: not looked for yet, or calls may be filtered */
struct remote_maker {
	pid_t tid;
	long options;
	uint64_t instruction;
	struct rot_error *err;
};

static int64_t
call(const struct remote_maker *maker, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
     uint64_t f)
{
	const uint64_t arguments[6] = {a, b, c, d, e, f};
	int64_t result;

	if ((maker->instruction
		     ? remote_step_call(maker->tid, maker->instruction, number, arguments, &result, maker->err)
		     : remote_call(maker->tid, maker->options, number, arguments, &result, maker->err)) < 0)
		return -EINTR;
	return result;
}

static bool
is_error(int64_t result)
{
	return result < 0 && result > -PAGE_BYTES;
}

/* cache: whose first arena the process has; NULL: it has none, or not for long. */
static struct remote_maker
maker_of(const struct code_cache *cache, pid_t tid, long options, struct rot_error *err)
{
	struct remote_maker maker = {.tid = tid, .options = options, .err = err};
	uint64_t mode = 0;

	proc_status(tid, "Seccomp", 10, &mode);
	if (mode == 0)
		maker.instruction = cache && cache->nr_arenas > 0 ? cache->arenas[0].address + ARENA_CALL
								  : remote_find_syscall(tid);
	return maker;
}

static int
refused(const struct remote_maker *maker, int64_t result, const char *what)
{
	return rot_error_set(maker->err, (int)-result, "cannot %s in process %d", what, (int)maker->tid);
}

/* The process makes a file of that size, and this one opens it. *remote_fd: to be closed there. */
static int
make_file(const struct remote_maker *maker, uint64_t empty, uint64_t bytes, int *fd, int64_t *remote_fd)
{
	char path[64];

	*remote_fd = call(maker, SYS_memfd_create, empty, MFD_CLOEXEC | MFD_EXEC, 0, 0, 0, 0);
	if (*remote_fd == -EINVAL)
		*remote_fd = call(maker, SYS_memfd_create, empty, MFD_CLOEXEC, 0, 0, 0, 0);
	if (is_error(*remote_fd))
		return refused(maker, *remote_fd, "make memory for translated code");
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)maker->tid, (int)*remote_fd);
	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, (off_t)bytes) < 0)
		return rot_error_set(maker->err, errno, "cannot open '%s' for translated code", path);
	return 0;
}

static void *
map_here(const struct code_cache *cache, uint64_t offset, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, cache->fd, (off_t)offset);

	return at == MAP_FAILED ? NULL : at;
}

/* No dump of the process shall have it: the kernel would make all pages of the large ones for that. */
static int64_t
map_there(const struct remote_maker *maker, int64_t fd, uint64_t address, uint64_t bytes, int protection,
	  uint64_t offset, int flags)
{
	const int64_t result = call(maker, SYS_mmap, address, bytes, (uint64_t)protection,
				    (uint64_t)(MAP_SHARED | MAP_NORESERVE | flags), (uint64_t)fd, offset);

	if (!is_error(result))
		call(maker, SYS_madvise, (uint64_t)result, bytes, MADV_DONTDUMP, 0, 0, 0);
	return result;
}

/* From the top of the lowest 2 GB down, far from a heap that grows behind a program there. */
static int
map_low(struct code_cache *cache, const struct remote_maker *maker, int64_t fd)
{
	int64_t result = -ENOMEM;

	for (uint64_t address = 0x7fe00000; address > 0x10000000 && is_error(result); address -= 0x1000000)
		result = map_there(maker, fd, address, LOW_BYTES, PROT_READ, 0, MAP_FIXED_NOREPLACE);
	if (is_error(result))
		return refused(maker, result, "map the table of branches");
	cache->low_address = (uint64_t)result;
	return 0;
}

static void
areas_release(struct areas *areas)
{
	if (!areas || --areas->nr_users > 0)
		return;
	if (areas->fd >= 0)
		close(areas->fd);
	free(areas->owners);
	free(areas);
}

/* At an address whose lower bits are 0. A limit of memory may leave room for fewer. */
static int
map_areas(struct areas *areas, const struct remote_maker *maker, int64_t fd)
{
	int64_t result = -ENOMEM;

	for (areas->nr = MAX_AREAS; areas->nr > 0 && is_error(result); areas->nr /= 4) {
		for (uint64_t hint = AREAS_HINT; hint < HANDLE_HINT && is_error(result); hint += AREAS_HINT / 64)
			result = map_there(maker, fd, hint, areas->nr * AREA_BYTES, PROT_READ | PROT_WRITE, 0,
					   MAP_FIXED_NOREPLACE);
		if (!is_error(result))
			break;
	}
	if (is_error(result))
		return refused(maker, result, "map counters");
	areas->address = (uint64_t)result;
	return 0;
}

static struct areas *
areas_new(const struct remote_maker *maker, uint64_t empty)
{
	struct areas *areas = rot_calloc(1, sizeof(*areas));
	int64_t fd = -1;
	int rc;

	*areas = (struct areas){.fd = -1, .nr_users = 1, .owners = rot_calloc(MAX_AREAS, sizeof(*areas->owners))};
	rc = make_file(maker, empty, MAX_AREAS * AREA_BYTES, &areas->fd, &fd);
	if (rc == 0)
		rc = map_areas(areas, maker, fd);
	areas->first_bank = areas->nr;
	if (fd >= 0)
		call(maker, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	if (rc == 0)
		return areas;
	areas_release(areas);
	return NULL;
}

/*
 * Its parts are moved to where arenas are wanted, when there is no descriptor any more. Far from there, where the whole
 * would take the room that they need; a process that was forked may have that of another.
 */
static int
map_handle(struct code_cache *cache, const struct remote_maker *maker, int64_t fd)
{
	const uint64_t bytes = MAX_ARENAS * ARENA_BYTES;
	int64_t result = -ENOMEM;

	for (uint64_t hint = HANDLE_HINT; hint < HANDLE_HINT + 64 * bytes && is_error(result); hint += bytes)
		result = map_there(maker, fd, hint, bytes, PROT_NONE, FILE_ARENAS, MAP_FIXED_NOREPLACE);
	if (is_error(result))
		return refused(maker, result, "map translated code");
	cache->handle_address = (uint64_t)result;
	return 0;
}

static void
fill_low(struct code_cache *cache)
{
	static const unsigned short stops[] = {SYS_rt_sigreturn, SYS_munmap, SYS_mremap,
					       SYS_arch_prctl,   SYS_rseq,   SYS_mlockall};
	static const unsigned short stop_if[] = {SYS_mmap, SYS_mprotect, SYS_pkey_mprotect};

	for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		cache->low[LOW_CALL_CLASSES + stops[i]] = CALL_STOPS;
	for (size_t i = 0; i < sizeof(stop_if) / sizeof(*stop_if); i++)
		cache->low[LOW_CALL_CLASSES + stop_if[i]] = CALL_STOPS_IF_EXECUTABLE;
	cache->low[LOW_CALL_CLASSES + SYS_rt_sigprocmask] = CALL_STOPS_IF_OF_TRAPS;
	recording_leave_out(cache->low, UINT64_MAX);
	for (unsigned i = 0; i < 256; i++) {
		cache->low[LOW_PROTECTIONS + i] = (i & PROT_EXEC) != 0;
		cache->low[LOW_TRAPS + i] = (i & REMOTE_SIGNAL(SIGTRAP)) != 0;
		for (unsigned nr_bits = 1, table = 0; nr_bits <= 8; nr_bits *= 2, table++)
			cache->low[LOW_ONES + 256 * table + i] = (uint8_t)__builtin_popcount(i & ((1U << nr_bits) - 1));
	}
}

static struct code_cache *
new_empty(void)
{
	struct code_cache *cache = rot_calloc(1, sizeof(*cache));

	cache->fd = cache->memory = -1;
	cache->nr_users = 1;
	cache->known_room = 4096;
	cache->known = rot_calloc(cache->known_room, sizeof(*cache->known));
	return cache;
}

struct code_cache *
code_cache_new(pid_t tid, long options, uint64_t empty, struct rot_error *err)
{
	const struct remote_maker maker = maker_of(NULL, tid, options, err);
	struct code_cache *cache = new_empty();
	int64_t fd;

	cache->memory = remote_open_memory(tid);
	cache->areas = areas_new(&maker, empty);
	if (cache->areas && make_file(&maker, empty, FILE_BYTES, &cache->fd, &fd) == 0) {
		const bool is_mapped = map_low(cache, &maker, fd) == 0 && map_handle(cache, &maker, fd) == 0;

		call(&maker, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
		cache->low = is_mapped ? map_here(cache, 0, LOW_BYTES) : NULL;
		if (cache->low) {
			fill_low(cache);
			return cache;
		}
		if (is_mapped)
			rot_error_set(err, errno, "cannot map the table of branches of process %d", (int)tid);
	}
	code_cache_release(cache);
	return NULL;
}

static void *
duplicate(const void *from, size_t nr, size_t bytes)
{
	void *copy = nr > 0 ? rot_calloc(nr, bytes) : NULL;

	if (copy)
		memcpy(copy, from, nr * bytes);
	return copy;
}

static bool
copy_arena(struct code_cache *cache, const struct code_cache *from, uint32_t i, const struct remote_maker *maker,
	   int64_t fd)
{
	const struct arena *old = &from->arenas[i];
	struct arena *arena = &cache->arenas[i];
	const size_t gaps = (size_t)old->nr_gaps * GAP_BYTES;

	*arena = *old;
	arena->bytes = map_here(cache, FILE_ARENAS + i * ARENA_BYTES, ARENA_BYTES);
	arena->gaps = duplicate(old->gaps, old->gap_room, sizeof(*old->gaps));
	arena->order = duplicate(old->order, old->order_room, sizeof(*old->order));
	if (!arena->bytes)
		return false;
	memcpy(arena->bytes, old->bytes, old->used);
	memcpy(arena->bytes + ARENA_BYTES - gaps, old->bytes + ARENA_BYTES - gaps, gaps);
	return !is_error(map_there(maker, fd, old->address, ARENA_BYTES, PROT_READ | PROT_EXEC,
				   FILE_ARENAS + i * ARENA_BYTES, MAP_FIXED));
}

static void
copy_tables(struct code_cache *cache, const struct code_cache *from)
{
	cache->fragments = duplicate(from->fragments, from->fragment_room, sizeof(*from->fragments));
	cache->marks = duplicate(from->marks, from->mark_room, sizeof(*from->marks));
	cache->bytes = duplicate(from->bytes, from->byte_room, 1);
	cache->dynamics = duplicate(from->dynamics, from->dynamic_room, sizeof(*from->dynamics));
	cache->nr_fragments = from->nr_fragments, cache->fragment_room = from->fragment_room;
	cache->nr_marks = from->nr_marks, cache->mark_room = from->mark_room;
	cache->nr_bytes = from->nr_bytes, cache->byte_room = from->byte_room;
	cache->nr_dynamics = from->nr_dynamics, cache->dynamic_room = from->dynamic_room;
	cache->owners = duplicate(from->owners, from->owner_room, sizeof(*from->owners));
	cache->nr_counters = from->nr_counters, cache->owner_room = from->owner_room;
	cache->contents = duplicate(from->contents, from->contents_room, sizeof(*from->contents));
	cache->nr_contents = from->nr_contents, cache->contents_room = from->contents_room;
	cache->edges = duplicate(from->edges, from->nr_edges, sizeof(*from->edges));
	cache->nr_edges = from->nr_edges;
	free(cache->known);
	cache->known = duplicate(from->known, from->known_room, sizeof(*from->known));
	cache->nr_known = from->nr_known, cache->known_room = from->known_room;
	for (size_t i = 0; i < CODE_PAGE_BUCKETS; i++) {
		for (const struct code_page *page = from->pages[i]; page; page = page->next) {
			struct code_page *copy = duplicate(page, 1, sizeof(*page));

			copy->next = cache->pages[i];
			cache->pages[i] = copy;
		}
	}
}

struct code_cache *
code_cache_copy(const struct code_cache *from, pid_t tid, long options, struct rot_error *err)
{
	const struct remote_maker maker = maker_of(from, tid, options, err);
	struct code_cache *cache = new_empty();
	bool is_done;
	int64_t fd;

	cache->memory = remote_open_memory(tid);
	cache->areas = from->areas;
	cache->areas->nr_users++;
	if (make_file(&maker, from->low_address + LOW_ZERO, FILE_BYTES, &cache->fd, &fd) < 0)
		goto failed;
	cache->low_address = from->low_address;
	cache->handle_address = from->handle_address;
	cache->nr_arenas = from->nr_arenas;
	cache->low = map_here(cache, 0, LOW_BYTES);
	is_done = cache->low != NULL;
	if (is_done)
		memcpy(cache->low, from->low, LOW_BYTES);
	for (uint32_t i = 0; i < from->nr_arenas; i++)
		is_done &= copy_arena(cache, from, i, &maker, fd);
	copy_tables(cache, from);
	is_done = is_done && !is_error(map_there(&maker, fd, cache->low_address, LOW_BYTES, PROT_READ, 0, MAP_FIXED)) &&
		  !is_error(map_there(&maker, fd, cache->handle_address, MAX_ARENAS * ARENA_BYTES, PROT_NONE,
				      FILE_ARENAS, MAP_FIXED));
	call(&maker, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	if (is_done)
		return cache;
	rot_error_set(err, errno, "cannot copy the translated code of process %d", (int)tid);
failed:
	code_cache_release(cache);
	return NULL;
}

void
code_cache_release(struct code_cache *cache)
{
	if (!cache || --cache->nr_users > 0)
		return;
	for (uint32_t i = 0; i < cache->nr_arenas; i++) {
		if (cache->arenas[i].bytes)
			munmap(cache->arenas[i].bytes, ARENA_BYTES);
		free(cache->arenas[i].gaps);
		free(cache->arenas[i].order);
	}
	for (size_t i = 0; i < CODE_PAGE_BUCKETS; i++) {
		for (struct code_page *page = cache->pages[i], *next; page; page = next) {
			next = page->next;
			free(page);
		}
	}
	if (cache->low)
		munmap(cache->low, LOW_BYTES);
	if (cache->fd >= 0)
		close(cache->fd);
	if (cache->memory >= 0)
		close(cache->memory);
	areas_release(cache->areas);
	free(cache->fragments);
	free(cache->known);
	free(cache->marks);
	free(cache->bytes);
	free(cache->dynamics);
	free(cache->owners);
	free(cache->contents);
	free(cache->foreseen);
	free(cache->edges);
	free(cache);
}

void
code_cache_unmap(const struct code_cache *cache, pid_t tid, long options)
{
	struct rot_error err;
	const struct remote_maker maker = maker_of(NULL, tid, options, &err);

	call(&maker, SYS_munmap, cache->low_address, LOW_BYTES, 0, 0, 0, 0);
	call(&maker, SYS_munmap, cache->areas->address, cache->areas->nr * AREA_BYTES, 0, 0, 0, 0);
	call(&maker, SYS_munmap, cache->handle_address, MAX_ARENAS * ARENA_BYTES, 0, 0, 0, 0);
	for (uint32_t i = 0; i < cache->nr_arenas; i++)
		call(&maker, SYS_munmap, cache->arenas[i].address, ARENA_BYTES, 0, 0, 0, 0);
}

/* ---- arenas ---- */

/* More than one fragment takes, with its gaps. */
#define SPARE_BYTES 131072

/* The new arena's address; 0: there is no place for it. */
static uint64_t
move_arena(const struct code_cache *cache, const struct remote_maker *maker, uint64_t near)
{
	const uint64_t from = cache->handle_address + cache->nr_arenas * ARENA_BYTES;
	size_t nr;
	struct remote_mapping *mappings = remote_mappings(maker->tid, &nr, maker->err);
	int64_t result = -ENOMEM;

	for (size_t attempt = 0; mappings && attempt < 16 && is_error(result); attempt++) {
		const uint64_t where = remote_find_gap(mappings, nr, near, ARENA_BYTES, attempt) & ~(PAGE_BYTES - 1UL);

		if (where == 0)
			break;
		/* With length 0 mremap maps the shared part once more; it may only replace what was just mapped. */
		result = call(maker, SYS_mmap, where, ARENA_BYTES, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, (uint64_t)-1, 0);
		if (!is_error(result))
			result = call(maker, SYS_mremap, from, 0, ARENA_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, where, 0);
		if (!is_error(result) &&
		    is_error(call(maker, SYS_mprotect, where, ARENA_BYTES, PROT_READ | PROT_EXEC, 0, 0, 0)))
			result = -EACCES;
	}
	free(mappings);
	if (is_error(result))
		refused(maker, result, "map translated code near what it is translated from");
	return is_error(result) ? 0 : (uint64_t)result;
}

/* -1: there is none. */
static int
find_arena(const struct code_cache *cache, uint64_t near)
{
	for (uint32_t i = cache->nr_arenas; i-- > 0;) {
		const struct arena *arena = &cache->arenas[i];
		const uint64_t away = near > arena->address ? near - arena->address : arena->address - near;

		if (away < REMOTE_NEAR_BYTES - ARENA_BYTES &&
		    arena->used + (uint64_t)arena->nr_gaps * GAP_BYTES + SPARE_BYTES < ARENA_BYTES)
			return (int)i;
	}
	return -1;
}

/* From that address on it has so many bytes of that file. */
static bool
has_mapped(const struct remote_mapping *mappings, size_t nr, ino_t inode, uint64_t address, uint64_t bytes,
	   bool is_executable)
{
	for (size_t i = 0; i < nr; i++) {
		if (mappings[i].inode == inode && mappings[i].is_executable == is_executable &&
		    mappings[i].start <= address && address + bytes <= mappings[i].end)
			return true;
	}
	return false;
}

/* A part that was being made may be mapped, but not executable; one that was being copied may be of the other file. */
bool
code_cache_is_whole(const struct code_cache *cache, pid_t tid)
{
	size_t nr;
	struct remote_mapping *mappings = remote_mappings(tid, &nr, NULL);
	struct stat status;
	bool is_whole = true;

	if (mappings && fstat(cache->fd, &status) == 0) {
		is_whole =
			has_mapped(mappings, nr, status.st_ino, cache->low_address, LOW_BYTES, false) &&
			has_mapped(mappings, nr, status.st_ino, cache->handle_address, MAX_ARENAS * ARENA_BYTES, false);
		for (uint32_t i = 0; i < cache->nr_arenas && is_whole; i++)
			is_whole = has_mapped(mappings, nr, status.st_ino, cache->arenas[i].address, ARENA_BYTES, true);
	}
	free(mappings);
	return is_whole;
}

bool
code_cache_has_room(const struct code_cache *cache, uint64_t near)
{
	return find_arena(cache, near) >= 0;
}

int
code_cache_arena(struct code_cache *cache, pid_t tid, long options, uint64_t near, struct rot_error *err)
{
	const int known = find_arena(cache, near);
	struct remote_maker maker;
	struct arena *arena = &cache->arenas[cache->nr_arenas];

	if (known >= 0)
		return known;
	if (cache->nr_arenas == MAX_ARENAS)
		return rot_error_set(err, 0, "there is no room for more translated code in process %d", (int)tid);
	maker = maker_of(cache, tid, options, err);
	*arena = (struct arena){.address = move_arena(cache, &maker, near), .used = ARENA_FIRST};
	if (arena->address == 0)
		return -1;
	arena->bytes = map_here(cache, FILE_ARENAS + cache->nr_arenas * ARENA_BYTES, ARENA_BYTES);
	if (!arena->bytes)
		return rot_error_set(err, errno, "cannot map the translated code of process %d", (int)tid);
	arena->bytes[0] = INT3;
	memcpy(arena->bytes + ARENA_CALL, "\x0f\x05", 2);
	if (cache->nr_arenas == 0) {
		for (size_t i = 0; i < LOW_TABLE_ENTRIES; i++)
			memcpy(cache->low + LOW_TABLE + 8 * i, &arena->address, 8);
	}
	return (int)cache->nr_arenas++;
}

struct arena *
code_cache_arena_at(const struct code_cache *cache, uint64_t address)
{
	for (uint32_t i = 0; i < cache->nr_arenas; i++) {
		if (address - cache->arenas[i].address < ARENA_BYTES)
			return (struct arena *)&cache->arenas[i];
	}
	return NULL;
}

/* ---- areas ---- */

int64_t
code_cache_take_area(struct code_cache *cache)
{
	struct areas *areas = cache->areas;

	for (int64_t i = 0; i < areas->first_bank; i++) {
		if (areas->owners[i] == 0) {
			areas->owners[i] = (uint16_t)(i + 1);
			return i;
		}
	}
	return -1;
}

/* Where one was a bank before, its first page is mapped once more. */
int64_t
code_cache_take_bank(struct code_cache *cache, int64_t area, pid_t tid, long options, struct rot_error *err)
{
	const struct remote_maker maker = maker_of(cache, tid, options, err);
	struct areas *areas = cache->areas;
	int64_t bank = areas->nr - 1, result;

	while (bank >= 0 && areas->owners[bank] != 0)
		bank--;
	if (bank < 0)
		return rot_error_set(err, 0, "there are more threads in regions than can be counted at a time");
	result = call(&maker, SYS_mremap, code_cache_area_address(cache, area), 0, PAGE_BYTES,
		      MREMAP_MAYMOVE | MREMAP_FIXED, code_cache_area_address(cache, bank), 0);
	if (is_error(result))
		return refused(&maker, result, "map counters of regions");
	areas->owners[bank] = (uint16_t)(area + 1);
	if (bank < areas->first_bank)
		areas->first_bank = (uint32_t)bank;
	return bank;
}

int64_t
code_cache_bank_at(const struct code_cache *cache, uint64_t gs_base)
{
	return (int64_t)((gs_base - cache->areas->address) / AREA_BYTES);
}

int64_t
code_cache_owner(const struct code_cache *cache, int64_t bank)
{
	return bank >= 0 && bank < cache->areas->nr ? (int64_t)cache->areas->owners[bank] - 1 : -1;
}

void
code_cache_give_area(struct code_cache *cache, int64_t area)
{
	fallocate(cache->areas->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)((uint64_t)area * AREA_BYTES),
		  (off_t)AREA_BYTES);
	cache->areas->owners[area] = 0;
}

uint64_t
code_cache_area_address(const struct code_cache *cache, int64_t area)
{
	return cache->areas->address + (uint64_t)area * AREA_BYTES;
}

void
code_cache_read_area(const struct code_cache *cache, int64_t area, uint64_t offset, void *bytes, size_t n)
{
	if (pread(cache->areas->fd, bytes, n, (off_t)((uint64_t)area * AREA_BYTES + offset)) != (ssize_t)n)
		memset(bytes, 0, n);
}

bool
code_cache_write_area(const struct code_cache *cache, int64_t area, uint64_t offset, const void *bytes, size_t n)
{
	return pwrite(cache->areas->fd, bytes, n, (off_t)((uint64_t)area * AREA_BYTES + offset)) == (ssize_t)n;
}

uint64_t
code_cache_slot(const struct code_cache *cache, int64_t area, uint64_t offset)
{
	uint64_t word;

	code_cache_read_area(cache, area, offset, &word, sizeof(word));
	return word;
}

bool
code_cache_set_slot(const struct code_cache *cache, int64_t area, uint64_t offset, uint64_t word)
{
	return code_cache_write_area(cache, area, offset, &word, sizeof(word));
}

bool
code_cache_read_counters(const struct code_cache *cache, int64_t area, uint32_t first, uint64_t values[PAGE_COUNTERS])
{
	const off_t at = (off_t)((uint64_t)area * AREA_BYTES + AREA_COUNTERS) + (off_t)first * 8;

	return pread(cache->areas->fd, values, PAGE_COUNTERS * 8, at) == PAGE_COUNTERS * 8;
}

void
code_cache_each_counter(const struct code_cache *cache, int64_t area,
			void (*visit)(void *context, uint32_t counter, uint64_t value), void *context)
{
	const off_t begin = (off_t)((uint64_t)area * AREA_BYTES + AREA_COUNTERS);
	const off_t end = begin + (off_t)cache->nr_counters * 8;
	uint64_t words[PAGE_COUNTERS];
	off_t at = begin;

	while (at < end && (at = lseek(cache->areas->fd, at, SEEK_DATA)) >= 0 && at < end) {
		const size_t first = (size_t)(at - begin) / 8;

		if (!code_cache_read_counters(cache, area, (uint32_t)first, words))
			return;
		for (size_t i = 0; i < PAGE_COUNTERS && first + i < cache->nr_counters; i++) {
			if (words[i] != 0)
				visit(context, (uint32_t)(first + i), words[i]);
		}
		at += PAGE_BYTES;
	}
}

/* ---- fragments ---- */

#define GAP_INDEX_BITS 22 /* as many as an arena has room for */

static struct gap *
gap_of(const struct code_cache *cache, uint32_t number)
{
	return &cache->arenas[(number - 1) >> GAP_INDEX_BITS].gaps[(number - 1) & ((1U << GAP_INDEX_BITS) - 1)];
}

/* Where the address is, or would be. Addresses of 32 bytes of code have their places in a cache line. */
static struct known *
find_known(const struct code_cache *cache, uint64_t address)
{
	const uint32_t hash = (uint32_t)((address >> 5) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
	uint32_t i = hash << 2 | (address >> 3 & 3);

	for (;; i++) {
		struct known *known = &cache->known[i & (cache->known_room - 1)];

		if (known->number == 0 || (known->address == address && known->number != KNOWN_WAITS))
			return known;
	}
}

/* Addresses whose fragments are dead are left out. */
static void
grow_known(struct code_cache *cache)
{
	struct known *old = cache->known;
	const uint32_t nr = cache->known_room;

	cache->known_room *= 2;
	cache->known = rot_calloc(cache->known_room, sizeof(*cache->known));
	cache->nr_known = 0;
	for (uint32_t i = 0; i < nr; i++) {
		if (old[i].number == 0 || old[i].number == KNOWN_WAITS)
			continue;
		*find_known(cache, old[i].address) = old[i];
		cache->nr_known++;
	}
	free(old);
}

static void
set_known(struct code_cache *cache, struct known *known, uint64_t address, uint32_t number)
{
	cache->nr_known += known->number == 0;
	*known = (struct known){address, number};
	if (cache->nr_known > cache->known_room / 4 * 3)
		grow_known(cache);
}

struct fragment *
code_cache_find(const struct code_cache *cache, uint64_t origin)
{
	const uint32_t number = find_known(cache, origin)->number;

	return number == 0 || number & KNOWN_WAITS ? NULL : &cache->fragments[number - 1];
}

static uint32_t
add_counter(struct code_cache *cache, uint32_t owner)
{
	cache->owners = grown(cache->owners, cache->nr_counters, &cache->owner_room, sizeof(*cache->owners));
	cache->owners[cache->nr_counters] = owner;
	return cache->nr_counters++;
}

uint32_t
code_cache_add_dynamic(struct code_cache *cache, const struct fragment *fragment, uint8_t kind, uint32_t origin)
{
	const uint32_t counter = add_counter(cache, cache->nr_dynamics | OWNER_DYNAMIC);

	cache->dynamics = grown(cache->dynamics, cache->nr_dynamics, &cache->dynamic_room, sizeof(*cache->dynamics));
	cache->dynamics[cache->nr_dynamics++] =
		(struct dynamic){counter, (uint32_t)(fragment - cache->fragments), (uint16_t)origin, kind};
	return counter;
}

void
code_cache_keep(struct code_cache *cache, struct fragment *fragment, const uint8_t *bytes)
{
	const uint32_t n = fragment->nr_origin_bytes;

	if (cache->nr_bytes + n >= cache->byte_room)
		cache->bytes = rot_realloc(cache->bytes, cache->byte_room = 2 * cache->nr_bytes + n + 4096, 1);
	memcpy(cache->bytes + cache->nr_bytes, bytes, n);
	fragment->bytes = cache->nr_bytes;
	fragment->is_kept = true;
	cache->nr_bytes += n;
}

struct fragment *
code_cache_add(struct code_cache *cache, uint32_t arena, uint64_t origin, uint32_t body)
{
	struct arena *in = &cache->arenas[arena];
	struct known *known = find_known(cache, origin);
	struct fragment *fragment;

	cache->fragments =
		grown(cache->fragments, cache->nr_fragments, &cache->fragment_room, sizeof(*cache->fragments));
	in->order = grown(in->order, in->nr_order, &in->order_room, sizeof(*in->order));
	in->order[in->nr_order++] = cache->nr_fragments;
	fragment = &cache->fragments[cache->nr_fragments++];
	*fragment = (struct fragment){.origin = origin,
				      .arena = (uint8_t)arena,
				      .body = body,
				      .marks = cache->nr_marks,
				      .counter = add_counter(cache, cache->nr_fragments - 1),
				      .waiting = known->number & ~KNOWN_WAITS};
	set_known(cache, known, origin, cache->nr_fragments);
	return fragment;
}

void
code_cache_add_mark(struct code_cache *cache, struct fragment *fragment, uint32_t at, uint32_t origin)
{
	cache->marks = grown(cache->marks, cache->nr_marks, &cache->mark_room, sizeof(*cache->marks));
	cache->marks[cache->nr_marks++] = (struct mark){(uint16_t)(at - fragment->body), (uint16_t)origin};
	fragment->nr_marks++;
}

uint64_t
fragment_address(const struct code_cache *cache, const struct fragment *fragment)
{
	return cache->arenas[fragment->arena].address + fragment->body;
}

struct fragment *
code_cache_fragment_at(const struct code_cache *cache, uint64_t address)
{
	const struct arena *arena = code_cache_arena_at(cache, address);
	const uint32_t offset = arena ? (uint32_t)(address - arena->address) : 0;
	uint32_t low = 0, high = arena ? arena->nr_order : 0;
	struct fragment *found;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (cache->fragments[arena->order[middle]].body <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	found = &cache->fragments[arena->order[low - 1]];
	return offset <= found->end ? found : NULL;
}

void
code_cache_kill(struct code_cache *cache, struct fragment *fragment)
{
	struct known *known = find_known(cache, fragment->origin);

	if (known->number == (uint32_t)(fragment - cache->fragments) + 1)
		known->number = KNOWN_WAITS;
	fragment->is_dead = true;
	__atomic_store_n(&cache->arenas[fragment->arena].bytes[fragment->body], INT3, __ATOMIC_RELEASE);
}

void
code_cache_kill_all(struct code_cache *cache)
{
	for (size_t i = 0; i < cache->nr_foreseen; i++)
		cache->foreseen[i].next = 0;
	cache->has_all_foreseen = false;
	for (uint32_t i = 0; i < cache->nr_fragments; i++) {
		if (!cache->fragments[i].is_dead)
			code_cache_kill(cache, &cache->fragments[i]);
	}
}

bool
code_cache_find_dead(const struct code_cache *cache, uint64_t address, uint32_t *fragment)
{
	const struct fragment *found = code_cache_fragment_at(cache, address);

	if (!found || !found->is_dead || fragment_address(cache, found) != address)
		return false;
	*fragment = (uint32_t)(found - cache->fragments);
	return true;
}

void
code_cache_forget(struct code_cache *cache, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < cache->nr_foreseen; i++) {
		if (cache->foreseen[i].start < end && cache->foreseen[i].end > start) {
			cache->foreseen[i].next = 0;
			cache->has_all_foreseen = false;
		}
	}
	for (uint32_t i = 0; i < cache->nr_fragments; i++) {
		struct fragment *fragment = &cache->fragments[i];

		if (!fragment->is_dead && fragment->origin < end &&
		    fragment->origin + fragment->nr_origin_bytes > start) {
			uint8_t bytes[MARK_ORIGIN];

			if (!fragment->is_kept &&
			    code_cache_read(cache, -1, fragment->origin, bytes, fragment->nr_origin_bytes, false) > 0)
				code_cache_keep(cache, fragment, bytes);
			code_cache_kill(cache, fragment);
		}
	}
	for (size_t i = 0; i < CODE_PAGE_BUCKETS; i++) {
		for (struct code_page **link = &cache->pages[i], *page; (page = *link);) {
			if (page->address >= end || page->address + PAGE_BYTES <= start) {
				link = &page->next;
				continue;
			}
			*link = page->next;
			free(page);
		}
	}
}

/* ---- gaps ---- */

static uint32_t
gap_offset(uint32_t index)
{
	return (uint32_t)(ARENA_BYTES - (index + 1) * (uint64_t)GAP_BYTES);
}

struct gap *
code_cache_gap_at(const struct code_cache *cache, uint64_t address)
{
	const struct arena *arena = code_cache_arena_at(cache, address);
	const uint64_t from_end = arena ? arena->address + ARENA_BYTES - address : 0;

	if (!arena || from_end == 0 || from_end % GAP_BYTES != 0 || from_end / GAP_BYTES > arena->nr_gaps)
		return NULL;
	return &arena->gaps[from_end / GAP_BYTES - 1];
}

/* Other threads may execute the int3 until its byte is replaced, which is written last. */
static void
make_jump(uint8_t *bytes, uint64_t address, uint64_t target)
{
	const int64_t relative = (int64_t)(target - (address + 5));
	const int32_t narrow = (int32_t)relative;

	if (relative == narrow) {
		memcpy(bytes + 1, &narrow, sizeof(narrow));
		__atomic_store_n(bytes, 0xe9, __ATOMIC_RELEASE);
		return;
	}
	memcpy(bytes + 6, &target, sizeof(target));
	memcpy(bytes + 1, "\x25\0\0\0\0", 5);
	__atomic_store_n(bytes, 0xff, __ATOMIC_RELEASE);
}

/*
 * A fragment that checks itself begins with an instruction that is longer than the jump. In others a thread may be
 * within these bytes: there they stay as they are, and each who comes stops.
 */
void
code_cache_replace(struct code_cache *cache, const struct fragment *dead, uint64_t address)
{
	if (dead->is_checked &&
	    (int64_t)(address - fragment_address(cache, dead)) == (int32_t)(address - fragment_address(cache, dead)))
		make_jump(cache->arenas[dead->arena].bytes + dead->body, fragment_address(cache, dead), address);
}

static void
link_gap(struct code_cache *cache, uint32_t number, const struct fragment *fragment)
{
	const uint64_t target = fragment_address(cache, fragment);
	struct arena *arena = &cache->arenas[(number - 1) >> GAP_INDEX_BITS];
	const uint32_t offset = gap_offset((number - 1) & ((1U << GAP_INDEX_BITS) - 1));
	const uint32_t site = gap_of(cache, number)->site;
	const int64_t relative = (int64_t)(target - (arena->address + site + 4));
	int32_t narrow = (int32_t)relative;

	make_jump(arena->bytes + offset, arena->address + offset, target);
	/* A store within a cache line is seen as a whole. */
	if (site != 0 && relative == narrow && site / CACHE_LINE == (site + 3) / CACHE_LINE)
		__atomic_store((int32_t *)(void *)(arena->bytes + site), &narrow, __ATOMIC_RELEASE);
}

void
code_cache_link(struct code_cache *cache, struct fragment *fragment)
{
	for (; fragment->waiting != 0; fragment->waiting = gap_of(cache, fragment->waiting)->next)
		link_gap(cache, fragment->waiting, fragment);
}

uint32_t
code_cache_add_gap(struct code_cache *cache, uint32_t arena, const struct gap *gap)
{
	struct arena *in = &cache->arenas[arena];
	const uint32_t index = in->nr_gaps, number = (arena << GAP_INDEX_BITS | index) + 1;

	in->gaps = grown(in->gaps, in->nr_gaps, &in->gap_room, sizeof(*in->gaps));
	in->gaps[in->nr_gaps++] = *gap;
	in->bytes[gap_offset(index)] = INT3;
	if (gap->kind == GAP_LINK) {
		struct known *known = find_known(cache, gap->target);

		if (known->number != 0 && !(known->number & KNOWN_WAITS)) {
			link_gap(cache, number, &cache->fragments[known->number - 1]);
			return gap_offset(index);
		}
		in->gaps[index].next = known->number & ~KNOWN_WAITS;
		set_known(cache, known, gap->target, number | KNOWN_WAITS);
	}
	return gap_offset(index);
}

/* ---- original code ---- */

static bool
read_code(const struct code_cache *cache, pid_t tid, uint64_t address, void *bytes, size_t n)
{
	if (tid != CODE_CACHE_RUNNING)
		return remote_read(tid, address, bytes, n, NULL) == 0;
	return pread(cache->memory, bytes, n, (off_t)address) == (ssize_t)n;
}

static struct code_page *
page_of(struct code_cache *cache, pid_t tid, uint64_t address)
{
	struct code_page **bucket = &cache->pages[address / PAGE_BYTES % CODE_PAGE_BUCKETS], *page;

	for (page = *bucket; page && page->address != address; page = page->next)
		;
	if (page)
		return page;
	page = rot_calloc(1, sizeof(*page));
	page->address = address;
	page->next = *bucket;
	if (!read_code(cache, tid, address, page->bytes, PAGE_BYTES)) {
		free(page);
		return NULL;
	}
	return *bucket = page;
}

size_t
code_cache_read(struct code_cache *cache, pid_t tid, uint64_t address, uint8_t *bytes, size_t n, bool is_fresh)
{
	size_t done = 0;

	while (done < n) {
		const uint64_t at = address + done, offset = at % PAGE_BYTES;
		const size_t part = n - done < PAGE_BYTES - offset ? n - done : PAGE_BYTES - offset;

		if (is_fresh) {
			if (!read_code(cache, tid, at, bytes + done, part))
				break;
		} else {
			const struct code_page *page = page_of(cache, tid, at - offset);

			if (!page)
				break;
			memcpy(bytes + done, page->bytes + offset, part);
		}
		done += part;
	}
	return done;
}
