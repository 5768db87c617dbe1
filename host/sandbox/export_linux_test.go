package sandbox

// WithoutNamespaces makes p hold without them, as on a system that denies them.
func WithoutNamespaces(p *Policy) { p.noNamespaces = true }

// WithoutLandlock makes p hold without it, as on an old kernel.
func WithoutLandlock(p *Policy) { p.noLandlock = true }

// WithoutSeccomp makes p hold without it.
func WithoutSeccomp(p *Policy) { p.noSeccomp = true }
