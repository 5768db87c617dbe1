plugin "files" {
  command = ["bin/plugin"]
}

http {
  legacy_sse = true
}

web "/mcp" {
  plugins = ["files"]
}

web "/mcp/sse" {
  plugins = ["files"]
}
