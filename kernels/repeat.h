/* SPDX-License-Identifier: MIT */
/* Repeats text a number of times known to the preprocessor: loops of fixed instructions, whatever the optimization. */
#ifndef ROT_REPEAT_H
#define ROT_REPEAT_H

/*
 * REPEAT(n, X, a) is X(0, a) X(1, a) ... X(n-1, a), for n a literal (or a macro that is one) from 0 to 32.
 * REPEAT_OUTER does the same, and its X may use REPEAT: a macro cannot be expanded inside itself.
 * REPEAT_TEXT(x) is the expansion of x as a string.
 */
#define REPEAT(n, X, a) REPEAT_JOIN(REPEAT_, n)(X, a)
#define REPEAT_OUTER(n, X, a) REPEAT_JOIN(REPEAT_OUTER_, n)(X, a)
#define REPEAT_TEXT(x) REPEAT_QUOTE(x)

#define REPEAT_JOIN(a, b) REPEAT_PASTE(a, b)
#define REPEAT_PASTE(a, b) a##b
#define REPEAT_QUOTE(x) #x

#define REPEAT_0(X, a)
#define REPEAT_1(X, a) REPEAT_0(X, a) X(0, a)
#define REPEAT_2(X, a) REPEAT_1(X, a) X(1, a)
#define REPEAT_3(X, a) REPEAT_2(X, a) X(2, a)
#define REPEAT_4(X, a) REPEAT_3(X, a) X(3, a)
#define REPEAT_5(X, a) REPEAT_4(X, a) X(4, a)
#define REPEAT_6(X, a) REPEAT_5(X, a) X(5, a)
#define REPEAT_7(X, a) REPEAT_6(X, a) X(6, a)
#define REPEAT_8(X, a) REPEAT_7(X, a) X(7, a)
#define REPEAT_9(X, a) REPEAT_8(X, a) X(8, a)
#define REPEAT_10(X, a) REPEAT_9(X, a) X(9, a)
#define REPEAT_11(X, a) REPEAT_10(X, a) X(10, a)
#define REPEAT_12(X, a) REPEAT_11(X, a) X(11, a)
#define REPEAT_13(X, a) REPEAT_12(X, a) X(12, a)
#define REPEAT_14(X, a) REPEAT_13(X, a) X(13, a)
#define REPEAT_15(X, a) REPEAT_14(X, a) X(14, a)
#define REPEAT_16(X, a) REPEAT_15(X, a) X(15, a)
#define REPEAT_17(X, a) REPEAT_16(X, a) X(16, a)
#define REPEAT_18(X, a) REPEAT_17(X, a) X(17, a)
#define REPEAT_19(X, a) REPEAT_18(X, a) X(18, a)
#define REPEAT_20(X, a) REPEAT_19(X, a) X(19, a)
#define REPEAT_21(X, a) REPEAT_20(X, a) X(20, a)
#define REPEAT_22(X, a) REPEAT_21(X, a) X(21, a)
#define REPEAT_23(X, a) REPEAT_22(X, a) X(22, a)
#define REPEAT_24(X, a) REPEAT_23(X, a) X(23, a)
#define REPEAT_25(X, a) REPEAT_24(X, a) X(24, a)
#define REPEAT_26(X, a) REPEAT_25(X, a) X(25, a)
#define REPEAT_27(X, a) REPEAT_26(X, a) X(26, a)
#define REPEAT_28(X, a) REPEAT_27(X, a) X(27, a)
#define REPEAT_29(X, a) REPEAT_28(X, a) X(28, a)
#define REPEAT_30(X, a) REPEAT_29(X, a) X(29, a)
#define REPEAT_31(X, a) REPEAT_30(X, a) X(30, a)
#define REPEAT_32(X, a) REPEAT_31(X, a) X(31, a)

#define REPEAT_OUTER_0(X, a)
#define REPEAT_OUTER_1(X, a) REPEAT_OUTER_0(X, a) X(0, a)
#define REPEAT_OUTER_2(X, a) REPEAT_OUTER_1(X, a) X(1, a)
#define REPEAT_OUTER_3(X, a) REPEAT_OUTER_2(X, a) X(2, a)
#define REPEAT_OUTER_4(X, a) REPEAT_OUTER_3(X, a) X(3, a)
#define REPEAT_OUTER_5(X, a) REPEAT_OUTER_4(X, a) X(4, a)
#define REPEAT_OUTER_6(X, a) REPEAT_OUTER_5(X, a) X(5, a)
#define REPEAT_OUTER_7(X, a) REPEAT_OUTER_6(X, a) X(6, a)
#define REPEAT_OUTER_8(X, a) REPEAT_OUTER_7(X, a) X(7, a)
#define REPEAT_OUTER_9(X, a) REPEAT_OUTER_8(X, a) X(8, a)
#define REPEAT_OUTER_10(X, a) REPEAT_OUTER_9(X, a) X(9, a)
#define REPEAT_OUTER_11(X, a) REPEAT_OUTER_10(X, a) X(10, a)
#define REPEAT_OUTER_12(X, a) REPEAT_OUTER_11(X, a) X(11, a)
#define REPEAT_OUTER_13(X, a) REPEAT_OUTER_12(X, a) X(12, a)
#define REPEAT_OUTER_14(X, a) REPEAT_OUTER_13(X, a) X(13, a)
#define REPEAT_OUTER_15(X, a) REPEAT_OUTER_14(X, a) X(14, a)
#define REPEAT_OUTER_16(X, a) REPEAT_OUTER_15(X, a) X(15, a)
#define REPEAT_OUTER_17(X, a) REPEAT_OUTER_16(X, a) X(16, a)
#define REPEAT_OUTER_18(X, a) REPEAT_OUTER_17(X, a) X(17, a)
#define REPEAT_OUTER_19(X, a) REPEAT_OUTER_18(X, a) X(18, a)
#define REPEAT_OUTER_20(X, a) REPEAT_OUTER_19(X, a) X(19, a)
#define REPEAT_OUTER_21(X, a) REPEAT_OUTER_20(X, a) X(20, a)
#define REPEAT_OUTER_22(X, a) REPEAT_OUTER_21(X, a) X(21, a)
#define REPEAT_OUTER_23(X, a) REPEAT_OUTER_22(X, a) X(22, a)
#define REPEAT_OUTER_24(X, a) REPEAT_OUTER_23(X, a) X(23, a)
#define REPEAT_OUTER_25(X, a) REPEAT_OUTER_24(X, a) X(24, a)
#define REPEAT_OUTER_26(X, a) REPEAT_OUTER_25(X, a) X(25, a)
#define REPEAT_OUTER_27(X, a) REPEAT_OUTER_26(X, a) X(26, a)
#define REPEAT_OUTER_28(X, a) REPEAT_OUTER_27(X, a) X(27, a)
#define REPEAT_OUTER_29(X, a) REPEAT_OUTER_28(X, a) X(28, a)
#define REPEAT_OUTER_30(X, a) REPEAT_OUTER_29(X, a) X(29, a)
#define REPEAT_OUTER_31(X, a) REPEAT_OUTER_30(X, a) X(30, a)
#define REPEAT_OUTER_32(X, a) REPEAT_OUTER_31(X, a) X(31, a)

#endif
