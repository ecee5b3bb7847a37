/* SPDX-License-Identifier: MIT */
/* The functions that the core offers to kernels: see kernels/kernel.h. */
#include "kernel.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child/kernels.h"
#include "common/buffers.h"
#include "memory.h"

#define HUGE_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)4096)

static _Thread_local char reason[2048];

int
kernel_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return -1;
}

const char *
kernel_reason(void)
{
	return reason;
}

void
kernel_reason_clear(void)
{
	reason[0] = '\0';
}

/* ---- memory ---- */

/* The memory that mmap gave for an address that a kernel has. */
struct mapping {
	void *start; /* as the kernel knows it */
	void *base;
	size_t bytes;
	struct mapping *next;
};

static struct mapping *mappings;
static struct buffer_table buffer_table;
static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t limit_bytes = SIZE_MAX;
static atomic_size_t taken_bytes; /* of the limit: of all mappings, touched or not */

void
kernel_memory_limit_set(size_t bytes)
{
	limit_bytes = bytes ? bytes : SIZE_MAX;
}

/* MemAvailable of /proc/meminfo in bytes; SIZE_MAX if it cannot be read. */
static size_t
available_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[256];
	size_t kib, bytes = SIZE_MAX;

	if (!file)
		return SIZE_MAX;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1) {
			bytes = kib << 10;
			break;
		}
	}
	fclose(file);
	return bytes;
}

int64_t
kernel_buffer_table(void)
{
	return (int64_t)(uintptr_t)&buffer_table;
}

/* In the entry of the address from, of which 0 is a free one; if there is none, nobody knows this buffer. */
static void
buffer_note(uint64_t from, const struct buffer_entry *now)
{
	for (size_t i = 0; i < BUFFER_TABLE_ROOM; i++) {
		if (buffer_table.entries[i].start == from) {
			buffer_table.entries[i] = *now;
			return;
		}
	}
}

static void
mapping_add(void *start, void *base, size_t bytes, const struct buffer_entry *buffer)
{
	struct mapping *mapping = rot_calloc(1, sizeof(*mapping));

	*mapping = (struct mapping){.start = start, .base = base, .bytes = bytes};
	pthread_mutex_lock(&mappings_lock);
	mapping->next = mappings;
	mappings = mapping;
	if (buffer->caller)
		buffer_note(0, buffer);
	pthread_mutex_unlock(&mappings_lock);
}

/* Both the machine's memory and the limit must have room. */
static int
take_from_limit(size_t bytes, size_t mapped)
{
	const size_t available = available_bytes();
	size_t taken;

	if (bytes > available)
		return kernel_fail("cannot allocate %zu bytes: only %zu bytes of memory are available", bytes,
				   available);
	taken = atomic_fetch_add(&taken_bytes, mapped);
	if (taken <= limit_bytes && mapped <= limit_bytes - taken)
		return 0;
	atomic_fetch_sub(&taken_bytes, mapped);
	return kernel_fail("cannot allocate %zu bytes: of the %zu bytes of memory that may be used %zu are taken",
			   bytes, limit_bytes, taken);
}

void *
kernel_allocate(size_t nr, size_t size)
{
	return kernel_allocate_for((uint64_t)(uintptr_t)__builtin_return_address(0), nr, size);
}

void *
kernel_allocate_for(uint64_t caller, size_t nr, size_t size)
{
	size_t bytes, mapped;
	char *base, *start;

	if (__builtin_mul_overflow(nr, size, &bytes) || bytes > SIZE_MAX / 2) {
		kernel_fail("cannot allocate %zu elements of %zu bytes: more than there are addresses", nr, size);
		return NULL;
	}
	mapped = (bytes + PAGE_BYTES) & ~(PAGE_BYTES - 1);
	if (bytes >= HUGE_BYTES)
		mapped += HUGE_BYTES;
	if (take_from_limit(bytes, mapped) < 0)
		return NULL;
	base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED) {
		atomic_fetch_sub(&taken_bytes, mapped);
		kernel_fail("cannot allocate %zu bytes: %s", bytes, strerror(errno));
		return NULL;
	}
	start = base;
	if (bytes >= HUGE_BYTES) {
		start += (HUGE_BYTES - (uintptr_t)base % HUGE_BYTES) % HUGE_BYTES;
		madvise(start, bytes, MADV_HUGEPAGE);
	}
	mapping_add(start, base, mapped, &(struct buffer_entry){(uint64_t)(uintptr_t)start, nr, size, caller});
	return start;
}

void
kernel_free(void *memory)
{
	struct mapping *found = NULL;

	pthread_mutex_lock(&mappings_lock);
	for (struct mapping **at = &mappings; *at; at = &(*at)->next) {
		if ((*at)->start == memory) {
			found = *at;
			*at = found->next;
			buffer_note((uint64_t)(uintptr_t)memory, &(struct buffer_entry){0});
			break;
		}
	}
	pthread_mutex_unlock(&mappings_lock);
	if (!found)
		return;
	munmap(found->base, found->bytes);
	atomic_fetch_sub(&taken_bytes, found->bytes);
	free(found);
}

/* ---- contents ---- */

/* SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t
next_bits(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Random bits as the fraction of a number with the exponent of 1. */
void
kernel_fill(double *values, size_t nr, unsigned seed)
{
	uint64_t state = seed;

	for (size_t i = 0; i < nr; i++) {
		uint64_t bits = next_bits(&state) >> 12 | 0x3ff0000000000000u;

		memcpy(&values[i], &bits, sizeof(bits));
	}
}

void
kernel_fill_float(float *values, size_t nr, unsigned seed)
{
	uint64_t state = seed;

	for (size_t i = 0; i < nr; i++) {
		uint32_t bits = (uint32_t)(next_bits(&state) >> 41) | 0x3f800000u;

		memcpy(&values[i], &bits, sizeof(bits));
	}
}

/* ---- libraries that kernels measure, what they tell of them, and where their files go ---- */

struct library {
	char *file, *variables;
	void *handle;
	struct library *next;
};

/* Both live as long as the process: a library keeps threads, and what it is does not change. */
static struct library *libraries;
static char **facts;
static size_t nr_facts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *folder, *kept_folder;

void
kernel_folder_set(const char *file)
{
	const char *slash = strrchr(file, '/');

	free(folder);
	folder = slash ? rot_strndup(file, (size_t)(slash - file)) : rot_strdup(".");
}

const char *
kernel_folder(void)
{
	return folder ? folder : ".";
}

void
kernel_kept_folder_set(const char *path)
{
	rot_string_set(&kept_folder, path);
}

const char *
kernel_kept_folder(void)
{
	return kept_folder && kept_folder[0] ? kept_folder : NULL;
}

/* ---- what is told ---- */

/* Called with the lock held. Takes the text. */
static void
add_fact(char *text)
{
	for (size_t i = 0; i < nr_facts; i++) {
		if (strcmp(facts[i], text) == 0) {
			free(text);
			return;
		}
	}
	rot_add(facts, nr_facts) = text;
}

void
kernel_tell(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	pthread_mutex_lock(&lock);
	add_fact(text);
	pthread_mutex_unlock(&lock);
}

void
kernel_facts(struct measurement_run_output *output)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nr_facts; i++)
		measurement_run_output_facts_add(output, facts[i]);
	pthread_mutex_unlock(&lock);
}

/* ---- variables ---- */

/* Removes NAME, or all that begin with it. */
static void
unset(const char *name, bool is_prefix)
{
	size_t length = strlen(name);

	for (char **variable = environ; *variable;) {
		size_t of_name = strcspn(*variable, "=");
		autofree char *found = NULL;

		if (strncmp(*variable, name, length) != 0 || (!is_prefix && of_name != length)) {
			variable++;
			continue;
		}
		found = rot_strndup(*variable, of_name);
		unsetenv(found);
		variable = environ;
	}
}

static void
apply_variables(const char *variables)
{
	char *copy = rot_strdup(variables), *rest = NULL;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '='), *star = strchr(word, '*');

		if (value) {
			*value++ = '\0';
			setenv(word, value, 1);
			continue;
		}
		if (star)
			*star = '\0';
		unset(word, star != NULL);
	}
	free(copy);
}

/* ---- libraries ---- */

/* FILE of a folder lies in that folder beside the C library; a mere name is the loader's business. */
static char *
path_of(const char *file)
{
	Dl_info c_library;
	const char *slash;

	if (file[0] == '/' || !strchr(file, '/') || !dladdr((void *)getenv, &c_library) || !c_library.dli_fname)
		return rot_strdup(file);
	slash = strrchr(c_library.dli_fname, '/');
	return rot_format("%.*s/%s", slash ? (int)(slash - c_library.dli_fname) : 0, c_library.dli_fname, file);
}

static void *
load_library(const char *file, const char *variables)
{
	autofree char *path = path_of(file);
	struct library *library;
	struct link_map *map = NULL;
	void *handle;

	apply_variables(variables);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		kernel_fail("%s", dlerror());
		return NULL;
	}
	library = rot_calloc(1, sizeof(*library));
	*library = (struct library){rot_strdup(file), rot_strdup(variables), handle, libraries};
	libraries = library;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name) {
		autofree char *real = realpath(map->l_name, NULL);

		add_fact(rot_format("%s: %s", file, real ? real : map->l_name));
	}
	return handle;
}

void *
kernel_library(const char *file, const char *variables)
{
	void *handle = NULL;
	bool is_known = false;

	pthread_mutex_lock(&lock);
	for (const struct library *library = libraries; library && !is_known; library = library->next) {
		is_known = strcmp(library->file, file) == 0;
		if (is_known && strcmp(library->variables, variables) == 0)
			handle = library->handle;
		else if (is_known)
			kernel_fail("%s is loaded already, with '%s' instead of '%s': a process can load it once", file,
				    library->variables, variables);
	}
	if (!is_known)
		handle = load_library(file, variables);
	pthread_mutex_unlock(&lock);
	return handle;
}

void *
kernel_symbol(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		kernel_fail("%s", dlerror());
	return symbol;
}
