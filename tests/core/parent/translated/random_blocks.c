/* SPDX-License-Identifier: MIT */
/*
 * Random blocks of machine code on random states: what comes out must be the same translated as natively, given the
 * same seed. Prints a hash of all registers, flags and memory after them.
 */
#include <cpuid.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "random_code.h"

/* Fixed addresses, because they get into registers; far from everything else. Code reaches data by 32 bits. */
#define DATA ((unsigned char *)0x3a0000000000)
#define DATA_BYTES 0x10000
#define BASE (DATA + 0x4000)
#define STACK_TOP (DATA + 0xd000 - 256)
#define CODE ((unsigned char *)0x3a0040000000)
#define REGION_BYTES 0x100000
#define NR_REGIONS 16
#define PROBE (CODE + NR_REGIONS * REGION_BYTES)
#define PAGE 4096
#define BLOCKS_AT_ONCE 40
#define MAX_PIECES 40
#define FLAGS 0xcd5     /* CF PF AF ZF SF DF OF */
#define COMPONENTS 0xe7 /* of XSAVE: x87, SSE, AVX, masks, zmm */

static const uint64_t interesting[] = {0,
				       1,
				       2,
				       7,
				       0x7f,
				       0x80,
				       0xff,
				       0x7fff,
				       0xffff,
				       0x7fffffff,
				       0x80000000,
				       0xffffffff,
				       0x3ff0000000000000,
				       0x7ff0000000000000,
				       0x4059000000000000,
				       0x7ff8000000000001,
				       0x8000000000000000,
				       ~0ULL};

/* The trampoline's memory: registers in the order of the machine, flags, rip (of a fault), and extended state. */
struct state {
	uint64_t registers[16], flags, rip;
	unsigned char extended[8192] __attribute__((aligned(64)));
} random_before, random_after;
uint64_t random_stack_top, random_own_stack;
uint32_t random_components;
void *random_entry;

void random_run(void);
void random_repeat(uint64_t nr);
#define LOAD(n, name) "mov random_before + 8 * " #n "(%rip), %" name "\n"
#define SAVE(n, name) "mov %" name ", random_after + 8 * " #n "(%rip)\n"
#define EXTENDED "8 * 18 + 48" /* aligned */
#define PUSH_ALL                                                                                                       \
	"push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n mov %rsp, random_own_stack(%rip)\n"
#define POP_ALL                                                                                                        \
	"mov random_own_stack(%rip), %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
#define LOAD_ALL                                                                                                       \
	"mov random_components(%rip), %eax\n xor %edx, %edx\n xrstor64 random_before + " EXTENDED "(%rip)\n"           \
	"mov random_stack_top(%rip), %rsp\n push random_before + 8 * 16(%rip)\n popf\n" LOAD(0, "rax") LOAD(1, "rcx")  \
		LOAD(2, "rdx") LOAD(3, "rbx") LOAD(5, "rbp") LOAD(6, "rsi") LOAD(7, "rdi") LOAD(8, "r8") LOAD(9, "r9") \
			LOAD(10, "r10") LOAD(11, "r11") LOAD(12, "r12") LOAD(13, "r13") LOAD(14, "r14")                \
				LOAD(15, "r15")
__asm__(".text\n.globl random_run\nrandom_run: " PUSH_ALL LOAD_ALL "call *random_entry(%rip)\n" SAVE(0, "rax")
		SAVE(1, "rcx") SAVE(2, "rdx") SAVE(3, "rbx") SAVE(4, "rsp") SAVE(5, "rbp") SAVE(6, "rsi") SAVE(7, "rdi")
			SAVE(8, "r8") SAVE(9, "r9") SAVE(10, "r10") SAVE(11, "r11") SAVE(12, "r12") SAVE(13, "r13")
				SAVE(14, "r14") SAVE(15, "r15") "pushf\n pop random_after + 8 * 16(%rip)\n cld\n mov "
								"random_components(%rip), %eax\n xor %edx, %edx\n"
								"xsave64 random_after + " EXTENDED
								"(%rip)\n fninit\n emms\n" POP_ALL);
/* The block rdi times: three instructions each beside those of the block. */
__asm__(".text\n.globl random_repeat\nrandom_repeat: " PUSH_ALL "mov %rdi, random_turns(%rip)\n" LOAD_ALL
	"1: call *random_entry(%rip)\n decq random_turns(%rip)\n jnz 1b\n cld\n fninit\n" POP_ALL
	".local random_turns\n .comm random_turns, 8, 8\n");
_Static_assert(offsetof(struct state, extended) == 8 * 18 + 48, "as in EXTENDED");

static uint32_t component_offsets[8], component_bytes[8];
static bool is_verbose;

_Noreturn static void
fail(const char *what)
{
	fprintf(stderr, "random_blocks: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- states ---- */

static void
find_components(void)
{
	uint32_t a, b, c, d, low, high;

	__cpuid(1, a, b, c, d);
	if (!(c & bit_OSXSAVE)) {
		puts("skipped: the processor or the system does not know XSAVE");
		exit(77);
	}
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	random_components = low & COMPONENTS;
	for (unsigned int i = 2; i < 8; i++) {
		__cpuid_count(0xd, i, a, b, c, d);
		if (!(random_components >> i & 1))
			continue;
		component_offsets[i] = b;
		component_bytes[i] = a;
		if (a + b > sizeof(random_before.extended))
			fail("the extended state is larger than known");
	}
	component_offsets[0] = 32; /* x87 registers, in 8 times 16 bytes */
	component_bytes[0] = 128;
	component_offsets[1] = 160;
	component_bytes[1] = 256;
}

static uint64_t
random_value(uint64_t *random)
{
	if (random_below(random, 3) == 0)
		return interesting[random_below(random, sizeof(interesting) / sizeof(*interesting))];
	return random_next(random);
}

static void
fill(void *memory, size_t bytes, uint64_t *random)
{
	uint64_t *words = memory;

	for (size_t i = 0; i < bytes / 8; i++)
		words[i] = random_next(random);
}

static void
make_state(uint64_t seed)
{
	struct state *state = &random_before;
	const uint32_t mxcsr = 0x1f80;
	const uint16_t control = 0x37f;
	const uint64_t present = random_components;

	for (int i = 0; i < 16; i++)
		state->registers[i] = random_value(&seed);
	state->registers[5] = state->registers[13] = (uint64_t)BASE;
	state->flags = 0x202 | (random_next(&seed) & FLAGS & ~0x400ULL);
	memset(state->extended, 0, 576);
	for (int i = 0; i < 8; i++)
		fill(state->extended + component_offsets[i], component_bytes[i], &seed);
	for (int i = 0; i < 8; i++) /* ten bytes of each x87 register */
		memset(state->extended + 32 + 16 * i + 10, 0, 6);
	memcpy(state->extended, &control, 2);
	state->extended[4] = (unsigned char)random_next(&seed); /* which x87 registers are in use */
	memcpy(state->extended + 24, &mxcsr, 4);
	memcpy(state->extended + 512, &present, 8);
	fill(BASE - DATA_BEFORE, DATA_BEFORE + DATA_BEHIND, &seed);
	fill(DATA + 0xc000, PAGE, &seed);
	memset(&random_after, 0, sizeof(random_after));
}

static uint64_t
hash(uint64_t sum, const void *memory, size_t bytes)
{
	const uint64_t *words = memory;

	for (size_t i = 0; i < bytes / 8; i++)
		sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15 ^ sum >> 29;
	return sum;
}

/* A component that XSAVE left out is as after initialization. */
static void
complete(struct state *state)
{
	const uint16_t control = 0x37f;
	uint64_t present;

	memcpy(&present, state->extended + 512, 8);
	if (state->rip == 0 && !(present & 1))
		memcpy(state->extended, &control, 2);
	state->flags &= FLAGS;
}

static void
print_state(const struct state *state)
{
	static const char *const names[] = {"x87", "xmm", "ymm", "", "", "k", "zmm", "zmm16"};

	for (int i = 0; i < 16; i++)
		printf("  r%d %016lx%s", i, state->registers[i], i % 4 == 3 ? "\n" : "");
	printf("  flags %lx rip %lx x87 %02x%02x %02x%02x %02x mxcsr %02x%02x\n", state->flags, state->rip,
	       state->extended[1], state->extended[0], state->extended[3], state->extended[2], state->extended[4],
	       state->extended[25], state->extended[24]);
	for (int i = 0; i < 8; i++) {
		if (component_bytes[i])
			printf("  %s %016lx", names[i],
			       hash(0, state->extended + component_offsets[i], component_bytes[i]));
	}
	printf("  data %016lx stack %016lx\n", hash(0, BASE - DATA_BEFORE, DATA_BEFORE + DATA_BEHIND),
	       hash(0, DATA + 0xc000, PAGE));
	for (int i = 0; i < 8 && state->rip == 0; i++) {
		for (uint32_t k = 0; k < component_bytes[i]; k += 16)
			printf("   %s+%u %016lx %016lx\n", names[i], k,
			       *(const uint64_t *)(const void *)(state->extended + component_offsets[i] + k),
			       *(const uint64_t *)(const void *)(state->extended + component_offsets[i] + k + 8));
	}
}

static uint64_t
hash_state(void)
{
	struct state *state = &random_after;
	uint64_t sum;

	complete(state);
	if (is_verbose)
		print_state(state);
	sum = hash(0, state, offsetof(struct state, extended));
	/* Control, status, tags and MXCSR; not the addresses of the last x87 instruction. */
	sum = hash(sum ^ state->extended[4] ^ (uint64_t)state->extended[24] << 32 ^ (uint64_t)state->extended[25] << 40,
		   "", 0);
	sum = (sum ^ *(uint32_t *)(void *)state->extended) * 0x9e3779b97f4a7c15;
	for (int i = 0; i < 8; i++)
		sum = hash(sum, state->extended + component_offsets[i], component_bytes[i]);
	sum = hash(sum, BASE - DATA_BEFORE, DATA_BEFORE + DATA_BEHIND);
	return hash(sum, DATA + 0xc000, PAGE);
}

/* ---- running ---- */

static sigjmp_buf after_fault;

/*
 * Registers as at the fault, and where it was. Flags that are overwritten before they are read are others when it is
 * translated; nothing is left out where a branch has led to.
 */
static void
on_fault(int number, siginfo_t *info, void *context)
{
	static const int indices[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const greg_t rip = registers[REG_RIP];

	for (int i = 0; i < 16; i++)
		random_after.registers[i] = (uint64_t)registers[indices[i]];
	random_after.flags = (uint64_t)registers[REG_EFL];
	if (number != SIGTRAP && ((number != SIGSEGV && number != SIGBUS) || (greg_t)info->si_addr != rip))
		random_after.flags = 0;
	random_after.rip = (uint64_t)rip ^ (uint64_t)number << 56;
	siglongjmp(after_fault, number);
}

static void
catch_faults(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
	stack_t stack = {.ss_size = 65536, .ss_sp = malloc(65536)};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (!stack.ss_sp || sigaltstack(&stack, NULL) < 0)
		fail("a stack for signals");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* The signal that ended it; 0: it has returned. */
static int
run(void *entry)
{
	int number;

	random_entry = entry;
	random_stack_top = (uint64_t)STACK_TOP;
	number = sigsetjmp(after_fault, 1);
	if (number == 0)
		random_run();
	else
		__asm__ volatile("cld\n fninit\n emms");
	return number;
}

/* Found out by executing it once, anywhere. */
static bool
can_execute(uint32_t kind, const unsigned char *code, size_t nr_bytes)
{
	static unsigned char known[NR_KINDS]; /* 1: it does, 2: it does not */

	if (known[kind] == 0) {
		memcpy(PROBE, code, nr_bytes);
		PROBE[nr_bytes] = 0xc3;
		if (mprotect(PROBE, PAGE, PROT_READ | PROT_EXEC) < 0)
			fail("mprotect");
		make_state(1);
		known[kind] = run(PROBE) == SIGILL ? 2 : 1;
		if (mprotect(PROBE, PAGE, PROT_READ | PROT_WRITE) < 0)
			fail("mprotect");
	}
	return known[kind] == 1;
}

static void *
map(unsigned char *address, size_t bytes)
{
	if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
	    address)
		fail("memory at a fixed address");
	return address;
}

static uint64_t
mix(uint64_t seed, uint64_t number)
{
	seed ^= number * 0xd1342543de82ef95;
	return random_next(&seed);
}

/* Makes blocks number first ... first + nr - 1, executes each on some states; returns the hash of all. */
static uint64_t
run_blocks(const struct random_kind *kind, uint64_t seed, uint64_t first, int nr, int nr_states, uint64_t *nr_faults)
{
	static int region;
	unsigned char *code = map(CODE + region++ % NR_REGIONS * REGION_BYTES, REGION_BYTES), *at = code,
		      *entries[BLOCKS_AT_ONCE + 1];
	uint64_t nr_executed, sum = 0;

	for (int i = 0; i < nr; i++) {
		uint64_t own = mix(seed, first + (uint64_t)i);

		entries[i] = at;
		at = random_code(kind, own, 3 + (int)random_below(&own, MAX_PIECES - 3), at,
				 (size_t)(code + REGION_BYTES - at), &nr_executed);
		at += (uintptr_t) - (uintptr_t)at % 16;
	}
	entries[nr] = at;
	if (mprotect(code, REGION_BYTES, PROT_READ | PROT_EXEC) < 0)
		fail("mprotect");
	for (int i = 0; i < nr; i++) {
		for (int k = 0; k < nr_states; k++) {
			uint64_t own;
			int number;

			make_state(mix(seed + 1 + (uint64_t)k, first + (uint64_t)i));
			number = run(entries[i]);
			*nr_faults += number != 0;
			if (is_verbose) {
				if (k == 0)
					random_code_print(entries[i], entries[i + 1]);
				printf("block %lu state %d signal %d\n", first + (uint64_t)i, k, number);
			}
			own = hash_state();
			sum = (sum ^ own) * 0x9e3779b97f4a7c15 + 1;
		}
	}
	munmap(code, REGION_BYTES);
	return sum;
}

/* One block whose number of instructions is known, so many times. */
static void
repeat(struct random_kind *kind, uint64_t seed, uint64_t nr_times)
{
	unsigned char *code = map(CODE, REGION_BYTES);
	uint64_t nr_executed;

	kind->is_counted = true;
	for (int i = 0;; i++) {
		unsigned char *end =
			random_code(kind, mix(seed, (uint64_t)i), MAX_PIECES, code, REGION_BYTES, &nr_executed);

		(void)end;
		if (mprotect(code, REGION_BYTES, PROT_READ | PROT_EXEC) < 0)
			fail("mprotect");
		make_state(seed);
		if (run(code) == 0)
			break;
		if (mprotect(code, REGION_BYTES, PROT_READ | PROT_WRITE) < 0)
			fail("mprotect");
	}
	make_state(seed);
	random_entry = code;
	random_repeat(nr_times);
	printf("%lu instructions a turn\n", nr_executed + 3);
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/*
 * random_blocks [-s SEED] [-f FIRST] [-n BLOCKS] [-e STATES] [-g BLOCKS] [-v] [-t]: executes blocks FIRST ... of this
 *seed on so many states each (2); prints the hash of each -g of them (1000), and of all. -v: code and results. -t: how
 *many a second, on standard error random_blocks [-s SEED] -c TIMES: executes one block so many times, at least once,
 *and says of how many instructions it is
 */
int
main(int argc, char **argv)
{
	struct random_kind kind = {.data = BASE, .can_execute = can_execute};
	uint64_t seed = 1, first = 0, nr_blocks = 1000, nr_times = 0, group = 1000, nr_faults = 0, sum = 0,
		 group_sum = 0;
	int option, nr_states = 2;
	bool says_time = false;
	double start;

	while ((option = getopt(argc, argv, "s:f:n:e:g:c:vt")) != -1) {
		switch (option) {
		case 's':
			seed = strtoul(optarg, NULL, 10);
			break;
		case 'f':
			first = strtoul(optarg, NULL, 10);
			break;
		case 'n':
			nr_blocks = strtoul(optarg, NULL, 10);
			break;
		case 'e':
			nr_states = atoi(optarg);
			break;
		case 'g':
			group = strtoul(optarg, NULL, 10);
			break;
		case 'c':
			nr_times = strtoul(optarg, NULL, 10);
			break;
		case 'v':
			is_verbose = true;
			break;
		case 't':
			says_time = true;
			break;
		default:
			return 2;
		}
	}
	find_components();
	map(DATA, DATA_BYTES);
	map(PROBE, PAGE);
	catch_faults();
	if (nr_times > 0) {
		repeat(&kind, seed, nr_times);
		return 0;
	}
	start = now();
	for (uint64_t done = 0; done < nr_blocks;) {
		int nr = nr_blocks - done < BLOCKS_AT_ONCE ? (int)(nr_blocks - done) : BLOCKS_AT_ONCE;

		if ((uint64_t)nr > group - done % group)
			nr = (int)(group - done % group);
		group_sum = group_sum * 31 + run_blocks(&kind, seed, first + done, nr, nr_states, &nr_faults);
		done += (uint64_t)nr;
		if (done % group == 0 || done == nr_blocks) {
			printf("blocks to %lu: %016lx\n", first + done, group_sum);
			fflush(stdout);
			sum = sum * 31 + group_sum;
			group_sum = 0;
		}
	}
	printf("all: %016lx, %lu ended by signals\n", sum, nr_faults);
	if (says_time)
		fprintf(stderr, "%.0f blocks a second, each %d times\n", (double)nr_blocks / (now() - start),
			nr_states);
	return 0;
}
