package match

import (
	"crypto/rand"
	"strings"
)

const (
	codeLength = 6
	// codeLetters are those that nobody takes for each other when they are written by hand or read aloud: no 0 and O, no 1, I
	// and L, no U beside V. 30 of them make 729 million codes.
	codeLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	// codeInputMax is how much may be typed for a code, with blanks and hyphens.
	codeInputMax = 32
)

// newCode draws the code of a table.
func newCode() string {
	var code [codeLength]byte
	for i := range code {
		code[i] = codeLetters[fairIndex()]
	}
	return string(code[:])
}

// fairIndex draws an index of codeLetters, each with the same chance.
func fairIndex() int {
	const fair = 256 - 256%len(codeLetters)
	for {
		var b [1]byte
		_, _ = rand.Read(b[:]) // never fails: the process ends first
		if int(b[0]) < fair {
			return int(b[0]) % len(codeLetters)
		}
	}
}

// cleanCode is a code as it was meant: in capitals, without blanks and hyphens; "" if it can be none.
func cleanCode(typed string) string {
	if len(typed) > codeInputMax {
		return ""
	}
	code := strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-' || r == '\t' || r == '\u00a0':
			return -1
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, typed)
	if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return code
}
