plugin "none" {}

plugin "gone" {
  command = ["./bin/gone", "-v"]
}

plugin "folder" {
  command = "./folder"
}

plugin "plain" {
  command = ["./plain.txt"]
}

plugin "path" {
  command = ["no-such-program"]
}

plugin "empty" {
  command = []
}

plugin "bundled" {
  builtin = "exce"
}

plugin "both" {
  command = ["plugin"]
  builtin = "exec"
  files   = ["./gone"]
}

local "demo" {
  plugins = ["none", "gone", "folder", "plain", "path", "empty", "bundled", "both"]
}
