/* SPDX-License-Identifier: MIT */
/*
 * Every event of every architecture is encoded by libpfm4, on any host, and has the code that is meant: raw ones what
 * their name says, and all with an attribute libpfm4="" the same code as that name in libpfm4's own tables.
 */
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>

#include "architecture_files.h"
#include "testing.h"
#include "xml_file.h"

struct encoding {
	uint32_t type;
	uint64_t config;
};

static int
encode(const char *event, struct encoding *encoding)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof(argument)};
	int rc;

	memset(&attr, 0, sizeof(attr));
	rc = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
	*encoding = (struct encoding){.type = attr.type, .config = attr.config};
	return rc;
}

static void
check_definition(const char *path, const char *definition)
{
	static const char raw[] = "perf_raw::r";
	struct encoding encoding;
	int rc = encode(definition, &encoding);

	ck_assert_msg(rc == PFM_SUCCESS, "%s: %s: %s", path, definition, pfm_strerror(rc));
	if (strncmp(definition, raw, strlen(raw)) != 0) {
		ck_assert_uint_eq(encoding.type, PERF_TYPE_HARDWARE);
		return;
	}
	ck_assert_uint_eq(encoding.type, PERF_TYPE_RAW);
	ck_assert_uint_eq(encoding.config, strtoull(definition + strlen(raw), NULL, 16));
}

static bool
pmu_is_known(const char *event)
{
	const size_t nr = (size_t)(strstr(event, "::") - event);

	for (int pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof(info)};

		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && strlen(info.name) == nr &&
		    strncmp(info.name, event, nr) == 0)
			return true;
	}
	return false;
}

/* Returns false where this libpfm4 is too old to know the processor. */
static bool
check_same(const char *path, const char *definition, const char *name)
{
	struct encoding ours, theirs;
	int rc;

	if (!pmu_is_known(name))
		return false;
	rc = encode(name, &theirs);
	ck_assert_msg(rc == PFM_SUCCESS, "%s: %s: %s", path, name, pfm_strerror(rc));
	ck_assert_int_eq(encode(definition, &ours), PFM_SUCCESS);
	ck_assert_msg(ours.config == theirs.config, "%s: %s is %llx, but %s is %llx", path, definition,
		      (unsigned long long)ours.config, name, (unsigned long long)theirs.config);
	return true;
}

/* Events of the machine are of sysfs: test_whole_machine.c. */
static bool
is_of_machine(const xmlNode *node)
{
	autofree char *class = xml_attribute(node, "class", "");

	return strcmp(class, "machine") == 0;
}

/* Counts by steps are no events of any processor. */
static bool
counts_by_steps(xmlDoc *doc)
{
	autofree char *text = xml_attribute(xmlDocGetRootElement(doc), "countsBySteps", "false");
	bool counts = strcmp(text, "true") == 0;

	return counts;
}

TEST_OF(test_events_have_the_meant_codes, architecture_nr_files())
{
	xmlDoc *doc = xml_file_read(architecture_file(_i), &why);
	int nr = 0, nr_named = 0, nr_checked = 0;

	ck_assert_msg(doc != NULL, "%s", why.text);
	for (xmlNode *node = xmlDocGetRootElement(doc)->children; node && !counts_by_steps(doc); node = node->next) {
		autofree char *definition = NULL, *name = NULL;

		if (node->type != XML_ELEMENT_NODE || strcmp((const char *)node->name, "event") != 0 ||
		    is_of_machine(node))
			continue;
		definition = xml_attribute(node, "definition", "");
		name = xml_attribute(node, "libpfm4", "");
		nr++;
		check_definition(architecture_file(_i), definition);
		if (*name) {
			nr_named++;
			nr_checked += check_same(architecture_file(_i), definition, name);
		}
	}
	printf("%s: %d events encoded, %d of %d compared with libpfm4's tables\n", architecture_file(_i), nr,
	       nr_checked, nr_named);
	xmlFreeDoc(doc);
}

TEST_OF(test_scrub_events_are_encoded, 4)
{
	static const char *const names[] = {"zen2", "zen3", "zen4", "zen5"};
	struct architecture *architecture = at_end(architecture_delete, architecture_named(names[_i]));

	check_definition(architecture->path, architecture->scrub_event);
}

static bool
can_encode(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() == PFM_SUCCESS)
		return true;
	fprintf(stderr, "SKIP: libpfm4 cannot be initialized\n");
	return false;
}

UNIT_TESTS(.needs = {can_encode});
