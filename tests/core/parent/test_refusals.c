/* SPDX-License-Identifier: MIT */
/* Refusals of the system, and programs that are unlike others: set-uid ones, 32-bit ones, those that die at once. */
#include <dirent.h>
#include <elf.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>

#include "ProgramProfile.h"
#include "common/proc.h"
#include "parent/tracer/refusal.h"
#include "permits.h"
#include "program_runner.h"
#include "testing.h"

/* Users of no rights, as far as any test knows. */
#define SOMEBODY 65533
#define NOBODY 65534

/* ---- why a process cannot be traced ---- */

static const struct {
	const char *file, *content; /* below a folder in place of /proc */
	int error;
	bool is_own;
	const char *text, *hint;
} reasons[] = {
	{"4711/task/4712/status", "Name:\tx\nTracerPid:\t77\n", EPERM, false,
	 "process 4711: process 77 (gdb) traces it already", "end that one"},
	{"4711/task/4711/status", "Name:\tx\nTracerPid:\t77\n", EPERM, true, "process 77 (gdb) traces it already",
	 "without a debugger"},
	{"self/status", "Seccomp:\t2\n", EPERM, true, "a seccomp filter around rot", "--cap-add=SYS_PTRACE"},
	{"sys/kernel/yama/ptrace_scope", "3\n", EPERM, true, "ptrace_scope is 3", "restart"},
	{"4711/task/4711/status", "TracerPid:\t0\n", EPERM, false, "process 4711: Operation not permitted",
	 "root's to trace"},
	{"4711/task/4711/status", "TracerPid:\t77\n", ESRCH, false, "process 4711: No such process", "ps"},
};

TEST_OF(reasons_are_found, NR_ELEMENTS(reasons))
{
	folder_write(runner_folder, "77/comm", "gdb\n");
	folder_write(runner_folder, reasons[_i].file, reasons[_i].content);
	ck_assert_int_eq(refusal_explain(runner_folder, 4711, reasons[_i].is_own, reasons[_i].error, &why), -1);
	ck_assert_msg(strstr(why.text, reasons[_i].text), "%s", why.text);
	ck_assert_msg(strstr(why.hint, reasons[_i].hint), "%s", why.hint);
}

/* Containers have filters, most of which allow it. */
TEST(what_certainly_forbids_it_is_told_first)
{
	folder_write(runner_folder, "self/status", "Seccomp:\t2\n");
	folder_write(runner_folder, "sys/kernel/yama/ptrace_scope", "3\n");
	ck_assert_int_eq(refusal_explain(runner_folder, 4711, false, EPERM, &why), -1);
	ck_assert_msg(strstr(why.text, "ptrace_scope is 3"), "%s", why.text);
}

/* Until this thread is traced. Then the process ends. */
static void *
await_tracer(void *unused)
{
	uint64_t tracer = 0;

	while (tracer == 0) {
		usleep(1000);
		proc_status(gettid(), "TracerPid", 10, &tracer);
	}
	_exit(7);
	return unused;
}

static pid_t
begin_sleeper(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static void *
sleep_on(void *unused)
{
	while (true)
		pause();
	return unused;
}

/* A process of two threads, which sleep; the second one goes to *tid. */
static pid_t
begin_two_sleepers(pid_t *tid)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		pthread_create(&thread, NULL, sleep_on, NULL);
		sleep_on(NULL);
	}
	for (*tid = 0; *tid == 0; usleep(1000)) {
		autofree char *path = rot_format("/proc/%d/task", (int)pid);
		DIR *tasks = opendir(path);

		for (struct dirent *task; (task = readdir(tasks));)
			*tid = atoi(task->d_name) != pid && atoi(task->d_name) > 0 ? atoi(task->d_name) : *tid;
		closedir(tasks);
	}
	return pid;
}

/* Its first thread ends, another one stays. */
static pid_t
begin_without_first_thread(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		pthread_create(&thread, NULL, await_tracer, NULL);
		pthread_exit(NULL);
	}
	return pid;
}

static void
end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* runner_end waits for all there are, so it cannot be used while another lives. */
static const struct core_failure *
visit(pid_t pid, int refused_call)
{
	const struct trial trial = {.attach_to = pid, .is_time_only = true, .refused_call = refused_call};
	pid_t core = runner_begin(&trial);
	int status;

	ck_assert_int_eq(waitpid(core, &status, 0), core);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	return runner_failure();
}

TEST(traced_processes_are_not_visited)
{
	pid_t pid = begin_sleeper();
	const struct core_failure *failure;

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	failure = visit(pid, 0);
	ck_assert_str_eq(failure->kind, "refused");
	ck_assert_has(failure->attempted, "(unit-tests) traces it already");
	end_sleeper(pid);
}

/* It would meet our breakpoints in another tracer's hands. */
TEST(processes_are_not_visited_while_one_of_their_threads_is_traced)
{
	pid_t tid, pid = begin_two_sleepers(&tid);

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, tid, NULL, NULL), 0);
	ck_assert_has(visit(pid, 0)->attempted, "(unit-tests) traces it already");
	kill(pid, SIGKILL);
	waitpid(tid, NULL, __WALL);
	end_sleeper(pid);
}

static void
wait_for_tracer(pid_t tid)
{
	for (uint64_t tracer = 0; tracer == 0; usleep(1000))
		ck_assert(proc_status(tid, "TracerPid", 10, &tracer));
}

/* Lets the thread go after some time, as another rot does that is about to leave. */
static pid_t
begin_other_tracer(pid_t tid)
{
	const pid_t tracer = fork();

	if (tracer == 0) {
		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
			_exit(1);
		usleep(100000);
		_exit(0);
	}
	wait_for_tracer(tid);
	return tracer;
}

TEST(processes_are_visited_when_another_tracer_has_left)
{
	pid_t tid, pid = begin_two_sleepers(&tid), tracer = begin_other_tracer(tid), core;
	int status;

	core = runner_begin(&(struct trial){.attach_to = pid, .is_time_only = true});
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert_int_eq(status, 0);
	wait_for_tracer(pid);
	end_sleeper(pid);
	ck_assert_int_eq(waitpid(core, &status, 0), core);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(program_command_output_outputs_at(runner_output(), 0)->nr_threads, 2);
}

static void
wait_for_state(pid_t pid, char wanted)
{
	char fields[PROC_STAT_BYTES], state = '?';

	while (proc_stat(pid, fields) && sscanf(fields, " %c", &state) == 1 && state != wanted)
		usleep(1000);
	ck_assert_int_eq(state, wanted);
}

TEST(processes_without_their_first_thread_are_visited_until_they_end)
{
	pid_t pid = begin_without_first_thread(), core;
	const struct program_run_output *run;
	int status;

	wait_for_state(pid, 'Z');
	core = runner_begin(&(struct trial){.attach_to = pid, .is_time_only = true});
	ck_assert_int_eq(waitpid(core, &status, 0), core);
	ck_assert_int_eq(status, 0);
	run = program_command_output_outputs_at(runner_output(), 0);
	ck_assert_int_eq(run->nr_threads, 1);
	ck_assert_int_eq(run->exit_status, 7);
	waitpid(pid, NULL, 0);
}

TEST(processes_that_have_ended_are_not_visited)
{
	pid_t pid = fork();
	const struct core_failure *failure;

	if (pid == 0)
		_exit(0);
	wait_for_state(pid, 'Z');
	failure = visit(pid, 0);
	ck_assert_has(failure->attempted, "it has ended");
	end_sleeper(pid);
}

TEST(filters_are_named)
{
	pid_t pid = begin_sleeper();
	const struct core_failure *failure = visit(pid, SYS_ptrace);

	ck_assert_str_eq(failure->kind, "refused");
	ck_assert_has(failure->attempted, "a seccomp filter around rot does not allow ptrace");
	ck_assert_has(failure->hint, "--cap-add=SYS_PTRACE");
	end_sleeper(pid);
}

/* ---- programs of a few bytes ---- */

static void
write_executable(const char *name, const void *bytes, size_t nr)
{
	autofree char *path = rot_format("%s/%s", runner_folder, name);
	FILE *file = fopen(path, "we");

	ck_assert(file && fwrite(bytes, 1, nr, file) == nr && fclose(file) == 0);
	ck_assert_int_eq(chmod(path, 0700), 0);
}

#define LOAD_ADDRESS 0x400000

/* A file that is its own only segment. bits: 32 or 64; both have the same fields. */
#define WRITE_ELF(bits, machine, name, bytes)                                                                          \
	do {                                                                                                           \
		struct {                                                                                               \
			Elf##bits##_Ehdr header;                                                                       \
			Elf##bits##_Phdr segment;                                                                      \
			unsigned char code[32];                                                                        \
		} image = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS##bits, ELFDATA2LSB,     \
						  EV_CURRENT},                                                         \
				      .e_type = ET_EXEC,                                                               \
				      .e_machine = (machine),                                                          \
				      .e_version = EV_CURRENT,                                                         \
				      .e_entry = LOAD_ADDRESS + sizeof(Elf##bits##_Ehdr) + sizeof(Elf##bits##_Phdr),   \
				      .e_phoff = sizeof(Elf##bits##_Ehdr),                                             \
				      .e_ehsize = sizeof(Elf##bits##_Ehdr),                                            \
				      .e_phentsize = sizeof(Elf##bits##_Phdr),                                         \
				      .e_phnum = 1},                                                                   \
			   .segment = {.p_type = PT_LOAD,                                                              \
				       .p_flags = PF_R | PF_X,                                                         \
				       .p_vaddr = LOAD_ADDRESS,                                                        \
				       .p_paddr = LOAD_ADDRESS,                                                        \
				       .p_filesz = sizeof(image),                                                      \
				       .p_memsz = sizeof(image),                                                       \
				       .p_align = 0x1000}};                                                            \
                                                                                                                       \
		memcpy(image.code, (bytes), sizeof(bytes));                                                            \
		write_executable((name), &image, sizeof(image));                                                       \
	} while (0)

static const struct program_run_output *
run_in_folder(const char *program, bool is_total, bool is_time_only)
{
	const struct trial trial = {
		.program = program, .folder = runner_folder, .is_total = is_total, .is_time_only = is_time_only};

	return program_command_output_outputs_at(runner_run(&trial), 0);
}

/* Its first instruction is its last. Traced, and not. */
TEST_OF(programs_die_at_once, 2)
{
	const unsigned char ud2[] = {0x0f, 0x0b}, hlt[] = {0xf4}, int3[] = {0xcc};
	const struct program_run_output *run;

	WRITE_ELF(64, EM_X86_64, "ud2", ud2);
	run = run_in_folder("./ud2", _i == 1, true);
	ck_assert_int_eq(run->signal, SIGILL);
	ck_assert_int_eq(run->exit_status, -1);
	WRITE_ELF(64, EM_X86_64, "hlt", hlt);
	ck_assert_int_eq(run_in_folder("./hlt", _i == 1, true)->signal, SIGSEGV);
	WRITE_ELF(64, EM_X86_64, "int3", int3);
	ck_assert_int_eq(run_in_folder("./int3", _i == 1, true)->signal, SIGTRAP);
}

static bool
can_run(const char *name)
{
	autofree char *path = rot_format("%s/%s", runner_folder, name);
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl(path, path, NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status == 7 << 8;
}

/* mov eax, 1; mov ebx, 7; int 0x80: exit(7). */
TEST_OF(programs_of_32_bits_are_measured, 2)
{
	const unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80};
	const struct program_run_output *run;

	WRITE_ELF(32, EM_386, "small", code);
	if (!can_run("small"))
		return;
	run = run_in_folder("./small", _i == 1, true);
	ck_assert_int_eq(run->exit_status, 7);
	ck_assert_int_eq(run->signal, 0);
	ck_assert_int_eq(run->nr_threads, _i == 1 ? 0 : 1);
}

/* ---- programs with rights of their own ---- */

static bool
can_gain_rights(void)
{
	struct statvfs system;

	return geteuid() == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 && statvfs(runner_folder, &system) == 0 &&
	       !(system.f_flag & ST_NOSUID);
}

static void
copy_target(const char *name, uid_t owner, mode_t mode)
{
	autofree char *from = built_path("tests/core/parent/target_no_pie"),
		      *to = rot_format("%s/%s", runner_folder, name);
	autofree char *command = rot_format("cp '%s' '%s'", from, to);

	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(chown(to, owner, (gid_t)owner), 0);
	ck_assert_int_eq(chmod(to, mode), 0);
}

/* They are counted as one total, for each thread, and started by another program. */
TEST_OF(set_uid_programs_are_counted, 3)
{
	const struct trial trials[] = {
		{.program = "./owned", .folder = runner_folder, .arguments = {"touch", "3000"}, .is_total = true},
		{.program = "./owned", .folder = runner_folder, .arguments = {"touch", "3000"}},
		{.program = "/bin/sh", .folder = runner_folder, .arguments = {"-c", "./owned touch 3000; exit 0"}},
	};
	const struct program_command_output *output;
	const struct program_run_output *run;
	long most = 0;

	if (!can_gain_rights() || !permits_counting())
		return;
	ck_assert_int_eq(chmod(runner_folder, 0755), 0);
	copy_target("owned", SOMEBODY, 04755);
	output = runner_run(&trials[_i]);
	run = program_command_output_outputs_at(output, 0);
	ck_assert_uint_eq(program_command_output_nr_warnings(output), 0);
	ck_assert_int_eq(run->exit_status, 0);
	for (size_t i = 0; i < run->threads.nr; i++) {
		long count = runner_count(program_run_output_threads_at(run, i));

		most = count > most ? count : most;
	}
	ck_assert_int_ge(most, 3000);
}

/* A user who may not even reach the build tree, or the folder of tests (umask), cannot be tested. */
static bool
nobody_can_run_core(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(setgid(NOBODY) < 0 || setuid(NOBODY) < 0 || access(built_path("core/rot-core"), X_OK) < 0 ||
		      access(runner_folder, F_OK) < 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status == 0;
}

TEST(ordinary_users_do_not_trace_set_uid_programs)
{
	struct trial trial = {.program = "./owned",
			      .folder = runner_folder,
			      .arguments = {"exit", "3"},
			      .as_user = NOBODY,
			      .is_time_only = true};
	const struct program_command_output *output;
	const struct core_failure *failure;

	if (!can_gain_rights() || !nobody_can_run_core())
		return;
	copy_target("owned", SOMEBODY, 04755);
	failure = runner_fail(&trial);
	ck_assert_str_eq(failure->kind, "refused");
	ck_assert_has(failure->attempted, "as an ordinary user: it is set-uid");
	trial.is_total = true;
	output = runner_run(&trial);
	ck_assert(runner_has_warning(output, "nobody but root count what it does"));
	ck_assert_int_eq(program_command_output_outputs_at(output, 0)->exit_status, 3);
	trial.is_total = false;
	trial.program = "/bin/sh";
	trial.arguments[0] = "-c";
	trial.arguments[1] = "./owned exit 3";
	ck_assert(runner_has_warning(runner_run(&trial), "ran without these rights"));
}

static void
sample(struct program_command *command)
{
	command->sample_period = 1000000;
}

/* A user who may read everything becomes another one for that. */
TEST(programs_that_may_not_be_read_are_not_sampled)
{
	static const char *const names[] = {"./unreadable", "./readable"};
	struct trial trial = {.folder = runner_folder,
			      .arguments = {"exit", "3"},
			      .as_user = geteuid() == 0 ? NOBODY : 0,
			      .is_time_only = true,
			      .amend = sample};

	if (geteuid() == 0 && !nobody_can_run_core())
		return;
	copy_target("unreadable", geteuid(), 0111);
	copy_target("readable", geteuid(), 0755);
	for (int i = 0; i < 2; i++) {
		const struct program_run_output *run;

		trial.program = names[i];
		run = program_command_output_outputs_at(runner_run(&trial), 0);
		ck_assert_int_eq(run->exit_status, 3);
		ck_assert_ptr_nonnull(run->profile);
		ck_assert_int_eq(strstr(run->profile->refusal, "may be executed, but not read") != NULL, i == 0);
	}
}

UNIT_TESTS(.needs = {permits_tracing}, .set_up = runner_set_up, .tear_down = runner_tear_down);
