package domain

// MaxPlayers is how many seats a match can have: more people than that cannot reach one table, and every list by seat
// fits a fixed array.
const MaxPlayers = 8

// Command is something that is asked of a Session. The commands of players are SelectCard, DeselectCard,
// ClaimSelected and ClaimSet; those of the system are AnimationComplete, Drop, Return and Forfeit.
// A command that cannot apply now is refused and changes nothing (spec: session-lifecycle, Commands).
type Command interface{ command() }

// SelectCard adds the card in a slot (0–20) to the player's selection. In ClaimAutomatic the third one claims.
type SelectCard struct {
	Seat int
	Slot int
}

// DeselectCard removes a selected slot (0–20) from the player's selection.
type DeselectCard struct {
	Seat int
	Slot int
}

// ClaimSelected claims the three selected cards for a player: ClaimOnCommand only, where the selection is shared.
type ClaimSelected struct {
	Seat int
}

// ClaimSet claims three cards by name, which is how clients of a server claim (design ruling 10).
type ClaimSet struct {
	Seat int
	// ID is random and not 0; a resend of the same claim has the same one.
	ID uint64
	// Cards are the card ids as they arrived. Anything but three distinct ids 0–80 is malformed. The session keeps no
	// reference to the slice.
	Cards []byte
}

// AnimationComplete ends a running animation before its deadline. A serial that is not the running one is refused.
type AnimationComplete struct {
	// Seat is whose InvalidSetAnim is complete, or BoardLayer for the board's animation.
	Seat   int
	Serial uint32
}

// BoardLayer is the Seat of an AnimationComplete that is about the shared board.
const BoardLayer = -1

// Drop says that a player's connection is gone. The seat is held for Rules.DropHoldMs, then forfeited.
type Drop struct {
	Seat int
}

// Return says that a dropped player is back.
type Return struct {
	Seat int
}

// Forfeit takes a player out of the match for good.
type Forfeit struct {
	Seat int
	// Idle says that nobody asked for it: the player did nothing for too long.
	Idle bool
}

func (SelectCard) command()        {}
func (DeselectCard) command()      {}
func (ClaimSelected) command()     {}
func (ClaimSet) command()          {}
func (AnimationComplete) command() {}
func (Drop) command()              {}
func (Return) command()            {}
func (Forfeit) command()           {}
