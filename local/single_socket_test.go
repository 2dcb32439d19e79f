package local

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSingleSocket(t *testing.T) {
	h := start(t, Config{SingleSocket: true}, nil)
	ann := h.login("ann")
	first := ann.dial(formatJSON)
	first.ping()
	second := ann.dial(formatJSON)
	first.awaitClosed() // a notification may come before, if the writing goroutine does not notice the end first
	second.ping()
}

// TestSingleSocketsOpenedAtOnce: each closes the older ones, as soon as it may be, and the newest stays.
func TestSingleSocketsOpenedAtOnce(t *testing.T) {
	h := start(t, Config{SingleSocket: true}, nil)
	ann, bobs := h.login("ann"), h.login("bob").dial(formatJSON)
	for range 20 {
		clients := make([]*client, 4)
		var dialing sync.WaitGroup
		for i := range clients {
			dialing.Go(func() { clients[i] = ann.dial(formatJSON) })
		}
		dialing.Wait()
		eventually(t, "all but one closed", func() bool {
			clients = slices.DeleteFunc(clients, (*client).isClosed)
			return len(clients) <= 1
		})
		require.Len(t, clients, 1)
		clients[0].ping()
	}
	bobs.ping()
}
