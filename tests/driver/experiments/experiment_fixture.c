/* SPDX-License-Identifier: MIT */
/* See experiment_fixture.h. */
#include "experiment_fixture.h"

#include "experiments/find.h"
#include "peaks_by_hand.h"
#include "quantities/invariants.h"
#include "roof/profile.h"
#include "testing.h"

static const char controller[] =
	"<controller name='test' comment='' runs='10'>\n"
	"<axis name='size'><list values='100 200'/></axis><axis name='kind'><list values='a b'/></axis>\n"
	"<point series='{$kind}' label='{$size}'><workload><kernel type='Triad' "
	"bufferSize='{$size}'/></workload></point>\n"
	"<quantity is='time'/><quantity is='operationCount:doublePrecisionFlop'/>\n"
	"<quantity is='transferredBytes:llcRam.read'/>\n"
	"<ceiling name='peak' performance='doublePrecisionFlop' runs='4'><workload><kernel type='Triad' "
	"bufferSize='5'/></workload></ceiling>\n"
	"<ceiling name='memory' throughput='llcRam' work='{$bufferSize * 24}' if=\"$size = 100 and $kind = 'a'\">"
	"<workload><kernel type='Triad' bufferSize='6'/></workload></ceiling>\n"
	"</controller>\n";

void
setup_with_test(void)
{
	setup();
	file_fill("test.xml", controller);
}

int
run_into(const char *output, const char *name, const char *output_name, struct rot_error *err)
{
	int kept, rc;

	fflush(stdout);
	kept = dup(1);
	ck_assert_ptr_nonnull(freopen(output, "w", stdout));
	rc = controller_run(&rot, name, output_name, err);
	fflush(stdout);
	dup2(kept, 1);
	close(kept);
	return rc;
}

struct measurement *
measurement_of(const char *kernel)
{
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();

	workload->kernel = rot_entity_new(rot_registry_find(rot.registry, kernel));
	measurement_workloads_add(measurement, workload);
	return measurement;
}

void
store_peaks(void)
{
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();

	ck_assert_ok(profile_store(&rot, &list, &why));
}

struct experiment *
experiment_with_roofline(const char *operation, const char *clock)
{
	struct experiment *experiment = experiment_open("c", "c", 0);
	struct experiment_plot plot = experiment_plot_default(EXPERIMENT_ROOFLINE);
	struct pool *pool = experiment_pool(experiment);

	plot.x = pool_format(pool, "operationalIntensity:%s:llcRam", operation);
	plot.y = pool_format(pool, "performance:%s:%s", operation, clock);
	plot.has_default_peaks = true;
	ck_assert_ok(experiment_add_plot(experiment, &plot, &why));
	return experiment;
}

void
measure_doubtful(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		 int nr_runs, struct quantity_value *values)
{
	static const char *const units[] = {"us", "flop", "byte"};

	(void)measurement;
	for (size_t i = 0; i < nr_requests; i++) {
		const bool is_bytes = requests[i].border != NULL, is_rate = requests[i].given_bytes > 0;

		values[i] = (struct quantity_value){
			.request = requests[i],
			.name = requests[i].name,
			.of = is_bytes ? requests[i].border : "",
			.unit = is_rate ? "byte/s" : units[i % 3],
			.source = "fake",
			.kind = "measured",
			.grade = "",
			.expected = is_bytes ? 2400 : NAN,
			.compulsory = is_bytes && !is_rate ? 1600 : 0,
			.own_cost = {true, is_bytes ? 8 : 0.5, NAN, is_bytes ? 0.005 : 0.018, NAN},
			.nr_samples = (size_t)nr_runs,
			.samples = rot_calloc((size_t)nr_runs, sizeof(double)),
			.taints = rot_calloc((size_t)nr_runs, sizeof(unsigned)),
			.summary = summary_single(is_bytes ? 1500 : 28, "median"),
		};
		for (int k = 0; k < nr_runs; k++)
			values[i].samples[k] = values[i].summary.value;
		values[i].request.clock = i == 0 ? "microSeconds" : NULL;
		if (is_bytes && !is_rate)
			quantity_breach_add(&values[i], "bordersOrdered", 2, 1, rot_strdup("two is more than one"));
	}
}
