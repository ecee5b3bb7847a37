/* SPDX-License-Identifier: MIT */
/* rot-core: runs a measuring core, or a program, under control and answers for how it ends. */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/output.h"
#include "common/pfm.h"
#include "memory.h"
#include "parent/program/program.h"
#include "parent/regions/empty_region.h"
#include "parent/supervisor/failure.h"
#include "parent/supervisor/supervisor.h"
#include "parent/symbols/listing.h"
#include "parent/symbols/zydis_decode.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE };

static const char usage[] =
	"usage: rot-core --child CHILD --command FILE --output FILE [--time-limit SECONDS] [--progress-fd N]\n"
	"       rot-core --command FILE --output FILE [--time-limit SECONDS] [--progress-fd N] [--leads-parent]\n"
	"                [--foreseen FOLDER]\n"
	"       rot-core --listing --command FILE --output FILE\n"
	"       rot-core --try-backends\n"
	"       rot-core --versions\n"
	"The first runs a measuring core, the second somebody else's program (its parent may stop and go on as that "
	"does), "
	"the third lists the code of a function, the fourth says how regions can be observed, the last of what version "
	"its libraries are.\n";

static int
parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && !*end && *seconds > 0 && *seconds < INT_MAX ? 0 : -1;
}

/* An open one; the child must not get it. */
static int
parse_fd(const char *text, int *fd)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 0 || number > INT_MAX)
		return -1;
	*fd = (int)number;
	return fcntl(*fd, F_SETFD, FD_CLOEXEC);
}

static int
parse(int argc, char **argv, struct request *request)
{
	static const struct option options[] = {
		{"child", required_argument, NULL, 'c'},
		{"command", required_argument, NULL, 'f'},
		{"output", required_argument, NULL, 'o'},
		{"time-limit", required_argument, NULL, 't'},
		{"progress-fd", required_argument, NULL, 'p'},
		{"leads-parent", no_argument, NULL, 'l'},
		{"foreseen", required_argument, NULL, 's'},
		{"listing", no_argument, NULL, 'i'},
		{0},
	};
	int rc = 0;

	for (int option; rc == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (option == 'c')
			request->child = optarg;
		else if (option == 'f')
			request->command = optarg;
		else if (option == 'o')
			request->output = optarg;
		else if (option == 't')
			rc = parse_seconds(optarg, &request->time_limit_s);
		else if (option == 'p')
			rc = parse_fd(optarg, &request->progress_fd);
		else if (option == 'l')
			request->leads_parent = true;
		else if (option == 's')
			request->foreseen = optarg;
		else if (option == 'i')
			request->is_listing = true;
		else
			return -1;
		if (rc < 0)
			fprintf(stderr, "rot-core: '%s' is no %s\n", optarg,
				option == 't' ? "time limit: a number of seconds above 0" : "open file descriptor");
	}
	return rc == 0 && optind == argc && request->command && request->output ? 0 : -1;
}

static int
complain(const struct rot_error *err)
{
	fprintf(stderr, "rot-core: %s\n", err->text);
	if (*err->hint)
		fprintf(stderr, "rot-core: hint: %s\n", err->hint);
	return EXIT_FAILED;
}

static int
report_failure(const struct request *request, const struct outcome *outcome)
{
	struct core_failure *failure = failure_new(request, outcome);
	struct rot_error err = {0};

	rot_error_set(&err, 0, "%s", failure->attempted);
	rot_error_hint(&err, "%s", failure->hint);
	complain(&err);
	if (output_write(failure, request->output, &err) < 0)
		complain(&err);
	core_failure_delete(failure);
	return EXIT_FAILED;
}

static int
conclude_child(const struct request *request, const struct outcome *outcome)
{
	switch (failure_judge(request, outcome)) {
	case VERDICT_DONE:
		return EXIT_DONE;
	case VERDICT_REPORTED:
		fprintf(stderr, "rot-core: the measuring core could not measure, '%s' says why\n", request->output);
		return EXIT_FAILED;
	case VERDICT_INTERRUPTED:
		unlink(request->output);
		fprintf(stderr, "rot-core: interrupted\n");
		return 128 + outcome->interrupted_by;
	case VERDICT_FAILED:
		break;
	}
	return report_failure(request, outcome);
}

/* A file that is there was not made by this call, and one that a killed child left half written is no result. */
static int
remove_leftovers(const struct request *request, const char *suffix, struct rot_error *err)
{
	autofree char *path = rot_format("%s%s", request->output, suffix);
	int rc = 0;

	if (unlink(path) < 0 && errno != ENOENT)
		rc = rot_error_set(err, errno, "cannot remove the old '%s'", path);
	return rc;
}

/*
 * The libraries that rot-core stands on, as they are loaded. A line for each: its name, a tab, and its version, or why
 * it cannot be used.
 */
static void
print_libraries(FILE *out)
{
	const uint64_t zydis = ZydisGetVersion();
	struct rot_error err;
	const struct pfm *pfm = pfm_open(&err);
	int version;

	if (pfm) {
		version = pfm->get_version();
		fprintf(out, "libpfm4\t%d.%d\n", PFM_MAJ_VERSION(version), PFM_MIN_VERSION(version));
	} else {
		fprintf(out, "libpfm4\t%s\n", err.text);
	}
	fprintf(out, "libdw\t%s\n", dwfl_version(NULL));
	fprintf(out, "Zydis\t%u.%u.%u\n", (unsigned)ZYDIS_VERSION_MAJOR(zydis), (unsigned)ZYDIS_VERSION_MINOR(zydis),
		(unsigned)ZYDIS_VERSION_PATCH(zydis));
}

int
main(int argc, char **argv)
{
	struct request request = {.progress_fd = -1};
	struct outcome outcome = {0};
	struct rot_error err = {0};
	pid_t driver = getppid();
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != driver)
		return EXIT_FAILED;
	if (argc == 2 && strcmp(argv[1], "--try-backends") == 0) {
		empty_region_print(stdout);
		return EXIT_DONE;
	}
	if (argc == 2 && strcmp(argv[1], "--versions") == 0) {
		print_libraries(stdout);
		return EXIT_DONE;
	}
	if (parse(argc, argv, &request) < 0) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	if (remove_leftovers(&request, "", &err) < 0)
		return complain(&err);
	if (request.is_listing)
		return listing_write(request.command, request.output, &err) < 0 ? complain(&err) : EXIT_DONE;
	if (!request.child) {
		status = program_measure(&request, &err);
		return status < 0 ? complain(&err) : status;
	}
	if (supervise(&request, &outcome, &err) < 0)
		return complain(&err);
	remove_leftovers(&request, ".new", NULL);
	status = conclude_child(&request, &outcome);
	outcome_clear(&outcome);
	return status;
}
