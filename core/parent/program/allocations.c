/* SPDX-License-Identifier: MIT */
/* See allocations.h. */
#include "parent/program/allocations.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/breakpoints/breakpoints.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/plain_name.h"
#include "parent/tracer/remote.h"
#include "parent/translate/edges.h"

/* Each stops its thread twice. */
#define MOST_ALLOCATIONS 50000
/* The code that calls is translated anew for the first call of each. */
#define MOST_CALLERS 2000

/*
 * symbol: of the function; name: as it is shown. bytes: how the size follows from its first three arguments: a product
 * of those whose bits are set. by_pointer: the result is where the first argument points to
 */
static const struct allocator {
	const char *symbol, *name;
	unsigned bytes;
	bool by_pointer;
} allocators[] = {
	{"malloc", "malloc", 1, false},
	{"calloc", "calloc", 3, false},
	{"realloc", "realloc", 2, false},
	{"reallocarray", "reallocarray", 6, false},
	{"aligned_alloc", "aligned_alloc", 2, false},
	{"memalign", "memalign", 2, false},
	{"valloc", "valloc", 1, false},
	{"posix_memalign", "posix_memalign", 4, true},
	{"mmap", "mmap", 2, false},
	{"mmap64", "mmap", 2, false},
	{"_Znwm", "new", 1, false},
	{"_Znam", "new[]", 1, false},
	{"_ZnwmSt11align_val_t", "new", 1, false},
	{"_ZnamSt11align_val_t", "new[]", 1, false},
	{"_ZnwmRKSt9nothrow_t", "new", 1, false},
	{"_ZnamRKSt9nothrow_t", "new[]", 1, false},
};
#define NR_ALLOCATORS (sizeof(allocators) / sizeof(*allocators))

/* Who calls an allocator: where it returns to. */
struct caller {
	pid_t pid;
	uint64_t address;
	const struct allocator *allocator;
	uint32_t object;
};

/* A call that has not returned yet. result: where the result will be; 0: in rax */
struct call {
	pid_t tid;
	uint64_t stack, back, bytes, result;
	uint32_t object;
};

/* Told of calls of an allocator. */
struct watcher {
	struct allocations *allocations;
	const struct allocator *allocator;
};

struct allocations {
	struct data *data;
	struct symbol_files *files;
	struct translator *translator;
	struct watcher users[NR_ALLOCATORS];
	struct caller *callers;
	size_t nr_callers;
	struct call *calls;
	size_t nr_calls;
	uint64_t *addresses; /* of allocators, in any process */
	size_t nr_addresses;
	uint64_t nr;
	bool are_missed;
};

struct allocations *
allocations_new(struct data *data, struct symbol_files *files, struct translator *translator)
{
	struct allocations *self = rot_calloc(1, sizeof(*self));

	*self = (struct allocations){.data = data, .files = files, .translator = translator};
	for (size_t i = 0; i < NR_ALLOCATORS; i++)
		self->users[i] = (struct watcher){self, &allocators[i]};
	return self;
}

void
allocations_delete(struct allocations *self)
{
	if (!self)
		return;
	free(self->callers);
	free(self->calls);
	free(self->addresses);
	free(self);
}

bool
allocations_are_missed(const struct allocations *self)
{
	return self->are_missed;
}

/* ---- callers ---- */

/* "malloc in main (list.c:12)"; the call is before the address that it returns to. Fresh memory. */
static char *
name_of(struct allocations *self, const struct thread *thread, const struct allocator *allocator, uint64_t back)
{
	struct objects objects = {0};
	struct rot_error err;
	char *name = NULL;

	if (objects_read(thread->tid, &objects, &err) < 0)
		return rot_strdup(allocator->name);
	for (size_t i = 0; i < objects.nr_objects && !name; i++) {
		const struct object *object = &objects.objects[i];
		const uint64_t address = back - 1 - object->bias;
		struct symbol_file *file;
		struct symbol_range range = {0};
		const char *source;
		int line = 0;

		if (back <= object->start || back > object->end || !object->file)
			continue;
		file = symbol_file_open(self->files, object->file, &err);
		if (file && symbols_function_at(file, address, &range) && range.name) {
			autofree char *plain = plain_name(range.name);

			source = symbols_line_at(file, address, &line);
			name = source ? rot_format("%s in %s (%s:%d)", allocator->name, plain ? plain : range.name,
						   source, line)
				      : rot_format("%s in %s", allocator->name, plain ? plain : range.name);
		} else {
			name = rot_format("%s in %s+0x%llx", allocator->name, object_name(object),
					  (unsigned long long)address + 1);
		}
	}
	objects_clear(&objects);
	return name ? name : rot_strdup(allocator->name);
}

static const struct caller *
find_caller(struct allocations *self, struct thread *thread, const struct allocator *allocator, uint64_t back)
{
	struct caller *caller;
	char *name;

	for (size_t i = 0; i < self->nr_callers; i++)
		if (self->callers[i].address == back && self->callers[i].pid == thread->pid &&
		    self->callers[i].allocator == allocator)
			return &self->callers[i];
	if (self->nr_callers == MOST_CALLERS) {
		self->are_missed = true;
		return NULL;
	}
	name = name_of(self, thread, allocator, back);
	self->callers = rot_grow(self->callers, self->nr_callers, sizeof(*self->callers));
	caller = &self->callers[self->nr_callers++];
	*caller = (struct caller){thread->pid, back, allocator, data_object(self->data, name, "")};
	free(name);
	return caller;
}

/* ---- calls ---- */

static struct call *
find_call(struct allocations *self, pid_t tid)
{
	for (size_t i = 0; i < self->nr_calls; i++)
		if (self->calls[i].tid == tid)
			return &self->calls[i];
	return NULL;
}

static void
forget_call(struct allocations *self, struct call *call)
{
	*call = self->calls[--self->nr_calls];
}

/* A call returns. */
static void
on_return(void *context, const struct breakpoint_hit *hit)
{
	struct allocations *self = context;
	struct call *call = find_call(self, hit->thread->tid);
	uint64_t start = hit->registers->rax;

	if (!call || call->back != hit->address || call->stack + sizeof(uint64_t) != hit->registers->rsp)
		return;
	if (call->result && remote_read(hit->thread->tid, call->result, &start, sizeof(start), NULL) < 0)
		start = 0;
	if (start != 0 && start < UINT64_C(1) << DATA_SPACE_SHIFT && call->bytes < UINT64_C(1) << DATA_SPACE_SHIFT)
		translator_put_object(self->translator, hit->thread, start, start + call->bytes, call->object);
	forget_call(self, call);
}

static void on_call(void *context, const struct breakpoint_hit *hit);

/* There are too many: threads of that process stop at no allocator any more. */
static void
lift(struct allocations *self, struct thread *thread)
{
	self->are_missed = true;
	for (size_t i = 0; i < self->nr_addresses; i++)
		translator_lift_edge(
			self->translator, thread,
			&(struct edge){.address = self->addresses[i], .kind = EDGE_STOP, .user = {.hit = on_call}});
}

static uint64_t
bytes_of(const struct allocator *allocator, const struct user_regs_struct *registers)
{
	const uint64_t arguments[] = {registers->rdi, registers->rsi, registers->rdx};
	uint64_t bytes = 1;

	for (unsigned i = 0; i < 3; i++)
		bytes *= allocator->bytes >> i & 1 ? arguments[i] : 1;
	return bytes;
}

/* A thread is at the first instruction of an allocator. One that another one calls is part of that. */
static void
on_call(void *context, const struct breakpoint_hit *hit)
{
	const struct watcher *user = context;
	struct allocations *self = user->allocations;
	const struct user_regs_struct *registers = hit->registers;
	const struct breakpoint_user returned = {on_return, NULL, self};
	struct call *call = find_call(self, hit->thread->tid);
	const struct caller *caller;
	struct rot_error err;
	uint64_t back;

	if (call && call->stack > registers->rsp)
		return;
	if (call)
		forget_call(self, call);
	if (self->nr == MOST_ALLOCATIONS) {
		lift(self, hit->thread);
		return;
	}
	if (remote_read(hit->thread->tid, registers->rsp, &back, sizeof(back), NULL) < 0 ||
	    !(caller = find_caller(self, hit->thread, user->allocator, back)))
		return;
	if (!translator_has_edge(hit->thread, back, &returned) &&
	    translator_set_edge(
		    self->translator, hit->thread,
		    &(struct edge){.address = back, .kind = EDGE_STOP, .condition = CODE_ALWAYS, .user = returned},
		    &err) < 0)
		return;
	self->nr++;
	self->calls = rot_grow(self->calls, self->nr_calls, sizeof(*self->calls));
	self->calls[self->nr_calls++] = (struct call){.tid = hit->thread->tid,
						      .stack = registers->rsp,
						      .back = back,
						      .bytes = bytes_of(user->allocator, registers),
						      .result = user->allocator->by_pointer ? registers->rdi : 0,
						      .object = caller->object};
}

/* ---- functions ---- */

static void
set(struct allocations *self, struct thread *thread, const struct object *object, size_t i,
    const struct symbol_range *range)
{
	const struct breakpoint_user user = {on_call, NULL, &self->users[i]};
	const uint64_t address = range->address + object->bias;
	struct rot_error err;

	if (!range->is_global || range->is_resolver || translator_has_edge(thread, address, &user) ||
	    translator_set_edge(
		    self->translator, thread,
		    &(struct edge){.address = address, .kind = EDGE_STOP, .condition = CODE_ALWAYS, .user = user},
		    &err) < 0)
		return;
	self->addresses = rot_grow(self->addresses, self->nr_addresses, sizeof(*self->addresses));
	self->addresses[self->nr_addresses++] = address;
}

void
allocations_find(struct allocations *self, struct thread *thread)
{
	struct objects objects = {0};
	struct rot_error err;

	if (!self || objects_read(thread->tid, &objects, &err) < 0)
		return;
	translator_look_for_data(self->translator, thread);
	for (size_t i = 0; i < objects.nr_objects; i++) {
		const struct object *object = &objects.objects[i];
		struct symbol_file *file = object->file ? symbol_file_open(self->files, object->file, &err) : NULL;

		for (size_t k = 0; file && k < NR_ALLOCATORS; k++) {
			struct symbol_ranges found = {0};

			symbols_find_function(file, allocators[k].symbol, &found);
			for (size_t j = 0; j < found.nr_ranges; j++)
				if (found.ranges[j].name[strcspn(found.ranges[j].name, "@.")] != '.')
					set(self, thread, object, k, &found.ranges[j]);
			symbol_ranges_clear(&found);
		}
	}
	objects_clear(&objects);
}
