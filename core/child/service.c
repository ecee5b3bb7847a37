/* SPDX-License-Identifier: MIT */
#include "child/service.h"

#include <signal.h>
#include <sys/resource.h>

#include "child/journal.h"
#include "child/own_threads.h"
#include "child/rules.h"
#include "child/run.h"

/* ---- news ---- */

static void
raise_on_behalf(struct service *service, pid_t tid, int index, const char *name)
{
	struct child_thread thread;

	pthread_mutex_lock(&service->run_lock);
	if (service->run && !run_has_failed(service->run)) {
		child_thread_init(&thread, NULL);
		thread.tid = tid;
		thread.is_foreign = true;
		event_raise(service->run, &thread,
			    &(struct event){.kind = EVENT_THREAD, .name = name, .tid = tid, .index = index});
		child_thread_clear(&thread);
		/* The main thread ends the workloads: a kernel that goes on until it is stopped would not end. */
		if (run_has_failed(service->run)) {
			pthread_mutex_lock(&service->run->lock);
			pthread_cond_signal(&service->run->ended);
			pthread_mutex_unlock(&service->run->lock);
		}
	}
	pthread_mutex_unlock(&service->run_lock);
}

/* An own thread tells of itself. Whatever happens, the thread is let go. */
static void
on_thread_started(struct service *service, pid_t tid)
{
	struct wire_message ready = {.kind = WIRE_THREAD_READY, .argument = tid};

	if (!service->is_holding) {
		if (tid != gettid())
			notifier_thread_started(service->notifier, tid);
		return;
	}
	if (!own_threads_has(tid)) {
		notifier_thread_started(service->notifier, tid);
		raise_on_behalf(service, tid, notifier_index(service->notifier, tid), "started");
	}
	wire_send(service->notifier->fd, &ready, true);
}

/* True when the service has to end. */
static bool
on_holding(struct service *service, int64_t answer)
{
	bool is_closing;

	service->is_holding = answer > 0;
	pthread_mutex_lock(&service->lock);
	service->answer = answer;
	service->nr_answered++;
	is_closing = service->is_closing;
	pthread_cond_signal(&service->answered);
	pthread_mutex_unlock(&service->lock);
	return is_closing;
}

static void *
service_main(void *argument)
{
	struct service *service = argument;
	struct wire_message message;

	journal_thread(JOURNAL_SERVICE);
	while (wire_receive(service->notifier->fd, &message, true) == 0)
		if (message.kind == WIRE_THREAD_STARTED)
			on_thread_started(service, message.tid);
		else if (message.kind == WIRE_THREAD_EXITED) {
			int index = notifier_index(service->notifier, message.tid);

			/* One that is not known is rot's own. */
			if (notifier_thread_exited(service->notifier, message.tid) && service->is_holding)
				raise_on_behalf(service, message.tid, index, "exiting");
		} else if (message.kind == WIRE_HOLDING && on_holding(service, message.argument))
			return NULL;
	pthread_mutex_lock(&service->lock);
	service->is_parent_gone = true;
	pthread_cond_signal(&service->answered);
	pthread_mutex_unlock(&service->lock);
	return NULL;
}

/* ---- from the main thread ---- */

/* The parent's answer, after everything it had said before has been dealt with. -1 and err if it is gone. */
static int
ask(struct service *service, bool hold, int64_t *answer, struct rot_error *err)
{
	bool is_gone;

	pthread_mutex_lock(&service->lock);
	service->nr_asked++;
	pthread_mutex_unlock(&service->lock);
	if (notifier_send(service->notifier, WIRE_HOLD_THREADS, hold, err) < 0)
		return -1;
	pthread_mutex_lock(&service->lock);
	while (service->nr_answered != service->nr_asked && !service->is_parent_gone)
		pthread_cond_wait(&service->answered, &service->lock);
	*answer = service->answer;
	is_gone = service->is_parent_gone;
	pthread_mutex_unlock(&service->lock);
	return is_gone ? rot_error_set(err, 0, "the parent of the core is gone") : 0;
}

/* With all signals blocked: they are the kernels'. */
static int
start_service(struct service *service)
{
	sigset_t all, usual;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &usual);
	own_threads_begin();
	status = pthread_create(&service->pthread, NULL, service_main, service);
	own_threads_end();
	pthread_sigmask(SIG_SETMASK, &usual, NULL);
	return status;
}

static int
refuse_service(struct failure *failure, const char *reason)
{
	struct rot_error error;

	rot_error_set(&error, 0, "cannot measure threads that kernels create (CreateMeasurerOnThreadAction): %s",
		      reason);
	rot_error_hint(&error, PTRACE_HINT "; else measure without the action");
	return failure_record(failure, FAILURE_REFUSED, &error);
}

int
service_open(struct service *service, struct notifier *notifier, struct failure *failure)
{
	struct rlimit descriptors;
	struct rot_error error;
	int64_t answer = -1;
	int status;

	*service = (struct service){.notifier = notifier};
	if (notifier->fd < 0)
		return refuse_service(failure, "the core was started without its parent");
	pthread_mutex_init(&service->run_lock, NULL);
	pthread_mutex_init(&service->lock, NULL);
	pthread_cond_init(&service->answered, NULL);
	if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
		descriptors.rlim_cur = descriptors.rlim_max;
		setrlimit(RLIMIT_NOFILE, &descriptors);
	}
	notifier->is_read_by_service = true;
	status = start_service(service);
	service->is_there = status == 0;
	if (status != 0) {
		rot_error_set(&error, status, "cannot create the thread that attends to the threads of kernels");
		return failure_record(failure, FAILURE_ERROR, &error);
	}
	if (ask(service, false, &answer, &error) < 0)
		return failure_record(failure, FAILURE_ERROR, &error);
	return answer < 0 ? refuse_service(failure, "the parent of the core may not trace it") : 0;
}

int
service_hold(struct service *service, bool hold, struct failure *failure)
{
	struct rot_error error;
	int64_t answer;

	if (!service->is_there || ask(service, hold, &answer, &error) == 0)
		return 0;
	return failure_record(failure, FAILURE_ERROR, &error);
}

void
service_set_run(struct service *service, struct run *run)
{
	if (!service->is_there)
		return;
	pthread_mutex_lock(&service->run_lock);
	service->run = run;
	pthread_mutex_unlock(&service->run_lock);
}

void
service_close(struct service *service)
{
	struct rot_error error;
	int64_t answer;

	if (!service->is_there)
		return;
	pthread_mutex_lock(&service->lock);
	service->is_closing = true;
	pthread_mutex_unlock(&service->lock);
	ask(service, false, &answer, &error);
	pthread_join(service->pthread, NULL);
	service->notifier->is_read_by_service = false;
	service->is_there = false;
	pthread_cond_destroy(&service->answered);
	pthread_mutex_destroy(&service->lock);
	pthread_mutex_destroy(&service->run_lock);
}
