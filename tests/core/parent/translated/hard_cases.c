/* SPDX-License-Identifier: MIT */
/* See hard_cases.h. */
#include "hard_cases.h"

#include <link.h>
#include <sys/auxv.h>
#include <sys/time.h>

#include "acts.h"

#define MAX_RANGES 256

static const struct hard_case *const groups[] = {control_cases, state_cases,  code_cases,    fault_cases, signal_cases,
						 syscall_cases, thread_cases, process_cases, unwind_cases};

const char *own_path;
static struct {
	uint64_t start, end;
} ranges[MAX_RANGES];
static int nr_ranges;

void
fail(const char *file, int line, const char *condition)
{
	char text[512];
	int length = snprintf(text, sizeof(text), "%s:%d: not %s (errno %d)\n", file, line, condition, errno);

	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(2);
	_exit(1);
}

void
check_same(const char *file, int line, const char *what, uint64_t a, uint64_t b)
{
	char text[256];

	if (a == b)
		return;
	snprintf(text, sizeof(text), "%s: %#jx, %#jx", what, (uintmax_t)a, (uintmax_t)b);
	fail(file, line, text);
}

void
skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	fflush(stdout);
	_exit(77);
}

static int
add_ranges(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (int i = 0; i < object->dlpi_phnum && nr_ranges < MAX_RANGES; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		ranges[nr_ranges].start = object->dlpi_addr + header->p_vaddr;
		ranges[nr_ranges].end = object->dlpi_addr + header->p_vaddr + header->p_memsz;
		nr_ranges++;
	}
	return 0;
}

bool
is_known_code(uint64_t address)
{
	for (int i = 0; i < nr_ranges; i++) {
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	}
	return false;
}

int
status_of(void (*does)(void))
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		does();
		_exit(0);
	}
	CHECK(pid > 0);
	while (waitpid(pid, &status, 0) != pid)
		CHECK(errno == EINTR);
	return status;
}

void
handle(int number, signal_handler *handler, int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	CHECK(sigaction(number, &action, NULL) == 0);
}

void
tick(int microseconds)
{
	struct itimerval interval = {{0, microseconds}, {0, microseconds}};

	CHECK(setitimer(ITIMER_REAL, &interval, NULL) == 0);
}

void
tick_once(int microseconds)
{
	struct itimerval interval = {{0, 0}, {0, microseconds}};

	CHECK(setitimer(ITIMER_REAL, &interval, NULL) == 0);
}

greg_t *
register_of(void *context, int number)
{
	static const int indices[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	return &((ucontext_t *)context)->uc_mcontext.gregs[indices[number]];
}

unsigned char *
pages_new(int nr, int rights)
{
	void *pages = mmap(NULL, (size_t)nr * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	return pages;
}

unsigned char *
put_number(unsigned char *at, int number)
{
	*at++ = 0xb8; /* mov $number, %eax */
	memcpy(at, &number, sizeof(number));
	at += sizeof(number);
	*at++ = 0xc3; /* ret */
	return at;
}

static const struct hard_case *
find(const char *name)
{
	for (int g = 0; g < NR_ELEMENTS(groups); g++) {
		for (const struct hard_case *hard = groups[g]; hard->name; hard++) {
			if (name == NULL)
				puts(hard->name);
			else if (strcmp(hard->name, name) == 0)
				return hard;
		}
	}
	return NULL;
}

/* hard_cases: the names of all; hard_cases NAME [ROUNDS]; hard_cases =ACT ARGUMENT...: what cases start this program
 * again for */
int
main(int argc, char **argv)
{
	const struct hard_case *hard;
	static char path[PAGE];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CHECK(length > 0);
	own_path = path;
	dl_iterate_phdr(add_ranges, NULL);
	if (argc < 2) {
		find(NULL);
		return 0;
	}
	if (*argv[1] == '=')
		return act(argc - 1, argv + 1);
	hard = find(argv[1]);
	if (!hard) {
		fprintf(stderr, "there is no case '%s'\n", argv[1]);
		return 2;
	}
	for (int rounds = argc > 2 ? atoi(argv[2]) : 1; rounds > 0; rounds--)
		hard->run();
	printf("ok: %s\n", hard->name);
	return 0;
}
