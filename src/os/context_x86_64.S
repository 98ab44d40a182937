/* context_x86_64.S: the switch for x86-64, System V convention.
 *
 * A suspended flow, from its stack pointer up:
 *      0  mxcsr (4 bytes), x87 control word (2 bytes)
 *      8  r15   16 r14   24 r13   32 r12   40 rbx   48 rbp
 *     56  return address
 * The layout is the same on both stacks, so the unwind information holds across the switch.
 */
#if defined(__x86_64__) && !defined(FILCH_UCONTEXT)

    .text

/* void *os_context_jump(void **from_sp: rdi, void *to_sp: rsi, void *pass: rdx) */
    .globl  os_context_jump
    .hidden os_context_jump
    .type   os_context_jump, @function
    .p2align 4
os_context_jump:
    .cfi_startproc
    endbr64
    pushq   %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    pushq   %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    pushq   %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r12, 0
    pushq   %r13
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r13, 0
    pushq   %r14
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r14, 0
    pushq   %r15
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r15, 0
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    stmxcsr (%rsp)
    fnstcw  4(%rsp)
    movl    (%rsp), %ecx
    movzwl  4(%rsp), %r8d

    movq    %rsp, (%rdi)
    movq    %rsi, %rsp

    /* Loading the control words is slow, and they hardly ever differ. The low bits of mxcsr are
       the exceptions seen so far: not preserved by a call either. */
    xorl    (%rsp), %ecx
    andl    $~0x3f, %ecx
    .cfi_remember_state
    jnz     1f
    cmpw    4(%rsp), %r8w
    jne     1f
2:
    movq    %rdx, %rax
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %r15
    .cfi_adjust_cfa_offset -8
    .cfi_restore r15
    popq    %r14
    .cfi_adjust_cfa_offset -8
    .cfi_restore r14
    popq    %r13
    .cfi_adjust_cfa_offset -8
    .cfi_restore r13
    popq    %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore r12
    popq    %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    popq    %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbp
    /* `ret`, as we were called: flows leave at the same few places, so the return predictor's stack, which
       is that of the flow that was left, fits the one that is entered. After a jump it would be one
       entry too deep, and each return of the callers would be predicted wrong. */
    ret

1:
    .cfi_restore_state
    ldmxcsr (%rsp)
    fldcw   4(%rsp)
    jmp     2b
    .cfi_endproc
    .size   os_context_jump, . - os_context_jump

/* Where a fresh flow starts: entry in rbx, pass in rax. Debuggers stop unwinding here; they look
   for what is known of a return address one byte before it, hence the nop. */
    .type   os_context_start, @function
    .p2align 4
    .cfi_startproc
    .cfi_undefined rip
    nop
os_context_start:
    endbr64
    movq    %rbx, %rdi
    movq    %rax, %rsi
    call    os_context_begin
    ud2
    .cfi_endproc
    .size   os_context_start, . - os_context_start

/* void *os_context_frame(void *top: rdi, void (*entry)(void *): rsi) */
    .globl  os_context_frame
    .hidden os_context_frame
    .type   os_context_frame, @function
    .p2align 4
os_context_frame:
    .cfi_startproc
    endbr64
    andq    $-16, %rdi
    leaq    -80(%rdi), %rax         /* 64 for the frame, 16 of zeros above it */
    stmxcsr (%rax)
    andl    $~0x3f, (%rax)          /* the control bits, not the exceptions seen so far */
    movl    $0, 4(%rax)
    fnstcw  4(%rax)
    xorl    %ecx, %ecx
    movq    %rcx, 8(%rax)
    movq    %rcx, 16(%rax)
    movq    %rcx, 24(%rax)
    movq    %rcx, 32(%rax)
    movq    %rsi, 40(%rax)
    movq    %rcx, 48(%rax)          /* rbp = 0 ends a walk by frame pointers */
    leaq    os_context_start(%rip), %rdx
    movq    %rdx, 56(%rax)
    movq    %rcx, 64(%rax)
    movq    %rcx, 72(%rax)
    ret
    .cfi_endproc
    .size   os_context_frame, . - os_context_frame

/* Indirect branch tracking holds here; a shadow stack does not (flows would need one each). */
    .section .note.gnu.property, "a", @note
    .p2align 3
    .long   4                       /* name size */
    .long   16                      /* description size */
    .long   5                       /* NT_GNU_PROPERTY_TYPE_0 */
    .asciz  "GNU"
    .long   0xc0000002              /* GNU_PROPERTY_X86_FEATURE_1_AND */
    .long   4
    .long   1                       /* IBT */
    .long   0

#endif

    .section .note.GNU-stack, "", @progbits
