/* SPDX-License-Identifier: MIT */
#include "parent/symbols/unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/symbol_file.h"

/* An expression: nothing with operations NULL is a register that was not changed, and otherwise one that is lost. */
struct expression {
	const Dwarf_Op *operations;
	size_t nr;
};

/* Registers that a caller has again. All others are its callee's to use. */
static const int kept[] = {3, UNWIND_RBP, UNWIND_RSP, 12, 13, 14, 15, UNWIND_RIP};
enum { NR_KEPT = sizeof(kept) / sizeof(kept[0]) };

/*
 * Rules that hold at an instruction. For how many more they hold libdw tells wrongly where a state is restored. The
 * operations live as long as frame, and as room.
 */
struct row {
	uint64_t address; /* as libdw has it, which is from bias on */
	Dwarf_Frame *frame;
	bool is_signal; /* its caller was interrupted, and calls nobody */
	struct expression cfa, registers[NR_KEPT];
	Dwarf_Op room[NR_KEPT][3];
};

/* Ordered by address. */
struct unwind_rows {
	struct row **rows;
	size_t nr;
};

void
unwind_rows_delete(struct unwind_rows *rows)
{
	for (size_t i = 0; rows && i < rows->nr; i++) {
		free(rows->rows[i]->frame);
		free(rows->rows[i]);
	}
	if (rows)
		free(rows->rows);
	free(rows);
}

/* ---- what a file says ---- */

/* Takes the frame over. NULL: it is of a form that nobody writes. */
static struct row *
row_new(Dwarf_Frame *frame, uint64_t address)
{
	struct row *row = rot_calloc(1, sizeof(*row));
	Dwarf_Op *operations;
	bool is_known;

	row->address = address;
	row->frame = frame;
	is_known = dwarf_frame_info(frame, NULL, NULL, &row->is_signal) == UNWIND_RIP &&
		   dwarf_frame_cfa(frame, &operations, &row->cfa.nr) == 0 && row->cfa.nr > 0;
	row->cfa.operations = is_known ? operations : NULL;
	for (int i = 0; is_known && i < NR_KEPT; i++) {
		is_known = dwarf_frame_register(frame, kept[i], row->room[i], &operations, &row->registers[i].nr) == 0;
		row->registers[i].operations = is_known ? operations : NULL;
	}
	if (is_known)
		return row;
	free(frame);
	free(row);
	return NULL;
}

/* The index of the first row that is not before address. */
static size_t
position_of(const struct unwind_rows *rows, uint64_t address)
{
	size_t low = 0, high = rows->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (rows->rows[middle]->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct row *
find_row(struct symbol_file *file, uint64_t address)
{
	struct unwind_rows *rows = file->unwind_rows;
	Dwarf_Addr bias;
	Dwarf_CFI *frames = dwfl_module_eh_cfi(file->module, &bias);
	Dwarf_Frame *frame;
	struct row *row;
	size_t at;

	if (!frames)
		return NULL;
	if (!rows)
		rows = file->unwind_rows = rot_calloc(1, sizeof(*rows));
	address += file->bias - bias;
	at = position_of(rows, address);
	if (at < rows->nr && rows->rows[at]->address == address)
		return rows->rows[at];
	row = dwarf_cfi_addrframe(frames, address, &frame) == 0 ? row_new(frame, address) : NULL;
	if (!row)
		return NULL;
	rows->rows = rot_grow(rows->rows, rows->nr, sizeof(*rows->rows));
	memmove(rows->rows + at + 1, rows->rows + at, (rows->nr++ - at) * sizeof(*rows->rows));
	rows->rows[at] = row;
	return row;
}

/* ---- expressions ---- */

static bool
read_stack(const struct unwind_state *state, uint64_t address, uint64_t *value)
{
	const uint64_t at = address - state->stack_address;

	if (at >= state->nr_bytes || state->nr_bytes - at < sizeof(*value))
		return false;
	memcpy(value, state->stack + at, sizeof(*value));
	return true;
}

#define MOST_VALUES 16

/* cfa: what DW_OP_call_frame_cfa is. nr: of values, the last one on top. */
struct evaluation {
	const struct unwind_state *state;
	uint64_t cfa;
	uint64_t values[MOST_VALUES];
	size_t nr;
};

/* Adds the value of an operation that does not look at the others. False: it is another one. */
static bool
push(struct evaluation *evaluation, const Dwarf_Op *operation)
{
	const uint64_t *registers = evaluation->state->registers;
	const unsigned atom = operation->atom;
	uint64_t *value = &evaluation->values[evaluation->nr];

	if (evaluation->nr == MOST_VALUES)
		return false;
	if (atom >= DW_OP_breg0 && atom < DW_OP_breg0 + UNWIND_NR_REGISTERS)
		*value = registers[atom - DW_OP_breg0] + operation->number;
	else if (atom == DW_OP_bregx && operation->number < UNWIND_NR_REGISTERS)
		*value = registers[operation->number] + operation->number2;
	else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		*value = atom - DW_OP_lit0;
	else if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		*value = operation->number;
	else if (atom == DW_OP_call_frame_cfa)
		*value = evaluation->cfa;
	else
		return false;
	evaluation->nr++;
	return true;
}

/* Lets an operation change the value on top, and the one below. False: it is none that unwinding needs. */
static bool
combine(struct evaluation *evaluation, const Dwarf_Op *operation)
{
	uint64_t *top, *below;

	if (evaluation->nr == 0)
		return false;
	top = &evaluation->values[evaluation->nr - 1];
	if (operation->atom == DW_OP_deref)
		return read_stack(evaluation->state, *top, top);
	if (operation->atom == DW_OP_plus_uconst) {
		*top += operation->number;
		return true;
	}
	if (evaluation->nr == 1)
		return false;
	below = &evaluation->values[--evaluation->nr - 1];
	switch (operation->atom) {
	case DW_OP_plus:
		*below += *top;
		return true;
	case DW_OP_minus:
		*below -= *top;
		return true;
	case DW_OP_and:
		*below &= *top;
		return true;
	case DW_OP_shl:
		*below = *top < 64 ? *below << *top : 0;
		return true;
	case DW_OP_ge:
		*below = (int64_t)*below >= (int64_t)*top;
		return true;
	default:
		return false;
	}
}

/* is_place: what comes out is where the value stands, unless the expression says otherwise. */
static bool
evaluate(const struct expression *expression, const struct unwind_state *state, uint64_t cfa, bool is_place,
	 uint64_t *value)
{
	struct evaluation evaluation = {.state = state, .cfa = cfa};

	for (size_t i = 0; i < expression->nr; i++)
		if (expression->operations[i].atom == DW_OP_stack_value)
			is_place = false;
		else if (!push(&evaluation, &expression->operations[i]) &&
			 !combine(&evaluation, &expression->operations[i]))
			return false;
	if (evaluation.nr == 0)
		return false;
	*value = evaluation.values[evaluation.nr - 1];
	return !is_place || read_stack(state, *value, value);
}

/* ---- calls ---- */

enum unwind_result
unwind(struct symbol_file *file, uint64_t address, struct unwind_state *state)
{
	const struct row *row = find_row(file, address);
	struct unwind_state caller = *state;
	uint64_t cfa;

	if (!row)
		return UNWIND_LOST;
	/* The return address is undefined: nobody has called. */
	if (row->registers[NR_KEPT - 1].nr == 0 && row->registers[NR_KEPT - 1].operations)
		return UNWIND_OUTERMOST;
	if (!evaluate(&row->cfa, state, 0, false, &cfa))
		return UNWIND_LOST;
	for (int i = 0; i < NR_KEPT; i++) {
		const struct expression *expression = &row->registers[i];

		if (expression->nr > 0 && !evaluate(expression, state, cfa, true, &caller.registers[kept[i]]) &&
		    (kept[i] == UNWIND_RIP || kept[i] == UNWIND_RSP))
			return UNWIND_LOST;
	}
	caller.is_return = !row->is_signal;
	*state = caller;
	return state->registers[UNWIND_RIP] == 0 ? UNWIND_OUTERMOST : UNWIND_CALLER;
}

enum unwind_result
unwind_by_frame_pointer(struct unwind_state *state)
{
	const uint64_t frame = state->registers[UNWIND_RBP];

	if (frame == 0)
		return UNWIND_OUTERMOST;
	if (frame < state->registers[UNWIND_RSP] ||
	    !read_stack(state, frame + sizeof(frame), &state->registers[UNWIND_RIP]) ||
	    !read_stack(state, frame, &state->registers[UNWIND_RBP]))
		return UNWIND_LOST;
	state->registers[UNWIND_RSP] = frame + 2 * sizeof(frame);
	state->is_return = true;
	return state->registers[UNWIND_RIP] == 0 ? UNWIND_OUTERMOST : UNWIND_CALLER;
}

uint64_t
unwind_code_address(const struct unwind_state *state)
{
	return state->registers[UNWIND_RIP] - state->is_return;
}
