/* SPDX-License-Identifier: MIT */
/* Texts for others do not name the home folder of who made them. */
#pragma once

/* Of the user: an absolute path without slashes at the end, or "": not known, or "/". Fresh memory. */
char *home_folder(void);

/*
 * The text with "~" for the folder wherever a path begins with it, also as the value of an option ("-I/home/me/x",
 * "--file=/home/me/x"). What only has such a part, as "/mnt/home/me" or "/home/meadow", stays. folder "": a copy.
 * Fresh memory.
 */
char *home_hide(const char *text, const char *folder);

/* The same of the user's own, also where a path does without links that it is behind. */
char *home_hide_own(const char *text);
