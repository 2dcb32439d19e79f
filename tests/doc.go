// Package tests holds the integration tests: clients on sockets and HTTP against a whole server, through Nakama's API alone.
//
// By default they build the program and start `set3d serve` on a free port; tests that need other settings start another one.
// With SET3D_NAKAMA_URL (and SET3D_NAKAMA_KEY, SET3D_NAKAMA_HTTP_KEY) they use the server that runs there, and start none. It
// should have SET3D_TEST_HOOKS=on: tests that order decks and panics are skipped otherwise, and so are tests of settings that it
// does not have. With Nakama's default keys it starts only with SET3D_DEVELOPMENT=on. A second run against a server with
//
//	SET3D_AFTER_END_MS=2000 SET3D_EMPTY_TABLE_MS=1000 SET3D_RATE_PER_SECOND=1000 SET3D_RATE_BURST=1000
//
// runs the tests that the first one skipped. Nakama's matchmaker looks every 15 s unless it is configured as in local.yml; the tests wait no longer
// than 10. With -short there are fewer matches and less noise. The tests are themselves clients: they
// import the packages client and proto of this module, and domain to replay records.
package tests
