variable "token" {
  sensitive = true
  default   = "hunter2"
}

plugin "files" {
  command = ["bin/plugin", "--token=${var.token}"]
  secrets = { a = "hunter3", b = ["hunter4"], c = file("gone.txt") }
}

local "demo" {
  plugins = ["files"]
}
