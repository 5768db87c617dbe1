plugin "files" {
  command = ["bin/plugin"]
}

plugin "inside" {
  builtin = "exec"
  sha256  = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  files   = ["folder"]
}

local "both" {
  plugins = ["files"]
  command = ["bin/plugin"]
}

local "neither" {
  plugins = ["files"]
  timeout = "3s"
  config {}
  sandbox {}
}
