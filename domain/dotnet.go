package domain

// dotnetRandom is the generator behind .NET's `new System.Random(seed)`, bit for bit: Knuth's subtractive generator,
// as .NET has kept it through all versions for the sake of seeded programs. The arithmetic wraps in 32 bits, as in C#.
type dotnetRandom struct {
	state [56]int32 // 1–55 are used
	next  int       // 0–55, where the last sample was taken
	nextp int       // 21 ahead
}

const (
	dotnetSeed = 161803398 // Knuth's constant, the digits of the golden ratio
	dotnetMax  = 1<<31 - 1 // samples are 0 to dotnetMax − 1
	dotnetGap  = 21        // between the two places whose difference is a sample
	dotnetLast = 55
)

func newDotnetRandom(seed int32) dotnetRandom {
	magnitude := seed
	switch {
	case seed == -1<<31:
		magnitude = dotnetMax // the magnitude of the smallest seed does not fit; .NET takes the largest
	case seed < 0:
		magnitude = -seed
	}
	r := dotnetRandom{nextp: dotnetGap}
	mj, mk := dotnetSeed-magnitude, int32(1)
	r.state[dotnetLast] = mj
	for i := 1; i < dotnetLast; i++ {
		at := 21 * i % dotnetLast
		r.state[at] = mk
		mk = wrapNegative(mj - mk)
		mj = r.state[at]
	}
	for range 4 {
		for i := 1; i <= dotnetLast; i++ {
			r.state[i] = wrapNegative(r.state[i] - r.state[1+(i+30)%dotnetLast])
		}
	}
	return r
}

// sample returns the next number, 0–2,147,483,646: C#'s Next().
func (r *dotnetRandom) sample() int32 {
	r.next = r.next%dotnetLast + 1
	r.nextp = r.nextp%dotnetLast + 1
	s := r.state[r.next] - r.state[r.nextp]
	if s == dotnetMax {
		s--
	}
	s = wrapNegative(s)
	r.state[r.next] = s
	return s
}

// below returns a number from 0 to n−1, n at least 1: C#'s Next(n).
//
// C# computes (int)(sample * (1.0 / 2147483647) * n) in doubles, this is the same without them. sample·n/2147483647 is
// either whole (only for sample 0, the divisor being prime) or at least 1/2147483647 away from the next whole number,
// and two roundings err by less than n/2^51, far less than that for every n a deck needs.
func (r *dotnetRandom) below(n int) int {
	return int(int64(r.sample()) * int64(n) / dotnetMax)
}

func wrapNegative(v int32) int32 {
	if v < 0 {
		v += dotnetMax
	}
	return v
}
