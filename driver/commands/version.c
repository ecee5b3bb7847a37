/* SPDX-License-Identifier: MIT */
/* rot version: rot and what it stands on, as a report of a problem needs it. */
#include <gnu/libc-version.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "config.h"
#include "memory.h"
#include "support/process.h"

/* "20914" is 2.9.14; what comes behind the number is of the one who has packed it. */
static void
print_libxml2(void)
{
	const long version = strtol(xmlParserVersion, NULL, 10);

	printf("%-16s %ld.%ld.%ld\n", "libxml2", version / 10000, version / 100 % 100, version % 100);
}

static const char *
jansson_version(void)
{
#if JANSSON_VERSION_HEX >= 0x020d00
	return jansson_version_str();
#else
	return JANSSON_VERSION;
#endif
}

/* Of those that rot-core stands on: a line for each, its name, a tab and its version. */
static void
print_core_libraries(struct command_context *context)
{
	struct rot_error ignored;
	const struct paths *paths = command_paths(context, &ignored);
	char *core = rot_format("%s/core/rot-core", paths ? paths->built : "");
	const char *const argv[] = {core, "--versions", NULL};
	struct process_result result = {0};
	char *rest, *line;

	if (process_run(argv, NULL, &result, NULL, &ignored) < 0 || result.status != 0)
		printf("%-16s %s: not found\n", "rot-core", core);
	else
		for (rest = result.output; (line = strsep(&rest, "\n")) && *line;) {
			const char *name = strsep(&line, "\t");

			printf("%-16s %s\n", name, line ? line : "");
		}
	process_result_clear(&result);
	free(core);
}

/* First line of what "PROGRAM --version" prints. */
static void
print_program(const char *what, const char *program)
{
	const char *const argv[] = {program, "--version", NULL};
	struct process_result result = {0};
	struct rot_error ignored;

	if (process_run(argv, NULL, &result, NULL, &ignored) < 0 || result.status != 0)
		printf("%-16s %s: not found\n", what, program);
	else
		printf("%-16s %.*s\n", what, (int)strcspn(result.output, "\n"), result.output);
	process_result_clear(&result);
}

static int
version_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	(void)argc;
	(void)argv;
	(void)err;
	printf("rot %s\n", PACKAGE_VERSION);
#ifdef __clang__
	printf("%-16s %s\n", "built with", __VERSION__);
#else
	printf("%-16s gcc %s\n", "built with", __VERSION__);
#endif
#ifdef ROT_SANITIZED
	printf("%-16s %s\n", "sanitizers", "on: times are not for publication");
#endif
	print_libxml2();
	printf("%-16s %s\n", "jansson", jansson_version());
	printf("%-16s %s\n", "libcrypto", OpenSSL_version(OPENSSL_VERSION));
	printf("%-16s %s\n", "libc", gnu_get_libc_version());
	fflush(stdout);
	print_core_libraries(context);
	print_program("kernel compiler", configuration_string(context->configuration, "compiler"));
	print_program("make", "make");
	print_program("ccache", "ccache");
	print_program("gnuplot", "gnuplot");
	return 0;
}

const struct command version_command = {
	.name = "version",
	.arguments = "",
	.summary = "versions of rot, of its libraries and of the programs it calls",
	.examples =
		(const struct command_example[]){
			{"rot version", "all versions, for reports of errors"},
			{0},
		},
	.description = "",
	.run = version_run,
};
