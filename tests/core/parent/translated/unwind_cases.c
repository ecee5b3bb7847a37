/* SPDX-License-Identifier: MIT */
/* Stacks as others read them: backtraces, unwinding, jumps between frames and between stacks. */
#include <execinfo.h>
#include <link.h>
#include <setjmp.h>
#include <unwind.h>

#include "hard_cases.h"

#define MAX_FRAMES 64
static void *frames[MAX_FRAMES];
static int nr_frames;

static _Unwind_Reason_Code
add_frame(struct _Unwind_Context *context, void *unused)
{
	(void)unused;
	if (nr_frames < MAX_FRAMES)
		frames[nr_frames++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void __attribute__((noinline)) look_up(void)
{
	nr_frames = 0;
	_Unwind_Backtrace(add_frame, NULL);
}

static int __attribute__((noinline)) go_down(int depth, void (*function)(void))
{
	int below = 0;

	if (depth == 0)
		function();
	else
		below = go_down(depth - 1, function);
	__asm__ volatile("" : "+r"(below)); /* no loop, no tail call */
	return below + 1;
}

/* Called through it, so that compilers make no variant of it. */
static int (*volatile go)(int depth, void (*function)(void)) = go_down;

static void __attribute__((noinline)) look_by_backtrace(void)
{
	nr_frames = backtrace(frames, MAX_FRAMES);
}

static bool
is_in_go_down(void *address)
{
	return _Unwind_FindEnclosingFunction((char *)address - 1) == (void *)(uintptr_t)go_down;
}

/* Return addresses on the stack are those of the program: 21 frames of one function, and all of known code. */
static void
backtraces(void)
{
	static void (*const ways[])(void) = {look_up, look_by_backtrace};

	for (int i = 0; i < 50; i++) {
		int nr = 0;

		CHECK_SAME(go(20, ways[i % 2]), 21);
		CHECK(nr_frames > 22 && nr_frames < MAX_FRAMES);
		for (int k = 0; k < nr_frames; k++) {
			CHECK(is_known_code((uint64_t)frames[k]) || (k == nr_frames - 1 && frames[k] == NULL));
			nr += is_in_go_down(frames[k]);
		}
		CHECK_SAME(nr, 21);
	}
}

static void
look_up_in_handler(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	look_up();
}

static void __attribute__((noinline)) trap(void)
{
	__asm__ volatile("int3" : : : "memory");
}

/* Through the frame of a signal. */
static void
backtraces_of_handlers(void)
{
	handle(SIGTRAP, look_up_in_handler, 0);
	for (int i = 0; i < 50; i++) {
		int nr = 0;
		bool has_trap = false;

		CHECK_SAME(go(10, trap), 11);
		for (int k = 0; k < nr_frames; k++) {
			CHECK(is_known_code((uint64_t)frames[k]) || (k == nr_frames - 1 && frames[k] == NULL));
			nr += is_in_go_down(frames[k]);
			has_trap = has_trap || ((const char *)frames[k] >= (const char *)trap &&
						(const char *)frames[k] < (const char *)trap + 16);
		}
		CHECK_SAME(nr, 11);
		CHECK(has_trap);
	}
	signal(SIGTRAP, SIG_DFL);
}

/* ---- forced unwinding: each frame's clean-up is executed ---- */

static jmp_buf at_top;
static int nr_cleaned;

static void
clean_up(int *number)
{
	nr_cleaned += *number;
}

static struct _Unwind_Exception exception;

static _Unwind_Reason_Code
stop_at_top(int version, _Unwind_Action actions, _Unwind_Exception_Class class, struct _Unwind_Exception *thrown,
	    struct _Unwind_Context *context, void *parameter)
{
	(void)version, (void)actions, (void)class, (void)thrown;
	if (_Unwind_GetCFA(context) >= (_Unwind_Word)(uintptr_t)parameter)
		longjmp(at_top, 1);
	return _URC_NO_REASON;
}

static void *top_of_stack;

static int __attribute__((noinline)) descend(int depth)
{
	int number __attribute__((cleanup(clean_up))) = 1;

	if (depth == 0) {
		memset(&exception, 0, sizeof(exception));
		_Unwind_ForcedUnwind(&exception, stop_at_top, top_of_stack);
		abort();
	}
	return depth < 0 ? 0 : descend(depth - 1) + number;
}

static void
forced_unwinding(void)
{
	top_of_stack = __builtin_frame_address(0);
	for (int i = 0; i < 50; i++) {
		nr_cleaned = 0;
		if (setjmp(at_top) == 0)
			descend(30);
		CHECK_SAME(nr_cleaned, 31);
	}
}

/* ---- jumps ---- */

static jmp_buf back;

static int __attribute__((noinline)) jump_from(int depth, int value)
{
	int below = 0;

	if (depth == 0)
		longjmp(back, value);
	if (depth > 0)
		below = jump_from(depth - 1, value);
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static void
long_jumps(void)
{
	for (volatile int i = 1; i < 2000; i++) {
		int got = setjmp(back);

		if (got == 0)
			jump_from(i % 20, i);
		CHECK_SAME(got, i);
	}
}

static ucontext_t home, coroutines[2];
static uint64_t nr_switches, trace;

static void
switch_often(int number)
{
	for (int i = 0; i < 2000; i++) {
		trace = trace * 31 + (uint64_t)number;
		nr_switches++;
		CHECK(swapcontext(&coroutines[number], i % 3 ? &coroutines[!number] : &home) == 0);
	}
}

static void
contexts(void)
{
	unsigned char *stacks[2];

	nr_switches = 0;
	for (int i = 0; i < 2; i++) {
		stacks[i] = pages_new(16, PROT_READ | PROT_WRITE);
		CHECK(getcontext(&coroutines[i]) == 0);
		coroutines[i].uc_stack.ss_sp = stacks[i];
		coroutines[i].uc_stack.ss_size = 16 * PAGE;
		coroutines[i].uc_link = &home;
		makecontext(&coroutines[i], (void (*)(void))(uintptr_t)switch_often, 1, i);
	}
	while (nr_switches < 3000)
		CHECK(swapcontext(&home, &coroutines[nr_switches % 2]) == 0);
	munmap(stacks[0], 16 * PAGE);
	munmap(stacks[1], 16 * PAGE);
}

/* Coroutines by hand: what is returned to was never called. */
static uint64_t *coroutine_stack, nr_turns;
void switch_stack(uint64_t **from_to);
__asm__(".text\nswitch_stack: push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n mov (%rdi), "
	"%rax\n mov %rsp, (%rdi)\n"
	"mov %rax, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");

static void
turn_for_ever(void)
{
	for (;;) {
		nr_turns++;
		switch_stack(&coroutine_stack);
	}
}

static void
coroutines_by_hand(void)
{
	unsigned char *memory = pages_new(16, PROT_READ | PROT_WRITE);

	coroutine_stack = (uint64_t *)(void *)(memory + 16 * PAGE) - 8;
	coroutine_stack[6] = (uint64_t)turn_for_ever;
	nr_turns = 0;
	for (uint64_t i = 1; i < 20000; i++) {
		switch_stack(&coroutine_stack);
		CHECK_SAME(nr_turns, i);
	}
	munmap(memory, 16 * PAGE);
}

static int
count_object(struct dl_phdr_info *object, size_t size, void *nr)
{
	CHECK(size >= sizeof(*object) && object->dlpi_phnum > 0);
	++*(int *)nr;
	return 0;
}

static void
loaded_objects(void)
{
	for (int i = 0; i < 50; i++) {
		int nr = 0;

		CHECK(dl_iterate_phdr(count_object, &nr) == 0 && nr >= 1);
		CHECK(_Unwind_FindEnclosingFunction((char *)(uintptr_t)loaded_objects + 1) ==
		      (void *)(uintptr_t)loaded_objects);
	}
}

const struct hard_case unwind_cases[] = {
	{"backtraces", backtraces},
	{"backtraces-of-handlers", backtraces_of_handlers},
	{"forced-unwinding", forced_unwinding},
	{"long-jumps", long_jumps},
	{"contexts", contexts},
	{"coroutines-by-hand", coroutines_by_hand},
	{"loaded-objects", loaded_objects},
	{NULL, NULL},
};
