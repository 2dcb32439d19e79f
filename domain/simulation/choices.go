package simulation

import "math/rand/v2"

// choices is a source of random numbers whose every number is chosen by a byte: as the highest and as the lowest one of
// the number, because these are what draws of small numbers look at. What the byte does not say is noise, always
// the same. When the bytes are used up all is noise, so that no draw waits in vain for a number that it can take.
type choices struct {
	bytes []byte
	noise *rand.PCG
}

func newChoices(bytes []byte) *choices { return &choices{bytes: bytes, noise: rand.NewPCG(0, 0x5e7)} }

// made reports whether all choices have been made.
func (c *choices) made() bool { return len(c.bytes) == 0 }

// Uint64 implements rand.Source.
func (c *choices) Uint64() uint64 {
	noise := c.noise.Uint64()
	if len(c.bytes) == 0 {
		return noise
	}
	choice := uint64(c.bytes[0])
	c.bytes = c.bytes[1:]
	return choice<<56 | noise>>16<<8 | choice
}
