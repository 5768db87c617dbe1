plugin "unused" {
  command = ["bin/plugin"]
}

plugin "loose" {
  command = ["bin/plugin"]

  sandbox {
    mode = "off"
    read = ["folder"]
  }
}

plugin "paths" {
  command = ["bin/plugin"]

  sandbox {
    read  = ["folder", "gone"]
  }
}

http {
  listen = ":8808"
}

local "none" {
  plugins = []
}

web "/mcp" {
  plugins = ["loose", "paths"]
}
