package match

import "strings"

// matchKey is a match id parsed: Nakama accepts several spellings of the UUID in it.
type matchKey struct {
	uuid [16]byte
	node string
}

// nowhere is a match id that Nakama parses, looks up and drops without a word: a message that was consumed here goes
// on with it. Returning no envelope would close the socket, another type would kill the session.
const nowhere = "00000000-0000-0000-0000-000000000000.x"

// parseMatchID reads "uuid.node" in every spelling that Nakama does. Matches without a node are relayed ones: not ours.
func parseMatchID(id string) (matchKey, bool) {
	uuid, node, found := strings.Cut(id, ".")
	if !found || node == "" {
		return matchKey{}, false
	}
	key := matchKey{node: node}
	return key, parseUUID(uuid, &key.uuid)
}

// parseUUID accepts what Nakama's library does: 32 hexadecimal digits, with hyphens or without, bare, in braces or
// behind "urn:uuid:".
func parseUUID(text string, into *[16]byte) bool {
	switch len(text) {
	case 34, 38:
		if text[0] != '{' || text[len(text)-1] != '}' {
			return false
		}
		text = text[1 : len(text)-1]
	case 41, 45:
		if !strings.HasPrefix(text, "urn:uuid:") {
			return false
		}
		text = text[len("urn:uuid:"):]
	}
	if len(text) != 32 && len(text) != 36 {
		return false
	}
	hyphens := len(text) == 36
	at := 0
	for i := range into {
		if hyphens && (i == 4 || i == 6 || i == 8 || i == 10) {
			if text[at] != '-' {
				return false
			}
			at++
		}
		high, low := hexDigit(text[at]), hexDigit(text[at+1])
		if high > 15 || low > 15 {
			return false
		}
		into[i] = high<<4 | low
		at += 2
	}
	return true
}

func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
