/* SPDX-License-Identifier: MIT */
/* See testing.h. */
#include "testing.h"

#include <ftw.h>
#include <stdarg.h>

struct rot_error why;

bool
all_are_tested(void)
{
	const char *wanted = getenv("ROT_SLOW_TESTS");

	return wanted && *wanted && strcmp(wanted, "0") != 0;
}

/* Objects to be cleared, the latest first. Objects of the test stand before those of its process. */
static struct ending {
	void (*clear)(void *);
	void *object;
	struct ending *next;
} * endings, *of_process, *of_parent;
static pid_t owner;

static void
end_down_to(const struct ending *last)
{
	while (endings && endings != last) {
		struct ending *ending = endings;

		endings = ending->next;
		ending->clear(ending->object);
		free(ending);
	}
}

/* Processes that a test starts, and which end, leave its objects alone. */
static void
end_process(void)
{
	if (owner == getpid())
		end_down_to(NULL);
}

static void
be_owner(void)
{
	if (owner == 0)
		atexit(end_process);
	if (owner != getpid()) {
		of_parent = endings;
		endings = NULL;
		owner = getpid();
	}
}

void
test_begin(void)
{
	why = (struct rot_error){0};
	be_owner();
	of_process = endings;
}

void
test_end(void)
{
	end_down_to(of_process);
}

void *
at_end_call(void (*clear)(void *), void *object)
{
	struct ending *ending = rot_calloc(1, sizeof(*ending));

	be_owner();
	*ending = (struct ending){clear, object, endings};
	endings = ending;
	return object;
}

/* Text is there to the end of the process; a caller may free it. */
static char *
keep(char *text)
{
	static struct kept {
		char *text;
		struct kept *next;
	} * all;
	struct kept *kept = rot_calloc(1, sizeof(*kept));

	*kept = (struct kept){text, all};
	all = kept;
	return text;
}

static char *
path_below(const char *variable, const char *format, va_list arguments)
{
	const char *folder = getenv(variable);
	char *relative, *path;

	if (vasprintf(&relative, format, arguments) < 0)
		abort();
	path = rot_format("%s/%s", folder ? folder : ".", relative);

	free(relative);
	return keep(path);
}

char *
source_path(const char *format, ...)
{
	va_list arguments;
	char *path;

	va_start(arguments, format);
	path = path_below("top_srcdir", format, arguments);
	va_end(arguments);
	return path;
}

char *
built_path(const char *format, ...)
{
	va_list arguments;
	char *path;

	va_start(arguments, format);
	path = path_below("top_builddir", format, arguments);
	va_end(arguments);
	return path;
}

static void
end(const char *path)
{
	perror(path);
	exit(1);
}

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status, (void)type, (void)position;
	return remove(path);
}

static void
folder_delete(char *folder)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

char *
temporary_folder_new(void)
{
	const char *parent = getenv("TMPDIR");
	char *folder = rot_format("%s/rot-test-XXXXXX", parent && *parent ? parent : "/tmp");

	if (!mkdtemp(folder))
		end(folder);
	return at_end(folder_delete, folder);
}

char *
file_text(const char *path)
{
	FILE *file = fopen(path, "re"), *copy;
	char *text = NULL;
	size_t length;
	int c;

	if (!file)
		end(path);
	copy = open_memstream(&text, &length);
	while ((c = getc(file)) != EOF)
		putc(c, copy);
	if (ferror(file) || fclose(copy) != 0)
		end(path);
	fclose(file);
	return keep(text);
}

void
file_fill(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		end(path);
}

void
expect_golden(const char *path, const char *text)
{
	const char *wish = getenv("GOLDEN");
	const char *file = source_path("%s", path), *expected;

	if (wish && strcmp(wish, "write") == 0)
		file_fill(file, text);
	expected = file_text(file);
	if (strcmp(text, expected) != 0) {
		fprintf(stderr, "%s:\n%s\nbut it is:\n%s\n", path, expected, text);
		ck_abort_msg("the text is not that of %s", path);
	}
}

char *
folder_write(const char *folder, const char *name, const char *text)
{
	char *path = rot_format("%s/%s", folder, name);

	for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	file_fill(path, text);
	return keep(path);
}
