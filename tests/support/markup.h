/* markup.h - a reader of HTML that is strict enough to find faults in ours. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_MARKUP_H
#define FULCRUM_TESTS_MARKUP_H

#include <stddef.h>

enum { MARKUP_FAULT_SIZE = 300 };

/*
 * Reads a document and returns 1 where nothing is wrong: every element is closed in the
 * order that it was opened (but for those that HTML leaves empty), attributes are
 * quoted and none is given twice, ids are unique, links within the page lead somewhere,
 * nothing is loaded from elsewhere, every table has a caption and cells in every row of
 * as many columns as its head, every picture has a label, headings do not skip a level,
 * no "<" or "&" stands for itself. fault    what is wrong, with the place; "" where
 * nothing is
 */
int markup_is_sound(const char *document, char fault[MARKUP_FAULT_SIZE]);

/* How often a piece of text stands in another. */
size_t markup_count(const char *document, const char *piece);

#endif
