/* SPDX-License-Identifier: MIT */
/*
 * Counts what the threads of traced programs execute by translating their code: each executes a copy that counts its
 * basic blocks, at nearly its own speed, and stops only where something is missing.
 *
 * A thread's registers are those of the program whenever somebody can see them: before a signal is delivered, and when
 * it is let go. What cannot be translated is executed natively, instruction by instruction.
 */
#ifndef CORE_PARENT_TRANSLATE_TRANSLATOR_H
#define CORE_PARENT_TRANSLATE_TRANSLATOR_H

#include "common/step_counts.h"
#include "parent/tracer/tracer.h"

struct translator;

/*
 * Follows the threads of the tracer, which is borrowed. caches: those that are to be modelled, as a region tells them;
 * NULL: none, which takes a third of the time. has_pages: translations of addresses, too.
 */
struct translator *translator_new(struct tracer *tracer, const struct step_region *caches, bool has_pages);
void translator_delete(struct translator *translator);

/* As the tracer's callbacks of these names. NULL translator: nothing is done. */
void translator_started(struct translator *translator, struct thread *thread);
void translator_created(struct translator *translator, struct thread *thread, pid_t child);
void translator_executed(struct translator *translator, struct thread *thread);
void translator_exited(struct translator *translator, struct thread *thread);
enum tracer_answer translator_stopped(struct translator *translator, const struct tracer_stop *stop);
enum tracer_answer translator_leaving(struct translator *translator, const struct tracer_stop *stop);

/*
 * What a thread has executed so far; exact once it has ended or is stopped outside of a block. False: nothing of it was
 * translated, and counts are 0.
 */
bool translator_read(const struct translator *translator, const struct thread *thread, uint64_t counts[STEP_NR_COUNTS]);

/* What was not counted, or not wholly, as a sentence; NULL: nothing. Fresh memory. */
char *translator_doubts(const struct translator *translator);

#endif
