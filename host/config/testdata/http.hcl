plugin "files" {
  command = ["bin/plugin"]
}

http {
  listen               = "8808"
  allowed_origins      = ["https://app.example.com", "https://app.example.com/", "*", "https://*.example.com"]
  allowed_hosts        = ["mcp.example.com", "a b"]
  session_idle_timeout = "0s"
  max_sessions         = 0
}

http {}

web "mcp" {
  plugins = ["files"]
}

web "/mcp/" {
  plugins = ["files"]
}

web "/mcp" {
  plugins = ["files"]
}

web "/mcp" {
  plugins = ["files"]
}

web "/.well-known/mcp" {
  plugins = ["files"]
}

web "/none" {}
