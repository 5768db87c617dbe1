# What the official conformance suite is run against: one plugin that offers
# everything, on stdio and HTTP. make conformance

server {
  name    = "everything"
  title   = "mcphost conformance fixture"
  version = "1.0.0"
}

plugin "everything" {
  command = ["../bin/plugin-everything"]
}

local "everything" { plugins = ["everything"] }

# The one Origin that a browser page may have; the suite sends that of its URL.
variable "origin" { default = "http://127.0.0.1:8808" }

http {
  allowed_origins = [var.origin]
  legacy_sse      = true
  poll_after      = "700ms" # so soon only for the suite, which wants to see a client come back
}

web "/mcp" { plugins = ["everything"] }
