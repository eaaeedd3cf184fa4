"""Which processor features a recorded compiler macro needs, and which ones this machine has.

Names on the right are those of /proc/cpuinfo, as Linux spells them. A macro that is in no table
here needs nothing that is known. The host's own loader has copies of these tables:
``python -m ci.scripts.platform_tables``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["ALWAYS", "features", "known_macros", "needed_features"]

ALWAYS: Final = {"x86_64": frozenset(("fxsr", "mmx", "sse", "sse2"))}
"""What every processor of a kind has, so that there is no need to ask."""

_X86: Final = """
__3dNOW__ 3dnow          __3dNOW_A__ 3dnowext     __ABM__ abm              __ADX__ adx
__AES__ aes              __AVX__ avx              __AVX2__ avx2            __AVX512BW__ avx512bw
__AVX512CD__ avx512cd    __AVX512DQ__ avx512dq    __AVX512ER__ avx512er    __AVX512F__ avx512f
__AVX512IFMA__ avx512ifma       __AVX512PF__ avx512pf        __AVX512VBMI__ avx512vbmi
__AVX512VL__ avx512vl    __BMI__ bmi1             __BMI2__ bmi2            __CLFLUSHOPT__ clflushopt
__CLZERO__ clzero        __F16C__ f16c            __FMA__ fma              __FMA4__ fma4
__FSGSBASE__ fsgsbase    __FXSR__ fxsr            __LWP__ lwp              __LZCNT__ abm
__MMX__ mmx              __MWAITX__ mwaitx        __PCLMUL__ pclmulqdq     __PKU__ pku
__POPCNT__ popcnt        __PRFCHW__ 3dnowprefetch __RDRND__ rdrand         __RDSEED__ rdseed
__RTM__ rtm              __SHA__ sha_ni           __SSE__ sse              __SSE2__ sse2
__SSE3__ pni             __SSE4A__ sse4a          __SSE4_1__ sse4_1        __SSE4_2__ sse4_2
__SSSE3__ ssse3          __TBM__ tbm              __XOP__ xop              __XSAVE__ xsave
__XSAVEC__ xsavec        __XSAVEOPT__ xsaveopt    __XSAVES__ xsaves        __CLWB__ clwb
__AMX_BF16__ amx_bf16    __AMX_COMPLEX__ amx_complex    __AMX_FP16__ amx_fp16
__AMX_INT8__ amx_int8    __AMX_TILE__ amx_tile    __APX_F__ apx            __AVX10_1__ avx10
__AVX10_2__ avx10        __AVX5124FMAPS__ avx512_4fmaps  __AVX5124VNNIW__ avx512_4vnniw
__AVX512BF16__ avx512_bf16      __AVX512BITALG__ avx512_bitalg   __AVX512FP16__ avx512_fp16
__AVX512VBMI2__ avx512_vbmi2    __AVX512VNNI__ avx512_vnni
__AVX512VP2INTERSECT__ avx512_vp2intersect               __AVX512VPOPCNTDQ__ avx512_vpopcntdq
__AVXIFMA__ avx_ifma     __AVXNECONVERT__ avx_ne_convert __AVXVNNI__ avx_vnni
__AVXVNNIINT8__ avx_vnni_int8   __AVXVNNIINT16__ avx_vnni_int16  __CRC32__ sse4_2
__GFNI__ gfni            __MOVBE__ movbe          __MOVDIRI__ movdiri      __MOVDIR64B__ movdir64b
__RDPID__ rdpid          __SHA512__ sha512        __SM3__ sm3              __SM4__ sm4
__VAES__ vaes            __VPCLMULQDQ__ vpclmulqdq       __WAITPKG__ waitpkg
"""
_ARM: Final = """
__ARM_NEON asimd                 __ARM_NEON__ asimd             __ARM_FEATURE_CRC32 crc32
__ARM_FEATURE_CRYPTO aes         __ARM_FEATURE_AES aes          __ARM_FEATURE_SHA2 sha2
__ARM_FEATURE_SHA3 sha3          __ARM_FEATURE_SHA512 sha512    __ARM_FEATURE_SM3 sm3
__ARM_FEATURE_SM4 sm4            __ARM_FEATURE_ATOMICS atomics  __ARM_FEATURE_DOTPROD asimddp
__ARM_FEATURE_BF16 bf16          __ARM_FEATURE_MATMUL_INT8 i8mm __ARM_FEATURE_COMPLEX fcma
__ARM_FEATURE_FP16_FML asimdfhm  __ARM_FEATURE_FP16_VECTOR_ARITHMETIC asimdhp
__ARM_FEATURE_FRINT frint        __ARM_FEATURE_JCVT jscvt       __ARM_FEATURE_QRDMX asimdrdm
__ARM_FEATURE_RCPC lrcpc         __ARM_FEATURE_MOPS mops        __ARM_FEATURE_SVE sve
__ARM_FEATURE_SVE2 sve2          __ARM_FEATURE_SME sme          __ARM_FEATURE_SME2 sme2
"""
_POWER: Final = """
__ALTIVEC__ altivec       __VEC__ altivec            __VSX__ power7     __CRYPTO__ power8
__POWER8_VECTOR__ power8  __QUAD_MEMORY_ATOMIC__ power8                 __POWER9_VECTOR__ power9
__FLOAT128_HARDWARE__ power9     __POWER10_VECTOR__ power10             __MMA__ power10
"""


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


@cache
def known_macros() -> dict[str, str]:
    """The feature that each macro stands for."""
    return _pairs(_X86 + _ARM + _POWER)


def needed_features(records: dict[str, str]) -> dict[str, str]:
    """Features that a library needs, each with the macro that says so."""
    known = known_macros()
    return {
        known[macro]: macro
        for macro, value in sorted(records.items())
        if macro in known and value != "0"
    }


@cache
def features(source: str = "/proc/cpuinfo") -> frozenset[str]:
    """Features of this machine's processors; empty where they cannot be found out."""
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return frozenset()
    found: set[str] | None = None
    for line in re.findall(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE):
        words = set(line.split())
        found = words if found is None else found & words  # what every core has
    return frozenset((found or set()) | _power(text))


def _power(text: str) -> set[str]:
    """POWER states its generation, which has all of the earlier ones."""
    match = re.search(r"^cpu\s*:\s*POWER(\d+).*$", text, re.MULTILINE | re.IGNORECASE)
    if match is None:
        return set()
    vector = {"altivec"} if "altivec" in match[0] else set()
    return vector | {f"power{number}" for number in range(7, int(match[1]) + 1)}
