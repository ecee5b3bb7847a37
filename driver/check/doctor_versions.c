/* SPDX-License-Identifier: MIT */
/* rot and what it stands on, as a report of a problem needs it. */
#include <gnu/libc-version.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/paths.h"
#include "base/process.h"
#include "check/doctor.h"
#include "config.h"
#include "memory.h"

static const char *
jansson_version(void)
{
#if JANSSON_VERSION_HEX >= 0x020d00
	return jansson_version_str();
#else
	return JANSSON_VERSION;
#endif
}

/* Libraries of rot-core: for each a line with its name, a tab and its version. */
static void
look_at_core_libraries(struct findings *findings, const struct paths *paths)
{
	static const char *const known[] = {"libpfm4", "libdw", "Zydis"};
	autofree char *core = rot_format("%s/core/rot-core", paths ? paths->built : "");
	const char *const argv[] = {core, "--versions", NULL};
	struct process_result result = {0};
	struct rot_error ignored;
	char *rest, *line;

	if (process_run(argv, NULL, &result, NULL, &ignored) < 0 || result.status != 0)
		findings_add(findings, "rot-core", FINDING_BROKEN, "%s: cannot be run", core);
	else
		for (rest = result.output; (line = strsep(&rest, "\n")) && *line;) {
			const char *name = strsep(&line, "\t");

			for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
				if (strcmp(known[i], name) == 0)
					findings_add(findings, known[i], FINDING_GOOD, "%s", line ? line : "");
		}
	process_result_clear(&result);
}

void
doctor_look_at_versions(struct findings *findings, const struct paths *paths)
{
	const long libxml2 = strtol(xmlParserVersion, NULL, 10); /* "20914" is 2.9.14; its packager's text follows */

	findings_section(findings, "Versions");
	findings_add(findings, "rot", FINDING_GOOD, "%s", PACKAGE_VERSION);
#ifdef __clang__
	findings_add(findings, "built with", FINDING_GOOD, "%s", __VERSION__);
#else
	findings_add(findings, "built with", FINDING_GOOD, "gcc %s", __VERSION__);
#endif
#ifdef ROT_SANITIZED
	findings_add(findings, "sanitizers", FINDING_LIMITED, "on: times are not for publication");
#endif
	findings_add(findings, "libxml2", FINDING_GOOD, "%ld.%ld.%ld", libxml2 / 10000, libxml2 / 100 % 100,
		     libxml2 % 100);
	findings_add(findings, "jansson", FINDING_GOOD, "%s", jansson_version());
	findings_add(findings, "libcrypto", FINDING_GOOD, "%s", OpenSSL_version(OPENSSL_VERSION));
	findings_add(findings, "libc", FINDING_GOOD, "%s", gnu_get_libc_version());
	look_at_core_libraries(findings, paths);
}

/* package: what it is in on Debian. */
static void
try_program(struct findings *findings, const char *name, const char *program, enum finding_state without,
	    const char *loss, const char *package)
{
	const char *const argv[] = {program, "--version", NULL};
	struct process_result result = {0};
	struct rot_error err;

	if (process_run(argv, NULL, &result, NULL, &err) == 0 && result.status == 0)
		findings_add(findings, name, FINDING_GOOD, "%.*s", (int)strcspn(result.output, "\n"), result.output);
	else
		finding_advise(findings_add(findings, name, without, "'%s' cannot be run: %s", program, loss),
			       "apt-get install %s", package);
	process_result_clear(&result);
}

void
doctor_try_programs(struct findings *findings, const struct configuration *configuration)
{
	findings_section(findings, "Programs and folders");
	try_program(findings, "compiler", configuration_string(configuration, "compiler"), FINDING_BROKEN,
		    "kernels cannot be built", "gcc");
	try_program(findings, "make", "make", FINDING_BROKEN, "kernels cannot be built", "make");
	try_program(findings, "ccache", "ccache", FINDING_LIMITED, "what was built once is built again", "ccache");
	try_program(findings, "gnuplot", "gnuplot", FINDING_LIMITED, "plots are not drawn, their scripts are written",
		    "gnuplot-nox");
}
