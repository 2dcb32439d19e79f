package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// normalizeJSON rewrites an object as PostgreSQL's JSONB shows it: keys by length, then bytes; of equal keys the last
// one; numbers as numerics, digits kept, exponents written out; ", " and ": " between the parts.
func normalizeJSON(in string) (string, error) {
	dec := json.NewDecoder(strings.NewReader(in))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := writeJSONB(&b, v); err != nil {
		return "", err
	}
	return b.String(), nil
}

func writeJSONB(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case map[string]any:
		return writeJSONBObject(b, v)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := writeJSONB(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case json.Number:
		n, err := numeric(v.String())
		if err != nil {
			return err
		}
		b.WriteString(n)
	case string:
		return writeJSONBString(b, v)
	case bool:
		fmt.Fprint(b, v)
	default:
		b.WriteString("null")
	}
	return nil
}

func writeJSONBObject(b *bytes.Buffer, v map[string]any) error {
	keys := make([]string, 0, len(v))
	for k := range v {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, c string) int {
		if len(a) != len(c) {
			return len(a) - len(c)
		}
		return strings.Compare(a, c)
	})
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := writeJSONBString(b, k); err != nil {
			return err
		}
		b.WriteString(": ")
		if err := writeJSONB(b, v[k]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writeJSONBString escapes what PostgreSQL does and nothing else. A NUL is refused, as there.
func writeJSONBString(b *bytes.Buffer, s string) error {
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case 0:
			return errors.New("ERROR: unsupported Unicode escape sequence (SQLSTATE 22P05)")
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if r < ' ' {
				fmt.Fprintf(b, `\u%04x`, r)
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return nil
}

// What a numeric may have before and after the point; more is refused.
const (
	numericWhole    = 131072
	numericFraction = 16383
)

var errNumeric = errors.New("ERROR: value overflows numeric format (SQLSTATE 22003)")

// numeric writes a JSON number without an exponent. The digits after the point that it was written with are kept.
func numeric(s string) (string, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	shift := 0
	if exponent != "" {
		e, ok := new(big.Int).SetString(exponent, 10)
		if !ok || !e.IsInt64() || e.Int64() > numericWhole || e.Int64() < -numericFraction {
			return "", errNumeric
		}
		shift = int(e.Int64())
	}
	negative := strings.HasPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	for ; shift > 0; shift-- {
		digit := "0"
		if fraction != "" {
			digit, fraction = fraction[:1], fraction[1:]
		}
		whole += digit
	}
	for ; shift < 0; shift++ {
		if whole == "" {
			whole = "0"
		}
		fraction = whole[len(whole)-1:] + fraction
		whole = whole[:len(whole)-1]
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if len(whole) > numericWhole || len(fraction) > numericFraction {
		return "", errNumeric
	}
	out := whole
	if fraction != "" {
		out += "." + fraction
	}
	if negative && strings.Trim(out, "0.") != "" {
		out = "-" + out
	}
	return out, nil
}
