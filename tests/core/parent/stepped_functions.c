/* SPDX-License-Identifier: MIT */
/* See stepped_functions.h. */
#include "stepped_functions.h"

#include <complex.h>
#include <cpuid.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang knows no levels of optimisation and no widths for single functions: it compiles them as the file. */
#ifdef __clang__
#define optimize(...)
#define WIDE
#else
#define WIDE ",prefer-vector-width=512"
#endif
#define AS(...) __attribute__((__VA_ARGS__))

#define N 40
#define NR_FILLED 1300

static double vectors[4][N * N];
static float singles[3][N * N];
static int integers[N * N];
static volatile int zero;

/* Before the region, when they are executed for the first time. */
static void
fill(void)
{
	static bool is_filled;

	if (is_filled)
		return;
	is_filled = true;
	for (int i = 0; i < NR_FILLED; i++) {
		integers[i] = i * 7919 % NR_FILLED;
		for (int v = 0; v < 4; v++)
			vectors[v][i] = (v + 1) * 0.01 * (i % 97);
		for (int v = 0; v < 3; v++)
			singles[v][i] = (float)(v + 1) * 0.01f * (float)(i % 89);
	}
}

static uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* ---- nothing, and loops of known shape ---- */

static void
nothing(uint64_t *results)
{
	(void)results;
}

#define ASM(...) __asm__ volatile(__VA_ARGS__)

static void
count_up(uint64_t *results)
{
	uint64_t n = 0;

	ASM("1: add $3, %0\n cmp $3000, %0\n jb 1b\n" : "+r"(n) : : "cc");
	results[0] = n;
}

static void
count_down_to_zero(uint64_t *results)
{
	uint32_t n = 1000;
	uint64_t sum = 0;

	ASM("1: add %k0, %k1\n dec %k0\n jnz 1b\n" : "+r"(n), "+r"(sum) : : "cc");
	results[0] = sum;
}

/* The counter of 32 bits wraps. */
static void
wrap_narrow(uint64_t *results)
{
	uint64_t n = 0xffffff00;

	ASM("1: add $1, %k0\n cmp $256, %k0\n jne 1b\n" : "+r"(n) : : "cc");
	results[0] = n;
}

/* By hand, so that loads and stores are known: x[i] += y[i] of doubles. */
static void
add_arrays(uint64_t *results)
{
	uint64_t i = 0;

	fill();
	ASM("1: movsd (%1,%0,8), %%xmm0\n addsd (%2,%0,8), %%xmm0\n movsd %%xmm0, (%1,%0,8)\n inc %0\n cmp $1000, %0\n"
	    " jne 1b\n"
	    : "+r"(i)
	    : "r"(vectors[0]), "r"(vectors[1])
	    : "cc", "xmm0", "memory");
	results[0] = bits_of(vectors[0][999]);
}

static void
count_with_loop(uint64_t *results)
{
	uint64_t n = 500, sum = 0;

	ASM("1: add (%2), %1\n loop 1b\n" : "+c"(n), "+r"(sum) : "r"(integers) : "cc", "memory");
	results[0] = sum;
}

static void
count_with_loopne(uint64_t *results)
{
	uint64_t n = 500, at = 0;

	fill();
	ASM("1: inc %1\n cmpl $77, (%2,%1,4)\n loopne 1b\n jrcxz 2f\n add $1000, %1\n 2:\n"
	    : "+c"(n), "+r"(at)
	    : "r"(integers)
	    : "cc", "memory");
	results[0] = at;
}

static void
chase(uint64_t *results)
{
	static void *chain[N * N];
	void **at = chain;
	uint64_t n = 0;

	for (int i = 0; i < N * N; i++)
		chain[i] = &chain[(i * 5 + 1) % (N * N)];
	ASM("1: mov (%0), %0\n inc %1\n cmp $2000, %1\n jne 1b\n" : "+r"(at), "+r"(n) : : "cc", "memory");
	results[0] = (uint64_t)(at - chain);
}

/* A loop that begins in the middle of the first turn. */
static void
enter_in_the_middle(uint64_t *results)
{
	uint64_t n = 0, sum = 0;

	ASM("jmp 2f\n 1: add (%2,%0,4), %k1\n 2: add (%2,%0,4), %k1\n inc %0\n cmp $100, %0\n jne 1b\n"
	    : "+r"(n), "+r"(sum)
	    : "r"(integers)
	    : "cc", "memory");
	results[0] = sum;
}

static void
two_counters(uint64_t *results)
{
	uint64_t up = 0, down = 1000, sum = 0;

	fill();
	ASM("1: add (%3,%0,4), %k2\n add $2, %0\n sub $1, %1\n jnz 1b\n"
	    : "+r"(up), "+r"(down), "+r"(sum)
	    : "r"(integers)
	    : "cc", "memory");
	results[0] = sum;
}

static void
push_and_pop(uint64_t *results)
{
	uint64_t n = 50, sum = 0;

	ASM("sub $128, %%rsp\n"
	    "1: push %0\n push $5\n push %0\n pop %%rax\n add %%rax, %1\n pop %%rax\n add %%rax, %1\n pop %%rax\n"
	    " pushf\n popf\n pushw $3\n popw %%ax\n dec %0\n jnz 1b\n"
	    "add $128, %%rsp\n"
	    : "+r"(n), "+r"(sum)
	    :
	    : "rax", "cc", "memory");
	results[0] = sum;
}

/* A frame that leave and a mask take the stack pointer from. */
static void
frames(uint64_t *results)
{
	uint64_t sum = 0;

	for (int i = 1; i < 20; i++) {
		volatile char *room = __builtin_alloca((size_t)i * 24);
		_Alignas(64) volatile char aligned[64];

		room[i] = (char)i;
		aligned[i] = room[i];
		sum += (uint64_t)aligned[i];
	}
	ASM("sub $128, %%rsp\n push %%rbp\n mov %%rsp, %%rbp\n sub $256, %%rsp\n and $-64, %%rsp\n mov %0, (%%rsp)\n"
	    " add (%%rsp), %0\n leave\n enter $32, $0\n mov %0, -8(%%rbp)\n leave\n add $128, %%rsp\n"
	    : "+r"(sum)
	    :
	    : "cc", "memory");
	results[0] = sum;
}

static void
atomics(uint64_t *results)
{
	static uint64_t shared;
	uint64_t expected = 0, old = 7;

	shared = 0;
	for (int i = 0; i < 20; i++) {
		__atomic_fetch_add(&shared, 3, __ATOMIC_SEQ_CST);
		old += __atomic_exchange_n(&shared, old, __ATOMIC_SEQ_CST);
		expected = shared;
		__atomic_compare_exchange_n(&shared, &expected, expected + 1, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		ASM("lock xadd %0, %1\n" : "+r"(old), "+m"(shared) : : "cc");
		ASM("xchg %%al, %%ah\n bswap %%rdx\n" : "+a"(old), "+d"(expected));
	}
	results[0] = shared + old;
}

/* ---- calls ---- */

__attribute__((noinline)) static uint64_t
fibonacci(uint64_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void
recurse(uint64_t *results)
{
	results[0] = fibonacci(14);
}

static uint64_t
twice(uint64_t x)
{
	return 2 * x;
}

static uint64_t
thrice(uint64_t x)
{
	return 3 * x;
}

static void
call_indirectly(uint64_t *results)
{
	static uint64_t (*volatile const functions[])(uint64_t) = {twice, thrice, fibonacci};
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 30; i++)
		sum += functions[i % 3](i % 9);
	results[0] = sum;
}

AS(noinline, optimize("no-tree-switch-conversion")) static uint64_t choose(uint64_t i, uint64_t x)
{
	switch (i) {
	case 0:
		return x * x;
	case 1:
		return x / 3;
	case 2:
		return x ^ 99;
	case 3:
		return twice(x) + x;
	case 4:
		return x << 3;
	case 5:
		return x % 11;
	case 6:
		return ~x;
	default:
		return fibonacci(x % 5);
	}
}

static void
switch_by_table(uint64_t *results)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 60; i++)
		sum += choose(i * 3 % 9, i);
	results[0] = sum;
}

static void
call_through_the_stack(uint64_t *results)
{
	uint64_t sum = 5;

	ASM("sub $128, %%rsp\n lea 1f(%%rip), %%rax\n push %%rax\n call *(%%rsp)\n pop %%rax\n lea 2f(%%rip), %%rax\n"
	    " push %%rax\n ret\n"
	    "1: add $7, %0\n push $1\n push $2\n add $16, %%rsp\n ret\n"
	    "3: ret $16\n"
	    "2: push $1\n push $2\n call 3b\n lea 4f(%%rip), %%rax\n jmp *%%rax\n ud2\n 4: add $128, %%rsp\n"
	    : "+r"(sum)
	    :
	    : "rax", "cc", "memory");
	results[0] = sum;
}

static jmp_buf out;

__attribute__((noinline)) static void
leap(int i)
{
	if (i > 3)
		longjmp(out, i);
	if (zero == 0)
		leap(i + 1);
	zero = 0;
}

static void
leap_far(uint64_t *results)
{
	volatile uint64_t sum = 0;

	for (volatile int i = 0; i < 4; i++) {
		int from = setjmp(out);

		sum += (uint64_t)from;
		if (from == 0)
			leap(i);
	}
	results[0] = sum;
}

/* ---- strings ---- */

static char text[3][8192];

static void
repeat(uint64_t *results)
{
	static const uint64_t lengths[] = {0, 1, 2, 3, 64, 4100};
	uint64_t sum = 0, n;
	char *from, *to;

	memset(text, 'x', sizeof(text));
	text[1][777] = 'y';
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		n = lengths[i], from = text[0], to = text[1];
		ASM("repe cmpsb\n" : "+c"(n), "+S"(from), "+D"(to) : : "cc", "memory");
		sum += n;
		n = lengths[i], to = text[1];
		ASM("repne scasb\n" : "+c"(n), "+D"(to) : "a"('y') : "cc", "memory");
		sum += n;
		n = lengths[i], from = text[0], to = text[2];
		ASM("rep movsb\n" : "+c"(n), "+S"(from), "+D"(to) : : "cc", "memory");
		n = lengths[i] / 8, to = text[2];
		ASM("rep stosq\n" : "+c"(n), "+D"(to) : "a"(0x2020202020202020) : "cc", "memory");
		n = lengths[i], from = text[0] + 8191, to = text[2] + 8191;
		ASM("std\n rep movsb\n cld\n" : "+c"(n), "+S"(from), "+D"(to) : : "cc", "memory");
		n = lengths[i] / 4, to = text[2] + 8188;
		ASM("std\n rep stosl\n cld\n" : "+c"(n), "+D"(to) : "a"(7) : "cc", "memory");
		n = lengths[i], from = text[1];
		ASM("rep lodsb\n" : "+c"(n), "+S"(from) : : "rax", "cc", "memory");
		n = UINT64_C(0xffffffff00000000), to = text[2];
		ASM("addr32 rep stosb\n jecxz 1f\n ud2\n 1:\n" : "+c"(n), "+D"(to) : "a"(0) : "cc", "memory");
	}
	from = text[0];
	to = text[1];
	ASM("movsb\n movsq\n cmpsb\n" : "+S"(from), "+D"(to) : : "cc", "memory");
	results[0] = sum + (uint64_t)(to - text[1]);
}

static void
copy_memory(uint64_t *results)
{
	uint64_t sum = 0;

	for (volatile size_t n = 0; n < 300; n += 7) {
		memset(text[0], (int)n, n);
		memcpy(text[1] + 3, text[0], n);
		memmove(text[1] + 5, text[1] + 3, n);
		sum += (uint64_t)memcmp(text[0], text[1] + 5, n);
		sum += (uint64_t)text[1][n];
	}
	for (volatile size_t n = 1000; n <= 8000; n += 3500) {
		memset(text[0], 'a', n);
		memcpy(text[1], text[0], n);
		memmove(text[1] + 13, text[1], n);
	}
	results[0] = sum;
}

static void
search_text(uint64_t *results)
{
	char line[200] = "alpha=17; beta=-3.25e4; gamma=0x7f;";
	uint64_t sum = strlen(line) + (uint64_t)(strchr(line, 'g') - line) + (uint64_t)(strstr(line, "beta") - line);
	char *end;

	sum += (uint64_t)strtol(line + 6, &end, 10) + bits_of(strtod(strstr(line, "-3"), &end));
	sum += (uint64_t)strcmp(line, "alpha=18") + (uint64_t)(strrchr(line, '=') - line);
	for (char *word = strtok(line, ";"); word; word = strtok(NULL, ";"))
		sum = sum * 31 + strlen(word);
	results[0] = sum;
}

static void
print(uint64_t *results)
{
	char line[300];
	int nr = snprintf(line, sizeof(line), "%d %s %-12.7f|%g|%a|%lx|%c|%08.3e", -42, "text", M_PI, 1e-300, 0.1,
			  0xdeadbeefUL, 'c', 1234567.891);

	for (int i = 0; i < nr; i++)
		results[0] = results[0] * 131 + (unsigned char)line[i];
}

/* ---- numbers ---- */

static void
functions_of_doubles(uint64_t *results)
{
	static double (*volatile const functions[])(double) = {sin,  cos,   tan,  exp, log,    cbrt,  tanh,
							       exp2, log1p, asin, erf, tgamma, floor, sqrt};
	volatile double x;

	for (int i = 0; i < 40; i++) {
		double sum = 0;

		x = 0.001 + 0.024 * i;
		for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++)
			sum += functions[f](x);
		results[i] = bits_of(sum + pow(x, 1.7) + atan2(x, 2) + fmod(100, x) + hypot(x, 3));
	}
	x = 1e15;
	results[40] = bits_of(sin(x) + cos(x * x));
}

static void
functions_of_floats(uint64_t *results)
{
	volatile float x;

	for (int i = 0; i < 20; i++) {
		x = 0.1f + 0.04f * (float)i;
		results[i] = bits_of((double)(sinf(x) + expf(x) + logf(x) + powf(x, 2.2f) + tanhf(x) + cbrtf(x)));
	}
}

static void
long_doubles(uint64_t *results)
{
	volatile long double x = 0.7L;
	volatile double complex z = 0.3 + 0.4 * I;

	for (int i = 0; i < 10; i++) {
		x = sinl(x) + expl(-x) / (x + 2.5L) - sqrtl(x);
		z = cexp(z) * z / (z + 1);
	}
	results[0] = bits_of((double)x);
	results[1] = bits_of(creal(z));
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
sort(uint64_t *results)
{
	int key = 4 * 7;

	fill();
	qsort(integers, 80, sizeof(integers[0]), compare);
	for (int i = 0; i < 80; i++)
		results[0] = results[0] * 31 + (uint64_t)integers[i];
	results[1] = bsearch(&key, integers, 80, sizeof(key), compare) != NULL;
}

static void
divide(uint64_t *results)
{
	volatile uint64_t a = 0x123456789abcdef, b = 12345;
	volatile __int128 wide = (__int128)a * 977;

	for (int i = 0; i < 20; i++) {
		results[i] = a / b + a % b + (uint64_t)(wide / (int64_t)b) + (uint64_t)__builtin_popcountll(a);
		results[i] += (uint64_t)__builtin_ctzll(a | 1) + (uint64_t)__builtin_clzll(a | 1);
		a = a * 3 + b;
		b += 17;
	}
}

static void
allocate(uint64_t *results)
{
	void *pieces[50];

	for (int i = 0; i < 50; i++) {
		pieces[i] = malloc((size_t)(i * i * 3 + 1));
		memset(pieces[i], i, (size_t)i);
	}
	for (int i = 0; i < 50; i += 2)
		free(pieces[i]);
	for (int i = 0; i < 50; i += 2)
		pieces[i] = calloc(1, (size_t)i * 40 + 8);
	for (int i = 0; i < 50; i++) {
		results[0] += *(unsigned char *)pieces[i];
		free(pieces[i]);
	}
}

static void
call_the_system(uint64_t *results)
{
	int pipes[2];
	char line[32] = "through a pipe";

	if (pipe(pipes) < 0)
		return;
	results[0] = (uint64_t)write(pipes[1], line, strlen(line));
	memset(line, 0, sizeof(line));
	results[1] = (uint64_t)read(pipes[0], line, sizeof(line));
	results[2] = strlen(line);
	close(pipes[0]);
	close(pipes[1]);
	results[3] = (uint64_t)(getppid() > 0) + (uint64_t)syscall(SYS_getuid);
	results[4] = (uint64_t)lseek(-1, 0, SEEK_SET);
}

/* ---- loops as compilers make them ---- */

#define KERNELS(suffix, ...)                                                                                           \
	AS(noinline, optimize("O3"), ##__VA_ARGS__) static void multiply_##suffix(uint64_t *results)                   \
	{                                                                                                              \
		double(*a)[N] = (void *)vectors[0], (*b)[N] = (void *)vectors[1], (*c)[N] = (void *)vectors[2];        \
                                                                                                                       \
		fill();                                                                                                \
		for (int ii = 0; ii < 16; ii += 8)                                                                     \
			for (int kk = 0; kk < 16; kk += 8)                                                             \
				for (int i = ii; i < ii + 8; i++)                                                      \
					for (int k = kk; k < kk + 8; k++)                                              \
						for (int j = 0; j < 29; j++)                                           \
							c[i][j] += a[i][k] * b[k][j];                                  \
		results[0] = bits_of(c[3][4]);                                                                         \
	}                                                                                                              \
	AS(noinline, optimize("O3"), ##__VA_ARGS__) static void scale_##suffix(uint64_t *results)                      \
	{                                                                                                              \
		fill();                                                                                                \
		for (int i = 0; i < 1001; i++)                                                                         \
			singles[0][i] = singles[1][i] * 3.5f + singles[2][i] / 1.5f;                                   \
		results[0] = bits_of((double)singles[0][1000]);                                                        \
	}                                                                                                              \
	AS(noinline, optimize("O3", "fast-math"), ##__VA_ARGS__) static void sum_##suffix(uint64_t *results)           \
	{                                                                                                              \
		double sum = 0;                                                                                        \
                                                                                                                       \
		fill();                                                                                                \
		for (int i = 0; i < 777; i++)                                                                          \
			sum += vectors[0][i] * vectors[1][i];                                                          \
		for (int i = 0; i < 333; i++) {                                                                        \
			if (vectors[2][i] > 0.7)                                                                       \
				vectors[3][i] = vectors[2][i] * 2;                                                     \
			sum += vectors[1][integers[i]];                                                                \
		}                                                                                                      \
		results[0] = bits_of(sum + vectors[3][300]);                                                           \
	}

KERNELS(plain)
KERNELS(avx2, target("avx2,fma"))
KERNELS(avx512, target("avx512f,avx512dq,avx512vl,avx512bw,fma" WIDE))

static bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq");
}

/* Masks of all kinds; of a scalar the first bit alone counts. */
__attribute__((target("avx512f,avx512vl,avx512bw"))) static void
mask_lanes(uint64_t *results)
{
	static double numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	double sum[8] = {0};

	for (unsigned mask = 0; mask < 256; mask += 15)
		ASM("kmovd %1, %%k1\n vaddsd (%2), %%xmm1, %%xmm1%{%%k1%}\n"
		    " vaddpd (%2), %%zmm2, %%zmm2%{%%k1%}\n vfmadd231ps %%xmm1, %%xmm1, %%xmm3%{%%k1%}%{z%}\n"
		    " vpaddb %%zmm4, %%zmm4, %%zmm4%{%%k1%}\n vaddpd %%zmm2, %%zmm1, %%zmm5\n"
		    " vmovupd %%zmm5, (%0)\n"
		    :
		    : "r"(sum), "r"(mask), "r"(numbers)
		    : "k1", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "memory");
	results[0] = bits_of(sum[0]);
}

/* The loader does so around the first call of a function. */
static void
save_and_restore(uint64_t *results)
{
	static char area[2][16384] __attribute__((aligned(64)));
	double x = 1.5;

	for (int i = 0; i < 3; i++)
		ASM("movapd %0, %%xmm7\n mov $-1, %%eax\n mov %%eax, %%edx\n xsave64 (%1)\n xsavec64 (%2)\n"
		    " mov $7, %%eax\n xor %%edx, %%edx\n xrstor64 (%2)\n fxsave64 (%1)\n movapd %%xmm7, %0\n"
		    : "+x"(x)
		    : "r"(area[0]), "r"(area[1])
		    : "rax", "rdx", "xmm7", "memory");
	results[0] = bits_of(x);
}

static bool
has_xsavec(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_OSXSAVE) &&
	       __get_cpuid_count(0xd, 1, &eax, &ebx, &ecx, &edx) && (eax & 2);
}

static void
flush_lines(uint64_t *results)
{
	fill();
	for (int i = 0; i < 200; i++) {
		vectors[0][8 * i % 1000] += 1;
		ASM("clflush (%0)\n prefetcht0 (%0)\n" : : "r"(&vectors[0][8 * i % 640]) : "memory");
		vectors[1][8 * i % 1000] += 1;
	}
	results[0] = bits_of(vectors[0][0]);
}

/* Bits of memory before and behind, of tables, and of frames of frames. */
static void
select_bits(uint64_t *results)
{
	static uint64_t bits[16];
	static const char table[256] = "a table";
	uint64_t sum = 0;

	memset(bits, 0x5a, sizeof(bits));
	for (int64_t i = -300; i < 300; i += 7)
		ASM("bts %1, (%2)\n adc $0, %0\n btr %k1, (%2)\n adc $0, %0\n btc %w1, (%2)\n adc $0, %0\n bt %1, "
		    "(%2)\n"
		    " adc $0, %0\n"
		    : "+r"(sum)
		    : "r"(i), "r"(&bits[8])
		    : "cc", "memory");
	for (uint64_t i = 0; i < 9; i++) {
		uint64_t at = i;

		ASM("xlatb\n" : "+a"(at) : "b"(table) : "memory");
		sum += at;
	}
	ASM("sub $128, %%rsp\n push %%rbp\n mov %%rsp, %%rbp\n sub $32, %%rsp\n enter $16, $3\n mov (%%rbp), %%rax\n "
	    "leave\n"
	    " leave\n add $128, %%rsp\n"
	    :
	    :
	    : "rax", "cc", "memory");
	results[0] = sum;
}

const struct stepped_case stepped_cases[] = {
	{"save and restore", save_and_restore, has_xsavec},
	{"flush lines", flush_lines, NULL},
	{"select bits", select_bits, NULL},
	{"nothing", nothing, NULL},
	{"count up", count_up, NULL},
	{"count down to zero", count_down_to_zero, NULL},
	{"wrap narrow", wrap_narrow, NULL},
	{"add arrays", add_arrays, NULL},
	{"loop", count_with_loop, NULL},
	{"loopne", count_with_loopne, NULL},
	{"chase", chase, NULL},
	{"enter in the middle", enter_in_the_middle, NULL},
	{"two counters", two_counters, NULL},
	{"push and pop", push_and_pop, NULL},
	{"frames", frames, NULL},
	{"atomics", atomics, NULL},
	{"recurse", recurse, NULL},
	{"call indirectly", call_indirectly, NULL},
	{"switch by table", switch_by_table, NULL},
	{"call through the stack", call_through_the_stack, NULL},
	{"leap far", leap_far, NULL},
	{"repeat", repeat, NULL},
	{"copy memory", copy_memory, NULL},
	{"search text", search_text, NULL},
	{"print", print, NULL},
	{"functions of doubles", functions_of_doubles, NULL},
	{"functions of floats", functions_of_floats, NULL},
	{"long doubles", long_doubles, NULL},
	{"sort", sort, NULL},
	{"divide", divide, NULL},
	{"allocate", allocate, NULL},
	{"call the system", call_the_system, NULL},
	{"multiply", multiply_plain, NULL},
	{"scale", scale_plain, NULL},
	{"sum", sum_plain, NULL},
	{"multiply with AVX2", multiply_avx2, has_avx2},
	{"scale with AVX2", scale_avx2, has_avx2},
	{"sum with AVX2", sum_avx2, has_avx2},
	{"multiply with AVX-512", multiply_avx512, has_avx512},
	{"scale with AVX-512", scale_avx512, has_avx512},
	{"sum with AVX-512", sum_avx512, has_avx512},
	{"mask lanes", mask_lanes, has_avx512},
};

_Static_assert(sizeof(stepped_cases) / sizeof(stepped_cases[0]) == NR_STEPPED_CASES, "as many as the header says");
