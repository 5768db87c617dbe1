# What `make run` serves. docs/config.md explains every block.

server {
  name         = "toolbox"
  instructions = "Time zones, and the files of this folder."
}

plugin "clock" {
  command = ["./bin/plugin-clock"]
}

plugin "files" {
  command = ["./bin/plugin-files"]
  config { root = path(".") }
  sandbox { read = ["."] }
  tools { prefix = "files_" }
}

local "demo" { plugins = ["clock", "files"] } # mcphost start demo

web "/mcp" { plugins = ["clock", "files"] } # mcphost serve
