/* SPDX-License-Identifier: MIT */
#include "parent/injection/inject.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memory.h"
#include "parent/injection/rseq.h"
#include "parent/injection/trigger.h"
#include "parent/tracer/launch.h"
#include "parent/tracer/remote.h"
#include "parent/tracer/restart.h"

/* ---- a stopped thread that is to run a function, and is put back; the order matters (doc/TRACING.md) ---- */

/* A thread as it was. Zeroed: nothing is saved. kept: a signal that was sent to it while a function ran, or 0. */
struct injected_thread {
	struct user_regs_struct registers;
	uint64_t mask;
	void *vectors; /* NT_X86_XSTATE */
	size_t vectors_bytes, vectors_room;
	uint64_t done; /* the address behind the trampoline */
	int kept;
	siginfo_t kept_info;
};

enum injected_status { INJECTED_READY, INJECTED_IMPOSSIBLE, INJECTED_KILLED };

enum inside {
	INSIDE_DONE,    /* the function returned, outcome->value                           */
	INSIDE_FAULTED, /* it raised the signal, at outcome->address                       */
	INSIDE_KEPT,    /* it was sent to the thread, which will get it from _restore      */
	INSIDE_FOREIGN, /* to be delivered                                                 */
};

/* call *%rax; int3 */
const unsigned char inject_trampoline[INJECT_TRAMPOLINE_BYTES] = {0xff, 0xd0, 0xcc};

/* ---- vectors ---- */

#define VECTORS_ROOM 4096

/* The system gives what fits: room that is filled may have been too little. */
static bool
save_vectors(struct injected_thread *thread, pid_t tid)
{
	while (true) {
		struct iovec part = {thread->vectors, thread->vectors_room};

		if (part.iov_len > 0 && ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &part) < 0)
			return false;
		thread->vectors_bytes = part.iov_len;
		if (part.iov_len < thread->vectors_room)
			return true;
		thread->vectors_room = thread->vectors_room ? 2 * thread->vectors_room : VECTORS_ROOM;
		thread->vectors = rot_realloc(thread->vectors, thread->vectors_room, 1);
	}
}

/* ---- there and back ---- */

/*
 * A sequence is left as well: the kernel would take the thread out of it, since it is elsewhere while the function
 * runs, and let it go on inside without what makes the sequence safe.
 */
/*
 * Saves the thread, and holds up its signals. Out of a restartable sequence it goes on at the handler of that; again
 * as of restart_rewind.
 */
static enum injected_status
injected_thread_save(struct injected_thread *thread, pid_t tid, struct restart_again *again, unsigned neglects)
{
	struct rot_error err;

	*again = (struct restart_again){0};
	thread->kept = 0;
	if (remote_get_registers(tid, &thread->registers, &err) < 0)
		return ptrace(PTRACE_GETREGS, tid, NULL, &thread->registers) < 0 ? INJECTED_KILLED
										 : INJECTED_IMPOSSIBLE;
	restart_rewind(tid, &thread->registers, again);
	if (!(neglects & INJECTOR_NEGLECTS_RSEQ))
		rseq_leave(tid, &thread->registers);
	if (!save_vectors(thread, tid) || remote_get_mask(tid, &thread->mask) < 0 ||
	    remote_set_mask(tid, ~REMOTE_SYNCHRONOUS) < 0)
		return INJECTED_KILLED;
	return INJECTED_READY;
}

#define RED_ZONE_BYTES 128
#define STACK_ALIGNMENT 64

/* Trap, direction, nested task, resume, alignment check. */
#define FLAGS_TO_CLEAR 0x54500UL

/* It is to call the function when it is resumed. */
static void
injected_thread_call(struct injected_thread *thread, pid_t tid, const struct injection *injection, unsigned neglects)
{
	struct user_regs_struct registers = thread->registers;
	uint64_t own_stack = registers.rsp - (neglects & INJECTOR_NEGLECTS_RED_ZONE ? 0 : RED_ZONE_BYTES);

	thread->done = injection->trampoline + INJECT_TRAMPOLINE_BYTES;
	registers.rip = injection->trampoline;
	registers.rax = injection->function;
	registers.orig_rax = (unsigned long)-1;
	registers.rdi = injection->arguments[0];
	registers.rsi = injection->arguments[1];
	registers.rdx = injection->arguments[2];
	registers.rsp = (injection->stack ? injection->stack : own_stack) & ~(uint64_t)(STACK_ALIGNMENT - 1);
	registers.eflags &= ~FLAGS_TO_CLEAR;
	remote_set_registers(tid, &registers);
}

/* Judges a signal that is about to be delivered while the function runs. int3 has a code of its own (SI_KERNEL). */
static enum inside
injected_thread_judge(struct injected_thread *thread, pid_t tid, int signal, struct injection_outcome *outcome)
{
	struct user_regs_struct registers = {0};
	siginfo_t info = {0};

	if (!remote_is_synchronous(signal))
		return INSIDE_FOREIGN;
	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0 || ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0)
		return INSIDE_FOREIGN;
	outcome->value = registers.rax;
	outcome->address = registers.rip;
	if (info.si_code <= 0) {
		thread->kept = signal;
		thread->kept_info = info;
		return INSIDE_KEPT;
	}
	return signal == SIGTRAP && info.si_code == SI_KERNEL && registers.rip == thread->done ? INSIDE_DONE
											       : INSIDE_FAULTED;
}

/*
 * In this kind of stop a signal can be delivered with all that its sender said, and system calls are begun anew that
 * were interrupted before.
 */
/* In a stop for a signal: puts back what was saved. Returns the signal to deliver then, or 0. */
static int
injected_thread_restore(struct injected_thread *thread, pid_t tid, unsigned neglects)
{
	struct iovec vectors = {thread->vectors, thread->vectors_bytes};

	remote_set_registers(tid, &thread->registers);
	if (!(neglects & INJECTOR_NEGLECTS_VECTORS))
		ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &vectors);
	remote_set_mask(tid, thread->mask);
	if (thread->kept)
		ptrace(PTRACE_SETSIGINFO, tid, NULL, &thread->kept_info);
	return thread->kept;
}

/* ---- who waits for what ---- */

/* Between looks at those that have not stopped yet. */
#define LATE_NS 5000000

/* A trigger that has not stopped a thread in so much user code will not. In ticks of the system's clock. */
#define PATIENCE 3

struct queued {
	struct injection injection;
	injection_done done;
	void *context;
	struct queued *next;
};

enum target_state {
	TARGET_IDLE,    /* nothing is queued                                  */
	TARGET_WAITING, /* to be stopped by a trigger, or was interrupted     */
	TARGET_RUNNING, /* the first of the queue runs; also in a group stop  */
};

/* A thread in which something was done. */
struct target {
	pid_t tid;
	enum target_state state;
	struct queued *first, **last;
	struct trigger trigger;
	struct restart_ticks asked, armed; /* its time when it was asked for, and when the trigger was armed */
	long armed_waits;                  /* likewise, how often it had waited */
	bool is_interrupted;               /* and will be once more at its next stop, if that is one for a signal */
	struct restart_again again;
	struct injected_thread thread;
};

/* ---- targets ---- */

static struct target *
find_target(const struct injector *injector, pid_t tid)
{
	struct thread *entry = threads_find(&injector->targets, tid);

	return entry ? entry->measured : NULL;
}

static struct target *
find_or_add_target(struct injector *injector, const struct thread *thread)
{
	struct target *target = find_target(injector, thread->tid);

	if (target)
		return target;
	target = rot_calloc(1, sizeof(*target));
	target->tid = thread->tid;
	target->last = &target->first;
	target->trigger = TRIGGER_NONE;
	threads_add(&injector->targets, thread->pid, thread->tid)->measured = target;
	return target;
}

static void
set_state(struct injector *injector, struct target *target, enum target_state state)
{
	const size_t before = injector->nr_waiting;
	struct timespec late = {0};

	injector->nr_waiting += (size_t)(state == TARGET_WAITING) - (size_t)(target->state == TARGET_WAITING);
	target->state = state;
	if ((before == 0) == (injector->nr_waiting == 0))
		return;
	late.tv_nsec = injector->nr_waiting > 0 ? LATE_NS : 0;
	timerfd_settime(injector->timer_fd, 0, &(struct itimerspec){late, late}, NULL);
}

/* Takes it over. */
static void
tell_outcome(struct injector *injector, struct queued *queued, const struct injection_outcome *outcome)
{
	injector->nr_done += outcome->end == INJECTION_DONE;
	injector->nr_faulted += outcome->end == INJECTION_FAULTED;
	injector->nr_dropped += outcome->end == INJECTION_ENDED || outcome->end == INJECTION_REFUSED;
	if (queued->done)
		queued->done(queued->context, outcome);
	free(queued);
}

static void
drop_queue(struct injector *injector, struct target *target, enum injection_end end)
{
	const struct injection_outcome outcome = {.tid = target->tid, .end = end};
	struct queued *queued = target->first;

	set_state(injector, target, TARGET_IDLE);
	target->first = NULL;
	target->last = &target->first;
	for (struct queued *next; queued; queued = next) {
		next = queued->next;
		tell_outcome(injector, queued, &outcome);
	}
}

static void
forget_target(struct injector *injector, pid_t tid)
{
	struct target *target = find_target(injector, tid);

	if (!target)
		return;
	threads_remove(&injector->targets, tid);
	drop_queue(injector, target, INJECTION_ENDED);
	trigger_close(&target->trigger);
	free(target->thread.vectors);
	free(target);
}

/* ---- reaching a running thread ---- */

static void
interrupt_target(struct injector *injector, struct target *target)
{
	injector->nr_interrupts++;
	target->is_interrupted = true;
	ptrace(PTRACE_INTERRUPT, target->tid, NULL, NULL);
}

/* False: the thread cannot be reached so. */
static bool
pull_trigger(struct injector *injector, struct target *target)
{
	bool was_armed = target->trigger.is_armed;
	int status;

	if (injector->has_no_trigger || restart_blocks(target->tid, SIGTRAP))
		return false;
	if (was_armed) {
		const struct restart_ticks now = restart_ticks(target->tid);

		/*
		 * It was on a CPU for a tick at least, and was not met in user code: maybe its timer leaves it no time
		 * for any. One that has waited meanwhile got on.
		 */
		if (target->trigger.period_ns == injector->trigger_period_ns &&
		    injector->trigger_period_ns < TRIGGER_LONGEST_NS &&
		    now.user + now.system > target->armed.user + target->armed.system &&
		    restart_waits(target->tid) == target->armed_waits)
			injector->trigger_period_ns *= 4;
	}
	if (!was_armed || target->trigger.period_ns != injector->trigger_period_ns) {
		target->armed = restart_ticks(target->tid);
		target->armed_waits = restart_waits(target->tid);
	}
	status = trigger_arm(&target->trigger, target->tid, injector->trigger_period_ns);
	injector->nr_triggers += status == 0 && !was_armed;
	injector->has_no_trigger = status != 0 && status != EMFILE && status != ENFILE && status != ESRCH;
	return status == 0;
}

/* One that stands still will be seen at the stop that ends this. */
static void
reach_target(struct injector *injector, struct target *target)
{
	const struct thread *thread = threads_find(&injector->tracer->threads, target->tid);
	enum restart_place place;
	bool will_trap;

	if (!thread || thread->is_held || thread->state != THREAD_RUNNING)
		return;
	will_trap = pull_trigger(injector, target);
	place = restart_find(target->tid);
	if (place == RESTART_UNHARMED ||
	    (place != RESTART_HARMED &&
	     !(will_trap && restart_ticks(target->tid).user - target->asked.user < PATIENCE)))
		interrupt_target(injector, target);
}

static void
wait_for(struct injector *injector, struct target *target)
{
	target->asked = restart_ticks(target->tid);
	set_state(injector, target, TARGET_WAITING);
	reach_target(injector, target);
}

/* ---- at a stop ---- */

/* Nothing is left to be done: the trigger shall not stop it any more. */
static void
end_injection(struct injector *injector, struct target *target)
{
	set_state(injector, target, TARGET_IDLE);
	if (target->trigger.is_armed)
		trigger_close(&target->trigger);
}

static enum tracer_answer
begin_injection(struct injector *injector, struct target *target)
{
	struct injected_thread *thread = &target->thread;

	target->is_interrupted = remote_raised_signal(target->tid) != 0;
	if (target->is_interrupted)
		return TRACER_RESUME;
	switch (injected_thread_save(thread, target->tid, &target->again, injector->neglects)) {
	case INJECTED_READY:
		injected_thread_call(thread, target->tid, &target->first->injection, injector->neglects);
		set_state(injector, target, TARGET_RUNNING);
		break;
	case INJECTED_IMPOSSIBLE:
		drop_queue(injector, target, INJECTION_REFUSED);
		end_injection(injector, target);
		break;
	case INJECTED_KILLED:
		break;
	}
	return TRACER_RESUME;
}

/* The function is over. The next one begins from where this one did. */
static enum tracer_answer
finish_injection(struct injector *injector, struct target *target, struct thread *thread,
		 struct injection_outcome *outcome)
{
	enum tracer_answer answer = TRACER_RESUME;
	struct queued *queued = target->first;
	int signal;

	target->first = queued->next;
	if (target->first) {
		injected_thread_call(&target->thread, target->tid, &target->first->injection, injector->neglects);
	} else {
		target->last = &target->first;
		signal = injected_thread_restore(&target->thread, target->tid, injector->neglects);
		end_injection(injector, target);
		if (signal) {
			tracer_resume(injector->tracer, thread, signal);
			answer = TRACER_KEEP;
		}
	}
	tell_outcome(injector, queued, outcome);
	return answer;
}

/* Signals that are held up do not come here. SIGSTOP takes effect at once, so that SIGCONT can end it. */
static enum tracer_answer
handle_signal_inside(struct injector *injector, struct target *target, const struct tracer_stop *stop)
{
	struct injection_outcome outcome = {.tid = target->tid, .signal = stop->signal};

	switch (injected_thread_judge(&target->thread, target->tid, stop->signal, &outcome)) {
	case INSIDE_DONE:
		outcome.end = INJECTION_DONE;
		return finish_injection(injector, target, stop->thread, &outcome);
	case INSIDE_FAULTED:
		if (injector->delivers_faults)
			break;
		outcome.end = INJECTION_FAULTED;
		return finish_injection(injector, target, stop->thread, &outcome);
	case INSIDE_KEPT:
		return TRACER_RESUME;
	case INSIDE_FOREIGN:
		break;
	}
	return TRACER_DELIVER;
}

static enum tracer_answer
handle_signal(struct injector *injector, struct target *target, const struct tracer_stop *stop)
{
	siginfo_t info;
	bool is_own = stop->signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, target->tid, NULL, &info) == 0 &&
		      trigger_raised(&info, target->tid);

	if (is_own) {
		target->trigger.is_armed = false;
		return target->state == TARGET_WAITING ? begin_injection(injector, target) : TRACER_RESUME;
	}
	if (target->again.is_pending) {
		/* Before a signal is delivered: the call that was to be made again fails. */
		struct user_regs_struct registers;

		if (remote_get_registers(target->tid, &registers, NULL) == 0 &&
		    restart_undo(&target->again, &registers))
			remote_set_registers(target->tid, &registers);
	}
	target->again.is_pending = false;
	if (target->is_interrupted && target->state == TARGET_WAITING)
		interrupt_target(injector, target);
	return TRACER_DELIVER;
}

enum tracer_answer
injector_handle(struct injector *injector, const struct tracer_stop *stop)
{
	struct target *target = find_target(injector, stop->thread->tid);
	siginfo_t info;

	if (!target)
		return TRACER_DELIVER;
	if (target->state != TARGET_RUNNING && stop->signal)
		return handle_signal(injector, target, stop);
	if (target->state != TARGET_RUNNING)
		return target->state == TARGET_WAITING && !stop->thread->is_held ? begin_injection(injector, target)
										 : TRACER_DELIVER;
	if (!stop->signal)
		return TRACER_RESUME;
	if (stop->signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, target->tid, NULL, &info) == 0 &&
	    trigger_raised(&info, target->tid)) {
		target->trigger.is_armed = false;
		return TRACER_RESUME;
	}
	return handle_signal_inside(injector, target, stop);
}

/* ---- what others call ---- */

int
injector_open(struct injector *injector, struct tracer *tracer, struct rot_error *err)
{
	*injector = INJECTOR_NONE;
	injector->tracer = tracer;
	injector->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return injector->timer_fd < 0 ? rot_error_set(err, errno, "cannot make a timer") : 0;
}

static void
enqueue(struct injector *injector, struct target *target, const struct queued *content)
{
	struct queued *queued = rot_calloc(1, sizeof(*queued));

	*queued = *content;
	*target->last = queued;
	target->last = &queued->next;
	injector->nr_asked++;
}

void
injector_run(struct injector *injector, const struct thread *thread, const struct injection *injection,
	     injection_done done, void *context)
{
	const struct queued queued = {.injection = *injection, .done = done, .context = context};
	struct target *target = find_or_add_target(injector, thread);

	enqueue(injector, target, &queued);
	injector->has_no_trigger |= (injector->neglects & INJECTOR_NEGLECTS_TRIGGER) != 0;
	if (target->state == TARGET_IDLE)
		wait_for(injector, target);
}

bool
injector_runs(const struct injector *injector, const struct thread *thread)
{
	const struct target *target = find_target(injector, thread->tid);

	return target && target->state == TARGET_RUNNING;
}

/* If it cannot be now (a fault is on its way), at the next stop. */
enum tracer_answer
injector_run_here(struct injector *injector, struct thread *thread, const struct injection *injections, size_t nr)
{
	struct target *target = find_or_add_target(injector, thread);
	enum tracer_answer answer = TRACER_RESUME;

	for (size_t i = 0; i < nr; i++)
		enqueue(injector, target, &(struct queued){.injection = injections[i]});
	if (target->state != TARGET_RUNNING)
		answer = begin_injection(injector, target);
	if (target->state == TARGET_IDLE && target->first)
		wait_for(injector, target);
	return answer;
}

void
injector_thread_exited(struct injector *injector, const struct thread *thread)
{
	forget_target(injector, thread->tid);
}

void
injector_thread_executed(struct injector *injector, const struct thread *thread, pid_t old_tid)
{
	forget_target(injector, old_tid);
	forget_target(injector, thread->tid);
}

static void
look_after(void *context, struct thread *entry)
{
	struct target *target = entry->measured;

	if (target->state == TARGET_WAITING)
		reach_target(context, target);
}

void
injector_late(struct injector *injector)
{
	uint64_t nr;

	if (read(injector->timer_fd, &nr, sizeof(nr)) == (ssize_t)sizeof(nr))
		threads_each(&injector->targets, look_after, injector);
}

static void
forget_each(void *context, struct thread *entry)
{
	forget_target(context, entry->tid);
}

void
injector_close(struct injector *injector)
{
	threads_each(&injector->targets, forget_each, injector);
	launch_close(&injector->timer_fd);
}
