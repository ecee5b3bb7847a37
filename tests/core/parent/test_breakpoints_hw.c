/* SPDX-License-Identifier: MIT */
/* Breakpoints are hit exactly, and the program does not notice: see kinds.c. */
#include "kinds.h"
#include "parent/breakpoints/breakpoints.h"
#include "testing.h"
#include "traced.h"

static const char *const names[] = {
#define KIND(name, needs, first, rest, result) #name,
	KINDS
#undef KIND
};

static bool
is_possible(int kind)
{
	const bool has[] = {
#define KIND(name, needs, first, rest, result) HAS_##needs,
		KINDS
#undef KIND
	};

	return has[kind];
}

static long hits[NR_KINDS];
static uint64_t addresses[NR_KINDS];
static bool may_be_killed;

static void
count_hit(void *context, const struct breakpoint_hit *hit)
{
	int kind = (int)((long *)context - hits);

	ck_assert_uint_eq(hit->address, addresses[kind]);
	ck_assert_uint_eq(hit->registers->rip, addresses[kind]);
	hits[kind]++;
}

/* Address of the table in the code of a process; 0: it is not there. */
static uint64_t
find_table(struct image *image, pid_t pid)
{
	char *path = rot_format("/proc/%d/maps", (int)pid), line[4096];
	FILE *file = fopen(path, "re");
	uint64_t found = 0;

	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned long long start, end;
		char *bytes, *at;

		if (sscanf(line, "%llx-%llx r-xp", &start, &end) < 2 || !strstr(line, "/kinds") ||
		    !strstr(line, "r-xp"))
			continue;
		bytes = rot_calloc(1, end - start);
		ck_assert(image_read(image, start, bytes, end - start) == 0 || may_be_killed);
		at = memmem(bytes, end - start, KINDS_MAGIC, sizeof(KINDS_MAGIC));
		found = at ? start + (uint64_t)(at - bytes) : 0;
		free(bytes);
	}
	if (file)
		fclose(file);
	free(path);
	return found;
}

static void
set_on_all_kinds(void *context, struct thread *thread)
{
	uint64_t table = find_table(thread->image, thread->pid);
	int32_t distances[NR_KINDS];

	(void)context;
	if (image_read(thread->image, table + sizeof(KINDS_MAGIC), distances, sizeof(distances)) < 0) {
		ck_assert(may_be_killed);
		return;
	}
	for (int i = 0; i < NR_KINDS; i++) {
		struct breakpoint_user user = {.hit = count_hit, .context = &hits[i]};

		addresses[i] = table + (uint64_t)(int64_t)distances[i];
		if (breakpoint_set(thread, addresses[i], user, &why) < 0 && !may_be_killed)
			ck_abort_msg("%s: %s", names[i], why.text);
	}
}

static const char *const victims[] = {"kinds", "kinds_no_pie", "kinds_static", "kinds_static_pie"};

/* Static ones are missing where libc cannot be linked so. */
static char *
victim_path(const char *name)
{
	char *path = built_path("tests/core/parent/%s", name);

	if (access(path, X_OK) == 0)
		return path;
	ck_assert(strstr(name, "static"));
	return NULL;
}

/* Runs a victim with breakpoints on all kinds; NULL: there is none. Each kind must have been hit so often. */
static void
check_run(const char *victim, const char *const *words, bool follows_forks, long executed, int nr_cpuid)
{
	autofree char *path = victim_path(victim);
	const char *const arguments[] = {path, words[0], words[1], words[2], words[3], NULL};
	struct traced traced = {.tracer.follows_forks = follows_forks};

	if (!path)
		return;
	memset(hits, 0, sizeof(hits));
	traced.images.at_entry = set_on_all_kinds;
	ck_assert_int_eq(traced_begin(&traced, arguments), 0);
	traced_run(&traced);
	ck_assert_int_eq(traced.status, 0);
	for (int i = 0; executed > 0 && i < NR_KINDS; i++) {
		long known = is_possible(i) ? executed + (i == KIND_cpuid ? nr_cpuid : 0) : 0;

		ck_assert_msg(hits[i] == known, "%s: %ld hits instead of %ld", names[i], hits[i], known);
	}
}

static const struct {
	const char *words[4];
	long executed;
} ways[] = {{{"1", "50", "0"}, 50}, {{"4", "20", "0"}, 80}, {{"4", "20", "100"}, 80}};

TEST_OF(all_kinds_are_exact, NR_ELEMENTS(victims) * NR_ELEMENTS(ways))
{
	int way = _i % NR_ELEMENTS(ways);

	check_run(victims[_i / NR_ELEMENTS(ways)], ways[way].words, false, ways[way].executed, 1);
}

/* Children that share the code hit what is in it, whether they are followed or not; copies of it are followed or clean.
 */
static const struct {
	const char *words[4];
	bool follows_forks;
	long executed;
	int nr_cpuid;
} lives[] = {
	{{"2", "20", "0", "fork"}, true, 60, 1},   {{"2", "20", "0", "fork"}, false, 40, 1},
	{{"2", "20", "0", "vfork"}, true, 60, 1},  {{"2", "20", "0", "vfork"}, false, 60, 1},
	{{"2", "20", "0", "clone"}, true, 60, 1},  {{"2", "20", "0", "clone"}, false, 60, 1},
	{{"2", "20", "100", "fork"}, true, 60, 1}, {{"2", "20", "100", "vfork"}, false, 60, 1},
	{{"2", "20", "0", "exec"}, false, 80, 2},  {{"2", "20", "100", "exec"}, true, 80, 2},
	{{"2", "20", "0", "trap"}, false, 40, 1},  {{"2", "20", "100", "trap"}, false, 40, 1},
	{{"2", "20", "0", "exit"}, false, 0, 0},   {{"2", "20", "100", "exit"}, false, 0, 0},
	{{"1", "20", "0", "step"}, false, 0, 0},   {{"1", "20", "100", "step"}, false, 0, 0},
};

TEST_OF(other_lives_are_exact, NR_ELEMENTS(lives))
{
	check_run("kinds", lives[_i].words, lives[_i].follows_forks, lives[_i].executed, lives[_i].nr_cpuid);
}

/*
 * A signal that takes the place of a trap hides no hit. A thread right behind a nop, or an int3 of its own, may have
 * executed that or the trap, so there can be more hits than executions.
 */
TEST_OF(sent_traps_hide_none, 4)
{
	static const char *const words[4] = {"1", "150", "0", "sent"};

	check_run("kinds", words, false, 0, 0);
	for (int i = 0; i < NR_KINDS; i++) {
		long known = is_possible(i) ? 300 + (i == KIND_cpuid) : 0;

		ck_assert_msg(hits[i] == known || ((i == KIND_nop || i == KIND_own_trap) && hits[i] > known),
			      "%s: %ld hits instead of %ld", names[i], hits[i], known);
	}
}

/* ---- refusals ---- */

static int nr_refusals;

static void
count_refusal(void *context, uint64_t address, const struct rot_error *err)
{
	(void)context, (void)address;
	ck_assert_has(err->text, "rseq");
	nr_refusals++;
}

static void
set_in_sequence(void *context, struct thread *thread)
{
	uint64_t table = find_table(thread->image, thread->pid);
	const struct breakpoint_user user = {.hit = count_hit, .refused = count_refusal, .context = &hits[0]};
	int32_t distance;

	(void)context;
	ck_assert_int_eq(image_read(thread->image, table + sizeof(KINDS_MAGIC) + NR_KINDS * sizeof(distance), &distance,
				    sizeof(distance)),
			 0);
	ck_assert_ok(breakpoint_set(thread, table + (uint64_t)(int64_t)distance, user, &why));
}

/* A sequence that is interrupted starts again; what it adds would be lost, or it would never end. */
TEST(restartable_sequences_are_left_alone)
{
	autofree char *path = victim_path("kinds");
	const char *const arguments[] = {path, "1", "20", "0", "sequence", NULL};
	struct traced traced = {.images.at_entry = set_in_sequence};

	memset(hits, 0, sizeof(hits));
	nr_refusals = 0;
	ck_assert_int_eq(traced_begin(&traced, arguments), 0);
	traced_run(&traced);
	if (WEXITSTATUS(traced.status) != TEST_SKIPPED) {
		ck_assert_int_eq(traced.status, 0);
		ck_assert_int_eq(nr_refusals, 1);
	}
	ck_assert_int_eq(hits[0], 0);
}

/* ---- disturbances ---- */

/* A process that does something to the victim for ever. */
static pid_t
begin_disturbing(pid_t victim, void (*disturb)(pid_t victim))
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	while (kill(victim, 0) == 0)
		disturb(victim);
	_exit(0);
}

static void
stop_and_continue(pid_t victim)
{
	kill(victim, SIGSTOP);
	usleep(300);
	kill(victim, SIGCONT);
	usleep(700);
}

TEST_OF(group_stops_change_nothing, 2)
{
	autofree char *path = victim_path("kinds");
	const char *const arguments[] = {path, "4", "20", _i ? "100" : "0", NULL};
	struct traced traced = {.images.at_entry = set_on_all_kinds};
	pid_t disturber;

	memset(hits, 0, sizeof(hits));
	ck_assert_int_eq(traced_begin(&traced, arguments), 0);
	disturber = begin_disturbing(traced.tracer.program, stop_and_continue);
	traced_run(&traced);
	ck_assert_int_eq(traced.status, 0);
	for (int i = 0; i < NR_KINDS; i++)
		ck_assert_int_eq(hits[i], is_possible(i) ? 80 + (i == KIND_cpuid) : 0);
	(void)disturber;
}

TEST_OF(killed_at_any_moment, 2)
{
	autofree char *path = victim_path("kinds");
	const char *const arguments[] = {path, "4", "1000000", _i % 2 ? "100" : "0", NULL};

	may_be_killed = true;
	for (int i = 0; i < 10; i++) {
		struct traced traced = {.images.at_entry = set_on_all_kinds};
		pid_t pid;

		ck_assert_int_eq(traced_begin(&traced, arguments), 0);
		pid = fork();
		if (pid == 0) {
			usleep((useconds_t)(500 + (i * 1237 + _i * 7919) % 20000));
			kill(traced.tracer.program, SIGKILL);
			_exit(0);
		}
		traced_run(&traced);
		ck_assert(WIFSIGNALED(traced.status) && WTERMSIG(traced.status) == SIGKILL);
	}
}

/* ---- attached ---- */

static bool is_set_on_all;

static void
set_when_attached(struct traced *traced, struct thread *thread)
{
	(void)traced;
	if (is_set_on_all || !image_bring_to_rest(thread))
		return;
	is_set_on_all = true;
	set_on_all_kinds(NULL, thread);
}

static bool
leave_after_hits(struct traced *traced)
{
	long sum = 0;

	(void)traced;
	for (int i = 0; i < NR_KINDS; i++)
		sum += hits[i];
	return sum > 2000;
}

/* Its code is as it was, and no thread is left in pages that are not its own. */
static void
check_code(pid_t pid)
{
	autofree char *path = rot_format("/proc/%d/mem", (int)pid);
	FILE *memory = fopen(path, "re");

	ck_assert_ptr_nonnull(memory);
	for (int i = 0; i < NR_KINDS; i++) {
		int byte;

		ck_assert_int_eq(fseek(memory, (long)addresses[i], SEEK_SET), 0);
		byte = fgetc(memory);
		ck_assert_msg((byte == 0xcc) == (i == KIND_own_trap), "%s", names[i]);
		setvbuf(memory, NULL, _IONBF, 0);
	}
	fclose(memory);
}

static void
wait_until_executed(pid_t pid)
{
	char *link = rot_format("/proc/%d/exe", (int)pid), path[4096] = "";

	while (!strstr(path, "/kinds")) {
		ssize_t nr = readlink(link, path, sizeof(path) - 1);

		path[nr > 0 ? nr : 0] = '\0';
		usleep(10000);
	}
	free(link);
}

TEST_OF(visited_process_goes_on, 2 * NR_ELEMENTS(victims))
{
	autofree char *path = victim_path(victims[_i % NR_ELEMENTS(victims)]);
	struct traced traced = {.turn = leave_after_hits, .stopped = set_when_attached};
	int status;
	pid_t pid;

	if (!path)
		return;
	memset(hits, 0, sizeof(hits));
	is_set_on_all = false;
	pid = fork();
	if (pid == 0) {
		execl(path, path, "4", "1000000000", _i >= NR_ELEMENTS(victims) ? "100" : "0", NULL);
		_exit(127);
	}
	wait_until_executed(pid);
	ck_assert_int_eq(traced_attach(&traced, pid), 0);
	traced_run(&traced);
	ck_assert(is_set_on_all);
	check_code(pid);
	kill(pid, SIGTERM);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

UNIT_TESTS(.needs = {traced_probe});
