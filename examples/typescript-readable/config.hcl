# mcphost -c config.hcl call readable read_page file=page.html

local "readable" {
  command = ["node", "./dist/main.js"]
  files   = ["."]
  config { root = "test" }
  sandbox { read = ["test"] }
}
