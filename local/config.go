package local

import (
	"log/slog"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// Config says how a Server behaves. The zero value is a usable development host; every field has a default.
type Config struct {
	// Addr is where the API listens, "127.0.0.1:7350" by default. Port 0 picks a free one.
	Addr string
	// Name is the node's name, part of every match id: 1 to 16 characters, "local" by default.
	Name string
	// ServerKey is the user name of Basic authentication for the authenticate calls, "defaultkey" by default.
	ServerKey string
	// HTTPKey allows every RPC without a user, "defaulthttpkey" by default.
	HTTPKey string
	// EncryptionKey and RefreshKey sign session and refresh tokens. Their defaults are public.
	EncryptionKey, RefreshKey string
	// Env is the module's runtime.env, handed to it under RUNTIME_CTX_ENV.
	Env map[string]string
	// Queues are the sizes of the bounded queues.
	Queues Queues
	// Timing are the periods and timeouts.
	Timing Timing
	// Limits are the sizes that messages may have.
	Limits Limits
	// Logger is the module's and the host's logger; NewLogger(os.Stderr, level) when nil.
	Logger runtime.Logger
	// LogLevel is the level of the default logger, Info by default.
	LogLevel slog.Level
	// StateFile keeps users, storage, leaderboards and friends across restarts when it is not empty, also if the process
	// is killed.
	StateFile string
	// Database is used instead of one of the server's own, and stays open when the server ends. Several servers may share
	// it, with different names, as the nodes of a cluster do.
	Database *Database
	// GraceSeconds is how long running matches get at Shutdown. With 0 neither MatchTerminate nor the shutdown hook runs.
	GraceSeconds int
	// ModulePath is the folder that ReadFile reads from, "." by default.
	ModulePath string
	// SingleSocket closes a user's older sockets when a new one opens.
	SingleSocket bool
	// MaxEmptySeconds ends a match that had no presence for so long, without a callback. 0 means never.
	MaxEmptySeconds int
	// Faults force what is otherwise hard to reach; nil means none.
	Faults *Faults
}

// Queues are the capacities of the host's bounded queues. What happens when one is full is Nakama's behaviour.
type Queues struct {
	Signal         int // signals of one match; full: ErrMatchBusy. Default 64
	Call           int // joins, leaves and ticks of one match; full: the match is stopped, its sockets are cut. Default 512
	Input          int // match data of one match; full: the message is dropped with a warning. Default 128
	JoinAttempt    int // join attempts of one match; full: the join is rejected. Default 128
	Deferred       int // deferred broadcasts of one callback; full: ErrDeferredBroadcastFull. Default 128
	Outgoing       int // frames of one session; full: the session is cut off. Default 256
	PresenceEvents int // joins and leaves of all streams; full: all queued ones are lost. Default 1024
	Events         int // session start and end events; full: the event is lost. Default 65536
}

// Timing are the host's periods and timeouts.
type Timing struct {
	Ping               time.Duration // between websocket pings. Default 15 s
	PongWait           time.Duration // silence after which a socket is closed. Default 25 s
	WriteWait          time.Duration // of one frame. Default 5 s
	CloseWait          time.Duration // for the peer's close frame. Default 2 s
	LabelInterval      time.Duration // until the listing sees a label. Default 1 s
	SignalTimeout      time.Duration // of MatchSignal. Default 10 s
	JoinTimeout        time.Duration // of a join attempt. Default 10 s
	JoinMarker         time.Duration // until an unfinished join counts as left. Default 15 s
	MarkerSweep        time.Duration // between looks at the join markers. Default 30 s
	MatchmakerInterval time.Duration // between passes of the matchmaker. Default 2 s
	MatchmakerPasses   int           // passes in which a ticket waits for its maximum count. Default 3
	Token              time.Duration // life of a session token. Default 2 h
	RefreshToken       time.Duration // life of a refresh token. Default 7 days
}

// Limits are the sizes beyond which input is refused.
type Limits struct {
	Message int64 // bytes of one socket message; more closes the socket. Default 4096
	Request int64 // bytes of one HTTP request's body. Default 262144
	Tickets int   // matchmaker tickets of one session. Default 3
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func (c Config) withDefaults() Config {
	orDefault(&c.Addr, "127.0.0.1:7350")
	orDefault(&c.Name, "local")
	orDefault(&c.ServerKey, "defaultkey")
	orDefault(&c.HTTPKey, "defaulthttpkey")
	orDefault(&c.EncryptionKey, "defaultencryptionkey")
	orDefault(&c.RefreshKey, "defaultrefreshencryptionkey")
	orDefault(&c.ModulePath, ".")
	if c.Env == nil {
		c.Env = map[string]string{}
	}
	if c.Faults == nil {
		c.Faults = &Faults{}
	}
	if c.Logger == nil {
		c.Logger = NewLogger(nil, c.LogLevel)
	}
	c.Queues = c.Queues.withDefaults()
	c.Timing = c.Timing.withDefaults()
	orDefault(&c.Limits.Message, 4096)
	orDefault(&c.Limits.Request, 262144)
	orDefault(&c.Limits.Tickets, 3)
	return c
}

func (q Queues) withDefaults() Queues {
	orDefault(&q.Signal, 64)
	orDefault(&q.Call, 512)
	orDefault(&q.Input, 128)
	orDefault(&q.JoinAttempt, 128)
	orDefault(&q.Deferred, 128)
	orDefault(&q.Outgoing, 256)
	orDefault(&q.PresenceEvents, 1024)
	orDefault(&q.Events, 65536)
	return q
}

func (t Timing) withDefaults() Timing {
	orDefault(&t.Ping, 15*time.Second)
	orDefault(&t.PongWait, 25*time.Second)
	orDefault(&t.WriteWait, 5*time.Second)
	orDefault(&t.CloseWait, 2*time.Second)
	orDefault(&t.LabelInterval, time.Second)
	orDefault(&t.SignalTimeout, 10*time.Second)
	orDefault(&t.JoinTimeout, 10*time.Second)
	orDefault(&t.JoinMarker, 15*time.Second)
	orDefault(&t.MarkerSweep, 30*time.Second)
	orDefault(&t.MatchmakerInterval, 2*time.Second)
	orDefault(&t.MatchmakerPasses, 3)
	orDefault(&t.Token, 2*time.Hour)
	orDefault(&t.RefreshToken, 7*24*time.Hour)
	return t
}
