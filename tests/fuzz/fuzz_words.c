/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_words: any line as words, and each of them as a number.  Words, quoted, and
 * numbers, printed, must come back.
 *
 *   make build/fuzz/fuzz_words && build/fuzz/fuzz_words -max_total_time=60 -max_len=512
 */
#include <stdlib.h>
#include <string.h>

#include "hv/assert.h"
#include "hv/fmt.h"
#include "hv/monitor/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_number(const char *word)
{
	uint64_t v, again;
	char printed[32];
	enum hv_status st = words_number(word, 1, ~0ULL - 1, &v);

	HV_ASSERT(st == HV_OK || st == HV_INVAL || st == HV_RANGE);
	if (st)
		return;
	HV_ASSERT(v >= 1 && v < ~0ULL && word[0] >= '0' && word[0] <= '9');
	hv_snprintf(printed, sizeof(printed), "%llu", (unsigned long long)v);
	HV_ASSERT(!words_number(printed, v, v, &again) && again == v);
	hv_snprintf(printed, sizeof(printed), "0x%llX", (unsigned long long)v);
	HV_ASSERT(!words_number(printed, v, v, &again) && again == v);
}

/* Each byte behind a backslash; a word of none in quotes. */
static size_t quote(char *to, const char *word)
{
	size_t n = *word ? 0 : 2;

	memcpy(to, "''", n);
	for (; *word; word++) {
		to[n++] = '\\';
		to[n++] = *word;
	}
	to[n++] = ' ';
	to[n] = 0;
	return n;
}

static void check_words(const struct words *w)
{
	char line[4 * sizeof(w->text)];
	struct words again;
	size_t n = 0;

	HV_ASSERT(w->count <= WORDS_MAX);
	for (unsigned i = 0; i < w->count; i++) {
		HV_ASSERT(w->word[i] >= w->text && w->word[i] < w->text + sizeof(w->text));
		HV_ASSERT(memchr(w->word[i], 0, (size_t)(w->text + sizeof(w->text) - w->word[i])));
		check_number(w->word[i]);
		n += quote(line + n, w->word[i]);
	}
	if (!n || n >= sizeof(w->text))
		return;
	HV_ASSERT(!words_split(&again, line) && again.count == w->count);
	for (unsigned i = 0; i < w->count; i++)
		HV_ASSERT(!strcmp(again.word[i], w->word[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct words *w = malloc(sizeof(*w));
	char *line = malloc(size + 1);
	enum hv_status st;

	if (w && line) {
		memcpy(line, data, size);
		line[size] = 0;
		st = words_split(w, line);
		HV_ASSERT(st == HV_OK || st == HV_INVAL || st == HV_RANGE);
		if (!st)
			check_words(w);
		check_number(line);
	}
	free(line);
	free(w);
	return 0;
}
