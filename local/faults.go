package local

import "context"

// SignalFault is a cause for which MatchSignal answers ErrMatchBusy.
type SignalFault int

// The causes of ErrMatchBusy. Whether the handler saw the signal is different for each, and the caller cannot tell.
const (
	SignalOK         SignalFault = iota // no fault
	SignalQueueFull                     // the signal queue is full, or the match has stopped: never run
	SignalSkipped                       // queued, but its context was done when its turn came: never run
	SignalTimedOut                      // no answer in time: run later all the same
	SignalAnswerLost                    // run, then reported busy, as when the signal ends the match
)

// Faults force what is otherwise hard to reach in a test. Each function may be nil; they are called from many
// goroutines and are to be set before New.
type Faults struct {
	// Signal chooses the fault of one MatchSignal by match id and data.
	Signal func(matchID, data string) SignalFault
	// JoinAttemptFull makes a match's join attempt queue count as full.
	JoinAttemptFull func(matchID string) bool
	// InputFull makes a match's input queue count as full for one message.
	InputFull func(matchID string, opCode int64) bool
	// CallFull makes a match's call queue count as full: the match stops and its sockets are cut.
	CallFull func(matchID string) bool
	// OutgoingFull makes a session's outgoing queue count as full: the session is cut off.
	OutgoingFull func(sessionID string) bool
	// TrackLost makes the tracker refuse a session, as if it had been closed between join attempt and join.
	TrackLost func(sessionID string) bool
	// PresenceEventsFull makes the queue of joins and leaves count as full: all queued ones are lost.
	PresenceEventsFull func() bool
	// Storage fails a database operation with the error that it returns, or delays it by returning late: it is called
	// without a lock and with the context of the operation, which fails if it is done by then. Operations are "read",
	// "write", "delete" and "list" of storage, "multi" (MultiUpdate), "leaderboard" (boards and records), "users"
	// (reads of users and accounts), "account" (logging in, creating, changing, banning, deleting) and "friends".
	Storage func(ctx context.Context, op string) error
	// StorageAnswer makes an operation that was done report the error that it returns, as when the connection is lost
	// after the commit. Otherwise it is like Storage.
	StorageAnswer func(ctx context.Context, op string) error
}

func (f *Faults) signal(matchID, data string) SignalFault {
	if f.Signal == nil {
		return SignalOK
	}
	return f.Signal(matchID, data)
}

func (f *Faults) joinAttemptFull(matchID string) bool {
	return f.JoinAttemptFull != nil && f.JoinAttemptFull(matchID)
}

func (f *Faults) inputFull(matchID string, opCode int64) bool {
	return f.InputFull != nil && f.InputFull(matchID, opCode)
}

func (f *Faults) callFull(matchID string) bool { return f.CallFull != nil && f.CallFull(matchID) }

func (f *Faults) outgoingFull(sessionID string) bool {
	return f.OutgoingFull != nil && f.OutgoingFull(sessionID)
}

func (f *Faults) trackLost(sessionID string) bool {
	return f.TrackLost != nil && f.TrackLost(sessionID)
}

func (f *Faults) presenceEventsFull() bool {
	return f.PresenceEventsFull != nil && f.PresenceEventsFull()
}

// The names of database operations for Faults.
const (
	opRead        = "read"
	opWrite       = "write"
	opDelete      = "delete"
	opList        = "list"
	opMulti       = "multi"
	opLeaderboard = "leaderboard"
	opUsers       = "users"
	opAccount     = "account"
	opFriends     = "friends"
)

func (f *Faults) storage(ctx context.Context, op string) error {
	if f.Storage == nil {
		return nil
	}
	return f.Storage(ctx, op)
}

func (f *Faults) storageAnswer(ctx context.Context, op string) error {
	if f.StorageAnswer == nil {
		return nil
	}
	return f.StorageAnswer(ctx, op)
}
