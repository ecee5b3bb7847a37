/* SPDX-License-Identifier: MIT */
/* Messages to the user that are no errors, and the user's wish to stop. */
#include "base/messages.h"

#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/entry.h"
#include "base/progress.h"
#include "memory.h"
#include "rot.h"

/* Signals within this time after the first are still the same wish. */
#define SAME_WISH_MS 500

static bool are_notes_silent;
static volatile sig_atomic_t is_interrupted;

void
messages_set_quiet(bool is_quiet)
{
	are_notes_silent = is_quiet;
}

bool
messages_are_quiet(void)
{
	return are_notes_silent;
}

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* One wish to stop may arrive twice, sent to rot and to its process group (timeout does that). */
static void
remember(int signal_number)
{
	static volatile int64_t first_ms;

	if (!is_interrupted) {
		first_ms = now_ms();
		is_interrupted = 1;
	} else if (now_ms() - first_ms > SAME_WISH_MS) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
}

void
messages_catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = remember};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		/* The program that started us may want us to ignore it (nohup). */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

bool
rot_interrupted(void)
{
	return is_interrupted != 0;
}

/* One write a message, so that lines of several processes do not mix. */
static void __attribute__((format(printf, 2, 0))) print(const char *prefix, const char *format, va_list arguments)
{
	autofree char *text = rot_vformat(format, arguments), *message = NULL;

	message = rot_format("rot: %s%s", prefix, text);
	progress_clear();
	fflush(stdout);
	text_print_message(message, stderr);
}

void
rot_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print("warning: ", format, arguments);
	va_end(arguments);
}

void
rot_note(const char *format, ...)
{
	va_list arguments;

	if (are_notes_silent)
		return;
	va_start(arguments, format);
	print("", format, arguments);
	va_end(arguments);
}

void
messages_next(const char *format, ...)
{
	va_list arguments;

	if (are_notes_silent || !isatty(STDERR_FILENO))
		return;
	va_start(arguments, format);
	print("next: ", format, arguments);
	va_end(arguments);
}
