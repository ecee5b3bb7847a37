/* SPDX-License-Identifier: MIT */
/* Signals that an instruction raises: place, address and all registers in the handler, and ways on from there. */
#include <fenv.h>
#include <setjmp.h>

#include "hard_cases.h"

#define RW (PROT_READ | PROT_WRITE)
#define FLAGS 0x8d5 /* CF PF AF ZF SF OF */
#define STRING(x) STRING_(x)
#define STRING_(x) #x

/* All registers but rdi and rsp hold known values, and all flags are set, when the instruction is reached. */
#define VALUE 0x0123456789abcd00
#define LOAD(n, name) "movabs $" STRING(VALUE) " + " #n ", %" name "\n"
#define KNOWN_STATE                                                                                                    \
	LOAD(0, "rax")                                                                                                 \
	LOAD(1, "rcx")                                                                                                 \
	LOAD(2, "rdx")                                                                                                 \
	LOAD(3, "rbx")                                                                                                 \
	LOAD(5, "rbp")                                                                                                 \
	LOAD(6, "rsi")                                                                                                 \
	LOAD(8, "r8")                                                                                                  \
	LOAD(9, "r9") LOAD(10, "r10") LOAD(11, "r11") LOAD(12, "r12") LOAD(13, "r13") LOAD(14, "r14") LOAD(15, "r15")
#define FAULT(name, instruction)                                                                                       \
	void name(uint64_t);                                                                                           \
	extern const char name##_at[], name##_after[];                                                                 \
	__asm__(".text\n.p2align 4\n" #name ":\n push %rbx\n push %rbp\n"                                              \
		" push %r12\n push %r13\n push %r14\n push %r15\n mov %rsp, fault_stack(%rip)\n" KNOWN_STATE           \
		" push $0x8d7\n popf\n" #name "_at: " instruction "\n" #name                                           \
		"_after: mov fault_stack(%rip), %rsp\n push $2\n"                                                      \
		" popf\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n")

uint64_t fault_stack;

FAULT(store, "mov %eax, (%rdi)");
FAULT(load, "mov (%rdi), %rax");
FAULT(add_to_memory, "lock add %r9, (%rdi)");
FAULT(compare_exchange, "lock cmpxchg %r9, (%rdi)");
FAULT(conditional_load, "cmovnz (%rdi), %r10");
FAULT(misaligned, "movaps 1(%rdi), %xmm0");
FAULT(undefined, "ud2");
FAULT(no_instruction, ".byte 0x06");
FAULT(privileged, "hlt");
FAULT(privileged_register, "mov %cr0, %rax");
FAULT(bad_interrupt, "int $0x7f");
FAULT(breakpoint, "int3");
FAULT(long_breakpoint, ".byte 0xcd, 3");
FAULT(debug_trap, ".byte 0xf1");
FAULT(divide, "divl (%rdi)");
FAULT(divide_too_big, "idivq 8(%rdi)");
FAULT(push_memory, "push (%rdi)");
FAULT(pop_memory, "pop (%rdi)");
FAULT(call_memory, "call *(%rdi)");
FAULT(jump_memory, "jmp *(%rdi)");
FAULT(call_nowhere, "call *%rdi");
FAULT(jump_nowhere, "jmp *%rdi");
FAULT(return_nowhere, "push %rdi\n ret");
FAULT(return_behind_push, "push %rdi\n xchg %ax, %ax\n ret");
FAULT(long_return_behind_push, "push %rdi\n xchg %ax, %ax\n ret $16");
FAULT(copy_string, "movsb");
/* With the stack pointer at a place that cannot be written or read; their instruction is the second. */
FAULT(call_without_stack, "xchg %rdi, %rsp\n call 1f\n 1:");
FAULT(return_without_stack, "xchg %rdi, %rsp\n ret");
FAULT(push_without_stack, "xchg %rdi, %rsp\n push $1");
FAULT(call_pointer_without_stack, "xchg %rdi, %rsp\n call *%rdi");

enum rip { AT, SECOND, AFTER, ARGUMENT, BEHIND_PUSH };
enum address { AT_RIP, AT_ARGUMENT, BELOW_ARGUMENT, NONE, ANY };

static const struct fault {
	void (*function)(uint64_t);
	const char *at, *after;
	int number, code; /* 0: any */
	enum rip rip;
	enum address address;
	int stack;     /* how far the stack pointer has moved */
	char argument; /* u: unmapped, p: PROT_NONE, r: read-only, n, N: not canonical, 0: zeros, b: beyond the end of a
			  file */
} faults[] = {
#define ROW(name) name, name##_at, name##_after
	{ROW(store), SIGSEGV, SEGV_MAPERR, AT, AT_ARGUMENT, 0, 'u'},
	{ROW(store), SIGSEGV, SEGV_ACCERR, AT, AT_ARGUMENT, 0, 'r'},
	{ROW(store), SIGBUS, BUS_ADRERR, AT, AT_ARGUMENT, 0, 'b'},
	{ROW(load), SIGSEGV, SEGV_ACCERR, AT, AT_ARGUMENT, 0, 'p'},
	{ROW(load), SIGSEGV, SI_KERNEL, AT, NONE, 0, 'n'},
	{ROW(load), SIGBUS, BUS_ADRERR, AT, AT_ARGUMENT, 0, 'b'},
	{ROW(add_to_memory), SIGSEGV, SEGV_ACCERR, AT, AT_ARGUMENT, 0, 'r'},
	{ROW(compare_exchange), SIGSEGV, SEGV_ACCERR, AT, AT_ARGUMENT, 0, 'r'},
	{ROW(conditional_load), SIGSEGV, SEGV_MAPERR, AT, AT_ARGUMENT, 0, 'u'},
	{ROW(misaligned), SIGSEGV, SI_KERNEL, AT, NONE, 0, '0'},
	{ROW(undefined), SIGILL, ILL_ILLOPN, AT, AT_RIP, 0, '0'},
	{ROW(no_instruction), SIGILL, ILL_ILLOPN, AT, AT_RIP, 0, '0'},
	{ROW(privileged), SIGSEGV, SI_KERNEL, AT, NONE, 0, '0'},
	{ROW(privileged_register), SIGSEGV, SI_KERNEL, AT, NONE, 0, '0'},
	{ROW(bad_interrupt), SIGSEGV, SI_KERNEL, AT, NONE, 0, '0'},
	{ROW(breakpoint), SIGTRAP, SI_KERNEL, AFTER, NONE, 0, '0'},
	{ROW(long_breakpoint), SIGTRAP, SI_KERNEL, AFTER, NONE, 0, '0'},
	{ROW(debug_trap), SIGTRAP, 0, AFTER, ANY, 0, '0'},
	{ROW(divide), SIGFPE, FPE_INTDIV, AT, AT_RIP, 0, '0'},
	{ROW(divide_too_big), SIGFPE, FPE_INTDIV, AT, AT_RIP, 0, '0'},
	{ROW(push_memory), SIGSEGV, SEGV_MAPERR, AT, AT_ARGUMENT, 0, 'u'},
	{ROW(pop_memory), SIGSEGV, SEGV_ACCERR, AT, AT_ARGUMENT, 0, 'r'},
	{ROW(call_memory), SIGSEGV, SEGV_MAPERR, AT, AT_ARGUMENT, 0, 'u'},
	{ROW(jump_memory), SIGSEGV, SEGV_MAPERR, AT, AT_ARGUMENT, 0, 'u'},
	{ROW(call_nowhere), SIGSEGV, SEGV_MAPERR, ARGUMENT, AT_ARGUMENT, -8, 'u'},
	{ROW(call_nowhere), SIGSEGV, SEGV_ACCERR, ARGUMENT, AT_ARGUMENT, -8, 'r'},
	{ROW(jump_nowhere), SIGSEGV, SEGV_MAPERR, ARGUMENT, AT_ARGUMENT, 0, 'u'},
	{ROW(jump_nowhere), SIGSEGV, SEGV_ACCERR, ARGUMENT, AT_ARGUMENT, 0, '0'},
	{ROW(return_nowhere), SIGSEGV, SEGV_MAPERR, ARGUMENT, AT_ARGUMENT, 0, 'u'},
	{ROW(copy_string), SIGSEGV, SI_KERNEL, AT, NONE, 0, '0'}, /* rsi is not canonical */
	{ROW(call_without_stack), SIGSEGV, SEGV_ACCERR, SECOND, BELOW_ARGUMENT, 0, 'p'},
	{ROW(push_without_stack), SIGSEGV, SEGV_ACCERR, SECOND, BELOW_ARGUMENT, 0, 'r'},
	{ROW(return_without_stack), SIGSEGV, SEGV_ACCERR, SECOND, AT_ARGUMENT, 0, 'p'},
	{ROW(call_pointer_without_stack), SIGSEGV, SEGV_ACCERR, SECOND, BELOW_ARGUMENT, 0, 'p'},
};

static const struct fault branches[] = {
	{ROW(call_nowhere), SIGSEGV, SI_KERNEL, AT, NONE, 0, 'n'},
	{ROW(jump_nowhere), SIGSEGV, SI_KERNEL, AT, NONE, 0, 'N'},
	{ROW(return_behind_push), SIGSEGV, SI_KERNEL, BEHIND_PUSH, NONE, -8, 'n'},
	{ROW(long_return_behind_push), SIGSEGV, SI_KERNEL, BEHIND_PUSH, NONE, -8, 'N'},
	{ROW(jump_nowhere), SIGSEGV, SEGV_MAPERR, ARGUMENT, AT_ARGUMENT, 0, 'u'},
	{ROW(call_nowhere), SIGSEGV, SEGV_MAPERR, ARGUMENT, AT_ARGUMENT, -8, 'u'},
};

static const struct fault *expected;
static uint64_t argument;
static volatile int nr_handled;
static unsigned char *handler_stack;

static void
on_fault(int number, siginfo_t *info, void *context)
{
	const uint64_t second = (uint64_t)expected->at + 3,
		       rips[] = {(uint64_t)expected->at, second, (uint64_t)expected->after, argument, second};
	const uint64_t addresses[] = {rips[expected->rip], argument, argument - 8, 0, (uint64_t)info->si_addr};
	const uint64_t swapped = expected->rip == SECOND ? fault_stack : argument;

	nr_handled++;
	CHECK_SAME(number, expected->number);
	CHECK(expected->code == 0 || info->si_code == expected->code);
	CHECK_SAME(RIP(context), rips[expected->rip]);
	CHECK_SAME(info->si_addr, addresses[expected->address]);
	for (int i = 0; i < 16; i++) {
		if (i == 7)
			CHECK_SAME(*register_of(context, i), swapped);
		else if (i != 4)
			CHECK_SAME(*register_of(context, i), (uint64_t)VALUE + (uint64_t)i);
	}
	CHECK_SAME(*register_of(context, 4),
		   (expected->rip == SECOND ? argument : fault_stack) + (uint64_t)expected->stack);
	CHECK_SAME(REGISTER(context, EFL) & FLAGS, FLAGS);
	if (expected->stack) /* a return address, or what was pushed */
		CHECK_SAME(*(uint64_t *)*register_of(context, 4),
			   expected->rip == BEHIND_PUSH ? argument : (uint64_t)expected->after);
	CHECK((unsigned char *)&number > handler_stack && (unsigned char *)&number < handler_stack + 16 * PAGE);
	RIP(context) = (greg_t)expected->after;
}

static void
on_own_stack(void)
{
	stack_t stack = {.ss_sp = handler_stack = pages_new(16, RW), .ss_size = 16 * PAGE};

	CHECK(sigaltstack(&stack, NULL) == 0);
}

static void
off_own_stack(void)
{
	stack_t stack = {.ss_flags = SS_DISABLE};

	CHECK(sigaltstack(&stack, NULL) == 0);
	munmap(handler_stack, 16 * PAGE);
}

static void
check_faults(const struct fault *rows, int nr)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
	unsigned char *none = pages_new(1, PROT_NONE), *read_only = pages_new(1, PROT_READ), *zeros = pages_new(1, RW),
		      *gone;
	int file = memfd_create("short", MFD_CLOEXEC);
	unsigned char *beyond = mmap(NULL, PAGE, RW, MAP_SHARED, file, 0);

	gone = pages_new(1, RW);
	munmap(gone, PAGE);
	on_own_stack();
	memset(zeros + 8, 1, 1);
	for (int i = 0; i < NR_ELEMENTS(numbers); i++)
		handle(numbers[i], on_fault, SA_ONSTACK);
	for (int i = 0; i < 5 * nr; i++) {
		expected = &rows[i % nr];
		argument = expected->argument == 'u'   ? (uint64_t)16
			   : expected->argument == 'p' ? (uint64_t)none + 64
			   : expected->argument == 'r' ? (uint64_t)read_only + 64
			   : expected->argument == 'n' ? 0x8000000000000000
			   : expected->argument == 'N' ? 0x0080000000000000
			   : expected->argument == 'b' ? (uint64_t)beyond + 64
						       : (uint64_t)zeros;
		nr_handled = 0;
		expected->function(argument);
		CHECK_SAME(nr_handled, 1);
	}
	for (int i = 0; i < NR_ELEMENTS(numbers); i++)
		signal(numbers[i], SIG_DFL);
	off_own_stack();
	munmap(none, PAGE);
	munmap(read_only, PAGE);
	munmap(zeros, PAGE);
	munmap(beyond, PAGE);
	close(file);
}

static void
faults_of_instructions(void)
{
	check_faults(faults, NR_ELEMENTS(faults));
}

/* Where no address is, the branch itself faults, and has changed nothing. */
static void
branches_to_nowhere(void)
{
	check_faults(branches, NR_ELEMENTS(branches));
}

/* The handler gives every register another value; the program goes on with it. */
static void
change_registers(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	for (int i = 0; i < 16; i++) {
		if (i != 4)
			*register_of(context, i) = (greg_t)(0x5500 + i);
	}
	REGISTER(context, EFL) ^= FLAGS;
	((ucontext_t *)context)->uc_mcontext.fpregs->_xmm[9].element[1] = 0x12345678;
}

#define STORE(n, name) "mov %" name ", changed_registers + 8 * " #n "(%rip)\n"
uint64_t changed_registers[18];
FAULT(changed,
      "int3\n pushf\n popq changed_registers + 8 * 16(%rip)\n movq %xmm9, changed_registers + 8 * 17(%rip)\n" STORE(
	      0, "rax") STORE(1, "rcx") STORE(2, "rdx") STORE(3, "rbx") STORE(5, "rbp") STORE(6, "rsi") STORE(7, "rdi")
	      STORE(8, "r8") STORE(9, "r9") STORE(10, "r10") STORE(11, "r11") STORE(12, "r12") STORE(13, "r13")
		      STORE(14, "r14") STORE(15, "r15"));

static void
handler_changes_registers(void)
{
	handle(SIGTRAP, change_registers, 0);
	for (int round = 0; round < 50; round++) {
		memset(changed_registers, 0, sizeof(changed_registers));
		changed(0);
		for (int i = 0; i < 16; i++) {
			if (i != 4)
				CHECK_SAME(changed_registers[i], 0x5500 + i);
		}
		CHECK_SAME(changed_registers[16] & FLAGS, 0);
		CHECK_SAME(changed_registers[17] >> 32, 0x12345678);
	}
	signal(SIGTRAP, SIG_DFL);
}

/* ---- leaving by a jump ---- */

static sigjmp_buf escape;

static void
jump_out(int number, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	siglongjmp(escape, number);
}

static void
jumps_out_of_handlers(void)
{
	static const int numbers[] = {SIGSEGV, SIGFPE, SIGILL, SIGTRAP};
	int *volatile nowhere = (int *)16;
	volatile int zero = 0, got;

	handle(SIGSEGV, jump_out, 0);
	handle(SIGFPE, jump_out, 0);
	handle(SIGILL, jump_out, 0);
	handle(SIGTRAP, jump_out, 0);
	for (int i = 0; i < 200; i++) {
		got = sigsetjmp(escape, 1);
		if (got == 0) {
			if (i % 4 == 0)
				*nowhere = 1;
			else if (i % 4 == 1)
				zero = 5 / zero;
			else if (i % 4 == 2)
				__asm__ volatile("ud2");
			else
				__asm__ volatile("int3");
			CHECK(!"reached");
		}
		CHECK_SAME(got, numbers[i % 4]);
	}
	signal(SIGSEGV, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
	signal(SIGILL, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
}

static int __attribute__((noinline)) recurse(int depth)
{
	volatile char frame[512];

	frame[depth % 512] = 1;
	return depth < 0 ? 0 : recurse(depth + 1) + frame[depth % 512];
}

static void
stack_overflow(void)
{
	on_own_stack();
	handle(SIGSEGV, jump_out, SA_ONSTACK);
	for (int i = 0; i < 5; i++) {
		if (sigsetjmp(escape, 1) == 0)
			recurse(0);
	}
	signal(SIGSEGV, SIG_DFL);
	off_own_stack();
}

/* ---- again after the reason is gone ---- */

static unsigned char *guarded;
static volatile int nr_opened;

static void
open_page(int number, siginfo_t *info, void *context)
{
	unsigned char *page = (unsigned char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	(void)number;
	CHECK(page >= guarded && page < guarded + 16 * PAGE);
	CHECK(is_known_code((uint64_t)RIP(context)));
	CHECK(mprotect(page, PAGE, RW) == 0);
	nr_opened++;
}

/* Collectors of garbage do so; each addition takes place just once. */
static void
opens_pages_by_faults(void)
{
	guarded = pages_new(16, RW);
	handle(SIGSEGV, open_page, 0);
	nr_opened = 0;
	for (int i = 0; i < 50; i++) {
		CHECK(mprotect(guarded, 16 * PAGE, i % 2 ? PROT_READ : PROT_NONE) == 0);
		for (int k = 0; k < 16; k++)
			++*(volatile int *)(void *)(guarded + k * PAGE + 8 * k);
	}
	CHECK_SAME(nr_opened, 50 * 16);
	for (int k = 0; k < 16; k++)
		CHECK_SAME(*(int *)(void *)(guarded + k * PAGE + 8 * k), 50);
	signal(SIGSEGV, SIG_DFL);
	munmap(guarded, 16 * PAGE);
}

static uint64_t string_at;

static void
open_for_string(int number, siginfo_t *info, void *context)
{
	open_page(number, info, context);
	CHECK_SAME(RIP(context), string_at);
	CHECK(REGISTER(context, RDI) <= (greg_t)info->si_addr && (greg_t)info->si_addr < REGISTER(context, RDI) + 64);
	CHECK_SAME(REGISTER(context, RDI) + REGISTER(context, RCX), guarded + 16 * PAGE);
	CHECK_SAME(REGISTER(context, RAX) & 0xff, 0x5a);
}

/* A repeated string instruction that is interrupted 16 times goes on where it was. */
static void
opens_pages_in_a_string(void)
{
	guarded = pages_new(16, PROT_NONE);
	handle(SIGSEGV, open_for_string, 0);
	for (int i = 0; i < 10; i++) {
		uint64_t left = 16 * PAGE;
		unsigned char *to = guarded;

		nr_opened = 0;
		CHECK(mprotect(guarded, 16 * PAGE, PROT_NONE) == 0);
		__asm__ volatile("lea 1f(%%rip), %%rdx\n mov %%rdx, %2\n 1: rep stosb"
				 : "+D"(to), "+c"(left), "=m"(string_at)
				 : "a"(0x5a)
				 : "rdx", "memory");
		CHECK(left == 0 && to == guarded + 16 * PAGE && nr_opened == 16);
		for (int k = 0; k < 16 * PAGE; k++)
			CHECK(guarded[k] == 0x5a);
	}
	signal(SIGSEGV, SIG_DFL);
	munmap(guarded, 16 * PAGE);
}

/* ---- floating point ---- */

static volatile double zero_double;
static volatile uint64_t division_at;
static volatile int nr_divisions;

static void
on_division(int number, siginfo_t *info, void *context)
{
	ucontext_t *own = context;

	CHECK_SAME(number, SIGFPE);
	CHECK_SAME(info->si_code, FPE_FLTDIV);
	CHECK_SAME(RIP(context), division_at);
	CHECK_SAME(info->si_addr, division_at);
	own->uc_mcontext.fpregs->mxcsr |= 0x1f80;
	nr_divisions++;
}

static void
floating_point_faults(void)
{
	unsigned int old, all;

	handle(SIGFPE, on_division, 0);
	nr_divisions = 0;
	__asm__ volatile("stmxcsr %0" : "=m"(old));
	all = (old & ~0x3fU) & ~0x200U;
	for (int i = 0; i < 50; i++) {
		double one = 1;

		__asm__ volatile("ldmxcsr %2\n lea 1f(%%rip), %%rax\n mov %%rax, %1\n 1: divsd %3, %0\n"
				 : "+x"(one), "=m"(division_at)
				 : "m"(all), "m"(zero_double)
				 : "rax");
	}
	CHECK_SAME(nr_divisions, 50);
	__asm__ volatile("ldmxcsr %0" : : "m"(old));
	signal(SIGFPE, SIG_DFL);
}

/* ---- a program that steps through itself ---- */

static volatile uint64_t stepped[64];
static volatile int nr_stepped;

static void
on_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	CHECK_SAME(info->si_code, TRAP_TRACE);
	if (nr_stepped < 64)
		stepped[nr_stepped] = (uint64_t)RIP(context);
	nr_stepped++;
}

static void
steps_by_trap_flag(void)
{
	uint64_t labels[6];

	handle(SIGTRAP, on_step, 0);
	for (int round = 0; round < 5; round++) {
		nr_stepped = 0;
		__asm__ volatile(
			"lea 1f(%%rip), %%rax\n mov %%rax, (%0)\n lea 2f(%%rip), %%rax\n mov %%rax, 8(%0)\n"
			"lea 3f(%%rip), %%rax\n mov %%rax, 16(%0)\n lea 4f(%%rip), %%rax\n mov %%rax, 24(%0)\n"
			"lea 5f(%%rip), %%rax\n mov %%rax, 32(%0)\n lea 6f(%%rip), %%rax\n mov %%rax, 40(%0)\n"
			"sub $128, %%rsp\n pushf\n orq $0x100, (%%rsp)\n popf\n inc %%eax\n 1: nop\n 2: jmp 3f\n ud2\n"
			"3: pushf\n 4: andq $~0x100, (%%rsp)\n 5: popf\n 6: nop\n nop\n add $128, %%rsp\n"
			:
			: "r"(labels)
			: "rax", "memory", "cc");
		CHECK_SAME(nr_stepped, 6);
		for (int i = 0; i < 6; i++)
			CHECK_SAME(stepped[i], labels[i]);
	}
	signal(SIGTRAP, SIG_DFL);
}

/* ---- the end of a process ---- */

static int deadly;

static void
die(void)
{
	int *volatile nowhere = (int *)16;

	if (deadly == SIGSEGV)
		*nowhere = 1;
	else if (deadly == SIGILL)
		__asm__ volatile("ud2");
	else
		__asm__ volatile("int3");
}

static void
die_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	die();
}

static void
die_ignoring(void)
{
	signal(deadly, SIG_IGN);
	die();
}

static void
die_jumping(void)
{
	((void (*)(void))(uintptr_t)16)();
}

/* A signal that is blocked or ignored and raised by an instruction kills. */
static void
deadly_faults(void)
{
	static const int numbers[] = {SIGSEGV, SIGILL, SIGTRAP};

	for (int i = 0; i < NR_ELEMENTS(numbers); i++) {
		int status;

		deadly = numbers[i];
		status = status_of(die_blocked);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == deadly);
		status = status_of(die_ignoring);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == deadly);
	}
	CHECK_SAME(WTERMSIG(status_of(die_jumping)), SIGSEGV);
}

const struct hard_case fault_cases[] = {
	{"faults-of-instructions", faults_of_instructions},
	{"branches-to-nowhere", branches_to_nowhere},
	{"handler-changes-registers", handler_changes_registers},
	{"jumps-out-of-handlers", jumps_out_of_handlers},
	{"stack-overflow", stack_overflow},
	{"opens-pages-by-faults", opens_pages_by_faults},
	{"opens-pages-in-a-string", opens_pages_in_a_string},
	{"floating-point-faults", floating_point_faults},
	{"steps-by-trap-flag", steps_by_trap_flag},
	{"deadly-faults", deadly_faults},
	{NULL, NULL},
};
