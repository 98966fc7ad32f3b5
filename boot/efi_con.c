/* SPDX-License-Identifier: BSD-2-Clause */
/* efi_con: text output while boot services run. */
#include "boot/efi_con.h"

#include "drivers/uart16550.h"
#include "hv/fmt.h"

static SIMPLE_TEXT_OUTPUT_INTERFACE *con_out;
static SIMPLE_INPUT_INTERFACE *con_in;
static EFI_BOOT_SERVICES *boot_services;
static struct uart16550 com1;
static bool have_com1;

static const struct config_console com1_settings = {
	.kind = CONSOLE_PORT, .base = 0x3f8, .stride = 1, .clock = 1843200, .baud = 115200,
};

/* Does the firmware drive a serial port?  Then ConOut reaches it already. */
static bool firmware_has_serial(EFI_SYSTEM_TABLE *st)
{
	EFI_GUID serial_io = SERIAL_IO_PROTOCOL;
	void *instance;

	return !EFI_ERROR(st->BootServices->LocateProtocol(&serial_io, NULL, &instance));
}

void efi_con_init(EFI_SYSTEM_TABLE *st)
{
	con_out = st->ConOut;
	con_in = st->ConIn;
	boot_services = st->BootServices;
	if (con_out && firmware_has_serial(st))
		return;
	have_com1 = uart16550_init(&com1, &com1_settings) == HV_OK;
}

static void put_con_out(const char *s)
{
	CHAR16 w[64];
	size_t n = 0;

	for (; *s; s++) {
		if (*s == '\n')
			w[n++] = '\r';
		w[n++] = (CHAR16)(unsigned char)*s;
		if (n >= ARRAY_SIZE(w) - 3 || !s[1]) {
			w[n] = 0;
			con_out->OutputString(con_out, w);
			n = 0;
		}
	}
}

void efi_con_write(const char *text)
{
	if (con_out)
		put_con_out(text);
	if (have_com1)
		uart16550_write_text(&com1, text);
}

void efi_con_printf(const char *f, ...)
{
	char line[400];
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(line, sizeof(line), f, ap);
	va_end(ap);
	efi_con_write(line);
}

static int key_now(void)
{
	EFI_INPUT_KEY key;

	if (con_in && !EFI_ERROR(con_in->ReadKeyStroke(con_in, &key)) && key.UnicodeChar &&
	    key.UnicodeChar < 0x80)
		return key.UnicodeChar;
	return have_com1 ? uart16550_get(&com1) : -1;
}

int efi_con_key(unsigned ms)
{
	for (;; ms--) {
		int c = key_now();

		if (c >= 0 || !ms)
			return c;
		boot_services->Stall(1000);
	}
}
