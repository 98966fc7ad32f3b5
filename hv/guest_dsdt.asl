/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_dsdt: the devices of hv/dev/ that a guest cannot find by itself, and the
 * sleep state by which it powers off.  iasl -tc -p guest_dsdt hv/guest_dsdt.asl
 */
DefinitionBlock ("", "DSDT", 2, "FAULTL", "FLINEVM ", 0x00000001)
{
    /* SLP_TYP 5 is soft-off (hv/dev/acpi_pm.h). */
    Name (\_S5, Package (0x04) { 0x05, 0x05, 0x00, 0x00 })

    Scope (\_SB)
    {
        Device (COM1)
        {
            Name (_HID, EisaId ("PNP0501"))
            Name (_UID, 0x01)
            Name (_STA, 0x0F)
            Name (_CRS, ResourceTemplate ()
            {
                IO (Decode16, 0x03F8, 0x03F8, 0x01, 0x08)
                IRQNoFlags () { 4 }
            })
        }

        Device (RTC0)
        {
            Name (_HID, EisaId ("PNP0B00"))
            Name (_CRS, ResourceTemplate ()
            {
                IO (Decode16, 0x0070, 0x0070, 0x01, 0x02)
                IRQNoFlags () { 8 }
            })
        }

        /* Motherboard resources that nothing else may be put on. */
        Device (MBRD)
        {
            Name (_HID, EisaId ("PNP0C02"))
            Name (_UID, 0x01)
            Name (_CRS, ResourceTemplate ()
            {
                IO (Decode16, 0x0092, 0x0092, 0x01, 0x01)
                IO (Decode16, 0x04D0, 0x04D0, 0x01, 0x02)
                IO (Decode16, 0x0600, 0x0600, 0x01, 0x0C)
                Memory32Fixed (ReadWrite, 0xFEC00000, 0x00001000)
                Memory32Fixed (ReadWrite, 0xFEE00000, 0x00001000)
            })
        }
    }
}
