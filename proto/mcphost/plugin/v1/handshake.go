package pluginv1

// What go-plugin's handshake needs. The host and a plugin must agree on it before the first RPC, so it
// stands beside the contract, where both can import it.
const (
	// ProtocolVersion is the major version of the contract: the second field of a plugin's handshake line.
	ProtocolVersion = 1
	// MagicCookieKey is the environment variable by which a plugin knows that a host started it.
	MagicCookieKey = "MCPHOST_PLUGIN"
	// MagicCookieValue is the value of MagicCookieKey. It is no secret, it only tells a host from a person.
	MagicCookieValue = "b5d5e3f0-mcphost-plugin-v1"
	// PluginName is the one name in go-plugin's plugin set, and the service that grpc.health.v1 reports on.
	PluginName = "plugin"
	// MaxMessageToPlugin bounds a message from the host to a plugin, in bytes.
	MaxMessageToPlugin = 64 << 20
	// MaxMessageFromPlugin bounds a message from a plugin to the host, in bytes.
	MaxMessageFromPlugin = 16 << 20
)
