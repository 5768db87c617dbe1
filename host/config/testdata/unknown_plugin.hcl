plugin "files" {
  command = ["bin/plugin"]
}

local "demo" {
  plugins = ["fils"]
}

web "/mcp" {
  plugins = ["files", "files"]
}
