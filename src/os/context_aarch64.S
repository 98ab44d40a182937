/* context_aarch64.S: the switch for 64-bit ARM, AAPCS64.
 *
 * A suspended flow, from its stack pointer up (176 bytes):
 *      0  x19..x28   80 x29, x30   96 d8..d15   160 fpcr   168 unused
 * The layout is the same on both stacks, so the unwind information holds across the switch.
 */
#if defined(__aarch64__) && !defined(FILCH_UCONTEXT)

#define FRAME 176

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define LANDING_PAD bti c
#else
#define LANDING_PAD
#endif

    .text

/* void *os_context_jump(void **from_sp: x0, void *to_sp: x1, void *pass: x2) */
    .globl  os_context_jump
    .hidden os_context_jump
    .type   os_context_jump, %function
    .p2align 4
os_context_jump:
    .cfi_startproc
    LANDING_PAD
    sub     sp, sp, #FRAME
    .cfi_adjust_cfa_offset FRAME
    stp     x19, x20, [sp, #0]
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    stp     x29, x30, [sp, #80]
    .cfi_rel_offset x19, 0
    .cfi_rel_offset x20, 8
    .cfi_rel_offset x21, 16
    .cfi_rel_offset x22, 24
    .cfi_rel_offset x23, 32
    .cfi_rel_offset x24, 40
    .cfi_rel_offset x25, 48
    .cfi_rel_offset x26, 56
    .cfi_rel_offset x27, 64
    .cfi_rel_offset x28, 72
    .cfi_rel_offset x29, 80
    .cfi_rel_offset x30, 88
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    mrs     x9, fpcr
    str     x9, [sp, #160]

    mov     x10, sp
    str     x10, [x0]
    mov     sp, x1

    ldr     x10, [sp, #160]
    cmp     x9, x10                 /* writing it is slow, and it hardly ever differs */
    b.eq    1f
    msr     fpcr, x10
1:  mov     x0, x2
    ldp     d14, d15, [sp, #144]
    ldp     d12, d13, [sp, #128]
    ldp     d10, d11, [sp, #112]
    ldp     d8, d9, [sp, #96]
    ldp     x29, x30, [sp, #80]
    ldp     x27, x28, [sp, #64]
    ldp     x25, x26, [sp, #48]
    ldp     x23, x24, [sp, #32]
    ldp     x21, x22, [sp, #16]
    ldp     x19, x20, [sp, #0]
    add     sp, sp, #FRAME
    .cfi_restore x19
    .cfi_restore x20
    .cfi_restore x21
    .cfi_restore x22
    .cfi_restore x23
    .cfi_restore x24
    .cfi_restore x25
    .cfi_restore x26
    .cfi_restore x27
    .cfi_restore x28
    .cfi_restore x29
    .cfi_restore x30
    .cfi_adjust_cfa_offset -FRAME
    /* The return predictor remembers the flow that was left, so a plain branch is better; but
       only a return may go to a place that is no landing pad. */
#ifdef __ARM_FEATURE_BTI_DEFAULT
    ret
#else
    br      x30
#endif
    .cfi_endproc
    .size   os_context_jump, . - os_context_jump

/* Where a fresh flow starts: entry in x19, pass in x0. Debuggers stop unwinding here; they look
   for what is known of a return address before it, hence the nop. */
    .type   os_context_start, %function
    .p2align 4
    .cfi_startproc
    .cfi_undefined x30
    nop
os_context_start:
    LANDING_PAD
    mov     x1, x0
    mov     x0, x19
    bl      os_context_begin
    brk     #0
    .cfi_endproc
    .size   os_context_start, . - os_context_start

/* void *os_context_frame(void *top: x0, void (*entry)(void *): x1) */
    .globl  os_context_frame
    .hidden os_context_frame
    .type   os_context_frame, %function
    .p2align 4
os_context_frame:
    .cfi_startproc
    LANDING_PAD
    and     x0, x0, #-16
    sub     x0, x0, #FRAME
    stp     x1, xzr, [x0, #0]
    stp     xzr, xzr, [x0, #16]
    stp     xzr, xzr, [x0, #32]
    stp     xzr, xzr, [x0, #48]
    stp     xzr, xzr, [x0, #64]
    adr     x9, os_context_start
    stp     xzr, x9, [x0, #80]      /* x29 = 0 ends a walk by frame pointers */
    stp     xzr, xzr, [x0, #96]
    stp     xzr, xzr, [x0, #112]
    stp     xzr, xzr, [x0, #128]
    stp     xzr, xzr, [x0, #144]
    mrs     x9, fpcr
    stp     x9, xzr, [x0, #160]
    ret
    .cfi_endproc
    .size   os_context_frame, . - os_context_frame

#ifdef __ARM_FEATURE_BTI_DEFAULT
    .section .note.gnu.property, "a", %note
    .p2align 3
    .long   4                       /* name size */
    .long   16                      /* description size */
    .long   5                       /* NT_GNU_PROPERTY_TYPE_0 */
    .asciz  "GNU"
    .long   0xc0000000              /* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
    .long   4
    .long   1                       /* BTI */
    .long   0
#endif

#endif

    .section .note.GNU-stack, "", %progbits
