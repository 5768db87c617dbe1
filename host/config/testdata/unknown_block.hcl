servr {
  name = "x"
}

plugin "files" {
  comand  = ["bin/plugin"]
  command = ["bin/plugin"]

  authorize {
    default = "deny"
  }
  sandbox {
    reed = []
  }
}

local "demo" {
  plugins = ["files"]
}
