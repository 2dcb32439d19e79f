package match

import (
	"context"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// The properties of a matchmaker ticket. All users of a match see them.
const (
	propertyPreset = "preset" // a string
	propertySeats  = "seats"  // a number: exactly so many, instead of the ticket's counts
)

// gateTicket makes a ticket say what this server makes matches by, and nothing else: a public preset, and counts that are a
// table's. It writes the query itself, since Nakama asks only one side's.
func (m *module) gateTicket(ctx context.Context, in *rtapi.Envelope) error {
	err := m.judgeTicket(ctx, in.GetMatchmakerAdd())
	if err == nil {
		err = m.admitTicket(ctx) // last: what it lets through reaches Nakama
	}
	return m.countRefused(err)
}

// gatePartyTicket does the same for a party's ticket. Nakama counts these itself, and refuses too many of them
// without a line in the log.
func (m *module) gatePartyTicket(ctx context.Context, in *rtapi.Envelope) error {
	party := in.GetPartyMatchmakerAdd()
	ticket := &rtapi.MatchmakerAdd{
		MinCount: party.GetMinCount(), MaxCount: party.GetMaxCount(), CountMultiple: party.GetCountMultiple(),
		StringProperties: party.GetStringProperties(), NumericProperties: party.GetNumericProperties(),
	}
	if err := m.judgeTicket(ctx, ticket); err != nil {
		return m.countRefused(err)
	}
	party.MinCount, party.MaxCount, party.Query = ticket.MinCount, ticket.MaxCount, ticket.Query
	party.StringProperties, party.NumericProperties = ticket.StringProperties, ticket.NumericProperties
	return nil
}

func (m *module) judgeTicket(ctx context.Context, ticket *rtapi.MatchmakerAdd) error {
	if m.operator.isDraining() {
		return reject(wire.Reason_REASON_SHUTTING_DOWN, nil)
	}
	if wait, ok := m.seeks.take(senderOf(ctx).userID, m.clock.now()); !ok {
		return tooMany(wait)
	}
	return checkTicket(ticket, m.presets())
}

func (m *module) countRefused(err error) error {
	if err != nil {
		m.count("set3d_tickets_refused_total", nil)
	}
	return err
}

// checkTicket checks what a ticket claims, and leaves nothing else in it.
func checkTicket(ticket *rtapi.MatchmakerAdd, presets catalogue) error {
	name, given := ticket.StringProperties[propertyPreset]
	if !given {
		name = defaultPreset
	}
	if chosen, _ := presets.find(name); !chosen.public {
		return reject(wire.Reason_REASON_UNKNOWN_PRESET, args{"preset": shorten(name), "allowed": presets.publicNames()})
	}
	if err := onlyProperty("string_properties.", ticket.StringProperties, propertyPreset); err != nil {
		return err
	}
	if err := onlyProperty("numeric_properties.", ticket.NumericProperties, propertySeats); err != nil {
		return err
	}
	if err := countTicket(ticket); err != nil {
		return err
	}
	ticket.StringProperties = map[string]string{propertyPreset: name}
	ticket.NumericProperties = nil
	ticket.Query = "+properties.preset:" + name
	return nil
}

func onlyProperty[V any](path string, properties map[string]V, allowed string) error {
	for _, key := range sortedKeys(properties) {
		if key != allowed {
			return reject(wire.Reason_REASON_UNKNOWN_FIELD, args{"field": path + shorten(key)})
		}
	}
	return nil
}

// countTicket settles for how many a ticket is.
func countTicket(ticket *rtapi.MatchmakerAdd) error {
	if seats, given := ticket.NumericProperties[propertySeats]; given {
		if !(seats >= quickMin && seats <= domain.MaxPlayers) || seats != float64(int32(seats)) {
			return reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "numeric_properties.seats", "allowed": "2 to 8"})
		}
		ticket.MinCount, ticket.MaxCount = int32(seats), int32(seats)
	}
	if ticket.MinCount < quickMin || ticket.MaxCount > domain.MaxPlayers || ticket.MaxCount < ticket.MinCount {
		return reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "min_count, max_count", "allowed": "2 to 8"})
	}
	if ticket.CountMultiple != nil {
		if n := ticket.CountMultiple.Value; n < 1 || ticket.MinCount%n != 0 || ticket.MaxCount%n != 0 {
			a := args{"field": "count_multiple", "allowed": "a divisor of both counts"}
			return reject(wire.Reason_REASON_OUT_OF_RANGE, a)
		}
	}
	return nil
}
