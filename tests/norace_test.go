//go:build !race

package tests

// raceDetector says that these tests run with it; the server does too then.
const raceDetector = false
