/* SPDX-License-Identifier: MIT */
/* Where programs of all kinds stand when their libraries are there, and when there are others. */
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "parent/breakpoints/breakpoints.h"
#include "testing.h"
#include "traced.h"

static struct seen {
	int nr_entries, nr_changes, nr_refusals;
	bool has_libc;    /* at the last entry */
	bool is_at_entry; /* rip is what the system says, and the code is that of the file */
	size_t nr_tasks;
	struct rot_error refusal;
} seen;

static uint64_t
entry_of(pid_t pid)
{
	autofree char *path = rot_format("/proc/%d/auxv", (int)pid);
	FILE *file = fopen(path, "re");
	uint64_t pair[2], entry = 0;

	while (file && fread(pair, sizeof(pair), 1, file) == 1)
		entry = pair[0] == AT_ENTRY ? pair[1] : entry;
	if (file)
		fclose(file);
	return entry;
}

static bool
maps_contain(pid_t pid, const char *part)
{
	char *path = rot_format("/proc/%d/maps", (int)pid), line[4096];
	FILE *file = fopen(path, "re");
	bool is_there = false;

	while (file && fgets(line, sizeof(line), file))
		is_there |= strstr(line, part) != NULL;
	if (file)
		fclose(file);
	free(path);
	return is_there;
}

/* The first instruction of every C runtime's _start; an int3 would be 0xcc. */
static bool
is_code_intact(struct image *image, uint64_t entry)
{
	uint8_t code[4];

	return image_read(image, entry, code, sizeof(code)) == 0 &&
	       ((code[0] == 0x31 && code[1] == 0xed) || memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0);
}

static void
at_entry(void *context, struct thread *thread)
{
	struct user_regs_struct registers = {0};
	struct stat tasks;
	autofree char *path = rot_format("/proc/%d/task", (int)thread->pid);

	(void)context;
	ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers);
	seen.is_at_entry = registers.rip == entry_of(thread->pid) && is_code_intact(thread->image, registers.rip);
	seen.has_libc = maps_contain(thread->pid, "/libc");
	seen.nr_tasks = stat(path, &tasks) == 0 ? (size_t)tasks.st_nlink - 2 : 0;
	seen.nr_entries++;
}

static void
objects_changed(void *context, struct thread *thread)
{
	(void)context, (void)thread;
	seen.nr_changes++;
}

static void
refused(void *context, struct thread *thread, const struct rot_error *err)
{
	(void)context, (void)thread;
	seen.nr_refusals++;
	seen.refusal = *err;
}

static int
run(const char *const *arguments)
{
	struct traced traced = {0};

	seen = (struct seen){0};
	traced.tracer.follows_forks = true;
	traced.images = (struct images){.at_entry = at_entry, .objects_changed = objects_changed, .refused = refused};
	ck_assert_int_eq(traced_begin(&traced, arguments), 0);
	traced_run(&traced);
	return traced.status;
}

static const struct {
	const char *program;
	bool has_libc;
} kinds[] = {{"target", true}, {"target_static", false}, {"target_static_pie", false}, {"target_no_pie", true}};

TEST_OF(program_stops_at_entry, NR_ELEMENTS(kinds))
{
	char *path = built_path("tests/core/parent/%s", kinds[_i].program);
	const char *const arguments[] = {path, "threads", "3", NULL};

	if (access(path, X_OK) == 0) {
		ck_assert_int_eq(run(arguments), 0);
		ck_assert_msg(seen.nr_refusals == 0, "%s", seen.refusal.text);
		ck_assert_int_eq(seen.nr_entries, 1);
		ck_assert(seen.is_at_entry);
		ck_assert_int_eq(seen.has_libc, kinds[_i].has_libc);
		ck_assert_uint_eq(seen.nr_tasks, 1);
	} else {
		ck_assert(!kinds[_i].has_libc);
	}
}

/* A script, its interpreter, and what that executes. */
TEST(every_program_stops)
{
	char *folder = temporary_folder_new(),
	     *script = folder_write(folder, "script", "#!/bin/sh\n/bin/true\n/bin/true\n");
	const char *const arguments[] = {script, NULL};

	ck_assert_int_eq(chmod(script, 0700), 0);
	ck_assert_int_eq(run(arguments), 0);
	ck_assert_int_eq(seen.nr_entries, 3);
	ck_assert(seen.is_at_entry);
}

static int nr_hits;

static void
count_hit(void *context, const struct breakpoint_hit *hit)
{
	(void)context, (void)hit;
	nr_hits++;
}

static void
watch_entry(void *context, struct thread *thread)
{
	const struct breakpoint_user user = {.hit = count_hit, .context = context};

	if (breakpoint_set(thread, entry_of(thread->pid), user, &why) < 0)
		ck_abort_msg("%s", why.text);
}

/* Where the breakpoint stands by which the entry point is noticed. */
TEST(who_comes_to_the_entry_is_seen)
{
	const char *const arguments[] = {built_path("tests/core/parent/target"), "threads", "3", NULL};
	struct traced traced = {.images.at_entry = watch_entry};

	nr_hits = 0;
	ck_assert_int_eq(traced_begin(&traced, arguments), 0);
	traced_run(&traced);
	ck_assert_int_eq(traced.status, 0);
	ck_assert_int_eq(nr_hits, 1);
}

/* More of them than images of the dead are kept. */
#define NR_FORKS 70

__attribute__((noinline)) static void
pass_by(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop");
}

/* Stops itself, and then forks so many processes that come to pass_by. */
static pid_t
begin_forking(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (int i = 0; i < NR_FORKS; i++) {
		if (fork() == 0) {
			pass_by();
			_exit(0);
		}
	}
	while (true)
		pause();
}

/* The next process that it forks, which stands at its first stop. */
static pid_t
next_fork(pid_t parent)
{
	unsigned long message;
	int status = 0;

	while (ptrace(PTRACE_CONT, parent, NULL, NULL) < 0 || waitpid(parent, &status, 0) != parent ||
	       status >> 16 != PTRACE_EVENT_FORK)
		ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(ptrace(PTRACE_GETEVENTMSG, parent, NULL, &message), 0);
	ck_assert_int_eq(waitpid((pid_t)message, &status, __WALL), (pid_t)message);
	return (pid_t)message;
}

static void
end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

/* The parent dies after all others that it has forked, and before the last one is seen for the first time. */
TEST(forks_of_the_dead_are_known)
{
	struct tracer tracer = {0};
	cleared_by(images_clear) struct images images = {.tracer = &tracer};
	const struct breakpoint_user user = {.hit = count_hit};
	const uint64_t address = (uint64_t)(uintptr_t)pass_by;
	struct thread parent = {0}, last = {0};
	uint8_t byte;
	int status;

	parent.pid = parent.tid = begin_forking();
	ck_assert_int_eq(waitpid(parent.pid, &status, 0), parent.pid);
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, parent.pid, NULL, (void *)(PTRACE_O_TRACEFORK)), 0);
	images_started(&images, &parent);
	ck_assert_ok(breakpoint_set(&parent, address, user, &why));
	for (int i = 0; i < NR_FORKS - 1; i++) {
		const pid_t pid = next_fork(parent.pid);
		struct thread fork = {.pid = pid, .tid = pid};

		images_started(&images, &fork);
		images_exited(&images, &fork);
		end_process(pid);
	}
	last.pid = last.tid = next_fork(parent.pid);
	images_exited(&images, &parent);
	end_process(parent.pid);
	images_started(&images, &last);
	ck_assert_int_eq(image_read(last.image, address, &byte, sizeof(byte)), 0);
	ck_assert_uint_eq(byte, 0xcc);
	breakpoints_lift_all(last.image);
	ptrace(PTRACE_CONT, last.pid, NULL, NULL);
	ck_assert_int_eq(waitpid(last.pid, &status, __WALL), last.pid);
	ck_assert_int_eq(status, 0);
}

/* Two look at once at two processes of one program, which have the same at the same addresses. */
TEST(twins_share_no_memory)
{
	struct tracer tracers[2] = {{.is_attached = true}, {.is_attached = true}};
	struct images images[2] = {{.tracer = &tracers[0]}, {.tracer = &tracers[1]}};
	const struct breakpoint_user user = {.hit = count_hit};
	struct thread twins[2] = {{0}};
	int status;

	for (int i = 0; i < 2; i++) {
		twins[i].pid = twins[i].tid = begin_forking();
		ck_assert_int_eq(waitpid(twins[i].pid, &status, 0), twins[i].pid);
		images_started(&images[i], &twins[i]);
		if (breakpoint_set(&twins[i], (uint64_t)(uintptr_t)pass_by, user, &why) < 0)
			ck_abort_msg("%s", why.text);
	}
	for (int i = 0; i < 2; i++) {
		images_exited(&images[i], &twins[i]);
		images_clear(&images[i]);
		end_process(twins[i].pid);
	}
}

/* ---- threads that are let go right behind a breakpoint, with a SIGTRAP that somebody sent ---- */

extern const uint8_t pushing[], pushing_flags[], returning[], calling_nobody[];
__asm__(".text\npushing: push %rbp\nmov %rsp, %rbp\npop %rbp\nreturning: ret\npushing_flags: pushf\n"
	"calling_nobody: mov $1, %eax\nret\n");

static const struct behind {
	const uint8_t *place;
	bool has_executed; /* the instruction, since the breakpoint was lifted; else the int3, whose signal is lost */
	bool is_pausing;   /* the signal is not reported yet */
} behind[] = {
	{returning, false, false},    {returning, false, true},       {pushing, false, false},
	{pushing, false, true},       {pushing, true, false},         {pushing, true, true},
	{pushing_flags, true, false}, {calling_nobody, false, false}, {calling_nobody, false, true},
};

static void
await_trap(pid_t pid, int code, uint64_t rip)
{
	struct user_regs_struct registers;
	siginfo_t info;
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	ck_assert_int_eq(ptrace(PTRACE_GETSIGINFO, pid, NULL, &info), 0);
	ck_assert_int_eq(info.si_code, code);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &registers), 0);
	ck_assert_uint_eq(registers.rip, rip);
}

/* At the place, as if it had been called. */
static void
move_to(pid_t pid, uint64_t place)
{
	struct user_regs_struct registers;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &registers), 0);
	registers.rip = place;
	registers.orig_rax = (unsigned long)-1;
	registers.rsp = (registers.rsp - 256) & ~15ul;
	ck_assert_int_eq(ptrace(PTRACE_POKEDATA, pid, registers.rsp, (uintptr_t)pass_by), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, NULL, &registers), 0);
}

static void
send_trap(pid_t pid)
{
	ck_assert_int_eq(syscall(SYS_tgkill, pid, pid, SIGTRAP), 0);
}

TEST_OF(nobody_is_left_behind_a_breakpoint, NR_ELEMENTS(behind))
{
	const struct behind *at = &behind[_i];
	const uint64_t place = (uintptr_t)at->place, no_traps = 1ull << (SIGTRAP - 1);
	struct tracer tracer = {0};
	cleared_by(images_clear) struct images images = {.tracer = &tracer};
	const struct breakpoint_user user = {.hit = count_hit};
	struct thread thread = {0};
	const struct tracer_stop stop = {.thread = &thread, .signal = at->is_pausing ? 0 : SIGTRAP};
	struct user_regs_struct registers;
	enum tracer_answer answer;
	int status;

	thread.pid = thread.tid = begin_forking();
	ck_assert_int_eq(waitpid(thread.pid, &status, 0), thread.pid);
	images_started(&images, &thread);
	ck_assert_ok(breakpoint_set(&thread, place, user, &why));
	move_to(thread.pid, place);
	if (at->has_executed) {
		images_lift_all(&images);
		ptrace(PTRACE_SINGLESTEP, thread.pid, NULL, NULL);
		await_trap(thread.pid, TRAP_TRACE, place + 1);
		send_trap(thread.pid);
	} else {
		/* Blocked it is pending when the int3 raises the same. */
		ck_assert_int_eq(ptrace(PTRACE_SETSIGMASK, thread.pid, sizeof(no_traps), &no_traps), 0);
		send_trap(thread.pid);
	}
	ptrace(PTRACE_CONT, thread.pid, NULL, NULL);
	await_trap(thread.pid, SI_TKILL, place + 1);
	images_lift_all(&images);
	if (at->is_pausing)
		send_trap(thread.pid);
	answer = breakpoints_leave(&stop);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, thread.pid, NULL, &registers), 0);
	ck_assert_int_eq(answer, at->is_pausing && !at->has_executed ? TRACER_KEEP : TRACER_DELIVER);
	ck_assert_uint_eq(registers.rip, place + (at->has_executed || at->is_pausing));
	images_exited(&images, &thread);
	end_process(thread.pid);
}

UNIT_TESTS(.needs = {traced_probe});
