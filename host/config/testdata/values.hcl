server {
  name        = ""
  website_url = "example.com"
}

plugin "files" {
  command              = ["bin/plugin", { a = 1 }]
  sha256               = "9f86d0"
  timeout              = "fast"
  idle_timeout         = -1
  start                = "lasy"
  max_concurrent_calls = 1.5
  mtls                 = "perhaps"
  env                  = { "A=B" = "x", LIST = ["a"] }
  secrets              = ["a"]

  sandbox {
    mode    = "none"
    require = ["fs", "nett"]
    read    = "~/notes"
    network = true
    hosts   = ["api.example.com", "api.example.com:443"]
    memory  = "256 megs"
    cpu     = -1
    pids    = "many"
  }
  tools {
    include = ["read_[ab]", ""]
    prefix  = "files/"
    rename  = { a = "x", b = "x", c = "not a name" }
  }
  resources {
    prefix = "x"
  }
}

local "demo" {
  plugins     = ["files"]
  on_conflict = "first"
}
