/* SPDX-License-Identifier: MIT */
#include "parent/translate/translator.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"
#include "memory.h"
#include "parent/injection/rseq.h"
#include "parent/tracer/remote.h"
#include "parent/tracer/restart.h"
#include "parent/translate/attachable.h"
#include "parent/translate/contents.h"
#include "parent/translate/positions.h"
#include "parent/translate/recording.h"
#include "parent/translate/translator_internal.h"

#define ARCH_SET_GS 0x1001
#define ARCH_GET_GS 0x1004
#define SYSCALL_BYTES 2
#define INT3 0xcc
#define TRAP_FLAG UINT64_C(0x100)

/* Results of a system call that a stop has interrupted: ERESTARTSYS, ... (the kernel's linux/errno.h). */
#define FIRST_RESTART (-516)
#define LAST_RESTART (-512)

struct translator *
translator_new(struct tracer *tracer, const struct translator_options *options)
{
	struct translator *self = rot_calloc(1, sizeof(*self));

	self->tracer = tracer;
	self->counted = options->counted;
	self->counts_trips = options->counts_trips;
	self->data = options->data;
	self->rules = options->regions;
	self->nr_regions = options->nr_regions < MAX_TRANSLATED_REGIONS ? options->nr_regions : MAX_TRANSLATED_REGIONS;
	self->foreseen = options->foreseen ? foreseen_new(options->foreseen) : NULL;
	if (options->caches)
		self->stream =
			stream_new(options->caches, &(struct stream_options){.sampling = options->sampling,
									     .has_pages = options->has_pages,
									     .has_causes = self->counted != NULL,
									     .has_curve = options->has_curve,
									     .has_regions = options->nr_regions > 0,
									     .has_kinds = options->has_kinds,
									     .what_ifs = options->what_ifs,
									     .nr_what_ifs = options->nr_what_ifs,
									     .data = options->data});
	return self;
}

/* ---- address spaces ---- */

/* Other runs, and processes that execute the same program, will foresee what was executed. */
static void
foresee_executed(const struct address_space *space)
{
	const struct code_range *range = NULL;

	for (uint32_t i = 0; i < space->cache->nr_fragments; i++) {
		const struct fragment *fragment = &space->cache->fragments[i];
		const uint64_t origin = fragment->origin;

		if (!fragment->is_executed || fragment->is_dead)
			continue;
		for (size_t k = 0; k < space->nr_ranges && !(range && origin >= range->start && origin < range->end);
		     k++)
			range = &space->ranges[k];
		if (range && range->foreseen && origin >= range->start && origin < range->end)
			foreseen_add(range->foreseen, origin - range->start + range->offset, fragment->entry != 0);
	}
}

static void
space_release(struct address_space *space)
{
	if (!space || --space->nr_users > 0)
		return;
	if (space->cache && space->program)
		foresee_executed(space);
	code_cache_release(space->cache);
	free(space->ranges);
	free(space);
}

static void
read_ranges(struct address_space *space, pid_t tid)
{
	size_t nr, used = 0;
	struct remote_mapping *mappings = remote_mappings(tid, &nr, NULL);

	free(space->ranges);
	space->ranges = rot_calloc(nr + 1, sizeof(*space->ranges));
	for (size_t i = 0; i < nr; i++) {
		const struct remote_mapping *mapping = &mappings[i];

		if (!mapping->is_executable || strcmp(mapping->name, "[vsyscall]") == 0 ||
		    code_cache_arena_at(space->cache, mapping->start))
			continue;
		space->ranges[used] = (struct code_range){
			.start = mapping->start,
			.end = mapping->end,
			.offset = mapping->offset,
			.foreseen = space->program && mapping->name[0] == '/' && !mapping->is_changeable
					    ? foreseen_find(space->program, mapping->name)
					    : NULL,
			.may_change = mapping->is_changeable ||
				      (mapping->name[0] != '/' && strcmp(mapping->name, "[vdso]") != 0),
			.object = space->counted
					  ? (uint32_t)counted_code_object(space->counted, space->cache->memory_pid,
									  mapping->inode, mapping->name)
					  : 0};
		snprintf(space->ranges[used].name, sizeof(space->ranges[used].name), "%s", basename(mapping->name));
		used++;
	}
	space->nr_ranges = used;
	space->cache->has_all_foreseen = false;
	free(mappings);
}

static struct address_space *
space_new(struct translator *self, const struct thread *thread, const struct user_regs_struct *registers,
	  struct rot_error *err)
{
	const pid_t tid = thread->tid;
	const long options = tracer_options(self->tracer);
	struct address_space *space = rot_calloc(1, sizeof(*space));
	char path[64], program[PATH_MAX] = "";
	uint64_t empty = registers->rsp; /* a byte that is 0 */
	uint8_t byte;

	while (remote_read(tid, empty, &byte, 1, NULL) == 0 && byte != 0)
		empty++;
	space->nr_users = 1;
	space->number = self->nr_spaces++;
	space->counted = self->counted;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	if (self->foreseen && readlink(path, program, sizeof(program) - 1) > 0)
		space->program = foreseen_program(self->foreseen, program);
	space->cache = code_cache_new(tid, options, empty, err);
	if (!space->cache || code_cache_arena(space->cache, tid, options, registers->rip, err) < 0) {
		space_release(space);
		return NULL;
	}
	space->cache->memory_pid = thread->pid;
	read_ranges(space, tid);
	return space;
}

/* A forked process begins with the code of its parent. */
static struct address_space *
space_fork(struct translator *self, const struct address_space *parent)
{
	struct address_space *space = rot_calloc(1, sizeof(*space));

	*space = *parent;
	space->nr_users = 1;
	space->number = self->nr_spaces++;
	space->cache->nr_users++;
	space->ranges = rot_calloc(parent->nr_ranges + 1, sizeof(*space->ranges));
	memcpy(space->ranges, parent->ranges, parent->nr_ranges * sizeof(*space->ranges));
	return space;
}

/* ---- what threads have counted ---- */

/* counted: NULL: the totals alone are wanted. */
struct harvest {
	struct code_cache *cache;
	struct totals *totals;
	struct counted_code *counted;
};

/* nr_bytes of a fragment's code, from that offset from its origin on. */
static struct counted_at
part_of(const struct fragment *fragment, uint32_t from, uint32_t nr_bytes)
{
	return (struct counted_at){fragment->object, fragment->offset + (uint64_t)from, fragment->origin + from,
				   nr_bytes};
}

static void
add_unknown(struct totals *totals, uint64_t nr, uint64_t at)
{
	if (totals->nr_unknown == 0)
		totals->unknown_at = at;
	totals->nr_unknown += nr;
}

static void
add_counter(void *context, uint32_t counter, uint64_t value)
{
	struct harvest *harvest = context;
	struct code_cache *cache = harvest->cache;
	const uint32_t owner = cache->owners[counter];
	const struct dynamic *dynamic = owner & OWNER_DYNAMIC ? &cache->dynamics[owner & ~OWNER_DYNAMIC] : NULL;
	struct fragment *fragment = &cache->fragments[dynamic ? dynamic->fragment : owner];
	int64_t counts[STEP_NR_COUNTS] = {0};
	const struct contents *contents;
	struct counted_at at;

	if (dynamic && dynamic->kind >= DYNAMIC_LEFT) {
		at = part_of(fragment, dynamic->origin, FOUND_TRIPS + (uint32_t)dynamic->kind - DYNAMIC_TRIPS);
		if (harvest->counted && dynamic->kind >= DYNAMIC_TRIPS)
			counted_code_add(harvest->counted, &at, (int64_t)value, counts);
		return;
	}
	if (dynamic) {
		contents_add_dynamic(cache, dynamic, (int64_t)value, counts);
	} else {
		fragment->is_executed = true;
		contents = contents_of(cache, fragment);
		for (size_t i = 0; i < CONTENTS_NR_COUNTS; i++)
			counts[i] = (int64_t)(value * contents->counts[i]);
		if (contents->nr_unknown > 0)
			add_unknown(harvest->totals, value * contents->nr_unknown,
				    fragment->origin + contents->unknown_at);
	}
	for (size_t i = 0; i < CONTENTS_NR_COUNTS; i++)
		harvest->totals->counts[i] += counts[i];
	at = dynamic ? part_of(fragment, dynamic->origin, 0) : part_of(fragment, 0, fragment->nr_origin_bytes);
	if (harvest->counted)
		counted_code_add(harvest->counted, &at, dynamic ? 0 : (int64_t)value, counts);
}

void
translator_add_counters(const struct translated *translated, int64_t bank, struct totals *totals)
{
	struct harvest harvest = {translated->space->cache, totals, NULL};

	code_cache_each_counter(harvest.cache, bank, add_counter, &harvest);
}

/* It is not known before the end of all threads which code it was that lines crossed the borders of caches for. */
static void
add_lines(struct harvest *harvest, const struct translated *translated)
{
	int64_t counts[STEP_NR_COUNTS] = {0};

	if (!translated->stream)
		return;
	stream_counts(translated->stream, harvest->cache, translated->fs_base, counts);
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		harvest->totals->counts[i] += counts[i];
	if (harvest->counted)
		counted_code_add(harvest->counted, &(struct counted_at){0}, 0, counts);
}

/* With what its banks have; counted: as of struct harvest. */
static struct totals
harvest_of(const struct thread *thread, struct counted_code *counted)
{
	const struct translated *translated = thread->translated;
	struct totals totals = {.nr_unknown = 0};

	if (translated)
		totals = translated->totals;
	if (translated && translated->space) {
		struct harvest harvest = {translated->space->cache, &totals, counted};

		for (size_t i = 0; i < translated->nr_banks; i++)
			code_cache_each_counter(harvest.cache, translated->banks[i].number, add_counter, &harvest);
		add_lines(&harvest, translated);
	}
	return totals;
}

static struct totals
totals_of(const struct thread *thread)
{
	return harvest_of(thread, NULL);
}

/* "maskmovq at 0x1139 of ./a.out", as long as its code is known. */
static void
name_unknown(struct translator *self, const struct address_space *space, uint64_t at)
{
	const struct code_range *range = NULL;
	uint8_t bytes[INSTRUCTION_MAX_BYTES];
	struct work work = {.name = "?"};

	work_decode(bytes, code_cache_read(space->cache, -1, at, bytes, sizeof(bytes), false), &work);
	for (size_t i = 0; i < space->nr_ranges && !range; i++) {
		if (at >= space->ranges[i].start && at < space->ranges[i].end)
			range = &space->ranges[i];
	}
	if (range && range->name[0])
		snprintf(self->first_unknown, sizeof(self->first_unknown), "%s at 0x%llx of %s", work.name,
			 (unsigned long long)(at - range->start + range->offset), range->name);
	else
		snprintf(self->first_unknown, sizeof(self->first_unknown), "%s at 0x%llx", work.name,
			 (unsigned long long)at);
}

/* The thread has no area any more. */
static void
leave_space(struct translator *self, struct thread *thread)
{
	struct translated *translated = thread->translated;
	struct address_space *space = translated->space;

	if (!space)
		return;
	visits_end(self, thread);
	translated->totals = harvest_of(thread, space->counted);
	if (translated->totals.nr_unknown > 0 && self->nr_unknown == 0)
		name_unknown(self, space, translated->totals.unknown_at);
	self->nr_unknown += translated->totals.nr_unknown;
	stream_end(translated->stream, space->cache, translated->fs_base);
	translated->stream = NULL;
	for (size_t i = 0; i < translated->nr_banks; i++)
		code_cache_give_area(space->cache, translated->banks[i].number);
	translated->nr_banks = translated->bank = 0;
	space_release(space);
	translated->space = NULL;
}

bool
translator_read(const struct thread *thread, uint64_t counts[STEP_NR_COUNTS])
{
	const struct totals totals = totals_of(thread);

	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		counts[i] = (uint64_t)totals.counts[i];
	return totals.counts[STEP_INSTRUCTIONS] != 0;
}

static void
add_counts(struct translated *translated, const int64_t counts[STEP_NR_COUNTS])
{
	for (size_t i = 0; i < STEP_NR_COUNTS; i++) {
		translated->totals.counts[i] += counts[i];
		translated->banks[translated->bank].counts[i] += counts[i];
	}
}

/* The whole fragment was counted as code from its origin on, and is taken back as that: it may be of two functions. */
static void
take_back(struct translated *translated, struct fragment *fragment, int64_t before[STEP_NR_COUNTS])
{
	const struct contents *contents = contents_of(translated->space->cache, fragment);
	const struct counted_at whole = part_of(fragment, 0, fragment->nr_origin_bytes);
	int64_t counts[STEP_NR_COUNTS] = {0};

	for (size_t i = 0; i < CONTENTS_NR_COUNTS; i++) {
		counts[i] = -(int64_t)contents->counts[i];
		before[i] -= counts[i];
	}
	counted_code_add(translated->space->counted, &whole, -1, counts);
}

/* A thread leaves a fragment at that offset from its origin: what it did before that is added, or what is behind taken
 * back. */
static void
add_correction(struct translated *translated, struct fragment *fragment, uint32_t left_at,
	       const int64_t correction[STEP_NR_COUNTS])
{
	struct counted_code *counted = translated->space->counted;
	const bool is_taken_back = correction[STEP_INSTRUCTIONS] < 0,
		   is_part = is_taken_back || correction[STEP_INSTRUCTIONS] > 0;
	const struct counted_at at = is_part ? part_of(fragment, 0, left_at) : part_of(fragment, left_at, 0);
	int64_t counts[STEP_NR_COUNTS];

	add_counts(translated, correction);
	if (!counted)
		return;
	memcpy(counts, correction, sizeof(counts));
	if (is_taken_back)
		take_back(translated, fragment, counts);
	counted_code_add(counted, &at, 1, counts);
}

/* Adds the counts of an instruction that was not translated, at that address. */
static void
add_native(struct translated *translated, uint64_t address, const int64_t counts[STEP_NR_COUNTS])
{
	const struct address_space *space = translated->space;
	struct counted_at at = {.address = address, .nr_bytes = 1};

	add_counts(translated, counts);
	if (!space || !space->counted)
		return;
	for (size_t i = 0; i < space->nr_ranges; i++) {
		const struct code_range *range = &space->ranges[i];

		if (address >= range->start && address < range->end)
			at = (struct counted_at){range->object, address - range->start + range->offset, address, 1};
	}
	counted_code_add(space->counted, &at, 1, counts);
}

/* ---- stops ---- */

static uint64_t
bank_address(const struct translated *translated)
{
	return code_cache_area_address(translated->space->cache, translated->banks[translated->bank].number);
}

static void
set_fs_base(struct translated *translated, const struct code_cache *cache, uint64_t fs_base)
{
	translated->fs_base = fs_base;
	code_cache_set_slot(cache, translated->area, AREA_FS_BASE, fs_base);
}

/* Registers as the program believes them, but for gs. False: it was killed. */
static bool
get_registers(struct translated *translated, pid_t tid, struct user_regs_struct *registers)
{
	if (ptrace(PTRACE_GETREGS, tid, NULL, registers) < 0)
		return false;
	if (translated->space && translated->fs_base != registers->fs_base)
		set_fs_base(translated, translated->space->cache, registers->fs_base);
	if (translated->call == SYS_rt_sigprocmask)
		registers->rsi = translated->arguments[1];
	if (translated->call == SYS_mlockall)
		registers->rdi = translated->arguments[0];
	if (translated->space && translated->executes_own) {
		translated->own_gs = registers->gs_base;
		registers->gs_base = bank_address(translated);
	} else if (translated->space) {
		visits_follow(translated, registers->gs_base);
	}
	return true;
}

static enum tracer_answer
step(struct translated *translated, struct thread *thread, uint64_t from, int signal)
{
	translated->is_stepping = true;
	translated->stepped_from = from;
	thread->state = THREAD_RUNNING;
	ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, (void *)(long)signal);
	return TRACER_KEEP;
}

static const struct vector_registers *
read_vectors(void *tid)
{
	static struct vector_registers vectors;

	return vector_registers_read(*(const pid_t *)tid, &vectors) ? &vectors : NULL;
}

static bool
read_memory(void *tid, uint64_t address, void *bytes, size_t nr_bytes)
{
	return remote_read(*(const pid_t *)tid, address, bytes, nr_bytes, NULL) == 0;
}

/* An instruction that the thread executes by itself, with these registers before it. */
static void
count(struct thread *thread, const struct user_regs_struct *registers, const uint8_t *code, size_t nr_bytes)
{
	struct work_thread who = {registers, read_vectors, &thread->tid, read_memory};
	struct translated *translated = thread->translated;
	struct work_done done = {.counts = {[STEP_INSTRUCTIONS] = 1}};
	int64_t counts[STEP_NR_COUNTS];
	struct work work;

	if (work_decode(code, nr_bytes, &work))
		work_do(&work, &who, &done);
	if (done.is_unknown)
		add_unknown(&translated->totals, 1, registers->rip);
	memcpy(counts, done.counts, sizeof(counts));
	add_native(translated, registers->rip, counts);
	if (translated->stream && done.nr_accesses > 0)
		stream_add(translated->stream, translated->space->cache, translated->fs_base, &done, work.is_repeated);
}

static enum tracer_answer
step_original(struct thread *thread, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;

	translated->executes_own = true;
	registers->gs_base = translated->own_gs;
	remote_set_registers(thread->tid, registers);
	return step(translated, thread, registers->rip, 0);
}

/* The thread executes one original instruction. */
static enum tracer_answer
step_natively(struct translator *self, struct thread *thread, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	uint8_t code[INSTRUCTION_MAX_BYTES];
	const size_t nr =
		code_cache_read(translated->space->cache, thread->tid, registers->rip, code, sizeof(code), true);

	self->nr_native_steps++;
	count(thread, registers, code, nr);
	return step_original(thread, registers);
}

static void
copy_cache(struct translator *self, struct thread *thread)
{
	struct address_space *space = (thread->translated)->space;
	struct code_cache *copy;
	struct rot_error err;

	copy = code_cache_copy(space->cache, thread->tid, tracer_options(self->tracer), &err);
	if (!copy) {
		self->why_native = err;
		return;
	}
	copy->memory_pid = thread->pid;
	code_cache_release(space->cache);
	space->cache = copy;
}

/* Before this process has code that others which share its cache have not. */
static void
own_cache(struct translator *self, struct thread *thread)
{
	if (thread->translated->space->cache->nr_users > 1)
		copy_cache(self, thread);
}

static struct translation
translation_for(const struct translator *self, const struct thread *thread)
{
	const struct address_space *space = thread->translated->space;

	return (struct translation){
		space->cache,      thread->tid,      tracer_options(self->tracer),
		space->ranges,     space->nr_ranges, self->stream ? stream_sites(self->stream) : NULL,
		self->counts_trips};
}

static bool
find_code(struct translator *self, struct thread *thread, struct user_regs_struct *registers, bool has_entry)
{
	struct translation translation;
	const struct fragment *fragment;
	struct rot_error err;

	if (!code_cache_has_room(thread->translated->space->cache, registers->rip))
		own_cache(self, thread);
	translation = translation_for(self, thread);
	fragment = translate(&translation, registers->rip, has_entry, &err);
	if (!fragment)
		return false;
	self->last_tid = thread->tid;
	registers->rip = fragment_address(translation.cache, fragment);
	return true;
}

/* A thread that is at an original address goes on in translated code, or natively where there is none. */
static enum tracer_answer
enter(struct translator *self, struct thread *thread, struct user_regs_struct *registers, bool has_entry)
{
	struct address_space *space = (thread->translated)->space;

	if (!find_code(self, thread, registers, has_entry)) {
		read_ranges(space, thread->tid);
		if (!find_code(self, thread, registers, has_entry))
			return step_natively(self, thread, registers);
	}
	remote_set_registers(thread->tid, registers);
	return TRACER_RESUME;
}

/* A full buffer is changed for the other one. The thread may be on its way to the int3 of the last frame, or there. */
static void
empty_buffer(struct translated *translated, pid_t tid, struct user_regs_struct *registers)
{
	const struct code_cache *cache = translated->space->cache;
	const struct arena *arena = code_cache_arena_at(cache, registers->rip);
	const uint8_t *at;

	if (!translated->stream || !arena || !stream_is_full(cache, translated->area))
		return;
	stream_turn(translated->stream, cache, translated->fs_base);
	at = arena->bytes + (registers->rip - arena->address);
	if (*at == JRCXZ)
		registers->rcx = 1;
	else if (*at == INT3)
		registers->rip += RECORD_BEHIND_INT3;
	remote_set_registers(tid, registers);
}

/* The thread has executed an int3 that was inserted, and is behind it. */
static bool
is_own_trap(const struct translated *translated, uint64_t rip)
{
	const struct code_cache *cache = translated->space->cache;
	const struct arena *arena = code_cache_arena_at(cache, rip);
	uint32_t dead;

	return arena && (rip - 1 == arena->address || code_cache_gap_at(cache, rip - 1) ||
			 code_cache_find_dead(cache, rip - 1, &dead) ||
			 (translated->stream && stream_is_full(cache, translated->area)));
}

/*
 * A SIGTRAP that is sent to a thread takes the place of the one of an int3 that it executes before it is told: that
 * int3 is executed again. True: the thread was behind one.
 */
static bool
stand_at_int3(const struct translated *translated, struct user_regs_struct *registers)
{
	const struct arena *arena = code_cache_arena_at(translated->space->cache, registers->rip);
	const uint64_t before = registers->rip - 1;

	if (!is_own_trap(translated, registers->rip))
		return false;
	/* A gap may be linked by now, the others are as they were. */
	if (!code_cache_gap_at(translated->space->cache, before) &&
	    (before < arena->address || arena->bytes[before - arena->address] != INT3))
		return false;
	registers->rip--;
	return true;
}

/*
 * Makes registers and counts what they would be in the original; is_counted: else registers alone. False: the thread is
 * within inserted code.
 */
static bool
find_original(struct translated *translated, bool is_counted, bool is_fault, struct user_regs_struct *registers)
{
	struct code_cache *cache = translated->space->cache;
	struct fragment *fragment = position_fragment(cache, translated->area, registers);
	int64_t correction[STEP_NR_COUNTS];

	if (position_find(cache, translated->area, is_fault, registers, correction) == POSITION_INSIDE)
		return false;
	if (is_counted && fragment)
		add_correction(translated, fragment, (uint32_t)(registers->rip - fragment->origin), correction);
	return true;
}

/* Enough for the longest sequence that is inserted. */
#define MOST_STEPS 4096

/* A edge of a region is passed at its gap. */
static void
pass_edge(struct translator *self, struct thread *thread, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	const struct code_cache *cache = translated->space->cache;
	const struct gap *gap = code_cache_gap_at(cache, registers->rip);
	uint64_t next;

	if (!gap || gap->kind != GAP_EDGE)
		return;
	next = code_cache_arena_at(cache, registers->rip)->address + gap->site;
	registers->rcx = code_cache_slot(cache, translated->area, AREA_RCX);
	visits_pass(self, thread, &cache->edges[gap->fragment], registers);
	registers->rip = next;
	remote_set_registers(thread->tid, registers);
}

/*
 * Lets a thread that is stopped within inserted code go on to where its registers are its own; these then are in
 * *registers. Signals that come meanwhile stay pending. is_fault: the instruction that it is at has raised a signal, or
 * would. False: it has ended.
 */
static bool
leave_inserted_code(struct translator *self, struct translated *translated, struct thread *thread, bool *is_fault,
		    struct user_regs_struct *registers)
{
	const bool is_own = thread->translated == translated;
	const pid_t tid = thread->tid;
	uint64_t mask;
	int raised;

	stand_at_int3(translated, registers);
	if (find_original(translated, is_own, *is_fault, registers))
		return true;
	if (remote_get_mask(tid, &mask) < 0 || remote_set_mask(tid, ~REMOTE_SYNCHRONOUS) < 0)
		return false;
	for (unsigned i = 0; i < MOST_STEPS; i++) {
		empty_buffer(translated, tid, registers);
		if (is_own)
			pass_edge(self, thread, registers);
		raised = remote_step_once(tid);
		if (raised == 0 || ptrace(PTRACE_GETREGS, tid, NULL, registers) < 0)
			return false;
		visits_follow(translated, registers->gs_base);
		*is_fault = raised != SIGTRAP;
		if (find_original(translated, is_own, *is_fault, registers))
			break;
	}
	remote_set_mask(tid, mask);
	return !code_cache_arena_at(translated->space->cache, registers->rip);
}

/* ---- signals ---- */

/*
 * SIGTRAP is never blocked in a thread, not even at the end of the step over the call that blocks it: an int3 or the
 * step would then unblock it, and take away its handler. What the program believes is kept in the thread's area, and
 * told it where it asks.
 */
static void
believe(struct thread *thread, bool blocks_traps)
{
	struct translated *translated = thread->translated;

	if (translated->blocks_traps == blocks_traps)
		return;
	translated->blocks_traps = blocks_traps;
	code_cache_set_slot(translated->space->cache, translated->area, AREA_BLOCKS_TRAPS, blocks_traps);
	if (!blocks_traps && translated->trap_waits) {
		translated->trap_waits = false;
		syscall(SYS_tgkill, thread->pid, thread->tid, SIGTRAP);
	}
}

/* True if it was blocked. */
static bool
unblock_traps(pid_t tid)
{
	uint64_t mask;

	if (remote_get_mask(tid, &mask) < 0 || !(mask & REMOTE_SIGNAL(SIGTRAP)))
		return false;
	remote_set_mask(tid, mask & ~REMOTE_SIGNAL(SIGTRAP));
	return true;
}

/* The address of the instruction, where the signal tells it, is that of the original. */
static void
correct_info(siginfo_t *info, uint64_t translated_address, uint64_t original)
{
	if (info->si_code > 0 && (info->si_signo == SIGILL || info->si_signo == SIGFPE || info->si_signo == SIGTRAP) &&
	    (uint64_t)info->si_addr == translated_address)
		info->si_addr = (void *)original;
	if (info->si_signo == SIGSYS && (uint64_t)info->si_call_addr == translated_address)
		info->si_call_addr = (void *)original;
}

/*
 * Where the frame of a handler has the instruction to return to, the flags, and the signals to block; from
 * rt_sigreturn's rsp.
 */
#define FRAME_RIP 168
#define FRAME_FLAGS 176
#define FRAME_MASK 296

/* The thread has executed rt_sigreturn; or not yet, if a signal comes just before: then its frame is as it was. */
static void
settle_return(struct thread *thread, const struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	const uint64_t frame = registers->rsp;
	uint64_t mask;

	if (translated->call != SYS_rt_sigreturn)
		return;
	translated->call = -1;
	if (registers->rip != translated->stepped_from) {
		believe(thread, translated->sets_traps);
		return;
	}
	remote_write(thread->tid, frame + FRAME_RIP, &translated->arguments[0], sizeof(uint64_t), NULL);
	if (remote_read(thread->tid, frame + FRAME_MASK, &mask, sizeof(mask), NULL) == 0 && translated->sets_traps) {
		mask |= REMOTE_SIGNAL(SIGTRAP);
		remote_write(thread->tid, frame + FRAME_MASK, &mask, sizeof(mask), NULL);
	}
	code_cache_set_slot(translated->space->cache, translated->area, AREA_BLOCKS_TRAPS, translated->blocks_traps);
}

/*
 * A signal is about to be delivered. If a handler runs, it sees the registers of the original, and the thread stops at
 * its first instruction.
 */
static enum tracer_answer
deliver(struct translator *self, struct thread *thread, int signal)
{
	struct translated *translated = thread->translated;
	struct user_regs_struct registers;
	uint64_t address, caught;
	bool is_fault;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) < 0 ||
	    !get_registers(translated, thread->tid, &registers))
		return TRACER_DELIVER;
	if (!proc_status(thread->tid, "SigCgt", 16, &caught) || !(caught & REMOTE_SIGNAL(signal))) {
		/* Killed, stopped, or nothing. */
		if (translated->is_stepping)
			return step(translated, thread, translated->stepped_from, signal);
		if (code_cache_arena_at(translated->space->cache, registers.rip) ||
		    !find_code(self, thread, &registers, false))
			return TRACER_DELIVER;
		remote_set_registers(thread->tid, &registers);
		return TRACER_DELIVER;
	}
	settle_return(thread, &registers);
	translated->call = -1;
	translated->executes_own = false;
	address = registers.rip;
	is_fault = info.si_code > 0 && remote_is_synchronous(signal);
	if (!leave_inserted_code(self, translated, thread, &is_fault, &registers))
		return TRACER_DELIVER;
	translated->fault_at =
		is_fault && edges_at(translated->space->cache, registers.rip).is_there ? registers.rip : 0;
	correct_info(&info, address, registers.rip);
	remote_set_registers(thread->tid, &registers);
	ptrace(PTRACE_SETSIGINFO, thread->tid, NULL, &info);
	translated->enters_handler = true;
	translated->is_traced = registers.eflags & TRAP_FLAG;
	return step(translated, thread, registers.rip, signal);
}

/* ---- system calls ---- */

static bool
has_code(const struct address_space *space, uint64_t start, uint64_t bytes)
{
	for (size_t i = 0; i < space->nr_ranges; i++) {
		if (space->ranges[i].start < start + bytes && start < space->ranges[i].end)
			return true;
	}
	return false;
}

static void
change_code(struct translator *self, struct thread *thread, uint64_t start, uint64_t bytes)
{
	struct address_space *space = (thread->translated)->space;

	own_cache(self, thread);
	code_cache_forget(space->cache, start, start + bytes);
	read_ranges(space, thread->tid);
}

/* By rt_sigprocmask. */
static void
change_mask(struct thread *thread)
{
	struct translated *translated = thread->translated;
	const uint64_t how = translated->arguments[0], set = translated->arguments[1], old = translated->arguments[2];
	bool blocks = translated->blocks_traps;
	uint8_t first;

	if (old != 0 && blocks && remote_read(thread->tid, old, &first, 1, NULL) == 0) {
		first |= REMOTE_SIGNAL(SIGTRAP);
		remote_write(thread->tid, old, &first, 1, NULL);
	}
	if (set == 0)
		return;
	if (how == SIG_BLOCK)
		blocks |= translated->sets_traps;
	else if (how == SIG_UNBLOCK)
		blocks &= !translated->sets_traps;
	else
		blocks = translated->sets_traps;
	believe(thread, blocks);
}

/* A handler returns from that frame to where a fault behind edges has called it. */
static bool
returns_to_fault(const struct translated *translated, uint64_t frame, uint64_t address)
{
	for (size_t i = 0; i < FAULTS_KEPT; i++) {
		if (translated->faults[i].frame == frame && translated->faults[i].address == address)
			return true;
	}
	return false;
}

/*
 * The handler of a signal returns: to translated code, without another stop. What it changes is believed when the call
 * has been made.
 */
static enum tracer_answer
return_from_handler(struct translator *self, struct thread *thread, struct user_regs_struct *registers, uint64_t call)
{
	struct translated *translated = thread->translated;
	const struct code_cache *cache;
	struct user_regs_struct there = *registers;
	const uint64_t frame = registers->rsp;
	uint64_t mask = 0;
	bool is_behind;

	registers->rip = call;
	remote_set_registers(thread->tid, registers);
	if (remote_read(thread->tid, frame + FRAME_MASK, &mask, sizeof(mask), NULL) < 0 ||
	    remote_read(thread->tid, frame + FRAME_RIP, &there.rip, sizeof(there.rip), NULL) < 0)
		return step(translated, thread, call, 0);
	translated->call = SYS_rt_sigreturn;
	translated->stepped_from = call;
	translated->arguments[0] = there.rip;
	translated->sets_traps = (mask & REMOTE_SIGNAL(SIGTRAP)) != 0;
	code_cache_set_slot(translated->space->cache, translated->area, AREA_BLOCKS_TRAPS, translated->sets_traps);
	mask &= ~REMOTE_SIGNAL(SIGTRAP);
	remote_write(thread->tid, frame + FRAME_MASK, &mask, sizeof(mask), NULL);
	is_behind = returns_to_fault(translated, frame, there.rip);
	if (translated->trap_waits || !find_code(self, thread, &there, false))
		return step(translated, thread, call, 0);
	cache = translated->space->cache;
	if (is_behind)
		there.rip = position_behind_edges(cache, code_cache_fragment_at(cache, there.rip));
	if (remote_write(thread->tid, frame + FRAME_RIP, &there.rip, sizeof(there.rip), NULL) < 0)
		return step(translated, thread, call, 0);
	return TRACER_RESUME;
}

/* Follows what a system call that was stepped over has changed. */
static void
conclude_call(struct translator *self, struct thread *thread, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	struct address_space *space = translated->space;
	const uint64_t *arguments = translated->arguments;
	const int64_t call = translated->call;

	translated->call = -1;
	if (call == SYS_rt_sigprocmask || call == SYS_mlockall)
		remote_set_registers(thread->tid, registers);
	if ((int64_t)registers->rax < 0 && (int64_t)registers->rax > -4096)
		return;
	switch (call) {
	case SYS_mmap:
		change_code(self, thread, registers->rax, arguments[1]);
		translator_look_for_data(self, thread);
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		change_code(self, thread, arguments[0], arguments[1]);
		break;
	case SYS_munmap:
	case SYS_mremap:
		if (has_code(space, arguments[0], arguments[1]))
			change_code(self, thread, arguments[0], arguments[1]);
		break;
	case SYS_rt_sigprocmask:
		change_mask(thread);
		break;
	case SYS_arch_prctl:
		if (arguments[0] == ARCH_SET_GS)
			translated->own_gs = registers->gs_base;
		else if (arguments[0] == ARCH_GET_GS)
			remote_write(thread->tid, arguments[1], &translated->own_gs, sizeof(uint64_t), NULL);
		registers->gs_base = bank_address(translated);
		remote_set_registers(thread->tid, registers);
		break;
	default:
		break;
	}
}

static enum tracer_answer
step_over_call(struct translator *self, struct thread *thread, const struct gap *gap,
	       struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	const struct code_cache *cache = translated->space->cache;
	const uint64_t call = cache->arenas[cache->fragments[gap->fragment].arena].address + gap->site;
	uint64_t set = 0;

	if (registers->rax == SYS_rt_sigreturn)
		return return_from_handler(self, thread, registers, call);
	if (registers->rax == SYS_rseq && !translated->space->has_sequences) {
		/* Sequences are at original addresses; the kernel would find no thread there: as if it knew none. */
		registers->rax = (uint64_t)-ENOSYS;
		registers->rip = call + SYSCALL_BYTES;
		remote_set_registers(thread->tid, registers);
		return TRACER_RESUME;
	}
	if (registers->rax == SYS_rt_sigprocmask && registers->rsi != 0)
		remote_read(thread->tid, registers->rsi, &set, sizeof(set), NULL);
	translated->sets_traps = (set & REMOTE_SIGNAL(SIGTRAP)) != 0;
	translated->call = (int64_t)registers->rax;
	translated->arguments[0] = registers->rdi;
	translated->arguments[1] = registers->rsi;
	translated->arguments[2] = registers->rdx;
	if (translated->sets_traps &&
	    code_cache_set_slot(cache, translated->area, AREA_SIGNAL_SET, set & ~REMOTE_SIGNAL(SIGTRAP)))
		registers->rsi = code_cache_area_address(cache, translated->area) + AREA_SIGNAL_SET;
	/* Else the system would make all pages of the code cache, which are more than a machine has. */
	if (registers->rax == SYS_mlockall && registers->rdi & MCL_CURRENT)
		registers->rdi |= MCL_ONFAULT;
	registers->rip = call;
	remote_set_registers(thread->tid, registers);
	return step(translated, thread, registers->rip, 0);
}

/* ---- our own traps ---- */

/* Whatever is told of the stop may set and lift edges. After a stop that is told once the thread meets new ones. */
static enum tracer_answer
serve_edge(struct translator *self, struct thread *thread, const struct gap *gap, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	struct code_cache *cache = translated->space->cache;
	const struct edge edge = cache->edges[gap->fragment];
	const uint64_t next = code_cache_arena_at(cache, registers->rip)->address + gap->site;

	registers->rcx = code_cache_slot(cache, translated->area, AREA_RCX);
	registers->rip = edge.address;
	cache->edges[gap->fragment].is_lifted |= edge.is_once;
	if (!edge.is_lifted && edge.kind >= EDGE_STOP)
		edge.user.hit(edge.user.context, &(struct breakpoint_hit){thread, edge.address, registers});
	else if (!edge.is_lifted)
		visits_pass(self, thread, &edge, registers);
	if (edge.is_once) {
		/* Its code would stop there again. */
		code_cache_forget(cache, edge.address, edge.address + 1);
		return enter(self, thread, registers, false);
	}
	registers->rip = next;
	remote_set_registers(thread->tid, registers);
	return TRACER_RESUME;
}

/* The thread has executed an int3 of ours: something is missing. False: it is none of ours. */
static bool
serve(struct translator *self, struct thread *thread, struct user_regs_struct *registers, enum tracer_answer *answer)
{
	struct translated *translated = thread->translated;
	struct code_cache *cache = translated->space->cache;
	const struct gap *gap = code_cache_gap_at(cache, registers->rip - 1);
	int64_t none[STEP_NR_COUNTS];
	uint32_t dead = NO_FRAGMENT;
	bool is_miss;

	if (!is_own_trap(translated, registers->rip))
		return false;
	if (translated->stream && stream_is_full(cache, translated->area)) {
		registers->rip--;
		empty_buffer(translated, thread->tid, registers);
		*answer = TRACER_RESUME;
		return true;
	}
	if (gap && gap->kind == GAP_EDGE) {
		*answer = serve_edge(self, thread, gap, registers);
		return true;
	}
	if (gap && gap->kind == GAP_CALL) {
		*answer = step_over_call(self, thread, gap, registers);
		return true;
	}
	if (position_is_nowhere(cache, registers)) {
		/* The processor faults at the branch, which is not counted. */
		find_original(translated, true, true, registers);
		*answer = step_original(thread, registers);
		return true;
	}
	is_miss = registers->rip - 1 == code_cache_arena_at(cache, registers->rip)->address;
	if (gap && gap->kind == GAP_STALE)
		dead = gap->fragment;
	else if (!gap && !is_miss)
		code_cache_find_dead(cache, registers->rip - 1, &dead);
	if (dead != NO_FRAGMENT && !cache->fragments[dead].is_dead)
		code_cache_kill(cache, &cache->fragments[dead]);
	position_find(cache, translated->area, false, registers, none);
	if (gap && gap->kind == GAP_NATIVE)
		*answer = step_natively(self, thread, registers);
	else
		*answer = enter(self, thread, registers, is_miss);
	if (dead != NO_FRAGMENT && *answer == TRACER_RESUME)
		code_cache_replace(cache, &cache->fragments[dead], registers->rip);
	return true;
}

/* The thread may stand at the first instruction of a handler, during which its signals are blocked. */
static void
begin_handler(struct thread *thread, const struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	const uint64_t frame = registers->rsp + 8;
	uint64_t flags;
	uint8_t first;

	if (!translated->enters_handler)
		return;
	translated->enters_handler = false;
	/* Handlers that never returned may have had the same frame. */
	for (size_t i = 0; i < FAULTS_KEPT; i++)
		if (translated->faults[i].frame == frame)
			translated->faults[i].frame = 0;
	if (translated->fault_at)
		translated->faults[translated->nr_faults++ % FAULTS_KEPT] = (struct fault){frame, translated->fault_at};
	/* The system takes the trap flag of a step for the program's own if the program would pop flags next. */
	if (!translated->is_traced && remote_read(thread->tid, frame + FRAME_FLAGS, &flags, sizeof(flags), NULL) == 0 &&
	    (flags & TRAP_FLAG)) {
		flags &= ~TRAP_FLAG;
		remote_write(thread->tid, frame + FRAME_FLAGS, &flags, sizeof(flags), NULL);
	}
	if (translated->blocks_traps && remote_read(thread->tid, frame + FRAME_MASK, &first, 1, NULL) == 0) {
		first |= REMOTE_SIGNAL(SIGTRAP);
		remote_write(thread->tid, frame + FRAME_MASK, &first, 1, NULL);
	}
	if (unblock_traps(thread->tid))
		believe(thread, true);
}

/* A step that was asked for has been made, or the first instruction of a handler is next. */
static enum tracer_answer
end_step(struct translator *self, struct thread *thread, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;

	translated->is_stepping = translated->executes_own = false;
	if (translated->call >= 0)
		conclude_call(self, thread, registers);
	if (code_cache_arena_at(translated->space->cache, registers->rip))
		return TRACER_RESUME;
	begin_handler(thread, registers);
	return enter(self, thread, registers, false);
}

/* The thread, which is stopped, goes on in original code from here; is_fault: by its own fault. False: it has ended. */
static bool
leave(struct translator *self, struct thread *thread, bool is_fault, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	uint64_t mask;

	translated->is_native = true;
	translated->is_stepping = translated->enters_handler = translated->executes_own = false;
	if (!leave_inserted_code(self, translated, thread, &is_fault, registers))
		return false;
	registers->gs_base = translated->own_gs;
	remote_set_registers(thread->tid, registers);
	if (translated->blocks_traps && remote_get_mask(thread->tid, &mask) == 0)
		remote_set_mask(thread->tid, mask | REMOTE_SIGNAL(SIGTRAP));
	if (translated->trap_waits)
		syscall(SYS_tgkill, thread->pid, thread->tid, SIGTRAP);
	translated->trap_waits = false;
	return true;
}

/* The end of a step over a system call is told, by some systems, as if nobody had sent it. */
static bool
is_sent(const struct translated *translated, const siginfo_t *info)
{
	return info->si_code <= 0 && !(translated->is_stepping && info->si_pid == 0);
}

/* It has executed an int3 of the original, of which its code has a copy. */
static bool
is_behind_breakpoint(const struct translated *translated, const struct user_regs_struct *registers)
{
	struct code_cache *cache = translated->space->cache;
	const struct arena *arena = code_cache_arena_at(cache, registers->rip);
	struct user_regs_struct behind = *registers, before = *registers;
	int64_t none[STEP_NR_COUNTS];

	before.rip--;
	return arena && registers->rip > arena->address && arena->bytes[before.rip - arena->address] == INT3 &&
	       position_find(cache, translated->area, false, &behind, none) == POSITION_FOUND &&
	       position_find(cache, translated->area, false, &before, none) == POSITION_FOUND &&
	       behind.rip == before.rip + 1;
}

/*
 * Somebody has sent the thread a SIGTRAP. It may have taken the place of that of a step or of an int3 of ours: then the
 * step is over, and the int3 is executed again. One that the program believes to be blocked waits.
 */
static enum tracer_answer
take_sent_trap(struct translator *self, struct thread *thread, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	const bool has_begun = registers->rip != translated->stepped_from,
		   makes_call = translated->is_stepping || translated->call == SYS_rt_sigreturn;
	bool waits;

	if (translated->blocks_traps && makes_call && !has_begun) {
		translated->trap_waits = true;
		return step(translated, thread, registers->rip, 0);
	}
	settle_return(thread, registers);
	waits = translated->blocks_traps;
	translated->trap_waits |= waits;
	if (translated->is_stepping && has_begun) {
		if (!waits)
			syscall(SYS_tgkill, thread->pid, thread->tid, SIGTRAP);
		return end_step(self, thread, registers);
	}
	/* A region's int3 is executed after it; natively one of the program's own would be lost. */
	if (self->is_of_regions && is_behind_breakpoint(translated, registers)) {
		registers->rip--;
		remote_set_registers(thread->tid, registers);
	}
	if (!waits)
		return deliver(self, thread, SIGTRAP);
	if (stand_at_int3(translated, registers))
		remote_set_registers(thread->tid, registers);
	return TRACER_RESUME;
}

static enum tracer_answer
trap(struct translator *self, struct thread *thread)
{
	struct translated *translated = thread->translated;
	struct user_regs_struct registers;
	enum tracer_answer answer;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) < 0 ||
	    !get_registers(translated, thread->tid, &registers))
		return TRACER_RESUME;
	if (is_sent(translated, &info))
		return take_sent_trap(self, thread, &registers);
	settle_return(thread, &registers);
	if (info.si_code == SI_KERNEL && serve(self, thread, &registers, &answer))
		return answer;
	if (translated->is_stepping && info.si_code != SI_KERNEL)
		return end_step(self, thread, &registers);
	if (self->is_of_regions && info.si_code == SI_KERNEL) {
		if (code_cache_arena_at(translated->space->cache, registers.rip) || translated->is_stepping) {
			leave(self, thread, false, &registers);
			translated->is_at_trap = true;
		}
		return TRACER_DELIVER;
	}
	return deliver(self, thread, SIGTRAP);
}

/* ---- edges ---- */

static void
add_edge(struct code_cache *cache, const struct edge *edge)
{
	cache->edges = rot_realloc(cache->edges, cache->nr_edges + 1, sizeof(*cache->edges));
	cache->edges[cache->nr_edges++] = *edge;
}

int
translator_set_edge(struct translator *self, struct thread *thread, const struct edge *edge, struct rot_error *err)
{
	struct translated *translated = thread->translated;

	if (edge->region >= MAX_TRANSLATED_REGIONS)
		return rot_error_set(err, 0, "no more than %d regions can be counted by blocks",
				     MAX_TRANSLATED_REGIONS);
	if (!translated || (!translated->space && !translated->begins))
		return rot_error_set(err, 0, "thread %d is not translated", (int)thread->tid);
	if (!translated->space) {
		translated->edges = rot_realloc(translated->edges, translated->nr_edges + 1, sizeof(*edge));
		translated->edges[translated->nr_edges++] = *edge;
		return 0;
	}
	own_cache(self, thread);
	add_edge(translated->space->cache, edge);
	if (edge->kind >= EDGE_STOP)
		code_cache_forget(translated->space->cache, edge->address, edge->address + 1);
	else
		code_cache_kill_all(translated->space->cache);
	return 0;
}

/* Threads would stop without end where two callers whose addresses end alike call by turns. */
#define MOST_CALLERS_REPLACED 100

void
translator_know_caller(const struct thread *thread, uint64_t address)
{
	const struct translated *translated = thread->translated;
	struct code_cache *cache;
	const uint32_t before = (uint32_t)(address >> 16);
	uint32_t *known;

	if (!translated || !translated->space)
		return;
	cache = translated->space->cache;
	known = (uint32_t *)(void *)(cache->low + LOW_CALLERS) + (address & 0xffff);
	if (*known && *known != before && cache->nr_callers_replaced++ >= MOST_CALLERS_REPLACED)
		cache->low[LOW_SETTLED + (address & 0xffff)] = 1;
	*known = before;
}

bool
translator_has_edge(const struct thread *thread, uint64_t address, const struct edge *edge)
{
	const struct translated *translated = thread->translated;
	const struct code_cache *cache = translated && translated->space ? translated->space->cache : NULL;

	for (uint32_t i = 0; cache && i < cache->nr_edges; i++)
		if (!cache->edges[i].is_lifted && cache->edges[i].address == address &&
		    cache->edges[i].kind == edge->kind && cache->edges[i].user.hit == edge->user.hit)
			return true;
	return false;
}

void
translator_look_for_data(const struct translator *self, const struct thread *thread)
{
	const struct translated *translated = thread->translated;

	if (self->data && translated && translated->space)
		data_look(self->data, thread->tid, translated->space->number);
}

void
translator_put_object(struct thread *thread, uint64_t start, uint64_t end, uint32_t object)
{
	const struct translated *translated = thread->translated;

	if (translated && translated->stream)
		stream_put(translated->stream, translated->space->cache, translated->fs_base, start, end, object);
}

/* Its code goes on without it. */
void
translator_lift_edge(struct translator *self, struct thread *thread, const struct edge *edge)
{
	struct code_cache *cache;

	if (!thread->translated || !thread->translated->space)
		return;
	own_cache(self, thread);
	cache = thread->translated->space->cache;
	for (uint32_t i = 0; i < cache->nr_edges; i++) {
		const struct edge *other = &cache->edges[i];

		if (other->address == edge->address && other->kind == edge->kind && other->region == edge->region &&
		    other->user.hit == edge->user.hit)
			cache->edges[i].is_lifted = true;
	}
	code_cache_kill_all(cache);
}

/* ---- beginnings ---- */

static void
stay_native(struct translator *self, struct translated *translated, const struct rot_error *err)
{
	translated->is_native = true;
	if (self->nr_native_processes++ == 0)
		self->why_native = *err;
}

/*
 * A new thread or process that shares the code of its creator goes on in original code. Registers that are in slots are
 * those of the creator.
 */
static void
go_on_natively(struct translator *self, struct thread *thread, struct address_space *space,
	       struct user_regs_struct *registers)
{
	struct translated creator = {.space = space};
	bool is_fault = false;

	creator.area = code_cache_owner(space->cache, code_cache_bank_at(space->cache, registers->gs_base));
	if (!leave_inserted_code(self, &creator, thread, &is_fault, registers))
		return;
	registers->gs_base = 0;
	remote_set_registers(thread->tid, registers);
}

/* An area for the thread, and what it records in. */
static int
take_area(struct translator *self, struct translated *translated, struct address_space *space, struct rot_error *err)
{
	translated->area = code_cache_take_area(space->cache);
	if (translated->area < 0)
		return rot_error_set(err, 0, "there are more threads than can be counted at a time");
	if (!self->stream)
		return 0;
	translated->stream = stream_begin(self->stream, space->cache, translated->area, space->number, err);
	if (translated->stream)
		return 0;
	code_cache_give_area(space->cache, translated->area);
	return -1;
}

/* Takes over the caller's share in space, also where the thread has to stay native (err). */
static enum tracer_answer
join(struct translator *self, struct thread *thread, struct address_space *space, struct user_regs_struct *registers,
     bool blocks_traps, struct rot_error *err)
{
	struct translated *translated = thread->translated;

	if (take_area(self, translated, space, err) < 0) {
		stay_native(self, translated, err);
		if (code_cache_arena_at(space->cache, registers->rip))
			go_on_natively(self, thread, space, registers);
		space_release(space);
		return TRACER_DELIVER;
	}
	translated->space = space;
	set_fs_base(translated, space->cache, registers->fs_base);
	if (self->data && translated->stream) {
		translator_look_for_data(self, thread);
		data_put_stack(self->data, space->number, stream_number(translated->stream), registers->rsp,
			       registers->fs_base);
	}
	visits_begin(self, translated);
	if (thread->tid == thread->pid && !code_cache_is_whole(space->cache, thread->tid))
		copy_cache(self, thread);
	if (unblock_traps(thread->tid) || blocks_traps)
		believe(thread, true);
	registers->gs_base = code_cache_area_address(space->cache, translated->area);
	if (code_cache_arena_at(space->cache, registers->rip)) {
		remote_set_registers(thread->tid, registers);
		return TRACER_RESUME;
	}
	return enter(self, thread, registers, false);
}

/* Its process stands before the first instruction of a program. */
static enum tracer_answer
begin(struct translator *self, struct thread *thread)
{
	struct user_regs_struct registers;
	struct address_space *space;
	struct rot_error err;
	bool blocks_traps;

	if (remote_get_registers(thread->tid, &registers, &err) < 0 ||
	    !(space = space_new(self, thread, &registers, &err))) {
		stay_native(self, thread->translated, &err);
		return TRACER_DELIVER;
	}
	for (size_t i = 0; i < thread->translated->nr_edges; i++)
		add_edge(space->cache, &thread->translated->edges[i]);
	thread->translated->nr_edges = 0;
	(thread->translated)->own_gs = registers.gs_base;
	blocks_traps = (thread->translated)->blocks_traps;
	(thread->translated)->blocks_traps = false;
	return join(self, thread, space, &registers, blocks_traps, &err);
}

struct search_of_space {
	pid_t pid;
	struct address_space *space;
};

static void
look_for_space(void *context, struct thread *thread)
{
	struct search_of_space *search = context;
	const struct translated *translated = thread->translated;

	if (thread->pid == search->pid && translated && translated->space)
		search->space = translated->space;
}

#ifndef CLONE_VM
#define CLONE_VM 0x100
#endif

/*
 * The address space of what the system call makes whose arguments the thread still has: that one, or a fork of it. The
 * caller has a share in it.
 */
static struct address_space *
space_of_new(struct translator *self, struct address_space *space, pid_t tid, bool is_thread)
{
	struct user_regs_struct registers = {0};
	uint64_t flags = 0;

	ptrace(PTRACE_GETREGS, tid, NULL, &registers);
	if (registers.orig_rax == SYS_clone)
		flags = registers.rdi;
	else if (registers.orig_rax == SYS_clone3)
		remote_read(tid, registers.rdi, &flags, sizeof(flags), NULL);
	if (!is_thread && registers.orig_rax != SYS_vfork && !(flags & CLONE_VM))
		return space_fork(self, space);
	space->nr_users++;
	return space;
}

/*
 * The address space of a new thread: as announced, or, where its first stop comes before the announcement, by that of
 * its process or the parent of that. The caller has a share in it.
 */
static struct address_space *
find_creator(struct translator *self, const struct thread *thread)
{
	struct search_of_space search = {thread->pid, NULL};
	uint64_t parent;

	for (struct expected **link = &self->expected, *expected; (expected = *link); link = &expected->next) {
		struct address_space *space = expected->space;

		if (expected->tid != thread->tid)
			continue;
		*link = expected->next;
		free(expected);
		return space;
	}
	threads_each(&self->tracer->threads, look_for_space, &search);
	if (!search.space && proc_status(thread->tid, "PPid", 10, &parent)) {
		search.pid = (pid_t)parent;
		threads_each(&self->tracer->threads, look_for_space, &search);
	}
	return search.space ? space_of_new(self, search.space, thread->tid, thread->pid != thread->tid) : NULL;
}

/*
 * A thread of a process that ran before. In a system call, which the system would begin anew, it goes on until that
 * returns. Then it executes nothing that would be counted, and what is left of its time is as without us.
 */
static enum tracer_answer
visit(struct translator *self, struct thread *thread)
{
	struct user_regs_struct registers;
	struct rot_error err;

	/* A raised signal is told of next, if no other pause comes first. */
	thread->is_to_pause = false;
	if (remote_raised_signal(thread->tid) || ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return TRACER_DELIVER;
	if (!self->is_checked) {
		self->is_refused = attachable_check(thread->tid, &self->why_native) < 0;
		self->is_checked = true;
	}
	if (self->is_refused || rseq_is_used(thread->tid)) {
		rot_error_set(&err, 0, "a thread is in a restartable sequence (rseq)");
		stay_native(self, thread->translated, self->is_refused ? &self->why_native : &err);
		return TRACER_DELIVER;
	}
	thread->awaits_return = (int64_t)registers.orig_rax >= 0 && (int64_t)registers.rax >= FIRST_RESTART &&
				(int64_t)registers.rax <= LAST_RESTART;
	if (thread->awaits_return)
		return TRACER_DELIVER;
	return translator_enter(self, thread, &err);
}

/* A new thread, or a new process: it stands behind the system call that made it. */
static enum tracer_answer
adopt(struct translator *self, struct thread *thread)
{
	struct translated *translated = thread->translated;
	struct address_space *space = find_creator(self, thread);
	struct user_regs_struct registers;
	struct rot_error err;
	int64_t creator;

	if (!space || remote_get_registers(thread->tid, &registers, NULL) < 0 ||
	    !code_cache_arena_at(space->cache, registers.rip)) {
		if (thread->pid == self->tracer->program && self->tracer->is_attached) {
			space_release(space);
			return visit(self, thread);
		}
		space_release(space);
		translated->is_native = true;
		self->nr_missed_processes += self->tracer->is_attached;
		return TRACER_DELIVER;
	}
	creator = code_cache_owner(space->cache, code_cache_bank_at(space->cache, registers.gs_base));
	return join(self, thread, space, &registers, code_cache_slot(space->cache, creator, AREA_BLOCKS_TRAPS) != 0,
		    &err);
}

void
translator_started(struct translator *self, struct thread *thread)
{
	struct translated *translated;

	if (!self)
		return;
	translated = rot_calloc(1, sizeof(*translated));
	translated->call = -1;
	thread->translated = translated;
	if (!self->tracer->is_attached || thread->state != THREAD_RUNNING)
		return;
	thread->is_to_pause = true;
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

/* Processes that were killed before their first stop. */
static void
forget_killed(struct translator *self)
{
	for (struct expected **link = &self->expected, *expected; (expected = *link);) {
		if (!proc_is_ending(expected->tid)) {
			link = &expected->next;
			continue;
		}
		*link = expected->next;
		space_release(expected->space);
		free(expected);
	}
}

/* It may have been adopted already. A fork shares the cache from now on, before its creator goes on. */
void
translator_created(struct translator *self, struct thread *thread, pid_t child)
{
	const struct translated *translated = thread->translated;
	const struct thread *known = threads_find(&self->tracer->threads, child);
	struct expected *expected;

	if (!translated || !translated->space ||
	    (known && known->translated && ((struct translated *)known->translated)->space))
		return;
	forget_killed(self);
	expected = rot_calloc(1, sizeof(*expected));
	*expected = (struct expected){child, space_of_new(self, translated->space, thread->tid, false), self->expected};
	self->expected = expected;
}

/* pid 0: of all processes */
static void
forget_process(struct translator *self, pid_t pid)
{
	for (struct kept **link = &self->kept, *kept; (kept = *link);) {
		if (pid != 0 && kept->pid != pid) {
			link = &kept->next;
			continue;
		}
		*link = kept->next;
		space_release(kept->space);
		free(kept);
	}
}

/* In this stop nothing can be done with it; it pauses once more, before its first instruction. */
void
translator_executed(struct translator *self, struct thread *thread)
{
	struct translated *translated;

	if (!self)
		return;
	if (!thread->translated)
		translator_started(self, thread);
	translated = thread->translated;
	leave_space(self, thread);
	forget_process(self, thread->pid);
	thread->awaits_return = thread->is_to_pause = false;
	translated->nr_edges = 0;
	translated->is_native = translated->is_stepping = translated->executes_own = false;
	translated->call = -1;
	translated->begins = true;
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

void
translator_exited(struct translator *self, struct thread *thread)
{
	if (!self)
		return;
	if (thread->translated) {
		leave_space(self, thread);
		visits_clear(self, thread->translated);
	}
	free(thread->translated);
	thread->translated = NULL;
	if (thread->tid == thread->pid)
		forget_process(self, thread->pid);
}

void
translator_delete(struct translator *self)
{
	struct expected *expected;

	if (!self)
		return;
	while ((expected = self->expected)) {
		self->expected = expected->next;
		space_release(expected->space);
		free(expected);
	}
	forget_process(self, 0);
	stream_delete(self->stream);
	foreseen_delete(self->foreseen);
	free(self);
}

enum tracer_answer
translator_stopped(struct translator *self, const struct tracer_stop *stop)
{
	struct thread *thread = stop->thread;
	struct translated *translated = self ? thread->translated : NULL;

	if (!translated || translated->is_native)
		return TRACER_DELIVER;
	/* A pause takes the place of a step that was not made yet, or comes before it is told of. */
	if (translated->space && translated->is_stepping && stop->signal == 0)
		return step(translated, thread, translated->stepped_from, 0);
	if (translated->space)
		return stop->signal == 0         ? TRACER_DELIVER
		       : stop->signal == SIGTRAP ? trap(self, thread)
						 : deliver(self, thread, stop->signal);
	if (stop->signal != 0) {
		/* Its handler may run before a call returns. */
		thread->is_to_pause |= self->tracer->is_attached && !translated->begins;
		thread->awaits_return = false;
		return TRACER_DELIVER;
	}
	if (!translated->begins)
		return adopt(self, thread);
	translated->begins = false;
	return begin(self, thread);
}

/* Fragments that take less time than a stop. */
#define AHEAD_AT_ONCE 8

bool
translator_idle(struct translator *self)
{
	const struct thread *thread = self ? threads_find(&self->tracer->threads, self->last_tid) : NULL;
	struct translation translation;

	/* A call that is not over may change code still, and a forked process may have code of its own. */
	if (!thread || !translator_has(thread) ||
	    (thread->translated->call >= 0 && thread->translated->call != SYS_rt_sigreturn) ||
	    thread->translated->space->cache->nr_users > 1 ||
	    thread->translated->space->cache->memory_pid != thread->pid)
		return false;
	translation = translation_for(self, thread);
	translation.tid = CODE_CACHE_RUNNING;
	return translate_ahead(&translation, AHEAD_AT_ONCE) ||
	       contents_ahead(translation.cache, thread->translated->area);
}

/* ---- leaving ---- */

struct search {
	const struct address_space *space;
	bool has_found;
};

static void
look_for_translated(void *context, struct thread *thread)
{
	struct search *search = context;

	search->has_found |= translator_has(thread) && thread->translated->space == search->space;
}

/* One that has not been made is made anew, by the original instruction. */
static void
settle_call(struct translator *self, struct thread *thread, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;

	settle_return(thread, registers);
	if (translated->call >= 0 && registers->rip != translated->stepped_from)
		conclude_call(self, thread, registers);
	translated->call = -1;
}

/* A process that is let go is as it was before; one that was made by vfork has the memory of another, too. */
static void
unmap_if_last(struct translator *self, struct thread *thread)
{
	struct search search = {thread->translated->space, false};

	for (const struct expected *expected = self->expected; expected; expected = expected->next)
		search.has_found |= expected->space == search.space;
	threads_each(&self->tracer->threads, look_for_translated, &search);
	if (!search.has_found)
		code_cache_unmap(search.space->cache, thread->tid, tracer_options(self->tracer));
}

/* Steps out of inserted code take the place of the signal that is about to be delivered: it is put back. */
static enum tracer_answer
leave_for_good(struct translator *self, struct thread *thread, int signal)
{
	struct translated *translated = thread->translated;
	struct user_regs_struct registers;
	siginfo_t info = {.si_code = 0};
	bool is_ours, waits, is_fault;
	uint64_t address;

	if (!get_registers(translated, thread->tid, &registers) ||
	    (signal != 0 && ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) < 0))
		return TRACER_DELIVER;
	is_ours = signal == SIGTRAP &&
		  (info.si_code == SI_KERNEL ? is_own_trap(translated, registers.rip)
					     : translated->is_stepping && !is_sent(translated, &info));
	waits = signal == SIGTRAP && info.si_code <= 0 && !is_ours && translated->blocks_traps;
	translated->trap_waits |= waits;
	is_fault = !is_ours && info.si_code > 0 && remote_is_synchronous(signal);
	address = registers.rip;
	settle_call(self, thread, &registers);
	if (leave(self, thread, is_fault, &registers)) {
		correct_info(&info, address, registers.rip);
		if (signal != 0)
			ptrace(PTRACE_SETSIGINFO, thread->tid, NULL, &info);
		unmap_if_last(self, thread);
	}
	return is_ours || waits ? TRACER_RESUME : TRACER_DELIVER;
}

enum tracer_answer
translator_leaving(struct translator *self, const struct tracer_stop *stop)
{
	struct thread *thread = stop->thread;
	struct translated *translated = self ? thread->translated : NULL;

	if (!translated || translated->is_native)
		return TRACER_DELIVER;
	/* Interrupted where a system call begins, it would find it interrupted; a new one is in translated code. */
	if (!translated->space && stop->is_inside && !stop->is_stopped) {
		thread->is_to_pause = true;
		thread->awaits_return = false;
		return TRACER_KEEP;
	}
	if (!translated->space && !stop->signal && !translated->begins && !thread->is_to_pause &&
	    !thread->awaits_return)
		adopt(self, thread);
	if (!translated->space)
		return TRACER_DELIVER;
	/* A signal that it has raised is told of next, if no other pause comes first. */
	if (stop->signal == 0 && remote_raised_signal(thread->tid) != 0) {
		if (stop->is_stopped)
			ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
		return TRACER_KEEP;
	}
	if (stop->is_inside && !stop->is_stopped) {
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		return TRACER_KEEP;
	}
	return leave_for_good(self, thread, stop->signal);
}

/* ---- regions ---- */

struct translator *
translator_new_of_regions(struct tracer *tracer, const struct step_region *region)
{
	const struct translator_options options = {
		.caches = region->has_lines ? &region->caches : NULL, .has_pages = region->has_pages, .sampling = 1};
	struct translator *self = translator_new(tracer, &options);

	self->is_of_regions = true;
	return self;
}

/* The address space of its process, in which the caller has a share. NULL: there is none yet, and none can be made. */
static struct address_space *
find_space(struct translator *self, struct thread *thread, const struct user_regs_struct *registers,
	   struct rot_error *err)
{
	struct kept *kept = self->kept;

	while (kept && kept->pid != thread->pid)
		kept = kept->next;
	if (!kept) {
		struct address_space *space = space_new(self, thread, registers, err);

		if (!space)
			return NULL;
		kept = rot_calloc(1, sizeof(*kept));
		space->has_sequences = true;
		*kept = (struct kept){thread->pid, space, self->kept};
		self->kept = kept;
	}
	kept->space->nr_users++;
	return kept->space;
}

/* A system call that the stop has interrupted is made anew, by its instruction; unless a signal has, too. */
static void
rewind_call(pid_t tid, struct user_regs_struct *registers)
{
	struct user_regs_struct rewound = *registers;
	struct restart_again again;

	if (restart_rewind(tid, &rewound, &again)) {
		if (!restart_has_signal(tid))
			*registers = rewound;
		return;
	}
	if ((int64_t)registers->orig_rax < 0 || (int64_t)registers->rax < FIRST_RESTART ||
	    (int64_t)registers->rax > LAST_RESTART)
		return;
	registers->rip -= SYSCALL_BYTES;
	registers->rax = registers->orig_rax;
	registers->orig_rax = UINT64_MAX;
}

enum tracer_answer
translator_enter(struct translator *self, struct thread *thread, struct rot_error *err)
{
	struct translated *translated;
	struct user_regs_struct registers;
	struct address_space *space;

	err->text[0] = '\0';
	if (!thread->translated)
		translator_started(self, thread);
	translated = thread->translated;
	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return TRACER_RESUME; /* it has ended */
	if (remote_get_registers(thread->tid, &registers, err) < 0) {
		stay_native(self, translated, err);
		return TRACER_RESUME;
	}
	rewind_call(thread->tid, &registers);
	translated->own_gs = registers.gs_base;
	translated->is_native = translated->is_at_trap = false;
	if (!translated->space) {
		space = find_space(self, thread, &registers, err);
		if (space)
			return join(self, thread, space, &registers, false, err);
		stay_native(self, translated, err);
		return TRACER_RESUME;
	}
	if (translated->space->is_stale) {
		change_code(self, thread, 0, UINT64_MAX);
		translated->space->is_stale = false;
	}
	registers.gs_base = bank_address(translated);
	believe(thread, unblock_traps(thread->tid));
	return enter(self, thread, &registers, false);
}

bool
translator_leave(struct translator *self, struct thread *thread)
{
	struct translated *translated = thread->translated;
	struct user_regs_struct registers;

	if (!translator_has(thread) || !get_registers(translated, thread->tid, &registers))
		return false;
	settle_call(self, thread, &registers);
	return leave(self, thread, false, &registers);
}

bool
translator_has(const struct thread *thread)
{
	const struct translated *translated = thread->translated;

	return translated && translated->space && !translated->is_native;
}

enum tracer_answer
translator_follow(struct translator *self, struct thread *thread, enum tracer_answer answer, bool is_elsewhere)
{
	struct translated *translated = thread->translated;
	struct rot_error err;

	if (!translated || !translated->is_at_trap || is_elsewhere || answer != TRACER_RESUME)
		return answer;
	return translator_enter(self, thread, &err);
}

static void
end_stream(void *context, struct thread *thread)
{
	struct translated *translated = thread->translated;

	(void)context;
	if (!translated || !translated->stream || translator_has(thread))
		return;
	stream_counts(translated->stream, translated->space->cache, translated->fs_base, translated->totals.counts);
	stream_end(translated->stream, translated->space->cache, translated->fs_base);
	translated->stream = NULL;
}

void
translator_reset(struct translator *self, const struct step_region *region)
{
	if (!self->stream)
		return;
	threads_each(&self->tracer->threads, end_stream, self);
	stream_set_caches(self->stream, &region->caches);
}

void
translator_begin(struct translator *self, struct thread *thread)
{
	struct translated *translated = thread->translated;
	struct rot_error err;

	if (!translated->space)
		return;
	if (self->stream && !translated->stream)
		translated->stream = stream_begin(self->stream, translated->space->cache, translated->area,
						  translated->space->number, &err);
	translated->before = totals_of(thread);
}

bool
translator_is_at_trap(const struct thread *thread)
{
	const struct translated *translated = thread->translated;

	return translated && translated->is_at_trap;
}

void
translator_end(struct thread *thread)
{
	thread->translated->is_at_trap = false;
	thread->translated->totals.counts[STEP_INSTRUCTIONS]--;
}

void
translator_since(const struct thread *thread, struct step_region *region)
{
	const struct totals totals = totals_of(thread);
	const struct translated *translated = thread->translated;

	for (size_t i = 0; translated && i < STEP_NR_COUNTS; i++)
		region->counts[i] = (uint64_t)(totals.counts[i] - translated->before.counts[i]);
	region->nr_unknown = translated ? totals.nr_unknown - translated->before.nr_unknown : 0;
	region->unknown_at = region->nr_unknown > 0 ? totals.unknown_at : 0;
}

void
translator_look_for_code(struct thread *thread)
{
	struct translated *translated = thread->translated;
	struct address_space *space = translated ? translated->space : NULL;
	struct code_range *before;
	size_t nr_before;

	if (!space)
		return;
	before = space->ranges;
	nr_before = space->nr_ranges;
	space->ranges = NULL;
	read_ranges(space, thread->tid);
	space->is_stale |=
		nr_before != space->nr_ranges || memcmp(before, space->ranges, nr_before * sizeof(*before)) != 0;
	free(before);
}

/* ---- processes that are let go at once ---- */

void
translator_let_go(struct translator *self, struct thread *thread)
{
	struct address_space *space = find_creator(self, thread);
	struct user_regs_struct registers;

	if (space && remote_get_registers(thread->tid, &registers, NULL) == 0 &&
	    code_cache_arena_at(space->cache, registers.rip))
		go_on_natively(self, thread, space, &registers);
	space_release(space);
}

static void
move_lines(void *context, const struct counted_at *at, const uint64_t counts[STEP_NR_COUNTS])
{
	counted_code_move(context, at, counts);
}

void
translator_count_lines(struct translator *self)
{
	if (self->counted && self->stream)
		stream_each_code(self->stream, move_lines, self->counted);
}

static bool
has_all_sites(const struct translator *self)
{
	return !self->stream || stream_sites(self->stream)->nr < RECORD_MAX_SITES;
}

bool
translator_has_lost(const struct translator *self)
{
	return self->nr_native_processes > 0 || !has_all_sites(self);
}

char *
translator_sample_text(const struct translator *self)
{
	return self && self->stream ? stream_sample_text(self->stream) : NULL;
}

const struct process_curves *
translator_curves(const struct translator *self)
{
	return self && self->stream ? stream_curves(self->stream) : NULL;
}

const struct what_ifs *
translator_what_ifs(const struct translator *self)
{
	return self && self->stream ? stream_what_ifs(self->stream) : NULL;
}

const struct cache_kinds *
translator_kinds(const struct translator *self)
{
	return self && self->stream ? stream_kinds(self->stream) : NULL;
}

const struct misses *
translator_misses(const struct translator *self)
{
	return self && self->stream ? stream_misses(self->stream) : NULL;
}

struct sharing *
translator_sharing(const struct translator *self)
{
	return self && self->stream ? stream_sharing(self->stream) : NULL;
}

bool
translator_code_of(const struct translator *self, uint32_t site, struct counted_at *code)
{
	if (site >= stream_sites(self->stream)->nr)
		return false;
	*code = sites_at(stream_sites(self->stream), site)->at;
	return true;
}

char *
translator_doubts(const struct translator *self)
{
	if (!self)
		return NULL;
	if (self->nr_native_processes > 0)
		return rot_format("%llu processes or threads were not counted: %s",
				  (unsigned long long)self->nr_native_processes, self->why_native.text);
	if (self->nr_missed_processes > 0)
		return rot_format("%llu processes that were made as the visit began were not counted from their "
				  "beginning on",
				  (unsigned long long)self->nr_missed_processes);
	if (!has_all_sites(self))
		return rot_format("there is more code than addresses can be recorded of: lines of caches are too few");
	if (self->nr_unknown > 0)
		return rot_format("rot does not know what %llu executed instruction%s (%s%s), so %s operations and "
				  "bytes are missing",
				  (unsigned long long)self->nr_unknown, self->nr_unknown == 1 ? " does" : "s do",
				  self->nr_unknown == 1 ? "" : "the first: ", self->first_unknown,
				  self->nr_unknown == 1 ? "its" : "their");
	return NULL;
}
