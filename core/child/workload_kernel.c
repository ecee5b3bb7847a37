/* SPDX-License-Identifier: MIT */
/* See workload_kernel.h. */
#include "child/workload_kernel.h"

#include "child/caches.h"
#include "child/kernels.h"

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
