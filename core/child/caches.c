/* SPDX-License-Identifier: MIT */
/* See caches.h. Sources: Intel SDM vol. 2A and AMD64 APM vol. 3, CLFLUSH and CLFLUSHOPT; the kernel's
 * sysfs-devices-system-cpu. */
#include "child/caches.h"

#include <cpuid.h>
#include <immintrin.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child/kernels.h"
#include "child/spin.h"

#define CPU_FOLDER "/sys/devices/system/cpu/cpu0"
/*
 * All x86-64 processors so far have such lines. If lines are longer somewhere, they are touched more often than needed.
 * As this is a constant, registers tell the measuring core, which steps through what warms caches, the turns of loops.
 */
#define LINE_BYTES 64
#define ASSUMED_LAST_LEVEL_BYTES ((size_t)32 << 20)
/*
 * Writing twice the last level is not enough. On an EPYC 9005 (L3 32 MiB), 512 KiB that were used before took,
 * afterwards, 15 ns an access in the best case and 74 ns in the middle of 15 runs, after four times 93 to 101 ns, as
 * after more; reading needs eight times.
 */
#define CLEARING_FACTOR 4

#define CPUID_7_EBX_CLFLUSHOPT (1u << 23)

static size_t last_level_bytes = ASSUMED_LAST_LEVEL_BYTES;
static char *clearing; /* NULL: caches_open has not been called */
static size_t clearing_bytes;
static pthread_spinlock_t clearing_lock;
static bool has_clflushopt;

/* A number with an optional K, M or G from FOLDER/cache/indexI/NAME; 0 if there is none. */
static size_t
read_number(const char *folder, int index, const char *name)
{
	char path[512], unit = '\0';
	size_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/cache/index%d/%s", folder, index, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%zu%c", &number, &unit) < 1)
		number = 0;
	fclose(file);
	return number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

size_t
cache_last_level_read(const char *cpu_folder)
{
	size_t found = ASSUMED_LAST_LEVEL_BYTES, highest = 0, level;

	for (int index = 0; (level = read_number(cpu_folder, index, "level")) > 0; index++) {
		size_t bytes = read_number(cpu_folder, index, "size");

		if (level <= highest || bytes == 0)
			continue;
		highest = level;
		found = bytes;
	}
	return found;
}

int
caches_open(size_t known_bytes, size_t memory_bytes, struct rot_error *err)
{
	unsigned eax, ebx, ecx, edx;
	size_t memory = memory_bytes ? memory_bytes : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	if (clearing)
		return 0;
	has_clflushopt = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & CPUID_7_EBX_CLFLUSHOPT);
	last_level_bytes = cache_last_level_read(CPU_FOLDER);
	if (known_bytes > last_level_bytes)
		last_level_bytes = known_bytes;
	clearing_bytes = CLEARING_FACTOR * last_level_bytes;
	if (clearing_bytes > memory / 4)
		clearing_bytes = memory / 4;
	clearing = kernel_allocate_for(0, clearing_bytes, 1);
	if (!clearing)
		return rot_error_set(err, 0, "to clear the caches: %s", kernel_reason());
	memset(clearing, 1, clearing_bytes);
	cache_flush(clearing, clearing_bytes);
	pthread_spin_init(&clearing_lock, PTHREAD_PROCESS_PRIVATE);
	return 0;
}

void
caches_close(void)
{
	if (!clearing)
		return;
	kernel_free(clearing);
	pthread_spin_destroy(&clearing_lock);
	clearing = NULL;
}

size_t
cache_last_level_bytes(void)
{
	return last_level_bytes;
}

void
caches_clear(void)
{
	struct spin spin = {0};

	while (pthread_spin_trylock(&clearing_lock) != 0)
		spin_once(&spin);
	for (size_t i = 0; i < clearing_bytes; i += LINE_BYTES)
		(*(volatile char *)(clearing + i))++;
	cache_flush(clearing, clearing_bytes);
	pthread_spin_unlock(&clearing_lock);
}

static const char *
line_of(const void *start)
{
	return (const char *)((uintptr_t)start & ~(uintptr_t)(LINE_BYTES - 1));
}

__attribute__((target("clflushopt"))) static void
flush_optimized(const char *line, const char *end)
{
	for (; line < end; line += LINE_BYTES)
		_mm_clflushopt((void *)line);
}

void
cache_flush(const void *start, size_t bytes)
{
	const char *end = (const char *)start + bytes;
	const char *line = line_of(start);

	_mm_mfence();
	if (has_clflushopt)
		flush_optimized(line, end);
	else
		for (; line < end; line += LINE_BYTES)
			_mm_clflush(line);
	_mm_mfence();
}

void
cache_read(const void *start, size_t bytes)
{
	const char *end = (const char *)start + bytes;

	if (bytes > 0)
		(void)*(const volatile char *)start;
	for (const char *line = line_of(start) + LINE_BYTES; line < end; line += LINE_BYTES)
		(void)*(const volatile char *)line;
}

static int
visit_object(struct dl_phdr_info *object, size_t bytes, void *data)
{
	const text_visitor visit = *(text_visitor *)data;

	(void)bytes;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
			visit((const char *)object->dlpi_addr + segment->p_vaddr, segment->p_filesz);
	}
	return 0;
}

void
text_visit(text_visitor visit)
{
	dl_iterate_phdr(visit_object, &visit);
}

void
cache_flush_text(void)
{
	text_visit(cache_flush);
}
