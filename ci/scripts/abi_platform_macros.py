"""Write the headers drystone/platform_macros_*.h: `python -m ci.scripts.abi_platform_macros`.

C has no loop over macro names: each name needs an #ifdef of its own. The names are here, the
headers are made from them. `TENSORFLOW` names are those that TensorFlow records; `SINCE` are later
processor extensions, which it does not know yet, so that a library using them is told apart, too.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["FAMILIES", "Family", "main", "outdated", "render"]

FOLDER = Path("plugin-abi/include/drystone")


@dataclass(frozen=True)
class Family:
    """One header: when it applies, and which macros it looks for."""

    name: str
    what: str
    condition: str
    tensorflow: str
    since: str

    @property
    def names(self) -> list[str]:
        """Macros in the order they are recorded."""
        return self.tensorflow.split() + self.since.split()


X86 = Family(
    "x86",
    "x86, 32 and 64 bits",
    "defined(__x86_64__) || defined(_M_X64) || defined(__i386__) || defined(_M_IX86)",
    """
    _M_IX86_FP _NO_PREFETCHW __3dNOW_A__ __3dNOW__ __ABM__ __ADX__ __AES__ __AVX2__ __AVX512BW__
    __AVX512CD__ __AVX512DQ__ __AVX512ER__ __AVX512F__ __AVX512IFMA__ __AVX512PF__ __AVX512VBMI__
    __AVX512VL__ __AVX__ __BMI2__ __BMI__ __CLFLUSHOPT__ __CLZERO__ __F16C__ __FMA4__ __FMA__
    __FP_FAST_FMA __FP_FAST_FMAF __FSGSBASE__ __FXSR__ __LWP__ __LZCNT__ __MMX__ __MWAITX__
    __PCLMUL__ __PKU__ __POPCNT__ __PRFCHW__ __RDRND__ __RDSEED__ __RTM__ __SHA__ __SSE2_MATH__
    __SSE2__ __SSE_MATH__ __SSE__ __SSE3__ __SSE4A__ __SSE4_1__ __SSE4_2__ __SSSE3__ __TBM__ __XOP__
    __XSAVEC__ __XSAVEOPT__ __XSAVES__ __XSAVE__
    """,
    "",
)

X86_LATE = Family(
    "x86_late",
    "x86: extensions that TensorFlow does not record",
    X86.condition,
    "",
    """
    __AMX_BF16__ __AMX_COMPLEX__ __AMX_FP16__ __AMX_INT8__ __AMX_TILE__ __APX_F__ __AVX10_1__
    __AVX10_2__ __AVX5124FMAPS__ __AVX5124VNNIW__ __AVX512BF16__ __AVX512BITALG__ __AVX512FP16__
    __AVX512VBMI2__ __AVX512VNNI__ __AVX512VP2INTERSECT__ __AVX512VPOPCNTDQ__ __AVXIFMA__
    __AVXNECONVERT__ __AVXVNNI__ __AVXVNNIINT16__ __AVXVNNIINT8__ __CLWB__ __CRC32__ __GFNI__
    __MOVBE__ __MOVDIR64B__ __MOVDIRI__ __RDPID__ __SHA512__ __SM3__ __SM4__ __VAES__
    __VPCLMULQDQ__ __WAITPKG__
    """,
)

POWER = Family(
    "power",
    "POWER",
    "defined(__powerpc64__) || defined(__powerpc__)",
    """
    _SOFT_DOUBLE _SOFT_FLOAT __ALTIVEC__ __APPLE_ALTIVEC__ __CRYPTO__ __FLOAT128_HARDWARE__
    __FLOAT128_TYPE__ __FP_FAST_FMA __FP_FAST_FMAF __HTM__ __NO_FPRS__ __NO_LWSYNC__
    __POWER8_VECTOR__ __POWER9_VECTOR__ __PPC405__ __QUAD_MEMORY_ATOMIC__ __RECIPF__
    __RECIP_PRECISION__ __RECIP__ __RSQRTEF__ __RSQRTE__ __TM_FENCE__ __UPPER_REGS_DF__
    __UPPER_REGS_SF__ __VEC__ __VSX__
    """,
    "__MMA__ __POWER10_VECTOR__",
)

ARM = Family(
    "arm",
    "Arm, 32 and 64 bits",
    "defined(__aarch64__) || defined(_M_ARM64) || defined(__arm__) || defined(_M_ARM)",
    """
    __ARM_ARCH __ARM_FEATURE_CLZ __ARM_FEATURE_CRC32 __ARM_FEATURE_CRYPTO
    __ARM_FEATURE_DIRECTED_ROUNDING __ARM_FEATURE_DSP __ARM_FEATURE_FMA __ARM_FEATURE_IDIV
    __ARM_FEATURE_LDREX __ARM_FEATURE_NUMERIC_MAXMIN __ARM_FEATURE_QBIT __ARM_FEATURE_QRDMX
    __ARM_FEATURE_SAT __ARM_FEATURE_SIMD32 __ARM_FEATURE_UNALIGNED __ARM_FP __ARM_NEON_FP
    __ARM_NEON__ __ARM_WMMX __IWMMXT2__ __IWMMXT__ __VFP_FP__
    """,
    """
    __ARM_FEATURE_AES __ARM_FEATURE_ATOMICS __ARM_FEATURE_BF16 __ARM_FEATURE_COMPLEX
    __ARM_FEATURE_DOTPROD __ARM_FEATURE_FP16_FML __ARM_FEATURE_FP16_VECTOR_ARITHMETIC
    __ARM_FEATURE_FRINT __ARM_FEATURE_JCVT __ARM_FEATURE_MATMUL_INT8 __ARM_FEATURE_MOPS
    __ARM_FEATURE_RCPC __ARM_FEATURE_SHA2 __ARM_FEATURE_SHA3 __ARM_FEATURE_SHA512
    __ARM_FEATURE_SM3 __ARM_FEATURE_SM4 __ARM_FEATURE_SME __ARM_FEATURE_SME2 __ARM_FEATURE_SVE
    __ARM_FEATURE_SVE2 __ARM_FEATURE_SVE_BITS __ARM_NEON
    """,
)

GENERIC = Family(
    "generic",
    "every machine: operating system, architecture, byte order",
    "1",
    """
    TARGET_IPHONE_SIMULATOR TARGET_OS_IOS TARGET_OS_IPHONE _MSC_VER _M_ARM _M_ARM64 _M_ARM_ARMV7VE
    _M_ARM_FP _M_IX86 _M_X64 _WIN32 _WIN64 __ANDROID__ __APPLE__ __BYTE_ORDER__ __CYGWIN__
    __FreeBSD__ __LITTLE_ENDIAN__ __NetBSD__ __OpenBSD__ ____MSYS__ __aarch64__ __alpha__ __arm__
    __i386__ __i686__ __ia64__ __linux__ __mips32__ __mips64__ __powerpc64__ __powerpc__ __riscv___
    __s390x__ __sparc64__ __sparc__ __x86_64__
    """,
    "__BIG_ENDIAN__ __loongarch64 __riscv __riscv_v __riscv_xlen",
)

FAMILIES = (X86, X86_LATE, POWER, ARM, GENERIC)


def _blocks(family: Family) -> list[str]:
    """The #ifdef of each name."""
    return [
        f"#ifdef {name}\n"
        f"#define DRYSTONE_PLATFORM_{name}_ DRYSTONE_PLATFORM_RECORD_({name})\n"
        f"#else\n#define DRYSTONE_PLATFORM_{name}_\n#endif"
        for name in family.names
    ]


def render(family: Family) -> str:
    """The whole text of one header."""
    title, guard = family.name.upper(), f"DRYSTONE_PLATFORM_MACROS_{family.name.upper()}_H_"
    body = " \\\n".join(f"  DRYSTONE_PLATFORM_{name}_" for name in family.names)
    head = f"""/* drystone/platform_macros_{family.name}.h: macros recorded on {family.what}.
 *
 * Made by ci/scripts/abi_platform_macros.py from its lists of names; change them there.
 * DRYSTONE_PLATFORM_{title}_ is one string literal: a record for each macro of the list that is
 * defined, nothing for the others. Included by platform_strings.h only. Since 1.0.
 */
#ifndef {guard}
#define {guard}
"""
    blocks = "\n".join(_blocks(family))
    return (
        f"{head}\n#if {family.condition}\n\n{blocks}\n\n"
        f"#define DRYSTONE_PLATFORM_{title}_ \\\n{body}\n\n#else\n"
        f"#define DRYSTONE_PLATFORM_{title}_\n#endif\n\n#endif /* {guard} */\n"
    )


def outdated(root: Path = ROOT) -> list[str]:
    """Headers that differ from what the lists give."""
    return [
        f"{path} differs from the lists: run python -m ci.scripts.abi_platform_macros"
        for path, text in _files().items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def _files() -> dict[Path, str]:
    return {FOLDER / f"platform_macros_{item.name}.h": render(item) for item in FAMILIES}


def main() -> int:
    """Write the headers, or with `--check` exit 1 when one is outdated."""
    if "--check" in sys.argv[1:]:
        print(*outdated() or ["platform macros: up to date"], sep="\n")
        return int(bool(outdated()))
    for path, text in _files().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
