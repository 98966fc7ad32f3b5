/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pic: 8259A pair.
 *
 * Called from: exit path, vCPU entry and devices, under the VM's device lock.
 * Invariant: output and the master's input 2 follow from the chips' registers
 * after every operation (update).  An edge that was latched stays requested
 * when its line drops, as in QEMU and KVM.  Pure (tests/host/test_pic.c).
 * Spec: Intel 8259A data sheet; names of command words and fields are its own.
 */
#include "hv/dev/bytes.h"
#include "hv/dev/pic.h"

#define MASTER 0
#define SLAVE  1
#define NO_IRQ 8

#define ICW1	  BIT(4)
#define ICW1_IC4  BIT(0)
#define ICW1_SNGL BIT(1)
#define ICW4_AEOI BIT(1)
#define ICW4_SFNM BIT(4)

#define OCW3	  BIT(3)
#define OCW3_RIS  BIT(0)
#define OCW3_RR	  BIT(1)
#define OCW3_P	  BIT(2)
#define OCW3_SMM  BIT(5)
#define OCW3_ESMM BIT(6)

#define POLL_PENDING BIT(7)

/* Inputs whose mode ELCR may change: not the timer, keyboard, cascade, RTC and FPU. */
#define ELCR_MASTER 0xf8
#define ELCR_SLAVE  0xde

/* The input of highest priority in @set, or NO_IRQ. */
static unsigned highest(const struct pic_chip *c, uint8_t set)
{
	for (unsigned i = 1; i <= 8; i++) {
		unsigned irq = (c->lowest + i) & 7;

		if (set & BIT(irq))
			return irq;
	}
	return NO_IRQ;
}

/* 0 is the highest priority; NO_IRQ ranks below all. */
static unsigned rank(const struct pic_chip *c, unsigned irq)
{
	return irq == NO_IRQ ? NO_IRQ : (irq - c->lowest - 1) & 7;
}

/* The input that the chip requests service for, or NO_IRQ. */
static unsigned requested(const struct pic_chip *c, bool master)
{
	unsigned irq = highest(c, c->irr & (uint8_t)~c->imr);
	uint8_t in_service = c->isr;

	if (c->special_mask)
		in_service &= (uint8_t)~c->imr;
	/* Special fully nested: the slave may interrupt its own service routine. */
	if (c->special_nested && master)
		in_service &= (uint8_t)~BIT(PIC_CASCADE);
	return rank(c, irq) < rank(c, highest(c, in_service)) ? irq : NO_IRQ;
}

static void set_line(struct pic_chip *c, unsigned irq, bool level)
{
	uint8_t bit = (uint8_t)BIT(irq);

	if (level && (c->elcr & bit || !(c->lines & bit)))
		c->irr |= bit;
	else if (!level && c->elcr & bit)
		c->irr &= (uint8_t)~bit;
	c->lines = level ? c->lines | bit : c->lines & (uint8_t)~bit;
}

static void update(struct pic *p)
{
	bool output;

	set_line(&p->chip[MASTER], PIC_CASCADE, requested(&p->chip[SLAVE], false) != NO_IRQ);
	output = requested(&p->chip[MASTER], true) != NO_IRQ;
	if (output == p->output)
		return;
	p->output = output;
	if (p->intr)
		p->intr(p->ctx, output);
}

void pic_set_irq(struct pic *p, unsigned irq, bool level)
{
	if (irq >= PIC_INPUTS || irq == PIC_CASCADE)
		return;
	set_line(&p->chip[irq >> 3], irq & 7, level);
	update(p);
}

bool pic_intr(const struct pic *p)
{
	return p->output;
}

static void acknowledge(struct pic_chip *c, unsigned irq)
{
	uint8_t bit = (uint8_t)BIT(irq);

	if (!c->auto_eoi)
		c->isr |= bit;
	else if (c->rotate_on_auto_eoi)
		c->lowest = (uint8_t)irq;
	if (!(c->elcr & bit))
		c->irr &= (uint8_t)~bit;
}

/* Acknowledges on the slave; with nothing requested the answer is input 7. */
static uint8_t ack_slave(struct pic *p)
{
	struct pic_chip *slave = &p->chip[SLAVE];
	unsigned irq = requested(slave, false);

	if (irq == NO_IRQ)
		return slave->base + 7;
	acknowledge(slave, irq);
	/* INT drops during INTA, so a further request makes a new edge on the master. */
	set_line(&p->chip[MASTER], PIC_CASCADE, false);
	return (uint8_t)(slave->base + irq);
}

uint8_t pic_ack(struct pic *p)
{
	struct pic_chip *master = &p->chip[MASTER];
	unsigned irq = requested(master, true);
	uint8_t vector;

	if (irq == NO_IRQ)
		return master->base + 7;
	acknowledge(master, irq);
	vector = irq == PIC_CASCADE ? ack_slave(p) : (uint8_t)(master->base + irq);
	update(p);
	return vector;
}

/* ICW1 starts over; the ELCR and the levels on the inputs stay. */
static void start_init(struct pic_chip *c, uint8_t icw1)
{
	c->irr &= c->elcr;
	c->imr = c->isr = 0;
	c->lowest = 7;
	c->auto_eoi = c->rotate_on_auto_eoi = false;
	c->special_mask = c->special_nested = false;
	c->read_isr = c->poll = false;
	c->icw4 = icw1 & ICW1_IC4;
	c->single = icw1 & ICW1_SNGL;
	c->init = PIC_ICW2;
}

static void write_ocw3(struct pic_chip *c, uint8_t val)
{
	if (val & OCW3_P)
		c->poll = true;
	if (val & OCW3_RR)
		c->read_isr = val & OCW3_RIS;
	if (val & OCW3_ESMM)
		c->special_mask = val & OCW3_SMM;
}

static void end_of_interrupt(struct pic_chip *c, unsigned irq, bool rotate)
{
	if (irq == NO_IRQ)
		return;
	c->isr &= (uint8_t)~BIT(irq);
	if (rotate)
		c->lowest = (uint8_t)irq;
}

static void write_ocw2(struct pic_chip *c, uint8_t val)
{
	unsigned level = val & 7;
	uint8_t in_service = c->special_mask ? c->isr & (uint8_t)~c->imr : c->isr;

	switch (val >> 5) { /* R, SL, EOI */
	case 0:
	case 4:
		c->rotate_on_auto_eoi = val >> 7;
		break;
	case 1:
	case 5:
		end_of_interrupt(c, highest(c, in_service), val >> 7);
		break;
	case 3:
	case 7:
		end_of_interrupt(c, level, val >> 7);
		break;
	case 6:
		c->lowest = (uint8_t)level;
		break;
	default: /* no operation */
		break;
	}
}

static void write_data(struct pic_chip *c, uint8_t val)
{
	switch (c->init) {
	case PIC_ICW2:
		c->base = val & 0xf8;
		c->init = c->single ? (c->icw4 ? PIC_ICW4 : PIC_READY) : PIC_ICW3;
		break;
	case PIC_ICW3: /* the wiring is fixed */
		c->init = c->icw4 ? PIC_ICW4 : PIC_READY;
		break;
	case PIC_ICW4:
		c->auto_eoi = val & ICW4_AEOI;
		c->special_nested = val & ICW4_SFNM;
		c->init = PIC_READY;
		break;
	default:
		c->imr = val;
		break;
	}
}

static void write_chip(struct pic *p, unsigned which, unsigned off, uint8_t val)
{
	struct pic_chip *c = &p->chip[which];

	if (off)
		write_data(c, val);
	else if (val & ICW1)
		start_init(c, val);
	else if (val & OCW3)
		write_ocw3(c, val);
	else
		write_ocw2(c, val);
	update(p);
}

/* A read after the poll command is an acknowledge cycle of that chip. */
static uint8_t read_poll(struct pic *p, unsigned which)
{
	struct pic_chip *c = &p->chip[which];
	unsigned irq = requested(c, which == MASTER);

	c->poll = false;
	if (irq == NO_IRQ)
		return 0;
	acknowledge(c, irq);
	update(p);
	return (uint8_t)(POLL_PENDING | irq);
}

static uint8_t read_chip(struct pic *p, unsigned which, unsigned off)
{
	const struct pic_chip *c = &p->chip[which];

	if (c->poll)
		return read_poll(p, which);
	if (off)
		return c->imr;
	return c->read_isr ? c->isr : c->irr;
}

static void write_elcr(struct pic_chip *c, uint8_t elcr)
{
	uint8_t was_level = c->elcr & (uint8_t)~elcr;

	c->elcr = elcr;
	/* Requests of level inputs are their lines; a former level is no edge. */
	c->irr &= (uint8_t) ~(elcr | was_level);
	c->irr |= c->lines & elcr;
}

static uint8_t master_read(void *dev, unsigned off)
{
	return read_chip(dev, MASTER, off);
}

static void master_write(void *dev, unsigned off, uint8_t val)
{
	write_chip(dev, MASTER, off, val);
}

static uint8_t slave_read(void *dev, unsigned off)
{
	return read_chip(dev, SLAVE, off);
}

static void slave_write(void *dev, unsigned off, uint8_t val)
{
	write_chip(dev, SLAVE, off, val);
}

static uint8_t elcr_read(void *dev, unsigned off)
{
	const struct pic *p = dev;

	return p->chip[off & 1].elcr;
}

static void elcr_write(void *dev, unsigned off, uint8_t val)
{
	struct pic *p = dev;

	write_elcr(&p->chip[off & 1], val & (off & 1 ? ELCR_SLAVE : ELCR_MASTER));
	update(p);
}

#define CHIP_OPS(chip)                                                                             \
	static uint64_t chip##_ops_read(void *dev, uint64_t off, unsigned size)                    \
	{                                                                                          \
		return dev_read_bytes(dev, off, size, chip##_read);                                \
	}                                                                                          \
	static void chip##_ops_write(void *dev, uint64_t off, unsigned size, uint64_t val)         \
	{                                                                                          \
		dev_write_bytes(dev, off, size, val, chip##_write);                                \
	}                                                                                          \
	const struct dev_ops pic_##chip##_ops = {.read = chip##_ops_read, .write = chip##_ops_write}

CHIP_OPS(master);
CHIP_OPS(slave);
CHIP_OPS(elcr);

void pic_init(struct pic *p, void (*intr)(void *ctx, bool level), void *ctx)
{
	*p = (struct pic){.intr = intr, .ctx = ctx};
	pic_reset(p);
}

/* The levels on the inputs belong to the devices and stay. */
void pic_reset(struct pic *p)
{
	for (unsigned i = 0; i < 2; i++) {
		uint8_t lines = p->chip[i].lines;

		p->chip[i] = (struct pic_chip){.lines = lines, .lowest = 7};
	}
	/* Unprogrammed chips must not request anything. */
	p->chip[MASTER].imr = p->chip[SLAVE].imr = 0xff;
	update(p);
}
