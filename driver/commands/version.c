/* SPDX-License-Identifier: MIT */
/* rot version: rot and what it stands on, as a report of a problem needs it. */
#include <jansson.h>
#include <libxml/xmlversion.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "config.h"
#include "support/process.h"

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
	printf("%-16s %s\n", "libxml2", LIBXML_DOTTED_VERSION);
	printf("%-16s %s\n", "jansson", JANSSON_VERSION);
	printf("%-16s %s\n", "libcrypto", OpenSSL_version(OPENSSL_VERSION));
	fflush(stdout);
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
	.description = "",
	.run = version_run,
};
