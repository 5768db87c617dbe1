# env: MCP_MAX_SUBSCRIPTIONS=lots
# env: MCP_SUBSCRIPTION_BUFFER_SIZE=0
# env: MCP_MAX_REQUEST_SIZE=bad, but the file has it
limits {
  max_request_size        = "0B"
  max_concurrent_requests = -3
  max_response_size       = "9999999999TiB"
  subscription_keepalive  = "inf"
  max_page_size           = 20
  max_pages               = 3
}
