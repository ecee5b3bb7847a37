/* SPDX-License-Identifier: MIT */
/* See perf_event.h: the PMUs, events and attributes that libpfm4 knows. */
#include "common/perf_event.h"
#include "common/pfm.h"

static const char *
text(const char *s)
{
	return s ? s : "";
}

static const char *
attribute_type(pfm_attr_t type)
{
	static const char *const names[] = {
		[PFM_ATTR_NONE] = "none",          [PFM_ATTR_UMASK] = "umask",
		[PFM_ATTR_MOD_BOOL] = "modBool",   [PFM_ATTR_MOD_INTEGER] = "modInteger",
		[PFM_ATTR_RAW_UMASK] = "rawUmask",
	};

	return (size_t)type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "none";
}

static void
visit_event(const struct pfm *pfm, int index, const struct perf_visitor *visitor)
{
	pfm_event_info_t event = {.size = sizeof(event)};

	if (pfm->get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return;
	visitor->event(&(struct perf_event_name){.name = text(event.name),
						 .description = text(event.desc),
						 .equivalent = text(event.equiv)},
		       visitor->context);
	for (int i = 0; i < event.nattrs; i++) {
		pfm_event_attr_info_t info = {.size = sizeof(info)};

		if (pfm->get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
			continue;
		visitor->attribute(&(struct perf_attribute){.name = text(info.name),
							    .description = text(info.desc),
							    .type = attribute_type(info.type)},
				   visitor->context);
	}
}

int
perf_list(bool only_present, const struct perf_visitor *visitor, struct rot_error *err)
{
	const struct pfm *pfm = pfm_open(err);

	if (!pfm)
		return -1;
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

		if (pfm->get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || (only_present && !pmu.is_present))
			continue;
		visitor->pmu(&(struct perf_pmu){.name = text(pmu.name),
						.description = text(pmu.desc),
						.nr_counters = pmu.num_cntrs,
						.nr_fixed_counters = pmu.num_fixed_cntrs,
						.is_present = pmu.is_present,
						.is_default = pmu.is_dfl},
			     visitor->context);
		for (int event = pmu.first_event; event != -1; event = pfm->get_event_next(event))
			visit_event(pfm, event, visitor);
	}
	return 0;
}
