/* SPDX-License-Identifier: MIT */
#include "child/workload.h"

#include <stdbool.h>

#include "child/caches.h"
#include "child/journal.h"
#include "child/kernels.h"
#include "child/measurer_set.h"
#include "child/own_threads.h"
#include "child/rules.h"
#include "child/watches.h"
#include "kernel.h"

/* ---- the state of the caches that a kernel finds ---- */

/* Passes after which 20 MB are in an L3 of 32 MB (Zen 5: 5 % of the reads still miss after six). */
#define WARM_PASSES 8

static void
read_buffers(const struct kernel_type *type, void *kernel, bool is_modelled)
{
	struct kernel_buffer buffers[KERNEL_MAX_BUFFERS];
	size_t nr = kernel_buffers(type, kernel, buffers), bytes = 0;
	int passes;

	journal_add("caches: read buffers", -1);
	for (size_t i = 0; i < nr; i++)
		bytes += buffers[i].bytes;
	passes = is_modelled || bytes > 2 * cache_last_level_bytes() ? 1 : WARM_PASSES;
	for (int pass = 0; pass < passes; pass++)
		for (size_t i = 0; i < nr; i++)
			cache_read(buffers[i].start, buffers[i].bytes);
	if (type->warm_data)
		type->warm_data(kernel);
}

/* Reading comes before running, so that the data are where a run leaves them. */
static void
warm(bool warm_code, bool warm_data, const struct kernel_type *type, void *kernel, struct set_state *set)
{
	const bool is_modelled = set_start_warming(set);

	if (warm_data)
		read_buffers(type, kernel, is_modelled);
	if (warm_code) {
		journal_add("caches: warm code", -1);
		(type->warm_code ? type->warm_code : type->run)(kernel);
	}
	if (!warm_data) {
		struct kernel_buffer buffers[KERNEL_MAX_BUFFERS];
		size_t nr = kernel_buffers(type, kernel, buffers);

		journal_add("caches: flush buffers", -1);
		for (size_t i = 0; i < nr; i++)
			cache_flush(buffers[i].start, buffers[i].bytes);
	}
	if (is_modelled)
		set_stop_warming(set);
}

/*
 * Puts the caches of the calling thread's CPU into the state that warm_code and warm_data describe. The code of the
 * measurers is warm in every state.
 *
 *	code	data	steps
 *	cold	cold	warm measurers; clear caches; flush buffers; flush code; warm measurers
 *	cold	warm	warm measurers; clear caches; read buffers; warm_data; flush code; warm measurers
 *	warm	cold	warm measurers; clear caches; warm code; flush buffers; warm measurers
 *	warm	warm	read buffers; warm_data; warm code; warm measurers
 *
 * "warm code" is the kernel's warm_code or, if it has none, run: a kernel that changes its data in run does so here as
 * well. In the last state run comes last, so that the data are where a run leaves them. "read buffers" reads every line
 * of all buffers, in order, several times: a last level that takes victims (Zen) holds a line only after some passes.
 * With several workloads, one that clears takes away from the others what they have warmed in a shared cache.
 * Between clearing and flushing code the set is told that caches are warmed (set_start_warming). If it follows them,
 * one pass of reading is enough.
 *
 * caches_open must have succeeded unless both are warm.
 */
static void
cache_state_prepare(bool warm_code, bool warm_data, const struct kernel_type *type, void *kernel, struct set_state *set)
{
	if (!warm_code || !warm_data) {
		set_warm(set);
		journal_add("caches: clear", -1);
		caches_clear();
	}
	warm(warm_code, warm_data, type, kernel, set);
	if (!warm_code) {
		journal_add("caches: flush code", -1);
		cache_flush_text();
	}
	set_warm(set);
}

void
workload_init(struct workload_run *work, struct run *run, struct workload *workload)
{
	*work = (struct workload_run){
		.run = run,
		.workload = workload,
		.type = kernel_type_of(workload->kernel),
		.kernel = workload->kernel,
	};
	pthread_mutex_init(&work->kernel_lock, NULL);
	child_thread_init(&work->thread, workload);
	work->thread.run = run;
}

void
workload_clear(struct workload_run *work)
{
	child_thread_clear(&work->thread);
	pthread_mutex_destroy(&work->kernel_lock);
	rot_graph_delete(work->output);
}

static int
raise_event(struct workload_run *work, enum event_kind kind, const char *name)
{
	return event_raise(
		work->run, &work->thread,
		&(struct event){
			.kind = kind, .name = name, .workload = work->workload, .tid = work->thread.tid, .index = -1});
}

static int
initialize_kernel(struct workload_run *work)
{
	const char *name = work->type->class_name;
	struct rot_error error;
	int rc;

	journal_add("kernel initialize", work->workload->kernel->id);
	kernel_reason_clear();
	rc = work->type->initialize ? work->type->initialize(work->kernel) : 0;
	if (rc < 0) {
		if (work->type->dispose)
			work->type->dispose(work->kernel);
		rot_error_set(&error, 0, "cannot initialize kernel %s of workload %d: %s", name, work->workload->id,
			      kernel_reason()[0] ? kernel_reason() : "it gave no reason");
		return run_fail(work->run, &error);
	}
	pthread_mutex_lock(&work->kernel_lock);
	work->is_kernel_live = true;
	if (work->is_stop_wanted && work->type->stop)
		work->type->stop(work->kernel);
	pthread_mutex_unlock(&work->kernel_lock);
	return 0;
}

/* Without the lock: nobody uses it any more, and dispose may wait for threads of its own. */
static void
dispose_kernel(struct workload_run *work)
{
	bool was_live;

	pthread_mutex_lock(&work->kernel_lock);
	was_live = work->is_kernel_live;
	work->is_kernel_live = false;
	pthread_mutex_unlock(&work->kernel_lock);
	if (!was_live)
		return;
	journal_add("kernel dispose", work->workload->kernel->id);
	if (work->type->dispose)
		work->type->dispose(work->kernel);
}

static int
prepare_workload(struct workload_run *work)
{
	struct rot_error error;

	if (work->workload->cpu >= 0 && child_thread_pin(work->workload->cpu, &error) < 0) {
		rot_error_prefix(&error, "workload %d", work->workload->id);
		return run_fail(work->run, &error);
	}
	if (raise_event(work, EVENT_THREAD, "started") < 0 || initialize_kernel(work) < 0)
		return -1;
	if (atomic_fetch_add(&work->run->nr_initialized, 1) + 1 == work->run->nr_workloads &&
	    watches_check_places(work->run) < 0)
		return -1;
	return set_initialize(&work->set, work->workload->measurer_set, work->run->failure);
}

/* The measured region. Everything it needs is in its arguments: between start and stop there is nothing but the kernel.
 */
__attribute__((noinline)) static void
measure_kernel(void (*start)(void *), void (*run)(void *), void (*stop)(void *), void *measurer, void *kernel)
{
	start(measurer);
	run(kernel);
	stop(measurer);
}

static void
run_nothing(void *kernel)
{
	(void)kernel;
}

static int
run_kernel(struct workload_run *work)
{
	const struct measurer_state *main = set_main(&work->set);
	int main_id = main->description ? main->description->id : -1;

	if (raise_event(work, EVENT_WORKLOAD, "start") < 0)
		return -1;
	set_start_validation(&work->set);
	cache_state_prepare(work->workload->kernel->warm_code, work->workload->kernel->warm_data, work->type,
			    work->kernel, &work->set);
	/* Warms what measure_kernel itself uses. */
	void (*volatile nothing)(void *) =
		run_nothing; /* not known to the compiler, which may make another measure_kernel of it */

	measure_kernel(main->type->start, nothing, main->type->stop, main->memory, NULL);
	set_start_ahead(&work->set);
	if (raise_event(work, EVENT_WORKLOAD, "kernelStart") < 0)
		return -1;
	set_start_additional(&work->set);
	journal_add("main measurer start", main_id);
	measure_kernel(main->type->start, work->type->run, main->type->stop, main->memory, work->kernel);
	journal_add("main measurer stop", main_id);
	set_stop_additional(&work->set);
	work->has_kernel_stopped = true;
	if (raise_event(work, EVENT_WORKLOAD, "kernelStop") < 0)
		return -1;
	set_stop_validation(&work->set);
	if (raise_event(work, EVENT_WORKLOAD, "stop") < 0)
		return -1;
	work->output = set_output(&work->set, work->run->failure);
	return 0;
}

static void *
workload_main(void *argument)
{
	struct workload_run *work = argument;
	struct run *run = work->run;
	int rc;

	journal_thread(work->workload->id);
	own_thread_runs();
	child_thread_attach(&work->thread);
	rc = prepare_workload(work);
	if (rc == 0)
		rc = run_kernel(work);
	work->has_kernel_stopped = true;
	dispose_kernel(work);
	set_dispose(&work->set);
	if (rc == 0 && raise_event(work, EVENT_THREAD, "exiting") == 0)
		thread_end(run, &work->thread);
	pthread_mutex_lock(&run->lock);
	run->nr_running--;
	pthread_cond_signal(&run->ended);
	pthread_mutex_unlock(&run->lock);
	return NULL;
}

void
workload_create(struct workload_run *work)
{
	struct rot_error error;
	int status;

	pthread_mutex_lock(&work->run->lock);
	work->run->nr_running++;
	pthread_mutex_unlock(&work->run->lock);
	own_threads_begin();
	status = pthread_create(&work->pthread, NULL, workload_main, work);
	own_threads_end();
	work->is_created = status == 0;
	if (work->is_created)
		return;
	pthread_mutex_lock(&work->run->lock);
	work->run->nr_running--;
	pthread_mutex_unlock(&work->run->lock);
	rot_error_set(&error, status, "cannot create the thread of workload %d", work->workload->id);
	run_fail(work->run, &error);
}

/* ---- the kernel, used from other threads while it runs ---- */

void
workload_stop_kernel(struct workload_run *work)
{
	pthread_mutex_lock(&work->kernel_lock);
	if (!work->is_kernel_live)
		work->is_stop_wanted = true;
	else if (work->type->stop)
		work->type->stop(work->kernel);
	pthread_mutex_unlock(&work->kernel_lock);
}

static void
flush_buffers(struct workload_run *work)
{
	struct kernel_buffer buffers[KERNEL_MAX_BUFFERS];
	size_t nr = kernel_buffers(work->type, work->kernel, buffers);

	for (size_t i = 0; i < nr; i++)
		cache_flush(buffers[i].start, buffers[i].bytes);
}

int
workload_flush_buffers(struct workload_run *work, struct rot_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&work->kernel_lock);
	if (work->is_kernel_live)
		flush_buffers(work);
	else
		rc = rot_error_set(err, 0, "cannot flush the buffers of kernel %s: it is not initialized at this time",
				   work->type->class_name);
	pthread_mutex_unlock(&work->kernel_lock);
	return rc;
}

enum action_attempt
workload_stop_kernel_inside(struct workload_run *work)
{
	if (pthread_mutex_trylock(&work->kernel_lock) != 0)
		return ATTEMPT_BUSY;
	work->is_stop_wanted |= !work->is_kernel_live;
	if (work->is_kernel_live && work->type->stop)
		work->type->stop(work->kernel);
	pthread_mutex_unlock(&work->kernel_lock);
	return ATTEMPT_DONE;
}

enum action_attempt
workload_flush_buffers_inside(struct workload_run *work)
{
	bool is_live;

	if (pthread_mutex_trylock(&work->kernel_lock) != 0)
		return ATTEMPT_BUSY;
	is_live = work->is_kernel_live;
	if (is_live)
		flush_buffers(work);
	pthread_mutex_unlock(&work->kernel_lock);
	return is_live ? ATTEMPT_DONE : ATTEMPT_IMPOSSIBLE;
}
