package match

import (
	"slices"
	"strconv"
	"strings"
)

// version is what a client says of itself: major, minor, patch.
type version [3]int

// parseVersion reads two or three numbers with dots between them. The third is 0 if it is not there.
func parseVersion(s string) (v version, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > len(v) {
		return version{}, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 24)
		if err != nil {
			return version{}, false
		}
		v[i] = int(n)
	}
	return v, true
}

// versionIn is the first version in what a client says of itself, as "1.4.2" in "set3d-unity 1.4.2-beta (iOS)".
func versionIn(client string) (version, bool) {
	for _, field := range strings.FieldsFunc(client, func(c rune) bool { return c != '.' && (c < '0' || c > '9') }) {
		if v, ok := parseVersion(strings.Trim(field, ".")); ok {
			return v, true
		}
	}
	return version{}, false
}

// outdated reports whether a client says that it is older than the operator wants. One that does not say how old it is is not judged.
func (s *operatorSettings) outdated(client string) bool {
	least, wanted := parseVersion(s.MinClient)
	is, says := versionIn(client)
	return wanted && says && slices.Compare(is[:], least[:]) < 0
}
