/* SPDX-License-Identifier: BSD-2-Clause */
/* virt_select: chooses the back end by CPUID; the only place that names both. */
#include "hv/io.h"
#include "hv/log.h"
#include "hv/virt.h"
#include "svm/svm.h"
#include "vmx/vmx.h"

const struct virt_ops *virt __attribute__((section(".data.ro_after_init")));
const struct npt_fmt *virt_npt_fmt __attribute__((section(".data.ro_after_init")));

void virt_select(void)
{
	bool has_vmx = cpuid(1, 0).ecx & BIT(5);
	bool has_svm = cpuid(0x80000000, 0).eax >= 0x80000001 && (cpuid(0x80000001, 0).ecx & BIT(2));
	const struct virt_ops *ops = has_vmx ? &vmx_ops : has_svm ? &svm_ops : NULL;

	if (!ops) {
		log_err("virt: this CPU has neither VMX nor SVM, or the layer below hides it: no VM can run");
		return;
	}
	virt_npt_fmt = ops->probe();
	if (!virt_npt_fmt) {
		log_err("virt: %s is not usable here: no VM can run", ops->name);
		return;
	}
	virt = ops;
	log_info("virt: %s", ops->name);
}
