package config

// A Secret is a value that must not be seen. It prints and encodes as
// "(secret)"; only [Secret.Reveal] gives it away.
type Secret struct{ value string }

const redacted = "(secret)"

// NewSecret returns the secret with this value.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal returns the value, for the one place that hands it over.
func (s Secret) Reveal() string { return s.value }

// String returns "(secret)".
func (Secret) String() string { return redacted }

// GoString returns "(secret)".
func (Secret) GoString() string { return redacted }

// MarshalText returns "(secret)".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
