/* SPDX-License-Identifier: MIT */
/* Branches that are done in the stead of a stopped thread. */
#ifndef CORE_PARENT_STEPPING_BRANCH_H
#define CORE_PARENT_STEPPING_BRANCH_H

#include "parent/stepping/code_table.h"

/*
 * registers: those of a thread at the branch that ends block, a BLOCK_BRANCH; become what they are after it. What calls
 * push is written. False: memory that the branch uses is not there.
 */
bool branch_do(const struct code_table *code, const struct block *block, struct user_regs_struct *registers);

#endif
