package match

import (
	"fmt"
	"strings"

	"github.com/heroiclabs/nakama-common/runtime"
)

// secret is a value of Nakama's configuration that must not stay at its default. Nakama has seven and only warns; a plugin
// sees these four. The three of the console are the entrypoint's business.
type secret struct {
	key      string // in Nakama's configuration
	variable string // in .env, from which the shipped entrypoint takes it
	known    string // Nakama's default, which everybody can read
	value    string
}

func secrets(c runtime.Config) []secret {
	return []secret{
		{"socket.server_key", "NAKAMA_SERVER_KEY", "defaultkey", c.GetSocket().GetServerKey()},
		{"session.encryption_key", "NAKAMA_ENCRYPTION_KEY", "defaultencryptionkey", c.GetSession().GetEncryptionKey()},
		{"session.refresh_encryption_key", "NAKAMA_REFRESH_ENCRYPTION_KEY", "defaultrefreshencryptionkey", c.GetSession().GetRefreshEncryptionKey()},
		{"runtime.http_key", "NAKAMA_HTTP_KEY", "defaulthttpkey", c.GetRuntime().GetHTTPKey()},
	}
}

// checkSecrets refuses a server with which anybody could sign in as anybody, unless development was asked for by name: then it
// warns. The error names each such value, and where to set it.
func checkSecrets(settings config, logger runtime.Logger, initializer runtime.Initializer) error {
	nakama, err := initializer.GetConfig()
	if err != nil {
		return fmt.Errorf("read Nakama's configuration: %w", err)
	}
	var insecure []string
	for _, s := range secrets(nakama) {
		if s.value == s.known {
			insecure = append(insecure, fmt.Sprintf("%s (%s in .env)", s.key, s.variable))
		}
	}
	switch {
	case len(insecure) == 0:
		return nil
	case settings.development:
		logger.Warn("SET3D_DEVELOPMENT is on: everybody knows %s. Never in production", strings.Join(insecure, ", "))
		return nil
	default:
		return fmt.Errorf("everybody knows Nakama's default of %s: set another one, "+
			"which `make env` does for all of them, or ask for development with SET3D_DEVELOPMENT=on", strings.Join(insecure, ", "))
	}
}
