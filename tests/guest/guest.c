/* SPDX-License-Identifier: BSD-2-Clause */
/* guest: output, TAP, memory and time for the test guests. */
#include "tests/guest/guest.h"

#include "hv/assert.h"
#include "hv/fmt.h"
#include "hv/lock.h"

#define COM1	  0x3f8
#define EXIT_PORT 0xf4
#define PM_TIMER  0x608
#define PM_HZ	  3579545ULL
#define PM1A_CNT  0x604

extern char _end[];
extern uint64_t boot_pd[];

uintptr_t __stack_chk_guard = 0x1234;

static struct lock out_lock;
static unsigned tests, failures;

static void put(char c)
{
	while (!(inb(COM1 + 5) & 0x20))
		;
	outb(COM1, (uint8_t)c);
}

static void put_text(const char *s)
{
	lock(&out_lock);
	for (; *s; s++) {
		if (*s == '\n')
			put('\r');
		put(*s);
	}
	unlock(&out_lock);
}

void guest_printf(const char *f, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(line, sizeof(line), f, ap);
	va_end(ap);
	put_text(line);
}

static void report(bool good, const char *name, const char *more)
{
	unsigned n = __atomic_add_fetch(&tests, 1, __ATOMIC_RELAXED);

	if (!good)
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	guest_printf("%sok %u - %s%s\n", good ? "" : "not ", n, name, more);
}

void ok(bool good, const char *name, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, name);
	hv_vsnprintf(text, sizeof(text), name, ap);
	va_end(ap);
	report(good, text, "");
}

void is(uint64_t seen, uint64_t want, const char *name, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, name);
	hv_vsnprintf(text, sizeof(text), name, ap);
	va_end(ap);
	report(seen == want, text, "");
	if (seen != want)
		guest_printf("#   seen %llx, want %llx\n", (unsigned long long)seen,
			     (unsigned long long)want);
}

void skip(const char *name, const char *why)
{
	char more[120];

	hv_snprintf(more, sizeof(more), " # skip %s", why);
	report(true, name, more);
}

void guest_end(void)
{
	guest_printf("1..%u\n# %u failed\n", tests, failures);
	outb(EXIT_PORT, (uint8_t)(failures != 0));
	outw(PM1A_CNT, 5 << 10 | 1 << 13);
	for (;;)
		__asm__ volatile("cli; hlt");
}

void bail_out(const char *why)
{
	guest_printf("Bail out! %s\n", why);
	failures++;
	guest_end();
}

void hv_assert_fail(const char *expr, const char *file, int line)
{
	guest_printf("# %s:%d\n", file, line);
	bail_out(expr);
}

/* Multiboot information: flags at 0, command line at 16. */
const char *guest_asked_for(uint32_t info, const char *word)
{
	const uint32_t *mbi = (const uint32_t *)(uint64_t)info;
	const char *s = (const char *)(uint64_t)mbi[4];
	size_t n = strlen(word);

	for (; (mbi[0] & BIT(2)) && *s; s++)
		if (!memcmp(s, word, n))
			return s + n;
	return NULL;
}

/* ---- memory ------------------------------------------------------------------ */

/* From the image's end on, a 2 MiB step away so that no larger leaf holds it yet. */
void *fresh_pages(unsigned n)
{
	static uint64_t next;
	uint64_t p;

	if (!next)
		next = align_up((uint64_t)_end, 2 * MIB) + 2 * MIB;
	p = next;
	next += n * PAGE_SIZE;
	return (void *)p;
}

static uint64_t *split(uint64_t *pde)
{
	uint64_t *t = fresh_pages(1), base = *pde & ~0xfffULL & ~(2 * MIB - 1);

	for (unsigned i = 0; i < 512; i++)
		t[i] = base + i * PAGE_SIZE + 7;
	*pde = (uint64_t)t | 7;
	return t;
}

void map_page(uint64_t va, uint64_t pa, uint64_t flags)
{
	uint64_t *pde = &boot_pd[va >> 21], *t;

	t = *pde & 0x80 ? split(pde) : (uint64_t *)(*pde & 0x000ffffffffff000ULL);
	t[va >> 12 & 511] = pa | flags;
	__asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}

/* ---- time -------------------------------------------------------------------- */

static uint64_t pm_ticks(void)
{
	static uint32_t last;
	static uint64_t high;
	static struct lock l;
	uint64_t t;
	uint32_t v;

	lock(&l);
	v = inl(PM_TIMER);
	if (v < last)
		high += 1ULL << 32;
	last = v;
	t = high + v;
	unlock(&l);
	return t;
}

uint64_t now_us(void)
{
	return mul_div(pm_ticks(), 1000000, PM_HZ);
}

void delay_us(uint64_t us)
{
	uint64_t end = now_us() + us;

	while (now_us() < end)
		cpu_relax();
}

bool wait_for(volatile uint32_t *v, uint32_t want, unsigned ms)
{
	uint64_t end = now_us() + ms * 1000ULL;

	while (*v != want && now_us() < end)
		cpu_relax();
	return *v == want;
}
