package match

import (
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

func botLevelToWire(l domain.BotLevel) wire.BotLevel {
	switch l {
	case domain.BotEasy:
		return wire.BotLevel_BOT_LEVEL_EASY
	case domain.BotMedium:
		return wire.BotLevel_BOT_LEVEL_MEDIUM
	case domain.BotHard:
		return wire.BotLevel_BOT_LEVEL_HARD
	}
	return wire.BotLevel_BOT_LEVEL_UNSPECIFIED
}

// botLevelFromWire reads the level of a bot; false for none that is known.
func botLevelFromWire(l wire.BotLevel) (domain.BotLevel, bool) {
	for level := domain.BotEasy; level <= domain.BotHard; level++ {
		if botLevelToWire(level) == l {
			return level, true
		}
	}
	return 0, false
}
