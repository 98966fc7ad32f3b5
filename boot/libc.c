/* SPDX-License-Identifier: BSD-2-Clause */
/* libc: the rest of what Debian's libfdt.a wants from a C library. */
#include "boot/libc.h"

#include "hv/io.h"

#define MSR_FS_BASE 0xc0000100

static uint8_t thread_page[PAGE_SIZE] __aligned(PAGE_SIZE);

size_t strnlen(const char *s, size_t max);
void *memchr(const void *s, int c, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);

void libc_use_thread_page(void)
{
	wrmsr(MSR_FS_BASE, (uint64_t)thread_page);
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

void *memchr(const void *s, int c, size_t n)
{
	for (const uint8_t *p = s; n--; p++)
		if (*p == (uint8_t)c)
			return (void *)(uintptr_t)p;
	return NULL;
}

char *strchr(const char *s, int c)
{
	return memchr(s, c, strlen(s) + 1);
}

char *strrchr(const char *s, int c)
{
	for (size_t i = strlen(s) + 1; i--;)
		if (s[i] == (char)c)
			return (char *)(uintptr_t)(s + i);
	return NULL;
}
