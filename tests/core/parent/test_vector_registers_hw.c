/* SPDX-License-Identifier: MIT */
/* Vector and mask registers of a stopped thread are those that it has set: of all widths that this machine has. */
#include <cpuid.h>
#include <sys/ptrace.h>

#include "parent/stepping/work.h"
#include "parent/stepping/xsave_area.h"
#include "permits.h"
#include "testing.h"

/* The child loads these. */
static struct vector_registers wanted;

#define TEXT(x) #x
#define ALL_16(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define HIGH_16(X) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define MASKS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define LOAD_XMM(n) "movdqu 64*" TEXT(n) "(%0), %%xmm" TEXT(n) "\n"
#define LOAD_YMM(n) "vmovdqu 64*" TEXT(n) "(%0), %%ymm" TEXT(n) "\n"
#define LOAD_ZMM(n) "vmovdqu64 64*" TEXT(n) "(%0), %%zmm" TEXT(n) "\n"
#define LOAD_MASK(n) "kmovq 8*" TEXT(n) "(%1), %%k" TEXT(n) "\n"
#define LOAD_K0 "kmovq (%1), %%k0\n"
#define STOP "int3\n"

/* The child ends after it, and what it does to the registers is its purpose. */
#define LOAD_AND_STOP(code) __asm__ volatile(code STOP : : "r"(wanted.vectors), "r"(wanted.masks) : "memory")

static void
stop_with_nothing(void)
{
	raise(SIGTRAP);
}

static void
stop_with_xmm(void)
{
	LOAD_AND_STOP(ALL_16(LOAD_XMM));
}

static void
stop_with_ymm(void)
{
	LOAD_AND_STOP(ALL_16(LOAD_YMM));
}

static void
stop_with_zmm(void)
{
	LOAD_AND_STOP(LOAD_K0 MASKS(LOAD_MASK) ALL_16(LOAD_ZMM) HIGH_16(LOAD_ZMM));
}

/* Only what zeroes the upper parts, so that components are as at the start, which the kernel leaves out. */
static void
stop_with_zeroed(void)
{
	LOAD_AND_STOP(ALL_16(LOAD_YMM) "vzeroall\n");
}

static bool
has_avx(void)
{
	return __builtin_cpu_supports("avx");
}

static bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512bw");
}

static bool
has_any(void)
{
	return true;
}

/* nr_registers, nr_bytes: that are as wanted; the rest is 0 if is_rest_zero, and otherwise what the C library left. */
static const struct kind {
	const char *name;
	bool (*is_there)(void);
	void (*stop)(void);
	int nr_registers, nr_bytes;
	bool has_masks, is_rest_zero;
} kinds[] = {
	{"nothing", has_any, stop_with_nothing, 0, 0, false, false},
	{"xmm", has_any, stop_with_xmm, 16, 16, false, false},
	{"ymm", has_avx, stop_with_ymm, 16, 32, false, false},
	{"zmm", has_avx512, stop_with_zmm, 32, 64, true, false},
	{"zeroed", has_avx, stop_with_zeroed, 0, 0, false, true},
};

static void
fill(void)
{
	uint8_t *bytes = (uint8_t *)&wanted;

	for (size_t i = 0; i < sizeof(wanted); i++)
		bytes[i] = (uint8_t)(1 + i * 7 + i / 64);
}

/* A child that stands in stop. */
static pid_t
start(void (*stop)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		stop();
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	return pid;
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
check_rest(const struct vector_registers *got)
{
	for (int i = 0; i < 16; i++)
		for (int byte = 0; byte < VECTOR_REGISTER_BYTES; byte++)
			ck_assert_msg(got->vectors[i][byte] == 0, "byte %d of register %d", byte, i);
}

TEST_OF(registers_are_read, NR_ELEMENTS(kinds))
{
	const struct kind *kind = &kinds[_i];
	struct vector_registers got;
	pid_t pid;

	if (!kind->is_there()) {
		fprintf(stderr, "this processor has no %s\n", kind->name);
		return;
	}
	fill();
	pid = start(kind->stop);
	memset(&got, 0xee, sizeof(got));
	ck_assert(vector_registers_read(pid, &got));
	for (int i = 0; i < kind->nr_registers; i++)
		ck_assert_msg(memcmp(got.vectors[i], wanted.vectors[i], (size_t)kind->nr_bytes) == 0, "%s, register %d",
			      kind->name, i);
	if (kind->has_masks)
		ck_assert_mem_eq(got.masks, wanted.masks, sizeof(wanted.masks));
	if (kind->is_rest_zero)
		check_rest(&got);
	end(pid);
}

/* ---- what saves them ---- */

#define AREA_BYTES 16384
#define LEAF_XSAVE 0xd

static uint8_t areas[2][AREA_BYTES] __attribute__((aligned(64)));

static uint64_t
read_xcr(uint32_t number)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(number));
	return (uint64_t)high << 32 | low;
}

static void
save_all(uint8_t *area)
{
	__asm__ volatile("xsave64 (%0)" : : "r"(area), "a"(-1), "d"(-1) : "memory");
}

static void
save_compacted(uint8_t *area)
{
	__asm__ volatile("xsavec64 (%0)" : : "r"(area), "a"(-1), "d"(-1) : "memory");
}

/* Has XSAVE been enabled, and are there XSAVEC and the number that tells what is in use? */
static bool
can_save(enum xsave_kind kind)
{
	unsigned eax = 0, ebx, ecx = 0, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
		return false;
	return kind == XSAVE_ALL || (__get_cpuid_count(LEAF_XSAVE, 1, &eax, &ebx, &ecx, &edx) && (eax & 6) == 6);
}

/* The bytes that are the same whatever was there before were written; of the spare ones of a register not all are. */
static void
check_span(const struct xsave_span *span, bool *is_told)
{
	size_t nr_kept = 0;

	for (size_t i = span->offset; i < span->offset + span->bytes; i++) {
		is_told[i] = true;
		nr_kept += areas[0][i] != areas[1][i];
	}
	ck_assert_msg(4 * nr_kept < 3 * span->bytes, "%zu of %u bytes at %u are not written", nr_kept, span->bytes,
		      span->offset);
}

TEST_OF(saved_bytes_are_told, 2)
{
	static void (*const savers[])(uint8_t *) = {[XSAVE_ALL] = save_all, [XSAVE_COMPACT] = save_compacted};
	static bool is_told[AREA_BYTES];
	struct xsave_request request = {.kind = _i, .asked_for = UINT64_MAX};
	struct xsave_span spans[XSAVE_MAX_SPANS];
	size_t nr;

	if (!can_save(request.kind)) {
		fprintf(stderr, "this processor does not save so\n");
		return;
	}
	request.enabled = read_xcr(0);
	for (int i = 0; i < 2; i++) {
		memset(areas[i], i ? 0xaa : 0x55, sizeof(areas[i]));
		memset(areas[i] + XSAVE_HEADER_AT, 0, XSAVE_HEADER_BYTES);
		savers[_i](areas[i]);
	}
	request.in_use = _i == XSAVE_COMPACT ? *(const uint64_t *)(areas[1] + XSAVE_HEADER_AT) : 0;
	nr = xsave_spans(&request, spans);
	ck_assert_uint_gt(nr, 2);
	for (size_t i = 0; i < nr; i++)
		if (spans[i].is_store)
			check_span(&spans[i], is_told);
	for (size_t i = 0; i < AREA_BYTES; i++) {
		const bool is_header = i >= XSAVE_HEADER_AT && i < XSAVE_HEADER_AT + XSAVE_HEADER_BYTES;

		ck_assert_msg(is_told[i] || is_header || areas[0][i] != areas[1][i], "byte %zu is written", i);
	}
}

/* Bytes of what is held, in either format; the rest is not looked at. */
TEST(restored_bytes_are_told)
{
	const uint64_t x87 = 1, sse = 2, avx = 4;
	struct xsave_request request = {.kind = XSAVE_RESTORE, .asked_for = sse | avx, .enabled = x87 | sse | avx};
	struct xsave_span spans[XSAVE_MAX_SPANS];

	request.held = x87;
	ck_assert_uint_eq(xsave_spans(&request, spans), 2); /* the header, and the control word of SSE */
	ck_assert_uint_eq(spans[0].offset, XSAVE_HEADER_AT);
	ck_assert_uint_eq(spans[0].bytes, XSAVE_HEADER_BYTES);
	ck_assert_uint_eq(spans[1].bytes, 8);
	ck_assert(!spans[0].is_store && !spans[1].is_store);
	request.held = sse;
	ck_assert_uint_eq(xsave_spans(&request, spans), 3);
	ck_assert_uint_eq(spans[2].bytes, 256);
	request.format = UINT64_C(1) << 63 | sse;
	request.held = 0;
	ck_assert_uint_eq(xsave_spans(&request, spans), 1);
}

TEST(no_thread_has_none)
{
	struct vector_registers got;

	ck_assert(!vector_registers_read(getpid(), &got));
	ck_assert(!vector_registers_read(0, &got));
}

UNIT_TESTS(.needs = {permits_tracing});
