"""Where runs of code points of one Unicode script begin, and ICU's number of the script.

`python -m ci.scripts.unicode_scripts` writes it, from the data of Unicode's Scripts.txt.
"""

import base64
import zlib
from functools import cache
from typing import Any, Final

import numpy as np

__all__ = ["script_runs"]

_COUNT: Final = 1587
_DATA: Final = """
c-rM!S&vjj6z;lx`}Q(x55o-
I3_SykGsp}(=&&e@3KGmH;)W1IB6w94QAgtvm0;W=xJE_df{F;5xQn}@(fA7_KJnnQ4?d|cCRTaB<9s=}w|iy~)JRf%Ri~;>ojP
^uoKv?al}e?S+fueA0M4?-*wO^d*wT)AC-5u#UoZMx@oZ_eWxFjt#-
u@)wo!FM<G9@lTxv_BEzP#v2VRHJ*Ms(4pzt`|mYgjUv6kCY9b`0U8}KzTr3+ZVyfWI?0jJR1CA9Wz$m04I6MZJ?qRS4nWj(jX0
$awT-2$47pJdBg?4=2F%cRE~Xj0lh&no@;=+CS1K6n@!W9UpvO1}Y(i(Ai&LEdjh%}*2Wtg;W+F5)a?OkUYc()uEQL5)w-
m?n~?9z3#Yd@cRz^|XG|7@JPeZwqAfNWZKTU&(A}-L%qS8vF3UU-R)|?!b7AZBYA```!#%PWAiPmq&Cy+XDLYRd^R-
beFV7R{0P<TMujKb>^wI*lsi3BkpfOeS)$zLo%>zfjW~MXazbKcOHw#uHF4VCFVTEKTS~dc8tv^dO$jmd+dDIx#;f(t(V&D)3c;
UC(l0kR4tF|@1s4t%4&5EStXm$PgU*7Bb+BPE>!fhfL+k7#H>p|7oF_zBERXztO3?xy$0HU9qeChuNCK|?MVE?6{PckQ2V$%*|+
OokM;VX*Olm#SSok6Ud2w=uF&~AdHXS@OtCFZdg&l}mQoDyFqY+R1igr{=YjVO@LXogeAu<44}ji8zGXJ{EBo`vU*t%K4KY4Gi1
Eo8*rC|p9P%sdr&a<N(L7gaQ?}5f+PQ?dZz#X<5R>`7G!h@z9;f1Bp3c(IFQxcyNdL^U0rR`ylP06DN9je@oCqx9Zb?je#*5;#*
z-OJHRKK3g`0N`<#w|u-x-
4bvQ>P*0QurZ@=bZV$74k&!#dcV_~iA_<x$W$uJL)5AcIfm>ywRL5)+Rd{c>t&$j4nlajy%0vmR}^ugg$hOM1M_mV>q&DMkIiuZ
?)`_9HwUa=QD{Zz5l_3G;HuE3bk)3&<x;$GOU#l)F2Cc`JeSpm!nXH01Z|$PYLkgVbLj-
E~q9ohO^uG3G49DR~#LA7qTPjXrf>eBylp<;%ize_yn>c8qcUz_%A=n~BC<3!BYC2l5^%D;qWm`KepyCfup5;Mt5bcJ<S2nMS&3
j`5#U$tM`HKUw<$6(73Pd#jFenHh8z=>)xU&d2&KP%c#udRfWFxv$)1XM1;2&d4#qozwZsUy1*if%;CetvTf1<PFvhK55W06bmc
LR(;4c9riGrVxZ`~oA~-
TpB!S9*!pA6j!m>~8|Jz(dq{_}ZokT@Sx;?buU$Bo9NlHstJq!#@hOuXECY`Tkh>N0W|F@WK04o?MDqD6zs`cMlwQgw@~~mCl{W
H|<7llGip}yCa{6Ble=rZ{KM#EY>D|fFV}||5bQQlm_#7EO9e%k3I*>Rri1jOELn~AaEs?DU6sKFjyBEAR(YJ&;^vhW<PslwvHc
PIw7&<D@`(d>2Le2|yEYfeXjC%7(e0tcHjWni$TwnBm0Ou?@kGs?7kZ%cae&di=iw;l2o%HBE?0no2eBaoN*j!KhV;`DR`>m*Vz
t~`bVwFdJz7FflUe>|Z|CG@T$B7w~hZV@*bSeEe!e;e3^sDbo9-T>!bQGxmQ&c-(-
I>T9KP20kOF8P^bQIHXpmTHk{l=EhEQ4A8ungbX$*b%lAKTcr(2LgSjET{k$R7rz*8;^5*}J^$-
I>2_Cv32|1#cps?4StWq;*qAG2*xONKa0QM@@8xo!q}p!MU5r_ou;6zANprbl(o#O8I-
5{1)dHu57fz{sMY0`pzW2Il3Da%vlT{;`FeW-f@>=of2a3#n{)Xm~T`1o0uV+H%hO|Rqm2g{T<4uWYo7f8Fvx#jczmiEpwL_*-
?gU>VnMhoT7R=v!D5%;x^}QBIkA!y_bZyt9(m&&8hST<atHQ@ND#*VawOFw~0y)T`yGm?i*C;Gcj-QIR3SYp69Ex@)KkzkiIh{M
~3M0<$jpqcll=6O_TbT(M0~l@qQCId|7?N5<YqL-
U?vbKcpjjlY1mMgmu?bF5F7*rUB*WBo<dxjJ_T6Tu8ZVJ=qg~SIkfjQljstd6F#)yLyt|7NUc|3U=&36ss0ANB-
s**4fz>tvSa!`c5lA#S(wC3$C&L;qXs|zhaH^hdXTfITigY9Vcdh5=&CRutr<cHD-
Z1${#}LDGtXapog{MFsWa^dxSm(a~S1&U<m&ycsJ^T7b%=V>xT*Q6zFcH$j5{y5u5*EY&yx<d6IGJKaAZc5XYl_qOm+ioP2_@2b
iMzgcF3lqreokI}oqJ1WW<tch>M<gn`0oc;|$8=cIrk-
q4JF=ns)YgvbTsuss1Mf(K(*1*ZXLj{xVRF1WY~wj)mnf!Cs53k~p0g*W2&jSzSt>WtS@OlEtzk$9&@fgy4ViTP4zWV)esN;Ptc
lYx3Kk|TvGUkVkS&w+EJT6tHPfHM>51E>#>3|Z8(ReZpb82r2LZ;oUvCLr&j7=!XHi|HY9dA7q=U>jkG{51rRQ025C#&KUu3?D6
1h#a2rUR$oDeeaC1jgqpD5`M2^JzNgFL16*kom0SVpl>7j2Z`4p(K=9HQ3c(Yd(d`x^C-
`n_t>cHI3RvEtMkyP?V~ipcR(EKoI5EW57pf^%62vCxv7M+j<chd8vAdla`!|0o-
h`S<JYKY+Sj@IR^Zh!da4jMpuQfsfba~|1@riBJ{N7lHxxbyd{N=L1e`Sr9725vzl}VKw&2S#xB>MI`1`kz(0#w(jXL8()W?eM@
BAJ?{dR@75Z;Bl!#hyF1HWU1F?bp9ycj%;`e9|~M-
uQO;D^A^fgb~x$KY+K3+_>PtHOQ2XH*XUyu$q>#K#prG)6SXF<0<)g)b;Ppzsxil7Bv{@TCNN7x)C>7pRXFKTW`QfNuj|1s<${h
Z69uG2(lp#P=z#>v#1Q)RS<P!smdJ6FilG_bXg8Li_-@F#+9o(x>6Kzf|#cFX5Mp)<$_&E73ym3-
LX)7FNq=NAhlHtPvCc3%DJ1jRPaZPio+23U?`dEdgugHve}#o-=R#kK63=U~!C?N_ac}0fN;ul>
"""


@cache
def script_runs() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Sorted first code points of runs, and the script of each run; int32."""
    table = np.frombuffer(zlib.decompress(base64.b85decode(_DATA.replace("\n", ""))), "<i4")
    starts, scripts = table.reshape(2, _COUNT)
    return np.cumsum(starts), scripts.astype(np.int32)
