/* SPDX-License-Identifier: MIT */
/* Taking out of a process what a core that was killed left in it. */
#ifndef PROGRAMS_REPAIR_H
#define PROGRAMS_REPAIR_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Code that is in files becomes what these say where int3 stands instead: nobody waits for it any more, and a thread
 * that comes there would end the process. A thread that was stopped by one when the core died has ended it already.
 * The number of int3s.
 */
size_t process_repair(pid_t pid);

#endif
