/* SPDX-License-Identifier: BSD-2-Clause */
/* fmt: bounded formatter.  Pure. */
#include "hv/fmt.h"

struct out {
	char *buf;
	size_t size, len;
};

struct spec {
	bool left, zero;
	unsigned width;
	int precision; /* -1: none given */
	unsigned longs; /* 0 int, 1 long, 2 long long */
};

static void put(struct out *o, char c)
{
	if (o->len + 1 < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void put_padded(struct out *o, const struct spec *s, const char *t, size_t n)
{
	size_t pad = s->width > n ? s->width - n : 0;

	if (!s->left) {
		if (s->zero && n && *t == '-') {
			put(o, *t++);
			n--;
		}
		while (pad--)
			put(o, s->zero ? '0' : ' ');
		pad = 0;
	}
	for (size_t i = 0; i < n; i++)
		put(o, t[i]);
	while (pad--)
		put(o, ' ');
}

static void put_number(struct out *o, const struct spec *s, uint64_t v, unsigned base, bool neg,
		       bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char b[24];
	size_t i = sizeof(b);

	do {
		b[--i] = digits[v % base];
		v /= base;
	} while (v);
	if (neg)
		b[--i] = '-';
	put_padded(o, s, b + i, sizeof(b) - i);
}

static void put_string(struct out *o, const struct spec *s, const char *t)
{
	size_t n = 0;

	if (!t)
		t = "(null)";
	while (t[n] && (s->precision < 0 || n < (size_t)s->precision))
		n++;
	put_padded(o, s, t, n);
}

static const char *parse_spec(const char *f, struct spec *s, va_list *ap)
{
	*s = (struct spec){ .precision = -1 };
	for (;; f++) {
		if (*f == '-')
			s->left = true;
		else if (*f == '0')
			s->zero = true;
		else
			break;
	}
	for (; *f >= '0' && *f <= '9'; f++)
		s->width = s->width * 10 + (unsigned)(*f - '0');
	if (*f == '.') {
		s->precision = 0;
		if (*++f == '*') {
			s->precision = va_arg(*ap, int);
			f++;
		}
		for (; *f >= '0' && *f <= '9'; f++)
			s->precision = s->precision * 10 + (*f - '0');
	}
	for (; *f == 'l' || *f == 'z' || *f == 'h'; f++)
		s->longs += *f == 'l' ? 1 : *f == 'z' ? 2 : 0;
	if (s->left)
		s->zero = false;
	return f;
}

static uint64_t arg_unsigned(const struct spec *s, va_list *ap)
{
	if (s->longs > 1)
		return va_arg(*ap, unsigned long long);
	return s->longs ? va_arg(*ap, unsigned long) : va_arg(*ap, unsigned);
}

static void put_signed(struct out *o, const struct spec *s, va_list *ap)
{
	int64_t v = s->longs > 1 ? va_arg(*ap, long long) :
		    s->longs	 ? va_arg(*ap, long) :
				   va_arg(*ap, int);

	put_number(o, s, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, v < 0, false);
}

static void convert(struct out *o, struct spec *s, char c, va_list *ap)
{
	char ch;

	switch (c) {
	case 'c':
		ch = (char)va_arg(*ap, int);
		put_padded(o, s, &ch, 1);
		break;
	case 's':
		put_string(o, s, va_arg(*ap, const char *));
		break;
	case 'd':
	case 'i':
		put_signed(o, s, ap);
		break;
	case 'u':
		put_number(o, s, arg_unsigned(s, ap), 10, false, false);
		break;
	case 'x':
	case 'X':
		put_number(o, s, arg_unsigned(s, ap), 16, false, c == 'X');
		break;
	case 'p':
		put(o, '0');
		put(o, 'x');
		put_number(o, s, (uint64_t)va_arg(*ap, void *), 16, false, false);
		break;
	default:
		put(o, '%');
		if (c != '%')
			put(o, c);
	}
}

size_t hv_vsnprintf(char *buf, size_t size, const char *f, va_list args)
{
	struct out o = { buf, size, 0 };
	struct spec s;
	va_list ap;

	va_copy(ap, args);
	for (; *f; f++) {
		if (*f != '%') {
			put(&o, *f);
			continue;
		}
		f = parse_spec(f + 1, &s, &ap);
		if (!*f)
			break;
		convert(&o, &s, *f, &ap);
	}
	va_end(ap);
	if (size)
		buf[o.len < size ? o.len : size - 1] = 0;
	return o.len;
}

size_t hv_snprintf(char *buf, size_t size, const char *f, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = hv_vsnprintf(buf, size, f, ap);
	va_end(ap);
	return n;
}

void hv_error_set(struct hv_error *e, const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(e->text, sizeof(e->text), f, ap);
	va_end(ap);
}
