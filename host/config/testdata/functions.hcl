server {
  name         = env("NO_SUCH_NAME")
  instructions = file("gone.md")
  title        = file("folder")
  version      = env("A", "b", "c")
}

local "demo" {
  command = ["bin/plugin"]
  env     = { A = upper("a") }
}
