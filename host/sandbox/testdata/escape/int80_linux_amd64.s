#include "textflag.h"

// func oldCall(number uint32) (result int32)
TEXT ·oldCall(SB), NOSPLIT, $0-12
	MOVL number+0(FP), AX
	INT  $0x80
	MOVL AX, result+8(FP)
	RET
