/* SPDX-License-Identifier: MIT */
/* Signals that come at any time: what a handler sees and changes, stacks and masks, storms, stops, timers. */
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "hard_cases.h"

static volatile sig_atomic_t nr_caught, last_caught;

static void
count(int number, siginfo_t *info, void *context)
{
	(void)info;
	CHECK(is_known_code((uint64_t)RIP(context)));
	last_caught = number;
	nr_caught++;
}

/* ---- all registers, wherever a signal arrives ---- */

/*
 * Slots of 16 bytes: one instruction each, and nops. Every turn adds one to each counting register, xmm14 too, in a
 * known order; so the address at which a signal arrives says which have been counted already.
 */
extern const char slots_start[], slots_end[];
void count_in_slots(volatile uint64_t *is_over);
__asm__(".text\n.p2align 4\ncount_in_slots:\n push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
	"mov $0x1000, %eax\n mov $0x2000, %ecx\n mov $0x3000, %edx\n mov $0x4000, %ebx\n mov $0x5000, %ebp\n mov "
	"$0x6000, %esi\n"
	"mov $0x8000, %r8d\n mov $0x9000, %r9d\n mov $0xa000, %r10d\n mov $0xb000, %r11d\n"
	"movabs $0x1212121212121212, %r12\n movabs $0x1313131313131313, %r13\n movabs $0x1414141414141414, %r14\n"
	"pxor %xmm14, %xmm14\n pcmpeqd %xmm15, %xmm15\n mov %rsp, %r15\n"
	".p2align 4\nslots_start: inc %rax\n" /* 0 */
	".p2align 4\n lea 1(%rcx), %rcx\n"    /* 1 */
	".p2align 4\n add $1, %rdx\n"         /* 2 */
	".p2align 4\n push %rdx\n"            /* 3 */
	".p2align 4\n pop %rbx\n"             /* 4 */
	".p2align 4\n call 1f\n"              /* 5 */
	".p2align 4\n sub $-1, %rsi\n"        /* 6 */
	".p2align 4\n inc %r8\n"              /* 7 */
	".p2align 4\n jrcxz 2f\n"             /* 8 */
	".p2align 4\n jmp *slot_10(%rip)\n"   /* 9 */
	".p2align 4\n2: inc %r9\n"            /* 10 */
	".p2align 4\n mov %r9, %r10\n"        /* 11 */
	".p2align 4\n psubq %xmm15, %xmm14\n" /* 12 */
	".p2align 4\n add $1, %r11\n"         /* 13 */
	".p2align 4\n cmpq $0, (%rdi)\n"      /* 14 */
	".p2align 4\n je slots_start\n"       /* 15 */
	".p2align 4\n jmp 3f\n"               /* 16 */
	".p2align 4\n1: inc %rbp\n"           /* 17 */
	".p2align 4\n ret\n"                  /* 18 */
	".p2align 4\nslots_end:\n3: pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
	".pushsection .data.rel.local,\"aw\"\n.p2align 3\nslot_10: .quad 2b\n.popsection\n");

/* The slots after which each register is counted, in the order in which slots are executed: 0-5, 17, 18, 6-16. */
static int
order_of(int slot)
{
	return slot <= 5 ? slot : slot >= 17 ? slot - 11 : slot + 2;
}

static volatile uint64_t slots_over;
static volatile int nr_in_slots;

static void
check_slots(int number, siginfo_t *info, void *context)
{
	static const struct {
		int number, slot;
		uint64_t base;
	} counting[] = {{0, 0, 0x1000}, {1, 1, 0x2000}, {2, 2, 0x3000},  {3, 4, 0x4000},   {5, 17, 0x5000},
			{6, 6, 0x6000}, {8, 7, 0x8000}, {9, 10, 0x9000}, {10, 11, 0xa000}, {11, 13, 0xb000}};
	uint64_t rip = (uint64_t)RIP(context), offset = rip - (uint64_t)slots_start, turn, *stack;
	int slot, order;

	(void)number, (void)info;
	CHECK(is_known_code(rip));
	if (rip < (uint64_t)slots_start || rip >= (uint64_t)slots_end)
		return;
	slot = (int)(offset / 16);
	/* How many slots have been executed in this turn; in slot 5 behind the call, all of the function. */
	order = slot == 5 && offset % 16 ? 8 : order_of(slot) + (offset % 16 != 0);
	turn = (uint64_t)*register_of(context, 0) - 0x1000 - (order > 0);
	stack = (uint64_t *)*register_of(context, 4);
	for (int i = 0; i < NR_ELEMENTS(counting); i++) {
		uint64_t base = counting[i].number == 3 ? 0x3000 : counting[i].number == 10 ? 0x9000 : counting[i].base;
		bool is_done = order > order_of(counting[i].slot);

		if (turn == 0 && !is_done)
			base = counting[i].base;
		CHECK_SAME(*register_of(context, counting[i].number), base + turn + is_done);
	}
	CHECK_SAME(*register_of(context, 12), 0x1212121212121212);
	CHECK_SAME(*register_of(context, 13), 0x1313131313131313);
	CHECK_SAME(*register_of(context, 14), 0x1414141414141414);
	CHECK_SAME(*register_of(context, 7), &slots_over);
	CHECK_SAME(((ucontext_t *)context)->uc_mcontext.fpregs->_xmm[14].element[0],
		   (uint32_t)turn + (order > order_of(12)));
	/* On the stack: rdx between push and pop, the return address within the call. */
	CHECK_SAME(*register_of(context, 15), (uint64_t)stack + (order == 4 || order == 6 || order == 7 ? 8 : 0));
	if (order == 4)
		CHECK_SAME(stack[0], 0x3000 + turn + 1);
	if (order == 6 || order == 7)
		CHECK_SAME(stack[0], slots_start + 5 * 16 + 5);
	if (++nr_in_slots == 400)
		slots_over = 1;
}

static void
at_any_instruction(void)
{
	handle(SIGALRM, check_slots, SA_RESTART);
	nr_in_slots = 0;
	slots_over = 0;
	tick(150);
	count_in_slots(&slots_over);
	tick(0);
	CHECK(nr_in_slots >= 400);
}

/* Loops that only their handler ends: by another rip, by rax, by a flag. */
void loop_until_rip(void);
void loop_until_rax(void);
void loop_until_carry(void);
extern const char loop_left[];
__asm__(".text\nloop_until_rip: xor %eax, %eax\n 1: inc %rax\n jmp 1b\n ud2\nloop_left: ret\n"
	"loop_until_rax: xor %eax, %eax\n 1: test %rax, %rax\n nop\n jz 1b\n ret\n"
	"loop_until_carry: clc\n 1: jnc 1b\n ret\n");

static volatile int way_out;

static void
let_out(int number, siginfo_t *info, void *context)
{
	uint64_t rip = (uint64_t)RIP(context);

	(void)number, (void)info;
	CHECK(is_known_code(rip));
	if (rip < (uint64_t)loop_until_rip || rip > (uint64_t)loop_until_carry + 4)
		return;
	if (way_out == 0 && rip < (uint64_t)loop_left)
		RIP(context) = (greg_t)loop_left;
	else if (way_out == 1)
		REGISTER(context, RAX) = 1;
	else
		REGISTER(context, EFL) |= 1;
}

static void
handler_ends_loops(void)
{
	handle(SIGALRM, let_out, SA_RESTART);
	tick(300);
	for (int i = 0; i < 60; i++) {
		way_out = i % 3;
		(i % 3 == 0 ? loop_until_rip : i % 3 == 1 ? loop_until_rax : loop_until_carry)();
	}
	tick(0);
}

/* Out of computing and out of waiting, by a jump. */
static sigjmp_buf escape;
static volatile sig_atomic_t may_escape;

static void
jump_out(int number, siginfo_t *info, void *context)
{
	(void)info;
	CHECK(is_known_code((uint64_t)RIP(context)));
	if (may_escape) {
		may_escape = 0;
		siglongjmp(escape, number);
	}
}

static void
jumps_out_at_any_time(void)
{
	volatile uint64_t sum = 0;
	int ends[2];
	char byte;

	CHECK(pipe(ends) == 0);
	handle(SIGALRM, jump_out, 0);
	tick(300);
	for (int i = 0; i < 200; i++) {
		if (sigsetjmp(escape, 1) == 0) {
			may_escape = 1;
			if (i % 2)
				CHECK(read(ends[0], &byte, 1) < 0 && !may_escape);
			for (;;)
				sum = sum * 3 + 1;
		}
	}
	tick(0);
	close(ends[0]);
	close(ends[1]);
}

/* During a long string instruction, too. */
static volatile uint64_t fill_at, fill_left;
static volatile int nr_within;

static void
look_at_fill(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	CHECK(is_known_code((uint64_t)RIP(context)));
	if ((uint64_t)RIP(context) == fill_at && REGISTER(context, RCX) != (greg_t)fill_left) {
		CHECK((uint64_t)REGISTER(context, RCX) < fill_left);
		nr_within++;
	}
}

static void
during_string_instructions(void)
{
	enum { BYTES = 1 << 24 };
	unsigned char *pages = pages_new(BYTES / PAGE, PROT_READ | PROT_WRITE);

	handle(SIGALRM, look_at_fill, SA_RESTART);
	fill_left = BYTES;
	for (int i = 0; i < 20; i++) {
		uint64_t left = BYTES;
		unsigned char *to = pages;

		tick_once(300);
		__asm__ volatile("lea 1f(%%rip), %%rdx\n mov %%rdx, %2\n 1: rep stosb"
				 : "+D"(to), "+c"(left), "=m"(fill_at)
				 : "a"(i)
				 : "rdx", "memory");
		CHECK(left == 0 && to == pages + BYTES);
		for (int k = 0; k < BYTES; k += 509)
			CHECK(pages[k] == i);
	}
	tick(0);
	munmap(pages, BYTES);
}

/* ---- frames, stacks, masks ---- */

static void
look_at_frame(int number, siginfo_t *info, void *context)
{
	ucontext_t *own = context;
	const uint32_t *software = (const uint32_t *)(const void *)((const char *)own->uc_mcontext.fpregs + 464);
	sigset_t now;

	(void)info;
	CHECK(is_known_code((uint64_t)RIP(context)));
	CHECK_SAME(number, SIGUSR1);
	CHECK_SAME((uintptr_t)own->uc_mcontext.fpregs % 64, 0);
	if (software[0] == 0x46505853) { /* FP_XSTATE_MAGIC1: the size, and FP_XSTATE_MAGIC2 at its end */
		uint32_t extended, size;

		memcpy(&extended, software + 1, 4);
		memcpy(&size, software + 4, 4);
		CHECK(extended >= size + 4);
		memcpy(&extended, (const char *)own->uc_mcontext.fpregs + size, 4);
		CHECK_SAME(extended, 0x46505845);
	}
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHECK(sigismember(&now, SIGUSR1) && sigismember(&now, SIGUSR2) && !sigismember(&own->uc_sigmask, SIGUSR1));
	sigaddset(&own->uc_sigmask, SIGWINCH);
	nr_caught++;
}

static void
frame_and_mask(void)
{
	struct sigaction action = {.sa_sigaction = look_at_frame, .sa_flags = SA_SIGINFO};
	sigset_t winch, now;

	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigaddset(&action.sa_mask, SIGUSR2);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	nr_caught = 0;
	for (int i = 0; i < 100; i++) {
		CHECK(raise(SIGUSR1) == 0);
		CHECK_SAME(nr_caught, i + 1); /* it is handled before raise returns */
		sigprocmask(SIG_UNBLOCK, &winch, &now);
		CHECK(sigismember(&now, SIGWINCH) && !sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
	}
	signal(SIGUSR1, SIG_DFL);
}

static unsigned char *alternate;
static volatile int depth_reached;

static void
nest(int number, siginfo_t *info, void *context)
{
	unsigned char here;
	stack_t now;

	(void)info;
	CHECK(is_known_code((uint64_t)RIP(context)));
	CHECK(&here > alternate && &here < alternate + 64 * PAGE);
	CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_ONSTACK && now.ss_sp == alternate);
	depth_reached++;
	if (number < SIGRTMIN + 10)
		raise(number + 1);
	if (number < SIGRTMIN + 10)
		CHECK_SAME(last_caught, number + 1);
	last_caught = number;
}

static void
nested_on_own_stack(void)
{
	stack_t stack = {.ss_sp = alternate = pages_new(64, PROT_READ | PROT_WRITE), .ss_size = 64 * PAGE}, now;
	unsigned char here;

	CHECK(sigaltstack(&stack, NULL) == 0);
	for (int i = 0; i <= 10; i++)
		handle(SIGRTMIN + i, nest, SA_ONSTACK);
	for (int i = 0; i < 50; i++) {
		depth_reached = 0;
		raise(SIGRTMIN);
		CHECK_SAME(depth_reached, 11);
		CHECK(&here < alternate || &here >= alternate + 64 * PAGE);
		CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags == 0);
	}
	stack.ss_flags = SS_DISABLE;
	CHECK(sigaltstack(&stack, NULL) == 0);
	munmap(alternate, 64 * PAGE);
}

static void
again_within(int number, siginfo_t *info, void *context)
{
	count(number, info, context);
	if (nr_caught < 5)
		raise(number);
}

static void
flags_of_actions(void)
{
	struct sigaction now;

	for (int i = 0; i < 30; i++) {
		nr_caught = 0;
		handle(SIGUSR1, again_within, SA_NODEFER);
		raise(SIGUSR1);
		CHECK_SAME(nr_caught, 5);
		handle(SIGUSR1, count, SA_RESETHAND);
		raise(SIGUSR1);
		CHECK_SAME(nr_caught, 6);
		CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
		signal(SIGUSR1, SIG_IGN);
		raise(SIGUSR1);
		CHECK_SAME(nr_caught, 6);
	}
	signal(SIGUSR1, SIG_DFL);
}

/* Masks are what the program made them, SIGTRAP among them. */
static void
blocked_signals(void)
{
	static const int numbers[] = {SIGTRAP, SIGSEGV, SIGSTOP, SIGCHLD, SIGUSR1, SIGILL};
	sigset_t wanted, now, pending;

	for (int i = 0; i < NR_ELEMENTS(numbers); i++) {
		sigemptyset(&wanted);
		sigaddset(&wanted, numbers[i]);
		CHECK(sigprocmask(SIG_SETMASK, &wanted, NULL) == 0);
		CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0);
		for (int k = 1; k < NSIG; k++)
			CHECK(sigismember(&now, k) == (k == numbers[i] && k != SIGSTOP));
		if (numbers[i] == SIGSTOP)
			continue;
		handle(numbers[i], count, 0);
		nr_caught = 0;
		raise(numbers[i]);
		CHECK_SAME(nr_caught, 0);
		CHECK(sigpending(&pending) == 0 && sigismember(&pending, numbers[i]));
		sigemptyset(&wanted);
		CHECK(sigprocmask(SIG_SETMASK, &wanted, NULL) == 0);
		CHECK(nr_caught == 1 && last_caught == numbers[i]);
		signal(numbers[i], SIG_DFL);
	}
}

/* ---- many ---- */

enum { NR_THREADS = 100, NR_EACH = 100 };
static pthread_t storm[NR_THREADS];
static pthread_barrier_t barrier;
static atomic_int nr_stormed;

static void
on_storm(int number, siginfo_t *info, void *context)
{
	(void)number;
	CHECK(is_known_code((uint64_t)RIP(context)));
	CHECK_SAME(info->si_code, SI_QUEUE);
	nr_stormed += info->si_value.sival_int;
}

/* Sends queued signals to others and computes in between, until all have arrived. */
static void *
storm_others(void *number)
{
	const union sigval value = {.sival_int = 1};
	uint64_t sum = (uint64_t)(uintptr_t)number;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < NR_EACH; i++) {
		while (pthread_sigqueue(storm[((uintptr_t)number + (uintptr_t)i * 7 + 1) % NR_THREADS], SIGRTMIN + 1,
					value) != 0)
			sched_yield();
		for (int k = 0; k < 50; k++)
			sum = sum * 0x9e3779b97f4a7c15 + 1;
	}
	while (nr_stormed < NR_THREADS * NR_EACH)
		usleep(1000);
	pthread_barrier_wait(&barrier);
	return (void *)(uintptr_t)(sum | 1);
}

static void
storm_of_signals(void)
{
	pthread_attr_t small;

	handle(SIGRTMIN + 1, on_storm, SA_RESTART);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&barrier, NULL, NR_THREADS);
	nr_stormed = 0;
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		CHECK(pthread_create(&storm[i], &small, storm_others, (void *)i) == 0);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(storm[i], NULL);
	CHECK_SAME(nr_stormed, NR_THREADS * NR_EACH);
	pthread_barrier_destroy(&barrier);
}

/* ---- timers ---- */

static void
timers(void)
{
	static const int kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF},
			 numbers[] = {SIGALRM, SIGVTALRM, SIGPROF};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2};
	struct itimerspec soon = {{0, 1000000}, {0, 1000000}};
	timer_t timer;

	for (int i = 0; i < 3; i++) {
		struct itimerval interval = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}};

		handle(numbers[i], count, SA_RESTART);
		nr_caught = 0;
		CHECK(setitimer(kinds[i], &interval, NULL) == 0);
		while (nr_caught < 10)
			getppid();
		CHECK(setitimer(kinds[i], &none, NULL) == 0);
		signal(numbers[i], SIG_DFL);
	}
	handle(SIGRTMIN + 2, count, SA_RESTART);
	nr_caught = 0;
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
	while (nr_caught < 10)
		;
	CHECK(timer_delete(timer) == 0);
	signal(SIGRTMIN + 2, SIG_IGN);
}

static void
alarm_clock(void)
{
	handle(SIGALRM, count, 0);
	nr_caught = 0;
	CHECK(alarm(1) == 0);
	CHECK(pause() == -1 && errno == EINTR && nr_caught == 1);
	signal(SIGALRM, SIG_DFL);
}

/* ---- stops, ends ---- */

static void
compute_for_ever(void)
{
	volatile uint64_t sum = 1;

	while (sum)
		sum = sum * 5 + 2;
}

static void
stopped_and_continued(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		compute_for_ever();
	for (int i = 0; i < 20; i++) {
		CHECK(kill(pid, SIGSTOP) == 0);
		CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
		CHECK(kill(pid, SIGCONT) == 0);
		CHECK(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
	}
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static int deadly;

static void
kill_myself(void)
{
	raise(deadly);
}

static void
default_actions(void)
{
	static const int numbers[] = {SIGHUP,  SIGINT,    SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,
				      SIGKILL, SIGUSR1,   SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU,
				      SIGSYS,  SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR,  SIGCHLD, SIGURG,  SIGWINCH};

	for (int i = 0; i < NR_ELEMENTS(numbers); i++) {
		int status;

		deadly = numbers[i];
		status = status_of(kill_myself);
		if (deadly == SIGCHLD || deadly == SIGURG || deadly == SIGWINCH)
			CHECK_SAME(status, 0);
		else
			CHECK(WIFSIGNALED(status) && WTERMSIG(status) == deadly);
	}
}

static volatile sig_atomic_t child_of_signal;

static void
on_child(int number, siginfo_t *info, void *context)
{
	count(number, info, context);
	CHECK(info->si_code == CLD_EXITED && info->si_status == 7);
	child_of_signal = info->si_pid;
}

static void
signals_of_children(void)
{
	handle(SIGCHLD, on_child, SA_RESTART);
	for (int i = 0; i < 50; i++) {
		int status;
		pid_t pid;

		child_of_signal = 0;
		pid = fork();
		if (pid == 0)
			_exit(7);
		CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
		while (child_of_signal != pid)
			sched_yield();
	}
	signal(SIGCHLD, SIG_DFL);
}

/* Processes and threads begin while signals rain. */
static void *
increment(void *number)
{
	++*(int *)number;
	return number;
}

static void
begin_under_fire(void)
{
	handle(SIGALRM, count, SA_RESTART);
	nr_caught = 0;
	for (int i = 0; i < 60; i++) {
		pthread_t thread;
		int number = 0, status;
		pid_t pid;

		tick_once(300);
		CHECK(pthread_create(&thread, NULL, increment, &number) == 0 && pthread_join(thread, NULL) == 0 &&
		      number == 1);
		pid = fork();
		if (pid == 0)
			_exit(i);
		CHECK(pid > 0);
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == i);
	}
	tick(0);
}

/* The step to the first instruction of a handler sets the trap flag, which the system then takes for the program's. */
static void
before_flags_are_popped(void)
{
	handle(SIGUSR1, count, 0);
	nr_caught = 0;
	for (int i = 0; i < 3; i++) {
		long result = SYS_kill;

		__asm__ volatile("sub $128, %%rsp\n pushf\n syscall\n popf\n add $128, %%rsp\n"
				 : "+a"(result)
				 : "D"((long)getpid()), "S"((long)SIGUSR1)
				 : "rcx", "r11", "memory", "cc");
		CHECK_SAME(result, 0);
	}
	CHECK_SAME(nr_caught, 3);
}

const struct hard_case signal_cases[] = {
	{"at-any-instruction", at_any_instruction},
	{"handler-ends-loops", handler_ends_loops},
	{"jumps-out-at-any-time", jumps_out_at_any_time},
	{"during-string-instructions", during_string_instructions},
	{"frame-and-mask", frame_and_mask},
	{"nested-on-own-stack", nested_on_own_stack},
	{"flags-of-actions", flags_of_actions},
	{"blocked-signals", blocked_signals},
	{"storm-of-signals", storm_of_signals},
	{"timers", timers},
	{"alarm-clock", alarm_clock},
	{"stopped-and-continued", stopped_and_continued},
	{"default-actions", default_actions},
	{"before-flags-are-popped", before_flags_are_popped},
	{"signals-of-children", signals_of_children},
	{"begin-under-fire", begin_under_fire},
	{NULL, NULL},
};
