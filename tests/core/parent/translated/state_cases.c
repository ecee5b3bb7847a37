/* SPDX-License-Identifier: MIT */
/* State of the processor beside the general registers, and what instructions tell of the machine. */
#include <asm/prctl.h>
#include <cpuid.h>
#include <fenv.h>
#include <setjmp.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <x86intrin.h>

#include "hard_cases.h"

static void __attribute__((noinline)) pass_through(void (*function)(void), int depth)
{
	if (depth > 0)
		pass_through(function, depth - 1);
	else
		function();
	__asm__ volatile("");
}

static void
nothing(void)
{
	getppid();
}

/* ---- x87 ---- */

/* All eight registers of the stack live across branches of each kind. */
static void
x87_stack(void)
{
	uint32_t out[8];

	for (int i = 0; i < 50; i++) {
		__asm__ volatile(
			"finit\n fld1\n fldpi\n fldl2e\n fldl2t\n fldlg2\n fldln2\n fldz\n fld1\n"
			"sub $128, %%rsp\n call 1f\n add $128, %%rsp\n lea 2f(%%rip), %%rax\n jmp *%%rax\n ud2\n 1: "
			"ret\n"
			"2: mov $39, %%eax\n syscall\n fistpl 0(%0)\n fistpl 4(%0)\n fistpl 8(%0)\n fistpl 12(%0)\n"
			"fistpl 16(%0)\n fistpl 20(%0)\n fistpl 24(%0)\n fistpl 28(%0)\n"
			:
			: "r"(out)
			: "rax", "rcx", "r11", "memory", "cc", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)",
			  "st(6)", "st(7)");
		CHECK(out[0] == 1 && out[1] == 0 && out[2] == 1 && out[3] == 0 && out[4] == 3 && out[5] == 1 &&
		      out[6] == 3 && out[7] == 1);
	}
}

/* 80 bits of precision, and what the control word asks for instead. */
static void
x87_precision(void)
{
	volatile long double three_wide = 3, third = 1 / three_wide, sum = third;
	uint64_t mantissa;
	uint16_t word, narrow;

	memcpy(&mantissa, (const void *)&third, sizeof(mantissa));
	CHECK_SAME(mantissa, 0xaaaaaaaaaaaaaaab);
	__asm__ volatile("fnstcw %0" : "=m"(word));
	narrow = word & ~0x300;
	__asm__ volatile("fldcw %0" : : "m"(narrow));
	pass_through(nothing, 3);
	sum = third * 3.0L;
	__asm__ volatile("fldcw %0" : : "m"(word));
	third = sum / 3;
	CHECK((float)sum == 1.0f);
	__asm__ volatile("fnstcw %0" : "=m"(narrow));
	CHECK_SAME(word, narrow);
}

/* Where the last x87 instruction stood is program state, too: an address of the program, or nothing as on some
 * processors. */
static void
x87_address(void)
{
	struct {
		uint32_t words[7];
	} environment;
	uint64_t here;

	for (int i = 0; i < 20; i++) {
		__asm__ volatile("finit\n lea 1f(%%rip), %0\n 1: fldpi\n call 2f\n jmp 3f\n 2: ret\n 3: fnstenv %1\n "
				 "fstp %%st(0)\n finit\n"
				 : "=&r"(here), "=m"(environment)
				 :
				 : "memory", "st", "cc");
		if (environment.words[3] != 0)
			CHECK_SAME(environment.words[3], (uint32_t)here);
	}
}

static void
mmx(void)
{
	uint64_t value = 0x0102030405060708;

	__asm__ volatile("movq %0, %%mm3\n paddb %%mm3, %%mm3\n call 1f\n jmp 2f\n 1: ret\n 2: movq %%mm3, %0\n emms\n"
			 : "+m"(value)
			 :
			 : "mm3", "st", "memory");
	CHECK_SAME(value, 0x020406080a0c0e10);
}

/* ---- MXCSR ---- */

static double volatile one = 1, three = 3, tiny = 1e-310;

static void
rounding(void)
{
	static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	double results[4];
	unsigned int old = _mm_getcsr();

	for (int i = 0; i < 4; i++) {
		fesetround(modes[i]);
		pass_through(nothing, 5);
		results[i] = one / three;
	}
	fesetround(FE_TONEAREST);
	CHECK(results[1] > results[0] && results[2] == results[0] && results[3] == results[0]);
	_mm_setcsr(old | 0x8040); /* denormals are zero */
	pass_through(nothing, 5);
	CHECK(tiny * 2 == 0);
	_mm_setcsr(old & ~0x3fU);
	CHECK(tiny * 2 != 0);
	CHECK(fetestexcept(FE_INEXACT) == 0);
	results[0] = one / three;
	__asm__ volatile("" : : "x"(results[0]));
	CHECK(_mm_getcsr() & 0x20);
	_mm_setcsr(old);
}

/* ---- wide registers ---- */

static bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl");
}

static void
vectors_through_branches(void)
{
	unsigned char in[32], out[3][32];

	if (!__builtin_cpu_supports("avx2"))
		skip("no AVX2");
	for (int i = 0; i < 32; i++)
		in[i] = (unsigned char)(i * 37 + 5);
	for (int i = 0; i < 50; i++) {
		__asm__ volatile(
			"vmovdqu (%0), %%ymm0\n vpaddb %%ymm0, %%ymm0, %%ymm7\n vpaddb %%ymm0, %%ymm7, %%ymm15\n"
			"sub $128, %%rsp\n call 1f\n add $128, %%rsp\n lea 2f(%%rip), %%rax\n jmp *%%rax\n ud2\n 1: "
			"ret\n"
			"2: mov $39, %%eax\n syscall\n mov $3, %%ecx\n 3: loop 3b\n"
			"vmovdqu %%ymm0, (%1)\n vmovdqu %%ymm7, 32(%1)\n vmovdqu %%ymm15, 64(%1)\n vzeroupper\n"
			:
			: "r"(in), "r"(out)
			: "rax", "rcx", "r11", "memory", "cc", "xmm0", "xmm7", "xmm15");
		for (int k = 0; k < 32; k++) {
			CHECK_SAME(out[0][k], in[k]);
			CHECK_SAME(out[1][k], (unsigned char)(2 * in[k]));
			CHECK_SAME(out[2][k], (unsigned char)(3 * in[k]));
		}
	}
}

static volatile sig_atomic_t nr_ticks;

static void
disturb(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	nr_ticks++;
	if (__builtin_cpu_supports("avx2"))
		__asm__ volatile("vpxor %%xmm0, %%xmm0, %%xmm0\n vzeroall\n"
				 :
				 :
				 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
				   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	__asm__ volatile("fninit");
}

#ifdef __clang__
#define MASKS
#else
#define MASKS , "k1", "k2", "k7"
#endif

/* zmm0, zmm31 and masks across branches, system calls, and signals whose handlers destroy them. */
static void __attribute__((target("avx512f,avx512bw,avx512vl"))) masks_and_zmm(void)
{
	unsigned char in[64], out[3][64];
	uint64_t masks[3];

	if (!has_avx512())
		skip("no AVX-512");
	for (int i = 0; i < 64; i++)
		in[i] = (unsigned char)(i * 37 + 5);
	handle(SIGALRM, disturb, SA_RESTART);
	nr_ticks = 0;
	for (int i = 0, nr_asked = -1; i < 100000 && nr_ticks < 50; i++) {
		const int nr_seen = nr_ticks;

		/* The next one is asked for when the last has come, however quick the host is. */
		if (nr_seen != nr_asked)
			tick_once(200);
		nr_asked = nr_seen;
		__asm__ volatile("mov $0x123456789abcdef1, %%rax\n kmovq %%rax, %%k1\n not %%rax\n kmovq %%rax, %%k2\n "
				 "kxnorq %%k7, %%k7, %%k7\n"
				 "kshiftrq $7, %%k7, %%k7\n vmovdqu64 (%0), %%zmm0\n vpaddb %%zmm0, %%zmm0, "
				 "%%zmm16%{%%k1%}%{z%}\n"
				 "vmovdqa64 %%zmm0, %%zmm31\n vpaddb %%zmm31, %%zmm31, %%zmm31%{%%k2%}\n"
				 "sub $128, %%rsp\n call 1f\n add $128, %%rsp\n lea 2f(%%rip), %%rax\n jmp *%%rax\n "
				 "ud2\n 1: ret\n"
				 "2: mov $39, %%eax\n syscall\n mov $1000, %%ecx\n 3: dec %%ecx\n jnz 3b\n"
				 "vmovdqu64 %%zmm0, (%1)\n vmovdqu64 %%zmm16, 64(%1)\n vmovdqu64 %%zmm31, 128(%1)\n"
				 "kmovq %%k1, (%2)\n kmovq %%k2, 8(%2)\n kmovq %%k7, 16(%2)\n vzeroupper\n"
				 :
				 : "r"(in), "r"(out), "r"(masks)
				 : "rax", "rcx", "r11", "memory", "cc", "xmm0", "xmm16", "xmm31" MASKS);
		CHECK_SAME(masks[0], 0x123456789abcdef1);
		CHECK_SAME(masks[1], ~0x123456789abcdef1);
		CHECK_SAME(masks[2], ~0ULL >> 7);
		for (int k = 0; k < 64; k++) {
			CHECK_SAME(out[0][k], in[k]);
			CHECK_SAME(out[1][k], masks[0] >> k & 1 ? (unsigned char)(2 * in[k]) : 0);
			CHECK_SAME(out[2][k], (unsigned char)(masks[1] >> k & 1 ? 2 * in[k] : in[k]));
		}
	}
	tick(0);
	CHECK(nr_ticks > 0);
}

/* The whole extended state, as dynamic linkers save it. */
static void __attribute__((target("xsave"))) saved_state(void)
{
	static unsigned char area[2][16384] __attribute__((aligned(64)));
	unsigned int a, b, c, d;

	__cpuid(1, a, b, c, d);
	if (!(c & bit_OSXSAVE))
		skip("no XSAVE");
	__cpuid_count(0xd, 0, a, b, c, d);
	CHECK(b > 0 && b <= sizeof(area[0]));
	CHECK((_xgetbv(0) & 3) == 3);
	memset(area, 0, sizeof(area));
	__asm__ volatile("pcmpeqd %%xmm9, %%xmm9" : : : "xmm9");
	_xsave64(area[0], 7);
	__asm__ volatile("pxor %%xmm9, %%xmm9" : : : "xmm9");
	pass_through(nothing, 3);
	_xrstor64(area[0], 7);
	_xsave64(area[1], 7);
	CHECK(memcmp(area[0] + 160 + 9 * 16, area[1] + 160 + 9 * 16, 16) == 0 && area[1][160 + 9 * 16] == 0xff);
}

/* ---- segments ---- */

static void
segments(void)
{
	uint64_t self, base;
	uint16_t cs, ss;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(self));
	CHECK(syscall(SYS_arch_prctl, ARCH_GET_FS, &base) == 0);
	CHECK_SAME(self, base);
	__asm__ volatile("mov %%cs, %0\n mov %%ss, %1" : "=r"(cs), "=r"(ss));
	CHECK_SAME(cs, 0x33);
	CHECK_SAME(ss, 0x2b);
}

/* Few programs use gs, as some languages of their own do. */
static void
own_gs(void)
{
	static uint64_t data[4] = {11, 22, 33, 44};
	uint64_t base = 1, value;

	CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
	CHECK_SAME(base, 0);
	CHECK(syscall(SYS_arch_prctl, ARCH_SET_GS, data) == 0);
	for (int i = 0; i < 100; i++) {
		pass_through(nothing, 3);
		__asm__ volatile("mov %%gs:16, %0" : "=r"(value));
		CHECK_SAME(value, 33);
		__asm__ volatile("incq %%gs:8" : : : "memory");
	}
	CHECK_SAME(data[1], 122);
	data[1] = 22;
	CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
	CHECK_SAME(base, data);
	CHECK(syscall(SYS_arch_prctl, ARCH_SET_GS, 0) == 0);
}

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE 2
#endif

static void __attribute__((target("fsgsbase"))) own_gs_by_instruction(void)
{
	static uint64_t data[4] = {11, 22, 33, 44};
	uint64_t value;

	if (!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
		skip("no instructions for segment bases");
	CHECK_SAME(_readgsbase_u64(), 0);
	_writegsbase_u64((uint64_t)data);
	pass_through(nothing, 3);
	__asm__ volatile("mov %%gs:16, %0" : "=r"(value));
	CHECK_SAME(value, 33);
	CHECK_SAME(_readgsbase_u64(), data);
	_writegsbase_u64(0);
	__asm__ volatile("mov %%fs:0, %0" : "=r"(value));
	CHECK_SAME(_readfsbase_u64(), value);
}

/* ---- time and identity ---- */

static void
clocks(void)
{
	struct timeval day;
	struct timespec now, later, direct;
	uint64_t first = __rdtsc(), second;
	unsigned int cpu;

	for (int i = 0; i < 1000; i++) {
		second = __rdtscp(&cpu);
		CHECK(second >= first);
		first = second;
		CHECK(gettimeofday(&day, NULL) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0);
		CHECK(syscall(SYS_clock_gettime, CLOCK_REALTIME, &direct) == 0);
		CHECK(now.tv_sec - day.tv_sec <= 60 && direct.tv_sec - now.tv_sec <= 60);
		CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && clock_gettime(CLOCK_MONOTONIC, &later) == 0);
		CHECK(later.tv_sec > now.tv_sec || (later.tv_sec == now.tv_sec && later.tv_nsec >= now.tv_nsec));
		CHECK(time(NULL) >= day.tv_sec - 1); /* of a coarser clock */
	}
}

static void
identity(void)
{
	unsigned int first[4], again[4];

	for (unsigned int leaf = 0; leaf < 8; leaf++) {
		__cpuid_count(leaf, 0, first[0], first[1], first[2], first[3]);
		pass_through(nothing, 2);
		__cpuid_count(leaf, 0, again[0], again[1], again[2], again[3]);
		if (leaf != 1 && leaf != 4) /* which hold the number of the CPU */
			CHECK(memcmp(first, again, sizeof(first)) == 0);
	}
}

/* The oldest way to ask for the time: an address that the kernel emulates. */
static void
vsyscall(void)
{
	time_t (*const old_time)(time_t *) = (time_t(*)(time_t *))0xffffffffff600400;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool has = false;

	CHECK(maps != NULL);
	while (fgets(line, sizeof(line), maps))
		has = has || strstr(line, "[vsyscall]");
	fclose(maps);
	if (!has)
		skip("the kernel has no vsyscall page");
	for (int i = 0; i < 20; i++)
		CHECK(old_time(NULL) >= time(NULL) - 60);
}

static jmp_buf no_interrupt;

static void
give_up(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	siglongjmp(no_interrupt, 1);
}

/* System calls of 32-bit programs, which others may make as well: getpid. */
static void
interrupt_80(void)
{
	int pid;

	handle(SIGSEGV, give_up, 0);
	if (sigsetjmp(no_interrupt, 1))
		skip("the kernel knows no system calls of 32-bit programs");
	for (int i = 0; i < 20; i++) {
		__asm__ volatile("int $0x80" : "=a"(pid) : "a"(20) : "r8", "r9", "r10", "r11", "memory");
		CHECK_SAME(pid, getpid());
	}
	signal(SIGSEGV, SIG_DFL);
}

const struct hard_case state_cases[] = {
	{"x87-stack", x87_stack},
	{"x87-precision", x87_precision},
	{"x87-address", x87_address},
	{"mmx", mmx},
	{"rounding", rounding},
	{"vectors-through-branches", vectors_through_branches},
	{"masks-and-zmm", masks_and_zmm},
	{"saved-state", saved_state},
	{"segments", segments},
	{"own-gs", own_gs},
	{"own-gs-by-instruction", own_gs_by_instruction},
	{"clocks", clocks},
	{"identity", identity},
	{"vsyscall", vsyscall},
	{"interrupt-80", interrupt_80},
	{NULL, NULL},
};
