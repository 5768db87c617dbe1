plugin "-files" {
  command = ["bin/plugin"]
}

plugin "clock" {
  command = ["bin/plugin"]
}

plugin "clock" {
  command = ["bin/plugin"]
}

local "clock" {
  command = ["bin/plugin"]
}

local "demo" {
  plugins = ["clock", "-files"]
}

local "demo" {
  plugins = ["clock"]
}
