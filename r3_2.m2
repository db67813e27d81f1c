needsPackage "MinimalPrimes";
R=ZZ/32003[x,y];I=ideal((3)+(2)*y^2);q=1*x^2+-1*y^2;
if I!=1 then (
u={20550,6892};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R0|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((2)*y^3+(-3)*x^1*y^2+(1)*y^3+(-2)*x^2*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={5685,12364};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R1|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((1)*x^1*y^1+(2)*y^2);q=1*x^2+1*y^2;
if I!=1 then (
u={6616,9746};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R2|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((1)*x^1+(2)*y^1+(1)*y^2);q=1*x^2+-1*y^2;
if I!=1 then (
u={11163,14119};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R3|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((3)*x^1*y^1+(2)+(-1)*y^1+(2)*z^1,(1)*z^2+(-2)*z^1+(-1)*z^1+(-1)*x^1*z^1);q=1*x^2+1*y^2+1*z^2;
if I!=1 then (
u={4710,14016,4274};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R4|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-1)*x^3+(1)*x^3+(-1)*x^2*y^1+(-3)*x^3);q=1*x^2+1*y^2;
if I!=1 then (
u={13047,10279};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R5|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-2)*y^1+(3)+(2)+(2)*x^1*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={26141,9808};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R6|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-1)*x^1*y^1+(-1)*x^1);q=2*x^2+-1*y^2;
if I!=1 then (
u={26592,3255};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R7|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((3)*z^1+(1),(-3)*y^1*z^1+(-2)*x^1*y^1);q=-1*x^2+-1*y^2+2*z^2;
if I!=1 then (
u={18431,3276,15493};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R8|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((2)*y^3+(3)*x^2*y^1+(-2)*x^2*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={8926,9322};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R9|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-2)*x^2+(-1)*x^1*y^1+(2)*x^2+(3)*y^2);q=2*x^2+1*y^2;
if I!=1 then (
u={17282,25080};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R10|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((-3)*x^1*y^1+(-3)*z^2);q=1*x^2+1*y^2+1*z^2;
if I!=1 then (
u={16021,9171,7508};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R11|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((1)*x^1*y^1+(-2)*y^2);q=1*x^2+2*y^2;
if I!=1 then (
u={13785,23039};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R12|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((1)+(3)*x^1);q=2*x^2+1*y^2;
if I!=1 then (
u={4510,22907};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R13|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-3)*y^2+(-2)*x^2*y^1);q=1*x^2+2*y^2;
if I!=1 then (
u={17926,21569};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R14|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((2)+(-1)*x^2+(-1)+(-2)*x^1);q=2*x^2+1*y^2;
if I!=1 then (
u={3408,1004};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R15|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-3)*x^1*y^2+(-3)*x^2+(3)*x^1*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={19725,18079};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R16|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((-1)*y^1*z^1+(-2)*y^1+(1)*y^1,(1)*y^1*z^1+(-2)*y^2+(1)+(1)*y^1*z^1);q=1*x^2+-1*y^2+-1*z^2;
if I!=1 then (
u={24634,6620,6958};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R17|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-3)*x^1*y^1+(-2)*x^2+(-2)*y^2);q=1*x^2+2*y^2;
if I!=1 then (
u={6369,12828};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R18|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((2)*x^1*y^2+(-2)*x^2*y^1+(-1)*x^1*y^2);q=-1*x^2+1*y^2;
if I!=1 then (
u={18999,1282};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R19|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((1)*x^1*y^1+(-1)*x^1*y^1+(3)*y^2+(-1)*y^2);q=-1*x^2+1*y^2;
if I!=1 then (
u={21139,4526};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R20|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((2)*x^1*z^1+(1)*x^1*z^1+(3)*y^1*z^1+(1)*x^1*y^1,(-2)*z^1+(-3)+(3)*x^1+(-2)*y^1*z^1);q=1*x^2+2*y^2+-1*z^2;
if I!=1 then (
u={20495,771,24321};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R21|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((2)*x^1*y^1+(-3)+(-1)*y^2+(3)*x^1*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={8602,23025};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R22|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((3)*x^1*y^1+(-1)*y^1+(-3)*x^1*y^1);q=-1*x^2+1*y^2;
if I!=1 then (
u={23653,15570};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R23|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-2)*x^2+(1)*y^1+(-3)*x^1*y^1);q=1*x^2+-1*y^2;
if I!=1 then (
u={17685,1567};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R24|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-2)*y^2+(3)*y^2+(3)*x^1*y^1);q=-1*x^2+1*y^2;
if I!=1 then (
u={24135,25305};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R25|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((2)*y^2+(2)+(2)*x^1*y^1);q=-1*x^2+1*y^2;
if I!=1 then (
u={28222,26971};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R26|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((1)+(-1)*x^1*z^1,(3)+(-2)*y^1);q=1*x^2+1*y^2+1*z^2;
if I!=1 then (
u={7358,27377,4734};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R27|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((1)*y^2+(3)*x^1*y^1+(-1)*x^1*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={19599,10242};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R28|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-1)*x^1+(-2));q=1*x^2+1*y^2;
if I!=1 then (
u={1251,22579};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R29|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((3)*y^2+(3)*z^2+(1)*y^1*z^1,(2)*y^1*z^1+(-3)*z^2+(1)*y^1+(-1)*x^1);q=1*x^2+2*y^2+2*z^2;
if I!=1 then (
u={6419,3551,4602};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R30|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-3)+(-1)+(-1));q=1*x^2+2*y^2;
if I!=1 then (
u={20836,22737};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R31|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((3)*y^3+(-2)*x^1*y^2+(-2)*x^2*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={17836,6111};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R32|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-2)*x^1*y^1+(-1)*x^2+(-2)*x^1*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={24999,3024};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R33|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((3)*x^1*y^1+(-3)*x^1*y^1+(1)*y^2);q=-1*x^2+1*y^2;
if I!=1 then (
u={22504,29468};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R34|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y,z];I=ideal((3)*z^2+(3)*y^2+(1)*x^1*y^1+(1)*y^1*z^1,(-2)*z^1+(3));q=-1*x^2+1*y^2+1*z^2;
if I!=1 then (
u={28449,15201,20631};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R35|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-1)+(3)+(-2)*x^1);q=1*x^2+1*y^2;
if I!=1 then (
u={9562,6845};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R36|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-3)*x^2*y^1+(3)*x^3);q=-1*x^2+-1*y^2;
if I!=1 then (
u={5163,27005};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R37|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((2)+(-2)*x^1);q=1*x^2+2*y^2;
if I!=1 then (
u={10628,22969};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R38|"|toString t|"|"|toString dim I));
R=ZZ/32003[x,y];I=ideal((-2)*x^1*y^1+(3)*x^2+(2)*y^2+(2)*x^1*y^1);q=1*x^2+1*y^2;
if I!=1 then (
u={26870,9088};g=matrix{apply(#gens R,i->sub(diff(R_i,q),apply(#gens R,j->R_j=>R_j-u#j)))};
t=sum(minimalPrimes I,P->(c=codim P;J=transpose jacobian P;S=P+minors(c,J);K=saturate(P+minors(c+1,g||J),minors(c,J));K=saturate(K,S); if K==1 then 0 else if dim K>0 then -99 else degree K));
print("R39|"|toString t|"|"|toString dim I));
