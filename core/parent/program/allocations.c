/* SPDX-License-Identifier: MIT */
#include "parent/program/allocations.h"

#include <inttypes.h>
#include <stdlib.h>

#include "memory.h"
#include "parent/breakpoints/breakpoints.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/plain_name.h"
#include "parent/tracer/remote.h"
#include "parent/translate/edges.h"

/* The first call of each caller has its code translated anew, so there are not more. */
#define MOST_CALLERS 2000

/*
 * symbol: of the function; name: as it is shown. size: as of struct site_allocation; 0: the third argument, and the
 * result is where the first one points to
 */
static const struct allocator {
	const char *symbol, *name;
	uint32_t size;
} allocators[] = {
	{"malloc", "malloc", 1},
	{"calloc", "calloc", 3},
	{"realloc", "realloc", 2},
	{"reallocarray", "reallocarray", 6},
	{"aligned_alloc", "aligned_alloc", 2},
	{"memalign", "memalign", 2},
	{"valloc", "valloc", 1},
	{"posix_memalign", "posix_memalign", 0},
	{"mmap", "mmap", 2},
	{"mmap64", "mmap", 2},
	{"_Znwm", "new", 1},
	{"_Znam", "new[]", 1},
	{"_ZnwmSt11align_val_t", "new", 1},
	{"_ZnamSt11align_val_t", "new[]", 1},
	{"_ZnwmRKSt9nothrow_t", "new", 1},
	{"_ZnamRKSt9nothrow_t", "new[]", 1},
};
#define NR_ALLOCATORS (sizeof(allocators) / sizeof(*allocators))

/* A place that calls an allocator, by the address to which that returns. */
struct caller {
	pid_t pid;
	uint64_t address;
	const struct allocator *allocator;
	uint32_t object;
};

/* A call that has not returned yet. result: where the result will be */
struct call {
	pid_t tid;
	uint64_t stack, back, bytes, result;
	uint32_t object;
};

/* The user of edges that is told of calls of an allocator. */
struct watcher {
	struct allocations *allocations;
	const struct allocator *allocator;
};

struct allocations {
	struct data *data;
	struct symbol_files *files;
	struct translator *translator;
	struct watcher watchers[NR_ALLOCATORS];
	struct caller *callers;
	size_t nr_callers;
	struct call *calls;
	size_t nr_calls;
	bool are_missed;
};

struct allocations *
allocations_new(struct data *data, struct symbol_files *files, struct translator *translator)
{
	struct allocations *self = rot_calloc(1, sizeof(*self));

	*self = (struct allocations){.data = data, .files = files, .translator = translator};
	for (size_t i = 0; i < NR_ALLOCATORS; i++)
		self->watchers[i] = (struct watcher){self, &allocators[i]};
	return self;
}

void
allocations_delete(struct allocations *self)
{
	if (!self)
		return;
	free(self->callers);
	free(self->calls);
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
	const struct object *object;
	struct symbol_file *file;
	struct symbol_range range = {0};
	autofree char *function = NULL;
	const char *source = NULL;
	uint64_t address;
	int line = 0;
	char *name;

	if (objects_read(thread->tid, &objects, NULL) < 0)
		return rot_strdup(allocator->name);
	object = object_at(&objects, back - 1);
	address = object ? back - 1 - object->bias : 0;
	file = object && object->file ? symbol_file_open(self->files, object->file, NULL) : NULL;
	if (file && symbols_function_at(file, address, &range) && range.name) {
		function = plain_name_or_symbol(range.name);
		source = symbols_line_at(file, address, &line);
	}
	name = source     ? rot_format("%s in %s (%s:%d)", allocator->name, function, source, line)
	       : function ? rot_format("%s in %s", allocator->name, function)
	       : object && object->file
		       ? rot_format("%s in %s+0x%" PRIx64, allocator->name, object_name(object), address + 1)
		       : rot_strdup(allocator->name);
	objects_clear(&objects);
	return name;
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

/*
 * A thread is at the first instruction of an allocator, which is to return to where none has returned to yet. From now
 * on calls from there are recorded without a stop.
 */
static void
on_new_caller(void *context, const struct breakpoint_hit *hit)
{
	const struct watcher *watcher = context;
	struct allocations *self = watcher->allocations;
	const struct caller *caller;
	struct edge edge = {.kind = EDGE_RESULT, .condition = CODE_ALWAYS};
	struct rot_error err;

	if (remote_read(hit->thread->tid, hit->registers->rsp, &edge.address, sizeof(edge.address), NULL) < 0)
		return;
	translator_look_for_data(self->translator, hit->thread);
	translator_know_caller(hit->thread, edge.address);
	caller = find_caller(self, hit->thread, watcher->allocator, edge.address);
	if (!caller || translator_has_edge(hit->thread, edge.address, &edge))
		return;
	edge.allocation.object = caller->object;
	translator_set_edge(self->translator, hit->thread, &edge, &err);
}

void
allocations_forget(struct allocations *self, pid_t pid)
{
	size_t nr = 0;

	for (size_t i = 0; self && i < self->nr_callers; i++)
		if (self->callers[i].pid != pid)
			self->callers[nr++] = self->callers[i];
	if (self)
		self->nr_callers = nr;
}

/* ---- what is returned by a pointer ---- */

static struct call *
find_call(struct allocations *self, pid_t tid)
{
	for (size_t i = 0; i < self->nr_calls; i++)
		if (self->calls[i].tid == tid)
			return &self->calls[i];
	return NULL;
}

static void
on_return(void *context, const struct breakpoint_hit *hit)
{
	struct allocations *self = context;
	struct call *call = find_call(self, hit->thread->tid);
	uint64_t start;

	if (!call || call->back != hit->address || call->stack + sizeof(uint64_t) != hit->registers->rsp)
		return;
	if (hit->registers->rax == 0 && remote_read(hit->thread->tid, call->result, &start, sizeof(start), NULL) == 0)
		translator_put_object(hit->thread, start, start + call->bytes, call->object);
	*call = self->calls[--self->nr_calls];
}

static void
on_call(void *context, const struct breakpoint_hit *hit)
{
	const struct watcher *watcher = context;
	struct allocations *self = watcher->allocations;
	struct call *call = find_call(self, hit->thread->tid);
	struct edge edge = {.kind = EDGE_STOP, .condition = CODE_ALWAYS, .user = {on_return, NULL, self}};
	const struct caller *caller;
	struct rot_error err;

	if (remote_read(hit->thread->tid, hit->registers->rsp, &edge.address, sizeof(edge.address), NULL) < 0 ||
	    !(caller = find_caller(self, hit->thread, watcher->allocator, edge.address)) ||
	    (!translator_has_edge(hit->thread, edge.address, &edge) &&
	     translator_set_edge(self->translator, hit->thread, &edge, &err) < 0))
		return;
	if (!call) {
		self->calls = rot_grow(self->calls, self->nr_calls, sizeof(*self->calls));
		call = &self->calls[self->nr_calls++];
	}
	*call = (struct call){.tid = hit->thread->tid,
			      .stack = hit->registers->rsp,
			      .back = edge.address,
			      .bytes = hit->registers->rdx,
			      .result = hit->registers->rdi,
			      .object = caller->object};
}

/* ---- functions ---- */

static void
set(struct allocations *self, struct thread *thread, uint64_t address, size_t i)
{
	const struct allocator *allocator = &allocators[i];
	const struct edge edge = {.address = address,
				  .kind = allocator->size ? EDGE_CALL : EDGE_STOP,
				  .condition = CODE_ALWAYS,
				  .user = {allocator->size ? on_new_caller : on_call, NULL, &self->watchers[i]},
				  .allocation.size = allocator->size};
	struct rot_error err;

	if (!translator_has_edge(thread, address, &edge))
		translator_set_edge(self->translator, thread, &edge, &err);
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
				if (found.ranges[j].is_global && !found.ranges[j].is_resolver)
					set(self, thread, found.ranges[j].address + object->bias, k);
			symbol_ranges_clear(&found);
		}
	}
	objects_clear(&objects);
}
